# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything one bake is told, as plain data: what the panel shows, a preset holds and the command reads.

Panel and command both make a `Setup` and hand it to the same job; that is why they give the same keys. A preset is
a Setup as JSON: only what differs from the defaults is written, and every number keeps its last digit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from types import MappingProxyType, NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from .._link import solver

FORMAT = 1  # of presets
USES = ("AUTO", "LINK", "JOIN", "LEAVE")
BUILDS = ("AUTO", "HUMAN", "LENGTH")
OUTPUTS = ("AUTO", "ACTION", "NLA", "OVERLAY")
MODES = ("AUTO", "ON", "OFF", "SLIDE")
ROLES = ("AUTO", "TRUNK", "NECK", "HEAD", "ARM", "HAND", "LEG", "FOOT", "TOE", "TAIL", "OTHER")
ANY = 3.4028235e38              # the largest number that a panel can hold
FRAMES = -1048574, 1048574      # the first and the last frame of Blender
LEAST = 0.001                   # degrees, mm: with no tolerance at all no key could ever be left out
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
            _choose(f"role of {name}", part.role, ROLES)
        for contact in self.contacts:
            _choose(f"mode of the contact of {contact.limb}", contact.mode, MODES)
        for owner, spec in _specs(self):
            _check_numbers(owner, spec)


_BOUNDS: Mapping[type, Mapping[str, tuple[float, float]]] = {  # every number that is not here may be any finite one
    Setup: {"mass": (0.0, ANY), "start": FRAMES, "end": FRAMES, "ease_in": (0.0, ANY), "ease_out": (0.0, ANY),
            "amount": (0.0, 1.0), "reduce_degrees": (LEAST, ANY), "reduce_mm": (LEAST, ANY)},
    Part: {"mass": (0.0, ANY), "strength": (0.01, ANY), "share": (0.0, 1.0)},
    PushSpec: {"start": FRAMES},
    LoadSpec: {"kg": (0.0, ANY), "start": FRAMES, "end": FRAMES},
    GroundSpec: {"friction": (0.0, ANY), "slope": (-89.0, 89.0)},
    ContactSpec: {"start": FRAMES, "end": FRAMES},
    ReleaseSpec: {"frame": FRAMES, "impulse": (0.0, ANY), "get_up": (0.0, ANY)},
}


def _specs(setup: Setup) -> Iterator[tuple[str, Any]]:
    """Everything in a set-up that holds numbers, with what to call it."""
    yield "", setup
    yield from ((f" of the bone {name}", part) for name, part in setup.parts.items())
    yield from ((f" of the push on {push.bone or push.object or 'the nearest bone'}", push) for push in setup.pushes)
    yield from ((f" of the load on {load.bone}", load) for load in setup.loads)
    yield from ((f" of the ground {ground.object or ground.collection or 'plane'}", ground) for ground in setup.grounds)
    yield from ((f" of the contact of {contact.limb}", contact) for contact in setup.contacts)
    if setup.release is not None:
        yield " of the release", setup.release


def _check_numbers(owner: str, spec: Any) -> None:
    bounds = _BOUNDS[type(spec)]
    for each in fields(spec):
        value = getattr(spec, each.name)
        low, high = bounds.get(each.name, (-ANY, ANY))
        for x in value if isinstance(value, tuple) else (value,):
            if isinstance(x, (int, float)) and not low <= x <= high:
                raise solver.InputError(f"The {each.name}{owner} is {x}.", "Settings", _between(low, high))


def _between(low: float, high: float) -> str:
    if low == -ANY:
        return "Give a finite number."
    return f"Give {low:.10g} or more." if high == ANY else f"Give {low:.10g} to {high:.10g}."


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
        if not isinstance(told["parts"], dict):
            raise solver.InputError("parts is not an object.", where, 'Write {"bone": {...}}.')
        told["parts"] = {name: _made(Part, item, f"{where}, bone {name}") for name, item in told["parts"].items()}
    if told.get("release") is not None:
        told["release"] = _made(ReleaseSpec, told["release"], f"{where}, release")
    try:
        made: Setup = _made(Setup, told, where)
    except solver.InputError as error:  # what a set-up refuses knows no file
        raise solver.InputError(error.what, where, error.remedy) from None
    return made


def _made(kind: Any, told: Any, where: str) -> Any:
    if not isinstance(told, dict):
        raise solver.InputError(f"{told!r} is not an object.", where, 'Write {"name": value}.')
    known = get_type_hints(kind)
    values = {}
    for name, value in told.items():
        if name not in known:
            raise solver.InputError(f"{name!r} is not known.", where, f"Known are: {', '.join(known)}.")
        if isinstance(value, list):
            value = tuple(value)
        if not _fits(value, known[name]):
            raise solver.InputError(f"{name} is {value!r}.", where, f"Give {_words(known[name])}.")
        values[name] = value
    return kind(**values)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value from a file is of the type that a field declares."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is UnionType:
        return any(_fits(value, each) for each in inner)
    if origin is Mapping:
        return isinstance(value, dict) and all(_fits(each, inner[1]) for each in value.values())
    if origin is tuple and inner[1:] == (Ellipsis,):
        return isinstance(value, tuple) and all(_fits(each, inner[0]) for each in value)
    if origin is tuple:
        return isinstance(value, tuple) and len(value) == len(inner) and all(map(_fits, value, inner))
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, (int, float) if hint is float else hint)


def _words(hint: Any) -> str:
    """A type, as whoever writes a preset would call it."""
    if get_origin(hint) is UnionType:
        return " or ".join(_words(each) for each in get_args(hint))
    if get_origin(hint) is tuple:
        return "a list like [0, 0, 1]"
    return {bool: "true or false", int: "a whole number", float: "a number", str: "a text in quotes",
            NoneType: "null"}.get(hint, 'an object like {"name": value}')


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
