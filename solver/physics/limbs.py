"""A limb of two long bones that keeps its end where it should be, as a function of where the body is.

    ankle and foot pose = target ,   hip = f(body) ,   |a + Rot(u, theta) b| = |ankle - hip|        [Oshita2001] 4.2

It starts from given joint rotations (the reference's), bends the middle joint about its own axis and swings the first
by the shortest arc, so that the swivel stays the reference's and nothing changes where nothing has to. Solved for
positions: accelerations follow by differences, because an inverse for accelerations alone drifts and blows up near a
straight knee.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array, Ints
from ..model.motion import Motion
from ..numerics import rotation
from .kinematics import forward
from .shape import Shape
from .tree import Tree

STRAIGHT = 0.9995   # of the limb's length: as straight as it gets, unless the reference is straighter
SAMPLES = 100       # frames that are looked at to see how a limb bends
SAME = 1e-9         # m2
_ONES: Array = np.ones((3, 1))


@dataclass(frozen=True, eq=False)
class Reaching:
    """What a limb came to."""

    rotations: Array   # (..., 2, 4) of first and middle joint
    last: Array        # (..., 3, 3) of the last joint
    short: Array       # (..., 3) m that were missing, from the body to the target


class Limb:
    """First joint, middle joint, last joint (hip, knee, ankle); what lies between the last two keeps its shape."""

    def __init__(self, tree: Tree, shape: Shape, motion: Motion, first: int, middle: int, last: int) -> None:
        """How it bends is read from a motion."""
        character = tree.character
        self.first, self.middle, self.last = first, middle, last
        self.parent = int(character.parents[first])
        self.between = [last]      # links from the middle joint (without it) to the last
        while self.between[0] != middle:
            self.between.insert(0, int(character.parents[self.between[0]]))
        self.between = self.between[1:]
        self.upper = [middle]      # links from the first joint (without it) to the middle
        while self.upper[0] != first:
            self.upper.insert(0, int(character.parents[self.upper[0]]))
        self.upper = self.upper[1:]
        self._hinge = character.axes[middle] if character.joints[middle] == "hinge" else None
        self.hinges = [(n, character.axes[link]) for n, link in enumerate((first, middle, last))
                      if character.joints[link] == "hinge"]
        self._is_fixed = [character.joints[link] == "fixed" for link in (first, middle, last)]
        self._axis, self._side = self._bend(tree, shape, motion)
        self.freedoms: Ints = np.flatnonzero(np.isin(tree.dof_link, (first, middle, last)) & (np.arange(tree.nv) >= 6))

    def _bend(self, tree: Tree, shape: Shape, motion: Motion) -> tuple[Array, float]:
        """The axis of the middle joint in the frame of the link above it, and the sign of its angle from straight."""
        every = max(1, len(motion) // SAMPLES)
        frames = np.arange(0, len(motion), every)
        offsets = shape.offsets if shape.offsets.ndim == 2 else shape.offsets[frames]
        pose = forward(tree, offsets, motion.positions[frames], motion.rotations[frames])
        above = int(tree.character.parents[self.middle])
        a, b = pose.x[:, self.middle] - pose.x[:, self.first], pose.x[:, self.last] - pose.x[:, self.middle]
        if self._hinge is not None:
            u = pose.R[:, self.middle] @ self._hinge
            axis = self._hinge
        else:
            bends = (pose.R[:, above].swapaxes(-1, -2) @ rotation.cross(a, b)[..., None])[..., 0].sum(0)
            size = float(np.linalg.norm(bends))
            axis = bends / size if size > 1e-9 else np.array([0.0, 1.0, 0.0])
            u = pose.R[:, above] @ axis
        across = b - (b * u).sum(1, keepdims=True) * u
        straight = np.arctan2((a * rotation.cross(u, across)).sum(1), (a * across).sum(1))
        return axis, -1.0 if float(np.median(straight)) > 0.0 else 1.0

    def reach(self, offsets: Array, rotations: Array, R: Array, x: Array, ankle: Array, foot: Array,
              longest: Array | float) -> Reaching:
        """From joint rotations (..., N, 4) under a parent at x (..., 3), turned R (..., 3, 3): the last joint to
        `ankle` (..., 3), its link turned to `foot` (..., 3, 3). `longest` m is how far it may stretch. One pose, or a
        stack of frames."""
        first, middle = rotations[..., self.first, :], rotations[..., self.middle, :]
        hip = x + _turned(R, offsets[..., self.first, :])
        Q1 = R @ rotation.matrix(first)
        upper, a = Q1, np.zeros(3)
        for link in self.upper[:-1]:
            a, upper = a + _turned(upper, offsets[..., link, :]), upper @ rotation.matrix(rotations[..., link, :])
        a = a + _turned(upper, offsets[..., self.middle, :])
        Q2 = upper @ rotation.matrix(middle)
        lower, b = Q2, np.zeros(3)
        for link in self.between[:-1]:
            b, lower = b + _turned(lower, offsets[..., link, :]), lower @ rotation.matrix(rotations[..., link, :])
        b = b + _turned(lower, offsets[..., self.last, :])
        u = _turned(Q2, self._hinge) if self._hinge is not None else _turned(upper, self._axis)

        along = _dot(b, u) * u
        across = b - along
        A, B, C = _dot(a, across), _dot(a, rotation.cross(u, across)), _dot(a, along)          # (..., 1) each
        straight, size, both = np.arctan2(B, A), np.hypot(A, B), _dot(a, a) + _dot(b, b)
        reach = np.minimum(np.asarray(longest)[..., None], np.sqrt(np.maximum(both + 2.0 * (size + C), 0.0)))
        away = ankle - hip
        far = np.sqrt(_dot(away, away))
        short = np.maximum(far - reach, 0.0) * away / np.maximum(far, 1e-12)
        d = np.minimum(far, reach)
        share = (0.5 * (d * d - both) - C) / np.maximum(size, 1e-12)
        # where the reference has it bent the wrong way: so be it, but no further
        is_wrong = (self._side * straight > 0.0) & (d * d >= _dot(a + b, a + b) - SAME)
        bent = np.arccos(np.minimum(np.maximum(share, -1.0), 1.0))
        theta = straight + np.where(is_wrong, -self._side, self._side) * bent
        bend = rotation.matrix(rotation.exp(theta * u))
        there = a + _turned(bend, b)
        swing = rotation.between(there, np.where(far > 1e-9, away, there))
        out = rotations[..., [self.first, self.middle], :]
        if not self._is_fixed[0]:      # Q1 turned by the swing, seen from its own frame
            own = (swing[..., None, 1:] @ Q1)[..., 0, :]
            out[..., 0, :] = rotation.multiply(first, np.concatenate((swing[..., :1], own), axis=-1))
        if not self._is_fixed[1]:
            out[..., 1, :] = rotation.multiply(middle, rotation.exp(theta * (u[..., None, :] @ Q2)[..., 0, :]))
        if self._is_fixed[2]:
            last = rotation.matrix(rotations[..., self.last, :])
        else:
            last = (rotation.matrix(swing) @ bend @ lower).swapaxes(-1, -2) @ foot
        return Reaching(out, last, short)


def _turned(R: Array, x: Array) -> Array:
    return np.asarray((R @ x[..., None])[..., 0])


def _dot(a: Array, b: Array) -> Array:
    """(..., 1)"""
    return np.asarray((a * b) @ _ONES)


def reached(limbs: Sequence[Limb], ways: Sequence[Reaching]) -> Array:
    """(..., L, 3, 4) joint rotations of limbs that came to `ways`; hinges turn about their axes alone."""
    out = np.concatenate((np.stack([way.rotations for way in ways], axis=-3),
                          rotation.from_matrix(np.stack([way.last for way in ways], axis=-3))[..., None, :]), axis=-2)
    for n, limb in enumerate(limbs):
        for m, axis in limb.hinges:
            out[..., n, m, :] = rotation.exp(rotation.twist_angle(out[..., n, m, :], axis)[..., None] * axis)
    return rotation.normalised(out)
