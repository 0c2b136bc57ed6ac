# SPDX-License-Identifier: GPL-3.0-or-later
"""One page about a batch: thumbnails, verdicts, numbers. Everything is inside the file, so that it can be mailed."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._link import solver
from .publish import publish_text
from .read_report import COLUMNS, RECORD, read_record, read_report

PAGE = "summary.html"
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 1200px; padding: 0 1em; color: #222;
       background: #fafaf8 }
h1 { font-size: 1.5em } table { border-collapse: collapse; width: 100% }
td, th { padding: .45em .6em; border-bottom: 1px solid #ddd; vertical-align: top; text-align: left }
td.n { text-align: right; font-variant-numeric: tabular-nums } img { width: 420px; border: 1px solid #ddd }
.good { color: #17703c } .care { color: #a76400 } .failed { color: #b3201c }
.cancelled, .waiting { color: #666 } b { font-weight: 600 }
small { color: #666 } @media (max-width: 800px) { img { width: 200px } }
"""
KINDS = ("good", "care", "failed", "cancelled", "waiting")


def write_summary(folder: Path, states: Sequence[Mapping[str, Any]] | None = None, words: str = "") -> Path:
    """`states` are the jobs of a batch in order; without them the folder's own record is read."""
    if states is None:
        told = read_record(folder)
        states, words = told["jobs"], str(told["words"])
    else:
        told = {"heft_batch": 1, "words": words, "jobs": list(states)}
        publish_text(folder / RECORD, json.dumps(told, indent=2) + "\n")
    rows = [_row(folder, state) for state in states]
    counts: dict[str, int] = {}
    for kind, _ in rows:
        counts[kind] = counts.get(kind, 0) + 1
    head = ", ".join(f"<b class={kind}>{counts[kind]} {kind}</b>" for kind in KINDS if kind in counts)
    columns = "".join(f"<th>{title}" for _, title in COLUMNS)
    page = folder / PAGE
    publish_text(page, f"""<!doctype html><html lang=en><meta charset=utf-8><title>Heft batch</title>
<style>{STYLE}</style><h1>Heft batch: {head or 'nothing done'}</h1><p>{html.escape(words)}</p>
<table><tr><th>job<th>verdict<th>frames{columns}<th>seconds<th>keys above, result below</tr>
{''.join(text for _, text in rows)}</table></html>
""")
    return page


def _row(folder: Path, state: Mapping[str, Any]) -> tuple[str, str]:
    name = str(state["name"])
    word = str(state["state"])
    if word != "done":
        return _bare_row(name, word if word in KINDS else "failed", str(state.get("reason") or "It has not run yet."))
    try:
        told = read_report(folder / f"{name}.report.json")
    except solver.InputError as error:
        return _bare_row(name, "failed", str(error))
    numbers = "".join(f"<td class=n>{told['numbers'][key]['largest']:.3g}" for key, _ in COLUMNS)
    seconds = sum(told["seconds"].values())
    notes = "".join(f"<br><small>{html.escape(str(note['sentence']))}</small>" for note in told["notes"][:4])
    sheet = folder / f"{name}.png"
    picture = "<td>"
    if sheet.is_file():
        data = base64.b64encode(sheet.read_bytes()).decode("ascii")
        picture = f"<td><img loading=lazy alt='' src='data:image/png;base64,{data}'>"
    kind = told["verdict"] if told["verdict"] in KINDS else "care"
    return kind, (f"<tr><td>{html.escape(name)}<br><small>{html.escape(told['motion'])}</small>{notes}"
                  f"<td class={kind}>{kind}<td class=n>{told['frames']['count']}{numbers}"
                  f"<td class=n>{seconds:.1f}{picture}</tr>\n")


def _bare_row(name: str, kind: str, reason: str) -> tuple[str, str]:
    """Of a job that has no result to show."""
    return kind, f"<tr><td>{html.escape(name)}<td class={kind}>{kind}<td colspan=7>{html.escape(reason)}</tr>\n"
