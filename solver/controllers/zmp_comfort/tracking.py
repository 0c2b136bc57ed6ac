"""Following the keys by Ferguson curves in the space of accelerations ([Oshita2001] 4.1), usable alone.

The curve from the present state to a state T ahead starts with the acceleration (eq. 5, repaired: its last basis is
s^3 - s^2, and tangents scale with T)

    a = 6 (x_t - x) / T^2 - (4 v + 2 v_t) / T

T reaches to the next moment at which the joint turns round (least speed; one T for all axes of a joint, or the way
back would bend), and is at least SHORTEST and 4 dt: below 2.58 dt the step itself would be unstable.

Changed against the paper: between sparse extrema such a cubic is not the reference (0.4 rad off on a curve of
0.8 rad), so near the keys the same curve is laid through the *error* and the reference's own acceleration is added,

    a = a* - (6 / T^2) e - (4 / T) e' ,      e = Log(R*^T R) ,   e' = Jr^-1(e) (w - R^T R* w*)

the same thing where the reference is a cubic, and exact where nothing disturbs. A joint that is far from its keys
(ASTRAY) makes straight for where they will be T ahead, by the literal curve: an arm that hangs under a load must not
go through the swing of its keys somewhere else.

    a = 6 r / T^2 - (4 w + 2 Jr^-1(r) w_t) / T ,      r = Log(R^T R_t)
"""

from __future__ import annotations

import numpy as np

from ...model.arrays import Array
from ...numerics import rotation
from ...physics.kinematics import tangent
from ...references.clip import Clip
from .course import Course

NEAREST = 4.0    # steps
ASTRAY = 0.35    # rad
NEARLY = 1e-3    # of that: nearer, the two curves are the same
SHORTEST = 0.35  # s: stiffer than this a heavy trunk asks for more than any back has


class Tracking:
    """Accelerations that lead back to the reference."""

    def __init__(self, clip: Clip, course: Course, longest: float) -> None:
        self._clip, self._course, self._longest = clip, course, longest
        tree = self._tree = clip.tree
        speed = np.linalg.norm((clip.v @ tree.expand.T).reshape(len(clip.v), -1, 3), axis=-1)   # (K + 1, N)
        travel = np.linalg.norm(clip.v[:, :3], axis=-1, keepdims=True)
        self._ahead = time_to_turn(clip.times, np.concatenate((travel, speed), axis=1),
                                   max(SHORTEST, NEAREST * float(clip.dt.max())), longest)      # (K, 1 + N)

    def accelerations(self, k: int, position: Array, rotations: Array, v: Array, place: Array, turn: Array,
                      v_ref: Array, pull: Array) -> Array:
        """(nv,) at sub-step k; `place`, `turn` and `v_ref` (nv,) say where the reference's root is now, `pull` (N,)
        how much of its error each joint answers to (speed it always does)."""
        course, tree = self._course, self._tree
        T = self._ahead[k]
        target = course.rotations[k].copy()
        target[0] = turn
        e = rotation.subtract(rotations, target)                                # (N, 3)
        Q = rotation.matrix(rotation.exp(-e))                                   # R^T R*
        w, w_ref = tree.turns(v), tree.turns(v_ref)
        # the reference's rates at k and k + 1 as the integrator has them: a* by the same differences
        alpha = tree.turns(course.a[k])
        rate = (rotation.inverse_right_jacobian(e) @ (w - (Q @ w_ref[..., None])[..., 0])[..., None])[..., 0]
        turning = (Q @ alpha[..., None])[..., 0] - (6.0 * pull / T[1:] ** 2)[:, None] * e - (4.0 / T[1:, None]) * rate
        size = np.sqrt((e * e).sum(1))
        share = np.minimum(size / ASTRAY, 1.0)
        share[0] = 0.0
        if share.max() > NEARLY:
            share = share * share * (3.0 - 2.0 * share)
            turning += share[:, None] * (self._straight(k, rotations, w, pull) - turning)
        linear = course.a[k, :3] - 6.0 / T[0] ** 2 * (position - place) - 4.0 / T[0] * (v[:3] - v_ref[:3])
        return tangent(tree, turning, linear)

    def _straight(self, k: int, rotations: Array, w: Array, pull: Array) -> Array:
        """(N, 3) the literal eq. 5 to the reference's state `longest` ahead; where the clip ends, to its last pose."""
        clip, T = self._clip, self._longest
        ahead = int(np.searchsorted(clip.times, clip.times[k] + T - 1e-9))
        is_over = ahead > clip.steps
        ahead = min(ahead, clip.steps)
        r = rotation.subtract(self._course.rotations[ahead], rotations)
        w_t = np.zeros_like(w) if is_over else self._tree.turns(self._course.v[ahead])
        arriving = (rotation.inverse_right_jacobian(r) @ w_t[..., None])[..., 0]
        return np.asarray((6.0 * pull / T ** 2)[:, None] * r - (4.0 * w + 2.0 * arriving * pull[:, None]) / T)


def time_to_turn(times: Array, speed: Array, shortest: float, longest: float) -> Array:
    """(K, n) s from each time to the next least of `speed` (K, n) that is at least `shortest` away, at most
    `longest`."""
    least = np.zeros(speed.shape, dtype=bool)
    least[1:-1] = (speed[1:-1] <= speed[:-2]) & (speed[1:-1] < speed[2:])
    out = np.full(speed.shape, longest)
    for n in range(speed.shape[1]):
        when = times[least[:, n]]
        at = np.searchsorted(when, times + shortest - 1e-9)
        found = at < len(when)
        out[found, n] = np.minimum(when[at[found]] - times[found], longest)
    return np.maximum(out, min(shortest, longest))


def ferguson(x: Array, v: Array, x_target: Array, v_target: Array, T: float) -> Array:
    """The literal eq. 5, repaired: the first acceleration of the curve to a state T ahead."""
    return np.asarray(6.0 * (x_target - x) / T ** 2 - (4.0 * v + 2.0 * v_target) / T)
