"""Comfort and balance: the paper's experiment, real clips with loads, falls, and what is promised to an animator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.bodies import standing
from solver import ComfortSettings, Load, Motion, Plane, Push, Scene, ZmpComfort, bake, finish
from solver.controllers.zmp_comfort import TRACKING, USUAL
from solver.controllers.zmp_comfort.leaning import Cart
from solver.controllers.zmp_comfort.parts import find_parts
from solver.controllers.zmp_comfort.strength import Strength
from solver.controllers.zmp_comfort.tipping import spin_inertia, tipping_acceleration
from solver.controllers.zmp_comfort.tracking import ferguson, time_to_turn
from solver.model.character import with_strengths
from solver.physics.dynamics import dynamics
from solver.physics.kinematics import forward, place
from solver.physics.shape import shape_of
from solver.physics.skin import skin_points
from solver.physics.support import nearest, support_of, wrench_map, zmp
from solver.physics.tree import Tree
from solver.references.clip import Clip
from tests.clips import shared, synthetic
from tests.clips.shared import needs_clips
from tests.controllers.comfort import ARMS, LEGS, Run, experiment, rolled, squat, weak_back
from tests.tolerances import DIFFERENCE
from tests.worlds import GRAVITY, refusal

ALMOST = np.radians(0.5)     # (a) of the experiment
SEEN = 0.02                  # rad: a deviation that counts as an effect
every_rate = pytest.mark.parametrize(("rate", "substeps"), [(24, 1), (30, 1), (30, 2), (30, 4)],
                                     ids=["24 Hz", "30 Hz", "60 Hz", "120 Hz"])
both_rates = pytest.mark.parametrize("substeps", [1, 2], ids=["30 Hz", "60 Hz"])


# -- the paper's experiment --------------------------------------------------------------------------------------

@both_rates
def test_without_a_load_the_squat_is_almost_untouched(substeps: int) -> None:
    run = experiment(substeps=substeps)
    assert run.off.max() < ALMOST and run.aside.max() < 1e-3
    assert not any(step.acts or step.stress.any() for step in run.steps)


@both_rates
def test_with_8_kg_the_arms_act_and_the_back_is_relieved(substeps: int) -> None:
    run = experiment(8.0, substeps=substeps)
    assert 0.2 < run.deviation(*ARMS).max() < 0.8
    assert run.bend().max() < 0.1, "the back hardly bends"
    assert run.off[-1].max() < 0.02, "and all is over at the end"
    names = run.controller.clip.character.names
    asked = max(step.stress[names.index("spine")] for step in run.steps)
    assert asked > 0.1, "the keys alone would overload the back"
    assert max(step.overload.max() for step in run.steps) < 1e-6, "in the end no joint is overloaded"
    assert {act.part for step in run.steps for act in step.acts} == {"arms"}
    assert {act.bone for step in run.steps for act in step.acts} <= {"spine", "chest"}
    assert run.outside().max() < 1e-3


@both_rates
def test_with_15_kg_the_back_bends_as_well_and_recovers(substeps: int) -> None:
    run, lighter = experiment(15.0, substeps=substeps), experiment(8.0, substeps=substeps)
    assert 0.5 < run.bend().max() < 1.4
    assert run.deviation(*ARMS).max() > 0.8
    assert run.off[-1].max() < 0.05 and run.aside[-1] < 0.01
    upper = [i for i, role in enumerate(run.controller.clip.character.roles)
             if role in ("trunk", "arm", "hand", "neck", "head")]
    assert max(step.overload[upper].max() for step in run.steps) < 1e-6
    assert sum(step.yielding.any() for step in run.steps) > sum(step.yielding.any() for step in lighter.steps)
    assert run.outside().max() < 1e-3


@pytest.mark.parametrize("momentum", [10.0, 16.0, 18.0, 20.0, 22.0])
@every_rate
def test_a_blow_from_the_front_is_absorbed(rate: int, substeps: int, momentum: float) -> None:
    run = experiment(impulse=momentum, substeps=substeps, rate=rate)
    assert not run.controller.is_lost
    assert run.off[-1].max() < 0.01 and run.aside[-1] < 0.01
    outside = run.outside()
    blow = next(k for k, step in enumerate(run.steps) if step.external.any())
    assert np.delete(outside, blow).max() < 1e-3, "balance is kept on the border"
    assert outside[blow] < (1e-3 if rate * substeps <= 30 else 5e-3), "what the ground answers while it lasts"


@every_rate
def test_a_blow_bends_the_back_and_swings_the_arms_alike_at_every_rate(rate: int, substeps: int) -> None:
    run = experiment(impulse=20.0, substeps=substeps, rate=rate)
    assert 0.3 < run.bend().max() < 0.5 and 0.5 < run.deviation(*ARMS).max() < 1.0
    assert any(act.cause == "balance" for step in run.steps for act in step.acts)


@every_rate
def test_a_blow_too_hard_to_absorb_is_so_at_every_rate(rate: int, substeps: int) -> None:
    assert experiment(impulse=28.0, substeps=substeps, rate=rate).controller.is_lost


@pytest.mark.parametrize("load", [8.0, 15.0, 20.0])
@both_rates
def test_arms_come_before_the_back_and_the_back_before_the_legs(load: float, substeps: int) -> None:
    run = experiment(load, substeps=substeps)
    arms, back, legs = (run.first(values, SEEN) for values in (run.deviation(*ARMS), run.bend(), run.deviation(*LEGS)))
    assert arms < len(run.steps) and arms <= back <= legs


@both_rates
def test_a_heavier_load_never_bends_the_back_less(substeps: int) -> None:
    bends = [experiment(load, substeps=substeps).bend().max() for load in (0.0, 8.0, 15.0, 20.0)]
    assert bends == sorted(bends)


def test_feet_stay_planted_whatever_the_load() -> None:
    for case in ((15.0, 0.0), (0.0, 20.0)):
        scene = squat(*case)
        result = finish(bake(scene, ZmpComfort(scene, weak_back())))
        assert (result.slide - result.reference_slide).max() < 1e-4
        assert (result.penetration - result.reference_penetration).max() < 1e-4


def test_tracking_alone_ignores_loads_and_eases_back_after_a_blow() -> None:
    assert rolled(squat(15.0), TRACKING).off.max() < 1e-9, "the cheap mode has no muscles"
    run = rolled(squat(impulse=20.0), TRACKING)
    assert run.off.max() > 0.05 and run.off[-1].max() < 1e-3
    jumps = np.abs(np.diff([step.state.velocity for step in run.steps[2:]], axis=0)).max()
    assert jumps < 1.0, "no pop on the way back"


@both_rates
@pytest.mark.parametrize("kilograms", [0.0, 8.0, 15.0])
def test_the_ground_carries_the_body_and_its_load(kilograms: float, substeps: int) -> None:
    """It stands still at both ends, so that on average nothing but weight presses; the helper does next to nothing."""
    run = experiment(kilograms, substeps=substeps)
    pressed = np.mean([step.forces[:, 2].sum() for step in run.steps])
    weight = 9.81 * (run.controller.clip.character.mass + kilograms)
    assert pressed == pytest.approx(weight, rel=5e-3)
    assert max(np.abs(step.aid[:3]).max() for step in run.steps) < 1e-3 * weight


@pytest.mark.parametrize("kilograms", [8.0, 15.0])
def test_who_puts_a_load_down_is_back_on_the_keys(kilograms: float) -> None:
    character, motion = synthetic.squat(rate=30, duration=4.0)
    loads = (Load("hand.L", 0.5 * kilograms, 0.8, 2.2), Load("hand.R", 0.5 * kilograms, 0.8, 2.2))
    run = rolled(Scene(character, motion, loads=loads, substeps=1), weak_back())
    assert run.off.max() > 0.1 and run.off[-1].max() < 0.02 and run.aside[-1] < 0.005


# -- growing blows -----------------------------------------------------------------------------------------------

def deepest(clip: Clip, motion: Motion) -> float:
    """m under level ground to which any part of the skin gets."""
    skin, depth = skin_points(clip.character), 0.0
    for position, rotations in zip(motion.positions, motion.rotations):
        pose = forward(clip.tree, clip.shape.at(0).offsets, position, rotations)
        depth = max(depth, float((clip.ground + skin.radius - place(pose, skin.link, skin.position)[:, 2]).max()))
    return depth


def lowest(scene: Scene, controller: ZmpComfort) -> float:
    """m under the ground to which any part of the skin gets, over a bake that is kept on the controller."""
    result = finish(bake(scene, controller))
    depth = deepest(controller.clip, result.motion)
    assert np.isfinite(result.motion.rotations).all() and np.isfinite(result.motion.positions).all()
    last = result.motion.positions[-5:]
    if controller.is_lost:
        assert np.abs(np.diff(last, axis=0)).max() < 2e-3, "a fall ends at rest"
        assert result.motion.positions[-1, 2] < 0.6 * scene.motion.positions[-1, 2]
    else:
        assert result.deviation[-1] < 0.02, "what does not fall comes back"
    return depth


def struck(momentum: float, direction: tuple[float, float, float], duration: float = 4.0) -> Scene:
    character, motion = synthetic.squat(rate=30, duration=duration)
    return Scene(character, motion, pushes=(Push.impulse("chest", momentum * np.array(direction), 0.2),))


@pytest.mark.parametrize(("direction", "momenta"), [((-1.0, 0.0, 0.0), (20.0, 60.0, 200.0)),
                                                     ((0.0, 1.0, 0.0), (20.0, 60.0))], ids=["front", "side"])
def test_growing_blows_are_absorbed_and_then_become_a_fall_that_ends_at_rest(direction: tuple, momenta: tuple) -> None:
    lost = []
    for momentum in momenta:
        scene = struck(momentum, direction, 3.0)
        controller = ZmpComfort(scene)
        assert lowest(scene, controller) < 0.005
        lost.append(controller.is_lost)
    assert lost == [False, True, True][:len(momenta)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("direction", [(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0),
                                       (0.7, 0.7, 0.0)])
@pytest.mark.parametrize("momentum", [5.0, 15.0, 25.0, 30.0, 40.0, 80.0, 120.0, 300.0, 600.0])
def test_every_blow_is_absorbed_or_ends_at_rest(momentum: float, direction: tuple) -> None:
    scene = struck(momentum, direction, 7.0)
    assert lowest(scene, ZmpComfort(scene)) < 0.005


def test_who_may_not_fall_is_held_by_the_helper_force() -> None:
    scene = struck(60.0, (-1.0, 0.0, 0.0))
    controller = ZmpComfort(scene, replace(USUAL, use_fall=False))
    result = finish(bake(scene, controller))
    assert not controller.is_lost and result.deviation[-1] < 0.02
    assert result.aid_share.max() > 0.05


def test_the_fall_turns_about_the_nearest_support_point() -> None:
    """After alpha about p* is added, the ground has no moment left to give there."""
    character, motion = synthetic.squat(rate=30, duration=1.0)
    tree, shape = Tree(character), shape_of(character)
    pose = forward(tree, shape.offsets, motion.positions[10], motion.rotations[10])
    state = dynamics(tree, shape, pose, np.zeros(tree.nv), np.zeros(tree.nv), GRAVITY)
    assert state.M is not None
    support = support_of(np.array([[0.0, 0.1, 0.0], [0.0, -0.1, 0.0], [0.05, 0.0, 0.0]]), np.tile([0, 0, 1.0], (3, 1)))
    X = wrench_map(pose.position, pose.R[0], support.centre)
    a = np.zeros(tree.nv)
    a[0] = 3.0
    w = X @ (state.M @ a + state.force)[:6]
    target, is_inside = nearest(support.corners, zmp(support, w))
    assert not is_inside
    pivot = support.lifted(target)
    spin = spin_inertia(state.M, pose.R[0], state.com, pose.position)
    alpha = tipping_acceleration(support, pivot, w, state.com, character.mass, spin)
    a[:3] += np.cross(alpha, pose.position - pivot)
    a[3:6] += alpha @ pose.R[0]
    assert np.abs(zmp(support, X @ (state.M @ a + state.force)[:6]) - target).max() < 1e-9
    assert abs(alpha[2]) < 1e-12, "friction holds the turn about the normal"


@pytest.mark.parametrize(("time", "share"), [(-1.0 / 120.0, 0.5), (-1.0 / 180.0, 2.0 / 3.0), (1.0 - 1.0 / 240.0, 0.25),
                                             (0.5, 1.0)])
def test_a_blow_across_an_end_of_the_range_counts_for_what_lies_within_it(time: float, share: float) -> None:
    character, motion = synthetic.squat(rate=30, duration=1.0)
    run = rolled(Scene(character, motion, pushes=(Push.impulse("chest", (-8.0, 0.0, 0.0), time),)))
    given = sum(step.external[:3] * dt for step, dt in zip(run.steps, run.controller.clip.dt))
    assert given == pytest.approx([-8.0 * share, 0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize("momentum", [(0.0, 10.0, 0.0), (0.0, -20.0, 0.0), (0.0, 40.0, 0.0), (-40.0, 0.0, 0.0)])
def test_a_walk_whose_own_zmp_is_outside_its_feet_comes_back_after_a_blow(momentum: tuple) -> None:
    """As animators key them: balance is not asked for more exactly than the keys have it."""
    character, motion = synthetic.walk(rate=30, duration=5.0)
    run = rolled(Scene(character, motion, pushes=(Push.impulse("chest", momentum, 1.0),)))
    assert not run.controller.is_lost
    assert run.off.max() > 0.1 and run.off[-15:].max() < 0.02 and run.aside[-15:].max() < 0.01


# -- the floor under hands and head ------------------------------------------------------------------------------

@both_rates
def test_hands_that_sink_under_their_load_rest_on_the_floor_and_their_muscles_with_them(substeps: int) -> None:
    scene = squat(20.0, substeps=substeps)
    result = finish(bake(scene, controller := ZmpComfort(scene, weak_back())))
    assert not controller.is_lost and deepest(controller.clip, result.motion) < 1e-3
    assert result.deviation[-1] < 0.05
    upper = [i for i, role in enumerate(controller.clip.character.roles) if role in ("trunk", "arm", "hand", "neck")]
    assert max(found.overload[upper].max() for found in controller.diagnoses.values()) < 1e-6


@pytest.mark.parametrize(("bone", "kilograms"), [("hand.L", 50.0), ("forearm.L", 50.0), ("chest", 200.0),
                                                 ("head", 50.0)])
def test_no_load_draws_a_body_through_the_floor(bone: str, kilograms: float) -> None:
    character, motion = synthetic.squat(rate=30)
    scene = Scene(character, motion, loads=(Load(bone, kilograms),))
    controller = ZmpComfort(scene)
    result = finish(bake(scene, controller))
    assert np.isfinite(result.motion.rotations).all() and deepest(controller.clip, result.motion) < 0.005


# -- identity ----------------------------------------------------------------------------------------------------

QUICK = ("walk_cmu_02_01", "run_cmu_09_01", "pair_stumble_A_cmu_22_12")


@needs_clips
@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.exhaustive)
                                  for name in shared.NAMES])
def test_a_clip_without_load_and_push_comes_back(name: str) -> None:
    character, motion = shared.load(name, 30)
    run = rolled(Scene(character, motion))
    assert run.off.max() < 1e-3 and run.aside.max() < 1e-3


@pytest.mark.parametrize("name", [pytest.param("squat"), pytest.param("hop"), pytest.param("trot"), "ghost", "walk"])
def test_a_breath_of_wind_changes_next_to_nothing(name: str) -> None:
    """Nothing is switched on by a disturbance: what it does grows with it from zero."""
    character, motion = synthetic.CLIPS[name](rate=30, duration=1.2)
    body = "body" if name == "ghost" else "chest"
    run = rolled(Scene(character, motion, pushes=(Push.constant(body, (0.0, 0.05, 0.0), 0.1, 1.0),)))
    assert run.off.max() < 1e-3


# -- real clips with loads ---------------------------------------------------------------------------------------

CARRIED = {"walk": "walk_cmu_02_01", "turn": "walk_turn_left_90_cmu_69_24", "carry": "carry_suitcase_cmu_70_01",
           "turn round": "walk_turn_180_cmu_39_11", "pick up": "squat_pick_up_set_down_cmu_69_70"}


def carried(name: str, kilograms: float, frames: tuple[int, int] | None = None) -> Run:
    character, motion = shared.load(CARRIED[name], 30)
    loads = (Load("LeftHand", 0.5 * kilograms), Load("RightHand", 0.5 * kilograms))
    if frames is not None:
        frames = (frames[0], min(frames[1], len(motion) - 1))
    return rolled(Scene(character, motion, loads=loads, frames=frames))


def strays(run: Run) -> tuple[int, float]:
    """(steps, farthest m) in which the ZMP leaves the feet although the reference's did not."""
    clip, count, farthest = run.controller.clip, 0, 0.0
    for k, step in enumerate(run.steps):
        if not len(step.polygon) or not np.isfinite(step.zmp).all() or not step.contacts.any():
            continue
        feet = support_of(clip.paths[k][step.contacts], np.tile([0.0, 0.0, 1.0], (int(step.contacts.sum()), 1)))
        moment = clip.moment(k)
        X = wrench_map(moment.position, moment.R[0], feet.centre)
        w = X @ run.controller._stance.wrenches[k]
        if w[2] <= 0.0 or not nearest(feet.corners, zmp(feet, w))[1]:
            continue
        far = float(np.linalg.norm(step.zmp - step.nearest))
        if far > 1e-3:
            count, farthest = count + 1, max(farthest, far)
    return count, farthest


