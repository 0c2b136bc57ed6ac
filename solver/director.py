"""The director: who acts at each sub-step, from the keys' controller to the fall and back.

    follow --let go--> fall --still--> rest --after a while--> rise --on the keys--> follow
                         ^------------------ let go again -------------'

It is a controller itself, so the clock knows nothing of falls. Where the follower knows a step without simulating it,
because nothing has disturbed the keys yet or any more, that is taken. The keys are let go at a frame, where the
strength curve leaves 1, by a controller that has lost its balance, or by a push: the measure is the horizontal impulse
of all pushes, forgotten over FORGET,

    p' = f_xy - p / FORGET ,      let go when |p| > threshold

so that a blow counts in full, a shove for what it gives before the body can step under it, and a steady lean hardly.
"""

from __future__ import annotations

import numpy as np

from .controllers.base import Controller
from .controllers.falling import LIMP, USUAL, Curve, Falling, Settings
from .model.release import Release
from .model.result import Note, Step
from .model.state import State

FORGET = 0.5   # s: about one step of a walk


class Director:
    """Hands the body from one controller to the other."""

    is_lost = False  # who falls is looked after

    def __init__(self, release: Release, follower: Controller, settings: Settings | None = None,
                 simulates_calm: bool = False) -> None:
        self._simulates_calm = simulates_calm
        self.clip = follower.clip
        self._release, self._follower = release, follower
        self._settings = settings or (LIMP if release.limp else USUAL)
        self._told: list[Note] = []
        self._fall: Falling | None = None
        self._momentum = np.zeros(2)   # N s, of pushes, not yet taken up
        self._still = 0.0              # s at rest
        self._stays = False            # there is no time to get up
        first = self.clip.scene.range[0]
        self._last_call = None if release.frame is None else int(self.clip.frame_step[release.frame - first])

    @property
    def notes(self) -> list[Note]:
        own = self._told + (self._fall.notes if self._fall is not None else [])
        return sorted(self._follower.notes + own, key=lambda note: -1 if note.frame is None else note.frame)

    def start(self, k: int = 0) -> State:
        return self._follower.start(k)

    def calm_step(self, state: State, k: int) -> Step | None:
        return None  # `step` sees to it

    def step(self, state: State, k: int) -> Step:
        if self._fall is None and self._lets_go(k):
            self._let_go(state, k)
        elif self._fall is not None:
            state = self._go_on(self._fall, state, k)
        dt = float(self.clip.dt[k])
        if self._fall is None:
            calm = None if self._simulates_calm else self._follower.calm_step(state, k)
            step = self._follower.step(state, k) if calm is None else calm
            self._momentum = (self._momentum + dt * step.external[:2]) * np.exp(-dt / FORGET)
        else:
            step = self._fall.step(state, k)
            self._still = self._still + dt if self._fall.is_resting else 0.0
        if k + 1 == self.clip.steps:
            self._tell_why_down(k + 1)
        return step

    def _let_go(self, state: State, k: int) -> None:
        self._fall = Falling(self.clip, self._settings, state, k, self._curve(float(self.clip.times[k])))
        self._still, self._stays = 0.0, False

    def _lets_go(self, k: int) -> bool:
        release = self._release
        if k == self._last_call or self._follower.is_lost or not release.holds(float(self.clip.times[k])):
            return True
        size = float(np.linalg.norm(self._momentum))
        if release.threshold is None or size <= release.threshold:
            return False
        self._tell("info", f"A push of {size:.0f} N s is more than the {release.threshold:.0f} N s it withstands.", k)
        return True

    def _curve(self, time: float) -> Curve | None:
        """The strength curve, if it is what lets go."""
        release = self._release
        return None if release.holds(time) else Curve(release.strength_at, release.lowest_from(time))

    def _go_on(self, fall: Falling, state: State, k: int) -> State:
        """Rest ends after a while, and so does rising: on the keys, or where it is let go again."""
        release = self._release
        time = float(self.clip.times[k])
        if fall.has_risen(k):
            self._told += fall.notes
            self._tell("info", "The character is back on its keys.", k)
            self._fall, self._momentum = None, np.zeros(2)
            return self._follower.start(k)
        if fall.is_rising and (k == self._last_call or not release.holds(time)):
            self._told += fall.notes
            self._let_go(state, k)
            return state
        if k == self._last_call:
            self._tell("warning", f"Frame {release.frame}, at which it is to be let go, passes while it is down "
                       "already. Choose a frame before it falls or after it is back on its keys.", k)
        if release.get_up is None or self._stays or not fall.is_resting:
            return state
        if self._still < release.lie - 1e-9 or not release.holds(time):
            return state
        left = float(self.clip.times[-1]) - time
        if left < release.get_up - 1e-9:
            self._stays = True
            self._tell("warning", f"Only {left:.2f} s are left when it could get up, so it stays down. "
                       "Add frames to the range, or let it fall earlier or get up faster.", k)
        else:
            fall.rise(k, release.get_up)
        return state

    def _tell_why_down(self, k: int) -> None:
        """At the end of the range: why it has not got up although it should."""
        release, fall = self._release, self._fall
        if release.get_up is None or self._stays or fall is None or fall.is_rising:
            return
        if not fall.is_resting:
            self._tell("warning", "It has not come to rest when the range ends, so it does not get up. Add frames to "
                       "the range, let it fall earlier, or see that there is ground with friction where it falls.", k)
        elif not release.holds(float(self.clip.times[k])):
            self._tell("warning", "Its strength is not back at 1 when the range ends, so it does not get up. Key it to "
                       f"1 at least {release.get_up:.2f} s before the end.", k)
        else:
            self._tell("warning", "The range ends while it lies still, so it does not get up. Add frames to the range, "
                       "or let it fall earlier or lie shorter.", k)

    def _tell(self, level: str, sentence: str, k: int) -> None:
        frame = self.clip.scene.range[0] + int(np.searchsorted(self.clip.frame_step, k))
        self._told.append(Note("warning" if level == "warning" else "info", sentence, frame))
