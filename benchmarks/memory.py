"""Memory while a long clip is baked: 10,000 frames of a walk that goes round, at 60 frames per second.

Flat means: what is held between two frames does not grow, apart from the Result. Two witnesses: the number of blocks
that Python holds (exact; every array has one), and the process's resident memory (all bytes, but in pages and with
the arrays of the Result, which come to life as they are filled).
"""

from __future__ import annotations

import gc
import sys
from dataclasses import fields
from pathlib import Path

import numpy as np

from benchmarks.table import Row, row
from solver import Character, Motion, Push, Result, Scene, bake
from tests.clips.synthetic import walk

FRAMES, RATE = 10_000, 60.0
PERIOD = 1.05            # s, of one stride: 63 frames
COUNTED = range(1_000, FRAMES, 500)
STATUS = Path("/proc/self/statm")   # Linux
PAGE = 4096


def rows() -> list[Row]:
    blocks, resident, own = measured()
    frames = list(COUNTED)
    growth = float(np.polyfit(frames, blocks, 1)[0])
    out = [row(f"memory, blocks held between frames, growth over {FRAMES} frames", growth, "blocks/frame", below=0.1)]
    if resident:
        more = (resident[-1] - resident[0]) / (frames[-1] - frames[0])
        out.append(row(f"memory, resident, growth over {FRAMES} frames / the Result's own", more, "B/frame",
                       baseline=own / FRAMES, ratio_below=1.1))
    return out


def measured() -> tuple[list[int], list[int], int]:
    """Blocks and resident bytes at some frames of the bake, and the size of its Result."""
    push = Push.constant("chest", (0.0, 200.0, 0.0), 5.0, 0.2)
    blocks, resident = [], []
    job = bake(Scene(*long_walk(), pushes=(push,)))
    while True:
        try:
            progress = next(job)
        except StopIteration as end:
            return blocks, resident, _size(end.value)
        if progress.frame in COUNTED:
            gc.collect()
            blocks.append(sys.getallocatedblocks())
            if STATUS.exists():
                resident.append(PAGE * int(STATUS.read_text().split()[1]))


def long_walk() -> tuple[Character, Motion]:
    """One stride again and again, each a stride farther."""
    character, motion = walk(rate=RATE, duration=2.0 * PERIOD)
    stride = round(PERIOD * RATE)
    n = np.arange(FRAMES)
    way = motion.positions[stride] - motion.positions[0]
    positions = motion.positions[n % stride] + (n // stride)[:, None] * way
    return character, Motion(n / RATE, positions, motion.rotations[n % stride])


def _size(result: Result) -> int:
    arrays = [getattr(result, f.name) for f in fields(result)] + [result.motion.positions, result.motion.rotations]
    return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))
