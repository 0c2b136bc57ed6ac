"""The ground answers for many points at once."""

import numpy as np
import pytest

from solver.model.terrain import FRICTION, Plane
from tests.tolerances import ROUNDING
from tests.worlds import refusal


def test_level_ground_measures_height() -> None:
    seen = Plane.level(0.5, friction=0.7).probe(np.array([[3.0, -2.0, 1.5], [0.0, 0.0, 0.5], [9.0, 9.0, 0.2]]), 0.0)
    np.testing.assert_allclose(seen.distance, [1.0, 0.0, -0.3], atol=ROUNDING)
    np.testing.assert_array_equal(seen.normal, np.tile([0.0, 0.0, 1.0], (3, 1)))
    np.testing.assert_array_equal(seen.velocity, np.zeros((3, 3)))
    np.testing.assert_array_equal(seen.friction, np.full(3, 0.7))
    plain = Plane.level().probe(np.array([[1.0, 2.0, 3.0]]), 0.0)
    assert plain.distance[0] == 3.0 and plain.friction[0] == FRICTION


@pytest.mark.parametrize("degrees", [5.0, 20.0, 45.0, 80.0])
@pytest.mark.parametrize("seed", range(2))
def test_distance_to_a_slope_is_along_its_normal(degrees: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    angle = np.radians(degrees)
    normal = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    origin = generator.normal(size=3)
    ground = Plane(origin, 7.0 * normal)  # its length does not matter
    along = np.array([np.cos(angle), 0.0, np.sin(angle)])
    on_it = origin + generator.normal(size=(6, 1)) * along + generator.normal(size=(6, 1)) * np.array([0.0, 1.0, 0.0])
    height = generator.normal(size=6)
    seen = ground.probe(on_it + height[:, None] * normal, 0.0)
    np.testing.assert_allclose(seen.distance, height, atol=ROUNDING)
    np.testing.assert_allclose(seen.normal, np.tile(normal, (6, 1)), atol=ROUNDING)


def test_no_points_are_no_trouble() -> None:
    seen = Plane.level().probe(np.zeros((0, 3)), 0.0)
    assert seen.distance.shape == (0,) and seen.normal.shape == (0, 3) and seen.friction.shape == (0,)


@pytest.mark.parametrize("normal", [(0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)], ids=["down", "wall", "none"])
def test_ground_must_face_up(normal: tuple[float, float, float]) -> None:
    with refusal("face up", "Ground"):
        Plane(np.zeros(3), np.array(normal))


@pytest.mark.parametrize("friction", [-0.1, np.nan, np.inf])
def test_friction_must_not_be_negative(friction: float) -> None:
    with refusal("friction", "Ground"):
        Plane.level(friction=friction)


@pytest.mark.parametrize("point, normal", [((np.nan, 0.0, 0.0), (0.0, 0.0, 1.0)), ((0.0, 0.0), (0.0, 0.0, 1.0)),
                                           ((0.0, 0.0, 0.0), (0.0, np.inf, 1.0)), ((0.0, 0.0, 0.0), (0.0, 1.0))])
def test_a_place_is_three_numbers(point: tuple[float, ...], normal: tuple[float, ...]) -> None:
    with refusal("Ground"):
        Plane(np.array(point), np.array(normal))
