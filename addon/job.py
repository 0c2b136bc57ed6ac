# SPDX-License-Identifier: GPL-3.0-or-later
"""One bake: read, simulate, write. Panel, preview and command drive the same generator.

    job = bake_character(data, scene, ob, setup)
    for stage in job: ...          close() cancels; nothing is written before the result exists
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._link import solver
from .bridge import actions, overlay
from .bridge.beyond import read_beyond
from .bridge.checklist import Line
from .bridge.controllers import controller_kind
from .bridge.convert import Array, frames_per_second, metres_per_unit, scale_of
from .bridge.diagnostics import diagnose, store
from .bridge.findings import findings
from .bridge.originals import go_back, show_original
from .bridge.read_character import Figure, read_character
from .bridge.read_motion import Samples, sample, still_samples
from .bridge.read_scene import read_scene, watched_objects, watched_values
from .bridge.read_terrain import read_shapes
from .bridge.reduce_keys import Tolerance, reduced
from .bridge.restore import Restored
from .bridge.rig import read_rig, skins_of
from .bridge.settings import Setup
from .bridge.unkeyed import give_back
from .bridge.visible import show_hidden
from .bridge.write_action import channels, check_writable, new_poses, write_action, write_track

if TYPE_CHECKING:
    import bpy

LOOKS = 120   # frames that Set Up looks at


@dataclass(frozen=True)
class Stage:
    """How far a job is, and the pose it has reached."""

    words: str
    done: int
    total: int
    study: Study | None = None
    pose: Any | None = None      # solver.State at this frame


@dataclass(frozen=True, eq=False)
class Study:
    """What was read: enough to check, simulate and write."""

    figure: Figure
    samples: Samples
    scene: Any           # solver.Scene
    unit: float
    setup: Setup


@dataclass(frozen=True, eq=False)
class Baked:
    """What a bake gave."""

    study: Study
    result: Any          # solver.Result
    points: Any          # solver.ContactPoints, calibrated on this motion
    action: Any | None   # None: a preview, nothing was written
    output: str          # ACTION, NLA or OVERLAY
    seconds: float


Reading = Generator[Stage, None, Study]
Baking = Generator[Stage, None, Baked]


def moving_range(scene: bpy.types.Scene, ob: bpy.types.Object) -> tuple[int, int]:
    """The frames of the action or of its strips, else the scene's.

    An action that is repeated without end plays over the whole scene, and so does a pose that is keyed only once.
    """
    curves = [curve for curve in actions.curves_of(ob) if len(curve.keyframe_points) or len(curve.sampled_points)]
    if any(actions.is_cyclic(curve) for curve in curves):
        return scene.frame_start, scene.frame_end
    low = min((curve.range()[0] for curve in curves), default=0.0)
    high = max((curve.range()[1] for curve in curves), default=0.0)
    if high > low:
        return int(np.floor(low)), int(np.ceil(high))
    return actions.strip_range(ob) or (scene.frame_start, scene.frame_end)


def frame_range(scene: bpy.types.Scene, ob: bpy.types.Object, setup: Setup) -> tuple[int, int]:
    """The frames to bake: as told, else all that move."""
    natural = moving_range(scene, ob)
    first = setup.start if setup.start is not None else natural[0]
    last = setup.end if setup.end is not None else natural[1]
    if last <= first:
        raise solver.InputError(f"It goes from frame {first} to {last}.", "Frame range",
                                "Choose an end at least one frame after the start.")
    return first, last


def read(scene: bpy.types.Scene, ob: bpy.types.Object, setup: Setup) -> Reading:
    """Sample the character and everything around it; the scene is left as it was."""
    first, last = frame_range(scene, ob, setup)
    begins, ends = moving_range(scene, ob)
    if ob.name not in scene.objects:
        raise solver.InputError("It is not in this scene.", ob.name, "Choose a character of this scene.")
    if scene.render.frame_map_old != scene.render.frame_map_new:
        raise solver.InputError(f"Its time is stretched, {scene.render.frame_map_old} to {scene.render.frame_map_new}.",
                                f"Scene {scene.name}", "Set both numbers of Output > Frame Range > Time Stretching to "
                                "100, and stretch the keys or the strip instead.")
    if ob.mode == "EDIT":
        raise solver.InputError("Its bones are being edited.", ob.name, "Leave edit mode with Tab.")
    unit, rate = metres_per_unit(scene), frames_per_second(scene)
    skins = skins_of(ob, scene.objects)
    watched = watched_objects(scene, setup)
    frames = np.arange(first, last + 1, dtype=np.float64)
    with Restored(scene) as state, ExitStack() as stack:
        overlay.set_aside(ob, state)
        show_original(ob, state)
        state.set(ob.data, "pose_position", "POSE")
        rig = read_rig(ob, skins)
        state.hide(mesh for mesh in skins if mesh not in watched)
        for each in (ob, *watched):
            show_hidden(scene, each, state, each.name)
        sampling = sample(scene, ob, frames, watched, watched_values(ob, watched))
        stack.callback(sampling.close)
        samples = yield from _stages(sampling, "Reading the motion", len(frames))
        samples = replace(samples, shapes=read_shapes(scene, setup, samples.frames))
    yield Stage("Preparing", 0, 1)
    figure = read_character(ob, rig, samples, setup, unit, rate)
    told = read_scene(scene, figure, samples, setup, unit, rate, (begins < first, last < ends))
    return Study(figure, samples, told, unit, setup)


def _stages(sampling: Generator[int, None, Samples], words: str, total: int) -> Generator[Stage, None, Samples]:
    while True:
        try:
            done = next(sampling)
        except StopIteration as end:
            samples: Samples = end.value
            return samples
        if done % 16 == 0:
            yield Stage(words, done, total)


def simulate(study: Study) -> Generator[Stage, None, tuple[Any, Any]]:
    """The solver's bake of what was read: its Result and the contact points it found."""
    kind = controller_kind(study.setup.controller)
    firm = {name: part.strength for name, part in study.setup.parts.items()
            if part.strength != 1.0 and name in study.figure.character.names}
    controller = kind.make(study.scene, kind.build(study.setup.dials, firm))
    job = solver.bake(study.scene, controller)
    try:
        while True:
            try:
                progress = next(job)
            except StopIteration as end:
                return end.value, controller.clip.character.points
            yield Stage("Simulating", progress.done, progress.total, study, progress.state)
    finally:
        job.close()


