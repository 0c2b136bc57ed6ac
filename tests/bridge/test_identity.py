"""Set up and bake with nothing to disturb gives the same motion, on every kind of rig."""

import numpy as np
import pytest

from addon.bridge.settings import Setup
from tests.bridge.round_trip import DEGREES, METRES, distance, round_trip, world_poses
from tests.clips.shared import FOLDER, needs_clips
from tests.rigs import PERSON, all_keys, key_sway, make_armature

bpy = pytest.importorskip("bpy")
MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")


def check(ob, setup=None):
    source = ob.animation_data.action if ob.animation_data else None
    keys = all_keys(source) if source else None
    degrees, metres, baked = round_trip(bpy, ob, setup)
    assert degrees < DEGREES and metres < METRES * bpy.context.scene.unit_settings.scale_length ** -1
    if source:
        assert all_keys(source) == keys and source.use_fake_user and baked.action != source
        assert ob.animation_data.action == baked.action
    return baked


def test_plain_rig() -> None:
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    baked = check(ob)
    assert set(baked.study.figure.character.names) == set(PERSON)


def test_every_rotation_mode() -> None:
    ob = make_armature(bpy, PERSON)
    for n, bone in enumerate(ob.pose.bones):
        bone.rotation_mode = MODES[n % len(MODES)]
    key_sway(bpy, ob)
    modes = [bone.rotation_mode for bone in ob.pose.bones]
    check(ob)
    assert [bone.rotation_mode for bone in ob.pose.bones] == modes


@pytest.mark.parametrize("scale", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"])
def test_every_way_to_inherit(scale: str) -> None:
    ob = make_armature(bpy, PERSON)
    for n, bone in enumerate(ob.data.bones):
        bone.inherit_scale = scale
        bone.use_inherit_rotation = n % 3 != 1
        bone.use_local_location = n % 4 != 2
    key_sway(bpy, ob)
    for frame, size in ((1, 1.0), (13, 1.1), (25, 1.0)):  # even squash and stretch of the whole trunk
        ob.pose.bones["spine"].scale = (size,) * 3
        ob.pose.bones["spine"].keyframe_insert("scale", frame=frame)
    check(ob)


def test_connected_bones_and_uneven_scale_of_leaves() -> None:
    ob = make_armature(bpy, PERSON, connected=("spine", "chest", "neck", "head", "shin.L", "foot.L", "forearm.R"))
    key_sway(bpy, ob)
    for frame, size in ((1, (1, 1, 1)), (13, (1.2, 0.8, 1.2)), (25, (1, 1, 1))):
        ob.pose.bones["head"].scale = size
        ob.pose.bones["head"].keyframe_insert("scale", frame=frame)
    check(ob)


@pytest.mark.parametrize("scale", [(-1, 1, 1), (1, -1, 1), (-1, -1, 1), (-1, -1, -1)])
@pytest.mark.parametrize("is_keyed", [False, True])
def test_mirrored_bones(scale, is_keyed: bool) -> None:
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    ob.pose.bones["forearm.L"].scale = scale
    if is_keyed:
        ob.pose.bones["forearm.L"].keyframe_insert("scale", frame=1)
    check(ob)


def test_animated_object_with_scale_and_parents() -> None:
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    ob.scale = (1.3, 1.3, 1.3)
    for frame, x, turn in ((1, 0.0, 0.0), (25, 0.5, 0.6)):
        ob.location, ob.rotation_euler = (x, 0.2 * x, 0.0), (0.0, 0.0, turn)
        ob.keyframe_insert("location", frame=frame)
        ob.keyframe_insert("rotation_euler", frame=frame)
    parent = bpy.data.objects.new("Cart", None)
    bpy.context.scene.collection.objects.link(parent)
    parent.location, parent.rotation_euler = (1.0, 2.0, 0.1), (0.0, 0.0, 0.5)
    ob.parent = parent
    check(ob)


def test_lying_import_with_a_hundredth_of_scale() -> None:
    """As FBX files come: y up, centimetres, corrected by the object."""
    turned = {name: (up, *(((100 * x), (100 * z), (-100 * y)) for x, y, z in (head, tail)))
              for name, (up, head, tail) in PERSON.items()}
    ob = make_armature(bpy, turned)
    ob.rotation_euler, ob.scale = (np.pi / 2, 0.0, 0.0), (0.01,) * 3
    key_sway(bpy, ob)
    baked = check(ob)
    assert 1.5 < baked.study.figure.height < 2.0
    assert baked.study.figure.character.roles.count("foot") == 2


@pytest.mark.parametrize(("fps", "base"), [(24, 1.0), (30, 1.001), (60, 1.0)])
def test_frame_rates_negative_frames_and_keys_between_frames(fps: int, base: float) -> None:
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = fps, base
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob, first=-20, last=4, step=4.37)
    baked = check(ob, Setup(start=-20, end=4))
    assert np.isclose(baked.study.scene.motion.times[1], base / fps)


