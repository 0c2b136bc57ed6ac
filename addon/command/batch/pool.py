# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes: one per job, so many at a time. What happens to one does not touch the others."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any, Protocol

from ..progress import is_progress
from .jobs import Job

LOOK = 0.05      # s between two looks at the processes
GRACE = 5.0      # s between asking a process to stop and stopping it


class State:
    """How far one job is."""

    def __init__(self, job: Job, is_done: bool) -> None:
        self.job = job
        self.word = "done" if is_done else "waiting"
        self.reason = "It was there already." if is_done else ""
        self.seconds = 0.0
        self.process: subprocess.Popen[bytes] | None = None
        self.log: IO[bytes] | None = None
        self.began = 0.0
        self.key = ""

    def record(self) -> dict[str, Any]:
        return {"name": self.job.name, "state": self.word, "reason": self.reason, "seconds": round(self.seconds, 2)}


class Watcher(Protocol):
    def show(self) -> None: ...


def run_jobs(states: list[State], workers: int, timeout: float, memory: float, table: Watcher) -> None:
    waiting = [state for state in states if state.word == "waiting"]
    running: list[State] = []
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                state = waiting.pop(0)
                _start(state)
                running.append(state)
            time.sleep(LOOK)
            for state in list(running):
                if _is_over(state, timeout, memory):
                    running.remove(state)
            table.show()
    finally:
        for state in running:  # cancelled: each process removes what it has begun
            _stop(state)
            _close(state, "cancelled", "It was cancelled; nothing of it was written.")
        for state in waiting:
            state.word = "waiting"


def _start(state: State) -> None:
    state.word, state.began, state.key = "running", time.perf_counter(), state.job.key()
    state.job.stamp.unlink(missing_ok=True)
    state.log = tempfile.TemporaryFile()
    state.process = subprocess.Popen(
        [*command(), "bake", *state.job.arguments, "--die-with-parent"], stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=state.log, env=_environment(),
        start_new_session=True)  # Ctrl-C reaches this process alone, which then stops the others in order


def command() -> list[str]:
    """How to start another of ourselves: Blender where we run in one, else this Python."""
    blender = getattr(getattr(sys.modules.get("bpy"), "app", None), "binary_path", "")
    if blender:
        return [blender, "-b", "--command", "heft"]
    return [sys.executable, "-m", __package__.removesuffix(".command.batch")]


def _environment() -> dict[str, str]:
    """One thread each: the jobs share the cores. Where we are a checkout, the other process finds it too."""
    top = Path(__file__).resolve().parents[len(__package__.split("."))]
    path = os.pathsep.join(p for p in (str(top), os.environ.get("PYTHONPATH", "")) if p)
    return {**os.environ, "PYTHONPATH": path,
            **{name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}}


def _is_over(state: State, timeout: float, memory: float) -> bool:
    assert state.process is not None
    state.seconds = time.perf_counter() - state.began
    code = state.process.poll()
    if code is None:
        if state.seconds > timeout:
            _stop(state)
            _close(state, "failed", f"It hung: stopped after {timeout:g} s (--timeout).")
            return True
        if memory > 0.0 and _gigabytes(state.process.pid) > memory:
            _stop(state, is_polite=False)
            _close(state, "failed", f"It took more than {memory:g} GB of memory and was stopped (--memory).")
            return True
        return False
    if code == 0 and state.job.report.is_file():
        state.job.mark_done(state.key)
        _close(state, "done", "")
    else:
        _close(state, "failed", _why(state, code))
    return True


def _why(state: State, code: int) -> str:
    assert state.log is not None
    state.log.seek(0)
    text = state.log.read().decode("utf-8", "replace")
    told = [line for line in text.splitlines() if line.startswith("heft: ") and not is_progress(line)]
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        words = "killed from outside, or the machine ran out of memory" if name == "SIGKILL" else "it crashed"
        return f"Its process ended with {name}: {words}."
    if told and code in (2, 3, 130):
        return told[-1].removeprefix("heft: ")
    last = [line for line in text.splitlines() if line.strip()]
    return f"Its process ended with exit code {code}: {last[-1] if last else 'it said nothing'}."


def _stop(state: State, is_polite: bool = True) -> None:
    process = state.process
    assert process is not None
    with contextlib.suppress(OSError):
        if is_polite:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
        if process.poll() is None:
            process.kill()
    process.wait()


def _close(state: State, word: str, reason: str) -> None:
    state.word, state.reason = word, reason
    assert state.process is not None and state.log is not None and state.process.stdin is not None
    state.process.stdin.close()
    state.log.close()
    for part in state.job.folder.glob(f".*.{state.process.pid}.part*"):  # a killed process could not remove them
        part.unlink(missing_ok=True)


def _gigabytes(pid: int) -> float:
    """Memory in use, where the system tells (Linux); else 0."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024**2
    return 0.0