def keeps_its_promises(run: Run) -> None:
    """Finite, no fall, and whatever is overloaded is said once per bone."""
    for step in run.steps:
        assert np.isfinite(step.state.rotations).all() and np.isfinite(step.torque).all()
    assert not run.controller.is_lost
    names = run.controller.clip.character.names
    overloaded = {names[i] for step in run.steps for i in np.flatnonzero(step.overload > 0.05)}
    said = {note.bone for note in run.controller.notes if "more strength" in note.sentence}
    assert overloaded == said


@needs_clips
@pytest.mark.parametrize(("name", "kilograms"), [("walk", 30.0), ("turn", 15.0), ("carry", 20.0)])
def test_a_clip_with_a_load_stays_in_balance(name: str, kilograms: float) -> None:
    run = carried(name, kilograms, (0, 75))
    keeps_its_promises(run)
    assert strays(run) == (0, 0.0)


def suitcase(hand: str, kilograms: float, frames: tuple[int, int] | None = None) -> Run:
    character, motion = shared.load(CARRIED["carry"], 30)
    return rolled(Scene(character, motion, loads=(Load(hand, kilograms),), frames=frames))


@needs_clips
def test_who_carries_a_suitcase_leans_away_from_it() -> None:
    runs = {hand: suitcase(hand, 15.0, (30, 110)) for hand in ("LeftHand", "RightHand")}
    clip = runs["LeftHand"].controller.clip
    across = clip.paths[:, 0:4].mean(1) - clip.paths[:, 4:8].mean(1)       # from the right foot to the left
    left = across[:, :2].mean(0) / np.linalg.norm(across[:, :2].mean(0))
    moved = {hand: np.mean([(step.state.position - clip.positions[k + 1])[:2] @ left
                            for k, step in enumerate(run.steps)]) for hand, run in runs.items()}
    assert moved["LeftHand"] < -0.01 and moved["RightHand"] > 0.01
    for run in runs.values():
        keeps_its_promises(run)
        assert strays(run) == (0, 0.0)


