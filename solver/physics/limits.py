"""Joint limits as stops: boxes on rotation vectors, approached ever more slowly instead of being hit.

    d/dt (b . r) = b . Jr^-1(r) w  <=  RATE (upper - b . r)          b: an axis of the joint's box

and one radial stop |r| <= reach per ball, because the rotation vector flips at pi.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array, Bools, Ints
from ..numerics import rotation
from .impact import Stops
from .tree import Tree

RATE = 18.0        # 1/s: share of the remaining angle that may be used up per second
RETURN = 1.0       # rad/s: how fast a joint that is past its limit is brought back, at most
NEAR = 3.0         # rad/s: stops further away than this speed would reach are left out
FARTHEST = 2.5     # rad, |r| of any ball
HINGE_LIKE = 0.9   # share of a joint's motion about its main axis from which on it counts as a knee
BENT = 0.3         # rad: least bend that shows the axis
STRAIGHT, FOLDED, ASIDE = 0.05, 2.4, 0.15  # rad: beyond the clip's own range; how far a knee folds; off its axis


def bending_limits(tree: Tree, rotations: Array, lower: Array, upper: Array) -> tuple[Array, Array, Array]:
    """(axes (N, 3, 3), lower, upper) with knees and elbows that are balls limited as the hinges they are.

    Where a joint in the middle of a leg or arm bends about one axis throughout the motion (K, N, 4), its box is turned
    to that axis: it bends on as far as a knee does, straightens, and does not bend back or aside."""
    character = tree.character
    axes = np.tile(np.eye(3), (len(character), 1, 1))
    lower, upper = lower.copy(), upper.copy()
    for i in tree.ball_links:
        parent = int(character.parents[i])
        if character.limits_given[i] or character.roles[i] not in ("leg", "arm") or parent < 0 \
                or character.roles[parent] != character.roles[i] or not character.children[i]:
            continue
        r = rotation.log(rotations[:, i])
        values, frame = np.linalg.eigh(r.T @ r)
        main = frame[:, 2]
        along = r @ main
        if along.mean() < 0.0:
            main, along = -main, -along
        if values[2] < HINGE_LIKE * values.sum() or along.max() < BENT or along.min() < -0.3 * along.max():
            continue
        axes[i] = np.stack((main, frame[:, 1], np.cross(main, frame[:, 1])))
        a = r @ axes[i].T
        low, high = a.min(0), a.max(0)
        lower[i], upper[i] = low - ASIDE, high + ASIDE
        lower[i, 0] = min(low[0] - STRAIGHT, 0.0)
        upper[i, 0] = max(high[0] + STRAIGHT, FOLDED)
    return axes, lower, upper


class JointLimits:
    """The stops of a character, told from its pose; everything that can be is computed once."""

    def __init__(self, tree: Tree, lower: Array, upper: Array, axes: Array | None = None,
                 reach: Array | None = None) -> None:
        """Boxes lower .. upper (N, 3) along `axes` (N, 3, 3) (rows; link axes where None), and |r| <= reach (N,)."""
        self._tree = tree
        balls = tree.ball_links[tree.ball_links > 0]
        self._balls: Ints = balls
        self._ball_dofs = tree.ball_dofs[tree.ball_links > 0]
        self._axes = np.tile(np.eye(3), (len(balls), 1, 1)) if axes is None else axes[balls]
        self._lower, self._upper = lower[balls], upper[balls]
        self._reach = np.full(len(balls), FARTHEST) if reach is None else reach[balls]
        hinges = tree.hinge_links
        self._hinges, self._hinge_dofs = hinges, tree.hinge_dofs
        self._hinge_axes = tree.character.axes[hinges]
        self._hinge_lower, self._hinge_upper = lower[hinges, 0], upper[hinges, 0]
        self._hinge_rows = np.zeros((2 * len(hinges), 3))
        self._hinge_rows[:len(hinges), 0], self._hinge_rows[len(hinges):, 0] = -1.0, 1.0
        three = self._ball_dofs[:, None] + np.arange(3)
        one = np.repeat(self._hinge_dofs[:, None], 3, axis=1)
        box = np.repeat(three, 3, axis=0)
        self._columns: Ints = np.concatenate((box, box, three, one, one))

    def excess(self, rotations: Array) -> float:
        """rad by which the worst joint is past its limit; 0 within."""
        a = (self._axes @ rotation.log(rotations[self._balls])[..., None])[..., 0]
        h = rotation.twist_angle(rotations[self._hinges], self._hinge_axes)
        parts = (self._lower - a, a - self._upper, self._hinge_lower - h, h - self._hinge_upper)
        return max(0.0, *(float(part.max(initial=0.0)) for part in parts))

    def kept(self, rotations: Array) -> Array:
        """The nearest poses (..., N, 4) within the boxes; joints that are within them stay as they are, bit for bit."""
        out = rotations.copy()
        r = rotation.log(rotations[..., self._balls, :])
        a = (self._axes @ r[..., None])[..., 0]
        inside = np.clip(a, self._lower, self._upper)
        past = (inside != a).any(-1)[..., None]
        back = rotation.exp((self._axes.swapaxes(-1, -2) @ inside[..., None])[..., 0])
        out[..., self._balls, :] = np.where(past, back, rotations[..., self._balls, :])
        h = rotation.twist_angle(rotations[..., self._hinges, :], self._hinge_axes)
        inside = np.clip(h, self._hinge_lower, self._hinge_upper)
        back = rotation.exp(inside[..., None] * self._hinge_axes)
        out[..., self._hinges, :] = np.where((inside != h)[..., None], back, rotations[..., self._hinges, :])
        return out

    def __len__(self) -> int:
        """How many stops there are, near or not."""
        return 7 * len(self._balls) + 2 * len(self._hinges)

    def at(self, rotations: Array, dt: float) -> StopTable:
        """All stops of a pose, for a step of dt."""
        r = rotation.log(rotations.take(self._balls, axis=0))
        slope = self._axes @ rotation.inverse_right_jacobian(r)                 # (B, 3, 3)
        a = (self._axes @ r[..., None])[..., 0]
        size = np.sqrt((r * r).sum(1))
        out = r / np.maximum(size, 1e-9)[:, None]
        h = rotation.twist_angle(rotations.take(self._hinges, axis=0), self._hinge_axes)
        left = np.concatenate(((self._upper - a).ravel(), (a - self._lower).ravel(), self._reach - size,
                               self._hinge_upper - h, h - self._hinge_lower))
        flat = slope.reshape(-1, 3)
        rows = np.concatenate((-flat, flat, -out, self._hinge_rows))
        return StopTable(self._tree.nv, np.minimum(-min(RATE, 0.9 / dt) * left, RETURN), rows, self._columns)


@dataclass(frozen=True, eq=False)
class StopTable:
    """Every stop of one pose: rows . v >= floor, three entries of each row."""

    nv: int
    floor: Array     # (n,)
    rows: Array      # (n, 3)
    columns: Ints    # (n, 3) degrees of freedom of the entries; a hinge's two last entries are zero

    def slack(self, v: Array) -> Array:
        """(n,) rad/s by which a velocity keeps off each stop; negative: it runs into it."""
        return np.asarray((self.rows * v[self.columns]).sum(1) - self.floor)

    def near(self, v: Array) -> Bools:
        """(n,) which stops matter for velocities about v: those it would reach in twice the time, and a few more."""
        coming = np.maximum(-(self.rows * v[self.columns]).sum(1), 0.0)
        return -self.floor < 2.0 * coming + NEAR

    def stops(self, which: Ints, start: Array, body: int = 0) -> Stops:
        """Rows of some of them; `start` (n,) are impulses to begin from, of all."""
        J = np.zeros((len(which), self.nv))
        at = np.arange(len(which))
        for n in range(3):
            J[at, self.columns[which, n]] += self.rows[which, n]
        return Stops(body, J, self.floor[which], start[which])
