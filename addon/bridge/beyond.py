# SPDX-License-Identifier: GPL-3.0-or-later
"""What plays before and after the frames that are baked, on channels that no curve of the action holds.

Tracks may move them, or nothing; once the result keys them, only its keys count, outside its frames too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .actions import strip_range
from .convert import Array
from .originals import show_original
from .restore import Restored
from .unkeyed import heard_curves, is_loose
from .visible import show_hidden

if TYPE_CHECKING:
    import bpy

Beyond = Mapping[tuple[str, str], tuple[Array, Array]]   # bone and channel -> frames (K,) and values (K, 3 or 4)


def read_beyond(scene: bpy.types.Scene, ob: bpy.types.Object, found: Sequence[Any], frames: Array,
                moves: tuple[int, int], skins: Sequence[bpy.types.Object] = ()) -> Beyond:
    """`found` are the channels that will be keyed over `frames`, `moves` the first and last frame of the motion."""
    heard = heard_curves(ob)
    loose = [channel for channel in found if is_loose(channel, heard)]
    at = _outside(frames, moves, strip_range(ob))
    if not loose or not len(at):
        return {}
    values = {(channel.bone, channel.name): np.empty((len(at), channel.values.shape[1])) for channel in loose}
    assert ob.pose is not None
    with Restored(scene) as state:
        show_original(ob, state)
        state.hide(skins)
        show_hidden(scene, ob, state, ob.name)
        for n, frame in enumerate(at):
            scene.frame_set(int(frame))
            for (bone, name), rows in values.items():
                rows[n] = getattr(ob.pose.bones[bone], name)
    early = at < frames[0]
    for channel in loose:
        rows = values[channel.bone, channel.name]
        rows[early] = _near(channel, rows[early], -1, channel.values[0])
        rows[~early] = _near(channel, rows[~early], 0, channel.values[-1])
    return {key: (at, rows) for key, rows in values.items()}


def _outside(frames: Array, moves: tuple[int, int], strips: tuple[int, int] | None) -> Array:
    """The frames to look at: all that tracks move; without any, what stands still is the same at all of them."""
    first, last = int(frames[0]), int(frames[-1])
    low, high = min(moves[0], strips[0] if strips else moves[0]), max(moves[1], strips[1] if strips else moves[1])
    before = np.arange(low, first) if strips else np.arange(max(low, first - 1), first)
    after = np.arange(last + 1, high + 1) if strips else np.arange(last + 1, min(high, last + 1) + 1)
    return np.concatenate((before, after)).astype(np.float64)


def _near(channel: Any, rows: Array, end: int, inside: Array) -> Array:
    """The same rotations in the turn that the keys next to them are in, so that nothing spins between two frames."""
    if not len(rows):
        return rows
    if channel.name == "rotation_quaternion" and float(rows[end] @ inside) < 0.0:
        return -rows
    if channel.name == "rotation_euler":
        turn = 2.0 * np.pi
        return np.asarray(rows + turn * np.round((inside - rows[end]) / turn))
    return rows
