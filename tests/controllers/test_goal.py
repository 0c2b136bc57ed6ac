"""The goal: what the animator says must keep its path keeps it, and nothing else is held."""

from collections.abc import Iterator

import numpy as np
import pytest

from solver import Goal, Load, Push, QuasiPhysical, Scene, Settings, State, bake, finish
from solver.physics.kinematics import forward, place
from solver.physics.shape import shape_of
from solver.physics.trajectory import com_path
from tests.clips import synthetic
from tests.clips.shared import needs_clips
from tests.controllers.pushed import Case, starts
from tests.tolerances import ROUNDING

HELD = 1e-4       # m, horizontally, in the simulation
BAKED = 1e-3      # m, in the baked motion: the clip's fine detail is added to another pose
HARD = Settings(hard_path=True)
CAPTURED = ("walk_cmu_02_01", "jump_forward_cmu_13_11", "walk_crawl_cmu_133_01", "cartwheel_cmu_49_07",
            "cartoon_sneak_cmu_120_13", "carry_suitcase_cmu_70_01")
NAMES = [pytest.param(name, marks=needs_clips) for name in CAPTURED] + ["made_walk", "made_squat", "made_hop",
                                                                        "made_trot"]


def scene_of(name: str, what: str = "chest", force: float = 200.0, goal: Goal | None = None, after: float = 0.8,
             direction: str = "left") -> Scene:
    scene = Case(name, what, direction, starts(name, 0.8, 1)[0]).scene(force, after)
    return Scene(scene.character, scene.motion, pushes=scene.pushes, frames=scene.frames, goal=goal or Goal())


def states(controller: QuasiPhysical) -> Iterator[tuple[int, State]]:
    """Every state of a bake with its sub-step."""
    state = controller.start()
    yield 0, state
    for k in range(controller.clip.steps):
        state = controller.step(state, k).state
        yield k + 1, state


def com(controller: QuasiPhysical, k: int, state: State) -> np.ndarray:
    clip_ = controller.clip
    pose = forward(clip_.tree, clip_.shape.at(k).offsets, state.position, state.rotations)
    centres = place(pose, np.arange(len(clip_.character)), clip_.character.coms)
    return np.asarray(clip_.character.masses @ centres / clip_.character.mass)


def body(controller: QuasiPhysical, k: int, state: State, name: str) -> np.ndarray:
    clip_ = controller.clip
    pose = forward(clip_.tree, clip_.shape.at(k).offsets, state.position, state.rotations)
    return np.asarray(pose.position + pose.x[clip_.character.index(name)])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("direction", ["left", "back"])
def test_the_hard_goal_holds_the_centre_of_mass_under_200_newtons(name: str, direction: str) -> None:
    scene = scene_of(name, direction=direction)
    controller = QuasiPhysical(scene, HARD)
    off = [com(controller, k, state)[:2] - controller.clip.coms[k, :2] for k, state in states(controller)]
    assert np.abs(off[0]).max() < ROUNDING, "the test's centre of mass is not the solver's"
    assert np.abs(off).max() < HELD


@pytest.mark.parametrize("name", NAMES)
def test_the_baked_centre_of_mass_keeps_the_clips_path(name: str) -> None:
    scene = scene_of(name)
    controller = QuasiPhysical(scene, HARD)
    result = finish(bake(scene, controller))
    first, last = scene.range
    keys = com_path(controller.clip.tree, shape_of(controller.clip.character, scene.motion), scene.motion)
    assert np.abs((result.com - keys)[first:last + 1, :2]).max() < BAKED
    assert result.deviation.max() > 0.02, "the push should be seen"


@pytest.mark.parametrize(("name", "held"), [
    ("made_walk", "head"), ("made_walk", "pelvis"), ("made_squat", "hand.L"),
    pytest.param("walk_cmu_02_01", "Hips", marks=needs_clips),
    pytest.param("cartoon_sneak_cmu_120_13", "Head", marks=needs_clips)])
def test_a_body_may_be_the_goal(name: str, held: str) -> None:
    scene = scene_of(name, what="thigh", force=100.0, goal=Goal("body", held))
    controller = QuasiPhysical(scene, HARD)
    reference = controller.clip
    off = []
    for k, state in states(controller):
        there = State(state.time, reference.positions[k], reference.rotations[k], reference.v[k])
        off.append((body(controller, k, state, held) - body(controller, k, there, held))[:2])
    assert np.abs(off).max() < HELD


