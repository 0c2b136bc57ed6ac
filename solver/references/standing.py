"""A foot that a push has led elsewhere stands on the ground there as closely as it was planned to stand.

On uneven ground a shifted foot finds other ground under its sole than the plan did, and can hang in the air by a little
or cut into a bump. While it stands, its lowest part gets the height over the ground that the plan gave it; it comes to
that, and leaves it, over a moment.
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array, Bools
from ..physics.soles import sole_samples
from .clip import Clip
from .replant import evened

EVEN = 0.25        # s over which a standing foot's height is evened out, or it would slide up and down
MOMENT = 0.12      # s before a foot stands, and after
FARTHEST = 0.05    # leg lengths: what is farther off is not meant to stand there


def drops(clip: Clip, times: Array, wanted: Array, planned: Array, standing: Bools) -> Array:
    """(n, P) m by which points at `wanted` (n, P, 3) should be higher (lower where negative), so that `standing` (n, P)
    ones are as high over the ground as where they are `planned`."""
    out = np.zeros(standing.shape)
    points = clip.character.points
    for limb in range(len(points.limbs)):
        own = np.flatnonzero(points.limb == limb)
        stands = standing[:, own].any(1)
        if not stands.any():
            continue
        there, here = (clip.terrain.probe_over(sole_samples(some[:, own], 5, 9), times).distance.min(1)
                       for some in (wanted, planned))
        is_known = np.isfinite(here) & np.isfinite(there)      # not where there is no ground
        higher = np.where(is_known, here, 0.0) - np.where(is_known, there, 0.0)
        stands &= is_known & (np.abs(higher) < FARTHEST * clip.character.leg_length)
        if not stands.any():
            continue
        still = times[stands]
        higher = evened(times, higher, stands, EVEN)
        after = np.searchsorted(still, times)
        apart = np.minimum(np.abs(times - still[np.maximum(after - 1, 0)]),
                           np.abs(times - still[np.minimum(after, len(still) - 1)]))
        share = np.maximum(1.0 - apart / MOMENT, 0.0)
        out[:, own] = (share * np.interp(times, still, higher[stands]))[:, None]
    return out
