# SPDX-License-Identifier: GPL-3.0-or-later
"""Set up a character, and change what was found."""

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from ..bridge.actions import shown_result
from ..bridge.controllers import controller_kind
from ..bridge.originals import go_back
from ..bridge.overlay import remove_overlay
from ..job import set_up
from .messages import SolverError, character_of, refusal
from .preferences import liked
from .stored import setup_of


class CharacterOperator:
    """Common ground: an operator on the character of the context that says why it cannot run."""

    needs_set_up = True

    @classmethod
    def poll(cls, context: Any) -> bool:
        reason = refusal(context, cls.needs_set_up)
        if reason is not None:
            cls.poll_message_set(reason)  # type: ignore[attr-defined]
        return reason is None

    def refuse(self, error: Exception | str) -> set[str]:
        self.report({"ERROR"}, str(error))  # type: ignore[attr-defined]
        return {"CANCELLED"}


def fill_lines(collection: Any, lines: Any) -> None:
    collection.clear()
    for line in lines:
        item = collection.add()
        item.level, item.sentence, item.remedy, item.bone = line.level, line.sentence, line.remedy, line.bone


def turn_dials(ob: Any, preset: str) -> None:
    """All dials of its controller to a preset, if that has one of this name."""
    kind = controller_kind(ob.heft.controller)
    group = getattr(ob.heft, kind.id.lower())
    for dial in kind.dials if preset in kind.presets else ():
        setattr(group, dial.name, getattr(kind.presets[preset], dial.name))


