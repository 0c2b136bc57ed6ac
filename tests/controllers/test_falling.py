"""Falls: whatever it did before, a body that is let go falls as a body does, comes to rest, and can get up again."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from solver import Character, Load, Motion, Moving, Plane, Push, Scene, State, Terrain, TriangleMesh, Union
from solver.controllers.falling import LIMP, TENSE, USUAL, Falling, FallStep, Settings
from solver.controllers.falling.rest import REST_FADE
from solver.model.character import ContactPoints, Limb
from solver.numerics import rotation
from solver.physics.dynamics import point_jacobian, points
from solver.physics.kinematics import forward, place
from tests import terrains, worlds
from tests.clips import synthetic
from tests.clips.shared import needs_clips
from tests.controllers.falls import (
    BODIES,
    GROUNDS,
    LASTS,
    RATES,
    WAIT,
    Case,
    Fall,
    four_legged_case,
    let_go,
    measure,
    random_case,
    waiting,
)
from tests.controllers.pushed import clip, part
from tests.tolerances import JUDGE, PLAYBACK, ROUNDING, THEORY

DEEP = 0.01         # m: nothing goes deeper
RISE = 0.05         # J: energy never rises by more, of some 600 that a fall costs
QUIET = 1e-3        # m/s and rad/s, after rest
LIMIT = 0.02        # rad past a joint's limit
ALIKE = ("walk_turn_left_90_cmu_69_24", "walk_turn_180_cmu_39_11", "carry_suitcase_cmu_70_01", "fast_walk_cmu_16_21",
         "pair_stumble_B_cmu_23_12", "squat_pick_up_set_down_cmu_69_70", "jump_forward_cmu_13_11",
         "dance_pirouette_cmu_05_02", "jump_up_balance_cmu_02_04", "cartoon_sneak_cmu_120_13")  # another is like it


def check(fall: Fall) -> None:
    """What every fall owes."""
    figures = measure(fall)
    assert figures.rests, "does not come to rest"
    assert figures.depth < DEEP, f"{1e3 * figures.depth:.1f} mm deep"
    assert figures.gain < RISE, f"energy rises by {figures.gain:.2f} J"
    assert figures.speed < QUIET, "trembles at rest"
    assert figures.excess < LIMIT, "past a joint's limit"
    for state in fall.states:
        assert np.isfinite(state.velocity).all() and np.isfinite(state.rotations).all()


# ---------------------------------------------------------------------------------------------------------- every fall

@pytest.mark.parametrize("name", [pytest.param(name, id=name, marks=[
    *(() if name.startswith("made_") else (needs_clips,)), *((pytest.mark.exhaustive,) if name in ALIKE else ())])
    for name in BODIES])
def test_every_clip_falls_and_comes_to_rest(name: str) -> None:
    check(Case(name, RATES[BODIES.index(name) % len(RATES)], BODIES.index(name)).fall())


@pytest.mark.exhaustive
@needs_clips
@pytest.mark.parametrize("seed", range(100))
def test_random_falls_on_flat_ground(seed: int) -> None:
    check(random_case(seed).fall(after=0.1))


@pytest.mark.exhaustive
@needs_clips
@pytest.mark.parametrize("seed", range(100))
def test_random_falls_on_any_ground(seed: int) -> None:
    check(random_case(seed, GROUNDS[seed % len(GROUNDS)]).fall(after=0.1))


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(50))
def test_random_falls_on_four_legs(seed: int) -> None:
    grounds = ("flat", *GROUNDS)
    check(four_legged_case(seed, grounds[seed % len(grounds)]).fall(after=0.1))


@pytest.mark.parametrize("settings", [
    LIMP, Settings(1.0), pytest.param(TENSE, marks=pytest.mark.exhaustive),
    pytest.param(Settings(0.0, 0.05, 0.0), marks=pytest.mark.exhaustive)], ids=["limp", "stiff", "tense", "dead"])
def test_any_strength_comes_to_rest(settings: Settings) -> None:
    character, motion = synthetic.walk(rate=30, duration=1.5)
    push = Push.constant("chest", (-150.0, 100.0, 0.0), 0.6, LASTS)
    check(let_go(Scene(character, waiting(motion, 0.6, WAIT + 1.5), pushes=(push,)), 0.6, settings))


def test_a_ghost_that_its_keys_squash_falls_too() -> None:
    character, motion = synthetic.ghost(rate=30, duration=3.0)
    fall = let_go(Scene(character, waiting(motion, 0.5, WAIT)), 0.5)
    assert fall.falling.is_resting


# ---------------------------------------------------------------------------------------------------------- rest

@cache
def lying(name: str = "walk", after: float = 1.0) -> Fall:
    """A made character at rest for a second."""
    character, motion = synthetic.CLIPS[name](rate=30, duration=1.5)
    push = Push.constant("chest", (0.0, 2.0 * character.mass, 0.0), 0.6, LASTS)
    return let_go(Scene(character, waiting(motion, 0.6, WAIT), pushes=(push,)), 0.6, after=after)


@pytest.mark.parametrize("name", ["walk", "trot"])
def test_a_body_at_rest_does_not_tremble(name: str) -> None:
    fall = lying(name)
    still = fall.states[-round(0.9 / float(fall.clip.dt[0])):]
    assert len(still) > 20
    for state in still:
        assert np.abs(state.velocity).max() < QUIET
        np.testing.assert_array_equal(state.rotations, still[0].rotations)
        np.testing.assert_array_equal(state.position, still[0].position)


@pytest.mark.parametrize("name", ["walk", "trot"])
def test_the_ground_carries_the_weight_of_a_body_at_rest(name: str) -> None:
    fall = lying(name)
    step = fall.steps[-1]
    weight = fall.clip.character.mass * 9.81
    assert step.touch_forces.sum(0) == pytest.approx([0.0, 0.0, weight], abs=1e-3 * weight)
    assert np.abs(step.aid).max() < 1e-3 * weight


def test_nothing_but_ground_and_gravity_moves_a_released_body() -> None:
    """Between the release and rest, in every step: what the body's momentum changes by is what they give. (`aid` also
    has what averaging over the sub-divisions of a hard landing leaves, up to a body weight for one step.)"""
    fall = lying()
    weight = fall.clip.character.mass * 9.81
    free = [n for n, state in enumerate(fall.states[:-1])
            if state.time > 0.6 + 1.3 * USUAL.release and np.abs(state.velocity).max() > 0.3]
    given = np.array([fall.steps[n].touch_forces.sum(0) - [0.0, 0.0, weight] for n in free])
    dt = np.diff(fall.times)[free, None]
    change = np.array([(fall.motions[n + 1].momentum - fall.motions[n].momentum)[3:] for n in free]) / dt
    assert len(free) > 30 and np.linalg.norm(change - given, axis=1).max() < 0.01 * weight
    aid = np.array([np.linalg.norm(fall.steps[n].aid[:3]) for n in free])
    assert np.median(aid) < 0.02 * weight


@pytest.mark.parametrize("velocity", [(0.8, 0.0, 0.0), (0.0, 0.0, 0.5)], ids=["conveyor", "lift"])
def test_moving_ground_gives_no_more_energy_than_its_work(velocity: tuple[float, float, float]) -> None:
    character, motion = synthetic.walk(rate=30, duration=1.5)
    ends = np.array([0.0, 20.0])
    ground = Moving(Plane.level(), ends, ends[:, None] * np.array(velocity))
    fall = let_go(Scene(character, waiting(motion, 0.6, 4.0), ground), 0.6, until=2.5)
    work = np.array([step.touch_forces.sum(0) @ velocity for step in fall.steps]) * np.diff(fall.times)
    own = (fall.energies() - np.concatenate(([0.0], np.cumsum(work))))[fall.times > 0.6 + USUAL.release]
    assert abs(work.sum()) > 10.0, "the ground does work, or takes it"
    rise = own - np.minimum.accumulate(own)
    fades = round(REST_FADE / float(fall.clip.dt[0])) + 1
    assert rise[:-fades].max() < RISE
    assert rise[-fades:].max() < 5.0 * RISE, "brought to rest, forces are those it would need if it were not"


def test_a_push_wakes_a_sleeper() -> None:
    character, motion = synthetic.walk(rate=30, duration=1.5)
    when = 4.0
    pushes = (Push.constant("chest", (0.0, 150.0, 0.0), 0.6, LASTS),
              Push.constant("pelvis", (0.0, 0.0, 1500.0), when, 0.15))
    fall = let_go(Scene(character, waiting(motion, 0.6, WAIT), pushes=pushes), 0.6, after=2.0)
    z = np.array([state.position[2] for state in fall.states])
    before, later = (fall.times > when - 0.2) & (fall.times < when), fall.times > when
    assert np.ptp(z[before]) == 0.0 and np.ptp(z[later]) > 0.05, "asleep until then, and not afterwards"
    check(fall)


def test_a_sleeper_rides_on_the_ground_that_carries_it() -> None:
    character, motion = synthetic.trot(rate=30, duration=1.5)
    ferry = terrains.ferry(speed=0.5)
    push = Push.constant("chest", (0.0, 60.0, 0.0), 0.6, LASTS)
    fall = let_go(Scene(character, waiting(motion, 0.6, WAIT), ferry, pushes=(push,)), 0.6, after=1.0)
    assert fall.falling.is_resting and fall.depths().max() < DEEP
    carried = ferry.probe(fall.states[-1].position[None], float(fall.times[-1])).velocity[0]
    assert fall.states[-1].velocity[:3] == pytest.approx(carried, abs=1e-6)
    assert np.abs(fall.states[-1].velocity[6:]).max() == 0.0
    moved = fall.states[-1].position - fall.states[-31].position
    assert moved == pytest.approx(carried * (fall.times[-1] - fall.times[-31]), abs=1e-6)


def test_a_load_falls_with_the_hand_that_holds_it() -> None:
    character, motion = synthetic.walk(rate=30, duration=1.5)
    scene = Scene(character, waiting(motion, 0.6, WAIT), loads=(Load("hand.L", 10.0),))
    fall = let_go(scene, 0.6, after=0.1)
    assert fall.falling.is_resting and fall.depths().max() < DEEP
    weight = (character.mass + 10.0) * 9.81
    assert fall.steps[-1].touch_forces[:, 2].sum() == pytest.approx(weight, rel=1e-3)


# ---------------------------------------------------------------------------------------------------------- theory

def block_on(terrain: Terrain, tilt: float = 0.0, height: float = 0.0, seconds: float = 1.5) -> Scene:
    """A brick of 2 kg, eight corners, lying on (or over) a slope that falls towards x."""
    half = np.array([0.2, 0.15, 0.1])
    corners = [half * (x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    character = worlds.block(2.0, tuple(2.0 * half)).with_points(
        ContactPoints.build([(Limb("block", "body"), 0, corner, n, 0.0) for n, corner in enumerate(corners)]))
    normal = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    turn = rotation.multiply(rotation.exp(np.array([0.0, tilt, 0.0])), rotation.exp(np.array([0.0, 0.0, 0.3])))
    frames = round(60 * seconds) + 1
    return Scene(character, Motion(np.arange(frames) / 60.0, np.tile(normal * (half[2] + height), (frames, 1)),
                                   np.tile(turn, (frames, 1, 1))), terrain)


@pytest.mark.parametrize("speed", [0.02, 0.045])
def test_a_slow_wall_pushes_a_sleeper_along(speed: float) -> None:
    """Too slow for the body as a whole to be thrown about by it, but it must not go through."""
    wall = Moving(TriangleMesh(*terrains.box((0.98, 0.0, 0.25), (1.0, 3.0, 0.5))), np.array([1.0, 4.0]),
                  np.array([[0.0, 0.0, 0.0], [-3.0 * speed, 0.0, 0.0]]))
    fall = let_go(block_on(Union((Plane.level(), wall)), seconds=4.0), 0.0, Settings(release=0.0), until=4.0, after=9.0,
                  shove=(2.0, 0.0, 0.0))    # it slides away from its keys, and comes to rest just before the wall
    assert "rest" in [step.phase for step in fall.steps]
    assert fall.depths().max() < 0.1 * DEEP
    way = fall.states[-1].position[0] - fall.states[60].position[0]
    assert way < -0.5 * 3.0 * speed


def slope(tilt: float, friction: float) -> Plane:
    return Plane(np.zeros(3), np.array([np.sin(tilt), 0.0, np.cos(tilt)]), friction)


@pytest.mark.parametrize("beyond", [-3.0, -0.5, -0.1, 0.1, 0.5, 3.0])
@pytest.mark.parametrize("friction", [0.3, 0.7])
def test_sliding_starts_at_the_friction_angle(friction: float, beyond: float) -> None:
    """Sticks below atan(mu), slides with g (sin - mu cos) above; `beyond` in degrees."""
    tilt = np.arctan(friction) + np.radians(beyond)
    fall = let_go(block_on(slope(tilt, friction), tilt), 0.0, Settings(release=0.0), until=1.5, after=9.0)
    down = np.array([np.cos(tilt), 0.0, -np.sin(tilt)])
    speed = fall.states[-1].velocity[:3] @ down
    way = (fall.states[-1].position - fall.states[0].position) @ down
    if beyond < 0.0:
        assert abs(speed) < QUIET and abs(way) < 1e-4
    else:
        expected = 9.81 * (np.sin(tilt) - friction * np.cos(tilt))
        time = fall.times[-1] - fall.times[0]
        assert speed == pytest.approx(expected * time, rel=0.1 * THEORY)
        assert way == pytest.approx(0.5 * expected * time ** 2, rel=THEORY)
        assert not fall.falling.is_resting
    assert abs((fall.states[-1].position - fall.states[0].position) @ [np.sin(tilt), 0.0, np.cos(tilt)]) < 1e-4


@pytest.mark.parametrize("make", [synthetic.walk, synthetic.trot, synthetic.hop], ids=["walk", "trot", "hop"])
def test_in_flight_the_body_falls_at_g_and_keeps_its_momentum(make: Any) -> None:
    character, motion = make(rate=30, duration=1.5)
    high = motion.with_poses(motion.positions + [0.0, 0.0, 50.0], motion.rotations)
    fall = let_go(Scene(character, high, Plane.level(0.0)), 0.6, Settings(release=0.0), until=0.8,
                  shove=(0.5, -1.0, 2.0, 1.0, -2.0, 3.0))
    times = fall.times
    spins, speeds = [], []
    for n in range(len(fall.states)):
        m = fall.motions[n]
        speeds.append(m.momentum[3:] / character.mass)
        spins.append(m.momentum[:3] - np.cross(m.com - m.pose.position, m.momentum[3:]))
    since = (times - times[0])[:, None]
    assert np.abs(np.array(speeds) - speeds[0] - since * [0.0, 0.0, -9.81]).max() < JUDGE
    assert np.abs(np.array(spins) - spins[0]).max() < JUDGE * max(1.0, np.abs(spins[0]).max())
    path = np.array([m.com for m in fall.motions])
    curve = np.polyfit(since[:, 0], path, 2)
    assert 2.0 * curve[0] == pytest.approx([0.0, 0.0, -9.81], abs=0.1 * THEORY * 9.81)
    assert np.abs(path[:, :2] - path[0, :2] - since * speeds[0][:2]).max() < 0.1 * THEORY


def test_a_dropped_brick_lands_flat_and_its_corners_share_its_weight() -> None:
    fall = let_go(block_on(Plane.level(), height=0.5), 0.0, Settings(release=0.0), until=1.4, after=0.2)
    assert fall.falling.is_resting and fall.depths().max() < 1e-4
    landed = np.flatnonzero([step.touching.any() for step in fall.steps])[0]
    assert fall.times[landed + 1] == pytest.approx(np.sqrt(2 * 0.5 / 9.81), abs=0.02)
    forces = fall.steps[-1].forces
    assert forces[:, 2].sum() == pytest.approx(2.0 * 9.81, rel=1e-4) and (forces[:, 2] >= 0.0).all()
    assert (fall.steps[-1].touch_forces == fall.steps[-1].forces).all(), "its corners are its contact points"


# ---------------------------------------------------------------------------------------------------------- contract

@pytest.mark.parametrize("name", ["walk", "trot"])
def test_every_step_of_a_fall_balances(name: str) -> None:
    fall = lying(name)
    tree, links = fall.clip.tree, fall.clip.character.points.link
    for n, step in enumerate(fall.steps):
        state, motion = fall.states[n], fall.motions[n]
        assert motion.M is not None
        dt = step.state.time - state.time
        assert np.abs(state.velocity + dt * step.acceleration - step.state.velocity).max() < JUDGE
        touch = points(motion.pose, motion, links, fall.clip.shape.points).position
        given = step.torque + step.external + np.einsum("pij,pi->j", point_jacobian(tree, motion, links, touch),
                                                        step.forces)
        given[:6] += step.aid
        needed = motion.M @ step.acceleration + motion.force
        assert (step.torque[:6] == 0.0).all()
        assert np.abs(given - needed).max() < JUDGE * max(1.0, np.abs(needed).max(), np.abs(step.torque).max())
        assert (step.touch_forces[~step.touching] == 0.0).all()
        normal = step.touch_forces[:, 2]
        side = np.linalg.norm(step.touch_forces[:, :2], axis=1)
        assert (normal >= -ROUNDING).all() and (side <= 0.9 * normal + 1e-9 * max(1.0, normal.max())).all()


def test_the_same_fall_twice_is_the_same_to_the_last_bit() -> None:
    once, again = (Case("made_walk", 30, 5).fall(until=0.8) for _ in range(2))
    for a, b in zip(once.states, again.states, strict=True):
        np.testing.assert_array_equal(a.rotations, b.rotations)
        np.testing.assert_array_equal(a.velocity, b.velocity)


def test_momentum_is_kept_at_hand_over() -> None:
    character, motion = synthetic.walk(rate=30, duration=1.5)
    fall = let_go(Scene(character, motion), 0.6, until=0.05, shove=(2.0, 1.0, 0.0))
    before, after = fall.motions[0].momentum[3:], fall.motions[1].momentum[3:]
    assert (after - before)[:2] == pytest.approx([0.0, 0.0], abs=0.1 * np.linalg.norm(before[:2]))


@pytest.mark.parametrize("bad", [{"strength": -0.1}, {"strength": np.nan}, {"slacken": 0.0}, {"release": 9.0}])
def test_settings_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with worlds.refusal(next(iter(bad))):
        Settings(**bad)


def test_the_notes_say_when_it_was_let_go_and_came_to_rest() -> None:
    fall = lying()
    notes = fall.falling.notes
    assert [note.sentence for note in notes] == ["The character is let go.", "The character has come to rest."]
    frames = [note.frame for note in notes]
    assert frames[0] is not None and frames[1] is not None and frames[0] < frames[1] <= len(fall.clip.scene.motion)


# ---------------------------------------------------------------------------------------------------------- rising

def get_up(character: Character, motion: Motion, start: float, push: Push, seconds: float,
           terrain: Terrain | None = None) -> tuple[Fall, int, list[State], list[FallStep]]:
    """(the fall, sub-step of rising, states and steps of rising)."""
    fall = let_go(Scene(character, motion, terrain, pushes=(push,)), start, after=0.2)
    falling, state = fall.falling, fall.states[-1]
    k = begin = fall.first + len(fall.steps)
    falling.rise(k, seconds)
    states, steps = [state], []
    while not falling.has_risen(k):
        step = falling.step(state, k)
        state = step.state
        states.append(state)
        steps.append(step)
        k += 1
    return fall, begin, states, steps


def risen(name: str, rate: int, seconds: float = 1.5) -> tuple[Fall, int, list[State], list[FallStep]]:
    character, motion = clip(name, rate)
    start = float(motion.times[0]) + 0.5
    push = Push.constant(part(name, "chest"), np.array([0.5, 3.0, 0.0]) * character.mass, start, LASTS)
    return get_up(character, waiting(motion, start, WAIT), start, push, seconds)


def depths(fall: Fall, state: State, k: int) -> np.ndarray:
    """(S,) m by which the skin is in the ground."""
    followed, skin = fall.clip, fall.falling.skin
    pose = forward(followed.tree, followed.shape.at(k).offsets, state.position, state.rotations)
    places = place(pose, skin.link, skin.position)
    return np.asarray(skin.radius - followed.terrain.probe(places, state.time).distance)


@pytest.mark.parametrize("name, rate", [
    ("made_walk", 24), ("made_trot", 30), pytest.param("walk_cmu_02_01", 30, marks=needs_clips),
    pytest.param("cartwheel_cmu_49_07", 120, marks=[needs_clips, pytest.mark.exhaustive]),
    pytest.param("run_cmu_09_01", 60, marks=[needs_clips, pytest.mark.exhaustive])])
def test_who_gets_up_is_back_on_the_keys(name: str, rate: int) -> None:
    fall, begin, states, steps = risen(name, rate)
    followed = fall.clip
    end = begin + len(steps)
    assert followed.times[end] == pytest.approx(followed.times[begin] + 1.5, abs=1.0 / 60.0)
    assert np.abs(rotation.subtract(states[-1].rotations, followed.rotations[end])).max() < PLAYBACK
    assert np.abs(states[-1].position - followed.positions[end]).max() < PLAYBACK
    assert np.abs(states[-1].velocity - followed.v[end]).max() < PLAYBACK
    # no jump and no impossible bend on the way, and nothing in the ground that is not there before, or in the keys
    fastest = max(float(np.abs(state.velocity[6:]).max()) for state in states)
    assert fastest < max(10.0, 1.1 * float(np.abs(followed.v[:, 6:]).max()))
    assert max(fall.falling.limits.excess(state.rotations) for state in states) < 0.1
    lying = depths(fall, states[0], begin)
    for n, state in enumerate(states):
        keys = State(state.time, followed.positions[begin + n], followed.rotations[begin + n], state.velocity)
        allowed = np.maximum(np.maximum(lying, depths(fall, keys, begin + n)), 0.0)
        assert (depths(fall, state, begin + n) - allowed).max() < DEEP
    for step in steps:
        assert np.isfinite(step.torque).all() and np.isfinite(step.aid).all()


@pytest.mark.parametrize("ground", [
    terrains.stairs(0.3, 0.5), pytest.param(terrains.stairs(-0.3, 0.5), marks=pytest.mark.exhaustive),
    pytest.param(terrains.slope(-35.0), marks=pytest.mark.exhaustive)], ids=["up", "down", "slope"])
def test_who_gets_up_from_stairs_does_not_go_through_them(ground: Terrain) -> None:
    character, motion = synthetic.walk(rate=24, duration=1.5)
    nothing = Push.constant("chest", (0.0, 0.0, 0.0), 0.4, LASTS)
    fall, begin, states, steps = get_up(character, waiting(motion, 0.4, 9.0), 0.4, nothing, 1.5, ground)
    followed, end = fall.clip, begin + len(steps)
    assert max(depths(fall, state, begin + n).max() for n, state in enumerate(states)) < 0.5 * DEEP
    assert np.abs(rotation.subtract(states[-1].rotations, followed.rotations[end])).max() < PLAYBACK
    assert np.abs(states[-1].position - followed.positions[end]).max() < PLAYBACK
    assert max(float(np.abs(state.velocity[6:]).max()) for state in states) < 10.0
    assert max(fall.falling.limits.excess(state.rotations) for state in states) < 0.1


def test_feet_stand_still_while_the_body_rises_over_them() -> None:
    fall, begin, states, steps = risen("made_squat", 30, 2.0)
    followed = fall.clip
    points_ = followed.character.points
    feet = np.flatnonzero(points_.of_kind("foot") & followed.schedule.touching[begin + len(steps)])
    assert len(feet)
    late = states[len(states) * 76 // 100:]
    places = []
    for state in late:
        pose = forward(followed.tree, followed.shape.offsets, state.position, state.rotations)
        places.append(place(pose, points_.link[feet], points_.position[feet]))
    path = np.array(places)
    assert np.linalg.norm(path - path[-1], axis=-1).max() < 0.02


def test_rising_says_what_is_amiss() -> None:
    character, motion = synthetic.walk(rate=30, duration=1.5)
    push = Push.constant("chest", (0.0, 200.0, 0.0), 0.6, LASTS)
    fall = let_go(Scene(character, waiting(motion, 0.6, 4.0), pushes=(push,)), 0.6)
    k = fall.first + len(fall.steps)
    with worlds.refusal("no time"):
        fall.falling.rise(fall.clip.steps, 1.0)
    fall.falling.rise(k, 60.0)
    assert any("sooner" in note.sentence for note in fall.falling.notes if note.level == "warning")
    with worlds.refusal("fallen"):
        Falling(fall.clip, USUAL, fall.states[0], fall.first).rise(k, 1.0)
