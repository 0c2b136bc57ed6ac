"""One scene from the keys to the ground and back: let go at a frame, by a curve, by a push; lie; get up; go on."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.baselines import Playback
from solver import Push, QuasiPhysical, Release, Result, Scene, bake, finish
from solver.controllers.falling import FallStep
from solver.director import Director
from solver.numerics import rotation
from tests import terrains, worlds
from tests.clips import synthetic
from tests.clips.shared import needs_clips
from tests.controllers.falls import waiting
from tests.controllers.pushed import clip, is_finite, part
from tests.tolerances import PLAYBACK

DEEP = 0.01      # m
RELEASE = 16     # frame


@cache
def walk_on() -> Scene:
    """Walk, be pushed, fall, get up, walk on."""
    character, motion = synthetic.walk(rate=24, duration=7.5)
    push = Push.constant("chest", (0.0, 450.0, 0.0), 0.8, 0.2)
    return Scene(character, motion, pushes=(push,), release=Release(threshold=60.0, get_up=1.5, lie=0.5))


@cache
def walked_on() -> Result:
    return finish(bake(walk_on()))


@cache
def stayed() -> Result:
    """Let go at a frame, in a range that does not begin at 0 and leaves no time to get up."""
    scene = dropped(frame=RELEASE, get_up=20.0)
    return finish(bake(replace(scene, frames=(5, len(scene.motion) - 1))))


def spans(result: Result) -> list[str]:
    """The phases in their order, each once."""
    return [phase for n, phase in enumerate(result.phases) if n == 0 or result.phases[n - 1] != phase]


def frames(result: Result, phase: str) -> np.ndarray:
    return np.flatnonzero([p == phase for p in result.phases])


def dropped(seconds: float = 4.5, **release: Any) -> Scene:
    character, motion = synthetic.walk(rate=24, duration=1.5)
    return Scene(character, waiting(motion, 0.6, seconds), release=Release(**release))


# ---------------------------------------------------------------------------------------------------------- the chain

def test_walk_and_be_pushed_and_fall_and_get_up_and_walk_on() -> None:
    result = walked_on()
    assert spans(result) == ["follow", "fall", "rest", "rise", "follow"]
    back = frames(result, "rise")[-1] + 1
    assert len(result.phases) - back > 15, "it walks on"
    assert result.deviation[back:].max() < PLAYBACK
    assert np.abs(result.motion.positions[back:] - walk_on().motion.positions[back:]).max() < PLAYBACK
    assert result.penetration.max() < DEEP and is_finite(result)


@needs_clips
@pytest.mark.parametrize("name, rate", [
    ("walk_cmu_02_01", 24), *(pytest.param(name, rate, marks=pytest.mark.exhaustive) for name, rate in (
        ("walk_cmu_02_01", 60), ("run_cmu_09_01", 120), ("fast_walk_cmu_16_21", 30), ("made_trot", 24),
        ("made_hop", 60), ("made_squat", 48), ("walk_turn_180_cmu_39_11", 25), ("carry_suitcase_cmu_70_01", 30),
        ("cartoon_sneak_cmu_120_13", 30), ("dance_pirouette_cmu_05_02", 60)))])
def test_every_walker_ends_on_its_keys(name: str, rate: int) -> None:
    character, motion = clip(name, rate)
    start = float(motion.times[0]) + 0.4
    push = Push.constant(part(name, "chest"), np.array([1.0, 5.5, 0.0]) * character.mass, start, 0.2)
    scene = Scene(character, waiting(motion, start, 8.5), pushes=(push,),
                  release=Release(threshold=0.5 * character.mass, get_up=1.5, lie=0.2))
    result = finish(bake(scene))
    assert spans(result) == ["follow", "fall", "rest", "rise", "follow"]
    back = frames(result, "rise")[-1] + 1
    assert result.deviation[back:].max() < PLAYBACK
    away = [f for f in range(len(result.phases)) if result.phases[f] != "follow"]
    assert result.penetration[away].max() < DEEP
    # no joint is thrown where one hands over to the other
    turning = rotation.subtract(result.motion.rotations[1:], result.motion.rotations[:-1])[:, 1:] * rate
    thrown = np.abs(np.diff(turning, axis=0)).max((1, 2))
    own = np.abs(np.diff(rotation.subtract(motion.rotations[1:], motion.rotations[:-1])[:, 1:] * rate, axis=0)).max()
    for begin in (frames(result, "rise")[0], back):
        assert thrown[begin - 3:begin + 1].max() < max(3.0, 1.2 * own)
    assert thrown[frames(result, "fall")[0] - 2] < max(6.0, 1.2 * own)


def test_a_body_at_rest_is_still_in_every_frame_and_carried_by_the_ground() -> None:
    """Not even the clip's finest detail, which is put back where keys are followed, may tremble in it."""
    result = walked_on()
    rest = frames(result, "rest")[1:]
    assert len(rest) >= 10
    for f in rest:
        np.testing.assert_array_equal(result.motion.rotations[f], result.motion.rotations[rest[0]])
        np.testing.assert_array_equal(result.motion.positions[f], result.motion.positions[rest[0]])
        touch = result.touches[f]
        assert touch.forces.sum(0) == pytest.approx([0.0, 0.0, result.body_weight], abs=2e-3 * result.body_weight)
        assert np.ptp(touch.places[:, 2]) < DEEP
        assert result.aid_share[f] < 5e-3


