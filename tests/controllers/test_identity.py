"""Where nothing disturbs the character, its keys come back; and not because nothing was simulated."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from solver import (
    NATURAL,
    STRONG,
    SUBTLE,
    Character,
    Goal,
    Load,
    Motion,
    Plane,
    Push,
    QuasiPhysical,
    Result,
    Scene,
    Settings,
    bake,
    finish,
)
from solver.numerics import rotation
from tests.clips import synthetic
from tests.clips.shared import needs_clips
from tests.controllers.pushed import NAMES, RATES, clip, part

KEYS = 1e-8  # rad and m, at every key
WHOLE = 30   # frames per second at which every clip is followed from end to end
# s, the liveliest stretch of each clip, for the other rates
WINDOWS = {
    "walk_cmu_02_01": 0.8, "fast_walk_cmu_16_21": 0.9, "run_cmu_09_01": 0.0, "jump_up_balance_cmu_02_04": 0.7,
    "jump_forward_cmu_13_11": 1.7, "squat_pick_up_set_down_cmu_69_70": 2.6, "cartwheel_cmu_49_07": 1.0,
    "walk_crawl_cmu_133_01": 4.1, "walk_turn_left_90_cmu_69_24": 1.5, "walk_turn_180_cmu_39_11": 3.3,
    "run_dive_roll_cmu_127_23": 0.6, "carry_suitcase_cmu_70_01": 2.8, "pair_stumble_A_cmu_22_12": 0.6,
    "pair_stumble_B_cmu_23_12": 0.6, "dance_pirouette_cmu_05_02": 4.4, "cartoon_sneak_cmu_120_13": 3.0,
    "swing_on_bar_cmu_43_02": 5.4, "made_walk": 0.5, "made_squat": 1.5, "made_hop": 0.5, "made_ghost": 3.7,
    "made_trot": 0.4,
}
LENGTH = 1.1  # s
# mean helper force of the undisturbed motion, as a share of body weight
HELP = {"walk_cmu_02_01": 0.02, "fast_walk_cmu_16_21": 0.02, "walk_turn_left_90_cmu_69_24": 0.02,
        "walk_turn_180_cmu_39_11": 0.02, "run_cmu_09_01": 0.10, "walk_crawl_cmu_133_01": 0.02}


def some(names: tuple[str, ...]) -> list:
    """The captured ones need the shared folder."""
    return [pytest.param(name, marks=() if name.startswith("made_") else needs_clips, id=name) for name in names]


def window(name: str, rate: float) -> tuple[int, int]:
    motion = clip(name, rate)[1]
    first = round(WINDOWS[name] * rate)
    return first, min(first + round(LENGTH * rate), len(motion) - 1)


def follow(scene: Scene, settings: Settings = NATURAL) -> Result:
    return finish(bake(scene, QuasiPhysical(scene, settings), simulates_calm=True))


@lru_cache(maxsize=2)
def undisturbed(name: str, rate: float) -> Result:
    return follow(Scene(*clip(name, rate)))


def misses(motion: Motion, result: Result) -> tuple[float, float]:
    """(rad, m) by which the result's motion misses the keys, anywhere."""
    turns = np.linalg.norm(rotation.subtract(result.motion.rotations, motion.rotations), axis=-1)
    return float(turns.max()), float(np.abs(result.motion.positions - motion.positions).max())


def assert_same(motion: Motion, result: Result) -> None:
    turn, shift = misses(motion, result)
    assert turn <= KEYS and shift <= KEYS
    assert result.motion.times is motion.times or np.array_equal(result.motion.times, motion.times)
    for before, after in ((motion.offsets, result.motion.offsets), (motion.scales, result.motion.scales)):
        assert (before is None) == (after is None)
        if before is not None:
            assert np.array_equal(before, after)


@pytest.mark.parametrize("name", some(NAMES))
def test_every_key_of_a_whole_clip_comes_back(name: str) -> None:
    assert_same(clip(name, WHOLE)[1], undisturbed(name, WHOLE))


@pytest.mark.parametrize("name", some(NAMES))
@pytest.mark.parametrize("rate", [rate for rate in RATES if rate != WHOLE])
def test_the_liveliest_stretch_comes_back_at_every_rate(name: str, rate: int) -> None:
    character, motion = clip(name, rate)
    assert_same(motion, follow(Scene(character, motion, frames=window(name, rate))))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", some(NAMES))
@pytest.mark.parametrize("rate", RATES)
def test_every_key_of_a_whole_clip_comes_back_at_every_rate(name: str, rate: int) -> None:
    assert_same(clip(name, rate)[1], undisturbed(name, rate))


@needs_clips
@pytest.mark.parametrize("name", HELP)
@pytest.mark.parametrize("rate", [24] + [pytest.param(rate, marks=pytest.mark.exhaustive) for rate in RATES[1:]])
def test_a_motion_that_a_body_could_do_needs_hardly_any_help(name: str, rate: int) -> None:
    result = undisturbed(name, rate)
    assert result.aid_share[1:].mean() < HELP[name]
    assert_same(clip(name, rate)[1], result)


def test_a_squat_needs_no_help() -> None:
    """Made so that its centre of mass follows what flat feet can push."""
    assert undisturbed("made_squat", WHOLE).aid_share[1:].mean() < 1e-3


