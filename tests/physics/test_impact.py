"""Contact and impact: what touches stops, sticks or slides as Coulomb says, and nobody gains energy by it."""

import numpy as np
import pytest

from solver.errors import SolverError
from solver.model.arrays import Array
from solver.numerics.cone_complementarity import solve_cones
from solver.physics.impact import CALM, SLOP, Body, Contacts, Side, Stops, approach, resolve, tangent_frames
from tests.tolerances import JUDGE, ROUNDING

SEEDS = range(6)
DT = 1.0 / 120.0
UP = np.array([0.0, 0.0, 1.0])
SOLVED = 1e-7  # m/s, asked for where a law is judged
NONE = Contacts(np.zeros((0, 3)), np.zeros(0), np.zeros(0), np.zeros((0, 3)), ())


def mass_point(velocity: tuple[float, float, float], mass: float = 2.0) -> Body:
    return Body.pushed(mass * np.eye(3), np.array(velocity), np.zeros(3))


def touch(friction: float = 0.5, gap: float = 0.0, normal: Array = UP, drift: tuple[float, float, float] = (0, 0, 0),
          sides: tuple[Side, ...] | None = None) -> Contacts:
    """One contact of body 0, at its only point."""
    if sides is None:
        sides = (Side(0, np.array([0]), np.eye(3)[None]),)
    return Contacts(normal[None], np.array([gap]), np.array([friction]), np.array([drift], dtype=float), sides)


def hit(velocity: tuple[float, float, float], **kind: object) -> tuple[Array, Array]:
    """(velocity after, impulse) of a mass point of 2 kg."""
    impact = resolve((mass_point(velocity),), touch(**kind), (), DT, SOLVED, 2000)  # type: ignore[arg-type]
    return impact.velocities[0], impact.impulses[0]


def test_what_hits_the_ground_stops_and_does_not_bounce() -> None:
    after, impulse = hit((0.0, 0.0, -3.0))
    assert np.abs(after).max() < SOLVED
    assert impulse == pytest.approx([0.0, 0.0, 6.0], abs=1e-6)


def test_what_leaves_the_ground_is_left_alone() -> None:
    after, impulse = hit((0.3, 0.0, 1e-3))
    assert (impulse == 0.0).all() and after == pytest.approx([0.3, 0.0, 1e-3], abs=ROUNDING)


@pytest.mark.parametrize("direction", np.linspace(0.0, 2.0 * np.pi, 7))
def test_a_flat_hit_slides_on_with_less_speed_in_its_own_direction(direction: float) -> None:
    x, y = 2.0 * np.cos(direction), 2.0 * np.sin(direction)
    after, impulse = hit((x, y, -1.0), friction=0.5)
    assert after == pytest.approx([0.75 * x, 0.75 * y, 0.0], abs=1e-6)  # loses mu * 1 m/s of 2
    assert np.linalg.norm(impulse[:2]) == pytest.approx(0.5 * impulse[2], abs=1e-6)


def test_a_steep_hit_sticks() -> None:
    after, impulse = hit((0.4, 0.0, -1.0), friction=0.5)
    assert np.abs(after).max() < SOLVED
    assert np.linalg.norm(impulse[:2]) < 0.5 * impulse[2]


def test_ice_only_pushes_up() -> None:
    after, impulse = hit((2.0, -1.0, -1.0), friction=0.0)
    assert after == pytest.approx([2.0, -1.0, 0.0], abs=1e-6) and np.abs(impulse[:2]).max() < ROUNDING


def test_a_moving_surface_carries_along() -> None:
    after, _ = hit((0.0, 0.0, -1.0), friction=2.0, drift=(0.7, 0.2, 0.4))
    assert after == pytest.approx([0.7, 0.2, 0.4], abs=1e-6)


def test_a_slope_takes_the_speed_along_its_normal_only() -> None:
    normal = np.array([0.6, 0.0, 0.8])
    after, _ = hit((0.0, 0.0, -1.0), friction=0.0, normal=normal)
    assert after == pytest.approx(np.array([0.0, 0.0, -1.0]) + 0.8 * normal, abs=1e-6)


@pytest.mark.parametrize("gap", [1e-4, 0.01, 0.02])
def test_what_is_near_arrives_exactly_at_the_surface(gap: float) -> None:
    after, impulse = hit((0.0, 0.0, -5.0), gap=gap)
    assert gap + DT * after[2] == pytest.approx(0.0, abs=DT * SOLVED)
    assert impulse[2] == pytest.approx(2.0 * (5.0 - gap / DT), rel=1e-6)