class HEFT_OT_set_up(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.set_up"
    bl_label = "Set Up Character"
    bl_description = "Find the body in the rig: which bones move, feet, hands, masses and limits. Changes no keys"
    bl_options = {"REGISTER", "UNDO"}
    needs_set_up = False

    def execute(self, context: Any) -> set[str]:
        ob = character_of(context)
        try:
            lines = set_up(context.scene, ob, setup_of(ob))
        except SolverError as error:
            ob.heft.checklist.clear()
            item = ob.heft.checklist.add()
            item.level, item.sentence = "STOP", str(error)
            return self.refuse(error)
        fill_lines(ob.heft.checklist, lines)
        if not ob.heft.is_set_up:
            turn_dials(ob, liked(context).dials)
        ob.heft.is_set_up = True
        care = sum(line.level != "GOOD" for line in lines)
        self.report({"INFO"}, f"{lines[0].sentence} {f'{care} to look at.' if care else 'All good.'}")
        return {"FINISHED"}


def forget(group: Any, kept: tuple[str, ...] = ()) -> None:
    """All values of a group to their defaults, its lists empty."""
    for prop in group.bl_rna.properties:
        name = prop.identifier
        if name in ("rna_type", "name", *kept):
            continue
        if prop.type == "COLLECTION":
            getattr(group, name).clear()
        elif prop.type == "POINTER":
            forget(getattr(group, name))
        else:
            group.property_unset(name)


class HEFT_OT_remove(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.remove"
    bl_label = "Remove from Character"
    bl_description = ("Forget all settings of this character and its bones, its pushes, loads and grounds. Actions, "
                      "results and the arrows of pushes stay")
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        ob = character_of(context)
        forget(ob.heft, kept=("push", "overlay"))  # results, and what it is as an arrow
        for bone in ob.data.bones:
            forget(bone.heft)
        return {"FINISHED"}


class HEFT_OT_apply_preset(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.apply_preset"
    bl_label = "Preset"
    bl_description = "Turn all dials of the controller to a preset"
    bl_options = {"REGISTER", "UNDO"}

    preset: StringProperty(name="Preset", description="Its name")

    def execute(self, context: Any) -> set[str]:
        ob = character_of(context)
        kind = controller_kind(ob.heft.controller)
        if self.preset not in kind.presets:
            self.report({"ERROR"}, f"There is no preset {self.preset!r}. Choose from: {', '.join(kind.presets)}.")
            return {"CANCELLED"}
        turn_dials(ob, self.preset)
        return {"FINISHED"}


class HEFT_OT_mirror_bone(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.mirror_bone"
    bl_label = "Copy to Other Side"
    bl_description = "Give the bone on the other side (name.L and name.R) the same mass, role and firmness"
    bl_options = {"REGISTER", "UNDO"}

    bone: StringProperty(name="Bone", description="The bone to copy from; empty: the active bone")

    def execute(self, context: Any) -> set[str]:
        ob = character_of(context)
        bones = ob.data.bones
        source = bones.get(self.bone) if self.bone else bones.active
        if source is None:
            self.report({"ERROR"}, "No bone is active. Select a bone in pose mode.")
            return {"CANCELLED"}
        other = bones.get(bpy.utils.flip_name(source.name))
        if other is None or other == source:
            self.report({"ERROR"}, f"{source.name} has no bone on the other side. Name sides .L and .R.")
            return {"CANCELLED"}
        for name in ("use", "role", "mass", "strength", "share"):
            setattr(other.heft, name, getattr(source.heft, name))
        self.report({"INFO"}, f"Copied to {other.name}.")
        return {"FINISHED"}


class HEFT_OT_go_to(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.go_to"
    bl_label = "Go There"
    bl_description = "Go to the frame, and select the bone, that a line is about"
    bl_options = {"REGISTER", "UNDO"}
    needs_set_up = False

    frame: IntProperty(name="Frame", description="The frame to go to", default=-1_000_000)
    bone: StringProperty(name="Bone", description="The bone to make active")

    def execute(self, context: Any) -> set[str]:
        ob = character_of(context)
        if self.frame > -1_000_000:
            context.scene.frame_set(self.frame)
        bone = ob.data.bones.get(self.bone)
        if bone is not None:
            ob.data.bones.active = bone
        return {"FINISHED"}


class HEFT_OT_add_contact(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.add_contact"
    bl_label = "Override Contact"
    bl_description = "Say yourself whether a limb touches the ground between two frames"
    bl_options = {"REGISTER", "UNDO"}

    limb: StringProperty(name="Limb", description="The foot, hand or other part")
    mode: EnumProperty(name="Contact", description="What it does", items=[
        ("ON", "On", "It stands"), ("OFF", "Off", "It does not touch"), ("SLIDE", "Slide", "It may slide")])

    def execute(self, context: Any) -> set[str]:
        item = character_of(context).heft.contacts.add()
        item.limb, item.mode = self.limb, self.mode
        item.start = context.scene.frame_current
        item.end = item.start + 10
        return {"FINISHED"}


class HEFT_OT_remove_overlay(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.remove_overlay"
    bl_label = "Remove Overlay"
    bl_description = "Take the overlay armature and its constraints away; the control rig is as before"
    bl_options = {"REGISTER", "UNDO"}
    needs_set_up = False

    keep_action: BoolProperty(name="Keep the action", description="Keep the result's action in the file", default=True)

    def execute(self, context: Any) -> set[str]:
        ob = character_of(context)
        if not remove_overlay(bpy.data, ob, self.keep_action):
            self.report({"ERROR"}, f"{ob.name} has no overlay.")
            return {"CANCELLED"}
        return {"FINISHED"}


class HEFT_OT_show_original(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.show_original"
    bl_label = "Back to Original"
    bl_description = ("Play the original action again, with bones it does not key where they were before the bake. "
                      "The result stays in the file")
    bl_options = {"REGISTER", "UNDO"}
    needs_set_up = False

    def execute(self, context: Any) -> set[str]:
        ob = character_of(context)
        if shown_result(ob) is None:
            self.report({"ERROR"}, f"{ob.name} shows no result of a bake; its own action plays already.")
            return {"CANCELLED"}
        try:
            go_back(ob)
        except SolverError as error:
            return self.refuse(error)
        context.scene.frame_set(context.scene.frame_current, subframe=context.scene.frame_subframe)
        return {"FINISHED"}


CLASSES = (HEFT_OT_set_up, HEFT_OT_remove, HEFT_OT_apply_preset, HEFT_OT_mirror_bone, HEFT_OT_go_to,
           HEFT_OT_add_contact, HEFT_OT_remove_overlay, HEFT_OT_show_original)