@pytest.mark.parametrize("settings", [
    SUBTLE, STRONG, Settings(physicality=100.0), Settings(physicality=2500.0), Settings(smoothing=0.0),
    Settings(hard_path=True), Settings(stiffness=0.2), Settings(stiffness=5.0), Settings(step_shift=False),
    Settings(joint_stiffness={"chest": 20.0, "thigh.L": 0.1}),
], ids=["subtle", "strong", "helped", "physical", "unsmoothed", "hard path", "soft", "firm", "no steps", "one joint"])
@pytest.mark.parametrize("body", [{}, {"hinges": True}, {"toes": False}], ids=["balls", "hinges", "no toes"])
def test_the_dials_do_not_matter_where_nothing_disturbs(settings: Settings, body: dict[str, bool]) -> None:
    character, motion = synthetic.walk(rate=30, duration=1.2, **body)
    assert_same(motion, follow(Scene(character, motion), settings))


@needs_clips
@pytest.mark.parametrize("settings", [SUBTLE, STRONG, Settings(physicality=2500.0), Settings(smoothing=0.0)],
                         ids=["subtle", "strong", "physical", "unsmoothed"])
@pytest.mark.parametrize("name", ["dance_pirouette_cmu_05_02", "run_dive_roll_cmu_127_23", "cartwheel_cmu_49_07"])
def test_the_dials_do_not_matter_on_noisy_captures(name: str, settings: Settings) -> None:
    character, motion = clip(name, 60)
    assert_same(motion, follow(Scene(character, motion, frames=window(name, 60)), settings))


@pytest.mark.parametrize("change", [
    {"goal": Goal("none")}, {"goal": Goal("body", "head")}, {"substeps": 1}, {"substeps": 5},
    {"terrain": Plane.level(0.0, friction=0.3)}, {"terrain": Plane.level(0.0, friction=0.0)}, {"gravity": np.zeros(3)},
    {"gravity": np.array([0.0, 0.0, -1.6])}, {"ease": (0.3, 0.3)}, {"mask": {"head": 0.5}},
    {"loads": (Load("hand.L", 0.0),)}, {"pushes": (Push.constant("chest", (0.0, 0.0, 0.0), 0.3, 0.2),)},
    {"pushes": (Push.constant("chest", (900.0, 0.0, 0.0), 30.0, 0.2),)},
], ids=["no goal", "head is the goal", "one sub-step", "five sub-steps", "slippery", "ice",
        "weightless", "moon", "ease", "mask", "load of nothing", "push of nothing",
        "push after the end"])
def test_the_world_does_not_matter_where_nothing_disturbs(change: dict) -> None:
    character, motion = synthetic.walk(rate=30, duration=1.2)
    assert_same(motion, follow(Scene(character, motion, **change)))


@pytest.mark.parametrize("links", [1, 2, 12, 40])
@pytest.mark.parametrize("seed", range(3))
def test_any_tree_comes_back(links: int, seed: int) -> None:
    character, motion = synthetic.random_tree(links, seed, rate=30, duration=1.0)
    assert_same(motion, follow(Scene(character, motion)))


@pytest.mark.parametrize("body", [{"tail": 20}, {"fingers": 5}, {"tail": 20, "fingers": 5, "hinges": True}],
                         ids=["tail", "fingers", "both"])
def test_tails_and_fingers_come_back(body: dict[str, int]) -> None:
    character, motion = synthetic.walk(rate=30, duration=1.0, **body)
    assert_same(motion, follow(Scene(character, motion)))


def test_keys_off_a_hinges_axis_come_back() -> None:
    """What a hinge cannot do is not simulated, but stays in the motion."""
    character, motion = synthetic.walk(rate=30, duration=1.2, hinges=True)
    rotations = motion.rotations.copy()
    i = character.index("shank.L")
    sway = 0.2 * np.sin(5.0 * motion.times)[:, None] * np.array([1.0, 0.0, 0.0])
    rotations[:, i] = rotation.multiply(rotations[:, i], rotation.exp(sway))
    motion = replace(motion, rotations=rotations)
    assert_same(motion, follow(Scene(character, motion)))


@pytest.mark.parametrize("size", [0.1, 10.0])
def test_size_does_not_matter(size: float) -> None:
    """The same walk by a figure of 17 cm and one of 17 m."""
    character, motion = synthetic.walk(rate=30, duration=1.2)
    scaled = replace(character, offsets=character.offsets * size, tips=character.tips * size,
                     coms=character.coms * size, inertias=character.inertias * size**2)
    moved = replace(motion, positions=motion.positions * size)
    assert_same(moved, follow(Scene(scaled, moved)))


def test_uneven_frames_come_back() -> None:
    character, motion = uneven()
    assert_same(motion, follow(Scene(character, motion)))


def uneven() -> tuple[Character, Motion]:
    character, motion = synthetic.walk(rate=60, duration=1.5)
    times = np.sort(np.random.default_rng(3).uniform(0.0, 1.5, 40))
    times = times[np.concatenate(([True], np.diff(times) > 0.005))]
    return character, motion.resampled(times)


@pytest.mark.parametrize("name", some(("walk_cmu_02_01", "cartoon_sneak_cmu_120_13", "made_squat", "made_ghost")))
def test_the_keys_do_not_come_back_by_a_short_cut(name: str) -> None:
    """A push of a thousandth of a newton is felt, in proportion."""
    character, motion = clip(name, 30)
    first, last = window(name, 30)
    start = float(motion.times[first]) + 0.2
    shifts = []
    for force in (1e-3, 2e-3):
        push = Push.constant(part(name, "chest"), (0.0, force, 0.0), start, 0.2)
        result = follow(Scene(character, motion, pushes=(push,), frames=(first, last)))
        shifts.append(misses(motion, result)[0])
    assert 1e-9 < shifts[0] < 1e-4
    assert shifts[1] == pytest.approx(2.0 * shifts[0], rel=0.05)
