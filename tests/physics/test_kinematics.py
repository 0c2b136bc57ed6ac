"""Where links are, and how poses and tangents lead to one another."""

from itertools import pairwise

import numpy as np
import pytest

from solver.numerics import rotation
from solver.physics.dynamics import dynamics, points
from solver.physics.kinematics import advance, forward, place, tangent
from solver.physics.shape import shape_of
from solver.physics.tree import Tree
from tests.tolerances import ROUNDING
from tests.worlds import GRAVITY, humanoid, random_character, random_rotations, random_state

SEEDS = range(4)
FORMS = ("tree", "chain", "star")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_forward_is_the_walk_from_the_root(seed: int, form: str) -> None:
    character = random_character(40, seed, form=form)
    tree = Tree(character)
    state = random_state(tree, seed)
    pose = forward(tree, character.offsets, state.position, state.rotations)
    R, x = [rotation.matrix(state.rotations[0])], [np.zeros(3)]
    for i in range(1, len(character)):
        up = character.parents[i]
        x.append(x[up] + R[up] @ character.offsets[i])
        R.append(R[up] @ rotation.matrix(state.rotations[i]))
    assert np.abs(pose.R - R).max() < ROUNDING
    assert np.abs(pose.x - x).max() < ROUNDING
    np.testing.assert_array_equal(pose.position, state.position)


def test_the_rest_pose_is_where_the_character_says() -> None:
    character = humanoid()
    tree = Tree(character)
    pose = forward(tree, character.offsets, np.array([1.0, 2.0, 3.0]), np.tile(rotation.IDENTITY, (len(character), 1)))
    assert np.abs(pose.x - character.rest_positions).max() < ROUNDING
    assert np.abs(pose.R - np.eye(3)).max() == 0.0


@pytest.mark.parametrize("seed", SEEDS)
def test_placed_points_are_the_points_of_the_dynamics(seed: int) -> None:
    character = random_character(12, seed)
    tree, shape, state = Tree(character), shape_of(character), random_state(Tree(character), seed)
    pose = forward(tree, shape.offsets, state.position, state.rotations)
    motion = dynamics(tree, shape, pose, state.velocity, np.zeros(tree.nv), GRAVITY)
    links, local = np.array([0, 3, 3, 11]), np.random.default_rng(seed).normal(size=(4, 3))
    where = place(pose, links, local)
    assert np.abs(where - points(pose, motion, links, local).position).max() < ROUNDING
    expected = [state.position + pose.x[i] + pose.R[i] @ x for i, x in zip(links, local)]
    assert np.abs(where - expected).max() < ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_the_tree_counts_its_degrees_of_freedom(seed: int) -> None:
    character = random_character(30, seed, hinges=0.4, fixed=0.2)
    tree = Tree(character)
    assert tree.nv == 3 + sum({"ball": 3, "hinge": 1, "fixed": 0}[joint] for joint in character.joints)


# --- advance and tangent ------------------------------------------------------------------------------------


def difference(tree: Tree, after: tuple, before: tuple) -> np.ndarray:
    """q1 (-) q0 as a tangent."""
    return tangent(tree, rotation.subtract(after[1], before[1]), after[0] - before[0])


@pytest.mark.parametrize("dt", [1.0 / 240.0, 1.0 / 24.0, 0.4])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_tangent_undoes_advance(seed: int, form: str, dt: float) -> None:
    tree = Tree(random_character(30, seed, form=form))
    state = random_state(tree, seed, speed=1.0)
    v = np.clip(state.velocity, -1.0, 1.0) * (3.0 / np.sqrt(3.0) / max(dt, 0.4))  # just short of half a turn per step
    there = advance(tree, state.position, state.rotations, v, dt)
    assert np.abs(difference(tree, there, (state.position, state.rotations)) / dt - v).max() < ROUNDING / dt


@pytest.mark.parametrize("seed", SEEDS)
def test_advance_undoes_tangent(seed: int) -> None:
    tree = Tree(random_character(30, seed))
    first, second = random_state(tree, seed), random_state(tree, seed + 100)
    target = np.array(second.rotations)
    target[tree.fixed_links] = first.rotations[tree.fixed_links]
    for i in tree.hinge_links:  # an axis of its own: two angles differ by less than half a turn the short way
        target[i] = rotation.add(first.rotations[i], 2.5 * np.sin(i) * tree.character.axes[i])
    step = difference(tree, (second.position, target), (first.position, first.rotations))
    position, rotations = advance(tree, first.position, first.rotations, step, 1.0)
    assert np.abs(position - second.position).max() < ROUNDING
    assert np.abs(rotation.matrix(rotations) - rotation.matrix(target)).max() < ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_a_replay_of_the_differences_ends_where_the_motion_ends(seed: int) -> None:
    tree, generator = Tree(random_character(20, seed)), np.random.default_rng(seed)
    keys = [(np.zeros(3), random_rotations(tree, generator))]
    for _ in range(100):
        keys.append(advance(tree, *keys[-1], generator.normal(size=tree.nv), 1.0 / 30.0))
    pose = keys[0]
    for before, after in pairwise(keys):
        pose = advance(tree, *pose, 30.0 * difference(tree, after, before), 1.0 / 30.0)
    assert np.abs(pose[0] - keys[-1][0]).max() < ROUNDING
    assert np.abs(rotation.matrix(pose[1]) - rotation.matrix(keys[-1][1])).max() < ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_advance_keeps_fixed_joints_hinges_and_unit_length(seed: int) -> None:
    character = random_character(30, seed, hinges=0.4, fixed=0.3)
    tree = Tree(character)
    state = random_state(tree, seed)
    _, rotations = advance(tree, state.position, state.rotations, state.velocity, 0.1)
    assert np.abs(rotations[tree.fixed_links] - state.rotations[tree.fixed_links]).max() < ROUNDING
    assert np.abs(np.linalg.norm(rotations, axis=-1) - 1.0).max() < ROUNDING
    for i, dof in zip(tree.hinge_links, tree.hinge_dofs):
        off_axis = np.cross(rotations[i, 1:], character.axes[i])
        assert np.abs(off_axis).max() < ROUNDING
        turned = rotation.subtract(rotations[i], state.rotations[i]) @ character.axes[i]
        assert turned == pytest.approx(0.1 * state.velocity[dof], abs=ROUNDING)


def test_root_velocity_is_in_world_axes_and_rates_are_in_child_axes() -> None:
    character = humanoid()
    tree = Tree(character)
    quarter = rotation.exp(np.array([0.0, 0.0, np.pi / 2]))
    rotations = np.tile(rotation.IDENTITY, (len(character), 1))
    rotations[0] = quarter
    v = np.zeros(tree.nv)
    v[0], v[3] = 1.0, 1.0  # along the world's x, about the root's own x (the world's y)
    position, after = advance(tree, np.zeros(3), rotations, v, 0.5)
    assert np.abs(position - [0.5, 0.0, 0.0]).max() < ROUNDING
    expected = rotation.multiply(rotation.exp(np.array([0.0, 0.5, 0.0])), quarter)
    assert np.abs(rotation.matrix(after[0]) - rotation.matrix(expected)).max() < ROUNDING
    np.testing.assert_array_equal(after[1:], rotations[1:])
