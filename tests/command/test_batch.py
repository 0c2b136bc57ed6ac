"""Many bakes: one fails and the others do not; stopped, it goes on where it was; two never share a folder."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.command.test_bake import SCENE, digest
from tests.program import heft, start


@pytest.fixture
def clips(tmp_path):
    """Three clips: two good ones and a broken one."""
    folder = tmp_path / "clips"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.blend").write_bytes(SCENE.read_bytes())
    return folder


def jobs(folder: Path, **options) -> Path:
    path = folder / "jobs.json"
    path.write_text(json.dumps({"heft_jobs": 1, "clips": ["*.blend"],
                                "characters": {"light": {"mass": 50}},
                                "variants": {"calm": {"frames": "40:52"}, "push": {"frames": "30:45"}}, **options}))
    return path


def record(out: Path) -> dict[str, str]:
    return {job["name"]: job["state"] for job in json.loads((out / "batch.json").read_text())["jobs"]}


def children(pid: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(word) for word in found.split()]


def wait_for(what, seconds: float = 60.0, look: float = 0.05):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        if value := what():
            return value
        time.sleep(look)
    raise AssertionError("it did not happen in time")


def test_clips_times_characters_times_variants(clips, tmp_path) -> None:
    (clips / "broken.blend").write_bytes(b"no blend file")
    out = tmp_path / "out"
    # the stored pushes lie outside these frames: a preset without them
    (clips / "calm.json").write_text('{"heft": 1}')
    told = jobs(clips, variants={"calm": {"preset": "calm.json", "frames": "1:10"}})
    done = heft("batch", told, "--out", out, "--workers", 2, "--no-sheets")
    assert done.returncode == 3, done.stderr
    assert record(out) == {"a__light__calm": "done", "b__light__calm": "done", "broken__light__calm": "failed"}
    assert "Blender cannot open it" in done.stderr
    assert json.loads((out / "a__light__calm.report.json").read_text())["character"]["mass_kg"] == 50.0
    page = (out / "summary.html").read_text()
    assert "2 good" in page and "1 failed" in page and not re.search(r"(src|href)=['\"](?!data:)", page)
    (clips / "broken.blend").unlink()
    times = {path: path.stat().st_mtime_ns for path in out.glob("*.blend")}
    again = heft("batch", told, "--out", out, "--no-sheets")
    assert again.returncode == 0 and "2 of 2 jobs are done already" in again.stderr
    assert {path: path.stat().st_mtime_ns for path in out.glob("*.blend")} == times
    (clips / "calm.json").write_text('{"heft": 1, "mass": 60}')
    assert "already" not in heft("batch", told, "--out", out, "--no-sheets").stderr, "another preset, another bake"


@pytest.mark.parametrize("moment", ["early", "while it writes"])
def test_a_killed_job_is_reported_and_done_again(clips, tmp_path, moment) -> None:
    out = tmp_path / "out"
    before = {path: digest(path) for path in clips.iterdir()}
    for _ in range(5):  # writing is short: it may be over before it is seen
        batch = start("batch", clips, "--out", out, "--workers", 1, "--no-sheets", "--again")
        victim = wait_for(lambda pid=batch.pid: children(pid))[0]
        if moment == "early":
            time.sleep(1.0)
        else:
            wait_for(lambda: list(out.glob(".a.*.part*")) or (out / "a.report.json").exists(), 100.0, look=0.0005)
        os.kill(victim, signal.SIGKILL)
        _, told = batch.communicate(timeout=200)
        if not (out / "a.blend").exists():
            break
        (out / "a.blend").unlink()
        (out / "a.report.json").unlink()
    assert batch.returncode == 3 and "SIGKILL" in told
    assert record(out) == {"a": "failed", "b": "done"}
    assert sorted(path.name for path in out.iterdir() if not path.name.startswith(".")) == [
        "b.blend", "b.report.json", "batch.json", "summary.html"]
    assert not [path.name for path in out.iterdir() if ".part" in path.name]
    again = heft("batch", clips, "--out", out, "--no-sheets")
    assert again.returncode == 0 and record(out) == {"a": "done", "b": "done"}
    assert {path: digest(path) for path in clips.iterdir()} == before


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_batch_leaves_no_process_and_no_half_file(clips, tmp_path, kind) -> None:
    out = tmp_path / "out"
    before = {path: digest(path) for path in clips.iterdir()}
    batch = start("batch", clips, "--out", out, "--workers", 2, "--no-sheets")
    jobs = wait_for(lambda: len(children(batch.pid)) == 2 and children(batch.pid))
    for pid in jobs:
        os.kill(pid, signal.SIGSTOP)  # or they would be done before the second batch looks
    second = heft("batch", clips, "--out", out, "--no-sheets")
    assert second.returncode == 2 and "Another batch is writing into it" in second.stderr
    for pid in jobs:
        os.kill(pid, signal.SIGCONT)
    batch.send_signal(kind)
    batch.communicate(timeout=60)
    assert batch.returncode == (130 if kind == signal.SIGINT else -9)
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in jobs), 20.0)
    for path in out.glob("[!.]*.blend"):  # a job may just have saved: then its file is whole
        assert heft("setup", path).returncode == 0
    again = heft("batch", clips, "--out", out, "--no-sheets")
    assert again.returncode == 0 and record(out) == {"a": "done", "b": "done"}, again.stderr
    assert not [path.name for path in out.iterdir() if ".part" in path.name]
    assert {path: digest(path) for path in clips.iterdir()} == before


def test_a_hung_job_is_stopped(clips, tmp_path) -> None:
    out = tmp_path / "out"
    done = heft("batch", clips, "--out", out, "--timeout", 2, "--workers", 2, "--no-sheets")
    assert done.returncode == 3 and "It hung: stopped after 2 s" in done.stderr
    assert set(record(out).values()) == {"failed"}


def test_a_job_that_takes_too_much_memory_is_stopped(clips, tmp_path) -> None:
    out = tmp_path / "out"
    done = heft("batch", clips, "--out", out, "--memory", 0.15, "--workers", 2, "--no-sheets")
    assert done.returncode == 3 and "more than 0.15 GB of memory" in done.stderr


def test_bad_lists_are_refused(tmp_path) -> None:
    for text, words in (("{", "not JSON"), ("{}", "no list of jobs"),
                        ('{"heft_jobs": 1, "clips": ["*.bvh"]}', "names no clip"),
                        ('{"heft_jobs": 1, "clips": ["a.bvh"], "variants": {"x": {"wind": 1}}}', "wind")):
        (tmp_path / "a.bvh" if "a.bvh" in text else tmp_path / "a").write_text("x")
        path = tmp_path / "jobs.json"
        path.write_text(text)
        done = heft("batch", path, "--out", tmp_path / "out")
        assert done.returncode == 2 and words in done.stderr, done.stderr


def test_unicode_and_spaces_in_a_batch(tmp_path) -> None:
    clips, out = tmp_path / "Läufer – 走る", tmp_path / "Ergebnis № 1"
    clips.mkdir()
    (clips / "ein Gang ä.blend").write_bytes(SCENE.read_bytes())
    (clips / "ruhig ☺.json").write_text('{"heft": 1}')
    told = jobs(clips, characters={"schön & groß": {"mass": 50}},
                variants={"très calme": {"preset": "ruhig ☺.json", "frames": "1:10"}})
    done = heft("batch", told, "--out", out, "--no-sheets")
    name = "ein Gang ä__schön & groß__très calme"
    assert done.returncode == 0, done.stderr
    assert record(out) == {name: "done"} and (out / f"{name}.blend").is_file()
    assert "schön &amp; groß" in (out / "summary.html").read_text(encoding="utf-8")
    assert digest(clips / "ein Gang ä.blend") == digest(SCENE)
