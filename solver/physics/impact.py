"""Contact and impact of bodies that nothing holds: velocities after a step in which they meet ground, bodies or stops.

    v+ = v + Q^-1 J^T p          Q: what resists (a character's yielding inertia, a rigid body's 6 x 6 mass)
    u  = J v+ - drift            velocity of each contact point against the surface it meets

    0 <= p_n  _|_  u_n >= -approach(gap)       no deeper than the surface at the end of the step (speculative contact)
    |p_t| <= mu p_n , against the slip         a circular friction cone; restitution zero: flesh does not bounce
    0 <= p    _|_  J v+ >= floor               stops: joint limits

A contact knows its sides only as rows of bodies, so that a character against ground (one side), two free bodies (two
sides) and two links of one character (two sides, one body) are the same thing.

There is one other: `blow`, for the instant in which a controller that keeps its feet planted is struck. There planted
points are held whatever friction says, so that the answer is linear in the blow and is wanted as a matrix (stops and
the floor under other parts are then met with it); cones that let a foot slip would be another controller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import dtrsm, dtrsv
from scipy.linalg.lapack import dpotrf, dpotrs

from ..errors import SolverError
from ..model.arrays import Array, Ints
from ..numerics.cone_complementarity import solve_cones

SLOP = 1e-3        # m: this deep is left alone
PUSH_OUT = 0.2     # of the depth beyond, per step
CALM = 0.3         # m/s: never faster than this
TOLERANCE = 2e-4   # m/s: a few micrometres per step
ROUNDS = 150
STUCK = 0.1        # m/s: an answer that bad means that rows contradict each other
ARM = 0.1          # m: an angular stop is as exact as a contact at this distance


@dataclass(frozen=True, eq=False)
class Body:
    """Coordinates that move together, with the velocity they would have if nothing touched."""

    factor: Array     # (n, n) lower L of the inertia Q = L L^T
    velocity: Array   # (n,)

    @staticmethod
    def pushed(inertia: Array, velocity: Array, impulse: Array) -> Body:
        """With v + Q^-1 impulse as its velocity: what gravity, muscles and pushes are about to make of v."""
        L, info = dpotrf(inertia.T, lower=1)
        if info:
            raise SolverError("A body's inertia is not positive definite.")
        return Body(np.asarray(L), velocity + dpotrs(L, impulse, lower=1)[0])

    def whitened(self, J: Array) -> Array:
        """(R, n) J L^-T: rows in coordinates whose inertia is the identity."""
        return np.asarray(dtrsm(1.0, self.factor, J.T, lower=1).T)

    def changed(self, x: Array) -> Array:
        """v + L^-T x."""
        return np.asarray(self.velocity + dtrsv(self.factor, x, lower=1, trans=1))


@dataclass(frozen=True, eq=False)
class Side:
    """One body's part in some of the contacts; the second body of a pair has its Jacobian negated."""

    body: int
    contacts: Ints    # (c,)
    jacobian: Array   # (c, 3, n) world axes


@dataclass(frozen=True, eq=False)
class Contacts:
    """Places where surfaces meet or soon will."""

    normal: Array     # (C, 3) unit, out of the surface
    gap: Array        # (C,) m, negative inside
    friction: Array   # (C,)
    drift: Array      # (C, 3) m/s, velocity of the surface where it is not a body's
    sides: tuple[Side, ...]
    start: Array | None = None  # (C, 3) N s, world axes: a guess, such as the impulses of the step before

    def __len__(self) -> int:
        return len(self.gap)


@dataclass(frozen=True, eq=False)
class Stops:
    """Rows of one body with a least velocity."""

    body: int
    jacobian: Array   # (L, n)
    floor: Array      # (L,)
    start: Array | None = None  # (L,) a guess


