"""Loads: a mass in the hand bends who carries it, more if it is heavier, and leaves no trace when it is gone."""

import numpy as np
import pytest

from solver import Load, Motion, QuasiPhysical, Result, Scene, Settings, bake, finish
from tests.clips import synthetic
from tests.clips.shared import needs_clips
from tests.controllers.pushed import BACK, DIALS, clip, is_finite, part

KEYS = 1e-8
MADE = {"walk": synthetic.walk, "squat": synthetic.squat, "hop": synthetic.hop}


def carried(*loads: Load, motion: str = "walk", duration: float = 2.0, settings: Settings | None = None,
            **body: int) -> tuple[Scene, Result]:
    character, moved = MADE[motion](rate=30, duration=duration, **body)
    scene = Scene(character, moved, loads=loads)
    return scene, finish(bake(scene, QuasiPhysical(scene, settings or DIALS["natural"])))


@pytest.mark.parametrize("motion", MADE)
def test_a_load_of_no_mass_changes_nothing(motion: str) -> None:
    scene, result = carried(Load("hand.L", 0.0), Load("chest", 0.0, 0.2, 0.8), motion=motion, duration=3.0)
    assert result.deviation.max() <= KEYS
    assert np.abs(result.motion.positions - scene.motion.positions).max() <= KEYS


@pytest.mark.parametrize("body", ["hand.L", "chest", "head"])
@pytest.mark.parametrize("motion", ["walk", "squat"])
def test_a_heavier_load_bends_more(body: str, motion: str) -> None:
    bent = [carried(Load(body, mass, start=0.3), motion=motion)[1].deviation.max() for mass in (1.0, 4.0, 12.0, 30.0)]
    assert 0.0 < bent[0]
    assert (np.diff(bent) > 0.0).all()


@pytest.mark.parametrize("motion", MADE)
@pytest.mark.parametrize("body", ["hand.L", "head", "foot.R", "pelvis"])
def test_thirty_kilograms_anywhere_give_finite_numbers(motion: str, body: str) -> None:
    _, result = carried(Load(body, 30.0, 0.3, 1.4, (0.0, 0.1, -0.1)), motion=motion, duration=3.0)
    assert is_finite(result)


@needs_clips
@pytest.mark.parametrize("name", ["carry_suitcase_cmu_70_01", "squat_pick_up_set_down_cmu_69_70", "run_cmu_09_01",
                                  "walk_crawl_cmu_133_01", "cartwheel_cmu_49_07"])
@pytest.mark.parametrize("mass", [2.5, 30.0])
def test_loads_on_captured_motion_give_finite_numbers(name: str, mass: float) -> None:
    character, motion = clip(name, 30)
    last = min(75, len(motion) - 1)
    start = float(motion.times[8])
    scene = Scene(character, motion, loads=(Load(part(name, "hand"), mass, start),), frames=(0, last))
    result = finish(bake(scene))
    assert is_finite(result)
    assert result.deviation[:8].max() <= KEYS, "nothing before it is taken up"
    assert 1e-4 < result.deviation[:last + 1].max() < np.pi


@pytest.mark.parametrize("body", ["hand.L", "chest"])
@pytest.mark.parametrize("mass", [3.0, 12.0])
@pytest.mark.parametrize("motion", ["walk", "squat"])
def test_after_the_load_the_keys_come_back(body: str, mass: float, motion: str) -> None:
    scene, result = carried(Load(body, mass, 0.3, 1.0), motion=motion, duration=4.2)
    assert result.deviation.max() > 1e-3
    assert result.deviation[scene.motion.times >= 4.0].max() < BACK


def test_before_the_load_nothing_happens() -> None:
    scene, result = carried(Load("hand.L", 30.0, 0.8, 1.2))
    assert result.deviation[scene.motion.times < 0.8].max() <= KEYS


def test_a_load_that_is_carried_all_along_settles() -> None:
    """Someone who stands with a bag stands still: no drift, no swing."""
    character, motion = synthetic.squat(rate=30, duration=0.4)
    frames = 120
    still = Motion(np.arange(frames) / 30.0, np.repeat(motion.positions[:1], frames, 0),
                   np.repeat(motion.rotations[:1], frames, 0))
    scene = Scene(character, still, loads=(Load("hand.L", 8.0),))
    result = finish(bake(scene))
    assert is_finite(result) and result.deviation.max() > 0.005
    late = still.times > 3.0
    assert np.ptp(result.deviation[late]) < 0.01


def test_two_loads_of_half_are_one_load() -> None:
    _, whole = carried(Load("hand.L", 6.0, 0.3, 1.2), duration=1.5)
    _, halves = carried(Load("hand.L", 3.0, 0.3, 1.2), Load("hand.L", 3.0, 0.3, 1.2), duration=1.5)
    assert np.abs(whole.motion.rotations - halves.motion.rotations).max() < 1e-6
    assert np.abs(whole.motion.positions - halves.motion.positions).max() < 1e-6


def test_a_load_presses_the_feet_harder_on_the_ground() -> None:
    """Standing still, the ground and the helper carry the body and what it carries."""
    character, motion = synthetic.squat(rate=30, duration=0.4)
    frames = 90
    still = Motion(np.arange(frames) / 30.0, np.repeat(motion.positions[:1], frames, 0),
                   np.repeat(motion.rotations[:1], frames, 0))
    result = finish(bake(Scene(character, still, loads=(Load("hand.L", 10.0),))))
    lifted = result.forces[60:].sum(1)[:, 2].mean() + result.aid[60:, 2].mean()
    assert lifted == pytest.approx(9.81 * (character.mass + 10.0), rel=0.02)
    assert result.forces[60:].sum(1)[:, 2].mean() > 9.81 * (character.mass + 7.0), "not the helper alone"
