# SPDX-License-Identifier: GPL-3.0-or-later
"""Open, import, save and export. Blender does that, as the rendering in stage.py, with operators only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from .._link import solver
from .arguments import INPUTS
from .publish import reason
from .quiet import quiet

TALL, PERSON = (0.3, 3.5), 1.7   # m: people's sizes to be believed, and what others are brought to
ODD = 0.03, 15.0                # m: other creatures outside these are in another unit
_ops: Any = bpy.ops
_data: Any = bpy.data


def opened(path: Path | None, allow_scripts: bool, height: float | None) -> tuple[Path, list[str]]:
    """Load the input; returns where it is and what to tell about it."""
    if path is None:
        if not _data.filepath:
            raise solver.InputError("No file is open.", "Input", "Name one: heft bake shot.blend, or blender -b "
                                    "shot.blend --command heft bake. If you did, it is missing or broken.")
        return Path(_data.filepath), _idle_height(height)
    if not path.is_file():
        raise solver.InputError("There is no such file.", str(path), "Check its name.")
    kind = path.suffix.lower()
    if kind not in INPUTS:
        raise solver.InputError(f"Heft does not read {kind or 'files without an ending'}.", str(path),
                                f"Give one of {', '.join(INPUTS)}.")
    if kind == ".blend":
        _open(path, allow_scripts)
        return path, _idle_height(height)
    with quiet():
        _ops.wm.read_homefile(use_empty=True)  # factory settings would disable the extension this runs in
        notes = _imported(path, kind, height)
    return path, notes


def _idle_height(height: float | None) -> list[str]:
    return [] if height is None else ["--height has no effect on a .blend: its character is as large as it is."]


def need_operator(module: str, name: str, path: Path) -> None:
    """Importers and exporters are add-ons of Blender's, and may be switched off."""
    if name not in dir(getattr(_ops, module)):
        raise solver.InputError(f"This Blender has no add-on for {path.suffix.lower()}, or it is switched off.",
                                str(path), "Switch it on in Edit > Preferences > Add-ons, or use another format.")


def _open(path: Path, allow_scripts: bool) -> None:
    try:
        with quiet():
            _ops.wm.open_mainfile(filepath=str(path.resolve()), load_ui=False, use_scripts=allow_scripts)
    except RuntimeError as error:
        raise solver.InputError(f"Blender cannot open it: {reason(error)}.", str(path),
                                "It may be cut off, no .blend, or written by a newer Blender.") from None
    if not _data.filepath or Path(_data.filepath).resolve() != path.resolve():
        raise solver.InputError("Blender did not open it.", str(path), "It may be cut off, or no .blend.")


def _imported(path: Path, kind: str, height: float | None) -> list[str]:
    module, name = {".bvh": ("import_anim", "bvh"), ".fbx": ("import_scene", "fbx")}.get(kind, ("import_scene", "gltf"))
    if kind == ".fbx" and name not in dir(_ops.import_scene):
        module, name = "wm", "fbx_import"  # Blender's own, from 4.5 on
    need_operator(module, name, path)
    options = {"update_scene_fps": True, "use_fps_scale": False} if kind == ".bvh" else {}
    try:
        getattr(getattr(_ops, module), name)(filepath=str(path), **options)
    except Exception as error:  # importers raise whatever they stumble over
        raise solver.InputError(f"It could not be imported: {reason(error)}.", str(path),
                                "Check that other programs can read it.") from None
    notes = _missing_frames(path) if kind == ".bvh" else []
    scene: Any = bpy.context.scene
    for ob in [ob for ob in scene.objects if ob.type == "ARMATURE" and len(ob.data.bones) and ob.parent is None]:
        notes += _sized(ob, height, is_unitless=kind == ".bvh")
    return notes


def _missing_frames(path: Path) -> list[str]:
    """A .bvh that is cut off at the end of a line looks whole to the importer."""
    said, _, rest = path.read_text(encoding="utf-8", errors="replace").partition("Frames:")[2].partition("Frame Time:")
    count = sum(bool(line.strip()) for line in rest.splitlines()[1:])
    if not said.strip().isdigit() or int(said) <= count:
        return []
    return [f"The file says {int(said)} frames and holds {count}: it may be cut off."]


def _sized(ob: Any, height: float | None, is_unitless: bool) -> list[str]:
    """Scale a character to its height. BVH files have no unit and become people; other files are in metres, unless
    that makes a giant or a gnat: then the point is moved (centimetres, millimetres)."""
    layer: Any = bpy.context.view_layer
    layer.update()
    tall = _height(ob)
    if tall <= 0.0:
        return []
    wanted = tall if height is None else height
    if height is None and is_unitless and not TALL[0] <= tall <= TALL[1]:
        wanted = PERSON
    elif height is None and not ODD[0] <= tall <= ODD[1]:
        wanted = tall * 10.0 ** -round(np.log10(tall))
    if abs(tall - wanted) < 1e-3 * wanted:
        return []
    ob.scale = [x * wanted / tall for x in ob.scale]
    layer.update()
    return [f"{ob.name} is {tall:.3g} units tall in the file and was scaled to {wanted:.3g} m (--height changes that)."]


def _height(ob: Any) -> float:
    """How tall it stands with its legs together: from its lowest bone up to the root and on to its highest, along
    whatever rises. Ends of arms do not count: Blenders differ about them."""
    bones = list(ob.data.bones)
    place = {bone.name: ob.matrix_world @ bone.head_local for bone in bones}
    ends = [bone for bone in bones if not bone.children]
    total = 0.0
    for end in (min(ends, key=lambda b: place[b.name].z), max(ends, key=lambda b: place[b.name].z)):
        here: Any = ob.matrix_world @ end.tail_local
        bone = end
        while bone is not None:
            step = here - place[bone.name]
            total += step.length if abs(step.z) > 0.5 * step.length else 0.0
            here, bone = place[bone.name], bone.parent
    heights = [p.z for p in place.values()]
    return max(total, max(heights) - min(heights))


def save_blend(path: Path) -> None:
    with quiet():
        _save(path)


def _save(path: Path) -> None:
    _ops.wm.save_as_mainfile(filepath=str(path), copy=True, check_existing=False, compress=True)


def export_glb(path: Path, scene: Any, ob: Any, frames: tuple[int, int]) -> None:
    """Write a character, its meshes and its motion in a format that other programs read."""
    before = scene.frame_start, scene.frame_end
    scene.frame_start, scene.frame_end = frames
    try:
        with quiet():
            _export_glb(path, ob)
    finally:
        scene.frame_start, scene.frame_end = before


def _export_glb(path: Path, ob: Any) -> None:
    layer: Any = bpy.context.view_layer
    for other in layer.objects:
        other.select_set(other == ob)
    layer.objects.active = ob
    for child in ob.children_recursive:
        if child.name in layer.objects:
            child.select_set(True)
    # SCENE: what is seen, be it an action, a track or an overlay; other modes add the keys it was made from
    _ops.export_scene.gltf(filepath=str(path), check_existing=False, use_selection=True, export_format="GLB",
                           export_animations=True, export_animation_mode="SCENE")
