"""What takes minutes: all shared clips in one batch, two workers beside one, a very long clip."""

import json
import os
import re
import time

import pytest

from tests.clips.shared import FOLDER, needs_clips
from tests.command.test_bake import SCENE, blender, digest
from tests.command.test_batch import record
from tests.program import heft, start

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
    """A person walks and is pushed for five and a half minutes: it bakes, tells how far it is, and memory is bounded
    (measured with Blender 5.0: 95 s, 0.81 GB)."""
    path, out = tmp_path / "long.blend", tmp_path / "out"
    out.mkdir()
    blender("from sample_scenes import bodies\nfrom sample_scenes.figure import add_figure\n"
            "from tests.clips import synthetic\nbpy.ops.wm.read_factory_settings(use_empty=True)\nui.register()\n"
            "add_figure('Walker', *synthetic.walk(rate=30, duration=9999 / 30), bodies.person())\n"
            "bpy.context.scene.render.fps = 30\n"
            f"bpy.ops.wm.save_as_mainfile(filepath={str(path)!r})")
    before = digest(path)
    job = start("bake", path, "--push", "@chest:200", "--out", out / "x.blend", "--report", out / "x.json")
    told = job.stderr.read()
    _, status, used = os.wait4(job.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, told
    assert used.ru_maxrss < 1.3e6, f"{used.ru_maxrss / 1e6:.2f} GB"
    shares = [int(found) for found in re.findall(r"simulating \d+ of 10000 \((\d+) %", told)]
    assert shares == sorted(shares) and len(set(shares)) > 15, "it tells how far it is"
    assert json.loads((out / "x.json").read_text())["frames"]["count"] == 10_000
    assert digest(path) == before and sorted(each.name for each in out.iterdir()) == ["x.blend", "x.json"]
