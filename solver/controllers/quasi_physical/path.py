"""The goal ([Levine2012] 2.2) and how far a push carries it off its path.

A hard goal alone does not look like a push: the body pivots about a point nailed to its path. So the goal aims at
the path plus the offset b of a particle on a spring (the paper's Appendix A),

    b'' = f_ext / m - 2 w_g b' - w_g^2 b
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ...model.arrays import Array

STANDING_RETURN = 5.0   # 1/s: who stands still and takes no step must come back sooner
AIM_OFF = 0.7           # share of the last step's miss that is allowed for in advance
REACH = 0.3             # leg lengths: farther than this the spring stiffens


class Path:
    """The offset b of the goal and the goal's deviation at the last two steps."""

    def __init__(self, return_rate: float, is_hard: bool, reach: float) -> None:
        self.return_rate, self.is_hard, self.reach = return_rate, is_hard, max(reach, 1e-6)
        self.offset = np.zeros(2)        # b
        self.rate = np.zeros(2)          # b'
        self.acceleration = np.zeros(2)  # b''
        self._is_free = False
        self._before: Array | None = None  # deviation and step length of the step before
        self._before_dt = 1.0
        self._target = np.zeros(2)         # deviation that the last step aimed at

    def advance(self, push: Array, standing: bool, is_free: bool, dt: float) -> Array:
        """Move the particle by one step under push / m (m/s2); returns b of the next step.

        In flight (`is_free`) nothing but the push moves it: there is nothing to pull on."""
        self._is_free = is_free and not self.is_hard
        if self.is_hard:
            push = np.zeros(2)
        if not (push.any() or self.offset.any() or self.rate.any()):
            self.acceleration = push
            return self.offset
        w = max(self.return_rate, STANDING_RETURN) if standing or self.is_hard else self.return_rate
        w *= sqrt(1.0 + float(self.offset.dot(self.offset)) / self.reach ** 2)
        if self._is_free:
            w = 0.0
        self.acceleration = push - (2.0 * w) * self.rate - (w * w) * self.offset
        self.rate = self.rate + dt * self.acceleration
        self.offset = self.offset + dt * self.rate
        return self.offset

    def ahead(self, seconds: Array) -> Array:
        """(n, 2) where the particle will be if nothing else pushes; who flies, flies until it lands."""
        w = 0.0 if self._is_free else self.return_rate
        t = seconds[:, None]
        return np.asarray((self.offset + (self.rate + w * self.offset) * t) * np.exp(-w * t))

    def calm(self, dt: float) -> None:
        """A step on the path, with nothing that pushes."""
        self._before, self._before_dt, self._target = np.zeros(2), dt, np.zeros(2)

    def demand(self, deviation: Array, target: Array, dt: float) -> Array:
        """Acceleration beyond the reference's own that makes the deviation `target` at the next step."""
        before = deviation if self._before is None else self._before
        before_dt = dt if self._before is None else self._before_dt
        # the step is linear in a, the body is not: what the last step missed by, this one aims off by
        missed = np.zeros(2) if self._before is None else deviation - self._target
        self._before, self._before_dt, self._target = deviation, dt, target
        return np.asarray(((target - AIM_OFF * missed - deviation) / dt - (deviation - before) / before_dt) / dt)

    def shift(self, jump: Array, rate: Array) -> None:
        """The goal itself jumped (a load was taken up): keep where it is and let the spring bring it home."""
        self.offset = self.offset + jump
        self.rate = self.rate + rate
        if self._before is not None:
            self._before = self._before + jump - rate * self._before_dt
            self._target = self._target + jump
