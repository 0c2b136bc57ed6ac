# SPDX-License-Identifier: GPL-3.0-or-later
"""Between the properties in the file and a Setup: read them for a bake, fill them from a preset."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ..bridge.controllers import controller_kind
from ..bridge.settings import (
    FRAMES,
    ContactSpec,
    GroundSpec,
    LoadSpec,
    Part,
    PushSpec,
    ReleaseSpec,
    Setup,
    to_json,
)
from ..job import moving_range


def number(x: float) -> float:
    """The number the animator typed: Blender keeps 0.9 as 0.89999998."""
    return float(str(np.float32(x)))


def is_in(scene: Any, ob: Any | None) -> bool:
    """Whether an object is there. A list that points at one keeps it in the file when it is deleted."""
    return ob is not None and scene.objects.get(ob.name) == ob


def setup_of(ob: Any) -> Setup:
    """What a character's panel says."""
    told, scenes = ob.heft, ob.users_scene
    kind = controller_kind(told.controller)
    group = getattr(told, kind.id.lower())
    dials: dict[str, float | bool] = {}
    for dial in kind.dials:
        value = getattr(group, dial.name)
        value = bool(value) if dial.is_switch else number(value)
        if value != dial.default:
            dials[dial.name] = value
    def is_there(other: Any | None) -> bool:
        return any(is_in(scene, other) for scene in scenes)

    return Setup(
        mass=number(told.mass), build=told.build,
        parts={bone.name: part for bone in ob.data.bones if (part := _part(bone)) != Part()},
        start=told.start if told.use_range else None, end=told.end if told.use_range else None,
        ease_in=number(told.ease_in), ease_out=number(told.ease_out), amount=number(told.amount),
        goal=told.goal, goal_bone=told.goal_bone, controller=told.controller, dials=dials,
        pushes=tuple(_push(item.object) for item in told.pushes if item.is_on and is_there(item.object)),
        use_fields=told.use_fields,
        loads=tuple(LoadSpec(item.bone, number(item.kg), *_frames(item),
                             item.object.name if is_there(item.object) else "")
                    for item in told.loads if item.is_on),
        grounds=tuple(GroundSpec(item.object.name if item.object is not None else "",
                                 item.collection.name if item.object is None and item.collection is not None else "",
                                 number(item.friction))
                      for item in told.grounds if item.is_on and (item.object or item.collection)),
        contacts=tuple(ContactSpec(item.limb, float(item.start), float(item.end), item.mode)
                       for item in told.contacts),
        release=_release(told) if told.use_release else None,
        output=told.output, use_reduction=told.use_reduction, reduce_degrees=number(told.reduce_degrees),
        reduce_mm=number(told.reduce_mm))


def _frames(load: Any) -> tuple[float | None, float | None]:
    """From and to; where one of them is the end of all frames, it has none."""
    if not load.use_frames:
        return None, None
    return (float(load.start) if load.start > FRAMES[0] else None, float(load.end) if load.end < FRAMES[1] else None)


def _release(told: Any) -> ReleaseSpec:
    is_frame = told.release_by == "FRAME"
    return ReleaseSpec(float(told.release_frame) if is_frame else None,
                       None if is_frame else number(told.release_impulse), told.is_limp,
                       number(told.get_up) if told.use_get_up else None)


def _part(bone: Any) -> Part:
    told = bone.heft
    return Part(told.use, told.role, number(told.mass), number(told.strength), number(told.share))


def _push(empty: Any) -> PushSpec:
    told, place = empty.heft.push, empty.matrix_world
    direction: Any = tuple(number(x) for x in place.col[2][:3])
    point: Any = tuple(number(x) for x in place.translation)
    return PushSpec(empty.name, told.bone, number(told.start), number(told.length), number(told.strength),
                    told.is_impulse, direction, point)