def bake_character(data: Any, scene: bpy.types.Scene, ob: bpy.types.Object, setup: Setup,
                   is_preview: bool = False) -> Baking:
    """Read, simulate, write; a preview stops before writing. `data` is `bpy.data`."""
    began = time.perf_counter()
    if not is_preview:
        check_writable(ob)
    study = yield from read(scene, ob, setup)
    output = _output(ob, study)
    result, points = yield from simulate(study)
    if is_preview:
        return Baked(study, result, points, None, output, time.perf_counter() - began)
    yield Stage("Writing", 0, 1)
    action = write(data, scene, ob, study, result, points, output)
    store(action, diagnose(study.figure, result, points, study.samples.frames, study.unit))
    return Baked(study, result, points, action, output, time.perf_counter() - began)


def write(data: Any, scene: bpy.types.Scene, ob: bpy.types.Object, study: Study, result: Any, points: Any,
          output: str) -> Any:
    """Key a result; returns its action."""
    figure, samples, setup = study.figure, study.samples, study.setup
    poses: Array = new_poses(samples, figure.changes(result.motion), study.unit)
    if output == "OVERLAY":
        made = overlay.write_overlay(data, scene, ob, figure, samples, poses, study.scene.goes_on)
        go_back(ob)  # at no influence the keys shall be seen, not an earlier result
        return made
    give_back(ob)
    found = channels(ob, figure.rig, samples, poses, figure.body.links, figure.body.carrier)
    if setup.use_reduction:
        size = float(scale_of(samples.world[0]).mean())
        tolerance = Tolerance(setup.reduce_degrees, 1e-3 * setup.reduce_mm / (study.unit * size))
        found = reduced(ob, figure.rig, found, poses, tolerance, _stands(figure, result, points))
    writer = write_track if output == "NLA" else write_action
    beyond = read_beyond(scene, ob, found, samples.frames, moving_range(scene, ob), skins_of(ob, scene.objects))
    give_back(ob)  # looking there has shown the earlier result once more
    action = writer(data.actions, ob, found, samples.frames, (scene.frame_start, scene.frame_end), beyond)
    overlay.remove_overlay(data, ob)  # of an earlier bake: it would hide this one
    return action


