"""Reads motion capture in BVH: the joints of its hierarchy and their motion, turned to z up and metres.

Only what the takes of tests need: one root, rotations in any order of channels, positions of the root alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from solver.errors import InputError
from solver.model.character import Link
from solver.model.motion import Motion, uniform_times
from solver.numerics import rotation

CMU_UNIT = 0.0254 / 0.45  # m, of the takes converted by B. Hahne
UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # (x, y, z) with y up -> (x, -z, y)


def read(path: Path, unit: float = CMU_UNIT, skip: int = 1) -> tuple[list[Link], Motion]:
    """Joints and motion of a file; the first `skip` frames are dropped (CMU: an invented T-pose)."""
    words = iter(path.read_text(encoding="utf-8", errors="replace").split())
    joints, channels = _hierarchy(words, unit, path.name)
    frames, frame_time = _header(words, path.name)
    try:
        table = np.array([float(word) for word in words])
    except ValueError as error:
        raise InputError(f"A frame holds no number: {error}.", path.name, "Export it again.") from None
    width = sum(len(c) for c in channels)
    if table.size != frames * width:
        raise InputError(f"It has {table.size} numbers, {frames} frames of {width} channels need "
                         f"{frames * width}.", path.name, "Export it again.")
    table = table.reshape(frames, width)[skip:]

    rotations = np.zeros((len(table), len(joints), 4))
    positions = np.zeros((len(table), 3))
    column = 0
    for j, kinds in enumerate(channels):
        values = table[:, column:column + len(kinds)]
        column += len(kinds)
        turning = [n for n, kind in enumerate(kinds) if kind.endswith("rotation")]
        order = "".join(kinds[n][0] for n in turning)
        q = rotation.from_euler(np.radians(values[:, turning]), order) if order else rotation.IDENTITY
        rotations[:, j, :1], rotations[:, j, 1:] = q[..., :1], q[..., 1:] @ UP.T  # the axis turns along
        for n, kind in enumerate(kinds):
            if kind.endswith("position"):
                if j:
                    raise InputError("A joint below the root has position channels.",
                                     f"{path.name}, {joints[j].name}", "Export with rotations only.")
                positions[:, "xyz".index(kind[0])] = values[:, n]
    rate = 1.0 / frame_time
    rate = round(rate) if abs(rate / round(rate) - 1.0) < 1e-4 else rate  # .0083333 means 120 per second
    positions = unit * positions @ UP.T + np.asarray(joints[0].offset)
    return joints, Motion(uniform_times(len(table), rate), positions, rotations)


def _hierarchy(words: Iterator[str], unit: float, where: str) -> tuple[list[Link], list[list[str]]]:
    """Joints in the file's order with their channels, lower case and without blanks: `xrotation`."""
    names: list[str] = []
    parents: list[int | None] = []
    offsets: list[np.ndarray] = []
    tips: list[np.ndarray | None] = []
    channels: list[list[str]] = []
    open_joints: list[int] = []  # -1 stands for an end site
    for word in words:
        if word in ("ROOT", "JOINT"):
            if word == "ROOT" and names:
                raise InputError("It has two roots.", where, "Split the file.")
            names.append(next(words))
            parents.append(open_joints[-1] if open_joints else None)
            offsets.append(np.zeros(3))
            tips.append(None)
            channels.append([])
            assert next(words) == "{", where
            open_joints.append(len(names) - 1)
        elif word == "End":
            assert next(words) == "Site" and next(words) == "{", where
            open_joints.append(-1)
        elif word == "OFFSET":
            offset = unit * UP @ [float(next(words)) for _ in range(3)]
            if open_joints[-1] < 0:
                tips[open_joints[-2]] = offset
            else:
                offsets[open_joints[-1]] = offset
        elif word == "CHANNELS":
            channels[open_joints[-1]] = [next(words).lower() for _ in range(int(next(words)))]
        elif word == "}":
            open_joints.pop()
        elif word == "MOTION":
            break
        elif word != "HIERARCHY":
            raise InputError(f"The word {word!r} is not known.", where, "Choose a BVH file.")
    if not names or open_joints:
        raise InputError("The hierarchy is empty or not closed.", where, "Choose a BVH file.")
    for name, kinds in zip(names, channels, strict=True):
        for kind in kinds:
            if kind[0] not in "xyz" or kind[1:] not in ("rotation", "position"):
                raise InputError(f"The channel {kind!r} is not known.", f"{where}, {name}",
                                 "Export it again.")
    joints = [Link(name, None if parent is None else names[parent], offset, tip)
              for name, parent, offset, tip in zip(names, parents, offsets, tips, strict=True)]
    return joints, channels


def _header(words: Iterator[str], where: str) -> tuple[int, float]:
    try:
        assert next(words) == "Frames:"
        frames = int(next(words))
        assert (next(words), next(words)) == ("Frame", "Time:")
        return frames, float(next(words))
    except (AssertionError, ValueError, StopIteration):
        raise InputError("The lines Frames: and Frame Time: are missing.", where,
                         "Choose a BVH file.") from None
