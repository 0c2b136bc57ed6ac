# SPDX-License-Identifier: GPL-3.0-or-later
"""Which character is meant, what it is told, and places named by what they are: @chest, @head, @hips, @hands."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from .._link import solver
from ..bridge.actions import curves_of, has_slots, show
from ..bridge.convert import frames_per_second
from ..bridge.overlay import overlays_of
from ..bridge.read_character import Figure
from ..bridge.settings import GroundSpec, LoadSpec, PushSpec, Setup, from_json, to_json
from ..job import frame_range, look
from ..ui.stored import setup_of
from .arguments import frames_of

_data: Any = bpy.data


def find_armature(scene: Any, name: str | None) -> Any:
    """The armature named, the only one, or the only one that is set up or moves."""
    found = [ob for ob in scene.objects if ob.type == "ARMATURE" and not _is_overlay(ob)]
    if name is not None:
        named = [ob for ob in found if ob.name == name]
        if not named:
            raise solver.InputError(f"There is no armature {name!r} in the scene {scene.name}.", "--armature",
                                    f"There are: {_names(found) or 'none'}.")
        return named[0]
    if not found:
        raise solver.InputError("There is no armature in it.", f"Scene {scene.name}",
                                "Heft bakes characters with bones: give a file that has one.")
    for narrow in (lambda ob: ob.heft.is_set_up, lambda ob: ob.animation_data and ob.animation_data.action):
        fitting = [ob for ob in found if narrow(ob)]
        if len(fitting) == 1:
            return fitting[0]
    if len(found) > 1:
        raise solver.InputError(f"There are {len(found)} armatures: {_names(found)}.", f"Scene {scene.name}",
                                f"Choose one: --armature {found[0].name!r}.")
    return found[0]


def _is_overlay(ob: Any) -> bool:
    return ob.parent is not None and ob.parent.type == "ARMATURE" and (
        ob.parent.heft.overlay == ob or ob in overlays_of(ob.parent))


def _names(found: list[Any]) -> str:
    return ", ".join(ob.name for ob in found[:6]) + (" ..." if len(found) > 6 else "")


def choose_action(ob: Any, name: str | None, is_import: bool) -> list[str]:
    """Show the action asked for, in the slot that is the character's; tell which ones an import brought besides."""
    if name is not None:
        action = _data.actions.get(name)
        if action is None:
            raise solver.InputError(f"There is no action {name!r}.", "--action",
                                    f"There are: {', '.join(action.name for action in list(_data.actions)[:8])}.")
        show(ob, action, _slot(ob, action))
        for track in ob.animation_data.nla_tracks:
            track.mute = True
        return []
    others = [action.name for action in _data.actions if ob.animation_data and action != ob.animation_data.action]
    if is_import and others and curves_of(ob):
        return [f"Other actions in the file were left alone: {', '.join(others[:4])}"
                f"{' ...' if len(others) > 4 else ''}."]
    return []


def _slot(ob: Any, action: Any) -> Any | None:
    """The slot of an action that is meant for this object: its own, else the first for any object."""
    if not has_slots(action):
        return None
    fitting = [slot for slot in action.slots if slot.target_id_type in ("OBJECT", "UNSPECIFIED")]
    if not fitting:
        kinds = ", ".join(sorted({slot.target_id_type.lower() for slot in action.slots})) or "nothing"
        raise solver.InputError(f"The action {action.name!r} moves {kinds} and no object.", "--action",
                                "Choose one that moves the character.")
    return next((slot for slot in fitting if slot.identifier == f"OB{ob.name}"), fitting[0])


def asked(told: Any, ob: Any) -> Setup:
    """Settings of a run: the preset, else what is stored with the character, then what the words say."""
    setup = read_preset(told.preset) if told.preset is not None else setup_of(ob)
    if told.frames:
        first, last = frames_of(told.frames)
        setup = replace(setup, start=first, end=last)
    if told.mass is not None:
        setup = replace(setup, mass=told.mass)
    if told.controller is not None:
        setup = replace(setup, controller=told.controller,
                        dials=setup.dials if told.controller == setup.controller else {})
    return setup


