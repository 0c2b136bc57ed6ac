"""Rigs whose bones are held by constraints: an overlay carries the result, the controls stay as they were."""

import numpy as np
import pytest

from addon.bridge.overlay import remove_overlay
from addon.bridge.settings import PushSpec, Setup
from addon.bridge.write_action import new_poses
from addon.job import bake_character, finish
from tests.bridge.round_trip import DEGREES, METRES, distance, round_trip, world_poses
from tests.rigs import PERSON, all_keys, key_sway, make_armature

bpy = pytest.importorskip("bpy")
PUSH = PushSpec(bone="chest", start=8, length=4, newtons=250.0, direction=(1.0, 0.3, 0.0))


def with_ik_legs():
    """Feet held by targets, knees by poles, all of it deform by default: how many people rig."""
    bones = {"root": (None, (0, 0, 0), (0, 0.3, 0)), **PERSON, "pelvis": ("root", (0, 0, 0.95), (0, 0, 1.08))}
    for side, s in (("L", 1.0), ("R", -1.0)):
        bones[f"target.{side}"] = ("root", (0.1 * s, 0.02, 0.09), (0.1 * s, 0.12, 0.09))
        bones[f"pole.{side}"] = ("root", (0.1 * s, -0.6, 0.5), (0.1 * s, -0.7, 0.5))
    ob = make_armature(bpy, bones)
    for side in "LR":
        ik = ob.pose.bones[f"shin.{side}"].constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count = ob, f"target.{side}", 2
        ik.pole_target, ik.pole_subtarget, ik.pole_angle = ob, f"pole.{side}", -np.pi / 2
    key_sway(bpy, ob, still=("root", "pole.L", "pole.R"))
    return ob


def facts(ob):
    return [(bone.name, c.type, c.name, c.mute, c.influence) for bone in ob.pose.bones for c in bone.constraints]


def test_identity_on_a_rig_with_ik_legs() -> None:
    ob = with_ik_legs()
    keys, action = all_keys(ob.animation_data.action), ob.animation_data.action
    degrees, metres, baked = round_trip(bpy, ob)
    assert baked.output == "OVERLAY" and degrees < DEGREES and metres < METRES
    assert ob.animation_data.action == action and all_keys(action) == keys
    names = baked.study.figure.character.names
    assert names[0] == "pelvis" and not any("target" in name or "pole" in name for name in names)


def test_a_push_blends_in_and_out_with_one_slider_and_goes_in_one_click() -> None:
    ob = with_ik_legs()
    constraints, objects = facts(ob), len(bpy.data.objects)
    scene = bpy.context.scene
    before = world_poses(scene, ob, range(1, 26))
    baked = finish(bake_character(bpy.data, scene, ob, Setup(pushes=(PUSH,), start=1, end=25)))
    study = baked.study
    meant = study.samples.world[:, None] @ new_poses(study.samples, study.figure.changes(baked.result.motion), 1.0)
    moved = [i for i, carrier in enumerate(study.figure.body.carrier) if carrier >= 0]
    degrees, metres = distance(meant[:, moved], world_poses(scene, ob, range(1, 26))[:, moved])
    assert degrees < DEGREES and metres < METRES
    assert distance(before, meant)[0] > 3.0, "the push must be seen"

    carrier = next(child for child in ob.children if child.type == "ARMATURE")
    carrier["influence"] = 0.0
    carrier.update_tag()
    degrees, metres = distance(before, world_poses(scene, ob, range(1, 26)))
    assert degrees < DEGREES and metres < METRES
    carrier["influence"] = 1.0
    assert remove_overlay(bpy.data, ob)
    degrees, metres = distance(before, world_poses(scene, ob, range(1, 26)))
    assert degrees < DEGREES and metres < METRES
    assert facts(ob) == constraints and len(bpy.data.objects) == objects
    assert not [d for d in ob.animation_data.drivers if "constraints" in d.data_path]


