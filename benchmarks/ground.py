"""What ground costs: a step on a mesh of 100 000 triangles beside the same step on a plane, and the time of the plan.

    python -m benchmarks.ground                    every clip on every ground: what the plan reaches
    python -m benchmarks.ground walk --push 200    some clips, baked, with a push to the side
"""

from __future__ import annotations

import argparse
from time import perf_counter, thread_time

import numpy as np

from benchmarks.ground_cases import CLIPS, GROUNDS, scene
from benchmarks.table import Row, row
from solver import Push, QuasiPhysical, Scene, bake, finish
from solver.model.terrain import Terrain
from solver.references.clip import Clip
from tests import terrains
from tests.ground_figures import figures

STEPS = 120


def rows() -> list[Row]:
    plane, mesh = (_step_time(scene("walk", ground)) for ground in (terrains.slope(3.0), _mesh()))
    out = [row("step on 100k triangles beside a plane", 1e3 * mesh, "ms", baseline=1e3 * plane, ratio_below=1.3)]
    for ground in ("35 up", "steps 0.3 up", "rough 0"):
        placed = scene("walk", ground)
        flat = Scene(placed.character, placed.motion)
        start = thread_time()
        Clip(flat)
        middle = thread_time()
        Clip(placed)
        whole = thread_time() - middle - (middle - start)
        out.append(row(f"plan, {ground}, per second of motion", whole / placed.motion.duration, "s"))
    return out


def _mesh() -> Terrain:
    """100 352 triangles, hills of a metre."""
    return terrains.rough_ground(0, size=22.4, max_slope=30.0, spacing=0.1)


def _step_time(placed: Scene) -> float:
    """s, median over some steps after the reference's quantities are known."""
    controller = QuasiPhysical(placed)
    state, times = controller.start(), []
    for k in range(STEPS):
        controller.clip.moment(k)
        start = thread_time()
        state = controller.step(state, k).state
        times.append(thread_time() - start)
    return float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="*", help=f"of {', '.join(CLIPS)}", default=list(CLIPS))
    parser.add_argument("--grounds", nargs="+", choices=list(GROUNDS), default=list(GROUNDS))
    parser.add_argument("--push", type=float, default=None, help="N to the left on the chest for 0.2 s: bakes too")
    chosen = parser.parse_args()
    for name in chosen.clips:
        for ground in chosen.grounds:
            placed = scene(name, ground)
            if chosen.push is not None:
                chest = [n for n, role in zip(placed.character.names, placed.character.roles) if role == "trunk"][-1]
                push = Push.constant(chest, (0.0, chosen.push, 0.0), 0.3 * placed.motion.duration, 0.2)
                placed = scene(name, ground, pushes=(push,))
                controller = QuasiPhysical(placed)
                motion = finish(bake(placed, controller)).motion
                print(f"{name:14s} {ground:15s} {figures(controller.clip, motion, controller.clip.frame_step)}",
                      flush=True)
                continue
            start = perf_counter()
            clip = Clip(placed)
            print(f"{name:14s} {ground:15s} {figures(clip, clip.planned)}  {perf_counter() - start:4.1f} s", flush=True)


if __name__ == "__main__":
    main()
