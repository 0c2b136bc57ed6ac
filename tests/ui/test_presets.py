"""Presets with mistakes: one sentence that names the place, and a panel that stays as it was."""

import json

import pytest

from addon.bridge.settings import ROLES, Part, Setup, from_json, to_json
from addon.ui import properties
from tests.rigs import PERSON, make_armature

bpy = pytest.importorskip("bpy")
BAD = [
    ({"start": "a"}, "start is 'a'. Give a whole number or null."),
    ({"start": 1.5}, "start is 1.5. Give a whole number or null."),
    ({"end": True}, "end is True. Give a whole number or null."),
    ({"start": 10**10}, "The start is 10000000000. Give -2147483648 to 2147483647."),
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
