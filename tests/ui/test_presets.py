"""Presets with mistakes: one sentence that names the place, and a panel that stays as it was."""

import json

import pytest

from addon.bridge.settings import ROLES, Part, Setup, from_json, to_json
from addon.job import frame_range
from addon.ui import properties
from addon.ui.stored import differing, fill, setup_of
from tests.rigs import PERSON, key_sway, make_armature

bpy = pytest.importorskip("bpy")
BAD = [
    ({"start": "a"}, "start is 'a'. Give a whole number or null."),
    ({"start": 1.5}, "start is 1.5. Give a whole number or null."),
    ({"end": True}, "end is True. Give a whole number or null."),
    ({"start": 10**10}, "The start is 10000000000. Give -1048574 to 1048574."),
    ({"parts": []}, "parts is not an object."),
    ({"dials": []}, "dials is ()."),
    ({"dials": {"stiffness": "x"}}, "dials is {'stiffness': 'x'}."),
    ({"release": {"frame": "x"}}, "release: frame is 'x'. Give a number or null."),
    ({"release": {"get_up": -1}}, "The get_up of the release is -1."),
    ({"loads": [{"bone": "hand.L", "start": "q", "end": 3}]}, "loads[0]: start is 'q'."),
    ({"loads": [{"bone": "hand.L", "kg": -1}]}, "The kg of the load on hand.L is -1. Give 0 or more."),
    ({"pushes": [{"bone": "head", "direction": [0, "x", 1]}]}, "pushes[0]: direction is"),
    ({"pushes": [{"bone": "head", "point": [0, 1]}]}, "Give a list like [0, 0, 1] or null."),
    ({"pushes": [{"bone": "head", "newtons": float("nan")}]}, "The newtons of the push on head is nan."),
    ({"pushes": [{"object": 3}]}, "object is 3. Give a text in quotes."),
    ({"contacts": [{"limb": "foot.L", "start": "x"}]}, "contacts[0]: start is 'x'."),
    ({"grounds": [{"slope": 90}]}, "The slope of the ground plane is 90."),
    ({"parts": {"head": {"role": "NOSE"}}}, "The role of head is 'NOSE'. Choose from: AUTO, TRUNK"),
    ({"parts": {"head": {"share": -3}}}, "The share of the bone head is -3. Give 0 to 1."),
    ({"mass": -5}, "The mass is -5. Give 0 or more."),
    ({"mass": 10**400}, "The mass is 1000"),
    ({"amount": float("inf")}, "The amount is inf. Give 0 to 1."),
    ({"use_reduction": True, "reduce_degrees": 0}, "The reduce_degrees is 0. Give 0.001 or more."),
    ({"use_reduction": True, "reduce_mm": 0}, "The reduce_mm is 0. Give 0.001 or more."),
]


@pytest.mark.parametrize(("told", "words"), BAD, ids=[json.dumps(told)[:60] for told, _ in BAD])
def test_a_mistake_is_named_and_changes_nothing(tmp_path, told, words) -> None:
    ob = make_armature(bpy, PERSON)
    ob.heft.is_set_up, ob.heft.mass = True, 77.0
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"heft": 1, "build": "LENGTH", "mass": 33.0, **told}))
    with pytest.raises(RuntimeError) as caught:
        bpy.ops.heft.load_preset(filepath=str(path))
    sentence = str(caught.value)
    assert "Traceback" not in sentence and words in sentence and "p.json" in sentence, sentence
    assert ob.heft.mass == 77.0 and ob.heft.build == "AUTO"


def test_whole_numbers_and_nothing_are_numbers_too() -> None:
    told = from_json('{"heft": 1, "mass": 70, "start": null, "release": {"frame": 12}, "dials": {"stiffness": 2}}')
    assert told.mass == 70 and told.start is None and told.release is not None and told.release.frame == 12
    assert from_json(to_json(told)) == told


def test_the_panel_offers_the_roles_that_presets_know() -> None:
    assert tuple(name for name, _, _ in properties.ROLES) == ROLES
    assert all(Setup(parts={"head": Part(role=role)}) for role in ROLES)


@pytest.mark.parametrize("told", [{"end": 15}, {"start": 3}, {"loads": [{"bone": "hand.L", "start": 3.0}]},
                                  {"loads": [{"bone": "hand.L", "end": 9.0}]}], ids=json.dumps)
def test_a_preset_with_one_end_bakes_the_same_frames_from_the_panel(tmp_path, told) -> None:
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob, first=-5, last=20)
    ob.heft.is_set_up, ob.heft.use_range, ob.heft.start, ob.heft.end = True, True, 7, 8
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"heft": 1, **told}))
    setup = from_json(path.read_text())
    assert bpy.ops.heft.load_preset(filepath=str(path)) == {"FINISHED"}
    scene = bpy.context.scene
    assert frame_range(scene, ob, setup_of(ob)) == frame_range(scene, ob, setup)
    assert setup_of(ob).loads == setup.loads


@pytest.mark.parametrize(("told", "name"), [
    ({"contacts": [{"limb": "foot.L", "start": 3.5, "end": 9.0}]}, "contacts"),
    ({"release": {"frame": 4.5}}, "release"), ({"release": {"frame": 4, "impulse": 50}}, "release")])
def test_what_the_panel_cannot_hold_is_named(told, name) -> None:
    ob = make_armature(bpy, PERSON)
    setup = from_json(json.dumps({"heft": 1, **told}))
    fill(ob, setup, bpy.data.objects, bpy.data.collections)
    assert differing(setup, setup_of(ob)) == [name]


def test_what_the_panel_holds_is_not_named() -> None:
    ob = make_armature(bpy, PERSON)
    setup = from_json(json.dumps({
        "heft": 1, "mass": 70, "amount": 0.3, "start": 3, "dials": {"stiffness": 1.0, "local_give": 0.77},
        "parts": {"head": {}, "chest": {"mass": 3.3}}, "loads": [{"bone": "hand.L", "kg": 4.8000000000000007}],
        "release": {"impulse": 50, "get_up": 1.1}}))
    assert not fill(ob, setup, bpy.data.objects, bpy.data.collections) and not differing(setup, setup_of(ob))


def test_a_load_whose_object_is_not_here_is_told() -> None:
    ob = make_armature(bpy, PERSON)
    setup = from_json('{"heft": 1, "loads": [{"bone": "hand.L", "object": "Bucket"}]}')
    assert fill(ob, setup, bpy.data.objects, bpy.data.collections) == ["object Bucket of the load on hand.L"]
