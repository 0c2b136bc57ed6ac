"""Where a stance goes: near the brink before a deep step, with its ground for as long as that carries, where no edge
cuts a shank, and with ground under all of a slide."""

from dataclasses import replace

import numpy as np

from solver.model.terrain import Moving, Plane, Terrain, TriangleMesh, Union
from solver.references.footholds import Foothold, Stance, choose, find_stances
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
    return choose(stance_at(x), Way.straight(61), terrain, TIMES, True, 0.0, following)


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


def test_a_foot_on_a_platform_keeps_off_its_edge() -> None:
    platform = TriangleMesh(*terrains.box((1.0, 0.0, -0.245), (2.0, 3.0, 0.5)))   # from 0 on, 5 mm high
    way = np.array([[0.0, 0.0, 0.0], [0.0, 0.3, 0.0]])
    hold = chosen(ALONG.max(), Union((Plane.level(), Moving(platform, np.array([0.0, 1.0]), way))))
    assert hold.place[0, 0] - ALONG.max() > 0.02


def knee_at(x: float) -> Stance:
    spots = np.stack((0.2 * ALONG, 0.5 * ACROSS), axis=1)
    return replace(stance_at(x), limb=1, first=10, print_=spots, stride=0.4)


def test_no_edge_cuts_the_shank_of_who_kneels() -> None:
    """The riser at 0.6 is between where the clip has its foot, at 0.35, and its knee, 0.45 ahead of it."""
    stairs, way = terrains.stairs(0.3), Way.straight(61)
    foot = choose(stance_at(0.35), way, stairs, TIMES, True, 0.0, joining=knee_at(0.8))
    knee = choose(knee_at(0.8), way, stairs, TIMES, False, 0.0, partner=foot)

    def over(foot: Foothold, knee: Foothold) -> float:
        line = foot.place[0] + np.linspace(0.0, 1.0, 100)[:, None] * (knee.place[0] - foot.place[0])
        return float((stairs.height(line[:, :2], 0.0).z - line[:, 2]).max())

    alone = choose(stance_at(0.35), way, stairs, TIMES, True, 0.0), choose(knee_at(0.8), way, stairs, TIMES, False, 0.0)
    assert over(foot, knee) < 0.06 < over(*alone)


def test_who_slides_while_standing_has_ground_under_all_of_the_way() -> None:
    """A hand of one point slides from 0.45 to 0.75, and the edge is at 0.6."""
    paths = np.zeros((61, 1, 3))
    paths[:, 0, 0] = np.linspace(0.45, 0.75, 61)
    stance, = find_stances(TIMES, np.ones((61, 1), dtype=bool), paths, np.zeros(1, dtype=int), np.array([False]), 0.0)
    assert stance.slides
    hold = choose(stance, Way.straight(61), terrains.stairs(-0.3), TIMES, False, 0.0)
    way = hold.moved(slice(None), paths[:, 0])[:, 0]
    assert way.max() < 0.6 or way.min() > 0.6
