"""Pictures of the panel and the overlays, made in a real Blender window:

    blender --factory-startup --window-geometry 0 0 1400 2000 --python docs/pictures.py -- docs/pictures

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

START = 30   # the frame that is shown, and pushed at
SCENE = ROOT / "sample_scenes" / "walk_with_pushes.blend"


def view():
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    return window, area, region


def sidebar():
    return next(region for region in view()[1].regions if region.type == "UI")


def clean_scene():
    """The walk of the sample scene, as if nobody had set it up yet."""
    ob = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)
    bpy.ops.heft.remove()
    for each in [each for each in bpy.data.objects if each.type == "EMPTY"]:
        bpy.data.objects.remove(each)
    ob.show_in_front = True
    bpy.context.scene.frame_set(START)
    _, area, _ = view()
    place = ob.matrix_world @ ob.pose.bones[0].head
    space = area.spaces[0]
    space.show_region_ui = True
    space.shading.type, space.shading.color_type = "SOLID", "MATERIAL"
    space.overlay.show_relationship_lines = False
    space.region_3d.view_distance = 5.0
    space.region_3d.view_location = (place[0] + 0.4, place[1], 0.95)
    space.region_3d.view_rotation = Euler((1.38, 0.0, 0.6)).to_quaternion()
    space.region_3d.view_perspective = "PERSP"


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


def until_midway():
    """Whether to come again: the ghost has not left the character yet. On a fast machine it would be out of sight."""
    told = bpy.context.scene.heft
    return told.is_running and (told.progress < 0.4 or not told.progress_words.startswith("Simulating"))


def until_idle():
    """Whether to come again: a preview is running."""
    return bpy.context.scene.heft.is_running


STEPS = [
    (0.5, clean_scene), (2.0, widen_sidebar), (2.0, shoot("1_before")), (0.5, operator("set_up")),
    (2.0, shoot("2_checklist")), (0.2, operator("check")), (7.0, shoot("3_check")),
    (0.2, operator("add_push", size="TACKLE")), (0.2, operator("add_load", kg=5.0)),
    (5.0, shoot("4_push_and_load")), (0.2, start_preview),
    (0.2, until_midway), (0.1, shoot("5_preview_running")), (1.0, until_idle), (1.0, frame(START + 10)),
    (5.0, shoot("6_preview")), (0.2, operator("bake")), (0.5, frame(START + 12)), (5.0, shoot("7_baked")),
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


bpy.ops.wm.open_mainfile(filepath=str(SCENE), load_ui=False)
addon.register()
bpy.context.preferences.view.show_splash = False
OUT.mkdir(parents=True, exist_ok=True)
bpy.app.timers.register(tick, first_interval=2.0)
