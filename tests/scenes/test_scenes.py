"""Every sample scene bakes without a window, and its numbers stay within the bounds stored beside it."""

import hashlib
import json

import pytest

from tests.program import ROOT, heft

FOLDER = ROOT / "sample_scenes"
BOUNDS = {name: told for name, told in json.loads((FOLDER / "bounds.json").read_text()).items() if name != "about"}
CASES = [(scene, who) for scene, told in BOUNDS.items() for who in told]


def test_every_scene_has_bounds() -> None:
    assert {path.stem for path in FOLDER.glob("*.blend")} == set(BOUNDS)


@pytest.mark.parametrize(("scene", "who"), CASES, ids=lambda x: x.replace(" ", "_"))
def test_the_scene_bakes_within_its_bounds(scene: str, who: str, tmp_path) -> None:
    source = FOLDER / f"{scene}.blend"
    before = hashlib.sha256(source.read_bytes()).digest()
    report = tmp_path / "report.json"
    done = heft("bake", source, "--armature", who, "--out", tmp_path / "out.blend", "--report", report)
    assert done.returncode == 0, done.stderr
    assert hashlib.sha256(source.read_bytes()).digest() == before
    told, bounds = json.loads(report.read_text()), BOUNDS[scene][who]
    assert [note for note in told["notes"] if note["level"] == "warning"] == []
    assert "warning" not in done.stderr.lower() and "error" not in done.stderr.lower(), done.stderr
    for name, most in bounds.items():
        value = told["numbers"][name]["largest"]
        low, high = most if isinstance(most, list) else (0.0, most)
        assert low <= value <= high, f"{name}: {value} is not within {low} to {high}"
