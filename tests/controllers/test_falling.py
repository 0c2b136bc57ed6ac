"""Falls: whatever it did before, a body that is let go falls as a body does, comes to rest, and can get up again."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import pytest

from solver import Character, Load, Motion, Plane, Push, QuasiPhysical, Scene, State, Terrain
from solver.controllers.falling import LIMP, TENSE, USUAL, Falling, FallStep, Settings
from solver.model.character import ContactPoints, Limb
from solver.numerics import rotation
from solver.physics.dynamics import Dynamics, dynamics, point_jacobian, points
from solver.physics.kinematics import forward, place
from solver.physics.outside import load_masses, loaded
from solver.references.clip import Clip
from tests import terrains, worlds
from tests.clips import synthetic
from tests.clips.shared import needs_clips
from tests.controllers.pushed import NAMES, clip, part
from tests.tolerances import JUDGE, PLAYBACK, ROUNDING, THEORY

DEEP = 0.01         # m: nothing goes deeper
RISE = 0.5          # J: energy never rises by more
QUIET = 1e-3        # m/s and rad/s, after rest
LIMIT = 0.02        # rad past a joint's limit
RATES = (24, 25, 30, 48, 60, 120)
LASTS = 0.2         # s, of a push
WAIT = 8.0          # s, in which everything must have come to rest
BODIES = tuple(name for name in NAMES if name != "made_ghost")  # keys stretch the ghost: see its own test


@dataclass(frozen=True, eq=False)
class Fall:
    """One fall and everything that can be asked about it."""

    clip: Clip
    falling: Falling
    states: tuple[State, ...]
    steps: tuple[FallStep, ...]
    first: int            # sub-step of the release

    @property
    def times(self) -> np.ndarray:
        return np.array([state.time for state in self.states])

    @cached_property
    def motions(self) -> list[Dynamics]:
        return [self._motion(n) for n in range(len(self.states))]

    def _motion(self, n: int) -> Dynamics:
        clip, state = self.clip, self.states[n]
        k = min(self.first + n, clip.steps)
        loads = clip.scene.loads
        shape = loaded(clip.tree, clip.shape.at(k), loads, load_masses(loads, state.time))
        pose = forward(clip.tree, shape.offsets, state.position, state.rotations)
        return dynamics(clip.tree, shape, pose, state.velocity, np.zeros(clip.tree.nv), clip.scene.gravity)

    def energies(self) -> np.ndarray:
        """(n,) kinetic and potential, J."""
        out = []
        for n, state in enumerate(self.states):
            motion = self.motions[n]
            assert motion.M is not None
            kinetic = 0.5 * state.velocity @ motion.M @ state.velocity
            out.append(kinetic - self.clip.character.mass * self.clip.scene.gravity @ motion.com)
        return np.array(out)

    def depths(self) -> np.ndarray:
        """(n, S) m by which each sphere of the skin is in the ground, beyond what it was when the fall began."""
        skin = self.falling.skin
        out = []
        for n, state in enumerate(self.states):
            where = place(self.motions[n].pose, skin.link, skin.position)
            out.append(skin.radius - self.clip.terrain.probe(where, state.time).distance)
        depth = np.array(out)
        return depth - np.maximum(depth[0], 0.0)


def let_go(scene: Scene, start: float, settings: Settings = USUAL, until: float = WAIT, after: float = 0.0,
           shove: Sequence[float] | None = None) -> Fall:
    """Release at a time; ends `after` seconds after rest, or `until` seconds after release. `shove`: velocity added."""
    followed = Clip(scene)
    k = first = int(np.searchsorted(followed.times, start - 1e-9))
    v = followed.v[k].copy()
    if shove is not None:
        v[:len(shove)] += shove
    state = State(float(followed.times[k]), followed.positions[k], followed.rotations[k], v)
    falling = Falling(followed, settings, state, k)
    states, steps, rested = [state], [], 0.0
    while k < followed.steps and followed.times[k] < start + until and rested <= after:
        step = falling.step(state, k)
        state = step.state
        states.append(state)
        steps.append(step)
        rested = rested + float(followed.dt[k]) if falling.is_resting else 0.0
        k += 1
    return Fall(followed, falling, tuple(states), tuple(steps), first)


def waiting(motion: Motion, start: float, seconds: float) -> Motion:
    """The motion from shortly before `start`, its last pose held so that there is time to fall and rise."""
    first = max(0, int(np.searchsorted(motion.times, start - 0.3)))
    motion = motion.part(first, min(len(motion), int(np.searchsorted(motion.times, start + seconds)) + 1))
    more = int(np.ceil((start + seconds - motion.times[-1]) * motion.rate))
    if more <= 0:
        return motion
    times = np.concatenate((motion.times, motion.times[-1] + np.arange(1, more + 1) / motion.rate))

    def held(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else np.concatenate((values, np.repeat(values[-1:], more, axis=0)))

    positions, rotations = held(motion.positions), held(motion.rotations)
    assert positions is not None and rotations is not None
    return Motion(times, positions, rotations, held(motion.offsets), held(motion.scales))


@dataclass(frozen=True)
class Case:
    """A clip, released somewhere in it while something pushes."""

    name: str
    rate: int
    seed: int
    ground: str = "flat"

    def fall(self, **options: Any) -> Fall:
        generator = np.random.default_rng(self.seed)
        character, motion = clip(self.name, self.rate)
        start = float(motion.times[0] + generator.uniform(0.1, 0.8) * min(motion.duration - 0.2, 4.0))
        force = generator.choice([0.0, 100.0, 200.0, 300.0, 500.0, 800.0]) * character.mass / 75.0
        angle = generator.uniform(0.0, 2.0 * np.pi)
        direction = np.array([np.cos(angle), np.sin(angle), generator.uniform(-0.3, 0.3)])
        body = part(self.name, str(generator.choice(["chest", "head", "thigh"])))
        push = Push.constant(body, force * direction, start, LASTS)
        settings = Settings(float(generator.choice([0.0, 0.02, 0.06, 0.06, 0.2])), float(generator.uniform(0.1, 1.2)),
                            float(generator.choice([0.0, 0.1, 0.25, 0.5])))
        terrain: Terrain | None = None
        if self.ground != "flat":
            terrain = terrains.random_terrain(self.seed, self.ground)[1]
        scene = Scene(character, waiting(motion, start, WAIT + 1.5), terrain, pushes=(push,))
        return let_go(scene, start, settings, **options)


def check(fall: Fall) -> None:
    """What every fall owes."""
    assert fall.falling.is_resting, "does not come to rest"
    depth = fall.depths()
    assert depth.max() < DEEP, f"{1e3 * depth.max():.1f} mm deep at {fall.times[depth.max(1).argmax()]:.2f} s"
    over = max((push.times[-1] for push in fall.clip.scene.pushes), default=0.0)
    energy = fall.energies()[fall.times >= over]
    rise = energy - np.minimum.accumulate(energy)
    assert rise.max() < RISE * max(1.0, fall.clip.character.mass / 75.0), f"energy rises by {rise.max():.2f} J"
    limits = fall.falling.limits
    assert max(limits.excess(state.rotations) for state in fall.states) < LIMIT, "past a joint's limit"
    for state in fall.states:
        assert np.isfinite(state.velocity).all() and np.isfinite(state.rotations).all()


def captured(names: Sequence[str]) -> list:
    return [pytest.param(name, marks=() if name.startswith("made_") else needs_clips, id=name) for name in names]


# ---------------------------------------------------------------------------------------------------------- every fall

@pytest.mark.parametrize("name", captured(BODIES))
def test_every_clip_falls_and_comes_to_rest(name: str) -> None:
    check(Case(name, RATES[BODIES.index(name) % len(RATES)], BODIES.index(name)).fall())


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(100))
def test_random_falls_on_flat_ground(seed: int) -> None:
    generator = np.random.default_rng(10_000 + seed)
    name = str(generator.choice(BODIES))
    check(Case(name, int(generator.choice(RATES)), seed).fall())


@pytest.mark.exhaustive
@needs_clips
@pytest.mark.parametrize("ground", ["slope", "stairs", "rough", "fine", "bumpy"])
@pytest.mark.parametrize("seed", range(20))
def test_random_falls_on_any_ground(seed: int, ground: str) -> None:
    generator = np.random.default_rng(20_000 + seed)
    name = str(generator.choice(BODIES))
    fall = Case(name, int(generator.choice(RATES)), seed, ground).fall()
    assert fall.falling.is_resting
    assert fall.depths().max() < DEEP
    assert max(fall.falling.limits.excess(state.rotations) for state in fall.states) < LIMIT


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
    """Between the release and rest the helper force is zero, up to what averaging over sub-divisions leaves."""
    fall = lying()
    free = [step for state, step in zip(fall.states, fall.steps)
            if state.time > 0.6 + 1.3 * USUAL.release and np.abs(state.velocity).max() > 0.3]
    aid = np.array([np.linalg.norm(step.aid[:3]) for step in free])
    assert len(free) > 30 and np.median(aid) < 0.02 * fall.clip.character.mass * 9.81


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
        assert (step.touch_forces[~step.touching & (step.touch_forces[:, 2] == 0.0)] == 0.0).all()
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
           ) -> tuple[Fall, int, list[State], list[FallStep]]:
    """(the fall, sub-step of rising, states and steps of rising)."""
    fall = let_go(Scene(character, motion, pushes=(push,)), start, after=0.2)
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
    # no jump on the way, and nothing in the ground that was not there at either end
    fastest = max(float(np.abs(state.velocity[3:]).max()) for state in states)
    assert fastest < 20.0
    skin = fall.falling.skin
    deep = []
    for n, state in enumerate(states):
        pose = forward(followed.tree, followed.shape.at(begin + n).offsets, state.position, state.rotations)
        deep.append(skin.radius - followed.terrain.probe(place(pose, skin.link, skin.position), state.time).distance)
    depth = np.array(deep)
    assert (depth - np.maximum(np.maximum(depth[0], depth[-1]), 0.0)).max() < 2.0 * DEEP
    for step in steps:
        assert np.isfinite(step.torque).all() and np.isfinite(step.aid).all()


@pytest.mark.parametrize("name, rate", [("made_walk", 30), pytest.param(
    "walk_cmu_02_01", 60, marks=[needs_clips, pytest.mark.exhaustive])])
def test_walk_and_be_pushed_and_fall_and_get_up_and_walk_on(name: str, rate: int) -> None:
    """Under two controllers; no joint is thrown at the hand-overs, and the end is on the keys."""
    character, motion = clip(name, rate)
    start = float(motion.times[0]) + 0.4
    push = Push.constant(part(name, "chest"), (0.0, 400.0, 0.0), start, LASTS)
    scene = Scene(character, waiting(motion, start, 7.0), pushes=(push,))
    tracking = QuasiPhysical(scene)
    followed = tracking.clip
    state, falling, k = tracking.start(), None, 0
    speeds = [state.velocity]
    while k < followed.steps:
        time = float(followed.times[k])
        if falling is None and time >= start + 0.15:
            falling = Falling(followed, USUAL, state, k)
        if falling is not None and falling.is_resting:
            falling.rise(k, 1.5)
        if falling is not None and falling.has_risen(k):
            break
        state = (tracking if falling is None else falling).step(state, k).state
        speeds.append(state.velocity)
        k += 1
    assert falling is not None and falling.has_risen(k), "it did not get up"
    again = QuasiPhysical(scene)
    for later in range(k, min(k + 30, followed.steps)):
        state = again.step(state, later).state
        assert np.abs(rotation.subtract(state.rotations, followed.rotations[later + 1])).max() < PLAYBACK
    thrown = np.abs(np.diff(np.array(speeds)[:, 6:], axis=0)).max(1)
    release = round((start + 0.15 - float(followed.times[0])) / float(followed.dt[0]))
    assert thrown[release - 2:release + 4].max() < 6.0


def test_feet_stand_still_while_the_body_rises_over_them() -> None:
    fall, begin, states, steps = risen("made_squat", 30, 2.0)
    followed = fall.clip
    points_ = followed.character.points
    feet = np.flatnonzero(points_.of_kind("foot") & followed.schedule.touching[begin + len(steps)])
    assert len(feet)
    late = states[len(states) * 55 // 100:]
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
