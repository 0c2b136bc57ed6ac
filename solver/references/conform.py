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

MOST = 0.06      # m: more than this is no unevenness
LOOSE = 0.005    # m: so much air under the sole is calmer than following every hollow
KNOTS = 0.06     # s
ACROSS, ALONG = 3, 7


def conform(times: Array, anchor: Array, turn: Array, keyed: Array, points: Array, standing: Bools, terrain: Terrain,
            ground: float) -> Array:
    """(K, 3) how the anchor should move, out of its foothold's plane or into it; from its planned (K, 3) and keyed
    places, the foot's turn (K, 4), and its keyed points (K, p, 3)."""
    rest = _sole(points)
    there = anchor[:, None] + rotation.rotate(turn[:, None], rest - keyed[:, None])
    run = np.flatnonzero(standing)
    out = rotation.rotate(turn, np.tile(np.array([0.0, 0.0, 1.0]), (len(times), 1)))
    if not len(run):
        return np.zeros((len(times), 3))
    h = terrain.height_over(there[run, :, :2], times[run], float(there[run, :, 2].max()) + 0.5).z
    clear = np.where(np.isfinite(h), there[run, :, 2] - h, np.inf).min(1)
    own = np.maximum((rest[run, :, 2] - ground).min(1), 0.0)
    change = (own - clear) * out[run, 2]
    usable = np.isfinite(change) & (np.abs(change) < MOST)
    if np.abs(change[usable]).max(initial=0.0) < 1e-9:
        return np.zeros((len(times), 3))
    lower, upper = np.full(len(times), -np.inf), np.full(len(times), np.inf)
    lower[run[usable]], upper[run[usable]] = change[usable], change[usable] + LOOSE
    return bounded_curve(times, np.zeros(len(times)), lower, upper, KNOTS)[:, None] * out


def _sole(points: Array) -> Array:
    """(K, n, 3) samples of a sole of four points, heel pair first; other limbs as they are."""
    if points.shape[1] != 4:
        return points
    u, v = (g.reshape(-1, 1) for g in np.meshgrid(np.linspace(0, 1, ACROSS), np.linspace(0, 1, ALONG)))
    a, b, c, d = (points[:, n:n + 1] for n in range(4))
    return np.asarray((1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * c + u * d))
