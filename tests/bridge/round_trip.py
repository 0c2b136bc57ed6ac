"""Bake with nothing to disturb, and measure how far every bone is from where it was."""

from __future__ import annotations

from typing import Any

import numpy as np

from addon.bridge.convert import array_of, rotation, turn_of
from addon.bridge.settings import Setup
from addon.job import Baked, bake_character, finish, frame_range

DEGREES, METRES = 1e-3, 1e-5


def world_poses(scene: Any, ob: Any, frames: range) -> np.ndarray:
    """(F, B, 4, 4), read the plain way and not the add-on's."""
    out = []
    for frame in frames:
        scene.frame_set(frame)
        out.append([array_of(ob.matrix_world @ bone.matrix) for bone in ob.pose.bones])
    return np.array(out)


def distance(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Largest angle (degrees) and largest shift (scene units)."""
    change = turn_of(a).swapaxes(-1, -2) @ turn_of(b)
    return (float(np.degrees(np.linalg.norm(rotation.log_matrix(change), axis=-1)).max()),
            float(np.abs(a[..., :3, 3] - b[..., :3, 3]).max()))


def round_trip(bpy: Any, ob: Any, setup: Setup | None = None, scene: Any = None) -> tuple[float, float, Baked]:
    scene, setup = scene or bpy.context.scene, setup or Setup()
    first, last = frame_range(scene, ob, setup)
    frames = range(first, last + 1)
    before = world_poses(scene, ob, frames)
    baked = finish(bake_character(bpy.data, scene, ob, setup))
    after = world_poses(scene, ob, frames)
    return *distance(before, after), baked
