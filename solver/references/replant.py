"""Standing feet put where they should be: on the ground, and where they came down; and what else is wrong mended.

A foot may stand off the ground, or slip on it, by a little everywhere: what a point of it does counts beside what it
does in the keys, along the ground and turned onto it as the foot is. Where that is too much, the whole body is mended.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools
from ..model.motion import Motion
from ..model.terrain import Terrain
from ..numerics.runs import runs
from ..physics.shape import shape_of
from ..physics.soles import sole_samples
from ..physics.trajectory import point_paths, poses
from ..physics.tree import Tree
from .mend import Tolerance, mend
from .slipping import gathered, slipping_of

SLIP = 0.08                # m/s that a foot may slip
SLIPS, OFF = 0.04, 0.015   # m/s more, m off the ground: one is as bad as the other
# leg lengths: from so high a foot is brought down that has not landed yet, and one that has stood; higher ones fly
LATE, HOVERS = 0.1, 0.05
EVEN = 0.15                # s over which that is evened out
ROUNDS = 3


def replant(tree: Tree, keys: Motion, motion: Motion, touching: Bools, sliding: Bools, contacts: Bools,
            terrain: Terrain, ground: float, limits: tuple[Array, Array], tolerance: Tolerance,
            is_free: Bools, landing: float = 0.0) -> Motion:
    """The motion, of keys made on level ground, with the points that should touch (n, P) on the ground, of which some
    slide (n, P) in the keys and some are in contact (n, P) now; they stand from `landing` (s) on. Only free frames (n,)
    change."""
    best, least = motion, np.inf
    for _ in range(ROUNDS):
        stands, soles, slips, fault = _standing(tree, keys, motion, touching, sliding, contacts, terrain, ground,
                                                  landing)
        if fault < least:                          # mending may not come to its end
            best, least = motion, fault
        before, motion = motion, mend(tree, shape_of(tree.character, keys), keys, motion, stands, soles, terrain,
                                      ground, limits, tolerance, is_free, slips)
        if motion is before:
            return motion
    fault = _standing(tree, keys, motion, touching, sliding, contacts, terrain, ground, landing)[3]
    return motion if fault < least else best


def _standing(tree: Tree, keys: Motion, motion: Motion, planned: Bools, sliding: Bools, contacts: Bools,
              terrain: Terrain, ground: float, landing: float) -> tuple[Bools, Array, Bools, float]:
    """(n, P) points that stand; (n, P, 3) where they should; (n,) where they slip; and how bad it is in all."""
    character, times = tree.character, motion.times
    shape, points = shape_of(character, keys), character.points
    there, here = (point_paths(tree, shape, some, points.link, shape.points) for some in (motion, keys))
    held = planned & contacts & ~sliding
    held &= _since(held, times) > landing - 1e-9
    turn = _turns(tree, motion) @ _turns(tree, keys).swapaxes(-1, -2)
    turned = (0.5 * (turn[1:] + turn[:-1]) @ np.diff(here, axis=0)[..., None])[..., 0]
    slipping = slipping_of(here, there, held, terrain, times, SLIP, turned)
    stands, soles, slips = planned.copy(), there.copy(), np.zeros(len(times), dtype=bool)
    fault = float(((slipping[1:] / (SLIPS * np.diff(times)[:, None, None])) ** 2).sum())
    for n in range(len(points.limbs)):
        own = np.flatnonzero(points.limb == n)
        air = terrain.probe_over(sole_samples(there[:, own], 5, 9), times).distance.min(1)
        air -= np.maximum(sole_samples(here[:, own], 5, 9)[..., 2].min(1) - ground, 0.0)
        down = np.asarray(planned[:, own].any(1, keepdims=True))
        touches = (down & contacts[:, own].any(1, keepdims=True)).astype(float)
        has_stood = gathered(touches[..., None], down)[:, 0, 0] > 0.0
        highest = np.where(has_stood, HOVERS, LATE) * character.leg_length
        stands[:, own] &= (_since(down, times) > landing - 1e-9) & down & (air < highest)[:, None]
        is_down = np.asarray(stands[:, own].any(1))
        air = np.where(is_down, np.maximum(air, 0.0), 0.0)                       # without ground it is endless
        fault += float(((air / OFF) ** 2).sum())
        soles[:, own, 2] -= evened(times, air, is_down & has_stood, EVEN)[:, None]
        slips |= slipping[:, own].any((1, 2))
        slipped = gathered(slipping[:, own], held[:, own])
        mean = slipped.sum(1, keepdims=True) / np.maximum(held[:, own].sum(1), 1)[:, None, None]
        soles[:, own] -= np.where(held[:, own, None], slipped, mean)             # who does not touch goes along
    return stands, soles, slips, fault


def _turns(tree: Tree, motion: Motion) -> Array:
    """(n, P, 3, 3) how the points' links are turned in the world."""
    shape, links = shape_of(tree.character, motion), tree.character.points.link
    return np.concatenate([pose.R[:, links] for _, pose in poses(tree, shape, motion)])


def _since(down: Bools, times: Array) -> Array:
    """(n, m) s since something came down; 0 where it is up, inf if it has been down from the first."""
    up = np.maximum.accumulate(np.where(down, -np.inf, times[:, None]))
    return np.where(down, times[:, None] - up, 0.0)


def evened(times: Array, values: Array, stands: Bools, over: float) -> Array:
    """Values averaged `over` so many seconds within each stance."""
    out = values.copy()
    width = max(1, round(over * (len(times) - 1) / float(times[-1] - times[0])))
    for run in runs(stands):
        out[run] = ndimage.uniform_filter1d(values[run], width, mode="nearest")
    return out
