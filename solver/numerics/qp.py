"""Convex quadratic programs, solved by quadprog behind a guard that keeps it from hanging and from refusing.

    minimise 1/2 x'Px + q'x    subject to    G x <= h,   A x = b        `solve_qp`
    minimise 1/2 x'Hx + d'x    subject to    x >= lower                 `solve_nonnegative_qp`, the hot path

quadprog (the dual active set of Goldfarb and Idnani) takes a row for violated from an *absolute* 1.4e-15
on, and sets no limit to its iterations. Where rows repeat, or more of them meet in a point than it has
dimensions, rounding alone is larger than that: quadprog then swaps such rows for ever, deaf to Ctrl-C, or
calls a solvable problem inconsistent. It also refuses singular P and dependent equalities. So `solve_qp`
hands it a problem free of all this: unit diagonal, unit rows, equalities eliminated, repeated rows merged,
and the *unit of length chosen* so that 1.4e-15 means a relative 1e-12, well above rounding. The answer is
polished and its optimality measured; an interior-point method, with other weaknesses and an end, stands by.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import inf

import numpy as np
import quadprog
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

RIDGE = 1e-8  # on a unit diagonal: bias 1e-8, left-over rounding 2e-16 / 1e-8; polishing undoes both
QUADPROG_TOLERANCE = 1.4e-15  # built into quadprog
OVERLOOKED = 1e-12  # relative violation that quadprog may overlook: 1e4 times rounding; polishing mends it
DEPENDENT = 1e-10  # relative size of what a row adds to the others, below which it adds nothing
CONSISTENT = 1e-9  # relative contradiction between rows that is forgiven as rounding
EXACT, ADEQUATE = 1e-11, 1e-6  # error at which any answer is taken at once; at which the best is still taken
HOT = 1e-8  # the same on the hot path: what quadprog reaches where columns of H repeat, with a ridge of 1e-8


class InfeasibleError(ValueError):
    """No x satisfies the constraints."""


class UnsolvedError(ArithmeticError):
    """The constraints can be met but no minimum was found: most likely the cost falls for ever."""


@dataclass(frozen=True, eq=False)
class QP:
    """minimise 1/2 x'Px + q'x  subject to  G x <= h,  A x = b."""

    P: Array  # (n, n)
    q: Array  # (n,)
    G: Array  # (m, n)
    h: Array  # (m,)
    A: Array  # (k, n)
    b: Array  # (k,)


@dataclass(frozen=True, eq=False)
class QPSolution:
    """A point and its multipliers. At the optimum P x + q + G'z + A'y = 0, z >= 0 and z'(h - G x) = 0."""

    problem: QP
    x: Array  # (n,)
    z: Array  # (m,) one for each row of G
    y: Array  # (k,) one for each row of A

    def primal_residual(self) -> float:
        """Largest violation of a constraint."""
        p = self.problem
        return max(_largest(np.maximum(p.G @ self.x - p.h, 0.0)), _largest(p.A @ self.x - p.b))

    def dual_residual(self) -> float:
        """Largest entry of P x + q + G'z + A'y, or largest negative multiplier."""
        p = self.problem
        gradient = p.P @ self.x + p.q + p.G.T @ self.z + p.A.T @ self.y
        return max(_largest(gradient), _largest(np.minimum(self.z, 0.0)))

    def duality_gap(self) -> float:
        """|x'Px + q'x + h'z + b'y|, the cost of x less the bound that z and y prove for it."""
        p = self.problem
        return abs(float(self.x @ (p.P @ self.x + p.q) + p.h @ self.z + p.b @ self.y))

    def error(self) -> float:
        """Largest of the three residuals, each divided by 1 + the size of what it is a difference of."""
        p = self.problem
        length = 1.0 + max(map(_largest, (self.x, p.G @ self.x, p.A @ self.x)))
        force = 1.0 + max(map(_largest, (p.P @ self.x, p.q, p.G.T @ self.z, p.A.T @ self.y)))
        gap = self.duality_gap() / (length * force)
        return max(self.primal_residual() / length, self.dual_residual() / force, gap)

    def is_optimal(self, tolerance: float = ADEQUATE) -> bool:
        """Whether all residuals are small: relative to large numbers, absolutely for small ones."""
        return self.error() <= tolerance


