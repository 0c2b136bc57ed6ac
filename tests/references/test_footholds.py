"""Where a stance goes: near the brink before a deep step, and with the ground under it for as long as that carries."""

from dataclasses import replace

import numpy as np

from solver.model.terrain import Moving, Plane, Terrain, TriangleMesh, Union
from solver.references.footholds import Foothold, Stance, choose
from solver.references.way import Way
from tests import terrains

TIMES = np.linspace(0.0, 1.0, 61)
ALONG, ACROSS = (g.ravel() for g in np.meshgrid(np.linspace(-0.13, 0.13, 6), np.linspace(-0.04, 0.04, 3),
                                                indexing="ij"))


def stance_at(x: float) -> Stance:
    """A foot that stands at x for the whole second and walks along x."""
    return Stance(0, 0, 60, np.array([x, 0.0, 0.0]), np.stack((ALONG, ACROSS), axis=1), np.array([1.0, 0.0]), True, 1.0,
                  1.1, 2.0, np.array([[x, 0.0], [x, 0.0]]), False)


def chosen(x: float, terrain: Terrain, following: Stance | None = None) -> Foothold:
    return choose(stance_at(x), Way.straight(61), terrain, TIMES, True, following)


def test_before_a_deep_step_down_a_foot_stands_near_the_edge() -> None:
    stairs = terrains.stairs(-0.5)                     # the first edge is at 0.6
    after = replace(stance_at(0.85), limb=1)
    toes = chosen(0.25, stairs, after).place[0, 0] + ALONG.max()
    assert 0.5 < toes < 0.61
    assert chosen(0.25, stairs).place[0, 0] + ALONG.max() < 0.45


def test_before_a_low_step_a_foot_stays_where_it_is() -> None:
    stairs = terrains.stairs(-0.2)
    after = replace(stance_at(0.85), limb=1)
    assert chosen(0.25, stairs, after).place[0, 0] == chosen(0.25, stairs).place[0, 0]


def test_a_platform_that_sinks_into_the_floor_leaves_the_foot_there() -> None:
    """It slides by 0.3 m and sinks by 0.1 m in the second; half of that is above the floor."""
    platform = TriangleMesh(*terrains.box((0.0, 0.0, 0.0), (3.0, 3.0, 0.1)))
    way = np.array([[0.0, 0.0, 0.0], [0.3, 0.0, -0.1]])
    hold = chosen(0.0, Union((Plane.level(), Moving(platform, np.array([0.0, 1.0]), way))))
    moved = hold.place - hold.place[0]
    np.testing.assert_allclose(moved[:30, 0], 0.3 * TIMES[:30], atol=1e-9)      # along with the platform
    np.testing.assert_allclose(moved[-1, 0], 0.15, atol=0.3 / 60.0)             # and then no more
    np.testing.assert_allclose(moved[31:, 0], moved[31, 0], atol=1e-9)
    np.testing.assert_allclose(hold.place[31:, 2], 0.0, atol=1e-9)


def test_no_foot_stands_half_on_a_platform() -> None:
    platform = TriangleMesh(*terrains.box((1.0, 0.0, -0.245), (2.0, 3.0, 0.5)))   # from 0 on, 5 mm high
    way = np.array([[0.0, 0.0, 0.0], [0.0, 0.3, 0.0]])
    hold = chosen(0.0, Union((Plane.level(), Moving(platform, np.array([0.0, 1.0]), way))))
    assert abs(hold.place[0, 0]) > ALONG.max() - 1e-9
