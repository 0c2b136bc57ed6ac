"""Any ground, carried along by an animation: lifts, ferries, turntables, seesaws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...numerics import rotation
from ..arrays import Array, freeze, frozen_array
from .base import Heights, Probe, Terrain


@dataclass(frozen=True)
class Placement:
    """Where the ground is at one time and how it moves:

        x_world = position + R x        x_world' = velocity + spin cross (x_world - position)
    """

    position: Array   # (3,)
    R: Array          # (3, 3)
    velocity: Array   # (3,)
    spin: Array       # (3,) rad/s, world axes


@dataclass(frozen=True, eq=False)
class Moving(Terrain):
    """A terrain moved rigidly. Between keys the position is interpolated linearly and the rotation turns evenly about
    one axis, the short way; before the first and after the last key the ground rests. At a key the velocity is that of
    the span it begins."""

    terrain: Terrain
    times: Array                       # (K,) s, increasing
    positions: Array                   # (K, 3) m, of the terrain's own origin
    rotations: Array | None = None     # (K, 4) unit quaternions; none: it does not turn

    def __post_init__(self) -> None:
        where = "Moving ground"
        times = frozen_array(self.times, (None,), "The list of times", where)
        if not len(times) or not (np.diff(times) > 0.0).all():
            raise InputError("The times do not increase.", where, "Give every key a later time than the one before.")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "positions", frozen_array(self.positions, (len(times), 3), "The positions", where))
        if self.rotations is not None:
            rotations = frozen_array(self.rotations, (len(times), 4), "The rotations", where)
            length = np.linalg.norm(rotations, axis=1, keepdims=True)
            if not (np.abs(length - 1.0) < 1e-3).all():
                raise InputError("A rotation is not a unit quaternion.", where, "Normalise the rotations.")
            object.__setattr__(self, "rotations", freeze(rotations / length))

    @property
    def notes(self) -> tuple[str, ...]:
        return self.terrain.notes

    @property
    def is_still(self) -> bool:
        return len(self.times) == 1 and self.terrain.is_still

    def placement(self, time: float) -> Placement:
        """p(t) = p_k + u (p_{k+1} - p_k),  Q(t) = Q_k (+) u (Q_{k+1} (-) Q_k),  u = (t - t_k) / (t_{k+1} - t_k)"""
        times, last = self.times, len(self.times) - 1
        k = int(np.searchsorted(times, time, side="right")) - 1
        if k < 0 or k >= last:
            k = 0 if k < 0 else last
            R = np.eye(3) if self.rotations is None else rotation.matrix(self.rotations[k])
            return Placement(self.positions[k], R, np.zeros(3), np.zeros(3))
        span = float(times[k + 1] - times[k])
        u = (time - float(times[k])) / span
        way = self.positions[k + 1] - self.positions[k]
        position, velocity = self.positions[k] + u * way, way / span
        if self.rotations is None:
            return Placement(position, np.eye(3), velocity, np.zeros(3))
        turn = rotation.subtract(self.rotations[k + 1], self.rotations[k])
        R = rotation.matrix(rotation.add(self.rotations[k], u * turn))
        return Placement(position, R, velocity, R @ turn / span)

    def probe(self, points: Array, time: float) -> Probe:
        at = self.placement(time)
        seen = self.terrain.probe((points - at.position) @ at.R, time)
        normal = seen.normal @ at.R.T
        depth = np.where(np.isfinite(seen.distance), seen.distance, 0.0)
        touched = points - depth[:, None] * normal - at.position
        velocity = seen.velocity @ at.R.T + at.velocity + rotation.cross(at.spin[None], touched)
        return Probe(seen.distance, normal, velocity, seen.friction)

    def cast(self, points: Array, up: Array, time: float, below: Array | float = np.inf) -> Heights:
        at = self.placement(time)
        seen = self.terrain.cast((points - at.position) @ at.R, up @ at.R, time, below)
        return Heights(seen.z, seen.normal @ at.R.T, seen.friction)

    def carry(self, points: Array, start: float, end: float) -> Array:
        at, then = self.placement(start), self.placement(end)
        own = self.terrain.carry((points - at.position) @ at.R, start, end)
        return np.asarray(then.position + own @ then.R.T)
