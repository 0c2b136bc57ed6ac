# SPDX-License-Identifier: GPL-3.0-or-later
"""Which jobs there are: clips x characters x variants, from a jobs.json or a folder of clips."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from glob import escape, glob
from pathlib import Path
from typing import Any

from ..._link import solver
from ..arguments import INPUTS, parser
from ..publish import publish_text
from ..version import heft_version

FORMAT = 1
FLAGS = {"armature", "action", "height", "preset", "frames", "controller", "mass", "push", "load", "slope",
         "allow_scripts", "columns", "sheet_width"}
FILES = {"preset"}
LISTS = {"push", "load"}
SHEET = {"columns": 6, "sheet_width": 900}   # small: they all go into one page


@dataclass(frozen=True)
class Job:
    name: str
    clip: Path
    arguments: tuple[str, ...]     # of `heft bake`
    folder: Path

    @property
    def report(self) -> Path:
        return self.folder / f"{self.name}.report.json"

    @property
    def stamp(self) -> Path:
        return self.folder / f".{self.name}.done"

    def key(self) -> str:
        """What a result depends on: Heft, the words, the clip's and the preset's bytes."""
        digest = hashlib.sha256(json.dumps([heft_version(), *self.arguments]).encode())
        for path in [self.clip, *self._told("--preset")]:
            if path.is_file():
                digest.update(path.read_bytes())
        return digest.hexdigest()

    def mark_done(self, key: str) -> None:
        """Remember what was made; a sheet is not where there are no graphics."""
        made = [path.name for path in self._told("--out", "--report", "--sheet") if path.is_file()]
        publish_text(self.stamp, "\n".join([key, *made]))

    def is_done(self) -> bool:
        if not self.stamp.is_file():
            return False
        key, *made = self.stamp.read_text(encoding="utf-8").split("\n")
        return self.report.name in made and all((self.folder / name).is_file() for name in made) and key == self.key()

    def _told(self, *flags: str) -> list[Path]:
        return [Path(value) for flag, value in zip(self.arguments, self.arguments[1:]) if flag in flags]


def read_jobs(source: Path, folder: Path, has_sheets: bool) -> list[Job]:
    if source.is_dir():
        told: dict[str, Any] = {"clips": ["*"]}
        base = source
    else:
        told, base = _read(source), source.parent
    clips = _clips(told.get("clips", []), base, str(source))
    jobs, seen = [], set()
    characters, variants = (_options(told.get(key, {"": {}}), f"{source}, {key}", base)
                            for key in ("characters", "variants"))
    for clip in clips:
        for who, theirs in characters.items():
            for what, variant in variants.items():
                name = "__".join(word for word in (clip.stem, who, what) if word)
                if name in seen:
                    raise solver.InputError(f"Two jobs are called {name}.", str(source), "Rename one of the clips.")
                seen.add(name)
                jobs.append(_job(name, clip, {**(SHEET if has_sheets else {}), **theirs, **variant}, folder,
                                 has_sheets))
                _check_words(jobs[-1], str(source))
    _check_folder(folder, clips)
    return jobs


def _check_words(job: Job, where: str) -> None:
    """Refuse what no bake would understand before the first one starts."""
    try:
        parser().parse_args(["bake", *job.arguments])
    except solver.InputError as error:
        raise solver.InputError(f"The job {job.name} cannot be: {error.what}", where, error.remedy) from None


def _check_folder(folder: Path, clips: list[Path]) -> None:
    """Results among the clips would replace files that have a clip's name, and be clips themselves the next time."""
    if folder.is_dir() and any(os.path.samefile(folder, clip.parent) for clip in clips):
        raise solver.InputError("The clips are in it, and results could replace files of yours.", str(folder),
                                "Choose another folder with --out.")


def _read(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise solver.InputError(f"It cannot be read: {error.strerror}.", str(path), "Give a jobs.json or a folder of "
                                "clips.") from None
    except ValueError as error:
        raise solver.InputError(f"It is not JSON: {error}.", str(path), "docs/formats.md shows one.") from None
    if not isinstance(told, dict) or told.get("heft_jobs") != FORMAT or not isinstance(told.get("clips"), list):
        raise solver.InputError("It is no list of jobs.", str(path), f'It must hold "heft_jobs": {FORMAT} and "clips".')
    unknown = set(told) - {"heft_jobs", "clips", "characters", "variants"}
    if unknown:
        raise solver.InputError(f"It holds {', '.join(sorted(unknown))}.", str(path),
                                "Choose from: clips, characters, variants.")
    return told


def _clips(patterns: list[Any], base: Path, where: str) -> list[Path]:
    found: list[Path] = []
    for pattern in patterns:
        path = base / str(pattern)  # a pattern that is a whole path stays one
        paths = [path] if path.is_file() else [
            Path(each) for each in sorted(glob(os.path.join(escape(str(base)), str(pattern))))]
        fitting = [each for each in paths if each.suffix.lower() in INPUTS and each.is_file()]
        if not fitting:
            raise solver.InputError(f"{pattern!r} names no clip.", where, f"Clips end in {', '.join(INPUTS)}.")
        found += [each for each in fitting if each not in found]
    if not found:
        raise solver.InputError("It names no clips.", where, "List files or patterns under clips.")
    return found


def _options(told: Any, where: str, base: Path) -> dict[str, dict[str, Any]]:
    if not isinstance(told, Mapping) or not told or not all(isinstance(each, Mapping) for each in told.values()):
        raise solver.InputError("It is no table of options.", where, 'Write {"name": {"option": value}}.')
    for name, options in told.items():
        unknown = set(options) - FLAGS
        if unknown or "/" in name or "\\" in name:
            raise solver.InputError(f"{name!r} holds {', '.join(sorted(unknown)) or 'a slash'}.", where,
                                    f"Choose from: {', '.join(sorted(FLAGS))}.")
        for key, value in options.items():
            if not _is_option(key, value):
                raise solver.InputError(f"{key} of {name!r} is {json.dumps(value)}.", where,
                                        "Give a text in quotes." if key in FILES else "Give a number or a text in "
                                        f"quotes{'; or a list of them' if key in LISTS else ''}.")
    return {name: {key: str((base / value).resolve()) if key in FILES else value for key, value in options.items()}
            for name, options in told.items()}


def _is_option(key: str, value: Any) -> bool:
    values = value if isinstance(value, list) and key in LISTS else [value]
    return all(isinstance(each, str if key in FILES else (str, int, float)) for each in values)


def _job(name: str, clip: Path, options: Mapping[str, Any], folder: Path, has_sheets: bool) -> Job:
    words = [str(clip.resolve()), "--out", str((folder / f"{name}.blend").resolve()),
             "--report", str((folder / f"{name}.report.json").resolve())]
    if has_sheets:
        words += ["--sheet", str((folder / f"{name}.png").resolve())]
    for key, value in options.items():
        flag = f"--{key.replace('_', '-')}"
        for each in value if isinstance(value, list) else [value]:
            words += [flag] if each is True else [] if each is False else [f"{flag}={each}"] if str(each).startswith(
                "-") else [flag, str(each)]
    return Job(name, clip, tuple(words), folder)