def test_baking_again_replaces_the_overlay() -> None:
    ob = with_ik_legs()
    setup = Setup(pushes=(PUSH,), start=1, end=25)
    first = finish(bake_character(bpy.data, bpy.context.scene, ob, setup))
    keys = all_keys(first.action)
    second = finish(bake_character(bpy.data, bpy.context.scene, ob, setup))
    assert all_keys(second.action) == keys
    assert len([child for child in ob.children if child.type == "ARMATURE"]) == 1
    assert len([c for c in facts(ob) if c[2].startswith("Heft")]) == len(first.study.figure.body.links)


def test_muted_constraints_need_no_overlay() -> None:
    ob = with_ik_legs()
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            constraint.mute = True
    degrees, metres, baked = round_trip(bpy, ob)
    assert baked.output == "ACTION" and degrees < DEGREES and metres < METRES


def overlay_of(ob):
    return next(child for child in ob.children if child.type == "ARMATURE")


def bake(ob, **told):
    return finish(bake_character(bpy.data, bpy.context.scene, ob, Setup(start=1, end=25, **told)))


def test_an_animators_own_constraint_is_left_alone_whatever_its_name() -> None:
    ob = with_ik_legs()
    own = ob.pose.bones["head"].constraints.new("COPY_ROTATION")
    own.name, own.target, own.subtarget = "Heft look", ob, "root"
    other = ob.pose.bones["head"].constraints.new("COPY_TRANSFORMS")
    other.name, other.target, other.subtarget, other.influence = "Heft follow", ob, "root", 0.1
    before = facts(ob)
    baked = bake(ob)
    assert baked.study.figure.rig.is_live[baked.study.figure.rig.index["head"]]
    assert remove_overlay(bpy.data, ob) and facts(ob) == before


def test_baking_again_keeps_the_influence_and_its_keys() -> None:
    ob = with_ik_legs()
    first = bake(ob, pushes=(PUSH,))
    carrier = overlay_of(ob)
    for frame, value in ((1, 0.0), (25, 0.75)):
        carrier["influence"] = value
        carrier.keyframe_insert('["influence"]', frame=frame)
    keys = all_keys(first.action)
    shown = world_poses(bpy.context.scene, ob, range(1, 26))
    bpy.context.scene.frame_set(25)
    again = bake(ob, pushes=(PUSH,))
    assert all_keys(again.action) == keys and ('["influence"]', 0) in keys, "physics is not baked on physics"
    assert distance(shown, world_poses(bpy.context.scene, ob, range(1, 26))) < (DEGREES, METRES)
    assert overlay_of(ob)["influence"] == pytest.approx(0.75) and overlay_of(ob).name == "Person Heft"


def test_an_unkeyed_influence_is_kept() -> None:
    ob = with_ik_legs()
    bake(ob)
    overlay_of(ob)["influence"] = 0.5
    bake(ob)
    assert overlay_of(ob)["influence"] == 0.5


