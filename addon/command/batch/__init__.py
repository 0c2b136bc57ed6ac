# SPDX-License-Identifier: GPL-3.0-or-later
"""Bake many: one Blender process per job, several at a time, and a page about all of them.

A job is done when its report is there and tells of the same input and options; a second run does what is left.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from ..._link import solver
from ..publish import check_place
from ..summary import write_summary
from .jobs import Job, read_jobs
from .lock import Locked
from .pool import State, run_jobs
from .table import Table


def batch(told: Any) -> int:
    jobs = read_jobs(told.jobs, told.out, not told.no_sheets)
    if told.list:
        for job in jobs:
            print(f"{job.name}: heft bake {' '.join(job.arguments)}")
        return 0
    check_place(told.out / "summary.html")
    workers = told.workers or max(1, min(len(jobs), os.cpu_count() or 1))
    if workers < 1:
        raise solver.InputError(f"{told.workers} processes do no work.", "--workers", "Give 1 or more.")
    began = time.perf_counter()
    with Locked(told.out):
        _sweep(told.out)
        states = [State(job, is_done=not told.again and job.is_done()) for job in jobs]
        table = Table(states)
        try:
            run_jobs(states, workers, told.timeout, told.memory, table)
        finally:
            table.end()
            seconds = time.perf_counter() - began
            done = sum(state.word == "done" for state in states)
            words = f"{done} of {len(jobs)} jobs done, {workers} at a time, in {seconds:.0f} s."
            page = write_summary(told.out, [state.record() for state in states], words)
            print(words)
            print(f"wrote {page}")
    return 0 if done == len(jobs) else 3


def _sweep(folder: Path) -> None:
    """Remove what killed processes left half-written."""
    for part in folder.glob(".*.part*"):
        part.unlink(missing_ok=True)


__all__ = ["Job", "batch"]
