"""Nothing of the animator's is lost by a bake: actions, cycles, what plays beyond the range, tracks."""

import numpy as np
import pytest

from addon.bridge.settings import PushSpec, Setup
from addon.job import bake_character, finish
from solver import InputError
from tests.bridge.round_trip import DEGREES, METRES, distance, world_poses
from tests.rigs import PERSON, key_sway, make_armature

bpy = pytest.importorskip("bpy")
PUSH = PushSpec(bone="chest", start=8, length=4, newtons=250.0, direction=(1.0, 0.3, 0.0))
RANGE = range(1, 26)


@pytest.fixture
def person():
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    return ob


def bake(ob, **told):
    return finish(bake_character(bpy.data, bpy.context.scene, ob, Setup(**told)))


def poses(ob, frames=RANGE):
    return world_poses(bpy.context.scene, ob, frames)


def curves(ob):
    action = ob.animation_data.action
    return action.layers[0].strips[0].channelbags[0].fcurves if hasattr(action, "layers") and len(action.layers) \
        else action.fcurves


def add_track(ob):
    """The shown action once more, on a track."""
    data = ob.animation_data
    track = data.nla_tracks.new()
    strip = track.strips.new("idle", 1, data.action.copy())
    if hasattr(strip, "action_slot"):
        strip.action_slot = strip.action.slots[0]
    return track


def same(a, b) -> bool:
    degrees, metres = distance(a, b)
    return degrees < DEGREES and metres < METRES


@pytest.mark.skipif(bpy.app.version < (4, 4), reason="slots came with 4.4")
def test_an_action_without_a_slot_stays_in_the_file(person) -> None:
    source = person.animation_data.action
    person.animation_data.action_slot = None
    bake(person, start=1, end=10)
    assert person.animation_data.action != source and source.use_fake_user


def test_a_result_whose_original_was_deleted_is_baked_as_it_is(person) -> None:
    first = bake(person, pushes=(PUSH,))
    bpy.data.actions.remove(bpy.data.actions["Person sway"])
    shown = poses(person)
    second = bake(person)
    assert second.action != first.action and same(shown, poses(person))


def test_a_track_whose_original_was_deleted_is_baked_as_it_is(person) -> None:
    bake(person, pushes=(PUSH,), output="NLA")
    bpy.data.actions.remove(bpy.data.actions["Person sway"])
    shown = poses(person)
    bake(person)
    assert same(shown, poses(person))


def test_a_cycle_is_baked_over_the_scene(person) -> None:
    for curve in curves(person):
        curve.modifiers.new("CYCLES")
    bpy.context.scene.frame_end = 45
    before = poses(person, range(1, 46))
    baked = bake(person)
    assert list(baked.study.samples.frames[[0, -1]]) == [1, 45] and same(before, poses(person, range(1, 46)))


@pytest.mark.parametrize("goes_on", ["CYCLES", "LINEAR"])
def test_what_plays_beyond_the_range_still_plays(person, goes_on) -> None:
    for curve in curves(person):
        if goes_on == "CYCLES":
            curve.modifiers.new("CYCLES")
        else:
            curve.extrapolation = "LINEAR"
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 0, 60
    before = poses(person, range(61))
    bake(person, start=1, end=25)
    assert same(before, poses(person, range(61)))


def test_a_result_on_a_track_is_seen_where_tracks_were_off(person) -> None:
    other = add_track(person)
    person.animation_data.use_nla = False
    before = poses(person)
    bake(person, output="NLA")
    assert person.animation_data.use_nla and other.mute and same(before, poses(person))
    assert np.ptp(poses(person), axis=0).max() > 0.1


@pytest.mark.parametrize("output", ["ACTION", "NLA"])
def test_a_solo_track_is_refused_with_the_way_out(person, output) -> None:
    add_track(person).is_solo = True
    with pytest.raises(InputError, match="plays solo") as told:
        bake(person, output=output)
    assert "star" in str(told.value) and len(bpy.data.actions) == 2


def key_only(ob, *bones) -> None:
    """Take the keys of all other bones away, as in an action in which little is animated."""
    own = curves(ob)
    for curve in [each for each in own if each.data_path.split('"')[1] not in bones]:
        own.remove(curve)


@pytest.mark.parametrize("output", ["ACTION", "NLA"])
@pytest.mark.parametrize("playhead", [1, 14])
def test_a_second_bake_does_not_begin_where_the_first_left_bones_without_keys(person, output, playhead) -> None:
    key_only(person, "chest")
    before = poses(person)
    bake(person, pushes=(PUSH,), output=output)
    pushed = poses(person)
    bpy.context.scene.frame_set(playhead)
    bake(person, pushes=(PUSH,))
    assert not same(before, pushed) and np.array_equal(pushed, poses(person))
    bpy.context.scene.frame_set(playhead)
    bake(person)
    assert same(before, poses(person))


def test_no_earlier_track_shows_through_the_original(person) -> None:
    key_only(person, "chest")
    source, slot = person.animation_data.action, getattr(person.animation_data, "action_slot", None)
    before = poses(person)
    bake(person, pushes=(PUSH,), output="NLA")
    bake(person)
    person.animation_data.action = source
    if slot is not None:
        person.animation_data.action_slot = slot
    assert same(before, poses(person))


@pytest.mark.parametrize("output", ["ACTION", "NLA"])
def test_tracks_still_play_outside_a_baked_part(person, output) -> None:
    add_track(person)
    person.animation_data.action = None
    before = poses(person)
    bake(person, start=8, end=16, output=output)
    assert same(before, poses(person))


def test_a_track_under_a_short_action_still_plays_after_it(person) -> None:
    add_track(person)
    key_only(person, "chest")
    for curve in curves(person):
        for key in [key for key in curve.keyframe_points if key.co[0] > 13.0][::-1]:
            curve.keyframe_points.remove(key)
    before = poses(person)
    bake(person)
    assert same(before, poses(person))


def test_a_bone_without_keys_is_back_in_its_pose_after_a_baked_part(person) -> None:
    key_only(person, "chest")
    before = poses(person)
    bake(person, pushes=(PUSH,), start=4, end=15)
    after = poses(person)
    assert not same(before, after) and same(before[15:], after[15:]) and same(before[:3], after[:3])


def test_a_muted_channel_stays_unheard_outside_a_baked_part(person) -> None:
    for curve in curves(person):
        curve.mute = "chest" in curve.data_path
    before = poses(person)
    bake(person, start=8, end=16)
    assert same(before, poses(person))


def test_sampled_curves_are_baked_like_keys(person) -> None:
    for curve in curves(person):
        curve.convert_to_samples(1, 26)
    before = poses(person)
    baked = bake(person, start=8, end=16)
    assert same(before, poses(person)) and len(baked.study.samples) == 9
    assert list(bake(person).study.samples.frames[[0, -1]]) == [1, 25]


@pytest.mark.parametrize("output", ["ACTION", "NLA"])
def test_an_original_that_does_not_know_new_names_is_not_taken_for_a_still_one(person, output) -> None:
    before = poses(person)
    bake(person, output=output)
    names = [bone.name for bone in person.data.bones]
    for bone in person.data.bones:
        bone.name = f'new "{bone.name}"'
    if output == "NLA":  # the original lies on a track: Blender renames it too
        bake(person)
    else:
        with pytest.raises(InputError, match=r"Bones were renamed since .* Give them these names again"):
            bake(person)
        for bone, name in zip(person.data.bones, names):
            bone.name = name
        bake(person)
    assert same(before, poses(person))
