# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports and records of batches from files, and whether they are whole. Needs no Blender."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .._link import solver

RECORD = "batch.json"
COLUMNS = (("deviation_degrees", "change, degrees"), ("helper_force_body_weights", "helper force, body weights"),
           ("foot_slide_mm_per_frame", "slide, mm a frame"), ("penetration_mm", "in the ground, mm"))
_KINDS = {"verdict": str, "motion": str, "frames": dict, "numbers": dict, "seconds": dict, "notes": list}


def read_report(path: Path) -> dict[str, Any]:
    told = _json(path, "Give a report that Heft wrote.")
    if not isinstance(told, dict) or "heft_report" not in told:
        raise solver.InputError("It is no report.", str(path), "Give a report that Heft wrote.")
    if not _is_whole(told):
        raise solver.InputError("It is a report with parts missing.", str(path), "Bake or check again to write it.")
    return told


def read_record(folder: Path) -> dict[str, Any]:
    """What a batch wrote about its jobs; where it is gone, the reports that lie there."""
    path = folder / RECORD
    if path.is_file():
        told = _json(path, "Run the batch again, or remove it.")
        jobs = told.get("jobs") if isinstance(told, dict) else None
        if not isinstance(jobs, list) or not all(
                isinstance(job, dict) and {"name", "state"} <= set(job) for job in jobs):
            raise solver.InputError("It is no record of a batch.", str(path), "Run the batch again, or remove it.")
        return {"words": "", **told}
    reports = sorted(folder.glob("*.report.json"))
    if not reports:
        raise solver.InputError("No batch was written into it.", str(folder), "Give the folder that was --out of heft "
                                "batch.")
    return {"words": "", "jobs": [{"name": path.name.removesuffix(".report.json"), "state": "done"}
                                  for path in reports]}


def _json(path: Path, remedy: str) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise solver.InputError(f"It cannot be read: {error}.", str(path), remedy) from None


def _is_whole(told: dict[str, Any]) -> bool:
    if not all(isinstance(told.get(name), kind) for name, kind in _KINDS.items()):
        return False
    numbers = told["numbers"]
    return (all(isinstance(value, dict) for value in numbers.values())
            and all(_is_number(numbers.get(name, {}).get("largest")) for name, _ in COLUMNS)
            and all(map(_is_number, told["seconds"].values())) and _is_number(told["frames"].get("count"))
            and all(isinstance(note, dict) and {"level", "sentence"} <= set(note) for note in told["notes"]))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))
