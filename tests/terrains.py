"""Grounds to walk on and fall on: slopes, stairs, rough and moving ground, and meshes of simple shapes.

Around the origin they are at height zero, so that a clip made on flat ground can start there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from solver.model.arrays import Array, Ints
from solver.model.terrain import HeightField, Moving, Plane, Steps, Terrain, TriangleMesh, Union
from solver.numerics import rotation

Mesh = tuple[Array, Ints]  # vertices, faces

KINDS = ("slope", "stairs", "rough", "fine", "bumpy", "lift", "ferry", "turntable")


def heading(degrees: float) -> Array:
    """A horizontal direction, turned from x towards y."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])


def slope(degrees: float, towards: float = 0.0, friction: float = 0.9) -> Plane:
    """Rises by so many degrees towards a heading; negative falls; towards = 90 lies across a walk along x."""
    angle = np.radians(degrees)
    return Plane(np.zeros(3), np.array([0.0, 0.0, np.cos(angle)]) - np.sin(angle) * heading(towards), friction)


def stairs(rise: float, tread: float = 0.8, count: int = 12, begin: float = 0.6, towards: float = 0.0) -> Steps:
    """Up, or down with a negative rise; the first riser is `begin` away from the origin."""
    return Steps(begin * heading(towards), heading(towards), tread, rise, count)


def rough_heights(seed: int, count: int, spacing: float, variation: float = 1.0, max_slope: float = 60.0) -> Array:
    """(count, count) hills some metres wide with facets on top, from lowest to highest `variation` m, the steepest
    triangle at `max_slope` degrees (or, if the hills alone are steeper, flatter than asked)."""
    generator = np.random.default_rng(seed)
    x = spacing * np.arange(count)
    hills = np.zeros((count, count))
    for _ in range(6):
        across, phase = generator.normal(size=2) * 2.0 * np.pi / 5.0, generator.uniform(0.0, 2.0 * np.pi)
        hills += np.sin(across[0] * x[:, None] + across[1] * x + phase)
    facets = generator.uniform(-1.0, 1.0, size=(count, count))

    def scaled(share: float) -> Array:
        z = hills / np.ptp(hills) + share * facets
        return z * (variation / np.ptp(z))

    low, high = 0.0, 1.0
    for _ in range(40):  # more facets, steeper ground
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _steepest(scaled(middle), spacing) < max_slope else (low, middle)
    z = scaled(low)
    steepest = _steepest(z, spacing)
    return z * min(1.0, np.tan(np.radians(max_slope)) / np.tan(np.radians(steepest)))


def _steepest(z: Array, spacing: float) -> float:
    """Degrees, of the triangles of a height field."""
    dx, dy = np.diff(z, axis=0) / spacing, np.diff(z, axis=1) / spacing
    squares = np.maximum(dx[:, :-1] ** 2 + dy[1:] ** 2, dx[:, 1:] ** 2 + dy[:-1] ** 2)
    return float(np.degrees(np.arctan(np.sqrt(squares.max()))))


def rough_ground(seed: int, size: float = 12.0, variation: float = 1.0, max_slope: float = 60.0,
                 spacing: float = 0.25) -> TriangleMesh:
    """A square of rough ground around the origin, `size` m wide, with vertices moved off the grid."""
    count = int(round(size / spacing)) + 1
    z = rough_heights(seed, count, spacing, variation, max_slope)
    vertices, faces = grid_mesh(z, spacing)
    ground = TriangleMesh(vertices, faces)
    return TriangleMesh(vertices - np.array([0.0, 0.0, ground.height(np.zeros((1, 2)), 0.0).z[0]]), faces)


