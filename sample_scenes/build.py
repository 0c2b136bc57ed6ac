"""Make the sample scenes anew: characters, meshes and motions come from this folder's code.

    python -m sample_scenes.build [--out FOLDER] [NAME ...]

Needs the bpy module. Blender 4.2 opens only files that 4.2 or 4.5 wrote: `make scenes` builds with 4.2.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import bpy

from addon import ui
from addon.job import set_up
from addon.ui.character_operators import fill_lines
from addon.ui.stored import setup_of
from sample_scenes.scenes import RATE, SCENES

HERE = Path(__file__).resolve().parent


def build(name: str, folder: Path) -> Path:
    """Build one scene and save it; the file appears whole or not at all."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = RATE
    scene.name = name.replace("_", " ")
    SCENES[name]()
    characters = [ob for ob in scene.objects if ob.type == "ARMATURE"]
    for ob in characters:
        fill_lines(ob.heft.checklist, set_up(scene, ob, setup_of(ob)))
        ob.heft.is_set_up = True
        wrong = [line.sentence for line in ob.heft.checklist if line.level != "GOOD"]
        if wrong:
            raise SystemExit(f"{name}, {ob.name}: {wrong}")
    bpy.context.view_layer.objects.active = characters[0]
    for ob in scene.objects:
        ob.select_set(ob == characters[0])
    scene.frame_set(scene.frame_start)
    path = folder / f"{name}.blend"
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        part = Path(temporary) / path.name
        bpy.ops.wm.save_as_mainfile(filepath=str(part), copy=True, compress=True)
        os.replace(part, path)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(SCENES), metavar="NAME", help=", ".join(SCENES))
    parser.add_argument("--out", type=Path, default=HERE)
    told = parser.parse_args()
    told.out.mkdir(parents=True, exist_ok=True)
    ui.register()
    for name in told.names:
        print(build(name, told.out), flush=True)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)  # some bpy modules crash while Python ends
