"""What is keyed is what the solver meant, whatever the rig; and what was there before is still there."""

import numpy as np
import pytest

from addon.bridge.settings import GroundSpec, LoadSpec, Part, PushSpec, Setup, from_json, to_json
from addon.bridge.write_action import new_poses
from addon.job import bake_character, finish, read
from tests.bridge.round_trip import DEGREES, METRES, distance, world_poses
from tests.rigs import PERSON, all_keys, key_sway, make_armature

bpy = pytest.importorskip("bpy")
PUSH = PushSpec(bone="chest", start=8, length=4, newtons=250.0, direction=(1.0, 0.3, 0.0))


def bake(ob, setup):
    return finish(bake_character(bpy.data, bpy.context.scene, ob, setup))


def check_meant(ob, setup):
    """The evaluated bones are where the result says; returns the bake and how far the push led."""
    before = world_poses(bpy.context.scene, ob, range(1, 26))
    baked = bake(ob, setup)
    study = baked.study
    meant = new_poses(study.samples, study.figure.changes(baked.result.motion), study.unit)
    meant = study.samples.world[:, None] @ meant
    degrees, metres = distance(meant, world_poses(bpy.context.scene, ob, range(1, 26)))
    assert degrees < DEGREES and metres < METRES
    return baked, distance(before, meant)


def inherit_oddly(ob):
    for n, bone in enumerate(ob.data.bones):
        bone.inherit_scale = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")[n % 6]
        bone.use_inherit_rotation = n % 3 != 1
        bone.use_local_location = n % 4 != 2


def turn_oddly(ob):
    for n, bone in enumerate(ob.pose.bones):
        bone.rotation_mode = ("QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE")[n % 4]


def move_object(ob):
    ob.scale = (1.2,) * 3
    for frame, x in ((1, 0.0), (25, 0.4)):
        ob.location, ob.rotation_euler = (x, 0.0, 0.0), (0.0, 0.0, x)
        ob.keyframe_insert("location", frame=frame)
        ob.keyframe_insert("rotation_euler", frame=frame)


@pytest.mark.parametrize("oddity", [None, inherit_oddly, turn_oddly, move_object],
                         ids=lambda f: getattr(f, "__name__", "plain"))
def test_a_push_arrives_in_the_keys(oddity) -> None:
    ob = make_armature(bpy, PERSON, connected=("spine", "chest", "shin.R", "foot.R"))
    if oddity is not None:
        oddity(ob)
    source = key_sway(bpy, ob)
    keys = all_keys(source)
    _, (degrees, shift) = check_meant(ob, Setup(start=1, end=25, pushes=(PUSH,), mass=75.0))
    assert degrees > 3.0 and shift > 0.02, "the push must be seen"
    assert all_keys(source) == keys


def with_root(connected=()):
    bones = {"root": (None, (0, 0, 0), (0, 0.3, 0)), "target": ("root", (0, 0.5, 0.4), (0, 0.6, 0.4)), **PERSON}
    for name, (_, head, tail) in list(bones.items()):
        if name == "pelvis" or name.startswith("thigh"):
            bones[name] = ("root", head, tail)  # legs beside the pelvis: one of the ways people rig
    return make_armature(bpy, bones, connected=connected)


def test_a_root_on_the_floor_is_no_pelvis_and_loose_legs_find_it() -> None:
    ob = with_root()
    key_sway(bpy, ob, still=("root", "target"))
    baked, _ = check_meant(ob, Setup(start=1, end=25, pushes=(PUSH,)))
    character = baked.study.figure.character
    assert character.names[0] == "pelvis" and character.parents[character.index("thigh.L")] == 0
    assert "target" not in character.names and "root" not in character.names
    paths = {path for path, _ in all_keys(baked.action)}
    assert not any("target" in path or '"root"' in path for path in paths), "only what was mapped is keyed"


def test_a_connected_pelvis_takes_its_root_along() -> None:
    bones = {"root": (None, (0, 0, 0), (0, 0, 0.95)), **PERSON, "pelvis": ("root", (0, 0, 0.95), (0, 0, 1.08))}
    ob = make_armature(bpy, bones, connected=("pelvis",))
    key_sway(bpy, ob, root="root")
    check_meant(ob, Setup(start=1, end=25, pushes=(PUSH,)))


def test_baking_again_starts_from_the_original() -> None:
    ob = make_armature(bpy, PERSON)
    source = key_sway(bpy, ob)
    setup = Setup(pushes=(PUSH,))
    first, second = bake(ob, setup), bake(ob, setup)
    assert first.action != second.action and source.name in bpy.data.actions
    assert all_keys(first.action) == all_keys(second.action)


