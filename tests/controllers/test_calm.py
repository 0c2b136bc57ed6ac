"""Where nothing acts and nothing has to be come back from, the step is known; nothing is simulated, nothing changes."""

import numpy as np
import pytest

from solver import Character, Load, Motion, Push, QuasiPhysical, Result, Scene, State, Step, bake, finish
from solver.numerics import rotation
from solver.physics.dynamics import dynamics, point_jacobian
from solver.physics.kinematics import advance, forward, place
from solver.references.clip import RUN
from tests.clips.shared import needs_clips
from tests.controllers.pushed import clip, part
from tests.tolerances import JUDGE

NAMES = ("made_walk", "made_squat", "made_hop", "made_trot", "made_ghost",
         pytest.param("walk_crawl_cmu_133_01", marks=needs_clips), pytest.param("run_cmu_09_01", marks=needs_clips))
HOME = 2e-3  # rad: nearer than this to its keys, a body that comes back glides onto them


class Counting(QuasiPhysical):
    """Knows which sub-steps it had to simulate."""

    def start(self, k: int = 0) -> State:
        if k == 0:
            self.simulated: list[int] = []
        return super().start(k)

    def step(self, state: State, k: int) -> Step:
        self.simulated.append(k)
        return super().step(state, k)


def both(scene: Scene) -> tuple[Result, Result, Counting]:
    """The bake with every step simulated, the usual one, and who made that."""
    controller = Counting(scene)
    usual = finish(bake(scene, controller))
    return finish(bake(scene, Counting(scene), simulates_calm=True)), usual, controller


def short(name: str) -> tuple[Character, Motion]:
    character, motion = clip(name, 30)
    return character, motion.part(0, min(len(motion), 61))


@pytest.mark.parametrize("name", NAMES)
def test_an_undisturbed_bake_simulates_nothing_and_tells_the_same(name: str) -> None:
    every, usual, controller = both(Scene(*short(name)))
    assert not controller.simulated
    for a, b in ((every.motion.positions, usual.motion.positions), (every.motion.rotations, usual.motion.rotations),
                 (every.com, usual.com)):
        assert np.abs(a - b).max() < 1e-8
    assert np.array_equal(every.contacts, usual.contacts)
    for a, b in ((every.forces, usual.forces), (every.torques, usual.torques), (every.aid, usual.aid)):
        assert np.abs(a - b).max() < 1e-6 * every.body_weight


@pytest.mark.parametrize("name", NAMES)
def test_a_push_is_simulated_from_its_first_to_its_last_trace(name: str) -> None:
    character, motion = short(name)
    start = float(motion.times[0]) + 0.25
    push = Push.constant(part(name, "chest"), (0.0, 100.0, 0.0), start, 0.1)
    every, usual, controller = both(Scene(character, motion, pushes=(push,)))
    times = controller.clip.times
    assert times[controller.simulated[0]] <= start < times[controller.simulated[0] + 1]
    assert np.abs(rotation.subtract(every.motion.rotations, usual.motion.rotations)).max() < HOME
    assert usual.deviation.max() > 10 * HOME


def test_who_has_come_back_is_on_the_keys() -> None:
    character, motion = clip("made_squat", 30)
    scene = Scene(character, motion, pushes=(Push.constant("chest", (0.0, 60.0, 0.0), 0.2, 0.1),
                                             Push.constant("head", (20.0, 0.0, 0.0), 4.5, 0.1)))
    _, usual, controller = both(scene)
    home = np.flatnonzero(usual.deviation[motion.times < 4.5] < 1e-9)
    assert home[-1] > 90 and not set(range(home[-1] - 5, home[-1])) - set(home), "it comes home, and stays there"
    pause = np.flatnonzero(np.diff(controller.simulated) > 1)
    assert len(pause) == 1 and usual.deviation[-1] > 1e-3, "the second push finds it awake"


def test_a_load_is_simulated_while_it_is_carried_and_until_its_trace_is_gone() -> None:
    character, motion = short("made_walk")
    every, usual, controller = both(Scene(character, motion, loads=(Load("hand.L", 4.0, start=0.5, end=1.0),)))
    times = controller.clip.times[controller.simulated]
    assert times[0] == pytest.approx(0.5, abs=0.02) and times[-1] > 1.0
    assert np.abs(rotation.subtract(every.motion.rotations, usual.motion.rotations)).max() < HOME


def test_the_references_quantities_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that confused numpy's integers with Python's computed them three times."""
    scene = Scene(*short("made_walk"))
    controller = QuasiPhysical(scene)
    runs: list[int] = []
    inner = controller.clip._moments
    monkeypatch.setattr(controller.clip, "_moments", lambda number: (runs.append(id(inner(number))), inner(number))[1])
    finish(bake(scene, controller))
    assert len(set(runs)) >= 1 and inner.cache_info().misses == -(-controller.clip.steps // RUN)


def test_every_step_of_the_way_back_balances_to_the_last() -> None:
    """M a + h = tau + J^T f + J_ext^T f_ext + aid, the speed changes by a dt and the pose by that speed times dt, also
    where the keys are reached."""
    character, motion = clip("made_squat", 30)
    scene = Scene(character, motion, pushes=(Push.constant("chest", (0.0, 60.0, 0.0), 0.2, 0.1),))
    controller = QuasiPhysical(scene)
    track, tree, links = controller.clip, controller.tree, controller.clip.character.points.link
    state, arrived, before = controller.start(), 0, True
    for k in range(track.steps):
        step = controller.calm_step(state, k)
        is_calm = step is not None
        step = controller.step(state, k) if step is None else step
        pose = forward(tree, track.shape.at(k).offsets, state.position, state.rotations)
        now = dynamics(tree, track.shape.at(k), pose, state.velocity, step.acceleration, scene.gravity)
        J = point_jacobian(tree, now, links, place(pose, links, track.shape.points))
        acting = step.torque + np.einsum("pin,pi->n", J, step.forces) + step.external
        acting[:6] += step.aid
        assert np.abs(now.force - acting).max() < 1e-6
        assert np.abs(step.state.velocity - state.velocity - track.dt[k] * step.acceleration).max() < 1e-9
        position, rotations = advance(tree, state.position, state.rotations, step.state.velocity, track.dt[k])
        assert np.abs(step.state.position - position).max() < JUDGE
        assert np.abs(rotation.subtract(step.state.rotations, rotations)).max() < JUDGE
        arrived += is_calm and not before
        state, before = step.state, is_calm
    assert arrived == 1
