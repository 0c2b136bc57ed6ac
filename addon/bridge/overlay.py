# SPDX-License-Identifier: GPL-3.0-or-later
"""An overlay armature carries the result of a rig whose bones are held by constraints.

Its bones follow nothing but their keys. Each deform bone of the rig gets one more constraint, the last in its stack,
that copies its overlay bone; one number on the overlay, `influence`, blends them all, and outside the frames that were
baked the rig is on its own. Controls and their keys are not touched, and taking the overlay away leaves the rig as it
was. It plays without the add-on: constraints and drivers are Blender's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .actions import (
    CONSTANT,
    Curves,
    copied_action,
    curves_of,
    mark_result,
    new_action,
    original,
    show,
    shown,
    write_keys,
)
from .channels import decomposed, keyed_rotation
from .convert import Array, inverse
from .edit_bones import free_bones
from .read_character import Figure
from .read_motion import Samples
from .restore import Restored
from .rig import OVERLAY_MARK, OVERLAY_NAME, Rig, is_of_overlay
from .visible import shown_collections
from .write_action import SUFFIX, Channel, write_curves

if TYPE_CHECKING:
    import bpy

INFLUENCE = "influence"
IN_RANGE = "in_range"      # 1, or keyed to be 0 outside the frames that were baked
VARIABLE = "heft"          # of every driver that reads an overlay's influence
SOLVERS = ("IK", "SPLINE_IK")


def set_aside(ob: bpy.types.Object, state: Restored) -> None:
    """Look at a rig without the overlay of an earlier bake, whatever animates its influence."""
    for _, constraint in _constraints(ob):
        state.set(constraint, "mute", True)
    for curve, constraint, channel in _driven(ob):
        if constraint is not None and not is_of_overlay(constraint):
            state.set(curve, "mute", True)
            state.set(constraint, channel, _before(curve, channel))
    ob.update_tag()


def overlays_of(ob: bpy.types.Object) -> list[Any]:
    return [child for child in ob.children if child.type == "ARMATURE" and child.get(OVERLAY_MARK)]


def followers(figure: Figure) -> list[int]:
    """Bones that must follow an overlay: links, and joined bones that do not hang on a bone that follows."""
    rig, body = figure.rig, figure.body
    found: set[int] = set(body.links)
    carried = set(found)
    for i in range(len(rig)):
        if body.carrier[i] < 0 or i in found:
            continue
        p = rig.parents[i]
        hangs = p in carried and body.carrier[p] == body.carrier[i] and not rig.is_live[i]
        if hangs:
            carried.add(i)  # goes along by itself
        elif rig.is_deform[i]:
            found.add(i)
            carried.add(i)
    return sorted(found)


def write_overlay(data: Any, scene: bpy.types.Scene, ob: bpy.types.Object, figure: Figure, samples: Samples,
                  poses: Array, goes_on: tuple[bool, bool]) -> Any:
    """Make the overlay anew, key it, and let the rig follow; returns its action. `goes_on`: whether the rig's motion
    does, before and after the samples.

    An earlier one goes only when the new one is there, and hands on its influence and what animates that.
    """
    rig, bones = figure.rig, followers(figure)
    earlier = next(iter(overlays_of(ob)), None)
    carrier = _new_armature(data, scene, ob, rig, bones)
    curves = _new_curves(data, carrier, earlier)
    write_curves(curves, _channels(carrier, rig, bones, poses), samples.frames)
    _key_range(curves, samples.frames, goes_on)
    mark_result(curves, *original(ob))
    curves.action.use_fake_user = True
    show(carrier, curves.action, curves.slot)
    if earlier is not None:
        _hand_on(earlier, carrier)
    remove_overlay(data, ob, but=carrier)
    carrier.name = carrier.data.name = f"{ob.name}{SUFFIX}"
    assert ob.pose is not None
    for i in bones:
        _follow(ob.pose.bones[i], carrier)
    _hold_solvers(ob, carrier, {rig.names[i] for i in bones})
    return curves.action


def _new_armature(data: Any, scene: bpy.types.Scene, ob: Any, rig: Rig, bones: list[int]) -> Any:
    name = f"{ob.name}{SUFFIX}"
    carrier = data.objects.new(name, data.armatures.new(name))
    # nothing can be put into a collection that comes from another file
    own = (each for each in shown_collections(scene, ob) if each.library is None and each.override_library is None)
    next(own, scene.collection).objects.link(carrier)
    try:
        free_bones(scene, carrier, {rig.names[i]: (rig.rests[i], rig.tails[i]) for i in bones})
    except BaseException:
        data.armatures.remove(carrier.data)  # and with it the object
        raise
    carrier.parent = ob  # goes where the rig goes: its keys are in the rig's own space
    carrier.matrix_parent_inverse.identity()
    carrier[INFLUENCE], carrier[IN_RANGE], carrier[OVERLAY_MARK] = 1.0, 1.0, ob.name
    carrier.id_properties_ui(INFLUENCE).update(min=0.0, max=1.0, soft_min=0.0, soft_max=1.0,
                                               description="How much of the physical result is shown")
    carrier.hide_render = True
    carrier.display_type = "WIRE"
    return carrier


def _new_curves(data: Any, carrier: Any, earlier: Any | None) -> Curves:
    """An action to key the overlay in: with all that an earlier overlay's has but its bones."""
    name = f"{carrier.parent.name}{SUFFIX}"
    action, slot = shown(earlier) if earlier is not None else (None, None)
    if action is None or (hasattr(action, "slots") and slot is None):
        return new_action(data.actions, carrier, name)
    curves = copied_action(action, slot, name)
    for path, index in [(curve.data_path, curve.array_index) for curve in curves]:
        if path.startswith("pose.bones[") or path == f'["{IN_RANGE}"]':
            curves.remove(path, index)
    return curves


