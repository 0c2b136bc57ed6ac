"""Soles calibrated from the motion: on the ground where the foot stands, whatever the rig says."""

from dataclasses import replace

import numpy as np
import pytest

from solver import Character, Motion, Plane, Scene
from solver.numerics import rotation
from solver.physics.shape import shape_of
from solver.physics.soles import calibrated_points
from solver.physics.trajectory import point_paths
from solver.physics.tree import Tree
from solver.references.clip import Clip
from tests.clips import shared, synthetic
from tests.clips.shared import needs_clips
from tests.controllers.falls import waiting
from tests.worlds import random_character, still

GROUND = 0.05  # m: where the floor is cannot be told apart from how thick the sole is (ball joints sit 3 to 8 cm up)
SOLE = 0.03      # m: data noise of a standing foot


def heights(character: Character, motion: Motion, points: object, ground: float) -> np.ndarray:
    tree, shape = Tree(character), shape_of(character, motion)
    return point_paths(tree, shape, motion, points.link, points.position)[..., 2] - ground  # type: ignore[attr-defined]


@needs_clips
@pytest.mark.parametrize("rate", [30, 120])
@pytest.mark.parametrize("name", shared.NAMES)
def test_the_ground_of_a_capture_is_found(name: str, rate: int) -> None:
    _, ground = calibrated_points(*shared.load(name, rate))
    assert abs(ground) < GROUND


@needs_clips
@pytest.mark.parametrize("name", shared.NAMES)
def test_soles_are_on_the_ground_in_stance(name: str) -> None:
    """The median of every sole point over the frames in which its foot stands flat."""
    character, motion = shared.load(name, 60)
    clip = Clip(Scene(character, motion))
    points, schedule = clip.character.points, clip.schedule
    planted = schedule.touching & ~schedule.sliding
    height = clip.paths[..., 2] - clip.ground
    seen = 0
    for n, limb in enumerate(points.limbs):
        own = points.limb == n
        flat = planted[:, own].all(1)
        if limb.kind == "foot" and flat.sum() >= 6:
            seen += 1
            assert np.abs(np.median(height[flat][:, own], axis=0)).max() < SOLE
    assert seen or name.startswith(("run_cmu", "swing")), "no foot ever stood"


def test_a_pose_that_is_held_for_long_does_not_change_the_soles() -> None:
    """A walk that ends with a heel up, and stays so."""
    character, motion = synthetic.walk(rate=24, duration=1.5)
    held = waiting(motion, 0.4, 5.0)
    assert len(held) > 3 * len(motion)
    alone, ground = calibrated_points(character, motion)
    points, level = calibrated_points(character, held)
    np.testing.assert_allclose(points.position, alone.position, atol=2e-3)
    assert level == pytest.approx(ground, abs=2e-3)


@needs_clips
@pytest.mark.parametrize("name", shared.NAMES)
def test_both_feet_get_a_heel_and_a_toe_of_two_points(name: str) -> None:
    character, motion = shared.load(name, 30)
    points, _ = calibrated_points(character, motion)
    feet = [n for n, limb in enumerate(points.limbs) if limb.kind == "foot"]
    assert len(feet) == 2
    for n in feet:
        groups = points.group[points.limb == n]
        assert len(groups) == 4 and len(set(groups)) == 2
        length = np.linalg.norm(character.tips[points.link[points.limb == n][0]])
        assert length < 0.3


@pytest.mark.parametrize("name", ["walk", "squat", "hop"])
@pytest.mark.parametrize("body", [{}, {"toes": False}, {"hinges": True}], ids=["toes", "no toes", "hinges"])
def test_made_soles_lie_on_the_ground_while_the_foot_is_flat(name: str, body: dict[str, bool]) -> None:
    character, motion = synthetic.CLIPS[name](rate=60, duration=3.0, **body)
    points, ground = calibrated_points(character, motion)
    height = heights(character, motion, points, ground)
    foot = character.index("foot.L")
    own = np.array([limb.name == "foot.L" for limb in points.limbs])[points.limb]
    tree, shape = Tree(character), shape_of(character, motion)
    ankle = point_paths(tree, shape, motion, np.array([foot]), np.zeros((1, 3)))[:, 0, 2]
    flat = np.abs(ankle - synthetic.ANKLE) < 1e-3
    assert flat.sum() > 10
    assert np.abs(height[flat][:, own]).max() < 0.01


