# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes, loads and grounds: add them, take them away."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from .._link import solver
from .character_operators import CharacterOperator
from .messages import character_of

STRENGTHS = {"NUDGE": 60.0, "SHOVE": 200.0, "TACKLE": 600.0}


def active_bone(context: Any, ob: Any) -> Any | None:
    """The active bone, if the animator is posing; its selection elsewhere means nothing."""
    return ob.data.bones.active if ob.mode == "POSE" else None


def no_bones(ob: Any) -> Exception:
    return solver.InputError("It has no bones any more.", ob.name, "Undo that, or select another armature.")


class HEFT_OT_add_push(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.add_push"
    bl_label = "Add Push"
    bl_description = "Add an arrow that pushes the character from this frame on. Move and aim it like any object"
    bl_options = {"REGISTER", "UNDO"}

    size: EnumProperty(name="Size", description="How hard", items=[
        ("NUDGE", "Nudge", "60 newtons"), ("SHOVE", "Shove", "200 newtons"), ("TACKLE", "Tackle", "600 newtons")],
        default="SHOVE")

    def execute(self, context: Any) -> set[str]:
        from mathutils import Matrix, Vector

        ob, scene = character_of(context), context.scene
        if not len(ob.pose.bones):
            return self.refuse(no_bones(ob))
        bone = active_bone(context, ob)
        posed = ob.pose.bones[bone.name] if bone is not None else None
        empty: Any = bpy.data.objects.new("Push", None)
        empty.empty_display_type = "SINGLE_ARROW"
        length = 0.4 * max(ob.dimensions) if max(ob.dimensions) > 0.0 else 0.5
        empty.empty_display_size = length
        aim = posed.matrix @ Vector((0.0, 0.5 * posed.length, 0.0)) if posed is not None else _chest(ob)
        place = ob.matrix_world @ aim
        turn = Matrix(((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)))  # its z along the world's x
        empty.matrix_world = Matrix.Translation(place - Vector((1.15 * length, 0.0, 0.0))) @ turn.to_4x4()
        scene.collection.objects.link(empty)
        told = empty.heft.push
        told.start, told.strength = float(scene.frame_current), STRENGTHS[self.size]
        told.bone = bone.name if bone is not None else ""
        ob.heft.pushes.add().object = empty
        return {"FINISHED"}


def _chest(ob: Any) -> Any:
    """Where most people push: three quarters up the bones, in the armature's space."""
    from mathutils import Vector

    heads = [ob.matrix_world @ bone.head for bone in ob.pose.bones]
    low, high = min(h.z for h in heads), max(h.z for h in heads)
    middle = sum(heads, Vector()) / len(heads)
    return ob.matrix_world.inverted_safe() @ Vector((middle.x, middle.y, low + 0.72 * (high - low)))


class HEFT_OT_add_load(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.add_load"
    bl_label = "Add Load"
    bl_description = "Hang a weight on a bone: the active bone, or one of the hands"
    bl_options = {"REGISTER", "UNDO"}

    kg: FloatProperty(name="Mass", description="Kilograms", default=10.0, min=0.0)
    bone: StringProperty(name="Bone", description="The bone that carries it; empty: the active one")

    def execute(self, context: Any) -> set[str]:
        ob = character_of(context)
        if not len(ob.data.bones):
            return self.refuse(no_bones(ob))
        bone = self.bone or (b.name if (b := active_bone(context, ob)) is not None else _hand(ob))
        if bone not in ob.data.bones:
            self.report({"ERROR"}, f"There is no bone {bone!r}. Select the bone that carries the load in pose mode.")
            return {"CANCELLED"}
        item = ob.heft.loads.add()
        item.bone, item.kg = bone, self.kg
        item.start, item.end = context.scene.frame_start, context.scene.frame_end
        return {"FINISHED"}


def _hand(ob: Any) -> str:
    """The first hand that Set Up found, else the first bone."""
    for line in ob.heft.checklist:
        words = line.sentence.split(" hands: ")
        if len(words) == 2:
            return str(words[1].rstrip(".").split(", ")[0].split(" and ")[0])
    return str(ob.data.bones[0].name)


class HEFT_OT_add_ground(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.add_ground"
    bl_label = "Add Ground"
    bl_description = "Stand on the selected meshes; with none selected, on one you choose in the list"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        ob = character_of(context)
        known = {item.object for item in ob.heft.grounds}
        chosen = [mesh for mesh in context.selected_objects
                  if mesh.type == "MESH" and mesh.find_armature() != ob and mesh not in known]
        for mesh in chosen:
            ob.heft.grounds.add().object = mesh
        if not chosen:
            ob.heft.grounds.add()
        return {"FINISHED"}


class HEFT_OT_remove_item(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.remove_item"
    bl_label = "Remove"
    bl_description = "Remove this line; the arrow of a push goes too"
    bl_options = {"REGISTER", "UNDO"}

    kind: EnumProperty(name="List", items=[(name, name.capitalize(), "") for name in (
        "pushes", "loads", "grounds", "contacts")])
    index: IntProperty(name="Line", min=0)
    keep_object: BoolProperty(name="Keep the arrow", description="Leave the empty in the scene")

    def execute(self, context: Any) -> set[str]:
        items = getattr(character_of(context).heft, self.kind)
        if self.index >= len(items):
            self.report({"ERROR"}, f"There are only {len(items)} {self.kind}.")
            return {"CANCELLED"}
        empty = items[self.index].object if self.kind == "pushes" else None
        items.remove(self.index)
        if empty is not None and not self.keep_object:
            bpy.data.objects.remove(empty)
        return {"FINISHED"}


CLASSES = (HEFT_OT_add_push, HEFT_OT_add_load, HEFT_OT_add_ground, HEFT_OT_remove_item)
