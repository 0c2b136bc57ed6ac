"""The skin over the ground: how far each sphere is from it, which may touch within the step, and what is forgiven."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.arrays import Array, Bools, Ints
from ...model.terrain import Probe
from ...numerics import rotation
from ...physics.dynamics import point_jacobian
from ...physics.impact import Contacts, Side
from ...physics.kinematics import place
from .body import FallingBody, Moment

MARGIN, SWEEP = 0.024, 1.5   # m, and steps of its own speed: spheres nearer to the ground are watched
TOUCH = 1e-3                 # m
FORGIVEN, OUT = 0.04, 0.2    # m that may stay in the ground if it began there; m/s at which more is pushed out


@dataclass(frozen=True, eq=False)
class Ground:
    """The skin over the ground at one instant."""

    centre: Array     # (S, 3)
    gap: Array        # (S,) m, what counts as inside at the start forgiven
    probe: Probe


class Touch:
    """Remembers what was inside the ground when the fall began, and the forces of the last step."""

    def __init__(self, body: FallingBody, begin: float) -> None:
        self._body, self._skin, self._terrain = body, body.skin, body.clip.terrain
        self.forces = np.zeros((len(body.skin), 3))   # N, of the last sub-division
        self._sink: Array | None = None               # m by which spheres were inside at the start and still are
        self._felt = begin

    def feel(self, now: Moment, time: float) -> Ground:
        """Distances of the skin from the ground. What was inside when the fall began is forgiven until it comes out:
        radii are guesses, and a captured foot may be in the floor. Only what is far inside is pushed out, slowly."""
        centre = place(now.motion.pose, self._skin.link, now.places)
        probe = self._terrain.probe(centre, time)
        gap = probe.distance - self._skin.radius
        inside = np.maximum(-gap, 0.0)
        if self._sink is None:
            self._sink = inside
        else:
            most = np.maximum(self._sink - OUT * max(time - self._felt, 0.0), FORGIVEN * self._body.length)
            self._sink = np.minimum(np.minimum(self._sink, most), inside)
        self._felt = time
        return Ground(centre, gap + self._sink, probe)

    def rate(self, now: Moment, ground: Ground, v: Array) -> Array:
        """(S,) how fast the spheres would move away from the ground at velocity v."""
        V = (self._body.tree.moves @ (now.motion.S * v[:, None]))[self._skin.link]
        speed = V[:, 3:] + rotation.cross(V[:, :3], ground.centre - now.state.position) - ground.probe.velocity
        return np.asarray((speed * ground.probe.normal).sum(1))

    def watched(self, now: Moment, ground: Ground, dt: float) -> Bools:
        """(S,) spheres that may touch within the step."""
        coming = np.minimum(self.rate(now, ground, now.state.velocity), 0.0)
        return np.asarray(ground.gap < MARGIN * self._body.length - SWEEP * dt * coming)

    def contacts(self, now: Moment, ground: Ground, near: Ints, dt: float) -> Contacts:
        skin, probe = self._skin, ground.probe
        normal = probe.normal[near]
        places = ground.centre[near] - skin.radius[near, None] * normal
        J = point_jacobian(self._body.tree, now.motion, skin.link[near], places)
        return Contacts(normal, ground.gap[near], probe.friction[near], probe.velocity[near],
                        (Side(0, np.arange(len(near)), J),), dt * self.forces[near])
