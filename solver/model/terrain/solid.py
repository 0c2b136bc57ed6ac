"""What is solid about triangles, how far it is, and how high.

A closed part of a mesh is solid inside. An open part is the top of something solid: the ground reaches from it all the
way down, or to a lower side of the same part (an overhang). Only where another surface that looks up lies beneath it (a
floor over a floor, a deck of no thickness over a road) there is room between the two, and the upper one is a sheet: as
long as it is the nearest surface, what is just beneath it has sunk in. With faces that look out of the ground,

    winding(x) = sum over the faces straight above x of +1 where they look up and -1 where they look down

is positive in the ground. A part that is buried in another has no surface there: it pushes nobody out.

Distances are exact up to `reach`. Beyond it they are estimates, no less than `reach`: how far it is to the plane of the
surface below or, deep in the ground, above.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...numerics import rotation
from ..arrays import Array, Bools, Ints
from .base import FRICTION, PREFER_UP, TOUCHING, UP, Heights, Probe, is_vertical
from .columns import VERTICAL, Columns
from .grid import Grids
from .nearest import Nearest, Triangles

REACH = 0.3          # m
SHEET = 0.1          # m: how far beneath a sheet a point counts as sunk in
CELLS = 4.0          # cells are no smaller than the reach divided by this
BEYOND = 1e-6        # m: so far behind a buried face there is still ground
MANY = 1000         # pairs of points and triangles worth a look at their boxes first


class Column(NamedTuple):
    """The ground straight above and below P points."""

    side: Array                    # negative inside
    is_under_sheet: Bools | None   # not inside, but beneath a surface that has another one beneath it; None: nowhere
    room: Array                    # m, up or down to the first face; inf: there is none
    face: Ints                     # the face above those inside, below the others
    gap: Array                     # m to it; inf: there is none, and its number has no meaning

    @property
    def is_inside(self) -> Bools:
        return self.side < 0.0


class Solid:
    """Triangles (T, 3, 3) that wind around their unit normals (T, 3), which point out of the ground."""

    def __init__(self, corners: Array, normals: Array, friction: Array, is_closed: Bools, meets: bool,
                 is_bottomless: bool, reach: float) -> None:
        self._corners, self._normals = corners, normals
        self._friction, self._is_closed = friction, is_closed
        self._meets, self._is_bottomless, self._reach = meets, is_bottomless, reach
        looks = np.where(np.abs(normals[:, 2]) < VERTICAL, 0.0, np.sign(normals[:, 2]))
        self._votes = np.zeros((len(corners) + 1, 2))                             # of all faces; of closed parts
        self._votes[:-1] = np.stack((looks, looks * is_closed), axis=1)
        self._looks_up = looks > 0.0
        self._is_ground = self._looks_up & (is_closed | is_bottomless)            # (T,) what is under it alone is solid
        self._is_plain = bool((self._is_ground | (looks == 0.0)).all())
        self._low, self._high = corners.min(1), corners.max(1)
        self._columns = _columns(corners, normals, reach)
        self._triangles = Triangles.build(corners, normals)
        self._prefer = PREFER_UP * normals[:, 2]
        self._turned = lru_cache(maxsize=8)(self._turn)

    def probe(self, points: Array) -> Probe:
        if not len(self._corners):
            return Probe(np.full(len(points), np.inf), np.tile(UP, (len(points), 1)), np.zeros(points.shape),
                         np.full(len(points), FRICTION))
        cells = self._columns.grids.cells(points)
        column = self._look(points, cells)
        radius = np.fmin(column.room, self._reach)
        if self._meets:
            radius[column.is_inside] = self._reach
        who, triangle = self._columns.grids.near(cells, points, radius)
        if len(who) > MANY:
            who, triangle = self._within(points, radius, who, triangle)
        if not len(who):
            return self._estimate(column, np.arange(len(points)))
        near = self._triangles.nearest(points.T.take(who, axis=1), triangle)
        key = near.distance - self._prefer.take(triangle)
        if self._meets:
            self._pass_over_buried(points, column.is_inside, who, triangle, near, key)
        every = np.arange(len(points))
        best = _least(key, who, every)
        seen = self._answer(column, near, triangle, best)
        if max(radius.tolist()) < self._reach and not self._meets:
            return seen  # everybody found at least the face straight above or below
        far = ((who.take(best) != every) | (key.take(best) > self._reach)).nonzero()[0]
        guess = self._estimate(column, far)
        seen.distance[far], seen.normal[far], seen.friction[far] = guess.distance, guess.normal, guess.friction
        return seen

    def cast(self, points: Array, up: Array, below: Array | float) -> Heights:
        """Highest faces that look along `up`. Slanting lines are vertical ones of the mesh turned upright."""
        normals, columns = self._normals, self._columns
        if not is_vertical(up):
            turn, columns = self._turned(up.tobytes())
            points, normals = points @ turn.T, normals @ turn.T
        if not len(normals):
            return Heights(np.full(len(points), -np.inf), np.tile(up, (len(points), 1)), np.full(len(points), FRICTION))
        seen = columns.cross(points, columns.grids.cells(points), all_edges=True)
        rise = seen.z - points[:, 2:]
        triangle = np.minimum(seen.triangle, len(normals) - 1)
        counts = seen.is_hit & (normals[:, 2].take(triangle) > 0.0) & (rise <= np.reshape(below, (-1, 1)))
        rise[~counts] = -np.inf
        every = np.arange(len(points))
        best = rise.argmax(1)
        z, face = rise[every, best], triangle[every, best]
        exists = z > -np.inf
        return Heights(z, np.where(exists[:, None], self._normals.take(face, axis=0), up),
                       np.where(exists, self._friction.take(face), FRICTION))

    # -- the pieces ----------------------------------------------------------------------------------------------

    def _look(self, points: Array, cells: tuple[Ints, ...]) -> Column:
        seen = self._columns.cross(points, cells)
        hits = seen.is_hit.ravel().nonzero()[0]
        if (hits // seen.z.shape[1]).tolist() == list(range(len(points))):             # one face each, as nearly always
            face = seen.triangle.take(hits)
            height = points[:, 2] - seen.z.take(hits)
            room = np.abs(height)
            if self._is_plain:
                return Column(height, None, room, face, room)
            is_below = height < 0.0
            is_out = is_below & ~self._is_ground.take(face)
            return Column(np.where(is_out, room, height), is_out & self._looks_up.take(face), room, face,
                          np.where(is_out, np.inf, room))
        every, rise = np.arange(len(points)), seen.z - points[:, 2:]                 # (P, C)
        is_above = seen.is_hit & (rise > 0.0)
        votes = self._votes.take(seen.triangle, axis=0)                            # (P, C, 2)
        winding = (votes * is_above[:, :, None]).sum(1)                            # (P, 2)
        above, below = np.where(is_above, rise, np.inf), np.where(seen.is_hit ^ is_above, rise, -np.inf)
        first, next_ = above.argmin(1), below.argmax(1)
        up, down = above[every, first], -below[every, next_]
        ends = votes[every, next_, 0] < 0.0
        if self._is_bottomless:
            ends |= down == np.inf
        is_under = winding[:, 0] > 0.0
        is_inside = (winding[:, 1] > 0.0) | (is_under & ends)
        return Column(np.where(is_inside, -1.0, 1.0), is_under & ~is_inside, np.minimum(up, down),
                      np.where(is_inside, seen.triangle[every, first], seen.triangle[every, next_]),
                      np.where(is_inside, up, down))

    def _answer(self, column: Column, near: Nearest, triangle: Ints, best: Ints) -> Probe:
        """Signed distances and normals of the best pairs."""
        face, distance = triangle.take(best), near.distance.take(best)
        signed = np.copysign(distance, column.side)
        if column.is_under_sheet is not None and column.is_under_sheet.any():
            sunk = column.is_under_sheet & (near.height.take(best) < 0.0) & (distance < SHEET)
            np.negative(distance, out=signed, where=sunk & ~self._is_closed.take(face))
        close = (distance < TOUCHING).nonzero()[0]
        if len(close):
            normal = self._triangles.offset(near, best, face, np.where(distance < TOUCHING, 1.0, signed))
            normal[close] = self._normals.take(face[close], axis=0)
        else:
            normal = self._triangles.offset(near, best, face, signed)
        return Probe(signed, normal, np.zeros(normal.shape), self._friction.take(face))

    def _estimate(self, column: Column, some: Ints) -> Probe:
        """The distance to the plane of the surface above those inside, below the others."""
        gap = column.gap[some]
        exists = gap < np.inf
        face = np.where(exists, column.face[some], 0)
        normal, friction = np.tile(UP, (len(some), 1)), np.full(len(some), FRICTION)
        if exists.any():
            own = self._normals.take(face, axis=0)
            normal = np.where(exists[:, None], own * np.sign(own[:, 2:]), UP)
            friction = np.where(exists, self._friction.take(face), FRICTION)
        distance = np.copysign(np.maximum(gap * normal[:, 2], self._reach), column.side[some])
        return Probe(distance, normal, np.zeros_like(normal), friction)

    def _within(self, points: Array, radius: Array, who: Ints, triangle: Ints) -> tuple[Ints, Ints]:
        """The pairs whose boxes are within the radius."""
        at = points.take(who, axis=0)
        away = np.maximum(self._low.take(triangle, axis=0) - at, at - self._high.take(triangle, axis=0))
        np.maximum(away, 0.0, out=away)
        away *= away
        limit = (radius * (1.0 + 1e-9) + 1e-9) ** 2
        kept = np.flatnonzero(away[:, 0] + away[:, 1] + away[:, 2] <= limit.take(who))
        return who.take(kept), triangle.take(kept)

    def _pass_over_buried(self, points: Array, is_inside: Bools, who: Ints, triangle: Ints, near: Nearest,
                          key: Array) -> None:
        """For points in the ground, faces with ground on both sides at their nearest point do not count."""
        pairs = np.flatnonzero(is_inside.take(who))
        if not len(pairs):
            return
        normals = self._normals.take(triangle[pairs], axis=0)
        offset, distance = self._triangles.offset(near, pairs, triangle[pairs], 1.0), near.distance[pairs, None]
        is_close = distance < TOUCHING
        out = np.where(is_close, normals, -offset / np.where(is_close, 1.0, distance))
        behind = points.take(who[pairs], axis=0) - offset + BEYOND * out
        key[pairs[self._look(behind, self._columns.grids.cells(behind)).is_inside]] = np.inf

    def _turn(self, up: bytes) -> tuple[Array, Columns]:
        """(the rotation that makes a direction vertical, columns along it)"""
        turn = rotation.matrix(rotation.between(np.frombuffer(up), UP))
        return turn, _columns(self._corners @ turn.T, self._normals @ turn.T, self._reach)


def _columns(corners: Array, normals: Array, reach: float) -> Columns:
    low, high = corners.min(1), corners.max(1)
    width = np.sqrt(2.0 * np.median((high - low)[:, :2].prod(1))) if len(corners) else 0.0
    return Columns.build(corners, normals, Grids.build(low, high, max(float(width), reach / CELLS), reach))


def _least(key: Array, who: Ints, every: Ints) -> Ints:
    """For every point, the pair with the least key, or any if it has none; `who` is sorted."""
    return np.lexsort((key, who)).take(who.searchsorted(every), mode="clip")
