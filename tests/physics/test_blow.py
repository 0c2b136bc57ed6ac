"""Blows on a body whose feet stand."""

import numpy as np
import pytest

from solver.physics.blow import answer, blow, caught
from solver.physics.dynamics import dynamics, point_jacobian, points
from solver.physics.kinematics import forward
from solver.physics.shape import shape_of
from solver.physics.tree import Tree
from tests.tolerances import JUDGE
from tests.worlds import GRAVITY, random_character, random_state

seeds = pytest.mark.parametrize("seed", range(6))


def body(seed: int) -> tuple[Tree, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(tree, M, J_com, planted J_c, struck J_x)"""
    character = random_character(12, seed)
    tree = Tree(character)
    state = random_state(tree, seed)
    pose = forward(tree, character.offsets, state.position, state.rotations)
    motion = dynamics(tree, shape_of(character), pose, state.velocity, np.zeros(tree.nv), GRAVITY)
    assert motion.M is not None and motion.J_com is not None
    links = np.array([5, 5, 11, 3])
    local = np.random.default_rng(seed).normal(size=(4, 3)) * 0.1
    J = point_jacobian(tree, motion, links, points(pose, motion, links, local).position)
    return tree, motion.M, motion.J_com, J[:3], J[3]


@seeds
def test_a_blow_gives_the_momentum_that_it_and_the_ground_have(seed: int) -> None:
    tree, M, J_com, J_c, J_x = body(seed)
    P = np.random.default_rng(seed).normal(size=3) * 20.0
    normals = np.tile([0.0, 0.0, 1.0], (3, 1))
    reply, ground = blow(M, J_c, normals, J_x.T @ P)
    dv = reply.to(J_x.T @ P)
    assert np.abs(tree.character.mass * J_com @ dv - P - ground.sum(0)).max() < 1e-6 * max(1.0, np.abs(ground).max())
    held = ground.any(1)
    assert np.abs(J_c[held] @ dv).max(initial=0.0) < 1e-5 * max(1.0, np.abs(dv).max()), "planted points stay"


@seeds
def test_a_body_in_the_air_answers_as_if_free(seed: int) -> None:
    _, M, _, J_c, J_x = body(seed)
    P = np.array([3.0, -2.0, 5.0])
    dv = blow(M, J_c[:0], np.zeros((0, 3)), J_x.T @ P)[0].to(J_x.T @ P)
    assert np.abs(M @ dv - J_x.T @ P).max() < JUDGE * max(1.0, np.abs(M @ dv).max())


@seeds
def test_a_joint_that_a_blow_drives_into_its_stop_is_caught_without_rebound(seed: int) -> None:
    tree, M, J_com, J_c, J_x = body(seed)
    reply = answer(M, J_c[:0])
    dv = reply.to(J_x.T @ np.array([30.0, -20.0, 10.0]))
    fastest = 6 + int(np.abs(dv[6:]).argmax())
    rows = np.zeros((2, tree.nv))
    rows[0, fastest] = -np.sign(dv[fastest])
    rows[1, 6] = 1.0
    floor = np.array([-0.4 * abs(dv[fastest]), -1e3])
    after = caught(reply, dv, rows, floor)
    assert rows[0] @ after == pytest.approx(floor[0], rel=1e-6)
    assert np.abs(J_com @ (after - dv)).max() < 1e-9 * max(1.0, np.abs(dv).max()), "a stop is within the body"
    assert after @ M @ after < dv @ M @ dv, "it takes energy"
    assert caught(reply, dv, rows, np.array([-1e3, -1e3])) is dv, "who stays clear of it is not touched"
