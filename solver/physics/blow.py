"""What a blow does to the velocities of a body whose planted points stay where they are.

    [ H   -J_c^T ] [dv]   [ J_x^T P ]
    [ J_c    0   ] [L ] = [    0    ]          the ground only pushes: points with a negative L are let go

([Oshita2001] 3.3 gives no formula). A joint that the blow drives into its stop is caught by it, without rebound, in
the same instant: one collision more, within the body,

    r . (v + W r^T l) >= floor ,   l >= 0          W: velocity per generalised impulse, from the system above

Braked in the first step instead, it would ask for a torque that grows as 1 / dt.

Not `impact`, which resolves contact of bodies that nothing holds: here planted points are held whatever friction says,
which makes the answer linear, a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array
from ..numerics.qp import solve_nonnegative_qp

SOFT = 1e-10       # of the mean answer: planted points that say the same thing twice
PASSES = 3


@dataclass(frozen=True, eq=False)
class Answer:
    """How a body answers blows while some of its points are held."""

    W: Array         # (nv, nv) velocity per generalised impulse
    L: Array         # (3 n, nv) impulse of the ground per generalised impulse

    def to(self, generalised: Array) -> Array:
        return np.asarray(self.W @ generalised)


def answer(H: Array, J_c: Array) -> Answer:
    """For inertia H (nv, nv) and held points J_c (n, 3, nv)."""
    free: Array = np.asarray(np.linalg.inv(H), dtype=np.float64)
    rows = J_c.reshape(-1, len(H))
    if not len(rows):
        return Answer(free, np.zeros((0, len(H))))
    RW = rows @ free
    G = RW @ rows.T
    G.ravel()[::len(G) + 1] += max(SOFT * float(np.trace(G)) / len(G), 1e-300)
    L: Array = np.asarray(-np.linalg.solve(G, RW), dtype=np.float64)
    return Answer(free + RW.T @ L, L)


def blow(H: Array, J_c: Array, normals: Array, generalised: Array) -> tuple[Answer, Array]:
    """(answer, ground's impulses (n, 3)) of a body that stands on n points to an impulse J_x^T P."""
    held = np.ones(len(J_c), dtype=bool)
    impulses = np.zeros((len(J_c), 3))
    reply = answer(H, J_c)
    for _ in range(PASSES):
        impulses[:] = 0.0
        impulses[held] = (reply.L @ generalised).reshape(-1, 3)
        pulled = held & ((impulses * normals).sum(1) < 0.0)
        if not pulled.any() or pulled.sum() == held.sum():
            break
        held &= ~pulled
        reply = answer(H, J_c[held])
    return reply, impulses


def caught(reply: Answer, v: Array, rows: Array, floor: Array) -> Array:
    """(nv,) velocities after joints that run into their stops, rows v < floor, were caught by them."""
    missing = floor - rows @ v
    if not (missing > 0.0).any():
        return v
    W = reply.W @ rows.T
    K = rows @ W
    K.ravel()[::len(K) + 1] += SOFT * np.trace(K) / len(K)
    return np.asarray(v + W @ solve_nonnegative_qp(K, -missing))
