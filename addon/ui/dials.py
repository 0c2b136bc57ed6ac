# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender properties made from the dials of every controller: name, bounds, unit and help are the solver's."""

from typing import Any

import bpy
from bpy.props import BoolProperty, FloatProperty

from ..bridge.controllers import Dial, Kind, controllers


class DialGroups:
    """One property group per controller, in the order of the menu."""

    def __init__(self) -> None:
        self.kinds: list[Kind] = list(controllers().values())
        self.classes: list[Any] = [_group(kind) for kind in self.kinds]


def _group(kind: Kind) -> Any:
    made: Any = type(f"HEFT_PG_{kind.id.lower()}", (bpy.types.PropertyGroup,), {
        "__doc__": kind.words, "__annotations__": {dial.name: _property(dial) for dial in kind.dials}})
    return made


def _property(dial: Dial) -> Any:
    words = dial.words.rstrip(".")  # Blender adds the full stop
    if dial.is_switch:
        return BoolProperty(name=dial.label, description=words, default=bool(dial.default),
                            override={"LIBRARY_OVERRIDABLE"})
    return FloatProperty(name=dial.label, description=words, default=float(dial.default), min=dial.low, max=dial.high,
                         override={"LIBRARY_OVERRIDABLE"})


dial_groups = DialGroups()
