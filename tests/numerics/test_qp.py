"""Quadratic programs: answers are optimal, hopeless problems are named, and nothing ever hangs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from solver.numerics import qp
from solver.numerics.qp import (
    InfeasibleError,
    QPSolution,
    UnsolvedError,
    nonnegative_residual,
    solve_nonnegative_qp,
    solve_qp,
)
from tests.tolerances import JUDGE, ROUNDING

ROOT = Path(__file__).resolve().parents[2]
TIME_LIMIT = 60.0  # s, for what takes 2 s; a hang takes for ever


def random_cost(rng: np.random.Generator, n: int, condition: float = 1e2) -> tuple[np.ndarray, np.ndarray]:
    """P with eigenvalues from 1 / condition to 1, and q."""
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    P = (basis * np.geomspace(1.0 / condition, 1.0, n)) @ basis.T
    return P, rng.normal(size=n)


def random_problem(rng: np.random.Generator, n: int, m: int, k: int, condition: float) -> tuple[np.ndarray, ...]:
    """A feasible problem of which about half the inequalities touch."""
    P, q = random_cost(rng, n, condition)
    G, A, x = rng.normal(size=(m, n)), rng.normal(size=(k, n)), rng.normal(size=n)
    return P, q, G, G @ x + rng.choice([0.0, 0.1, 1.0], size=m), A, A @ x


def random_contacts(rng: np.random.Generator, n: int, ridge: float = 1e-8) -> tuple[np.ndarray, np.ndarray]:
    """H of rank 6 plus a relative ridge, and d: n forces on one body."""
    J = rng.normal(size=(6, n))
    H = J.T @ J
    return H + ridge * np.trace(H) / n * np.eye(n), J.T @ rng.normal(size=6)


def run_with_time_limit(function: str, seeds: range) -> None:
    """Runs a function of this module in another process, which can be stopped; this one could not be."""
    lines = f"from tests.numerics import test_qp\nfor seed in {seeds!r}: test_qp.{function}(seed)"
    command = [sys.executable, "-c", lines]
    done = subprocess.run(command, cwd=ROOT, timeout=TIME_LIMIT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# Optimality


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6])
@pytest.mark.parametrize(("n", "m", "k"), [(1, 2, 0), (5, 0, 0), (6, 0, 3), (12, 30, 2), (40, 60, 5)])
def test_optimality_conditions_hold(n: int, m: int, k: int, condition: float) -> None:
    for seed in range(5):
        solution = solve_qp(*random_problem(np.random.default_rng(seed), n, m, k, condition))
        assert solution.is_optimal(JUDGE)
        assert solution.primal_residual() < JUDGE
        assert np.all(solution.z >= 0.0)
        assert solution.x.shape == (n,) and solution.z.shape == (m,) and solution.y.shape == (k,)


@pytest.mark.parametrize("seed", range(3))
def test_answer_agrees_with_another_solver(seed: int) -> None:
    P, q, G, h, A, b = random_problem(np.random.default_rng(seed), 6, 8, 2, 10.0)
    judge = minimize(
        lambda x: 0.5 * x @ P @ x + q @ x,
        np.zeros(6),
        jac=lambda x: P @ x + q,
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": lambda x: h - G @ x}, {"type": "eq", "fun": lambda x: A @ x - b}],
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(solve_qp(P, q, G, h, A, b).x, judge.x, atol=1e-5)


def test_without_constraints_the_gradient_vanishes() -> None:
    P, q = random_cost(np.random.default_rng(0), 7)
    np.testing.assert_allclose(P @ solve_qp(P, q).x, -q, atol=ROUNDING)


def test_equalities_may_leave_no_freedom() -> None:
    P, q = random_cost(np.random.default_rng(0), 4)
    solution = solve_qp(P, q, [[1.0, 0.0, 0.0, 0.0]], [1.0], np.eye(4), np.ones(4))
    np.testing.assert_allclose(solution.x, 1.0, atol=ROUNDING)
    assert solution.is_optimal(JUDGE)


@pytest.mark.parametrize("seed", range(5))
def test_singular_cost_finds_a_minimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(12, 5))
    box, limits = np.vstack([np.eye(12), -np.eye(12)]), np.ones(24)
    assert solve_qp(B @ B.T, rng.normal(size=12), box, limits).is_optimal(JUDGE)  # q leaves the range of P
    assert solve_qp(B @ B.T, B @ rng.normal(size=5)).is_optimal(JUDGE)  # q lies in it


def test_linear_cost_ends_in_a_corner() -> None:
    solution = solve_qp(np.zeros((2, 2)), [1.0, -1.0], np.vstack([np.eye(2), -np.eye(2)]), np.ones(4))
    np.testing.assert_allclose(solution.x, [-1.0, 1.0], atol=JUDGE)


@pytest.mark.parametrize("seed", range(5))
def test_units_of_the_variables_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, q, G, h, A, b = random_problem(rng, 20, 30, 3, 1e2)
    x = solve_qp(P, q, G, h, A, b).x
    s = 10.0 ** rng.uniform(-3, 3, size=20)
    r = 10.0 ** rng.uniform(-3, 3, size=30)
    scaled = solve_qp(s[:, None] * P * s, s * q, r[:, None] * G * s, r * h, A * s, b)
    np.testing.assert_allclose(s * scaled.x, x, atol=JUDGE)


@pytest.mark.parametrize("generous", [1e4, 1e9, 1e15])
def test_generous_limits_cost_no_digits(generous: float) -> None:
    P, q, G, h, A, b = random_problem(np.random.default_rng(0), 10, 10, 2, 1e2)
    x = solve_qp(P, q, G, h, A, b).x
    limits = np.full(20, generous)
    with_limits = solve_qp(P, q, np.vstack([G, np.eye(10), -np.eye(10)]), np.concatenate([h, limits]), A, b)
    np.testing.assert_allclose(with_limits.x, x, atol=JUDGE)


# Rows that repeat, depend, vanish


def solve_degenerate_problems(seed: int) -> None:
    """Feasible problems made to cycle: rows copied (also scaled, nearly, often), too many rows through a point."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 16))
    P, q = random_cost(rng, n, condition=10.0 ** rng.uniform(0, 6))
    x = rng.normal(size=n)
    G = rng.normal(size=(2 * n, n))
    h = G @ x + rng.choice([0.0, 1.0]) * rng.random(2 * n)
    copied = rng.integers(0, 2 * n, size=30)
    nearly = 1.0 + 10.0 ** rng.integers(-17, -9) * rng.normal(size=(30, n))
    factor = 10.0 ** rng.integers(-2, 6)
    mixed = rng.integers(0, 3, size=(30, 2 * n))
    lattice = rng.integers(-1, 2, size=(5 * n, n))
    for rows, right in (
        (G[copied], h[copied]),
        (G[copied] * factor, h[copied] * factor),
        (G[copied] * nearly, h[copied] + np.abs(G[copied] * (nearly - 1.0)) @ np.abs(x)),
        (mixed @ G, mixed @ h),  # implied by the others
        (-G[: n // 2], -G[: n // 2] @ x),  # with their opposites: slabs, of no width where h = G x
        (rng.normal(size=(5 * n, n)), None),  # all through x
        (lattice, None),
    ):
        right = rows @ x if right is None else right
        assert solve_qp(P, q, np.vstack([G, rows]), np.concatenate([h, right])).is_optimal(1e-7)
        large = solve_qp(P, 1e5 * q, np.vstack([G, rows]), 1e5 * np.concatenate([h, right]))
        assert large.is_optimal(1e-7)


def test_repeated_rows_never_hang() -> None:
    run_with_time_limit("solve_degenerate_problems", range(40))


@pytest.mark.parametrize("seed", range(20))
def test_many_rows_through_one_point_need_no_second_attempt(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    P, q = random_cost(rng, 8)
    G = rng.normal(size=(40, 8))
    monkeypatch.setattr(qp, "_interior_point", refuse)  # quadprog by itself calls most of these inconsistent
    assert solve_qp(P, q, G, G @ rng.normal(size=8)).is_optimal(JUDGE)


def test_of_repeated_rows_the_tightest_counts() -> None:
    G = np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    solution = solve_qp(np.eye(2), [-9.0, -9.0], G, [3.0, 4.0, 3.0, 5.0])
    np.testing.assert_allclose(solution.x, [2.0, 5.0], atol=ROUNDING)
    np.testing.assert_allclose(solution.z, [0.0, 3.5, 0.0, 4.0], atol=ROUNDING)  # numbered as the caller's rows


@pytest.mark.parametrize("seed", range(5))
def test_dependent_equalities_count_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, q, G, h, A, b = random_problem(rng, 10, 12, 3, 1e2)
    W = np.vstack([np.eye(3), np.eye(3), -1e3 * np.eye(3), rng.normal(size=(4, 3)), np.zeros((1, 3))])
    solution = solve_qp(P, q, G, h, W @ A, W @ b)
    np.testing.assert_allclose(solution.x, solve_qp(P, q, G, h, A, b).x, atol=JUDGE)
    assert solution.is_optimal(JUDGE)


def test_rows_of_zeros_say_nothing() -> None:
    solution = solve_qp(np.eye(2), [-1.0, -1.0], np.zeros((2, 2)), [0.0, 3.0], np.zeros((1, 2)), [0.0])
    np.testing.assert_allclose(solution.x, 1.0, atol=ROUNDING)


# Problems without an answer


@pytest.mark.parametrize(
    "constraints",
    [
        {"A": [[1.0, 1.0], [2.0, 2.0]], "b": [1.0, 3.0]},
        {"A": [[0.0, 0.0]], "b": [1.0]},
        {"G": [[1.0, 0.0], [-1.0, 0.0]], "h": [-1.0, -1.0]},
        {"G": [[0.0, 0.0]], "h": [-1.0]},
        {"G": [[1.0, 1.0]], "h": [0.0], "A": [[1.0, 1.0]], "b": [1.0]},
        {"G": [[-1.0, 0.0], [0.0, -1.0]], "h": [0.0, 0.0], "A": [[1.0, 1.0]], "b": [-1.0]},
    ],
)
def test_contradictions_are_named(constraints: dict[str, Any]) -> None:
    with pytest.raises(InfeasibleError):
        solve_qp(np.eye(2), [1.0, -1.0], **constraints)


@pytest.mark.parametrize("seed", range(10))
def test_contradictions_in_the_crowd_are_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, q, G, h, A, b = random_problem(rng, 12, 20, 2, 1e2)
    weights = rng.random(20)  # weights'G x <= weights'h follows from the rows; the last row denies it
    with pytest.raises(InfeasibleError):
        solve_qp(P, q, np.vstack([G, -weights @ G]), np.append(h, -weights @ h - 0.1), A, b)


def test_contradictions_by_rounding_are_forgiven() -> None:
    G, h = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([1.0, -1.0 - 1e-10])
    np.testing.assert_allclose(solve_qp(np.eye(2), [0.0, 1.0], G, h).x, [1.0, -1.0], atol=JUDGE)
    A, b = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1.0, 1.0 + 1e-10])
    np.testing.assert_allclose(solve_qp(np.eye(2), [0.0, 1.0], A=A, b=b).x, [1.0, -1.0], atol=JUDGE)


def test_cost_that_falls_for_ever_is_named() -> None:
    with pytest.raises(UnsolvedError):
        solve_qp(np.diag([1.0, 0.0]), [0.0, 1.0], [[0.0, 1.0]], [1.0])


def test_cost_that_is_not_convex_is_refused() -> None:
    with pytest.raises(ValueError, match="not positive semidefinite"):
        solve_qp(np.diag([1.0, -0.1]), np.zeros(2))


@pytest.mark.parametrize("name", ["P", "q", "G", "h", "A", "b"])
def test_what_is_not_finite_or_does_not_fit_is_refused_by_name(name: str) -> None:
    for spoil in (lambda v: v + np.nan, lambda v: v * np.inf, lambda v: v[..., None]):
        given = {"P": np.eye(2), "q": np.ones(2), "G": np.ones((1, 2)), "h": np.ones(1)}
        given |= {"A": np.ones((1, 2)), "b": np.ones(1)}
        given[name] = spoil(np.ones_like(given[name]))
        with pytest.raises(ValueError, match=f"^{name} h"):
            solve_qp(**given)


# The guard


def refuse(*_: Any) -> None:
    raise ValueError("constraints are inconsistent, no solution")


def answer_wrongly(H: np.ndarray, a: np.ndarray, C: np.ndarray, b: np.ndarray) -> tuple[Any, ...]:
    return np.ones(len(a)), 0.0, a, (1, 0), np.zeros(len(b)), np.zeros(0)


def answer_with_nan(H: np.ndarray, a: np.ndarray, C: np.ndarray, b: np.ndarray) -> tuple[Any, ...]:
    return a * np.nan, 0.0, a, (1, 0), b * np.nan, np.zeros(0)


@pytest.mark.parametrize("failure", [refuse, answer_wrongly, answer_with_nan])
def test_interior_point_steps_in_when_quadprog_fails(failure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    problem = random_problem(rng, 15, 25, 3, 1e3)
    contacts = random_contacts(rng, 16, ridge=1e-4)
    x, forces = solve_qp(*problem).x, solve_nonnegative_qp(*contacts)
    monkeypatch.setattr(qp.quadprog, "solve_qp", failure)
    np.testing.assert_allclose(solve_qp(*problem).x, x, atol=1e-7)
    assert nonnegative_residual(*contacts, solve_nonnegative_qp(*contacts)) < 1e-7
    np.testing.assert_allclose(solve_nonnegative_qp(*contacts), forces, atol=1e-3)


def test_residuals_notice_a_wrong_answer() -> None:
    good = solve_qp(*random_problem(np.random.default_rng(0), 8, 12, 2, 1e2))
    problem, x, z, y = good.problem, good.x, good.z, good.y
    touching = int(np.argmax(z))
    inward = -1e-3 * problem.G[touching]
    idle = int(np.argmax(problem.h - problem.G @ x))
    assert good.is_optimal(JUDGE)
    assert QPSolution(problem, x - inward, z, y).primal_residual() > 1e-4
    assert QPSolution(problem, x + inward, z, y).duality_gap() > 1e-4
    assert QPSolution(problem, x, z, y + 1e-3).dual_residual() > 1e-4
    assert QPSolution(problem, x, z - 2.0 * np.max(z), y).dual_residual() > 1e-4
    assert QPSolution(problem, x, z + 1e-3 * np.eye(len(z))[idle], y).duality_gap() > 1e-5
    for wrong in (
        QPSolution(problem, x + inward, z, y),
        QPSolution(problem, x - inward, z, y),
        QPSolution(problem, x, z + 1e-3, y),
        QPSolution(problem, x, z, y + 1e-3),
        QPSolution(problem, x * np.nan, z, y),
    ):
        assert not wrong.is_optimal(1e-6)


# The hot path


@pytest.mark.parametrize("n", [1, 4, 16, 64])
@pytest.mark.parametrize("ridge", [1e-8, 1e-4, 1.0])
def test_nonnegative_answer_is_optimal(n: int, ridge: float) -> None:
    for seed in range(5):
        H, d = random_contacts(np.random.default_rng(seed), n, ridge)
        x = solve_nonnegative_qp(H, d)
        assert np.all(x >= 0.0)
        assert nonnegative_residual(H, d, x) < 1e-7
        x[0] += 1e-3 * (1.0 + np.abs(x).max())
        assert nonnegative_residual(H, d, x) > 1e-7  # the measure can fail


@pytest.mark.parametrize("seed", range(5))
def test_nonnegative_answer_agrees_with_nnls(seed: int) -> None:
    rng = np.random.default_rng(seed)
    B, target = rng.normal(size=(30, 20)), rng.normal(size=30)
    np.testing.assert_allclose(solve_nonnegative_qp(B.T @ B, -B.T @ target), nnls(B, target)[0], atol=JUDGE)


@pytest.mark.parametrize("seed", range(5))
def test_nonnegative_answer_agrees_with_the_general_solver(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, q = random_cost(rng, 12)
    for lower in (np.zeros(12), rng.normal(size=12)):
        x = solve_nonnegative_qp(P, q, lower)
        solution = solve_qp(P, q, -np.eye(12), -lower)
        np.testing.assert_allclose(x, solution.x, atol=JUDGE)
        np.testing.assert_allclose(P @ x + q, solution.z, atol=JUDGE)  # its multipliers, as promised
        assert np.all(x[solution.z > JUDGE] == lower[solution.z > JUDGE])  # idle forces are zero, not small


def solve_degenerate_contacts(seed: int) -> None:
    """Contacts at one point, opposed contacts, contacts on a lattice; loads that many share, loads of nothing."""
    rng = np.random.default_rng(seed)
    n = 2 * int(rng.integers(2, 25))
    some = rng.normal(size=(6, n))
    for J in (
        some,
        some[:, rng.integers(0, n // 2, size=n)],
        np.hstack([some[:, : n // 2], -some[:, : n // 2]]),
        rng.integers(-1, 2, size=(6, n)) + 0.0,
    ):
        for load in (rng.normal(size=6), np.array([0.0, 0.0, -700.0, 0.0, 0.0, 0.0]), np.zeros(6)):
            H = J.T @ J
            H += 10.0 ** rng.integers(-10, -5) * np.trace(H) / n * np.eye(n)
            for d in (J.T @ load, J.T @ load + 1e-3 * rng.normal(size=n), -H @ np.maximum(rng.normal(size=n), 0)):
                x = solve_nonnegative_qp(H, d)
                assert np.all(x >= 0.0)
                assert nonnegative_residual(H, d, x) < 1e-7


def test_nonnegative_never_hangs() -> None:
    run_with_time_limit("solve_degenerate_contacts", range(20))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_nonnegative_bears_singular_and_extreme_matrices(scale: float) -> None:
    H, d = random_contacts(np.random.default_rng(0), 12, ridge=0.0)
    x = solve_nonnegative_qp(scale * H, d)
    assert nonnegative_residual(scale * H, d, x) < 1e-7


def test_nonnegative_leaves_its_arguments_alone_and_takes_read_only_ones() -> None:
    H, d = random_contacts(np.random.default_rng(0), 12, ridge=1e-2)
    lower = np.full(12, 0.1)
    for array in (H, d, lower):
        array.flags.writeable = False
    x = solve_nonnegative_qp(H, d, lower)
    assert nonnegative_residual(H, d, x, lower) < JUDGE
    assert np.all(solve_nonnegative_qp(H, np.abs(d)) == 0.0)
    np.testing.assert_array_equal(solve_nonnegative_qp(H, d, lower), x)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_nonnegative_refuses_what_is_not_finite(number: float) -> None:
    for spoil in range(3):
        problem = [*random_contacts(np.random.default_rng(0), 4), np.zeros(4)]
        problem[spoil].flat[1] = number
        with pytest.raises(ValueError, match="not finite"):
            solve_nonnegative_qp(*problem)


def test_nonnegative_refuses_a_cost_that_is_not_convex() -> None:
    with pytest.raises(ValueError, match="not positive semidefinite"):
        solve_nonnegative_qp(np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones(2))
