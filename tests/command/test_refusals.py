"""Words that cannot be meant are refused before any work is done, and nothing that is read is ever written."""

import json

import pytest

from tests.command.test_bake import SCENE, SHORT, blender, digest
from tests.program import heft

CALL = """
import contextlib, io, json
from addon.command import main
def call(*words):
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = main([str(word) for word in words])
    return code, said.getvalue()
"""


def calls(*each: tuple[object, ...], first: str = "") -> list[tuple[int, str]]:
    """Codes and words of several commands, in one Blender."""
    words = [[str(word) for word in call] for call in each]
    out = blender(f"{CALL}{first}\nprint('SAID', json.dumps([call(*words) for words in {words!r}]))")
    return json.loads(next(line for line in out.splitlines() if line.startswith("SAID")).removeprefix("SAID "))


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    path = tmp_path_factory.mktemp("presets") / "calm.json"
    path.write_text('{"heft": 1, "pushes": [{"bone": "chest", "start": 4, "length": 3, "newtons": 150}]}')
    return path


def test_the_file_that_blender_has_opened_is_never_written(tmp_path) -> None:
    path = tmp_path / "shot.blend"
    path.write_bytes(SCENE.read_bytes())
    told = calls(("check", "--report", path), ("bake", "--report", path), ("setup", "--save-preset", path),
                 first=f"ui.register()\nbpy.ops.wm.open_mainfile(filepath={str(path)!r})")
    assert [code for code, _ in told] == [2, 2, 2]
    assert all("It is the file that is read" in words for _, words in told)
    assert digest(path) == digest(SCENE)


def test_results_replace_neither_the_preset_nor_each_other(tmp_path) -> None:
    preset, same = tmp_path / "p.json", tmp_path / "same.blend"
    preset.write_text('{"heft": 1}')
    told = calls(("bake", SCENE, "--preset", preset, "--report", preset),
                 ("check", SCENE, "--preset", preset, "--report", preset),
                 ("setup", SCENE, "--preset", preset, "--save-preset", tmp_path / "." / "p.json"),
                 ("bake", SCENE, "--out", same, "--report", tmp_path / "x" / ".." / "same.blend"),
                 ("bake", SCENE, "--out", same, "--out", same),
                 ("setup", SCENE, "--out", same, "--save-preset", same))
    assert [code for code, _ in told] == [2] * 6
    assert all("It is the file that is read" in words for _, words in told[:3])
    assert all("Two results would be written there" in words for _, words in told[3:])
    assert preset.read_text() == '{"heft": 1}' and [path.name for path in tmp_path.iterdir()] == ["p.json"]


def test_what_the_file_takes_from_others_is_never_written(tmp_path) -> None:
    library, shot = tmp_path / "library.blend", tmp_path / "shot.blend"
    library.write_bytes(SCENE.read_bytes())
    told = calls(("bake", shot, "--out", library), ("setup", shot, "--out", library),
                 ("check", shot, "--report", library),
                 first=f"ui.register()\nbpy.ops.wm.open_mainfile(filepath={str(SCENE)!r})\n"
                       f"with bpy.data.libraries.load({str(library)!r}, link=True) as (has, wanted):\n"
                       "    wanted.meshes = has.meshes[:1]\n"
                       "bpy.context.scene.collection.objects.link(bpy.data.objects.new('prop', wanted.meshes[0]))\n"
                       f"bpy.ops.wm.save_as_mainfile(filepath={str(shot)!r})")
    assert [code for code, _ in told] == [2, 2, 2]
    assert all("It is the file that is read" in words for _, words in told)
    assert digest(library) == digest(SCENE)


