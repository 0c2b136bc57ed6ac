"""When the reference touches: on points with known paths, on made motions with known steps, on captured ones."""

import numpy as np
import pytest

from solver import ContactOverride, ContactPoints, Limb, Scene
from solver.physics.contact import Schedule, detect
from solver.references.clip import Clip
from tests.clips import shared, synthetic
from tests.clips.shared import needs_clips

RATE = 60.0
UNIT = 0.85   # m, a leg


def points_of(*limbs: str, groups: int = 1) -> ContactPoints:
    return ContactPoints.build([(Limb(name, "foot"), n, (0.0, 0.0, 0.0), group, 0.0)
                                for n, name in enumerate(limbs) for group in range(groups)])


def judge(paths: np.ndarray, overrides: tuple[ContactOverride, ...] = (), com: np.ndarray | None = None,
          gravity: float = 0.0, points: ContactPoints | None = None, times: np.ndarray | None = None) -> Schedule:
    """Of points (K, P, 3) over ground at 0. Without gravity nothing must be carried."""
    times = np.arange(len(paths)) / RATE if times is None else times
    points = points_of(*(f"limb{n}" for n in range(paths.shape[1]))) if points is None else points
    com = np.tile([0.0, 0.0, 1.0], (len(paths), 1)) if com is None else com
    return detect(times, paths, 0.0, com, gravity, points, UNIT, overrides)


def at(height: float, frames: int = 60, speed: float = 0.0) -> np.ndarray:
    path = np.zeros((frames, 1, 3))
    path[:, 0, 2] = height
    path[:, 0, 0] = speed * np.arange(frames) / RATE
    return path


def test_a_point_at_rest_on_the_ground_touches() -> None:
    schedule = judge(at(0.0))
    assert schedule.touching.all() and not schedule.sliding.any()


@pytest.mark.parametrize("path", [at(0.3), at(0.15), at(0.01, speed=2.0)], ids=["high", "ankle high", "fast"])
def test_a_high_or_a_fast_point_does_not_touch(path: np.ndarray) -> None:
    assert not judge(path).touching.any()


def test_size_is_measured_in_legs() -> None:
    """The same judgement for a figure ten times as large and as fast."""
    path = np.concatenate((at(0.01, 30), at(0.05, 30), at(0.2, 30)))
    small = judge(path)
    large = detect(np.arange(90) / RATE, path * 10.0, 0.0, np.tile([0.0, 0.0, 10.0], (90, 1)), 0.0,
                   points_of("limb0"), UNIT * 10.0)
    assert np.array_equal(small.touching, large.touching)


@pytest.mark.parametrize("flips", [1, 2])
def test_a_flicker_is_no_contact(flips: int) -> None:
    path = at(0.3)
    path[30:30 + flips, :, 2] = 0.0
    assert not judge(path).touching.any()


def test_a_flicker_is_no_gap() -> None:
    path = at(0.0)
    path[30, :, 2] = 0.06 * UNIT
    assert judge(path).touching.all()


def test_a_foot_that_comes_down_touches_from_then_on() -> None:
    path = at(0.0, 120)
    path[:, 0, 2] = 1.5 * np.clip(1.0 - np.arange(120) / 60.0, 0.0, 1.0)  # lands after 1 s
    touching = judge(path).touching[:, 0]
    start = int(np.flatnonzero(touching)[0])
    assert abs(start / RATE - 1.0) < 0.05
    assert touching[start:].all()


def test_points_of_one_group_touch_together() -> None:
    pair = ContactPoints.build([(Limb("foot", "foot"), 0, (0.0, y, 0.0), 0, 0.0) for y in (-0.05, 0.05)])
    paths = np.concatenate((at(-0.01), at(0.02)), axis=1)
    touching = judge(paths, points=pair).touching
    assert np.array_equal(touching[:, 0], touching[:, 1]) and touching.all()


@pytest.mark.parametrize(("mode", "touches", "slides"), [("on", True, False), ("off", False, False),
                                                         ("slide", True, True)])
@pytest.mark.parametrize("height", [0.0, 0.5])
def test_the_animator_has_the_last_word(mode: str, touches: bool, slides: bool, height: float) -> None:
    paths = np.concatenate((at(height, 120), at(height, 120)), axis=1)
    free = judge(paths)
    told = judge(paths, (ContactOverride("limb1", 0.5, 1.0, mode),))  # type: ignore[arg-type]
    during = slice(30, 60)
    assert (told.touching[during, 1] == touches).all()
    assert (told.sliding[during, 1] == slides).all()
    rest = np.ones(120, dtype=bool)
    rest[during] = False
    assert np.array_equal(told.touching[rest], free.touching[rest]), "outside the interval"
    assert np.array_equal(told.touching[:, 0], free.touching[:, 0]), "the other limb"


