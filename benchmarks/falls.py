"""A hundred random pushes, the body let go: every clip, every rate, flat ground and rough, two legs and four.

What is promised stands as the target of each row; the figures are the worst over all falls of a kind.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.table import Row, row
from tests.clips import shared
from tests.controllers.falls import GROUNDS, Case, Figures, four_legged_case, measure, random_case

COUNT = 40        # falls of two-legged clips on each kind of ground
FOUR_LEGGED = 10
AFTER = 0.1       # s watched after rest


def rows() -> list[Row]:
    out = []
    for kind in ("flat", "any ground"):
        grounds = ("flat",) if kind == "flat" else GROUNDS
        two = [random_case(n, grounds[n % len(grounds)]) for n in range(COUNT)] if shared.has_clips else []
        four = [four_legged_case(n, grounds[n % len(grounds)]) for n in range(FOUR_LEGGED)]
        out += _figures(kind, two + four)
    return out


def _figures(kind: str, cases: Sequence[Case]) -> list[Row]:
    falls = [measure(case.fall(after=AFTER)) for case in cases]

    def worst(what: str) -> float:
        return max(float(getattr(fall, what)) for fall in falls)

    times = [fall.time for fall in falls if fall.rests]
    return [row(f"falls that do not come to rest, {kind}, of {len(falls)}", _unrested(falls), "", below=1.0),
            row(f"time to rest, median, {kind}", float(np.median(times)), "s"),
            row(f"time to rest, longest, {kind}", max(times), "s"),
            row(f"deepest point, {kind}", 1e3 * worst("depth"), "mm", below=10.0),
            row(f"energy rises by, {kind}", worst("gain"), "J", below=0.05),
            row(f"speed after rest, {kind}", worst("speed"), "m/s", below=1e-3),
            row(f"past a joint's limit, {kind}", worst("excess"), "rad", below=0.02)]


def _unrested(falls: Sequence[Figures]) -> float:
    return float(sum(not fall.rests for fall in falls))
