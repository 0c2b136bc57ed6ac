"""Contact sheets of planned motions on their grounds, true to scale from the side.

    python -m benchmarks.ground_strips walk run --grounds "35 up" "steps 0.3 down"

One row a ground: the figure every so many frames where it is, the ground under its path, and the paths of root, feet
and knees.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from benchmarks import strips
from benchmarks.ground_cases import CLIPS, GROUNDS, scene
from solver.references.clip import Clip

BETWEEN = 0.16    # s, from figure to figure
WIDE = 18.0       # inches


def draw(axes: Axes, clip: Clip, title: str) -> None:
    view, figure = strips.View(clip.character, clip.motion), strips.Figure(clip.character, clip.planned)
    times = clip.times
    path = clip.planned.positions
    ahead = view.along[:2]
    reach = np.linspace(-1.0, 1.0, 400) * 0.5 * (np.ptp(path[:, :2] @ ahead) + 2.0)
    middle = 0.5 * (path[0] + path[-1])
    spots = middle[:2] + reach[:, None] * ahead
    heights = clip.terrain.height(spots, float(times[0])).z
    axes.fill_between(spots @ ahead, heights, heights.min() - 0.2, color="#d8d4c0", lw=0.0, zorder=0)
    every = max(int(round(BETWEEN * (len(times) - 1) / (times[-1] - times[0]))), 1)
    for k in range(0, len(times), every):
        order = np.argsort(-figure.depth, kind="stable")
        axes.add_collection(LineCollection(view.side(figure.lines[k])[order], linewidths=1.6, capstyle="round",
                                           colors=[figure.colours[i] for i in order], zorder=3))
        for centre, size in zip(figure.skulls[k], figure.skull_sizes):
            axes.add_patch(plt.Circle(view.side(centre), size, fill=False, lw=1.0, color=strips.BODY, zorder=3))
    side = strips.sides(clip.character)
    for i, role in enumerate(clip.character.roles):
        if role == "foot" or i == 0:
            colour = {1: strips.LEFT, -1: strips.RIGHT, 0: strips.BODY}[int(side[i])]
            axes.plot(*view.side(figure.heads[:, i]).T, color=colour, lw=0.7, zorder=2)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(title, fontsize=9, loc="left")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+", choices=list(CLIPS))
    parser.add_argument("--grounds", nargs="+", choices=list(GROUNDS), default=list(GROUNDS))
    parser.add_argument("--out", type=Path, default=Path("build/strips"))
    chosen = parser.parse_args(arguments)
    for name in chosen.clips:
        sheet, rows = plt.subplots(len(chosen.grounds), 1, figsize=(WIDE, 5.0 * len(chosen.grounds)), squeeze=False)
        for axes, ground in zip(rows[:, 0], chosen.grounds):
            draw(axes, Clip(scene(name, ground)), f"{name}, {ground}")
        sheet.tight_layout()
        path = chosen.out / f"ground_{name.replace(' ', '_')}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        sheet.savefig(path, dpi=70)
        plt.close(sheet)
        print(path)


if __name__ == "__main__":
    main()
