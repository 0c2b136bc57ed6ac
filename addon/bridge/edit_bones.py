# SPDX-License-Identifier: GPL-3.0-or-later
"""Make bones. Blender makes bones in edit mode only, and only an operator enters it: the one use of `bpy.ops`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import bpy
from mathutils import Matrix

from .convert import Array
from .visible import active_layer

if TYPE_CHECKING:
    from bpy.types import Scene


def free_bones(scene: Scene, ob: Any, bones: Mapping[str, tuple[Array, Array]]) -> None:
    """Bones without parents, by rest matrix and tail in the armature's space; who was active stays active."""
    layer: Any = None
    for layer in (active_layer(scene), *scene.view_layers):  # operators work in the one on show
        layer.update()  # a new object is in no layer before
        if ob.name in layer.objects:
            break
    mode: Any = "OBJECT"
    before = layer.objects.active
    if before is not None and before.mode != "OBJECT":
        mode = before.mode
        bpy.ops.object.mode_set(mode="OBJECT")
    selected = [each for each in layer.objects if each.select_get(view_layer=layer)]
    layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        for name, (rest, tail) in bones.items():
            bone = ob.data.edit_bones.new(name)
            bone.head, bone.tail = rest[:3, 3].tolist(), tail.tolist()
            bone.matrix = Matrix(rest.tolist())
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
        layer.objects.active = before
        for each in layer.objects:
            each.select_set(each in selected, view_layer=layer)
        if mode != "OBJECT":
            bpy.ops.object.mode_set(mode=mode)