def test_auto_says_nothing_and_later_words_win() -> None:
    free = judge(at(0.0))
    assert np.array_equal(judge(at(0.0), (ContactOverride("limb0", 0.0, 9.0, "auto"),)).touching, free.touching)
    told = judge(at(0.0), (ContactOverride("limb0", 0.0, 9.0, "off"), ContactOverride("limb0", 0.5, 9.0, "on")))
    assert not told.touching[:30].any() and told.touching[30:].all()


def test_a_body_held_up_by_nothing_is_reported() -> None:
    schedule = judge(at(2.0), gravity=9.81, com=np.tile([0.0, 0.0, 3.0], (60, 1)))
    assert schedule.unsupported.all() and not schedule.touching.any()


def test_a_falling_body_needs_no_support() -> None:
    t = np.arange(60) / RATE
    com = np.column_stack((0 * t, 0 * t, 9.0 - 0.5 * 9.81 * t * t))
    schedule = judge(at(2.0), gravity=9.81, com=com)
    assert not schedule.unsupported[6:-6].any() and not schedule.touching.any()


def test_a_body_that_must_be_carried_stands_on_its_lowest_limb() -> None:
    """A cartwheel's captured hands hover, and carry all the same."""
    paths = np.concatenate((at(0.2, 90), at(1.2, 90)), axis=1)
    schedule = judge(paths, gravity=9.81)
    assert schedule.touching[:, 0].all() and not schedule.touching[:, 1].any()
    assert not schedule.unsupported.any()


def test_uneven_times_are_judged_by_the_clock() -> None:
    times = np.concatenate((np.linspace(0.0, 0.5, 20), np.linspace(0.51, 2.0, 90)))
    schedule = judge(at(0.0, 110), times=times)
    assert schedule.touching.all()


def test_a_character_without_points_has_an_empty_schedule() -> None:
    schedule = judge(np.zeros((20, 0, 3)), points=ContactPoints.none())
    assert schedule.touching.shape == (20, 0) and not schedule.unsupported.any()


# Made motions, whose steps are known


