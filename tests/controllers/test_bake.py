"""The clock: a generator that can be cancelled, a range that is kept to, and a result one can rely on."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from solver import (
    ContactOverride,
    InputError,
    Load,
    Motion,
    Moving,
    Plane,
    Progress,
    Push,
    QuasiPhysical,
    Result,
    Scene,
    Settings,
    bake,
    finish,
)
from solver.numerics import rotation
from solver.physics.shape import shape_of
from solver.physics.trajectory import com_path, point_paths
from tests import terrains
from tests.clips import shared, synthetic
from tests.clips.shared import needs_clips
from tests.controllers.pushed import is_finite
from tests.tolerances import ROUNDING
from tests.worlds import refusal

PUSH = Push.constant("chest", (0.0, 300.0, 0.0), 0.4, 0.2)


def scene(rate: float = 30.0, duration: float = 1.5, **more: object) -> Scene:
    character, motion = synthetic.walk(rate=rate, duration=duration)
    return Scene(character, motion, **({"pushes": (PUSH,)} | more))  # type: ignore[arg-type]


def turned(result: Result, motion: Motion) -> np.ndarray:
    """(F, N) rad between the result and the keys."""
    return np.linalg.norm(rotation.subtract(result.motion.rotations, motion.rotations), axis=-1)


# The generator


def test_a_bake_reports_every_frame() -> None:
    world = scene(frames=(4, 20))
    job, seen = bake(world), []
    while True:
        try:
            seen.append(next(job))
        except StopIteration as end:
            assert isinstance(end.value, Result)
            break
    assert seen == [Progress(4 + n, n + 1, 17) for n in range(17)]


@pytest.mark.parametrize("after", [0, 1, 10])
def test_a_cancelled_bake_leaves_everything_as_it_was(after: int) -> None:
    world = scene()
    before = [world.motion.positions.copy(), world.motion.rotations.copy(), world.character.masses.copy()]
    job = bake(world)
    for _ in range(after):
        next(job)
    job.close()
    for was, now in zip(before, (world.motion.positions, world.motion.rotations, world.character.masses), strict=True):
        assert np.array_equal(was, now)
    with pytest.raises(StopIteration):
        next(job)
    again, fresh = finish(bake(world)), finish(bake(scene()))
    assert np.array_equal(again.motion.rotations, fresh.motion.rotations), "the cancelled bake left a trace"


def test_a_bake_does_not_touch_its_scene() -> None:
    world = scene(loads=(Load("hand.L", 3.0),))
    before = {field.name: getattr(world, field.name) for field in fields(world)}
    rotations = world.motion.rotations.copy()
    finish(bake(world))
    assert all(getattr(world, name) is value for name, value in before.items())
    assert np.array_equal(world.motion.rotations, rotations)


def test_two_bakes_side_by_side_do_not_disturb_each_other() -> None:
    world = scene(duration=1.0)
    alone = finish(bake(world))
    first, second = bake(world), bake(world)
    for _ in range(12):
        next(first)
    for _ in range(5):
        next(second)
    assert np.array_equal(finish(first).motion.rotations, alone.motion.rotations)
    assert np.array_equal(finish(second).motion.rotations, alone.motion.rotations)


@pytest.mark.parametrize("wrong", [0.0, np.nan, np.inf, "firm", None])
def test_a_dial_beyond_its_bounds_is_refused(wrong: Any) -> None:
    with refusal("stiffness", "Settings", "0.2 to 5"):
        Settings(stiffness=wrong)


def test_the_default_controller_is_the_natural_dial() -> None:
    world = scene(duration=1.0)
    assert np.array_equal(finish(bake(world)).motion.rotations,
                          finish(bake(world, QuasiPhysical(world, Settings()))).motion.rotations)


# The range


@pytest.mark.parametrize("frames", [(5, 30), (0, 20), (20, 45), (12, 13)])
def test_frames_outside_the_range_stay_bit_for_bit(frames: tuple[int, int]) -> None:
    world = scene(frames=frames)
    result = finish(bake(world))
    outside = np.ones(len(world.motion), dtype=bool)
    outside[frames[0]:frames[1] + 1] = False
    assert np.array_equal(result.motion.rotations[outside], world.motion.rotations[outside])
    assert np.array_equal(result.motion.positions[outside], world.motion.positions[outside])
    for values in (result.deviation, result.forces, result.torques, result.aid, result.contacts):
        assert not values[outside].any()


def test_a_bake_starts_on_the_keys_even_in_the_middle_of_a_push() -> None:
    world = scene(frames=(15, 40))
    result = finish(bake(world))
    assert result.deviation[15] <= 1e-8 and result.deviation.max() > 0.02


@pytest.mark.parametrize("ease", [(0.2, 0.2), (0.3, 0.0), (0.0, 0.3), (0.6, 0.6)])
def test_eased_ends_meet_the_keys_without_a_jump(ease: tuple[float, float]) -> None:
    world = scene(frames=(10, 25), ease=ease)
    free = turned(finish(bake(replace(world, ease=(0.0, 0.0)))), world.motion)
    result = finish(bake(world))
    eased = turned(result, world.motion)
    assert free[25].max() > 0.02, "without ease the end would jump"
    for frame, seconds in zip((10, 25), ease, strict=True):
        if seconds:
            assert eased[frame].max() <= ROUNDING
            assert np.abs(result.motion.positions - world.motion.positions)[frame].max() <= ROUNDING
    if ease[1]:
        assert eased[24].max() < 0.1 * free[24].max(), "it ends smoothly, not in the last frame"
    assert (eased <= free + 1e-9).all()


def test_without_an_amount_the_keys_stay() -> None:
    world = scene(amount=((0.0, 0.0),))
    result = finish(bake(world))
    assert np.array_equal(result.motion.rotations, world.motion.rotations)
    assert np.array_equal(result.motion.positions, world.motion.positions)
    assert result.deviation.max() < 1e-15  # of two equal quaternions


def test_with_everything_masked_the_keys_stay() -> None:
    world = scene()
    world = replace(world, mask={name: 0.0 for name in world.character.names})
    result = finish(bake(world))
    assert np.array_equal(result.motion.rotations, world.motion.rotations)
    assert np.array_equal(result.motion.positions, world.motion.positions)


def test_half_an_amount_is_half_the_way() -> None:
    world = scene()
    whole, half = finish(bake(world)), finish(bake(replace(world, amount=((0.0, 0.5),))))
    full, part = turned(whole, world.motion), turned(half, world.motion)
    assert np.abs(part - 0.5 * full).max() < 1e-9
    step = (whole.motion.positions - world.motion.positions) - 2.0 * (half.motion.positions - world.motion.positions)
    assert np.abs(step).max() < 1e-9


def test_the_amount_follows_its_keys() -> None:
    world = scene(amount=((0.0, 1.0), (0.6, 1.0), (0.9, 0.0)))
    result = finish(bake(world))
    late = world.motion.times >= 0.9 - 1e-9
    assert np.array_equal(result.motion.rotations[late], world.motion.rotations[late])
    assert turned(result, world.motion)[~late].max() > 0.02


def test_a_masked_limb_keeps_its_keys_and_the_rest_moves() -> None:
    world = scene(mask={"upperarm.L": 0.0, "head": 0.0})
    result, free = turned(finish(bake(world)), world.motion), turned(finish(bake(scene())), world.motion)
    masked = [world.character.index(name) for name in ("upperarm.L", "head")]
    others = np.setdiff1d(np.arange(len(world.character)), masked)
    assert result[:, masked].max() < 1e-15  # of two equal quaternions
    assert np.abs(result[:, others] - free[:, others]).max() < ROUNDING


# The clock


def test_uneven_frames_are_simulated() -> None:
    character, motion = synthetic.walk(rate=60, duration=1.5)
    times = np.concatenate((np.linspace(0.0, 0.5, 8), np.linspace(0.52, 0.9, 30), [1.0, 1.25, 1.5]))
    world = Scene(character, motion.resampled(times), pushes=(PUSH,))
    result = finish(bake(world))
    even = finish(bake(scene(rate=60)))
    assert is_finite(result)
    assert np.array_equal(result.motion.times, times)
    assert result.deviation.max() == pytest.approx(even.deviation.max(), rel=0.3)
    assert result.deviation[times < 0.4].max() <= 1e-8


@pytest.mark.parametrize("start", [-3.0, 100.0])
def test_the_clock_may_start_anywhere(start: float) -> None:
    world = scene(duration=1.0)
    moved = replace(world, motion=replace(world.motion, times=world.motion.times + start),
                    pushes=(replace(PUSH, times=PUSH.times + start),))
    assert np.abs(finish(bake(moved)).motion.rotations - finish(bake(world)).motion.rotations).max() < 1e-6


def test_more_sub_steps_change_little() -> None:
    coarse, fine = (finish(bake(scene(substeps=n))).deviation for n in (2, 8))
    assert np.abs(coarse - fine).max() < 0.3 * fine.max()


# Contacts that the animator knows better


def limb_points(result: Result, name: str) -> np.ndarray:
    return np.array([limb == name for limb in result.limbs])


@pytest.mark.parametrize("pushes", [(), (PUSH,)], ids=["undisturbed", "pushed"])
def test_a_contact_that_is_off_carries_nothing(pushes: tuple[Push, ...]) -> None:
    world = scene(pushes=pushes, contacts=(ContactOverride("foot.L", 0.2, 0.6, "off"),))
    free, result = finish(bake(scene(pushes=pushes))), finish(bake(world))
    foot = limb_points(result, "foot.L")
    during = (world.motion.times > 0.25) & (world.motion.times < 0.55)
    assert free.forces[during][:, foot].max() > 100.0, "the foot carried"
    assert np.abs(result.forces[during][:, foot]).max() < 1e-6
    assert not result.contacts[during][:, foot].any()
    if not pushes:
        assert result.deviation.max() <= 1e-8, "contacts are no disturbance"


def test_a_contact_that_is_on_carries() -> None:
    """The left foot swings from 0.65 to 1.05 s."""
    world = scene(pushes=(), contacts=(ContactOverride("foot.L", 0.7, 1.0, "on"),))
    free, result = finish(bake(scene(pushes=()))), finish(bake(world))
    foot = limb_points(result, "foot.L")
    during = (world.motion.times > 0.75) & (world.motion.times < 0.95)
    assert not free.contacts[during][:, foot].any(), "the foot was in the air"
    assert result.contacts[during][:, foot].all()
    assert result.deviation.max() <= 1e-8


def test_auto_is_as_if_nothing_were_said() -> None:
    said = finish(bake(scene(contacts=(ContactOverride("foot.L", 0.0, 1.5, "auto"),))))
    assert np.array_equal(said.motion.rotations, finish(bake(scene())).motion.rotations)


def test_a_sliding_contact_carries_but_may_move() -> None:
    """Both feet of a squat on a push that would not move planted ones."""
    character, motion = synthetic.squat(rate=30, duration=1.5)
    push = (Push.constant("pelvis", (0.0, 250.0, 0.0), 0.4, 0.2),)
    results, soles = [], []
    for mode in ("on", "slide"):
        world = Scene(character, motion, pushes=push,
                      contacts=tuple(ContactOverride(f"foot.{side}", 0.0, 9.0, mode) for side in "LR"))
        controller = QuasiPhysical(world)
        result = finish(bake(world, controller))
        points, tree = controller.clip.character.points, controller.clip.tree
        paths = point_paths(tree, shape_of(character), result.motion, points.link, points.position)
        feet = points.of_kind("foot")
        soles.append(np.linalg.norm(np.diff(paths[:, feet, :2], axis=0), axis=-1).max())
        results.append(result)
    assert results[1].contacts[3:].any(1).all() and results[1].forces[3:, :, 2].sum(1).min() > 0.0
    assert soles[0] < 0.002, "planted"
    assert soles[1] > 2.0 * soles[0], "free to slide"
    assert results[1].slide.max() == 0.0, "a slide that was asked for is no fault"


def test_an_unknown_limb_is_refused_and_the_known_ones_are_named() -> None:
    with refusal("foot.X"):
        world = scene(contacts=(ContactOverride("foot.X", 0.2, 0.6, "off"),))
        finish(bake(world))


# The result


def test_the_results_arrays_have_their_shapes() -> None:
    world = scene(frames=(5, 30))
    controller = QuasiPhysical(world)
    result = finish(bake(world, controller))
    F, P, nv = len(world.motion), len(controller.clip.character.points), controller.clip.tree.nv
    shapes = {"contacts": (F, P), "forces": (F, P, 3), "torques": (F, nv), "aid": (F, 6), "reference_aid": (F, 6),
              "com": (F, 3), "zmp": (F, 3), "margin": (F,), "deviation": (F,), "slide": (F,), "reference_slide": (F,),
              "penetration": (F,), "reference_penetration": (F,), "aid_share": (F,)}
    for name, shape in shapes.items():
        assert getattr(result, name).shape == shape, name
    assert result.motion.rotations.shape == world.motion.rotations.shape
    assert len(result.limbs) == P
    assert result.body_weight == pytest.approx(9.81 * world.character.mass)


def test_the_results_diagnostics_are_those_of_its_motion() -> None:
    world = scene(terrain=Plane.level(0.0))
    controller = QuasiPhysical(world)
    result = finish(bake(world, controller))
    character, tree = controller.clip.character, controller.clip.tree
    shape = shape_of(character)
    assert np.abs(result.com - com_path(tree, shape, result.motion)).max() < 1e-9
    assert np.abs(result.deviation - turned(result, world.motion).max(1)).max() < 1e-9
    for motion, depth in ((result.motion, result.penetration), (world.motion, result.reference_penetration)):
        paths = point_paths(tree, shape, motion, character.points.link, character.points.position)
        assert np.abs(depth - np.maximum(0.0, -paths[..., 2].min(1))).max() < 1e-9
    paths = point_paths(tree, shape, result.motion, character.points.link, character.points.position)
    moved = np.linalg.norm(np.diff(paths[..., :2], axis=0), axis=-1)
    both = result.contacts[1:] & result.contacts[:-1]
    assert (result.slide[1:] <= np.where(both, moved, 0.0).max(1) + 1e-9).all()


def test_feet_slide_over_the_ground_and_not_over_the_world() -> None:
    """Feet that stand still in the keys slide over a platform by what it moves; the result goes along with it."""
    speed, rate = np.array([0.0, 0.25, 0.0]), 30.0
    character, motion = synthetic.squat(rate=rate, duration=1.5)
    ends = motion.times[[0, -1]]
    platform = Moving(Plane.level(0.0), ends, ends[:, None] * speed)
    result = finish(bake(Scene(character, motion, terrain=platform)))
    step = speed[1] / rate
    assert np.abs(result.reference_slide[3:] - step).max() < 1e-3 * step
    assert np.abs(np.diff(result.motion.positions[10:, 1]) - step).max() < 0.3 * step, "it is carried along"
    assert result.slide.max() < 0.05 * step


def test_an_undisturbed_result_reports_the_references_own_help() -> None:
    result = finish(bake(scene(pushes=())))
    assert np.abs(result.aid - result.reference_aid).max() < 1e-6 * result.body_weight
    assert (result.slide - result.reference_slide).max() < 1e-8
    assert (result.penetration - result.reference_penetration).max() < 1e-8


def test_standing_still_the_zmp_is_under_the_centre_of_mass() -> None:
    character, motion = synthetic.squat(rate=30, duration=0.4)
    still = Motion(np.arange(20) / 30.0, np.repeat(motion.positions[:1], 20, 0), np.repeat(motion.rotations[:1], 20, 0))
    result = finish(bake(Scene(character, still)))
    assert np.abs(result.zmp[1:, :2] - result.com[1:, :2]).max() < 1e-6
    assert (result.margin[1:] > 0.02).all(), "well inside the feet"
    assert result.forces[1:, :, 2].sum(1) == pytest.approx(result.body_weight, rel=1e-4)


def test_in_flight_there_is_no_zmp() -> None:
    character, motion = synthetic.hop(rate=60, duration=2.5)
    result = finish(bake(Scene(character, motion)))
    air = ~result.contacts[1:].any(1)
    assert air.sum() > 10
    assert np.isnan(result.margin[1:][air]).all()
    assert np.isfinite(result.margin[1:][~air]).any()


@needs_clips
def test_who_hangs_from_a_bar_that_is_not_there_is_told() -> None:
    character, motion = shared.load("swing_on_bar", 30)
    result = finish(bake(Scene(character, motion, frames=(0, 90))))
    assert any("Nothing touches the ground" in note.sentence for note in result.notes)
    note = next(note for note in result.notes if "Nothing touches" in note.sentence)
    assert note.frame is not None and 0 <= note.frame <= 90
    assert result.aid_share[10:80].mean() > 0.3, "the helper carries"


def test_a_quiet_bake_has_no_notes() -> None:
    assert finish(bake(scene(pushes=()))).notes == ()


@pytest.mark.parametrize(("newtons", "hangs"), [(300.0, False), (20_000.0, True)])
def test_feet_that_leave_the_ground_they_should_stand_on_are_told(newtons: float, hangs: bool) -> None:
    hit = Push.constant("chest", (0.0, newtons, newtons), 0.4, 0.2)
    result = finish(bake(scene(duration=3.0, pushes=(hit,))))
    assert any("off the ground on which it should stand" in note.sentence for note in result.notes) == hangs


def test_keys_over_lower_ground_do_not_hang() -> None:
    result = finish(bake(scene(duration=3.0, pushes=(), terrain=terrains.stairs(-0.3), amount=((0.0, 0.0),))))
    assert not any("off the ground" in note.sentence for note in result.notes)


@pytest.mark.parametrize("frames", [(0, 1), (3, 4)])
def test_two_frames_are_enough(frames: tuple[int, int]) -> None:
    result = finish(bake(scene(frames=frames)))
    assert is_finite(result)


def test_a_motion_of_two_frames_is_enough() -> None:
    character, motion = synthetic.walk(rate=30, duration=1.0)
    result = finish(bake(Scene(character, motion.part(0, 2), pushes=(PUSH,))))
    assert is_finite(result)


def test_a_controller_used_twice_gives_the_same_numbers() -> None:
    character, motion = synthetic.walk(rate=30, duration=2.0)
    world = Scene(character, motion, pushes=(Push.constant("chest", (0.0, 200.0, 0.0), 0.5, 0.2),))
    controller = QuasiPhysical(world)
    once, again = finish(bake(world, controller)), finish(bake(world, controller))
    np.testing.assert_array_equal(once.motion.rotations, again.motion.rotations)
    assert once.notes == again.notes


def test_a_controller_of_another_scene_is_refused() -> None:
    character, motion = synthetic.walk(rate=30, duration=1.0)
    one, other = Scene(character, motion), Scene(character, motion)
    with pytest.raises(InputError, match="another scene"):
        finish(bake(one, QuasiPhysical(other)))


def test_in_flight_a_push_moves_the_body_as_it_would_a_stone() -> None:
    """J / m until it lands, without a helper."""
    character, motion = synthetic.hop(rate=60, duration=3.0)
    blow = Push.impulse("chest", (0.0, 20.0, 0.0), 0.80)
    result = finish(bake(Scene(character, motion, pushes=(blow,))))
    air = slice(50, 66)  # in the air from 0.75 to 1.15 s
    assert not result.contacts[air].any()
    drift = 60.0 * np.diff(result.com[air, 1])
    np.testing.assert_allclose(drift, 20.0 / character.mass, rtol=0.05)
    assert np.abs(result.aid[air, 1] - result.reference_aid[air, 1]).max() < 1.0


def test_who_carries_more_yields_less() -> None:
    """Twice the mass, half the way."""
    character, motion = synthetic.squat(rate=30, duration=4.0)
    push = Push.constant("pelvis", (0.0, 300.0, 0.0), 1.5, 0.2)
    ways = [np.abs(result.com[45:, 1] - result.com[40, 1]).max() for load in (0.0, 75.0)
            for result in [finish(bake(Scene(character, motion, pushes=(push,), loads=(Load("pelvis", load),))))]]
    assert 0.4 < ways[1] / ways[0] < 0.65


def test_the_first_frame_stands_on_the_ground_like_the_next() -> None:
    character, motion = synthetic.squat(rate=30, duration=1.0)
    result = finish(bake(Scene(character, motion)))
    np.testing.assert_array_equal(result.contacts[0], result.contacts[1])
    np.testing.assert_allclose(result.forces[0].sum(0), result.forces[1].sum(0), atol=0.05 * result.body_weight)


def test_what_is_most_likely_not_meant_is_said() -> None:
    character, motion = synthetic.walk(rate=30, duration=2.0)
    late = Push.constant("chest", (0.0, 200.0, 0.0), 5.0, 0.2)
    notes = finish(bake(Scene(character, motion, pushes=(late,)))).notes
    assert any("outside the frame range" in note.sentence for note in notes)
    early = Push.constant("chest", (0.0, 400.0, 0.0), 0.7, 0.2)
    notes = finish(bake(Scene(character, motion, pushes=iter((early,)), frames=(5, 30)))).notes
    assert any("Ease out" in note.sentence for note in notes)


def test_frames_too_close_or_too_far_apart_are_refused() -> None:
    character, motion = synthetic.walk(rate=30, duration=1.0)
    close, far = motion.times.copy(), motion.times.copy()
    close[10] = close[9] + 1e-9
    far[10:] += 1e7
    with pytest.raises(InputError, match="since the frame before"):
        Scene(character, replace(motion, times=close))
    with pytest.raises(InputError, match="sub-steps"):
        finish(bake(Scene(character, replace(motion, times=far))))


@needs_clips
@pytest.mark.parametrize("bone", ["RightToeBase", "RightFoot"])
def test_limits_of_the_rig_are_kept_under_a_push(bone: str) -> None:
    character, motion = shared.load("walk_cmu_02_01", 30)
    i = character.index(bone)
    n = 1 if character.joints[i] == "hinge" else 3

    def angles(rotations: np.ndarray) -> np.ndarray:
        return rotation.twist_angle(rotations[:, i], character.axes[i])[:, None] if n == 1 \
            else rotation.log(rotations[:, i])

    r = angles(motion.rotations)
    lower, upper, given = character.lower.copy(), character.upper.copy(), character.limits_given.copy()
    lower[i, :n], upper[i, :n], given[i] = r.min(0), r.max(0), True
    limited = replace(character, lower=lower, upper=upper, limits_given=given)
    push = Push.constant("Spine1", (0.0, 600.0, 0.0), 0.5, 0.2)
    turned = angles(finish(bake(Scene(limited, motion, pushes=(push,)))).motion.rotations)
    assert np.maximum(r.min(0) - turned, turned - r.max(0)).max() < 1e-3