def fine_ground(seed: int = 0, triangles: int = 100_000, size: float = 22.0, variation: float = 1.0) -> HeightField:
    """Very many triangles."""
    count = int(np.sqrt(triangles / 2)) + 2
    spacing = size / (count - 1)
    z = rough_heights(seed, count, spacing, variation, 45.0)
    return HeightField(np.array([-0.5 * size, -0.5 * size, -z[count // 2, count // 2]]), spacing, z)


def lift(seed: int, speed: float = 0.3) -> Union:
    """Flat ground with a platform 0.2 m high in the way that rises and sinks, or slides, or both."""
    generator = np.random.default_rng(seed)
    times = np.arange(0.0, 12.0, 1.0)
    way = generator.normal(size=3) * np.array([1.0, 0.4, 1.0])
    way *= speed / np.linalg.norm(way)
    back_and_forth = np.where(np.arange(len(times)) % 4 < 2, 1.0, -1.0)
    positions = np.concatenate((np.zeros((1, 3)), np.cumsum(back_and_forth[:-1, None] * way, axis=0)))
    platform = box((1.5, 0.0, 0.0), (1.2, 1.6, 0.4))
    return Union((Plane.level(), Moving(TriangleMesh(*platform), times, positions)))


def ferry(speed: float = 0.5, towards: float = 30.0) -> Moving:
    """All of the ground moves along."""
    times = np.array([0.0, 10.0])
    return Moving(Plane.level(), times, times[:, None] * speed * heading(towards))


def turntable(rate: float = 0.4, tilt: float = 0.0) -> Moving:
    """A disc's worth of level ground that turns about the vertical (rad/s), and rocks by so many degrees."""
    times = np.linspace(0.0, 12.0, 25)
    turns = rotation.exp(np.outer(rate * times, [0.0, 0.0, 1.0]))
    rocks = rotation.exp(np.outer(np.radians(tilt) * np.sin(times), [1.0, 0.0, 0.0]))
    return Moving(TriangleMesh(*box((0.0, 0.0, -0.5), (20.0, 20.0, 1.0))), times, np.zeros((25, 3)),
                  rotation.multiply(rocks, turns))


def random_terrain(seed: int, kind: str | None = None) -> tuple[str, Terrain]:
    """(what it is, the ground): any of KINDS, as steep and high as the project promises to walk on."""
    generator = np.random.default_rng(seed)
    kind = kind if kind is not None else KINDS[seed % len(KINDS)]
    towards = float(generator.uniform(-40.0, 40.0))
    if kind == "slope":
        degrees = float(generator.uniform(-35.0, 35.0))
        towards = float(generator.uniform(-180.0, 180.0))
        return f"slope of {degrees:.0f} degrees towards {towards:.0f}", slope(degrees, towards)
    if kind == "stairs":
        rise = float(generator.choice([-1.0, 1.0]) * generator.uniform(0.1, 0.5))
        return f"steps of {rise:.2f} m towards {towards:.0f}", stairs(rise, float(generator.uniform(0.5, 1.0)),
                                                                     towards=towards)
    if kind == "rough":
        return "rough ground", rough_ground(seed)
    if kind == "fine":
        return "100000 triangles", fine_ground(seed)
    if kind == "bumpy":
        return "bumps of 0.2 m", rough_ground(seed, variation=0.2, max_slope=30.0)
    if kind == "lift":
        return "platform", lift(seed, float(generator.uniform(0.1, 0.5)))
    if kind == "ferry":
        return "moving ground", ferry(float(generator.uniform(0.1, 0.8)), towards)
    return "turning ground", turntable(float(generator.uniform(-0.5, 0.5)), float(generator.uniform(0.0, 10.0)))


# -- meshes of simple shapes -----------------------------------------------------------------------------------------


def join(*meshes: Mesh) -> Mesh:
    """All of them as one."""
    offsets = np.cumsum([0] + [len(vertices) for vertices, _ in meshes])
    return (np.concatenate([vertices for vertices, _ in meshes]),
            np.concatenate([faces + offset for (_, faces), offset in zip(meshes, offsets)]))


def grid_mesh(heights: Array, spacing: float) -> Mesh:
    """Heights on a grid around the origin, two triangles a cell."""
    nx, ny = heights.shape
    i, j = np.indices((nx, ny))
    vertices = np.stack((spacing * (i - 0.5 * (nx - 1)), spacing * (j - 0.5 * (ny - 1)), heights), axis=-1)
    number = np.arange(nx * ny).reshape(nx, ny)
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    return vertices.reshape(-1, 3), np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))


def patch(corner: Sequence[float], one: Sequence[float], other: Sequence[float]) -> Mesh:
    """A parallelogram, two triangles."""
    a, u, v = np.asarray(corner, float), np.asarray(one, float), np.asarray(other, float)
    return np.array([a, a + u, a + u + v, a + v]), np.array([[0, 1, 2], [0, 2, 3]])


def box(centre: Sequence[float], size: Sequence[float]) -> Mesh:
    """Twelve triangles that look outwards."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([[a, b, c] for a, b, c, _ in quads] + [[a, c, d] for a, _, c, d in quads])
    return np.asarray(centre, float) + 0.5 * signs * np.asarray(size, float), faces


def steps_mesh(steps: Steps, before: float = 5.0, after: float = 5.0, width: float = 10.0) -> Mesh:
    """The same stairs as an open mesh, so wide and with so long landings."""
    along, across = steps.direction, np.array([-steps.direction[1], steps.direction[0], 0.0])
    s = np.repeat(steps.tread * np.arange(steps.count), 2)
    z = np.repeat(steps.rise * np.arange(steps.count + 1), 2)[1:-1]
    s = np.concatenate(([-before], s, [steps.tread * (steps.count - 1) + after]))
    z = np.concatenate((z[:1] * 0.0, z, [steps.rise * steps.count]))
    spine = steps.start + s[:, None] * along + z[:, None] * np.array([0.0, 0.0, 1.0])
    right, left = spine - 0.5 * width * across, spine + 0.5 * width * across
    n = np.arange(len(s) - 1)
    m = n + len(s)
    return np.concatenate((right, left)), np.concatenate((np.stack((n, n + 1, m + 1), 1), np.stack((n, m + 1, m), 1)))


def ball(seed: int, size: float = 1.0, roughness: float = 0.3, refinements: int = 2) -> Mesh:
    """A closed, bumpy, star-shaped body around the origin, outwards."""
    generator = np.random.default_rng(seed)
    vertices = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
    faces = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
    for _ in range(refinements):
        edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        unique, where = np.unique(edges, axis=0, return_inverse=True)
        a, b, c = where.reshape(3, -1) + len(vertices)
        vertices = np.concatenate((vertices, vertices[unique].mean(1)))
        faces = np.concatenate((np.stack((faces[:, 0], a, c), 1), np.stack((faces[:, 1], b, a), 1),
                                np.stack((faces[:, 2], c, b), 1), np.stack((a, b, c), 1)))
    vertices /= np.linalg.norm(vertices, axis=1, keepdims=True)
    return size * vertices * generator.uniform(1.0 - roughness, 1.0, size=(len(vertices), 1)), faces
