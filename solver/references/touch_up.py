"""What a simulation leaves undone on uneven ground, mended as the plan is: a pushed foot that clips an edge, lands
late, stands a little off the ground or slips on it, and joints that hurry over it.

Only frames that a push has led off the plan change, a little and smoothly; on level ground there is nothing to mend.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools, Ints
from .clip import Clip
from .mend import AROUND, Tolerance
from .replant import replant

SIMULATED = Tolerance(deep=0.004, deep_body=0.016, graze=0.01, off=0.011, slip=np.inf, jerked=np.inf, hurried=1.9,
                      fastest=1.8, least=8.0)
LANDING = 0.05             # s after which a foot that lands should stand
ASTRAY = 1e-6              # m, of unit quaternions: frames that are nearer to the plan stay there


def touched_up(clip: Clip, positions: Array, rotations: Array, contacts: Bools, follows: Bools) -> tuple[Array, Array]:
    """Simulated poses (n, 3), (n, N, 4) at the frames of the range, with their contacts (n, P), in some of which (n,)
    the clip is followed."""
    steps, planned = clip.frame_step, clip.planned
    is_free = follows & ((np.abs(positions - planned.positions[steps]).max(-1) > ASTRAY) |
                         (np.abs(rotations - planned.rotations[steps]).max((-2, -1)) > ASTRAY))
    if clip.terrain.is_level or not len(clip.character.points) or not is_free.any():
        return positions, rotations
    positions, rotations = positions.copy(), rotations.copy()
    around = int(np.ceil(AROUND * len(steps) / max(clip.motion.duration, 1e-9)))
    for first, stop in _runs(ndimage.binary_dilation(is_free, iterations=around)):
        run = slice(first, stop)
        keys = clip.motion.part(first, stop)
        motion = keys.with_poses(positions[run], rotations[run])
        motion = replant(clip.tree, keys, motion, clip.schedule.touching[steps[run]],
                         clip.schedule.sliding[steps[run]], contacts[run], clip.terrain, clip.ground,
                         (clip.lower, clip.upper), SIMULATED, is_free[run], LANDING)
        positions[run], rotations[run] = motion.positions, motion.rotations
    return positions, rotations


def _runs(used: Bools) -> Ints:
    """(n, 2) first frames and ends of the runs of used (F,) frames that are more than one long."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], used, [0])))).reshape(-1, 2)
    return np.asarray(edges[np.diff(edges, axis=1)[:, 0] > 1])
