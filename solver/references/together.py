"""Footholds of who goes on hands and knees, chosen together.

Foot and knee of a leg have to fit on the ground with the shank between them, and who shifts one limb along the way
shifts the others with it. The cheapest sequence of footholds in time is looked for, by a beam search: what is cheapest
for the foot that comes first may leave its knee no place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ..model.arrays import Array
from ..model.terrain import Terrain
from .foothold_costs import strayed
from .footholds import Foothold, Stance, Weighed, again, fit, has_not_stepped, stand, weigh
from .related import before_of, joining_of, level_of, partner_of
from .way import Way

COMPANY = 0.10                  # m between a limb's shift and that of those that stand already, which cost one
BRANCHES, BEAM = 12, 150        # how many places of a stance, and how many sequences of them, are followed up ...
BRANCHES_MOVING = 48            # ... and where ground moves: the best may all be on a platform that leaves


@dataclass(frozen=True, eq=False)
class _Laid:
    """Footholds up to some time, how far each is shifted along the way (m), and what they cost together."""

    holds: tuple[Foothold, ...] = ()
    shifts: tuple[float, ...] = ()
    cost: float = 0.0


@dataclass(frozen=True, eq=False)
class _Next:
    """One more place after those that are laid already, by its number, or the foothold that is kept; and its shift."""

    laid: _Laid
    place: int | Foothold
    shift: float
    cost: float


def choose_together(stances: list[Stance], after: dict[int, Stance | None], way: Way, terrain: Terrain, times: Array,
                    on_foot: list[bool], partners: dict[int, int]) -> list[Foothold]:
    """The footholds of stances in the order of time, on a way that is known; `after` gives who follows on each (by its
    id), `partners` the knees and feet of a leg."""
    beam, branches = [_Laid()], BRANCHES if terrain.is_still else BRANCHES_MOVING
    for stance in stances:
        level = level_of(stance.on(way), beam[0].holds, terrain, times)
        weighed = weigh(stance, way, terrain, times, on_foot[stance.limb], level, after[id(stance)],
                        joining_of(stance, stances, partners, times), together=True)
        stays = cache(lambda before, stance=stance: again(before, stance, terrain, times))
        fits = cache(lambda partner, stance=stance, weighed=weighed: fit(weighed, stance, partner, terrain, times))
        put = cache(lambda n, partner, stance=stance, weighed=weighed:
                    stand(weighed, n, stance, way, partner, terrain, times))
        grown: list[_Next] = []
        for laid in beam:
            before, partner = before_of(stance, laid.holds), partner_of(stance, laid.holds, partners)
            same = None if before is None else stays(before)
            if before is not None and same is not None:
                grown.append(_Next(laid, same, laid.shifts[laid.holds.index(before)], laid.cost))
                continue
            cost = weighed.cost + _alone(weighed, stance, laid)
            if partner is not None:
                cost = cost + fits(partner)
            if before is not None and has_not_stepped(before.stance, stance, times):     # but its ground ends there
                cost = cost + strayed(weighed.tried, before.moved(-1, stance.centre))
            grown += [_Next(laid, int(n), float(weighed.along[n]), laid.cost + float(cost[n]))
                      for n in np.argsort(cost, kind="stable")[:branches]]
        beam = []
        for entry in sorted(grown, key=lambda entry: entry.cost)[:BEAM]:
            laid, hold = entry.laid, entry.place
            if isinstance(hold, int):
                hold = put(hold, partner_of(stance, laid.holds, partners))
            beam.append(_Laid((*laid.holds, hold), (*laid.shifts, entry.shift), entry.cost))
    return list(beam[0].holds)


def _alone(weighed: Weighed, stance: Stance, laid: _Laid) -> Array:
    """(n,) what speaks against places that are shifted otherwise than the limbs that stand already."""
    shifts = [shift for hold, shift in zip(laid.holds, laid.shifts, strict=True)
              if hold.stance.last >= stance.first - 1]
    return ((weighed.along - np.mean(shifts)) / COMPANY) ** 2 if shifts else np.zeros(len(weighed.along))
