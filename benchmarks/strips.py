"""Strips of stick figures to judge a motion by eye: weight, arcs, knees, feet.

    python -m benchmarks.strips walk run --push Spine1,0,300,0 --at 1.0
    python -m benchmarks.strips made:hop --rate 30 --out build/strips
    python -m benchmarks.strips made:squat --comfort --load hand.L,7.5 --load hand.R,7.5 --strength spine,170

The reference is grey, the result coloured (left limbs blue, right limbs orange). First row from the side
(travel to the right), second row from the front, then the true paths from the side and from above (dots at equal
times: wide apart is fast), then curves over time. Arrows are pushes.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure as PictureSheet

from solver import (
    NATURAL,
    STRONG,
    SUBTLE,
    Character,
    ComfortSettings,
    Load,
    Motion,
    Push,
    QuasiPhysical,
    Result,
    Scene,
    ZmpComfort,
    bake,
    finish,
)
from solver.physics.kinematics import forward, place
from solver.physics.shape import shape_of
from solver.physics.tree import Tree
from tests.clips import shared, synthetic

Array = np.ndarray
Project = Callable[[Array], Array]             # (..., 3) -> (..., 2)
Column = tuple[float, float, list[float]]      # left and right edge, shift of each row's figure
Curve = Array | tuple[Array, Array]            # over the frames; a pair is (reference, result)

GREY, BODY, LEFT, RIGHT, FORCE = "#b4b4b4", "#303030", "#1f6fd6", "#e06a10", "#c0142c"
COM, SOLE = "#a000a0", "#108040"
SHEET = 20.0               # inches across
NEWTONS_PER_METRE = 500.0  # length of arrows


def baked(character: Character, motion: Motion, pushes: Sequence[Push], dial: str, loads: Sequence[Load] = (),
          comfort: ComfortSettings | None = None) -> tuple[Result, float]:
    """What the solver makes of the motion, and the height of the ground it stands on."""
    scene = Scene(character, motion, pushes=tuple(pushes), loads=tuple(loads))
    if comfort is not None:
        careful = ZmpComfort(scene, comfort)
        return finish(bake(scene, careful)), careful.clip.ground
    controller = QuasiPhysical(scene, {"subtle": SUBTLE, "natural": NATURAL, "strong": STRONG}[dial])
    return finish(bake(scene, controller)), controller.clip.ground


# ---------------------------------------------------------------------------------------------------------- figures

class View:
    """Which way to look: along and across the travel, or the facing where it stays on the spot."""

    def __init__(self, character: Character, motion: Motion) -> None:
        travel = motion.positions[-1] - motion.positions[0]
        travel[2] = 0.0
        if np.linalg.norm(travel) < 0.5:
            travel = self._facing(character, motion)
        self.along = travel / np.linalg.norm(travel)
        self.left = np.array([-self.along[1], self.along[0], 0.0])

    @staticmethod
    def _facing(character: Character, motion: Motion) -> Array:
        side = sides(character)
        rest = character.rest_positions
        lefts, rights = rest[side == 1], rest[side == -1]
        if not len(lefts) or not len(rights):
            return np.array([1.0, 0.0, 0.0])
        left = lefts.mean(0) - rights.mean(0)
        pose = forward(Tree(character), character.offsets, motion.positions[0], motion.rotations[0])
        ahead = pose.R[0] @ np.cross(left, [0.0, 0.0, 1.0])
        return np.array([ahead[0], ahead[1], 0.0])

    def side(self, x: Array) -> Array:
        """(..., 3) -> (..., 2) as seen from the right: travel goes to the right."""
        return np.stack([x @ self.along, x[..., 2]], -1)

    def top(self, x: Array) -> Array:
        return np.stack([x @ self.along, x @ self.left], -1)

    def front(self, x: Array) -> Array:
        """As seen by somebody it walks towards: its left is on the right."""
        return np.stack([x @ self.left, x[..., 2]], -1)


def sides(character: Character) -> Array:
    """1 for links of the left, -1 of the right, 0 for the rest; read from names, children follow."""
    side = np.zeros(len(character), dtype=int)
    for i, name in enumerate(character.names):
        if re.search(r"(?i)left|[._-]l$|(?-i:^L[A-Z])", name):
            side[i] = 1
        elif re.search(r"(?i)right|[._-]r$|(?-i:^R[A-Z])", name):
            side[i] = -1
        elif i:
            side[i] = side[character.parents[i]]
    return side


class Figure:
    """Lines of a stick figure over all frames, in the world."""

    def __init__(self, character: Character, motion: Motion) -> None:
        shape = shape_of(character, motion)
        pose = forward(Tree(character), shape.offsets, motion.positions, motion.rotations)
        heads = motion.positions[:, None] + pose.x
        tips = character.tips if motion.scales is None else motion.scales * character.tips
        coms = character.coms if motion.scales is None else motion.scales * character.coms
        ends = heads + (pose.R @ tips[..., None])[..., 0]
        self.heads, self.ends = heads, ends
        centres = heads + (pose.R @ coms[..., None])[..., 0]
        self.com = np.einsum("n,fnk->fk", character.masses, centres) / character.mass
        self.soles = place(pose, character.points.link, shape.points)
        side, bones = sides(character), []
        for i in range(len(character)):
            bones += [(heads[:, i], heads[:, c], i if side[i] else c) for c in character.children[i]]
            if not character.children[i]:
                bones.append((heads[:, i], ends[:, i], i))
        self.lines = np.stack([np.stack([a, b], 1) for a, b, _ in bones], 1)  # (F, B, 2, 3)
        self.colours = [{1: LEFT, -1: RIGHT, 0: BODY}[int(side[i])] for _, _, i in bones]
        self.depth = np.array([int(side[i]) for _, _, i in bones])
        top = [i for i, role in enumerate(character.roles) if role == "head"]
        self.skulls = (heads[:, top] + ends[:, top]) / 2  # (F, n, 3)
        self.skull_sizes = [0.5 * float(np.linalg.norm(character.tips[i])) for i in top]


def draw_strip(path: Path | str, character: Character, reference: Motion, result: Motion | None = None, *,
               frames: Sequence[int] | None = None, forces: Sequence[tuple[str, Array]] = (),
               curves: Mapping[str, Curve] | None = None, title: str = "", ground: float = 0.0) -> None:
    """One PNG. `forces` are (body, force (F, 3) in N); `curves` go below, next to foot and body heights."""
    if frames is None:
        frames = chosen_frames(len(reference), forces)
    view = View(character, reference)
    before = Figure(character, reference)
    after = Figure(character, result) if result is not None else None
    rows = (("side", view.side), ("front", view.front))
    figures = [figure for figure in (before, after) if figure is not None]
    columns = _columns([project for _, project in rows], figures, frames)
    width = columns[-1][1] + 0.15
    drawn = np.concatenate([figure.lines[list(frames)].reshape(-1, 3) for figure in figures])
    scale = SHEET / width  # inches per metre
    low, high = min(ground, drawn[:, 2].min()) - 0.5 / scale, drawn[:, 2].max() + 0.15
    tall = (high - low) * scale
    sheet = plt.figure(figsize=(SHEET, 2 * tall + 3.9 + 3.1), dpi=90)
    total = sheet.get_figheight()
    sheet.text(0.005, 1.0 - 0.2 / total, title, fontsize=11, va="center")
    y = total - 0.3
    for name, project in rows:
        y -= tall
        axes = sheet.add_axes((0.0, y / total, 1.0, tall / total))
        _draw_row(axes, name, project, character, reference, before, after, frames, columns, forces, ground)
        axes.set(xlim=(-0.15, width - 0.15), ylim=(low, high))
    y -= 3.9
    for n, (name, project) in enumerate((("the side", view.side), ("above", view.top))):
        axes = sheet.add_axes((0.5 * n, y / total, 0.5, 3.8 / total))
        _draw_paths(axes, f"paths from {name}: head, hands, root, feet, toe tips; centre of mass dashed", project,
                    character, before, after)
    _draw_curves(sheet, y - 0.35, character, reference, before, after, frames, curves or {}, ground)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    sheet.savefig(path)
    plt.close(sheet)


def chosen_frames(count: int, forces: Sequence[tuple[str, Array]] = (), figures: int = 10) -> list[int]:
    """Evenly spread, with the frame of the strongest push among them."""
    frames = np.linspace(0, count - 1, figures).round().astype(int)
    for _, force in forces:
        size = np.linalg.norm(force, axis=-1)
        if size.any():
            middle = int(np.median(np.flatnonzero(size > 0.9 * size.max())))
            inner = 1 + int(np.abs(frames[1:-1] - middle).argmin())
            frames[inner] = middle
    return sorted(set(frames.tolist()))


def _columns(projects: Sequence[Project], figures: Sequence[Figure], frames: Sequence[int]) -> list[Column]:
    """Figures stand side by side without touching; a column is the same in every row."""
    columns: list[Column] = []
    edge = 0.0
    for k in frames:
        spans = []
        for project in projects:
            across = np.concatenate([project(figure.lines[k])[..., 0].ravel() for figure in figures])
            spans.append((across.min(), across.max()))
        wide = max(0.55, max(right - left for left, right in spans)) + 0.12
        columns.append((edge, edge + wide, [edge + 0.5 * (wide - left - right) for left, right in spans]))
        edge += wide
    return columns


def _draw_row(axes: Axes, name: str, project: Project, character: Character, reference: Motion,
              before: Figure, after: Figure | None, frames: Sequence[int], columns: list[Column],
              forces: Sequence[tuple[str, Array]], ground: float) -> None:
    axes.set_aspect("equal")
    axes.axis("off")
    axes.axhline(ground, color="#707050", lw=1.2, zorder=0)
    for height in np.arange(0.5, 2.6, 0.5):
        axes.axhline(ground + height, color="#eeeeee", lw=0.8, zorder=0)
    axes.annotate(f"from the {name}", (-0.14, ground), (0, 4), textcoords="offset points", fontsize=9,
                  color="#606040")
    for k, (left, right, shifts) in zip(frames, columns):
        shift = shifts[0 if name == "side" else 1]
        if left:
            axes.axvline(left, color="#eeeeee", lw=0.8, zorder=0)
        drawn = [(before, 5.0, True)] if after is not None else []
        for figure, thick, is_grey in [*drawn, (after or before, 2.4, False)]:
            lines, layer = project(figure.lines[k]) + [shift, 0.0], 1 if is_grey else 3
            order = np.argsort(-figure.depth, kind="stable")  # from the side, the right limbs are nearer
            axes.add_collection(LineCollection(
                lines[order], linewidths=thick, capstyle="round", zorder=layer,
                colors=GREY if is_grey else [figure.colours[i] for i in order]))
            for centre, radius in zip(figure.skulls[k], figure.skull_sizes):
                axes.add_patch(plt.Circle(project(centre) + [shift, 0.0], radius, fill=False, lw=thick * 0.6,
                                          color=GREY if is_grey else BODY, zorder=layer))
            dots = [(figure.com[k], "o", 5.0, COM), (figure.soles[k], ".", 3.0, SOLE)]
            if not is_grey:
                dots.append((figure.heads[k], ".", 2.5, "#202020"))
            for points, mark, size, colour in dots:
                axes.plot(*(project(points) + [shift, 0.0]).T, mark, ms=size, mfc="none", zorder=layer + 1,
                          color=GREY if is_grey else colour)
        for body, force in forces:
            if np.linalg.norm(force[k]) > 1.0:
                at = project((after or before).heads[k, character.index(body)]) + [shift, 0.0]
                push = project(force[k]) / NEWTONS_PER_METRE
                style = {"arrowstyle": "-|>", "color": FORCE, "lw": 2.0, "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", at, at - push, zorder=6, arrowprops=style)
                axes.text(*(at - push), f"{np.linalg.norm(force[k]):.0f} N", color=FORCE, fontsize=8,
                          ha="center", va="bottom")
        text = f"{reference.times[k]:.2f} s   frame {k}"
        if name == "side":
            text += f"\n{project(reference.positions[k] - reference.positions[0])[0]:+.2f} m"
        axes.annotate(text, (0.5 * (left + right), ground), (0, -8), textcoords="offset points", fontsize=8,
                      ha="center", va="top")


def _draw_paths(axes: Axes, name: str, project: Project, character: Character, before: Figure,
                after: Figure | None) -> None:
    """Where everything went, true to scale; dots at equal times show speed."""
    axes.set_aspect("equal", adjustable="datalim")
    axes.axis("off")
    axes.set_title(name, fontsize=9, loc="left", x=0.01, y=0.95)
    if project(np.array([0.0, 0.0, 1.0]))[1]:
        axes.axhline(0.0, color="#707050", lw=1.2, zorder=0)
    side = sides(character)
    traced = [(0, False, BODY)]
    for role, at_end in (("head", True), ("hand", True), ("foot", False), ("toe", True)):
        traced += [(i, at_end, {1: LEFT, -1: RIGHT, 0: BODY}[int(side[i])])
                   for i, r in enumerate(character.roles) if r == role]
    for figure, is_grey in ((before, after is not None), (after, False)):
        if figure is None:
            continue
        for i, at_end, colour in traced:
            line = project(figure.ends[:, i] if at_end else figure.heads[:, i])
            axes.plot(*line.T, color=GREY if is_grey else colour, lw=3.0 if is_grey else 1.1,
                      zorder=1 if is_grey else 2)
            if not is_grey:
                axes.plot(*line[::max(1, len(line) // 90)].T, ".", color=colour, ms=2.5, zorder=3)
        axes.plot(*project(figure.com).T, "--", color=GREY if is_grey else COM, lw=1.2, zorder=2)
    axes.margins(0.02, 0.12)


def _draw_curves(sheet: PictureSheet, top: float, character: Character, reference: Motion, before: Figure,
                 after: Figure | None, frames: Sequence[int], curves: Mapping[str, Curve],
                 ground: float) -> None:
    def low(figure: Figure, links: list[int]) -> Array:
        return np.minimum(figure.heads[:, links], figure.ends[:, links])[..., 2].min(-1) - ground

    side = sides(character)
    plots: list[tuple[str, list[tuple[Array, str, float]]]] = []
    lines: list[tuple[Array, str, float]] = []
    for which, colour in ((1, LEFT), (-1, RIGHT)):
        feet = [i for i, r in enumerate(character.roles) if r in ("foot", "toe") and side[i] == which]
        if feet:
            if after is not None:
                lines.append((low(before, feet), GREY, 3.0))
            lines.append((low(after or before, feet), colour, 1.2))
    if lines:
        plots.append(("lowest foot joint, m", lines))
    lines = [(before.com[:, 2] - ground, GREY, 3.0)] if after is not None else []
    plots.append(("centre of mass height, m", [*lines, ((after or before).com[:, 2] - ground, COM, 1.2)]))
    for name, curve in curves.items():
        if isinstance(curve, tuple):
            plots.append((name, [(curve[0], GREY, 3.0), (curve[1], FORCE, 1.2)]))
        else:
            plots.append((name, [(curve, FORCE, 1.2)]))
    wide = 1.0 / len(plots)
    for n, (name, lines) in enumerate(plots):
        axes = sheet.add_axes((n * wide + 0.025, (top - 2.2) / sheet.get_figheight(), wide - 0.035,
                               2.2 / sheet.get_figheight()))
        for values, colour, thick in lines:
            axes.plot(reference.times[: len(values)], values, color=colour, lw=thick)
        for k in frames:
            axes.axvline(reference.times[k], color="#e4e4e4", lw=0.8, zorder=0)
        axes.set_title(name, fontsize=9)
        axes.tick_params(labelsize=8)
        axes.ticklabel_format(useOffset=False)
        axes.margins(x=0.0)
        low_edge, high_edge = axes.get_ylim()
        if high_edge - low_edge < 1e-3:  # a constant is a line, not the noise of its last digit
            axes.set_ylim(low_edge - 0.05, high_edge + 0.05)


# ---------------------------------------------------------------------------------------------------------- command

def find_clip(name: str, rate: float | None) -> tuple[Character, Motion]:
    """`made:walk` is ours, everything else a take of the shared motions."""
    if name.startswith("made:"):
        return synthetic.CLIPS[name[5:]](rate=rate or 60.0)
    return shared.load(name, rate)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="+", help=f"takes, or made:{{{','.join(synthetic.CLIPS)}}}")
    parser.add_argument("--rate", type=float, default=None, help="frames per second")
    parser.add_argument("--span", type=float, nargs=2, default=None, help="first and last second")
    parser.add_argument("--push", default=None, help="body,fx,fy,fz in N")
    parser.add_argument("--at", type=float, default=1.0, help="when the push begins, s")
    parser.add_argument("--lasts", type=float, default=0.2, help="how long it lasts, s")
    parser.add_argument("--dial", choices=("subtle", "natural", "strong"), default="natural")
    parser.add_argument("--blow", action="store_true", help="the push is an impulse in N s")
    parser.add_argument("--comfort", action="store_true", help="comfort and balance instead of quasi-physical")
    parser.add_argument("--load", action="append", default=[], help="body,kg[,from,to]; may be repeated")
    parser.add_argument("--strength", action="append", default=[], help="body,N m; may be repeated")
    parser.add_argument("--name", default=None, help="of the picture")
    parser.add_argument("--figures", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("build/strips"))
    chosen = parser.parse_args(arguments)
    for name in chosen.clips:
        character, motion = find_clip(name, chosen.rate)
        if chosen.span:
            first, last = np.searchsorted(motion.times, chosen.span)
            motion = motion.part(int(first), min(int(last) + 1, len(motion)))
        pushes, forces = [], []
        if chosen.push:
            body, *force = chosen.push.split(",")
            vector = [float(f) for f in force]
            push = Push.impulse(body, vector, chosen.at) if chosen.blow else \
                Push.constant(body, vector, chosen.at, chosen.lasts)
            pushes.append(push)
            step = 1.0 / motion.rate
            forces.append((body, np.array([push.mean_force(t, t + step) for t in motion.times])))
        loads = [Load(body, float(kg), *(float(t) for t in span))
                 for body, kg, *span in (text.split(",") for text in chosen.load)]
        strengths = {body: float(value) for body, value in (text.split(",") for text in chosen.strength)}
        comfort = ComfortSettings(joint_torque=strengths) if chosen.comfort else None
        result, ground = baked(character, motion, pushes, chosen.dial, loads, comfort)
        path = chosen.out / f"{chosen.name or name.replace(':', '_')}.png"
        draw_strip(path, character, motion, result.motion, forces=forces, ground=ground,
                   frames=chosen_frames(len(motion), forces, chosen.figures),
                   curves={"helper force, body weights": result.aid_share},
                   title=f"{name}, {motion.rate:.0f} per second, {'comfort' if comfort else chosen.dial}, "
                         f"{', '.join(chosen.load) or 'no load'}")
        print(path)


if __name__ == "__main__":
    main()
