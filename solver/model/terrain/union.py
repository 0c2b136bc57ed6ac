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
        return self._nearest([terrain.probe(points, time) for terrain in self.terrains])[0]

    def probe_over(self, points: Array, times: Array) -> Probe:
        return self._nearest([terrain.probe_over(points, times) for terrain in self.terrains])[0]

    def cast(self, points: Array, up: Array, time: float, below: Array | float = np.inf) -> Heights:
        return self._highest([terrain.cast(points, up, time, below) for terrain in self.terrains])

    def height_over(self, xy: Array, times: Array, below: Array | float = np.inf) -> Heights:
        return self._highest([terrain.height_over(xy, times, below) for terrain in self.terrains])

    def carry_over(self, points: Array, start: float, ends: Array) -> Array:
        _, nearest = self._nearest([terrain.probe(points, start) for terrain in self.terrains])
        carried = [terrain.carry_over(points, start, ends) for terrain in self.terrains]
        return _picked(np.array(carried), np.tile(nearest, (len(ends), 1)))

    @staticmethod
    def _highest(seen: list[Heights]) -> Heights:
        z = np.array([each.z for each in seen])
        highest = np.argmax(z, axis=0)
        return Heights(_picked(z, highest), _picked(np.array([each.normal for each in seen]), highest),
                       _picked(np.array([each.friction for each in seen]), highest))

    @staticmethod
    def _nearest(seen: list[Probe]) -> tuple[Probe, Ints]:
        """What all of them say together, and which terrain said it."""
        distance = np.array([each.distance for each in seen])
        nearest = np.argmin(distance, axis=0)
        return Probe(_picked(distance, nearest), _picked(np.array([each.normal for each in seen]), nearest),
                     _picked(np.array([each.velocity for each in seen]), nearest),
                     _picked(np.array([each.friction for each in seen]), nearest)), nearest


def _picked(each: Array, which: Ints) -> Array:
    """From (n, ..., 3) or (n, ...), at every place of which (...) the one it names."""
    index = which[None] if each.ndim == which.ndim + 1 else which[None, ..., None]
    return np.asarray(np.take_along_axis(each, index, axis=0)[0])
