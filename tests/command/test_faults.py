"""Full disks, read-only folders, killed processes: a clear sentence, nothing lost, nothing half-written."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.command.test_bake import SCENE, SHORT, blender, digest
from tests.program import ENVIRONMENT, ROOT, heft, start


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


@pytest.mark.parametrize("name", ["x.blend", "x.bvh", "x.glb", "x.png", "x.json"])
def test_a_full_disk(tmp_path, calm, name) -> None:
    before = digest(SCENE)
    with tmpfs(tmp_path / "small", "size=4k") as folder:
        (folder / "x").write_bytes(bytes(4096))
        kind = {"x.png": "--sheet", "x.json": "--report"}.get(name, "--out")
        done = heft("bake", SCENE, *SHORT, calm, kind, folder / name, "--columns", 2, "--sheet-width", 200)
        assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
        assert f"{name}: It could not be written: " in done.stderr and "No space left on device" in done.stderr
        assert "Free the disk, or choose another folder." in done.stderr
        assert [path.name for path in folder.iterdir()] == ["x"]
    assert digest(SCENE) == before


def test_a_full_disk_stops_no_batch(tmp_path, calm) -> None:
    """Every job tells, and the summary tells that it could not be written."""
    clips = tmp_path / "clips"
    clips.mkdir()
    (clips / "a.blend").write_bytes(SCENE.read_bytes())
    with tmpfs(tmp_path / "small", "size=64k") as folder:
        done = heft("batch", clips, "--out", folder, "--no-sheets")
        assert done.returncode == 3 and "could not be written" in done.stderr, done.stderr
        assert sorted(path.name for path in folder.iterdir()) == [".heft-batch.lock", "batch.json", "summary.html"]
    assert digest(clips / "a.blend") == digest(SCENE)


def test_a_quota(tmp_path, calm) -> None:
    """No file may be longer than 40 kB: what a full disk is where no file system can be mounted."""
    before = digest(SCENE)
    done = subprocess.run(["prlimit", "--fsize=40000", sys.executable, "-m", "addon", "bake", str(SCENE), *SHORT,
                           str(calm), "--out", str(tmp_path / "x.blend")], cwd=ROOT, env=ENVIRONMENT,
                          capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and "could not be written" in done.stderr, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["calm.json"] and digest(SCENE) == before


@pytest.mark.parametrize("verb", ["bake", "batch"])
def test_a_read_only_folder(tmp_path, calm, verb) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    (clips / "a.blend").write_bytes(SCENE.read_bytes())
    with tmpfs(tmp_path / "closed", "ro") as folder:
        began = time.perf_counter()
        done = heft(*(("bake", SCENE, *SHORT, calm, "--out", folder / "x.blend") if verb == "bake" else
                      ("batch", clips, "--out", folder)))
        assert done.returncode == 2 and "Nothing can be written there: Read-only file system" in done.stderr
        assert time.perf_counter() - began < 20.0, "it is told before any work is done"
    assert digest(clips / "a.blend") == digest(SCENE)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("kind", ["zipped.blend", "plain.blend", "clip.bvh", "clip.glb", "clip.fbx"])
def test_a_file_that_is_cut_off(tmp_path, whole, kind, share) -> None:
    bytes_of = (whole / kind).read_bytes()
    path = tmp_path / kind
    path.write_bytes(bytes_of[:int(share * len(bytes_of))])
    before = digest(path)
    done = heft("bake", path, "--out", tmp_path / "x.blend", "--report", tmp_path / "x.json")
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    sentence = [line for line in done.stderr.splitlines() if line.startswith("heft: ")][-1]
    words = "It may be cut off" if kind.endswith(".blend") else "Check that other programs can read it"
    assert f"{kind}: " in sentence and words in sentence
    assert [each.name for each in tmp_path.iterdir()] == [kind] and digest(path) == before


def test_a_clip_that_is_cut_off_between_two_frames_is_told(tmp_path, whole) -> None:
    lines = (whole / "clip.bvh").read_text().splitlines()
    path = tmp_path / "clip.bvh"
    path.write_text("\n".join(lines[:-30]) + "\n")
    done = heft("bake", path, "--out", tmp_path / "x.blend")
    assert done.returncode == 0 and "The file says 121 frames and holds 91: it may be cut off." in done.stdout
    assert "cut off" not in heft("bake", whole / "clip.bvh", "--out", tmp_path / "x.blend").stdout


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The walk in every format that is read."""
    folder = tmp_path_factory.mktemp("whole")
    done = heft("bake", SCENE, "--out", folder / "zipped.blend", "--out", folder / "clip.bvh",
                "--out", folder / "clip.glb")
    assert done.returncode == 0, done.stderr
    blender(f"ui.register()\nbpy.ops.wm.open_mainfile(filepath={str(SCENE)!r})\n"
            f"bpy.ops.wm.save_as_mainfile(filepath={str(folder / 'plain.blend')!r}, compress=False, copy=True)\n"
            f"bpy.ops.export_scene.fbx(filepath={str(folder / 'clip.fbx')!r}, add_leaf_bones=False)")
    return folder


def test_no_graphics(tmp_path, calm) -> None:
    """A Blender without graphics would end its process; the bake and its report are kept, and a sentence tells."""
    nowhere = {name: "/nowhere" for name in ("__EGL_VENDOR_LIBRARY_DIRS", "__EGL_VENDOR_LIBRARY_FILENAMES",
                                             "LIBGL_DRIVERS_PATH")}
    done = subprocess.run([sys.executable, "-m", "addon", "bake", str(SCENE), *SHORT, str(calm), "--out",
                           str(tmp_path / "x.blend"), "--sheet", str(tmp_path / "x.png"), "--report",
                           str(tmp_path / "x.json"), "--columns", "2", "--sheet-width", "200"], cwd=ROOT,
                          env={**ENVIRONMENT, **nowhere}, capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    is_drawn = (tmp_path / "x.png").exists()  # some find their way all the same
    assert ("The sheet could not be rendered" in done.stdout) != is_drawn
    assert (f"wrote {tmp_path / 'x.png'}" in done.stdout) == is_drawn
    assert (tmp_path / "x.blend").is_file() and (tmp_path / "x.json").is_file()


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
