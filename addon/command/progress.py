# SPDX-License-Identifier: GPL-3.0-or-later
"""How far it is, on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import re
import shutil
import sys
import time

BAR = 28           # characters
OFTEN, SELDOM = 0.1, 2.0   # s between two looks: bar, lines


def is_progress(line: str) -> bool:
    """Whether a line on stderr is one of ours, and no sentence."""
    return re.fullmatch(r"heft: [a-z ]+ \d+ of \d+ \(\d+ %, [\d.]+ s\)", line) is not None


class Progress:
    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._began = time.perf_counter()
        self._shown, self._words = 0.0, ""

    def tell(self, words: str, done: int, total: int) -> None:
        now = time.perf_counter()
        if words == self._words and now - self._shown < (OFTEN if self._is_terminal else SELDOM) and done < total:
            return
        if words == self._words and done >= total and not self._is_terminal and now - self._shown < 0.2:
            return
        self._shown, self._words = now, words
        share = done / max(total, 1)
        if not self._is_terminal:
            print(f"heft: {words.lower()} {done} of {total} ({100 * share:.0f} %, {now - self._began:.1f} s)",
                  file=sys.stderr, flush=True)
            return
        full = round(BAR * share)
        line = f"{words:<20} [{'#' * full}{'.' * (BAR - full)}] {done} of {total}, {now - self._began:.0f} s"
        print("\r" + line[:shutil.get_terminal_size().columns - 1].ljust(BAR + 45), end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._is_terminal and self._words:
            print(file=sys.stderr)
