"""Many small non-negative least-squares problems at once, each with few equations and many unknowns.

    min_{x >= 0}  |u - B^T x|^2 + ridge |x|^2         B (n, m), m small

At the minimum x = max(0, B y) with  (ridge 1 + sum_{x_i > 0} b_i b_i^T) y = u: only the m numbers y have to be found.
Newton's method guesses which x are positive, solves for y and looks which they are; a guess that repeats is the answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .qp import solve_nonnegative_qp

Array = NDArray[np.float64]

PASSES = 8   # two to four are usual; the few that go round in circles are left to quadprog


def nonnegative_fits(B: Array, u: Array, ridge: Array) -> Array:
    """x (K, n) of K problems B (K, n, m), u (K, m), ridge (K,) > 0. Rows of B that are zero stay out."""
    count, _, m = B.shape
    x = np.zeros(B.shape[:2])
    left = np.arange(count)
    positive = (B != 0.0).any(-1)
    for _ in range(PASSES):
        rows = B[left]
        G = (rows * positive[..., None]).swapaxes(-1, -2) @ rows
        G.reshape(-1, m * m)[:, ::m + 1] += ridge[left, None]
        guess = (rows @ np.linalg.solve(G, u[left, :, None]))[..., 0]
        now = guess > 0.0
        x[left] = np.where(now, guess, 0.0)
        changed = (now != positive).any(1)
        left, positive = left[changed], now[changed]
        if not len(left):
            return x
    for k in left:
        used = (B[k] != 0.0).any(-1)
        rows = B[k, used]
        x[k, used] = solve_nonnegative_qp(rows @ rows.T + ridge[k] * np.eye(len(rows)), -rows @ u[k])
    return x
