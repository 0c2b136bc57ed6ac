"""What stands across the way: walls, low beams, table tops. Nobody walks around them or ducks; the body goes through as
it is keyed, instead of being twisted out of them, and a sentence says where.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools
from ..model.motion import Motion
from ..model.terrain import Terrain
from ..physics.shape import Shape
from ..physics.skin import skin_points
from ..physics.trajectory import point_paths
from ..physics.tree import Tree
from .underfoot import CEILING, level_at

INSIDE = 0.01      # m: so deep in something the body is in it
HIGHER = 0.05      # m: what is so much higher than the ground that leads there does not belong to it
MOMENT = 0.25      # s before the body is in an obstacle, and after
SOON = 0.5         # s before a foot stands on something, and after
SAID = 0.05        # m: a part so deep in the ground is worth a sentence
KNOWN = 0.3        # m: depths beyond this are estimates
APART = 0.5        # s between two obstacles


def in_the_way(places: Array, deep: Array, feet: Array, touching: Bools, terrain: Terrain, times: Array) -> Bools:
    """(K, S) whether parts of the body at places (K, S, 3), `deep` (K, S) in something, are in an obstacle for who
    stands with the touching (K, P) points of its feet (K, P, 3), or will be or were a moment ago. What it has just
    stood on, or will, is none."""
    found = deep > INSIDE
    if not found.any() or not feet.shape[1]:
        return np.zeros(found.shape, dtype=bool)
    dt = float(times[-1] - times[0]) / (len(times) - 1)
    stands = touching | ~touching.any(1, keepdims=True)
    lowest = feet[np.arange(len(times)), np.where(stands, feet[..., 2], np.inf).argmin(1)]
    highest = _highest(np.where(touching[..., None], feet, lowest[:, None]), int(np.ceil(SOON / dt)))
    rows = np.flatnonzero(found.any(1))
    for some in [rows] if terrain.is_still else rows[:, None]:
        k, part = np.nonzero(found[some])
        xy, time = places[some[k], part, :2], float(times[some[0]])
        found[some[k], part] = _is_unreachable(xy, terrain, time, lowest[some[k]], highest[some[k]])
    if not found.any():
        return found
    return np.asarray(ndimage.binary_dilation(found, np.ones((2 * int(np.ceil(MOMENT / dt)) + 1, 1))))


def _highest(feet: Array, near: int) -> Array:
    """(K, 3) the highest of all feet (K, P, 3) within so many sub-steps."""
    top = feet[np.arange(len(feet)), feet[..., 2].argmax(1)]
    heights = np.pad(top[:, 2], near, constant_values=-np.inf)
    when = np.lib.stride_tricks.sliding_window_view(heights, 2 * near + 1).argmax(1) - near
    return np.asarray(top[np.arange(len(feet)) + when])


def _is_unreachable(xy: Array, terrain: Terrain, time: float, *starts: Array) -> Bools:
    """(n,) whether the ground at places (n, 2) is none that leads there from any of the starts (n, 3)."""
    h = terrain.height(xy, time).z
    left = np.flatnonzero(h > np.max(starts, axis=0)[:, 2] + CEILING)          # few, if any: looking costs time
    for start in starts:
        left = left[h[left] > level_at(terrain, xy[left], time, start[left]) + HIGHER] if len(left) else left
    return np.isin(np.arange(len(xy)), left)


def said(tree: Tree, shape: Shape, keys: Motion, planned: Motion, terrain: Terrain,
         ground: float) -> list[tuple[int, str]]:
    """(sub-step, sentence) where a part of the body is in the ground deeper than it is in the keys."""
    skin, times = skin_points(tree.character), planned.times
    local = np.broadcast_to(skin.position, shape.points.shape[:-2] + skin.position.shape)
    own = point_paths(tree, shape, keys, skin.link, local)[..., 2] - ground
    there = point_paths(tree, shape, planned, skin.link, local)
    deep = np.minimum(own, skin.radius) - terrain.probe_over(there, times).distance               # (K, S)
    most = deep.max(1, initial=0.0)
    when = np.flatnonzero(most > SAID)
    notes = []
    for run in np.split(when, np.flatnonzero(np.diff(times[when]) > APART) + 1) if len(when) else ():
        k = int(run[most[run].argmax()])
        bone = tree.character.names[skin.link[deep[k].argmax()]]
        far = f"{100 * most[k]:.0f} cm" if most[k] < KNOWN else f"more than {100 * KNOWN:.0f} cm"
        notes.append((k, f"Something is in the way: {bone} goes {far} into it. Move it, or key a way around it."))
    return notes
