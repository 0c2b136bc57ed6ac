"""The ground answers for many points at once, and all grounds answer alike."""

from collections.abc import Callable

import numpy as np
import pytest

from solver.model.arrays import Array, Ints
from solver.model.terrain import FRICTION, HeightField, Moving, Plane, Steps, Terrain, TriangleMesh, Union
from solver.model.terrain.grid import Grids
from solver.numerics import rotation
from tests import terrains
from tests.terrains import ball, box, join, patch
from tests.tolerances import DIFFERENCE, JUDGE, ROUNDING
from tests.worlds import refusal

UP = np.array([0.0, 0.0, 1.0])
REACH = 0.3

TILTED = rotation.exp(np.array([0.2, -0.3, 1.0]))

GROUNDS: dict[str, Callable[[], Terrain]] = {
    "level": Plane.level,
    "slope": lambda: terrains.slope(35.0, 20.0),
    "steps up": lambda: terrains.stairs(0.3, 0.5, towards=25.0),
    "steps down": lambda: terrains.stairs(-0.5, 0.8),
    "height field": lambda: HeightField(np.array([-6.0, -6.0, 0.2]), 0.5, terrains.rough_heights(3, 25, 0.5)),
    "rough mesh": lambda: terrains.rough_ground(1),
    "mesh of steps": lambda: TriangleMesh(*terrains.steps_mesh(terrains.stairs(0.2), width=30.0, before=10.0)),
    "boxes": lambda: TriangleMesh(*join(box((0.0, 0.0, -0.5), (20.0, 20.0, 1.0)), box((1.0, 0.5, 0.1), (1.0, 1.0, 0.6)),
                                        box((2.0, 0.5, 0.2), (1.0, 1.0, 0.4)))),
    "boulder": lambda: TriangleMesh(*join(patch((-9.0, -9.0, 0.0), (18.0, 0.0, 0.0), (0.0, 18.0, 0.0)), ball(5, 0.8))),
    "moving": lambda: Moving(terrains.rough_ground(2), np.array([0.0, 2.0]), np.array([[0.0, 0, 0], [0.5, -0.2, 0.3]])),
    "tilting": lambda: Moving(terrains.stairs(0.2), np.array([0.0, 1.0]), np.zeros((2, 3)),
                              np.stack((rotation.IDENTITY, TILTED))),
    "tumbling mesh": lambda: Moving(terrains.rough_ground(4, spacing=0.5), np.array([0.0, 1.0]), np.zeros((2, 3)),
                                    np.stack((rotation.IDENTITY, TILTED))),
    "union": lambda: Union((terrains.slope(10.0), terrains.lift(3))),
}


@pytest.fixture(scope="module", params=GROUNDS, ids=lambda name: name.replace(" ", "-"))
def ground(request: pytest.FixtureRequest) -> Terrain:
    return GROUNDS[request.param]()


def places_over(ground: Terrain, count: int, seed: int, time: float = 0.0, low: float = -0.2,
                high: float = 0.3) -> Array:
    """(P, 3) random places near the surface, away from the borders of finite grounds."""
    generator = np.random.default_rng(seed)
    xy = generator.uniform(-3.0, 3.0, size=(count, 2))
    return np.column_stack((xy, ground.height(xy, time).z + generator.uniform(low, high, size=count)))


def nearest_on_triangle(p: Array, a: Array, b: Array, c: Array) -> Array:
    """By regions (Ericson, Real-Time Collision Detection, 5.1.5): another way than the solver's."""
    ab, ac, ap, bp, cp = b - a, c - a, p - a, p - b, p - c
    d1, d2, d3, d4, d5, d6 = ab @ ap, ac @ ap, ab @ bp, ac @ bp, ab @ cp, ac @ cp
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    if d1 <= 0.0 and d2 <= 0.0:
        return a
    if d3 >= 0.0 and d4 <= d3:
        return b
    if d6 >= 0.0 and d5 <= d6:
        return c
    if vc <= 0.0 and d1 >= 0.0 >= d3:
        return a + d1 / (d1 - d3) * ab
    if vb <= 0.0 and d2 >= 0.0 >= d6:
        return a + d2 / (d2 - d6) * ac
    if va <= 0.0 and d4 >= d3 and d5 >= d6:
        return b + (d4 - d3) / ((d4 - d3) + (d5 - d6)) * (c - b)
    return a + (ab * vb + ac * vc) / (va + vb + vc)


def distance_to_all(p: Array, vertices: Array, faces: Ints) -> float:
    return min(float(np.linalg.norm(p - nearest_on_triangle(p, *vertices[face]))) for face in faces)


def winding_number(p: Array, vertices: Array, faces: Ints) -> float:
    """Solid angle of the surface over 4 pi: 1 inside a closed mesh that looks outwards, 0 outside."""
    a, b, c = (vertices[faces[:, n]] - p for n in range(3))
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    top = np.einsum("ti,ti->t", a, np.cross(b, c))
    bottom = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
    return float(np.arctan2(top, bottom).sum() / (2.0 * np.pi))


def shuffled(faces: Ints, seed: int) -> Ints:
    """Half of the faces turned over, all in another order."""
    generator = np.random.default_rng(seed)
    faces = generator.permutation(faces)
    turned = generator.random(len(faces)) < 0.5
    return np.where(turned[:, None], faces[:, ::-1], faces)


# -- planes ----------------------------------------------------------------------------------------------------------


def test_level_ground_measures_height() -> None:
    seen = Plane.level(0.5, friction=0.7).probe(np.array([[3.0, -2.0, 1.5], [0.0, 0.0, 0.5], [9.0, 9.0, 0.2]]), 0.0)
    np.testing.assert_allclose(seen.distance, [1.0, 0.0, -0.3], atol=ROUNDING)
    np.testing.assert_array_equal(seen.normal, np.tile([0.0, 0.0, 1.0], (3, 1)))
    np.testing.assert_array_equal(seen.velocity, np.zeros((3, 3)))
    np.testing.assert_array_equal(seen.friction, np.full(3, 0.7))
    plain = Plane.level().probe(np.array([[1.0, 2.0, 3.0]]), 0.0)
    assert plain.distance[0] == 3.0 and plain.friction[0] == FRICTION


