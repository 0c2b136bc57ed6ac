"""What the character stands on. A terrain answers one question about many points at once: `probe`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..errors import InputError
from .arrays import Array, freeze, frozen_array

FRICTION = 0.9  # soles on ordinary ground


@dataclass(frozen=True)
class Probe:
    """The ground as seen from P points at one time."""

    distance: Array   # (P,) m, signed, negative inside
    normal: Array     # (P, 3) unit, out of the ground
    velocity: Array   # (P, 3) m/s of the surface
    friction: Array   # (P,)


class Terrain(Protocol):
    def probe(self, points: Array, time: float) -> Probe:
        """Distance, normal, surface velocity and friction for points (P, 3) in the world."""


@dataclass(frozen=True, eq=False)
class Plane:
    """Flat ground or a slope through `point`."""

    point: Array
    normal: Array
    friction: float = FRICTION
    _kept: dict[int, Any] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def level(height: float = 0.0, friction: float = FRICTION) -> Plane:
        return Plane(np.array([0.0, 0.0, height]), np.array([0.0, 0.0, 1.0]), friction)

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", frozen_array(self.point, (3,), "The point", "Ground"))
        normal = frozen_array(self.normal, (3,), "The normal", "Ground")
        if normal[2] <= 1e-3 * np.linalg.norm(normal):
            raise InputError("The ground does not face up.", "Ground", "Flip its normals.")
        if not (np.isfinite(self.friction) and self.friction >= 0.0):
            raise InputError(f"The friction {self.friction} is negative.", "Ground", "Use 0 (ice) to about 1 (rubber).")
        object.__setattr__(self, "normal", freeze(normal / np.linalg.norm(normal)))

    def probe(self, points: Array, time: float) -> Probe:
        normal, velocity, friction = self._everywhere(len(points))
        return Probe((points - self.point) @ self.normal, normal, velocity, friction)

    def _everywhere(self, count: int) -> tuple[Array, Array, Array]:
        """What is the same at every point, kept from call to call: a step asks a hundred times a second."""
        if count not in self._kept:
            same = (np.tile(self.normal, (count, 1)), np.zeros((count, 3)), np.full(count, self.friction))
            self._kept[count] = tuple(freeze(array) for array in same)
        return self._kept[count]
