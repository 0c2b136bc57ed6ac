"""What a push leaves undone on uneven ground is mended; what is well, or was not disturbed, is left alone."""

import numpy as np

from benchmarks.ground_cases import find_clip, pushed_scene, raised, scene
from solver import Push, QuasiPhysical, Scene, bake, finish
from solver.model.arrays import Array
from solver.physics.trajectory import point_paths
from solver.references.clip import Clip
from solver.references.touch_up import touched_up
from tests import terrains
from tests.clips.shared import needs_clips

STEPS = "steps 0.3 up"
IDENTITY = 1e-8          # m, of unit quaternions
FOREVER = slice(None)


def touch_up(clip: Clip, positions: Array, rotations: Array, follows: slice = FOREVER) -> tuple[Array, Array]:
    """With the contacts that are planned, of frames that follow the clip."""
    frames = np.zeros(len(positions), dtype=bool)
    frames[follows] = True
    return touched_up(clip, positions, rotations, clip.schedule.touching[clip.frame_step], frames)


def soles(clip: Clip, positions: Array, rotations: Array) -> Array:
    """(F, P) m over the ground."""
    motion = clip.motion.with_poses(positions, rotations)
    points = clip.character.points
    paths = point_paths(clip.tree, clip.shape.at(clip.frame_step), motion, points.link, points.position)
    return clip.terrain.probe_over(paths, motion.times).distance


def planned(clip: Clip) -> tuple[Array, Array]:
    return clip.planned.positions[clip.frame_step].copy(), clip.planned.rotations[clip.frame_step].copy()


def test_what_is_well_stays_as_it_was_simulated() -> None:
    clip = Clip(scene("walk", STEPS))
    positions, rotations = planned(clip)
    positions[60:90, 2] += 0.001
    after = touch_up(clip, positions, rotations)
    assert np.array_equal(after[0], positions) and np.array_equal(after[1], rotations)


def test_a_foot_off_the_ground_is_put_down_and_the_rest_stays() -> None:
    clip = Clip(scene("walk", STEPS))
    positions, rotations = planned(clip)
    lifted = slice(60, 90)
    positions[lifted, 2] += 0.02 * np.hanning(30)
    stands, wanted = clip.schedule.touching[clip.frame_step], soles(clip, *planned(clip))
    before = np.where(stands, soles(clip, positions, rotations) - wanted, 0.0).max()
    after = touch_up(clip, positions, rotations)
    assert before > 0.018 and np.where(stands, soles(clip, *after) - wanted, 0.0).max() < 0.006
    assert np.array_equal(np.delete(after[0], range(60, 90), axis=0), np.delete(positions, range(60, 90), axis=0))
    assert np.array_equal(np.delete(after[1], range(60, 90), axis=0), np.delete(rotations, range(60, 90), axis=0))


def test_a_foot_in_a_step_is_taken_out_of_it() -> None:
    clip = Clip(scene("walk", STEPS))
    positions, rotations = planned(clip)
    positions[60:120, 2] -= 0.02 * np.hanning(60)
    before, after = soles(clip, positions, rotations), soles(clip, *touch_up(clip, positions, rotations))
    assert before.min() < -0.015 and after.min() > -0.005


def test_who_stands_still_is_put_down_too() -> None:
    """Joints that do not turn in the keys may do so to put feet down."""
    character, walk, height = find_clip("walk")
    still = walk.with_poses(np.repeat(walk.positions[:1], len(walk), axis=0),
                            np.repeat(walk.rotations[:1], len(walk), axis=0))
    clip = Clip(Scene(character, still, terrain=raised(terrains.stairs(0.3), height)))
    positions, rotations = planned(clip)
    positions[60:100, 2] += 0.03 * np.hanning(40)
    stands, wanted = clip.schedule.touching[clip.frame_step], soles(clip, *planned(clip))
    after = touch_up(clip, positions, rotations)
    assert stands.any(1).all() and np.where(stands, soles(clip, *after) - wanted, 0.0).max() < 0.013


def test_what_is_mended_begins_and_ends_without_a_jolt() -> None:
    """Feet 8 mm off the ground may stay there, but for a moment they are too high: they come down and go up gently."""
    clip = Clip(scene("walk", STEPS))
    positions, rotations = planned(clip)
    positions[:, 2] += 0.008
    positions[80:110, 2] += 0.015 * np.hanning(30)
    after = touch_up(clip, positions, rotations)
    correction = soles(clip, *after) - soles(clip, positions, rotations)
    stands = clip.schedule.touching[clip.frame_step]
    assert np.abs(correction).max() > 0.015 and np.abs(correction[[0, -1]]).max() == 0.0
    assert np.where(stands[1:] & stands[:-1], np.abs(np.diff(correction, axis=0)), 0.0).max() < 0.003


def test_a_pose_written_with_the_other_sign_is_the_same_pose() -> None:
    """Narrow steps are not walked without faults; who is not disturbed keeps to the plan there too."""
    clip = Clip(scene("walk", terrains.stairs(0.4, tread=0.25)))
    positions, rotations = planned(clip)
    rotations[::2] *= -1.0
    after = touch_up(clip, positions, rotations)
    assert np.array_equal(after[0], positions) and np.array_equal(after[1], rotations)


@needs_clips
def test_a_body_that_falls_onto_a_late_foot_is_not_thrown_up() -> None:
    """A run that is pushed on rough ground lands late, 19 mm high; its root is thrown about as in the keys."""
    placed = pushed_scene("run", 18)
    result = finish(bake(placed, QuasiPhysical(placed)))
    dt = placed.motion.duration / (len(placed.motion) - 1)
    keyed, reached = (np.linalg.norm(np.diff(motion.positions, 2, axis=0), axis=1).max() / dt ** 2
                      for motion in (placed.motion, result.motion))
    assert reached < 1.3 * keyed
    assert any("mended after" in note.sentence for note in result.notes)


def test_who_falls_is_not_touched_up() -> None:
    clip = Clip(scene("walk", STEPS))
    positions, rotations = planned(clip)
    positions[60:90, 2] += 0.02
    after = touch_up(clip, positions, rotations, follows=slice(0, 55))
    assert np.array_equal(after[0], positions) and np.array_equal(after[1], rotations)


def test_before_a_push_the_plan_is_kept() -> None:
    placed = scene("walk", "steps 0.5 down", pushes=(Push.constant("chest", (150.0, 200.0, 0.0), 1.0, 0.2),))
    controller = QuasiPhysical(placed)
    result = finish(bake(placed, controller))
    early = controller.clip.motion.times <= 1.0
    steps = controller.clip.frame_step[early]
    assert np.abs(result.motion.positions[early] - controller.clip.planned.positions[steps]).max() < IDENTITY
    assert np.abs(result.motion.rotations[early] - controller.clip.planned.rotations[steps]).max() < IDENTITY
