# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown instead of everything else where a library is missing: which one, and the way out."""

from typing import Any

import bpy

from .needs import missing


class HEFT_PT_missing(bpy.types.Panel):
    bl_label = "Heft"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Heft"

    def draw(self, context: Any) -> None:
        for line in words():
            self.layout.label(text=line)


def words() -> list[str]:
    return [f"Not installed: {', '.join(missing())}.", "Install the extension's zip file for",
            "your platform; it brings them along."]


def register() -> None:
    bpy.utils.register_class(HEFT_PT_missing)


def unregister() -> None:
    bpy.utils.unregister_class(HEFT_PT_missing)
