# SPDX-License-Identifier: GPL-3.0-or-later
"""What one animator likes in every file; Edit > Preferences > Add-ons > Heft.

No `from __future__ import annotations` here: Blender reads the annotations as they are.
"""

from types import SimpleNamespace
from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty

ADDON = __package__.removesuffix(".addon.ui")   # what Blender knows the extension by


class HEFT_AP_preferences(bpy.types.AddonPreferences):
    bl_idname = ADDON

    dials: EnumProperty(name="New characters", description="How the dials of a character stand when it is first set up",
                        items=[("Subtle", "Subtle", "Gives way a little"), ("Natural", "Natural", "As a person would"),
                               ("Strong", "Strong", "Is carried far and comes back slowly")], default="Natural")
    redraw: FloatProperty(name="Ghost every", description="Seconds of work between two pictures of the ghost while a "
                          "preview runs; longer is faster", default=0.3, min=0.05, max=5.0, subtype="TIME_ABSOLUTE")

    def draw(self, context: Any) -> None:
        column = self.layout.column()
        column.use_property_split, column.use_property_decorate = True, False
        for name in ("dials", "redraw"):
            column.prop(self, name)


def liked(context: Any) -> Any:
    """The preferences; as they come where the add-on runs without being installed, as in a test."""
    entry = context.preferences.addons.get(ADDON)
    if entry is not None and entry.preferences is not None:
        return entry.preferences
    return SimpleNamespace(dials="Natural", redraw=0.3)


CLASSES = (HEFT_AP_preferences,)
