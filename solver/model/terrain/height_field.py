"""Heights on a regular grid."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...errors import InputError
from ..arrays import Array, frozen_array
from .base import FRICTION, Heights, Probe, Terrain
from .mesh import TriangleMesh


@dataclass(frozen=True, eq=False)
class HeightField(Terrain):
    """Ground over the rectangle of places  origin + spacing (i, j),  z = origin_z + heights[i, j].

    Each cell is two triangles that meet between (i, j) and (i + 1, j + 1). Beyond the border there is no ground.
    """

    origin: Array               # (3,)
    spacing: Array | float      # m between neighbours, one number or (2,)
    heights: Array              # (nx, ny) m
    friction: float = FRICTION
    _mesh: TriangleMesh = field(init=False, repr=False)

    def __post_init__(self) -> None:
        where = "Height field"
        object.__setattr__(self, "origin", frozen_array(self.origin, (3,), "The origin", where))
        heights = frozen_array(self.heights, (None, None), "The table of heights", where)
        spacing = frozen_array(np.broadcast_to(self.spacing, 2) if np.ndim(self.spacing) == 0 else self.spacing, (2,),
                               "The spacing", where)
        if min(heights.shape) < 2 or not (spacing > 0.0).all():
            raise InputError(f"{heights.shape[0]} x {heights.shape[1]} heights {spacing} m apart make no ground.",
                             where, "Use at least 2 x 2 heights and a spacing above zero.")
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "spacing", spacing)
        i, j = np.indices(heights.shape)
        vertices = self.origin + np.stack((spacing[0] * i, spacing[1] * j, heights), axis=-1).reshape(-1, 3)
        number = np.arange(heights.size).reshape(heights.shape)
        a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
        faces = np.stack((np.stack((a, b, c), -1), np.stack((a, c, d), -1)), axis=-2).reshape(-1, 3)
        object.__setattr__(self, "_mesh", TriangleMesh(vertices, faces, self.friction))

    def probe(self, points: Array, time: float) -> Probe:
        return self._mesh.probe(points, time)

    def cast(self, points: Array, up: Array, time: float, below: Array | float = np.inf) -> Heights:
        return self._mesh.cast(points, up, time, below)
