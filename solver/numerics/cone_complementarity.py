"""Unilateral rows and circular friction cones, solved together and all at once.

Wanted are impulses p = (p_n, p_t1, p_t2) per cone and p per single row, with the velocities w = G G^T p + b they cause:

    single row    0 <= p   and 0 <= w  , one of them zero
    cone          0 <= p_n and 0 <= w_n, one of them zero;  |p_t| <= mu p_n , p_t = -mu p_n w_t / |w_t| where it slides

With s = mu |w_t| added to w_n (De Saxce's change of variables) both say  K* ∋ w + s e_n  _|_  p ∈ K . For a known s
that is a convex program,  min 1/2 p^T (G G^T) p + p^T (b + s e_n)  over K. The alternating direction method of
multipliers solves it with one factorisation and then only products and projections, and s may be renewed in every
round (Carpentier, Le Lidec, Montaut: From Compliant to Rigid Contact Simulation, RSS 2024):

    p <- (G G^T + rho)^-1 (rho q - z - b - s e_n)          q <- P_K(p + z / rho)          z <- z + rho (p - q)

Some twenty rounds for a body that falls on forty contacts; Gauss-Seidel needs hundreds of sweeps over single contacts
there, and Newton's method as many factorisations. Rows that repeat each other (the corners of a rigid foot) do no harm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dpotrf

Array = NDArray[np.float64]

PENALTY = 1.0      # rho to begin with; rows are scaled to unit inverse mass
RELAX = 1.6
ROUNDS = 400
CHECK = 5          # rounds between two looks at the residual
ADAPT = 15         # rounds after which rho may change
UNEVEN = 5.0       # ... if one of its two residuals is so much larger than the other
STALL = 0.7        # ... or if the residual has not become smaller than this share of itself


@dataclass(frozen=True, eq=False)
class ConeSolution:
    """`p` is inside its cones, whatever the residual."""

    p: Array           # (3 C + L,)
    w: Array           # (3 C + L,) G G^T p + b
    x: Array           # (n,) G^T p
    residual: float    # largest violation of the conditions above, in the unit of b
    rounds: int


def solve_cones(G: Array, b: Array, friction: Array, start: Array | None = None, tolerance: float = 1e-6,
                rounds: int = ROUNDS) -> ConeSolution:
    """G is (3 C + L, n): three rows (normal, two tangents) per cone of `friction` (C,), then L single rows."""
    if not len(b):
        return ConeSolution(np.zeros(0), np.zeros(0), np.zeros(G.shape[1]), 0.0, 0)
    problem = _Scaled(G, b, friction)
    c = problem.count
    G, b, mu, tangents = problem.G, problem.b, problem.mu, problem.tangents
    q = problem.project(problem.scale * start[problem.order]) if start is not None else np.zeros(len(b))
    w = problem.velocities(q)
    slip = mu * np.hypot(*w[tangents].reshape(2, c))
    w[:c] += slip
    rho, relax, used = PENALTY, RELAX, 0
    U = problem.factor(rho)
    y = w / -rho                                   # z / rho
    residual = earlier = problem.residual(q)
    while residual > tolerance and used < rounds:
        used += 1
        p = q - y
        p *= rho
        p -= b
        p[:c] -= slip
        p -= U @ (U.T @ p)
        p *= relax / rho
        p -= (relax - 1.0) * q
        y += p
        before, q = q, problem.project(y.copy())
        y -= q
        slip = (rho * mu) * np.hypot(*y[tangents].reshape(2, c))
        if used % CHECK:
            continue
        residual = problem.residual(q)
        if used % ADAPT:
            continue
        p -= q
        ratio = float(np.abs(p).max()) / max(rho * float(np.abs(q - before).max()), 1e-300)
        change = 1.0
        if residual > STALL * earlier:             # going round in circles, as s can make it
            relax = 1.0
            change = 0.4 if ratio < 1.0 else 2.5
        elif not 1.0 / UNEVEN < ratio < UNEVEN:
            change = float(np.clip(np.sqrt(ratio), 0.1, 10.0))
        if change != 1.0:
            rho *= change
            y /= change
            U = problem.factor(rho)
        earlier = residual
    return problem.solution(q, residual, used)


class _Scaled:
    """Rows ordered normals, single rows, first tangents, second tangents, and scaled so that each moves by one under
    its own impulse: then one rho suits a hand and a chest."""

    def __init__(self, G: Array, b: Array, friction: Array) -> None:
        count = self.count = len(friction)
        cones = np.arange(3 * count).reshape(-1, 3)
        self.order = np.concatenate((cones[:, 0], np.arange(3 * count, len(b)), cones[:, 1], cones[:, 2]))
        self.tangents = slice(len(b) - 2 * count, len(b))
        own = np.einsum("ij,ij->i", G, G)
        if count:
            own[:3 * count] = np.repeat(own[:3 * count].reshape(-1, 3).mean(1), 3)
        self.scale = np.sqrt(np.maximum(own, 1e-12 * max(float(own.max()), 1e-12)))[self.order]
        self.G = G[self.order] / self.scale[:, None]   # p_scaled = scale p, w_scaled = w / scale
        self.b = b[self.order] / self.scale
        self.mu = friction
        self._flat = 1.0 / (1.0 + friction * friction)
        self._tilt = friction * self._flat

    def factor(self, rho: float) -> Array:
        """U with  (G G^T + rho)^-1 = (1 - U U^T) / rho."""
        A = self.G.T @ self.G
        A.ravel()[::len(A) + 1] += rho
        L = dpotrf(A, lower=1, overwrite_a=1)[0]
        return np.ascontiguousarray(dtrsm(1.0, L, self.G.T, lower=1).T)

    def velocities(self, q: Array) -> Array:
        return np.asarray(self.G @ (self.G.T @ q) + self.b)

    def project(self, z: Array) -> Array:
        """P_K(z), the nearest point of each cone, in place:  height max(n, (n + mu |t|) / (1 + mu^2), 0) , |t| <= mu
        height."""
        c = self.count
        n = z[:c]
        t = z[self.tangents].reshape(2, c)
        side = np.hypot(t[0], t[1])
        np.maximum(n, self._flat * n + self._tilt * side, out=n)
        upright = z[:len(z) - 2 * c]
        np.maximum(upright, 0.0, out=upright)
        t *= np.minimum(self.mu * n / np.maximum(side, 1e-300), 1.0)
        return z

    def residual(self, q: Array) -> float:
        """How far q is from P_K(q - (w + s)), as a velocity."""
        w = self.velocities(q)
        w[:self.count] += self.mu * np.hypot(*w[self.tangents].reshape(2, self.count))
        return float((np.abs(q - self.project(q - w)) * self.scale).max())

    def solution(self, q: Array, residual: float, rounds: int) -> ConeSolution:
        x = self.G.T @ q
        p, w = np.empty(len(q)), np.empty(len(q))
        p[self.order] = q / self.scale
        w[self.order] = (self.G @ x + self.b) * self.scale
        return ConeSolution(p, w, x, residual, rounds)
