"""Many bakes: one fails and the others do not; stopped, it goes on where it was; two never share a folder."""

import json
import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from addon.command import main
from addon.command.batch import jobs as job_lists
from addon.command.batch.jobs import read_jobs
from addon.command.batch.pool import State, _why
from addon.command.summary import write_summary
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
    for _ in range(5):  # writing is short, a machine may be busy: the job may be over before it is seen
        batch = start("batch", clips, "--out", out, "--workers", 1, "--no-sheets", "--again")
        victim = wait_for(lambda pid=batch.pid: children(pid))[0]
        if moment == "early":
            time.sleep(1.0)
        else:
            wait_for(lambda: list(out.glob(".a.*.part*")) or (out / "a.report.json").exists(), 100.0, look=0.0005)
        with suppress(ProcessLookupError):
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
    done = heft("batch", clips, "--out", out, "--timeout", 0.3, "--workers", 2, "--no-sheets")
    assert done.returncode == 3 and "It hung: stopped after 0.3 s" in done.stderr
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


def one_job(tmp_path: Path, has_sheets: bool = True):
    clips = tmp_path / "clips"
    clips.mkdir(exist_ok=True)
    (clips / "a.blend").write_bytes(b"a clip")
    job, = read_jobs(clips, tmp_path / "out", has_sheets)
    (tmp_path / "out").mkdir(exist_ok=True)
    return job


@pytest.mark.parametrize("name", ["a.blend", "a.report.json", "a.png"])
def test_a_job_whose_results_are_gone_is_not_done(tmp_path, name) -> None:
    job = one_job(tmp_path)
    for each in ("a.blend", "a.report.json", "a.png"):
        (job.folder / each).write_text("x")
    job.mark_done(job.key())
    assert job.is_done()
    (job.folder / name).unlink()
    assert not job.is_done()


def test_a_job_whose_sheet_could_not_be_rendered_is_done(tmp_path) -> None:
    job = one_job(tmp_path)
    for each in ("a.blend", "a.report.json"):
        (job.folder / each).write_text("x")
    job.mark_done(job.key())
    assert job.is_done()


def test_another_heft_bakes_anew(tmp_path, monkeypatch) -> None:
    job = one_job(tmp_path)
    before = job.key()
    monkeypatch.setattr(job_lists, "heft_version", lambda: "99.0.0")
    assert job.key() != before


def test_folders_may_be_called_anything(tmp_path) -> None:
    clips = tmp_path / "shots [final] *"
    clips.mkdir()
    (clips / "a.bvh").write_text("x")
    told = jobs(clips, clips=["*.bvh"])
    assert [job.clip.name for job in read_jobs(clips, tmp_path / "out", False)] == ["a.bvh"]
    assert {job.clip.name for job in read_jobs(told, tmp_path / "out", False)} == {"a.bvh"}


@pytest.mark.parametrize(("options", "words"), [
    ({"preset": 5}, "preset of 'v' is 5. Give a text in quotes."),
    ({"mass": None}, "mass of 'v' is null. Give a number"),
    ({"push": {"a": 1}}, "push of 'v' is"), ({"frames": [1, 2]}, "frames of 'v' is [1, 2]."),
    ({"mass": "x"}, "a__v cannot be: Argument --mass: invalid float value: 'x'"),
    ({"height": -1}, "Argument --height: '-1' is no number above 0"),
    ({"sheet_width": 10}, "'10' is no whole number from 200 to 20000")])
def test_options_that_no_bake_understands_are_refused_at_once(tmp_path, capsys, options, words) -> None:
    (tmp_path / "a.bvh").write_text("x")
    told = jobs(tmp_path, clips=["*.bvh"], characters={"": {}}, variants={"v": options})
    assert main(["batch", str(told), "--out", str(tmp_path / "out"), "--list"]) == 2
    assert words in (said := capsys.readouterr().err) and "jobs.json" in said


def test_results_never_lie_among_the_clips(tmp_path, capsys) -> None:
    (tmp_path / "walk.bvh").write_text("x")
    (tmp_path / "walk.blend").write_text("the animator's own")
    told = jobs(tmp_path, clips=["*.bvh"], characters={"": {}}, variants={"": {}})
    assert main(["batch", str(told), "--out", str(tmp_path)]) == 2
    assert "The clips are in it" in capsys.readouterr().err
    assert (tmp_path / "walk.blend").read_text() == "the animator's own"


def test_the_page_tells_failed_from_cancelled_and_waiting(tmp_path) -> None:
    states = [{"name": "a", "state": "failed", "reason": "It crashed."},
              {"name": "b", "state": "cancelled", "reason": "It was cancelled."},
              {"name": "c", "state": "waiting", "reason": ""}, {"name": "d", "state": "done", "reason": ""}]
    (tmp_path / "d.report.json").write_text('{"heft_report": 1}')
    page = write_summary(tmp_path, states).read_text()
    for words in ("2 failed", "1 cancelled", "1 waiting", "It has not run yet.", "a report with parts missing"):
        assert words in page
    assert main(["report", str(tmp_path)]) == 0


def test_a_sentence_with_of_in_it_is_a_reason_and_progress_is_none(tmp_path) -> None:
    state = State(one_job(tmp_path), is_done=False)
    with open(tmp_path / "log", "w+b") as state.log:
        state.log.write(b"heft: Frame range: None of them is in the middle of it. Widen it.\n"
                        b"heft: reading the motion 3 of 12 (25 %, 0.1 s)\n")
        assert _why(state, 2) == "Frame range: None of them is in the middle of it. Widen it."


@pytest.mark.parametrize(("name", "text", "words"), [
    ("r.json", '{"heft_report": 1}', "parts missing"), ("r.json", "[]", "no report"), ("r.json", "{", "cannot be read"),
    ("batch.json", "{", "cannot be read"), ("batch.json", '{"jobs": [1]}', "no record of a batch"),
    ("batch.json", "[]", "no record of a batch"), ("notes.txt", "mine", "No batch was written into it")])
def test_what_is_no_report_is_refused_and_nothing_is_written(tmp_path, capsys, name, text, words) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert main(["report", str(path if name == "r.json" else tmp_path)]) == 2
    assert words in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == [name]
