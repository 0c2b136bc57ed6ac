"""When the keys let go of the character, how it then falls, and what comes after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import InputError

LET_GO = 0.999   # a strength below this is no longer full: keys are rarely exact


@dataclass(frozen=True)
class Release:
    """Any of the three causes lets it go; with none of them it never falls.

    `strength` is keyed over time, with straight lines between the keys: at 1 the keys are followed, below 1 the
    character is let go, and the value says how strongly it holds its pose as it falls (0.2 is tense, 0 leaves the
    little that any fall leaves). On the way down to its lowest value the keys and the helper force fade. Who gets up
    waits until the curve is back at 1, and is let go again where it leaves 1 on the way.

    `threshold` is the horizontal momentum of pushes that the body has not yet had time to take up: their impulse,
    forgotten over half a second. A push of 200 N for 0.2 s counts about 33 N s; a person of 75 kg is usually knocked
    over by 80.
    """

    frame: int | None = None                        # of the motion: let go there
    strength: tuple[tuple[float, float], ...] = ()  # (s, 0 .. 1) keys
    threshold: float | None = None                  # N s: let go when pushes exceed it
    limp: bool = False                              # falls like a rag rather than like a person
    get_up: float | None = None                     # s in which it blends back to its keys; None: it stays down
    lie: float = 0.5                                # s it lies still before it gets up

    def __post_init__(self) -> None:
        if self.strength:
            keys = np.asarray(self.strength, dtype=np.float64)
            if keys.ndim != 2 or keys.shape[1] != 2 or not np.isfinite(keys).all():
                raise InputError("Its strength is not a list of times and values.", "Release", "Key it over time.")
            if (np.diff(keys[:, 0]) < 0.0).any() or (keys[:, 1] < 0.0).any() or (keys[:, 1] > 1.0).any():
                raise InputError("The keys of its strength go back in time or leave 0..1.", "Release",
                                 "Key values between 0 (let go) and 1 (follow) at increasing times.")
        if self.frame is not None:
            if self.frame % 1 != 0:    # nan is what inf leaves
                raise InputError(f"It is let go at frame {self.frame}, which is not a whole frame.", "Release",
                                 "Give a whole number of a frame.")
            object.__setattr__(self, "frame", int(self.frame))
        if self.threshold is not None and not (np.isfinite(self.threshold) and self.threshold > 0.0):
            raise InputError(f"It is let go beyond {self.threshold} N s.", "Release",
                             "Give newton seconds above zero, or leave it out.")
        if self.get_up is not None and not 0.1 <= self.get_up <= 60.0:
            raise InputError(f"It gets up in {self.get_up} s.", "Release",
                             "Give 0.1 to 60 seconds, or let it stay down.")
        if not 0.0 <= self.lie < np.inf:
            raise InputError(f"It lies still for {self.lie} s.", "Release", "Give seconds, 0 or more.")

    def check_frames(self, first: int, last: int) -> None:
        """There must be time to fall within the range."""
        if self.frame is not None and not first <= self.frame < last:
            raise InputError(f"It is let go at frame {self.frame}, the range is {first} .. {last}.", "Release",
                             "Choose a frame within the range, before its last.")

    def strength_at(self, time: float) -> float:
        """1 where nothing is keyed."""
        if not self.strength:
            return 1.0
        keys = np.asarray(self.strength, dtype=np.float64)
        return float(np.interp(time, keys[:, 0], keys[:, 1]))

    def lowest_from(self, time: float) -> float:
        """The least strength from a time on, until it is full again."""
        lowest = self.strength_at(time)
        for when, value in self.strength:
            if when >= time:
                lowest = min(lowest, value)
                if value >= LET_GO:
                    break
        return lowest

    def holds(self, time: float) -> bool:
        """Whether the strength is full."""
        return self.strength_at(time) >= LET_GO
