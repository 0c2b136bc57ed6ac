"""Ground made of triangles: any mesh, with walls, overhangs, holes, and faces wound either way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import InputError
from ..arrays import Array, Bools, Ints, freeze, frozen_array
from .base import FRICTION, Heights, Probe, Terrain, check_friction
from .columns import VERTICAL
from .solid import REACH, Solid
from .topology import Parts, find_doubles, find_parts, weld

NO_AREA = 1e-12      # of the square of its longest edge: a thinner triangle is left out
CHUNK = 512          # points asked about together: memory stays flat
CROWD = 200          # parts: so many that some surely meet


@dataclass(frozen=True, eq=False)
class TriangleMesh(Terrain):
    """Vertices and triangles, as they come. Vertices in the same place count as one, so that faces hang together; faces
    without area and faces told twice are left out, and `notes` says so. `solid` tells what the ground is."""

    vertices: Array                       # (V, 3) m
    faces: Ints                           # (T, 3) numbers of vertices
    friction: Array | float = FRICTION    # one number, or (T,) one per face
    is_bottomless: bool = True            # an open part with nothing beneath is solid all the way down; else a sheet
    reach: float = REACH                  # m: as far as distances are exact
    notes: tuple[str, ...] = field(default=(), init=False)
    _solid: Solid = field(init=False, repr=False)

    def __post_init__(self) -> None:
        vertices = frozen_array(self.vertices, (None, 3), "The list of vertices", "Ground")
        faces = _checked_faces(self.faces, len(vertices))
        check_friction(self.friction)
        each = np.full(len(faces), self.friction) if np.ndim(self.friction) == 0 else self.friction
        friction = frozen_array(each, (len(faces),), "The list of frictions", "Ground")
        if not (np.isfinite(self.reach) and self.reach > 0.0):
            raise InputError(f"A reach of {self.reach} m finds nothing.", "Ground", "Use about 0.3 m.")
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "faces", faces)
        solid, notes = _build(vertices, faces, friction, self.is_bottomless, self.reach)
        object.__setattr__(self, "_solid", solid)
        object.__setattr__(self, "notes", notes)

    def probe(self, points: Array, time: float) -> Probe:
        if len(points) <= CHUNK:
            return self._solid.probe(points)
        seen = [self._solid.probe(points[n:n + CHUNK]) for n in range(0, len(points), CHUNK)]
        return Probe(*(np.concatenate([getattr(each, name) for each in seen])
                       for name in ("distance", "normal", "velocity", "friction")))

    def cast(self, points: Array, up: Array, time: float, below: Array | float = np.inf) -> Heights:
        if len(points) <= CHUNK:
            return self._solid.cast(points, up, below)
        below = np.broadcast_to(below, len(points))
        seen = [self._solid.cast(points[n:n + CHUNK], up, below[n:n + CHUNK]) for n in range(0, len(points), CHUNK)]
        return Heights(*(np.concatenate([getattr(each, name) for each in seen])
                         for name in ("z", "normal", "friction")))


def _checked_faces(given: Any, vertices: int) -> Ints:
    try:
        faces = np.array(given)
    except ValueError:
        faces = np.zeros(0)
    if faces.size == 0 and faces.ndim < 3 and np.ndim(given) > 0 and not len(given):
        faces = np.zeros((0, 3), dtype=np.intp)
    if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu":
        raise InputError(f"The list of faces has shape {faces.shape} of {faces.dtype}, wanted any x 3 whole numbers.",
                         "Ground", "Triangulate the mesh.")
    faces = faces.astype(np.intp)
    if faces.size and (faces.min() < 0 or faces.max() >= vertices):
        wrong = int(np.flatnonzero(((faces < 0) | (faces >= vertices)).any(1))[0])
        raise InputError(f"Face {wrong} names a vertex that does not exist.", "Ground", "Check the mesh for damage.")
    return freeze(faces)


def _build(vertices: Array, faces: Ints, friction: Array, is_bottomless: bool,
           reach: float) -> tuple[Solid, tuple[str, ...]]:
    """The faces worth keeping, turned outwards, as a solid; and what there is to say about them."""
    notes = []
    welded = weld(vertices)[faces]
    collapsed = (welded == np.roll(welded, 1, axis=1)).any(1)
    doubled = np.zeros(len(faces), dtype=bool)
    doubled[~collapsed] = find_doubles(welded[~collapsed])
    kept = np.flatnonzero(~collapsed & ~doubled)
    corners = vertices[faces[kept]]                                               # (T, 3, 3)
    edges = np.roll(corners, -1, axis=1) - corners
    areas = 0.5 * np.cross(edges[:, 0], edges[:, 1])
    longest = np.einsum("tij,tij->ti", edges, edges).max(1, initial=0.0)
    size = np.linalg.norm(areas, axis=1)
    parts = find_parts(welded[kept], corners, areas)  # thin faces count here: without them the surface would tear
    flat = size <= NO_AREA * longest
    lost, told_twice = int(collapsed.sum() + flat.sum()), int(doubled.sum())
    if lost:
        notes.append(f"{_number(lost, 'triangle has', 'triangles have')} no area; left out.")
    if told_twice:
        notes.append(f"{_number(told_twice, 'triangle is', 'triangles are')} there twice; counted once.")
    full = ~flat
    kept, turned = kept[full], parts.is_turned[full, None, None]
    corners = np.where(turned, corners[full][:, ::-1], corners[full])
    normals = np.where(turned[:, 0], -1.0, 1.0) * areas[full] / size[full, None]
    notes += _describe(parts, normals, parts.is_closed[full])
    is_closed = parts.is_closed[full]
    solid = Solid(corners, normals, friction[kept], is_closed, _meet(corners, parts.part[full], is_closed),
                  is_bottomless, reach)
    return solid, tuple(notes)


def _describe(parts: Parts, normals: Array, is_closed: Bools) -> list[str]:
    notes = []
    if not len(normals):
        return ["The ground has no faces: there is nothing to stand on."]
    if parts.holes:
        notes.append(f"The ground has {_number(parts.holes, 'hole', 'holes')}: there is nothing to stand on in it.")
    if (normals[~is_closed, 2] < -VERTICAL).any():
        notes.append("Some of the ground hangs over: feet step on what they can climb to, and pass under the rest.")
    if parts.inside_out:
        notes.append(f"{_number(parts.inside_out, 'closed part is', 'closed parts are')} inside out and counted as "
                     "solid. If it is a room, delete its ceiling.")
    if parts.sideways:
        notes.append(f"{_number(parts.sideways, 'open part looks', 'open parts look')} neither up nor down: "
                     "its normals decide which side is solid.")
    return notes


def _number(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _meet(corners: Array, part: Ints, is_closed: Bools) -> bool:
    """Whether one part may be buried in another: their boxes overlap, open ones reaching down."""
    names, first, which = np.unique(part, return_index=True, return_inverse=True)
    if not 1 < len(names) <= CROWD:
        return len(names) > 1
    which = which.reshape(-1)
    low, high = np.full((len(names), 3), np.inf), np.full((len(names), 3), -np.inf)
    np.minimum.at(low, which, corners.min(1))
    np.maximum.at(high, which, corners.max(1))
    low[~is_closed[first], 2] = -np.inf
    overlap = ((low[:, None] <= high) & (low <= high[:, None])).all(-1)
    return int(overlap.sum()) > len(names)
