"""The questions every ground answers, and the shape of the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...errors import InputError
from ..arrays import Array, freeze

FRICTION = 0.9  # soles on ordinary ground

UP: Array = freeze(np.array([0.0, 0.0, 1.0]))
TOUCHING = 1e-7  # m: nearer than this, the direction to the nearest point is rounding, and a face tells its own normal
PREFER_UP = 1e-9  # m: of faces equally near, within this, the one that looks up more is the nearest


@dataclass(frozen=True)
class Probe:
    """The ground as seen from P points at one time."""

    distance: Array   # (P,) m, signed, negative inside; inf where there is no ground
    normal: Array     # (P, 3) unit, out of the ground: the gradient of the distance
    velocity: Array   # (P, 3) m/s of the surface
    friction: Array   # (P,)


@dataclass(frozen=True)
class Heights:
    """The ground under P points at one time, looking straight down."""

    z: Array          # (P,) m; -inf where there is no ground
    normal: Array     # (P, 3) unit, looking up
    friction: Array   # (P,)


class Terrain(Protocol):
    """Ground, still or moving. `probe` and `cast` are each terrain's own; the rest follows from them."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the animator about what was found and left out."""
        return ()

    def probe(self, points: Array, time: float) -> Probe:
        """Distance, normal, surface velocity and friction for points (P, 3) in the world."""
        ...

    def cast(self, points: Array, up: Array, time: float, below: Array | float = np.inf) -> Heights:
        """The highest surface on the lines points (P, 3) + z up, with z no greater than `below` (P,)."""
        ...

    def height(self, xy: Array, time: float, below: Array | float = np.inf) -> Heights:
        """The highest ground at places xy (P, 2). Surfaces higher than `below` (one number or (P,)) do not count:
        under a bridge the plan asks for the ground below the head."""
        points = np.zeros((len(xy), 3))
        points[:, :2] = xy
        return self.cast(points, UP, time, below)

    @property
    def is_still(self) -> bool:
        """Whether it is the same at all times."""
        return True

    @property
    def is_level(self) -> bool:
        """Whether it is known to be at the same height everywhere."""
        return False

    def probe_over(self, points: Array, times: Array) -> Probe:
        """`probe` for points (K, P, 3) at times (K,), all at once if the ground is still; arrays (K, P, ...)."""
        if self.is_still and len(times):
            seen = self.probe(points.reshape(-1, 3), float(times[0]))
            shape = points.shape[:2]
            return Probe(seen.distance.reshape(shape), seen.normal.reshape(points.shape),
                         seen.velocity.reshape(points.shape), seen.friction.reshape(shape))
        each = [self.probe(some, float(time)) for some, time in zip(points, times)]
        return Probe(*(np.array([getattr(one, name) for one in each]).reshape(points.shape[:2] + tail)
                       for name, tail in (("distance", ()), ("normal", (3,)), ("velocity", (3,)), ("friction", ()))))

    def height_over(self, xy: Array, times: Array, below: Array | float = np.inf) -> Heights:
        """`height` at places (K, P, 2) and times (K,), all at once if the ground is still; arrays (K, P, ...). `below`
        is one number, or one at each time (K, 1)."""
        shape = xy.shape[:2]
        below = np.broadcast_to(below, shape)
        if self.is_still and len(times):
            seen = self.height(xy.reshape(-1, 2), float(times[0]), below.reshape(-1))
            return Heights(seen.z.reshape(shape), seen.normal.reshape(shape + (3,)), seen.friction.reshape(shape))
        each = [self.height(some, float(time), most) for some, time, most in zip(xy, times, below)]
        return Heights(*(np.array([getattr(one, name) for one in each]).reshape(shape + tail)
                         for name, tail in (("z", ()), ("normal", (3,)), ("friction", ()))))

    def carry(self, points: Array, start: float, end: float) -> Array:
        """Where the pieces of ground nearest to points (P, 3) at one time will be at another."""
        return np.asarray(self.carry_over(points, start, np.array([end]))[0])

    def carry_over(self, points: Array, start: float, ends: Array) -> Array:
        """`carry` to many times (K,): (K, P, 3)."""
        return np.tile(points, (len(ends), 1, 1))


def is_vertical(up: Array) -> bool:
    """Upright but for rounding; tilted grounds need more work."""
    return bool(up[2] > 0.0 and abs(up[0]) < 1e-9 and abs(up[1]) < 1e-9)


def check_friction(friction: Array | float) -> None:
    values = np.asarray(friction, dtype=np.float64)
    wrong = ~(np.isfinite(values) & (values >= 0.0))
    if wrong.any():
        raise InputError(f"The friction {values[wrong].flat[0]} is none that ground has.", "Ground",
                         "Use 0 (ice) to about 1 (rubber).")
