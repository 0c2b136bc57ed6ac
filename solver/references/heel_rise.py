"""The heel of a standing foot leaves the ground where the leg would be too short; the toes stay where they are.

The smallest angle about the toe line that brings the ankle within reach, made smooth, late in the stance only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array, Bools, Ints
from ..numerics import rotation
from ..numerics.bounded_curve import bounded_curve
from .footholds import Foothold

HIGHEST = np.radians(40.0)
LATE = (0.25, 0.5)      # share of a stance from which on the heel may rise, and may be as high as it can
KNOTS = 0.07            # s
TRIED = np.linspace(0.0, 1.0, 12)


@dataclass(frozen=True, eq=False)
class Heel:
    """One foot's heel over the whole clip: it turns about `axis` through `pivot`."""

    pivot: Array     # (K, 3) on the footholds
    lever: float     # m, from the toe line to the heel
    axis: Array      # (K, 3) unit; a positive angle raises the heel
    keyed: Array     # (K, 3) the same before the foot is turned to its footholds
    highest: Array   # (K,) rad

    def turn(self, angle: Array) -> Array:
        """(K, 4)"""
        return rotation.exp(angle[:, None] * self.axis)

    def raised(self, ankle: Array, share: float) -> Array:
        """(K, 3) the ankle with the heel at a share of its highest."""
        return self.at(ankle, share * self.highest)

    def at(self, ankle: Array, angle: Array) -> Array:
        return np.asarray(self.pivot + rotation.rotate(self.turn(angle), ankle - self.pivot))


def heel_of(paths: Array, ball: Array, front: Ints, back: Ints, touching: Bools, holds: list[Foothold]) -> Heel:
    """From the foot's points (K, p, 3) as keyed, the keyed joint of its toes (K, 3), and its footholds."""
    pivot = ball.copy()
    forward = paths[:, front].mean(1) - paths[:, back].mean(1)
    up = np.tile(np.array([0.0, 0.0, 1.0]), (len(paths), 1))
    highest = np.zeros(len(paths))
    keyed = _unit(rotation.cross(up, forward))
    for hold in holds:
        run = hold.stance.run
        pivot[run] = hold.moved(slice(None), pivot[run])
        forward[run] = rotation.rotate(hold.turn, forward[run])
        up[run] = rotation.rotate(hold.turn, up[run])
        count = run.stop - run.start
        late = np.clip((np.arange(count) / max(count - 1, 1) - LATE[0]) / (LATE[1] - LATE[0]), 0.0, 1.0)
        highest[run] = HIGHEST * late * touching[run][:, front].any(1) * hold.stance.bears
    lever = float(np.median(np.linalg.norm(forward, axis=1)))
    return Heel(pivot, lever, _unit(rotation.cross(up, forward)), keyed, highest)


def _unit(x: Array) -> Array:
    return np.asarray(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9))


def needed(heel: Heel, times: Array, hip: Array, ankle: Array, longest: Array, standing: Bools,
           sunk: Array) -> Array:
    """(K,) rad: the smooth angle that keeps the ankle within `longest` of the hip wherever it may rise, and brings a
    heel that is `sunk` so far out of the ground."""
    allowed = standing & (heel.highest > 0.0)
    far = np.stack([np.linalg.norm(heel.raised(ankle, share) - hip, axis=1) for share in TRIED])   # (n, K)
    fits = far <= longest
    first = np.where(fits.any(0), fits.argmax(0), far.argmin(0))
    every = np.arange(len(times))
    before = np.maximum(first - 1, 0)
    a, b = far[before, every] - longest, far[first, every] - longest
    part = np.where((first > 0) & (a > 0.0) & (b < 0.0), a / np.where(a - b > 1e-12, a - b, 1.0), 1.0)
    share = TRIED[before] + part * (TRIED[first] - TRIED[before])
    out = np.where(standing, np.minimum(sunk / max(heel.lever, 0.02), HIGHEST), 0.0)
    angle = np.maximum(np.where(allowed, share * heel.highest, 0.0), out)
    if angle.max(initial=0.0) < 1e-6:
        return np.zeros(len(times))
    upper = np.where(standing, np.maximum(heel.highest, out), np.inf)
    curve = bounded_curve(times, np.zeros(len(times)), angle, upper, KNOTS)
    return np.asarray(np.clip(curve, 0.0, upper))
