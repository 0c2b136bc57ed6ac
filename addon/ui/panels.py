# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab "Heft" in the sidebar: sub-panels in the order of the work."""

import textwrap
from typing import Any

import bpy

from ..bridge.actions import shown_result
from ..bridge.controllers import can_fall, controller_kind
from ..bridge.read_fields import kind_of, why_idle
from . import session
from .graph import balance_graph
from .messages import NO_CHARACTER, character_of, push_word
from .stored import is_in

ICONS = {"GOOD": "CHECKMARK", "CARE": "ERROR", "STOP": "CANCEL"}
LIGHTS = {"GOOD": "STRIP_COLOR_04", "CARE": "STRIP_COLOR_02", "STOP": "STRIP_COLOR_01"}  # green, amber, red
LETTER = 6.6   # pixels of a letter at scale 1, about


def wrapped(layout: Any, context: Any, text: str, icon: str = "NONE") -> None:
    """A sentence over as many lines as the sidebar needs; labels are cut otherwise."""
    scale = context.preferences.system.ui_scale
    width = max(int((context.region.width - 70 * scale) / (LETTER * scale)), 16)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for n, line in enumerate(textwrap.wrap(text, width) or [""]):
        column.label(text=line, icon=icon if n == 0 else ("BLANK1" if icon != "NONE" else "NONE"), translate=False)


class _Panel:
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Heft"


class HEFT_PT_main(_Panel, bpy.types.Panel):
    bl_label = "Heft"

    def draw(self, context: Any) -> None:
        layout, told = self.layout, context.scene.heft
        ob = character_of(context)
        if told.is_running:
            layout.progress(text=told.progress_words, factor=told.progress, type="BAR")
            layout.label(text="Esc stops it; nothing is changed", icon="INFO")
        if ob is None:
            wrapped(layout, context, f"{NO_CHARACTER}.", "INFO")
        else:
            layout.label(text=ob.name, icon="ARMATURE_DATA", translate=False)


class _CharacterPanel(_Panel):
    bl_parent_id = "HEFT_PT_main"
    needs_set_up = True

    @classmethod
    def poll(cls, context: Any) -> bool:
        ob = character_of(context)
        return ob is not None and (ob.heft.is_set_up or not cls.needs_set_up)


class HEFT_PT_character(_CharacterPanel, bpy.types.Panel):
    bl_label = "Character"
    needs_set_up = False

    def draw(self, context: Any) -> None:
        layout, ob = self.layout, character_of(context)
        row = layout.row(align=True)
        row.operator("heft.set_up", text="Set Up Again" if ob.heft.is_set_up else "Set Up Character",
                     icon="OUTLINER_OB_ARMATURE")
        if ob.heft.is_set_up:
            row.operator("heft.remove", text="", icon="X")
        for line in ob.heft.checklist:
            self._line(context, line)
        if not ob.heft.is_set_up:
            return
        column = layout.column()
        column.use_property_split, column.use_property_decorate = True, False
        column.prop(ob.heft, "mass")
        column.prop(ob.heft, "build")
        bone = ob.data.bones.active if ob.mode == "POSE" else None
        header, body = layout.panel("heft_bone", default_closed=False)
        header.label(text=f"Bone {bone.name}" if bone is not None else "Bone (in pose mode)", translate=False)
        if body is not None and bone is not None:
            column = body.column()
            column.use_property_split, column.use_property_decorate = True, False
            for name in ("use", "role", "mass", "strength", "share"):
                column.prop(bone.heft, name)
            body.operator("heft.mirror_bone", icon="MOD_MIRROR")
        elif body is not None:
            wrapped(body, context, "Select a bone in pose mode to change its mass, role or share.")

    def _line(self, context: Any, line: Any) -> None:
        row = self.layout.row()
        row.alert = line.level == "STOP"
        wrapped(row, context, f"{line.sentence} {line.remedy}".strip(), LIGHTS[line.level])
        if line.bone and line.level != "GOOD":
            row.operator("heft.go_to", text="", icon="RESTRICT_SELECT_OFF").bone = line.bone


