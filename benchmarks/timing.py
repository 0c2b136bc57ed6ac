"""Times of things done in turn, so that a busy machine is busy for all of them.

They are seconds of this thread's processor: being set aside for another program does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import thread_time

import numpy as np

WARM_UP = 20


@dataclass(frozen=True)
class Spread:
    """Seconds: the middle one, and one that a quiet machine would often give."""

    median: float
    p10: float


@dataclass(frozen=True)
class Task:
    """What is timed, and what must be done before each time without being timed."""

    run: Callable[[], object]
    before: Callable[[], object] = lambda: None


def interleaved(tasks: Mapping[str, Task], repetitions: int) -> dict[str, Spread]:
    """All tasks in turn, so many times, after some rounds that do not count."""
    times = np.zeros((WARM_UP + repetitions, len(tasks)))
    for n in range(len(times)):
        for m, task in enumerate(tasks.values()):
            task.before()
            start = thread_time()
            task.run()
            times[n, m] = thread_time() - start
    times = times[WARM_UP:]
    return {name: Spread(float(np.median(t)), float(np.quantile(t, 0.1))) for name, t in zip(tasks, times.T)}
