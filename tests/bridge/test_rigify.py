"""A Rigify human with IK legs: the deform chain is found behind the controls, and an overlay carries the result."""

import numpy as np
import pytest

from addon.bridge.settings import PushSpec, Setup
from addon.bridge.write_action import new_poses
from addon.job import bake_character, finish
from tests.bridge.round_trip import DEGREES, METRES, distance, world_poses
from tests.rigs import all_keys

bpy = pytest.importorskip("bpy")


@pytest.fixture(scope="module")
def rigify_file(tmp_path_factory):
    """Generated once: it takes some seconds."""
    import addon_utils

    bpy.ops.wm.read_factory_settings(use_empty=True)
    try:
        assert addon_utils.enable("rigify", default_set=True) is not None
        bpy.ops.object.armature_human_metarig_add()
    except (AssertionError, AttributeError, RuntimeError) as error:
        pytest.skip(f"no Rigify here: {error}")
    bpy.ops.pose.rigify_generate()
    rig = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE" and "rig" in ob.data.name.lower()
               and any(bone.name.startswith("DEF-") for bone in ob.data.bones))
    for ob in [ob for ob in bpy.data.objects if ob.type == "ARMATURE" and ob != rig]:
        bpy.data.objects.remove(ob)
    for frame in range(1, 26, 4):
        s = np.sin(0.4 * frame)
        for name, turn, shift in (("torso", (0.05 * s, 0.0, 0.1 * s), (0.02 * s, 0.0, -0.03 - 0.02 * s)),
                                  ("chest", (0.1 * s, 0.1, 0.0), None), ("head", (0.0, 0.2 * s, 0.0), None),
                                  ("hand_ik.L", (0.1 * s, 0.0, 0.0), (0.1 * s, -0.2, -0.3)),
                                  ("hand_ik.R", (0.0, 0.1 * s, 0.0), (-0.1 * s, -0.2, -0.3))):
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = turn
            bone.keyframe_insert("rotation_euler", frame=frame)
            if shift is not None:
                bone.location = shift
                bone.keyframe_insert("location", frame=frame)
    rig.name = "Human"
    path = tmp_path_factory.mktemp("rigify") / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


@pytest.fixture
def rig(rigify_file):
    bpy.ops.wm.open_mainfile(filepath=str(rigify_file))
    return bpy.data.objects["Human"]


def deform(ob):
    return [i for i, bone in enumerate(ob.data.bones) if bone.use_deform]


def test_the_deform_chain_is_found_behind_the_controls(rig) -> None:
    from addon.job import read

    figure = finish(read(bpy.context.scene, rig, Setup(start=1, end=25))).figure
    names, roles = figure.character.names, figure.character.roles
    assert all(name.startswith("DEF-") for name in names)
    assert names[0].startswith("DEF-spine") and 15 <= len(names) <= 30
    assert roles.count("foot") == 2 and roles.count("hand") == 2 and roles.count("head") == 1
    for name, link in (("DEF-f_index.02.L", "DEF-hand.L"), ("DEF-upper_arm.L.001", "DEF-upper_arm.L"),
                       ("DEF-shin.R.001", "DEF-shin.R"), ("DEF-lip.T.L", "DEF-spine.006")):
        assert names[figure.link_of(name)] == link, name


def test_identity_and_a_push_on_rigify(rig) -> None:
    scene, action = bpy.context.scene, rig.animation_data.action
    keys, frames = all_keys(action), range(1, 26)
    before = world_poses(scene, rig, frames)
    calm = finish(bake_character(bpy.data, scene, rig, Setup(start=1, end=25)))
    assert calm.output == "OVERLAY"
    own = deform(rig)
    degrees, metres = distance(before[:, own], world_poses(scene, rig, frames)[:, own])
    assert degrees < DEGREES and metres < METRES
    push = PushSpec(bone="DEF-spine.003", start=8, length=5, newtons=250.0, direction=(1.0, 0.0, 0.0))
    baked = finish(bake_character(bpy.data, scene, rig, Setup(start=1, end=25, pushes=(push,))))
    study = baked.study
    meant = study.samples.world[:, None] @ new_poses(study.samples, study.figure.changes(baked.result.motion), 1.0)
    degrees, metres = distance(meant[:, own], world_poses(scene, rig, frames)[:, own])
    assert distance(before[:, own], meant[:, own])[0] > 2.0, "the push must be seen"
    assert metres < METRES
    assert degrees < 0.05, "bones that the controls shear lose the shear, nothing else"
    assert rig.animation_data.action == action and all_keys(action) == keys
