# SPDX-License-Identifier: GPL-3.0-or-later
"""Between Blender's units, clocks and matrices and the solver's: the only place that knows both.

Blender: units of the scene, frames, 4x4 matrices of single precision. Solver: metres, seconds, unit quaternions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._link import solver

if TYPE_CHECKING:
    import bpy

Array = NDArray[np.float64]
rotation = solver.rotation


def metres_per_unit(scene: bpy.types.Scene) -> float:
    units = scene.unit_settings
    return float(units.scale_length) if units.system != "NONE" else 1.0


def frames_per_second(scene: bpy.types.Scene) -> float:
    return float(scene.render.fps) / float(scene.render.fps_base)


def gravity_of(scene: bpy.types.Scene) -> Array:
    """m/s2; a scene that switched gravity off floats."""
    return np.array(scene.gravity, dtype=np.float64) if scene.use_gravity else np.zeros(3)


def matrices(collection: Any, attribute: str, count: int, buffer: NDArray[np.float32] | None = None) -> Array:
    """(count, 4, 4) of all elements at once; `foreach_get` hands columns first."""
    flat = np.empty(count * 16, dtype=np.float32) if buffer is None else buffer
    collection.foreach_get(attribute, flat)
    return flat.reshape(count, 4, 4).swapaxes(1, 2).astype(np.float64)


def array_of(matrix: Any) -> Array:
    return np.array([list(row) for row in matrix], dtype=np.float64)


def inverse(m: Array) -> Array:
    """Of affine matrices (..., 4, 4)."""
    return np.asarray(np.linalg.inv(m), dtype=np.float64)


def turn_of(m: Array) -> Array:
    """(..., 3, 3) the rotation of affine matrices, whatever their scale and shear: y stays, then z, then x.

    A bone's y is its direction. A mirrored frame keeps its x turned round, so that the result is a rotation.
    """
    y = _unit(m[..., :3, 1])
    z = m[..., :3, 2]
    z = _unit(z - (z * y).sum(-1, keepdims=True) * y)
    x = np.cross(y, z)
    return np.stack([x, y, z], axis=-1)


def scale_of(m: Array) -> Array:
    """(..., 3) lengths of the axes."""
    return np.linalg.norm(m[..., :3, :3], axis=-2)


def rigid(R: Array, x: Array) -> Array:
    """4x4 matrices of rotations (..., 3, 3) and places (..., 3)."""
    m = np.zeros(R.shape[:-2] + (4, 4))
    m[..., :3, :3], m[..., :3, 3], m[..., 3, 3] = R, x, 1.0
    return m


def rigid_inverse(m: Array) -> Array:
    R = m[..., :3, :3].swapaxes(-1, -2)
    return rigid(R, -(R @ m[..., :3, 3, None])[..., 0])


def upright(R: Array) -> Array:
    """The rotation nearest to R that lays one of its axes along the world's z: how a rig stands at rest.

    A rig stands on a slope, or is imported lying on its back: either way one of its own axes is meant as up.
    """
    axis = int(np.abs(R[2]).argmax())
    up = R[:, axis] * np.sign(R[2, axis])
    return np.asarray(rotation.matrix(rotation.between(up, np.array([0.0, 0.0, 1.0]))) @ R)


def _unit(x: Array) -> Array:
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return np.asarray(x / np.where(length > 1e-12, length, 1.0))
