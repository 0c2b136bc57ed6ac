# SPDX-License-Identifier: GPL-3.0-or-later
"""Words on a sheet: text objects in a scene of their own, rendered as large as the sheet and laid over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy

from . import stage
from .pixels import Picture

_data: Any = bpy.data


@dataclass(frozen=True)
class Caption:
    words: str
    x: float          # pixels from the left
    y: float          # pixels from the bottom
    size: float       # pixels
    is_centred: bool = False


def draw_captions(captions: Sequence[Caption], width: int, height: int, colour: tuple[float, float, float]) -> Picture:
    scene: Any = _data.scenes.new("Heft captions")
    stage.prepare(scene)
    scene.display.shading.light, scene.display.shading.color_type = "FLAT", "OBJECT"
    scene.display.shading.show_cavity = False
    for caption in captions:
        curve = _data.curves.new("caption", "FONT")
        curve.body, curve.size = caption.words, 1.35 * caption.size
        curve.align_x = "CENTER" if caption.is_centred else "LEFT"
        ob = _data.objects.new("caption", curve)
        ob.location = (caption.x - 0.5 * width, caption.y - 0.5 * height, 0.0)
        ob.color = (*(c ** 2.2 for c in colour), 1.0)
        scene.collection.objects.link(ob)
    camera = stage.add_camera(scene)
    camera.location = (0.0, 0.0, 10.0)
    camera.data.ortho_scale = max(width, height)
    return stage.render(scene, width, height)
