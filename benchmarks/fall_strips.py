"""Strips of falls to judge by eye: does it buckle like a body, lie naturally, rise without a jump?

    python -m benchmarks.fall_strips made:walk walk_cmu_02_01 --push chest,0,400,0 --at 0.6 --get-up 1.5

The clip is held at its end for as long as falling and rising take. One sheet for the fall, and one for the rise;
with --sheet instead all clips on one sheet, a row each from the side and from the front.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection

from benchmarks.strips import BODY, Figure, View, draw_strip, find_clip
from solver import Character, Motion, Plane, Push, Release, Result, Scene, bake, finish
from solver.references.clip import Clip

LASTS = 0.2   # s, of a push
FALL = 7.0    # s, for the fall and what comes after


def held(motion: Motion, seconds: float) -> Motion:
    """The motion with its last pose kept for a while."""
    more = int(np.ceil(seconds * motion.rate))
    times = np.concatenate((motion.times, motion.times[-1] + np.arange(1, more + 1) / motion.rate))
    index = np.minimum(np.arange(len(times)), len(motion) - 1)
    return Motion(times, motion.positions[index], motion.rotations[index],
                  None if motion.offsets is None else motion.offsets[index],
                  None if motion.scales is None else motion.scales[index])


def body_named(character: Character, name: str) -> str:
    """The chest of a captured skeleton is called Spine1."""
    return name if name in character.names else {"chest": "Spine1", "head": "Head", "thigh": "LeftUpLeg"}[name]


def fallen(name: str, rate: float, at: float, push: str | None,
           release: Release) -> tuple[Character, Result, Push | None, float]:
    character, motion = find_clip(name, rate)
    ground = Clip(Scene(character, motion)).ground   # before a pose is held, which would count for more than the rest
    at += float(motion.times[0])
    last = min(len(motion) - 1, int(np.searchsorted(motion.times, at + 1.0)))
    motion = held(motion.part(0, last + 1), FALL)
    pushes: tuple[Push, ...] = ()
    if push:
        body, *force = push.split(",")
        pushes = (Push.constant(body_named(character, body), [float(f) for f in force], at, LASTS),)
    if release.threshold is None:
        release = Release(frame=int(np.searchsorted(motion.times, at + 0.1)), limp=release.limp, get_up=release.get_up)
    result = finish(bake(Scene(character, motion, Plane.level(ground), pushes=pushes, release=release)))
    return character, result, pushes[0] if pushes else None, ground


def draw(path: Path, character: Character, result: Result, push: Push | None, ground: float, title: str,
         figures: int) -> None:
    phases = np.array(result.phases)
    falls, rises = np.flatnonzero(phases == "fall"), np.flatnonzero(phases == "rise")
    forces = []
    if push is not None:
        step = 1.0 / result.motion.rate
        forces.append((push.body, np.array([push.mean_force(t, t + step) for t in result.motion.times])))
    curves = {"deepest, m": result.penetration, "helper force, body weights": result.aid_share}
    for what, own in (("fall", falls), ("rise", rises)):
        if len(own):
            first, last = max(own[0] - 2, 0), min(own[-1] + 2, len(phases) - 1)
            frames = np.unique(np.linspace(first, last, figures).round().astype(int)).tolist()
            draw_strip(path.with_name(f"{path.stem}_{what}.png"), character, result.motion, frames=frames,
                       forces=forces, curves=curves, title=f"{title}, {what}", ground=ground)
            print(path.with_name(f"{path.stem}_{what}.png"))


def draw_sheet(path: Path, rows: Sequence[tuple[str, Character, Result, float]], figures: int) -> None:
    """A contact sheet: each row a clip, from just before it is let go until it lies, or is up again."""
    wide, tall = 2.2, 2.1   # m of a cell
    sheet, axes = plt.subplots(figsize=(20.0, 20.0 * tall * 2 * len(rows) / (wide * figures)), dpi=80)
    axes.set(xlim=(0.0, wide * figures), ylim=(-2 * tall * len(rows), 0.0), aspect="equal")
    axes.axis("off")
    sheet.subplots_adjust(0.0, 0.0, 1.0, 1.0)
    for n, (name, character, result, ground) in enumerate(rows):
        figure, view = Figure(character, result.motion), View(character, result.motion)
        away = np.flatnonzero([phase != "follow" for phase in result.phases])
        still = np.flatnonzero([phase == "rest" for phase in result.phases])
        last = away[-1] if result.phases[away[-1]] == "rise" else still[0] if len(still) else away[-1]
        for m, project in enumerate((view.side, view.front)):
            floor = -tall * (2 * n + m + 1) + 0.15
            axes.axhline(floor, color="#707050", lw=0.8)
            for c, k in enumerate(np.linspace(max(away[0] - 1, 0), last, figures).round().astype(int)):
                middle = project(figure.com[k])[0]
                lines = project(figure.lines[k]) + [wide * (c + 0.5) - middle, floor - ground]
                axes.add_collection(LineCollection(lines, linewidths=1.6, colors=figure.colours, capstyle="round"))
                for centre, radius in zip(figure.skulls[k], figure.skull_sizes):
                    at = project(centre) + [wide * (c + 0.5) - middle, floor - ground]
                    axes.add_patch(plt.Circle(at, radius, fill=False, lw=1.0, color=BODY))
                if m == 0:
                    axes.text(wide * c + 0.05, floor - 0.13, f"{result.motion.times[k]:.2f} s {result.phases[k]}",
                              fontsize=7)
        axes.text(0.05, -tall * 2 * n - 0.2, name, fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    sheet.savefig(path)
    plt.close(sheet)
    print(path)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+", help="takes, or made:walk and the like")
    parser.add_argument("--rate", type=float, default=30.0, help="frames per second")
    parser.add_argument("--push", default=None, help="body,fx,fy,fz in N")
    parser.add_argument("--at", type=float, default=0.6, help="when the push begins, s; let go 0.1 s later")
    parser.add_argument("--threshold", type=float, default=None, help="N s; let go by the push")
    parser.add_argument("--limp", action="store_true")
    parser.add_argument("--get-up", type=float, default=None, help="s")
    parser.add_argument("--figures", type=int, default=14)
    parser.add_argument("--sheet", action="store_true", help="all clips on one sheet")
    parser.add_argument("--out", type=Path, default=Path("build/strips"))
    chosen = parser.parse_args(arguments)
    release = Release(threshold=chosen.threshold, limp=chosen.limp, get_up=chosen.get_up)
    sheet = []
    for name in chosen.clips:
        character, result, push, ground = fallen(name, chosen.rate, chosen.at, chosen.push, release)
        if chosen.sheet:
            sheet.append((name, character, result, ground))
            continue
        draw(chosen.out / f"fall_{name.replace(':', '_')}.png", character, result, push, ground,
             f"{name}, {chosen.rate:.0f} per second", chosen.figures)
        for note in result.notes:
            print(f"  {note.frame}: {note.sentence}")
    if sheet:
        draw_sheet(chosen.out / "falls.png", sheet, chosen.figures)


if __name__ == "__main__":
    main()
