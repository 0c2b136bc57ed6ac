# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes that were told in words become arrows in the file: the panel keeps a push as an object."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
from mathutils import Vector

from ..bridge.settings import PushSpec, Setup

_data: Any = bpy.data


def with_arrows(scene: Any, ob: Any, setup: Setup) -> Setup:
    """The same pushes, each as an arrow; one that has its own, or names no bone, stays as it is."""
    return replace(setup, pushes=tuple(
        _arrow(scene, ob, push) if not push.object and push.bone in ob.pose.bones else push for push in setup.pushes))


def _arrow(scene: Any, ob: Any, push: PushSpec) -> PushSpec:
    empty = _data.objects.new("Push", None)
    empty.empty_display_type, empty.empty_display_size = "SINGLE_ARROW", 0.4 * max(*ob.dimensions, 0.1)
    way = Vector(push.direction).normalized()
    if push.point is not None:
        empty.location = push.point
    else:  # its tip just before the bone, so that the line goes through the middle
        empty.location = _middle(scene, ob, push) - 1.15 * empty.empty_display_size * way
    empty.rotation_euler = way.to_track_quat("Z", "Y").to_euler()
    scene.collection.objects.link(empty)
    return replace(push, object=empty.name)


def _middle(scene: Any, ob: Any, push: PushSpec) -> Any:
    """Of the bone in the world, when the push begins."""
    before = scene.frame_current
    scene.frame_set(int(push.start))
    bone = ob.pose.bones[push.bone]
    middle = ob.matrix_world @ (0.5 * (bone.head + bone.tail))
    scene.frame_set(before)
    return middle
