"""One bake from the command line: what it writes, what it refuses, and that it is the panel's bake."""

import hashlib
import json
import subprocess
import sys

import pytest

from tests.program import ENVIRONMENT, ROOT, heft

SCENE = ROOT / "sample_scenes" / "walk_with_pushes.blend"
SHORT = ("--frames", "1:12", "--preset")


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """A preset without pushes, so that few frames are enough."""
    path = tmp_path_factory.mktemp("presets") / "calm.json"
    path.write_text('{"heft": 1, "pushes": [{"bone": "chest", "start": 4, "length": 3, "newtons": 150}]}')
    return path


def blender(code: str) -> str:
    """What a script prints in a Blender of its own."""
    head = "import bpy, hashlib, os, sys\nfrom addon import ui\nfrom tests.rigs import all_keys\n"
    done = subprocess.run([sys.executable, "-c", head + code + "\nsys.stdout.flush()\nos._exit(0)"], cwd=ROOT,
                          env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def digest(path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_everything_is_written_and_the_input_is_not(tmp_path, calm) -> None:
    before = digest(SCENE)
    done = heft("bake", SCENE, *SHORT, calm, "--out", tmp_path / "a.blend", "--out", tmp_path / "a.bvh",
                "--out", tmp_path / "a.glb", "--report", tmp_path / "a.json", "--sheet", tmp_path / "a.png",
                "--columns", 2, "--sheet-width", 300)
    assert done.returncode == 0, done.stderr
    assert digest(SCENE) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.blend", "a.bvh", "a.glb", "a.json", "a.png"]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "MOTION" in (tmp_path / "a.bvh").read_text() and (tmp_path / "a.glb").read_bytes().startswith(b"glTF")
    told = json.loads((tmp_path / "a.json").read_text())
    assert set(told) >= {"versions", "settings", "contacts", "numbers", "seconds", "notes", "verdict", "input"}
    assert set(told["numbers"]) == {"foot_slide_mm_per_frame", "penetration_mm", "zmp_margin_mm",
                                    "helper_force_body_weights", "deviation_degrees"}
    assert told["input"]["sha256"] == before and len(told["settings"]["sha256"]) == 64
    assert "simulating" in done.stderr and "simulating" not in done.stdout, "progress goes to stderr"


def test_the_command_and_the_panel_give_the_same_keys(tmp_path) -> None:
    out = tmp_path / "out.blend"
    assert heft("bake", SCENE, "--out", out).returncode == 0
    keys = ("ob = bpy.data.objects['Walker']\n"
            "print('KEYS', hashlib.sha256(repr(sorted(all_keys(ob.animation_data.action).items())).encode())"
            ".hexdigest(), ob.animation_data.action.name)")
    opened = f"ui.register()\nbpy.ops.wm.open_mainfile(filepath={{!r}})\n{keys}"
    headless = blender(opened.format(str(out)))
    panel = blender(f"ui.register()\nbpy.ops.wm.open_mainfile(filepath={str(SCENE)!r})\nbpy.ops.heft.bake()\n{keys}")
    find = [line for text in (headless, panel) for line in text.splitlines() if line.startswith("KEYS")]
    assert len(find) == 2 and find[0] == find[1] and find[0].endswith("Heft")


def refused(*arguments: object) -> str:
    done = heft(*arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_refusals_are_sentences(tmp_path, calm) -> None:
    out = tmp_path / "x.blend"
    broken = tmp_path / "broken.blend"
    broken.write_bytes(SCENE.read_bytes()[:20_000])
    assert "There is no such file" in refused("bake", tmp_path / "no.blend", "--out", out)
    assert "cut off" in refused("bake", broken, "--out", out)
    assert "It is the file that is read" in refused("bake", broken, "--out", broken)
    assert "does not read .obj" in refused("bake", _empty(tmp_path / "x.obj"), "--out", out)
    assert "does not write .txt" in refused("bake", SCENE, "--out", tmp_path / "x.txt")
    assert "Give --out" in refused("bake", SCENE)
    assert "is no range" in refused("bake", SCENE, "--out", out, "--frames", "one")
    assert "is no push" in refused("bake", SCENE, "--out", out, "--push", "chest")
    assert "not found in this body" in refused("bake", SCENE, "--out", out, "--push", "@wing:10")
    assert "There is no armature 'Nobody'" in refused("bake", SCENE, "--out", out, "--armature", "Nobody")
    assert "invalid choice" in refused("bke").lower()
    assert not out.exists() and digest(broken) == hashlib.sha256(SCENE.read_bytes()[:20_000]).hexdigest()


def _empty(path):
    path.write_bytes(b"")
    return path


def test_two_armatures_and_none(tmp_path) -> None:
    two, none = tmp_path / "two.blend", tmp_path / "none.blend"
    blender("bpy.ops.wm.read_factory_settings(use_empty=True)\n"
            f"bpy.ops.wm.save_as_mainfile(filepath={str(none)!r})\n"
            "from tests.rigs import *\nfor name in 'AB': key_sway(bpy, make_armature(bpy, PERSON, name))\n"
            f"bpy.ops.wm.save_as_mainfile(filepath={str(two)!r})")
    before = digest(two), digest(none)
    assert "There are 2 armatures: A, B. Choose one: --armature 'A'" in refused("bake", two, "--out",
                                                                               tmp_path / "x.blend")
    assert "There is no armature in it" in refused("bake", none, "--out", tmp_path / "x.blend")
    assert not (tmp_path / "x.blend").exists()
    done = heft("bake", two, "--armature", "B", "--out", tmp_path / "x.blend")
    assert done.returncode == 0, done.stderr
    assert (digest(two), digest(none)) == before


def test_scripts_in_the_file_run_only_when_asked(tmp_path, calm) -> None:
    flag, path = tmp_path / "ran", tmp_path / "script.blend"
    blender(f"ui.register()\nbpy.ops.wm.open_mainfile(filepath={str(SCENE)!r})\n"
            "text = bpy.data.texts.new('x.py')\ntext.use_module = True\n"
            f"text.write(\"open({str(flag)!r}, 'w').close()\")\nbpy.ops.wm.save_as_mainfile(filepath={str(path)!r})")
    flag.unlink(missing_ok=True)
    assert heft("bake", path, *SHORT, calm, "--out", tmp_path / "a.blend").returncode == 0
    assert not flag.exists()
    assert heft("bake", path, *SHORT, calm, "--out", tmp_path / "a.blend", "--allow-scripts").returncode == 0
    assert flag.exists()


def test_setup_check_and_report_tell_what_they_found(tmp_path, calm) -> None:
    done = heft("setup", SCENE, "--save-preset", tmp_path / "p.json", "--out", tmp_path / "ready.blend")
    assert done.returncode == 0 and "2 feet" in done.stdout and "STOP" not in done.stdout
    assert json.loads((tmp_path / "p.json").read_text())["pushes"][0]["newtons"] == 260.0
    done = heft("check", tmp_path / "ready.blend", "--frames", "1:20", "--report", tmp_path / "r.json")
    assert done.returncode == 0 and "foot.L touches the ground" in done.stdout
    done = heft("report", tmp_path / "r.json")
    assert done.returncode == 0 and "helper force body weights" in done.stdout


def test_unicode_and_spaces_in_paths(tmp_path, calm) -> None:
    folder = tmp_path / "Läufer und Bälle – 走る"
    folder.mkdir()
    source = folder / "ein Gang №1.blend"
    source.write_bytes(SCENE.read_bytes())
    done = heft("bake", source, *SHORT, calm, "--out", folder / "ergebnis ä.blend", "--report", folder / "ä.json",
                "--sheet", folder / "bild ☺.png", "--columns", 2, "--sheet-width", 200)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        ["ein Gang №1.blend", "ergebnis ä.blend", "ä.json", "bild ☺.png"])
    assert digest(source) == digest(SCENE)
