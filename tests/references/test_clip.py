"""The clip as a reference: its velocities, forces and contacts are those of the keys, by the integrator's own rules."""

from dataclasses import replace

import numpy as np
import pytest

from solver import Character, Goal, Link, Motion, Plane, QuasiPhysical, Scene, TriangleMesh
from solver.numerics import rotation
from solver.physics.dynamics import dynamics, point_jacobian
from solver.physics.kinematics import advance, forward
from solver.references.clip import Clip
from tests import terrains
from tests.clips import shared, synthetic
from tests.clips.shared import needs_clips
from tests.tolerances import JUDGE, ROUNDING

MADE = ("walk", "squat", "hop", "ghost", "trot")
CAPTURED = ("walk_cmu_02_01", "dance_pirouette_cmu_05_02", "walk_crawl_cmu_133_01", "run_dive_roll_cmu_127_23")
EVERY = [*MADE, *(pytest.param(name, marks=needs_clips) for name in CAPTURED)]


def scene_of(name: str, rate: float = 30.0, **more: object) -> Scene:
    character, motion = (synthetic.CLIPS[name](rate=rate, duration=2.0) if name in synthetic.CLIPS
                         else shared.load(name, rate))
    last = min(len(motion) - 1, round(2.0 * rate))
    return Scene(character, motion, **({"frames": (0, last)} | more))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("rate", [24, 120])
def test_stepping_along_the_velocities_plays_the_clip(name: str, rate: int) -> None:
    """q_{k+1} = q_k (+) dt v_{k+1} and v_{k+1} = v_k + dt a_k, to rounding."""
    clip = Clip(scene_of(name, rate))
    for k in range(clip.steps):
        dt = float(clip.dt[k])
        position, rotations = advance(clip.tree, clip.positions[k], clip.rotations[k], clip.v[k + 1], dt)
        assert np.abs(position - clip.positions[k + 1]).max() < ROUNDING
        assert np.abs(rotation.subtract(rotations, clip.rotations[k + 1])).max() < ROUNDING
        assert np.abs(clip.v[k] + dt * clip.a[k] - clip.v[k + 1]).max() < ROUNDING * max(1.0, np.abs(clip.v).max())


@pytest.mark.parametrize("rate", [24, 30, 60, 120])
def test_frames_are_cut_into_steps_of_a_sixtieth_at_most(rate: int) -> None:
    clip = Clip(scene_of("walk", rate))
    assert clip.dt.max() <= 1.0 / 60.0 + 1e-6
    assert clip.dt.min() > 0.4 / max(rate, 60)
    assert np.abs(clip.times[clip.frame_step] - clip.motion.times).max() < ROUNDING
    assert clip.frame_step[0] == 0 and clip.frame_step[-1] == clip.steps


def test_the_animators_sub_steps_are_taken() -> None:
    clip = Clip(scene_of("walk", substeps=7))
    assert (np.diff(clip.frame_step) == 7).all()
    assert clip.dt == pytest.approx(1.0 / 210.0)


def test_uneven_frames_get_as_many_steps_as_they_are_long() -> None:
    character, motion = synthetic.walk(rate=60, duration=1.0)
    times = np.array([0.0, 0.01, 0.2, 0.25, 0.9, 1.0])
    clip = Clip(Scene(character, motion.resampled(times)))
    assert np.abs(clip.times[clip.frame_step] - times).max() < ROUNDING
    assert clip.dt.max() <= 1.0 / 60.0 + 1e-6
    assert np.diff(clip.frame_step)[0] == 1


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("smoothing", [0.0, 4.0, 8.0])
def test_what_smoothing_takes_away_is_kept(name: str, smoothing: float) -> None:
    clip = Clip(scene_of(name), smoothing)
    keys = clip.frame_step
    back = rotation.add(clip.rotations[keys], clip.residual)
    assert np.abs(rotation.subtract(back, clip.motion.rotations)).max() < ROUNDING
    assert np.abs(clip.positions[keys] + clip.root_residual - clip.motion.positions).max() < ROUNDING


def test_without_smoothing_the_keys_themselves_are_followed() -> None:
    clip = Clip(scene_of("walk"), smoothing=0.0)
    assert np.abs(rotation.subtract(clip.rotations[clip.frame_step], clip.motion.rotations)).max() < ROUNDING
    assert np.abs(clip.positions[clip.frame_step] - clip.motion.positions).max() < ROUNDING


@needs_clips
def test_smoothing_calms_a_noisy_capture() -> None:
    rough, smooth = (Clip(scene_of("dance_pirouette_cmu_05_02", 120), smoothing) for smoothing in (0.0, 8.0))
    assert np.abs(smooth.a).max() < 0.3 * np.abs(rough.a).max()
    assert np.quantile(np.linalg.norm(smooth.residual, axis=-1), 0.95) < 0.1, "and changes the pose little"