def test_a_bake_that_fails_leaves_the_earlier_overlay(monkeypatch) -> None:
    from addon.bridge import overlay

    ob = with_ik_legs()
    bake(ob)
    bpy.context.scene.frame_set(1)
    carrier, before = overlay_of(ob), facts(ob)
    monkeypatch.setattr(overlay, "free_bones", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        bake(ob)
    assert ob.children == (carrier,) and facts(ob) == before and len(bpy.data.armatures) == 2


def test_keys_are_seen_after_an_overlay() -> None:
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    before = world_poses(bpy.context.scene, ob, range(1, 26))
    first = bake(ob, pushes=(PUSH,), output="OVERLAY")
    bake(ob, output="ACTION")
    assert distance(before, world_poses(bpy.context.scene, ob, range(1, 26))) < (DEGREES, METRES)
    assert not ob.children and first.action.use_fake_user


def test_renaming_a_bone_does_not_keep_the_overlay_from_going() -> None:
    ob = with_ik_legs()
    before = world_poses(bpy.context.scene, ob, range(1, 26))
    bake(ob, pushes=(PUSH,))
    ob.data.bones["shin.L"].name = "calf.L"
    bpy.context.scene.frame_set(4)
    assert remove_overlay(bpy.data, ob)
    assert not len(ob.animation_data.drivers) and ob.pose.bones["calf.L"].constraints[0].influence == 1.0
    assert distance(before, world_poses(bpy.context.scene, ob, range(1, 26))) < (DEGREES, METRES)


def test_an_overridden_collection_takes_no_overlay_and_the_scene_does(tmp_path) -> None:
    ob = with_ik_legs()
    home, scene = bpy.data.collections.new("Home"), bpy.context.scene
    scene.collection.children.link(home)
    scene.collection.objects.unlink(ob)
    home.objects.link(ob)
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.collections = ["Home"]
    scene = bpy.context.scene
    scene.collection.children.link(wanted.collections[0])
    made = wanted.collections[0].override_hierarchy_create(scene, bpy.context.view_layer)
    ob = next(each for each in made.all_objects if each.type == "ARMATURE")
    assert bake(ob).output == "OVERLAY" and overlay_of(ob).name in scene.collection.objects


def test_outside_a_baked_part_the_rig_is_on_its_own() -> None:
    ob = with_ik_legs()
    scene, frames = bpy.context.scene, range(1, 26)
    before = world_poses(scene, ob, frames)
    finish(bake_character(bpy.data, scene, ob, Setup(pushes=(PUSH,), start=6, end=16)))
    after = world_poses(scene, ob, frames)
    for part, is_same in ((slice(0, 5), True), (slice(9, 16), False), (slice(16, 25), True)):
        degrees, metres = distance(before[part], after[part])
        assert (degrees < DEGREES and metres < METRES) == is_same
    finish(bake_character(bpy.data, scene, ob, Setup(pushes=(PUSH,), start=1, end=25)))
    degrees, _ = distance(before[16:], world_poses(scene, ob, frames)[16:])
    assert degrees > 0.1, "baked again as a whole, it is there throughout"


def test_an_overlay_is_made_in_the_view_layer_on_show() -> None:
    ob = with_ik_legs()
    scene, window = bpy.context.scene, bpy.context.window
    window.view_layer = second = scene.view_layers.new("second")
    second.objects.active = ob
    degrees, metres, baked = round_trip(bpy, ob)
    assert baked.output == "OVERLAY" and degrees < DEGREES and metres < METRES
    assert second.objects.active == ob and ob.mode == "OBJECT"


@pytest.mark.parametrize("output", ["ACTION", "NLA"])
def test_without_influence_the_keys_are_seen_and_no_earlier_result(output) -> None:
    ob = make_armature(bpy, PERSON)
    action = key_sway(bpy, ob)
    before = world_poses(bpy.context.scene, ob, range(1, 26))
    for way in (output, "OVERLAY"):
        finish(bake_character(bpy.data, bpy.context.scene, ob, Setup(pushes=(PUSH,), output=way)))
    pushed = world_poses(bpy.context.scene, ob, range(1, 26))
    ob.children[0]["influence"] = 0.0
    ob.children[0].update_tag()
    degrees, metres = distance(before, world_poses(bpy.context.scene, ob, range(1, 26)))
    assert ob.animation_data.action == action and degrees < DEGREES and metres < METRES
    assert distance(before, pushed)[0] > 1.0


def test_an_overlay_goes_into_a_collection_that_is_on() -> None:
    ob = with_ik_legs()
    scene = bpy.context.scene
    for name in ("off", "on"):
        made = bpy.data.collections.new(name)
        scene.collection.children.link(made)
        made.objects.link(ob)
    scene.collection.objects.unlink(ob)
    bpy.context.view_layer.layer_collection.children["off"].exclude = True
    degrees, metres, baked = round_trip(bpy, ob)
    assert baked.output == "OVERLAY" and degrees < DEGREES and metres < METRES
    assert [each.name for each in ob.children[0].users_collection] == ["on"]
