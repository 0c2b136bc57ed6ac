# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything around the character: pushes, loads, ground, contacts and how much of it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from .._link import solver
from .actions import curves_of, strip_paths
from .convert import Array, gravity_of
from .read_character import Figure, link_places
from .read_fields import field_objects, field_pushes, kind_of
from .read_motion import Samples
from .read_terrain import ground_objects, read_terrain
from .settings import ContactSpec, LoadSpec, PushSpec, Setup

if TYPE_CHECKING:
    import bpy

AMOUNT = "heft.amount"   # the data path of Physics amount on a character
ARROW = np.array([0.0, 0.0, 1.0])   # an arrow empty points along its z


def watched_objects(scene: bpy.types.Scene, setup: Setup) -> list[bpy.types.Object]:
    """Objects whose places must be sampled along with the character."""
    found: list[bpy.types.Object] = []
    for name in [*(push.object for push in setup.pushes), *(load.object for load in setup.loads)]:
        if name and name in scene.objects and scene.objects[name] not in found:
            found.append(scene.objects[name])
    for ground in setup.grounds:
        found += [ob for ob in ground_objects(scene, ground) if ob not in found]
    if setup.use_fields:
        found += [ob for ob in field_objects(scene) if ob not in found]
    return found


def watched_values(ob: Any, watched: Sequence[Any]) -> dict[str, tuple[Any, str]]:
    """Numbers that may be keyed: Physics amount, and the strength of every push."""
    found: dict[str, tuple[Any, str]] = {}
    data = ob.animation_data
    paths = {curve.data_path for curve in curves_of(ob)} | strip_paths(ob)
    paths |= {driver.data_path for driver in data.drivers} if data is not None else set()
    if AMOUNT in paths and hasattr(ob, "heft"):
        found["amount"] = (ob.heft, "amount")
    for each in watched:
        if hasattr(each, "heft") and each.type == "EMPTY":
            found[f"strength of {each.name}"] = (each.heft.push, "strength")
        if kind_of(each) != "NONE":
            found[f"field of {each.name}"] = (each.field, "strength")
    return found


def read_scene(scene: bpy.types.Scene, figure: Figure, samples: Samples, setup: Setup, unit: float,
               rate: float, goes_on: tuple[bool, bool] = (False, False)) -> Any:
    """The solver's Scene; `goes_on`: whether the motion does, before and after the samples."""
    clock = _Clock(samples.frames, rate)
    places = link_places(figure.character, figure.assembly.motion)
    kind: Mapping[str, Literal["com", "none", "body"]] = {"COM": "com", "NONE": "none", "BONE": "body"}
    pushes = [_push(push, figure, samples, places, clock, unit) for push in setup.pushes]
    if setup.use_fields:
        pushes += field_pushes(scene, figure.character, places, samples.watched, samples.values,
                               figure.assembly.motion.times, unit)
    goal_body = _link_name(figure, setup.goal_bone, "Goal") if setup.goal == "BONE" else None
    return solver.Scene(
        figure.character, figure.assembly.motion,
        terrain=read_terrain(scene, samples, setup, unit, rate), gravity=gravity_of(scene),
        pushes=tuple(pushes),
        loads=tuple(_load(load, figure, samples, places, clock, unit) for load in setup.loads),
        goal=solver.Goal(kind[setup.goal], goal_body),
        amount=_amount(samples, setup, clock),
        mask=_mask(figure, setup),
        contacts=tuple(_contact(contact, clock) for contact in setup.contacts),
        ease=(setup.ease_in / rate, setup.ease_out / rate), goes_on=goes_on, **_release(setup, clock))


class _Clock:
    """Frames of Blender and seconds since the first."""

    def __init__(self, frames: Array, rate: float) -> None:
        self.first, self.last, self.rate, self.frames = float(frames[0]), float(frames[-1]), rate, frames

    def seconds(self, frame: float) -> float:
        return (frame - self.first) / self.rate

    def row(self, frame: float) -> int:
        return int(np.clip(round(frame - self.first), 0, len(self.frames) - 1))


