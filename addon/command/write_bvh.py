# SPDX-License-Identifier: GPL-3.0-or-later
"""A character's motion as a .bvh file: where its bones are in the world, y up, as other programs expect it.

Blender's own exporter leaves the object's place and size out and writes z up, so that even Blender reads its file back
lying down. A joint has channels of position only where its distance to its parent changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from mathutils import Euler, Matrix

from ..bridge.convert import Array, array_of, frames_per_second, turn_of

Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # world to file
ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
USUAL = "ZXY"
STILL = 1e-6   # of the body's size: a distance that changes less does not change


@dataclass
class _Joint:
    name: str
    order: Any            # "ZXY" and so on: its rotations in the file, the outermost first
    offset: Array         # (3,) from its parent, at rest
    end: Array            # (3,) of its tip, at rest
    turns: Array          # (F, 3, 3) against its parent
    places: Array         # (F, 3) from its parent
    children: list[_Joint] = field(default_factory=list)
    has_place: bool = True


def write_bvh(path: Path, scene: Any, ob: Any, frames: tuple[int, int], size: float) -> None:
    """`size` is the file's units per unit of the scene."""
    root = _joint_tree(scene, ob, frames, size)
    lines = ["HIERARCHY", *_hierarchy(root, 0), "MOTION", f"Frames: {frames[1] - frames[0] + 1}",
             f"Frame Time: {1.0 / frames_per_second(scene):.9f}"]
    columns = np.concatenate(_columns(root), axis=1)
    lines += [" ".join(f"{value:.6f}" for value in row) for row in columns]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _joint_tree(scene: Any, ob: Any, frames: tuple[int, int], size: float) -> _Joint:
    bones = list(ob.data.bones)  # parents come first
    before = scene.frame_current
    posed = np.empty((frames[1] - frames[0] + 1, len(bones), 4, 4))
    rest = np.empty((len(bones), 4, 4))
    for n, frame in enumerate(range(frames[0], frames[1] + 1)):
        scene.frame_set(frame)
        world = array_of(ob.matrix_world)
        posed[n] = [world @ array_of(ob.pose.bones[bone.name].matrix) for bone in bones]
        if n == 0:
            rest[:] = [world @ array_of(bone.matrix_local) for bone in bones]
    scene.frame_set(before)
    heads, rest_heads = size * posed[..., :3, 3] @ Y_UP.T, size * rest[:, :3, 3] @ Y_UP.T
    turns = Y_UP @ turn_of(posed) @ turn_of(rest).swapaxes(-1, -2) @ Y_UP.T   # from rest, in the file's axes
    body = float(np.ptp(rest_heads, axis=0).max())
    index = {bone.name: i for i, bone in enumerate(bones)}
    joints: list[_Joint] = []
    roots = []
    for i, bone in enumerate(bones):
        tip = rest[i, :3, :3] @ [0.0, bone.length, 0.0] * size @ Y_UP.T
        order = ob.pose.bones[bone.name].rotation_mode
        parent = index[bone.parent.name] if bone.parent is not None else None
        joint = _Joint("_".join(bone.name.split()), order if order in ORDERS else USUAL, rest_heads[i], tip,
                       turns[:, i], heads[:, i])
        if parent is not None:
            back = turns[:, parent].swapaxes(-1, -2)
            joint.offset = rest_heads[i] - rest_heads[parent]
            joint.turns = back @ turns[:, i]
            joint.places = (back @ (heads[:, i] - heads[:, parent])[..., None])[..., 0]
            joint.has_place = bool(np.abs(joint.places - joint.offset).max() > STILL * max(body, 1e-9))
            joints[parent].children.append(joint)
        else:
            roots.append(joint)
        joints.append(joint)
    if len(roots) == 1:
        return roots[0]
    still = np.zeros((len(posed), 3))
    return _Joint("_roots", USUAL, np.zeros(3), np.zeros(3), np.tile(np.eye(3), (len(posed), 1, 1)), still, roots)


def _hierarchy(joint: _Joint, depth: int) -> list[str]:
    pad = "\t" * depth
    place = "Xposition Yposition Zposition " if joint.has_place else ""
    turns = " ".join(f"{axis}rotation" for axis in joint.order)
    lines = [f"{pad}{'JOINT' if depth else 'ROOT'} {joint.name}", f"{pad}{{", f"{pad}\tOFFSET {_three(joint.offset)}",
             f"{pad}\tCHANNELS {6 if joint.has_place else 3} {place}{turns}"]
    for child in joint.children:
        lines += _hierarchy(child, depth + 1)
    if not joint.children:
        lines += [f"{pad}\tEnd Site", f"{pad}\t{{", f"{pad}\t\tOFFSET {_three(joint.end)}", f"{pad}\t}}"]
    return [*lines, f"{pad}}}"]


def _columns(joint: _Joint) -> list[Array]:
    """Positions and degrees of a joint and of those below it, in the order of the hierarchy."""
    angles = np.empty((len(joint.turns), 3))
    near = Euler((0.0, 0.0, 0.0), joint.order[::-1])  # Blender names the innermost first
    for n, turn in enumerate(joint.turns):
        near = Matrix(turn.tolist()).to_euler(joint.order[::-1], near)  # no jumps from frame to frame
        angles[n] = [near["XYZ".index(axis)] for axis in joint.order]
    out = [joint.places] if joint.has_place else []
    out.append(np.degrees(angles))
    for child in joint.children:
        out += _columns(child)
    return out


def _three(values: Array) -> str:
    return " ".join(f"{value:.6f}" for value in values)
