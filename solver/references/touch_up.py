"""What a simulation leaves undone on uneven ground, mended as the plan is: a pushed foot that clips an edge, lands
late, stands a little off the ground or slips on it, and joints that hurry over it.

Only frames that a push has led off the plan change, a little and smoothly; on level ground there is nothing to mend.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools, Ints
from ..model.motion import Motion
from ..physics.shape import shape_of
from ..physics.soles import sole_samples
from ..physics.trajectory import point_paths, poses
from .clip import Clip
from .mend import AROUND, Tolerance, gathered, mend, slipping_of
from .standing import evened

SIMULATED = Tolerance(deep=0.004, deep_body=0.016, graze=0.01, off=0.011, slip=np.inf, jerked=np.inf, hurried=1.9,
                      fastest=1.8, least=8.0)
ASTRAY = 1e-6              # m, of unit quaternions: frames that are nearer to the plan stay there
SLIP = 0.08                # m/s that a foot may slip
LANDING = 0.05             # s after which a foot that lands should stand
# leg lengths: from so high a foot is brought down that has not landed yet, and one that has stood; higher ones fly
LATE, HOVERS = 0.1, 0.05
EVEN = 0.15                # s over which that is evened out
ROUNDS = 3


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
        for _ in range(ROUNDS):
            stands, soles, slips = _standing(clip, keys, motion, steps[run], contacts[run])
            before, motion = motion, mend(clip.tree, shape_of(clip.character, keys), keys, motion, stands, soles,
                                          clip.terrain, clip.ground, (clip.lower, clip.upper), SIMULATED, is_free[run],
                                          slips)
            if motion is before:
                break
        positions[run], rotations[run] = motion.positions, motion.rotations
    return positions, rotations


def _runs(used: Bools) -> Ints:
    """(n, 2) first frames and ends of the runs of used (F,) frames that are more than one long."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], used, [0])))).reshape(-1, 2)
    return np.asarray(edges[np.diff(edges, axis=1)[:, 0] > 1])


def _standing(clip: Clip, keys: Motion, motion: Motion, steps: Ints, contacts: Bools) -> tuple[Bools, Array, Bools]:
    """(n, P) points that stand in a motion whose frames are these sub-steps of the clip; (n, P, 3) where they should:
    on the ground, and where they came down; and (n,) where they slip."""
    character, times = clip.character, motion.times
    shape, points = shape_of(character, keys), character.points
    there, here = (point_paths(clip.tree, shape, some, points.link, shape.points) for some in (motion, keys))
    planned = clip.schedule.touching[steps]
    held = _since(planned & contacts & ~clip.schedule.sliding[steps], times) > LANDING - 1e-9
    turn = _turns(clip, motion) @ _turns(clip, keys).swapaxes(-1, -2)
    turned = (0.5 * (turn[1:] + turn[:-1]) @ np.diff(here, axis=0)[..., None])[..., 0]
    slipping = slipping_of(here, there, held, clip.terrain, times, SLIP, turned)
    stands, soles, slips = planned.copy(), there.copy(), np.zeros(len(times), dtype=bool)
    for n in range(len(points.limbs)):
        own = np.flatnonzero(points.limb == n)
        air = clip.terrain.probe_over(sole_samples(there[:, own], 5, 9), times).distance.min(1)
        air -= np.maximum(sole_samples(here[:, own], 5, 9)[..., 2].min(1) - clip.ground, 0.0)
        down = np.asarray(planned[:, own].any(1, keepdims=True))
        touches = (down & contacts[:, own].any(1, keepdims=True)).astype(float)
        has_stood = gathered(touches[..., None], down)[:, 0, 0] > 0.0
        highest = np.where(has_stood, HOVERS, LATE) * character.leg_length
        stands[:, own] &= (_since(down, times) > LANDING - 1e-9) & (air < highest)[:, None]
        is_down = np.asarray(stands[:, own].any(1))
        air = np.where(is_down, np.maximum(air, 0.0), 0.0)                       # without ground it is endless
        soles[:, own, 2] -= evened(times, air, is_down & has_stood, EVEN)[:, None]
        slips |= slipping[:, own].any((1, 2))
        slipped = gathered(slipping[:, own], held[:, own])
        mean = slipped.sum(1, keepdims=True) / np.maximum(held[:, own].sum(1), 1)[:, None, None]
        soles[:, own] -= np.where(held[:, own, None], slipped, mean)             # who does not touch goes along
    return stands, soles, slips


def _turns(clip: Clip, motion: Motion) -> Array:
    """(n, P, 3, 3) how the points' links are turned in the world."""
    shape, links = shape_of(clip.character, motion), clip.character.points.link
    return np.concatenate([pose.R[:, links] for _, pose in poses(clip.tree, shape, motion)])


def _since(down: Bools, times: Array) -> Array:
    """(n, m) s since something came down; 0 where it is up, inf if it has been down from the first."""
    up = np.maximum.accumulate(np.where(down, -np.inf, times[:, None]))
    return np.where(down, times[:, None] - up, 0.0)
