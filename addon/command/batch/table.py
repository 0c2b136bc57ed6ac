# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs as they go: one table that stays in place on a terminal, a line per event elsewhere."""

from __future__ import annotations

import shutil
import sys
import time

from .pool import State

OFTEN = 0.2   # s between two pictures


class Table:
    def __init__(self, states: list[State]) -> None:
        self._states = states
        self._is_terminal = sys.stderr.isatty()
        self._told: dict[str, str] = {}
        self._lines, self._drawn = 0, 0.0
        kept = sum(state.word == "done" for state in states)
        if kept:
            print(f"heft: {kept} of {len(states)} jobs are done already", file=sys.stderr, flush=True)
            self._told = {state.job.name: "done" for state in states if state.word == "done"}

    def show(self) -> None:
        if not self._is_terminal:
            for n, state in enumerate(self._states):
                if state.word not in ("waiting", self._told.get(state.job.name)):
                    self._told[state.job.name] = state.word
                    if state.word != "running":
                        print(f"heft: [{n + 1}/{len(self._states)}] {_line(state)}", file=sys.stderr, flush=True)
            return
        if time.perf_counter() - self._drawn < OFTEN:
            return
        self._drawn = time.perf_counter()
        size = shutil.get_terminal_size()
        counts = {word: sum(state.word == word for state in self._states)
                  for word in ("done", "running", "waiting", "failed")}
        shown = [state for state in self._states if state.word in ("running", "failed", "cancelled")]
        lines = ["  ".join(f"{count} {word}" for word, count in counts.items())]
        lines += [_line(state) for state in shown[-(size.lines - 3):]]
        up = f"\x1b[{self._lines}A" if self._lines else ""
        body = "".join(f"\x1b[2K{line[:size.columns - 1]}\n" for line in lines)
        print(f"{up}\x1b[J{body}", end="", file=sys.stderr, flush=True)
        self._lines = len(lines)

    def end(self) -> None:
        self._drawn = 0.0
        self.show()


def _line(state: State) -> str:
    return f"{state.job.name}: {state.word}, {state.seconds:.1f} s" + (f". {state.reason}" if state.reason else "")