def _key_range(curves: Curves, frames: Array, goes_on: tuple[bool, bool]) -> None:
    """Where the rig's own motion goes on beyond the frames, the overlay is not there."""
    before, after = goes_on
    keys = [(frames[0] - 1.0, 0.0)] * before + [(frames[0], 1.0)] + [(frames[-1] + 1.0, 0.0)] * after
    if len(keys) > 1:
        at, values = np.array(keys).T
        write_keys(curves.ensure(f'["{IN_RANGE}"]', 0, ""), at, values, CONSTANT)


def _hand_on(earlier: Any, carrier: Any) -> None:
    carrier[INFLUENCE] = float(earlier.get(INFLUENCE, 1.0))
    for driver in earlier.animation_data.drivers if earlier.animation_data is not None else ():
        if driver.data_path == f'["{INFLUENCE}"]':
            carrier.animation_data.drivers.from_existing(src_driver=driver)


def _channels(carrier: Any, rig: Rig, bones: list[int], poses: Array) -> list[Channel]:
    """All of a free bone: it has no parent, so its basis is its pose seen from its rest."""
    found = []
    for i in bones:
        name = rig.names[i]
        rest = np.array(carrier.data.bones[name].matrix_local, dtype=np.float64)  # rounding of edit bones included
        location, turn, scale = decomposed(inverse(rest) @ poses[:, i])
        found.append(Channel(name, "location", location))
        found.append(Channel(name, "rotation_quaternion", keyed_rotation(turn, "QUATERNION", np.array([1.0, 0, 0, 0]))))
        if np.abs(scale - 1.0).max() > 1e-6:
            found.append(Channel(name, "scale", scale))
    return found


def _follow(bone: Any, carrier: Any) -> None:
    constraint = bone.constraints.new("COPY_TRANSFORMS")
    constraint.name = OVERLAY_NAME
    constraint.target, constraint.subtarget = carrier, bone.name
    _drive(constraint, "influence", carrier, (0.0, 1.0))


