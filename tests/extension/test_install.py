"""The extension as an animator gets it: the zip, in a Blender program, with a clean profile.

Needs a Blender program (HEFT_BLENDER, `blender` on the PATH, or one beside the shared clips) and the zip that
`make extension PLATFORM=linux-x64` builds. Skipped with a message where one of them is missing.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clips.shared import FOLDER

ROOT = Path(__file__).resolve().parents[2]
SCENE = ROOT / "sample_scenes" / "walk_with_pushes.blend"
ZIPS = sorted((ROOT / "build" / "extension").glob("heft-*-linux-x64.zip"))


def find_blender() -> str | None:
    beside = FOLDER.parent / "tools" / "blender"
    return os.environ.get("HEFT_BLENDER") or (str(beside) if beside.is_file() else shutil.which("blender"))


BLENDER = find_blender()
pytestmark = [
    pytest.mark.skipif(BLENDER is None, reason="no Blender program: set HEFT_BLENDER to one"),
    pytest.mark.skipif(not ZIPS, reason="no zip in build/extension: make extension PLATFORM=linux-x64 builds it"),
]


def blender(profile: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(profile)}
    return subprocess.run([str(BLENDER), *map(str, arguments)], env=environment, capture_output=True, text=True,
                          timeout=600, stdin=subprocess.DEVNULL)


def _ensure_numpy(profile: Path) -> None:
    """Official Blenders bring numpy; builds of some distributions lack it, and are not what this test is about."""
    code = "import sys, importlib.util as u; print('FOUND', *sys.version_info[:2], u.find_spec('numpy') is not None)"
    told = blender(profile, "-b", "--python-expr", code).stdout
    major, minor, has = re.search(r"FOUND (\d+) (\d+) (\w+)", told).groups()
    if has != "True":
        modules = profile / "scripts" / "modules"
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:",
                        "--python-version", f"{major}.{minor}", "--target", str(modules), "numpy>=2.2,<3"], check=True)


@pytest.fixture(scope="module")
def profile():
    """A profile in which the zip was just installed and enabled, by a process of its own."""
    folder = ROOT / "build" / "install-test"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _ensure_numpy(folder)
    done = blender(folder, "--command", "extension", "install-file", "-r", "user_default", "-e", ZIPS[-1])
    assert done.returncode == 0, done.stdout + done.stderr
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_a_second_process_bakes_with_the_command(profile: Path) -> None:
    out, report = profile / "baked.blend", profile / "report.json"
    before = SCENE.read_bytes()
    done = blender(profile, "-b", SCENE, "--command", "heft", "bake", "--out", out, "--report", report)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(report.read_text())
    assert out.stat().st_size > 100_000 and SCENE.read_bytes() == before
    assert told["numbers"]["deviation_degrees"]["largest"] > 5.0 and told["frames"]["count"] == 121
    assert told["versions"]["scipy"] != "unknown" and told["versions"]["quadprog"] == "0.1.14"


def test_clips_are_read_without_a_blend_file(profile: Path) -> None:
    clip = FOLDER / "run_cmu_09_01.bvh"
    if not clip.is_file():
        pytest.skip("no clips here")
    done = blender(profile, "-b", "--command", "heft", "check", clip)
    assert done.returncode == 0 and "LeftFoot" in done.stdout, done.stdout + done.stderr


def test_a_missing_blend_file_is_an_error(profile: Path) -> None:
    done = blender(profile, "-b", profile / "nothing.blend", "--command", "heft", "bake", "--out", profile / "x.blend")
    assert done.returncode == 2 and "missing or broken" in done.stderr and not (profile / "x.blend").exists()


def test_a_sheet_is_rendered_or_the_reason_is_told(profile: Path) -> None:
    """Without a screen some Blenders have no graphics for Workbench: the bake is kept, and a sentence says so."""
    out, sheet, report = profile / "sheet.blend", profile / "sheet.png", profile / "sheet.json"
    done = blender(profile, "-b", SCENE, "--command", "heft", "bake", "--out", out, "--sheet", sheet, "--report",
                   report, "--columns", 2, "--sheet-width", 300)
    assert done.returncode == 0 and out.is_file(), done.stdout + done.stderr
    told = [note["sentence"] for note in json.loads(report.read_text())["notes"] if "sheet" in note["sentence"]]
    if sheet.is_file():
        assert told == [] and sheet.read_bytes().startswith(b"\x89PNG") and f"wrote {sheet}" in done.stdout
    else:
        assert len(told) == 1 and "could not be rendered" in told[0] and f"wrote {sheet}" not in done.stdout


def test_help_lists_the_command(profile: Path) -> None:
    assert "heft" in blender(profile, "--command", "help").stdout


def test_a_batch_starts_other_blenders(profile: Path) -> None:
    clips = profile / "clips"
    clips.mkdir()
    shutil.copy(SCENE, clips / "walk.blend")
    done = blender(profile, "-b", "--command", "heft", "batch", clips, "--out", profile / "baked", "--no-sheets")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (profile / "baked" / "walk.report.json").is_file() and (profile / "baked" / "summary.html").is_file()