def test_smoothing_leaves_slow_motion_alone() -> None:
    clip = Clip(scene_of("squat", 60), smoothing=8.0)
    assert np.linalg.norm(clip.residual, axis=-1).max() < 5e-3
    assert np.abs(clip.root_residual).max() < 2e-3


@pytest.mark.parametrize("name", EVERY)
def test_the_references_own_forces_balance_its_motion(name: str) -> None:
    """M a* + h = tau* + J_c^T f*, and the ground only pushes, only where it touches."""
    clip = Clip(scene_of(name))
    tree, links = clip.tree, clip.character.points.link
    for k in range(0, clip.steps, 7):
        moment = clip.moment(k)
        pose = forward(tree, clip.shape.at(k).offsets, clip.positions[k], clip.rotations[k])
        motion = dynamics(tree, clip.shape.at(k), pose, clip.v[k], clip.a[k], clip.scene.gravity)
        J_c = point_jacobian(tree, motion, links, moment.points.position)
        ground = clip.terrain.probe(moment.points.position, float(clip.times[k]))
        assert (moment.edge_forces >= -JUDGE).all()
        assert not moment.edge_forces[~moment.touching].any()
        normal = moment.edge_forces.sum(1)  # edges are n +- mu t
        total = moment.torque.copy()
        rest = motion.force - total  # J_c^T f*
        scale = max(1.0, np.abs(motion.force).max())
        if not moment.touching.any():
            assert np.abs(rest).max() < JUDGE * scale
            continue
        # rest must be the work of some contact forces: fit them and compare their normal parts
        A = J_c.reshape(-1, tree.nv)[np.repeat(moment.touching, 3)].T
        f = np.linalg.lstsq(A, rest, rcond=None)[0]
        assert np.abs(A @ f - rest).max() < 1e-7 * scale
        press = (f.reshape(-1, 3) * ground.normal[moment.touching]).sum()
        assert press == pytest.approx(normal.sum(), rel=1e-6, abs=1e-6 * scale)


@pytest.mark.parametrize("name", ["walk", "squat", pytest.param("walk_cmu_02_01", marks=needs_clips)])
def test_the_grounds_force_carries_the_body(name: str) -> None:
    """Over a few seconds of standing or walking the ground carries the body weight."""
    clip = Clip(scene_of(name))
    weight = clip.character.mass * 9.81
    press = np.mean([clip.moment(k).edge_forces.sum() for k in range(clip.steps)])
    assert press == pytest.approx(weight, rel=0.05)