class HEFT_PT_world(_CharacterPanel, bpy.types.Panel):
    bl_label = "Push, Load, Ground"

    def draw(self, context: Any) -> None:
        layout, told = self.layout, character_of(context).heft
        row = layout.row(align=True)
        row.operator_menu_enum("heft.add_push", "size", text="Push", icon="EMPTY_SINGLE_ARROW")
        row.operator("heft.add_load", text="Load", icon="MESH_CUBE")
        row.operator("heft.add_ground", text="Ground", icon="MESH_GRID")
        self._fields(context, told)
        bones = character_of(context).data
        for n, item in enumerate(told.pushes):
            self._push(layout.box(), item, n, bones, context.scene)
        for n, item in enumerate(told.loads):
            box = layout.box()
            self._head(box, item, n, "loads", "MESH_CUBE", f"{item.kg:g} kg")
            box.prop_search(item, "bone", bones, "bones", text="")
            box.prop(item, "kg")
            box.prop(item, "use_frames")
            if item.use_frames:
                row = box.row(align=True)
                row.prop(item, "start")
                row.prop(item, "end")
            box.prop(item, "object", text="At")
            if item.object is not None and not is_in(context.scene, item.object):
                wrapped(box, context, "Its object was deleted: it hangs at the end of the bone.", "ERROR")
        for n, item in enumerate(told.grounds):
            box = layout.box()
            name = (item.object or item.collection)
            self._head(box, item, n, "grounds", "MESH_GRID", name.name if name is not None else "Choose a mesh")
            box.prop(item, "object", text="")
            if item.object is None:
                box.prop(item, "collection", text="")
            box.prop(item, "friction")

    def _fields(self, context: Any, told: Any) -> None:
        """The tick, and which fields it means."""
        self.layout.prop(told, "use_fields")
        if not told.use_fields:
            return
        found = [ob for ob in context.scene.objects if kind_of(ob) != "NONE"]
        for ob in found:
            words = why_idle(context.scene, ob) or f"{kind_of(ob).capitalize()}, {ob.field.strength:g} N"
            wrapped(self.layout, context, f"{ob.name}: {words}", "FORCE_WIND")
        if not found:
            wrapped(self.layout, context, "There is none yet: add a force field of type Wind or Force.", "INFO")

    def _head(self, box: Any, item: Any, n: int, kind: str, icon: str, text: str) -> None:
        row = box.row(align=True)
        row.prop(item, "is_on", text="")
        row.label(text=text, icon=icon, translate=False)
        remove = row.operator("heft.remove_item", text="", icon="X")
        remove.kind, remove.index = kind, n

    def _push(self, box: Any, item: Any, n: int, bones: Any, scene: Any) -> None:
        if not is_in(scene, item.object):
            self._head(box, item, n, "pushes", "ERROR", "Its arrow was deleted")
            return
        own = item.object.heft.push
        self._head(box, item, n, "pushes", "EMPTY_SINGLE_ARROW",
                   f"{item.object.name}: {push_word(own.strength, own.is_impulse)}")
        column = box.column(align=True)
        column.prop(own, "strength", text="Newton seconds" if own.is_impulse else "Newtons")
        row = column.row(align=True)
        row.prop(own, "start")
        if not own.is_impulse:
            row.prop(own, "length")
        box.prop(own, "is_impulse")
        box.prop_search(own, "bone", bones, "bones", text="")


class HEFT_PT_check(_CharacterPanel, bpy.types.Panel):
    bl_label = "Check"

    def draw(self, context: Any) -> None:
        layout, told = self.layout, character_of(context).heft
        layout.operator("heft.check", icon="VIEWZOOM")
        if told.verdict:
            wrapped(layout, context, told.verdict, "INFO")
        for bar in told.bars:
            row = layout.row()
            wrapped(row, context, f"{bar.limb}: {bar.spans or 'never touches'}", "SNAP_PERPENDICULAR")
            row.operator("heft.add_contact", text="", icon="ADD").limb = bar.limb
        for n, item in enumerate(told.contacts):
            box = layout.box()
            row = box.row(align=True)
            row.prop(item, "limb", text="")
            row.prop(item, "mode", text="")
            remove = row.operator("heft.remove_item", text="", icon="X")
            remove.kind, remove.index = "contacts", n
            row = box.row(align=True)
            row.prop(item, "start")
            row.prop(item, "end")


