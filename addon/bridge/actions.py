# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions on every Blender from 4.2 on: with slots and layers where they exist, without where they do not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .convert import Array

if TYPE_CHECKING:
    import bpy

CONSTANT, LINEAR = 0, 1  # `foreach_set` takes the numbers of the enumeration
RESULT, SOURCE, SOURCE_SLOT = "heft_result", "heft_source", "heft_source_slot"  # custom properties of a result


class Curves:
    """The f-curves of one action for one object."""

    def __init__(self, action: bpy.types.Action, slot: Any | None) -> None:
        holder: Any = action
        if slot is not None:
            layers: Any = action.layers
            layer = layers[0] if len(layers) else layers.new("Layer")
            strip = layer.strips[0] if len(layer.strips) else layer.strips.new(type="KEYFRAME")
            holder = strip.channelbag(slot, ensure=True)
        self.action, self.slot = action, slot
        self._curves, self._groups = holder.fcurves, holder.groups

    def __iter__(self) -> Iterator[Any]:
        return iter(self._curves)

    def find(self, path: str, index: int) -> Any | None:
        return self._curves.find(path, index=index)

    def ensure(self, path: str, index: int, group: str) -> Any:
        curve = self.find(path, index)
        if curve is None:
            curve = self._curves.new(path, index=index)
            if group:  # an argument of `new` in 5.0, a property everywhere
                curve.group = self._groups.get(group) or self._groups.new(group)
        return curve

    def remove(self, path: str, index: int) -> None:
        curve = self.find(path, index)
        if curve is not None:
            self._curves.remove(curve)


def has_slots(action: bpy.types.Action) -> bool:
    return hasattr(action, "slots")


def new_action(actions: Any, ob: bpy.types.Object, name: str) -> Curves:
    action = actions.new(name)
    return Curves(action, action.slots.new("OBJECT", ob.name) if has_slots(action) else None)


def copied_action(action: bpy.types.Action, slot: Any | None, name: str) -> Curves:
    """A copy to write into; the curves of other slots come along untouched."""
    copy: Any = action.copy()
    copy.name = name
    if slot is None:
        return Curves(copy, None)
    return Curves(copy, next(s for s in copy.slots if s.identifier == slot.identifier))


def shown(ob: bpy.types.Object) -> tuple[Any | None, Any | None]:
    """The active action of an object and its slot."""
    data = ob.animation_data
    if data is None or data.action is None:
        return None, None
    return data.action, getattr(data, "action_slot", None)


def show(ob: bpy.types.Object, action: Any | None, slot: Any | None) -> None:
    data: Any = ob.animation_data or ob.animation_data_create()
    if data.action != action:
        data.action = action
    if action is not None and slot is not None:
        data.action_slot = slot


def mark_result(result: Curves, source: Any | None, slot: Any | None) -> None:
    """Let a result remember what it was made from, in the file, so that baking again starts from the original."""
    action: Any = result.action
    action[RESULT] = True
    if source is not None:
        action[SOURCE] = source
        action[SOURCE_SLOT] = slot.identifier if slot is not None else ""


def result_track(ob: bpy.types.Object) -> Any | None:
    """The track of an earlier result, where no action lies on top of it."""
    data = ob.animation_data
    if data is None or data.action is not None:
        return None
    for track in reversed(list(data.nla_tracks)):
        if not track.mute and len(track.strips):
            action = track.strips[0].action
            return track if action is not None and action.get(RESULT) else None
    return None


def shown_result(ob: bpy.types.Object) -> Any | None:
    """The result that is played, as action or from its track."""
    track = result_track(ob)
    action = track.strips[0].action if track is not None else shown(ob)[0]
    return action if action is not None and action.get(RESULT) else None


def mute_results(ob: Any) -> None:
    """Tracks of earlier results: they would show through wherever the new one, or the original, has no keys."""
    for track in ob.animation_data.nla_tracks if ob.animation_data is not None else ():
        if len(track.strips) and track.strips[0].action is not None and track.strips[0].action.get(RESULT):
            track.mute = True


