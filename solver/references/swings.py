"""How a limb travels from one foothold to the next: the clip's own path, bent to the new ends and lifted over what
lies under it.

    x' = (1 - s) T_0(x) + s T_1(x) + lift ,   min |lift'''|^2 + (12/n)^6 |lift|^2   s.t.  lift >= need

Where the ground is in the way several courses are tried, up first or forward first, and the calmest is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from ..model.arrays import Array
from ..model.terrain import Terrain
from ..numerics import rotation
from ..numerics.bounded_curve import bounded_curve
from ..numerics.qp import InfeasibleError, UnsolvedError, solve_qp
from .footholds import Foothold
from .underfoot import CEILING

MARGIN, REACH = 0.03, 0.03     # m: clearance over the ground, and how far around a point it is looked at
DELAYS = (0.0, 0.4, 0.8, -0.4, -0.8)                               # how far the way ahead lags behind the phase
WINDOWS = ((0.0, 1.0), (0.0, 0.7), (0.3, 1.0), (0.0, 0.5), (0.5, 1.0))  # phases in which the height changes
IN_THE_WAY = 0.05              # m: for ground this much too high even a swing that the clip's end cuts off may wait
INSIDE = 1.0                   # what a metre inside the ground costs, in metres of jolt
SHORT_WAY, MIXED = 0.3, 0.4    # m; share of a swing at either end in which time tells how far it has come
LONG = 64                      # sub-steps: longer swings are lifted by a spline
CALM_ENDS = 0.12               # share of a swing at either end in which the lift fades
AROUND = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def smooth(s: Array) -> Array:
    """0 .. 1 without a jump in acceleration."""
    s = np.clip(s, 0.0, 1.0)
    return np.asarray(s * s * s * (s * (6.0 * s - 15.0) + 10.0))


@dataclass(frozen=True, eq=False)
class Limb:
    """One limb over the whole clip, as keyed, and the ground it has to cross."""

    times: Array       # (K,)
    anchor: Array      # (K, 3) its joint
    points: Array      # (K, n, 3) its contact points
    carried: Array     # (K, 2) drift of moving ground under the body
    terrain: Terrain
    ground: float      # height of the clip's own ground
    detour: float      # m, how far a swing may leave the straight way between its footholds
    may_sink: bool     # as deep as it does in the clip: nothing else is changed either


def travel(limb: Limb, holds: list[Foothold], choosy: bool = True) -> tuple[Array, Array]:
    """(anchor' (K, 3), turn (K, 4)) of one limb over the whole clip; who is not choosy takes the first course."""
    count = len(limb.times)
    new, turn = limb.anchor.copy(), np.tile(rotation.IDENTITY, (count, 1))
    if not holds:
        return new, turn
    for hold in holds:
        stance = hold.stance.run
        new[stance], turn[stance] = hold.moved(slice(None), limb.anchor[stance]), hold.turn
    ends: list[Foothold | None] = [None, *holds, None]
    for before, after in pairwise(ends):
        only = after if before is None else before if after is None else None
        if only is not None and not only.stance.bears:
            continue                              # nothing comes before the first frame, nor after the last
        start = 0 if before is None else before.stance.last
        stop = count - 1 if after is None else after.stance.first
        if stop - start >= 2 or before is None or after is None:
            run = slice(start, stop + 1)
            new[run], turn[run] = _swing(limb, run, before, after, choosy)
    return new, turn


def _held(limb: Limb, hold: Foothold, run: slice) -> Array:
    """Before its first stance and after its last a limb goes as that stance's ground would take it."""
    n = 0 if run.stop - 1 <= hold.stance.first else -1
    place = hold.moved(n, limb.anchor[run])
    place[:, :2] += limb.carried[run] - limb.carried[hold.stance.first if n == 0 else hold.stance.last]
    return place


def _swing(limb: Limb, run: slice, before: Foothold | None, after: Foothold | None,
           choosy: bool) -> tuple[Array, Array]:
    """The calmest course between two footholds; with only one known, that foothold's own course, lifted."""
    only = before or after
    assert only is not None
    below = max(float((before or only).place[-1, 2]), float((after or only).place[0, 2])) + CEILING
    fixed = (before is not None and before.stance.bears, after is not None and after.stance.bears)
    if before is None or after is None:
        place, turn = _held(limb, only, run), np.tile(only.turn[0 if before is None else -1], (run.stop - run.start, 1))
        need = _need(limb, run, place, turn, below)
        return _lifted(place, need, fixed), turn
    place, turn = _course(limb, run, before, after, 0.0, WINDOWS[0])
    need = _need(limb, run, place, turn, below)
    change = abs(float((after.place[0] - after.stance.centre)[2] - (before.place[-1] - before.stance.centre)[2]))
    if need.max() <= 1e-9 and change < 0.02:
        return place, turn
    if not choosy:
        return _lifted(place, need, fixed), turn
    is_whole = before.stance.bears and after.stance.bears
    may_wait = is_whole or float(need.max()) > IN_THE_WAY
    best, least = (place, turn), np.inf
    stride = float(np.linalg.norm((after.place[0] - before.place[-1])[:2]))
    for delay, window in product(DELAYS, WINDOWS):
        if abs(delay) * 0.25 * stride > limb.detour or _lead(window) * change > limb.detour:
            continue
        place, turn = _course(limb, run, before, after, delay, window, may_wait)
        need = _need(limb, run, place, turn, below)
        lifted = _lifted(place, need, fixed)
        inside = max(float((need - (lifted - place)[:, 2])[1:-1].max(initial=0.0)), 0.0)
        place = lifted
        jolt = np.linalg.norm(np.diff(place, 2, axis=0), axis=1) if len(place) > 2 else np.zeros(1)
        score = float(np.sqrt((jolt * jolt).mean()) + 0.3 * jolt.max() + INSIDE * inside)
        if score < least:
            best, least = (place, turn), score
    return best


def _lead(window: tuple[float, float]) -> float:
    """How far the height runs ahead of the phase, or behind it, at most."""
    s = np.linspace(0.0, 1.0, 21)
    return float(np.abs(smooth((s - window[0]) / (window[1] - window[0])) - s).max()) if window != WINDOWS[0] else 0.0


def _course(limb: Limb, run: slice, before: Foothold, after: Foothold, delay: float,
            window: tuple[float, float], may_wait: bool = True) -> tuple[Array, Array]:
    """Both footholds' transforms of the clip's own path, blended; its way ahead may lag behind its height, along the
    clip's path only if it may wait."""
    times, carried = limb.times[run], limb.carried[run]
    s = (times - times[0]) / max(float(times[-1] - times[0]), 1e-9)
    late = s - delay * s * (1.0 - s)
    anchor = limb.anchor[run]
    if delay and may_wait:
        level = np.stack([np.interp(late, s, anchor[:, n]) for n in (0, 1)], axis=1)
        anchor = np.concatenate((level, anchor[:, 2:]), axis=1)
    if not after.stance.bears:                # the clip ends, or begins, in the middle of a swing
        s, late = after.stance.phase * s, after.stance.phase * late
    elif not before.stance.bears:
        s, late = 1.0 - before.stance.phase * (1.0 - s), 1.0 - before.stance.phase * (1.0 - late)
    a, b = before.moved(-1, anchor), after.moved(0, anchor)
    a[:, :2] += carried - carried[0]
    b[:, :2] += carried - carried[-1]
    share, rise = smooth(late)[:, None], smooth((s - window[0]) / (window[1] - window[0]))
    if window == WINDOWS[0] and not delay:
        rise = _progress(limb.anchor[run], before.stance.centre, after.stance.centre, s)
        share = rise[:, None]
    place = (1.0 - share) * a + share * b
    place[:, 2] = (1.0 - rise) * a[:, 2] + rise * b[:, 2]
    return place, rotation.add(before.turn[-1], rise[:, None] * rotation.subtract(after.turn[0], before.turn[-1]))


def _progress(anchor: Array, start: Array, stop: Array, s: Array) -> Array:
    """(n,) how much of the way between its footholds a limb has come, 0 .. 1: then its height follows an even slope.
    Near the ends, and where there is no way, time tells."""
    way = (stop - start)[:2]
    size = float(way @ way)
    if size < SHORT_WAY ** 2:
        return smooth(s)
    first, last = (anchor[0, :2] - start[:2]) @ way / size, (anchor[-1, :2] - start[:2]) @ way / size
    gone = np.clip(((anchor[:, :2] - start[:2]) @ way / size - first) / max(float(last - first), 1e-3), 0.0, 1.0)
    inner = smooth(s / MIXED) * smooth((1.0 - s) / MIXED)
    return np.asarray(inner * gone + (1.0 - inner) * smooth(s))


def _need(limb: Limb, run: slice, place: Array, turn: Array, below: float) -> Array:
    """(n,) how much higher the limb must be so that the ground comes no nearer to it than in the clip (or MARGIN); what
    is not `below` is no ground to step over."""
    points, anchor, times = limb.points[run], limb.anchor[run], limb.times[run]
    n = len(times)
    R = rotation.matrix(turn)
    sole = place[:, None] + (R[:, None] @ (points - anchor[:, None])[..., None])[..., 0]       # (n, p, 3)
    room = np.minimum(points[..., 2] - limb.ground, MARGIN)                                    # (n, p)
    room = room if limb.may_sink else np.maximum(room, 0.0)
    around = (REACH / MARGIN) * np.maximum(room, 0.0)
    spots = sole[..., None, :2] + around[..., None, None] * AROUND                             # (n, p, 5, 2)
    h = limb.terrain.height_over(spots.reshape(n, -1, 2), times, below).z
    h = np.where(np.isfinite(h), h, -np.inf).reshape(spots.shape[:-1]).max(-1)
    return np.asarray((h + room - sole[..., 2]).max(1))


def _lifted(place: Array, need: Array, fixed: tuple[bool, bool]) -> Array:
    """The place, raised by the smoothest curve above `need` that is at rest on zero where the ends are fixed."""
    n = len(need)
    if n < 5 or need.max() <= 1e-9:
        return place
    s = np.arange(n) / (n - 1)
    ends = np.minimum(s if fixed[0] else np.ones(n), (1.0 - s) if fixed[1] else np.ones(n))
    need = np.maximum(need, 0.0) * np.clip(ends / CALM_ENDS, 0.0, 1.0)
    if n > LONG:
        free = np.minimum(ends * n, 2.0) >= 2.0
        out = place.copy()
        out[:, 2] += bounded_curve(s * n, np.zeros(n), need, np.where(free, np.inf, need), 6.0)
        return out
    D = np.diff(np.eye(n), 3, axis=0)
    P = D.T @ D + (12.0 / n) ** 6 * np.eye(n)
    rows = ([0, 1] if fixed[0] else []) + ([n - 2, n - 1] if fixed[1] else [])
    bound = np.where(np.isin(np.arange(n), rows), 0.0, np.maximum(need, 0.0))
    try:
        zero = (np.eye(n)[rows], np.zeros(len(rows))) if rows else (None, None)
        lift = solve_qp(P / np.trace(P) * n, np.zeros(n), -np.eye(n), -bound, *zero).x
    except (InfeasibleError, UnsolvedError):
        lift = bound
    out = place.copy()
    out[:, 2] += lift
    return out
