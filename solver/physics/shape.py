"""The character's shape at one frame or over many: where joints sit, how mass is spread, where the skin is.

Constant for most rigs. With squash and stretch it follows the reference frame by frame, and is treated as constant
within a step: what a stretch itself would do to the momentum is left to the keys (and to tau*), not simulated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array, Ints
from ..model.character import Character
from ..model.motion import Motion
from ..numerics.rotation import skew


@dataclass(frozen=True, eq=False)
class Shape:
    """Leading axes (frames) are optional everywhere."""

    offsets: Array   # (..., N, 3) joints in their parents' frames
    inertias: Array  # (..., N, 6, 6) spatial, link frame, about the link's origin
    points: Array    # (..., P, 3) contact points in their links' frames

    @property
    def is_constant(self) -> bool:
        return self.offsets.ndim == 2 and self.inertias.ndim == 3 and self.points.ndim == 2

    def at(self, k: int | slice | Ints) -> Shape:
        """One frame, or several."""
        if self.is_constant:
            return self
        return Shape(self.offsets if self.offsets.ndim == 2 else self.offsets[k],
                     self.inertias if self.inertias.ndim == 3 else self.inertias[k],
                     self.points if self.points.ndim == 2 else self.points[k])


def spatial_inertia(mass: Array, com: Array, inertia: Array) -> Array:
    """[[I + m [c][c]^T, m [c]], [m [c]^T, m 1]] for motion vectors [angular; linear at the origin]."""
    c = skew(com)
    m = np.asarray(mass)[..., None, None]
    out = np.zeros(np.broadcast_shapes(com.shape[:-1], inertia.shape[:-2]) + (6, 6))
    out[..., :3, :3] = inertia + m * (c @ c.swapaxes(-1, -2))
    out[..., :3, 3:] = m * c
    out[..., 3:, :3] = m * c.swapaxes(-1, -2)
    out[..., 3:, 3:] = m * np.eye(3)
    return out


def shape_of(character: Character, motion: Motion | None = None) -> Shape:
    """The shape over a motion; without offsets and scales in the motion, the constant rest shape."""
    offsets = character.offsets if motion is None or motion.offsets is None else motion.offsets
    scales = None if motion is None else motion.scales
    links, positions = character.points.link, character.points.position
    if scales is None:
        return Shape(offsets, spatial_inertia(character.masses, character.coms, character.inertias), positions)
    # the second moment matrix P = tr(I)/2 - I of a body scaled by s becomes s P s; its mass stays
    trace = np.trace(character.inertias, axis1=1, axis2=2)[:, None, None]
    second = 0.5 * trace * np.eye(3) - character.inertias
    scaled = scales[..., :, None] * second * scales[..., None, :]
    inertia = np.trace(scaled, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - scaled
    return Shape(offsets, spatial_inertia(character.masses, scales * character.coms, inertia),
                 scales[..., links, :] * positions)
