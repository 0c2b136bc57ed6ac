"""A body that yields: its skin, its joint limits, its muscles, and what keeps its momentum and energy honest."""

import numpy as np
import pytest

from solver.model.character import ContactPoints, Limb
from solver.model.scene import Load, Push, Scene
from solver.numerics import rotation
from solver.physics.dynamics import Dynamics, dynamics, point_jacobian
from solver.physics.kinematics import advance, forward
from solver.physics.limits import FARTHEST, JointLimits, bending_limits
from solver.physics.outside import load_masses, loaded, pushed
from solver.physics.shape import shape_of
from solver.physics.skin import skin_points
from solver.physics.tree import Tree
from solver.physics.yielding import Muscles, drained, kinetic_energy, own_momentum, root_velocity, yielding_body
from solver.references.clip import Clip
from tests import worlds
from tests.clips import synthetic
from tests.tolerances import JUDGE, ROUNDING
from tests.worlds import GRAVITY

SEEDS = range(4)
DT = 1.0 / 120.0


def moving(seed: int, links: int = 12) -> tuple[Tree, np.ndarray, Dynamics]:
    """(tree, velocity, dynamics) of a random body in random motion."""
    character = worlds.random_character(links, seed)
    tree = Tree(character)
    state = worlds.random_state(tree, seed)
    pose = forward(tree, character.offsets, state.position, state.rotations)
    return tree, state.velocity, dynamics(tree, shape_of(character), pose, state.velocity, np.zeros(tree.nv), GRAVITY)


# ---------------------------------------------------------------------------------------------------------- skin

@pytest.mark.parametrize("make", [synthetic.walk, synthetic.trot], ids=["biped", "quadruped"])
def test_every_link_has_skin_and_soles_are_the_contact_points(make: object) -> None:
    clip = Clip(Scene(*make(rate=30, duration=1.2)))  # type: ignore[operator]
    character = clip.character
    skin = skin_points(character)
    ends = {int(i) for i in skin.link} | {int(character.parents[i]) for i in range(1, len(character))}
    assert ends == set(range(len(character)))
    points = character.points
    feet = np.flatnonzero(points.of_kind("foot"))
    assert sorted(skin.point[skin.is_sole]) == sorted(feet)
    np.testing.assert_array_equal(skin.position[skin.is_sole], points.position[skin.point[skin.is_sole]])
    assert (skin.radius[skin.is_sole] == 0.0).all() and (skin.radius[~skin.is_sole] > 0.005).all()
    assert skin.radius.max() < 0.2 * character.leg_length


def test_a_standing_body_touches_with_its_soles_alone() -> None:
    clip = Clip(Scene(*synthetic.squat(rate=30, duration=1.2)))
    skin = skin_points(clip.character)
    pose = forward(clip.tree, clip.shape.offsets, clip.positions[0], clip.rotations[0])
    height = (clip.positions[0] + pose.x[skin.link] + (pose.R[skin.link] @ skin.position[..., None])[..., 0])[:, 2]
    gap = height - skin.radius - clip.ground
    assert gap[~skin.is_sole].min() > 0.0
    assert np.abs(gap[skin.is_sole]).max() < 0.02


def test_points_given_for_a_link_are_its_skin() -> None:
    character = worlds.block()
    assert (skin_points(character).point == -1).all()
    corners = ContactPoints.build([(Limb("block", "body"), 0, (0.1 * x, 0.2, 0.3), 0, 0.01) for x in (-1, 1)])
    skin = skin_points(character.with_points(corners))
    np.testing.assert_array_equal(skin.position, corners.position)
    assert (skin.radius == 0.01).all() and (skin.point == [0, 1]).all()


# ---------------------------------------------------------------------------------------------------------- limits

