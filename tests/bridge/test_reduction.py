"""Fewer keys, the same motion within what was told, and feet that still stand."""

from dataclasses import replace

import numpy as np
import pytest

from addon.bridge.reduce_keys import Tolerance, _needed
from addon.bridge.settings import PushSpec, Setup
from addon.bridge.write_action import Channel, new_poses
from addon.job import bake_character, finish
from tests.bridge.round_trip import distance, world_poses
from tests.rigs import PERSON, all_keys, key_sway, make_armature

bpy = pytest.importorskip("bpy")
PUSH = PushSpec(bone="chest", start=8, length=4, newtons=250.0, direction=(1.0, 0.3, 0.0))


def keys_of(action):
    return sum(len(keys) for keys in all_keys(action).values())


@pytest.mark.parametrize(("degrees", "mm", "mode"), [(0.1, 0.5, "QUATERNION"), (1.0, 5.0, "XYZ"),
                                                     (1.0, 5.0, "AXIS_ANGLE")])
def test_fewer_keys_within_the_tolerance(degrees: float, mm: float, mode: str) -> None:
    ob = make_armature(bpy, PERSON)
    for bone in ob.pose.bones:
        bone.rotation_mode = mode
    key_sway(bpy, ob, last=40)
    scene, setup = bpy.context.scene, Setup(start=1, end=40, pushes=(PUSH,))
    full = finish(bake_character(bpy.data, scene, ob, setup))
    few = finish(bake_character(bpy.data, scene, ob, replace(setup, use_reduction=True, reduce_degrees=degrees,
                                                             reduce_mm=mm)))
    study = full.study
    meant = study.samples.world[:, None] @ new_poses(study.samples, study.figure.changes(full.result.motion), 1.0)
    turned, moved = distance(meant, world_poses(scene, ob, range(1, 41)))
    assert turned < 1.02 * degrees and moved < 1.02e-3 * mm
    assert keys_of(few.action) < (0.9 if degrees < 0.5 else 0.8) * keys_of(full.action)  # feet stand all the time
    shown = world_poses(scene, ob, range(1, 41))
    for side in "LR":  # what stands stays five times nearer
        foot = ob.pose.bones.find(f"foot.{side}")
        p = [n for n, link in enumerate(full.points.link)
             if study.figure.bone_of(int(link)) == f"foot.{side}"]
        stands = full.result.contacts[:, p].any(1)
        gap = np.linalg.norm((shown - meant)[stands, foot, :3, 3], axis=1)
        assert gap.max(initial=0.0) < 0.21e-3 * mm + 1e-6


def test_odd_inheritance_keeps_all_keys_rather_than_be_wrong() -> None:
    ob = make_armature(bpy, PERSON)
    for n, bone in enumerate(ob.data.bones):
        bone.use_inherit_rotation = n % 2 == 0
    key_sway(bpy, ob)
    setup = Setup(start=1, end=25, pushes=(PUSH,), use_reduction=True)
    baked = finish(bake_character(bpy.data, bpy.context.scene, ob, setup))
    study = baked.study
    meant = study.samples.world[:, None] @ new_poses(study.samples, study.figure.changes(baked.result.motion), 1.0)
    turned, moved = distance(meant, world_poses(bpy.context.scene, ob, range(1, 26)))
    assert turned < 0.102 and moved < 0.51e-3


def test_rounding_at_the_end_of_a_line_is_no_reason_to_divide_it_for_ever() -> None:
    ends = np.array([1e16, 1.0])
    values = np.tile([[ends[0]], [ends[0] + 0.5 * (ends[1] - ends[0])], [ends[1]]], 3)
    assert ends[0] + (ends[1] - ends[0]) != ends[1]
    assert _needed([Channel("root", "location", values)], "XYZ", Tolerance(0.1, 0.1)) == {0, 2}
