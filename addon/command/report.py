# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON report of one bake, and the same in a few lines. `docs/formats.md` describes every field."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..bridge.convert import frames_per_second
from ..bridge.settings import to_json
from ..bridge.verdict import contact_bars, verdict
from ..job import Baked
from .character import settings_hash
from .version import heft_version

FORMAT = 1
SLIDE, SINK = 0.005, 0.01    # m per frame, m: a result that does more than this, and more than its input, needs a look


def report_of(source: Path, ob: Any, baked: Baked, outputs: Sequence[str], notes: Sequence[str],
              seconds: Mapping[str, float]) -> dict[str, Any]:
    study, result = baked.study, baked.result
    frames = study.samples.frames
    first = int(frames[0])
    body = study.figure.character
    told = [{"level": "info", "sentence": note} for note in notes]
    for note in result.notes:
        told.append({"level": note.level, "sentence": note.sentence,
                     **({"frame": first + note.frame} if note.frame is not None else {}),
                     **({"bone": note.bone} if note.bone else {})})
    numbers = _numbers(result)
    return {
        "heft_report": FORMAT,
        "verdict": _verdict(numbers),
        "versions": versions(),
        "input": {"file": str(source), "sha256": file_hash(source), "armature": ob.name},
        "outputs": list(outputs),
        "output": {"kind": baked.output, "action": baked.action.name if baked.action is not None else None},
        "frames": {"first": first, "last": int(frames[-1]), "count": len(frames),
                   "rate": round(frames_per_second(_scene()), 6)},
        "character": {"links": len(body), "mass_kg": _round(body.mass), "height_m": _round(study.figure.height)},
        "settings": {"sha256": settings_hash(study.setup), "preset": json.loads(to_json(study.setup))},
        "motion": verdict(result, frames),
        "contacts": {limb: [list(span) for span in spans] for limb, spans in contact_bars(result, frames).items()},
        "numbers": numbers,
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "notes": told,
    }


def _numbers(result: Any) -> dict[str, Any]:
    margin = result.margin[np.isfinite(result.margin)]
    aid = result.aid_share
    return {
        "foot_slide_mm_per_frame": {"largest": _round(1e3 * result.slide.max()),
                                    "in_the_keys": _round(1e3 * result.reference_slide.max())},
        "penetration_mm": {"largest": _round(1e3 * result.penetration.max()),
                           "in_the_keys": _round(1e3 * result.reference_penetration.max())},
        "zmp_margin_mm": {"least": _round(1e3 * margin.min()) if len(margin) else None,
                          "share_outside": _round(float((margin < 0.0).mean())) if len(margin) else None},
        "helper_force_body_weights": {"largest": _round(aid.max()), "mean": _round(aid.mean())},
        "deviation_degrees": {"largest": _round(np.degrees(result.deviation.max())),
                              "mean": _round(np.degrees(result.deviation.mean()))},
    }


def _verdict(numbers: Mapping[str, Any]) -> str:
    """good, or care where the result is worse than its input by more than an eye forgives."""
    slide, sink = numbers["foot_slide_mm_per_frame"], numbers["penetration_mm"]
    worse = [slide["largest"] > max(1e3 * SLIDE, 1.1 * slide["in_the_keys"]),
             sink["largest"] > max(1e3 * SINK, 1.1 * sink["in_the_keys"])]
    return "care" if any(worse) else "good"


def _round(x: float) -> float:
    return float(f"{float(x):.6g}")


def _scene() -> Any:
    return bpy.context.scene


def file_hash(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def versions() -> dict[str, str]:
    found = {"blender": bpy.app.version_string, "python": platform.python_version(), "heft": heft_version()}
    for name in ("numpy", "scipy", "quadprog"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found


def report_text(report: Mapping[str, Any]) -> str:
    return json.dumps(report, indent=2, ensure_ascii=False) + "\n"


def words_of(report: Mapping[str, Any]) -> str:
    n, frames, seconds = report["numbers"], report["frames"], report["seconds"]
    lines = [
        f"{report['input']['armature']}: {frames['count']} frames at {frames['rate']:g} a second in "
        f"{seconds.get('bake', 0.0):.1f} s",
        f"  change at most {n['deviation_degrees']['largest']:.1f} degrees, helper force at most "
        f"{n['helper_force_body_weights']['largest']:.2f} body weights",
        f"  feet slide at most {n['foot_slide_mm_per_frame']['largest']:.2f} mm a frame "
        f"({n['foot_slide_mm_per_frame']['in_the_keys']:.2f} in the keys), sink at most "
        f"{n['penetration_mm']['largest']:.1f} mm ({n['penetration_mm']['in_the_keys']:.1f})",
    ]
    return "\n".join([*lines, *note_lines(report)])


def note_lines(report: Mapping[str, Any]) -> list[str]:
    return [f"  {'care' if note['level'] == 'warning' else 'note'}: {note['sentence']}"
            + (f" (frame {note['frame']})" if "frame" in note else "") for note in report["notes"]]
