"""A staircase between two endless landings."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...errors import InputError
from ..arrays import Array, freeze, frozen_array
from .base import FRICTION, PREFER_UP, TOUCHING, Heights, Probe, Terrain, check_friction, is_vertical


@dataclass(frozen=True, eq=False)
class Steps(Terrain):
    """Stairs along a horizontal `direction`, endlessly wide. The first riser stands at `start`; before it and after the
    last one the ground is level. With s along the direction, the surface is

        z(s) = start_z + rise clip(floor(s / tread) + 1, 0, count)           (at a riser, its upper edge)

    and the distance is that to the profile's nearest tread or riser, each a box of no thickness in (s, z):

        |(s - clip(s, s_low, s_high), z - clip(z, z_low, z_high))| .
    """

    start: Array               # (3,) foot of the first riser; for stairs that go down, its upper edge
    direction: Array           # (3,) or (2,); what it has upwards does not count
    tread: float = 0.3         # m
    rise: float = 0.17         # m; negative goes down
    count: int = 10
    friction: float = FRICTION
    _low: Array = field(init=False, repr=False)       # (L, 2) s and z where the pieces begin
    _high: Array = field(init=False, repr=False)      # (L, 2) and end
    _facing: Array = field(init=False, repr=False)    # (L, 2) their normals in (s, z)

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", frozen_array(self.start, (3,), "The start", "Steps"))
        given = np.asarray(self.direction, dtype=np.float64)
        direction = frozen_array(given, (3 if given.shape == (3,) else 2,), "The direction", "Steps")[:2]
        length = float(np.linalg.norm(direction))
        if not length > 1e-9:
            raise InputError("The direction is not horizontal.", "Steps", "Point it along the floor.")
        if not (np.isfinite(self.tread) and self.tread > 1e-6 and np.isfinite(self.rise)):
            raise InputError(f"A tread of {self.tread} m and a rise of {self.rise} m make no step.", "Steps",
                             "Use a tread above zero.")
        if self.count < 0:
            raise InputError(f"There are {self.count} steps.", "Steps", "Use none or more.")
        check_friction(self.friction)
        object.__setattr__(self, "direction", freeze(np.append(direction / length, 0.0)))
        levels = self.start[2] + self.rise * np.arange(self.count + 1)           # (count + 1,)
        edges = self.tread * np.arange(self.count)                               # (count,)
        before, after = np.append(-np.inf, edges), np.append(edges, np.inf)
        bottom, top = np.minimum(levels[:-1], levels[1:]), np.maximum(levels[:-1], levels[1:])
        object.__setattr__(self, "_low", freeze(np.concatenate(
            (np.column_stack((before, levels)), np.column_stack((edges, bottom))))))
        object.__setattr__(self, "_high", freeze(np.concatenate(
            (np.column_stack((after, levels)), np.column_stack((edges, top))))))
        facing = np.zeros((2 * self.count + 1, 2))
        facing[:self.count + 1, 1] = 1.0
        facing[self.count + 1:, 0] = -np.sign(self.rise)
        object.__setattr__(self, "_facing", freeze(facing))

    def profile(self, s: Array) -> Array:
        """z(s)"""
        risers = self._low[self.count + 1:, 0]
        climbed = np.searchsorted(risers, s, side="right" if self.rise > 0.0 else "left")
        return np.asarray(self._low[climbed, 1])

    def probe(self, points: Array, time: float) -> Probe:
        at = np.stack(((points - self.start) @ self.direction, points[:, 2]), axis=1)          # (P, 2)
        offset = at[:, None] - np.clip(at[:, None], self._low, self._high)                    # (P, L, 2)
        away = np.hypot(offset[..., 0], offset[..., 1])
        every = np.arange(len(points))
        piece = (away - PREFER_UP * self._facing[:, 1]).argmin(1)
        away, offset = away[every, piece], offset[every, piece]
        sign = np.where(at[:, 1] < self.profile(at[:, 0]), -1.0, 1.0)
        close = away < TOUCHING
        pushing = np.where(close[:, None], self._facing[piece],
                           offset * (sign / np.where(close, 1.0, away))[:, None])             # (P, 2)
        normal = pushing[:, :1] * self.direction
        normal[:, 2] = pushing[:, 1]
        return Probe(sign * away, normal, np.zeros((len(points), 3)), np.full(len(points), self.friction))

    def cast(self, points: Array, up: Array, time: float, below: Array | float = np.inf) -> Heights:
        """Straight up the profile tells. Of a tilted staircase, each piece is asked where the line meets it:
        z = (z_piece - z_0) / up_z for treads, (s_piece - s_0) / up_s for risers."""
        count = len(points)
        s, climb = (points - self.start) @ self.direction, np.array([up @ self.direction, up[2]])
        if is_vertical(up):
            z, piece = self.profile(s) - points[:, 2], np.zeros(count, dtype=np.intp)
            z = np.where(z <= below, z, -np.inf)
        else:
            towards = self._facing @ climb                                                    # (L,)
            at = np.stack((s, points[:, 2]), axis=1)[:, None]                                 # (P, 1, 2)
            axis = (self._facing[:, 1] == 1.0).astype(np.intp)
            each = np.arange(len(axis))
            level = self._low[each, axis]
            looks_up = towards > 1e-9
            reach = (level - at[:, 0][:, axis]) / np.where(looks_up, climb[axis], 1.0)        # (P, L)
            met = at + reach[..., None] * climb
            met[:, each, axis] = level
            on_it = ((met >= self._low) & (met <= self._high)).all(-1) & looks_up
            z = np.where(on_it & (reach <= np.reshape(below, (-1, 1))), reach, -np.inf)
            piece = z.argmax(1)
            z = z[np.arange(count), piece]
        normal = self._facing[piece, :1] * self.direction
        normal[:, 2] = self._facing[piece, 1]
        return Heights(z, normal, np.full(count, self.friction))