@dataclass(frozen=True, eq=False)
class Impact:
    """What the contacts did."""

    velocities: tuple[Array, ...]  # per body, after
    impulses: Array                # (C, 3) N s, world axes
    stops: Array                   # N s or N m s, in the order of the stops
    slip: Array                    # (C, 3) m/s, world axes: velocity of the contact point against the surface
    residual: float                # m/s
    rounds: int


def approach(gap: Array, dt: float) -> Array:
    """(C,) the least normal velocity: just reach the surface, or come out calmly from inside."""
    depth = np.maximum(-gap - SLOP, 0.0)
    return np.where(gap > 0.0, -gap / dt, np.minimum(PUSH_OUT * depth / dt, CALM))


def tangent_frames(normal: Array) -> Array:
    """(C, 3, 3) rows n, t_1, t_2; t_1 leans to the world's x axis, or to y where the surface faces along x."""
    steep = np.abs(normal[:, 0]) > 0.9
    t1 = np.zeros(normal.shape)
    t1[:, 0], t1[steep, 0], t1[steep, 1] = 1.0, 0.0, 1.0
    t1 -= normal * (normal * t1).sum(1, keepdims=True)
    t1 /= np.sqrt((t1 * t1).sum(1, keepdims=True))
    a, b = normal, t1
    t2 = np.stack((a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1], a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2],
                   a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]), axis=1)
    return np.stack((normal, t1, t2), axis=1)


def resolve(bodies: Sequence[Body], contacts: Contacts, stops: Sequence[Stops], dt: float,
            tolerance: float = TOLERANCE, rounds: int = ROUNDS) -> Impact:
    """Velocities after the step."""
    count = len(contacts)
    single = sum(len(stop.floor) for stop in stops)
    edges = np.concatenate(([0], np.cumsum([len(body.velocity) for body in bodies])))
    frames = tangent_frames(contacts.normal) if count else np.zeros((0, 3, 3))
    G = np.zeros((3 * count + single, edges[-1]))
    b, wanted = np.zeros(3 * count + single), np.zeros(3 * count + single)
    if count:
        for side in contacts.sides:
            body = bodies[side.body]
            J = frames[side.contacts] @ side.jacobian
            rows = (3 * side.contacts[:, None] + np.arange(3)).ravel()
            G[rows, edges[side.body]:edges[side.body + 1]] += body.whitened(J.reshape(len(rows), -1))
            b[rows] += J.reshape(len(rows), -1) @ body.velocity
        b[:3 * count] -= (frames @ contacts.drift[..., None]).reshape(-1)
        wanted[:3 * count:3] = approach(contacts.gap, dt)
    begin = np.zeros(len(b))
    if count and contacts.start is not None:
        begin[:3 * count] = (frames @ contacts.start[..., None]).reshape(-1)
    at = 3 * count
    for stop in stops:
        own = slice(at, at + len(stop.floor))
        J = ARM * stop.jacobian
        G[own, edges[stop.body]:edges[stop.body + 1]] = bodies[stop.body].whitened(J)
        b[own], wanted[own] = J @ bodies[stop.body].velocity, ARM * stop.floor
        if stop.start is not None:
            begin[own] = stop.start / ARM
        at += len(stop.floor)
    solution = solve_cones(G, b - wanted, contacts.friction, begin, tolerance, rounds)
    if solution.residual > STUCK and (wanted > 0.0).any():  # pushed out both ways: then stay where it is
        wanted = np.minimum(wanted, 0.0)
        solution = solve_cones(G, b - wanted, contacts.friction, begin, tolerance, rounds)
    velocities = tuple(body.changed(solution.x[edges[n]:edges[n + 1]]) for n, body in enumerate(bodies))
    back = frames.swapaxes(1, 2)
    w = solution.w[:3 * count].reshape(-1, 3).copy()
    w[:, 0] += wanted[:3 * count:3]
    return Impact(velocities, (back @ solution.p[:3 * count].reshape(-1, 3, 1))[..., 0], ARM * solution.p[3 * count:],
                  (back @ w[..., None])[..., 0], solution.residual, solution.rounds)