def test_numbers_that_cannot_be_meant(tmp_path) -> None:
    out = tmp_path / "x.blend"
    wrong = {"is no number above 0": [("--height", "-1"), ("--height", "0"), ("--height", "nan")],
             "is no push": [("--push", "head:200:nan"), ("--push", "head:200:inf%"), ("--push", "head:nan"),
                            ("--push", "head:200:40%:0.2:0,inf,0")],
             "is no whole number from 200": [("--sheet-width", "-100"), ("--sheet-width", "10")],
             "is no whole number from 1 to": [("--columns", "0")],
             "A sheet is a .png": [("--sheet", tmp_path / "x.jpg")],
             "Give 0 or more": [("--mass", "-5"), ("--mass", "nan"), ("--load", "@hands:-5")],
             "Give -89 to 89": [("--slope", "90"), ("--slope", "nan")]}
    words = [(sentence, each) for sentence, every in wrong.items() for each in every]
    told = calls(*(("bake", SCENE, "--out", out, *each) for _, each in words))
    for (sentence, each), (code, said) in zip(words, told):
        assert code == 2 and sentence in said and "Traceback" not in said, (each, said)
    assert not list(tmp_path.iterdir())


def test_notes_are_told_by_a_check_too(tmp_path, calm) -> None:
    (code, said), = calls(("check", SCENE, *SHORT, calm, "--height", 2))
    assert code == 0 and "note: --height has no effect on a .blend" in said


def test_an_importer_that_is_switched_off_is_a_sentence(tmp_path) -> None:
    off = "import addon.command.files as files\nfiles.dir = lambda of: []"  # as of a module without operators
    clips = [tmp_path / f"a.{kind}" for kind in ("fbx", "bvh", "glb")]
    for clip in clips:
        clip.write_text("x")
    told = calls(*(("setup", clip) for clip in clips), ("bake", SCENE, "--out", tmp_path / "x.glb"), first=off)
    for kind, (code, said) in zip(("fbx", "bvh", "glb", "glb"), told):
        assert code == 2 and f"This Blender has no add-on for .{kind}, or it is switched off" in said


SLOTS = """
from tests.rigs import PERSON, key_sway, make_armature
bpy.ops.wm.read_factory_settings(use_empty=True)
ob = make_armature(bpy, PERSON)
key_sway(bpy, ob)
for name, kinds in (("Many", ("MATERIAL", "OBJECT", "Person")), ("Other", ("MATERIAL", "OBJECT")),
                    ("None", ("MATERIAL",))):
    action = bpy.data.actions.new(name)
    action.use_fake_user = True
    if hasattr(action, "slots"):
        for kind in kinds:
            action.slots.new(kind if kind.isupper() else "OBJECT", "x" if kind.isupper() else kind)
if hasattr(action, "slots"):
    from addon.command.character import choose_action
    ui.register()
    for name in ("Many", "Other", "None"):
        try:
            choose_action(ob, name, False)
            print("SLOT", name, ob.animation_data.action_slot.identifier)
        except ValueError as error:
            print("SLOT", name, error)
else:
    print("SLOT none")
"""


def test_an_action_is_shown_in_the_slot_of_its_character() -> None:
    told = [line.removeprefix("SLOT ") for line in blender(SLOTS).splitlines() if line.startswith("SLOT")]
    if told == ["none"]:
        pytest.skip("this Blender's actions have no slots")
    assert told[:2] == ["Many OBPerson", "Other OBx"]
    assert "The action 'None' moves material and no object" in told[2]


def test_an_overlay_of_the_command_is_in_the_panel(tmp_path, calm) -> None:
    out = tmp_path / "x.blend"
    preset = tmp_path / "p.json"
    preset.write_text(json.dumps({**json.loads(calm.read_text()), "output": "OVERLAY"}))
    assert heft("bake", SCENE, *SHORT, preset, "--out", out).returncode == 0
    said = blender(f"ui.register()\nbpy.ops.wm.open_mainfile(filepath={str(out)!r})\n"
                   "ob = bpy.data.objects['Walker']\nprint('OVERLAY', ob.heft.overlay.parent == ob)\n"
                   "bpy.context.view_layer.objects.active = ob\nprint(bpy.ops.heft.remove_overlay())")
    assert "OVERLAY True" in said and "{'FINISHED'}" in said
