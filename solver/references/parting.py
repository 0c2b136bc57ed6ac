"""Who kneels lifts the toes where moving ground takes them away from the knee."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model.arrays import Array, Bools, Ints
from .footholds import Foothold

APART = 0.03     # m that foot and knee of a leg may drift apart or together while both stand
SHORT = 0.25     # s: a foot that would have to leave so soon does not come down


def parted(holds: list[Foothold], times: Array, partners: dict[int, int], on_foot: list[bool], touching: Bools,
           limb: Ints) -> tuple[list[Foothold], Bools]:
    """The footholds, and what touches (K, P), of points that belong to these limbs (P,), with the feet of kneeling legs
    lifted as soon as they drift away from their knees, `partners` of them."""
    out, touching = [], touching.copy()
    for hold in holds:
        stance, last = hold.stance, hold.stance.last
        if on_foot[stance.limb] and stance.limb in partners:
            last = min([last, *(_together_until(hold, knee) for knee in holds
                                if knee.stance.limb == partners[stance.limb])])
        if last < stance.last and times[last] - times[stance.first] < SHORT:
            last = stance.first - 1
        touching[last + 1:stance.last + 1, limb == stance.limb] = False
        if last >= stance.first:
            count = last + 1 - stance.first
            out.append(hold if last == stance.last else
                       Foothold(replace(stance, last=last), hold.place[:count], hold.turn[:count]))
    return out, touching


def _together_until(foot: Foothold, knee: Foothold) -> int:
    """The last sub-step at which both stand as far apart as at first; the foot's last if they do not meet or drift."""
    first, last = max(foot.stance.first, knee.stance.first), min(foot.stance.last, knee.stance.last)
    if last <= first:
        return foot.stance.last
    away = (foot.place[first - foot.stance.first:last + 1 - foot.stance.first] -
            knee.place[first - knee.stance.first:last + 1 - knee.stance.first])
    drifts = np.linalg.norm(away - away[0], axis=1) > APART
    if not drifts.any():
        return foot.stance.last
    return first + int(drifts.argmax()) - 1 if foot.stance.first < first else foot.stance.first - 1