def _stands(figure: Figure, result: Any, points: Any) -> Any:
    """(F, B) which bones touch the ground when."""
    out = np.zeros((len(result.contacts), len(figure.rig)), dtype=bool)
    for p, link in enumerate(points.link):
        out[:, figure.rig.index[figure.bone_of(int(link))]] |= result.contacts[:, p]
    return out


def _output(ob: bpy.types.Object, study: Study) -> str:
    """Keys cannot move a bone that a constraint or driver holds; such rigs get an overlay."""
    rig, body, asked = study.figure.rig, study.figure.body, study.setup.output
    live = [rig.names[i] for i in range(len(rig)) if rig.is_live[i] and body.carrier[i] >= 0]
    if asked == "AUTO":
        return "OVERLAY" if live else "ACTION"
    if asked != "OVERLAY" and live:
        raise solver.InputError(f"Constraints or drivers decide the pose of {', '.join(live[:3])}"
                                f"{' and others' if len(live) > 3 else ''}, keys would have no effect.", ob.name,
                                "Choose Overlay as output, or mute the constraints.")
    return asked


def check_character(scene: bpy.types.Scene, ob: bpy.types.Object, setup: Setup) -> Baking:
    """Look at the motion as it is keyed: the same bake with nothing to disturb it, and nothing written."""
    began = time.perf_counter()
    calm = replace(setup, pushes=(), loads=(), amount=1.0, release=None, use_fields=False)
    study = yield from read(scene, ob, calm)
    result, points = yield from simulate(study)
    return Baked(study, result, points, None, _output(ob, study), time.perf_counter() - began)


def look(scene: bpy.types.Scene, ob: bpy.types.Object, setup: Setup) -> tuple[Figure, Samples, bool]:
    """The body in a rig and whether it moves; looks at no more frames than tell still bones from moving ones."""
    unit, rate = metres_per_unit(scene), frames_per_second(scene)
    skins = skins_of(ob, scene.objects)
    with Restored(scene) as state:
        overlay.set_aside(ob, state)
        show_original(ob, state)
        state.set(ob.data, "pose_position", "POSE")
        rig = read_rig(ob, skins)
        first, last = frame_range(scene, ob, setup)
        state.hide(skins)
        show_hidden(scene, ob, state, ob.name)
        frames = np.unique(np.linspace(first, last, min(LOOKS, last - first + 1)).round())
        samples = finish(sample(scene, ob, frames))
    has_clip = bool(np.ptp(samples.poses, axis=0).max() > 1e-6 or np.ptp(samples.world, axis=0).max() > 1e-6)
    figure = read_character(ob, rig, samples if has_clip else still_samples(ob, rig), setup, unit, rate, has_clip)
    return figure, samples, has_clip


def set_up(scene: bpy.types.Scene, ob: bpy.types.Object, setup: Setup) -> list[Line]:
    """The checklist of a rig."""
    figure, samples, has_clip = look(scene, ob, setup)
    return findings(ob, figure, samples, has_clip, setup.output)


def finish(job: Generator[Any, None, Any]) -> Any:
    """Run a job to its end."""
    while True:
        try:
            next(job)
        except StopIteration as end:
            return end.value
