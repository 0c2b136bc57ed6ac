"""How long an animator waits: whole bakes, from the clip to the Result, with a push."""

from __future__ import annotations

from time import perf_counter

from benchmarks.table import Row, row
from solver import Push, QuasiPhysical, Scene, bake, finish
from tests.clips import shared, synthetic

LONGEST = 5.0   # s of each clip


def rows() -> list[Row]:
    clips = {("made walk", rate): (synthetic.walk(rate=rate, duration=LONGEST), "chest") for rate in (24.0, 60.0)}
    clips["made quadruped", 30.0] = (synthetic.trot(rate=30.0, duration=LONGEST), "chest")
    if shared.has_clips:
        for name in ("walk_cmu_02_01", "run_cmu_09_01", "walk_crawl_cmu_133_01"):
            clips[name, 30.0] = (shared.load(name, 30.0), "Spine1")
    out = []
    for (name, rate), ((character, motion), body) in clips.items():
        motion = motion.part(0, min(len(motion), round(LONGEST * rate) + 1))
        push = Push.constant(body, (0.0, 200.0, 0.0), 0.3 * motion.duration, 0.2)
        scene = Scene(character, motion, pushes=(push,))
        start = perf_counter()
        controller = QuasiPhysical(scene)
        finish(bake(scene, controller))
        seconds = perf_counter() - start
        freedoms = controller.clip.tree.nv
        out.append(row(f"bake, {name}, {rate:.0f} frames a second, {freedoms} DOF, per second of motion",
                       seconds / motion.duration, "s", below=1.0))
        out.append(row(f"bake, {name}, {rate:.0f} frames a second, {freedoms} DOF", len(motion) / seconds, "frames/s"))
    return out