def test_a_track_holds_the_result_and_the_original() -> None:
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    setup = Setup(pushes=(PUSH,), start=1, end=25)
    as_action = bake(ob, setup)
    shown = world_poses(bpy.context.scene, ob, range(1, 26))
    from dataclasses import replace

    as_track = bake(ob, replace(setup, output="NLA"))
    assert ob.animation_data.action is None
    assert [track.mute for track in ob.animation_data.nla_tracks] == [True, False]
    assert distance(shown, world_poses(bpy.context.scene, ob, range(1, 26))) < (1e-6, 1e-6)
    again = bake(ob, replace(setup, output="NLA"))
    assert all_keys(as_action.action) == all_keys(as_track.action) == all_keys(again.action)


def test_a_preset_gives_the_same_keys_to_the_last_bit() -> None:
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    setup = Setup(pushes=(PUSH, PushSpec(bone="head", start=3.3, length=2.1, newtons=33.3)), mass=71.3,
                  parts={"hand.L": Part(mass=1.7), "head": Part(share=0.5), "spine": Part(strength=2.0)},
                  loads=(LoadSpec("hand.R", 4.1),), dials={"stiffness": 1.7, "step_shift": False},
                  grounds=(GroundSpec(slope=3.0),))
    told = from_json(to_json(setup))
    assert told == setup
    assert all_keys(bake(ob, setup).action) == all_keys(bake(ob, told).action)


def test_an_arrow_pushes_what_it_points_at_and_its_strength_can_be_keyed() -> None:
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    arrow = bpy.data.objects.new("Push", None)
    bpy.context.scene.collection.objects.link(arrow)
    arrow.location, arrow.rotation_euler = (-0.6, 0.0, 1.35), (0.0, np.pi / 2, 0.0)
    spec = PushSpec(object="Push", start=8, length=4, newtons=100.0)
    study = finish(read(bpy.context.scene, ob, Setup(pushes=(spec,))))
    push = study.scene.pushes[0]
    assert push.body == "chest"
    np.testing.assert_allclose(push.forces[1], (100.0, 0.0, 0.0), atol=1e-4)
    np.testing.assert_allclose(push.times[[0, -1]], [7 / 24, 11 / 24])


def test_ground_moves_as_it_is_animated() -> None:
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    mesh = bpy.data.meshes.new("Floor")
    mesh.from_pydata([(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [], [(0, 1, 2, 3)])
    floor = bpy.data.objects.new("Floor", mesh)
    bpy.context.scene.collection.objects.link(floor)
    still = finish(read(bpy.context.scene, ob, Setup(grounds=(GroundSpec(object="Floor", friction=0.4),))))
    probe = still.scene.terrain.probe(np.array([[0.0, 0.0, 0.3]]), 0.0)
    assert probe.distance[0] == pytest.approx(0.3) and probe.friction[0] == pytest.approx(0.4)
    for frame, x in ((1, 0.0), (25, 1.0)):
        floor.location = (x, 0.0, 0.0)
        floor.keyframe_insert("location", frame=frame)
    for curve in (c for layer in floor.animation_data.action.layers for s in layer.strips for b in s.channelbags
                  for c in b.fcurves) if hasattr(floor.animation_data.action, "layers") else \
            floor.animation_data.action.fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    moving = finish(read(bpy.context.scene, ob, Setup(grounds=(GroundSpec(object="Floor"),))))
    assert moving.scene.terrain.probe(np.array([[0.0, 0.0, 0.3]]), 0.5).velocity[0, 0] == pytest.approx(1.0, rel=1e-3)


def test_cancelling_leaves_everything_as_it_was() -> None:
    ob = make_armature(bpy, PERSON)
    source = key_sway(bpy, ob)
    keys, scene = all_keys(source), bpy.context.scene
    mesh = bpy.data.objects.new("Skin", bpy.data.meshes.new("Skin"))
    scene.collection.objects.link(mesh)
    mesh.modifiers.new("Armature", "ARMATURE").object = ob
    scene.frame_set(17, subframe=0.25)
    for stop in (1, 2, 6, 20):
        job = bake_character(bpy.data, scene, ob, Setup(pushes=(PUSH,)))
        for _ in range(stop):
            next(job)
        job.close()
        assert ob.animation_data.action == source and all_keys(source) == keys and len(bpy.data.actions) == 1
        assert (scene.frame_current, scene.frame_subframe) == (17, 0.25) and not mesh.hide_viewport


@pytest.mark.parametrize("end, is_told", [(14, True), (25, False)])
def test_a_range_that_ends_while_the_push_still_shows_says_so(end, is_told) -> None:
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    baked = bake(ob, Setup(start=1, end=end, pushes=(PUSH,), mass=75.0))
    told = [note for note in baked.result.notes if "The range ends" in note.sentence]
    assert bool(told) == is_told and all("Ease out" in note.sentence for note in told)