def test_units_other_than_metres() -> None:
    bpy.context.scene.unit_settings.scale_length = 0.01
    ob = make_armature(bpy, {name: (up, [100 * x for x in head], [100 * x for x in tail])
                             for name, (up, head, tail) in PERSON.items()})
    key_sway(bpy, ob)
    baked = check(ob)
    assert 1.6 < baked.study.figure.height < 1.9


def test_keys_outside_the_range_still_play() -> None:
    scene = bpy.context.scene
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob, first=1, last=49)
    before = world_poses(scene, ob, range(-2, 55))
    round_trip(bpy, ob, Setup(start=10, end=30))
    after = world_poses(scene, ob, range(-2, 55))
    degrees, metres = distance(before, after)
    assert degrees < DEGREES and metres < METRES


@pytest.mark.parametrize("mode", ["XYZ", "AXIS_ANGLE", "QUATERNION"])
def test_a_spinning_bone_keeps_its_turns(mode: str) -> None:
    """Baked in the middle of its third turn, while Blender stands at its first: the curve does not jump."""
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob, last=49, still=("hand.L",))
    hand = ob.pose.bones["hand.L"]
    hand.rotation_mode = mode
    for frame in range(1, 50):
        angle = 4.0 * np.pi * (frame - 1) / 48
        if mode == "XYZ":
            hand.rotation_euler = (0.0, angle, 0.0)
        elif mode == "AXIS_ANGLE":
            hand.rotation_axis_angle = (angle, 0.0, 1.0, 0.0)
        else:
            hand.rotation_quaternion = (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
        hand.keyframe_insert({"XYZ": "rotation_euler", "AXIS_ANGLE": "rotation_axis_angle"}.get(
            mode, "rotation_quaternion"), frame=frame)
    bpy.context.scene.frame_set(1)
    source = ob.animation_data.action
    baked = check(ob, Setup(start=30, end=40))
    for (path, index), keys in all_keys(source).items():
        if "hand.L" in path:
            before, after = ({key[0]: key[1] for key in some} for some in (keys, all_keys(baked.action)[path, index]))
            assert max(abs(before[f] - after[f]) for f in range(1, 50)) < 1e-4


def test_motion_from_tracks() -> None:
    ob = make_armature(bpy, PERSON)
    action = key_sway(bpy, ob, first=3, last=27)
    strip = ob.animation_data.nla_tracks.new().strips.new("take", 3, action)
    if hasattr(action, "slots"):
        strip.action_slot = action.slots[0]
    ob.animation_data.action = None
    degrees, metres, baked = round_trip(bpy, ob)
    assert degrees < DEGREES and metres < METRES and tuple(baked.study.samples.frames[[0, -1]]) == (3.0, 27.0)


def test_a_switched_off_collection_is_refused() -> None:
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    home = bpy.data.collections.new("Off")
    bpy.context.scene.collection.children.link(home)
    home.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)
    bpy.context.view_layer.layer_collection.children["Off"].exclude = True
    with pytest.raises(ValueError, match="Tick its collection"):
        round_trip(bpy, ob)


def test_a_rig_that_is_not_keyed_at_all_stands_still() -> None:
    ob = make_armature(bpy, PERSON)
    bpy.context.scene.frame_end = 12
    check(ob)


BVH = sorted(FOLDER.glob("*.bvh")) if FOLDER.is_dir() else []
QUICK = {"walk_cmu_02_01", "run_cmu_09_01"}


@needs_clips
@pytest.mark.parametrize("path", [pytest.param(p, marks=() if p.stem in QUICK else pytest.mark.exhaustive)
                                  for p in BVH], ids=lambda p: p.stem)
def test_motion_capture(path) -> None:
    bpy.ops.import_anim.bvh(filepath=str(path), global_scale=0.0564444, update_scene_fps=True)
    ob = bpy.context.object
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 120, 1.0
    baked = check(ob, Setup(start=2))
    character = baked.study.figure.character
    assert {"LeftLeg", "RightLeg", "LeftFoot", "RightFoot", "Head"} <= set(character.names)
    assert not {"LThumb", "LeftHandIndex1"} & set(character.names)


ACTIONS = [("quadruped_fox_khronos", "Walk", 24), ("quadruped_horse_mesh2motion", "Trot", 30),
           ("cartoon_rogue_kaykit", "Walking_A", 30)]


@needs_clips
@pytest.mark.parametrize(("name", "action", "fps"), ACTIONS)
def test_characters_from_gltf(name: str, action: str, fps: int) -> None:
    bpy.context.scene.render.fps = fps
    bpy.ops.import_scene.gltf(filepath=str(FOLDER / f"{name}.glb"))
    ob = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    chosen = bpy.data.actions[action] if action in bpy.data.actions else next(
        a for a in bpy.data.actions if a.name.startswith(action))
    ob.animation_data.action = chosen
    if hasattr(chosen, "slots"):
        ob.animation_data.action_slot = chosen.slots[0]
    if "fox" in name:
        ob.scale = (0.01,) * 3  # its unit is a centimetre
    baked = check(ob)
    roles = baked.study.figure.character.roles
    assert roles.count("foot") == (4 if "quadruped" in name else 2)