def _hold_solvers(ob: Any, carrier: Any, bones: set[str]) -> None:
    """Inverse kinematics is solved after all constraints of its chain: it must fade as the overlay sets in.

    Its influence is driven where nothing else decides it; where it is keyed or driven, the solver is switched off at
    full influence only, so that the animator's keys keep their say below it.
    """
    data = ob.animation_data
    decided = {driver.data_path for driver in data.drivers} | {curve.data_path for curve in curves_of(ob)} \
        if data is not None else set()
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            if constraint.type not in SOLVERS or constraint.mute or not bones & set(_chain(bone, constraint)):
                continue
            path = constraint.path_from_id("influence")
            if path in decided:
                _drive(constraint, "mute", carrier, (0.0, 1.0))
            else:
                _drive(constraint, "influence", carrier, (float(constraint.influence), 0.0))


def _chain(bone: Any, constraint: Any) -> list[str]:
    above, left = bone, constraint.chain_count or 10_000
    if getattr(constraint, "use_tail", True) is False:
        above = bone.parent
    names = []
    while above is not None and left > 0:
        names.append(above.name)
        above, left = above.parent, left - 1
    return names


def _drive(constraint: Any, channel: str, carrier: Any, ends: tuple[float, float]) -> None:
    """From the first value at influence 0, or outside the range, to the second at 1; no expression, so that it plays
    without scripts."""
    curve = constraint.driver_add(channel)
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    write_keys(curve, np.array([0.0, 1.0]), np.array(ends))
    curve.extrapolation = "CONSTANT"
    driver = curve.driver
    driver.type = "MIN"
    for name, number in ((VARIABLE, INFLUENCE), (IN_RANGE, IN_RANGE)):
        variable = driver.variables.new()
        variable.name, variable.type = name, "SINGLE_PROP"
        variable.targets[0].id = carrier
        variable.targets[0].data_path = f'["{number}"]'


def _reads_overlay(curve: Any, but: Any | None) -> bool:
    return any(variable.name == VARIABLE and target.data_path == f'["{INFLUENCE}"]'
               and (target.id is None or (target.id != but and target.id.get(OVERLAY_MARK)))
               for variable in curve.driver.variables for target in variable.targets)


def _driven(ob: Any, but: Any | None = None) -> list[tuple[Any, Any | None, str]]:
    """Drivers that overlays put on a rig, but for one overlay's, each with its constraint and the name of the channel.

    They are found by what they read: their paths change as bones are renamed. The constraint may be gone: None.
    """
    found = []
    for curve in ob.animation_data.drivers if ob.animation_data is not None else ():
        if _reads_overlay(curve, but):
            path, _, channel = curve.data_path.rpartition(".")
            try:
                constraint = ob.path_resolve(path)
            except ValueError:
                constraint = None
            found.append((curve, constraint, channel))
    return found


def _before(curve: Any, channel: str) -> float | bool:
    """What the channel was before the overlay: what its driver says at no influence."""
    value = float(curve.keyframe_points[0].co[1])
    return bool(value) if channel == "mute" else value


def _release(ob: Any, but: Any | None) -> None:
    for curve, constraint, channel in _driven(ob, but):
        value = _before(curve, channel)
        ob.animation_data.drivers.remove(curve)
        if constraint is not None:
            setattr(constraint, channel, value)


def _constraints(ob: Any, but: Any | None = None) -> list[tuple[Any, Any]]:
    return [(bone, constraint) for bone in ob.pose.bones for constraint in bone.constraints
            if is_of_overlay(constraint) and constraint.target != but]


def remove_overlay(data: Any, ob: bpy.types.Object, keep_action: bool = True, but: Any | None = None) -> bool:
    """Take constraints, drivers and armature away, of all overlays but one; whether there was any."""
    found = _constraints(ob, but)
    _release(ob, but)
    for bone, constraint in found:
        bone.constraints.remove(constraint)
    carriers = [carrier for carrier in overlays_of(ob) if carrier != but]
    for carrier in carriers:
        action = carrier.animation_data.action if carrier.animation_data is not None else None
        armature = carrier.data
        data.objects.remove(carrier)
        if armature.users == 0:
            data.armatures.remove(armature)
        if action is not None and not keep_action:
            data.actions.remove(action)
    return bool(found or carriers)
