"""What the documents show runs: the library's example, the commands, the links, the formats."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from addon.bridge.settings import from_json
from addon.command.arguments import parser

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "sample_scenes" / "README.md"]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.S | re.M)


def test_the_library_example_runs_and_is_short() -> None:
    code, = blocks(ROOT / "docs" / "library.md", "python")
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 20
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    turned, helper = map(float, re.findall(r"\d+\.\d+", done.stdout))
    assert turned > 1.0 and helper < 1.0


COMMANDS = [(page.name, line) for page in PAGES for block in blocks(page, "") for line in block.splitlines()
            if re.match(r"(heft|python -m addon|blender -b)\b", line)]


@pytest.mark.parametrize(("page", "line"), COMMANDS)
def test_every_command_shown_is_one(page: str, line: str) -> None:
    words = shlex.split(line)
    words = words[words.index("heft") + 1:] if "heft" in words else words[words.index("addon") + 1:]
    assert parser().parse_args(words).verb == words[0]


def test_there_are_commands_in_the_readme() -> None:
    assert sum(page == "README.md" for page, _ in COMMANDS) >= 5


def test_make_targets_exist() -> None:
    rules = re.findall(r"^([\w.-]+(?: [\w.-]+)*):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M)
    known = {name for rule in rules for name in rule.split()}
    for page in PAGES:
        for name in re.findall(r"`make ([\w.-]+)", page.read_text(encoding="utf-8")):
            assert name in known, f"{page.name}: make {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_pictures_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert target.startswith("http") or (page.parent / target).exists(), target


def test_the_formats_shown_are_read() -> None:
    preset, jobs = blocks(ROOT / "docs" / "formats.md", "json")
    assert from_json(preset).pushes[0].newtons == 200
    assert json.loads(jobs)["heft_jobs"] == 1
