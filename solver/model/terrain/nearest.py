"""The nearest point of triangles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Bools, Ints


class Nearest(NamedTuple):
    """M pairs of a point and a triangle. Component first: the arrays are long and their other axes short."""

    distance: Array       # (M,) m
    height: Array         # (M,) m over the triangle's plane, negative behind it
    is_inner: Bools       # (M,) the nearest point is within the triangle, not on its rim
    from_edges: Array     # (3, 3, M) edge, axis: from the nearest point of each edge
    edge_distance: Array  # (3, M) squared

    def offset(self, pairs: Ints, normals: Array) -> Array:
        """(N, 3) from the nearest point to the point, for some pairs whose triangles have these normals."""
        edge = self.edge_distance.take(pairs, axis=1).argmin(0)
        return np.where(self.is_inner.take(pairs)[:, None], self.height.take(pairs)[:, None] * normals,
                        self.from_edges[edge, :, pairs])


@dataclass(frozen=True, eq=False)
class Triangles:
    """With corners v_i, edges E_i from them, unit normal n, and barycentric coordinates b_i of a point x's foot,

        h = n . (x - v_0)       is the distance where all  b_i >= 0
        |x - v_i - t_i E_i|,    t_i = clip(E_i . (x - v_i) / |E_i|^2, 0, 1),   the least of the three elsewhere.

    b_i, h and t_i are linear in x:  g . (x - v_0) + g_0.
    """

    _rows: Array    # (T, 46): v (9), E (9), g of b, t and h (21), g_0 of them (7)

    @staticmethod
    def build(corners: Array, normals: Array) -> Triangles:
        count = len(corners)
        edges = np.roll(corners, -1, axis=1) - corners                            # (T, 3, 3)
        across = np.cross(edges, normals[:, None])                                 # out of the triangle, or into it
        opposite = np.roll(edges, -1, axis=1)
        b = across / np.einsum("tij,tij->ti", across, opposite)[..., None]          # 0 on edge i, 1 at the corner
        t = edges / np.einsum("tij,tij->ti", edges, edges)[..., None]
        g = np.concatenate((b, t, normals[:, None]), axis=1)                       # (T, 7, 3)
        zero = np.zeros((count, 7))
        zero[:, :6] = np.einsum("tij,tij->ti", g[:, :6], np.tile(corners[:, :1] - corners, (1, 2, 1)))
        return Triangles(np.concatenate(
            (corners.reshape(count, 9), edges.reshape(count, 9), g.reshape(count, 21), zero), axis=1))

    def nearest(self, points: Array, triangle: Ints) -> Nearest:
        """For pairs of points, component first (3, M), and triangles (M,)."""
        rows = np.ascontiguousarray(self._rows.take(triangle, axis=0).T)           # (46, M)
        v, E = rows[:18].reshape(2, 3, 3, -1)
        away = points - v                                                          # (3, 3, M)
        linear = rows[18:39].reshape(7, 3, -1)
        linear *= away[0]
        value = linear[:, 0] + linear[:, 1]
        value += linear[:, 2]
        value += rows[39:]                                                         # (7, M)
        is_inner = np.minimum.reduce(value[:3]) >= 0.0
        t, h = value[3:6], value[6]
        np.maximum(t, 0.0, out=t)
        np.minimum(t, 1.0, out=t)
        E *= t[:, None]
        away -= E
        square = away * away
        apart = square[:, 0] + square[:, 1]
        apart += square[:, 2]                                                      # (3, M)
        return Nearest(np.where(is_inner, np.abs(h), np.sqrt(apart.min(0))), h, is_inner, away, apart)
