"""The finest detail of a capture comes back, and does not make a foot slide that a push has left standing."""

import numpy as np
import pytest

from solver import QuasiPhysical, Scene, bake, finish
from solver.numerics import rotation
from solver.physics.kinematics import forward, place
from solver.references.detail import with_detail
from tests.clips.shared import needs_clips
from tests.controllers.pushed import Case, clip, measure, respond

NAMES = ("walk_turn_180_cmu_39_11", "pair_stumble_B_cmu_23_12", "walk_crawl_cmu_133_01")


def turned(name: str, angle: float):
    """A capture's clip, and poses at its frames with every joint of its limbs turned by up to `angle`."""
    character, motion = clip(name, 30)
    follower = QuasiPhysical(Scene(character, motion, frames=(20, 60))).clip
    keys = follower.frame_step
    limbs = np.array([role not in ("root", "trunk", "neck", "head") for role in character.roles])
    turns = np.random.default_rng(7).uniform(-angle, angle, (len(character), 3)) * limbs[:, None]
    return follower, follower.positions[keys], rotation.add(follower.rotations[keys], turns)


def points(follower, positions, rotations):
    shape = follower.shape.at(follower.frame_step)
    return place(forward(follower.tree, shape.offsets, positions, rotations), follower.character.points.link,
                 shape.points)


@needs_clips
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_feet_get_the_displacement_of_the_keys(name: str, share: float) -> None:
    follower, positions, rotations = turned(name, 0.15)
    frames = np.arange(len(positions))
    keys = follower.frame_step
    own = points(follower, follower.planned.positions[keys], follower.planned.rotations[keys]) - follower.paths[keys]
    out = with_detail(follower, frames, positions, rotations, np.full(len(frames), share))
    moved = points(follower, *out) - points(follower, positions, rotations)
    limb = follower.character.points.limb
    assert np.abs(own).max() > 0.002, "there is detail to lose"
    for n in np.unique(limb):  # points of a turned foot cannot all move as those of the keys' foot, but their mean can
        missed = (moved - share * own)[:, limb == n].mean(1)
        assert np.linalg.norm(missed, axis=-1).max() < 1e-3


@needs_clips
@pytest.mark.parametrize("name", NAMES)
def test_where_nothing_was_turned_the_keys_come_back(name: str) -> None:
    follower, positions, rotations = turned(name, 0.0)
    out = with_detail(follower, np.arange(len(positions)), positions, rotations, np.ones(len(positions)))
    keys = follower.frame_step
    assert np.abs(out[0] - follower.planned.positions[keys]).max() < 1e-12
    assert np.abs(rotation.subtract(out[1], follower.planned.rotations[keys])).max() < 1e-9


@needs_clips
def test_a_glitch_of_the_capture_does_not_drive_a_pushed_foot_into_the_ground() -> None:
    """For one frame a toe of this capture is bent by 0.8 rad more than before and after."""
    assert respond(Case("walk_turn_180_cmu_39_11", "chest", "front", 3.62), 800.0).penetration < 0.002


@needs_clips
@pytest.mark.parametrize(("case", "before"), [
    (Case("jump_up_balance_cmu_02_04", "hand", "right", 1.10, 30.0), 0.0030),
    (Case("pair_stumble_B_cmu_23_12", "hand", "back", 1.31), 0.0022),
], ids=str)
def test_a_foot_that_stands_on_its_heel_or_toes_stays(case: Case, before: float) -> None:
    """Its parts must want the same place, or the ones in the air drag those on the ground."""
    scene = case.scene(200.0, 1.5)
    assert measure(scene, finish(bake(scene))).slide < 0.6 * before