def solve_qp(
    P: ArrayLike,
    q: ArrayLike,
    G: ArrayLike | None = None,
    h: ArrayLike | None = None,
    A: ArrayLike | None = None,
    b: ArrayLike | None = None,
) -> QPSolution:
    """Minimise 1/2 x'Px + q'x subject to G x <= h, A x = b, with P positive semidefinite.

    Rows may repeat, depend on each other, be zero, be scaled anyhow. Where P leaves x undetermined the answer
    is one of the minima. Raises InfeasibleError, UnsolvedError, and ValueError for what is no convex program.
    """
    problem = _check(P, q, G, h, A, b)
    P, q, G, h, A, b = problem.P, problem.q, problem.G, problem.h, problem.A, problem.b

    # x = D x' gives P a unit diagonal; variables that cost nothing keep the scale of the dearest.
    top = P.diagonal().max(initial=0.0) or 1.0
    D = 1.0 / np.sqrt(np.where(P.diagonal() > 1e-16 * top, P.diagonal(), top))
    H, c, M = D[:, None] * P * D, D * q, G * D
    A_norm, M_norm = _norms(A * D), _norms(M)
    # The size of the answer, which rounding is measured by. Generous h have no say: they may stand for "no limit".
    size = max(_largest(c), _largest(b / A_norm), _largest(np.minimum(h / M_norm, 0.0))) or 1.0

    # x' = x0 + Z w are all solutions of A x = b; on w no equalities are left.
    x0, Z, U, V = _eliminate(A * D / A_norm[:, None], b / A_norm, CONSISTENT * size)
    H, c, h_w, M_w = Z.T @ H @ Z, Z.T @ (H @ x0 + c), h - M @ x0, M @ Z
    is_fixed = np.linalg.norm(M_w, axis=1) <= DEPENDENT * M_norm  # rows that w cannot change
    if np.any(is_fixed & (h_w < -CONSISTENT * size * M_norm)):
        raise InfeasibleError("An inequality contradicts the equalities, or reads 0 <= h with a negative h.")
    M_norm = _norms(M_w)
    M_w, h_w = M_w / M_norm[:, None], h_w / M_norm
    rows = _tightest(M_w, h_w, np.flatnonzero(~is_fixed))

    w, z_rows = _solve_scaled(H, c / size, M_w[rows], h_w[rows] / size)
    x = D * (x0 + Z @ (w * size))
    z = np.zeros(len(h))
    z[rows] = z_rows * size / M_norm[rows]
    y = -U @ (V.T @ (D * (P @ x + q + G.T @ z))) / A_norm
    return QPSolution(problem, x, z, y)


def solve_nonnegative_qp(H: Array, d: Array, lower: Array | None = None) -> Array:
    """x that minimises 1/2 x'Hx + d'x subject to x >= lower (0 if None), with H positive definite.

    Its multipliers are H x + d. Little more than a call of quadprog: the rows are those of the identity, all
    independent, and on those it does not cycle. What it refuses or answers poorly (H singular, extreme, not
    finite, d and x near quadprog's 1.4e-15) goes to `solve_qp`, with a ridge.
    """
    identity, zero = _nonnegative(len(d))
    if lower is None:
        lower = zero
    elif not lower.flags.writeable:  # quadprog refuses read-only arrays, although it copies all it gets
        lower = lower.copy()
    if not H.flags.writeable:
        H = H.copy()
    try:
        x: Array
        x, _, _, _, z, _ = quadprog.solve_qp(H, -d, identity, lower)
        np.maximum(x, lower, out=x)
        np.putmask(x, z > 0.0, lower)  # what rests on its bound is there, not near it
        xx = x.dot(x)  # on vectors this small, dot takes half the time of @
        if xx < inf:  # False for nan
            Hx = H.dot(x)
            e = Hx + d - z
            ee = e.dot(e)
            # The second case is that of large x whose effects cancel.
            if ee <= HOT**2 * (d.dot(d) + Hx.dot(Hx)) or ee <= (1e-12 * H.trace() / len(d)) ** 2 * xx:
                return x
    except ValueError:
        pass
    H = H + RIDGE * np.diag(H.diagonal())
    return np.maximum(solve_qp(H, d, -identity, -lower).x, lower)


