"""Level ground at another height than that on which the clip was made."""

import numpy as np
import pytest

from solver import Scene
from solver.model.terrain import Plane
from solver.references.clip import Clip
from tests.clips import synthetic


def notes(height: float) -> list[str]:
    clip = Clip(Scene(*synthetic.walk(rate=24, duration=1.5), Plane.level(height)))
    return [note.sentence for note in clip.notes if note.level == "warning"]


@pytest.mark.parametrize("height", [0.4, 1.0])
def test_who_stands_inside_the_ground_is_told_so(height) -> None:
    said, = notes(height)
    assert "inside the ground" in said and "move the character" in said
    deep = float(said.split(" cm")[0].split()[-1])
    assert deep == pytest.approx(100.0 * height, abs=12.0)        # the bones are somewhat over the sole


@pytest.mark.parametrize("height", [0.0, 0.03, -0.02, -0.4])
def test_who_stands_on_the_ground_or_over_it_is_not(height) -> None:
    assert not notes(height)


def test_who_jumps_or_hangs_is_left_where_it_is() -> None:
    character, motion = synthetic.walk(rate=24, duration=1.5)
    high = motion.with_poses(motion.positions + np.array([0.0, 0.0, 0.6]), motion.rotations)
    clip = Clip(Scene(character, high, Plane.level()))
    np.testing.assert_array_equal(clip.planned.positions[clip.frame_step], high.positions)
