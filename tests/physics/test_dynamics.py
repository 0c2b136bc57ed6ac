"""Mass matrix, bias, Jacobians and what follows from them: two engines as judges, then theory."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from solver.model.character import Character, ContactPoints, Limb, Link
from solver.model.motion import Motion, uniform_times
from solver.model.state import State
from solver.numerics import rotation
from solver.physics.dynamics import Dynamics, Points, dynamics, point_jacobian, points
from solver.physics.kinematics import advance, forward
from solver.physics.shape import Shape, shape_of
from solver.physics.tree import Tree
from tests.judges import JUDGES, Verdict, judge
from tests.tolerances import DIFFERENCE, JUDGE, ROUNDING
from tests.worlds import (
    GRAVITY,
    biped,
    block,
    box_inertia,
    humanoid,
    pendulum,
    random_character,
    random_state,
)

FORMS = {
    "ten links, balls only": dict(links=10, seed=0, hinges=0.0, fixed=0.0),
    "ten links, mostly hinges": dict(links=14, seed=1, hinges=0.8, fixed=0.0),
    "twenty links": dict(links=20, seed=2),
    "twenty links, many fixed": dict(links=24, seed=3, hinges=0.2, fixed=0.5),
    "fifty links": dict(links=52, seed=4, hinges=0.1, fixed=0.02),
    "deep chain of balls": dict(links=40, seed=5, hinges=0.0, fixed=0.0, form="chain"),
    "deep chain of all kinds": dict(links=60, seed=6, form="chain"),
    "star": dict(links=30, seed=7, form="star"),
    "all hinges": dict(links=60, seed=8, hinges=1.0, fixed=0.0),
}  # fmt: skip
WORLDS = {"block": block, "pendulum": pendulum, "biped": biped, "humanoid": humanoid}


@dataclass(frozen=True)
class Case:
    """A character in a random state under a random acceleration, with six points on random links."""

    character: Character
    tree: Tree
    state: State
    a: np.ndarray
    links: np.ndarray
    local: np.ndarray

    def ours(self, a: np.ndarray | None = None, shape: Shape | None = None,
             gravity: np.ndarray = GRAVITY) -> tuple[Dynamics, Points]:
        shape = shape_of(self.character) if shape is None else shape
        pose = forward(self.tree, shape.offsets, self.state.position, self.state.rotations)
        motion = dynamics(self.tree, shape, pose, self.state.velocity, self.a if a is None else a, gravity)
        return motion, points(pose, motion, self.links, self.local)

    def free_fall(self, gravity: np.ndarray = GRAVITY) -> np.ndarray:
        """The acceleration without muscles or ground:  M a = -h."""
        motion, _ = self.ours(np.zeros(self.tree.nv), gravity=gravity)
        return np.linalg.solve(motion.M, -motion.force)

    def at(self, time: float, a: np.ndarray) -> "Case":
        """The case a short time later (or earlier), exact to second order."""
        step = time * self.state.velocity + 0.5 * time * time * a
        position, rotations = advance(self.tree, self.state.position, self.state.rotations, step, 1.0)
        return replace(self, state=replace(self.state, position=position, rotations=rotations,
                                           velocity=self.state.velocity + time * a))


@cache
def case_of(name: str) -> Case:
    if name in WORLDS:
        return make_case(WORLDS[name](), 11)
    form = FORMS[name]
    speed = 1.0 if "chain" in name else 3.0  # rates add up along a chain: this keeps forces below 1e5 N
    return make_case(random_character(**form), form["seed"], speed=speed)


def make_case(character: Character, seed: int, **state: float) -> Case:
    tree, generator = Tree(character), np.random.default_rng(seed)
    links = generator.integers(0, len(character), 6)
    links[0] = len(character) - 1
    return Case(character, tree, random_state(tree, seed, **state), generator.normal(size=tree.nv) * 10.0, links,
                generator.normal(size=(6, 3)) * 0.3)


@pytest.fixture(params=list(FORMS) + list(WORLDS))
def case(request: pytest.FixtureRequest) -> Case:
    return case_of(request.param)


def largest(difference: np.ndarray) -> float:
    return float(np.abs(difference).max())


def test_the_random_trees_cover_what_they_promise() -> None:
    cases = [case_of(name) for name in FORMS]
    sizes = [case.tree.nv for case in cases]
    assert min(sizes) <= 30 and max(sizes) >= 140
    depths = [int(case.character.is_ancestor.sum(1).max()) for case in cases]
    assert min(depths) == 2 and max(depths) == 60
    for joint in ("ball", "hinge", "fixed"):
        assert sum(joint in case.character.joints for case in cases) >= 4
    nested = [case for case in cases for i in range(1, len(case.character)) if case.character.joints[i] == "fixed"
              and case.character.parents[i] > 0 and case.character.joints[case.character.parents[i]] == "fixed"]
    assert nested, "a fixed joint on a fixed joint"


@pytest.mark.parametrize("engine", JUDGES)
def test_another_engine_agrees_on_everything(case: Case, engine: str) -> None:
    verdict: Verdict = judge(engine, case.character, case.state, case.a, GRAVITY, case.links, case.local)
    ours, there = case.ours()
    assert verdict.M.shape == (case.tree.nv, case.tree.nv)
    arm = ours.com - ours.pose.position
    angular = ours.momentum[:3] - np.cross(arm, ours.momentum[3:])
    J = point_jacobian(case.tree, ours, case.links, there.position)
    for name, mine in {
        "M": ours.M, "force": ours.force, "com": ours.com, "com_acceleration": ours.com_acceleration,
        "J_com": ours.J_com, "momentum": np.concatenate((angular, ours.momentum[3:])), "position": there.position,
        "velocity": there.velocity, "acceleration": there.acceleration, "J": J,
    }.items():
        theirs = getattr(verdict, name)
        assert mine.shape == theirs.shape, name
        assert largest(mine - theirs) < JUDGE, name


@pytest.mark.parametrize("engine", JUDGES)
def test_bias_and_drift_terms_agree_when_nothing_accelerates(case: Case, engine: str) -> None:
    zero = np.zeros(case.tree.nv)
    verdict: Verdict = judge(engine, case.character, case.state, zero, GRAVITY, case.links, case.local)
    ours, there = case.ours(zero)
    assert largest(ours.force - verdict.force) < JUDGE  # h
    assert largest(there.acceleration - verdict.acceleration) < JUDGE  # Jdot v
    assert largest(ours.com_acceleration - verdict.com_acceleration) < JUDGE  # Jdot_com v


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("engine", JUDGES)
def test_a_sideways_gravity_is_as_good_as_any(engine: str, seed: int) -> None:
    gravity = np.array([3.0, -4.0, 1.5])
    case = make_case(random_character(15, seed), seed)
    verdict: Verdict = judge(engine, case.character, case.state, case.a, gravity, case.links, case.local)
    assert largest(case.ours(gravity=gravity)[0].force - verdict.force) < JUDGE


def test_force_is_mass_times_acceleration_plus_bias(case: Case) -> None:
    moving, resting = case.ours()[0], case.ours(np.zeros(case.tree.nv))[0]
    assert largest(moving.M @ case.a + resting.force - moving.force) < JUDGE


def test_the_mass_matrix_is_symmetric_and_positive(case: Case) -> None:
    M = case.ours()[0].M
    assert largest(M - M.T) < ROUNDING * largest(M)
    assert np.linalg.eigvalsh(M)[0] > 0.0


def test_momentum_is_what_the_jacobian_says(case: Case) -> None:
    ours, _ = case.ours()
    assert largest(ours.momentum[3:] - case.character.mass * ours.J_com @ case.state.velocity) < JUDGE


def test_points_move_as_their_jacobian_says(case: Case) -> None:
    ours, there = case.ours()
    _, drifting = case.ours(np.zeros(case.tree.nv))
    J = point_jacobian(case.tree, ours, case.links, there.position)
    assert largest(J @ case.state.velocity - there.velocity) < JUDGE
    assert largest(J @ case.a + drifting.acceleration - there.acceleration) < JUDGE


def test_without_the_mass_matrix_everything_else_is_the_same(case: Case) -> None:
    shape = shape_of(case.character)
    pose = forward(case.tree, shape.offsets, case.state.position, case.state.rotations)
    full, lean = (dynamics(case.tree, shape, pose, case.state.velocity, case.a, GRAVITY, mass_matrix=wanted)
                  for wanted in (True, False))
    assert lean.M is None and lean.J_com is None
    for name in ("force", "wrench", "com", "com_acceleration", "momentum", "V", "A"):
        assert largest(getattr(full, name) - getattr(lean, name)) < JUDGE, name


def test_the_wrench_is_the_root_force_in_world_axes(case: Case) -> None:
    ours, _ = case.ours()
    assert largest(ours.wrench[3:] - ours.force[:3]) < JUDGE
    assert largest(ours.pose.R[0].T @ ours.wrench[:3] - ours.force[3:6]) < JUDGE


def test_the_input_is_left_alone(case: Case) -> None:
    shape, state = shape_of(case.character), case.state
    given = (state.position, state.rotations, state.velocity, case.a, shape.inertias, shape.offsets, GRAVITY)
    kept = [np.array(x) for x in given]
    case.ours(shape=shape)
    for before, after in zip(kept, given):
        np.testing.assert_array_equal(before, after)


# --- frames at once -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stretched", [False, True], ids=["constant shape", "offsets and scales per frame"])
@pytest.mark.parametrize("seed", range(3))
def test_many_frames_at_once_equal_one_by_one(seed: int, stretched: bool) -> None:
    frames, generator = 7, np.random.default_rng(seed)
    character = random_character(12, seed)
    tree = Tree(character)
    states = [random_state(tree, 10 * seed + k) for k in range(frames)]
    position, rotations, v = (np.stack([getattr(s, name) for s in states])
                              for name in ("position", "rotations", "velocity"))
    a = generator.normal(size=v.shape)
    if stretched:
        motion = Motion(uniform_times(frames, 30.0), position, rotations,
                        offsets=character.offsets + 0.1 * generator.normal(size=(frames, 12, 3)),
                        scales=generator.uniform(0.5, 2.0, size=(frames, 12, 3)))
        shape = shape_of(character, motion)
    else:
        shape = shape_of(character)
    assert shape.is_constant is not stretched
    links, local = np.array([0, 5, 5, 11]), generator.normal(size=(4, 3))
    for wanted in (True, False):
        pose = forward(tree, shape.offsets, position, rotations)
        together = dynamics(tree, shape, pose, v, a, GRAVITY, mass_matrix=wanted)
        there = points(pose, together, links, local)
        for k in range(frames):
            own = shape.at(k)
            one_pose = forward(tree, own.offsets, position[k], rotations[k])
            one = dynamics(tree, own, one_pose, v[k], a[k], GRAVITY, mass_matrix=wanted)
            here = points(one_pose, one, links, local)
            names = ("force", "wrench", "com", "com_acceleration", "momentum") + (("M", "J_com") if wanted else ())
            for name in names:
                assert largest(getattr(together, name)[k] - getattr(one, name)) < JUDGE, name
            for name in ("position", "velocity", "acceleration"):
                assert largest(getattr(there, name)[k] - getattr(here, name)) < JUDGE, name
            assert largest(pose.R[k] - one_pose.R) < ROUNDING
            assert largest(pose.x[k] - one_pose.x) < ROUNDING


# --- far from home ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_ten_kilometres_away_the_numbers_are_the_same_bits(seed: int) -> None:
    case = make_case(random_character(30, seed), seed)
    near, near_points = case.ours()
    far_state = replace(case.state, position=case.state.position + np.array([1e4, -1e4, 1e4]))
    far, far_points = replace(case, state=far_state).ours()
    for name in ("M", "J_com", "force", "wrench", "com_acceleration", "momentum"):
        np.testing.assert_array_equal(getattr(far, name), getattr(near, name), err_msg=name)
    np.testing.assert_array_equal(far_points.velocity, near_points.velocity)
    np.testing.assert_array_equal(far_points.acceleration, near_points.acceleration)
    assert largest((far.com - far_state.position) - (near.com - case.state.position)) < 1e4 * ROUNDING


@pytest.mark.parametrize("engine", JUDGES)
def test_ten_kilometres_away_the_judges_still_agree(engine: str) -> None:
    case = make_case(random_character(30, 5), 5, far=1e4)
    verdict: Verdict = judge(engine, case.character, case.state, case.a, GRAVITY, case.links, case.local)
    ours, there = case.ours()
    # theirs lose digits out there: a millionth of a millimetre is what a position of 1e4 m carries
    assert largest(ours.M - verdict.M) < 1e4 * ROUNDING * largest(ours.M)
    assert largest(ours.force - verdict.force) < 1e4 * ROUNDING * largest(ours.force)
    assert largest(there.position - verdict.position) < 1e4 * ROUNDING


@pytest.mark.parametrize("seed", range(2))
def test_point_jacobians_lose_nothing_that_the_position_still_has(seed: int) -> None:
    case = make_case(random_character(20, seed), seed)
    far_case = replace(case, state=replace(case.state, position=case.state.position + np.array([1e4, -1e4, 1e4])))
    (near, here), (far, there) = case.ours(), far_case.ours()
    J, J_far = (point_jacobian(case.tree, m, case.links, p.position) for m, p in ((near, here), (far, there)))
    assert largest(J - J_far) < 1e4 * ROUNDING


# --- theory -------------------------------------------------------------------------------------------------


def test_a_thrown_body_falls_at_g_whatever_its_limbs_do(case: Case) -> None:
    a = case.free_fall()
    assert largest(case.ours(a)[0].force) < JUDGE * max(1.0, largest(a))
    assert largest(case.ours(a)[0].com_acceleration - GRAVITY) < JUDGE


def test_the_centre_of_mass_accelerates_as_force_over_mass(case: Case) -> None:
    ours, _ = case.ours()
    assert largest(ours.force[:3] / case.character.mass + GRAVITY - ours.com_acceleration) < JUDGE


def test_power_is_the_rate_of_energy(case: Case) -> None:
    def energy(moment: Case) -> float:
        there, _ = moment.ours(np.zeros(moment.tree.nv))
        v = moment.state.velocity
        return float(0.5 * v @ there.M @ v - moment.character.mass * GRAVITY @ there.com)

    eps = 1e-5
    rate = (energy(case.at(eps, case.a)) - energy(case.at(-eps, case.a))) / (2.0 * eps)
    power = float(case.state.velocity @ case.ours()[0].force)
    scale = float(np.abs(case.state.velocity) @ np.abs(case.ours()[0].force))
    assert abs(rate - power) < DIFFERENCE * scale


def test_angular_momentum_changes_by_the_outside_moment_and_by_nothing_else(case: Case) -> None:
    def spin(moment: Case) -> np.ndarray:
        there, _ = moment.ours()
        return there.momentum[:3] - np.cross(there.com - there.pose.position, there.momentum[3:])

    def rate(a: np.ndarray, eps: float = 1e-5) -> np.ndarray:
        return (spin(case.at(eps, a)) - spin(case.at(-eps, a))) / (2.0 * eps)

    ours, _ = case.ours()
    moment = ours.wrench[:3] - np.cross(ours.com - ours.pose.position, ours.wrench[3:])
    assert largest(rate(case.a) - moment) < 10.0 * DIFFERENCE * max(1.0, largest(ours.force))
    falling = case.free_fall()
    assert largest(rate(falling)) < 10.0 * DIFFERENCE * max(1.0, largest(ours.force))
    assert largest(moment) > 1e3 * largest(rate(falling)), "the moment is one that the differences can see"


def test_point_acceleration_is_the_derivative_of_point_velocity(case: Case) -> None:
    eps = 1e-5
    later, earlier = (case.at(t, case.a).ours()[1] for t in (eps, -eps))
    _, now = case.ours()
    scale = max(1.0, largest(now.acceleration))
    assert largest((later.position - earlier.position) / (2.0 * eps) - now.velocity) < DIFFERENCE * scale
    assert largest((later.velocity - earlier.velocity) / (2.0 * eps) - now.acceleration) < 10.0 * DIFFERENCE * scale


@pytest.mark.parametrize("angle", [-2.0, -0.3, 0.0, 0.5, 1.5])
def test_a_held_pendulum_obeys_its_equation(angle: float) -> None:
    length, mass, inertia, rate = 0.7, 3.0, 0.02, 1.7
    character = pendulum(length, mass, inertia)
    tree, shape = Tree(character), shape_of(character)
    rotations = np.stack((rotation.IDENTITY, rotation.exp(angle * np.array([0.0, 1.0, 0.0]))))
    v = np.array([0.0] * 6 + [rate])
    pose = forward(tree, shape.offsets, np.zeros(3), rotations)
    ours = dynamics(tree, shape, pose, v, np.zeros(7), GRAVITY)
    assert ours.M[6, 6] == pytest.approx(inertia + mass * length**2, rel=ROUNDING)
    assert ours.force[6] == pytest.approx(mass * 9.81 * length * np.sin(angle), abs=ROUNDING * 100.0)
    pull = mass * rate**2 * length  # what the string adds to the anchor, towards the anchor
    expected = pull * np.array([np.sin(angle), 0.0, np.cos(angle)]) + np.array([0.0, 0.0, character.mass * 9.81])
    assert largest(ours.force[:3] - expected) < ROUNDING * 100.0


@pytest.mark.parametrize("seed", range(4))
def test_a_tumbling_block_obeys_eulers_equations(seed: int) -> None:
    size, mass = (0.2, 0.3, 0.4), 2.0
    case = make_case(block(mass, size), seed)
    I, w = box_inertia(mass, size), case.state.velocity[3:]
    a = case.free_fall()
    assert largest(a[:3] - GRAVITY) < ROUNDING * 100.0
    assert largest(I @ a[3:] + np.cross(w, I @ w)) < ROUNDING * 100.0


def test_standing_still_takes_the_weight_and_nothing_else() -> None:
    character = biped()
    tree, shape = Tree(character), shape_of(character)
    pose = forward(tree, shape.offsets, np.array([0.0, 0.0, 0.9]), np.tile(rotation.IDENTITY, (len(character), 1)))
    zero = np.zeros(tree.nv)
    ours = dynamics(tree, shape, pose, zero, zero, GRAVITY)
    assert largest(ours.wrench[3:] + character.mass * GRAVITY) < JUDGE
    assert largest(ours.wrench[:3] - np.cross(ours.com - pose.position, -character.mass * GRAVITY)) < JUDGE
    assert largest(ours.com_acceleration) < ROUNDING


# --- shape --------------------------------------------------------------------------------------------------


def scaled_motion(character: Character, scales: np.ndarray, offsets: np.ndarray | None = None) -> Motion:
    frames = 2
    return Motion(uniform_times(frames, 30.0), np.zeros((frames, 3)),
                  np.tile(rotation.IDENTITY, (frames, len(character), 1)),
                  offsets=None if offsets is None else np.tile(offsets, (frames, 1, 1)),
                  scales=np.tile(scales, (frames, len(character), 1)))


@pytest.mark.parametrize("seed", range(3))
def test_uniform_scale_two_multiplies_inertia_by_four(seed: int) -> None:
    character = random_character(8, seed)
    once = shape_of(character, scaled_motion(character, np.ones(3))).at(0)
    twice = shape_of(character, scaled_motion(character, np.full(3, 2.0))).at(0)
    assert largest(once.inertias - shape_of(character).inertias) < ROUNDING
    assert largest(twice.inertias[:, :3, :3] - 4.0 * once.inertias[:, :3, :3]) < ROUNDING * 10.0
    assert largest(twice.inertias[:, :3, 3:] - 2.0 * once.inertias[:, :3, 3:]) < ROUNDING
    assert largest(twice.inertias[:, 3:, 3:] - once.inertias[:, 3:, 3:]) < ROUNDING


@pytest.mark.parametrize("seed", range(3))
def test_squash_and_stretch_moves_mass_like_a_cloud_of_points(seed: int) -> None:
    generator = np.random.default_rng(seed)
    cloud, scale, mass = generator.normal(size=(20, 3)), np.array([0.5, 1.0, 3.0]), 4.0

    def moments(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        com = x.mean(0)
        second = mass * (x - com).T @ (x - com) / len(x)
        return com, np.trace(second) * np.eye(3) - second

    def build(x: np.ndarray) -> Character:
        com, inertia = moments(x)
        return Character.build([Link("jelly", tip=(0.0, 0.0, 1.0), mass=mass, com=com, inertia=inertia)])

    character = build(cloud)
    stretched = shape_of(character, scaled_motion(character, scale)).at(1)
    assert largest(stretched.inertias - shape_of(build(cloud * scale)).inertias) < ROUNDING * 1e3


def test_scale_carries_the_skin_along() -> None:
    place = np.array([0.1, 0.2, -0.3])
    character = biped().with_points(ContactPoints.build([(Limb("foot", "foot"), 3, place, 0, 0.0)]))
    assert largest(shape_of(character).points[0] - place) == 0.0
    scales = np.array([2.0, 0.5, 1.0])
    assert largest(shape_of(character, scaled_motion(character, scales)).at(0).points[0] - scales * place) < ROUNDING


@pytest.mark.parametrize("engine", JUDGES)
@pytest.mark.parametrize("seed", range(2))
def test_offsets_of_the_motion_are_honoured(seed: int, engine: str) -> None:
    generator = np.random.default_rng(seed)
    character = random_character(10, seed)
    offsets = character.offsets + generator.normal(size=character.offsets.shape)
    case = make_case(character, seed)
    shape = shape_of(character, scaled_motion(character, np.ones(3), offsets)).at(1)
    ours, there = case.ours(shape=shape)
    verdict: Verdict = judge(engine, replace(character, offsets=offsets), case.state, case.a, GRAVITY, case.links,
                             case.local)
    for mine, theirs in ((ours.M, verdict.M), (ours.force, verdict.force), (there.position, verdict.position)):
        assert largest(mine - theirs) < JUDGE


def test_a_motion_without_stretch_has_one_shape() -> None:
    character = biped()
    motion = Motion(uniform_times(2, 30.0), np.zeros((2, 3)), np.tile(rotation.IDENTITY, (2, len(character), 1)))
    shape = shape_of(character, motion)
    assert shape.is_constant and shape.at(1) is shape
    np.testing.assert_array_equal(shape.inertias, shape_of(character).inertias)