def nonnegative_residual(H: Array, d: Array, x: Array, lower: Array | None = None) -> float:
    """|min(g (x - lower), H x + d)| / |(g x, d)|, zero at the optimum; g is the mean diagonal of H."""
    g = H.trace() / len(d)
    slack = x if lower is None else x - lower
    e = np.minimum(g * slack, H @ x + d)
    size = g**2 * x @ x + d @ d
    return float(e @ e / size) ** 0.5 if size else 0.0


@lru_cache(maxsize=256)
def _nonnegative(n: int) -> tuple[Array, Array]:
    """Rows and right-hand sides of x >= 0."""
    return np.eye(n), np.zeros(n)


def _check(P: ArrayLike, q: ArrayLike, *rows: ArrayLike | None) -> QP:
    """The problem as float arrays of matching shapes; P symmetric, no rows as arrays of no rows."""
    n = np.size(q)
    missing = (np.zeros((0, n)), np.zeros(0)) * 2
    given = [empty if row is None else row for row, empty in zip(rows, missing)]
    values = [np.asarray(value, dtype=float) for value in (P, q, *given)]
    m, k = values[3].size, values[5].size
    for name, value, shape in zip("PqGhAb", values, ((n, n), (n,), (m, n), (m,), (k, n), (k,))):
        if value.shape != shape:
            raise ValueError(f"{name} has the shape {value.shape} where {shape} is needed.")
        if not np.isfinite(value).all():
            raise ValueError(f"{name} holds a number that is not finite.")
    return QP((values[0] + values[0].T) / 2.0, *values[1:])


def _eliminate(A: Array, b: Array, forgiven: float) -> tuple[Array, Array, Array, Array]:
    """x0 and Z such that x = x0 + Z w are all solutions of A x = b, and the factors of A^+ = V U'.

    Singular values count dependent rows once, as a pivoted QR would, and share a multiplier among its copies.
    """
    n = A.shape[1]
    if not len(b):
        return np.zeros(n), np.eye(n), np.zeros((0, 0)), np.zeros((n, 0))
    U, S, Vt = np.linalg.svd(A)
    rank = int(np.sum(S > DEPENDENT))
    U, V = U[:, :rank], Vt[:rank].T / S[:rank]
    x0 = V @ (U.T @ b)  # not (V U') b, which would lose the digits that V has to spare
    if _largest(A @ x0 - b) > forgiven:
        raise InfeasibleError("The equalities contradict each other.")
    return x0, Vt[rank:].T, U, V


