"""Files of other programs: a clip comes in as .fbx, a result goes out as .bvh and .glb, and nothing moves on the way.

Positions are those of every bone's head in the world at every frame, in metres.
"""

import json
import re

import numpy as np
import pytest

from tests.clips.shared import FOLDER, needs_clips
from tests.command.test_bake import SCENE, blender, digest
from tests.program import heft

NEAR = 1e-4   # m: 0.1 mm; .bvh holds six digits of Euler angles in degrees, .glb single precision
FRAMES = 1, 122
HEADS = """
import numpy as np
def heads(ob, frames):
    scene, out = bpy.context.scene, {}
    for frame in frames:
        scene.frame_set(frame)
        for bone in ob.pose.bones:
            out.setdefault(bone.name, []).append(list((ob.matrix_world @ bone.matrix).translation))
    return out
def save(path, found):
    np.savez(path, **{name: np.array(places) for name, places in found.items()})
def armature():
    return next(ob for ob in bpy.context.scene.objects if ob.type == 'ARMATURE')
"""
IMPORTS = {
    "bvh": "bpy.ops.import_anim.bvh(filepath={!r}, update_scene_fps=True, use_fps_scale=False)",
    "glb": "bpy.context.scene.render.fps = 30\nbpy.ops.import_scene.gltf(filepath={!r})",
    "fbx": "bpy.context.scene.render.fps = 30\nbpy.ops.import_scene.fbx(filepath={!r})",
}


def heads_of(path, frames, store) -> dict[str, np.ndarray]:
    """World positions of all bones of a file's armature, read by a Blender of its own."""
    kind = path.suffix[1:]
    load = (f"bpy.ops.wm.open_mainfile(filepath={str(path)!r})" if kind == "blend" else
            "bpy.ops.wm.read_factory_settings(use_empty=True)\n" + IMPORTS[kind].format(str(path)))
    blender(f"{HEADS}\nui.register()\n{load}\nsave({str(store)!r}, heads(armature(), range{tuple(frames)}))")
    with np.load(store) as found:
        return {name: found[name] for name in found.files}


