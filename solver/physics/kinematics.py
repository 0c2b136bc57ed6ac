"""Where links and points are, without a loop over links; every function works on one pose or a stack of frames.

Spatial quantities have their origin at the root joint's present position, in world axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array, Ints
from ..numerics import rotation
from .tree import Tree

_NOWHERE: Array = np.eye(4)
MANY = 12  # poses at once, from which on products cost more than calls


@dataclass(frozen=True, eq=False)
class Pose:
    """World rotations of the links and their joints relative to the root joint."""

    position: Array  # (..., 3) root joint in the world
    R: Array         # (..., N, 3, 3)
    x: Array         # (..., N, 3) relative to `position`


def forward(tree: Tree, offsets: Array, position: Array, rotations: Array) -> Pose:
    """Forward kinematics. One pose by pointer jumping: every round composes a link with an ancestor twice as far away,
    which takes few calls. Many frames link by link, which takes fewer products."""
    count = tree.count
    if rotations.size > MANY * 4 * count:
        R, x = rotation.matrix(rotations), np.zeros(rotations.shape[:-1] + (3,))
        for link, parent in enumerate(tree.character.parents):
            if parent >= 0:
                above = R[..., parent, :, :]
                x[..., link, :] = x[..., parent, :] + (above @ offsets[..., link, :, None])[..., 0]
                R[..., link, :, :] = above @ R[..., link, :, :]
        return Pose(position, R, x)
    H = np.empty(rotations.shape[:-2] + (count + 1, 4, 4))
    H[..., :count, :, :] = rotation.homogeneous(rotations)
    H[..., count, :, :] = _NOWHERE  # the ancestor of those that have none
    H[..., 1:count, :3, 3] = offsets[..., 1:, :]
    for ancestor in tree.jumps:
        H[..., :count, :, :] = H.take(ancestor, axis=-3) @ H[..., :count, :, :]
    H = H[..., :count, :, :]
    return Pose(position, H[..., :3, :3], H[..., :3, 3])


def place(pose: Pose, links: Ints, local: Array) -> Array:
    """World positions (..., P, 3) of points given in their links' frames."""
    arms = (pose.R[..., links, :, :] @ local[..., None])[..., 0]
    return pose.position[..., None, :] + pose.x[..., links, :] + arms


def tangent(tree: Tree, difference: Array, root: Array) -> Array:
    """(nv,) tangent from per-link rotation vectors (..., N, 3) and the root's displacement (..., 3)."""
    flat = difference.reshape(difference.shape[:-2] + (-1,))
    return np.concatenate((root, flat @ tree.collect.T), axis=-1)


def advance(tree: Tree, position: Array, rotations: Array, v: Array, dt: float) -> tuple[Array, Array]:
    """q (+) dt v: the pose one step later. Fixed joints keep their rotation."""
    moved = dt * v
    return position + moved[:3], rotation.add(rotations, tree.turns(moved))


def motion_axes(tree: Tree, pose: Pose) -> Array:
    """S (..., nv, 6): the motion [angular; linear at the root joint] that a unit rate of each freedom causes."""
    lead = pose.x.shape[:-2]
    blocks = np.concatenate((pose.R, rotation.skew(pose.x) @ pose.R), axis=-2).swapaxes(-1, -2)
    S = np.zeros(lead + (tree.nv, 6))
    S[..., 0, 3] = S[..., 1, 4] = S[..., 2, 5] = 1.0
    S[..., 3:, :] = tree.collect @ blocks.reshape(lead + (3 * tree.count, 6))
    return S
