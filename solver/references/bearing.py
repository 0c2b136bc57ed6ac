"""Where the body goes over its footholds: height, place and lean.

The body goes where its supports go. Who walks upright leans into the slope (forward uphill, a little back downhill,
hips back under the trunk); who goes on four limbs lies along it. The root's height is the smoothest curve near that
which no standing leg is too short or too cramped for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools
from ..model.motion import Motion
from ..numerics import rotation
from ..numerics.bounded_curve import bounded_curve
from ..physics.legs import leg_chain, longest_reach
from ..physics.shape import Shape
from ..physics.trajectory import com_path, point_paths
from ..physics.tree import Tree
from .footholds import Foothold
from .heel_rise import Heel
from .way import Way

STRAIGHT = 0.985          # of its length: as far as a leg stretches by itself
CRAMPED, TIGHT = 0.45, 0.35   # of its length: as far as it folds when it may choose, and when it must
KNEELING = 0.97           # of a thigh: how upright a hip is at least over its knee, if it is so in the keys
SQUEEZE = 0.9             # of that: a swinging leg may fold a little more
CALM = 0.12               # s, smoothing of the body's place
LEAN_CALM = 0.35          # s
NEAR, LOOSE = 0.15, 0.15   # s, leg lengths: so early, and so much too long, a leg may be before it stands
KNOTS = 0.1               # s
UPHILL, DOWNHILL = 0.3, 0.12   # of the slope's angle: how far who walks upright leans into it
SLOW = 0.3                # m/s: who goes slower than this has no slope ahead
PRONE_BASE = 0.10         # leg lengths: the longer, the less who goes on four limbs lies along the slope
ALONG = 0.75               # how far a prone body turns about its feet, against about its own middle
KNEELING_BASE = 0.2       # leg lengths: the same for who only kneels or handstands
SWINGING = 0.5            # how much a swinging foot carries the body, against one for a standing foot
CROUCHES = 0.3            # s before and after hands or knees carry in which legs fold for them


@dataclass(frozen=True, eq=False)
class Reach:
    """How far one limb reaches, per sub-step, and where its hip and its end are."""

    limb: int
    end: int          # its link: foot, paw or hand
    own: Array        # (K,) m, from hip to end in the keys
    longest: Array    # (K,) m
    shortest: Array   # (K,) m, when it may choose
    tightest: Array   # (K,) m, when it must


def reaches(tree: Tree, shape: Shape, keys: Motion, anchors: list[int]) -> list[Reach]:
    """Of all limbs that have a leg or an arm."""
    out = []
    for n, end in enumerate(anchors):
        chain, kind = leg_chain(tree.character, end), tree.character.points.limbs[n].kind
        if kind == "body" or len(chain) < (1 if kind == "knee" else 2):
            continue
        paths = point_paths(tree, shape, keys, np.array([chain[0], end]), np.zeros((2, 3)))
        own = np.linalg.norm(paths[:, 1] - paths[:, 0], axis=1)
        if kind == "knee":                    # a thigh neither stretches nor folds
            out.append(Reach(n, end, own, own, KNEELING * own, 0.0 * own))
            continue
        length = longest_reach(tree, shape, keys, end)
        out.append(Reach(n, end, own, np.maximum(STRAIGHT * length, np.minimum(own, length)),
                         np.minimum(CRAMPED * length, own), np.minimum(TIGHT * length, own)))
    return out


def hip_path(tree: Tree, shape: Shape, motion: Motion, reach: Reach) -> Array:
    """(K, 3)"""
    hip = leg_chain(tree.character, reach.end)[0]
    return point_paths(tree, shape, motion, np.array([hip]), np.zeros((1, 3)))[:, 0]


@dataclass(frozen=True, eq=False)
class Borne:
    """The body over its footholds, limbs as keyed."""

    motion: Motion
    wrong: Array     # (K,) m, how far standing feet miss their footholds, or legs are folded too tightly


def bear(tree: Tree, shape: Shape, base: Motion, way: Way, joints: Array, new: Array, holds: list[Foothold],
         limbs: list[Reach], heels: dict[int, Heel]) -> Borne:
    """Lay the body of `base`, the keys taken along the way, over the footholds; the ends of its limbs (K, L, 3) go
    from where they are keyed (joints) to where they should be (new)."""
    points, times = tree.character.points, base.times
    dt = base.duration / (len(base) - 1)
    calm = max(CALM / dt, 1.0)
    down, bearing = np.zeros((2, len(times), len(points.limbs)))
    moved = np.zeros(joints.shape)
    for hold in holds:
        stance = hold.stance
        down[stance.run, stance.limb] = 1.0
        bearing[stance.run, stance.limb] = stance.bears
        moved[stance.run, stance.limb] = hold.place - _led(way, stance.centre, stance.run)
    for hold in holds:
        _unfinished(hold, moved, bearing[:, hold.stance.limb])
    on_foot: Bools = np.array([limb.kind == "foot" for limb in points.limbs], dtype=bool)
    share = ndimage.gaussian_filter1d(bearing, calm, axis=0, mode="nearest") + 1e-3   # (K, L)
    share = np.where(on_foot, SWINGING + (1.0 - SWINGING) * share, share)             # both feet carry the body along
    arm = joints[..., :2] - base.positions[:, None, :2]
    prone = _prone(bearing, on_foot, calm)
    offset, slope = _plane(arm, _between(times, moved, down), share,
                           (PRONE_BASE if on_foot.sum() > 2 else KNEELING_BASE) * tree.character.leg_length)
    upright_offset = (share[..., None] * _between(times, moved, down)).sum(1) / share.sum(1)[:, None]
    offset = prone[:, None] * offset + (1.0 - prone[:, None]) * upright_offset
    slope = ndimage.gaussian_filter1d(slope, calm, axis=0, mode="nearest") * prone[:, None]
    normal = np.concatenate((-slope, np.ones((len(times), 1))), axis=1)
    lean = rotation.multiply(rotation.between(np.broadcast_to([0.0, 0.0, 1.0], normal.shape), normal),
                             _lean(base, offset[:, 2], dt, 1.0 - prone))
    rotations = base.rotations.copy()
    rotations[:, 0] = rotation.multiply(lean, rotations[:, 0])
    positions = base.positions + ndimage.gaussian_filter1d(offset, calm, axis=0, mode="nearest")
    com = com_path(tree, shape, base) - base.positions
    positions[:, :2] -= ((1.0 - prone)[:, None] * (rotation.rotate(lean, com) - com))[:, :2]
    tall = (base.positions[:, 2:] - _sole_height(joints, share)[:, None]) * np.array([0.0, 0.0, 1.0])
    positions[:, :2] += (ALONG * prone[:, None] * (rotation.rotate(lean, tall) - tall))[:, :2]
    started = base.with_poses(positions, rotations)

    lower, upper = np.full(len(times), -np.inf), np.full(len(times), np.inf)
    ends = {reach.limb: _ends(new[:, reach.limb], heels.get(reach.limb)) for reach in limbs}
    for reach in limbs:
        if not bearing[:, reach.limb].any():
            continue
        hip = hip_path(tree, shape, started, reach)
        apart = ndimage.distance_transform_edt(bearing[:, reach.limb] == 0.0) * dt
        slack = reach.longest * LOOSE * (apart / NEAR) ** 2       # a landing foot comes into reach before it lands
        tops = [_over(hip, end, reach.longest + slack) for end in ends[reach.limb]]
        top, bottom = np.max(tops, axis=0), _over(hip, ends[reach.limb][0], np.maximum(reach.shortest - slack, 0.0))
        upper = np.minimum(upper, np.where(apart < NEAR, top, np.inf))
        lower = np.maximum(lower, np.where((apart < NEAR) & (reach.shortest > slack), bottom, -np.inf))
    if (upper < 0.0).any() or (lower > 0.0).any():
        raised = bounded_curve(times, np.zeros(len(times)), np.minimum(lower, upper), upper, KNOTS)
        positions = positions + raised[:, None] * np.array([0.0, 0.0, 1.0])
        started = base.with_poses(positions, rotations)
    too_far, squeezed = np.zeros((2, len(times)))
    # who goes down on hands or knees folds legs however short the way, and has feet that mending puts down
    crouches = (bearing[:, ~on_foot] > 0.0).any(1)
    crouches = ndimage.binary_dilation(crouches, iterations=max(round(CROUCHES / dt), 1))
    for reach in limbs:
        if not on_foot[reach.limb] or not bearing[:, reach.limb].any():
            continue
        hip = hip_path(tree, shape, started, reach)
        far = np.linalg.norm(hip - np.array(ends[reach.limb]), axis=-1)                # (n, K)
        long, tight, stands = far.min(0) - reach.longest, reach.tightest - far[0], bearing[:, reach.limb] > 0.0
        too_far = np.maximum(too_far, np.where(stands, long, 0.0))
        squeezed = np.maximum(squeezed, np.where(stands, tight, SQUEEZE * reach.tightest - far[0]))
    return Borne(started, np.where(crouches, 0.0, np.maximum(too_far, squeezed)))


def _sole_height(joints: Array, share: Array) -> Array:
    """(K,) of the ends that carry, as keyed."""
    return np.asarray((share * joints[..., 2]).sum(1) / share.sum(1))


def _over(hip: Array, end: Array, length: Array) -> Array:
    """(K,) how much higher the hip would be `length` away from the end, straight above where it is now."""
    flat = np.linalg.norm((hip - end)[:, :2], axis=1)
    return np.asarray(np.sqrt(np.maximum(length ** 2 - flat ** 2, 0.0)) + (end - hip)[:, 2])


def _ends(ankle: Array, heel: Heel | None) -> list[Array]:
    """(K, 3) ankles as planned, and with the heel raised more and more."""
    return [ankle] if heel is None else [heel.raised(ankle, share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]


def _unfinished(hold: Foothold, moved: Array, bearing: Array) -> None:
    """A foot in the air at an end of the clip has come only a part of the way from its last foothold."""
    limb, standing = hold.stance.limb, np.flatnonzero(bearing)
    if not hold.stance.bears and len(standing):
        k = hold.stance.first
        near = int(standing[np.abs(standing - k).argmin()])
        moved[k, limb] = moved[near, limb] + hold.stance.phase * (moved[k, limb] - moved[near, limb])


def _led(way: Way, centre: Array, run: slice) -> Array:
    """(n, 3) where the way leads a foothold during its stance."""
    middle = (run.start + run.stop - 1) // 2
    return np.array([way.moved(k, centre, middle) for k in range(run.start, run.stop)])


def _prone(bearing: Array, on_foot: Bools, calm: float) -> Array:
    """(K,) 1 where more than two feet, or hands or knees, carry the body; smooth in time."""
    if on_foot.sum() > 2:
        return np.ones(len(bearing))
    others = bearing[:, ~on_foot].max(1, initial=0.0)
    return np.asarray(ndimage.gaussian_filter1d(others, 1.5 * calm, mode="nearest"))


def _lean(base: Motion, height: Array, dt: float, upright: Array) -> Array:
    """(K, 4) the turn of somebody upright into the slope of the way ahead."""
    calm = max(LEAN_CALM / dt, 1.0)
    path = ndimage.gaussian_filter1d(base.positions[:, :2], calm, axis=0, mode="nearest")
    v = np.gradient(path, base.times, axis=0)
    climb = np.gradient(ndimage.gaussian_filter1d(height, calm, mode="nearest"), base.times)
    speed = np.linalg.norm(v, axis=1)
    slope = np.arctan(climb * speed / (speed ** 2 + SLOW ** 2))
    angle = upright * np.where(slope > 0.0, UPHILL, DOWNHILL) * slope
    angle = ndimage.gaussian_filter1d(angle, calm, mode="nearest")
    across = np.stack((-v[:, 1], v[:, 0], np.zeros(len(v))), axis=1) / np.maximum(speed, 1e-9)[:, None]
    return rotation.exp(angle[:, None] * across)


def _between(times: Array, moved: Array, down: Array) -> Array:
    """Displacements of the footholds, carried through the swings between them."""
    out = moved.copy()
    for limb in range(moved.shape[1]):
        known = np.flatnonzero(down[:, limb] > 0.0)
        for axis in range(3):
            out[:, limb, axis] = np.interp(times, times[known], moved[known, limb, axis]) if len(known) else 0.0
    return out


def _plane(arm: Array, moved: Array, share: Array, base: float) -> tuple[Array, Array]:
    """Weighted fit  moved = offset + slope . arm  per frame; the slope only of heights, drawn to zero over `base`."""
    total = share.sum(1)
    middle = (share[..., None] * arm).sum(1) / total[:, None]
    mean = (share[..., None] * moved).sum(1) / total[:, None]
    away = arm - middle[:, None]
    spread = np.einsum("kl,kli,klj->kij", share, away, away)
    spread[:, (0, 1), (0, 1)] += (total * base * base)[:, None]
    pull = np.einsum("kl,kli,kl->ki", share, away, moved[..., 2] - mean[:, None, 2])
    slope = np.linalg.solve(spread, pull[..., None])[..., 0]
    offset = mean.copy()
    offset[:, 2] -= (slope * middle).sum(1)
    return offset, slope
