"""Rotations against scipy's, against each other, and at the awkward places: no turn, half a turn, opposite signs."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from solver.numerics import rotation as rot
from tests.tolerances import DIFFERENCE, JUDGE, ROUNDING

SEEDS = range(3)
ANGLES = (0.0, 1e-300, 1e-12, 1e-9, 1e-8, 1e-6, 1e-4, 0.1, 1.0, 2.0, 3.0, np.pi - 1e-3, np.pi - 1e-6, np.pi - 1e-9)


def quaternions(seed: int, shape: tuple[int, ...] = (50,)) -> np.ndarray:
    return rot.normalised(np.random.default_rng(seed).normal(size=shape + (4,)))


def theirs(q: np.ndarray) -> Rotation:
    return Rotation.from_quat(np.roll(q.reshape(-1, 4), -1, axis=-1))  # scipy has w last


def directions(seed: int, count: int = 20) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(count, 3))
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def largest(x: np.ndarray) -> float:
    return float(np.abs(x).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_matrices_are_scipys(seed: int) -> None:
    q = quaternions(seed)
    assert largest(rot.matrix(q) - theirs(q).as_matrix()) < ROUNDING
    H = rot.homogeneous(q)
    np.testing.assert_array_equal(H[:, :3, :3], rot.matrix(q))
    assert largest(H[:, 3] - [0.0, 0.0, 0.0, 1.0]) < ROUNDING
    assert largest(H[:, :3, 3]) == 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_products_are_scipys(seed: int) -> None:
    a, b = quaternions(seed), quaternions(seed + 100)
    x = np.random.default_rng(seed).normal(size=(50, 3))
    assert largest(rot.matrix(rot.multiply(a, b)) - (theirs(a) * theirs(b)).as_matrix()) < ROUNDING
    assert largest(rot.rotate(a, x) - theirs(a).apply(x)) < ROUNDING
    assert largest(rot.multiply(a, rot.conjugate(a)) - rot.IDENTITY) < ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_cross_and_skew_are_numpys_cross(seed: int) -> None:
    a, b = np.random.default_rng(seed).normal(size=(2, 5, 4, 3))
    assert largest(rot.cross(a, b) - np.cross(a, b)) < ROUNDING
    assert largest((rot.skew(a) @ b[..., None])[..., 0] - np.cross(a, b)) < ROUNDING


@pytest.mark.parametrize("angle", ANGLES)
def test_exp_is_the_matrix_exponential(angle: float) -> None:
    for axis in directions(0, 5):
        q = rot.exp(angle * axis)
        assert abs(np.linalg.norm(q) - 1.0) < ROUNDING
        assert largest(rot.matrix(q) - expm(rot.skew(angle * axis))) < ROUNDING


@pytest.mark.parametrize("angle", ANGLES)
def test_log_undoes_exp_to_the_last_digits(angle: float) -> None:
    d = angle * directions(1)
    assert largest(rot.log(rot.exp(d)) - d) <= ROUNDING * max(angle, 1e-100)


def test_log_goes_the_short_way_whatever_the_sign() -> None:
    d = 3.0 * directions(2)
    q = rot.exp(d)
    assert largest(rot.log(-q) - d) < ROUNDING
    assert largest(rot.log(rot.exp((2.0 * np.pi - 1.0) * directions(2))) + directions(2)) < ROUNDING * 10.0
    assert largest(rot.log(-rot.IDENTITY)) == 0.0


def test_half_a_turn_has_an_angle_of_pi() -> None:
    d = rot.log(rot.exp(np.pi * directions(3)))
    assert largest(np.linalg.norm(d, axis=-1) - np.pi) < ROUNDING


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("seed", SEEDS)
def test_add_and_subtract_are_exact_inverses(seed: int, angle: float) -> None:
    q, d = quaternions(seed, (20,)), angle * directions(seed)
    assert largest(rot.subtract(rot.add(q, d), q) - d) < ROUNDING * 10.0
    other = quaternions(seed + 100, (20,))
    assert largest(rot.matrix(rot.add(q, rot.subtract(other, q))) - rot.matrix(other)) < ROUNDING
    assert largest(np.linalg.norm(rot.add(q, d), axis=-1) - 1.0) < ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_the_tangent_is_in_the_bodys_own_axes(seed: int) -> None:
    q, d = quaternions(seed, (20,)), directions(seed)
    assert largest(rot.matrix(rot.add(q, d)) - rot.matrix(q) @ rot.matrix(rot.exp(d))) < ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_a_thousand_small_steps_keep_unit_length(seed: int) -> None:
    q, d = quaternions(seed, (5,)), 0.1 * directions(seed, 5)
    for _ in range(1000):
        q = rot.add(q, d)
    assert largest(np.linalg.norm(q, axis=-1) - 1.0) < 1e-15


@pytest.mark.parametrize("angle", [a for a in ANGLES if a < np.pi - 2e-3])
def test_log_of_a_matrix_is_log_of_its_quaternion(angle: float) -> None:
    q = rot.exp(angle * directions(4))
    # a cosine near -1 says little of the angle: digits go as the sine does
    assert largest(rot.log_matrix(rot.matrix(q)) - rot.log(q)) < ROUNDING / max(np.sin(angle), 0.1)


def test_log_of_a_matrix_stays_finite_and_short_at_half_a_turn() -> None:
    d = rot.log_matrix(rot.matrix(rot.exp(np.pi * directions(5))))
    assert np.isfinite(d).all() and largest(np.linalg.norm(d, axis=-1)) <= np.pi + ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_quaternions_of_matrices_come_back(seed: int) -> None:
    q = np.concatenate((quaternions(seed), rot.exp(np.pi * np.eye(3)), rot.exp(np.pi * directions(seed)),
                        rot.exp((np.pi - 1e-7) * directions(seed)), rot.IDENTITY[None]))
    back = rot.from_matrix(rot.matrix(q))
    assert largest(np.linalg.norm(back, axis=-1) - 1.0) < ROUNDING
    assert largest(np.abs((back * q).sum(-1)) - 1.0) < ROUNDING
    assert largest(rot.matrix(back) - rot.matrix(q)) < ROUNDING


@pytest.mark.parametrize("order", ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "ZYX"])
@pytest.mark.parametrize("seed", SEEDS)
def test_euler_angles_turn_about_the_moving_axes_in_order(seed: int, order: str) -> None:
    angles = np.random.default_rng(seed).uniform(-3.0, 3.0, size=(20, 3))
    q = rot.from_euler(angles, order)
    assert largest(rot.matrix(q) - Rotation.from_euler(order.upper(), angles).as_matrix()) < ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_between_turns_one_direction_into_the_other_the_short_way(seed: int) -> None:
    a, b = directions(seed), directions(seed + 100)
    q = rot.between(3.0 * a, 0.2 * b)
    assert largest(rot.rotate(q, a) - b) < ROUNDING
    assert largest(np.cos(np.linalg.norm(rot.log(q), axis=-1)) - (a * b).sum(-1)) < ROUNDING
    assert largest(rot.between(a, a) - rot.IDENTITY) < ROUNDING


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-6, 1e-5, 4e-5, 5e-5, 1e-4, 1e-2])
def test_between_finds_a_way_to_the_opposite_direction(gap: float) -> None:
    a = np.concatenate((directions(6), np.eye(3), -np.eye(3)))
    side = np.cross(a, np.array([0.3, 0.5, 0.7]))
    b = -a + gap * side / np.linalg.norm(side, axis=-1, keepdims=True)
    b /= np.linalg.norm(b, axis=-1, keepdims=True)
    q = rot.between(a, b)
    assert largest(np.linalg.norm(q, axis=-1) - 1.0) < ROUNDING
    # nearer than 4.5e-5 rad to opposite, half a turn about any axis across will do
    assert largest(rot.rotate(q, a) - b) < (JUDGE if gap > 4.5e-5 else 4.5e-5)


@pytest.mark.parametrize("angle", [-3.1, -np.pi / 2, -1e-9, 0.0, 0.7, 3.1])
def test_twist_angle_is_the_angle_about_the_axis(angle: float) -> None:
    for axis in directions(7, 5):
        q = rot.exp(angle * axis)
        assert rot.twist_angle(q, axis) == pytest.approx(angle, abs=ROUNDING)
        assert rot.twist_angle(-q, axis) == pytest.approx(angle, abs=ROUNDING)
        swing = rot.between(axis, np.array([0.3, 0.4, 0.5]))  # about an axis across: no twist of its own
        assert rot.twist_angle(rot.multiply(swing, q), axis) == pytest.approx(angle, abs=ROUNDING * 10.0)


def test_twist_of_half_a_turn_is_plus_pi_as_promised() -> None:
    q = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, -1.0, 0.0]])
    np.testing.assert_allclose(rot.twist_angle(q, np.array([0.0, 1.0, 0.0])), np.pi)


@pytest.mark.parametrize("seed", SEEDS)
def test_alignment_removes_sign_flips_and_changes_nothing_else(seed: int) -> None:
    generator = np.random.default_rng(seed)
    smooth = rot.exp(np.linspace(0.0, 12.0, 60)[:, None, None] * directions(seed, 3))  # nearly two turns
    flipped = smooth * generator.choice([-1.0, 1.0], size=(60, 3, 1))
    back = rot.aligned(flipped)
    np.testing.assert_array_equal(np.abs(back), np.abs(smooth))
    assert ((back[1:] * back[:-1]).sum(-1) > 0.9).all()
    np.testing.assert_array_equal(back[0], flipped[0])
    wild = rot.aligned(quaternions(seed, (60, 3)))
    assert ((wild[1:] * wild[:-1]).sum(-1) >= 0.0).all()


@pytest.mark.parametrize("angle", [0.0, 1e-9, 5e-5, 2e-4, 0.5, 2.0, 3.0, np.pi])
def test_inverse_right_jacobian_is_the_derivative_of_the_log(angle: float) -> None:
    eps = 1e-5
    for r in angle * directions(8, 4):
        columns = [(rot.subtract(rot.add(rot.exp(r), eps * e), rot.IDENTITY)
                    - rot.subtract(rot.add(rot.exp(r), -eps * e), rot.IDENTITY)) / (2.0 * eps) for e in np.eye(3)]
        if angle < np.pi:  # at half a turn the log jumps; there only the formula itself stays finite
            assert largest(np.stack(columns, -1) - rot.inverse_right_jacobian(r)) < DIFFERENCE
        assert np.isfinite(rot.inverse_right_jacobian(r)).all()


def test_everything_works_on_stacks() -> None:
    q, d = quaternions(9, (2, 3, 4)), np.random.default_rng(9).normal(size=(2, 3, 4, 3))
    for stacked, single in (
        (rot.matrix(q), rot.matrix), (rot.log(q), rot.log), (rot.normalised(q), rot.normalised),
        (rot.from_matrix(rot.matrix(q)), lambda one: rot.from_matrix(rot.matrix(one))),
    ):
        assert largest(stacked[1, 2, 3] - single(q[1, 2, 3])) < ROUNDING
    assert largest(rot.exp(d)[1, 2, 3] - rot.exp(d[1, 2, 3])) < ROUNDING
    assert largest(rot.inverse_right_jacobian(d)[1, 2, 3] - rot.inverse_right_jacobian(d[1, 2, 3])) < ROUNDING
    assert largest(rot.add(q, d)[1, 2, 3] - rot.add(q[1, 2, 3], d[1, 2, 3])) < ROUNDING
