"""A standing foot comes down to the ground, or out of it, as it rolls.

Its foothold is a plane, and on rough ground a plane touches in a few places only: while the heel strikes, the ground
may be lower under it than the plane; and the clip's own foot may sink into its own ground. A smooth change of height
makes the lowest part of the sole touch as it does in the clip, or lie on the ground where the clip's is inside.
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array, Bools
from ..model.terrain import Terrain
from ..numerics import rotation
from ..numerics.bounded_curve import bounded_curve
from ..physics.soles import sole_samples
from .underfoot import CEILING

MOST = 0.09      # m: so much of an unevenness is followed ...
EDGE = 0.12      # m: ... and more than this is none
LOOSE = 0.005    # m: so much air under the sole is calmer than following every hollow
KNOTS = 0.06     # s


def conform(times: Array, soles: Array, keyed: Array, turn: Array, standing: Bools, terrain: Terrain,
            ground: float) -> Array:
    """(K, 3) how a foot should move, out of its foothold's plane or into it, from where its points are planned
    (K, p, 3) and keyed, and its turn (K, 4)."""
    rest, there = sole_samples(keyed), sole_samples(soles)
    run = np.flatnonzero(standing)
    out = rotation.rotate(turn, np.tile(np.array([0.0, 0.0, 1.0]), (len(times), 1)))
    if not len(run):
        return np.zeros((len(times), 3))
    h = terrain.height_over(there[run, :, :2], times[run], there[run, :, 2].max(1, keepdims=True) + CEILING).z
    clear = np.where(np.isfinite(h), there[run, :, 2] - h, np.inf).min(1)
    own = np.maximum((rest[run, :, 2] - ground).min(1), 0.0)
    change = (own - clear) * out[run, 2]
    usable = np.isfinite(change) & (np.abs(change) < EDGE)
    change = np.clip(change, -MOST, MOST)
    if np.abs(change[usable]).max(initial=0.0) < 1e-9:
        return np.zeros((len(times), 3))
    lower, upper = np.full(len(times), -np.inf), np.full(len(times), np.inf)
    lower[run[usable]], upper[run[usable]] = change[usable], change[usable] + LOOSE
    return bounded_curve(times, np.zeros(len(times)), lower, upper, KNOTS)[:, None] * out