@pytest.mark.parametrize("name", EVERY)
def test_moments_show_the_pose_the_speed_and_the_contacts_of_their_step(name: str) -> None:
    clip = Clip(scene_of(name))
    for k in (0, clip.steps // 2, clip.steps - 1, 0):  # backwards as well: runs are computed when asked for
        moment = clip.moment(k)
        pose = forward(clip.tree, clip.shape.at(k).offsets, clip.positions[k], clip.rotations[k])
        assert np.abs(moment.R - pose.R).max() < ROUNDING
        assert np.array_equal(moment.v, clip.v[k]) and np.array_equal(moment.a, clip.a[k])
        assert np.abs(moment.points.position - clip.paths[k]).max(initial=0.0) < ROUNDING
        assert np.array_equal(moment.touching, clip.schedule.touching[k])
        assert np.abs(moment.goal - clip.coms[k]).max() < 1e-9


def test_the_goal_may_be_a_body() -> None:
    clip = Clip(scene_of("walk", goal=Goal("body", "head")))
    pose = forward(clip.tree, clip.shape.at(5).offsets, clip.positions[5], clip.rotations[5])
    head = pose.position + pose.x[clip.character.index("head")]
    assert np.abs(clip.moment(5).goal - head).max() < ROUNDING


def test_goal_accelerations_are_those_of_the_path() -> None:
    """Second differences of the goal's path; in flight the centre of mass falls at g."""
    clip = Clip(scene_of("hop", 120), smoothing=0.0)
    second = np.diff(clip.coms, 2, axis=0) * 120.0**2
    given = np.array([clip.moment(k).goal_acceleration for k in range(clip.steps)])
    assert np.abs(given[1:] - second).max() < 0.05 * np.abs(second).max()
    flight = np.flatnonzero(~clip.schedule.touching[:-1].any(1))[3:-3]
    assert len(flight) > 10
    assert np.median(given[flight, 2]) == pytest.approx(-9.81, abs=0.3)


def test_hinges_turn_about_their_axis_alone() -> None:
    character, motion = synthetic.walk(rate=30, duration=1.0, hinges=True)
    rotations = motion.rotations.copy()
    i = character.index("shank.L")
    rotations[:, i] = rotation.multiply(rotations[:, i], rotation.exp(np.array([0.1, 0.0, 0.05])))
    clip = Clip(Scene(character, replace(motion, rotations=rotations)))
    turn = rotation.log(clip.rotations[:, i])
    assert np.abs(np.cross(turn, character.axes[i])).max() < ROUNDING
    assert np.linalg.norm(clip.residual[:, i], axis=-1).min() > 0.05, "what is off the axis is kept apart"


@pytest.mark.parametrize("name", EVERY)
def test_default_limits_admit_the_clip(name: str) -> None:
    clip = Clip(scene_of(name))
    angles = rotation.log(clip.rotations)
    for i in range(len(clip.character)):
        if clip.character.joints[i] == "hinge":
            angle = rotation.twist_angle(clip.rotations[:, i], clip.character.axes[i])[:, None]
        else:
            angle = angles[:, i]
        n = angle.shape[1]
        assert (angle >= clip.lower[i, :n] - ROUNDING).all() and (angle <= clip.upper[i, :n] + ROUNDING).all()


def test_given_limits_stay_as_given() -> None:
    limits = ((-0.3, -0.4, -0.5), (0.3, 0.4, 0.5))
    character = Character.build([Link("base", tip=(0.0, 0.0, 0.5)),
                                 Link("top", "base", (0.0, 0.0, 0.5), (0.0, 0.0, 0.5), limits=limits)])
    frames = 20
    motion = Motion(np.arange(frames) / 30.0, np.tile([0.0, 0.0, 1.0], (frames, 1)),
                    np.tile(rotation.IDENTITY, (frames, 2, 1)))
    clip = Clip(Scene(character, motion))
    assert np.array_equal(clip.lower[1], limits[0]) and np.array_equal(clip.upper[1], limits[1])


def test_the_calibration_sees_the_whole_motion_whatever_the_range() -> None:
    """A short range must not change where the soles are."""
    character, motion = synthetic.walk(rate=30, duration=3.0)
    whole, part = Clip(Scene(character, motion)), Clip(Scene(character, motion, frames=(10, 20)))
    assert np.array_equal(whole.character.points.position, part.character.points.position)
    assert whole.ground == part.ground


def test_a_controller_starts_on_its_clip() -> None:
    controller = QuasiPhysical(scene_of("walk", frames=(7, 20)))
    state, clip = controller.start(), controller.clip
    assert state.time == pytest.approx(7 / 30.0)
    assert np.array_equal(state.position, clip.positions[0]) and np.array_equal(state.rotations, clip.rotations[0])
    assert np.array_equal(state.velocity, clip.v[0])


def test_time_to_touch_counts_down_to_the_contact() -> None:
    clip = Clip(scene_of("walk", 60))
    touching, until = clip.schedule.touching, clip.schedule.time_to_touch(clip.times)
    assert (until[touching] == 0.0).all()
    for k, p in zip(*np.nonzero(~touching), strict=True):
        ahead = np.flatnonzero(touching[k:, p])
        expected = clip.times[k + ahead[0]] - clip.times[k] if len(ahead) else np.inf
        assert until[k, p] == pytest.approx(expected, abs=ROUNDING)


def test_time_to_lift_counts_down_to_the_end_of_the_contact() -> None:
    clip = Clip(scene_of("walk", 60))
    touching, until = clip.schedule.touching, clip.schedule.time_to_lift(clip.times)
    assert (until[~touching] == 0.0).all()
    for k, p in zip(*np.nonzero(touching), strict=True):
        ahead = np.flatnonzero(~touching[k:, p])
        expected = clip.times[k + ahead[0]] - clip.times[k] if len(ahead) else np.inf
        assert until[k, p] == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize("name", ["walk", "squat", "hop", "trot"])
def test_soles_lie_on_a_mesh_floor_as_on_a_plane(name: str) -> None:
    """A clip made on a floor knows it, whatever the floor is made of: nobody hovers by a guess."""
    floor = TriangleMesh(*terrains.patch((-20.0, -20.0, 0.0), (40.0, 0.0, 0.0), (0.0, 40.0, 0.0)))
    flat, mesh = (Clip(scene_of(name, terrain=terrain)) for terrain in (Plane.level(0.0), floor))
    assert abs(mesh.ground) < ROUNDING
    assert np.abs(flat.character.points.position - mesh.character.points.position).max() < ROUNDING


@pytest.mark.parametrize("height", [-0.3, 0.3])
def test_a_floor_far_from_the_soles_says_nothing_about_them(height: float) -> None:
    floor = TriangleMesh(*terrains.patch((-20.0, -20.0, height), (40.0, 0.0, 0.0), (0.0, 40.0, 0.0)))
    assert Clip(scene_of("walk", terrain=floor)).ground == Clip(scene_of("walk")).ground


def test_rough_ground_says_nothing_about_the_soles() -> None:
    assert Clip(scene_of("walk", terrain=terrains.rough_ground(2))).ground == Clip(scene_of("walk")).ground
