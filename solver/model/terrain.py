"""What the character stands on. A terrain answers one question about many points at once: `probe`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..errors import InputError
from .arrays import Array, frozen_array

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
        object.__setattr__(self, "normal", normal / np.linalg.norm(normal))

    def probe(self, points: Array, time: float) -> Probe:
        distance = (points - self.point) @ self.normal
        normals = np.broadcast_to(self.normal, points.shape)
        return Probe(distance, normals, np.zeros(points.shape), np.full(len(points), self.friction))