def fill(ob: Any, setup: Setup, objects: Any, collections: Any) -> list[str]:
    """Set the panel to a preset; returns what could not be found in this file."""
    told = ob.heft
    missing: list[str] = []
    kind = controller_kind(setup.controller)
    kind.build(setup.dials, {})  # refuses what is out of bounds before anything is set
    for name in ("mass", "build", "ease_in", "ease_out", "amount", "goal", "goal_bone", "output", "use_fields",
                 "use_reduction",
                 "reduce_degrees", "reduce_mm", "controller"):
        setattr(told, name, getattr(setup, name))
    told.use_range = setup.start is not None or setup.end is not None
    if told.use_range:  # a preset may give one end alone: the other is then the motion's own
        scenes = ob.users_scene
        first, last = moving_range(scenes[0], ob) if scenes else (told.start, told.end)
        told.start = setup.start if setup.start is not None else first
        told.end = setup.end if setup.end is not None else last
    told.use_release = setup.release is not None
    if setup.release is not None:
        _fill_release(told, setup.release)
    group = getattr(told, kind.id.lower())
    for dial in kind.dials:
        setattr(group, dial.name, setup.dials.get(dial.name, dial.default))
    for bone in ob.data.bones:
        part = setup.parts.get(bone.name, Part())
        for name in ("use", "role", "mass", "strength", "share"):
            if getattr(bone.heft, name) != getattr(part, name):
                setattr(bone.heft, name, getattr(part, name))
    missing += [f"bone {name}" for name in setup.parts if name not in ob.data.bones]
    told.pushes.clear()
    for push in setup.pushes:
        empty = objects.get(push.object)
        if empty is None:
            missing.append(f"push {push.object or push.bone}")
            continue
        own = empty.heft.push
        own.bone, own.start, own.length, own.strength = push.bone, push.start, push.length, push.newtons
        own.is_impulse = push.is_impulse
        told.pushes.add().object = empty
    _fill_lists(told, setup, objects, collections, missing)
    return missing


def _fill_release(told: Any, spec: ReleaseSpec) -> None:
    told.release_by = "FRAME" if spec.frame is not None else "PUSH"
    if spec.frame is not None:
        told.release_frame = int(spec.frame)
    if spec.impulse is not None:
        told.release_impulse = spec.impulse
    told.is_limp, told.use_get_up = spec.is_limp, spec.get_up is not None
    if spec.get_up is not None:
        told.get_up = spec.get_up


def _fill_lists(told: Any, setup: Setup, objects: Any, collections: Any, missing: list[str]) -> None:
    told.loads.clear()
    for load in setup.loads:
        item = told.loads.add()
        item.bone, item.kg, item.object = load.bone, load.kg, objects.get(load.object)
        if load.object and item.object is None:
            missing.append(f"object {load.object} of the load on {load.bone}")
        item.use_frames = load.start is not None or load.end is not None
        if item.use_frames:
            item.start = int(load.start) if load.start is not None else FRAMES[0]
            item.end = int(load.end) if load.end is not None else FRAMES[1]
    told.grounds.clear()
    for ground in setup.grounds:
        mesh, collection = objects.get(ground.object), collections.get(ground.collection)
        if mesh is None and collection is None:
            missing.append(f"ground {ground.object or ground.collection or 'plane'}")
            continue
        item = told.grounds.add()
        item.object, item.collection, item.friction = mesh, collection, ground.friction
    told.contacts.clear()
    for contact in setup.contacts:
        item = told.contacts.add()
        item.limb, item.start, item.end, item.mode = contact.limb, int(contact.start), int(contact.end), contact.mode


def differing(told: Setup, held: Setup) -> list[str]:
    """What the panel holds in another way than a preset tells: frames between frames, numbers beyond its bounds."""
    before, after = (json.loads(to_json(each), parse_float=lambda text: number(float(text))) for each in (told, held))
    usual = {dial.name: dial.default for dial in controller_kind(told.controller).dials}
    for each in (before, after):
        each["dials"] = {name: x for name, x in each.get("dials", {}).items() if x != number(usual[name])}
        each["parts"] = {name: part for name, part in each.get("parts", {}).items() if part}
        for push in each.get("pushes", ()):  # these are the arrow's
            push.pop("direction", None)
            push.pop("point", None)
    return [name for name in sorted(before.keys() | after.keys())
            if name not in ("start", "end") and before.get(name) != after.get(name)]
