"""Small rigs with known motions, made in Blender: people, animals, awkward bones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

PERSON: dict[str, tuple[str | None, tuple[float, float, float], tuple[float, float, float]]] = {
    "pelvis": (None, (0, 0, 0.95), (0, 0, 1.08)),
    "spine": ("pelvis", (0, 0, 1.08), (0, 0, 1.25)),
    "chest": ("spine", (0, 0, 1.25), (0, 0, 1.45)),
    "neck": ("chest", (0, 0, 1.45), (0, 0, 1.55)),
    "head": ("neck", (0, 0, 1.55), (0, 0, 1.78)),
    **{f"{name}.{side}": (f"{up}.{side}" if up not in ("chest", "pelvis") else up,
                          (x0 * s, y0, z0), (x1 * s, y1, z1))
       for side, s in (("L", 1.0), ("R", -1.0))
       for name, up, (x0, y0, z0), (x1, y1, z1) in (
           ("upper_arm", "chest", (0.18, 0, 1.42), (0.45, 0.02, 1.42)),
           ("forearm", "upper_arm", (0.45, 0.02, 1.42), (0.70, 0, 1.42)),
           ("hand", "forearm", (0.70, 0, 1.42), (0.88, 0, 1.42)),
           ("thigh", "pelvis", (0.10, 0, 0.93), (0.10, -0.01, 0.50)),
           ("shin", "thigh", (0.10, -0.01, 0.50), (0.10, 0.02, 0.09)),
           ("foot", "shin", (0.10, 0.02, 0.09), (0.10, -0.12, 0.02)),
           ("toe", "foot", (0.10, -0.12, 0.02), (0.10, -0.20, 0.02)))},
}
Bones = Mapping[str, tuple[str | None, Sequence[float], Sequence[float]]]


def make_armature(bpy: Any, bones: Bones, name: str = "Person", connected: Sequence[str] = (),
                  edit: Callable[[Any], None] | None = None) -> Any:
    """An armature object in the scene, in object mode."""
    ob = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for bone, (parent, head, tail) in bones.items():
        made = ob.data.edit_bones.new(bone)
        made.head, made.tail = head, tail
        if parent is not None:
            made.parent = ob.data.edit_bones[parent]
            made.use_connect = bone in connected
    if edit is not None:
        edit(ob.data.edit_bones)
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def key_sway(bpy: Any, ob: Any, first: int = 1, last: int = 25, step: float = 6.0, root: str = "pelvis",
             still: Sequence[str] = ()) -> Any:
    """Every bone turns gently and the root shifts; keys fall between frames where `step` is no whole number."""
    rng = np.random.default_rng(3)
    ob.animation_data_create()
    action = bpy.data.actions.new(f"{ob.name} sway")
    ob.animation_data.action = action
    if hasattr(action, "slots"):
        ob.animation_data.action_slot = action.slots.new("OBJECT", ob.name)
    for bone in ob.pose.bones:
        phase, axis = rng.uniform(0.0, 6.0), rng.normal(size=3)
        size = 0.05 if bone.name == root else 0.12
        frame = float(first)
        while frame <= last + 1e-6:
            angle = size * np.sin(0.25 * frame + phase)
            turn = axis / np.linalg.norm(axis) * angle
            if bone.rotation_mode == "QUATERNION":
                half = 0.5 * angle
                bone.rotation_quaternion = (np.cos(half), *(np.sin(half) * axis / np.linalg.norm(axis)))
                path = "rotation_quaternion"
            elif bone.rotation_mode == "AXIS_ANGLE":
                bone.rotation_axis_angle = (angle, *(axis / np.linalg.norm(axis)))
                path = "rotation_axis_angle"
            else:
                bone.rotation_euler = turn
                path = "rotation_euler"
            if bone.name not in still:
                bone.keyframe_insert(path, frame=frame)
            if bone.name == root:
                bone.location = (0.02 * np.sin(0.3 * frame), 0.01 * np.cos(0.2 * frame), 0.0)
                bone.keyframe_insert("location", frame=frame)
            frame += step
    return ob.animation_data.action


def all_keys(action: Any) -> dict[tuple[str, int], list[tuple[float, ...]]]:
    """Every key of an action with handles and interpolation: what must not change."""
    holders = [action] if not hasattr(action, "slots") else [
        bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags]
    return {(curve.data_path, curve.array_index):
            [(*key.co, *key.handle_left, *key.handle_right, key.interpolation) for key in curve.keyframe_points]
            for holder in holders for curve in holder.fcurves}
