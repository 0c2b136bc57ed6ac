"""Several grounds at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ..arrays import Array, Ints
from .base import Heights, Probe, Terrain


@dataclass(frozen=True, eq=False)
class Union(Terrain):
    """All of the terrains: at each point the nearest (least distance), and for planners the highest.

    Grounds at rest that are made of triangles are better joined in one mesh: it knows which of its faces are buried
    in another part, and one query is faster than two. An open mesh that has other ground beneath it, such as a floor
    of no thickness over another, should not be bottomless here.
    """

    terrains: tuple[Terrain, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terrains", tuple(self.terrains))
        if not self.terrains:
            raise InputError("There is nothing to stand on.", "Ground", "Add at least one ground.")

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(note for terrain in self.terrains for note in terrain.notes)

    @property
    def is_still(self) -> bool:
        return all(terrain.is_still for terrain in self.terrains)

    def probe(self, points: Array, time: float) -> Probe:
        return self._probe(points, time)[0]

    def cast(self, points: Array, up: Array, time: float, below: Array | float = np.inf) -> Heights:
        seen = [terrain.cast(points, up, time, below) for terrain in self.terrains]
        highest, every = np.argmax([each.z for each in seen], axis=0), np.arange(len(points))
        return Heights(np.array([each.z for each in seen])[highest, every],
                       np.array([each.normal for each in seen])[highest, every],
                       np.array([each.friction for each in seen])[highest, every])

    def carry(self, points: Array, start: float, end: float) -> Array:
        _, nearest = self._probe(points, start)
        carried = np.array([terrain.carry(points, start, end) for terrain in self.terrains])
        return np.asarray(carried[nearest, np.arange(len(points))])

    def _probe(self, points: Array, time: float) -> tuple[Probe, Ints]:
        """What `probe` answers, and which terrain said it."""
        seen = [terrain.probe(points, time) for terrain in self.terrains]
        nearest, every = np.argmin([each.distance for each in seen], axis=0), np.arange(len(points))
        return Probe(np.array([each.distance for each in seen])[nearest, every],
                     np.array([each.normal for each in seen])[nearest, every],
                     np.array([each.velocity for each in seen])[nearest, every],
                     np.array([each.friction for each in seen])[nearest, every]), nearest
