# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own force fields as pushes.

A field pushes a rigid body with as many newtons as its strength; here the body is the whole character, and every part
takes its share of the mass. A wind blows along the field's z axis, a force away from its place (towards it where the
strength is negative); both fade with distance as in Blender,

    (1 + d - d_min)^-power       1 within d_min, 0 beyond d_max

and are felt where the keys put each part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._link import solver
from .convert import Array

if TYPE_CHECKING:
    import bpy

KINDS = ("WIND", "FORCE")
WEAKEST = 1e-6   # N: less is nothing


def field_objects(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Those whose fields can push a character."""
    return [ob for ob in scene.objects if kind_of(ob) in KINDS]


def kind_of(ob: Any) -> str:
    """The field's type; NONE for what has none."""
    return str(ob.field.type) if ob.field is not None else "NONE"


def field_pushes(scene: bpy.types.Scene, character: Any, places: Array, watched: Mapping[str, Array],
                 values: Mapping[str, Array], times: Array, unit: float) -> list[Any]:
    """One push per part that a field reaches, over the whole range; `places` (F, N, 4, 4) of the parts, m."""
    fields = field_objects(scene)
    if not fields:
        raise solver.InputError("There is no wind and no force in the scene.", "Force fields",
                                "Add a field of type Wind or Force, or untick Force fields.")
    share = character.masses / character.masses.sum()
    centres = places[..., :3, 3] + (places[..., :3, :3] @ character.coms[..., None])[..., 0]
    total = np.zeros(centres.shape)
    for ob in fields:
        total += values[f"field of {ob.name}"][:, None, None] * _pull(ob.field, watched[ob.name], centres / unit)
    total *= share[:, None]
    return [solver.Push.keyed(name, times, total[:, i], point=character.coms[i], is_local=False)
            for i, name in enumerate(character.names) if np.abs(total[:, i]).max() > WEAKEST]


def _pull(field: Any, place: Array, points: Array) -> Array:
    """(F, N, 3) the field at points (F, N, 3) in scene units, for a strength of one; `place` (F, 4, 4)."""
    away = points - place[:, None, :3, 3]
    distance = np.linalg.norm(away, axis=-1, keepdims=True)
    if field.type == "WIND":
        axis = place[:, :3, 2]
        direction = (axis / np.linalg.norm(axis, axis=-1, keepdims=True))[:, None]
    else:
        direction = away / np.maximum(distance, 1e-9)
    nearest = field.distance_min if field.use_min_distance else 0.0
    fade = (1.0 + np.maximum(distance - nearest, 0.0)) ** -field.falloff_power
    if field.use_max_distance:
        fade = np.where(distance > field.distance_max, 0.0, fade)
    return np.asarray(direction * fade)