def _link_name(figure: Figure, bone: str, where: str, remedy: str = "Choose another bone.") -> str:
    if not bone:
        raise solver.InputError("It has no bone.", where, "Choose one.")
    link = figure.link_of(bone)
    if link is None:
        what = f"The bone {bone!r} is no part of the body." if bone in figure.rig.index else \
            f"There is no bone {bone!r}."
        raise solver.InputError(what, where, remedy)
    return str(figure.character.names[link])


def _amount(samples: Samples, setup: Setup, clock: _Clock) -> tuple[tuple[float, float], ...]:
    keyed = samples.values.get("amount")
    if keyed is not None and np.ptp(keyed) > 0.0:
        return tuple((clock.seconds(frame), float(value))
                     for frame, value in zip(samples.frames, np.clip(keyed, 0.0, 1.0)))
    amount = float(keyed[0]) if keyed is not None else setup.amount
    return () if amount == 1.0 else ((0.0, float(np.clip(amount, 0.0, 1.0))),)


def _mask(figure: Figure, setup: Setup) -> dict[str, float]:
    return {name: part.share for name, part in setup.parts.items()
            if part.share < 1.0 and name in figure.character.names}


def _contact(spec: ContactSpec, clock: _Clock) -> Any:
    mode: Any = spec.mode.lower()
    where = f"Contact of {spec.limb}"
    if spec.end <= spec.start:
        raise solver.InputError(f"It goes from frame {spec.start:g} to {spec.end:g}.", where,
                                "Choose an end after the start.")
    if mode != "auto" and (spec.start > clock.last or spec.end < clock.first):
        raise solver.InputError(f"It goes from frame {spec.start:g} to {spec.end:g}, outside the range "
                                f"{clock.first:g} to {clock.last:g}.", where,
                                "Move it into the range, widen the range, set it to Auto, or remove it.")
    return solver.ContactOverride(spec.limb, clock.seconds(spec.start), clock.seconds(spec.end), mode)


def _release(setup: Setup, clock: _Clock) -> dict[str, Any]:
    spec = setup.release
    if spec is None:
        return {}
    make = getattr(solver, "Release", None)
    if make is None:
        raise solver.InputError("This solver cannot let a character fall.", "Let go", "Switch it off.")
    if spec.frame is not None and not clock.first <= spec.frame < clock.last:
        raise solver.InputError(f"It is let go at frame {spec.frame:g}, the range is {clock.first:g} to "
                                f"{clock.last:g}.", "Let go", "Choose a frame within the range, before its last.")
    frame = None if spec.frame is None else clock.row(spec.frame)
    return {"release": make(frame=frame, threshold=spec.impulse, limp=spec.is_limp, get_up=spec.get_up)}


def _load(spec: LoadSpec, figure: Figure, samples: Samples, places: Array, clock: _Clock, unit: float) -> Any:
    where = f"Load on {spec.bone or 'no bone'}"
    body = _link_name(figure, spec.bone, where)
    row = clock.row(spec.start if spec.start is not None else clock.first)
    at = samples.watched.get(spec.object)
    place = at[row, :3, 3] if at is not None else _segment(figure, samples, spec.bone, row)[1]
    link = figure.character.index(body)
    return solver.Load(body, spec.kg, -np.inf if spec.start is None else clock.seconds(spec.start),
                       np.inf if spec.end is None else clock.seconds(spec.end), _local(places[row, link], unit * place))


