"""The smoothest curve near a wanted one that keeps between two bounds.

    min over c   sum_k w_k (z_k - wanted_k)^2 + h^4 sum_k z''_k^2 + STIFF sum (how far z is out of its bounds)^2 ,
    z = B c ,    B: cubic B-splines on knots h apart

Bounds are penalties, so that contradicting ones are met half-way instead of failing; the upper one weighs more. The
work grows with the length of the curve, not faster.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline
from scipy.linalg import solveh_banded

Array = NDArray[np.float64]

UPPER, LOWER = 1e4, 1e3
ROUNDS = 25


def bounded_curve(times: Array, wanted: Array, lower: Array, upper: Array, spacing: float,
                  weight: float = 1.0) -> Array:
    """(K,) values at `times` (K,); bounds may be infinite. A smaller `weight` lets the curve be calmer."""
    span = float(times[-1] - times[0])
    count = max(int(np.ceil(span / spacing)), 1)
    h = span / count
    knots = times[0] + h * np.arange(-3, count + 4)
    n = count + 3
    B = BSpline.design_matrix(np.clip(times, times[0], times[-1] - 1e-9 * span), knots, 3).tocsr()
    values, first = B.data.reshape(-1, 4), B.indices.reshape(-1, 4)[:, 0]        # four splines at every time
    stiff = len(times) / count * (spacing / h) ** 4 * _bending(n)
    stiff[3] += 1e-9
    low, high = np.isfinite(lower), np.isfinite(upper)
    active = np.zeros(len(times))
    for _ in range(ROUNDS):
        target = np.where(active > 0.0, upper, np.where(active < 0.0, lower, wanted))
        w = np.where(active > 0.0, UPPER, np.where(active < 0.0, LOWER, weight))
        M, right = stiff.copy(), np.zeros(n)                     # upper banded: M[3 - d, j + d] is M_(j, j + d)
        for i in range(4):
            right += np.bincount(first + i, w * target * values[:, i], n)
            for d in range(4 - i):
                M[3 - d] += np.bincount(first + i + d, w * values[:, i] * values[:, i + d], n)
        c = solveh_banded(M, right, check_finite=False)
        z = (values * c[first[:, None] + np.arange(4)]).sum(1)
        over, under = high & (z > upper), low & (z < lower)
        now = np.where(over, 1.0, np.where(under, -1.0, 0.0))
        # who was pressed against a bound and still touches it stays pressed; who is free of it leaves
        stay = (active > 0.0) & high & (z > upper - 1e-5) | (active < 0.0) & low & (z < lower + 1e-5)
        now = np.where((now == 0.0) & stay, active, now)
        if (now == active).all():
            break
        active = now
    return np.asarray(z)


def _bending(n: int) -> Array:
    """(4, n) D'D in upper banded form, D the second difference."""
    D = np.array([1.0, -2.0, 1.0])
    out = np.zeros((4, n))
    for i in range(3):
        for d in range(3 - i):
            out[3 - d, i + d:n - 2 + i + d] += D[i] * D[i + d]
    return out
