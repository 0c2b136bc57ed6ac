"""Where the level ground of a clip goes: its path made shorter where legs are too short for the ground, and carried
along by ground that moves.

    x -> Rz(yaw) (x + shortened) + carried            at every sub-step; heights are not touched
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from ..model.arrays import Array
from ..model.motion import Motion
from ..numerics import rotation

SWAY = 0.3        # s: swaying that is faster than this is not travelling


@dataclass(frozen=True, eq=False)
class Way:
    shortened: Array   # (K, 2) m
    yaw: Array         # (K,) rad
    carried: Array     # (K, 2) m

    @staticmethod
    def straight(count: int) -> Way:
        return Way(np.zeros((count, 2)), np.zeros(count), np.zeros((count, 2)))

    @property
    def is_straight(self) -> bool:
        return not (self.shortened.any() or self.yaw.any() or self.carried.any())

    def turn(self, k: int) -> Array:
        """(3, 3) Rz(yaw)"""
        c, s = np.cos(self.yaw[k]), np.sin(self.yaw[k])
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def moved(self, k: int, x: Array, middle: int | None = None) -> Array:
        """Where points (..., 3) go at one sub-step; a foothold is drawn near as its stance is at its `middle`."""
        out = x.copy()
        out[..., :2] += self.shortened[k if middle is None else middle]
        out = out @ self.turn(k).T
        out[..., :2] += self.carried[k]
        return np.asarray(out)

    def moved_motion(self, motion: Motion) -> Motion:
        """The whole motion, taken along."""
        if self.is_straight:
            return motion
        positions, rotations = motion.positions.copy(), motion.rotations.copy()
        positions[:, :2] += self.shortened
        if self.yaw.any():
            turn = rotation.exp(self.yaw[:, None] * np.array([0.0, 0.0, 1.0]))
            positions = rotation.rotate(turn, positions)
            rotations[:, 0] = rotation.multiply(turn, rotations[:, 0])
        positions[:, :2] += self.carried
        return motion.with_poses(positions, rotations)


def shortened(motion: Motion, share: Array) -> Array:
    """(K, 2) how far behind itself a root is that goes only `share` (K,) of its way at every sub-step."""
    dt = motion.duration / (len(motion) - 1)
    path = ndimage.gaussian_filter1d(motion.positions[:, :2], max(SWAY / dt, 1.0), axis=0, mode="nearest")
    steps = np.diff(path, axis=0) * (0.5 * (share[1:] + share[:-1]) - 1.0)[:, None]
    return np.concatenate((np.zeros((1, 2)), np.cumsum(steps, axis=0)))
