"""The course: what tracking aims at. The keys, with the lean that carrying takes (leaning.py)."""

from __future__ import annotations

from dataclasses import dataclass

from ...model.arrays import Array


@dataclass(frozen=True, eq=False)
class Course:
    """Poses, with velocities and accelerations by the integrator's own differences."""

    positions: Array     # (K + 1, 3)
    rotations: Array     # (K + 1, N, 4)
    v: Array             # (K + 1, nv)
    a: Array             # (K, nv)
    coms: Array          # (K, 3) at least; with loads
    zmps: Array | None   # (K, 3) with loads, nan where nothing presses; None: the keys' own
