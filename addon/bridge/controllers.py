# SPDX-License-Identifier: GPL-3.0-or-later
"""The controllers an animator can choose from, with their dials, as the solver offers them.

Panel, presets and command are made from this table and from the `Settings` of each controller: a dial that is added
there appears here by itself. A controller that this solver does not have is not offered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from .._link import solver


@dataclass(frozen=True)
class Dial:
    """One number or switch of a controller, in the animator's words."""

    name: str
    default: float | bool
    unit: str
    low: float
    high: float
    words: str

    @property
    def is_switch(self) -> bool:
        return isinstance(self.default, bool)

    @property
    def label(self) -> str:
        label = self.name.removeprefix("use_").replace("_", " ").capitalize()
        return f"{label} ({self.unit})" if self.unit else label


@dataclass(frozen=True)
class Kind:
    """One controller: its class, its dials, and named settings of them."""

    id: str
    label: str
    words: str
    make: Any                          # (scene, settings) -> Controller
    settings: Any                      # the dataclass of its dials
    presets: Mapping[str, Any]         # label -> settings

    @property
    def dials(self) -> tuple[Dial, ...]:
        found = []
        for spec in fields(self.settings):
            told, default = spec.metadata, spec.default
            if "low" in told and isinstance(default, (int, float)):
                found.append(Dial(spec.name, float(default), told["unit"], told["low"], told["high"],
                                  told["help"]))
            elif isinstance(default, bool):
                found.append(Dial(spec.name, default, "", 0.0, 1.0, told.get("help", "")))
        return tuple(found)

    @property
    def per_bone(self) -> str | None:
        """The dial that takes a multiple per bone: how firm or how strong."""
        names = {spec.name for spec in fields(self.settings)}
        return next((name for name in ("joint_stiffness", "joint_strength") if name in names), None)

    def build(self, dials: Mapping[str, float | bool], per_bone: Mapping[str, float]) -> Any:
        """Settings from dials that differ from the default; unknown names are refused with what there is."""
        known = {dial.name: dial for dial in self.dials}
        for name in dials:
            if name not in known:
                raise solver.InputError(f"There is no dial {name!r}.", f"Controller {self.label}",
                                        f"Choose from: {', '.join(sorted(known))}.")
        values: dict[str, Any] = {name: bool(value) if known[name].is_switch else float(value)
                                  for name, value in dials.items()}
        if per_bone and self.per_bone is not None:
            values[self.per_bone] = dict(per_bone)
        return self.settings(**values)


# id, label, tooltip, class, dials, presets: names in the solver
_OFFERED = (
    ("QUASI_PHYSICAL", "Follow and give way", "Comes back exactly to the keys where nothing disturbs, gives way where "
     "something does", "QuasiPhysical", "Settings",
     (("Subtle", "SUBTLE"), ("Natural", "NATURAL"), ("Strong", "STRONG"))),
    ("ZMP_COMFORT", "Comfort and balance", "Stays within the strength of the joints and in balance; overloaded joints "
     "yield and other parts help", "ZmpComfort", "ComfortSettings", (("Natural", ""),)),
)


def controllers() -> dict[str, Kind]:
    """All controllers that this solver has, by id, in the order of the menu."""
    found = {}
    for id_, label, words, maker, settings, presets in _OFFERED:
        if hasattr(solver, maker) and hasattr(solver, settings):
            dials = getattr(solver, settings)
            named = {word: getattr(solver, name) if name else dials() for word, name in presets}
            found[id_] = Kind(id_, label, words, getattr(solver, maker), dials, named)
    return found


def controller_kind(id_: str) -> Kind:
    known = controllers()
    if id_ not in known:
        raise solver.InputError(f"There is no controller {id_!r}.", "Settings", f"Choose from: {', '.join(known)}.")
    return known[id_]


def can_fall() -> bool:
    """Whether this solver can let a character go."""
    return hasattr(solver, "Release")
