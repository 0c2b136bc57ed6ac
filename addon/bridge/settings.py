# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything one bake is told, as plain data: what the panel shows, a preset holds and the command reads.

Panel and command both make a `Setup` and hand it to the same job; that is why they give the same keys. A preset is
a Setup as JSON: only what differs from the defaults is written, and every number keeps its last digit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from types import MappingProxyType
from typing import Any

from .._link import solver

FORMAT = 1  # of presets
USES = ("AUTO", "LINK", "JOIN", "LEAVE")
BUILDS = ("AUTO", "HUMAN", "LENGTH")
OUTPUTS = ("AUTO", "ACTION", "NLA", "OVERLAY")
MODES = ("AUTO", "ON", "OFF", "SLIDE")
Vector3 = tuple[float, float, float]


@dataclass(frozen=True)
class Part:
    """What the animator says of one bone."""

    use: str = "AUTO"
    role: str = "AUTO"
    mass: float = 0.0        # kg, 0: by the build
    strength: float = 1.0    # how firm or strong, as a multiple
    share: float = 1.0       # of physics, 0: keeps its keys


@dataclass(frozen=True)
class PushSpec:
    """A force. With `object` its place, direction and strength are read from that object, frame by frame."""

    object: str = ""
    bone: str = ""                            # empty: the nearest
    start: float = 1.0                        # frame
    length: float = 5.0                       # frames
    newtons: float = 200.0                    # N; an impulse: N s
    is_impulse: bool = False
    direction: Vector3 = (0.0, -1.0, 0.0)     # in the world
    point: Vector3 | None = None              # in the world, scene units; None: the middle of the bone


@dataclass(frozen=True)
class LoadSpec:
    """A weight on a bone."""

    bone: str = ""
    kg: float = 10.0
    start: float | None = None                # frame; None: from the beginning
    end: float | None = None                  # frame; None: to the end
    object: str = ""                          # hangs where this object is; empty: at the bone's tip


@dataclass(frozen=True)
class GroundSpec:
    """What to stand on: a mesh object or a collection of them, or a plane given by slope and height."""

    object: str = ""
    collection: str = ""
    friction: float = 0.9
    slope: float = 0.0                        # degrees, rising towards `heading`
    heading: float = 0.0                      # degrees about z, 0 is +x
    height: float = 0.0                       # scene units, at the world's origin


@dataclass(frozen=True)
class ContactSpec:
    """What the animator knows better about one limb."""

    limb: str = ""
    start: float = 1.0
    end: float = 2.0
    mode: str = "ON"


@dataclass(frozen=True)
class ReleaseSpec:
    """When the keys let go of the character: at a frame, or when pushes exceed an impulse; and what comes after."""

    frame: float | None = None
    impulse: float | None = None              # N s; None: no push lets it go
    is_limp: bool = False
    get_up: float | None = None               # s in which it comes back to its keys; None: it stays down


@dataclass(frozen=True)
class Setup:
    mass: float = 0.0                         # kg, 0: by size
    build: str = "AUTO"
    parts: Mapping[str, Part] = field(default_factory=dict)
    start: int | None = None                  # frame; None: of the action, else of the scene
    end: int | None = None
    ease_in: float = 0.0                      # frames
    ease_out: float = 0.0
    amount: float = 1.0                       # physics amount where it is not keyed
    goal: str = "COM"                         # COM, NONE, or BONE with goal_bone
    goal_bone: str = ""
    controller: str = "QUASI_PHYSICAL"
    dials: Mapping[str, float | bool] = field(default_factory=dict)
    pushes: tuple[PushSpec, ...] = ()
    use_fields: bool = False                  # wind and force fields of the scene push the character
    loads: tuple[LoadSpec, ...] = ()
    grounds: tuple[GroundSpec, ...] = ()
    contacts: tuple[ContactSpec, ...] = ()
    release: ReleaseSpec | None = None        # None: it never falls
    output: str = "AUTO"
    use_reduction: bool = False
    reduce_degrees: float = 0.1
    reduce_mm: float = 0.5

    def __post_init__(self) -> None:
        for name in ("parts", "dials"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        _choose("build", self.build, BUILDS)
        _choose("output", self.output, OUTPUTS)
        _choose("goal", self.goal, ("COM", "NONE", "BONE"))
        for name, part in self.parts.items():
            _choose(f"use of {name}", part.use, USES)
        for contact in self.contacts:
            _choose(f"mode of the contact of {contact.limb}", contact.mode, MODES)


_LISTS = {"pushes": PushSpec, "loads": LoadSpec, "grounds": GroundSpec, "contacts": ContactSpec}


def to_json(setup: Setup) -> str:
    return json.dumps({"heft": FORMAT, **_plain(setup)}, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str, where: str = "Preset") -> Setup:
    try:
        told = json.loads(text)
    except ValueError as error:
        raise solver.InputError(f"It is not JSON: {error}.", where, "Save it again from the panel.") from None
    if not isinstance(told, dict) or told.pop("heft", None) != FORMAT:
        raise solver.InputError("It is not a preset of this version.", where,
                                f'It must be an object that contains "heft": {FORMAT}.')
    for name, kind in _LISTS.items():
        if name in told:
            if not isinstance(told[name], list):
                raise solver.InputError(f"{name} is not a list.", where, "Write [{...}, {...}].")
            told[name] = tuple(_made(kind, item, f"{where}, {name}[{n}]") for n, item in enumerate(told[name]))
    if "parts" in told:
        told["parts"] = {name: _made(Part, item, f"{where}, bone {name}") for name, item in told["parts"].items()}
    if told.get("release") is not None:
        told["release"] = _made(ReleaseSpec, told["release"], f"{where}, release")
    made: Setup = _made(Setup, told, where)
    return made


def _made(kind: Any, told: Any, where: str) -> Any:
    if not isinstance(told, dict):
        raise solver.InputError(f"{told!r} is not an object.", where, 'Write {"name": value}.')
    known = {spec.name: spec for spec in fields(kind)}
    values = {}
    for name, value in told.items():
        if name not in known:
            raise solver.InputError(f"{name!r} is not known.", where, f"Known are: {', '.join(known)}.")
        default = known[name].default
        wanted = default if default is not MISSING else None
        if isinstance(value, list):
            value = tuple(value)
        if isinstance(wanted, bool):
            is_good = isinstance(value, bool)
        elif isinstance(wanted, (int, float)):
            is_good = isinstance(value, (int, float)) and not isinstance(value, bool)
        elif isinstance(wanted, str):
            is_good = isinstance(value, str)
        elif isinstance(wanted, tuple) and wanted:
            is_good = isinstance(value, tuple) and len(value) == 3
        else:
            is_good = True
        if not is_good:
            raise solver.InputError(f"{name} is {value!r}.", where, f"Give something like {wanted!r}.")
        values[name] = value
    return kind(**values)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        out = {}
        for spec in fields(value):
            default = spec.default if spec.default is not MISSING else (
                spec.default_factory() if spec.default_factory is not MISSING else None)
            own = getattr(value, spec.name)
            if own != default and not (isinstance(own, Mapping) and not own):
                out[spec.name] = _plain(own)
        return out
    if isinstance(value, Mapping):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return value


def _choose(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise solver.InputError(f"The {what} is {value!r}.", "Settings", f"Choose from: {', '.join(known)}.")
