"""Arms, head and back stay above the ground: a hand that sinks under its load comes to rest on the floor.

The paper has no ground but under the feet. Balls under the skin (`physics.skin`) may not reach the ground within a
step; what they would be too fast, the floor takes from the joints above them, whose torques it leaves as they are:

    n . J v >= -RATE gap ,    v = v_free + H_uu^-1 (n . J_u)^T l ,    l >= 0         u: freedoms of the upper body
    gap: to the ground, or to where the keys themselves have the ball if that is deeper

so that what rests on the floor is not carried by muscles. Root and legs go on as they would, and the feet stay the
support area.
"""

from __future__ import annotations

import numpy as np

from ...model.arrays import Array, Bools
from ...model.state import State
from ...physics.blow import Answer, caught
from ...physics.dynamics import Dynamics, point_jacobian
from ...physics.kinematics import forward, place
from ...physics.skin import skin_points
from ...references.clip import Clip

RATE = 40.0      # 1/s: share of the way to the ground that may be used up per second
FAST = 5.0       # leg lengths per second: balls that only faster ones would bring down are left out


class Floor:
    """The ground under the upper body of a character that follows a clip."""

    def __init__(self, clip: Clip, upper: Bools) -> None:
        """`upper` (nv,) are the freedoms that give way."""
        character, tree = clip.character, clip.tree
        self._clip, self._upper = clip, np.flatnonzero(upper)
        skin = skin_points(character)
        moved: Bools = (tree.moves[skin.link][:, upper] > 0.0).any(1) & ~skin.is_sole
        self._link, self._local, self._radius = skin.link[moved], skin.position[moved], skin.radius[moved]
        self._fast = FAST * character.leg_length

    def stopped(self, k: int, dt: float, state: State, v: Array, motion: Dynamics, H: Array) -> tuple[Array, Array]:
        """(velocities (nv,) after the step, N and N m (nv,) that the floor gives), of velocities that know no floor."""
        clip, nothing = self._clip, np.zeros_like(v)
        if not len(self._link):
            return v, nothing
        places = place(motion.pose, self._link, self._local)
        ground = clip.terrain.probe(places, state.time)
        gap, rate = ground.distance - self._radius, min(RATE, 0.9 / dt)
        near = np.flatnonzero(rate * gap < self._fast)
        if not len(near):
            return v, nothing
        keys = forward(clip.tree, clip.shape.at(k).offsets, clip.positions[k], clip.rotations[k])
        own = clip.terrain.probe(place(keys, self._link[near], self._local[near]), state.time).distance
        gap = gap[near] - np.minimum(own - self._radius[near], 0.0)
        J = point_jacobian(clip.tree, motion, self._link[near], places[near])
        rows = (ground.normal[near][:, None, :] @ J)[:, 0]
        floor = np.minimum(-rate * gap, rows @ clip.v[k + 1])     # what the keys do is admitted
        missing = floor - rows @ v
        if (missing <= 0.0).all():
            return v, nothing
        W = np.zeros_like(H)
        W[np.ix_(self._upper, self._upper)] = np.linalg.inv(H[np.ix_(self._upper, self._upper)])
        after = caught(Answer(W, np.zeros((0, len(v)))), v, rows, floor)
        taken = H[np.ix_(self._upper, self._upper)] @ (after - v)[self._upper] / dt     # J_u^T n l / dt
        return after, rows.T @ np.linalg.lstsq(rows[:, self._upper].T, taken, rcond=None)[0]
