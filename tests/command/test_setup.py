"""`heft setup --out`: a file that is ready to bake, with everything that was in it and everything that was said."""

import json

import pytest

from tests.command.test_bake import SCENE, blender
from tests.program import heft

READ = """
import json
ui.register()
bpy.ops.wm.open_mainfile(filepath={path!r})
scene = bpy.context.scene
ob = next(ob for ob in scene.objects if ob.type == "ARMATURE")
told = ob.heft
print("TOLD", json.dumps({{
    "range": [scene.frame_start, scene.frame_end], "mass": told.mass, "use_range": told.use_range,
    "pushes": [[item.object.name, item.is_on] for item in told.pushes],
    "loads": [[item.bone, item.kg, item.is_on] for item in told.loads],
    "grounds": [[item.object.name if item.object else "", item.is_on] for item in told.grounds]}}))
"""


def kept(path) -> dict:
    said = blender(READ.format(path=str(path)))
    return json.loads(next(line for line in said.splitlines() if line.startswith("TOLD")).removeprefix("TOLD "))


@pytest.fixture(scope="module")
def shot(tmp_path_factory):
    """A shot with a range of its own, a push and a load that are switched off, and a ground without a mesh yet."""
    path = tmp_path_factory.mktemp("shots") / "shot.blend"
    blender(f"ui.register()\nbpy.ops.wm.open_mainfile(filepath={str(SCENE)!r})\nscene = bpy.context.scene\n"
            "ob = bpy.data.objects['Walker']\nscene.frame_start, scene.frame_end = 1001, 1200\n"
            "ob.heft.pushes[1].is_on = False\nload = ob.heft.loads.add()\n"
            "load.bone, load.kg, load.is_on = 'hand.L', 7.0, False\nob.heft.grounds.add()\n"
            f"bpy.ops.wm.save_as_mainfile(filepath={str(path)!r}, copy=True)")
    return path


def test_nothing_that_was_there_is_lost(tmp_path, shot) -> None:
    assert heft("setup", shot, "--out", tmp_path / "x.blend").returncode == 0
    before = kept(shot)
    assert before["range"] == [1001, 1200] and [is_on for _, is_on in before["pushes"]] == [True, False]
    assert kept(tmp_path / "x.blend") == before


def test_words_add_and_leave_what_is_switched_off(tmp_path, shot) -> None:
    done = heft("setup", shot, "--mass", 80, "--push", "@chest:150", "--load", "hand.R:3", "--slope", 5, "--out",
                tmp_path / "x.blend")
    assert done.returncode == 0, done.stderr
    assert "ground plane has no object in this file; it is not kept: add --save-preset FILE.json." in done.stdout
    before, after = kept(shot), kept(tmp_path / "x.blend")
    assert after["mass"] == 80.0 and after["range"] == [1001, 1200]
    assert sorted(after["loads"]) == [["hand.L", 7.0, False], ["hand.R", 3.0, True]]
    names = dict(after["pushes"])
    assert dict(before["pushes"]).items() <= names.items() and len(names) == 3 and sum(names.values()) == 2


def test_a_preset_stands_for_everything(tmp_path, shot) -> None:
    preset = tmp_path / "p.json"
    preset.write_text('{"heft": 1, "mass": 70}')
    assert heft("setup", shot, "--preset", preset, "--out", tmp_path / "x.blend").returncode == 0
    after = kept(tmp_path / "x.blend")
    assert after["pushes"] == after["loads"] == [] and after["mass"] == 70.0 and after["range"] == [1001, 1200]


def test_a_push_in_words_becomes_an_arrow_that_does_the_same(tmp_path) -> None:
    clip, ready, preset = tmp_path / "clip.bvh", tmp_path / "x.blend", tmp_path / "calm.json"
    preset.write_text('{"heft": 1}')
    assert heft("bake", SCENE, "--preset", preset, "--frames", "1:30", "--out", clip).returncode == 0
    push = ("--push", "@chest:250:10:0.2:1,0.5,0")
    done = heft("setup", clip, *push, "--out", ready)
    assert done.returncode == 0 and "stays in" not in done.stdout and "not kept" not in done.stdout
    told = kept(ready)
    assert len(told["pushes"]) == 1 and told["range"] == [1, 30]
    assert heft("bake", clip, *push, "--report", tmp_path / "words.json").returncode == 0
    assert heft("bake", ready, "--report", tmp_path / "arrow.json").returncode == 0
    words, arrow = (json.loads((tmp_path / f"{name}.json").read_text())["numbers"]["deviation_degrees"]["largest"]
                    for name in ("words", "arrow"))
    assert words > 1.0 and arrow == pytest.approx(words, rel=0.01)
