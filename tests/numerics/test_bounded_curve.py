"""The smoothest curve between two bounds: near what is wanted, within what is allowed, half-way where they quarrel."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from solver.numerics.bounded_curve import LOWER, UPPER, bounded_curve

TIMES = np.linspace(0.0, 3.0, 181)
FREE = np.full(len(TIMES), np.inf)


def test_a_straight_line_is_kept() -> None:
    wanted = 0.3 - 0.2 * TIMES
    assert np.abs(bounded_curve(TIMES, wanted, -FREE, FREE, 0.1) - wanted).max() < 1e-8


def test_the_banded_answer_is_that_of_the_dense_normal_equations() -> None:
    """min |B c - wanted|^2 + (samples a knot) |second differences of c|^2, for a spacing that fits the span."""
    wanted = np.sin(3.0 * TIMES) + 0.1 * np.cos(40.0 * TIMES)
    knots = TIMES[0] + 0.1 * np.arange(-3, 34)
    B = BSpline.design_matrix(np.clip(TIMES, 0.0, 3.0 - 3e-9), knots, 3).toarray()
    D = np.diff(np.eye(B.shape[1]), 2, axis=0)
    c = np.linalg.solve(B.T @ B + len(TIMES) / 30 * D.T @ D, B.T @ wanted)
    assert np.abs(bounded_curve(TIMES, wanted, -FREE, FREE, 0.1) - B @ c).max() < 1e-8


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_bound_is_kept_to_a_small_share_of_what_it_takes(sign: float) -> None:
    """Penalties of 1e3 and more leave less than a hundredth of the way the bound pushes."""
    bound = sign * 0.2 * np.exp(-((TIMES - 1.5) / 0.2) ** 2)
    lower, upper = (bound, FREE) if sign > 0.0 else (-FREE, bound)
    curve = bounded_curve(TIMES, np.zeros(len(TIMES)), lower, upper, 0.1)
    assert (sign * (bound - curve)).max() < 0.01 * 0.2
    assert np.abs(curve[[0, -1]]).max() < 0.01 * 0.2  # and far from the bound the wish rules


def test_quarrelling_bounds_are_met_between_them_nearer_to_the_upper() -> None:
    lower, upper = np.full(len(TIMES), 0.1), np.full(len(TIMES), -0.1)
    curve = bounded_curve(TIMES, np.zeros(len(TIMES)), lower, upper, 0.1)
    assert UPPER > LOWER
    assert -0.12 < curve.mean() < 0.0 and np.abs(curve).max() < 0.15


def test_the_curve_has_no_kinks() -> None:
    """A step wanted in one frame is taken in about a knot: the second difference is far below the step itself."""
    wanted = np.where(TIMES < 1.5, 0.0, 1.0)
    curve = bounded_curve(TIMES, wanted, -FREE, FREE, 0.2)
    assert np.abs(np.diff(curve, 2)).max() < 0.03
