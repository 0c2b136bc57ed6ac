"""Muscles that yield: the controlled equations of motion of a body that nobody holds up, and what keeps them honest.

[Levine2012] eq. 7 with W_tau = M^-1: the pose term becomes an implicit spring and damper in parent space,

    (M + armature + dt D + dt^2 K) a = -h + tau_ff + K (e - dt (v - v_t)) + D (v_t - v) + J_ext^T f_ext + J^T f

symmetric and stable for any stiffness and step. With K, D and tau_ff zero in the six root entries nothing holds the
body up: momentum changes by gravity, pushes and contact alone. A step of finite length is wrong about that by
O(dt^2), so the root's velocity is corrected to the momentum that these forces give, and what the step's error adds to
the energy is taken out of the motion of the parts against each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array
from ..numerics.rotation import cross
from .dynamics import Dynamics
from .impact import Body


@dataclass(frozen=True, eq=False)
class Muscles:
    """Springs, dampers and feed-forward of every degree of freedom, the root's included."""

    stiffness: Array   # (nv,) K
    damping: Array     # (nv,) D
    armature: Array    # (nv,) inertia added to light links
    error: Array       # (nv,) e, from the pose to the pose aimed at
    velocity: Array    # (nv,) v_t of that pose
    feed: Array        # (nv,) tau_ff

    def drive(self, dt: float) -> Array:
        """(nv,) the part of their torque that does not depend on the velocity reached."""
        return np.asarray(self.feed + self.stiffness * self.error + self.drag(dt) * self.velocity)

    def drag(self, dt: float) -> Array:
        """(nv,) how much torque each unit of velocity costs:  tau = drive - drag v+ - armature a."""
        return np.asarray(self.damping + dt * self.stiffness)

    def weakened(self, share: float) -> Muscles:
        """The same dampers, driven less."""
        return Muscles(self.stiffness, self.damping, self.armature, share * self.error, share * self.velocity,
                       share * self.feed)


def yielding_body(M: Array, bias: Array, external: Array, muscles: Muscles, v: Array, dt: float) -> Body:
    """The character as contacts see it: its inertia with implicit muscles, and the velocity it is about to have."""
    Q = M.copy()
    drag = muscles.drag(dt)
    Q.ravel()[::len(Q) + 1] += muscles.armature + dt * drag
    return Body.pushed(Q, v, dt * (external - bias + muscles.drive(dt) - drag * v))


def kinetic_energy(M: Array, v: Array) -> float:
    return 0.5 * float(v @ (M @ v))


def own_momentum(motion: Dynamics) -> tuple[Array, Array]:
    """(linear, angular about the centre of mass), world axes."""
    linear = motion.momentum[3:]
    return linear, motion.momentum[:3] - cross(motion.com - motion.pose.position, linear)


def root_velocity(motion: Dynamics, v: Array, linear: Array, angular: Array) -> Array:
    """v with the root's six entries such that the body has this momentum (angular: about the centre of mass)."""
    M = motion.M
    assert M is not None
    arm = motion.com - motion.pose.position
    wanted = np.concatenate((linear, (angular + cross(arm, linear)) @ motion.pose.R[0]))
    out = v.copy()
    out[:6] += np.linalg.solve(M[:6, :6], wanted - M[:6] @ v)
    return out


def drained(M: Array, v: Array, energy: float) -> Array:
    """v without so much kinetic energy (J), as far as the parts move against each other; momentum stays."""
    inner = v.copy()
    inner[:6] -= np.linalg.solve(M[:6, :6], M[:6] @ v)
    own = kinetic_energy(M, inner)
    if own <= 0.0:
        return v
    return np.asarray(v - (1.0 - np.sqrt(max(0.0, 1.0 - energy / own))) * inner)