def original(ob: bpy.types.Object) -> tuple[Any | None, Any | None]:
    """The action that a bake starts from: what is shown, or what the result that is shown was made from."""
    action, slot = shown(ob)
    track = result_track(ob)
    if track is not None:
        action, slot = track.strips[0].action, getattr(track.strips[0], "action_slot", None)
    if action is None or not action.get(RESULT):
        return action, slot
    source = action.get(SOURCE)
    if source is None:  # either it was made from no action, or that was deleted since: then the result is all there is
        return (action, slot) if SOURCE_SLOT in action else (None, None)
    slots: Any = getattr(source, "slots", ())
    named = [s for s in slots if s.identifier == action.get(SOURCE_SLOT)]
    return source, named[0] if named else (slots[0] if len(slots) else None)


def curves_of(ob: bpy.types.Object) -> list[Any]:
    """The f-curves of the action that a bake starts from; none where it has no slot."""
    action, slot = original(ob)
    if action is None or (has_slots(action) and slot is None):
        return []
    if slot is None:
        return list(Curves(action, None))
    bags = (strip.channelbag(slot) for layer in action.layers for strip in layer.strips)  # reading adds nothing to it
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]


def strip_paths(ob: bpy.types.Object) -> set[str]:
    """Data paths that strips of tracks animate."""
    data = ob.animation_data
    strips = [strip for track in data.nla_tracks for strip in track.strips] if data is not None else []
    found: set[str] = set()
    while strips:
        strip: Any = strips.pop()
        strips += list(strip.strips)  # of a meta strip
        if strip.action is not None:
            found |= {curve.data_path for curve in all_curves(strip.action)}
    return found


def all_curves(action: Any) -> Iterator[Any]:
    """Of every slot."""
    if not has_slots(action):
        yield from action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            for bag in strip.channelbags:
                yield from bag.fcurves


def is_heard(curve: Any) -> bool:
    """Whether it has a say in what is played."""
    return not curve.mute and bool(len(curve.keyframe_points) or len(curve.sampled_points) or len(curve.modifiers))


def is_cyclic(curve: Any) -> bool:
    """Whether its keys are repeated beyond them."""
    return any(modifier.type == "CYCLES" and not modifier.mute for modifier in curve.modifiers)


def strip_range(ob: bpy.types.Object) -> tuple[int, int] | None:
    """First and last frame of what plays from tracks."""
    data = ob.animation_data
    strips = [strip for track in data.nla_tracks if not track.mute for strip in track.strips if not strip.mute] \
        if data is not None and data.use_nla else []
    if not strips:
        return None
    return (int(np.floor(min(strip.frame_start for strip in strips))),
            int(np.ceil(max(strip.frame_end for strip in strips))))


def write_keys(curve: Any, frames: Array, values: Array, interpolation: int = LINEAR) -> None:
    """Replace all keys of a curve."""
    keys = curve.keyframe_points
    if len(keys):
        keys.clear()
    keys.add(len(frames))
    pairs = np.empty(2 * len(frames), dtype=np.float32)
    pairs[0::2], pairs[1::2] = frames, values
    keys.foreach_set("co", pairs)
    keys.foreach_set("interpolation", np.full(len(frames), interpolation, dtype=np.int32))
    curve.update()


def key_frames(curve: Any) -> Array:
    """(K,) frames of a curve's keys."""
    flat = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
    curve.keyframe_points.foreach_get("co", flat)
    return flat[0::2].astype(np.float64)


def bone_path(name: str, channel: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')  # as bpy.utils.escape_identifier does
    return f'pose.bones["{escaped}"].{channel}'


def bone_of(path: str) -> Iterator[str]:
    """The bone that a data path leads to, if any."""
    head, found, rest = path.partition('pose.bones["')
    name, closed, _ = rest.partition('"].')
    if found and not head and closed:
        yield name.replace('\\"', '"').replace("\\\\", "\\")
