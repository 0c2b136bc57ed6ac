# SPDX-License-Identifier: GPL-3.0-or-later
"""Check, preview and bake: the same job, in slices of a timer so that Blender stays awake, or in one go."""

import json
import time
from typing import Any

import bpy

from ..bridge.diagnostics import diagnose
from ..bridge.read_character import link_places
from ..bridge.verdict import contact_bars, spoken, verdict
from ..job import bake_character, check_character
from . import session
from .character_operators import CharacterOperator
from .messages import MEMORY, SolverError, character_of, time_words
from .preferences import liked
from .stored import setup_of

SLICE = 0.04      # s of work between two looks at events,
LONG_SLICE = 0.4  # at most
PASSED_ON = {"MIDDLEMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "TIMER_REPORT",
             "TRACKPADPAN", "TRACKPADZOOM", "NDOF_MOTION"}


class JobOperator(CharacterOperator):
    """Runs a job from `jobs.py`; a subclass says which and what to do with what it gives."""

    words = "Working"

    def start(self, context: Any, ob: Any) -> Any:
        raise NotImplementedError

    def done(self, context: Any, ob: Any, baked: Any) -> None:
        raise NotImplementedError

    def execute(self, context: Any) -> set[str]:
        ob = character_of(context)
        try:
            job = self.start(context, ob)
            while True:
                try:
                    next(job)
                except StopIteration as end:
                    self.done(context, ob, end.value)
                    return {"FINISHED"}
        except SolverError as error:
            return self.refuse(error)
        except MemoryError:
            return self.refuse(MEMORY)

    def invoke(self, context: Any, event: Any) -> set[str]:
        if context.window is None or bpy.app.background:
            return self.execute(context)
        ob = character_of(context)
        try:
            self._job = self.start(context, ob)
        except SolverError as error:
            return self.refuse(error)
        self._name, self._began = ob.name, time.perf_counter()
        self._worked, self._rested_from = float("inf"), time.perf_counter()
        self._timer = context.window_manager.event_timer_add(0.01, window=context.window)
        context.scene.heft.is_running = True
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Any, event: Any) -> set[str]:
        if event.type == "ESC":
            self._end(context)
            self.report({"INFO"}, f"{self.words} was stopped; nothing has changed.")  # type: ignore[attr-defined]
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"} if event.type in PASSED_ON else {"RUNNING_MODAL"}
        objects: Any = bpy.data.objects
        ob = objects.get(self._name)
        if ob is None:  # deleted by a script meanwhile
            self._end(context)
            return {"CANCELLED"}
        start = time.perf_counter()
        rest = start - self._rested_from  # where Blender draws slowly, work longer in between
        stage, until = None, start + min(max(rest, SLICE), LONG_SLICE)
        try:
            while time.perf_counter() < until:
                stage = next(self._job)
        except StopIteration as end:
            self._end(context)
            self.done(context, ob, end.value)
            return {"FINISHED"}
        except SolverError as error:
            self._end(context)
            return self.refuse(error)
        except MemoryError:
            self._end(context)
            return self.refuse(MEMORY)
        except BaseException:
            self._end(context)
            raise
        self._rested_from = time.perf_counter()
        self._worked += self._rested_from - start
        if stage is not None and self._worked > liked(context).redraw:
            self._show(context, ob, stage)
            self._worked = 0.0
        return {"RUNNING_MODAL"}

    def cancel(self, context: Any) -> None:
        """Blender itself ends the operator, as when a file is loaded."""
        self._end(context)

    def _show(self, context: Any, ob: Any, stage: Any) -> None:
        told = context.scene.heft
        told.progress = stage.done / max(stage.total, 1)
        gone = time.perf_counter() - self._began
        rate = stage.done / gone if gone > 0.0 else 0.0
        left = (stage.total - stage.done) / rate if rate > 0.0 and stage.pose is not None else 0.0
        told.progress_words = f"{stage.words} {stage.done} of {stage.total}" + (
            f", {rate:.0f} a second, {time_words(left)} left" if stage.pose is not None else "")
        if stage.pose is not None and stage.study is not None:
            session.live[ob.name] = _bones(stage)
        context.workspace.status_text_set(f"Heft: {told.progress_words}.  Esc stops it")
        for area in context.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()

    def _end(self, context: Any) -> None:
        self._job.close()
        context.window_manager.event_timer_remove(self._timer)
        context.workspace.status_text_set(None)
        context.scene.heft.is_running = False
        context.scene.heft.progress_words = ""
        session.live.pop(self._name, None)
        _redraw(context)


def _redraw(context: Any) -> None:
    for area in context.screen.areas if context.screen is not None else ():
        area.tag_redraw()


