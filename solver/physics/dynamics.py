"""Inverse dynamics, mass matrix, centre of mass and point Jacobians in a few stacked matrix products.

    M(q) a + h(q, v) = generalised force            [Levine2012] eq. 6

Composite-rigid-body and Newton-Euler recursions written with ancestor masks instead of loops: with D[i, j] = 1
where j moves i,  V = D s,  A = D (s' + ad(V) s),  F = D^T f,  I^c = D^T I,  M = S^T I^c S (masked).
All functions take one state or a stack of frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array, Ints
from ..model.terrain import Probe
from ..numerics.rotation import cross, skew
from .kinematics import Pose
from .shape import Shape
from .tree import Tree


def _motion_cross_basis() -> Array:
    """The constant that turns V (6) into ad(V) (36) = [[w x, 0], [v x, w x]]."""
    basis = np.zeros((6, 6, 6))
    for n in range(3):
        unit = skew(np.eye(3)[n])
        basis[n, :3, :3] = basis[n, 3:, 3:] = unit
        basis[3 + n, 3:, :3] = unit
    return basis.reshape(6, 36)


_AD = _motion_cross_basis()
_STILL, _ONES = np.zeros(3), np.ones(3)
_FIRST = np.array([16, 5, 9])  # where m c stands in a spatial inertia, m [c]


@dataclass(frozen=True, eq=False)
class Dynamics:
    """The moving character at one instant, with the accelerations `a` it was asked about."""

    pose: Pose
    S: Array            # (..., nv, 6) motion of each degree of freedom
    V: Array            # (..., N, 6) spatial velocities
    A: Array            # (..., N, 6) spatial accelerations under a
    drift: Array        # (..., N, 6) the part of A that needs no acceleration of the joints
    force: Array        # (..., nv) M a + h
    wrench: Array       # (..., 6) [moment; force] about the root joint that a needs from outside
    com: Array          # (..., 3) world
    com_acceleration: Array  # (..., 3) under a
    momenta: Array      # (..., N, 6, 1) of the links
    M: Array | None     # (..., nv, nv)
    J_com: Array | None # (..., 3, nv)

    @property
    def momentum(self) -> Array:
        """(..., 6) [angular about the root joint; linear]"""
        return np.asarray(self.momenta[..., 0].sum(-2))


def dynamics(tree: Tree, shape: Shape, pose: Pose, v: Array, a: Array, gravity: Array,
             mass_matrix: bool = True) -> Dynamics:
    """Everything about state (pose, v) under acceleration a; with a = 0 `force` is the bias h."""
    lead = v.shape[:-1]
    R, X = pose.R, skew(pose.x)
    count, nv = tree.count, tree.nv
    Yt = np.zeros(lead + (count, 6, 6))  # force transform: link frame to world axes at the origin
    XR = X @ R
    Yt[..., :3, :3] = R
    Yt[..., 3:, 3:] = R
    Yt[..., :3, 3:] = XR
    S = np.zeros(lead + (nv, 6))
    S[..., 0, 3] = S[..., 1, 4] = S[..., 2, 5] = 1.0
    own = S[..., 3:, :].reshape(lead + (count, 3, 6)) if tree.is_all_ball else np.empty(lead + (count, 3, 6))
    own[..., :3] = R.swapaxes(-1, -2)
    own[..., 3:] = XR.swapaxes(-1, -2)
    if not tree.is_all_ball:
        np.matmul(tree.collect, own.reshape(lead + (3 * count, 6)), out=S[..., 3:, :])

    Sv = S * v[..., None]
    V = tree.moves @ Sv
    ad = (V @ _AD).reshape(lead + (count, 6, 6))
    product = (ad @ (tree.own @ Sv)[..., None])[..., 0]
    drift = tree.above @ product
    A = drift + tree.moves @ (S * a[..., None])
    I = Yt @ shape.inertias @ Yt.swapaxes(-1, -2)
    IV = I @ V[..., None]
    falling = np.concatenate((_STILL, gravity))
    f = (I @ (A - falling)[..., None] - ad.swapaxes(-1, -2) @ IV)[..., 0]
    F = tree.below @ f
    force = (S * F.take(tree.dof_link, axis=-2)) @ tree.sum6

    if mass_matrix:
        Ic = (tree.below @ I.reshape(lead + (count, 36))).reshape(lead + (count, 6, 6))
        total = Ic[..., 0, :, :]
        mass = total[..., 3, 3]
        FS = np.empty(lead + (nv, 6))
        FS[..., :3, :] = total[..., :, 3:].swapaxes(-1, -2)
        if tree.is_all_ball:
            np.matmul(own, Ic, out=FS[..., 3:, :].reshape(lead + (count, 3, 6)))
        else:
            np.matmul(tree.collect, (own @ Ic).reshape(lead + (3 * count, 6)), out=FS[..., 3:, :])
        M = S @ FS.swapaxes(-1, -2)
        M *= tree.mass_mask
        M = M + M.swapaxes(-1, -2)
        J_com = FS[..., 3:].swapaxes(-1, -2) / mass[..., None, None]
    else:
        total, M, J_com = I.sum(-3), None, None
        mass = total[..., 3, 3]
    com = total.reshape(lead + (36,)).take(_FIRST, axis=-1) / mass[..., None]
    wrench = F[..., 0, :]
    return Dynamics(pose, S, V, A, drift, force, wrench, pose.position + com,
                    wrench[..., 3:] / mass[..., None] + gravity, IV, M, J_com)


@dataclass(frozen=True, eq=False)
class Points:
    """Material points: where they are and how they move under the dynamics' a."""

    position: Array      # (..., P, 3) world
    velocity: Array      # (..., P, 3)
    acceleration: Array  # (..., P, 3) J a + Jdot v
    drift: Array         # (..., P, 3) Jdot v

    def at(self, n: int) -> Points:
        """One frame of a stack."""
        return Points(self.position[n], self.velocity[n], self.acceleration[n], self.drift[n])


