# SPDX-License-Identifier: GPL-3.0-or-later
"""Ground from Blender's meshes: still ones become one mesh, those that are moved as a whole move in the solver too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._link import solver
from .convert import Array, rotation, turn_of
from .read_motion import Samples, Shape
from .settings import GroundSpec, Setup
from .visible import active_layer

if TYPE_CHECKING:
    import bpy

STILL = 1e-6    # scene units, and of the axes' lengths
STEADY = 1e-4   # of the size of a mesh: a shape that changes by less is the same
LOOKS = 5       # frames at which a ground's shape is looked at


def ground_objects(scene: bpy.types.Scene, spec: GroundSpec) -> list[bpy.types.Object]:
    """The meshes that a ground names."""
    if spec.object:
        if spec.object not in scene.objects:
            raise solver.InputError(f"There is no object {spec.object!r} in the scene.", "Ground",
                                    "Remove it from the list of grounds, or choose another.")
        ob = scene.objects[spec.object]
        if ob.type != "MESH":
            raise solver.InputError(f"It is no mesh but {ob.type.lower()}.", f"Ground {ob.name}",
                                    "Convert it to a mesh, or choose another.")
        return [ob]
    if not spec.collection:
        return []
    stack, found = [scene.collection], None
    while stack and found is None:
        collection = stack.pop()
        found = collection if collection.name == spec.collection else None
        stack += list(collection.children)
    if found is None:
        raise solver.InputError(f"There is no collection {spec.collection!r} in the scene.", "Ground",
                                "Remove it from the list of grounds, or choose another.")
    meshes = [ob for ob in found.all_objects if ob.type == "MESH"]
    if not meshes:
        raise solver.InputError("It has no meshes.", f"Ground {spec.collection}", "Put the ground's meshes into it.")
    return meshes


def read_terrain(scene: bpy.types.Scene, samples: Samples, setup: Setup, unit: float, rate: float) -> Any | None:
    """The solver's terrain; None where no ground is listed."""
    still: list[tuple[Array, NDArray[np.intp], float]] = []
    parts: list[Any] = []
    times = (samples.frames - samples.frames[0]) / rate
    for spec in setup.grounds:
        if not spec.object and not spec.collection:
            parts.append(_plane(spec, unit))
        for ob in ground_objects(scene, spec):
            vertices, faces = samples.shapes[ob.name]
            places = samples.watched[ob.name]
            if np.abs(places - places[0]).max() < STILL:
                still.append((_placed(vertices, places[0], unit), faces, spec.friction))
            else:
                parts.append(_moving(ob, vertices, faces, spec.friction, places, times, unit))
    if still:
        first = np.cumsum([0] + [len(vertices) for vertices, _, _ in still])
        parts.insert(0, solver.TriangleMesh(
            np.concatenate([vertices for vertices, _, _ in still]),
            np.concatenate([faces + start for (_, faces, _), start in zip(still, first)]),
            np.concatenate([np.full(len(faces), friction) for _, faces, friction in still])))
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else solver.Union(tuple(parts))


def read_shapes(scene: bpy.types.Scene, setup: Setup, frames: Array) -> dict[str, Shape]:
    """The meshes of all grounds as they are at the first frame; refuses those that change their shape later.

    Goes through some of the frames: who calls it restores the current one.
    """
    found: dict[str, Shape] = {}
    meshes = {ob.name: ob for spec in setup.grounds for ob in ground_objects(scene, spec)}
    for frame in np.unique(np.linspace(frames[0], frames[-1], LOOKS).round()) if meshes else ():
        scene.frame_set(int(frame))
        for name, ob in meshes.items():
            now = _triangles(scene, ob)
            vertices, _ = first = found.setdefault(name, now)
            if not len(first[1]):
                raise solver.InputError("It has no faces.", f"Ground {name}", "Choose a mesh with faces.")
            if len(now[0]) != len(vertices) or np.abs(now[0] - vertices).max() > STEADY * np.abs(vertices).max():
                raise solver.InputError(f"Its shape is animated: at frame {frame:g} it is another than at "
                                        f"{frames[0]:g}.", f"Ground {name}",
                                        "Move it as a whole, or apply its shape and stand on that.")
    return found


def _plane(spec: GroundSpec, unit: float) -> Any:
    slope, heading = np.radians(spec.slope), np.radians(spec.heading)
    normal = np.array([-np.sin(slope) * np.cos(heading), -np.sin(slope) * np.sin(heading), np.cos(slope)])
    return solver.Plane(np.array([0.0, 0.0, unit * spec.height]), normal, spec.friction)


def _triangles(scene: bpy.types.Scene, ob: Any) -> Shape:
    """Vertices in the object's own space, modifiers applied, and faces as triangles."""
    shaped = ob.evaluated_get(active_layer(scene).depsgraph)
    mesh = shaped.to_mesh()
    try:
        mesh.calc_loop_triangles()
        vertices = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", vertices)
        faces = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
        mesh.loop_triangles.foreach_get("vertices", faces)
    finally:
        shaped.to_mesh_clear()
    return vertices.reshape(-1, 3).astype(np.float64), faces.reshape(-1, 3).astype(np.intp)


def _placed(vertices: Array, place: Array, unit: float) -> Array:
    return np.asarray(unit * (vertices @ place[:3, :3].T + place[:3, 3]))


def _moving(ob: Any, vertices: Array, faces: NDArray[np.intp], friction: float, places: Array, times: Array,
            unit: float) -> Any:
    turns = turn_of(places)
    shape = turns.swapaxes(-1, -2) @ places[:, :3, :3]  # scale and shear, which the solver's ground keeps
    if np.abs(shape - shape[0]).max() > 1e-3 * np.abs(shape[0]).max():
        raise solver.InputError("Its scale is animated.", f"Ground {ob.name}", "Key location and rotation only.")
    mesh = solver.TriangleMesh(unit * vertices @ shape[0].T, faces, friction)
    quaternions = rotation.aligned(rotation.normalised(rotation.from_matrix(turns)))
    return solver.Moving(mesh, times, unit * places[:, :3, 3], quaternions)
