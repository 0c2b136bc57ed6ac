"""Shins, knees and hands keep out of uneven ground: rows on accelerations for what of the body is near to it.

    n . J d  >=  (floor - coming) / dt^2 ,    coming: the height after this step with the reference's accelerations

Soles have rows of their own. On level ground nothing else comes near that the keys do not put there, and none are made.
Nor are they for parts that have not left the reference's place by as much as would bring them there.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ...model.arrays import Array
from ...physics.dynamics import Dynamics, coming_height, point_jacobian, points
from ...physics.skin import skin_points
from ...physics.trajectory import point_paths
from ...references.clip import Clip

NEAR = 0.06        # leg lengths: parts nearer to the ground than this, or soon there, get a row
SCRATCH = 0.005    # leg lengths: so deep nobody sees it
CALM = 0.7         # what is already inside comes out by this factor per step: no pop
_ONES = np.ones(3)


class Clearance:
    """The skin of a body over its ground; empty where that is level."""

    def __init__(self, clip: Clip) -> None:
        self._clip = clip
        skin = skin_points(clip.character)
        used = np.flatnonzero(~skin.is_sole) if not clip.terrain.is_level else np.zeros(0, dtype=np.intp)
        self._links, self._local, self._radius = skin.link[used], skin.position[used], skin.radius[used]
        size = clip.character.leg_length
        self._near, self._scratch = size * NEAR, size * SCRATCH

    def __len__(self) -> int:
        return len(self._links)

    @cached_property
    def _reference(self) -> tuple[Array, Array]:
        """Where the reference has the parts, (K + 1, S, 3), and how high over the ground, (K + 1, S): on ground that
        moves this takes a while, and a bake that nothing disturbs never asks."""
        clip = self._clip
        paths = point_paths(clip.tree, clip.shape, clip.followed, self._links, self._local)
        return paths, clip.terrain.probe_over(paths, clip.times).distance - self._radius

    def rows(self, k: int, dt: float, motion: Dynamics) -> tuple[Array, Array, list[int]]:
        """(rows, bounds, numbers of the parts) of C d <= u."""
        clip, pose = self._clip, motion.pose
        paths, own = self._reference
        shifted = pose.position + pose.x.take(self._links, axis=0) - paths[k]
        shifted += (pose.R.take(self._links, axis=0) @ self._local[..., None])[..., 0]
        moved = np.sqrt((shifted * shifted) @ _ONES)
        # no part is nearer to the ground than it is in the reference, less what it has moved
        near = ((own[k] - moved < self._near) & (moved > self._scratch)).nonzero()[0]
        if not len(near):
            return np.zeros((0, clip.tree.nv)), np.zeros(0), []
        links, radius = self._links[near], self._radius[near]
        at = points(pose, motion, links, self._local[near])
        ground = clip.terrain.probe(at.position, float(clip.times[k]))
        height, coming = ground.distance - radius, coming_height(ground, at, dt) - radius
        J = point_jacobian(clip.tree, motion, links, at.position)
        floor = np.minimum(np.minimum(-self._scratch, own[k + 1, near]), CALM * height)
        is_near = np.isfinite(coming) & (coming < self._near)
        rows = -(ground.normal[:, None, :] @ J)[:, 0]
        return rows[is_near], ((coming - floor) / (dt * dt))[is_near], near[is_near].tolist()
