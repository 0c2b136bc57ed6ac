# SPDX-License-Identifier: GPL-3.0-or-later
"""From a sampled rig to a character the solver can move, and back: where every bone goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._link import solver
from .anatomy import Body, find_body
from .checklist import Line
from .convert import Array, rigid, rigid_inverse, rotation, turn_of
from .limits import BoneLimits, limits_in_world_axes, read_limits
from .read_motion import Samples, link_motion, rest_frame, rest_offsets, turning
from .rig import Rig, rest_in_world
from .settings import Setup

if TYPE_CHECKING:
    import bpy

PERSON = (75.0, 1.75)      # kg, m: other sizes weigh as their cube
LIMIT_ROOM = 1e-2          # rad left around a clip that leaves its limits


@dataclass(frozen=True, eq=False)
class Figure:
    """A rig as the solver sees it."""

    rig: Rig
    body: Body
    assembly: Any              # solver.Assembly: its joints are the body's links
    height: float              # m, of the rest pose
    lines: tuple[Line, ...]    # what was found

    @property
    def character(self) -> Any:
        return self.assembly.character

    def link_of(self, bone: str) -> int | None:
        """The character's link that a bone of the rig moves with."""
        carrier = self.body.carrier[self.rig.index[bone]] if bone in self.rig.index else -1
        return None if carrier < 0 else int(self.assembly.link_of[carrier])

    def bone_of(self, link: int) -> str:
        return self.rig.names[self.body.links[int(self.assembly.joint_of[link])]]

    def changes(self, motion: Any) -> Array:
        """(F, B, 4, 4) rigid motions of the world, in metres, that lead every bone from its keys to `motion`."""
        before = link_places(self.character, self.assembly.motion)
        after = link_places(self.character, motion)
        change = after @ rigid_inverse(before)
        same = np.abs(after - before).max((-1, -2)) == 0.0
        change[same] = np.eye(4)  # untouched stays untouched, to the last digit
        out = np.empty((len(change), len(self.rig), 4, 4))
        out[:] = np.eye(4)
        carrier = np.array(self.body.carrier)
        moved = carrier >= 0
        out[:, moved] = change[:, self.assembly.link_of[carrier[moved]]]
        return out


def read_character(ob: bpy.types.Object, rig: Rig, samples: Samples, setup: Setup, unit: float, rate: float,
                   has_clip: bool = True) -> Figure:
    rest = rest_frame(samples, unit)
    heads, tails = rest_in_world(rig, rest)
    still, swing = turning(rig, samples) if has_clip else (None, None)
    body = find_body(rig, heads, tails, {name: part.use for name, part in setup.parts.items()}, still, swing)
    motion = link_motion(rig, body, samples, unit, rate)
    links = list(body.links)
    lines: list[Line] = []
    joints = _joints(ob, rig, body, rest, tails - heads, setup, motion, lines if has_clip else [])
    cloud = np.concatenate((heads[links], tails[links]))
    height = float(np.ptp(cloud[:, 2]))
    size = float(np.ptp(cloud, axis=0).max())  # arms spread are as wide as a person is tall
    mass = setup.mass or float(np.clip(PERSON[0] * (size / PERSON[1]) ** 3, 0.05, 20000.0))
    build: Any = setup.build.lower()
    assembly = solver.assemble(joints, motion, mass=mass, masses=build, weld_still=False)
    return Figure(rig, body, assembly, height, tuple(lines))


def link_places(character: Any, motion: Any) -> Array:
    """(F, N, 4, 4) every link in the world."""
    H = np.zeros(motion.rotations.shape[:2] + (4, 4))
    local = rotation.matrix(motion.rotations)
    offsets = motion.offsets if motion.offsets is not None else np.broadcast_to(
        character.offsets, motion.rotations.shape[:2] + (3,))
    for i, p in enumerate(character.parents):
        own = rigid(local[:, i], motion.positions if p < 0 else offsets[:, i])
        H[:, i] = own if p < 0 else H[:, p] @ own
    return H


def _joints(ob: Any, rig: Rig, body: Body, rest: Array, extents: Array, setup: Setup, motion: Any,
            lines: list[Line]) -> list[Any]:
    offsets = rest_offsets(rig, body, rest)
    axes = turn_of(rest @ rig.rests)
    joints = []
    for n, i in enumerate(body.links):
        name, part = rig.names[i], setup.parts.get(rig.names[i])
        joint = solver.Link(name, None if n == 0 else rig.names[body.links[body.parents[n]]], offsets[n], extents[i])
        if part is not None:
            joint = replace(joint, role=None if part.role == "AUTO" else part.role.lower(),
                            mass=part.mass if part.mass > 0.0 else None)
        limits = read_limits(ob.pose.bones[name])
        if n and limits is not None and not rig.is_live[i]:
            joint = _with_limits(joint, limits, axes[i], motion.rotations[:, n], lines)
        joints.append(joint)
    return joints


def _with_limits(joint: Any, limits: BoneLimits, axes: Array, rotations: Array, lines: list[Line]) -> Any:
    """The limits of the rig, widened to admit the keys: a key that leaves them is the animator's will."""
    hinge = limits.hinge
    if hinge is not None:
        axis = axes[:, hinge]
        angles = rotation.twist_angle(rotations, axis)[:, None]
        low, high = limits.lower[hinge:hinge + 1], limits.upper[hinge:hinge + 1]
        joint = replace(joint, joint="hinge", axis=axis)
    else:
        angles = rotation.log(rotations)
        low, high = limits_in_world_axes(limits, axes)
    excess = float(np.maximum(low - angles, angles - high).max())
    if excess > 1e-3:
        sentence = f"{joint.name} leaves its limits ({limits.source}) by {np.degrees(excess):.0f} degrees: widened."
        lines.append(Line("CARE", sentence, "Correct the key or the limit if it is not meant.", joint.name))
    low = np.minimum(low, angles.min(0) - LIMIT_ROOM)
    high = np.maximum(high, angles.max(0) + LIMIT_ROOM)
    if not (np.isfinite(low) | np.isfinite(high)).any() and hinge is None:
        return joint
    return replace(joint, limits=(low, high))
