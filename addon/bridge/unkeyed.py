# SPDX-License-Identifier: GPL-3.0-or-later
"""Channels that a result keys and its original does not.

Blender leaves them where the result put them when the original is shown again, so a second bake would begin from the
first one's pose. A result therefore remembers, in the file, what they were.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from .actions import bone_path, curves_of, is_heard, shown_result

KEPT = "heft_unkeyed"   # custom property of a result


def is_loose(channel: Any, heard: set[tuple[str, int]]) -> bool:
    """Whether no curve of the original says what some of a channel is."""
    path = bone_path(channel.bone, channel.name)
    return any((path, index) not in heard for index in range(channel.values.shape[1]))


def heard_curves(ob: Any) -> set[tuple[str, int]]:
    """Path and index of what the original animates."""
    return {(curve.data_path, curve.array_index) for curve in curves_of(ob) if is_heard(curve)}


def remember(action: Any, ob: Any, found: Iterable[Any]) -> None:
    """Call it before the result is shown."""
    heard = heard_curves(ob)
    kept: dict[str, dict[str, list[float]]] = {}
    for channel in found:
        if is_loose(channel, heard):
            kept.setdefault(channel.bone, {})[channel.name] = list(getattr(ob.pose.bones[channel.bone], channel.name))
    action[KEPT] = json.dumps(kept)


def give_back(ob: Any) -> None:
    """Undo what the result on show left in the pose; where it is still shown, the next frame brings that back."""
    action = shown_result(ob)
    for bone, channels in json.loads(action.get(KEPT, "{}")).items() if action is not None else ():
        for name, values in channels.items():
            if bone in ob.pose.bones:
                setattr(ob.pose.bones[bone], name, values)
