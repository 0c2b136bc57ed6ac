"""A body that loses its balance turns as a whole about the nearest support point, and may yet come back.

    alpha = -E (E^T I_p E)^-1 E^T M_t       M_t: moment about p* that the ground cannot give; E: axes of the plane
                                            (no turn about the normal: friction holds it)         [Oshita2001] 3.3

The turn is laid over the reference: feet and pelvis follow their keys, carried along by a rigid motion. It ends when
the sole lies flat again, or when nothing brings the body back: then it is lost, and falls.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...model.arrays import Array
from ...numerics import rotation
from ...physics.support import Support

FLAT = 0.004         # rad: a sole this flat stands again
LEAN = 0.30          # rad: tipped farther than this, it is lost
BEYOND = 0.18        # of the height of the centre of mass: so far outside, the capture point never comes back


@dataclass
class Tipping:
    """The rigid motion x -> R x + t and its rate."""

    R: Array = field(default_factory=lambda: np.eye(3))
    t: Array = field(default_factory=lambda: np.zeros(3))
    rate: Array = field(default_factory=lambda: np.zeros(3))    # rad/s
    pivot: Array = field(default_factory=lambda: np.zeros(3))
    is_on: bool = False

    @property
    def angle(self) -> float:
        return float(np.arccos(min(1.0, max(-1.0, 0.5 * (float(np.trace(self.R)) - 1.0)))))

    def place(self, x: Array) -> Array:
        return np.asarray(x @ self.R.T + self.t)

    def velocity(self, x: Array) -> Array:
        """Of a point that is carried along, now at x."""
        return rotation.cross(self.rate, x - self.pivot)

    def turn(self, rate: Array, pivot: Array, dt: float) -> None:
        """One step of the rigid motion."""
        self.rate, self.pivot, self.is_on = rate, pivot, True
        step = rotation.matrix(rotation.exp(dt * rate))
        before = self.angle
        self.R, self.t = step @ self.R, step @ (self.t - pivot) + pivot
        if self.angle < before and self.angle < max(FLAT, dt * float(np.linalg.norm(rate))):
            self.stop()

    def keep_above(self, soles: Array, normal: Array) -> None:
        """A sole that tips about a corner must not dig its other corners in: (n, 3) points of the reference."""
        if self.is_on and len(soles):
            self.t = self.t - min(0.0, float(((self.place(soles) - soles) @ normal).min())) * normal

    def stop(self) -> None:
        self.R, self.t, self.rate, self.is_on = np.eye(3), np.zeros(3), np.zeros(3), False


def tipping_acceleration(support: Support, pivot: Array, wrench: Array, com: Array, mass: float, spin: Array) -> Array:
    """(3,) alpha about `pivot`, of [force; moment about the support's centre] and `spin`, the inertia about the
    centre of mass."""
    moment = wrench[3:] - rotation.cross(pivot - support.centre, wrench[:3])
    r = com - pivot
    about = spin + mass * (float(r @ r) * np.eye(3) - np.outer(r, r))
    E = support.axes.T
    return np.asarray(-E @ np.linalg.solve(E.T @ about @ E, E.T @ moment))


def spin_inertia(M: Array, R: Array, com: Array, position: Array) -> Array:
    """(3, 3) inertia of the whole body about its centre of mass, in the world, from the root block of M."""
    mass = M[0, 0]
    about_root = R @ M[3:6, 3:6] @ R.T
    c = com - position
    return np.asarray(about_root - mass * (float(c @ c) * np.eye(3) - np.outer(c, c)))
