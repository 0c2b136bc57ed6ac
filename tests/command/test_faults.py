"""Full disks, read-only folders, killed processes: a clear sentence, nothing lost, nothing half-written."""

import contextlib
import os
import signal
import subprocess
import time

import pytest

from tests.command.test_bake import SCENE, SHORT, digest
from tests.program import heft, start


@contextlib.contextmanager
def tmpfs(folder, options):
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "heft-test", str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture
def calm(tmp_path):
    path = tmp_path / "calm.json"
    path.write_text('{"heft": 1}')
    return path


def test_a_full_disk(tmp_path, calm) -> None:
    before = digest(SCENE)
    with tmpfs(tmp_path / "small", "size=64k") as folder:
        done = heft("bake", SCENE, *SHORT, calm, "--out", folder / "x.blend", "--report", folder / "x.json")
        assert done.returncode == 2 and "could not be written" in done.stderr and "Free the disk" in done.stderr
        assert list(folder.iterdir()) == []
    assert digest(SCENE) == before


def test_a_read_only_folder(tmp_path, calm) -> None:
    with tmpfs(tmp_path / "closed", "ro") as folder:
        began = time.perf_counter()
        done = heft("bake", SCENE, *SHORT, calm, "--out", folder / "x.blend")
        assert done.returncode == 2 and "Nothing can be written there" in done.stderr
        assert time.perf_counter() - began < 20.0, "it is told before any work is done"


@pytest.mark.parametrize(("kind", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)])
def test_a_bake_that_is_stopped_leaves_nothing(tmp_path, kind, code) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "x.blend").write_bytes(b"what was there before")
    before = digest(SCENE)
    job = start("bake", SCENE, "--out", out / "x.blend", "--report", out / "x.json")
    for line in job.stderr:
        if "simulating" in line:
            break
    os.kill(job.pid, kind)
    _, rest = job.communicate(timeout=60)
    assert job.returncode == code
    assert kind == signal.SIGKILL or "Cancelled; nothing was written." in rest
    assert [path.name for path in out.iterdir()] == ["x.blend"] and digest(SCENE) == before
    assert (out / "x.blend").read_bytes() == b"what was there before"
