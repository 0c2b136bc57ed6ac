"""What every controller is: dials with units and words, and a step that balances."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Protocol

from ..model.result import Note, Step
from ..model.state import State
from ..references.clip import Clip


def dial(default: float, unit: str, low: float, high: float, words: str) -> Any:
    """One number the animator may turn; the panel, the command line and the presets are made from this."""
    return field(default=default, metadata={"unit": unit, "low": low, "high": high, "help": words})


def switch(default: bool, words: str) -> Any:
    """One yes or no."""
    return field(default=default, metadata={"help": words})


class Controller(Protocol):
    """Decides the next state of a character that follows a clip."""

    clip: Clip
    is_lost: bool   # nothing it can do keeps the body up: from the next step on it falls

    @property
    def notes(self) -> list[Note]:
        """What the animator should know, in the order in which it happened."""

    def start(self, k: int = 0) -> State:
        """The state on the keys at sub-step k, where it begins, or begins anew: earlier steps are forgotten."""

    def step(self, state: State, k: int) -> Step:
        """From sub-step k to k + 1."""
