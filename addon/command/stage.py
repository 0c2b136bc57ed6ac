# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands around a character for its pictures: a camera, sticks where it has no skin, a floor, arrows.

Everything is made anew in the open file after the result was saved: nothing of it is ever kept.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from ..bridge.convert import Array
from .pixels import Picture
from .quiet import quiet

FLOOR, STICK, ARROW = (1.0, 0.98, 0.94, 1.0), (0.16, 0.42, 0.80, 1.0), (0.85, 0.08, 0.08, 1.0)
_data: Any = bpy.data
_ops: Any = bpy.ops


def prepare(scene: Any) -> None:
    render, shading = scene.render, scene.display.shading
    render.engine, render.film_transparent = "BLENDER_WORKBENCH", True
    render.use_compositing = render.use_sequencer = render.use_border = render.use_simplify = False
    render.resolution_percentage, render.image_settings.file_format = 100, "PNG"
    render.image_settings.color_mode = "RGBA"
    render.filter_size, scene.display.render_aa = 1.0, "8"
    shading.light, shading.color_type, shading.show_shadows, shading.show_cavity = "STUDIO", "OBJECT", False, True
    shading.studio_light = "paint.sl"  # bright and even: floors stay light
    scene.view_settings.view_transform = "Standard"
    scene.display.light_direction = (0.4, -0.5, 0.75)
    if any(ob.type == "MESH" and any(slot.material for slot in ob.material_slots) for ob in scene.objects):
        shading.color_type = "MATERIAL"


def add_camera(scene: Any) -> Any:
    camera = _data.objects.new("Heft camera", _data.cameras.new("Heft camera"))
    camera.data.type, camera.data.clip_end = "ORTHO", 1000.0
    scene.collection.objects.link(camera)
    scene.camera = camera
    return camera


def towards(ahead: Array, turn: float) -> Array:
    """(3,) the level direction to a camera on the right of where a character goes, turned to its front (rad)."""
    return np.asarray(np.cos(turn) * np.array([ahead[1], -ahead[0], 0.0]) + np.sin(turn) * ahead)


def aim(camera: Any, centre: Array, side: Array, width: float, height: float) -> None:
    """Look at a place from a level direction, a little from above."""
    rise = np.radians(10.0)
    away = np.cos(rise) * side + np.sin(rise) * np.array([0.0, 0.0, 1.0])
    x = np.cross([0.0, 0.0, 1.0], away)
    x /= np.linalg.norm(x)
    m = np.eye(4)
    m[:3, 0], m[:3, 1], m[:3, 2], m[:3, 3] = x, np.cross(away, x), away, centre + 60.0 * max(width, height) * 0.2 * away
    camera.matrix_world = Matrix(m.tolist())
    camera.data.ortho_scale = max(width, height)


def add_mesh(scene: Any, name: str, vertices: Sequence[Any], faces: Sequence[Any], colour: Any) -> Any:
    mesh = _data.meshes.new(name)
    mesh.from_pydata([tuple(map(float, v)) for v in vertices], [], [tuple(map(int, f)) for f in faces])
    ob = _data.objects.new(name, mesh)
    material = _data.materials.new(name)
    material.diffuse_color = colour
    mesh.materials.append(material)
    ob.color = colour
    scene.collection.objects.link(ob)
    return ob


def add_sticks(scene: Any, ob: Any, bones: Sequence[str], parents: Sequence[int]) -> None:
    """A body of slender rods for a rig that shows nothing: from joint to joint, and along the last bones."""
    size = max(float(bone.head_local.length) for bone in ob.data.bones)
    for n, name in enumerate(bones):
        bone = ob.data.bones[name]
        ends = [ob.data.bones[bones[k]].head_local for k, parent in enumerate(parents) if parent == n]
        for end in ends or [bone.tail_local]:
            along = bone.matrix_local.inverted() @ end
            if along.length < 1e-3 * size:
                continue
            vertices, faces = rod(along.length, min(0.16 * along.length, 0.035 * size))
            stick = add_mesh(scene, f"Heft {name}", vertices, faces, STICK)
            stick.parent, stick.parent_type, stick.parent_bone = ob, "BONE", name
            turn = along.to_track_quat("Y", "Z").to_matrix().to_4x4()
            stick.matrix_parent_inverse = Matrix.Translation((0.0, -bone.length, 0.0)) @ turn  # children hang at tails


def rod(length: float, thick: float, sides: int = 8) -> tuple[list[Any], list[Any]]:
    """A rod along y with rounded ends."""
    profile = [(0.0, 0.35), (0.08, 0.9), (0.25, 1.0), (0.8, 0.75), (0.95, 0.55), (1.0, 0.2)]
    vertices = [(thick * r * np.cos(a), length * y, thick * r * np.sin(a))
                for y, r in profile for a in 2.0 * np.pi * np.arange(sides) / sides]
    faces: list[Any] = [tuple(range(sides))[::-1], tuple(range(len(vertices) - sides, len(vertices)))]
    faces += [(k * sides + n, (k + 1) * sides + n, (k + 1) * sides + (n + 1) % sides, k * sides + (n + 1) % sides)
              for k in range(len(profile) - 1) for n in range(sides)]
    return vertices, [face[::-1] for face in faces]


def add_floor(scene: Any, centre: Array, reach: float, point: Array, normal: Array) -> None:
    """A square of a plane under the whole way."""
    corners = []
    for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        x, y = centre[0] + sx * reach, centre[1] + sy * reach
        z = point[2] - ((x - point[0]) * normal[0] + (y - point[1]) * normal[1]) / normal[2]
        corners.append((x, y, z))
    add_mesh(scene, "Heft floor", corners, [(0, 1, 2, 3)], FLOOR)


def add_arrow(scene: Any, length: float) -> Any:
    """An arrow along y whose tip is at its origin."""
    vertices, faces = rod(0.62 * length, 0.035 * length)
    cone = [(0.11 * length * np.cos(a), 0.6 * length, 0.11 * length * np.sin(a))
            for a in 2.0 * np.pi * np.arange(12) / 12] + [(0.0, length, 0.0)]
    first = len(vertices)
    faces += [(first + (n + 1) % 12, first + n, first + 12) for n in range(12)] + [tuple(first + n for n in range(12))]
    vertices = [(x, y - length, z) for x, y, z in [*vertices, *cone]]
    arrow = add_mesh(scene, "Heft arrow", vertices, faces, ARROW)
    arrow.hide_render = True
    return arrow


def render(scene: Any, width: int, height: int) -> Picture:
    """One picture of what the scene's camera sees now."""
    with tempfile.TemporaryDirectory(prefix="heft-") as folder:
        path = Path(folder) / "picture.png"
        scene.render.resolution_x, scene.render.resolution_y = width, height
        scene.render.filepath = str(path)
        with quiet():
            _ops.render.render(write_still=True, scene=scene.name)
        if not path.is_file():
            raise RuntimeError("Blender rendered nothing")
        image = _data.images.load(str(path))
        flat = np.empty(image.size[0] * image.size[1] * 4, dtype=np.float32)
        image.pixels.foreach_get(flat)
        picture = flat.reshape(image.size[1], image.size[0], 4)
        _data.images.remove(image)
    return picture