def coming_height(ground: Probe, points: Points, dt: float | Array) -> Array:
    """(..., P) distance from the ground after one step of the integrator (dt, or (..., 1) of many), to second order:
    q (+) dt (v + dt a) moves a point by  dt J v + dt^2 (J a + Jdot v / 2)."""
    each = dt if isinstance(dt, float) else dt[..., None]
    moved = points.velocity - ground.velocity + each * (points.acceleration - 0.5 * points.drift)
    return np.asarray(ground.distance + dt * ((ground.normal * moved) @ _ONES))


def points(pose: Pose, motion: Dynamics, links: Ints, local: Array) -> Points:
    """Positions, velocities and accelerations J a + Jdot v of points in their links' frames."""
    arm = pose.x.take(links, axis=-2) + (pose.R.take(links, axis=-3) @ local[..., None])[..., 0]
    V, A = motion.V.take(links, axis=-2), motion.A.take(links, axis=-2)
    K = skew(arm)
    both = np.empty(V.shape + (3,))                                                 # (..., P, 6, 3)
    both[..., 0], both[..., 1], both[..., 2] = V, A, motion.drift.take(links, axis=-2)
    moved = both[..., 3:, :] - K @ both[..., :3, :]
    velocity = moved[..., 0]
    turning = cross(V[..., :3], velocity)
    return Points(pose.position[..., None, :] + arm, velocity, moved[..., 1] + turning, moved[..., 2] + turning)


def point_jacobian(tree: Tree, motion: Dynamics, links: Ints, positions: Array) -> Array:
    """(P, 3, nv) Jacobian of world points on links:  J = S_lin + S_ang x arm  where the freedom moves the link."""
    arm = positions - motion.pose.position
    count = len(links)
    K = np.zeros((count, 3, 6))
    K[:, :, :3] = skew(-arm)
    K[:, 0, 3] = K[:, 1, 4] = K[:, 2, 5] = 1.0
    J = (K.reshape(3 * count, 6) @ motion.S.T).reshape(count, 3, tree.nv)
    J *= tree.moves.take(links, axis=0)[:, None, :]
    return J


def generalised(tree: Tree, links: Ints, motion: Dynamics, contact: Points, forces: Array) -> Array:
    """(..., nv) generalised force of forces (..., P, 3) at points: sum of J^T f without building J."""
    arm = contact.position - motion.pose.position[..., None, :]
    wrench = np.concatenate((cross(arm, forces), forces), axis=-1)
    on_link = np.zeros((tree.count, len(links)))
    on_link[links, np.arange(len(links))] = 1.0
    carried = (tree.below @ on_link) @ wrench
    return np.asarray((motion.S * carried[..., tree.dof_link, :]).sum(-1))
