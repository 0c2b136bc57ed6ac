"""What every controller is: dials with units and words, and a step that balances."""

from __future__ import annotations

from dataclasses import field, fields
from numbers import Real
from typing import Any, Protocol

from ..errors import InputError
from ..model.result import Note, Step
from ..model.state import State
from ..references.clip import Clip


def dial(default: float, unit: str, low: float, high: float, words: str) -> Any:
    """One number the animator may turn; the panel, the command line and the presets are made from this."""
    return field(default=default, metadata={"unit": unit, "low": low, "high": high, "help": words})


def switch(default: bool, words: str) -> Any:
    """One yes or no."""
    return field(default=default, metadata={"help": words})


def check_dials(settings: Any) -> None:
    """Refuse a number beyond the bounds of its dial."""
    for spec in fields(settings):
        if "low" not in spec.metadata:
            continue
        value = getattr(settings, spec.name)
        low, high, unit = (spec.metadata[key] for key in ("low", "high", "unit"))
        if not (isinstance(value, Real) and low <= value <= high):
            remedy = f"Choose {low:g} to {high:g} {unit}".rstrip() + "."
            raise InputError(f"{spec.name} is {value}.", "Settings", remedy)


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

    def calm_step(self, state: State, k: int) -> Step | None:
        """The step without simulating it, where it is known because nothing acts: the body is on its keys, or so near
        that the rest of its way is laid out in advance."""
