"""Limbs that reach for their ends."""

import numpy as np
import pytest

from solver.numerics import rotation
from solver.physics.kinematics import forward
from solver.physics.limbs import Limb, reached
from solver.physics.shape import shape_of
from solver.physics.tree import Tree
from tests.clips import synthetic
from tests.tolerances import PLAYBACK, ROUNDING

CLIPS = {"squat": (synthetic.squat, ("thigh.L", "shank.L", "foot.L")),
         "walk with hinges": (lambda **more: synthetic.walk(hinges=True, **more), ("thigh.R", "shank.R", "foot.R")),
         "trot": (synthetic.trot, ("hind_upper.L", "hind_lower.L", "hind_paw.L"))}
clips = pytest.mark.parametrize("name", CLIPS)


def reach(name: str, frame: int, moved: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """(rotations of the leg before, after, miss of the ankle, what was missing) with the root moved."""
    make, bones = CLIPS[name]
    character, motion = make(rate=30, duration=2.0)
    tree, shape = Tree(character), shape_of(character)
    limb = Limb(tree, shape, motion, *(character.index(bone) for bone in bones))
    rotations = motion.rotations[frame]
    pose = forward(tree, shape.offsets, motion.positions[frame], rotations)
    ankle, foot = motion.positions[frame] + pose.x[limb.last], pose.R[limb.last]
    place = motion.positions[frame] + moved
    length = float(sum(np.linalg.norm(character.offsets[i]) for i in (*limb.upper, *limb.between)))
    way = limb.reach(shape.offsets, rotations, pose.R[limb.parent], place + pose.x[limb.parent], ankle, foot,
                     0.9995 * length)
    changed = rotations.copy()
    changed[[limb.first, limb.middle, limb.last]] = reached([limb], [way])[0]
    after = forward(tree, shape.offsets, place, changed)
    miss = float(np.linalg.norm(place + after.x[limb.last] - ankle))
    turned = np.linalg.norm(rotation.log_matrix(after.R[limb.last].T @ foot))
    assert turned < 1e-9 or np.linalg.norm(way.short) > 0.0
    return rotations, changed, miss, way.short


@clips
def test_nothing_changes_where_the_body_is_where_it_was(name: str) -> None:
    for frame in range(0, 60, 7):
        before, after, miss, _ = reach(name, frame, np.zeros(3))
        assert np.abs(rotation.subtract(after, before)).max() < PLAYBACK
        assert miss < PLAYBACK


@clips
def test_the_foot_stays_when_the_body_sinks_and_shifts(name: str) -> None:
    for frame in range(0, 60, 7):
        before, after, miss, short = reach(name, frame, np.array([0.02, -0.03, -0.05]))
        assert not short.any() and miss < 1e-9
        assert np.abs(rotation.subtract(after, before)).max() > 0.01


@clips
def test_a_leg_that_is_too_short_says_by_how_much(name: str) -> None:
    _, _, miss, short = reach(name, 10, np.array([0.0, 0.0, 1.5]))
    assert miss == pytest.approx(np.linalg.norm(short), abs=1e-3) and miss > 0.3
    assert short[2] < 0.0, "down to the foot"


@clips
def test_a_stack_of_frames_is_reached_as_one_by_one(name: str) -> None:
    make, bones = CLIPS[name]
    character, motion = make(rate=30, duration=2.0)
    tree, shape = Tree(character), shape_of(character)
    limb = Limb(tree, shape, motion, *(character.index(bone) for bone in bones))
    pose = forward(tree, shape.offsets, motion.positions, motion.rotations)
    moved = 0.15 * np.random.default_rng(4).normal(size=motion.positions.shape)     # some too far to reach
    hips, ankles = motion.positions + moved + pose.x[:, limb.parent], motion.positions + pose.x[:, limb.last]
    longest = np.full(len(motion), 0.98 * float(sum(np.linalg.norm(character.offsets[i])
                                                    for i in (*limb.upper, *limb.between))))
    ways = limb.reach(shape.offsets, motion.rotations, pose.R[:, limb.parent], hips, ankles, pose.R[:, limb.last],
                      longest)
    found = reached([limb], [ways])
    assert found.shape == (len(motion), 1, 3, 4) and ways.short.any()
    for k in range(len(motion)):
        way = limb.reach(shape.offsets, motion.rotations[k], pose.R[k, limb.parent], hips[k], ankles[k],
                         pose.R[k, limb.last], longest[k])
        assert np.abs(reached([limb], [way]) - found[k]).max() < ROUNDING
        assert np.abs(way.short - ways.short[k]).max() < ROUNDING


def test_a_knee_bends_on_in_the_direction_in_which_it_bends() -> None:
    before, after, _, _ = reach("squat", 0, np.array([0.0, 0.0, -0.2]))
    knee = 12
    bend = rotation.log(after)[knee] @ rotation.log(before)[knee]
    assert bend > 0.0 and np.linalg.norm(rotation.log(after)[knee]) > np.linalg.norm(rotation.log(before)[knee])
