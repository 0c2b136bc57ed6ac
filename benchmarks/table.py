"""Rows of measurements: printed as one table, written as `build/bench.json`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One measurement. `ratio` is value / baseline; a target speaks of the value or of the ratio."""

    name: str
    value: float
    unit: str
    baseline: float | None
    ratio: float | None
    target: str | None
    met: bool | None


def row(name: str, value: float, unit: str, *, baseline: float | None = None, below: float | None = None,
        ratio_below: float | None = None) -> Row:
    """A row with at most one target: the value or the ratio must be below a number."""
    assert below is None or ratio_below is None, f"{name}: one target a row"
    value = float(value)
    ratio = value / float(baseline) if baseline else None
    target, met = None, None
    if below is not None:
        target, met = f"< {below:g} {unit}".rstrip(), math.isfinite(value) and value < below
    if ratio_below is not None:
        target, met = f"ratio < {ratio_below:g}", ratio is not None and ratio < ratio_below
    return Row(name, value, unit, None if baseline is None else float(baseline), ratio, target, met)


def text(rows: Sequence[Row]) -> str:
    """The table, one line a row, columns aligned."""
    lines = [("name", "value", "unit", "baseline", "ratio", "target", "met")]
    for r in rows:
        lines.append((r.name, _number(r.value), r.unit, _number(r.baseline), _number(r.ratio), r.target or "",
                      "" if r.met is None else "yes" if r.met else "NO"))
    widths = [max(len(line[n]) for line in lines) for n in range(7)]
    right = (False, True, False, True, True, False, False)
    aligned = [[cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(line, widths, right)] for line in lines]
    return "\n".join("  ".join(line).rstrip() for line in aligned)


def write(rows: Sequence[Row], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(r) for r in rows], indent=1) + "\n")


def _number(x: float | None) -> str:
    return "" if x is None else f"{x:.3g}" if abs(x) < 1000.0 else f"{x:.0f}"
