"""The motion capture of `../shared/motions`, ready to simulate; not ours to copy: tests skip without it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from solver.model.assemble import Assembly, assemble
from solver.model.character import Character
from solver.model.motion import Motion, uniform_times
from tests.clips import bvh

FOLDER = Path(os.environ.get("HEFT_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "motions"

NAMES = (
    "walk_cmu_02_01", "fast_walk_cmu_16_21", "run_cmu_09_01", "jump_up_balance_cmu_02_04",
    "jump_forward_cmu_13_11", "squat_pick_up_set_down_cmu_69_70", "cartwheel_cmu_49_07",
    "walk_crawl_cmu_133_01", "walk_turn_left_90_cmu_69_24", "walk_turn_180_cmu_39_11",
    "run_dive_roll_cmu_127_23", "carry_suitcase_cmu_70_01", "pair_stumble_A_cmu_22_12",
    "pair_stumble_B_cmu_23_12", "dance_pirouette_cmu_05_02", "cartoon_sneak_cmu_120_13",
    "swing_on_bar_cmu_43_02",
)
FINGERS = ("LeftFingerBase", "LeftHandIndex1", "LThumb", "RightFingerBase", "RightHandIndex1", "RThumb")

has_clips = FOLDER.is_dir()
needs_clips = pytest.mark.skipif(not has_clips, reason=f"no clips in {FOLDER}; set HEFT_SHARED")


def full_name(name: str) -> str:
    """`walk` -> `walk_cmu_02_01`: the shortest clip name that begins like this."""
    found = sorted((known for known in NAMES if known.startswith(name)), key=len)
    if not found:
        raise KeyError(f"no clip {name!r}; there are {', '.join(NAMES)}")
    return found[0]


@cache
def assembly(name: str) -> Assembly:
    """A take as recorded, at 120 frames per second: 75 kg, fingers welded."""
    joints, motion = bvh.read(FOLDER / f"{full_name(name)}.bvh")
    return assemble(joints, motion, mass=75.0, masses="human", weld=FINGERS)


@cache
def load(name: str, rate: float | None = None) -> tuple[Character, Motion]:
    """A take at its own rate or another: every n-th frame where that fits, else resampled."""
    whole = assembly(name)
    return whole.character, at_rate(whole.motion, rate)


def at_rate(motion: Motion, rate: float | None) -> Motion:
    if rate is None or abs(rate - motion.rate) < 1e-6 * rate:
        return motion
    every = motion.rate / rate
    if abs(every - round(every)) < 1e-6:
        keep = slice(None, None, round(every))
        return Motion(motion.times[keep], motion.positions[keep], motion.rotations[keep],
                      None if motion.offsets is None else motion.offsets[keep],
                      None if motion.scales is None else motion.scales[keep])
    frames = int(np.floor(motion.duration * rate + 1e-6)) + 1
    return motion.resampled(uniform_times(frames, rate, float(motion.times[0])))
