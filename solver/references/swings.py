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
from ..numerics.qp import InfeasibleError, UnsolvedError, solve_qp
from .footholds import Foothold

MARGIN, REACH = 0.03, 0.03     # m: clearance over the ground, and how far around a point it is looked at
DELAYS = (0.0, 0.4, 0.8, -0.4)                                    # how far the way ahead lags behind the phase
WINDOWS = ((0.0, 1.0), (0.0, 0.7), (0.3, 1.0), (0.0, 0.5), (0.5, 1.0))  # phases in which the height changes
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


def travel(limb: Limb, holds: list[Foothold]) -> tuple[Array, Array]:
    """(anchor' (K, 3), turn (K, 4)) of one limb over the whole clip."""
    count = len(limb.times)
    new, turn = limb.anchor.copy(), np.tile(rotation.IDENTITY, (count, 1))
    new[:, :2] += limb.carried
    if not holds:
        return new, turn
    for hold in holds:
        stance = slice(hold.stance.first, hold.stance.last + 1)
        new[stance], turn[stance] = _held(limb, hold, stance), hold.turn
    ends: list[Foothold | None] = [None, *holds, None]
    for before, after in pairwise(ends):
        start = 0 if before is None else before.stance.last
        stop = count - 1 if after is None else after.stance.first
        if stop - start >= 2 or before is None or after is None:
            run = slice(start, stop + 1)
            new[run], turn[run] = _swing(limb, run, before, after)
    return new, turn


def _held(limb: Limb, hold: Foothold, run: slice) -> Array:
    place = hold.moved(limb.anchor[run])
    place[:, :2] += limb.carried[run] - limb.carried[hold.stance.first]
    return place


def _swing(limb: Limb, run: slice, before: Foothold | None, after: Foothold | None) -> tuple[Array, Array]:
    """The calmest course between two footholds; with only one known, that foothold's own course, lifted."""
    only = before or after
    assert only is not None
    if before is None or after is None:
        place, turn = _held(limb, only, run), np.tile(only.turn, (run.stop - run.start, 1))
        need = _need(limb, run, place, turn, (before is not None, after is not None))
        return _lifted(place, need, (before is not None, after is not None)), turn
    place, turn = _course(limb, run, before, after, 0.0, WINDOWS[0])
    need = _need(limb, run, place, turn, (True, True))
    change = abs((after.place - after.stance.centre)[2] - (before.place - before.stance.centre)[2])
    if need.max() <= 1e-9 and change < 0.02:
        return place, turn
    best, least = (place, turn), np.inf
    stride = float(np.linalg.norm((after.place - before.place)[:2]))
    for delay, window in product(DELAYS, WINDOWS):
        if abs(delay) * 0.25 * stride > limb.detour or _lead(window) * change > limb.detour:
            continue
        place, turn = _course(limb, run, before, after, delay, window)
        place = _lifted(place, _need(limb, run, place, turn, (True, True)), (True, True))
        jolt = np.linalg.norm(np.diff(place, 2, axis=0), axis=1) if len(place) > 2 else np.zeros(1)
        score = float(np.sqrt((jolt * jolt).mean()) + 0.3 * jolt.max())
        if score < least:
            best, least = (place, turn), score
    return best


def _lead(window: tuple[float, float]) -> float:
    """How far the height runs ahead of the phase, or behind it, at most."""
    s = np.linspace(0.0, 1.0, 21)
    return float(np.abs(smooth((s - window[0]) / (window[1] - window[0])) - s).max()) if window != WINDOWS[0] else 0.0


def _course(limb: Limb, run: slice, before: Foothold, after: Foothold, delay: float,
            window: tuple[float, float]) -> tuple[Array, Array]:
    """Both footholds' transforms of the clip's own path, blended; its way ahead may lag behind its height."""
    times, carried = limb.times[run], limb.carried[run]
    s = (times - times[0]) / max(float(times[-1] - times[0]), 1e-9)
    late = s - delay * s * (1.0 - s)
    anchor = limb.anchor[run]
    if delay:
        level = np.stack([np.interp(late, s, anchor[:, n]) for n in (0, 1)], axis=1)
        anchor = np.concatenate((level, anchor[:, 2:]), axis=1)
    a, b = before.moved(anchor), after.moved(anchor)
    a[:, :2] += carried - carried[0]
    b[:, :2] += carried - carried[-1]
    share, rise = smooth(late)[:, None], smooth((s - window[0]) / (window[1] - window[0]))
    place = (1.0 - share) * a + share * b
    place[:, 2] = (1.0 - rise) * a[:, 2] + rise * b[:, 2]
    return place, rotation.add(before.turn, smooth(s)[:, None] * rotation.subtract(after.turn, before.turn))


def _need(limb: Limb, run: slice, place: Array, turn: Array, fixed: tuple[bool, bool]) -> Array:
    """(n,) how much higher the limb must be so that the ground comes no nearer to it than in the clip (or MARGIN)."""
    points, anchor, times = limb.points[run], limb.anchor[run], limb.times[run]
    n = len(times)
    R = rotation.matrix(turn)
    sole = place[:, None] + (R[:, None] @ (points - anchor[:, None])[..., None])[..., 0]       # (n, p, 3)
    room = np.minimum(np.maximum(points[..., 2] - limb.ground, 0.0), MARGIN)                   # (n, p)
    spots = sole[..., None, :2] + (REACH / MARGIN) * room[..., None, None] * AROUND             # (n, p, 5, 2)
    h = np.stack([limb.terrain.height(spots[k].reshape(-1, 2), float(times[k])).z for k in range(n)])
    h = np.where(np.isfinite(h), h, -np.inf).reshape(spots.shape[:-1]).max(-1)
    need = (h + room - sole[..., 2]).max(1)
    s = np.arange(n) / max(n - 1, 1)
    ends = np.minimum(s if fixed[0] else np.ones(n), (1.0 - s) if fixed[1] else np.ones(n))
    return np.where(need > 0.0, need * np.clip(ends / CALM_ENDS, 0.0, 1.0), need)


def _lifted(place: Array, need: Array, fixed: tuple[bool, bool]) -> Array:
    """The place, raised by the smoothest curve above `need` that is at rest on zero where the ends are fixed."""
    n = len(need)
    if n < 5 or need.max() <= 1e-9:
        return place
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
