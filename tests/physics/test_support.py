"""The zero-moment point on any plane, and the area that carries."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from solver.physics.dynamics import dynamics
from solver.physics.kinematics import forward
from solver.physics.shape import shape_of
from solver.physics.support import hull, nearest, support_of, widened, wrench_map, zmp, zmp_rows
from solver.physics.tree import Tree
from tests.judges import judge
from tests.tolerances import JUDGE, ROUNDING
from tests.worlds import GRAVITY, random_character, random_state

seeds = pytest.mark.parametrize("seed", range(12))
NONE = np.zeros((0, 3))


def plane(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Touching points on a slope, and their normals."""
    random = np.random.default_rng(seed)
    normal = np.array([0.2, -0.1, 1.0]) * random.uniform(0.0, 1.0, 3) + [0.0, 0.0, 1.0]
    normal /= np.linalg.norm(normal)
    flat = random.normal(size=(7, 3))
    return flat - np.outer(flat @ normal, normal), np.tile(normal, (7, 1))


@seeds
def test_the_zmp_is_that_of_full_inverse_dynamics_in_another_engine(seed: int) -> None:
    character = random_character(6 + 2 * seed, seed)
    tree = Tree(character)
    state = random_state(tree, seed, speed=0.5)
    a = np.random.default_rng(seed).normal(size=tree.nv)
    places, normals = plane(seed)
    support = support_of(places, normals)
    motion = dynamics(tree, shape_of(character), forward(tree, character.offsets, state.position, state.rotations),
                      state.velocity, np.zeros(tree.nv), GRAVITY)
    assert motion.M is not None
    X = wrench_map(state.position, motion.pose.R[0], support.centre)
    w = X @ (motion.M @ a + motion.force)[:6]
    Z = support.lifted(zmp(support, w))

    verdict = judge("pinocchio", character, state, a, GRAVITY, np.zeros(0, dtype=int), NONE)
    force, moment = verdict.force[:3], motion.pose.R[0] @ verdict.force[3:6]     # about the root joint
    left = moment + np.cross(state.position - Z, force)                          # about Z
    n = support.normal
    scale = max(1.0, np.abs(moment).max(), np.abs(force).max())
    assert np.abs(left - n * (n @ left)).max() < JUDGE * scale, "a moment along the plane is left at Z"
    assert abs((Z - support.centre) @ n) < JUDGE

    # the same point from the judge's numbers alone
    E = support.axes
    A = np.stack([E @ np.cross(E[i], force) for i in range(2)], axis=1)
    theirs = support.centre + np.linalg.solve(A, E @ (moment + np.cross(state.position - support.centre, force))) @ E
    assert np.abs(theirs - Z).max() < JUDGE * max(1.0, np.abs(Z).max())


@seeds
def test_one_solve_moves_the_zmp_onto_its_target(seed: int) -> None:
    random = np.random.default_rng(seed)
    places, normals = plane(seed)
    support = support_of(places, normals)
    A, b = random.normal(size=(6, 9)), np.concatenate((700.0 * normals[0], random.normal(size=3) * 50.0))
    a, target = random.normal(size=9), random.normal(size=2) * 0.1
    w = A @ a + b
    B = zmp_rows(support, A, target)
    change = np.linalg.pinv(B) @ ((support.normal @ w[:3]) * (target - zmp(support, w)))
    assert np.abs(zmp(support, w + A @ change) - target).max() < 1e-10


@seeds
def test_the_nearest_point_of_the_area_is_nearest(seed: int) -> None:
    random = np.random.default_rng(seed)
    corners = support_of(*plane(seed)).corners
    point = random.normal(size=2) * 1.5
    found, is_inside = nearest(corners, point)
    weights = random.dirichlet(np.ones(len(corners)) * 0.4, size=4000)
    assert np.linalg.norm(found - point) <= np.linalg.norm(weights @ corners - point, axis=1).min() + ROUNDING
    assert is_inside == (np.linalg.norm(found - point) == 0.0)
    assert nearest(corners, found + 1e-9 * (corners.mean(0) - found))[1], "just inside it is inside"


@seeds
def test_the_hull_is_that_of_a_general_library(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(3 + seed, 2))
    ours, theirs = hull(points), points[ConvexHull(points).vertices]
    assert {tuple(corner) for corner in ours.round(9)} == {tuple(corner) for corner in theirs.round(9)}
    after = np.roll(ours, -1, axis=0)
    assert (ours[:, 0] * after[:, 1] - ours[:, 1] * after[:, 0]).sum() > 0.0, "counter-clockwise"


def test_the_hull_of_a_line_is_its_ends() -> None:
    line = np.outer(np.linspace(0.0, 1.0, 7), [0.3, -0.4])
    assert {tuple(end) for end in hull(line).round(9)} == {(0.0, 0.0), (0.3, -0.4)}
    assert len(hull(np.ones((4, 2)))) == 1


def test_a_line_and_a_point_have_no_inside() -> None:
    line = np.array([[0.0, 0.0], [1.0, 0.0]])
    assert nearest(line, np.array([0.4, 0.0]))[1] is False
    assert np.allclose(nearest(line, np.array([0.4, 0.3]))[0], [0.4, 0.0])
    assert np.allclose(nearest(line[:1], np.array([2.0, 2.0]))[0], [0.0, 0.0])


def test_a_widened_area_contains_its_new_corner() -> None:
    support = support_of(*plane(3))
    far = np.array([3.0, 2.0])
    assert not nearest(support.corners, far)[1]
    assert np.allclose(nearest(widened(support, far).corners, far)[0], far)
