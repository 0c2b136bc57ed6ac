"""Zero-moment point, support polygon and margin, against shapes and bodies with known answers."""

import numpy as np
import pytest

from solver.numerics import rotation
from solver.physics.balance import margin, margins, support_polygon, zero_moment_point
from solver.physics.dynamics import dynamics
from solver.physics.kinematics import forward
from solver.physics.shape import shape_of
from solver.physics.tree import Tree
from tests.tolerances import JUDGE, ROUNDING
from tests.worlds import GRAVITY, block, humanoid, random_character, random_state

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def area(polygon: np.ndarray) -> float:
    """Positive when counter-clockwise."""
    x, y = polygon.T
    return 0.5 * float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())


@pytest.mark.parametrize("seed", range(5))
def test_the_support_of_a_square_is_its_corners_in_order(seed: int) -> None:
    random = np.random.default_rng(seed)
    inside = random.uniform(0.05, 0.95, (20, 2))
    points = random.permutation(np.concatenate((SQUARE, inside, SQUARE[:2])))
    polygon = support_polygon(points)
    assert len(polygon) == 4
    assert {tuple(corner) for corner in polygon} == {tuple(corner) for corner in SQUARE}
    assert area(polygon) == pytest.approx(1.0)


def test_heights_do_not_matter_to_the_support() -> None:
    points = np.column_stack((SQUARE, [0.0, 0.3, -0.1, 5.0]))
    assert area(support_polygon(points)) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_support_contains_every_contact(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(30, 3))
    polygon = support_polygon(points)
    assert area(polygon) > 0.0
    assert min(margin(polygon, point) for point in points) > -ROUNDING


def test_points_on_one_line_support_between_the_outermost() -> None:
    along = np.linspace(-1.0, 2.0, 7)[:, None] * np.array([0.6, 0.8])
    ends = support_polygon(along)
    assert len(ends) == 2
    assert {round(float(np.linalg.norm(end)), 9) for end in ends} == {1.0, 2.0}


def test_one_contact_or_none_supports_next_to_nothing() -> None:
    assert len(support_polygon(np.zeros((0, 3)))) == 0
    assert margin(support_polygon(np.zeros((0, 3))), np.zeros(2)) == -np.inf
    assert margin(support_polygon(np.array([[1.0, 1.0, 0.0]])), np.array([1.0, 3.0])) == pytest.approx(-2.0)


@pytest.mark.parametrize(("point", "expected"), [
    ((0.5, 0.5), 0.5), ((0.1, 0.5), 0.1), ((0.9, 0.2), 0.1), ((0.0, 0.5), 0.0), ((1.0, 1.0), 0.0),
    ((-0.2, 0.5), -0.2), ((1.3, 1.4), -0.5), ((0.5, -3.0), -3.0)])
def test_the_margin_is_the_distance_to_the_border_and_negative_outside(point: tuple[float, float],
                                                                       expected: float) -> None:
    assert margin(support_polygon(SQUARE), np.array(point)) == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize(("point", "expected"), [((0.5, 0.0), 0.0), ((0.5, 0.3), -0.3), ((2.0, 0.0), -1.0)])
def test_on_a_line_the_margin_is_at_most_zero(point: tuple[float, float], expected: float) -> None:
    line = support_polygon(np.array([[0.0, 0.0], [1.0, 0.0], [0.4, 0.0]]))
    assert margin(line, np.array(point)) == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ground", [0.0, -0.7])
def test_at_rest_the_zmp_is_under_the_centre_of_mass(seed: int, ground: float) -> None:
    character = random_character(15, seed)
    tree, shape = Tree(character), shape_of(character)
    state = random_state(tree, seed)
    pose = forward(tree, shape.offsets, state.position, state.rotations)
    still = np.zeros(tree.nv)
    body = dynamics(tree, shape, pose, still, still, GRAVITY)
    zmp = zero_moment_point(pose.position, body.wrench, ground)
    assert np.abs(zmp[:2] - body.com[:2]).max() < JUDGE
    assert zmp[2] == ground


def test_the_zmp_of_a_braking_block_moves_forward() -> None:
    """x_zmp = x - (z - ground) a_x / (g + a_z): the cart-table model."""
    character = block()
    tree, shape = Tree(character), shape_of(character)
    pose = forward(tree, shape.offsets, np.array([0.3, 0.1, 0.9]), rotation.IDENTITY[None])
    a = np.zeros(tree.nv)
    a[:3] = [-2.0, 1.0, 0.5]
    body = dynamics(tree, shape, pose, np.zeros(tree.nv), a, GRAVITY)
    zmp = zero_moment_point(pose.position, body.wrench, 0.0)
    expected = np.array([0.3, 0.1]) - 0.9 * a[:2] / (9.81 + a[2])
    assert np.abs(zmp[:2] - expected).max() < JUDGE


@pytest.mark.parametrize("up", [-9.81, -12.0])
def test_who_presses_on_nothing_has_no_zmp(up: float) -> None:
    character = humanoid()
    tree, shape = Tree(character), shape_of(character)
    pose = forward(tree, shape.offsets, np.array([0.0, 0.0, 2.0]), np.tile(rotation.IDENTITY, (len(character), 1)))
    a = np.zeros(tree.nv)
    a[2] = up
    body = dynamics(tree, shape, pose, np.zeros(tree.nv), a, GRAVITY)
    assert np.isnan(zero_moment_point(pose.position, body.wrench, 0.0)).all()


def test_the_zmp_works_on_stacks_of_frames() -> None:
    positions = np.random.default_rng(0).normal(size=(7, 3))
    wrench = np.random.default_rng(1).normal(size=(7, 6))
    wrench[3, 5] = -1.0
    stacked = zero_moment_point(positions, wrench, 0.2)
    for f in range(7):
        assert np.array_equal(stacked[f], zero_moment_point(positions[f], wrench[f], 0.2), equal_nan=True)
    assert np.isnan(stacked[3]).all()


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8])
def test_margins_of_many_frames_are_those_of_their_polygons(count) -> None:
    rng = np.random.default_rng(count)
    places, points = rng.uniform(-1.0, 1.0, (300, count, 3)), rng.uniform(-1.0, 1.0, (300, 3))
    touching = rng.random((300, count)) < 0.8
    places[:50, 1:] = places[:50, :1]            # all at one place
    if count > 2:
        places[50:100, 2] = 0.5 * (places[50:100, 0] + places[50:100, 1])   # on a line
        touching[50:100, 3:] = False
    points[100:110] = np.nan
    points[110:120] = places[110:120, 0]
    found = margins(places, touching, points)
    for f in range(300):
        if touching[f].any() and np.isfinite(points[f]).all():
            polygon = support_polygon(places[f, touching[f]])
            assert found[f] == pytest.approx(margin(polygon, points[f]), abs=1e-8)
        else:
            assert np.isnan(found[f])
