# SPDX-License-Identifier: GPL-3.0-or-later
"""Heft without a window: bake, check, setup, batch, report.

    blender -b shot.blend --command heft bake --out baked.blend      the extension is enabled
    heft bake shot.blend --out baked.blend                           pip, on the bpy module
    python -m addon bake shot.blend --out baked.blend                a checkout, on the bpy module

Exit codes: 0 good, 2 bad input, 3 the solver failed, 130 cancelled.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

NAME = "heft"
_handle: list[Any] = []


def main(arguments: Sequence[str]) -> int:
    """Run one verb; returns the exit code."""
    from .run import run

    return run(list(arguments))


def console() -> None:
    """The program `heft`, outside Blender."""
    import os

    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # some bpy modules crash while Python ends, after all work is done


def register() -> None:
    import bpy

    _handle.append(bpy.utils.register_cli_command(NAME, main))


def unregister() -> None:
    import bpy

    while _handle:
        bpy.utils.unregister_cli_command(_handle.pop())
