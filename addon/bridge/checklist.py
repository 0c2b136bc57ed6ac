# SPDX-License-Identifier: GPL-3.0-or-later
"""One line of what was found, with its remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["GOOD", "CARE", "STOP"]


@dataclass(frozen=True)
class Line:
    level: Level
    sentence: str
    remedy: str = ""
    bone: str = ""

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}".strip()
