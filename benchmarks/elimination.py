"""The step's quadratic program with accelerations eliminated, against the same program whole, on a pushed walk."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.table import Row, row
from benchmarks.timing import WARM_UP, Task, interleaved
from solver import Push, QuasiPhysical, Scene
from solver.controllers.quasi_physical import controller as room
from solver.numerics.elimination import RIDGE, _whole, minimise
from tests.clips.synthetic import walk

SECONDS = 5.0


def rows() -> list[Row]:
    problems = recorded()
    turn = {"eliminated": -1, "whole": -1}
    answers: dict[str, list[Any]] = {"eliminated": [], "whole": []}

    def solve(which: str) -> None:
        problem = problems[turn[which]]
        answers[which].append(minimise(*problem) if which == "eliminated" else _whole(*problem, _ridge(problem)))

    def next_one(which: str) -> None:
        turn[which] = (turn[which] + 1) % len(problems)

    times = interleaved({which: Task(lambda which=which: solve(which), lambda which=which: next_one(which))
                         for which in turn}, len(problems) - WARM_UP)
    differences = [np.abs(ours[0] - whole[0]).max() / max(1.0, np.abs(whole[0]).max())
                   for ours, whole in zip(answers["eliminated"], answers["whole"])]
    ours, whole = times["eliminated"], times["whole"]
    name = f"quadratic program, 60 DOF, {len(problems)} steps of a pushed walk"
    return [row(f"{name}: eliminated / whole", 1e3 * ours.median, "ms", baseline=1e3 * whole.median, ratio_below=1.0),
            row(f"{name}: eliminated / whole (p10)", 1e3 * ours.p10, "ms", baseline=1e3 * whole.p10),
            row(f"{name}: largest difference in accelerations", max(differences), "of the largest", below=1e-8)]


def recorded() -> list[tuple[Any, ...]]:
    """The programs of every step of a walk with pushes from both sides."""
    pushes = [Push.constant("chest", (0.0, side * 200.0, 0.0), start, 0.2)
              for side, start in ((1.0, 0.5), (-1.0, 2.0), (1.0, 3.3))]
    controller = QuasiPhysical(Scene(*walk(duration=SECONDS), pushes=tuple(pushes)))
    problems: list[tuple[Any, ...]] = []

    def record(*problem: Any) -> Any:
        problems.append(tuple(np.array(part) for part in problem[:10]))
        return minimise(*problem)

    with patch.object(room, "minimise", record):
        state = controller.start()
        for k in range(controller.clip.steps):
            state = controller.step(state, k).state
    return problems


def _ridge(problem: tuple[Any, ...]) -> float:
    F = problem[3]
    return RIDGE * float(np.trace(F)) / len(F) if len(F) else 0.0
