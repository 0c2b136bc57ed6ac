# SPDX-License-Identifier: GPL-3.0-or-later
"""An overlay armature carries the result of a rig whose bones are held by constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .restore import Restored
from .rig import OVERLAY_NAME

if TYPE_CHECKING:
    import bpy


def set_aside(ob: bpy.types.Object, state: Restored) -> None:
    """Look at a rig without the overlay of an earlier bake."""
    assert ob.pose is not None
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            if constraint.name.startswith(OVERLAY_NAME):
                state.set(constraint, "mute", True)


def write_overlay(data: Any, scene: Any, ob: Any, figure: Any, samples: Any, poses: Any) -> Any:
    raise NotImplementedError