@pytest.mark.parametrize("degrees", [5.0, 20.0, 45.0, 80.0])
@pytest.mark.parametrize("seed", range(2))
def test_distance_to_a_slope_is_along_its_normal(degrees: float, seed: int) -> None:
    generator = np.random.default_rng(seed)
    angle = np.radians(degrees)
    normal = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    origin = generator.normal(size=3)
    ground = Plane(origin, 7.0 * normal)  # its length does not matter
    along = np.array([np.cos(angle), 0.0, np.sin(angle)])
    on_it = origin + generator.normal(size=(6, 1)) * along + generator.normal(size=(6, 1)) * np.array([0.0, 1.0, 0.0])
    height = generator.normal(size=6)
    seen = ground.probe(on_it + height[:, None] * normal, 0.0)
    np.testing.assert_allclose(seen.distance, height, atol=ROUNDING)
    np.testing.assert_allclose(seen.normal, np.tile(normal, (6, 1)), atol=ROUNDING)
    np.testing.assert_allclose(ground.height(on_it[:, :2], 0.0).z, on_it[:, 2], atol=1e2 * ROUNDING)


def test_no_points_are_no_trouble() -> None:
    seen = Plane.level().probe(np.zeros((0, 3)), 0.0)
    assert seen.distance.shape == (0,) and seen.normal.shape == (0, 3) and seen.friction.shape == (0,)


@pytest.mark.parametrize("normal", [(0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)], ids=["down", "wall", "none"])
def test_ground_must_face_up(normal: tuple[float, float, float]) -> None:
    with refusal("face up", "Ground"):
        Plane(np.zeros(3), np.array(normal))


@pytest.mark.parametrize("friction", [-0.1, np.nan, np.inf])
def test_friction_must_not_be_negative(friction: float) -> None:
    vertices, faces = box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    with refusal("friction", "Ground"):
        Plane.level(friction=friction)
    with refusal("friction", "Ground"):
        terrains.Steps(np.zeros(3), UP[[2, 0, 1]], friction=friction)
    with refusal("friction", "Ground"):
        TriangleMesh(vertices, faces, np.append(np.ones(11), friction))


@pytest.mark.parametrize("point, normal", [((np.nan, 0.0, 0.0), (0.0, 0.0, 1.0)), ((0.0, 0.0), (0.0, 0.0, 1.0)),
                                           ((0.0, 0.0, 0.0), (0.0, np.inf, 1.0)), ((0.0, 0.0, 0.0), (0.0, 1.0))])
def test_a_place_is_three_numbers(point: tuple[float, ...], normal: tuple[float, ...]) -> None:
    with refusal("Ground"):
        Plane(np.array(point), np.array(normal))


# -- what all grounds promise ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 7, 700])
def test_every_ground_answers_for_any_number_of_points(ground: Terrain, count: int) -> None:
    points = places_over(ground, count, seed=0)
    seen, under = ground.probe(points, 0.3), ground.height(points[:, :2], 0.3)
    assert seen.distance.shape == seen.friction.shape == under.z.shape == under.friction.shape == (count,)
    assert seen.normal.shape == seen.velocity.shape == under.normal.shape == (count, 3)
    np.testing.assert_allclose(np.linalg.norm(seen.normal, axis=1), 1.0, atol=ROUNDING)
    np.testing.assert_allclose(np.linalg.norm(under.normal, axis=1), 1.0, atol=ROUNDING)
    assert np.isfinite(seen.distance).all() and np.isfinite(under.z).all()
    assert (under.normal[:, 2] > 0.0).all()
    np.testing.assert_array_equal(seen.friction, np.full(count, FRICTION))
    for n in range(0, count, 97):  # each for itself gives the same
        alone = ground.probe(points[n:n + 1], 0.3)
        np.testing.assert_allclose(alone.distance[0], seen.distance[n], atol=ROUNDING)
        np.testing.assert_allclose(alone.normal[0], seen.normal[n], atol=JUDGE)


@pytest.mark.parametrize("steps, count", [(3, 5), (0, 5), (3, 0)])
def test_many_times_at_once_are_each_time_in_turn(ground: Terrain, steps: int, count: int) -> None:
    points = np.random.default_rng(0).uniform(-2.0, 2.0, size=(steps, count, 3))
    times = 0.3 * np.arange(steps)
    seen, under = ground.probe_over(points, times), ground.height_over(points[..., :2], times, below=5.0)
    assert seen.distance.shape == under.z.shape == (steps, count)
    assert seen.normal.shape == seen.velocity.shape == under.normal.shape == (steps, count, 3)
    for k in range(steps):
        alone, below = ground.probe(points[k], float(times[k])), ground.height(points[k, :, :2], float(times[k]), 5.0)
        np.testing.assert_allclose(seen.distance[k], alone.distance, atol=ROUNDING)
        np.testing.assert_allclose(seen.normal[k], alone.normal, atol=JUDGE)
        np.testing.assert_allclose(seen.velocity[k], alone.velocity, atol=ROUNDING)
        np.testing.assert_allclose(under.z[k], below.z, atol=ROUNDING)


@pytest.mark.parametrize("seed", range(3))
def test_the_surface_is_where_the_distance_is_zero(ground: Terrain, seed: int) -> None:
    points = places_over(ground, 200, seed, 0.4, low=0.0, high=0.0)
    step = 1e-4 * UP
    np.testing.assert_allclose(ground.probe(points, 0.4).distance, 0.0, atol=JUDGE)
    assert (ground.probe(points + step, 0.4).distance > 0.0).all()
    assert (ground.probe(points - step, 0.4).distance < 0.0).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_distance_never_changes_by_more_than_the_way(ground: Terrain, seed: int) -> None:
    generator = np.random.default_rng(seed)
    points = places_over(ground, 400, seed, 0.4)
    way = generator.normal(size=points.shape) * generator.uniform(0.0, 0.03, size=(400, 1))
    here, there = ground.probe(points, 0.4).distance, ground.probe(points + way, 0.4).distance
    exact = np.maximum(np.abs(here), np.abs(there)) < REACH
    assert exact.mean() > 0.7
    assert (np.abs(there - here) <= np.linalg.norm(way, axis=1) + ROUNDING)[exact].all()


@pytest.mark.parametrize("seed", range(3))
def test_the_normal_is_the_gradient_of_the_distance(ground: Terrain, seed: int) -> None:
    points, h = places_over(ground, 300, seed, 0.4, low=-0.1, high=0.25), 1e-5
    seen = ground.probe(points, 0.4)
    gradient = np.stack([(ground.probe(points + h * axis, 0.4).distance - ground.probe(points - h * axis, 0.4).distance)
                         / (2.0 * h) for axis in np.eye(3)], axis=1)
    smooth = (np.abs(seen.distance) < REACH - h) & (np.abs(np.linalg.norm(gradient, axis=1) - 1.0) < 1e-7)
    assert smooth.mean() > 0.7  # elsewhere two pieces of ground are equally near
    np.testing.assert_allclose(seen.normal[smooth], gradient[smooth], atol=1e2 * DIFFERENCE)


