"""Pushes deliver their momentum at any frame rate, loads fade, and a scene refuses what contradicts itself."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from solver.model.character import Character, ContactPoints, Limb, Link
from solver.model.motion import Motion, uniform_times
from solver.model.scene import BLOW, ContactOverride, Goal, Load, Push, Scene
from solver.numerics import rotation
from tests.tolerances import ROUNDING
from tests.worlds import biped, humanoid, refusal, still

FORCE = np.array([30.0, -200.0, 7.0])

# every kind of push, with the momentum it has to deliver
PUSHES: dict[str, tuple[Push, np.ndarray]] = {
    "constant": (Push.constant("chest", FORCE, 0.1, 0.2), 0.2 * FORCE),
    "constant, on the grid": (Push.constant("chest", FORCE, 0.5, 0.25), 0.25 * FORCE),
    "ramped": (Push.ramped("chest", FORCE, 0.137, 0.4, 0.1), 0.3 * FORCE),
    "ramped all the way": (Push.ramped("chest", FORCE, 0.125, 0.5, 0.25), 0.25 * FORCE),
    "keyed": (Push.keyed("chest", [0.1, 0.2, 0.5, 0.55], [0 * FORCE, FORCE, 0.5 * FORCE, 0 * FORCE]), 0.2875 * FORCE),
    "keyed with a step": (Push.keyed("chest", [0.1, 0.3, 0.3, 0.6], [FORCE, FORCE, -FORCE, 0 * FORCE]), 0.05 * FORCE),
    "keyed with steps at both ends": (Push.keyed("chest", [0.2, 0.6], [FORCE, 3.0 * FORCE]), 0.8 * FORCE),
    "impulse": (Push.impulse("chest", FORCE, 0.333), FORCE),
}  # fmt: skip


# --- pushes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [7.3, 24.0, 25.0, 30.0, 50.0, 60.0, 120.0, 240.0, 1000.0])
@pytest.mark.parametrize("name", PUSHES)
def test_momentum_delivered_does_not_depend_on_the_step(name: str, rate: float) -> None:
    push, momentum = PUSHES[name]
    times = np.arange(int(1.5 * rate) + 1) / rate
    given = sum(push.mean_force(a, b) * (b - a) for a, b in pairwise(times))
    assert np.abs(given - momentum).max() < ROUNDING * np.abs(FORCE).max()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", PUSHES)
def test_momentum_is_the_same_in_steps_of_any_length(name: str, seed: int) -> None:
    push, momentum = PUSHES[name]
    edges = np.sort(np.concatenate(([0.0, 1.5], push.times, np.random.default_rng(seed).uniform(0.0, 1.5, 40))))
    given = sum(push.mean_force(a, b) * (b - a) for a, b in pairwise(edges) if b > a)
    assert np.abs(given - momentum).max() < ROUNDING * np.abs(FORCE).max()


@pytest.mark.parametrize("name", PUSHES)
def test_before_and_after_a_push_there_is_no_force(name: str) -> None:
    push, _ = PUSHES[name]
    for a, b in ((-1.0, push.times[0]), (push.times[-1], push.times[-1] + 1.0), (-2.0, -1.0), (5.0, 6.0)):
        np.testing.assert_array_equal(push.mean_force(a, b), np.zeros(3))


def test_within_a_constant_push_the_mean_is_the_force() -> None:
    np.testing.assert_allclose(PUSHES["constant"][0].mean_force(0.15, 0.2), FORCE, rtol=ROUNDING)


def test_within_a_ramp_the_mean_is_the_middle() -> None:
    push = Push.ramped("chest", FORCE, 1.0, 2.0, 1.0)
    np.testing.assert_allclose(push.mean_force(1.0, 1.5), 0.25 * FORCE, rtol=1e-12)
    np.testing.assert_allclose(push.mean_force(2.5, 3.0), 0.25 * FORCE, rtol=1e-12)


def test_a_blow_is_short() -> None:
    push = Push.impulse("chest", FORCE, 2.0)
    assert push.times[0] == 2.0 and np.ptp(push.times) == pytest.approx(BLOW)


def test_a_push_may_be_all_ramp() -> None:
    for n in range(1, 200):  # ramp = half the length: rounding must not turn the two middle keys around
        push = Push.ramped("chest", FORCE, 0.01 * n, 0.21, 0.105)
        assert np.abs(push.mean_force(0.0, 10.0) * 10.0 - 0.105 * FORCE).max() < 1e-9


def test_the_place_of_a_push_travels_along() -> None:
    push = Push.constant("chest", FORCE, 0.0, 1.0, point=(0.1, 0.2, 0.3), frame="body")
    np.testing.assert_array_equal(push.point, [0.1, 0.2, 0.3])
    assert push.frame == "body"


BAD_PUSHES: dict[str, Callable[[], Any]] = {
    "no length": lambda: Push.constant("chest", FORCE, 0.0, 0.0),
    "negative length": lambda: Push.constant("chest", FORCE, 0.0, -1.0),
    "endless": lambda: Push.constant("chest", FORCE, 0.0, np.inf),
    "length not a number": lambda: Push.constant("chest", FORCE, 0.0, np.nan),
    "start not a number": lambda: Push.constant("chest", FORCE, np.nan, 1.0),
    "ramps too long": lambda: Push.ramped("chest", FORCE, 0.0, 1.0, 0.6),
    "negative ramp": lambda: Push.ramped("chest", FORCE, 0.0, 1.0, -0.1),
    "force not a number": lambda: Push.constant("chest", (np.nan, 0.0, 0.0), 0.0, 1.0),
    "endless force": lambda: Push.constant("chest", (np.inf, 0.0, 0.0), 0.0, 1.0),
    "force beyond all bounds": lambda: Push.constant("chest", (1e200, 0.0, 0.0), 0.0, 1.0),
    "words for a force": lambda: Push.constant("chest", ("a", "b", "c"), 0.0, 1.0),  # type: ignore[arg-type]
    "endless blow": lambda: Push.impulse("chest", (0.0, np.inf, 0.0), 0.0),
    "forces of different lengths": lambda: Push.keyed("chest", [0.0, 1.0], [(1.0, 0.0, 0.0), (1.0,)]),
    "point beyond all bounds": lambda: Push.constant("chest", FORCE, 0.0, 1.0, point=(1e200, 0.0, 0.0)),
    "force of two numbers": lambda: Push.constant("chest", (1.0, 0.0), 0.0, 1.0),
    "keys go back": lambda: Push.keyed("chest", [0.0, 1.0, 0.5], np.zeros((3, 3))),
    "one key": lambda: Push.keyed("chest", [0.0], np.zeros((1, 3))),
    "fewer forces than times": lambda: Push.keyed("chest", [0.0, 1.0], np.zeros((1, 3))),
    "point of two numbers": lambda: Push.constant("chest", FORCE, 0.0, 1.0, point=(0.0, 1.0)),
    "unknown frame": lambda: Push.constant("chest", FORCE, 0.0, 1.0, frame="camera"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_PUSHES)
def test_a_bad_push_is_refused_with_its_body(name: str) -> None:
    with refusal("Push on chest"):
        BAD_PUSHES[name]()


# --- loads --------------------------------------------------------------------------------------------------


def test_a_load_fades_in_and_out() -> None:
    load = Load("chest", 8.0, start=1.0, end=3.0, fade=0.5)
    expected = {0.0: 0.0, 1.0: 0.0, 1.25: 4.0, 1.5: 8.0, 2.0: 8.0, 2.5: 8.0, 2.75: 4.0, 3.0: 0.0, 4.0: 0.0}
    assert {t: load.mass_at(t) for t in expected} == pytest.approx(expected)


def test_a_load_without_fade_is_there_from_start_to_end() -> None:
    load = Load("chest", 8.0, start=1.0, end=3.0, fade=0.0)
    assert [load.mass_at(t) for t in (0.999, 1.0, 2.999, 3.0)] == [0.0, 8.0, 8.0, 0.0]


@pytest.mark.parametrize("fade", [0.0, 0.1])
def test_a_load_without_times_is_always_there(fade: float) -> None:
    load = Load("chest", 8.0, fade=fade)
    assert [load.mass_at(t) for t in (-1e6, 0.0, 1e6)] == [8.0, 8.0, 8.0]


@pytest.mark.parametrize("mass", [0.0, 0.2])
def test_a_load_may_be_light(mass: float) -> None:
    assert Load("chest", mass).mass_at(0.0) == mass


def test_a_load_shorter_than_its_fades_never_jumps() -> None:
    load = Load("chest", 8.0, start=0.0, end=0.1, fade=0.2)
    masses = np.array([load.mass_at(t) for t in np.linspace(-0.1, 0.2, 301)])
    assert np.abs(np.diff(masses)).max() < 8.0 / 0.2 * 0.0011
    assert masses.max() == pytest.approx(2.0)


BAD_LOADS: dict[str, dict[str, Any]] = {
    "negative": {"mass": -1.0}, "not a number": {"mass": np.nan}, "infinite": {"mass": np.inf},
    "beyond all bounds": {"mass": 1e300},
    "ends first": {"mass": 1.0, "start": 2.0, "end": 1.0}, "no time": {"mass": 1.0, "start": 1.0, "end": 1.0},
    "start not a number": {"mass": 1.0, "start": np.nan}, "negative fade": {"mass": 1.0, "fade": -0.1},
    "bad point": {"mass": 1.0, "point": (0.0, np.nan, 0.0)},
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_LOADS)
def test_a_bad_load_is_refused_with_its_body(name: str) -> None:
    with refusal("Load on chest"):
        Load("chest", **BAD_LOADS[name])


# --- goals and contacts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind, body", [("centre", None), ("body", None), ("com", "chest"), ("none", "chest")])
def test_a_goal_that_makes_no_sense_is_refused(kind: Any, body: str | None) -> None:
    with refusal("Goal", kind):
        Goal(kind, body)


@pytest.mark.parametrize("start, end, mode", [(0.0, 1.0, "stuck"), (1.0, 1.0, "on"), (2.0, 1.0, "off"),
                                              (np.nan, 1.0, "on")])
def test_a_contact_override_that_makes_no_sense_is_refused(start: float, end: float, mode: Any) -> None:
    with refusal("foot.L"):
        ContactOverride("foot.L", start, end, mode)


# --- the scene ----------------------------------------------------------------------------------------------


def scene(**parts: Any) -> Scene:
    points = ContactPoints.build([(Limb("foot.L", "foot"), 4, (0.0, 0.0, -0.05), 0, 0.0)])
    character = parts.pop("character", biped().with_points(points))
    return Scene(**{"character": character, "motion": still(character)} | parts)


def test_the_good_scene_of_these_tests_is_accepted() -> None:
    made = scene(pushes=(PUSHES["constant"][0],), loads=(Load("foot.L", 2.0),), goal=Goal("body", "pelvis"),
                 amount=((0.0, 0.0), (0.1, 1.0)), mask={"chest": 0.5}, frames=(2, 9), substeps=3,
                 contacts=(ContactOverride("foot.L", 0.0, 1.0),), ease=(0.1, 0.1))
    assert made.range == (2, 9) and scene().range == (0, 10)
    np.testing.assert_array_equal(scene().gravity, [0.0, 0.0, -9.81])


BAD_SCENES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "push on an unknown body": ({"pushes": (Push.constant("wing", FORCE, 0.0, 1.0),)}, ("wing", "chest")),
    "load on an unknown body": ({"loads": (Load("wing", 1.0),)}, ("wing", "chest")),
    "goal of an unknown body": ({"goal": Goal("body", "wing")}, ("wing", "chest")),
    "mask of an unknown body": ({"mask": {"wing": 0.5}}, ("wing", "chest")),
    "mask above one": ({"mask": {"chest": 1.1}}, ("chest", "1.1", "Mask")),
    "mask below zero": ({"mask": {"chest": -0.1}}, ("chest", "Mask")),
    "mask not a number": ({"mask": {"chest": np.nan}}, ("chest", "Mask")),
    "amount above one": ({"amount": ((0.0, 1.1),)}, ("Physics amount",)),
    "amount below zero": ({"amount": ((0.0, 0.5), (1.0, -0.1))}, ("Physics amount",)),
    "amount not a number": ({"amount": ((0.0, np.nan),)}, ("Physics amount",)),
    "amount keyed twice": ({"amount": ((1.0, 0.5), (1.0, 0.6))}, ("Physics amount",)),
    "amount of wrong shape": ({"amount": (0.0, 1.0)}, ("Physics amount",)),
    "range beyond the clip": ({"frames": (0, 11)}, ("Frame range", "11", "10")),
    "range before the clip": ({"frames": (-1, 5)}, ("Frame range", "-1")),
    "range of one frame": ({"frames": (5, 5)}, ("Frame range", "5")),
    "range backward": ({"frames": (8, 2)}, ("Frame range", "8 .. 2")),
    "no sub-step": ({"substeps": 0}, ("sub-step",)),
    "negative ease": ({"ease": (-0.1, 0.0)}, ("ease",)),
    "gravity of two numbers": ({"gravity": (0.0, -9.81)}, ("Gravity",)),
    "gravity not a number": ({"gravity": (0.0, 0.0, np.nan)}, ("Gravity",)),
    "contact of an unknown limb": ({"contacts": (ContactOverride("wing", 0.0, 1.0),)}, ("wing", "foot.L")),
    "another character's motion": ({"motion": still(humanoid())}, ("22", "8", "Motion")),
    "ease not a number": ({"ease": (np.nan, 0.0)}, ("ease",)),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_SCENES)
def test_a_scene_that_contradicts_itself_is_refused(name: str) -> None:
    parts, words = BAD_SCENES[name]
    with refusal(*words):
        scene(**parts)


# --- limits -------------------------------------------------------------------------------------------------


def hinged(limits: Any, angles: list[float], joint: Any = "hinge", **kind: Any) -> Scene:
    """A door on a frame, opened to these angles about z."""
    axis = np.array([0.0, 0.0, 1.0])
    character = Character.build([Link("frame", tip=(0.0, 0.0, 2.0)), Link(
        "door", "frame", offset=(0.0, 0.0, 1.0), tip=(1.0, 0.0, 0.0), joint=joint, axis=axis, limits=limits, **kind)])
    rotations = np.tile(rotation.IDENTITY, (len(angles), 2, 1))
    rotations[:, 1] = rotation.exp(np.array(angles)[:, None] * axis)
    return Scene(character, Motion(uniform_times(len(angles), 30.0), np.zeros((len(angles), 3)), rotations))


def test_a_motion_within_given_limits_is_accepted() -> None:
    hinged(([0.0], [1.5]), [0.0, 0.7, 1.5])
    hinged(((-0.1, -0.1, 0.0), (0.1, 0.1, 1.5)), [0.0, 0.7, 1.5], joint="ball")
    hinged(([0.0], [1.5]), [0.0, 1.5 + 1e-6])  # keys carry single precision


@pytest.mark.parametrize("joint, limits", [("hinge", ([0.0], [1.5])), ("ball", ((-9.0, -9.0, 0.0), (9.0, 9.0, 1.5)))])
@pytest.mark.parametrize("angle, shown", [(1.6, "91.7"), (-0.2, "-11.5")])
def test_a_motion_outside_given_limits_is_refused_with_bone_and_frame(joint: str, limits: Any, angle: float,
                                                                      shown: str) -> None:
    with refusal("door", "frame 2", shown, "0.0 .. 85.9"):
        hinged(limits, [0.0, 0.5, angle, 0.5], joint=joint)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_limits_do_not_care_about_the_sign_of_a_quaternion(sign: float) -> None:
    made = hinged(([-3.0], [3.0]), [-2.9, 0.0, 2.9])
    replace(made, motion=replace(made.motion, rotations=sign * made.motion.rotations))


def test_a_door_may_open_by_exactly_half_a_turn() -> None:
    made = hinged(([0.0], [np.pi]), [0.0, 1.0])
    rotations = made.motion.rotations.copy()
    rotations[1, 1] = [0.0, 0.0, 0.0, 1.0]
    replace(made, motion=replace(made.motion, rotations=rotations))


def test_limits_nobody_gave_do_not_refuse_a_motion() -> None:
    character = biped()
    knee = character.index("shank.L")
    assert character.upper[knee, 0] < 3.0
    motion = still(character)
    rotations = motion.rotations.copy()
    rotations[:, knee] = rotation.exp(np.array([-1.0, 0.0, 0.0]))  # a bird's knee
    Scene(character, replace(motion, rotations=rotations))


# --- physics amount -----------------------------------------------------------------------------------------


def test_the_amount_is_one_unless_keyed() -> None:
    np.testing.assert_array_equal(scene().amount_at(np.linspace(-1.0, 2.0, 7)), np.ones(7))


def test_the_amount_runs_in_straight_lines_between_keys() -> None:
    made = scene(amount=((0.1, 0.2), (0.3, 0.8)))
    np.testing.assert_allclose(made.amount_at(np.array([0.0, 0.1, 0.2, 0.3, 0.9])), [0.2, 0.2, 0.5, 0.8, 0.8])


def test_the_amount_eases_at_both_ends_of_the_range() -> None:
    made = scene(frames=(3, 9), ease=(0.1, 0.05))  # 30 Hz: 0.1 s .. 0.3 s
    times = np.linspace(0.1, 0.3, 2001)
    share = made.amount_at(times)
    assert share[0] == 0.0 and share[-1] == pytest.approx(0.0, abs=ROUNDING)
    inside = (times >= 0.2) & (times <= 0.25)
    np.testing.assert_allclose(share[inside], 1.0, atol=ROUNDING)
    assert share[500] == pytest.approx(0.5) and share[1750] == pytest.approx(0.5)
    rise = np.diff(share)[times[1:] <= 0.2]
    assert (rise >= -ROUNDING).all()
    assert np.abs(made.amount_at(np.array([0.0, 0.05, 0.35]))).max() == 0.0
    jolt = np.abs(np.diff(share, 2)) / (times[1] - times[0]) ** 2  # quintic: 10 / sqrt(3) / ease^2 at most
    assert jolt.max() < 1.02 * 10.0 / np.sqrt(3.0) / 0.05**2


def test_easing_multiplies_the_keys() -> None:
    made = scene(amount=((0.0, 0.5),), ease=(0.2, 0.0))
    assert made.amount_at(np.array([0.1]))[0] == pytest.approx(0.25)
    assert made.amount_at(np.array([0.25]))[0] == pytest.approx(0.5)


@pytest.mark.parametrize(("wrong", "words"), [
    ({"frames": (1.5, 5.5)}, ("whole frames",)),
    ({"frames": (1, 5, 9)}, ("whole frames",)),
    ({"frames": (5, 5)}, ("alone", "5")),
    ({"frames": (np.nan, 5)}, ("whole frames",)),
    ({"frames": (0, np.inf)}, ("whole frames",)),
    ({"substeps": 1.5}, ("sub-steps",)),
    ({"substeps": np.nan}, ("sub-steps",)),
    ({"substeps": np.inf}, ("sub-steps",)),
    ({"gravity": (0.0, 0.0, -1e200)}, ("Gravity", "1e+200")),
    ({"ease": (0.0, 0.0, 0.0)}, ("ease",)),
    ({"ease": 1.0}, ("ease",)),
])
def test_numbers_that_fit_nothing_are_refused(wrong: dict, words: tuple[str, ...]) -> None:
    with refusal(*words):
        scene(**wrong)


def test_whole_numbers_may_come_as_floats() -> None:
    made = scene(frames=(2.0, 9.0), substeps=2.0)
    assert made.frames == (2, 9) and made.substeps == 2 and isinstance(made.substeps, int)


def test_pushes_from_a_generator_are_kept() -> None:
    made = scene(pushes=(push for push in [Push.constant("chest", (0.0, 9.0, 0.0), 0.1, 0.1)]))
    assert len(made.pushes) == 1


def test_contact_points_on_no_link_are_refused() -> None:
    character = scene().character
    limb = Limb("foot", "foot")
    for link, place in ((99, (0.0, 0.0, 0.0)), (-1, (0.0, 0.0, 0.0)), (0, (np.nan, 0.0, 0.0))):
        with refusal("Contact points"):
            character.with_points(ContactPoints.build([(limb, link, place, 0, 0.0)]))