@needs_clips
def test_who_takes_up_a_load_leans_before_it_pulls_and_comes_back_after_it() -> None:
    character, motion = shared.load(CARRIED["carry"], 30)
    load = Load("LeftHand", 15.0, start=1.5, end=3.5)
    course = ZmpComfort(Scene(character, motion, loads=(load,), frames=(0, 165))).course
    clip = ZmpComfort(Scene(character, motion, frames=(0, 165))).clip
    lean = np.linalg.norm((course.positions - clip.positions)[:, :2], axis=1)
    at = {when: float(lean[np.searchsorted(clip.times, clip.times[0] + when)]) for when in (0.0, 1.4, 2.5, 5.0)}
    assert at[0.0] == 0.0 and at[1.4] > 2e-3 and at[2.5] > at[1.4] and at[5.0] < 0.2 * at[2.5]


def test_a_cart_moves_before_its_zmp_must() -> None:
    """With a ZMP that must go aside by 3 cm after two seconds."""
    dt = np.full(240, 1.0 / 60.0)
    missing = np.zeros((240, 2))
    missing[120:, 1] = 0.03
    F, m, z = 75.0 * 9.81, 75.0, 0.9
    p = Cart(np.full(240, F), np.ones(240), np.full(240, m * z)).lean(dt, missing)
    moved = p[1:-1] - z / 9.81 * (p[2:] - 2.0 * p[1:-1] + p[:-2]) * 3600.0
    assert np.abs(moved - missing[1:]).max() < 1e-9, "the ZMP is where it should be"
    assert not p[:, 0].any() and p[0, 1] == 0.0
    assert p[120, 1] == pytest.approx(0.015, rel=0.1), "half way when it is time"
    assert (np.diff(p[:, 1]) > -1e-12).all() and p[-1, 1] == pytest.approx(0.03, rel=0.01)


