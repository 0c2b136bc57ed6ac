"""The dials of a fall, in the animator's words."""

from __future__ import annotations

from dataclasses import dataclass

from ..base import check_dials, dial


@dataclass(frozen=True)
class Settings:
    strength: float = dial(0.06, "", 0.0, 1.0, "Muscle that is left in the end: 0.02 limp, 0.06 usual, 0.2 tense.")
    slacken: float = dial(0.7, "s", 0.05, 5.0, "How long the muscles take to go slack.")
    release: float = dial(0.25, "s", 0.0, 2.0, "How long the keys and the helper force take to let go.")

    def __post_init__(self) -> None:
        check_dials(self)


USUAL = Settings()
LIMP = Settings(strength=0.02, slacken=0.3, release=0.1)
TENSE = Settings(strength=0.2)
