"""The motion nearest to a given one that keeps its promises, all frames at once: points at their places, nothing in the
ground, no joint too fast.

Gauss-Newton on the rotation group with multipliers (augmented Lagrangian), over the displacements d (F, nv):

    min   sum_kj s_j (d_kj^2 + T^4 d''_kj^2) + sum_rows w |row(d) - wanted + multiplier|^2

Frames hang together by second differences only, so the system is banded and the work grows with the length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import ndimage
from scipy.linalg import solveh_banded

from ..model.arrays import Array, Bools, Ints
from ..model.motion import Motion
from ..numerics import rotation
from .kinematics import Pose, forward, motion_axes, place
from .shape import Shape
from .tree import Tree

ROUNDS, INNER = 20, 4
NEARBY, CHANGED = 0.3, 1e-3   # m: points this near to the ground are watched, and by so little they may fall into it
DONE, ENOUGH = 3e-4, 1e-3  # m: nothing is missed by more; nor so much, if three rounds have brought nothing ...
CALMED = 0.9               # ... but so little
SWAYS, HALF = 4, 0.5       # rounds that have not brought it nearer; share of a step that is taken then
TRUST = 0.3            # rad, m a round
FIXED = 1e3            # m2/rad2: what keeps frames that may not change
FAST = 1.0             # m2/rad2: how much too fast a turn from frame to frame counts
BENT = 0.3             # m2/rad2: the same for a hinge beyond its limits
MOST = 0.5             # m, rad: multipliers that grow further ask for what cannot be


@dataclass(frozen=True, eq=False)
class Promises:
    """What the motion is to keep."""

    links: Ints              # (P,) points, fixed in their links ...
    local: Array             # (P, 3) or (F, P, 3)
    targets: Array           # (F, P, 3) ... to be here ...
    weights: Array           # (F, P) ... where this is not zero,
    distances: Callable[[Array], tuple[Array, Array]]  # (F, P, 3) -> how far from the ground (F, P), and where from
    floor: Array             # (F, P) at least so far from it (-inf: whatever)
    fastest: float           # rad a frame
    lower: Array             # (N,) rad, of hinges
    upper: Array             # (N,)


def settle(tree: Tree, shape: Shape, motion: Motion, promises: Promises, stiffness: Array, calm: float,
           fixed: Bools) -> Motion:
    """`stiffness` (nv,) m2/rad2 says how unwilling each freedom is to change, `calm` (frames) how smoothly it changes;
    `fixed` (F,) frames do not."""
    positions, rotations = motion.positions.copy(), motion.rotations.copy()
    frames, nv = len(motion), tree.nv
    hinges = tree.hinge_links
    d, whole = np.zeros((frames, nv)), np.zeros(frames, dtype=bool)
    pulled = np.zeros(promises.targets.shape)
    pushed, slowed = np.zeros(promises.floor.shape), np.zeros((frames - 1, tree.count))
    opened, closed = np.zeros((2, frames, len(hinges)))
    is_wanted = promises.weights > 0.0
    missed: list[float] = []
    best = positions.copy(), rotations
    for _ in range(ROUNDS):
        pose = forward(tree, shape.offsets, positions, rotations)
        x = place(pose, promises.links, promises.local)
        error = np.where(is_wanted[..., None], promises.targets - x, 0.0)
        distance, normal = promises.distances(x)
        short = promises.floor - distance
        turns = rotation.subtract(rotations[1:], rotations[:-1])
        size = np.linalg.norm(turns, axis=-1)
        over = np.where(np.arange(tree.count) > 0, size - promises.fastest, -np.inf)
        angle = rotation.twist_angle(rotations[:, hinges], tree.character.axes[hinges])
        wide, tight = angle - promises.upper[hinges], promises.lower[hinges] - angle
        missed.append(max(float(np.abs(error).max(initial=0.0)), float(short.max(initial=0.0)),
                          float(over.max(initial=0.0))))
        if missed[-1] <= min(missed):
            best = positions.copy(), rotations
        if missed[-1] < DONE or (len(missed) > 3 and CALMED * missed[-4] < missed[-1] < ENOUGH):
            break
        # a row that has been stepped for in full and is still missed asks for more
        pulled[whole] = np.clip(pulled[whole] + error[whole], -MOST, MOST)
        pushed[whole] = np.clip(pushed[whole] + short[whole], 0.0, MOST)
        slowed[whole[1:]] = np.clip(slowed[whole[1:]] + over[whole[1:]], 0.0, MOST)
        opened[whole], closed[whole] = (np.clip(row[whole] + beyond[whole], 0.0, MOST)
                                        for row, beyond in ((opened, wide), (closed, tight)))
        H, g = np.zeros((frames, nv, nv)), np.zeros((frames, nv))
        S = motion_axes(tree, pose)
        _pull(tree, pose, S, promises, x, error + pulled, H, g)
        for row, beyond, sign in ((opened, wide, -1.0), (closed, tight, 1.0)):
            bent = np.maximum(row + beyond, 0.0)
            H[:, tree.hinge_dofs, tree.hinge_dofs] += BENT * (bent > 0.0)
            g[:, tree.hinge_dofs] += BENT * sign * bent
        rows = _rows(tree, pose, S, promises.links, x, normal, short, pushed)
        active = rows.beyond > 0.0
        for _ in range(INNER):                       # who leaves the ground, and who would fall into it
            band, right = _band(rows, active, H, fixed, stiffness, calm, d, g)
            _slow(tree, turns, size, np.maximum(over + slowed, 0.0), band, right)
            step = solveh_banded(band.reshape(len(band), -1), right.ravel(), overwrite_ab=True, check_finite=False)
            step = step.reshape(frames, nv)
            left = rows.beyond - (rows.J * step[rows.frame]).sum(1)
            if (np.abs(left[(left > 0.0) != active]) < CHANGED).all():
                break
            active = left > 0.0
        share, whole = _trusted(step, calm)
        if len(missed) > SWAYS and missed[-1] > CALMED * min(missed[:-SWAYS]):
            share = HALF * share                     # it goes to and fro: half-way is better
        d += share * step
        positions += share * step[:, :3]
        rotations = rotation.add(rotations, (share * step @ tree.expand.T).reshape(frames, -1, 3))
    return motion.with_poses(*best)


def _trusted(step: Array, calm: float) -> tuple[Array, Bools]:
    """(F, 1) how much of a step is taken, smooth in time, and (F,) where it is all of it."""
    share = np.minimum(1.0, TRUST / np.maximum(np.abs(step).max(1), 1e-9))
    if share.min() == 1.0:
        return share[:, None], np.ones(len(step), dtype=bool)
    near = ndimage.minimum_filter1d(share, 2 * int(2.0 * calm) + 1, mode="nearest")
    near = ndimage.gaussian_filter1d(near, 0.5 * calm, mode="nearest")
    return near[:, None], near > 0.99


def _pull(tree: Tree, pose: Pose, S: Array, promises: Promises, x: Array, error: Array, H: Array, g: Array) -> None:
    """Rows of points that are to be somewhere."""
    used = np.flatnonzero(promises.weights.any(0))
    if not len(used):
        return
    arm = x[:, used] - pose.position[:, None]
    K = np.concatenate((-rotation.skew(arm), np.broadcast_to(np.eye(3), arm.shape + (3,))), axis=-1)
    J = K.reshape(len(x), -1, 6) @ S.swapaxes(-1, -2)
    J = (J.reshape(len(x), len(used), 3, -1) * tree.moves[promises.links[used]][:, None]).reshape(J.shape)
    w = np.repeat(promises.weights[:, used], 3, axis=-1)
    JW = (J * w[..., None]).swapaxes(-1, -2)
    H += JW @ J
    g += (JW @ error[:, used].reshape(len(x), -1, 1))[..., 0]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Points that are in the ground or near it, in the order of frames."""

    frame: Ints      # (M,)
    J: Array         # (M, nv) how fast each leaves it
    beyond: Array    # (M,) m, how far it is in it, with its multiplier


