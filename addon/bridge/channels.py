# SPDX-License-Identifier: GPL-3.0-or-later
"""From where bones shall be to the numbers that are keyed: location, rotation in the bone's own mode, scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .convert import Array, inverse, rotation, scale_of, turn_of
from .rig import Rig

if TYPE_CHECKING:
    import bpy

ROTATION_CHANNEL = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}  # else rotation_euler
GIMBAL = 1e-6   # cosine of the middle angle


def rotation_channel(mode: str) -> tuple[str, int]:
    """Its name and how many numbers it has."""
    channel = ROTATION_CHANNEL.get(mode, "rotation_euler")
    return channel, 3 if channel == "rotation_euler" else 4


def basis_of(ob: bpy.types.Object, rig: Rig, poses: Array, bones: Sequence[int]) -> Array:
    """(F, n, 4, 4) what `matrix_basis` must be for `poses` (F, B, 4, 4), all bones in the armature's space.

    The plain formula holds where a bone inherits everything. The other ways of inheriting are Blender's own business:
    `convert_local_to_pose` knows them, given the parent as it will be.
    """
    out = np.empty((len(poses), len(bones), 4, 4))
    rest_inverse = inverse(rig.rests)
    for n, i in enumerate(bones):
        p = rig.parents[i]
        if _inherits_all(ob, rig, poses, i):
            if p < 0:
                out[:, n] = rest_inverse[i] @ poses[:, i]
            else:
                out[:, n] = inverse(poses[:, p] @ (rest_inverse[p] @ rig.rests[i])) @ poses[:, i]
        else:
            out[:, n] = _converted(ob, rig, poses, i)
    return out


def _inherits_all(ob: Any, rig: Rig, poses: Array, i: int) -> bool:
    bone = ob.data.bones[i]
    p = rig.parents[i]
    if not bone.use_local_location:
        return False
    if p < 0:
        return True
    if not bone.use_inherit_rotation:
        return False
    return bone.inherit_scale == "FULL" or bool(np.abs(scale_of(poses[:, p]) - 1.0).max() < 1e-6)


def _converted(ob: Any, rig: Rig, poses: Array, i: int) -> Array:
    from mathutils import Matrix

    bone = ob.data.bones[i]
    rest, p = bone.matrix_local, rig.parents[i]
    out = np.empty((len(poses), 4, 4))
    for f, pose in enumerate(poses):
        above: dict[str, Any] = {} if p < 0 else {
            "parent_matrix": Matrix(pose[p].tolist()), "parent_matrix_local": bone.parent.matrix_local}
        out[f] = bone.convert_local_to_pose(Matrix(pose[i].tolist()), rest, invert=True, **above)
    return out


def decomposed(basis: Array) -> tuple[Array, Array, Array]:
    """Location (..., 3), rotation (..., 3, 3), scale (..., 3); a mirrored basis has negative scale, as in Blender.

    Shear cannot be keyed: where there is some, the bone's direction is kept.
    """
    sign = np.where(np.linalg.det(basis[..., :3, :3]) < 0.0, -1.0, 1.0)
    return basis[..., :3, 3], turn_of(basis * sign[..., None, None]), scale_of(basis) * sign[..., None]


def keyed_rotation(R: Array, mode: str, before: Array) -> Array:
    """(F, 3 or 4) the numbers of a rotation mode, each near to its predecessor, the first near to `before`."""
    if mode == "QUATERNION":
        return _near_quaternions(R, before)
    if mode == "AXIS_ANGLE":
        return _near_axis_angles(R, before)
    return _near_eulers(R, mode, before)


def _near_quaternions(R: Array, before: Array) -> Array:
    q = rotation.aligned(rotation.normalised(rotation.from_matrix(R)))
    return -q if float(q[0] @ before) < 0.0 else np.asarray(q)


def _near_axis_angles(R: Array, before: Array) -> Array:
    """Angle and axis; at no angle the axis stays what it was."""
    q = rotation.normalised(rotation.from_matrix(R))
    out, last = np.empty((len(R), 4)), np.asarray(before, dtype=np.float64).copy()
    length = float(np.linalg.norm(last[1:]))
    last[1:] = last[1:] / length if length > 1e-9 else (0.0, 1.0, 0.0)
    for f in range(len(R)):
        sine = float(np.linalg.norm(q[f, 1:]))
        angle = 2.0 * float(np.arctan2(sine, q[f, 0]))
        axis = q[f, 1:] / sine if sine > 1e-7 else last[1:]
        if float(axis @ last[1:]) < 0.0:
            axis, angle = -axis, -angle
        angle += 2.0 * np.pi * round((last[0] - angle) / (2.0 * np.pi))
        last = np.array([angle, *axis])
        out[f] = last
    return out


def _near_eulers(R: Array, order: str, before: Array) -> Array:
    """R = R_k(c) R_j(b) R_i(a) for the order "ijk". Every rotation has two triples; the nearer one is taken, and
    where the middle angle is a right angle the last one stays what it was."""
    i, j, k = ("XYZ".index(letter) for letter in order)
    s = 1.0 if (i, j, k) in ((0, 1, 2), (1, 2, 0), (2, 0, 1)) else -1.0
    cosine = np.hypot(R[:, i, i], R[:, j, i])
    sides = []
    for side in (1.0, -1.0):
        angles = np.empty((len(R), 3))
        angles[:, i] = np.arctan2(side * s * R[:, k, j], side * R[:, k, k])
        angles[:, j] = np.arctan2(-s * R[:, k, i], side * cosine)
        angles[:, k] = np.arctan2(side * s * R[:, j, i], side * R[:, i, i])
        sides.append(angles)
    out, last = np.empty((len(R), 3)), np.asarray(before, dtype=np.float64)[:3]
    turn = 2.0 * np.pi
    for f in range(len(R)):
        if cosine[f] < GIMBAL:
            axis = np.zeros(3)
            axis[k] = -last[k]
            rest = rotation.matrix(rotation.exp(axis)) @ R[f]
            near = np.empty(3)
            near[i] = np.arctan2(-s * rest[j, k], rest[j, j])
            near[j], near[k] = sides[0][f, j], last[k]
            options = [near]
        else:
            options = [sides[0][f], sides[1][f]]
        options = [o + turn * np.round((last - o) / turn) for o in options]
        last = min(options, key=lambda o: float(np.abs(o - last).sum()))
        out[f] = last
    return out