def read_preset(path: Path) -> Setup:
    try:
        return from_json(path.read_text(encoding="utf-8"), path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise solver.InputError(f"It cannot be read: {error}.", str(path), "Check its name.") from None


def completed(scene: Any, ob: Any, setup: Setup, told: Any, is_capture: bool) -> tuple[Setup, list[str]]:
    """Skip a captured file's calibration pose, add pushes, loads and slopes, find what @ stands for."""
    notes = []
    first, last = frame_range(scene, ob, setup)
    if setup.start is None and is_capture and _begins_apart(scene, ob, first, last):
        first += 1
        setup = replace(setup, start=first, end=last)
        notes.append(f"Frame {first - 1} stands apart from the motion, a pose for calibration; it was left out.")
    wants = [*told.push, *told.load, *(push.bone for push in setup.pushes), *(load.bone for load in setup.loads)]
    if not wants and told.slope is None:
        return setup, notes
    figure, samples, _ = look(scene, ob, setup)
    rate = frames_per_second(scene)
    pushes = [*setup.pushes, *(_push(text, first, last, rate, figure) for text in told.push)]
    loads = [*setup.loads, *(_load(text) for text in told.load)]
    setup = replace(
        setup, pushes=tuple(replace(push, bone=_bones(push.bone, figure)[0]) for push in pushes),
        loads=tuple(replace(load, bone=bone, kg=load.kg / len(bones))
                    for load in loads for bones in [_bones(load.bone, figure)] for bone in bones))
    if told.slope is not None:
        ahead = samples.world[-1] @ samples.poses[-1] - samples.world[0] @ samples.poses[0]
        way = np.median(ahead[:, :2, 3], axis=0)
        turn = float(np.arctan2(way[1], way[0])) if np.linalg.norm(way) > 0.1 else 0.0
        start = (samples.world[0] @ samples.poses[0, figure.body.links[0]])[:2, 3]  # level with the floor here
        height = -np.tan(np.radians(told.slope)) * (start @ [np.cos(turn), np.sin(turn)])
        setup = replace(setup, grounds=(*setup.grounds, GroundSpec(
            slope=told.slope, heading=round(float(np.degrees(turn)), 3), height=round(float(height), 6))))
    return setup, notes


def _begins_apart(scene: Any, ob: Any, first: int, last: int) -> bool:
    """Whether a file of captured motion begins with a pose for calibration: a jump, and then smooth motion."""
    if last - first < 4:
        return False

    def pose(frame: int) -> Any:
        scene.frame_set(frame)
        return np.array([list(bone.matrix_basis.to_quaternion()) for bone in ob.pose.bones])

    before = scene.frame_current
    poses = [pose(frame) for frame in range(first, first + 4)]
    scene.frame_set(before)
    steps = [float(np.abs(b - a).max()) for a, b in pairwise(poses)]
    return steps[0] > 0.1 and steps[0] > 5.0 * max(steps[1:])


def _push(text: str, first: int, last: int, rate: float, figure: Figure) -> PushSpec:
    words = text.split(":")
    try:
        newtons = float(words[1])
        at = words[2] if len(words) > 2 and words[2] else "40%"
        seconds = float(words[3]) if len(words) > 3 and words[3] else 0.2
        way = tuple(float(x) for x in words[4].split(",")) if len(words) > 4 else (0.0, -1.0, 0.0)
        start = first + float(at[:-1]) / 100.0 * (last - first) if at.endswith("%") else float(at)
        if len(words) > 5 or len(way) != 3 or not words[0] or not all(
                map(math.isfinite, (newtons, seconds, start, *way))):
            raise ValueError
    except (IndexError, ValueError):
        raise solver.InputError(f"{text!r} is no push.", "--push", "Write BONE:NEWTONS[:AT[:SECONDS[:X,Y,Z]]], as in "
                                "@chest:200:40%:0.2:0,-1,0.") from None
    return PushSpec(bone=words[0], start=float(round(start)), length=seconds * rate, newtons=newtons, direction=way)


def _load(text: str) -> LoadSpec:
    bone, _, kg = text.rpartition(":")
    try:
        return LoadSpec(bone=bone, kg=float(kg))
    except ValueError:
        raise solver.InputError(f"{text!r} is no load.", "--load", "Write BONE:KG, as in @hands:15.") from None


def _bones(name: str, figure: Figure) -> list[str]:
    """A bone's name, or the bones that a word with @ stands for."""
    if not name.startswith("@"):
        return [name]
    character = figure.character

    def of(*roles: str) -> list[int]:
        return [i for i, role in enumerate(character.roles) if role in roles]

    found = {"@hips": [0], "@chest": of("trunk")[-1:] or [0], "@head": of("head")[-1:] or of("neck")[-1:] or [0],
             "@hands": of("hand") or of("arm")[-1:], "@feet": of("foot")}
    if name not in found or not found[name]:
        raise solver.InputError(f"{name} was not found in this body.", "Bone", f"Choose from {', '.join(found)}, or "
                                "give a bone's own name.")
    return [figure.bone_of(i) for i in found[name]]


def settings_hash(setup: Setup) -> str:
    return hashlib.sha256(to_json(setup).encode()).hexdigest()
