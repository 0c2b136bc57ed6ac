"""Limbs that slide while they stand have ground under all of their way."""

import numpy as np
import pytest

from solver import Scene
from solver.physics.shape import shape_of
from solver.physics.skin import skin_points
from solver.physics.trajectory import point_paths
from solver.references.clip import Clip
from solver.references.footholds import find_stances
from tests import terrains, worlds
from tests.clips import synthetic

TIMES = np.linspace(0.0, 1.0, 61)


@pytest.mark.parametrize("toed", [0.0, 0.004])
def test_points_abreast_leave_traces_all_along_their_slide(toed) -> None:
    """Two points side by side, one perhaps a little ahead, are dragged a metre along x."""
    paths = np.zeros((61, 2, 3))
    paths[..., 0] = TIMES[:, None] + np.array([0.0, toed])
    paths[..., 1] = np.array([0.05, -0.05])
    stance, = find_stances(TIMES, np.ones((61, 2), dtype=bool), paths, np.zeros(2, dtype=int), np.array([False]), 0.0)
    covered = stance.centre[:2] + stance.print_
    assert covered[:, 0].min() < 0.01 and covered[:, 0].max() > 0.99
    assert np.ptp(covered[:, 1]) > 0.09 and np.diff(np.unique(covered[:, 0].round(3))).max() < 0.3


def test_who_is_dragged_onto_stairs_stays_out_of_them() -> None:
    character = synthetic.humanoid()
    motion = worlds.still(character, 60, 30.0)
    along = np.outer(0.6 * motion.times, [1.0, 0.0, 0.0])
    clip = Clip(Scene(character, motion.with_poses(motion.positions + along, motion.rotations),
                      terrains.stairs(0.2, 0.6)))
    skin, places = skin_points(clip.character), clip.planned
    parts = point_paths(clip.tree, shape_of(clip.character, places), places, skin.link, skin.position)
    assert (skin.radius - clip.terrain.probe_over(parts, clip.times).distance).max() < 0.01
    assert any("does not reach" in note.sentence for note in clip.notes)
