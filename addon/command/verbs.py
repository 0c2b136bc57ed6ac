# SPDX-License-Identifier: GPL-3.0-or-later
"""What the verbs on one character do: bake, check, setup. All drive the jobs that the panel drives."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import bpy

from .. import ui
from .._link import solver
from ..bridge.convert import metres_per_unit
from ..bridge.overlay import overlays_of
from ..bridge.settings import to_json
from ..bridge.verdict import contact_bars, spoken, verdict
from ..job import Baked, bake_character, check_character, frame_range, set_up
from ..ui.stored import fill, setup_of
from . import character, files
from .arguments import OUTPUTS
from .arrows import with_arrows
from .graphics import Attempt
from .progress import Progress
from .publish import check_places, publish, publish_text
from .report import note_lines, report_of, report_text, words_of
from .write_bvh import write_bvh

_data: Any = bpy.data


class Opened:
    """The input, its character and what it is told."""

    def __init__(self, told: Any) -> None:
        began = time.perf_counter()
        if not hasattr(bpy.types.Object, "heft"):  # in Blender the extension is registered already
            ui.register()
        self.path, self.notes = files.opened(told.input, told.allow_scripts, told.height)
        self.scene: Any = bpy.context.scene
        self.ob = character.find_armature(self.scene, told.armature)
        self.notes += character.choose_action(self.ob, told.action, self.is_import)
        setup = character.asked(told, self.ob)
        self.setup, notes = character.completed(self.scene, self.ob, setup, told, self.path.suffix.lower() == ".bvh")
        self.notes += notes
        self.seconds = time.perf_counter() - began

    @property
    def is_import(self) -> bool:
        return self.path.suffix.lower() != ".blend"

    def writer(self, kind: str, frames: tuple[int, int]) -> Callable[[Path], None]:
        """What writes the result as a file of a kind."""
        if kind == ".blend":
            return files.save_blend
        if kind == ".glb":
            return lambda path: files.export_glb(path, self.scene, self.ob, frames)
        # metres; a .bvh that is read and written keeps its own unit, whatever its character was scaled by
        is_bvh = self.path.suffix.lower() == ".bvh"
        size = 1.0 / self.ob.matrix_world.to_scale().x if is_bvh else metres_per_unit(self.scene)
        return lambda path: write_bvh(path, self.scene, self.ob, frames, size)


def bake(told: Any) -> int:
    outputs = [*told.out, *(path for path in (told.report, told.sheet) if path is not None)]
    if not outputs:
        raise solver.InputError("Nothing says where the result goes.", "heft bake", "Give --out result.blend.")
    for path in told.out:
        if path.suffix.lower() not in OUTPUTS:
            raise solver.InputError(f"Heft does not write {path.suffix or 'files without an ending'}.", str(path),
                                    f"Give one of {', '.join(OUTPUTS)}.")
        if path.suffix.lower() == ".glb":
            files.need_operator("export_scene", "gltf", path)
    if told.sheet is not None and told.sheet.suffix.lower() != ".png":
        raise solver.InputError("A sheet is a .png.", str(told.sheet), "Name it so.")
    shot = _open(told, outputs)
    progress = Progress()
    attempt = Attempt() if told.sheet is not None else None
    try:
        baked = _run(bake_character(_data, shot.scene, shot.ob, shot.setup), progress)
        shot.ob.heft.is_set_up = True
        if baked.output == "OVERLAY":  # the panel's slider and its button to remove it look there
            shot.ob.heft.overlay = next(iter(overlays_of(shot.ob)), None)
        frames = int(baked.study.samples.frames[0]), int(baked.study.samples.frames[-1])
        if shot.is_import:  # what is played is what was baked; a scene of one's own stays as it is
            shot.scene.frame_start, shot.scene.frame_end = frames
        began = time.perf_counter()
        for n, path in enumerate(told.out):
            progress.tell("Saving", n, len(told.out))
            publish(path, shot.writer(path.suffix.lower(), frames))
        saved, began = time.perf_counter() - began, time.perf_counter()
        if attempt is not None:
            from .sheet import make_sheet

            why = make_sheet(told.sheet, shot.scene, shot.ob, baked, told.sheet_width, told.columns, progress) \
                if attempt.has_worked() else "Blender finds no graphics here, not even in software"
            if why:
                outputs.remove(told.sheet)
                shot.notes.append(f"The sheet could not be rendered: {why}. Everything else is written.")
        drawn = time.perf_counter() - began
    finally:
        progress.end()
        if attempt is not None:
            attempt.end()
    report = report_of(shot.path, shot.ob, baked, [str(path) for path in told.out], shot.notes, {
        "open": shot.seconds, "bake": baked.seconds, "save": saved, "sheet": drawn})
    if told.report is not None:  # last: where a report is, everything it tells of is there
        publish_text(told.report, report_text(report))
    print(words_of(report))
    for path in outputs:
        print(f"wrote {path}")
    return 0


def _open(told: Any, outputs: list[Path]) -> Opened:
    """The shot, if nothing that is read would be written: the input, be it named or opened by Blender, the preset, and
    what the file itself takes from others, libraries and pictures."""
    opened = Path(_data.filepath) if _data.filepath else None
    check_places(outputs, [told.input if told.input is not None else opened, told.preset])
    shot = Opened(told)
    check_places(outputs, [Path(path) for path in bpy.utils.blend_paths(absolute=True)])
    return shot


def check(told: Any) -> int:
    shot = _open(told, [told.report] if told.report is not None else [])
    progress = Progress()
    try:
        baked = _run(check_character(shot.scene, shot.ob, shot.setup), progress)
    finally:
        progress.end()
    frames = baked.study.samples.frames
    print(verdict(baked.result, frames))
    for limb, spans in contact_bars(baked.result, frames).items():
        print(f"{limb} touches the ground at {spoken(spans, 12) or 'no frame'}")
    report = report_of(shot.path, shot.ob, baked, [], shot.notes, {"open": shot.seconds, "bake": baked.seconds})
    for line in note_lines(report):
        print(line)
    if told.report is not None:
        publish_text(told.report, report_text(report))
        print(f"wrote {told.report}")
    return 0


def setup(told: Any) -> int:
    if told.out is not None and told.out.suffix.lower() != ".blend":
        raise solver.InputError("A character that is set up is kept in a .blend.", str(told.out), "Name it so.")
    shot = _open(told, [path for path in (told.out, told.save_preset) if path is not None])
    lines = set_up(shot.scene, shot.ob, shot.setup)
    marks = {"GOOD": "good", "CARE": "care", "STOP": "STOP"}
    for line in lines:
        print(f"{marks[line.level]}  {line}")
    for note in shot.notes:
        print(f"note  {note}")
    if told.save_preset is not None:
        publish_text(told.save_preset, to_json(shot.setup))
        print(f"wrote {told.save_preset}")
    if told.out is not None:
        _keep(shot, told, lines)
        publish(told.out, files.save_blend)
        print(f"wrote {told.out}")
    return 2 if any(line.level == "STOP" for line in lines) else 0


def _keep(shot: Opened, told: Any, lines: list[Any]) -> None:
    """Store the set-up with the character, as the panel's button does."""
    ob = shot.ob
    if told.preset is not None or shot.setup != setup_of(ob):
        _store(shot, told)
    ob.heft.checklist.clear()
    for line in lines:
        item = ob.heft.checklist.add()
        item.level, item.sentence, item.remedy, item.bone = line.level, line.sentence, line.remedy, line.bone
    ob.heft.is_set_up = True
    if shot.is_import:  # a scene of one's own stays as it is
        shot.scene.frame_start, shot.scene.frame_end = frame_range(shot.scene, ob, shot.setup)


def _store(shot: Opened, told: Any) -> None:
    """Fill the panel. What words add leaves switched-off items alone; a preset stands for everything."""
    heft = shot.ob.heft
    lists = (heft.pushes, heft.loads, heft.grounds)
    asleep = [[] if told.preset is not None else _switched_off(items) for items in lists]
    missing = fill(shot.ob, with_arrows(shot.scene, shot.ob, shot.setup), _data.objects, _data.collections)
    for items, found in zip(lists, asleep):
        for values in found:
            item = items.add()
            for name, value in values.items():
                setattr(item, name, value)
    is_saved = told.preset is not None or told.save_preset is not None
    for name in missing:
        print(f"care  {name} has no object in this file; it "
              + ("stays in the preset only." if is_saved else "is not kept: add --save-preset FILE.json."))


def _switched_off(items: Any) -> list[dict[str, Any]]:
    return [{name: getattr(item, name) for name in item.__annotations__} for item in items if not item.is_on]


def _run(job: Generator[Any, None, Baked], progress: Progress) -> Baked:
    try:
        while True:
            try:
                stage = next(job)
            except StopIteration as end:
                baked: Baked = end.value
                return baked
            progress.tell(stage.words, stage.done, stage.total)
    finally:
        job.close()
