# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep Blender's own chatter off standard output: what the command prints there is for people and for pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO


@contextmanager
def quiet() -> Iterator[None]:
    """Blender prints below Python, to the file descriptor itself; what it says of errors still reaches stderr. Its
    operators written in Python print their tracebacks there as well as raising them: once is enough."""
    try:
        sys.stdout.flush()
        kept = os.dup(1)
    except (OSError, ValueError):  # no standard output at all
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        with redirect_stderr(StringIO()):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
