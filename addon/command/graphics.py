# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether there are graphics to render with. A Blender that finds none ends its whole process instead of saying so:
another one tries first, while this one bakes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import bpy

PATIENCE = 60.0   # s for one tiny picture
TRY = """
import bpy, os
scene = bpy.context.scene
scene.render.engine, scene.render.resolution_x, scene.render.resolution_y = 'BLENDER_WORKBENCH', 8, 8
bpy.ops.render.render(scene=scene.name)
os._exit(0)
"""


class Attempt:
    """A tiny picture that another Blender renders."""

    def __init__(self) -> None:
        app: Any = bpy.app
        program = [app.binary_path, "-b", "--factory-startup", "--python-exit-code", "1", "--python-expr"] \
            if app.binary_path else [sys.executable, "-c"]
        self._process = subprocess.Popen([*program, TRY], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)

    def has_worked(self) -> bool:
        try:
            return self._process.wait(PATIENCE) == 0
        except subprocess.TimeoutExpired:
            return False

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
