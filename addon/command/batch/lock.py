# SPDX-License-Identifier: GPL-3.0-or-later
"""One batch in a folder at a time; the lock goes with the process that holds it, however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType

from ..._link import solver


class Locked:
    def __init__(self, folder: Path) -> None:
        self._path = folder / ".heft-batch.lock"
        self._handle = -1

    def __enter__(self) -> Locked:
        self._handle = os.open(self._path, os.O_CREAT | os.O_RDWR)
        try:
            if sys.platform == "win32":
                import msvcrt

                msvcrt.locking(self._handle, msvcrt.LK_NBLCK, 1)
            else:
                import fcntl

                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._handle)
            raise solver.InputError("Another batch is writing into it.", str(self._path.parent),
                                    "Wait for it, or choose another folder with --out.") from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        os.close(self._handle)  # the file stays: removing it would let two others lock two files of one name
