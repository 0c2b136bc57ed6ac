"""Run inside a real Blender window: Esc leaves everything as it was, one undo takes a bake away, redo brings it back.

    blender --factory-startup --enable-event-simulate --python tests/window/undo_and_escape.py

Prints OK or the first thing that is wrong. HEFT_SITE names a folder with scipy and quadprog where Blender lacks them.
"""

import os
import sys
import traceback
from pathlib import Path

import bpy

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), *filter(None, [os.environ.get("HEFT_SITE")])]

import addon  # noqa: E402
from tests.rigs import PERSON, all_keys, key_sway, make_armature  # noqa: E402

SEEN = {}


def window():
    return bpy.context.window_manager.windows[0]


def press(name, how="EXEC_DEFAULT", **arguments):
    area = next(area for area in window().screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window(), area=area, region=region):
        getattr(bpy.ops.heft, name)(how, True, **arguments)


def state():
    scene, ob = bpy.context.scene, bpy.data.objects["Person"]
    return (scene.frame_current, bpy.context.view_layer.objects.active.name, ob.mode, sorted(bpy.data.actions.keys()),
            ob.animation_data.action.name, all_keys(bpy.data.actions["Person sway"]),
            sorted(o.name for o in bpy.context.view_layer.objects if o.select_get()), len(bpy.data.objects))


def begin():
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    addon.register()
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob, last=49)
    ob.select_set(True)
    bpy.context.scene.frame_set(7)
    bpy.ops.ed.undo_push(message="start")
    press("set_up")
    press("add_push", size="TACKLE")
    SEEN["before"] = state()


def escape():
    window().event_simulate(type="ESC", value="PRESS", x=400, y=400)


def is_running():
    return bpy.context.scene.heft.is_running


def escaped():
    assert not is_running(), "Esc did not stop it"
    assert state() == SEEN["before"], "Esc left a trace"


def bake_done():
    assert bpy.data.objects["Person"].animation_data.action.name == "Person sway Heft"
    SEEN["after"] = state()


def undone():
    assert state() == SEEN["before"], (state()[:5], SEEN["before"][:5])


def redone():
    assert state() == SEEN["after"], (state()[:5], SEEN["after"][:5])


STEPS = [
    begin, lambda: press("preview", "INVOKE_DEFAULT"), escape, escaped,
    lambda: press("bake", "INVOKE_DEFAULT"), escape, escaped,
    lambda: press("bake", "INVOKE_DEFAULT"), is_running, bake_done,
    lambda: bpy.ops.ed.undo(), undone, lambda: bpy.ops.ed.redo(), redone,
]


def tick():
    try:
        again = STEPS[0]() is True
    except Exception:
        traceback.print_exc()
        print("WRONG", flush=True)
        os._exit(1)
    if not again:
        STEPS.pop(0)
    if STEPS:
        return 1.0
    print("OK", flush=True)
    os._exit(0)


bpy.context.preferences.view.show_splash = False
bpy.app.timers.register(tick, first_interval=2.0)
