# SPDX-License-Identifier: GPL-3.0-or-later
"""Leave out keys that change nothing visible: no bone turns or shifts by more than told, and what stands stays.

Every bone keeps the keys that straight lines between them need. Then all poses are rebuilt from what is left, and
wherever a bone ends up too far from where it belongs, the key comes back, there and in everything above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .channels import basis_of
from .convert import Array, inverse, rigid, rotation, turn_of
from .rig import Rig
from .write_action import Channel

if TYPE_CHECKING:
    import bpy

STANDING = 0.2   # of the tolerance, for what touches the ground
ROUNDS = 30

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Tolerance:
    degrees: float
    length: float     # in the armature's own units


def reduced(ob: bpy.types.Object, rig: Rig, found: Sequence[Channel], poses: Array, tolerance: Tolerance,
            stands: NDArray[np.bool_]) -> list[Channel]:
    """The channels with fewer keys. `stands` (F, B) says which bones touch the ground when."""
    count = len(poses)
    index = {name: i for i, name in enumerate(rig.names)}
    asked = sorted({index[channel.bone] for channel in found})
    exact = basis_of(ob, rig, poses, list(range(len(rig))))
    modes = {i: ob.pose.bones[i].rotation_mode for i in asked} if ob.pose is not None else {}
    kept: dict[int, set[int]] = {}
    for i in asked:
        own = [channel for channel in found if index[channel.bone] == i]
        kept[i] = set(range(count)) if not _is_plain(ob, i) else _needed(own, modes[i], tolerance)
    for _ in range(ROUNDS):
        basis = exact.copy()
        for i in asked:
            own = [channel for channel in found if index[channel.bone] == i]
            if len(kept[i]) < count:
                basis[:, i] = _rebuilt(own, modes[i], exact[:, i], sorted(kept[i]))
        added = _repair(rig, poses, _posed(rig, poses, basis, kept, count), kept, tolerance, stands)
        if not added:
            break
    return [replace(channel, rows=np.array(sorted(kept[index[channel.bone]]), dtype=np.intp)) for channel in found]


def _is_plain(ob: Any, i: int) -> bool:
    """Inherits everything: only then is its pose the simple product that `_posed` builds."""
    bone = ob.data.bones[i]
    return bool(bone.use_inherit_rotation and bone.use_local_location and bone.inherit_scale == "FULL")


def _needed(channels: Sequence[Channel], mode: str, tolerance: Tolerance) -> set[int]:
    """Divide where a straight line misses the most, until none misses by more than half the tolerance."""
    count = len(channels[0].values)
    kept, open_spans = {0, count - 1}, [(0, count - 1)]
    while open_spans:
        a, b = open_spans.pop()
        if b - a < 2:
            continue
        share = (np.arange(a, b + 1) - a) / (b - a)
        error = np.zeros(b - a + 1)
        for channel in channels:
            values = channel.values[a:b + 1]
            line = values[0] + share[:, None] * (values[-1] - values[0])
            error = np.maximum(error, _miss(channel.name, mode, line, values, tolerance))
        worst = 1 + int(error[1:-1].argmax())  # the ends are kept: dividing there would go on for ever
        if error[worst] > 0.5:
            kept.add(a + worst)
            open_spans += [(a, a + worst), (a + worst, b)]
    return kept


def _miss(name: str, mode: str, line: Array, values: Array, tolerance: Tolerance) -> Array:
    """(n,) how far a line is from the values, in tolerances."""
    if name == "location":
        return np.asarray(np.linalg.norm(line - values, axis=1) / tolerance.length)
    if name == "scale":
        return np.asarray(np.abs(line - values).max(1) / 1e-3)
    change = rotation.multiply(rotation.conjugate(_quaternion(values, mode)), _quaternion(line, mode))
    return np.asarray(np.degrees(np.linalg.norm(rotation.log(change), axis=1)) / tolerance.degrees)


def _quaternion(values: Array, mode: str) -> Array:
    if mode == "QUATERNION":
        return np.asarray(rotation.normalised(values))
    if mode == "AXIS_ANGLE":
        axis = values[:, 1:] / np.maximum(np.linalg.norm(values[:, 1:], axis=1, keepdims=True), 1e-12)
        return np.asarray(rotation.exp(values[:, :1] * axis))
    order = mode[::-1]  # Blender's XYZ turns about x first in fixed axes: z first in turning ones
    return np.asarray(rotation.from_euler(values[:, ["XYZ".index(letter) for letter in order]], order))


def _rebuilt(channels: Sequence[Channel], mode: str, exact: Array, rows: Sequence[int]) -> Array:
    """(F, 4, 4) the basis that the kept keys give; what is not keyed is as it was."""
    at = np.arange(len(exact))
    location, turn, scale = exact[:, :3, 3], turn_of(exact), np.linalg.norm(exact[:, :3, :3], axis=1)
    for channel in channels:
        lines = np.stack([np.interp(at, rows, column[list(rows)]) for column in channel.values.T], axis=1)
        if channel.name == "location":
            location = lines
        elif channel.name == "scale":
            scale = lines
        else:
            turn = rotation.matrix(_quaternion(lines, mode))
    return rigid(turn * scale[:, None, :], location)


def _posed(rig: Rig, poses: Array, basis: Array, kept: dict[int, set[int]], count: int) -> Array:
    """(F, B, 4, 4) poses from the rebuilt basis; bones that keep all keys follow their parents as they are keyed."""
    out = poses.copy()
    rest_inverse = inverse(rig.rests)
    for i, p in enumerate(rig.parents):
        if p < 0:
            if i in kept and len(kept[i]) < count:
                out[:, i] = rig.rests[i] @ basis[:, i]
        else:
            out[:, i] = out[:, p] @ (inverse(poses[:, p]) @ poses[:, i] if not (i in kept and len(kept[i]) < count)
                                     else rest_inverse[p] @ rig.rests[i] @ basis[:, i])
    return out


def _repair(rig: Rig, poses: Array, made: Array, kept: dict[int, set[int]], tolerance: Tolerance,
            stands: NDArray[np.bool_]) -> bool:
    """Give keys back where a bone is too far off: its worst frame, in it and all above it."""
    lengths = np.linalg.norm(rig.tails - rig.heads, axis=1)
    tails = [m[..., :3, 3] + lengths[:, None] * m[..., :3, 1] for m in (poses, made)]
    shift = np.maximum(np.linalg.norm(made[..., :3, 3] - poses[..., :3, 3], axis=-1),
                       np.linalg.norm(tails[1] - tails[0], axis=-1))
    change = turn_of(poses).swapaxes(-1, -2) @ turn_of(made)
    angle = np.degrees(np.linalg.norm(rotation.log_matrix(change), axis=-1))
    excess = np.maximum(shift / (tolerance.length * np.where(stands, STANDING, 1.0)), angle / tolerance.degrees)
    added = False
    for i in np.flatnonzero(excess.max(0) > 1.0):
        bad = np.flatnonzero(excess[:, i] > 1.0)
        runs = np.split(bad, np.flatnonzero(np.diff(bad) > 1) + 1)
        frames = {int(run[excess[run, i].argmax()]) for run in runs}
        above = int(i)
        while above >= 0:
            if above in kept and not frames <= kept[above]:
                kept[above] |= frames
                added = True
            above = rig.parents[above]
    return added