def test_the_result_says_who_acted_and_what_touched() -> None:
    result = walked_on()
    sentences = [(note.frame, note.sentence) for note in result.notes]
    said = " ".join(sentence for _, sentence in sentences)
    for words in ("more than the 60 N s", "is let go", "has come to rest", "back on its keys"):
        assert words in said
    by = {sentence: frame for frame, sentence in sentences}
    assert abs(by["The character is let go."] - frames(result, "fall")[0]) <= 1
    assert abs(by["The character is back on its keys."] - frames(result, "rise")[-1]) <= 1
    assert set(result.touches) == {f for f, phase in enumerate(result.phases) if phase != "follow"}
    lying = frames(result, "rest")[5]
    assert result.margin[lying] > 0.0, "what lies is in balance"


# ---------------------------------------------------------------------------------------------------------- letting go

def test_a_frame_lets_go() -> None:
    result = stayed()
    assert spans(result) == ["follow", "fall", "rest"], "it stays down"
    assert frames(result, "fall")[0] == RELEASE + 1
    undisturbed = dropped().motion
    before = slice(0, RELEASE + 1)
    np.testing.assert_allclose(result.motion.rotations[before], undisturbed.rotations[before], atol=PLAYBACK)


def test_limp_falls_sooner_and_flatter() -> None:
    usual, limp = (finish(bake(dropped(1.0, frame=RELEASE, limp=limp))) for limp in (False, True))
    assert limp.com[-6, 2] < usual.com[-6, 2] - 0.02


def test_a_curve_lets_go_and_says_how_tense_the_fall_is() -> None:
    bends = []
    for floor in (0.0, 0.8):
        scene = dropped(1.0, strength=((0.0, 1.0), (0.6, 1.0), (0.9, floor)))
        result = finish(bake(scene))
        first = frames(result, "fall")[0]
        assert result.motion.times[first] == pytest.approx(0.6, abs=0.11)
        bend = rotation.subtract(result.motion.rotations[-1, 1:], result.motion.rotations[first, 1:])
        bends.append(float(np.linalg.norm(bend, axis=1).mean()))
    assert bends[1] < 0.8 * bends[0], "who is tense keeps its pose"


def test_who_was_let_go_by_a_curve_waits_for_it_to_get_up() -> None:
    keys = ((0.6, 1.0), (0.7, 0.0), (4.4, 0.0), (4.5, 1.0))
    result = finish(bake(dropped(5.2, strength=keys, get_up=1.0, lie=0.1)))
    assert spans(result) == ["follow", "fall", "rest", "rise", "follow"]
    assert result.motion.times[frames(result, "rise")[0]] == pytest.approx(4.5, abs=0.05)


@pytest.mark.parametrize("force, falls", [(150.0, False), (450.0, True)])
def test_only_a_push_beyond_the_threshold_lets_go(force: float, falls: bool) -> None:
    """0.2 s of it: 30 and 90 N s, some of which is forgotten meanwhile."""
    character, motion = synthetic.walk(rate=30, duration=2.0)
    push = Push.constant("chest", (0.0, force, 0.0), 0.6, 0.2)
    scene = Scene(character, motion, pushes=(push,), release=Release(threshold=60.0))
    result = finish(bake(scene))
    assert ("fall" in result.phases) == falls
    if not falls:
        free = finish(bake(Scene(character, motion, pushes=(push,))))
        np.testing.assert_array_equal(result.motion.rotations, free.motion.rotations)


@pytest.mark.parametrize("rate", [24, 120])
def test_the_threshold_is_the_same_at_every_rate(rate: int) -> None:
    character, motion = synthetic.squat(rate=rate, duration=1.5)
    for momentum, falls in ((55.0, False), (65.0, True)):
        push = Push.impulse("chest", (momentum, 0.0, 0.0), 0.5)
        result = finish(bake(Scene(character, motion, pushes=(push,), release=Release(threshold=60.0))))
        assert ("fall" in result.phases) == falls


@pytest.mark.exhaustive
def test_it_can_fall_twice() -> None:
    character, motion = synthetic.squat(rate=24, duration=7.0)
    pushes = tuple(Push.impulse("chest", (0.0, 120.0, 0.0), time) for time in (0.5, 6.6))
    scene = Scene(character, motion, pushes=pushes, release=Release(threshold=60.0, get_up=1.0, lie=0.1))
    result = finish(bake(scene))
    assert spans(result)[:6] == ["follow", "fall", "rest", "rise", "follow", "fall"]


# ---------------------------------------------------------------------------------------------------------- the scene