def test_without_a_load_the_course_is_the_keys() -> None:
    controller = ZmpComfort(squat(impulse=20.0))
    assert controller.course.positions is controller.clip.positions
    assert controller.course.rotations is controller.clip.rotations


@needs_clips
@pytest.mark.exhaustive
@pytest.mark.parametrize("kilograms", [5.0, 10.0, 15.0, 20.0, 30.0])
@pytest.mark.parametrize("name", list(CARRIED))
def test_a_whole_clip_with_a_load_stays_in_balance(name: str, kilograms: float) -> None:
    assert strays(carried(name, kilograms)) == (0, 0.0)


@needs_clips
@pytest.mark.exhaustive
@pytest.mark.parametrize("kilograms", [5.0, 10.0, 15.0, 20.0, 30.0])
@pytest.mark.parametrize("hand", ["LeftHand", "RightHand"])
def test_a_suitcase_in_one_hand_is_carried_in_balance(hand: str, kilograms: float) -> None:
    run = suitcase(hand, kilograms)
    keeps_its_promises(run)
    assert strays(run) == (0, 0.0)


@needs_clips
@pytest.mark.exhaustive
@pytest.mark.parametrize("kilograms", [15.0, 30.0])
@pytest.mark.parametrize("name", ["walk", "turn"])
def test_a_load_on_the_back_is_carried_in_balance(name: str, kilograms: float) -> None:
    character, motion = shared.load(CARRIED[name], 30)
    run = rolled(Scene(character, motion, loads=(Load("Spine1", kilograms, point=np.array([0.0, -0.15, 0.1])),)))
    keeps_its_promises(run)
    assert strays(run) == (0, 0.0)


