# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports that are there already: in words, or as the summary page of a batch folder. Needs no Blender."""

from __future__ import annotations

from typing import Any

from .read_report import read_report
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
