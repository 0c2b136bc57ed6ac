"""Heft as pip installs it: a fresh environment beside the bpy module, used from a folder that knows no checkout."""

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from tests.command.test_bake import SCENE, digest
from tests.house.test_packaging import copy_package

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def heft(tmp_path_factory):
    """The program `heft` of a new environment."""
    folder = tmp_path_factory.mktemp("pip")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "fresh")], check=True)
    done = subprocess.run([str(folder / "fresh" / "bin" / "python"), "-m", "pip", "install", "--no-input",
                           "--prefer-binary", str(copy_package(folder / "source")),
                           *(f"{name}=={metadata.version(name)}" for name in ("bpy", "numpy"))],
                          capture_output=True, text=True)
    if done.returncode and "No matching distribution found for bpy" in done.stderr:
        pytest.skip("the package index has no bpy here")
    assert done.returncode == 0, done.stderr
    return folder / "fresh" / "bin" / "heft"


def run(heft: Path, folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([str(heft), *map(str, arguments)], cwd=folder, env=environment, capture_output=True,
                          text=True, timeout=300, stdin=subprocess.DEVNULL)


def test_the_installed_program_checks_bakes_and_runs_batches(heft, tmp_path) -> None:
    clips = tmp_path / "clips"
    clips.mkdir()
    (clips / "walk.blend").write_bytes(SCENE.read_bytes())
    told = run(heft, tmp_path, "check", "clips/walk.blend")
    assert told.returncode == 0 and "foot.L touches the ground" in told.stdout, told.stderr
    told = run(heft, tmp_path, "bake", "clips/walk.blend", "--out", "baked.blend", "--out", "baked.bvh", "--report",
               "baked.json", "--sheet", "baked.png", "--columns", 2, "--sheet-width", 200)
    assert told.returncode == 0, told.stderr
    report = json.loads((tmp_path / "baked.json").read_text())
    assert report["versions"]["heft"] == "0.1.0" and report["numbers"]["deviation_degrees"]["largest"] > 5.0
    told = run(heft, tmp_path, "batch", "clips", "--out", "many", "--no-sheets")
    assert told.returncode == 0 and (tmp_path / "many" / "walk.report.json").is_file(), told.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["baked.blend", "baked.bvh", "baked.json", "baked.png",
                                                               "clips", "many"]
    assert digest(clips / "walk.blend") == digest(SCENE)


def test_without_bpy_it_says_what_is_missing(heft, tmp_path) -> None:
    """Somebody who installed Heft alone gets a sentence and not a traceback."""
    (tmp_path / "bpy.py").write_text("raise ModuleNotFoundError(\"No module named 'bpy'\", name='bpy')\n")
    done = subprocess.run([str(heft), "check", str(SCENE)], cwd=tmp_path, capture_output=True, text=True, timeout=100,
                          env={**os.environ, "PYTHONPATH": str(tmp_path)}, stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert "pip install bpy" in done.stderr