@needs_clips
@pytest.mark.exhaustive
@pytest.mark.parametrize("kilograms", [0.0, 5.0, 10.0, 15.0, 20.0, 30.0])
@pytest.mark.parametrize("name", list(CARRIED))
def test_a_clip_with_any_load_keeps_its_promises(name: str, kilograms: float) -> None:
    keeps_its_promises(carried(name, kilograms))


def test_an_overloaded_bone_is_named_once_with_its_worst_frame() -> None:
    character, motion = synthetic.squat(rate=30)
    run = rolled(Scene(character, motion, loads=(Load("chest", 50.0),), substeps=1))
    said = [note for note in run.controller.notes if note.bone is not None]
    assert len({note.bone for note in said}) == len(said) > 3
    for note in said:
        each = [step.overload[character.index(note.bone)] for step in run.steps]
        assert note.sentence == f"It needs up to {100.0 * max(each):.0f} % more strength than it has."
        assert note.frame == int(np.argmax(each))


def test_a_blow_is_taken_by_bones_and_stops_and_not_blamed_on_muscles() -> None:
    character, motion = synthetic.squat(rate=30)
    scene = Scene(character, motion, pushes=(Push.impulse("chest", (-100.0, 0.0, 0.0), 0.5),))
    result = finish(bake(scene, ZmpComfort(scene)))
    assert not {note.bone for note in result.notes} & {"spine", "chest", "neck", "head"}