def test_the_normal_leads_out_of_the_ground(ground: Terrain) -> None:
    points = places_over(ground, 200, 5, 0.4, low=-0.05, high=-0.001)
    seen = ground.probe(points, 0.4)
    assert (seen.distance < 0.0).mean() > 0.98  # under the nose of a tilted step there is air
    out = points - seen.distance[:, None] * seen.normal
    np.testing.assert_allclose(ground.probe(out, 0.4).distance, 0.0, atol=JUDGE)


def test_nothing_above_the_limit_is_ground_to_stand_on(ground: Terrain) -> None:
    xy = places_over(ground, 50, 6)[:, :2]
    free = ground.height(xy, 0.0)
    same = ground.height(xy, 0.0, below=free.z + 1e-9)
    np.testing.assert_array_equal(same.z, free.z)
    assert (ground.height(xy, 0.0, below=free.z - 1e-3).z <= free.z - 1e-3).all()


# -- one ground in several forms ---------------------------------------------------------------------------------------


def flat_forms(angle: float) -> list[Terrain]:
    plane = terrains.slope(angle)
    z = np.tan(np.radians(angle)) * np.linspace(-8.0, 8.0, 33)[:, None] * np.ones(33)
    along = (16.0, 0.0, 16.0 * np.tan(np.radians(angle)))
    thick = patch((-8.0, -8.0, z[0, 0]), along, (0.0, 16.0, 0.0))
    return [plane, TriangleMesh(*thick), HeightField(np.array([-8.0, -8.0, 0.0]), 0.5, z),
            TriangleMesh(*terrains.grid_mesh(z, 0.5)),
            Moving(Plane.level(), np.zeros(1), np.zeros((1, 3)),
                   rotation.exp(np.array([[0.0, -np.radians(angle), 0.0]])))]


@pytest.mark.parametrize("angle", [0.0, 12.0, 35.0, 60.0])
def test_a_slope_is_the_same_in_every_form(angle: float) -> None:
    forms = flat_forms(angle)
    generator = np.random.default_rng(0)
    on_grid = np.stack(np.meshgrid(np.arange(-2.0, 2.01, 0.25), np.arange(-2.0, 2.01, 0.25)), -1).reshape(-1, 2)
    xy = np.concatenate((on_grid, generator.uniform(-3.0, 3.0, size=(200, 2))))  # the grid's own edges and corners too
    z = forms[0].height(xy, 0.0).z
    points = np.column_stack((xy, z + np.resize([0.0, 1e-9, 1e-4, -1e-4, 0.1, -0.1, 0.8, -0.8], len(xy))))
    seen, under = forms[0].probe(points, 0.0), forms[0].height(xy, 0.0)
    for form in forms[1:]:
        other, below = form.probe(points, 0.0), form.height(xy, 0.0)
        np.testing.assert_allclose(below.z, under.z, atol=ROUNDING)
        np.testing.assert_allclose(below.normal, under.normal, atol=ROUNDING)
        np.testing.assert_allclose(other.distance, seen.distance, atol=ROUNDING)  # beyond the reach too
        np.testing.assert_allclose(other.normal, seen.normal, atol=JUDGE)  # no spikes at edges of coplanar faces


def test_flat_triangles_look_exactly_up() -> None:
    ground = HeightField(np.array([-5.0, -5.0, 0.0]), 0.1, np.zeros((101, 101)))
    points = np.column_stack((np.random.default_rng(0).uniform(-4.0, 4.0, size=(300, 2)), np.zeros(300)))
    points[:, 2] = np.resize([0.0, 1e-12, -1e-12, 1e-3, -1e-3, 0.2], 300)
    seen = ground.probe(points, 0.0)
    np.testing.assert_array_equal(seen.normal, np.tile(UP, (300, 1)))
    np.testing.assert_array_equal(seen.distance, points[:, 2])


def solid_stairs(steps: Steps) -> TriangleMesh:
    """Boxes side by side on a floor, as an artist stacks them."""
    parts = [box((-3.0, 0.0, -4.5), (2.0 * 3.0 + 2.0 * steps.start[0], 20.0, 9.0))]
    for n in range(steps.count):
        x, top = float(steps.start[0]) + n * steps.tread, (n + 1) * steps.rise
        length = steps.tread if n < steps.count - 1 else 8.0
        parts.append(box((x + 0.5 * length, 0.0, 0.5 * (top - 9.0)), (length, 20.0, top + 9.0)))
    return TriangleMesh(*join(*parts))


@pytest.mark.parametrize("rise", [0.1, 0.3, 0.5, -0.2, -0.5])
@pytest.mark.parametrize("towards", [0.0, 37.0])
def test_steps_are_the_same_in_every_form(rise: float, towards: float) -> None:
    steps = terrains.stairs(rise, 0.5, count=6, towards=towards)
    forms: list[Terrain] = [TriangleMesh(*terrains.steps_mesh(steps, width=16.0))]
    if towards == 0.0:
        forms.append(solid_stairs(steps))
    generator = np.random.default_rng(0)
    s = np.concatenate((generator.uniform(-1.0, 4.0, size=500), np.arange(-1.0, 4.0, 0.1)))
    across = generator.uniform(-2.0, 2.0, size=len(s))
    along = steps.direction
    xy = (steps.start + s[:, None] * along + across[:, None] * np.array([-along[1], along[0], 0.0]))[:, :2]
    points = np.column_stack((xy, steps.profile(s) + generator.uniform(-0.25, 0.6, size=len(s))))
    seen = steps.probe(points, 0.0)
    for form in forms:
        other = form.probe(points, 0.0)
        near = np.abs(seen.distance) < REACH - 1e-9
        np.testing.assert_allclose(other.distance[near], seen.distance[near], atol=JUDGE)
        one_way = near & (np.abs(seen.distance) > 1e-6) & (np.abs((other.normal * seen.normal).sum(1) - 1.0) > 1e-9)
        assert one_way.mean() < 0.01  # only where two pieces are equally near
        off_risers = np.abs(s / steps.tread - np.round(s / steps.tread)) > 1e-6
        np.testing.assert_allclose(form.height(xy, 0.0).z[off_risers], steps.height(xy, 0.0).z[off_risers], atol=JUDGE)


def test_a_riser_pushes_sideways_and_its_edge_obliquely() -> None:
    steps = Steps(np.zeros(3), np.array([1.0, 0.0, 0.0]), tread=0.5, rise=0.3, count=3)
    for ground in (steps, TriangleMesh(*terrains.steps_mesh(steps))):
        seen = ground.probe(np.array([[-0.04, 0.0, 0.1], [0.04, 0.0, 0.2], [-0.03, 0.0, 0.34], [0.2, 0.0, 0.28]]), 0.0)
        np.testing.assert_allclose(seen.distance, [0.04, -0.04, 0.05, -0.02], atol=ROUNDING)
        np.testing.assert_allclose(seen.normal, [[-1, 0, 0], [-1, 0, 0], [-0.6, 0, 0.8], [0, 0, 1]], atol=1e-9)


