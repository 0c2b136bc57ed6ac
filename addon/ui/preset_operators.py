# SPDX-License-Identifier: GPL-3.0-or-later
"""Save and load the whole set-up as a file that the command reads too."""

from pathlib import Path
from typing import Any

import bpy
from bpy.props import StringProperty

from ..bridge.settings import from_json, to_json
from .character_operators import CharacterOperator
from .messages import SolverError, character_of
from .stored import differing, fill, setup_of


class HEFT_OT_save_preset(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.save_preset"
    bl_label = "Save Preset"
    bl_description = "Write pushes, loads, grounds, controller and dials to a JSON file"
    bl_options = {"REGISTER"}

    filepath: StringProperty(subtype="FILE_PATH", default="character.heft.json")
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def invoke(self, context: Any, event: Any) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        try:
            Path(bpy.path.abspath(self.filepath)).write_text(to_json(setup_of(character_of(context))), encoding="utf-8")
        except OSError as error:
            self.report({"ERROR"}, f"The preset could not be written: {error}. Choose another folder.")
            return {"CANCELLED"}
        except SolverError as error:
            return self.refuse(error)
        self.report({"INFO"}, f"Saved {self.filepath}.")
        return {"FINISHED"}


class HEFT_OT_load_preset(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.load_preset"
    bl_label = "Load Preset"
    bl_description = "Set everything to what a JSON file says"
    bl_options = {"REGISTER", "UNDO"}

    filepath: StringProperty(subtype="FILE_PATH")
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def invoke(self, context: Any, event: Any) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Any) -> set[str]:
        path = Path(bpy.path.abspath(self.filepath))
        try:
            setup = from_json(path.read_text(encoding="utf-8"), path.name)
            ob = character_of(context)
            missing = fill(ob, setup, bpy.data.objects, bpy.data.collections)
        except (OSError, UnicodeDecodeError) as error:
            self.report({"ERROR"}, f"The preset could not be read: {error}. Choose another file.")
            return {"CANCELLED"}
        except SolverError as error:
            return self.refuse(error)
        if missing:
            self.report({"WARNING"}, f"Not in this file: {', '.join(missing)}.")
        elif others := differing(setup, setup_of(ob)):
            self.report({"WARNING"}, f"The panel cannot hold all of it: {', '.join(others)} differ from the preset. "
                        "The command takes it as it is.")
        return {"FINISHED"}


CLASSES = (HEFT_OT_save_preset, HEFT_OT_load_preset)
