# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports that are there already: in words, or as the summary page of a batch folder. Needs no Blender."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .._link import solver
from .summary import write_summary


def tell_reports(told: Any) -> int:
    for path in told.reports:
        if path.is_dir():
            page = write_summary(path)
            print(f"wrote {page}")
            continue
        report = read_report(path)
        print(f"{path}: {report['verdict']}. {report['motion']}")
        for name, value in report["numbers"].items():
            print(f"  {name.replace('_', ' ')}: " + ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in value.items()))
        for note in report["notes"]:
            print(f"  {note['level']}: {note['sentence']}" + (f" (frame {note['frame']})" if "frame" in note else ""))
    return 0


def read_report(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise solver.InputError(f"It cannot be read: {error}.", str(path), "Give a report that Heft wrote.") from None
    if not isinstance(told, dict) or "heft_report" not in told:
        raise solver.InputError("It is no report.", str(path), "Give a report that Heft wrote.")
    return told
