"""What every controller in the folder owes: steps that balance, finite, reproducible, with forces the ground can give.

    M(q) a + bias(q, v) = tau + J_c^T f + J_ext^T f_ext + aid
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import solver.controllers
from solver import Goal, Load, Plane, Push, Result, Scene, State, Step, bake, finish
from solver.controllers.base import Controller
from solver.numerics import rotation
from solver.physics.dynamics import Dynamics, dynamics, point_jacobian, points
from solver.physics.kinematics import advance, forward
from solver.physics.shape import Shape, spatial_inertia
from tests.clips import shared, synthetic
from tests.clips.shared import needs_clips
from tests.tolerances import JUDGE, ROUNDING


def controllers() -> list[type]:
    """Every class in the folder that can start and step: the folder is the registry."""
    found: dict[str, type] = {}
    for module in pkgutil.iter_modules(solver.controllers.__path__):
        inside = importlib.import_module(f"solver.controllers.{module.name}")
        for name, thing in inspect.getmembers(inside, inspect.isclass):
            if thing is not Controller and all(callable(getattr(thing, verb, None)) for verb in ("start", "step")):
                found[name] = thing
    return list(found.values())


def pushed(make: Callable[..., tuple], *pushes: Push, **more: object) -> Scene:
    character, motion = make(rate=30, duration=1.2)
    return Scene(character, motion, pushes=pushes, **more)  # type: ignore[arg-type]


def captured(name: str, force: tuple[float, float, float]) -> Scene:
    character, motion = shared.load(name, 60)
    start = float(motion.times[20])
    return Scene(character, motion, frames=(10, 70),
                 pushes=(Push.constant("Spine1", force, start, 0.2), Push.impulse("LeftHand", (5.0, 0.0, 5.0), start)))


BELOW = np.array([0.0, 0.05, -0.1])
SCENES: dict[str, Callable[[], Scene]] = {
    "undisturbed walk": lambda: pushed(synthetic.walk),
    "pushed walk": lambda: pushed(synthetic.walk, Push.constant("chest", (0.0, 200.0, 0.0), 0.3, 0.2)),
    "walk struck hard in the body's frame": lambda: pushed(
        synthetic.walk, Push.ramped("head", (-900.0, 300.0, 100.0), 0.3, 0.3, 0.1, frame="body", point=BELOW)),
    "squat with a load": lambda: pushed(
        synthetic.squat, Push.constant("hand.L", (30.0, 0.0, 0.0), 0.5, 0.2),
        loads=(Load("hand.L", 8.0, 0.2, 0.8, BELOW), Load("chest", 15.0))),
    "hop without a goal": lambda: pushed(
        synthetic.hop, Push.constant("chest", (0.0, 200.0, 0.0), 0.3, 0.2), goal=Goal("none")),
    "trot with the head as the goal": lambda: pushed(
        synthetic.trot, Push.constant("chest", (0.0, 100.0, 0.0), 0.7, 0.2), goal=Goal("body", "head")),
    "squashed ghost": lambda: pushed(synthetic.ghost, Push.constant("head", (0.0, 50.0, 0.0), 0.3, 0.2)),
    "walk on a slippery slope": lambda: pushed(
        synthetic.walk, Push.constant("chest", (200.0, 0.0, 0.0), 0.3, 0.2),
        terrain=Plane(np.zeros(3), np.array([-0.08, 0.05, 1.0]), 0.25)),
    "hinges, tail and fingers": lambda: Scene(
        *synthetic.walk(rate=30, duration=0.8, hinges=True, tail=6, fingers=2),
        pushes=(Push.constant("tail5", (0.0, 20.0, 0.0), 0.3, 0.2),
                Push.constant("chest", (0.0, 90.0, 0.0), 0.3, 0.2))),
    "any tree": lambda: Scene(
        *synthetic.random_tree(15, 4, rate=30, duration=0.8),
        pushes=(Push.constant("link7", (0.0, 60.0, 30.0), 0.2, 0.2),)),
    "captured walk": lambda: captured("walk_cmu_02_01", (0.0, 300.0, 0.0)),
    "captured crawl": lambda: replace(captured("walk_crawl_cmu_133_01", (0.0, 300.0, 0.0)), frames=(250, 310), pushes=(
        Push.constant("Spine1", (0.0, 300.0, 0.0), 4.4, 0.2),)),
}


@cache
def scene_of(name: str) -> Scene:
    return SCENES[name]()


every = pytest.mark.parametrize("kind", controllers(), ids=lambda kind: kind.__name__)
everywhere = pytest.mark.parametrize("name", [
    pytest.param(name, marks=needs_clips if name.startswith("captured") else ()) for name in SCENES])


def rollout(scene: Scene, kind: type) -> Iterator[tuple[Controller, int, State, Step]]:
    """Every sub-step of a bake."""
    controller = kind(scene)
    state = controller.start()
    for k in range(controller.clip.steps):
        step = controller.step(state, k)
        yield controller, k, state, step
        state = step.state


def dynamics_at(controller: Controller, k: int, state: State, step: Step) -> tuple[Shape, Dynamics]:
    """The character, with its loads as point masses, at the beginning of a step; `force` is the bias."""
    clip = controller.clip
    scene, tree, shape = clip.scene, clip.tree, clip.shape.at(k)
    inertias = shape.inertias.copy()
    for load, mass in zip(scene.loads, step.loads, strict=True):
        inertias[clip.character.index(load.body)] += spatial_inertia(np.array(mass), load.point, np.zeros((3, 3)))
    shape = Shape(shape.offsets, inertias, shape.points)
    pose = forward(tree, shape.offsets, state.position, state.rotations)
    return shape, dynamics(tree, shape, pose, state.velocity, np.zeros(tree.nv), scene.gravity)


def external_force(controller: Controller, motion: Dynamics, state: State, dt: float) -> np.ndarray:
    """J_ext^T f_ext of the scene's pushes."""
    clip = controller.clip
    total = np.zeros(clip.tree.nv)
    for push in clip.scene.pushes:
        link = clip.character.index(push.body)
        force = push.mean_force(state.time, state.time + dt)
        if push.frame == "body":
            force = motion.pose.R[link] @ force
        place = motion.pose.position + motion.pose.x[link] + motion.pose.R[link] @ push.point
        total += point_jacobian(clip.tree, motion, np.array([link]), place[None])[0].T @ force
    return total


