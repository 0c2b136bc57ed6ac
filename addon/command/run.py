# SPDX-License-Identifier: GPL-3.0-or-later
"""One verb from its words to its exit code: the only place that turns errors into sentences and numbers."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

from .._link import solver
from .arguments import parser

GOOD, BAD_INPUT, FAILED, CANCELLED = 0, 2, 3, 130


def run(arguments: list[str]) -> int:
    old = [(kind, signal.signal(kind, _interrupt)) for kind in (signal.SIGINT, signal.SIGTERM)] if _is_main() else []
    try:
        told = parser().parse_args(arguments)
        if getattr(told, "die_with_parent", False):
            threading.Thread(target=_watch_parent, daemon=True).start()
        return _verb(told)
    except solver.InputError as error:
        return _say(error, BAD_INPUT)
    except solver.SolverError as error:
        return _say(error, FAILED)
    except MemoryError:
        return _say("There is not enough memory. Bake fewer frames at a time with --frames, or fewer jobs at a time "
                    "with --workers.", FAILED)
    except KeyboardInterrupt:
        return _say("Cancelled; nothing was written.", CANCELLED)
    except BrokenPipeError:
        return GOOD  # whoever read the output has seen enough
    except SystemExit as end:  # --help
        return int(end.code or 0) if not isinstance(end.code, str) else BAD_INPUT
    finally:
        for kind, handler in old:
            signal.signal(kind, handler or signal.SIG_DFL)  # None: Blender's own, which Python cannot put back


def _verb(told: Any) -> int:
    if told.verb == "batch":
        from .batch import batch

        return batch(told)
    if told.verb == "report":
        from .tell import tell_reports

        return tell_reports(told)
    try:
        from . import verbs
    except ModuleNotFoundError as error:
        if error.name != "bpy":
            raise
        raise solver.InputError("This Python has no Blender in it.", f"heft {told.verb}", "pip install bpy (Python "
                                "3.11 for Blender 4.2 to 5.0, 3.13 for 5.2), or run Heft in Blender: blender -b "
                                "shot.blend --command heft bake.") from None
    return int(getattr(verbs, told.verb)(told))


def _say(what: object, code: int) -> int:
    print(f"\nheft: {what}" if sys.stderr.isatty() else f"heft: {what}", file=sys.stderr, flush=True)
    return code


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _watch_parent() -> None:
    """End with the process that started us: it holds the other end of stdin, and the end closes when it dies."""
    try:
        while os.read(0, 1):
            pass
    except OSError:
        pass
    os._exit(CANCELLED)