def test_on_the_edge_of_a_step_the_tread_carries() -> None:
    steps = Steps(np.zeros(3), np.array([1.0, 0.0, 0.0]), tread=0.5, rise=0.3, count=3)
    edge = np.array([[0.0, 0.1, 0.3], [0.5, -0.2, 0.6]])
    for ground in (steps, TriangleMesh(*terrains.steps_mesh(steps))):
        seen = ground.probe(edge, 0.0)
        np.testing.assert_allclose(seen.distance, 0.0, atol=ROUNDING)
        np.testing.assert_allclose(seen.normal, np.tile(UP, (2, 1)), atol=ROUNDING)
        np.testing.assert_allclose(ground.height(edge[:, :2], 0.0).z, [0.3, 0.6], atol=ROUNDING)


# -- meshes against all of their triangles -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_closed_mesh_knows_inside_from_outside_whatever_its_winding(seed: int) -> None:
    vertices, faces = ball(seed, size=0.6, roughness=0.4)
    ground = TriangleMesh(vertices, shuffled(faces, seed))
    assert ground.notes == ()
    points = np.random.default_rng(seed).normal(size=(60, 3)) * 0.45
    seen = ground.probe(points, 0.0)
    for point, distance, normal in zip(points, seen.distance, seen.normal):
        expected = distance_to_all(point, vertices, faces)
        assert (distance < 0.0) == (winding_number(point, vertices, faces) > 0.5)
        if expected < REACH:
            assert abs(distance) == pytest.approx(expected, abs=ROUNDING)
            assert distance_to_all(point - distance * normal, vertices, faces) < JUDGE
        else:
            assert abs(distance) >= REACH


@pytest.mark.parametrize("seed", range(8))
def test_piles_of_boxes_are_one_solid(seed: int) -> None:
    """Boxes that overlap, touch or stand apart, with faces and edges where the points are too."""
    generator = np.random.default_rng(seed)
    low, size = 0.25 * generator.integers(-4, 4, size=(6, 3)), 0.25 * generator.integers(1, 6, size=(6, 3))
    ground = TriangleMesh(*join(*(box(a + 0.5 * b, b) for a, b in zip(low, size))))
    points = 0.0625 * generator.integers(-30, 50, size=(400, 3))
    if seed % 2:
        points = points + generator.uniform(-0.03, 0.03, size=points.shape)
    beyond = np.abs(points[:, None] - (low + 0.5 * size)) - 0.5 * size                   # (P, 6, 3)
    each = np.linalg.norm(np.maximum(beyond, 0.0), axis=-1) + np.minimum(beyond.max(-1), 0.0)
    expected, seen = each.min(1), ground.probe(points, 0.0)
    outside, inside = expected > 1e-9, expected < -1e-9
    near = outside & (expected < REACH)
    np.testing.assert_allclose(seen.distance[near], expected[near], atol=JUDGE)
    assert (seen.distance[outside] > 0.0).all()
    assert (seen.distance[inside] <= expected[inside] + JUDGE).all()  # no shallower than in the deepest of the boxes
    is_over = ((points[:, None] >= low) & (points[:, None] <= low + size))[..., :2].all(-1)
    top = np.where(is_over, (low + size)[:, 2], -np.inf).max(1)
    np.testing.assert_array_equal(ground.height(points[:, :2], 0.0).z, top)


@pytest.mark.parametrize("seed", range(2))
def test_an_open_mesh_agrees_with_all_of_its_triangles(seed: int) -> None:
    rough = terrains.rough_ground(seed, size=4.0)
    ground = TriangleMesh(rough.vertices, shuffled(rough.faces, seed))
    assert ground.notes == ()
    generator = np.random.default_rng(seed)
    xy = generator.uniform(-1.6, 1.6, size=(40, 2))
    points = np.column_stack((xy, ground.height(xy, 0.0).z + generator.uniform(-0.35, 0.35, size=40)))
    np.testing.assert_array_equal(ground.height(xy, 0.0).z, rough.height(xy, 0.0).z)
    seen = ground.probe(points, 0.0)
    for point, distance, z in zip(points, seen.distance, rough.height(xy, 0.0).z):
        expected = distance_to_all(point, rough.vertices, rough.faces)
        if expected < REACH:
            assert distance == pytest.approx(expected if point[2] > z else -expected, abs=ROUNDING)
        else:
            assert abs(distance) >= REACH


