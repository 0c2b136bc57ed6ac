"""How far a motion fails to keep to the ground, frame by frame, in units of what is tolerable."""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array, Bools
from ..model.motion import Motion
from ..model.terrain import Terrain
from ..physics.shape import shape_of
from ..physics.soles import sole_samples
from ..physics.tree import Tree
from .mend import SPARE, Tolerance, joint_turns, watched
from .slipping import as_turned, slipping_of

OFF = 0.013             # m that a standing limb may be off the ground
SLIPS = 0.11            # m/s that it may slip on it
DEEP = Tolerance(deep=0.0045 + SPARE, deep_body=0.018)
HURRY = 1.9             # times the clip's fastest joint
JOLT, GENTLE = 2.5, 15.0   # times the greatest acceleration of the clip's root; m/s2, which it counts as at least


def faults(tree: Tree, keys: Motion, motion: Motion, stands: Bools, held: Bools, terrain: Terrain,
           ground: float, least: float) -> Array:
    """(K,) the worst fault of each frame, 1 being just tolerable, where some points should stand (K, P) on the ground,
    and some of them hold still (K, P) as in the keys, made on level ground of this height. The keys' fastest joint
    counts as at least so fast (rad/s)."""
    points, times = tree.character.points, motion.times
    body = watched(tree, shape_of(tree.character, keys), keys, motion, stands, terrain, ground, DEEP)
    here, there = body.keyed[:, :len(points)], body.there[:, :len(points)]
    slipping = slipping_of(here, there, held, terrain, times, 0.0, as_turned(tree, keys, motion, here))
    slips = np.linalg.norm(slipping, axis=-1).max(1) / (SLIPS * steps(times))
    air = off_ground(tree, there, here, stands, times, terrain, ground).max(1) / OFF
    fastest = max(float(joint_turns(keys).max()), least * motion.duration / (len(motion) - 1))
    hurry = np.append(joint_turns(motion), 0.0) / (HURRY * fastest)
    air = np.where(np.isfinite(air), air, 0.0)
    return np.asarray(np.max([(body.deep / body.tolerated).max(1), slips, air, hurry], axis=0))


def off_ground(tree: Tree, there: Array, here: Array, stands: Bools, times: Array, terrain: Terrain,
               ground: float) -> Array:
    """(K, L) m, how much farther off the ground limbs are than in the keys, while any of their points (K, P) should
    stand; endless where there is no ground."""
    points = tree.character.points
    out = np.zeros((len(times), len(points.limbs)))
    for n in range(len(points.limbs)):
        own = points.limb == n
        off = terrain.probe_over(sole_samples(there[:, own], 5, 9), times).distance.min(1)
        off -= np.maximum(sole_samples(here[:, own], 5, 9)[..., 2].min(1) - ground, 0.0)
        out[:, n] = np.where(stands[:, own].any(1), off, 0.0)
    return out


def steps(times: Array) -> Array:
    """(K,) s since the frame before; the first as the second."""
    return np.diff(times, prepend=2.0 * times[0] - times[1])


def jolts(keys: Motion, motion: Motion) -> Array:
    """(K,) how violently the root is thrown about, in the same units."""
    dt = motion.duration / (len(motion) - 1)
    keyed, now = (np.linalg.norm(np.diff(some.positions, 2, axis=0), axis=1) / dt ** 2 for some in (keys, motion))
    return np.pad(now / (JOLT * max(float(keyed.max(initial=0.0)), GENTLE)), 1)[:len(motion)]