def test_a_joint_comes_to_its_limit_and_not_past_it() -> None:
    character = worlds.pendulum()
    tree = Tree(character)
    limits = JointLimits(tree, np.full((2, 3), -0.4), np.full((2, 3), 0.7))
    rotations = np.tile(rotation.IDENTITY, (2, 1))
    v = np.zeros(tree.nv)
    reached = []
    for _ in range(240):
        v[6] = 9.0  # as fast as it likes
        table = limits.at(rotations, DT)
        stops = table.stops(np.flatnonzero(table.near(v)), np.zeros(len(limits)))
        for row, floor in zip(stops.jacobian, stops.floor, strict=True):
            if row @ v < floor:
                v[6] = floor / row[6]
        assert table.slack(v).min() >= -ROUNDING
        rotations = advance(tree, np.zeros(3), rotations, v, DT)[1]
        reached.append(float(rotation.twist_angle(rotations[1], character.axes[1])))
        assert limits.excess(rotations) < ROUNDING
    assert reached[-1] == pytest.approx(0.7, abs=1e-6) and (np.diff(reached) > -ROUNDING).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_a_ball_are_the_rates_of_its_angles(seed: int) -> None:
    character = worlds.random_character(6, seed, hinges=0.0, fixed=0.0)
    tree, generator = Tree(character), np.random.default_rng(seed)
    rotations = rotation.exp(generator.normal(size=(6, 3)) * 0.6)
    axes = rotation.matrix(rotation.normalised(generator.normal(size=(6, 4))))
    limits = JointLimits(tree, np.full((6, 3), -1.0), np.full((6, 3), 1.0), axes)
    v = generator.normal(size=tree.nv)
    table, h = limits.at(rotations, DT), 1e-6

    def angles(step: float) -> np.ndarray:
        moved = advance(tree, np.zeros(3), rotations, v, step)[1]
        return (axes[1:] @ rotation.log(moved[1:])[..., None])[..., 0].ravel()

    rate = (angles(h) - angles(-h)) / (2.0 * h)
    assert np.abs((table.rows * v[table.columns]).sum(1)[15:30] - rate).max() < 1e-6   # lower stops: + rate
    assert np.abs((table.rows * v[table.columns]).sum(1)[:15] + rate).max() < 1e-6     # upper stops: - rate


def test_a_ball_never_turns_so_far_that_its_rotation_vector_flips() -> None:
    character = worlds.random_character(2, 0, hinges=0.0, fixed=0.0)
    limits = JointLimits(Tree(character), np.full((2, 3), -np.inf), np.full((2, 3), np.inf))
    turned = np.stack((rotation.IDENTITY, rotation.exp(np.array([0.0, FARTHEST, 0.0]))))
    table = limits.at(turned, DT)
    v = np.zeros(9)
    v[7] = 1.0
    assert table.slack(v).min() == pytest.approx(-1.0)


def test_knees_that_are_balls_bend_like_knees() -> None:
    character, motion = synthetic.walk(rate=30, duration=2.2)
    clip = Clip(Scene(character, motion))
    axes, lower, upper = bending_limits(clip.tree, clip.rotations, clip.lower, clip.upper)
    limits = JointLimits(clip.tree, lower, upper, axes)
    assert max(limits.excess(pose) for pose in clip.rotations) < ROUNDING, "the clip itself must be within"
    knee = character.index("shank.L")
    pose = clip.rotations[0].copy()
    for angle, least in ((0.0, 0.0), (2.3, 0.0), (-0.5, 0.4)):  # straight, folded, bent backwards
        pose[knee] = rotation.exp(np.array([0.0, angle, 0.0]))
        excess = limits.excess(pose)
        assert excess == pytest.approx(0.0, abs=0.02) if least == 0.0 else excess > least
    pose[knee] = rotation.exp(np.array([0.6, 0.3, 0.0]))  # aside
    assert limits.excess(pose) > 0.3


# ---------------------------------------------------------------------------------------------------------- muscles

@pytest.mark.parametrize("stiffness", [0.0, 1e2, 1e8])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_the_muscles_did_is_known_exactly(seed: int, stiffness: float) -> None:
    """M a + h = tau + J_ext^T f_ext  with  tau = drive - drag v+ - armature a."""
    tree, v, motion = moving(seed)
    generator = np.random.default_rng(seed)
    assert motion.M is not None
    muscles = Muscles(np.full(tree.nv, stiffness), np.full(tree.nv, 0.1 * stiffness), np.full(tree.nv, 0.01),
                      generator.normal(size=tree.nv), generator.normal(size=tree.nv), generator.normal(size=tree.nv))
    external = generator.normal(size=tree.nv) * 50.0
    v_next = yielding_body(motion.M, motion.force, external, muscles, v, DT).velocity
    a = (v_next - v) / DT
    tau = muscles.drive(DT) - muscles.drag(DT) * v_next - muscles.armature * a
    scale = max(1.0, np.abs(tau).max(), np.abs(motion.M @ a).max(), stiffness)
    assert np.abs(motion.M @ a + motion.force - tau - external).max() < JUDGE * scale


