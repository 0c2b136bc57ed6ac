# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a result as a plain action. The original is kept with a fake user and never written to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._link import solver
from .actions import (
    Curves,
    bone_path,
    copied_action,
    curves_of,
    is_heard,
    key_frames,
    mark_result,
    mute_results,
    new_action,
    original,
    show,
    write_keys,
)
from .beyond import Beyond
from .channels import basis_of, decomposed, keyed_rotation, rotation_channel
from .convert import Array, inverse
from .read_motion import Samples
from .rig import Rig
from .unkeyed import remember

if TYPE_CHECKING:
    import bpy

SUFFIX = " Heft"
MOVED = 1e-6      # of the armature's own units: a location or scale that changes by less stays unkeyed
TURNED = 1e-6
MIRRORED = 1e-3   # a scale that differs by more from the one found in the pose is another one: it has signs


@dataclass(frozen=True, eq=False)
class Channel:
    """What is keyed on one property of one bone."""

    bone: str
    name: str          # location, rotation_quaternion ...
    values: Array      # (F, 3 or 4)
    rows: Any = None   # the frames that are keyed; None: all


def new_poses(samples: Samples, changes: Array, unit: float) -> Array:
    """(F, B, 4, 4) where bones shall be in the armature's space, for rigid motions of the world in metres."""
    change = changes.copy()
    change[..., :3, 3] /= unit
    world = samples.world[:, None]
    poses = inverse(world) @ change @ world @ samples.poses
    same = (changes == np.eye(4)).all((-1, -2))
    poses[same] = samples.poses[same]
    return np.asarray(poses)


def channels(ob: bpy.types.Object, rig: Rig, samples: Samples, poses: Array, links: Sequence[int],
             carrier: Sequence[int]) -> list[Channel]:
    """Rotations of all links, the root's location, and what else must change for `poses` to come true."""
    assert ob.pose is not None
    # a bone whose parent goes another way than itself needs keys even if it is none of the links
    asked = [i for i in range(len(rig)) if carrier[i] >= 0 or _parent_moves(rig, carrier, i)]
    before, after = (decomposed(basis_of(ob, rig, each, asked)) for each in (samples.poses, poses))
    found: list[Channel] = []
    mapped = set(links)
    source = {(curve.data_path, curve.array_index): curve for curve in curves_of(ob)}
    for n, i in enumerate(asked):
        bone = ob.pose.bones[i]
        old, new = ([part[:, n] for part in parts] for parts in (before, after))
        if not rig.is_connected[i] and (i == links[0] or _differ(old[0], new[0], MOVED * _size(rig))):
            found.append(Channel(bone.name, "location", new[0]))
        is_turned = i in mapped or _differ(old[1], new[1], TURNED)
        is_scaled = _differ(old[2], new[2], 10 * MOVED)
        own_scale = _own_values(bone, "scale", 3, source, samples.frames)
        if _differ(own_scale, old[2], MIRRORED):  # rotation and scale mean this pose only together
            is_turned = is_scaled = is_turned or is_scaled
        if is_turned:
            name, count = rotation_channel(bone.rotation_mode)
            before_it = _own_values(bone, name, count, source, samples.frames[:1])[0]  # which turn it is in
            start = keyed_rotation(old[1][:1], bone.rotation_mode, before_it)[0]
            found.append(Channel(bone.name, name, keyed_rotation(new[1], bone.rotation_mode, start)))
        if is_scaled:
            found.append(Channel(bone.name, "scale", new[2]))
    return found


def _own_values(bone: Any, name: str, count: int, source: Mapping[tuple[str, int], Any], frames: Array) -> Array:
    """(F, count) what the curves of a property say, or its value where it has none."""
    out = np.empty((len(frames), count))
    path = bone_path(bone.name, name)
    for k, value in enumerate(getattr(bone, name)):
        curve = source.get((path, k))
        out[:, k] = value if curve is None or curve.mute else [curve.evaluate(frame) for frame in frames]
    return out


def _parent_moves(rig: Rig, carrier: Sequence[int], i: int) -> bool:
    p = rig.parents[i]
    return p >= 0 and carrier[p] != carrier[i]


def _size(rig: Rig) -> float:
    return max(float(np.ptp(rig.heads, axis=0).max(initial=0.0)), 1e-3)


def _differ(a: Array, b: Array, slack: float) -> bool:
    return bool(np.abs(a - b).max() > slack)


Span = tuple[float, float]   # first and last frame of the scene


