# SPDX-License-Identifier: GPL-3.0-or-later
"""The words on the command line."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from pathlib import Path

from .._link import solver
from ..bridge.controllers import controllers

INPUTS = (".blend", ".bvh", ".glb", ".gltf", ".fbx")
OUTPUTS = (".blend", ".bvh", ".glb")
WIDTH = 200, 20000   # pixels of a sheet: less shows nothing, more fills the memory


class Parser(argparse.ArgumentParser):
    """Complains like everything else in Heft: one sentence, exit code 2."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise solver.InputError(f"{message[:1].upper()}{message[1:]}.", self.prog, f"`{self.prog} --help` shows how.")


def parser(prog: str = "heft") -> argparse.ArgumentParser:
    top = Parser(prog=prog, description="Physics that follows and corrects character animation, without a window.")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=Parser)

    bake = verbs.add_parser("bake", help="simulate a character and write the result",
                            description="Simulate a character and write the result to a new file.")
    _input(bake)
    _settings(bake)
    bake.add_argument("--out", action="append", type=Path, default=[], metavar="FILE",
                      help="where the result goes: .blend, .bvh or .glb; may be given several times")
    bake.add_argument("--report", type=Path, metavar="FILE.json", help="write what was done and measured")
    bake.add_argument("--sheet", type=Path, metavar="FILE.png", help="render reference and result side by side")
    bake.add_argument("--sheet-width", type=_whole(*WIDTH), default=1600, metavar="PIXELS",
                      help="of the sheet (default 1600)")
    bake.add_argument("--columns", type=_whole(1, 100), default=8, metavar="N", help="poses on the sheet (default 8)")

    check = verbs.add_parser("check", help="tell what the motion does as it is keyed; changes nothing",
                             description="Tell where feet slide, where it is out of balance, where it flies.")
    _input(check)
    _settings(check)
    check.add_argument("--report", type=Path, metavar="FILE.json", help="write what was measured")

    setup = verbs.add_parser("setup", help="show what was found in the rig; write a file that is ready to bake",
                             description="Find the body in the rig and tell what was found.")
    _input(setup)
    _settings(setup)
    setup.add_argument("--out", type=Path, metavar="FILE.blend", help="write the file with the character set up")
    setup.add_argument("--save-preset", type=Path, metavar="FILE.json", help="write the settings as a preset")

    batch = verbs.add_parser("batch", help="bake many: a folder of clips, or a jobs.json",
                             description="Bake clips x characters x variants, one process each.")
    batch.add_argument("jobs", type=Path, help="a jobs.json, or a folder of clips")
    batch.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where everything goes")
    batch.add_argument("--workers", type=int, default=0, metavar="N", help="processes at a time (default: cores)")
    batch.add_argument("--timeout", type=_positive, default=1800.0, metavar="SECONDS",
                       help="a job that takes longer is stopped (default 1800)")
    batch.add_argument("--memory", type=float, default=0.0, metavar="GB",
                       help="a job that takes more is stopped (Linux; default: no limit)")
    batch.add_argument("--again", action="store_true", help="bake everything, even what is there already")
    batch.add_argument("--no-sheets", action="store_true", help="render no pictures")
    batch.add_argument("--list", action="store_true", help="show the jobs and do nothing")

    report = verbs.add_parser("report", help="read reports: in words, or a folder of them as a page",
                              description="Tell a report in words, or write a batch folder's summary page anew.")
    report.add_argument("reports", type=Path, nargs="+", help="reports (.json), or the folder of a batch")
    return top


def _whole(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not re.fullmatch(r"[+-]?\d{1,9}", text) or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {low} to {high}")
        return int(text)

    return read


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number above 0")
    return value


def _input(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("input", type=Path, nargs="?", metavar="FILE",
                      help=f"{', '.join(INPUTS)}; none: the file that Blender has opened")
    verb.add_argument("--armature", metavar="NAME", help="which character, where there are several")
    verb.add_argument("--action", metavar="NAME", help="which of its actions, where it is not the one shown")
    verb.add_argument("--height", type=_positive, metavar="METRES",
                      help="of a character that is imported (default: as in the file if it is 0.3 to 3.5 m tall, else "
                      "1.7)")
    verb.add_argument("--allow-scripts", action="store_true", help="run Python scripts that are in the .blend")
    verb.add_argument("--die-with-parent", action="store_true", help=argparse.SUPPRESS)


def _settings(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--preset", type=Path, metavar="FILE.json",
                      help="settings; none: those stored with the character, else the defaults")
    verb.add_argument("--frames", metavar="FIRST:LAST", help="which frames (with a minus: --frames=-20:80)")
    verb.add_argument("--controller", choices=list(controllers()), help="who decides")
    verb.add_argument("--mass", type=float, metavar="KG", help="of the whole body")
    verb.add_argument("--push", action="append", default=[], metavar="BONE:NEWTONS[:AT[:SECONDS[:X,Y,Z]]]",
                      help="a push; BONE may be @chest, @head, @hips, @hands or @feet, AT is a frame or a share like "
                      "40%%, X,Y,Z the direction (default 40%% : 0.2 : from the left)")
    verb.add_argument("--load", action="append", default=[], metavar="BONE:KG",
                      help="a weight; BONE may be @hands or @feet")
    verb.add_argument("--slope", type=float, metavar="DEGREES", help="stand on a plane that rises ahead")


def frames_of(text: str) -> tuple[int, int]:
    """`10:80`, `10-80`, `-20:30`."""
    found = re.fullmatch(r"\s*(-?\d+)\s*[:-]\s*(-?\d+)\s*", text)
    if found is None:
        raise solver.InputError(f"{text!r} is no range.", "--frames", "Give the first and the last: --frames 10:80.")
    return int(found[1]), int(found[2])
