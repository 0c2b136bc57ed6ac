"""Shins, knees and hands keep out of uneven ground: rows on accelerations for what of the body is near to it.

    n . J d  >=  (floor - coming) / dt^2 ,    coming: the height after this step with the reference's accelerations

Soles have rows of their own. On level ground nothing else comes near that the keys do not put there, and none are made.
"""

from __future__ import annotations

import numpy as np

from ...model.arrays import Array
from ...physics.dynamics import Dynamics, coming_height, point_jacobian, points
from ...physics.skin import skin_points
from ...physics.trajectory import point_paths
from ...references.clip import Clip

NEAR = 0.06        # leg lengths: parts nearer to the ground than this, or soon there, get a row
SCRATCH = 0.005    # leg lengths: so deep nobody sees it
CALM = 0.7         # share of the depth that is left after a step of what is deeper


class Clearance:
    """The skin of a body over its ground; empty where that is level."""

    def __init__(self, clip: Clip) -> None:
        self._clip = clip
        skin = skin_points(clip.character)
        used = np.flatnonzero(~skin.is_sole) if not clip.terrain.is_level else np.zeros(0, dtype=np.intp)
        self._links, self._local, self._radius = skin.link[used], skin.position[used], skin.radius[used]
        self._size = clip.character.leg_length
        self._own = np.zeros((clip.steps + 1, len(used)))   # (K + 1, S) heights in the reference
        if len(used):
            paths = point_paths(clip.tree, clip.shape, clip.followed, self._links, self._local)
            self._own = clip.terrain.probe_over(paths, clip.times).distance - self._radius

    def __len__(self) -> int:
        return len(self._links)

    def rows(self, k: int, dt: float, motion: Dynamics, time: float) -> tuple[Array, Array, list[int]]:
        """(rows, bounds, numbers of the parts) of C d <= u."""
        clip = self._clip
        at = points(motion.pose, motion, self._links, self._local)
        ground = clip.terrain.probe(at.position, time)
        height = ground.distance - self._radius
        coming = coming_height(ground, at, dt) - self._radius
        near = (np.minimum(height, coming) < self._size * NEAR).nonzero()[0]
        if not len(near):
            return np.zeros((0, clip.tree.nv)), np.zeros(0), []
        J = point_jacobian(clip.tree, motion, self._links[near], at.position[near])
        J_n = (ground.normal[near, None, :] @ J)[:, 0]
        floor = np.minimum(np.minimum(-self._size * SCRATCH, self._own[k + 1, near]), CALM * height[near])
        return -J_n, (coming[near] - floor) / (dt * dt), near.tolist()
