"""Grounds with holes, bodies without feet, and grounds that are the clip's own in another guise."""

import numpy as np
import pytest

from solver import Push, QuasiPhysical, Scene, bake, finish
from solver.model.terrain import HeightField, Plane
from tests import worlds
from tests.clips import synthetic

SHORT = HeightField(np.array([-0.5, -1.0, 0.0]), 0.1, np.zeros((16, 21)))     # ends after a metre
WIDE = HeightField(np.array([-4.0, -4.0, 0.0]), 0.5, np.zeros((40, 40)))


def test_over_no_ground_the_helper_carries_and_playback_is_exact() -> None:
    character, motion = synthetic.walk(rate=60, duration=2.0)
    scene = Scene(character, motion, terrain=SHORT)
    for simulates_calm in (False, True):
        result = finish(bake(scene, QuasiPhysical(scene), simulates_calm=simulates_calm))
        assert result.deviation.max() < 1e-8
        assert not result.contacts[motion.positions[:, 0] > 1.6].any()
        assert any("no ground" in note.sentence for note in result.notes)


def test_a_push_over_no_ground_is_answered_as_elsewhere() -> None:
    character, motion = synthetic.walk(rate=60, duration=2.0)
    scene = Scene(character, motion, terrain=SHORT, pushes=(Push.constant("chest", (0.0, 50.0, 0.0), 0.3, 0.1),))
    assert finish(bake(scene)).deviation.max() < 0.3


@pytest.mark.parametrize("terrain", [Plane(np.zeros(3), np.array([0.3, 0.0, 1.0])), WIDE], ids=["slope", "mesh"])
def test_a_body_without_feet_is_planned_on_no_ground(terrain) -> None:
    block = worlds.block()
    scene = Scene(block, worlds.still(block, 31), terrain=terrain)
    assert np.isfinite(finish(bake(scene)).motion.positions).all()


def test_the_clips_own_ground_as_a_mesh_changes_nothing_for_one_with_soles_of_its_own() -> None:
    character, motion = synthetic.walk(rate=60, duration=1.5)
    shod = QuasiPhysical(Scene(character, motion)).clip.character
    result = finish(bake(Scene(shod, motion, terrain=WIDE)))
    assert result.deviation.max() < 1e-8 and np.abs(result.motion.positions - motion.positions).max() < 1e-8


def test_balance_is_judged_at_the_height_of_the_ground() -> None:
    character, motion = synthetic.walk(rate=60, duration=1.5)
    high = HeightField(np.array([-4.0, -4.0, 1.5]), 0.5, np.zeros((40, 40)))
    raised, own = (finish(bake(Scene(character, motion, terrain=terrain))) for terrain in (high, None))
    known = np.isfinite(raised.margin) & np.isfinite(own.margin)
    assert np.abs(raised.zmp[known, 2] - 1.5).max() < 0.05
    assert np.median(np.abs(raised.margin - own.margin)[known]) < 0.02


def test_a_range_that_begins_and_ends_far_from_its_keys_is_said() -> None:
    character, motion = synthetic.walk(rate=60, duration=3.0)
    high = HeightField(np.array([-4.0, -4.0, 0.4]), 0.5, np.zeros((40, 40)))
    notes = finish(bake(Scene(character, motion, terrain=high, frames=(60, 120)))).notes
    assert {note.frame for note in notes if "from the keys" in note.sentence} == {60, 120}
