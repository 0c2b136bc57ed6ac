# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature as plain data: bones at rest, who deforms, who copies whom. Nothing of the solver's yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._link import solver
from .actions import bone_of
from .convert import Array, array_of, matrices

if TYPE_CHECKING:
    import bpy

# Constraints that only hold a bone within bounds: keys under them still mean what they say.
BOUNDS = {"LIMIT_ROTATION", "LIMIT_LOCATION", "LIMIT_SCALE", "LIMIT_DISTANCE", "MAINTAIN_VOLUME"}
WEIGHT = 0.02  # of a vertex: less is dust that automatic weights leave
COPIES = {"COPY_TRANSFORMS", "COPY_ROTATION", "COPY_LOCATION", "ARMATURE", "DAMPED_TRACK", "STRETCH_TO"}


@dataclass(frozen=True, eq=False)
class Rig:
    """Bones in Blender's order, parents before children; lengths in the armature's own units."""

    name: str
    names: tuple[str, ...]
    parents: tuple[int, ...]            # -1: none
    rests: Array                        # (B, 4, 4) in the armature's space
    tails: Array                        # (B, 3)
    is_deform: tuple[bool, ...]
    is_connected: tuple[bool, ...]
    is_target: tuple[bool, ...]         # of an inverse kinematics or pole constraint of this armature
    is_live: tuple[bool, ...]           # a constraint or driver decides its pose
    copied: tuple[int, ...]             # the bone whose pose it copies, -1: none
    has_skin: tuple[bool, ...] | None   # a mesh goes with it; None: no mesh

    def __len__(self) -> int:
        return len(self.names)

    @property
    def heads(self) -> Array:
        return self.rests[:, :3, 3]

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        below: list[list[int]] = [[] for _ in self.names]
        for i, p in enumerate(self.parents):
            if p >= 0:
                below[p].append(i)
        return tuple(tuple(own) for own in below)


@dataclass
class _Constraints:
    targets: set[str] = field(default_factory=set)
    live: set[str] = field(default_factory=set)
    copied: dict[str, str] = field(default_factory=dict)


def read_rig(ob: bpy.types.Object, skins: Iterable[bpy.types.Object] = ()) -> Rig:
    """The armature of `ob`; `skins` are the meshes it deforms."""
    if ob.type != "ARMATURE" or ob.pose is None:
        raise solver.InputError("It is not an armature.", ob.name, "Select the armature of the character.")
    armature: Any = ob.data
    bones = armature.bones
    if not len(bones):
        raise solver.InputError("It has no bones.", ob.name, "Select an armature with at least one bone.")
    names = tuple(bone.name for bone in bones)
    index = {name: i for i, name in enumerate(names)}
    tails = np.empty(3 * len(bones), dtype=np.float32)
    bones.foreach_get("tail_local", tails)
    seen = _read_constraints(ob)
    skinned = set().union(*(_weighted(ob, mesh) for mesh in skins))
    return Rig(
        ob.name, names, tuple(-1 if bone.parent is None else index[bone.parent.name] for bone in bones),
        matrices(bones, "matrix_local", len(bones)), tails.reshape(-1, 3).astype(np.float64),
        tuple(bool(bone.use_deform) for bone in bones),
        tuple(bool(bone.use_connect and bone.parent is not None) for bone in bones),
        tuple(name in seen.targets for name in names), tuple(name in seen.live for name in names),
        tuple(index.get(seen.copied.get(name, ""), -1) for name in names),
        tuple(name in skinned for name in names) if skinned & set(names) else None)


def skins_of(ob: bpy.types.Object, objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Meshes that an armature deforms or carries."""
    return [mesh for mesh in objects if mesh.type == "MESH" and (
        any(m.type == "ARMATURE" and getattr(m, "object", None) == ob for m in mesh.modifiers)
        or (mesh.parent == ob and mesh.parent_type in ("ARMATURE", "BONE")))]


def _weighted(ob: bpy.types.Object, mesh: Any) -> set[str]:
    """Bones that move some of a mesh; a vertex group alone says nothing, importers make one for every bone."""
    if mesh.parent == ob and mesh.parent_type == "BONE":
        return {mesh.parent_bone}
    names = {group.index: group.name for group in mesh.vertex_groups}
    seen: set[int] = set()
    for vertex in mesh.data.vertices:
        for group in vertex.groups:
            if group.weight > WEIGHT:
                seen.add(group.group)
        if len(seen) == len(names):
            break
    return {names[index] for index in seen if index in names}


def _read_constraints(ob: bpy.types.Object) -> _Constraints:
    seen = _Constraints()
    assert ob.pose is not None
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            _read_constraint(ob, bone, constraint, seen)
    if ob.animation_data is not None:
        for driver in ob.animation_data.drivers:  # a driven channel ignores keys
            for name in _driven_bone(driver.data_path):
                seen.live.add(name)
    return seen


def _read_constraint(ob: Any, bone: Any, constraint: Any, seen: _Constraints) -> None:
    is_own = getattr(constraint, "target", None) == ob
    if constraint.type == "IK":
        seen.targets.update(name for name, target in ((constraint.subtarget, constraint.target),
                                                      (constraint.pole_subtarget, constraint.pole_target))
                            if target == ob and name and name != bone.name)
    if constraint.mute or not constraint.is_valid or is_of_overlay(constraint):
        return
    if constraint.type in COPIES and bone.name not in seen.copied:
        subtarget = getattr(constraint, "subtarget", "")
        if constraint.type == "ARMATURE" and len(constraint.targets):
            is_own = constraint.targets[0].target == ob
            subtarget = constraint.targets[0].subtarget
        if is_own and subtarget:
            seen.copied[bone.name] = subtarget
    if constraint.type in BOUNDS:
        return
    seen.live.add(bone.name)
    if constraint.type == "IK":  # it also turns the bones above
        above, left = bone, constraint.chain_count or 10_000
        if not constraint.use_tail:
            above = bone.parent
        while above is not None and left > 0:
            seen.live.add(above.name)
            above, left = above.parent, left - 1


OVERLAY_NAME = "Heft"           # constraints of an overlay begin so
OVERLAY_MARK = "heft_overlay_of"  # custom property of an overlay: the rig it belongs to


def is_of_overlay(constraint: Any) -> bool:
    """Whether it is ours and says nothing about the rig; the name alone would claim an animator's own."""
    return constraint.name.startswith(OVERLAY_NAME) and constraint.type == "COPY_TRANSFORMS" \
        and constraint.target is not None and bool(constraint.target.get(OVERLAY_MARK))


def _driven_bone(path: str) -> Iterable[str]:
    """The bone whose transform a driver's path sets, if any."""
    if path.partition('"].')[2].split("[")[0] in (
            "location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale"):
        yield from bone_of(path)


def rest_in_world(rig: Rig, world: Array) -> tuple[Array, Array]:
    """Heads and tails (B, 3) at rest in the world, for an object matrix."""
    R, x = world[:3, :3], world[:3, 3]
    return rig.heads @ R.T + x, rig.tails @ R.T + x


__all__ = ["BOUNDS", "OVERLAY_MARK", "OVERLAY_NAME", "Rig", "array_of", "is_of_overlay", "read_rig", "rest_in_world",
           "skins_of"]
