# SPDX-License-Identifier: GPL-3.0-or-later
"""The contact sheet: the keys above, the result below, at the same moments from the same camera; curves underneath."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..bridge import overlay
from ..bridge.convert import Array
from ..bridge.diagnostics import diagnose
from ..bridge.originals import show_original
from ..bridge.read_character import link_places
from ..bridge.restore import Restored
from ..bridge.rig import skins_of
from ..job import Baked
from . import stage
from .captions import Caption, draw_captions
from .pixels import Picture, box, canvas, line, paste, write_png
from .progress import Progress
from .publish import publish, reason

PAPER, INK, FAINT = (0.96, 0.96, 0.95), (0.15, 0.15, 0.18), (0.80, 0.80, 0.80)
BLUE, GREEN, RED = (0.13, 0.40, 0.78), (0.10, 0.55, 0.32), (0.82, 0.16, 0.14)
STILL = 0.15   # of the usual motion: how much a frame counts in which nothing moves
_data: Any = bpy.data


def make_sheet(path: Path, scene: Any, ob: Any, baked: Baked, width: int, columns: int,
               progress: Progress) -> str:
    """Render and publish the sheet; returns why it could not be rendered, or nothing."""
    try:
        picture = _draw(scene, ob, baked, width, max(2, columns), progress)
    except RuntimeError as error:  # the bake itself is good and saved
        return reason(error)
    publish(path, lambda temporary: write_png(temporary, picture))
    return ""


def _draw(scene: Any, ob: Any, baked: Baked, width: int, columns: int, progress: Progress) -> Picture:
    view = _View(scene, ob, baked)
    rows = view.moments(columns)
    cell = width // len(rows)
    tall = int(cell * view.height / view.width)
    margin, plot = max(18, width // 70), max(90, width // 11)
    height = 2 * tall + 2 * plot + 6 * margin
    sheet = canvas(width, height, PAPER)
    stage.prepare(scene)
    camera = stage.add_camera(scene)
    view.dress(scene, ob)
    total, done = 2 * len(rows), 0
    for k, is_result in enumerate((False, True)):
        with Restored(scene) as state:
            if not is_result:
                overlay.set_aside(ob, state)
                show_original(ob, state)
            for n, row in enumerate(rows):
                progress.tell("Rendering", done, total)
                scene.frame_set(int(view.frames[row]))
                stage.aim(camera, view.centres[is_result][row], view.side, view.width, view.height)
                view.show_arrows(row, is_result)
                picture = stage.render(scene, cell, tall)
                paste(sheet, picture, n * cell, height - (k + 1) * (tall + margin))
                done += 1
    captions = [Caption(f"{view.frames[row]:g}", (n + 0.5) * cell, height - 0.8 * margin, 0.6 * margin, True)
                for n, row in enumerate(rows)]
    captions += [Caption("keys", 8, height - 0.8 * margin, 0.7 * margin),
                 Caption("result", 8, height - 0.8 * margin - tall - margin, 0.7 * margin)]
    result = baked.result
    captions += _plot(sheet, view, rows, result.aid_share, "helper force, body weights", BLUE,
                      plot + 2 * margin, plot, margin)
    captions += _plot(sheet, view, rows, 100.0 * result.margin, "balance margin, cm (below 0: tipping)", GREEN,
                      margin, plot, margin)
    paste(sheet, draw_captions(captions, width, height, INK), 0, 0)
    return sheet


def _plot(sheet: Picture, view: _View, rows: list[int], values: Array, words: str, colour: tuple[float, float, float],
          bottom: int, height: int, margin: int) -> list[Caption]:
    left, right = 3.0 * margin, sheet.shape[1] - margin
    finite = values[np.isfinite(values)]
    low, high = (min(0.0, float(finite.min())), max(float(finite.max()), 1e-3)) if len(finite) else (0.0, 1.0)
    low = max(low, -40.0) if "cm" in words else low
    span = max(high - low, 1e-3)

    def x(row: Any) -> Any:
        return left + (right - left) * np.asarray(row, dtype=np.float64) / max(len(view.frames) - 1, 1)

    def y(value: Any) -> Any:
        return bottom + height * np.clip((np.asarray(value, dtype=np.float64) - low) / span, 0.0, 1.0)

    for a, b in view.pushed:
        box(sheet, x(a), bottom, max(x(b), x(a) + 2), bottom + height, RED, 0.15)
    for row in rows:
        box(sheet, x(row) - 0.5, bottom, x(row) + 0.5, bottom + height, FAINT)
    box(sheet, left, y(0.0) - 0.5, right, y(0.0) + 0.5, (0.45, 0.45, 0.45))
    line(sheet, x(np.arange(len(values))), y(values), colour, max(1.5, sheet.shape[1] / 900))
    size = 0.6 * margin
    return [Caption(words, left + 4, bottom + height + 0.15 * margin, size),
            Caption(f"{high:.3g}", 4, bottom + height - size, size), Caption(f"{low:.3g}", 4, bottom, size)]


class _View:
    """Where to look, when, and what to put around the character."""

    def __init__(self, scene: Any, ob: Any, baked: Baked) -> None:
        study, result, unit = baked.study, baked.result, baked.study.unit
        self.study, self.unit, self.frames = study, unit, study.samples.frames
        before = link_places(study.figure.character, study.figure.assembly.motion)[..., :3, 3] / unit
        told = diagnose(study.figure, result, baked.points, self.frames, unit)
        after = np.concatenate((told.heads, told.tails), axis=1)
        both = np.concatenate((before, after), axis=1)
        tall = float(np.ptp(before[..., 2], axis=1).max())
        ways = [both, both]   # one camera for both rows shows how far a push led ...
        if float(np.linalg.norm((before.mean(1) - after.mean(1))[:, :2], axis=1).max()) > 0.6 * tall:
            ways = [before, after]   # ... unless that is so far that both would be small
        low = np.minimum(*(way.min(1) - 0.5 * (way.min(1) + way.max(1)) for way in ways))
        high = np.maximum(*(way.max(1) - 0.5 * (way.min(1) + way.max(1)) for way in ways))
        self.centres = [0.5 * (way.min(1) + way.max(1)) for way in ways]
        self.height = 1.2 * float((high - low)[:, 2].max())
        spread = float(np.linalg.norm((high - low)[:, :2], axis=1).max())
        self.width = float(np.clip(1.1 * spread, 0.75 * self.height, 2.0 * self.height))
        if self.width < 1.1 * spread:  # long bodies
            self.height *= 1.1 * spread / self.width
            self.width = 1.1 * spread
        self.steps = np.linalg.norm(np.diff(after, axis=0), axis=-1).mean(1)   # (F - 1,) from frame to frame
        self.way = both.reshape(-1, 3)
        touching = told.points[told.is_touching]
        self.ground = float(np.percentile(touching[:, 2], 5)) if len(touching) else float(both[..., 2].min())
        self.places = link_places(study.figure.character, result.motion)
        moved = self.places[..., :3, 3] / unit - before
        self.moved = np.linalg.norm(moved, axis=-1).mean(1)                    # (F,) off the keys
        self.side = _side(_ahead(before), moved)
        self.pushed = self._spans()
        self.arrows: list[Any] = []
        self.has_skin = bool([mesh for mesh in skins_of(ob, scene.objects) if not mesh.hide_render])

    def _spans(self) -> list[tuple[int, int]]:
        """Rows in which a push acts."""
        times, spans = self.study.scene.motion.times, []
        for push in self.study.scene.pushes:
            rows = np.flatnonzero((times >= push.times[0] - 1e-9) & (times <= push.times[-1] + 1e-9))
            spans.append((int(rows[0]), int(rows[-1])) if len(rows) else (0, 0))
        return spans

    def moments(self, columns: int) -> list[int]:
        """Rows to show, as much motion between two as between any others: who lies or stands still needs few. The
        nearest goes to the middle of each push, the next to where it has led farthest before it comes back."""
        last = len(self.frames) - 1
        far = np.concatenate(([0.0], np.cumsum(self.steps + STILL * self.steps.mean() + 1e-9)))
        even = np.interp(np.linspace(0.0, far[-1], min(columns, last + 1)), far, np.arange(last + 1))
        rows = [int(row) for row in np.unique(even.round())]
        for a, b in self.pushed:
            middle = (a + b) // 2
            inner = rows[1:-1] or rows
            nearest = min(inner, key=lambda row: abs(row - middle))
            if middle not in rows and not any(a <= row <= b for row in rows):
                rows[rows.index(nearest)] = middle
            later = [row for row in rows[1:-1] if row > b]
            until = min((start for start, _ in self.pushed if start > b), default=last)
            if later and b < until:
                farthest = b + 1 + int(self.moved[b + 1:until + 1].argmax())
                if farthest < rows[rows.index(later[0]) + 1]:
                    rows[rows.index(later[0])] = farthest
        return sorted(set(rows))

    def dress(self, scene: Any, ob: Any) -> None:
        figure, setup = self.study.figure, self.study.setup
        if not self.has_skin:
            stage.add_sticks(scene, ob, [figure.rig.names[i] for i in figure.body.links],
                             figure.body.parents)
        for other in scene.objects:  # other characters have their own sheets
            if other.type == "ARMATURE" and other not in (ob, ob.heft.overlay):
                for mesh in skins_of(other, scene.objects):
                    mesh.hide_render = True
        low, high = self.way.min(0), self.way.max(0)
        reach = 0.5 * float((high - low)[:2].max()) + 1.5 * self.height
        centre = 0.5 * (low + high)
        planes = [ground for ground in setup.grounds if not ground.object and not ground.collection]
        if planes:
            slope, heading = np.radians(planes[0].slope), np.radians(planes[0].heading)
            normal = np.array([-np.sin(slope) * np.cos(heading), -np.sin(slope) * np.sin(heading), np.cos(slope)])
            stage.add_floor(scene, centre, reach, np.array([0.0, 0.0, planes[0].height]), normal)
        elif not setup.grounds and not self._has_floor(scene, ob):
            stage.add_floor(scene, centre, reach, np.array([0.0, 0.0, self.ground]), np.array([0.0, 0.0, 1.0]))
        self.arrows = [stage.add_arrow(scene, 0.3 * self.height) for _ in self.study.scene.pushes]

    @staticmethod
    def _has_floor(scene: Any, ob: Any) -> bool:
        skins = skins_of(ob, scene.objects)
        return any(mesh.type == "MESH" and mesh not in skins and max(mesh.dimensions[:2]) > 1.5
                   and not mesh.name.startswith("Heft ") for mesh in scene.objects)

    def show_arrows(self, row: int, is_shown: bool) -> None:
        from mathutils import Vector

        for arrow, push, (a, b) in zip(self.arrows, self.study.scene.pushes, self.pushed):
            arrow.hide_render = not (is_shown and a <= row <= b)
            link = self.study.figure.character.index(push.body)
            place = self.places[row, link]
            tip = (place[:3, :3] @ push.point + place[:3, 3]) / self.unit
            force = push.forces[int(np.abs(push.forces).sum(1).argmax())]
            size = float(np.linalg.norm(force))
            if size > 0.0:
                tip = tip - 0.09 * self.height * force / size  # outside the skin
                arrow.matrix_world = _turned(Vector(force / size), tip)


def _turned(way: Any, tip: Array) -> Any:
    from mathutils import Matrix

    return Matrix.Translation(tip.tolist()) @ way.to_track_quat("Y", "Z").to_matrix().to_4x4()


def _side(ahead: Array, moved: Array) -> Array:
    """Where to look from: a little from the front, or more so, whichever shows more of how far links were moved."""
    sides = [stage.towards(ahead, np.radians(turn)) for turn in (28.0, 62.0)]
    return max(sides, key=lambda side: float(np.linalg.norm(moved @ np.array([side[1], -side[0], 0.0]))))


def _ahead(places: Array) -> Array:
    """The level direction of travel; on the spot, where the body faces cannot be known: along x."""
    way = places[-1].mean(0) - places[0].mean(0)
    way[2] = 0.0
    size = float(np.linalg.norm(way))
    return way / size if size > 0.3 else np.array([1.0, 0.0, 0.0])
