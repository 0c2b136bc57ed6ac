"""Joint limits as stops that accelerations feel before the step is taken."""

from __future__ import annotations

import numpy as np

from ...model.arrays import Array, Bools, Ints
from ...model.state import State
from ...numerics import rotation
from ...physics.limits import JointLimits
from ...references.clip import Clip
from .comfort import Stop
from .parts import Parts

BACK_ROOM, ARM_ROOM = 1.2, 0.7   # rad a back as a whole, and an arm, may leave the range they have in the keys
GENTLE = 0.35          # of how sharply `physics.limits` brakes a falling body's joints
AT_STOP = 1e-6         # rad/s
FAR = 30.0             # rad/s: stops that only a faster joint would reach are left out


class Stops:
    """The stops of a character that follows a clip."""

    def __init__(self, clip: Clip, parts: Parts, Q: Array, legs: Bools) -> None:
        """Limits as the clip has them, with more room for a back and arms that have to help."""
        self._clip, self._tree, self._Q, self._legs = clip, clip.tree, Q, legs
        character = clip.character
        lower, upper = clip.lower.copy(), clip.upper.copy()
        angles = rotation.log(clip.rotations)
        arms = [i for i in parts.swings if character.roles[i] == "arm"]
        for links, room in ((parts.back, BACK_ROOM / max(len(parts.back), 1)), (tuple(arms), ARM_ROOM)):
            for i in links:
                if not character.limits_given[i] and character.joints[i] == "ball" and np.abs(angles[:, i]).max() < 2.3:
                    lower[i], upper[i] = angles[:, i].min(0) - room, angles[:, i].max(0) + room
        widest = np.linalg.norm(angles, axis=-1).max(0)
        self._limits = JointLimits(clip.tree, lower, upper, reach=np.maximum(widest + 0.1, 2.5))

    def _near(self, k: int, state: State, dt: float) -> tuple[Array, Ints, Array]:
        """(rows (n, 3), columns (n, 3), floor (n,)) of rows . v >= floor; what the keys themselves do is admitted."""
        table = self._limits.at(state.rotations, dt)
        own = (table.rows * self._clip.v[k + 1][table.columns]).sum(1)
        floor = np.minimum(np.where(table.floor < 0.0, GENTLE * table.floor, table.floor), own)
        free = np.flatnonzero(~self._legs[table.columns[:, 0]] & (floor > -FAR))
        return table.rows[free], table.columns[free], floor[free]

    def for_blow(self, k: int, state: State, dt: float) -> tuple[Array, Array]:
        """(rows (n, nv), floor (n,)) of the stops that a blow can drive joints into: none runs into one already."""
        rows, columns, floor = self._near(k, state, dt)
        full = np.zeros((len(rows), self._tree.nv))
        for n in range(3):
            full[np.arange(len(rows)), columns[:, n]] += rows[:, n]
        return full, np.minimum(floor, full @ state.velocity)

    def at(self, k: int, state: State, v: Array, dt: float) -> Stop:
        """Bounds outward speed near a joint's limit; a hard clamp after the step would be a force that balance never
        saw. Works on anatomical accelerations; also says who was stopped."""
        rows, columns, floor = self._near(k, state, dt)
        Q = self._Q
        size = np.maximum((rows * rows).sum(1), 1e-12)
        links = self._tree.dof_link[columns[:, 0]]

        def stop(a: Array) -> tuple[Array, Bools]:
            stopped = np.zeros(len(self._clip.character), dtype=bool)
            after = v + dt * (a @ Q)
            short = floor - (rows * after[columns]).sum(1)
            stopped[links[short > -AT_STOP]] = True
            hit = np.flatnonzero(short > 0.0)
            if not len(hit):
                return a, stopped[self._tree.dof_link]
            for n in hit:
                missing = float(floor[n] - rows[n] @ after[columns[n]])
                if missing > 0.0:
                    np.add.at(after, columns[n], rows[n] * (missing / size[n]))
            return np.asarray(Q @ ((after - v) / dt)), stopped[self._tree.dof_link]

        return stop