@pytest.mark.parametrize("seed", range(3))
def test_no_vertical_line_slips_through_between_triangles(seed: int) -> None:
    """At corners, on edges, at the border and in between there is ground, at the right height, and just once."""
    generator = np.random.default_rng(seed)
    vertices, faces = terrains.grid_mesh(generator.normal(size=(12, 9)), 0.37)
    vertices[:, :2] += generator.uniform(-0.1, 0.1, size=(len(vertices), 2))
    vertices += generator.normal(size=3) * 30.0
    ground = TriangleMesh(vertices, faces)
    a, b, c = (vertices[faces[:, n]] for n in range(3))
    share = generator.random(size=(len(faces), 1))
    inner = (generator.dirichlet(np.ones(3), size=len(faces))[:, :, None] * vertices[faces]).sum(1)
    on_edges = np.concatenate((a + share * (b - a), 0.5 * (b + c)))
    np.testing.assert_allclose(ground.height(vertices[:, :2], 0.0).z, vertices[:, 2], atol=JUDGE)
    np.testing.assert_allclose(ground.height(inner[:, :2], 0.0).z, inner[:, 2], atol=JUDGE)
    z = ground.height(on_edges[:, :2], 0.0).z
    off = ~np.isfinite(z)  # by rounding, just beyond the border
    assert off.sum() < 40
    np.testing.assert_allclose(z[~off], on_edges[~off, 2], atol=JUDGE)
    spots = np.concatenate((vertices, inner, on_edges))
    columns = ground._solid._columns
    crossed = columns.cross(spots, columns.grids.cells(spots)).is_hit.sum(1)
    lone = np.zeros(len(spots), dtype=bool)  # those at the border, which may belong to nobody
    lone[:len(vertices)] = np.isin(np.arange(len(vertices)) % 9, (0, 8)) | (np.arange(len(vertices)) // 9 % 11 == 0)
    lone[len(vertices) + len(inner):] = True
    assert (crossed <= 1).all() and (crossed[~lone] == 1).all()
    np.testing.assert_allclose(ground.probe(spots, 0.0).distance, 0.0, atol=JUDGE)


def test_a_square_of_ground_includes_its_border() -> None:
    ground = HeightField(np.array([1.0, 2.0, 0.5]), (0.5, 0.25), np.zeros((3, 5)))
    inside = np.array([[1.0, 2.0], [2.0, 3.0], [1.0, 3.0], [2.0, 2.0], [1.3, 2.0], [2.0, 2.6]])
    np.testing.assert_array_equal(ground.height(inside, 0.0).z, 0.5)
    outside = np.array([[0.999, 2.5], [2.001, 2.5], [1.5, 1.999], [1.5, 3.001], [1e6, -1e6]])
    np.testing.assert_array_equal(ground.height(outside, 0.0).z, -np.inf)
    beyond = ground.probe(np.array([[0.9, 2.5, 0.5], [0.0, 2.5, 0.5], [2.0, 3.2, 0.4]]), 0.0)
    np.testing.assert_allclose(beyond.distance, [0.1, np.inf, np.hypot(0.2, 0.1)], atol=ROUNDING)


@pytest.mark.parametrize("seed", range(2))
def test_triangles_of_all_sizes_are_found(seed: int) -> None:
    """A plane of a kilometre with a pebble and a boulder on it."""
    ground = patch((-500.0, -500.0, 0.0), (1000.0, 0.0, 0.0), (0.0, 1000.0, 0.0))
    pebble, boulder = ball(seed, 0.05, refinements=3), ball(seed + 9, 3.0, refinements=3)
    pebble, boulder = (pebble[0] + [2.0, 1.0, 0.02], pebble[1]), (boulder[0] + [300.0, 0.0, 0.5], boulder[1])
    vertices, faces = join(ground, pebble, boulder)
    mesh = TriangleMesh(vertices, faces)
    layers = mesh._solid._columns.grids.layers
    assert len(layers) > 1 and max(int(layer.over.size.max()) for layer in layers) < 600
    generator = np.random.default_rng(seed)
    anywhere = np.column_stack((generator.uniform(-400.0, 400.0, size=(20, 2)), generator.uniform(0.0, 0.2, size=20)))
    points = np.concatenate((generator.normal(size=(20, 3)) * 0.06 + [2.0, 1.0, 0.05],
                             generator.normal(size=(20, 3)) * 2.0 + [300.0, 0.0, 2.0], anywhere))
    points[:, 2] = np.maximum(points[:, 2], 1e-3)
    seen = mesh.probe(points, 0.0)
    for point, distance in zip(points, seen.distance):
        expected = distance_to_all(point, vertices, faces)
        if distance > 0.0 and expected < REACH:
            assert distance == pytest.approx(expected, abs=JUDGE)
        inside = max(winding_number(point, *part) for part in (pebble, boulder)) > 0.5
        assert (distance < 0.0) == inside


@pytest.mark.parametrize("seed", range(3))
def test_the_grid_names_every_box_within_the_radius(seed: int) -> None:
    generator = np.random.default_rng(seed)
    low = generator.uniform(-5.0, 5.0, size=(400, 3))
    high = low + generator.exponential(0.3, size=(400, 3)) ** 2
    grids = Grids.build(low, high, 0.2, REACH)
    points, radius = generator.uniform(-6.0, 6.0, size=(300, 3)), generator.uniform(0.0, REACH, size=300)
    who, names = grids.near(grids.cells(points), points, radius)
    assert (np.diff(who) >= 0).all()
    found = set(zip(who.tolist(), names.tolist()))
    away = np.maximum(np.maximum(low - points[:, None], points[:, None] - high), 0.0)
    close = np.argwhere((away ** 2).sum(-1) <= (radius ** 2)[:, None])
    assert {(int(n), int(m)) for n, m in close} <= found
    column = grids.column(grids.cells(points))
    over = np.argwhere((away[..., :2] == 0.0).all(-1))
    assert all(m in column[n] for n, m in over)


# -- walls, overhangs, holes, damage -----------------------------------------------------------------------------------


def test_a_point_under_a_bridge_stands_on_the_floor() -> None:
    floor = patch((-5.0, -5.0, 0.0), (10.0, 0.0, 0.0), (0.0, 10.0, 0.0))
    bridge = box((0.0, 0.0, 2.25), (2.0, 4.0, 0.5))
    ground = TriangleMesh(*join(floor, bridge))
    seen = ground.probe(np.array([[0.0, 0.0, 0.2], [0.0, 0.0, 1.0], [0.0, 0.0, 1.9], [0.0, 0.0, 2.6], [0.9, 0.0, 2.3],
                                  [0.0, 0.0, -0.1], [0.0, 0.0, 2.1]]), 0.0)
    np.testing.assert_allclose(seen.distance, [0.2, 1.0, 0.1, 0.1, -0.1, -0.1, -0.1], atol=ROUNDING)
    np.testing.assert_allclose(seen.normal, [UP, UP, -UP, UP, [1, 0, 0], UP, -UP], atol=ROUNDING)
    here = np.zeros((1, 2))
    assert ground.height(here, 0.0).z[0] == 2.5
    assert ground.height(here, 0.0, below=1.8).z[0] == 0.0


def test_a_deck_without_thickness_is_a_sheet_over_the_floor() -> None:
    floor = patch((-5.0, -5.0, 0.0), (10.0, 0.0, 0.0), (0.0, 10.0, 0.0))
    deck = patch((-1.0, -2.0, 2.0), (2.0, 0.0, 0.0), (0.0, 4.0, 0.0))
    places = np.array([[0.0, 0.0, 2.05], [0.0, 0.0, 1.95], [0.0, 0.0, 1.8], [0.0, 0.0, 1.0], [0.0, 0.0, 0.05],
                       [0.0, 0.0, -0.05], [3.0, 0.0, 0.1]])
    expected, ups = [0.05, -0.05, 0.2, 1.0, 0.05, -0.05, 0.1], [1, 1, -1, 1, 1, 1, 1]
    for deck_faces in (deck[1], deck[1][:, ::-1]):  # whichever way its faces wind
        seen = TriangleMesh(*join(floor, (deck[0], deck_faces))).probe(places, 0.0)
        np.testing.assert_allclose(seen.distance, expected, atol=ROUNDING)
        np.testing.assert_allclose(seen.normal[:, 2], ups, atol=ROUNDING)
    apart = Union((TriangleMesh(*floor), TriangleMesh(*deck, is_bottomless=False))).probe(places, 0.0)
    np.testing.assert_allclose(apart.distance, expected, atol=ROUNDING)


def overhang() -> TriangleMesh:
    """A cliff that leans over: from the plain the wall rises towards the walker, then the plateau lies behind."""
    profile = np.array([[-5.0, 0.0], [0.0, 0.0], [-1.0, 1.5], [5.0, 1.5]])
    return TriangleMesh(np.array([[x, y, z] for y in (-5.0, 5.0) for x, z in profile]),
                        np.array([[n, n + 1, n + 5] for n in range(3)] + [[n, n + 5, n + 4] for n in range(3)]))


def test_under_an_overhang_is_free_and_the_rock_above_is_solid() -> None:
    ground = overhang()
    assert any("hangs over" in note for note in ground.notes)
    lean = np.array([-1.5, 0.0, -1.0]) / np.hypot(1.5, 1.0)  # out of the leaning wall, downwards
    wall = np.array([-0.5, 0.0, 0.75])
    seen = ground.probe(np.array([wall + 0.1 * lean, wall - 0.1 * lean, [-0.6, 0.0, 0.1], [-0.5, 0.0, 1.45],
                                  [1.0, 0.0, 1.3], [-0.5, 0.0, -0.05]]), 0.0)
    np.testing.assert_allclose(seen.distance, [0.1, -0.1, 0.1, -0.05, -0.2, -0.05], atol=ROUNDING)
    np.testing.assert_allclose(seen.normal, [lean, lean, UP, UP, UP, UP], atol=1e-9)
    spot = np.array([[-0.5, 0.0]])
    assert ground.height(spot, 0.0).z[0] == 1.5 and ground.height(spot, 0.0, below=1.0).z[0] == 0.0


def test_a_lone_wall_pushes_to_both_sides() -> None:
    wall = TriangleMesh(*patch((0.0, -1.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.0)))
    seen = wall.probe(np.array([[0.1, 0.0, 1.0], [-0.1, 0.0, 1.0], [0.0, 0.0, 2.1], [2.0, 0.0, 1.0]]), 0.0)
    np.testing.assert_allclose(seen.distance, [0.1, 0.1, 0.1, np.inf], atol=ROUNDING)
    np.testing.assert_allclose(seen.normal[:3], [[1, 0, 0], [-1, 0, 0], [0, 0, 1]], atol=ROUNDING)
    assert wall.height(np.zeros((1, 2)), 0.0).z[0] == -np.inf


def test_a_hole_holds_nobody_and_is_noted() -> None:
    vertices, faces = terrains.grid_mesh(np.zeros((9, 9)), 0.5)
    middle = vertices[faces].mean(1)
    kept = np.abs(middle[:, :2]).max(1) > 0.5
    ground = TriangleMesh(vertices, faces[kept])
    assert any("1 hole" in note for note in ground.notes)
    assert TriangleMesh(vertices, faces).notes == ()
    seen = ground.probe(np.array([[0.0, 0.0, -0.3], [0.4, 0.0, 0.0], [0.4, 0.0, -0.02], [0.6, 0.0, -0.02]]), 0.0)
    np.testing.assert_allclose(seen.distance, [np.inf, 0.1, np.hypot(0.1, 0.02), -0.02], atol=ROUNDING)
    assert ground.height(np.zeros((1, 2)), 0.0).z[0] == -np.inf


def test_damage_is_noted_and_left_out() -> None:
    vertices, faces = terrains.rough_ground(0, size=4.0).vertices, terrains.rough_ground(0, size=4.0).faces
    clean = TriangleMesh(vertices, faces)
    soup = vertices[faces].reshape(-1, 3)  # every triangle with vertices of its own
    split = np.arange(len(soup)).reshape(-1, 3)
    first, last = vertices[faces[0, 0]], vertices[faces[0, 1]]
    needle = np.array([first, last, first + 0.3 * (last - first)])
    broken = TriangleMesh(np.concatenate((soup, needle)),
                          np.concatenate((split, [[0, 0, 1], [3, 3, 3]], split[4:7, ::-1], [[0, 1, 2]],
                                          [[len(soup), len(soup) + 1, len(soup) + 2]])))
    assert broken.notes == ("3 triangles have no area; left out.", "4 triangles are there twice; counted once.")
    generator = np.random.default_rng(1)
    xy = generator.uniform(-1.7, 1.7, size=(200, 2))
    points = np.column_stack((xy, clean.height(xy, 0.0).z + generator.uniform(-0.2, 0.2, size=200)))
    np.testing.assert_allclose(broken.probe(points, 0.0).distance, clean.probe(points, 0.0).distance, atol=ROUNDING)


def test_both_sides_of_a_sheet_are_one_floor() -> None:
    vertices, faces = patch((-1.0, -1.0, 0.0), (2.0, 0.0, 0.0), (0.0, 2.0, 0.0))
    ground = TriangleMesh(vertices, np.concatenate((faces, faces[:, ::-1])))
    assert ground.probe(np.array([[0.3, 0.1, -0.02]]), 0.0).distance[0] == pytest.approx(-0.02)


def test_a_moebius_strip_is_ground_too() -> None:
    turn = np.linspace(0.0, 2.0 * np.pi, 41)[:-1]
    width = np.stack((np.cos(turn) * np.cos(0.5 * turn), np.sin(turn) * np.cos(0.5 * turn), np.sin(0.5 * turn)), 1)
    ring = np.stack((np.cos(turn), np.sin(turn), 0.0 * turn), 1)
    n = np.arange(40)
    m = (n + 1) % 40
    a, b = n, n + 40
    c, d = np.where(m == 0, m + 40, m), np.where(m == 0, m, m + 40)
    ground = TriangleMesh(np.concatenate((ring - 0.2 * width, ring + 0.2 * width)),
                          np.concatenate((np.stack((a, c, d), 1), np.stack((a, d, b), 1))))
    assert np.isfinite(ground.probe(ring + 0.1 * UP, 0.0).distance).all()


def test_inside_out_boxes_are_solid_and_noted() -> None:
    vertices, faces = box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    ground = TriangleMesh(vertices, faces[:, ::-1])
    assert len(ground.notes) == 1 and "inside out" in ground.notes[0]
    assert ground.probe(np.array([[0.0, 0.0, 0.45]]), 0.0).distance[0] == pytest.approx(-0.05)


def test_a_room_without_ceiling_is_free_inside() -> None:
    vertices, faces = box((0.0, 0.0, 1.0), (4.0, 4.0, 2.0))
    is_ceiling = (vertices[faces][..., 2] == 2.0).all(1)
    for room in (faces[~is_ceiling], faces[~is_ceiling][:, ::-1]):
        seen = TriangleMesh(vertices, room).probe(np.array([[0.0, 0.0, 0.1], [1.9, 0.0, 1.0], [0.0, 0.0, -0.1]]), 0.0)
        np.testing.assert_allclose(seen.distance, [0.1, 0.1, -0.1], atol=ROUNDING)


def test_tiles_side_by_side_push_up_only() -> None:
    """Where one box ends and another begins, their sides are buried: a foot on the joint is not pushed sideways."""
    tiles = TriangleMesh(*join(*(box((x, y, -0.1), (1.0, 1.0, 0.2)) for x in (-0.5, 0.5) for y in (-0.5, 0.5))))
    generator = np.random.default_rng(0)
    points = np.column_stack((generator.uniform(-0.01, 0.01, size=(100, 2)), generator.uniform(-0.02, 0.02, size=100)))
    seen = tiles.probe(points, 0.0)
    np.testing.assert_allclose(seen.distance, points[:, 2], atol=ROUNDING)
    np.testing.assert_allclose(seen.normal, np.tile(UP, (100, 1)), atol=JUDGE)


def test_a_box_sunk_into_the_ground_is_one_with_it() -> None:
    ground = TriangleMesh(*join(patch((-5.0, -5.0, 0.0), (10.0, 0.0, 0.0), (0.0, 10.0, 0.0)),
                                box((0.0, 0.0, 0.0), (1.0, 1.0, 0.4))))
    seen = ground.probe(np.array([[0.0, 0.0, 0.01], [0.0, 0.0, -0.05], [0.52, 0.0, -0.1], [0.55, 0.0, 0.1]]), 0.0)
    np.testing.assert_allclose(seen.distance, [-0.19, -0.25, -0.1, 0.05], atol=ROUNDING)
    np.testing.assert_allclose(seen.normal, [UP, UP, UP, [1, 0, 0]], atol=ROUNDING)


def test_each_face_has_its_own_friction() -> None:
    vertices, faces = join(patch((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
                           patch((1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    ground = TriangleMesh(vertices, faces, np.array([0.2, 0.2, 1.1, 1.1]))
    points = np.array([[0.5, 0.5, 0.01], [1.5, 0.4, 0.01], [0.4, 0.5, 0.7], [1.6, 0.5, -0.9]])
    np.testing.assert_array_equal(ground.probe(points, 0.0).friction, [0.2, 1.1, 0.2, 1.1])
    np.testing.assert_array_equal(ground.height(points[:, :2], 0.0).friction, [0.2, 1.1, 0.2, 1.1])


@pytest.mark.parametrize("vertices, faces", [(np.zeros((0, 3)), np.zeros((0, 3), int)), (np.eye(3), []),
                                             (np.eye(3), [[0, 0, 1]])], ids=["nothing", "no faces", "no area"])
def test_a_mesh_without_faces_is_no_ground(vertices: Array, faces: Ints) -> None:
    ground = TriangleMesh(vertices, faces)
    assert "no faces" in ground.notes[-1]
    seen, under = ground.probe(np.zeros((2, 3)), 0.0), ground.height(np.zeros((2, 2)), 0.0)
    assert (seen.distance == np.inf).all() and (under.z == -np.inf).all() and (seen.normal == UP).all()


def test_a_point_that_is_no_number_is_nowhere() -> None:
    places = np.array([[np.nan, 0.0, 0.0], [0.0, 0.0, np.nan], [0.0, 0.0, 0.1]])
    seen = terrains.rough_ground(0, size=4.0).probe(places, 0.0)
    assert not np.isfinite(seen.distance[:2]).any() and 0.0 < seen.distance[2] < 0.1


@pytest.mark.parametrize("far", [1.0, 20.0])
def test_beyond_its_reach_a_mesh_estimates(far: float) -> None:
    ground = terrains.rough_ground(0)
    seen = ground.probe(np.array([[0.0, 0.0, far], [0.2, 0.3, -far]]), 0.0)
    assert REACH <= seen.distance[0] <= far + 1.0 and -far - 1.0 <= seen.distance[1] <= -REACH


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_broken_meshes_are_refused() -> None:
    vertices, faces = box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    broken = vertices.copy()
    broken[3, 1] = np.nan
    with refusal("not a number", "Ground"):
        TriangleMesh(broken, faces)
    with refusal("Face 11", "does not exist"):
        TriangleMesh(vertices, np.concatenate((faces[:-1], [[0, 1, 8]])))
    with refusal("does not exist"):
        TriangleMesh(vertices, -faces)
    with refusal("Triangulate"):
        TriangleMesh(vertices, np.array([[0, 1, 2, 3]]))
    with refusal("Triangulate"):
        TriangleMesh(vertices, faces.astype(float))
    with refusal("frictions"):
        TriangleMesh(vertices, faces, np.ones(3))
    with refusal("reach"):
        TriangleMesh(vertices, faces, reach=0.0)


def test_impossible_steps_and_fields_are_refused() -> None:
    along = np.array([1.0, 0.0, 0.0])
    for wrong in ({"tread": 0.0}, {"tread": np.nan}, {"rise": np.inf}, {"count": -1}):
        with refusal("Steps"):
            Steps(np.zeros(3), along, **wrong)  # type: ignore[arg-type]
    with refusal("horizontal"):
        Steps(np.zeros(3), UP)
    for spacing, heights in ((0.0, np.zeros((3, 3))), (0.1, np.zeros((1, 3))), (np.nan, np.zeros((3, 3))),
                             (0.1, np.full((3, 3), np.nan)), (0.1, np.zeros(4))):
        with refusal("Height field"):
            HeightField(np.zeros(3), spacing, heights)
    with refusal("stand on"):
        Union(())


def test_impossible_movements_are_refused() -> None:
    still = np.zeros((2, 3))
    for times, positions, rotations in (([0.0, 0.0], still, None), ([1.0, 0.0], still, None), ([], still[:0], None),
                                        ([0.0, 1.0], still[:1], None), ([0.0, np.nan], still, None),
                                        ([0.0, 1.0], still, np.zeros((2, 4)))):
        with refusal("Moving ground"):
            Moving(Plane.level(), np.array(times), positions, rotations)


# -- moving ground -----------------------------------------------------------------------------------------------------


def wandering(terrain: Terrain, seed: int = 0, turning: bool = True, keys: int = 6) -> Moving:
    generator = np.random.default_rng(seed)
    turns = rotation.exp(0.15 * generator.normal(size=(keys, 3)))
    return Moving(terrain, np.cumsum(generator.uniform(0.2, 0.6, size=keys)), 0.3 * generator.normal(size=(keys, 3)),
                  turns if turning else None)


@pytest.mark.parametrize("turning", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_surface_velocity_is_how_fast_the_ground_is_carried(seed: int, turning: bool) -> None:
    ground = wandering(terrains.rough_ground(seed, spacing=0.5), seed, turning)
    h = 1e-5
    for time in (0.5 * (ground.times[1:] + ground.times[:-1])).tolist():
        points = places_over(ground, 30, seed, time, low=0.0, high=0.1)
        seen = ground.probe(points, time)
        touched = points - seen.distance[:, None] * seen.normal
        moved = (ground.carry(touched, time, time + h) - ground.carry(touched, time, time - h)) / (2.0 * h)
        np.testing.assert_allclose(seen.velocity, moved, atol=DIFFERENCE)


@pytest.mark.parametrize("seed", range(3))
def test_the_distance_changes_as_the_surface_moves(seed: int) -> None:
    """d/dt distance = -normal . velocity for a point at rest."""
    ground = wandering(terrains.slope(15.0), seed)
    time, h = float(ground.times[2]) + 0.05, 1e-5
    points = places_over(ground, 30, seed, time)
    seen = ground.probe(points, time)
    rate = (ground.probe(points, time + h).distance - ground.probe(points, time - h).distance) / (2.0 * h)
    np.testing.assert_allclose(rate, -(seen.normal * seen.velocity).sum(1), atol=DIFFERENCE)


def test_what_rides_along_keeps_its_distance() -> None:
    ground = wandering(terrains.rough_ground(3, spacing=0.5), 3)
    points = places_over(ground, 50, 3, 0.5)
    later = ground.carry(points, 0.5, 1.4)
    before, after = ground.probe(points, 0.5), ground.probe(later, 1.4)
    np.testing.assert_allclose(after.distance, before.distance, atol=JUDGE)
    np.testing.assert_allclose(ground.carry(later, 1.4, 0.5), points, atol=ROUNDING)


@pytest.mark.parametrize("seed", range(3))
def test_the_height_of_tilted_ground_is_that_of_its_tilted_triangles(seed: int) -> None:
    rough = terrains.rough_ground(seed, size=6.0)
    ground, time = wandering(rough, seed), 0.9
    at = ground.placement(time)
    still = TriangleMesh(rough.vertices @ at.R.T + at.position, rough.faces)
    xy = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(80, 2))
    tilted, expected = ground.height(xy, time), still.height(xy, 0.0)
    np.testing.assert_allclose(tilted.z, expected.z, atol=JUDGE)
    np.testing.assert_allclose(tilted.normal, expected.normal, atol=JUDGE)


def test_the_height_of_tilted_steps_is_that_of_their_mesh() -> None:
    steps = terrains.stairs(0.2, 0.5)
    vertices, faces = terrains.steps_mesh(steps, width=40.0, before=20.0, after=20.0)
    for turn in ([0.0, 0.2, 0.0], [0.15, -0.3, 0.5], [0.0, -0.9, 0.0]):
        q = rotation.exp(np.array([turn]))
        tilted = Moving(steps, np.zeros(1), np.zeros((1, 3)), q)
        mesh = TriangleMesh(rotation.rotate(q, vertices), faces)
        xy = np.random.default_rng(0).uniform(-2.0, 2.0, size=(200, 2))
        np.testing.assert_allclose(tilted.height(xy, 0.0).z, mesh.height(xy, 0.0).z, atol=JUDGE)


def test_ground_rests_before_its_first_and_after_its_last_key() -> None:
    ground = wandering(terrains.slope(10.0), 1)
    points = np.array([[0.3, 0.2, 0.1], [-1.0, 0.5, 0.4]])
    for time, key in ((-3.0, 0), (float(ground.times[-1]), -1), (99.0, -1)):
        seen = ground.probe(points, time)
        np.testing.assert_array_equal(seen.velocity, 0.0)
        np.testing.assert_allclose(ground.placement(time).position, ground.positions[key])
    first = ground.probe(points, float(ground.times[0]))
    assert (np.linalg.norm(first.velocity, axis=1) > 0.0).all()  # at a key the span it begins counts


def test_moving_ground_on_moving_ground_adds_up() -> None:
    inner = Moving(Plane.level(), np.array([0.0, 1.0]), np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.5]]))
    outer = Moving(inner, np.array([0.0, 1.0]), np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]))
    seen = outer.probe(np.array([[0.0, 0.0, 1.0]]), 0.5)
    np.testing.assert_allclose(seen.distance, 0.75)
    np.testing.assert_allclose(seen.velocity, [[1.0, 0.0, 0.5]])
    np.testing.assert_allclose(outer.carry(np.zeros((1, 3)), 0.0, 1.0), [[1.0, 0.0, 0.5]])


# -- several at once ---------------------------------------------------------------------------------------------------


def test_a_union_is_the_nearest_and_the_highest() -> None:
    platform = Moving(TriangleMesh(*box((0.0, 0.0, 0.1), (1.0, 1.0, 0.2)), friction=0.3), np.array([0.0, 2.0]),
                      np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]))
    ground = Union((Plane.level(friction=0.8), platform))
    points = np.array([[0.0, 0.0, 0.25], [-0.6, 0.0, 0.15], [1.0, 2.0, 0.1], [0.0, 0.0, 0.19]])
    seen, under = ground.probe(points, 0.0), ground.height(points[:, :2], 0.0)
    np.testing.assert_allclose(seen.distance, [0.05, 0.1, 0.1, -0.01], atol=ROUNDING)
    np.testing.assert_allclose(seen.friction, [0.3, 0.3, 0.8, 0.3])
    np.testing.assert_allclose(seen.velocity, [[1, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0]], atol=ROUNDING)
    np.testing.assert_allclose(under.z, [0.2, 0.0, 0.0, 0.2], atol=ROUNDING)
    np.testing.assert_allclose(under.friction, [0.3, 0.8, 0.8, 0.3])
    np.testing.assert_allclose(ground.carry(points, 0.0, 1.0), points + [[1, 0, 0], [1, 0, 0], [0, 0, 0], [1, 0, 0]])


