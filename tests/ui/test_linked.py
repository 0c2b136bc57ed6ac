"""Rigs from other files: an override works like any rig, a plain link says what to do."""

from pathlib import Path

import pytest

from tests.rigs import PERSON, all_keys, key_sway, make_armature

bpy = pytest.importorskip("bpy")


@pytest.fixture
def linked(tmp_path: Path):
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Person"]
    ob = wanted.objects[0]
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    return ob


def test_a_plain_link_is_refused_with_the_way_out(linked) -> None:
    for name in ("set_up", "bake", "add_push"):
        with pytest.raises(RuntimeError, match="make a library override first"):
            getattr(bpy.ops.heft, name)()
    assert not linked.heft.is_set_up


def test_an_override_works_like_any_rig(linked) -> None:
    ob = linked.override_create(remap_local_usages=True)
    bpy.context.view_layer.objects.active = ob
    source = ob.animation_data.action
    keys = all_keys(source)
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    assert bpy.ops.heft.add_push(size="TACKLE") == {"FINISHED"}
    bpy.data.objects["Push"].heft.push.start = 8.0
    assert bpy.ops.heft.bake() == {"FINISHED"}
    assert ob.animation_data.action != source and all_keys(source) == keys
    assert ob.animation_data.action.library is None


def test_several_armatures_are_told_apart() -> None:
    first = make_armature(bpy, PERSON, name="First")
    key_sway(bpy, first)
    second = make_armature(bpy, PERSON, name="Second")
    key_sway(bpy, second)
    bpy.context.view_layer.objects.active = first
    assert bpy.ops.heft.set_up() == {"FINISHED"} and not second.heft.is_set_up
    kept = all_keys(second.animation_data.action)
    assert bpy.ops.heft.bake() == {"FINISHED"}
    assert second.animation_data.action.name == "Second sway" and all_keys(second.animation_data.action) == kept