def _tightest(M: Array, h: Array, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Of the given unit rows, one for each direction: that with the smallest right-hand side."""
    directions = np.round(M, 12) + 0.0  # turns -0.0 into 0.0, for the bytes to agree
    loosest_first = rows[np.argsort(-h[rows], kind="stable")]
    return np.array(sorted({directions[i].tobytes(): i for i in loosest_first}.values()), dtype=np.intp)


@np.errstate(all="ignore")  # an attempt that overflows fails, and shows it by its error
def _solve_scaled(H: Array, c: Array, M: Array, h: Array) -> tuple[Array, Array]:
    """w and z of: minimise 1/2 w'Hw + c'w subject to M w <= h, with numbers of the order of 1."""
    if not len(c):
        return c, np.zeros(len(h))
    problem = QP(H, c, M, h, np.zeros((0, len(c))), np.zeros(0))
    attempts = ((_dual_active_set, _make_definite(H)), (_interior_point, H + 1e-14 * np.eye(len(c))))
    best, least, is_feasible = (c, h), inf, False
    for solve, H_definite in attempts:
        w, z = solve(H_definite, c, M, h)
        for is_polished in (False, True):
            if is_polished:
                w, z = _polish(problem, H_definite, w, z)
            solution = QPSolution(problem, w, z, problem.b)
            error = solution.error()
            if error <= EXACT:
                return w, z
            if error < least:  # False for nan
                best, least = (w, z), error
            is_feasible |= solution.primal_residual() <= CONSISTENT * (1.0 + _largest(w))
    if least <= ADEQUATE:
        return best
    if is_feasible:
        raise UnsolvedError("The constraints can be met, but no minimum of the cost was found.")
    raise InfeasibleError("The constraints contradict each other.")


def _make_definite(H: Array) -> Array:
    """H, with a ridge where a pivot would be smaller than that."""
    for ridge, least_pivot in ((0.0, RIDGE), (RIDGE, 0.0)):
        try:
            H_ridged = H + ridge * np.eye(len(H))
            if np.linalg.cholesky(H_ridged).diagonal().min() ** 2 > least_pivot:
                return H_ridged
        except np.linalg.LinAlgError:
            pass
    raise ValueError("The quadratic term is not positive semidefinite.")


def _dual_active_set(H: Array, c: Array, M: Array, h: Array) -> tuple[Array, Array]:
    """quadprog's answer, in a unit of length that makes its absolute tolerance a relative one."""
    w = np.asarray(np.linalg.solve(H, -c), dtype=float)
    if not len(h):
        return w, h
    unit = QUADPROG_TOLERANCE / (OVERLOOKED * max(_largest(w), -h.min(), 1.0))
    try:
        w, _, _, _, z, _ = quadprog.solve_qp(H, -c * unit, -M.T, -h * unit)
    except ValueError:  # "inconsistent": that may be so
        return w, np.zeros(len(h))
    return w / unit, z / unit


def _interior_point(H: Array, c: Array, M: Array, h: Array) -> tuple[Array, Array]:
    """Mehrotra's predictor and corrector on M w + s = h, s z = 0, from a point that need not be feasible."""
    w, s = np.zeros(len(c)), np.maximum(h, 1.0)
    z = 1.0 / s
    best, least = (w, z), inf
    for _ in range(60 if len(h) else 0):
        dual, primal, mu = H @ w + c + M.T @ z, M @ w + s - h, float(s @ z) / len(h)
        distance = max(_largest(dual), _largest(primal), mu)
        if distance < least:
            best, least = (w, z), distance
        if least < 1e-12 or not distance < 1e12:
            break
        K = H + (M.T * (z / s)) @ M
        product = s * z
        for is_prediction in (True, False):
            try:
                dw = np.linalg.solve(K, -dual - M.T @ ((z * primal - product) / s))
            except np.linalg.LinAlgError:
                return best
            ds = -primal - M @ dw
            dz = -(product + z * ds) / s
            step = min(1.0, _room(s, ds), _room(z, dz))
            if is_prediction:
                centring = ((s + step * ds) @ (z + step * dz) / (s @ z)) ** 3
                product = s * z + ds * dz - centring * mu
        step *= 0.995
        w, s, z = w + step * dw, s + step * ds, z + step * dz
    return best


def _room(v: Array, dv: Array) -> float:
    """Largest step for which v + step dv >= 0."""
    falls = dv < 0.0
    return float((-v[falls] / dv[falls]).min(initial=inf))


def _polish(problem: QP, H_definite: Array, w: Array, z: Array) -> tuple[Array, Array]:
    """Newton steps on the rows that touch; the ridge steers them, what they bring to zero is free of it."""
    touches = (z > 0.0) & (z > problem.h - problem.G @ w)
    N, h = problem.G[touches], problem.h[touches]
    K = np.block([[H_definite, N.T], [N, -RIDGE * np.eye(len(h))]])  # quasi-definite: dependent rows are no harm
    try:
        K_inverse = np.linalg.inv(K)
    except np.linalg.LinAlgError:
        return w, z
    u, n = np.concatenate([w, z[touches]]), len(w)
    for _ in range(4):
        u += K_inverse @ np.concatenate([-problem.P @ u[:n] - problem.q - N.T @ u[n:], h - N @ u[:n]])
    z = np.zeros(len(z))
    z[touches] = np.maximum(u[n:], 0.0)
    return u[:n], z


def _norms(rows: Array) -> Array:
    """Lengths of rows to divide by; 1 for a row of zeros."""
    length: Array = np.linalg.norm(rows, axis=1)
    return np.where(length > 0.0, length, 1.0)


def _largest(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))