def _push(spec: PushSpec, figure: Figure, samples: Samples, places: Array, clock: _Clock, unit: float) -> Any:
    where = f"Push {spec.object or spec.bone or 'on the nearest bone'}"
    end = spec.start + spec.length
    is_early = spec.start < clock.first if spec.is_impulse else end <= clock.first
    if spec.start >= clock.last or is_early:
        acts = f"at frame {spec.start:g}" if spec.is_impulse else f"from frame {spec.start:g} to {end:g}"
        raise solver.InputError(f"It acts {acts}, outside the range {clock.first:g} to {clock.last:g}.", where,
                                "Move its start into the range, widen the range, or switch it off.")
    row = clock.row(spec.start)
    arrow = samples.watched.get(spec.object)
    if arrow is not None:
        line = arrow[row, :3, 3], arrow[row, :3, 3] + arrow[row, :3, :3] @ ARROW
    elif spec.point is not None:
        line = np.array(spec.point), np.array(spec.point)
    else:
        line = None
    bone = spec.bone or _nearest_bone(figure, samples, row, line, where)
    body = _link_name(figure, bone, where, "Choose another bone, or leave it empty for the nearest.")
    segment = _segment(figure, samples, bone, row)
    place = 0.5 * (segment[0] + segment[1]) if line is None else _nearest_point(segment, line)
    point = _local(places[row, figure.character.index(body)], unit * place)

    frames, forces = _forces(spec, samples, arrow, clock, where)
    if spec.is_impulse:
        return solver.Push.impulse(body, forces[0], clock.seconds(spec.start), point=point)
    if np.abs(forces - forces[0]).max() < 1e-9 * max(1.0, float(np.abs(forces).max())):
        return solver.Push.constant(body, forces[0], clock.seconds(spec.start), spec.length / clock.rate, point=point)
    return solver.Push.keyed(body, [clock.seconds(frame) for frame in frames], forces, point=point)


def _forces(spec: PushSpec, samples: Samples, arrow: Array | None, clock: _Clock, where: str) -> tuple[Array, Array]:
    """Frames (K,) and forces (K, 3): where the arrow points, as strong as it is keyed."""
    if spec.length <= 0.0 and not spec.is_impulse:
        raise solver.InputError(f"It lasts {spec.length:g} frames.", where, "Give it a length of at least one frame.")
    inner = clock.frames[(clock.frames > spec.start) & (clock.frames < spec.start + spec.length)]
    frames = np.concatenate(([spec.start], inner, [spec.start + spec.length]))
    rows = [clock.row(frame) for frame in frames]
    if arrow is not None:
        directions = arrow[rows, :3, :3] @ ARROW
    else:
        directions = np.tile(np.array(spec.direction, dtype=np.float64), (len(frames), 1))
    length = np.linalg.norm(directions, axis=1, keepdims=True)
    if (length < 1e-9).any():
        raise solver.InputError("It has no direction.", where, "Aim its arrow, or scale it up.")
    keyed = samples.values.get(f"strength of {spec.object}")
    is_keyed = keyed is not None and np.ptp(keyed) > 0.0
    strength = keyed[rows] if keyed is not None and is_keyed else np.full(len(frames), spec.newtons)
    return frames, strength[:, None] * directions / length


def _segment(figure: Figure, samples: Samples, bone: str, row: int) -> tuple[Array, Array]:
    """Head and tail of a bone in the world, scene units."""
    i = figure.rig.index[bone]
    place = samples.world[row] @ samples.poses[row, i]
    length = float(np.linalg.norm(figure.rig.tails[i] - figure.rig.heads[i]))
    return place[:3, 3], place[:3, 3] + length * place[:3, 1]


def _nearest_bone(figure: Figure, samples: Samples, row: int, line: tuple[Array, Array] | None, where: str) -> str:
    if line is None:
        raise solver.InputError("It has neither a bone nor a place.", where, "Choose the bone it acts on.")
    bones = [figure.rig.names[i] for i in figure.body.links]
    gaps = []
    for bone in bones:
        segment = _segment(figure, samples, bone, row)
        at = _nearest_point(segment, line)
        gaps.append(float(np.linalg.norm(at - _nearest_point(line, (at, at)))))
    return bones[int(np.argmin(gaps))]


def _nearest_point(segment: tuple[Array, Array], line: tuple[Array, Array]) -> Array:
    """The point of a segment nearest to another; a dense walk is exact enough for where a hand pushes."""
    shares = np.linspace(0.0, 1.0, 65)[:, None]
    own = segment[0] + shares * (segment[1] - segment[0])
    other = line[0] + shares * (line[1] - line[0])
    gaps = np.linalg.norm(own[:, None] - other[None], axis=-1).min(1)
    return np.asarray(own[int(gaps.argmin())])


def _local(place: Array, point: Array) -> Array:
    return np.asarray(place[:3, :3].T @ (point - place[:3, 3]))
