"""Zero-moment point, support polygon and its margin."""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array, Bools
from .support import hull

RUN = 128     # frames handled at once
SAME = 1e-9   # m: nearer places are one


def zero_moment_point(position: Array, wrench: Array, ground: Array | float) -> Array:
    """Where on level ground the reaction has no horizontal moment; nan where nothing presses on the ground.

    `wrench` [moment about `position`; force] is what the motion needs from outside (`Dynamics.wrench`).
    With r = (x, y, ground) - position:  moment_xy = (r x force)_xy.
    """
    moment, force = wrench[..., :3], wrench[..., 3:]
    down = ground - position[..., 2]
    press = force[..., 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        x = (down * force[..., 0] - moment[..., 1]) / press
        y = (down * force[..., 1] + moment[..., 0]) / press
    out = np.stack((position[..., 0] + x, position[..., 1] + y, np.broadcast_to(ground, x.shape)), axis=-1)
    return np.where((press > 1e-6)[..., None], out, np.nan)


def pressed_height(heights: Array, pressing: Array, otherwise: Array | float) -> Array:
    """(...,) m: the mean height (..., P) of what presses on the ground, weighted by how hard."""
    weight = np.maximum(pressing, 0.0)
    total = weight.sum(-1)
    return np.where(total > 1e-6, (weight * heights).sum(-1) / np.maximum(total, 1e-6), otherwise)


def support_polygon(contacts: Array) -> Array:
    """(n, 2) corners, counter-clockwise, of the convex hull of touching points (P, 2 or 3)."""
    return hull(contacts[:, :2]).reshape(-1, 2)


def margin(polygon: Array, point: Array) -> float:
    """Distance of a point inside the polygon to its border, negative outside, -inf without support."""
    if not len(polygon):
        return -np.inf
    p = point[:2]
    if len(polygon) == 1:
        return -float(np.linalg.norm(p - polygon[0]))
    a = polygon
    b = np.roll(polygon, -1, axis=0)
    if len(polygon) == 2:
        a, b = a[:1], b[:1]
    edge = b - a
    share = np.clip(((p - a) * edge).sum(1) / (edge * edge).sum(1), 0.0, 1.0)
    distance = float(np.linalg.norm(p - (a + share[:, None] * edge), axis=1).min())
    if len(polygon) == 2:
        return -distance
    inside = bool((edge[:, 0] * (p - a)[:, 1] - edge[:, 1] * (p - a)[:, 0] >= 0.0).all())
    return distance if inside else -distance


def margins(places: Array, touching: Bools, points: Array) -> Array:
    """(F,) `margin` of points (F, 2 or 3) in the hulls of the touching ones of places (F, P, 2 or 3), nan where none
    touches or there is no point: without the hulls, by

        margin = min over directions n of max over corners of n . (corner - point)

    whose minima lie where two corners are as far along n, or straight away from one of them."""
    out = np.full(len(points), np.nan)
    known = np.flatnonzero(touching.any(1) & np.isfinite(points).all(-1))
    for run in np.array_split(known, -(-len(known) // RUN)) if len(known) else ():
        off = places[run, :, :2] - points[run, None, :2]                           # (n, P, 2)
        first, second = np.triu_indices(off.shape[1], 1)
        apart = (off[:, second] - off[:, first])[..., ::-1] * np.array([1.0, -1.0])   # across the line of two
        n = np.concatenate((apart, -apart, -off), axis=1)                          # (n, D, 2)
        length = np.sqrt((n * n).sum(-1))
        reach = n @ off.swapaxes(-1, -2)                                           # (n, D, P)
        reach[np.broadcast_to(~touching[run, None], reach.shape)] = -np.inf
        farthest = reach.max(-1) / np.maximum(length, SAME)
        farthest[length < SAME] = np.inf                                           # two at one place say nothing
        least = farthest.min(-1)
        out[run] = np.where(np.isfinite(least), least, 0.0)                        # or all are at the point itself
    return out
