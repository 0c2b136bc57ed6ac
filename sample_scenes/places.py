"""Grounds, arrows, weights and words for the sample scenes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

GROUND = (0.80, 0.80, 0.76)


def add_mesh(name: str, vertices: Any, faces: Any, rgb: Sequence[float] = GROUND) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, v)) for v in vertices], [], [tuple(map(int, f)) for f in faces])
    material = bpy.data.materials.get(f"{name} colour") or bpy.data.materials.new(f"{name} colour")
    material.diffuse_color = (*rgb, 1.0)
    mesh.materials.append(material)
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def add_heights(name: str, x: Sequence[float], y: Sequence[float], height: Callable[[Any, Any], Any],
                rgb: Sequence[float] = GROUND) -> Any:
    """A surface z = height(x, y) over a grid."""
    gx, gy = np.meshgrid(x, y, indexing="ij")
    z = height(gx, gy) * np.ones_like(gx)
    n = len(y)
    faces = [(i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1)
             for i in range(len(x) - 1) for j in range(n - 1)]
    return add_mesh(name, np.stack([gx, gy, z], -1).reshape(-1, 3), faces, rgb)


def add_box(name: str, low: Sequence[float], high: Sequence[float], rgb: Sequence[float] = GROUND) -> Any:
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return add_mesh(name, corners, faces, rgb)


def add_floor(size: float = 12.0, centre: Sequence[float] = (2.0, 0.0)) -> Any:
    x, y = centre
    return add_mesh("Floor", [(x - size, y - size, 0), (x + size, y - size, 0), (x + size, y + size, 0),
                              (x - size, y + size, 0)], [(0, 1, 2, 3)])


def add_push(ob: Any, bone: str, start: float, length: float, newtons: float, way: Sequence[float],
             is_impulse: bool = False) -> Any:
    """An arrow that pushes a bone, beside where the bone is then."""
    scene = bpy.context.scene
    scene.frame_set(int(start))
    posed = ob.pose.bones[bone]
    aim = ob.matrix_world @ (0.5 * (posed.head + posed.tail))
    empty = bpy.data.objects.new("Push", None)
    empty.empty_display_type, empty.empty_display_size = "SINGLE_ARROW", 0.5
    direction = Vector(way).normalized()
    empty.rotation_mode = "QUATERNION"
    empty.rotation_quaternion = direction.to_track_quat("Z", "Y")
    empty.location = aim - 0.68 * direction
    scene.collection.objects.link(empty)
    told = empty.heft.push
    told.bone, told.start, told.length, told.strength, told.is_impulse = bone, start, length, newtons, is_impulse
    ob.heft.pushes.add().object = empty
    scene.frame_set(scene.frame_start)
    return empty


def add_load(ob: Any, bone: str, kg: float) -> None:
    """A dumbbell in the palm of a hand, and a line in the list of loads."""
    from sample_scenes.shapes import capsule, egg

    size = 0.032 * kg ** (1 / 3)
    pieces = [capsule("hand", (-0.08, 0.0, 0.0), (0.08, 0.0, 0.0), 0.014, 0.014, "weight"),
              *(egg("hand", (x, 0.0, 0.0), (0.7 * size, size, size), "weight") for x in (-0.09, 0.09))]
    counts = np.cumsum([0, *(len(piece.vertices) for piece in pieces)])
    bell = add_mesh(f"{kg:g} kg", np.concatenate([piece.vertices for piece in pieces]),
                    [tuple(n + start for n in face) for piece, start in zip(pieces, counts) for face in piece.faces],
                    (0.05, 0.05, 0.06))
    bell.parent, bell.parent_type, bell.parent_bone = ob, "BONE", bone
    held = ob.data.bones[bone]
    across = held.matrix_local.to_3x3().inverted() @ Vector((1.0, 0.0, 0.0))    # the bar points ahead as arms hang
    bell.rotation_mode = "QUATERNION"
    bell.rotation_quaternion = Vector((1.0, 0.0, 0.0)).rotation_difference(across)
    bell.location = (0.0, 0.095 - held.length, 0.0)                             # children hang at tails
    item = ob.heft.loads.add()
    item.bone, item.kg, item.object = bone, kg, None
    item.start, item.end = bpy.context.scene.frame_start, bpy.context.scene.frame_end


def add_ground(ob: Any, mesh: Any, friction: float = 0.9) -> None:
    item = ob.heft.grounds.add()
    item.object, item.friction = mesh, friction


def add_words(title: str, text: str) -> None:
    bpy.data.texts.new("Read me").write(f"{title}\n{'=' * len(title)}\n\n{text.strip()}\n")
