# SPDX-License-Identifier: GPL-3.0-or-later
"""What a motion does, in one line and in intervals: where feet slide, where it is out of balance, where it flies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .convert import Array

SLIDE = 0.002       # m per frame that nobody sees
GAP = 2             # frames: nearer intervals are one
OUT_OF_BALANCE = -0.05  # m: the ZMP this far outside the support is visibly wrong


def intervals(flags: NDArray[np.bool_], frames: Array) -> list[tuple[int, int]]:
    """First and last frame of every stretch of True."""
    found: list[tuple[int, int]] = []
    for n in np.flatnonzero(flags):
        frame = int(frames[n])
        if found and frame - found[-1][1] <= GAP:
            found[-1] = found[-1][0], frame
        else:
            found.append((frame, frame))
    return found


def spoken(spans: list[tuple[int, int]], most: int = 3) -> str:
    words = [f"{a}-{b}" if b > a else f"{a}" for a, b in spans[:most]]
    return ", ".join(words) + (" ..." if len(spans) > most else "")


def verdict(result: Any, frames: Array) -> str:
    """One line about the motion as it is keyed."""
    found = []
    slides = [(a, b) for a, b in intervals(result.reference_slide > SLIDE, frames) if b > a]
    if slides:
        worst = max(float(result.reference_slide[(frames >= a) & (frames <= b)].sum()) for a, b in slides)
        found.append(f"feet slide up to {100 * worst:.1f} cm at {spoken(slides)}")
    deep = result.reference_penetration > 0.01
    if deep.any():
        found.append(f"up to {100 * result.reference_penetration.max():.1f} cm in the ground at "
                     f"{spoken(intervals(deep, frames))}")
    with np.errstate(invalid="ignore"):
        off = [(a, b) for a, b in intervals(result.margin < OUT_OF_BALANCE, frames) if b > a]
    if off:
        found.append(f"unbalanced at {spoken(off)}")
    flight = intervals(~result.contacts[1:].any(1), frames[1:]) if result.contacts.shape[1] else []
    if flight:
        found.append(f"in the air at {spoken(flight)}")
    sentence = "; ".join(found)
    if not found:
        return "Sound: nothing slides, sinks or tips."
    return sentence[0].upper() + sentence[1:] + ("" if sentence.endswith("...") else ".")


def contact_bars(result: Any, frames: Array) -> dict[str, list[tuple[int, int]]]:
    """Limb -> intervals in which it touches the ground."""
    limbs = list(dict.fromkeys(result.limbs))
    return {limb: intervals(result.contacts[:, [own == limb for own in result.limbs]].any(1), frames)
            for limb in limbs}