def test_every_frame_has_its_diagnosis() -> None:
    scene = squat(8.0)
    controller = ZmpComfort(scene, weak_back())
    finish(bake(scene, controller))
    assert set(controller.diagnoses) == set(range(1, len(scene.motion)))
    hard = max(controller.diagnoses.values(), key=lambda found: found.stress.max())
    assert hard.acts and hard.acts[0].bone in ("spine", "chest") and hard.balance == "kept"
    assert nearest(support_of(hard.polygon, np.tile([0.0, 0.0, 1.0], (len(hard.polygon), 1))).corners,
                   support_of(hard.polygon, np.tile([0.0, 0.0, 1.0], (len(hard.polygon), 1))).flat(hard.zmp))[1]


# -- ground, bodies ----------------------------------------------------------------------------------------------

def test_on_a_slope_the_support_tilts_along() -> None:
    character, motion = synthetic.squat(rate=30, duration=2.0)
    slope = Plane(np.zeros(3), np.array([-np.tan(np.radians(5.0)), 0.0, 1.0]))
    run = rolled(Scene(character, motion, terrain=slope, loads=(Load("hand.L", 4.0), Load("hand.R", 4.0))))
    assert not run.controller.is_lost and run.outside().max() < 2e-3
    normals = [np.linalg.svd(step.polygon - step.polygon.mean(0))[2][2] for step in run.steps if len(step.polygon) > 2]
    assert min(abs(n @ slope.normal) for n in normals) > np.cos(np.radians(1.0))