def test_with_a_body_as_the_goal_the_centre_of_mass_is_free() -> None:
    scene = scene_of("made_walk", goal=Goal("body", "head"))
    controller = QuasiPhysical(scene, HARD)
    off = [com(controller, k, state)[:2] - controller.clip.coms[k, :2] for k, state in states(controller)]
    assert np.abs(off).max() > 100 * HELD


@pytest.mark.parametrize("settings", [Settings(), HARD], ids=["natural", "hard"])
def test_without_a_goal_a_push_carries_the_body_away(settings: Settings) -> None:
    free = scene_of("made_walk", goal=Goal("none"))
    controller = QuasiPhysical(free, settings)
    off = [com(controller, k, state)[:2] - controller.clip.coms[k, :2] for k, state in states(controller)]
    assert np.abs(off).max() > 0.01
    assert np.isfinite(off).all()


def test_who_is_astray_without_a_goal_is_told_what_keeps_the_path() -> None:
    character, motion = synthetic.walk(rate=30, duration=5.0)
    push = Push.constant("chest", (0.0, 60.0, 0.0), 0.5, 0.2)
    told = [any("Nothing keeps the path" in note.sentence for note in finish(bake(scene)).notes)
            for scene in (Scene(character, motion, pushes=(push,), goal=goal) for goal in (Goal("none"), Goal()))]
    assert told == [True, False]


def test_the_natural_goal_gives_way_and_comes_back() -> None:
    character, motion = synthetic.walk(rate=30, duration=4.5)
    scene = Scene(character, motion, pushes=(Push.constant("chest", (0.0, 200.0, 0.0), 0.5, 0.2),))
    controller = QuasiPhysical(scene)
    off = np.array([com(controller, k, state)[1] - controller.clip.coms[k, 1] for k, state in states(controller)])
    assert off.max() > 0.03, "goes where it is pushed"
    assert abs(off[-1]) < 0.2 * off.max(), "and returns"
    assert off.max() < 0.5


def test_a_step_moves_the_goal_by_no_more_than_the_push_could() -> None:
    """200 N for 0.2 s give 75 kg a speed of 0.53 m/s at most."""
    character, motion = synthetic.walk(rate=60, duration=2.0)
    scene = Scene(character, motion, pushes=(Push.constant("chest", (0.0, 200.0, 0.0), 0.5, 0.2),))
    controller = QuasiPhysical(scene)
    off = np.array([com(controller, k, state)[1] - controller.clip.coms[k, 1] for k, state in states(controller)])
    assert (np.diff(off) * 60.0).max() < 1.1 * 200.0 * 0.2 / character.mass


@needs_clips
@pytest.mark.exhaustive
@pytest.mark.parametrize("force", [50.0, 200.0, 800.0])
@pytest.mark.parametrize("what", ["chest", "head", "hand", "thigh"])
@pytest.mark.parametrize("name", CAPTURED)
def test_the_hard_goal_holds_wherever_the_push_is(name: str, what: str, force: float) -> None:
    controller = QuasiPhysical(scene_of(name, what, force), HARD)
    off = [com(controller, k, state)[:2] - controller.clip.coms[k, :2] for k, state in states(controller)]
    assert np.abs(off).max() < HELD


def test_the_goal_is_measured_with_the_load() -> None:
    """Who carries something keeps the common centre of mass over the path, so leans the other way."""
    character, motion = synthetic.squat(rate=30, duration=2.5)
    scene = Scene(character, motion, loads=(Load("hand.L", 12.0, start=0.3),))
    controller = QuasiPhysical(scene, HARD)
    links, last = np.array([character.index("hand.L")]), None
    for k, state in states(controller):
        pose = forward(controller.clip.tree, controller.clip.shape.at(k).offsets, state.position, state.rotations)
        own = com(controller, k, state)
        hand = place(pose, links, np.zeros((1, 3)))[0]
        last = (character.mass * own + 12.0 * hand) / (character.mass + 12.0), own, controller.clip.coms[k]
    assert last is not None
    common, own, path = last
    assert np.linalg.norm((common - path)[:2]) < 0.3 * 12.0 * 0.3 / 87.0
    assert own[1] < path[1] - 0.005, "the body leans away from its left hand"
