"""What takes minutes: all shared clips in one batch, two workers beside one, a very long clip."""

import json
import os
import time

import pytest

from tests.clips.shared import FOLDER, needs_clips
from tests.command.test_bake import SCENE, blender
from tests.command.test_batch import record
from tests.program import heft

pytestmark = pytest.mark.exhaustive


@needs_clips
def test_all_shared_clips_pushed_and_on_a_slope(tmp_path) -> None:
    jobs = tmp_path / "jobs.json"
    jobs.write_text(json.dumps({"heft_jobs": 1, "clips": [f"{FOLDER}/*.bvh", f"{FOLDER}/*.glb"],
                                "variants": {"push": {"push": "@chest:200"}, "slope": {"slope": 15}}}))
    out = tmp_path / "out"
    done = heft("batch", jobs, "--out", out, "--workers", 2, timeout=3600)
    assert done.returncode == 0, done.stderr
    assert len(record(out)) == 40 and set(record(out).values()) == {"done"}
    assert (out / "summary.html").read_text().count("data:image/png") == 40


def test_two_workers_are_faster_than_one(tmp_path) -> None:
    """At least 1.7 times, on a machine that has two cores to give."""
    busy = os.getloadavg()[0]
    if (os.cpu_count() or 1) - busy < 1.5:
        pytest.skip(f"a load of {busy:.1f} on {os.cpu_count()} cores leaves no two to measure with")
    clips = tmp_path / "clips"
    clips.mkdir()
    for name in "abcd":
        (clips / f"{name}.blend").write_bytes(SCENE.read_bytes())
    seconds = {}
    for workers in (1, 2):
        began = time.perf_counter()
        done = heft("batch", clips, "--out", tmp_path / str(workers), "--workers", workers, "--no-sheets")
        seconds[workers] = time.perf_counter() - began
        assert done.returncode == 0, done.stderr
    assert seconds[1] / seconds[2] >= 1.7, seconds


def test_ten_thousand_frames(tmp_path) -> None:
    path = tmp_path / "long.blend"
    blender("bpy.ops.wm.read_factory_settings(use_empty=True)\nfrom tests.rigs import *\n"
            "bones = {name: PERSON[name] for name in ('pelvis', 'spine', 'thigh.L', 'shin.L', 'foot.L', 'thigh.R', "
            "'shin.R', 'foot.R')}\n"
            "key_sway(bpy, make_armature(bpy, bones), 1, 10000, 40)\n"
            f"bpy.ops.wm.save_as_mainfile(filepath={str(path)!r})")
    done = heft("bake", path, "--out", tmp_path / "out.blend", "--report", tmp_path / "r.json", timeout=3600)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["frames"]["count"] >= 9_960