def test_in_single_support_the_standing_foot_carries() -> None:
    character, motion = synthetic.walk(rate=30, duration=2.0)
    run = rolled(Scene(character, motion, loads=(Load("chest", 10.0),)))
    assert not run.controller.is_lost
    limb = run.controller.clip.character.points.limb
    single = [step for step in run.steps if len(set(limb[step.contacts])) == 1]
    assert len(single) > 10
    assert max(np.nan_to_num(np.linalg.norm(step.zmp - step.nearest)) for step in single) < 0.01


def test_a_quadruped_that_is_pushed_aside_stays_up_and_says_what_it_lacks() -> None:
    character, motion = synthetic.trot(rate=30, duration=2.0)
    run = rolled(Scene(character, motion, pushes=(Push.constant("chest", (0.0, 30.0, 0.0), 0.1, 0.3),)))
    assert np.isfinite(run.off).all() and not run.controller.is_lost and run.off[-1].max() < 0.2
    said = " ".join(note.sentence for note in run.controller.notes)
    assert "no arms" in said and "4 legs" in said
    assert {character.names[i] for i in run.controller.parts.swings} == {"neck1", "tail1"}


def test_a_body_without_arms_uses_what_it_has() -> None:
    character, motion = standing(30, 1.5)
    run = rolled(Scene(character, motion, pushes=(Push.impulse("chest", (-8.0, 0.0, 0.0), 0.2),)))
    assert not run.controller.is_lost and run.off[-1].max() < 0.02
    assert "no arms" in " ".join(note.sentence for note in run.controller.notes)


def test_a_jump_is_a_flight_and_a_push_in_the_air_carries_the_landing_along() -> None:
    character, motion = synthetic.hop(rate=60, duration=2.2)
    run = rolled(Scene(character, motion, pushes=(Push.constant("pelvis", (120.0, 0.0, 0.0), 0.85, 0.15),)))
    phases = [step.balance for step in run.steps]
    assert "flight" in phases and np.isfinite(run.off).all()
    clip = run.controller.clip
    flights = [k for k, phase in enumerate(phases) if phase == "flight"]
    k = flights[-1]
    ahead = (run.steps[k].state.position - clip.positions[k + 1])[0]
    assert ahead > 0.005, "what was pushed in the air flies farther"
    # in the air the helper gives nothing beyond what it gives the keys
    assert np.abs(run.steps[k].aid[:3] - clip.moment(k).torque[:3]).max() < 0.05 * run.controller._stance.weight


@pytest.mark.parametrize("disturbed", [{"loads": (Load("hand.L", 10.0),)},
                                       {"loads": (Load("hand.L", 30.0, 0.9, 1.0, fade=0.0),)},
                                       {"pushes": (Push.impulse("chest", (0.0, 15.0, 5.0), 0.9),)}],
                         ids=["load", "load in the air", "blow"])
def test_in_the_air_momentum_stays_whatever_joints_do(disturbed: dict) -> None:
    """The helper gives no more than it gives the keys, also where these have landed and the body has not."""
    character, motion = synthetic.hop(rate=30, duration=2.2)
    run = rolled(Scene(character, motion, **disturbed))
    clip, weight = run.controller.clip, run.controller._stance.weight
    off = [step.aid - clip.moment(k).torque[:6] for k, step in enumerate(run.steps)
           if step.balance == "flight" and not step.external.any()]     # a blow changes velocities within its step
    assert len(off) > 10 and np.abs(off).max() < 1e-6 * weight
    assert np.isfinite(run.off).all()


def test_parts_are_found_by_shape_and_may_be_told() -> None:
    character = synthetic.humanoid()
    parts = find_parts(Tree(character), {})
    names = character.names
    assert [names[i] for i in parts.back] == ["spine", "chest"]
    assert [names[i] for i in parts.swings] == ["upperarm.L", "upperarm.R"]
    assert [names[leg[2]] for leg in parts.legs] == ["foot.L", "foot.R"]
    assert np.allclose(parts.ahead, [1.0, 0.0, 0.0]) and np.allclose(parts.left, [0.0, 1.0, 0.0])
    told = find_parts(Tree(character), {"chest": "none", "neck": "arm", "upperarm.L": "none"})
    assert [names[i] for i in told.back] == ["spine"]
    assert [names[i] for i in told.swings] == ["neck", "upperarm.R"]
    with refusal("no bone", "nobody"):
        find_parts(Tree(character), {"nobody": "arm"})


