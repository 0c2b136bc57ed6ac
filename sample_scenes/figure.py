"""A character of the solver as Blender sees it: an armature with keys, and one skinned mesh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix

from addon.bridge.actions import bone_path, new_action, show, write_keys
from sample_scenes.bodies import COLOURS
from sample_scenes.shapes import Piece
from solver import Character, Motion, rotation


def add_figure(name: str, character: Character, motion: Motion, pieces: Sequence[Piece], first: int = 1,
               at: Sequence[float] = (0.0, 0.0, 0.0)) -> Any:
    """Armature `name` with action and body, standing at a place."""
    ob = _armature(name, character)
    ob.location = at
    _key(ob, character, motion, first)
    _body(ob, character, pieces)
    return ob


def _armature(name: str, character: Character) -> Any:
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    heads = character.rest_positions - [0.0, 0.0, character.rest_positions[:, 2].min()]
    for i, link in enumerate(character.names):
        bone = ob.data.edit_bones.new(link)
        tip = character.tips[i]
        bone.head, bone.tail = heads[i], heads[i] + (tip if np.linalg.norm(tip) > 1e-3 else [0.0, 0.0, 0.05])
        if abs(tip[2]) > 0.8 * np.linalg.norm(tip):
            bone.align_roll((1.0, 0.0, 0.0))
        if character.parents[i] >= 0:
            bone.parent = ob.data.edit_bones[character.names[character.parents[i]]]
        bone.inherit_scale = "NONE"
    bpy.ops.object.mode_set(mode="OBJECT")
    ob.data.display_type, ob.show_in_front = "STICK", True
    return ob


def _key(ob: Any, character: Character, motion: Motion, first: int) -> None:
    """Rest frames of links are parallel to the world; a bone has its own, so turns are carried over into it."""
    frames = first + np.arange(len(motion.times), dtype=np.float64)
    curves = new_action(bpy.data.actions, ob, f"{ob.name} keys")
    show(ob, curves.action, curves.slot)
    for i, name in enumerate(character.names):
        bone = ob.data.bones[name]
        axes = np.array(bone.matrix_local.to_3x3())            # bone to armature
        own = rotation.from_matrix(axes)
        turn = rotation.multiply(rotation.conjugate(own), rotation.multiply(motion.rotations[:, i], own))
        channels: dict[str, Any] = {"rotation_quaternion": rotation.aligned(turn[:, None])[:, 0]}
        if i == 0:
            channels["location"] = (motion.positions - np.array(bone.head_local)) @ axes
        elif motion.offsets is not None and np.abs(motion.offsets[:, i] - character.offsets[i]).max() > 1e-6:
            # a parent's frame is parallel to the world at rest, so an offset only has to be seen in the bone's axes
            channels["location"] = (motion.offsets[:, i] - character.offsets[i]) @ axes
        if motion.scales is not None and np.abs(motion.scales[:, i] - 1.0).max() > 1e-6:
            channels["scale"] = motion.scales[:, i] @ axes ** 2  # the bones that stretch lie along the world's axes
        for channel, values in channels.items():
            for k in range(values.shape[1]):
                write_keys(curves.ensure(bone_path(name, channel), k, name), frames, values[:, k])
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = first, int(frames[-1])


def _body(ob: Any, character: Character, pieces: Sequence[Piece]) -> Any:
    mesh = bpy.data.meshes.new(f"{ob.name} body")
    vertices, faces, colours, groups = [], [], [], []
    names = list(dict.fromkeys(piece.colour for piece in pieces))
    for piece in pieces:
        head = np.array(ob.data.bones[piece.link].head_local)
        start = sum(map(len, vertices))
        vertices.append(piece.vertices + head)
        faces += [tuple(start + n for n in face) for face in piece.faces]
        colours += [names.index(piece.colour)] * len(piece.faces)
        groups.append((piece.link, range(start, start + len(piece.vertices))))
    mesh.from_pydata(np.concatenate(vertices).tolist(), [], faces)
    for name in names:
        mesh.materials.append(colour(name))
    mesh.polygons.foreach_set("material_index", colours)
    mesh.polygons.foreach_set("use_smooth", [True] * len(faces))
    body = bpy.data.objects.new(f"{ob.name} body", mesh)
    bpy.context.scene.collection.objects.link(body)
    for link, members in groups:
        group = body.vertex_groups.get(link) or body.vertex_groups.new(name=link)
        group.add(list(members), 1.0, "REPLACE")
    body.parent = ob
    body.matrix_parent_inverse = Matrix.Identity(4)
    body.modifiers.new("Armature", "ARMATURE").object = ob
    return body


def colour(name: str) -> Any:
    material = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    rgb = COLOURS[name] if name in COLOURS else (0.5, 0.5, 0.5)
    material.diffuse_color = (*rgb, 1.0)
    material.roughness = 0.7
    return material