def _rows(tree: Tree, pose: Pose, S: Array, links: Ints, x: Array, normal: Array, short: Array,
          pushed: Array) -> _Rows:
    frame, point = np.nonzero(short + pushed > -NEARBY)
    arm, n = x[frame, point] - pose.position[frame], normal[frame, point]
    wrench = np.concatenate((rotation.cross(arm, n), n), axis=-1)
    J = (S[frame] @ wrench[..., None])[..., 0] * tree.moves[links[point]]
    return _Rows(frame, J, (short + pushed)[frame, point])


def _band(rows: _Rows, active: Bools, H: Array, fixed: Bools, stiffness: Array, calm: float, d: Array,
          g: Array) -> tuple[Array, Array]:
    """(2 nv + 1, F, nv) the system in upper banded form with the active rows, and its right side (F, nv)."""
    frames, nv = d.shape
    H, g = H.copy(), g.copy()
    frame, J, beyond = rows.frame[active], rows.J[active], rows.beyond[active]
    starts = np.searchsorted(frame, np.arange(frames + 1))
    for k in np.unique(frame):
        own = J[starts[k]:starts[k + 1]]
        H[k] += own.T @ own
        g[k] += own.T @ beyond[starts[k]:starts[k + 1]]
    wide = 2 * nv
    band = np.zeros((wide + 1, frames, nv))
    for n in range(nv):
        band[wide - n, :, n:] = H[:, np.arange(nv - n), np.arange(n, nv)]
    stay = stiffness + FIXED * fixed[:, None]
    band[wide] += stay
    g -= stay * d
    bend = stiffness * calm ** 4
    second = bend * (d[2:] - 2.0 * d[1:-1] + d[:-2])
    for n, factor in enumerate((1.0, -2.0, 1.0)):
        g[n:frames - 2 + n] -= factor * second
        band[wide, n:frames - 2 + n] += factor * factor * bend
    band[wide - nv, 1:-1] -= 2.0 * bend
    band[wide - nv, 2:] -= 2.0 * bend
    band[0, 2:] += bend
    return band, g


def _slow(tree: Tree, turns: Array, size: Array, over: Array, band: Array, g: Array) -> None:
    """Rows of joints that are too fast:  |turn| + u . (d_after - d_before) <= fastest."""
    nv, wide = g.shape[1], len(band) - 1
    for k, link in zip(*np.nonzero(over), strict=True):
        dofs = np.flatnonzero(tree.own[link])
        u = tree.dof_axis[dofs] @ (turns[k, link] / size[k, link])
        g[k, dofs] += FAST * over[k, link] * u
        g[k + 1, dofs] -= FAST * over[k, link] * u
        for i, a in zip(dofs, u, strict=True):
            for j, b in zip(dofs, u, strict=True):
                if j >= i:
                    band[wide - (j - i), (k, k + 1), j] += FAST * a * b
                band[wide - (nv + j - i), k + 1, j] -= FAST * a * b
