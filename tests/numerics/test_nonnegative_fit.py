"""Fits of contact forces: many at once, each the one that a solver of single problems finds."""

import numpy as np
import pytest
from scipy.optimize import nnls

from solver.numerics import nonnegative_fit
from solver.numerics.nonnegative_fit import nonnegative_fits


def problems(seed: int, count: int = 40, rows: int = 24) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges of cones around the vertical with their moments, some of them absent, and wrenches to carry."""
    generator = np.random.default_rng(seed)
    edges = np.concatenate((generator.normal(0.0, 0.4, (count, rows, 2)), np.ones((count, rows, 1))), axis=-1)
    arms = generator.uniform(-1.0, 1.0, (count, rows, 3))
    B = np.concatenate((edges, np.cross(arms, edges)), axis=-1)
    B[generator.random((count, rows)) < 0.3] = 0.0
    u = generator.normal(0.0, 300.0, (count, 6))
    u[:, 2] += 700.0
    return B, u, 1e-6 * (B * B).sum((1, 2)) / rows


def reference(B: np.ndarray, u: np.ndarray, ridge: float) -> np.ndarray:
    A = np.concatenate((B.T, np.sqrt(ridge) * np.eye(len(B))))
    return nnls(A, np.concatenate((u, np.zeros(len(B)))))[0]


@pytest.mark.parametrize("passes", [8, 1, 0])
@pytest.mark.parametrize("seed", range(3))
def test_each_is_the_best(seed: int, passes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that Newton's method does not end in time."""
    monkeypatch.setattr(nonnegative_fit, "PASSES", passes)
    B, u, ridge = problems(seed)
    for x, *problem in zip(nonnegative_fits(B, u, ridge), B, u, ridge, strict=True):
        best = reference(*problem)
        assert (x >= 0.0).all() and np.abs(x - best).max() < 1e-5 * np.abs(best).max()


def test_what_is_absent_carries_nothing() -> None:
    B, u, ridge = problems(9)
    assert not nonnegative_fits(B, u, ridge)[(B == 0.0).all(-1)].any()
    assert nonnegative_fits(B[:0], u[:0], ridge[:0]).shape == (0, 24)