def test_the_folder_has_controllers() -> None:
    assert "QuasiPhysical" in {kind.__name__ for kind in controllers()}


@every
@everywhere
def test_every_step_balances(kind: type, name: str) -> None:
    for controller, k, state, step in rollout(scene_of(name), kind):
        clip = controller.clip
        tree, links = clip.tree, clip.character.points.link
        shape, motion = dynamics_at(controller, k, state, step)
        assert motion.M is not None
        touch = points(motion.pose, motion, links, shape.points).position
        J_c = point_jacobian(tree, motion, links, touch)
        needed = motion.M @ step.acceleration + motion.force
        given = step.torque + np.einsum("pij,pi->j", J_c, step.forces)
        external = external_force(controller, motion, state, float(clip.dt[k]))
        given += external
        given[:6] += step.aid
        scale = max(1.0, np.abs(needed).max(), np.abs(step.torque).max())
        assert np.abs(needed - given).max() < JUDGE * scale, f"step {k}"
        assert np.abs(step.external - external).max() < JUDGE * scale, f"step {k}"


@every
@everywhere
def test_every_step_is_finite_and_leads_where_its_acceleration_points(kind: type, name: str) -> None:
    for controller, k, state, step in rollout(scene_of(name), kind):
        tree, dt, after = controller.clip.tree, float(controller.clip.dt[k]), step.state
        for values in (after.position, after.rotations, after.velocity, step.acceleration, step.torque, step.aid,
                       step.forces, step.external, step.loads):
            assert np.isfinite(values).all(), f"step {k}"
        assert after.time == pytest.approx(state.time + dt, abs=ROUNDING)
        speed = max(1.0, np.abs(after.velocity).max())
        assert np.abs(state.velocity + dt * step.acceleration - after.velocity).max() < JUDGE * speed
        position, rotations = advance(tree, state.position, state.rotations, after.velocity, dt)
        assert np.abs(position - after.position).max() < JUDGE * speed
        moved = np.setdiff1d(np.arange(tree.count), tree.fixed_links)  # welded links go with the reference
        assert np.abs(rotation.subtract(after.rotations, rotations)[moved]).max() < JUDGE
        assert np.abs(np.linalg.norm(after.rotations, axis=-1) - 1.0).max() < JUDGE


@every
@everywhere
def test_the_ground_only_pushes_and_within_its_friction(kind: type, name: str) -> None:
    pressed = 0
    for controller, k, state, step in rollout(scene_of(name), kind):
        clip = controller.clip
        assert (step.forces[~step.contacts] == 0.0).all(), "a force where nothing touches"
        shape, motion = dynamics_at(controller, k, state, step)
        place = points(motion.pose, motion, clip.character.points.link, shape.points).position
        ground = clip.terrain.probe(place, state.time)
        normal = (step.forces * ground.normal).sum(1)
        tangent = np.linalg.norm(step.forces - normal[:, None] * ground.normal, axis=1)
        slack = JUDGE * max(1.0, np.abs(normal).max(initial=0.0))
        assert (normal >= -slack).all(), f"step {k}: the ground pulls"
        assert (tangent <= ground.friction * normal + slack).all(), f"step {k}: more friction than there is"
        pressed += int((normal > 1.0).any())
    if name not in ("any tree", "squashed ghost"):
        assert pressed > 3, "nothing was carried: the promise would be empty"


@every
@everywhere
def test_muscles_do_not_hold_the_root(kind: type, name: str) -> None:
    for controller, k, state, step in rollout(scene_of(name), kind):
        assert (step.torque[:6] == 0.0).all()
        assert step.aid.shape == (6,)
        expected = [load.mass_at(state.time) for load in controller.clip.scene.loads]
        assert np.allclose(step.loads, expected, atol=ROUNDING), f"step {k}"


@every
@everywhere
def test_the_same_scene_gives_the_same_numbers_bit_for_bit(kind: type, name: str) -> None:
    once, again = (finish(bake(scene_of(name), kind(scene_of(name)))) for _ in range(2))
    assert same(once, again)


@every
def test_a_rebuilt_scene_gives_the_same_numbers_bit_for_bit(kind: type) -> None:
    """No memory between bakes, no dependence on object identity."""
    results = []
    for _ in range(2):
        scene = SCENES["pushed walk"]()
        results.append(finish(bake(scene, kind(scene))))
    assert same(*results)


def same(one: Result, other: Result) -> bool:
    parts = ("contacts", "forces", "torques", "aid", "reference_aid", "com", "zmp", "margin", "deviation", "slide",
             "reference_slide", "penetration", "reference_penetration")
    return (np.array_equal(one.motion.positions, other.motion.positions)
            and np.array_equal(one.motion.rotations, other.motion.rotations)
            and all(np.array_equal(getattr(one, part), getattr(other, part), equal_nan=True) for part in parts)
            and one.notes == other.notes)
