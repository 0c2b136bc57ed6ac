"""The interface can be translated, and what is liked in every file is asked for in one place."""

import ast
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.rigs import PERSON, key_sway, make_armature

bpy = pytest.importorskip("bpy")
UI = Path(__file__).resolve().parents[2] / "addon" / "ui"


def labels() -> set[str]:
    """Every name, label and text of the interface, as written in its source."""
    found = set()
    for path in UI.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg in ("name", "text"):
                found |= {each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)}
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "bl_label":
                found |= {each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)}
    return found


def test_every_entry_of_every_language_is_a_label_of_the_interface() -> None:
    from addon.ui.translations import WORDS

    known = labels()
    assert "Set Up Character" in known
    for language, words in WORDS.items():
        assert not set(words) - known, language
        assert all(word.strip() for word in words.values())


def test_no_two_buttons_of_the_tab_have_one_name_and_all_have_a_german_one() -> None:
    """The same word would mean a weight in one panel and a file in another."""
    from addon.ui.translations import WORDS

    tree = ast.parse((UI / "panels.py").read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)
             and getattr(node.func, "attr", "") in ("operator", "operator_menu_enum")]
    texts = [key.value.value for node in calls for key in node.keywords
             if key.arg == "text" and isinstance(key.value, ast.Constant) and key.value.value]
    assert {"Push", "Load", "Load Preset"} <= set(texts) and len(texts) == len(set(texts))
    assert set(texts) <= set(WORDS["de_DE"])


def test_a_push_is_named_alike_in_button_and_tooltip() -> None:
    from addon.ui.properties import HEFT_PG_push
    from addon.ui.world_operators import STRENGTHS

    words = HEFT_PG_push.bl_rna.properties["strength"].description
    assert all(f"{newtons:g} {size.lower()}s" in words for size, newtons in STRENGTHS.items())


def test_blender_gets_the_table_in_both_contexts() -> None:
    from addon.ui.translations import table

    for words in table().values():
        assert {context for context, _ in words} == {"*", "Operator"}


@pytest.mark.parametrize("preset", ["Subtle", "Natural", "Strong"])
def test_a_new_character_has_the_dials_one_likes_and_keeps_its_own(preset, monkeypatch) -> None:
    from addon.bridge.controllers import controller_kind
    from addon.ui import character_operators

    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    bpy.context.view_layer.objects.active = ob
    monkeypatch.setattr(character_operators, "liked", lambda context: SimpleNamespace(dials=preset, redraw=0.3))
    bpy.ops.heft.set_up()
    group, wanted = ob.heft.quasi_physical, controller_kind("QUASI_PHYSICAL").presets[preset]
    assert group.path_return == pytest.approx(wanted.path_return)
    group.path_return = 1.0
    bpy.ops.heft.set_up()
    assert group.path_return == 1.0, "setting up again changes no dial"


def test_preferences_are_registered_under_the_name_of_the_extension() -> None:
    from addon.ui import preferences

    assert preferences.HEFT_AP_preferences.bl_idname == preferences.ADDON
    assert preferences.liked(bpy.context).dials == "Natural", "as they come where the add-on is not installed"


@pytest.mark.parametrize("page", ["tutorial.md", "troubleshooting.md"])
def test_what_the_docs_tell_to_press_or_turn_is_called_so_in_the_panel(page: str) -> None:
    from addon.bridge.controllers import controllers
    from addon.ui.preferences import HEFT_AP_preferences
    from addon.ui.properties import GROUPS

    known = labels() | {kind.label for kind in controllers().values()}
    known |= {dial.label.split(" (")[0] for kind in controllers().values() for dial in kind.dials}
    for prop in [prop for group in (*GROUPS, HEFT_AP_preferences) for prop in group.bl_rna.properties]:
        known |= {prop.name, *(item.name for item in getattr(prop, "enum_items", ()))}
    told = re.findall(r"\*\*(.+?)\*\*", (UI.parents[1] / "docs" / page).read_text(encoding="utf-8"))
    words = {word for each in told for word in each.replace("Ease in/out", "Ease in: Ease out").split(": ")}
    assert len(words) > 8 and not words - known - {"Heft"}
