"""Friction cones as pyramids."""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array
from ..numerics.rotation import cross


def cone_edges(normal: Array, friction: Array) -> Array:
    """(P, 4, 3) edges  n +- mu t_1, n +- mu t_2  of the friction pyramid of each point.

    t_1 leans to the world's x axis, on faces that look along x to its y axis, so that edges do not jump between
    frames."""
    x, y, z = normal[:, 0], normal[:, 1], normal[:, 2]
    flat = np.sqrt(y * y + z * z)
    if flat.min(initial=1.0) < 0.5:
        return _edges_on_walls(normal, friction)
    m = friction / flat
    t1, t2 = np.empty(normal.shape), np.zeros(normal.shape)
    t1[:, 0], t1[:, 1], t1[:, 2] = flat * flat * m, -x * y * m, -x * z * m   # mu (x axis - its part along n)
    t2[:, 1], t2[:, 2] = z * m, -y * m                                       # mu (n cross x axis)
    return _pyramid(normal, t1, t2)


def _edges_on_walls(normal: Array, friction: Array) -> Array:
    lean = np.where(np.abs(normal[:, :1]) < 0.8, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    t2 = cross(normal, lean)
    t2 *= (friction / np.linalg.norm(t2, axis=1))[:, None]
    return _pyramid(normal, cross(t2, normal), t2)


def _pyramid(normal: Array, t1: Array, t2: Array) -> Array:
    edges = np.empty((len(normal), 4, 3))
    edges[:, 0], edges[:, 1], edges[:, 2], edges[:, 3] = normal + t1, normal - t1, normal + t2, normal - t2
    return edges
