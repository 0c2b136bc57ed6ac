"""The nearest point of triangles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Ints


class Nearest(NamedTuple):
    """M pairs of a point and a triangle. Component first: the arrays are long and their other axes short."""

    distance: Array       # (M,) m
    parts: Array          # (7, M) of the offset: along w_i and u_i, zero over the triangle itself, and along n
    rim: Array            # (3, M) squared distance from each edge along the plane, zero over the triangle itself

    @property
    def height(self) -> Array:
        """(M,) m over the triangle's plane, negative behind it."""
        return self.parts[6]


@dataclass(frozen=True, eq=False)
class Triangles:
    """With corners v_i, edges from them of lengths L_i along unit vectors u_i, unit normal n, and w_i = n x u_i, which
    look from the edges into the triangle, a point x is

        h = n . (x - v_0)  over the plane,    a_i = w_i . (x - v_i)  beside edge i,    t_i = u_i . (x - v_i)  along it.

    Where all a_i >= 0, its nearest point is straight below. Elsewhere it is on the edge for which this is least:

        distance^2 = h^2 + a_i^2 + c_i^2 ,   offset = h n + a_i w_i + c_i u_i ,   c_i = t_i - clip(t_i, 0, L_i)
    """

    _rows: Array    # (T, 34): v_0 (3), then x, y and z of w, u and n (21), what they are at v_0 (7), L (3)

    @staticmethod
    def build(corners: Array, normals: Array) -> Triangles:
        count = len(corners)
        edges = np.roll(corners, -1, axis=1) - corners                            # (T, 3, 3)
        L = np.sqrt(np.einsum("tij,tij->ti", edges, edges))
        u = edges / L[..., None]
        g = np.concatenate((np.cross(normals[:, None], u), u, normals[:, None]), axis=1)   # (T, 7, 3)
        start = np.zeros((count, 7))
        start[:, :6] = np.einsum("tij,tij->ti", g[:, :6], np.tile(corners[:, :1] - corners, (1, 2, 1)))
        return Triangles(np.concatenate(
            (corners[:, 0], g.swapaxes(1, 2).reshape(count, 21), start, L), axis=1))

    def nearest(self, points: Array, triangle: Ints) -> Nearest:
        """For pairs of points, component first (3, M), and triangles (M,)."""
        rows = np.ascontiguousarray(self._rows.take(triangle, axis=0).T)           # (34, M)
        along = rows[3:24].reshape(3, 7, -1)
        along *= (points - rows[:3])[:, None]
        parts = along[0] + along[1]
        parts += along[2]
        parts += rows[24:31]                                                       # (7, M) a, t, h
        a, t = parts[:3], parts[3:6]
        clipped = np.maximum(t, 0.0)
        np.minimum(clipped, rows[31:], out=clipped)
        t -= clipped                                                               # c
        parts[:6] *= np.minimum.reduce(a) < 0.0
        square = parts * parts
        rim = square[:3] + square[3:6]
        apart = np.minimum.reduce(rim)
        apart += square[6]
        return Nearest(np.sqrt(apart, out=apart), parts, rim)

    def offset(self, near: Nearest, pairs: Ints, triangle: Ints, unit: Array | float) -> Array:
        """(N, 3) from the nearest point to the point in these units (m), for some of the pairs, whose triangles are
        these (N,). In units of its own length it is, over a triangle, exactly n."""
        parts = _OF_EDGE.take(near.rim.take(pairs, axis=1).argmin(0), axis=0)      # (N, 7)
        parts *= (near.parts.take(pairs, axis=1) / unit).T
        g = self._rows.take(triangle, axis=0)[:, 3:24].reshape(-1, 3, 7)
        return np.asarray((g @ parts[:, :, None])[:, :, 0])


_OF_EDGE = np.concatenate((np.eye(3), np.eye(3), np.ones((3, 1))), axis=1)         # which parts belong to an edge
