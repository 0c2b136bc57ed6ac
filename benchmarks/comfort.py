"""The four cases of the paper's squat: total, average and worst step time beside the paper's ratios, and beside one
quasi-physical step on the same character.

[Oshita2001] table 1, 90 steps on a Pentium III of 800 MHz (its average of the third row contradicts its total)."""

from __future__ import annotations

from time import thread_time

import numpy as np

from benchmarks.table import Row, row
from solver import QuasiPhysical, Scene, ZmpComfort
from solver.controllers.base import Controller
from tests.controllers.comfort import squat, weak_back

CASES = {"(a) no load": (0.0, 0.0), "(b) 8 kg": (8.0, 0.0), "(c) 15 kg": (15.0, 0.0), "(d) blow": (0.0, 20.0)}
PAPER = {"(a) no load": 70.6, "(b) 8 kg": 78.8, "(c) 15 kg": 102.9, "(d) blow": 72.9}   # ms in all
REPETITIONS = 5


def rows() -> list[Row]:
    times = {name: [] for name in CASES}    # type: dict[str, list[np.ndarray]]
    usual = []
    for _ in range(REPETITIONS):            # in turn, so that a busy machine is busy for all of them
        for name, case in CASES.items():
            times[name].append(_steps(ZmpComfort(squat(*case), weak_back())))
        scene = squat(8.0)
        usual.append(_steps(QuasiPhysical(Scene(scene.character, scene.motion, loads=scene.loads, substeps=1))))
    rival = 1e3 * float(np.median(usual))
    out, first = [], 0.0
    for name in CASES:
        each = 1e3 * np.median(times[name], axis=0)
        first = first or float(each.sum())
        out.append(row(f"squat, 90 steps, {name}", each.sum(), "ms"))
        out.append(row(f"squat, 90 steps, {name}, over (a); baseline: the paper's", each.sum() / first, "",
                       baseline=PAPER[name] / PAPER["(a) no load"]))
        out.append(row(f"squat, average step, {name}; baseline: a quasi-physical step with 8 kg", each.mean(), "ms",
                       baseline=rival))
        out.append(row(f"squat, worst step, {name}", each.max(), "ms"))
    planned, plain = (min(_seconds(kilograms) for _ in range(REPETITIONS)) for kilograms in (15.0, 0.0))
    out.append(row("squat, planning the lean against 15 kg, per step", 1e3 * (planned - plain) / 90.0, "ms"))
    return out


def _seconds(kilograms: float) -> float:
    """s of this thread to prepare a squat."""
    scene, settings, start = squat(kilograms), weak_back(), thread_time()
    ZmpComfort(scene, settings)
    return thread_time() - start


def _steps(controller: Controller) -> np.ndarray:
    """(K,) s of this thread per step."""
    state, seconds = controller.start(), np.zeros(controller.clip.steps)
    for k in range(0, len(seconds), 64):      # what belongs to the keys alone is computed beforehand, in runs
        controller.clip.moment(k)
    for k in range(len(seconds)):
        start = thread_time()
        step = controller.step(state, k)
        seconds[k] = thread_time() - start
        state = step.state
    return seconds
