"""Where the character is and how it moves at one instant."""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import Array


@dataclass(frozen=True, eq=False)
class State:
    time: float
    position: Array    # (3,) root joint in the world
    rotations: Array   # (N, 4)
    velocity: Array    # (nv,) root linear (world axes), then joint rates (child axes)
