# SPDX-License-Identifier: GPL-3.0-or-later
"""What is drawn over the viewport: ghost, forces, centre of mass, balance. Reads diagnostics, computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import bpy
import numpy as np

from . import session
from .messages import character_of
from .stored import is_in

FORCE = (1.0, 0.65, 0.1, 0.9)
COM = (1.0, 1.0, 0.3, 1.0)
ZMP = (1.0, 0.25, 0.3, 1.0)
AREA = (0.3, 1.0, 0.4, 0.25)
PUSH = (1.0, 0.2, 0.2, 1.0)
_handles: list[Any] = []


def _lines(shader: Any, segments: Sequence[Any], color: Sequence[float], width: float,
           size: tuple[float, float]) -> None:
    from gpu_extras.batch import batch_for_shader

    if not len(segments):
        return
    shader.bind()
    shader.uniform_float("viewportSize", size)
    shader.uniform_float("lineWidth", width)
    shader.uniform_float("color", color)
    batch_for_shader(shader, "LINES", {"pos": [tuple(map(float, p)) for p in segments]}).draw(shader)


def _fan(points: np.ndarray, color: Sequence[float]) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    shader.bind()
    shader.uniform_float("color", color)
    corners = [points[n] for k in range(1, len(points) - 1) for n in (0, k, k + 1)]
    batch_for_shader(shader, "TRIS", {"pos": [tuple(map(float, p)) for p in corners]}).draw(shader)


def _cross(at: np.ndarray, size: float) -> list[np.ndarray]:
    return [at + sign * size * axis for axis in np.eye(3) for sign in (-1.0, 1.0)]


def hull(points: np.ndarray) -> np.ndarray:
    """The support area seen from above, in order around it."""
    order = sorted(range(len(points)), key=lambda i: (points[i, 0], points[i, 1]))
    if len(order) < 3:
        return points[order]

    def chain(sequence: list[int]) -> list[int]:
        kept: list[int] = []
        for i in sequence:
            while len(kept) > 1:
                a, b, c = points[kept[-2], :2], points[kept[-1], :2], points[i, :2]
                if (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0.0:
                    break
                kept.pop()
            kept.append(i)
        return kept[:-1]

    return points[chain(order) + chain(order[::-1])]


def draw() -> None:
    """Everything in the scene, behind and in front of what is there."""
    context: Any = bpy.context
    scene = context.scene
    ob = character_of(context) if scene is not None and hasattr(scene, "heft") else None
    if ob is None or not context.space_data.overlay.show_overlays:
        return
    import gpu

    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    size = (float(context.region.width), float(context.region.height))
    told = scene.heft
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    try:
        _draw_pushes(shader, size, told, ob, scene)
        moving = session.live.get(ob.name)
        found = session.diagnostics_of(ob)
        row = found.row(scene.frame_current) if found is not None else None
        if moving is not None and told.show_ghost:
            _ghost(shader, size, *moving, color=tuple(told.color))
        elif found is not None and row is not None:
            _draw_row(shader, size, told, found, row)
    finally:
        gpu.state.blend_set("NONE")


def _ghost(shader: Any, size: tuple[float, float], heads: np.ndarray, tails: np.ndarray,
           color: tuple[float, ...]) -> None:
    segments = [p for pair in zip(heads, tails) for p in pair]
    _lines(shader, segments, color, 4.0, size)


def _draw_row(shader: Any, size: tuple[float, float], told: Any, found: Any, row: int) -> None:
    heads, tails = found.heads[row], found.tails[row]
    extent = max(float(np.ptp(heads[:, 2])), 1e-3)
    if told.show_ghost and told.show_stress:
        for n in range(len(heads)):
            s = float(found.stress[row, n])
            _ghost(shader, size, heads[n:n + 1], tails[n:n + 1], (s, 1.0 - 0.6 * s, 0.2, 0.9))
    elif told.show_ghost:
        _ghost(shader, size, heads, tails, tuple(told.color))
    touching = found.is_touching[row]
    if told.show_zmp and touching.any():
        area = hull(found.points[row][touching])
        if len(area) > 2:
            _fan(area, AREA)
            edges = [p for pair in zip(area, np.roll(area, -1, axis=0)) for p in pair]
            _lines(shader, edges, (*AREA[:3], 0.9), 2.0, size)
        if np.isfinite(found.zmp[row]).all():
            _lines(shader, _cross(found.zmp[row], 0.03 * extent), ZMP, 3.0, size)
    if told.show_contacts and touching.any():
        reach = 0.5 * extent / found.weight
        starts = found.points[row][touching]
        _lines(shader, [p for a, f in zip(starts, found.forces[row][touching]) for p in (a, a + reach * f)], FORCE, 3.0,
               size)
    if told.show_com:
        around = found.com[max(row - 12, 0):row + 13]
        _lines(shader, [p for pair in pairwise(around) for p in pair], (*COM[:3], 0.6), 1.5, size)
        _lines(shader, _cross(found.com[row], 0.03 * extent), COM, 3.0, size)
    if told.show_helper:
        top = heads[:, 2].max() + 0.1 * extent
        at = np.array([found.com[row][0], found.com[row][1], top])
        _lines(shader, [at, at + [0.0, 0.0, 0.5 * extent * float(found.helper[row])]], (0.8, 0.4, 1.0, 1.0), 5.0, size)


def _draw_pushes(shader: Any, size: tuple[float, float], told: Any, ob: Any, scene: Any) -> None:
    if not told.show_pushes:
        return
    for item in ob.heft.pushes:
        if not item.is_on or not is_in(scene, item.object):
            continue
        own = item.object.heft.push
        is_acting = own.start <= scene.frame_current <= own.start + (1.0 if own.is_impulse else own.length)
        place = item.object.matrix_world
        start = np.array(place.translation)
        along = np.array(place.col[2][:3]) * item.object.empty_display_size
        color, width = (PUSH, 6.0) if is_acting else ((*PUSH[:3], 0.35), 2.0)
        _lines(shader, [start, start + along], color, width, size)


def register() -> None:
    _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
