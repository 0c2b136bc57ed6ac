"""What can go wrong, in sentences an animator can act on.

Drivers catch `SolverError` once; anything else is a bug and shows its traceback.
"""

from __future__ import annotations


class SolverError(Exception):
    """Root of everything the solver raises on purpose."""


class InputError(SolverError, ValueError):
    """Something in the input cannot be used: what it is, where it is, and the remedy."""

    def __init__(self, what: str, where: str, remedy: str) -> None:
        self.what, self.where, self.remedy = what, where, remedy
        super().__init__(f"{where}: {what} {remedy}")

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str]]:
        return type(self), (self.what, self.where, self.remedy)


class NoSolutionError(SolverError):
    """No acceleration satisfies the demands of one frame."""

    def __init__(self, frame: int, reason: str) -> None:
        self.frame, self.reason = frame, reason
        super().__init__(f"Frame {frame}: {reason}")

    def __reduce__(self) -> tuple[type[NoSolutionError], tuple[int, str]]:
        return type(self), (self.frame, self.reason)


class DivergenceError(SolverError):
    """The simulation ran away at one frame."""

    def __init__(self, frame: int, quantity: str) -> None:
        self.frame, self.quantity = frame, quantity
        super().__init__(f"Frame {frame}: {quantity} grew without bound.")

    def __reduce__(self) -> tuple[type[DivergenceError], tuple[int, str]]:
        return type(self), (self.frame, self.quantity)
