"""Pictures of the panel and the overlays, made in a real Blender window:

    blender --factory-startup --python docs/pictures.py -- docs/pictures

Where Blender's Python lacks scipy and quadprog, HEFT_SITE names a folder that has them.
"""

import os
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

import bpy
from mathutils import Euler

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), *filter(None, [os.environ.get("HEFT_SITE")])]
OUT = Path(sys.argv[sys.argv.index("--") + 1] if "--" in sys.argv else ROOT / "docs" / "pictures").resolve()

import addon  # noqa: E402
from tests.rigs import PERSON, key_sway, make_armature  # noqa: E402


def view():
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    return window, area, region


def sidebar():
    return next(region for region in view()[1].regions if region.type == "UI")


def clean_scene():
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    addon.register()
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob, first=1, last=49)
    scene = bpy.context.scene
    scene.frame_end = 49
    scene.frame_set(8)
    bpy.ops.mesh.primitive_plane_add(size=6)
    bpy.context.object.name = "Floor"
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    _, area, _ = view()
    area.spaces[0].show_region_ui = True
    area.spaces[0].overlay.show_relationship_lines = False
    area.spaces[0].region_3d.view_distance = 4.4
    area.spaces[0].region_3d.view_location = (0.35, 0.0, 0.85)
    area.spaces[0].region_3d.view_rotation = Euler((1.35, 0.0, 0.45)).to_quaternion()
    area.spaces[0].region_3d.view_perspective = "PERSP"


def widen_sidebar():
    """The tab of the sidebar is chosen once it has been drawn."""
    try:
        sidebar().active_panel_category = "Heft"
    except (AttributeError, TypeError) as error:
        print("tab:", error)


def operator(name, **arguments):
    def run():
        window, area, region = view()
        with bpy.context.temp_override(window=window, area=area, region=region):
            getattr(bpy.ops.heft, name)("EXEC_DEFAULT", **arguments)
    return run


def start_preview():
    window, area, region = view()
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.heft.preview("INVOKE_DEFAULT")


def frame(number):
    return lambda: bpy.context.scene.frame_set(number)


def close(*names):
    """Fold sub-panels away so that the ones of interest fit."""
    def run():
        for name in names:
            getattr(bpy.types, name).bl_options = {"DEFAULT_CLOSED"}
    return run


def shoot(name):
    """The screen as it is: where an X server shows it, ImageMagick's `import` sees what software drawing hides from
    Blender's own screenshot."""
    def run():
        if shutil.which("import") and os.environ.get("DISPLAY"):
            small = ["-resize", "70%", "+dither", "-colors", "120"]
            subprocess.run(["import", "-window", "root", *small, f"PNG8:{OUT / name}.png"], check=True)
            print("picture", name, flush=True)
            return
        window, area, region = view()
        with bpy.context.temp_override(window=window, area=area, region=region):
            bpy.ops.screen.screenshot(filepath=str(OUT / f"{name}.png"))
        print("picture", name, flush=True)
    return run


def until_idle():
    """Whether to come again: a preview is running."""
    return bpy.context.scene.heft.is_running


STEPS = [
    (0.5, clean_scene), (2.0, widen_sidebar), (2.0, shoot("1_before")), (0.5, operator("set_up")),
    (2.0, shoot("2_checklist")), (0.2, operator("check")), (7.0, shoot("3_check")),
    (0.2, operator("add_push", size="TACKLE")), (0.2, operator("add_load", kg=5.0)),
    (5.0, shoot("4_push_and_load")), (0.2, start_preview),
    (9.0, shoot("5_preview_running")), (1.0, until_idle), (1.0, frame(16)),
    (5.0, shoot("6_preview")), (0.2, operator("bake")), (0.5, frame(18)), (5.0, shoot("7_baked")),
    (0.5, lambda: os._exit(0)),
]


def tick():
    _, step = STEPS[0]
    try:
        again = step() is True
    except Exception:
        traceback.print_exc()
        os._exit(1)
    for area in bpy.context.window_manager.windows[0].screen.areas:
        area.tag_redraw()
    if not again:
        STEPS.pop(0)
    return STEPS[0][0] if STEPS else None


bpy.context.preferences.view.show_splash = False
OUT.mkdir(parents=True, exist_ok=True)
bpy.app.timers.register(tick, first_interval=2.0)
