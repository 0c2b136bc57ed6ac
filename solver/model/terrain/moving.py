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

    # -- many times at once: one query of the ground within --------------------------------------------------------

    def probe_over(self, points: Array, times: Array) -> Probe:
        position, R, speed, spin = self._placements(times)
        seen = self.terrain.probe_over((points - position[:, None]) @ R, times)
        back = R.swapaxes(-1, -2)
        normal = seen.normal @ back
        depth = np.where(np.isfinite(seen.distance), seen.distance, 0.0)
        touched = points - depth[..., None] * normal - position[:, None]
        velocity = seen.velocity @ back + speed[:, None] + rotation.cross(spin[:, None], touched)
        return Probe(seen.distance, normal, velocity, seen.friction)

    def height_over(self, xy: Array, times: Array, below: Array | float = np.inf) -> Heights:
        position, R, _, _ = self._placements(times)
        if (R[:, 2, 2] < 1.0).any():                     # what is above something changes as the ground tilts
            return super().height_over(xy, times, below)
        height = position[:, None, 2]
        seen = self.terrain.height_over((xy - position[:, None, :2]) @ R[:, :2, :2], times, below - height)
        return Heights(seen.z + height, seen.normal @ R.swapaxes(-1, -2), seen.friction)

    def carry_over(self, points: Array, start: float, ends: Array) -> Array:
        at = self.placement(start)
        position, R, _, _ = self._placements(ends)
        own = self.terrain.carry_over((points - at.position) @ at.R, start, ends)
        return np.asarray(position[:, None] + own @ R.swapaxes(-1, -2))

    def _placements(self, times: Array) -> tuple[Array, Array, Array, Array]:
        """The parts of `placement` at times (K,), each (K, ...)."""
        if self.rotations is None:
            k = np.searchsorted(self.times, times, side="right") - 1
            within = (k >= 0) & (k < len(self.times) - 1)
            begin, end = np.clip(k, 0, None), np.clip(k + 1, 0, len(self.times) - 1)
            way = np.where(within[:, None], self.positions[end] - self.positions[begin], 0.0)
            span = np.where(within, self.times[end] - self.times[begin], 1.0)
            u = np.where(within, (times - self.times[begin]) / span, 0.0)
            still = np.zeros((len(times), 3))
            return (self.positions[begin] + u[:, None] * way, np.tile(np.eye(3), (len(times), 1, 1)),
                    way / span[:, None], still)
        each = [self.placement(float(time)) for time in times]
        position, speed, spin = (np.array([getattr(at, name) for at in each]).reshape(-1, 3)
                                 for name in ("position", "velocity", "spin"))
        return position, np.array([at.R for at in each]).reshape(-1, 3, 3), speed, spin