@pytest.mark.parametrize("known", [0.0, 0.03])
def test_a_known_ground_is_taken_as_it_is(known: float) -> None:
    character, motion = synthetic.squat(rate=30, duration=2.0)
    points, ground = calibrated_points(character, motion, known)
    assert ground == known
    feet = points.of_kind("foot")
    assert np.abs(np.median(heights(character, motion, points, known)[:, feet], axis=0)).max() < 0.01


def test_the_scenes_level_ground_is_the_clips_ground() -> None:
    character, motion = synthetic.walk(rate=30, duration=2.0)
    clip = Clip(Scene(character, motion, terrain=Plane.level(0.01)))
    assert clip.ground == 0.01


@pytest.mark.parametrize("lift", [-3.0, 0.0, 25.0])
def test_the_ground_moves_with_the_motion(lift: float) -> None:
    character, motion = synthetic.walk(rate=30, duration=2.0)
    low, high = (calibrated_points(character, replace(motion, positions=motion.positions + [0.0, 0.0, z]))
                 for z in (0.0, lift))
    assert high[1] - low[1] == pytest.approx(lift, abs=1e-9)
    assert np.abs(high[0].position - low[0].position).max() < 1e-9


def test_heading_does_not_matter() -> None:
    character, motion = synthetic.walk(rate=30, duration=2.0)
    turn = rotation.exp(np.array([0.0, 0.0, 2.1]))
    turned = replace(motion, positions=rotation.rotate(np.tile(turn, (len(motion), 1)), motion.positions),
                     rotations=np.concatenate((rotation.multiply(turn, motion.rotations[:, :1]),
                                               motion.rotations[:, 1:]), axis=1))
    here, there = calibrated_points(character, motion), calibrated_points(character, turned)
    assert there[1] == pytest.approx(here[1], abs=1e-9)
    assert np.abs(there[0].position - here[0].position).max() < 1e-9


def test_paws_get_points_too() -> None:
    character, motion = synthetic.trot(rate=60, duration=3.0)
    points, ground = calibrated_points(character, motion)
    feet = [limb.name for limb in points.limbs if limb.kind == "foot"]
    assert sorted(feet) == ["front_paw.L", "front_paw.R", "hind_paw.L", "hind_paw.R"]
    stands = motion.times < 0.55  # before the first step
    height = heights(character, motion, points, ground)[stands][:, points.of_kind("foot")]
    assert np.abs(height).max() < 0.01


def test_hands_that_never_come_low_get_no_points() -> None:
    character, motion = synthetic.walk(rate=30, duration=2.0)
    points, _ = calibrated_points(character, motion)
    assert {limb.kind for limb in points.limbs} == {"foot"}


@needs_clips
def test_hands_and_knees_that_crawl_get_points() -> None:
    points, _ = calibrated_points(*shared.load("walk_crawl", 60))
    kinds = [limb.kind for limb in points.limbs]
    assert kinds.count("hand") == 2 and kinds.count("knee") == 2 and kinds.count("foot") == 2


@pytest.mark.parametrize("seed", range(6))
def test_any_tree_can_be_calibrated(seed: int) -> None:
    character = random_character(1 + 5 * seed, seed)
    points, ground = calibrated_points(character, still(character, frames=12))
    assert np.isfinite(ground) and np.isfinite(points.position).all()


def test_a_hand_that_the_animator_names_gets_points_however_high_it_is() -> None:
    character, motion = synthetic.walk(rate=30, duration=1.0)
    assert "hand.L" not in {limb.name for limb in calibrated_points(character, motion)[0].limbs}
    assert "hand.L" in {limb.name for limb in calibrated_points(character, motion, wanted=["hand.L"])[0].limbs}
