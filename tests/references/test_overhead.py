"""Roofs, beams, bridges and walls: what is overhead is walked under, what is across the way is said."""

import numpy as np
import pytest

from solver import Scene
from solver.model.terrain import Moving, Plane, Steps, TriangleMesh, Union
from solver.references.clip import Clip
from solver.references.underfoot import CEILING, climbed, level_at, reachable
from tests import terrains
from tests.clips import synthetic

FLOOR = terrains.grid_mesh(np.zeros((9, 9)), 1.0)
WALL = terrains.box((0.7, 0.0, 0.5), (0.1, 10.0, 3.0))


def roof(height: float) -> terrains.Mesh:
    return terrains.box((0.9, 0.0, height), (0.6, 10.0, 0.05))


def sheet(height: float) -> terrains.Mesh:
    return terrains.patch((0.6, -5.0, height), (0.6, 0.0, 0.0), (0.0, 10.0, 0.0))


def walked(terrain) -> Clip:
    return Clip(Scene(*synthetic.walk(rate=24, duration=1.5), terrain))


def strayed(clip: Clip, base: Clip) -> float:
    """m, how far the bodies of two plans are apart."""
    return float(np.abs(clip.planned.positions - base.planned.positions).max())


@pytest.fixture(scope="module")
def level() -> Clip:
    return walked(TriangleMesh(*FLOOR))


@pytest.mark.parametrize("mesh", [roof(3.0), roof(1.95), sheet(2.2)], ids=["roof", "low", "sheet"])
def test_a_roof_with_room_beneath_changes_nothing(mesh, level) -> None:
    clip = walked(TriangleMesh(*terrains.join(FLOOR, mesh)))
    assert strayed(clip, level) < 1e-9 and not clip.notes


def test_a_roof_that_moves_changes_nothing(level) -> None:
    lift = Moving(TriangleMesh(*roof(2.2)), np.array([0.0, 2.0]), np.array([[0.0, 0.0, 0.0], [0.3, 0.0, 0.4]]))
    clip = walked(Union((Plane.level(), lift)))
    assert strayed(clip, level) < 1e-9 and not clip.notes


@pytest.mark.parametrize("height", [1.5, 1.2, 0.75])
def test_a_low_beam_is_gone_through_and_said(height, level) -> None:
    clip = walked(TriangleMesh(*terrains.join(FLOOR, roof(height))))
    assert strayed(clip, level) < 1e-9
    assert [note.level for note in clip.notes] == ["warning"] and "in the way" in clip.notes[0].sentence
    assert clip.notes[0].frame is not None and clip.notes[0].frame > 5


@pytest.mark.parametrize("terrain", [TriangleMesh(*terrains.join(FLOOR, WALL)),
                                     Union((Plane.level(), TriangleMesh(*sheet(2.2))))], ids=["thin", "thick"])
def test_a_wall_is_gone_through_and_said(terrain, level) -> None:
    clip = walked(terrain)
    assert any("in the way" in note.sentence and note.level == "warning" for note in clip.notes)
    height, own = clip.planned.positions[:, 2], level.planned.positions[:, 2]
    assert height.max() < own.max() + 0.02 and height.min() > own.min() - 0.15


def test_no_foot_stands_in_a_wall_beside_the_way(level) -> None:
    beside = terrains.box((0.7, 0.24, 0.5), (10.0, 0.3, 3.0))       # as near as the left foot steps
    clip = walked(TriangleMesh(*terrains.join(FLOOR, beside)))
    places = clip.paths[clip.schedule.touching]
    assert clip.terrain.probe(places, 0.0).distance.min() > -0.006
    assert clip.planned.positions[:, 2].max() < level.planned.positions[:, 2].max() + 0.05


def test_stairs_lead_up_onto_the_bridge_that_is_walked_under_elsewhere() -> None:
    steps = Steps(np.array([0.6, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]), 0.5, 0.3, 8)
    deck = terrains.box((6.0, 0.0, 2.35), (4.0, 2.0, 0.1))
    ground = TriangleMesh(*terrains.join(terrains.steps_mesh(steps, after=0.1), deck,
                                         terrains.grid_mesh(np.zeros((21, 21)), 1.0)))
    up = np.column_stack((np.linspace(0.0, 7.0, 200), np.zeros(200)))[:, None]
    under = np.column_stack((np.full(200, 6.0), np.linspace(-4.0, 4.0, 200)))[:, None]
    at = np.zeros(200)
    assert climbed(ground, up, at, 0.0)[-1, 0] == pytest.approx(2.4)
    assert (climbed(ground, under, at, 0.0) == 0.0).all()
    assert level_at(ground, np.array([[7.0, 0.0]]), 0.0, np.zeros((1, 3)))[0] == pytest.approx(2.4)


def test_what_is_reachable() -> None:
    ground = TriangleMesh(*terrains.join(FLOOR, WALL, terrains.box((2.0, 0.0, 0.0), (0.5, 10.0, 1.6)), roof(3.0)))
    spots = np.array([[0.0, 0.0], [0.7, 0.0], [1.0, 0.0], [2.0, 0.0], [9.0, 0.0]])
    np.testing.assert_allclose(reachable(ground, spots, 0.0, 0.0), [0.0, np.inf, 0.0, 0.8, -np.inf])
    np.testing.assert_allclose(reachable(ground, spots, 0.0, 3.03 - CEILING)[2], 3.025)


def test_under_a_roof_a_hole_is_still_a_hole() -> None:
    vertices, faces = FLOOR
    before = faces[vertices[faces].mean(1)[:, 0] < 0.9]
    clip = walked(TriangleMesh(*terrains.join((vertices, before), terrains.box((2.0, 0.0, 2.5), (6.0, 9.0, 0.1)))))
    assert any("no ground" in note.sentence for note in clip.notes)