def test_what_is_inside_comes_out_calmly() -> None:
    depths = np.array([0.0, 0.5 * SLOP, SLOP, 2.0 * SLOP, 0.05, 1.0])
    speed = approach(-depths, DT)
    assert (speed[:3] == 0.0).all() and 0.0 < speed[3] < CALM and (speed[4:] == CALM).all()


def test_two_bodies_share_their_momentum() -> None:
    bodies = (mass_point((3.0, 1.0, 0.0), 2.0), mass_point((-1.0, 0.0, 0.5), 6.0))
    one = np.array([0])
    contact = touch(0.4, normal=np.array([-1.0, 0.0, 0.0]), sides=(Side(0, one, np.eye(3)[None]),
                                                                   Side(1, one, -np.eye(3)[None])))
    impact = resolve(bodies, contact, (), DT, SOLVED, 2000)
    before = 2.0 * bodies[0].velocity + 6.0 * bodies[1].velocity
    after = 2.0 * impact.velocities[0] + 6.0 * impact.velocities[1]
    assert np.abs(before - after).max() < JUDGE
    assert (impact.velocities[0] - impact.velocities[1])[0] == pytest.approx(0.0, abs=1e-6)


def test_two_parts_of_one_body_may_meet() -> None:
    """Two points on one axis, the coordinates of one body, run into each other."""
    body = Body.pushed(np.diag([1.0, 3.0]), np.array([2.0, -2.0]), np.zeros(2))
    first, second = np.zeros((1, 3, 2)), np.zeros((1, 3, 2))
    first[0, 0, 0], second[0, 0, 1] = 1.0, -1.0
    one = np.array([0])
    contact = touch(normal=np.array([-1.0, 0.0, 0.0]), sides=(Side(0, one, first), Side(0, one, second)))
    after = resolve((body,), contact, (), DT, SOLVED, 2000).velocities[0]
    assert after == pytest.approx([-1.0, -1.0], abs=1e-6)  # their common velocity


def test_stops_hold_and_only_hold() -> None:
    body = mass_point((1.0, -1.0, 0.2))
    stops = Stops(0, np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), np.array([-0.5, -0.25, 0.2]))
    impact = resolve((body,), NONE, (stops,), DT, SOLVED, 2000)
    assert impact.velocities[0] == pytest.approx([1.0, -0.25, 0.2], abs=1e-6)
    assert impact.stops == pytest.approx([0.0, 1.5, 0.0], abs=1e-5)


def test_nothing_near_changes_nothing() -> None:
    impact = resolve((mass_point((1.0, 2.0, -3.0)),), NONE, (), DT)
    assert impact.velocities[0] == pytest.approx([1.0, 2.0, -3.0], abs=0.0)


def test_what_is_wedged_stays_where_it_is() -> None:
    """Inside two surfaces that push it out against each other."""
    both = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    contacts = Contacts(both, np.array([-0.05, -0.05]), np.full(2, 0.5), np.zeros((2, 3)),
                        (Side(0, np.arange(2), np.tile(np.eye(3), (2, 1, 1))),))
    impact = resolve((mass_point((0.0, 0.0, -1.0)),), contacts, (), DT)
    assert np.abs(impact.velocities[0]).max() <= 1.0 and np.isfinite(impact.impulses).all()
    assert abs(impact.velocities[0][0]) < 1e-3


def test_an_impossible_inertia_is_refused() -> None:
    with pytest.raises(SolverError):
        Body.pushed(np.diag([1.0, -1.0, 1.0]), np.zeros(3), np.zeros(3))


