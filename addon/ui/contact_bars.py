# SPDX-License-Identifier: GPL-3.0-or-later
"""Bars along the timeline: when each foot or hand touches the ground, as the last check found it."""

from __future__ import annotations

import json
from typing import Any

import bpy

from .messages import character_of

COLORS = ((0.35, 0.75, 0.4, 0.9), (0.35, 0.6, 0.9, 0.9), (0.9, 0.7, 0.3, 0.9), (0.8, 0.45, 0.8, 0.9))
HEIGHT = 6.0   # pixels of a bar
BELOW = 16.0   # pixels left to the scroll bar
_handles: list[Any] = []


def draw() -> None:
    context: Any = bpy.context
    if context.scene is None or not hasattr(context.scene, "heft") or not context.scene.heft.show_bars:
        return
    ob = character_of(context)
    if ob is None or not len(ob.heft.bars):
        return
    import blf
    import gpu
    from gpu_extras.batch import batch_for_shader

    region = context.region
    scale = context.preferences.system.ui_scale
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    for n, bar in enumerate(ob.heft.bars):
        low = (BELOW + n * (HEIGHT + 8.0)) * scale
        color = COLORS[n % len(COLORS)]
        corners = []
        for first, last in json.loads(bar.frames or "[]"):
            left, _ = region.view2d.view_to_region(first - 0.4, 0.0, clip=False)
            right, _ = region.view2d.view_to_region(last + 0.4, 0.0, clip=False)
            a, b, c, d = (left, low), (right, low), (right, low + HEIGHT * scale), (left, low + HEIGHT * scale)
            corners += [a, b, c, a, c, d]
        if corners:
            shader.bind()
            shader.uniform_float("color", color)
            batch_for_shader(shader, "TRIS", {"pos": corners}).draw(shader)
        blf.size(0, 10.0 * scale)
        blf.color(0, *color)
        blf.position(0, 6.0 * scale, low, 0.0)
        blf.draw(0, bar.limb)
    gpu.state.blend_set("NONE")


def register() -> None:
    _handles.append(bpy.types.SpaceDopeSheetEditor.draw_handler_add(draw, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    while _handles:
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(_handles.pop(), "WINDOW")
