"""Friction cones as pyramids."""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array

EDGES = 4


def cone_edges(normal: Array, friction: Array) -> Array:
    """(P, 4, 3) edges  n +- mu t_1, n +- mu t_2  of the friction pyramid of each point.

    t_1 leans to the world's x axis (ground never faces exactly along it), so that edges do not jump between frames."""
    x, y, z = normal[:, 0], normal[:, 1], normal[:, 2]
    flat = np.maximum(np.sqrt(y * y + z * z), 1e-9)
    m = friction / flat
    t1, t2 = np.empty(normal.shape), np.zeros(normal.shape)
    t1[:, 0], t1[:, 1], t1[:, 2] = flat * flat * m, -x * y * m, -x * z * m   # mu (x axis - its part along n)
    t2[:, 1], t2[:, 2] = z * m, -y * m                                       # mu (n cross x axis)
    edges = np.empty((len(normal), 4, 3))
    edges[:, 0], edges[:, 1], edges[:, 2], edges[:, 3] = normal + t1, normal - t1, normal + t2, normal - t2
    return edges