@pytest.mark.parametrize("seed", SEEDS)
def test_frames_are_right_handed_on_any_surface(seed: int) -> None:
    normal = np.random.default_rng(seed).normal(size=(50, 3))
    normal[0], normal[1], normal[2] = (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    frames = tangent_frames(normal)
    assert np.abs(frames @ frames.swapaxes(1, 2) - np.eye(3)).max() < ROUNDING
    assert np.linalg.det(frames) == pytest.approx(1.0)
    assert np.abs(frames[:, 0] - normal).max() == 0.0


# ------------------------------------------------------------------------------------------------- the cone problem

def random_problem(seed: int, contacts: int, stops: int, repeats: bool) -> tuple[Array, Array, Array]:
    """Rows of a body with fewer freedoms than rows, some of them told twice."""
    generator = np.random.default_rng(seed)
    n = 12
    rows = 3 * contacts + stops
    G = generator.normal(size=(rows, n)) * generator.uniform(0.1, 3.0, size=(rows, 1))
    gap = generator.uniform(0.0, 1.0, rows) * (generator.random(rows) < 0.5)  # half of them touch already
    gap[1:3 * contacts:3] = gap[2:3 * contacts:3] = 0.0
    b = G @ generator.normal(size=n) + gap                                   # so that some velocity meets all rows
    if repeats:
        G[3:6], b[3:6] = G[:3], b[:3]
        G[-1], b[-1] = G[-2], b[-2]
    return G, b, generator.uniform(0.0, 1.2, contacts)


def conditions(G: Array, b: Array, friction: Array, p: Array) -> float:
    """The largest violation of Signorini's and Coulomb's laws, by their own words."""
    count = len(friction)
    w = G @ (G.T @ p) + b
    worst = max(0.0, -p[3 * count:].min(initial=0.0), -w[3 * count:].min(initial=0.0),
                np.minimum(p[3 * count:], w[3 * count:]).max(initial=0.0))
    for n in range(count):
        pn, pt, wn, wt = p[3 * n], p[3 * n + 1:3 * n + 3], w[3 * n], w[3 * n + 1:3 * n + 3]
        side, speed = np.linalg.norm(pt), np.linalg.norm(wt)
        assert side <= friction[n] * pn * (1 + 1e-12) + 1e-12, "outside its cone"
        worst = max(worst, -pn, -wn, min(pn, wn))
        worst = max(worst, min(speed, friction[n] * pn - side))                       # slips only at the cone's edge
        worst = max(worst, min(side, float(np.linalg.norm(pt * speed + wt * side)) / max(side, 1e-12)))  # backwards
    return worst


@pytest.mark.parametrize("contacts, stops, repeats", [
    (1, 0, False), (0, 4, False), (3, 2, False), (12, 6, False), (40, 20, False), (3, 2, True), (12, 6, True),
    (40, 20, True)])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_answer_obeys_the_laws(seed: int, contacts: int, stops: int, repeats: bool) -> None:
    problem = random_problem(seed, contacts, stops, repeats)
    solution = solve_cones(*problem, tolerance=1e-6, rounds=20000)
    assert solution.residual <= 1e-6
    assert conditions(*problem, solution.p) < 1e-4
    G, b, _ = problem
    assert np.abs(solution.x - G.T @ solution.p).max() < JUDGE * max(1.0, np.abs(solution.p).max())
    assert np.abs(solution.w - G @ solution.x - b).max() < JUDGE * max(1.0, np.abs(solution.p).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_a_good_guess_is_kept(seed: int) -> None:
    problem = random_problem(seed, 6, 3, False)
    first = solve_cones(*problem, tolerance=1e-8, rounds=20000)
    again = solve_cones(*problem, start=first.p, tolerance=1e-7)
    assert again.rounds == 0 and np.abs(again.p - first.p).max() < ROUNDING * max(1.0, np.abs(first.p).max())


@pytest.mark.parametrize("rounds", [0, 5, 20])
@pytest.mark.parametrize("seed", SEEDS)
def test_impulses_stay_in_their_cones_however_early_one_stops(seed: int, rounds: int) -> None:
    G, b, friction = random_problem(seed, 20, 5, True)
    start = np.random.default_rng(seed).normal(size=len(b))
    p = solve_cones(G, b, friction, start, 1e-12, rounds).p
    cones = p[:60].reshape(-1, 3)
    assert (cones[:, 0] >= 0.0).all() and (p[60:] >= 0.0).all()
    assert (np.linalg.norm(cones[:, 1:], axis=1) <= friction * cones[:, 0] + ROUNDING).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_no_impact_adds_energy(seed: int) -> None:
    """v -> v + G^T p from rest rows: 1/2 |v|^2 does not grow where surfaces do not move."""
    generator = np.random.default_rng(seed)
    G, _, friction = random_problem(seed, 15, 6, True)
    v = generator.normal(size=G.shape[1])
    x = solve_cones(G, G @ v, friction, tolerance=1e-6, rounds=20000).x
    assert (v + x) @ (v + x) <= v @ v + 1e-5