def test_without_a_cause_nothing_changes_to_the_last_bit() -> None:
    character, motion = synthetic.walk(rate=30, duration=1.2)
    push = Push.constant("chest", (0.0, 200.0, 0.0), 0.4, 0.2)
    plain, watched = (finish(bake(Scene(character, motion, pushes=(push,), release=release)))
                      for release in (None, Release()))
    for name in ("contacts", "forces", "torques", "aid", "com", "deviation", "penetration"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(watched, name))
    np.testing.assert_array_equal(plain.motion.rotations, watched.motion.rotations)
    assert set(plain.phases) == {"follow"} and not plain.touches


def test_any_controller_can_be_fallen_out_of() -> None:
    scene = dropped(5.2, frame=RELEASE, get_up=1.0, lie=0.1)
    result = finish(bake(scene, Playback(scene)))
    assert spans(result) == ["follow", "fall", "rest", "rise", "follow"]
    assert result.deviation[frames(result, "rise")[-1] + 1:].max() < PLAYBACK


def test_steps_of_the_director_say_their_phase() -> None:
    scene = dropped(frame=RELEASE)
    assert scene.release is not None
    director = Director(scene.release, QuasiPhysical(scene))
    state, k = director.start(), 0
    while k <= director.clip.frame_step[RELEASE] + 2:
        step = director.step(state, k)
        assert isinstance(step, FallStep) == (step.phase == "fall") == (k >= director.clip.frame_step[RELEASE])
        state, k = step.state, k + 1


def test_falls_on_rough_ground_within_a_bake() -> None:
    character, motion = synthetic.walk(rate=24, duration=1.5)
    terrain = terrains.random_terrain(3, "bumpy")[1]
    scene = Scene(character, waiting(motion, 0.6, 4.0), terrain, release=Release(frame=RELEASE, limp=True))
    result = finish(bake(scene))
    assert spans(result) == ["follow", "fall", "rest"]
    assert result.penetration[frames(result, "fall")[0]:].max() < DEEP


def test_who_has_no_time_to_get_up_stays_down_and_says_so() -> None:
    result = stayed()
    assert result.phases[-1] == "rest"
    assert any("stays down" in note.sentence for note in result.notes if note.level == "warning")


@pytest.mark.parametrize("release, seconds, words", [
    ({"frame": RELEASE, "get_up": 1.0}, 1.0, "not come to rest"),
    ({"strength": ((0.6, 1.0), (0.7, 0.0)), "get_up": 1.0, "lie": 0.0}, 4.0, "not back at 1"),
    ({"frame": RELEASE, "get_up": 1.0, "lie": 20.0}, 4.0, "lies still"),
    ({"strength": ((0.3, 1.0), (0.4, 0.5), (0.45, 1.0)), "frame": RELEASE}, 1.0, "down already")])
def test_a_wish_that_cannot_be_met_is_not_passed_over(release: dict[str, Any], seconds: float, words: str) -> None:
    scene = dropped(seconds, **release)
    result = finish(bake(scene, Playback(scene)))
    assert "rise" not in result.phases
    said = [note for note in result.notes if words in note.sentence]
    assert len(said) == 1 and said[0].level == "warning"


def test_a_curve_that_dips_while_it_gets_up_lets_go_again_at_once() -> None:
    keys = ((0.6, 1.0), (0.7, 0.0), (5.2, 0.0), (5.3, 1.0), (6.0, 1.0), (6.1, 0.0))
    scene = dropped(7.0, strength=keys, get_up=1.2, lie=0.1)
    result = finish(bake(scene, Playback(scene)))
    assert spans(result)[:5] == ["follow", "fall", "rest", "rise", "fall"]
    again = frames(result, "rise")[-1] + 1
    assert result.motion.times[again] == pytest.approx(6.0, abs=0.06)
    assert result.penetration[again:].max() < DEEP
    speed = np.abs(np.diff(result.motion.positions, axis=0)).max() * 24
    assert speed < 5.0 and is_finite(result)


def test_a_whole_frame_may_be_given_as_a_float() -> None:
    scene = dropped(frame=float(RELEASE))
    assert scene.release == Release(frame=RELEASE) and isinstance(scene.release.frame, int)
    Director(scene.release, Playback(scene))


@pytest.mark.parametrize("bad, words", [
    ({"frame": 4000}, "frame 4000"), ({"frame": -1}, "frame -1"), ({"frame": 8.5}, "whole frame"),
    ({"frame": np.nan}, "whole frame"), ({"frame": np.inf}, "whole frame"), ({"threshold": 0.0}, "N s"),
    ({"threshold": np.nan}, "N s"), ({"get_up": 0.0}, "gets up"), ({"lie": -1.0}, "lies still"),
    ({"strength": ((0.0, 2.0),)}, "strength"), ({"strength": ((1.0, 1.0), (0.0, 0.0))}, "strength"),
    ({"strength": ((0.0, np.nan),)}, "strength"), ({"strength": (1.0, 2.0)}, "strength")])
def test_a_release_that_makes_no_sense_is_refused(bad: dict[str, Any], words: str) -> None:
    with worlds.refusal(words):
        dropped(**bad)
