"""Where vertical lines cross triangles: each line through a surface crosses exactly one of its triangles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Bools, Ints
from .grid import Grids

VERTICAL = 1e-7  # steeper triangles, by the height of their unit normal, are walls: no vertical line crosses them


class Crossings(NamedTuple):
    """P vertical lines and the C triangles that each might cross."""

    triangle: Ints    # (P, C)
    is_hit: Bools     # (P, C)
    z: Array          # (P, C) height of the triangle's plane there


@dataclass(frozen=True, eq=False)
class Columns:
    """A line at (x, y) crosses a triangle where it is on the inner side of its three edges, seen from above:

        e = d_x (y - a_y) - d_y (x - a_x) > 0          for each edge from a along d
        z = z_0 + g_x (x - x_0) + g_y (y - y_0)        on the triangle's plane

    Two triangles that share an edge evaluate e from the same end a, so that one's e is exactly the other's -e, and e
    is exactly zero at both ends. Where e = 0 the line is thought moved by (h, h^2) with h tiny: the edge then belongs
    to one of the two. So no line slips through between triangles and none is counted twice, at edges and at corners.
    """

    grids: Grids
    _rows: Array      # (T + 1, 20): a_x, a_y, d_y, d_x and the bound of e, or z_0, each of three edges and the plane

    @staticmethod
    def build(corners: Array, normals: Array, grids: Grids) -> Columns:
        """For triangles (T, 3, 3) that wind around their unit normals (T, 3), sorted into grids."""
        count = len(corners)
        a, b = corners[:, :, :2], np.roll(corners, -1, axis=1)[:, :, :2]           # (T, 3, 2)
        swapped = (a[..., 0] > b[..., 0]) | ((a[..., 0] == b[..., 0]) & (a[..., 1] > b[..., 1]))
        begin, end = np.where(swapped[..., None], b, a), np.where(swapped[..., None], a, b)
        turning = np.where(swapped, -1.0, 1.0) * np.sign(normals[:, 2:])             # inside is e > 0
        d = (end - begin) * turning[..., None]
        dodges_in = (d[..., 1] < 0.0) | ((d[..., 1] == 0.0) & (d[..., 0] > 0.0))       # de = -d_y h + d_x h^2 > 0
        is_wall = np.abs(normals[:, 2]) < VERTICAL
        n = np.where(is_wall[:, None], np.array([0.0, 0.0, 1.0]), normals)
        rows = np.zeros((count + 1, 5, 4))
        rows[:-1, 0, :3], rows[:-1, 1, :3] = begin[..., 0], begin[..., 1]
        rows[:-1, 2, :3], rows[:-1, 3, :3] = d[..., 1], d[..., 0]
        rows[:-1, 4, :3] = np.where(dodges_in, -np.finfo(np.float64).tiny, 0.0)       # e >= 0, or e > 0
        rows[:-1, :2, 3] = corners[:, 0, :2]
        rows[:-1, 2, 3], rows[:-1, 3, 3] = n[:, 0] / n[:, 2], -n[:, 1] / n[:, 2]
        rows[:-1, 4, 3] = corners[:, 0, 2]
        rows[np.append(is_wall, True), 2, :3] = np.nan                             # walls and nobody are never hit
        return Columns(grids, rows.reshape(count + 1, 20))

    def cross(self, points: Array, cells: tuple[Ints, ...], all_edges: bool = False) -> Crossings:
        """Crossings of the lines through points (P, 3), which are in these cells of the grids. With `all_edges` a line
        at an edge crosses both of its triangles: then a surface includes its border, and a tread its edge."""
        triangle = self.grids.column(cells)
        rows = self._rows.take(triangle.reshape(-1), axis=0)
        rows = np.ascontiguousarray(rows.T).reshape(5, 4, *triangle.shape)            # component first: C is short
        away = points.T[:2, None, :, None] - rows[:2]                              # x - a_x, y - a_y, four of each
        away *= rows[2:4]                                                          # times d_y, d_x
        e, bound = away[1], rows[4]                                                # (4, P, C)
        e -= away[0]
        inner = e[:3] >= 0.0 if all_edges else e[:3] > bound[:3]
        is_hit = inner[0] & inner[1]
        is_hit &= inner[2]
        return Crossings(triangle, is_hit, e[3] + bound[3])