def test_even_very_stiff_muscles_do_not_overshoot() -> None:
    M, still = np.eye(1), np.zeros(1)
    x, v = 1.0, np.zeros(1)
    for _ in range(50):
        muscles = Muscles(np.array([1e9]), np.array([1.0]), still, np.array([-x]), still, still)
        v = yielding_body(M, still, still, muscles, v, DT).velocity
        x += DT * float(v[0])
        assert -1e-4 <= x <= 1.0
    assert x < 1e-6


@pytest.mark.parametrize("seed", SEEDS)
def test_the_root_takes_up_any_momentum(seed: int) -> None:
    tree, v, motion = moving(seed)
    linear, angular = own_momentum(motion)
    assert np.abs(root_velocity(motion, v, linear, angular) - v).max() < JUDGE * np.abs(v).max()
    wanted = (np.array([1.0, -2.0, 3.0]), np.array([0.5, 0.4, -0.3]))
    new = root_velocity(motion, v, *wanted)
    np.testing.assert_array_equal(new[6:], v[6:])
    shape = shape_of(tree.character)
    again = dynamics(tree, shape, motion.pose, new, np.zeros(tree.nv), GRAVITY)
    for have, want in zip(own_momentum(again), wanted):
        assert np.abs(have - want).max() < JUDGE * max(1.0, np.abs(v).max())


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_draining_takes_energy_and_no_momentum(seed: int, share: float) -> None:
    tree, v, motion = moving(seed)
    assert motion.M is not None
    inner = v - root_velocity(motion, np.zeros(tree.nv), *own_momentum(motion))
    own = kinetic_energy(motion.M, inner)
    new = drained(motion.M, v, share * own)
    lost = kinetic_energy(motion.M, v) - kinetic_energy(motion.M, new)
    assert lost == pytest.approx(min(share, 1.0) * own, rel=1e-9, abs=1e-9)
    again = dynamics(tree, shape_of(tree.character), motion.pose, new, np.zeros(tree.nv), GRAVITY)
    assert np.abs(again.momentum - motion.momentum).max() < JUDGE * max(1.0, np.abs(motion.momentum).max())


# ---------------------------------------------------------------------------------------------------------- outside

def test_pushes_act_at_their_points_and_loads_weigh() -> None:
    character = worlds.humanoid()
    tree, state = Tree(character), worlds.random_state(Tree(character), 1)
    shape = shape_of(character)
    pose = forward(tree, shape.offsets, state.position, state.rotations)
    motion = dynamics(tree, shape, pose, state.velocity, np.zeros(tree.nv), GRAVITY)
    push = Push.constant("hand.L", (1.0, 2.0, 3.0), 0.0, 1.0, point=np.array([0.1, 0.0, 0.05]), frame="body")
    hand = character.index("hand.L")
    place = state.position + pose.x[hand] + pose.R[hand] @ push.point
    J = point_jacobian(tree, motion, np.array([hand]), place[None])[0]
    expected = J.T @ (pose.R[hand] @ [1.0, 2.0, 3.0])
    assert np.abs(pushed(tree, motion, (push,), 0.2, 0.3) - expected).max() < ROUNDING * 100
    assert (pushed(tree, motion, (push,), 1.0, 1.1) == 0.0).all()
    loads = (Load("hand.L", 5.0, 0.0, 1.0, push.point, 0.0), Load("chest", 2.0, 3.0))
    masses = load_masses(loads, 0.5)
    assert masses == pytest.approx([5.0, 0.0])
    heavy = loaded(tree, shape, loads, masses)
    more = dynamics(tree, heavy, pose, 0 * state.velocity, np.zeros(tree.nv), GRAVITY).force
    less = dynamics(tree, shape, pose, 0 * state.velocity, np.zeros(tree.nv), GRAVITY).force
    assert np.abs(more - less + J.T @ (5.0 * GRAVITY)).max() < JUDGE * 100
    assert loaded(tree, shape, loads, np.zeros(2)) is shape