@pytest.fixture(scope="module", params=["ACTION", "NLA", "OVERLAY"])
def baked(request, tmp_path_factory):
    """A pushed walk as .blend, .bvh and .glb, and where its bones are in the .blend."""
    folder = tmp_path_factory.mktemp("baked")
    (folder / "preset.json").write_text(json.dumps({"heft": 1, "output": request.param}))
    done = heft("bake", SCENE, "--preset", folder / "preset.json", "--push", "@chest:260:32:0.2", "--out",
                folder / "x.blend", "--out", folder / "x.bvh", "--out", folder / "x.glb", "--report", folder / "x.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((folder / "x.json").read_text())
    assert report["frames"]["count"] == 121 and report["frames"]["rate"] == 30.0
    assert report["output"]["kind"] == request.param
    return folder, heads_of(folder / "x.blend", FRAMES, folder / "blend.npz")


@pytest.mark.parametrize("kind", ["bvh", "glb"])
def test_a_result_is_the_same_motion_in_every_format(baked, kind) -> None:
    folder, told = baked
    read = heads_of(folder / f"x.{kind}", FRAMES, folder / f"{kind}.npz")
    assert set(read) == set(told)
    assert farthest(read, told) < NEAR


def test_a_result_differs_from_its_keys(baked, tmp_path) -> None:
    """Or the comparison above would also hold for files that were never baked."""
    assert farthest(heads_of(SCENE, FRAMES, tmp_path / "keys.npz"), baked[1]) > 0.05


def farthest(read, told) -> float:
    """m between two motions, of any bone at any frame."""
    return max(float(np.linalg.norm(read[name] - told[name], axis=1).max()) for name in told)


def test_what_is_keyed_on_the_object_is_in_the_bvh(tmp_path) -> None:
    """A scaled and turned object that travels, two roots, a bone that stretches, a space in a name."""
    source, out = tmp_path / "sway.blend", tmp_path / "out"
    blender("from tests.rigs import *\nbpy.ops.wm.read_factory_settings(use_empty=True)\n"
            "bones = {**PERSON, 'prop one': (None, (0.5, 0, 0.1), (0.5, 0, 0.4))}\n"
            "ob = make_armature(bpy, bones)\nkey_sway(bpy, ob)\nob.scale = (1.1,) * 3\nob.rotation_euler.z = 0.7\n"
            "for frame, x in ((1, 0.0), (25, 0.3)):\n"
            "    ob.location.x = x\n    ob.keyframe_insert('location', frame=frame)\n"
            "    ob.pose.bones['head'].location.y = x\n"
            "    ob.pose.bones['head'].keyframe_insert('location', frame=frame)\n"
            f"bpy.ops.wm.save_as_mainfile(filepath={str(source)!r})")
    done = heft("bake", source, "--out", out / "x.blend", "--out", out / "x.bvh")
    assert done.returncode == 0, done.stderr
    told = heads_of(out / "x.blend", (1, 26), tmp_path / "a.npz")
    read = heads_of(out / "x.bvh", (1, 26), tmp_path / "b.npz")
    assert set(read) == {"_".join(name.split()) for name in told} | {"_roots"}
    assert farthest({name: read["_".join(name.split())] for name in told}, told) < NEAR


@needs_clips
def test_a_bvh_keeps_its_unit_and_its_skeleton(tmp_path) -> None:
    """Captured files are in centimetres or inches: what goes back has the same offsets, and .blend plays all of it."""
    clip = FOLDER / "run_cmu_09_01.bvh"
    done = heft("bake", clip, "--push", "@chest:200", "--out", tmp_path / "x.blend", "--out", tmp_path / "x.bvh",
                "--report", tmp_path / "x.json")
    assert done.returncode == 0, done.stderr
    before, after = (offsets(path.read_text()) for path in (clip, tmp_path / "x.bvh"))
    assert set(before) == set(after)
    assert max(np.abs(before[name] - after[name]).max() for name in list(before)[1:]) < 1e-4 * np.ptp(
        list(before.values())), "the root's own offset is where it stands"
    frames = json.loads((tmp_path / "x.json").read_text())["frames"]
    span = frames["first"], frames["last"] + 1
    played = blender(f"{HEADS}\nui.register()\nbpy.ops.wm.open_mainfile(filepath={str(tmp_path / 'x.blend')!r})\n"
                     "scene = bpy.context.scene\n"
                     "print('FOUND', scene.frame_start, scene.frame_end, armature().matrix_world.to_scale().x)")
    first, last, scale = played.split("FOUND")[1].split()[:3]
    assert (int(first), int(last)) == (frames["first"], frames["last"])
    told = heads_of(tmp_path / "x.blend", span, tmp_path / "a.npz")
    read = heads_of(tmp_path / "x.bvh", (1, 1 + frames["count"]), tmp_path / "b.npz")
    assert farthest({name: float(scale) * read[name] for name in told}, told) < NEAR


def offsets(text: str) -> dict[str, np.ndarray]:
    """Joint -> its offset, of a .bvh file."""
    found = re.findall(r"(?:ROOT|JOINT)\s+(\S+)\s*\{\s*OFFSET\s+(\S+)\s+(\S+)\s+(\S+)", text)
    return {name: np.array([float(x) for x in values]) for name, *values in found}


def test_an_fbx_is_baked(tmp_path) -> None:
    path = tmp_path / "walk.fbx"
    blender(f"ui.register()\nbpy.ops.wm.open_mainfile(filepath={str(SCENE)!r})\n"
            "for ob in bpy.context.scene.objects:\n"
            "    ob.select_set(ob.type == 'ARMATURE' or ob.parent is not None)\n"
            f"bpy.ops.export_scene.fbx(filepath={str(path)!r}, use_selection=True, add_leaf_bones=False,"
            " bake_anim_use_all_actions=False, bake_anim_use_nla_strips=False, bake_anim_simplify_factor=0)")
    before = digest(path)
    done = heft("bake", path, "--push", "@chest:260:32:0.2", "--out", tmp_path / "x.blend", "--report",
                tmp_path / "x.json")
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "x.json").read_text())
    assert told["frames"]["count"] == 121 and told["frames"]["rate"] == 30.0, told["frames"]
    assert 1.5 < told["character"]["height_m"] < 2.0
    assert set(told["contacts"]) >= {"foot.L", "foot.R"}
    assert told["numbers"]["deviation_degrees"]["largest"] > 5.0, "it is pushed"
    assert told["numbers"]["helper_force_body_weights"]["largest"] < 0.5
    assert digest(path) == before