def _bones(stage: Any) -> Any:
    """Heads and tails of the links at the pose a job has reached, scene units."""
    character, motion = stage.study.figure.character, stage.study.scene.motion
    row = min(stage.done - 1, len(motion) - 1)
    one = motion.part(max(row - 1, 0), max(row - 1, 0) + 2).with_poses(
        [stage.pose.position] * 2, [stage.pose.rotations] * 2)
    places = link_places(character, one)[0]
    heads = places[:, :3, 3]
    tails = heads + (places[:, :3, :3] @ character.tips[..., None])[..., 0]
    return heads / stage.study.unit, tails / stage.study.unit


def _fill_report(ob: Any, baked: Any) -> None:
    """The solver's notes, at Blender's frames."""
    first = int(baked.study.samples.frames[0])
    told = ob.heft.report
    told.clear()
    for note in baked.result.notes:
        item = told.add()
        item.level = "CARE" if note.level == "warning" else "GOOD"
        item.sentence, item.bone = note.sentence, note.bone or ""
        if note.frame is not None:
            item.frame = first + note.frame
    result = baked.result
    for words in (f"Largest change {result.deviation.max() * 57.2958:.1f} degrees.",
                  f"Helper force at most {result.aid_share.max():.2f} body weights.",
                  f"Feet slide at most {100 * result.slide.max():.2f} cm in a frame "
                  f"({100 * result.reference_slide.max():.2f} in the keys)."):
        item = told.add()
        item.level, item.sentence = "GOOD", words


class HEFT_OT_check(JobOperator, bpy.types.Operator):
    bl_idname = "heft.check"
    bl_label = "Check Motion"
    bl_description = "Look at the motion as it is keyed: contacts, balance, flight, sliding feet. Changes nothing"
    bl_options = {"REGISTER", "UNDO"}
    words = "The check"

    def start(self, context: Any, ob: Any) -> Any:
        return check_character(context.scene, ob, setup_of(ob))

    def done(self, context: Any, ob: Any, baked: Any) -> None:
        frames = baked.study.samples.frames
        ob.heft.verdict = verdict(baked.result, frames)
        ob.heft.bars.clear()
        for limb, spans in contact_bars(baked.result, frames).items():
            bar = ob.heft.bars.add()
            bar.limb, bar.spans, bar.frames = limb, spoken(spans, 6), json.dumps(spans)
        session.show_preview(ob.name, diagnose(baked.study.figure, baked.result, baked.points, frames,
                                               baked.study.unit))
        self.report({"INFO"}, ob.heft.verdict)


class HEFT_OT_preview(JobOperator, bpy.types.Operator):
    bl_idname = "heft.preview"
    bl_label = "Preview"
    bl_description = "Simulate and show the result as a ghost over the original. Changes nothing; Esc stops it"
    bl_options = {"REGISTER"}
    words = "The preview"

    def start(self, context: Any, ob: Any) -> Any:
        return bake_character(bpy.data, context.scene, ob, setup_of(ob), is_preview=True)

    def done(self, context: Any, ob: Any, baked: Any) -> None:
        session.show_preview(ob.name, diagnose(baked.study.figure, baked.result, baked.points,
                                               baked.study.samples.frames, baked.study.unit))
        _fill_report(ob, baked)
        self.report({"INFO"}, f"Preview of {len(baked.study.samples)} frames in {baked.seconds:.1f} s.")


class HEFT_OT_clear_preview(CharacterOperator, bpy.types.Operator):
    bl_idname = "heft.clear_preview"
    bl_label = "Hide Preview"
    bl_description = "Take the ghost of the last preview or check away"
    bl_options = {"REGISTER"}
    needs_set_up = False

    def execute(self, context: Any) -> set[str]:
        session.clear_preview(character_of(context).name)
        return {"FINISHED"}


class HEFT_OT_bake(JobOperator, bpy.types.Operator):
    bl_idname = "heft.bake"
    bl_label = "Bake"
    bl_description = "Simulate and write the result as a new action, track or overlay. The original is kept"
    bl_options = {"REGISTER", "UNDO"}
    words = "The bake"

    def start(self, context: Any, ob: Any) -> Any:
        return bake_character(bpy.data, context.scene, ob, setup_of(ob))

    def done(self, context: Any, ob: Any, baked: Any) -> None:
        session.clear_preview(ob.name)
        _fill_report(ob, baked)
        if baked.output == "OVERLAY":
            ob.heft.overlay = next((child for child in ob.children if child.animation_data is not None
                                    and child.animation_data.action == baked.action), None)
        self.report({"INFO"}, f"Baked {len(baked.study.samples)} frames to {baked.action.name} in "
                    f"{baked.seconds:.1f} s.")


CLASSES = (HEFT_OT_check, HEFT_OT_preview, HEFT_OT_clear_preview, HEFT_OT_bake)