class HEFT_PT_controller(_CharacterPanel, bpy.types.Panel):
    bl_label = "Controller"

    def draw(self, context: Any) -> None:
        layout, told = self.layout, character_of(context).heft
        kind = controller_kind(told.controller)
        layout.prop(told, "controller", text="")
        row = layout.row(align=True)
        for preset in kind.presets:
            row.operator("heft.apply_preset", text=preset).preset = preset
        layout.prop(told, "amount", slider=True)
        header, body = layout.panel("heft_dials", default_closed=True)
        header.label(text="Dials")
        if body is not None:
            column = body.column()
            column.use_property_split, column.use_property_decorate = True, False
            group = getattr(told, kind.id.lower())
            for dial in kind.dials:
                column.prop(group, dial.name)
        header, body = layout.panel("heft_path", default_closed=True)
        header.label(text="Path and Range")
        if body is not None:
            column = body.column()
            column.use_property_split, column.use_property_decorate = True, False
            column.prop(told, "goal")
            if told.goal == "BONE":
                column.prop_search(told, "goal_bone", character_of(context).data, "bones")
            column.prop(told, "use_range")
            if told.use_range:
                column.prop(told, "start")
                column.prop(told, "end")
            column.prop(told, "ease_in")
            column.prop(told, "ease_out")
        if can_fall():
            header, body = layout.panel("heft_release", default_closed=True)
            header.prop(told, "use_release")
            if body is not None:
                column = body.column()
                column.active = told.use_release
                column.use_property_split, column.use_property_decorate = True, False
                column.prop(told, "release_by")
                column.prop(told, "release_frame" if told.release_by == "FRAME" else "release_impulse")
                column.prop(told, "is_limp")
                column.prop(told, "use_get_up")
                if told.use_get_up:
                    column.prop(told, "get_up")
        row = layout.row(align=True)
        row.operator("heft.save_preset", text="Save Preset", icon="EXPORT")
        row.operator("heft.load_preset", text="Load Preset", icon="IMPORT")


class HEFT_PT_bake(_CharacterPanel, bpy.types.Panel):
    bl_label = "Preview and Bake"

    def draw(self, context: Any) -> None:
        layout, ob = self.layout, character_of(context)
        row = layout.row(align=True)
        row.operator("heft.preview", icon="GHOST_ENABLED")
        if session.has_preview(ob.name):
            row.operator("heft.clear_preview", text="", icon="X")
        column = layout.column()
        column.use_property_split, column.use_property_decorate = True, False
        column.prop(ob.heft, "output")
        column.prop(ob.heft, "use_reduction")
        if ob.heft.use_reduction:
            column.prop(ob.heft, "reduce_degrees")
            column.prop(ob.heft, "reduce_mm")
        row = layout.row()
        row.scale_y = 1.4
        row.operator("heft.bake", icon="ACTION")
        if shown_result(ob) is not None:
            layout.operator("heft.show_original", icon="LOOP_BACK")
        if ob.heft.overlay is not None:
            row = layout.row(align=True)
            row.prop(ob.heft.overlay, '["influence"]', text="Overlay", slider=True)
            row.operator("heft.remove_overlay", text="", icon="X")
        for line in ob.heft.report:
            row = layout.row()
            wrapped(row, context, line.sentence, ICONS[line.level])
            if line.frame > -1_000_000:
                row.operator("heft.go_to", text=str(line.frame)).frame = line.frame


class HEFT_PT_see(_CharacterPanel, bpy.types.Panel):
    bl_label = "See"

    def draw(self, context: Any) -> None:
        layout, told = self.layout, context.scene.heft
        grid = layout.grid_flow(columns=2, even_columns=True, align=True)
        for name in ("show_ghost", "show_pushes", "show_contacts", "show_com", "show_zmp", "show_stress",
                     "show_helper", "show_bars"):
            grid.prop(told, name, toggle=True)
        layout.prop(told, "color", text="Ghost")
        found = session.diagnostics_of(character_of(context))
        if found is None:
            wrapped(layout, context, "Nothing to show yet: check, preview or bake.", "INFO")
            return
        row = found.row(context.scene.frame_current)
        if row is not None:
            layout.label(text=f"Helper force {found.helper[row]:.2f} body weights", translate=False)
            margin = found.margin[row]
            layout.label(text="In the air" if margin != margin else f"Balance margin {100 * margin:.1f} cm",
                         translate=False)
        balance_graph(layout, found, context.scene.frame_current)


CLASSES = (HEFT_PT_main, HEFT_PT_character, HEFT_PT_world, HEFT_PT_check, HEFT_PT_controller, HEFT_PT_bake,
           HEFT_PT_see)
