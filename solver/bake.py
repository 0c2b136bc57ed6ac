"""The clock: frames times sub-steps. `bake` yields Progress and returns a Result; nothing else keeps time.

    job = bake(scene)                     job = bake(scene)
    for progress in job: ...              result = finish(job)

Closing the generator cancels the bake. The same scene gives the same numbers, bit for bit.
"""

from __future__ import annotations

from collections.abc import Generator

from .controllers.base import Controller
from .controllers.quasi_physical import QuasiPhysical
from .director import Director
from .errors import InputError
from .model.release import Release
from .model.result import Progress, Result
from .model.scene import Scene
from .recorder import Recorder

Job = Generator[Progress, None, Result]


def bake(scene: Scene, controller: Controller | None = None, simulates_calm: bool = False) -> Job:
    """Simulate the scene's frame range; frames outside it stay as they are.

    `simulates_calm` simulates also where nothing acts and the controller knows its answer: to judge a controller."""
    follower: Controller = QuasiPhysical(scene) if controller is None else controller
    if follower.clip.scene is not scene:
        raise InputError("The controller was made for another scene.", "Bake", "Make one for this scene.")
    acting = Director(scene.release or Release(), follower, simulates_calm=simulates_calm)
    clip = acting.clip
    first, last = scene.range
    record = Recorder(scene, acting)
    state = acting.start()
    record.frame(0, state, [])
    yield Progress(first, 1, last - first + 1, state)
    k = 0
    for frame in range(1, last - first + 1):
        steps = []
        while k < clip.frame_step[frame]:
            step = acting.step(state, k)
            steps.append(step)
            state = step.state
            k += 1
        record.frame(frame, state, steps)
        yield Progress(first + frame, frame + 1, last - first + 1, state)
    return record.result()


def finish(job: Job) -> Result:
    """Run a job to its end."""
    while True:
        try:
            next(job)
        except StopIteration as end:
            result: Result = end.value
            return result