def test_a_union_and_moving_ground_pass_their_notes_on() -> None:
    holed = TriangleMesh(*overhang_mesh())
    assert holed.notes and Union((Plane.level(), Moving(holed, np.zeros(1), np.zeros((1, 3))))).notes == holed.notes
    assert Plane.level().notes == ()


def overhang_mesh() -> terrains.Mesh:
    ground = overhang()
    return ground.vertices, ground.faces


# -- the grounds of the tests ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(len(terrains.KINDS)))
def test_random_grounds_start_at_height_zero(seed: int) -> None:
    _, ground = terrains.random_terrain(seed)
    assert ground.height(np.zeros((1, 2)), 0.0).z[0] == pytest.approx(0.0, abs=JUDGE)
    assert ground.notes == ()


@pytest.mark.parametrize("seed", range(4))
def test_rough_ground_is_as_rough_as_promised(seed: int) -> None:
    ground = terrains.rough_ground(seed)
    assert np.ptp(ground.vertices[:, 2]) == pytest.approx(1.0)
    slopes = np.degrees(np.arccos(ground._solid._normals[:, 2]))
    assert 59.0 < slopes.max() <= 60.0 + 1e-9


def test_the_fine_ground_has_its_triangles() -> None:
    ground = terrains.fine_ground()
    assert len(ground._mesh.faces) >= 100_000 and ground.notes == ()
