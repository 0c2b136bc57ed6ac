"""Which ground one can get to on foot: what has room beneath it, higher than a step, is overhead, and what is solid and
too high to climb is a wall.

How high that is counts from where one stands, and goes along as one climbs: a staircase leads up to the bridge that
one walks under elsewhere.
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array
from ..model.terrain import Terrain

CEILING = 0.6    # m: ground so much higher is overhead if there is room beneath it ...
WALL = 1.0       # m: ... and none of it is climbed that is higher than this
KNEE = 0.5       # m: where one looks for that room
STRIDE = 0.1     # m between the places that are looked at along a way
FARTHEST = 400   # of them


def reachable(terrain: Terrain, xy: Array, time: float, level: Array | float) -> Array:
    """(n,) m, the height of the ground at places (n, 2), for who stands on ground as high as `level` (n,): inf at a
    wall, -inf where there is no ground."""
    z = terrain.height(xy, time).z
    high = np.flatnonzero(z > level + CEILING)
    if not len(high):                                    # as nearly always
        return z
    level, spots = np.broadcast_to(level, z.shape)[high], xy[high]
    knee = level + KNEE
    is_solid = terrain.probe(np.column_stack((spots, knee)), time).distance < 0.0
    under = terrain.height(spots, time, level + np.where(is_solid, WALL, CEILING)).z
    z = z.copy()
    z[high] = np.where(is_solid & (under < knee), np.inf, under)
    return z


def climbed(terrain: Terrain, ways: Array, times: Array, start: Array | float) -> Array:
    """(n, w) m, the same along ways (n, w, 2) at times (n,), which begin on ground as high as `start` (w,)."""
    z = terrain.height_over(ways, times).z
    level = np.array(np.broadcast_to(start, z.shape[1:]), dtype=np.float64)
    if (z <= np.concatenate((level[None], z[:-1])) + CEILING).all():       # nothing can be overhead
        return z
    out = np.empty(z.shape)
    for n, (spots, time) in enumerate(zip(ways, times, strict=True)):
        out[n] = reachable(terrain, spots, float(time), level)
        level = np.where(np.isfinite(out[n]), out[n], level)
    return out


def level_at(terrain: Terrain, xy: Array, time: float, start: Array) -> Array:
    """(w,) m, how high the ground at places (w, 2) is for who comes straight from `start` (w, 3); where there is none,
    or a wall, as high as the last on the way."""
    away = xy - start[:, :2]
    count = int(np.clip(np.ceil(np.linalg.norm(away, axis=1).max(initial=0.0) / STRIDE), 1, FARTHEST))
    share = np.linspace(0.0, 1.0, count + 1)[1:, None, None]
    z = climbed(terrain, start[:, :2] + share * away, np.full(count, time), start[:, 2])
    z = np.concatenate((start[None, :, 2], z))
    last = np.where(np.isfinite(z), np.arange(count + 1)[:, None], 0).max(0)
    return np.asarray(np.take_along_axis(z, last[None], axis=0)[0])