def write_curves(curves: Curves, found: Iterable[Channel], frames: Array, span: Span | None = None,
                 beyond: Beyond | None = None) -> None:
    """Replace keys within the frames, keep the motion outside them frame by frame; `beyond` is what no curve knows."""
    for channel in found:
        path = bone_path(channel.bone, channel.name)
        rows = slice(None) if channel.rows is None else channel.rows
        around = (beyond or {}).get((channel.bone, channel.name))
        for index in range(channel.values.shape[1]):
            curve = curves.ensure(path, index, channel.bone)
            at, values = frames[rows], channel.values[rows, index]
            if is_heard(curve):
                _with_keys(curve)
                at, values = _with_surroundings(curve, at, values, span)
            elif around is not None:
                at, values = np.concatenate((at, around[0])), np.concatenate((values, around[1][:, index]))
            for modifier in list(curve.modifiers):  # its effect is in the samples
                curve.modifiers.remove(modifier)
            curve.mute = False
            write_keys(curve, at, values)


def _with_keys(curve: Any) -> None:
    """Samples, as of sound or of the graph editor, become keys: a curve cannot hold both."""
    if len(curve.sampled_points):
        first, last = curve.range()
        curve.convert_to_keyframes(int(np.floor(first)), int(np.ceil(last)) + 1)


def _with_surroundings(curve: Any, frames: Array, values: Array, span: Span | None) -> tuple[Array, Array]:
    """Keys outside the frames, and every whole frame between them: cutting a curve must not bend what is left."""
    keys = key_frames(curve)
    reach = list(keys)
    if span is not None and (len(curve.modifiers) or (len(keys) and curve.extrapolation == "LINEAR")):
        reach += span  # it goes on beyond its keys, and what makes it do so is about to go
    if not reach:
        return frames, values
    outside = []
    for low, high in ((min(reach), frames[0] - 1e-3), (frames[-1] + 1e-3, max(reach))):
        if low < high:
            whole = np.arange(np.ceil(low), np.floor(high) + 1.0)
            at = np.unique(np.concatenate((whole, keys[(keys >= low) & (keys <= high)])))
            outside.append((at, np.array([curve.evaluate(frame) for frame in at])))
        else:
            outside.append((np.zeros(0), np.zeros(0)))
    (early, first), (late, last) = outside
    return np.concatenate((early, frames, late)), np.concatenate((first, values, last))


def check_writable(ob: bpy.types.Object) -> None:
    if ob.library is not None:
        raise solver.InputError("It is linked from another file.", ob.name,
                                "Make a library override of it: Object > Library Override > Make.")
    data = ob.animation_data
    if data is None:
        return
    if data.use_tweak_mode:
        raise solver.InputError("One of its strips is in tweak mode.", ob.name, "Leave tweak mode with Tab.")
    solo = next((track for track in data.nla_tracks if track.is_solo), None)
    if solo is not None:
        raise solver.InputError(f"Its track {solo.name} plays solo and would hide the result.", ob.name,
                                "Untick the star of the track in the nonlinear animation editor.")
    if data.action is not None and (data.action_blend_type != "REPLACE" or data.action_influence < 1.0):
        raise solver.InputError("Its action is layered over others.", ob.name,
                                "Push it down to its own track, or set its blending to Replace and influence to 1.")


def write_action(actions: Any, ob: bpy.types.Object, found: Sequence[Channel], frames: Array, span: Span,
                 beyond: Beyond) -> Any:
    """A new action, shown on the object; returns it."""
    source, slot = original(ob)
    if source is not None:
        source.use_fake_user = True  # the object is about to let go of it
    if source is not None and hasattr(source, "slots") and slot is None:
        source = None  # an action without a slot animates nothing
    name = (source.name.removesuffix(SUFFIX) if source is not None else ob.name) + SUFFIX
    curves = copied_action(source, slot, name) if source is not None else new_action(actions, ob, name)
    write_curves(curves, found, frames, span, beyond)
    remember(curves.action, ob, found)
    mark_result(curves, source, slot)
    curves.action.use_fake_user = True
    mute_results(ob)
    show(ob, curves.action, curves.slot)
    return curves.action


def write_track(actions: Any, ob: bpy.types.Object, found: Sequence[Channel], frames: Array, span: Span,
                beyond: Beyond) -> Any:
    """A new action on a track of its own; what was the active action goes to a muted track below it."""
    source, slot = original(ob)
    action = write_action(actions, ob, found, frames, span, beyond)
    data: Any = ob.animation_data
    if not data.use_nla:  # the result needs the tracks on, what was not seen before shall stay unseen
        for track in data.nla_tracks:
            track.mute = True
        data.use_nla = True
    made = getattr(data, "action_slot", None)
    if source is not None and not any(s.action == source for track in data.nla_tracks for s in track.strips):
        below = data.nla_tracks.new()
        below.name = source.name
        _strip(below, source, slot)
        below.mute = True
    data.action = None
    above = data.nla_tracks.new()
    above.name = action.name
    _strip(above, action, made)
    return action


def _strip(track: Any, action: Any, slot: Any | None) -> None:
    start, end = action.frame_range
    strip = track.strips.new(action.name, int(np.floor(start)), action)
    strip.action_frame_start, strip.action_frame_end = start, end
    strip.frame_start, strip.frame_end = start, end
    if slot is not None:
        strip.action_slot = slot
