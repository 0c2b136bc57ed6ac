"""What a simulation leaves undone on uneven ground, mended as the plan is: a pushed foot that clips an edge, lands
late, stands a little off the ground or slips on it, and joints that hurry over it.

Only frames that a push has led off the plan change, a little and smoothly; on level ground there is nothing to mend.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools
from ..numerics import rotation
from ..numerics.runs import runs
from .clip import Clip
from .ground_plan import LEFT
from .mend import AROUND
from .replant import replant

# a body may graze edges, still joints may be pushed, and a body that falls onto a late foot is not to be thrown up
SIMULATED = replace(LEFT, graze=0.01, least=6.0, root=0.1)
LANDING = 0.05             # s after which a foot that lands should stand
ASTRAY = 1e-6              # m, rad: frames that are nearer to the plan stay there


def touched_up(clip: Clip, positions: Array, rotations: Array, contacts: Bools, follows: Bools) -> tuple[Array, Array]:
    """Simulated poses (n, 3), (n, N, 4) at the frames of the range, with their contacts (n, P), in some of which (n,)
    the clip is followed."""
    steps, planned = clip.frame_step, clip.planned
    turned = np.linalg.norm(rotation.subtract(rotations, planned.rotations[steps]), axis=-1)
    is_free = follows & ((np.abs(positions - planned.positions[steps]).max(-1) > ASTRAY) | (turned.max(-1) > ASTRAY))
    if clip.terrain.is_level or not len(clip.character.points) or not is_free.any():
        return positions, rotations
    positions, rotations = positions.copy(), rotations.copy()
    around = int(np.ceil(AROUND * len(steps) / max(clip.motion.duration, 1e-9)))
    for run in runs(ndimage.binary_dilation(is_free, iterations=around)):
        keys = clip.motion.part(run.start, run.stop)
        motion = keys.with_poses(positions[run], rotations[run])
        motion = replant(clip.tree, keys, motion, clip.schedule.touching[steps[run]],
                         clip.schedule.sliding[steps[run]], contacts[run], clip.terrain, clip.ground,
                         (clip.lower, clip.upper), SIMULATED, is_free[run], LANDING)
        positions[run], rotations[run] = motion.positions, motion.rotations
    return positions, rotations
