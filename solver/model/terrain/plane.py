"""Flat ground and slopes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import InputError
from ..arrays import Array, freeze, frozen_array
from .base import FRICTION, Heights, Probe, Terrain, check_friction


@dataclass(frozen=True, eq=False)
class Plane(Terrain):
    """Flat ground or a slope through `point`:  distance = n . (x - point)."""

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
        check_friction(self.friction)
        object.__setattr__(self, "normal", freeze(normal / np.linalg.norm(normal)))

    @property
    def is_level(self) -> bool:
        return bool(self.normal[2] > 1.0 - 1e-12)

    def probe(self, points: Array, time: float) -> Probe:
        normal, velocity, friction = self._everywhere(len(points))
        return Probe((points - self.point) @ self.normal, normal, velocity, friction)

    def cast(self, points: Array, up: Array, time: float, below: Array | float = np.inf) -> Heights:
        """z = -distance / (n . up)"""
        normal, _, friction = self._everywhere(len(points))
        climb = float(self.normal @ up)
        if climb <= 1e-9:  # tipped over: its surface is a wall or a ceiling
            return Heights(np.full(len(points), -np.inf), normal, friction)
        z = (self.point - points) @ self.normal / climb
        return Heights(np.where(z <= below, z, -np.inf), normal, friction)

    def _everywhere(self, count: int) -> tuple[Array, Array, Array]:
        """What is the same at every point, kept from call to call: a step asks a hundred times a second."""
        if count not in self._kept:
            same = (np.tile(self.normal, (count, 1)), np.zeros((count, 3)), np.full(count, self.friction))
            self._kept[count] = tuple(freeze(array) for array in same)
        return self._kept[count]