def edges(schedule: Schedule, clip: Clip, limb: str) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) at which a limb lands and lifts."""
    own = np.array([clip.character.points.limbs[n].name == limb for n in clip.character.points.limb])
    down = schedule.touching[:, own].any(1).astype(int)
    lands, lifts = np.flatnonzero(np.diff(down) > 0) + 1, np.flatnonzero(np.diff(down) < 0) + 1
    return clip.times[lands], clip.times[lifts]


def assert_edges(found: np.ndarray, known: np.ndarray, within: float) -> None:
    assert len(found) == len(known)
    assert np.abs(found - known).max() < within


@pytest.mark.parametrize("rate", [24, 30, 60, 120])
def test_the_steps_of_a_walk_are_found(rate: int) -> None:
    """Left strikes every 1.05 s from 0 on, right half a period later; each stands for 0.62 of it."""
    character, motion = synthetic.walk(rate=rate, duration=4.0)
    clip = Clip(Scene(character, motion))
    for limb, first in (("foot.L", 0.0), ("foot.R", 0.525)):
        strikes = first + 1.05 * np.arange(-1, 5)
        lands, lifts = edges(clip.schedule, clip, limb)
        assert_edges(lands, strikes[(strikes > 0.01) & (strikes < 3.99)], 0.05)
        ends = strikes + 0.62 * 1.05
        assert_edges(lifts, ends[(ends > 0.0) & (ends < 3.99)], 0.1)  # heel off, then the toes roll off


def test_the_flights_of_hops_are_found() -> None:
    character, motion = synthetic.hop(rate=60, duration=4.0)
    clip = Clip(Scene(character, motion))
    start = 0.72 + 0.79 * np.arange(3)
    for limb in ("foot.L", "foot.R"):
        lands, lifts = edges(clip.schedule, clip, limb)
        assert_edges(lifts, start, 0.06)
        assert_edges(lands, start + 0.45, 0.06)
    assert not clip.schedule.unsupported.any()


def test_the_beats_of_a_trot_are_found() -> None:
    character, motion = synthetic.trot(rate=60, duration=3.0)
    clip = Clip(Scene(character, motion))
    for limb, beat in (("front_paw.L", 0.0), ("hind_paw.R", 0.0), ("front_paw.R", 0.5), ("hind_paw.L", 0.5)):
        lift = 0.6 + 0.52 * (beat + np.arange(5))
        land = lift + 0.46 * 0.52
        lands, lifts = edges(clip.schedule, clip, limb)
        assert_edges(lifts, lift[lift < 2.95], 0.06)
        assert_edges(lands, land[land < 2.95], 0.06)


def test_the_feet_of_a_squat_never_leave_the_ground() -> None:
    character, motion = synthetic.squat(rate=30, duration=3.0)
    clip = Clip(Scene(character, motion))
    feet = clip.character.points.of_kind("foot")
    assert clip.schedule.touching[:, feet].all() and not clip.schedule.sliding[:, feet].any()


# Captured motions; times as seen in the takes (shared/motions/README.md)


@needs_clips
@pytest.mark.parametrize(("name", "start", "stop"), [
    ("jump_up_balance", 0.93, 1.45), ("jump_forward", 1.97, 2.39), ("run", 0.21, 0.31), ("run", 0.57, 0.67)])
@pytest.mark.parametrize("rate", [30, 120])
def test_captured_flights_are_found(name: str, start: float, stop: float, rate: int) -> None:
    character, motion = shared.load(name, rate)
    clip = Clip(Scene(character, motion))
    air, times = ~clip.schedule.touching.any(1), clip.times - clip.times[0]
    middle = 0.5 * (start + stop)
    assert air[np.abs(times - middle).argmin()], "in the air"
    assert not air[(times > start - 0.15) & (times < start - 0.06)].all(), "on the ground before"
    assert not air[(times > stop + 0.06) & (times < stop + 0.15)].all(), "and after"
    ends = np.flatnonzero(air & (np.abs(times - middle) < stop - start))
    assert times[ends[0]] == pytest.approx(start, abs=0.06) and times[ends[-1]] == pytest.approx(stop, abs=0.06)


@needs_clips
@pytest.mark.parametrize("name", ["walk_cmu_02_01", "fast_walk", "walk_turn_left", "walk_turn_180", "carry",
                                  "cartoon_sneak", "walk_crawl", "squat_pick_up"])
def test_who_walks_is_always_carried_by_something(name: str) -> None:
    character, motion = shared.load(name, 30)
    clip = Clip(Scene(character, motion))
    assert not clip.schedule.unsupported.any()
    assert clip.schedule.touching.any(1).mean() > 0.98


@needs_clips
def test_who_crawls_is_carried_by_hands_and_knees() -> None:
    character, motion = shared.load("walk_crawl", 60)
    clip = Clip(Scene(character, motion))
    times = clip.times - clip.times[0]
    crawl, walk = (times > 4.6) & (times < 7.8), times < 2.5
    for kind in ("hand", "knee"):
        own = clip.character.points.of_kind(kind)
        assert own.any()
        assert clip.schedule.touching[crawl][:, own].any(1).mean() > 0.9
        assert not clip.schedule.touching[walk][:, own].any()


@needs_clips
def test_the_hands_carry_a_cartwheel() -> None:
    character, motion = shared.load("cartwheel", 60)
    clip = Clip(Scene(character, motion))
    times = clip.times - clip.times[0]
    during = (times > 1.3) & (times < 1.7)
    hands, feet = clip.character.points.of_kind("hand"), clip.character.points.of_kind("foot")
    assert clip.schedule.touching[during][:, hands].any(1).all()
    assert not clip.schedule.touching[during][:, feet].any()


@needs_clips
def test_a_bar_that_is_not_in_the_file_leaves_the_body_unsupported() -> None:
    character, motion = shared.load("swing_on_bar", 60)
    clip = Clip(Scene(character, motion))
    times = clip.times - clip.times[0]
    assert clip.schedule.unsupported[(times > 0.5) & (times < 5.0)].mean() > 0.3
    assert not clip.schedule.unsupported[times > 6.3].any()


@needs_clips
@pytest.mark.parametrize("name", ["walk_cmu_02_01", "fast_walk", "walk_turn_180", "run"])
def test_contacts_do_not_depend_on_the_frame_rate(name: str) -> None:
    """At 30 and 120 frames per second the same frames touch, but for a few hundredths of a second at the edges."""
    clips = [Clip(Scene(*shared.load(name, rate))) for rate in (30, 120)]
    assert [limb.name for limb in clips[0].character.points.limbs] == [
        limb.name for limb in clips[1].character.points.limbs]
    coarse = clips[0]
    at_ = np.searchsorted(clips[1].times, coarse.times).clip(max=len(clips[1].times) - 1)
    differ = coarse.schedule.touching != clips[1].schedule.touching[at_]
    assert differ.mean() < 0.05