@needs_clips
def test_collar_bones_are_not_shoulders() -> None:
    character, _ = shared.load("walk", 30)
    parts = find_parts(Tree(character), {})
    assert [character.names[i] for i in parts.swings] == ["LeftArm", "RightArm"]
    assert [character.names[i] for i in parts.back] == ["LowerBack", "Spine", "Spine1"]


# -- strength, tracking, dials -----------------------------------------------------------------------------------

def strength(character, settings: ComfortSettings = USUAL) -> Strength:
    tree = Tree(character)
    return Strength(tree, find_parts(tree, {}), settings)


def test_strength_grows_with_the_body_and_is_editable_per_bone() -> None:
    person, giant = synthetic.humanoid(), synthetic.humanoid(mass=150.0)
    at = 6 + 3 * (person.index("spine") - 1)
    usual = strength(person)
    assert usual.lowest[at] == pytest.approx(-250.0, rel=0.02), "it holds a back up more strongly than it bends it"
    assert usual.highest[at] == pytest.approx(150.0, rel=0.02)
    assert strength(giant).highest[at] == pytest.approx(2.0 * usual.highest[at])
    assert strength(with_strengths(person, {"spine": 6.0})).highest[at] == pytest.approx(2.0 * usual.highest[at])
    edited = strength(person, ComfortSettings(joint_strength={"spine": 0.5}, joint_torque={"chest": 40.0}))
    assert edited.highest[at] == pytest.approx(0.5 * usual.highest[at])
    assert edited.highest[at + 3] == 40.0 and edited.lowest[at + 3] == -40.0


def test_muscles_are_weaker_far_bent_and_when_they_shorten_fast() -> None:
    person = synthetic.humanoid()
    limits, still = strength(person), np.zeros(Tree(person).nv)
    rest = np.tile([1.0, 0.0, 0.0, 0.0], (len(person), 1))
    bent = rest.copy()
    bent[person.index("spine")] = [np.cos(0.6), 0.0, np.sin(0.6), 0.0]
    at = 6 + 3 * (person.index("spine") - 1)
    middle = limits.limits(rest, still)[1][at]
    assert limits.limits(bent, still)[1][at] < middle
    fast = still.copy()
    fast[at] = 5.0
    assert limits.limits(rest, fast)[1][at] < middle, "shortening"
    assert limits.limits(rest, -fast)[1][at] > middle, "lengthening"
    assert limits.limits(rest, fast)[0][at] < limits.limits(rest, still)[0][at], "the other way round below zero"
    plain = strength(person, ComfortSettings(use_curves=False))
    assert plain.limits(bent, fast)[1][at] == plain.highest[at]


def test_the_ferguson_curve_starts_with_its_second_derivative() -> None:
    x, v, x_t, v_t, T = (np.array([value]) for value in (0.3, -1.2, 0.9, 0.4, 0.5))

    def curve(t: float) -> np.ndarray:
        s = t / T
        return ((2 * s**3 - 3 * s**2 + 1) * x + (-2 * s**3 + 3 * s**2) * x_t + T * (s**3 - 2 * s**2 + s) * v
                + T * (s**3 - s**2) * v_t)

    h = 1e-4
    second = (curve(h) - 2.0 * curve(0.0) + curve(-h)) / h**2
    assert np.abs(second - ferguson(x, v, x_t, v_t, float(T[0]))).max() < DIFFERENCE * 100.0
    assert curve(float(T[0])) == pytest.approx(x_t) and (curve(h) - curve(-h)) / (2 * h) == pytest.approx(v, abs=1e-4)


def test_the_target_is_the_next_turn_that_is_far_enough_away() -> None:
    times = np.arange(0.0, 3.0, 0.01)
    speed = np.abs(np.sin(np.pi * times))[:, None]       # still at 0, 1, 2
    ahead = time_to_turn(times, speed, 0.2, 5.0)[:, 0]
    assert ahead[50] == pytest.approx(0.5) and ahead[90] == pytest.approx(1.1), "one that is too near is skipped"
    assert ahead[-1] == 5.0 and time_to_turn(times, speed, 0.2, 0.5)[10, 0] == 0.5


def test_dials_out_of_range_are_refused() -> None:
    with refusal("arm_swing", "rad/s2"):
        ComfortSettings(arm_swing=-1.0)
    with refusal("spine", "positive"):
        ComfortSettings(joint_strength={"spine": 0.0})
    with refusal("wing", "arm, back, none"):
        ComfortSettings(parts={"chest": "wing"})
