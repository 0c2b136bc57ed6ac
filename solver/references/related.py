"""Which stances have to do with which: of the same limb, of the same leg, and the next ones ahead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.arrays import Array
from ..model.character import Character
from ..model.terrain import Terrain
from ..physics.legs import leg_chain
from .footholds import Foothold, Stance, has_not_stepped
from .underfoot import level_at, reachable

RECENT = 0.3     # s: who has just left a foothold can still come from there


def before_of(stance: Stance, holds: Sequence[Foothold]) -> Foothold | None:
    """Where the same limb stood last."""
    return next((hold for hold in reversed(holds) if hold.stance.limb == stance.limb), None)


def partners_of(character: Character, anchors: list[int]) -> dict[int, int]:
    """Knees and the feet below them, by limb and both ways."""
    out: dict[int, int] = {}
    for knee, limb in enumerate(character.points.limbs):
        for foot, end in enumerate(anchors):
            if limb.kind == "knee" and character.points.limbs[foot].kind == "foot" \
                    and anchors[knee] in leg_chain(character, end):
                out[knee], out[foot] = foot, knee
    return out


def partner_of(stance: Stance, holds: Sequence[Foothold], partners: dict[int, int]) -> Foothold | None:
    """The foothold on which the same leg already stands, with its foot or its knee."""
    return next((hold for hold in holds if hold.stance.limb == partners.get(stance.limb) and
                 hold.stance.first <= stance.first <= hold.stance.last), None)


def joining_of(stance: Stance, stances: list[Stance], partners: dict[int, int], times: Array) -> Stance | None:
    """The stance in which the same leg comes to stand with its knee, or its foot, as well, while this one lasts: a foot
    that rolls onto its toes to kneel may be up for a moment in between."""
    still = stance
    for other in stances:
        if other.limb == still.limb and other.first > still.last and has_not_stepped(still, other, times):
            still = other
    return next((other for other in stances if other.limb == partners.get(stance.limb) and
                 stance.first < other.first <= still.last), None)


def following_of(stance: Stance, stances: list[Stance]) -> Stance | None:
    """The next one of another limb that begins while this one stands, nearest ahead of it."""
    later = [other for other in stances if other.limb != stance.limb and stance.first < other.first <= stance.last + 1
             and (other.centre - stance.centre)[:2] @ stance.ahead > 0.0]
    return min(later, key=lambda other: float(np.linalg.norm((other.centre - stance.centre)[:2])), default=None)


def level_of(stance: Stance, holds: Sequence[Foothold], terrain: Terrain, times: Array) -> float:
    """m, how high the ground of a stance is at most for who comes from the footholds that are stood on, or were left
    last; at first, from where the clip stands."""
    k, xy, time = stance.first, stance.centre[None, :2], float(times[stance.first])
    until = [min(k, hold.stance.last) for hold in holds]
    starts = np.array([hold.place[last - hold.stance.first] for hold, last in zip(holds, until, strict=True)
                       if times[last] >= times[max(until)] - RECENT])
    if len(starts):
        leads = level_at(terrain, np.repeat(xy, len(starts), axis=0), time, starts)
        return float(max(leads.max(), starts[:, 2].max()))         # it may stay on a platform that ends before it
    z = float(reachable(terrain, xy, time, float(stance.centre[2]))[0])
    if z == np.inf:                                    # the clip is deep in the ground: it is brought up to it
        z = float(terrain.height(xy, time).z[0])
    return z if np.isfinite(z) else float(stance.centre[2])
