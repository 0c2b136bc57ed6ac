"""Falls and everything that can be asked about them; shared by the tests of this folder and the bench."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from solver import Motion, Push, Scene, State, Terrain
from solver.controllers.falling import USUAL, Falling, FallStep, Settings
from solver.physics.dynamics import Dynamics, dynamics
from solver.physics.kinematics import forward, place
from solver.physics.outside import load_masses, loaded
from solver.references.clip import Clip
from tests import terrains
from tests.controllers.pushed import NAMES, clip, part

RATES = (24, 25, 30, 48, 60, 120)
GROUNDS = ("slope", "stairs", "rough", "fine", "bumpy")
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


@dataclass(frozen=True)
class Figures:
    """What a fall is judged by."""

    rests: bool
    time: float       # s, from the release to rest
    depth: float      # m, deepest beyond what it was when let go
    gain: float       # J by which energy rises after the last push, for a body of 75 kg
    speed: float      # m/s or rad/s, fastest after rest
    excess: float     # rad past a joint's limit


def measure(fall: Fall) -> Figures:
    over = max((push.times[-1] for push in fall.clip.scene.pushes), default=0.0)
    energy = fall.energies()[fall.times >= over]
    rise = energy - np.minimum.accumulate(energy)
    asleep = [step.state.velocity for step in fall.steps if step.phase == "rest"]
    limits = fall.falling.limits
    rests = fall.falling.is_resting
    end = next((n for n, step in enumerate(fall.steps) if step.phase == "rest"), len(fall.steps))
    return Figures(rests, float(fall.times[end] - fall.times[0]) if rests else np.inf, float(fall.depths().max()),
                   float(rise.max()) / max(1.0, fall.clip.character.mass / 75.0),
                   float(np.abs(asleep).max()) if asleep else 0.0,
                   max(limits.excess(state.rotations) for state in fall.states))


def random_case(seed: int, ground: str = "flat") -> Case:
    """A hundred of them visit every clip at every rate."""
    return Case(BODIES[seed % len(BODIES)], RATES[(seed + seed // len(BODIES)) % len(RATES)], seed, ground)


def four_legged_case(seed: int, ground: str = "flat") -> Case:
    return Case("made_trot", RATES[seed % len(RATES)], 1_000 + seed, ground)
