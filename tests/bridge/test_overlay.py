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
