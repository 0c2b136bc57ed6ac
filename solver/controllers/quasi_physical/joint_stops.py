"""Joint limits as rows on accelerations: a joint brakes on its way to its limit, as in a fall, and does not pass it.

    s r' <= s r + min(1, RATE dt) (limit - s r) ,    r' = r + Jr^-1(r) dt (v + dt (a* + d))        s: the side, +1 or -1

The reference's own next angle is always admitted, and so is its speed, up to the limit itself: where keys hurry, a body
a little ahead of them would otherwise be stopped far from its limit, fall behind, and swing ever farther. A joint that
is past its limit comes back as calmly.
"""

from __future__ import annotations

import numpy as np

from ...model.arrays import Array, Ints
from ...model.state import State
from ...numerics import rotation
from ...physics.limits import RATE
from ...references.clip import Clip

NEARLY = 0.1    # rad: joints this near to a limit get a row, and those that a speed will bring there
_ONES = np.ones(3)


class JointStops:
    """One row per limited angle and side; hinges have one angle, balls three."""

    def __init__(self, clip: Clip) -> None:
        self._clip = clip
        character, tree = clip.character, clip.tree
        sides = [(link, n, sign, sign * bound[link, n])
                 for link in range(len(character)) for n in range(1 if character.joints[link] == "hinge" else 3)
                 if min(clip.upper[link, n], -clip.lower[link, n]) < np.pi  # else it goes all the way round
                 for sign, bound in ((1.0, clip.upper), (-1.0, clip.lower)) if np.isfinite(bound[link, n])]
        self._links = np.array([link for link, *_ in sides], dtype=np.intp)
        self._sign = np.array([sign for _, _, sign, _ in sides])
        self._limit = np.array([limit for *_, limit in sides])
        self._is_hinge = np.array([character.joints[link] == "hinge" for link in self._links], dtype=bool)
        # the angle's axis times the side: of a hinge its own, of a ball one of those of its rotation vector
        self._axis = np.array([sign * (character.axes[link] if character.joints[link] == "hinge" else np.eye(3)[n])
                               for link, n, sign, _ in sides]).reshape(-1, 3)
        self._names = [-1 - (6 * link + 2 * n + (sign > 0.0)) for link, n, sign, _ in sides]
        self._expand = tree.expand.reshape(tree.count, 3, tree.nv)

    def __len__(self) -> int:
        return len(self._links)

    def rows(self, k: int, dt: float, state: State, a: Array) -> tuple[Array, Array, list[int]]:
        """(rows, bounds, names) of C d <= u for joints near their limits, or soon there."""
        tree, clip = self._clip.tree, self._clip
        r = rotation.log(state.rotations).take(self._links, axis=0)
        turn = dt * tree.turns(state.velocity + dt * a).take(self._links, axis=0)
        angle = (self._axis * r) @ _ONES
        room = self._limit - angle
        share = min(1.0, RATE * dt)
        left = room - (self._axis * turn) @ _ONES
        near = (left < np.maximum((1.0 - share) * room + share * NEARLY, NEARLY)).nonzero()[0]
        if not len(near):
            return np.zeros((0, tree.nv)), np.zeros(0), []
        links, axis, room, angle = self._links[near], self._axis[near], room[near], angle[near]
        keys = rotation.log(clip.rotations[k].take(links, axis=0))
        slope = self._slopes(near, axis, r[near])
        coming: Array = angle + (slope * turn[near]) @ _ONES
        key_turn = dt * tree.turns(clip.v[k + 1]).take(links, axis=0)
        key_step = (self._slopes(near, axis, keys) * key_turn) @ _ONES
        key = (axis * keys) @ _ONES + key_step
        stop = angle + np.maximum(share * room, np.minimum(room, key_step))
        bounds = (np.maximum(stop, key) - coming) / (dt * dt)
        slopes: Array = (slope[:, None] @ self._expand.take(links, axis=0))[:, 0]
        return slopes, bounds, [self._names[n] for n in near]

    def _slopes(self, near: Ints, axis: Array, r: Array) -> Array:
        """(n, 3) change of the angles per turn in the link's own axes."""
        is_ball = ~self._is_hinge[near]
        if not is_ball.any():
            return axis
        slopes = axis.copy()
        slopes[is_ball] = (axis[is_ball, None] @ rotation.inverse_right_jacobian(r[is_ball]))[:, 0]
        return slopes
