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
from ..physics.trajectory import point_paths
from ..physics.tree import Tree
from .judge import faults, jolts, off_ground, steps
from .mend import Tolerance, mend
from .slipping import as_turned, gathered, slipping_of

SLIPS, SLIP = 0.1, 0.08    # m/s: who slips faster is held back, to so fast
HIGH = 0.012               # m: who hovers higher is brought down
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
    held = touching & contacts & ~sliding
    held &= _since(held, motion.times) > landing - 1e-9
    best, least = motion, np.inf
    for n in range(ROUNDS + 1):
        stands, soles, is_wrong = _standing(tree, keys, motion, touching, contacts, held, terrain, ground, landing)
        wrong = np.maximum(faults(tree, keys, motion, stands, held, terrain, ground, tolerance.least),
                           jolts(keys, motion))
        beyond = np.maximum(wrong - 1.0, 0.0)
        if (fault := float((beyond[is_free] ** 2).sum())) < least:       # mending may not come to its end
            best, least = motion, fault
        if n == ROUNDS or not least:
            break
        before, motion = motion, mend(tree, shape_of(tree.character, keys), keys, motion, stands, soles, terrain,
                                      ground, limits, tolerance, is_free, is_wrong)
        if motion is before:
            break
    return best


def _standing(tree: Tree, keys: Motion, motion: Motion, planned: Bools, contacts: Bools, held: Bools,
              terrain: Terrain, ground: float, landing: float) -> tuple[Bools, Array, Bools]:
    """(n, P) points that stand; (n, P, 3) where they should; and (n,) where they hover too high or slip."""
    character, times = tree.character, motion.times
    shape, points = shape_of(character, keys), character.points
    there, here = (point_paths(tree, shape, some, points.link, shape.points) for some in (motion, keys))
    turned = as_turned(tree, keys, motion, here)
    slipping = slipping_of(here, there, held, terrain, times, SLIP, turned)
    is_wrong = np.asarray(np.linalg.norm(slipping, axis=-1).max(1) > (SLIPS - SLIP) * steps(times))
    stands, soles = planned.copy(), there.copy()
    off = off_ground(tree, there, here, planned, times, terrain, ground)
    for n in range(len(points.limbs)):
        own = np.flatnonzero(points.limb == n)
        down = np.asarray(planned[:, own].any(1, keepdims=True))
        touches = (down & contacts[:, own].any(1, keepdims=True)).astype(float)
        has_stood = gathered(touches[..., None], down)[:, 0, 0] > 0.0
        highest = np.where(has_stood, HOVERS, LATE) * character.leg_length
        stands[:, own] &= (_since(down, times) > landing - 1e-9) & down & (off[:, n] < highest)[:, None]
        is_down = np.asarray(stands[:, own].any(1))
        air = np.where(is_down, np.maximum(off[:, n], 0.0), 0.0)                 # without ground it is endless
        is_wrong |= air > HIGH
        soles[:, own, 2] -= evened(times, air, is_down & has_stood, EVEN)[:, None]
        slipped = gathered(slipping[:, own], held[:, own])
        mean = slipped.sum(1, keepdims=True) / np.maximum(held[:, own].sum(1), 1)[:, None, None]
        soles[:, own] -= np.where(held[:, own, None], slipped, mean)             # who does not touch goes along
    return stands, soles, is_wrong


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
