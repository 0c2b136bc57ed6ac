"""What a blow does to the velocities of a body whose planted points stay where they are.

    [ H   -J_c^T ] [dv]   [ J_x^T P ]
    [ J_c    0   ] [L ] = [    0    ]          the ground only pushes: points with a negative L are let go

and of a collision with restitution e along n,  P = -(1 + e) (n . v_rel) / (n . K n) n ,  K the sum of both bodies'
answers to a unit blow ([Oshita2001] 3.3, which gives no formula).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array

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


def blow(H: Array, J_c: Array, normals: Array, generalised: Array) -> tuple[Array, Array]:
    """(dv (nv,), ground's impulses (n, 3)) of an impulse J_x^T P on a body that stands on n points."""
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
    return reply.to(generalised), impulses


def collision(mine: Array, theirs: Array, approach: float, normal: Array, restitution: float) -> Array:
    """(3,) N s on my point when it meets a point of another body: `mine` and `theirs` (3, 3) are the velocities that
    the points take from unit blows (zero for a wall), `approach` is n . (my velocity - theirs), n away from them."""
    if approach >= 0.0:
        return np.zeros(3)
    K = float(normal @ (mine + theirs) @ normal)
    return np.asarray(-(1.0 + restitution) * approach / max(K, 1e-12) * normal)
