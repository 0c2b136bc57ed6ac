# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own force fields as pushes.

A field pushes a rigid body with as many newtons as its strength; here the body is the whole character, and every part
takes its share of the mass. A wind blows along the field's z axis, a force away from its place or plane (towards it
where the strength is negative); both fade as in Blender,

    (1 + d - d_min)^-power       1 within d_min, 0 beyond d_max

with the distance (sphere), or along the z axis and once more away from it (tube: in units, cone: in degrees), and are
felt where the keys put each part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._link import solver
from .convert import Array
from .visible import is_worked_out

if TYPE_CHECKING:
    import bpy

KINDS = ("WIND", "FORCE")
SHAPES = ("POINT", "PLANE")
WEAKEST = 1e-6   # N: less is nothing


def field_objects(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Those whose fields push a character."""
    return [ob for ob in scene.objects if why_idle(scene, ob) is None]


def why_idle(scene: bpy.types.Scene, ob: Any) -> str | None:
    """What keeps a field from pushing characters, in words; None where it pushes."""
    kind = kind_of(ob)
    if kind not in KINDS:
        return f"{kind.replace('_', ' ').capitalize()} does not push characters"
    if ob.field.shape not in SHAPES:
        return f"with the shape {ob.field.shape.capitalize()} it does not push characters"
    return None if is_worked_out(scene, ob) else "switched off, does not push"


def kind_of(ob: Any) -> str:
    """The field's type; NONE for what has none."""
    return str(ob.field.type) if ob.field is not None else "NONE"


def field_pushes(scene: bpy.types.Scene, character: Any, places: Array, watched: Mapping[str, Array],
                 values: Mapping[str, Array], times: Array, unit: float) -> list[Any]:
    """One push per part that a field reaches, over the whole range; `places` (F, N, 4, 4) of the parts, m."""
    fields = field_objects(scene)
    if not fields:
        raise solver.InputError("There is no wind and no force in the scene.", "Force fields",
                                "Add a field of type Wind or Force and of shape Point or Plane, or untick Force "
                                "fields.")
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
    axis = _unit(place[:, None, :3, 2])
    along = (away * axis).sum(-1, keepdims=True)
    felt = along * axis if field.shape == "PLANE" else away
    direction = np.broadcast_to(axis, away.shape) if field.type == "WIND" else _unit(felt)
    fade = _fade(field, away, felt, axis, along)
    if field.z_direction != "BOTH":
        fade = np.where(along < 0.0 if field.z_direction == "POSITIVE" else along > 0.0, 0.0, fade)
    return np.asarray(direction * fade)


def _fade(field: Any, away: Array, felt: Array, axis: Array, along: Array) -> Array:
    """(F, N, 1) how much of the field is left."""
    least = field.distance_min if field.use_min_distance else 0.0
    most = field.distance_max if field.use_max_distance else np.inf
    if field.falloff_type == "SPHERE":
        return _faded(np.linalg.norm(felt, axis=-1, keepdims=True), least, most, field.falloff_power)
    if field.falloff_type == "TUBE":
        aside = np.linalg.norm(away - along * axis, axis=-1, keepdims=True)
    else:
        aside = np.degrees(np.arccos(np.clip((_unit(away) * axis).sum(-1, keepdims=True), -1.0, 1.0)))
    inner = field.radial_min if field.use_radial_min else 0.0
    outer = field.radial_max if field.use_radial_max else np.inf
    return _faded(np.abs(along), least, most, field.falloff_power) * _faded(aside, inner, outer, field.radial_falloff)


def _faded(distance: Array, least: float, most: float, power: float) -> Array:
    left = (1.0 + np.maximum(distance - least, 0.0)) ** -power
    return np.where(distance > most, 0.0, left)


def _unit(vectors: Array) -> Array:
    """Of length one; nothing stays nothing."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9))
