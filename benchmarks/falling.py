"""A falling step beside a tracking step, and the contact solver beside Gauss-Seidel on the same contacts."""

from __future__ import annotations

from collections.abc import Iterator
from time import thread_time

import numpy as np

from benchmarks.table import Row, row
from solver import Push, QuasiPhysical, Scene, State
from solver.controllers.falling import USUAL, Falling
from solver.numerics.cone_complementarity import solve_cones
from solver.physics import impact
from solver.references.clip import Clip
from tests.clips import synthetic

Array = np.ndarray
Problem = tuple[Array, Array, Array, Array]  # G, b, friction, impulses of the step before

START, FALL = 0.6, 2.5     # s
TOLERANCE = 2e-4           # m/s
SWEEPS = 3000


def rows() -> list[Row]:
    out = []
    for name, make in (("60 dof", synthetic.walk), ("75 dof, four legs", synthetic.trot)):
        character, motion = make(rate=60, duration=START + FALL)
        push = Push.constant("chest", (0.0, 2.0 * character.mass, 0.0), START, 0.2)
        scene = Scene(character, motion, pushes=(push,))
        tracking, falling, asleep = _steps(scene)
        usual = 1e3 * float(np.median(tracking))
        out.append(row(f"falling step, {name}", 1e3 * np.median(falling), "ms", baseline=usual))
        out.append(row(f"falling step at its slowest, {name}", 1e3 * np.max(falling), "ms"))
        if len(asleep):
            out.append(row(f"step of a sleeper, {name}", 1e3 * np.median(asleep), "ms"))
        problems = list(_problems(scene))
        times, rivals, unsolved = _solvers(problems)
        rival = 1e3 * float(np.mean(rivals))
        out.append(row(f"contacts of a fall, {name}", 1e3 * np.mean(times), "ms", baseline=rival))
        out.append(row(f"of which Gauss-Seidel leaves unsolved, {name}", unsolved / len(problems), ""))
    return out


def _steps(scene: Scene) -> tuple[Array, Array, Array]:
    """Seconds of tracking steps and of falling steps, taken in turn; and of steps asleep."""
    tracker = QuasiPhysical(scene)
    clip = tracker.clip
    followed, k, j = tracker.start(), _first(clip), 0
    state = State(float(clip.times[k]), clip.positions[k], clip.rotations[k], clip.v[k])
    fall = Falling(clip, USUAL, state, k)
    tracking, falling, asleep = [], [], []
    while k < clip.steps and j < clip.steps:
        was_resting = fall.is_resting
        start = thread_time()
        state = fall.step(state, k).state
        (asleep if was_resting else falling).append(thread_time() - start)
        start = thread_time()
        followed = tracker.step(followed, j).state
        tracking.append(thread_time() - start)
        k, j = k + 1, j + 1
    return np.array(tracking), np.array(falling), np.array(asleep)


def _first(clip: Clip) -> int:
    return int(np.searchsorted(clip.times, START - 1e-9))


def _problems(scene: Scene) -> Iterator[Problem]:
    """The contact problems of a fall, every tenth."""
    kept: list[Problem] = []
    solve = impact.solve_cones

    def remember(G: Array, b: Array, friction: Array, start: Array, *more: object) -> object:
        kept.append((G, b, friction, start))
        return solve(G, b, friction, start, *more)  # type: ignore[arg-type]

    clip = Clip(scene)
    k = _first(clip)
    state = State(float(clip.times[k]), clip.positions[k], clip.rotations[k], clip.v[k])
    fall = Falling(clip, USUAL, state, k)
    impact.solve_cones = remember  # type: ignore[assignment]
    try:
        while k < clip.steps and not fall.is_resting:
            state = fall.step(state, k).state
            k += 1
    finally:
        impact.solve_cones = solve
    return iter([problem for problem in kept[::10] if len(problem[1])])


def _solvers(problems: list[Problem]) -> tuple[Array, Array, int]:
    """Seconds of both solvers, and how many problems Gauss-Seidel did not solve within its sweeps."""
    times, rivals, unsolved = [], [], 0
    for problem in problems:
        start = thread_time()
        solve_cones(*problem, TOLERANCE)
        times.append(thread_time() - start)
        start = thread_time()
        unsolved += not gauss_seidel(*problem)
        rivals.append(thread_time() - start)
    return np.array(times), np.array(rivals), unsolved


def gauss_seidel(G: Array, b: Array, friction: Array, start: Array) -> bool:
    """One contact after the other, normal first, then friction on its disc; whether it came to the tolerance."""
    W = G @ G.T
    p = start.copy()
    w = W @ p + b
    count = len(friction)
    rub = [max(float(np.linalg.eigvalsh(W[i + 1:i + 3, i + 1:i + 3])[-1]), 1e-12) for i in range(0, 3 * count, 3)]
    own = np.maximum(np.diagonal(W), 1e-12)
    for _ in range(SWEEPS):
        most = 0.0
        for n in range(count):
            i = 3 * n
            new = max(0.0, p[i] - w[i] / own[i])
            change = new - p[i]
            if change:
                p[i] = new
                w += change * W[i]
                most = max(most, abs(change) * own[i])
            side = p[i + 1:i + 3] - w[i + 1:i + 3] / rub[n]
            size, room = float(np.hypot(*side)), friction[n] * p[i]
            if size > room:
                side *= room / size
            turn = side - p[i + 1:i + 3]
            if turn.any():
                p[i + 1:i + 3] = side
                w += turn @ W[i + 1:i + 3]
                most = max(most, float(np.abs(turn).max()) * rub[n])
        for i in range(3 * count, len(b)):
            new = max(0.0, p[i] - w[i] / own[i])
            change = new - p[i]
            if change:
                p[i] = new
                w += change * W[i]
                most = max(most, abs(change) * own[i])
        if most < TOLERANCE:
            return True
    return False
