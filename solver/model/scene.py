"""The scene: one character with its motion, the ground, and everything the animator placed: pushes, loads, goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..errors import InputError
from ..numerics import rotation
from .arrays import LARGEST, Array, frozen_array
from .character import Character
from .motion import Motion
from .release import Release
from .terrain import Terrain

GRAVITY = np.array([0.0, 0.0, -9.81])
BLOW = 1.0 / 60.0  # s, how long an impulse takes: short against any motion, the same at every frame rate

LEAST_STEP = 0.999e-3  # s: speeds taken from closer frames are rounding


@dataclass(frozen=True, eq=False)
class Push:
    """A force on a point of a body over time: straight lines between (time, force) pairs, zero outside them.

    Two pairs at one time make a step. Use `constant`, `ramped`, `keyed` or `impulse`.
    """

    body: str
    times: Array                              # (K,) s, not decreasing
    forces: Array                             # (K, 3) N
    point: Array = field(default_factory=lambda: np.zeros(3))  # m, in the body's frame
    frame: Literal["world", "body"] = "world"
    is_local: bool = True                     # the pushed part itself gives way, as an arm that is hit; wind: False

    def __post_init__(self) -> None:
        where = f"Push on {self.body}"
        times = frozen_array(self.times, (None,), "The times", where)
        if len(times) < 2:
            raise InputError("Its strength has fewer than two keys.", where, "Key it at its start and its end.")
        if (np.diff(times) < 0.0).any():
            raise InputError("The times of the force go back.", where, "Order the keys of its strength.")
        if self.frame not in ("world", "body"):
            raise InputError(f"The frame {self.frame!r} is not known.", where, "Choose world or body.")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "forces", frozen_array(self.forces, (len(times), 3), "The force", where))
        object.__setattr__(self, "point", frozen_array(self.point, (3,), "The point", where))

    @staticmethod
    def constant(body: str, force: Sequence[float] | Array, start: float, duration: float, **place: Any) -> Push:
        """The same force from start to start + duration."""
        return Push.ramped(body, force, start, duration, 0.0, **place)

    @staticmethod
    def ramped(body: str, force: Sequence[float] | Array, start: float, duration: float, ramp: float,
               **place: Any) -> Push:
        """Rises over `ramp` seconds, stays, and falls over `ramp` seconds, all within `duration`."""
        if not (np.isfinite(duration) and duration > 0.0 and 0.0 <= ramp <= 0.5 * duration):
            raise InputError(f"It lasts {duration} s with ramps of {ramp} s.", f"Push on {body}",
                             "Give a length above zero, and ramps of at most half of it.")
        f = frozen_array(force, (3,), "The force", f"Push on {body}")
        times = np.array([start, start + ramp, max(start + ramp, start + duration - ramp), start + duration])
        return Push(body, times, np.stack([0.0 * f, f, f, 0.0 * f]), **place)

    @staticmethod
    def keyed(body: str, times: Sequence[float] | Array, forces: Sequence[Sequence[float]] | Array,
              **place: Any) -> Push:
        """Straight lines between keys."""
        where = f"Push on {body}"
        return Push(body, frozen_array(times, (None,), "The times", where),
                    frozen_array(forces, (None, 3), "The force", where), **place)

    @staticmethod
    def impulse(body: str, momentum: Sequence[float] | Array, time: float, **place: Any) -> Push:
        """A blow that delivers `momentum` (N s)."""
        return Push.constant(body, frozen_array(momentum, (3,), "The momentum", f"Push on {body}") / BLOW, time, BLOW,
                             **place)

    def mean_force(self, start: float, stop: float) -> Array:
        """The mean over a time step, so that the momentum delivered does not depend on the frame rate."""
        if stop <= self.times[0] or start >= self.times[-1]:
            return np.zeros(3)
        k = int(self.times.searchsorted(start, side="right"))
        if 0 < k < len(self.times) and stop <= self.times[k]:  # between two keys, as most steps are
            part = (0.5 * (start + stop) - float(self.times[k - 1])) / float(self.times[k] - self.times[k - 1])
            return np.asarray((1.0 - part) * self.forces[k - 1] + part * self.forces[k])
        return np.asarray((self._momentum(stop) - self._momentum(start)) / (stop - start))

    @cached_property
    def _momenta(self) -> Array:
        """(K, 3) N s delivered up to each of the times."""
        steps = 0.5 * (self.forces[1:] + self.forces[:-1]) * np.diff(self.times)[:, None]
        return np.concatenate((np.zeros((1, 3)), np.cumsum(steps, axis=0)))

    def _momentum(self, time: float) -> Array:
        """(3,) N s delivered up to a time."""
        k = int(self.times.searchsorted(time, side="right"))
        if k == 0 or k == len(self.times):
            return np.asarray(self._momenta[k - 1 if k else 0])
        since, span = time - self.times[k - 1], self.times[k] - self.times[k - 1]
        before = self.forces[k - 1]
        return np.asarray(self._momenta[k - 1] + since * (before + 0.5 * since / span * (self.forces[k] - before)))


@dataclass(frozen=True, eq=False)
class Load:
    """A mass that hangs on a body point from `start` to `end` (s), taken up and put down over `fade` seconds."""

    body: str
    mass: float
    start: float = -np.inf
    end: float = np.inf
    point: Array = field(default_factory=lambda: np.zeros(3))
    fade: float = 0.1

    def __post_init__(self) -> None:
        where = f"Load on {self.body}"
        if not 0.0 <= self.mass < LARGEST:
            raise InputError(f"Its mass is {self.mass} kg.", where, "Give kilograms, 0 or more.")
        if not (np.isfinite(self.fade) and self.fade >= 0.0):
            raise InputError(f"It is taken up over {self.fade} s.", where, "Give seconds, 0 or more.")
        if not self.end > self.start:
            raise InputError("It ends before it starts.", where, "Swap start and end.")
        object.__setattr__(self, "point", frozen_array(self.point, (3,), "The point", where))

    def mass_at(self, time: float) -> float:
        """Straight ramps: a load in place before the range begins is there from its first frame."""
        if self.fade == 0.0:
            return self.mass if self.start <= time < self.end else 0.0
        up, down = (time - self.start) / self.fade, (self.end - time) / self.fade
        return self.mass * float(np.clip(min(up, down), 0.0, 1.0))


@dataclass(frozen=True)
class Goal:
    """What keeps the path: the centre of mass, one body's position, or nothing (horizontally in all cases)."""

    kind: Literal["com", "body", "none"] = "com"
    body: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("com", "body", "none") or (self.kind == "body") != (self.body is not None):
            raise InputError(f"The goal {self.kind!r} with body {self.body!r} makes no sense.", "Goal",
                             "Choose com, none, or body with the name of a bone.")


@dataclass(frozen=True)
class ContactOverride:
    """What the animator knows better: a limb touches, does not touch, or slides, from start to end (s)."""

    limb: str
    start: float
    end: float
    mode: Literal["auto", "on", "off", "slide"] = "on"

    def __post_init__(self) -> None:
        if self.mode not in ("auto", "on", "off", "slide") or not self.end > self.start:
            raise InputError(f"Mode {self.mode!r} from {self.start} to {self.end} s.", f"Contact of {self.limb}",
                             "Choose Auto, On, Off or Slide, and an end after the start.")


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything one bake needs, except the controller's dials."""

    character: Character
    motion: Motion
    terrain: Terrain | None = None               # None: level ground at the height the motion shows
    gravity: Array = field(default_factory=lambda: GRAVITY.copy())
    pushes: tuple[Push, ...] = ()
    loads: tuple[Load, ...] = ()
    goal: Goal = field(default_factory=Goal)
    amount: tuple[tuple[float, float], ...] = ()  # (time, physics amount 0..1) keys; empty: 1 throughout
    mask: Mapping[str, float] = field(default_factory=dict)  # body -> share of the physical result, default 1
    frames: tuple[int, int] | None = None        # first and last frame to simulate; None: all
    contacts: tuple[ContactOverride, ...] = ()
    ease: tuple[float, float] = (0.0, 0.0)       # s, at both ends of the range
    substeps: int | None = None                  # per frame; None: as many as the controller needs
    release: Release | None = None               # when it is let go and falls; None: never
    goes_on: tuple[bool, bool] = (False, False)  # whether keys that are not given here come before and after `motion`

    def __post_init__(self) -> None:
        character, motion = self.character, self.motion
        for name in ("pushes", "loads", "amount", "contacts"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "mask", dict(self.mask))
        if motion.rotations.shape[1] != len(character):
            raise InputError(f"It moves {motion.rotations.shape[1]} links, the character has {len(character)}.",
                             "Motion", "Read both from the same armature.")
        steps = np.diff(motion.times)
        if steps.min() < LEAST_STEP:
            raise InputError(f"Only {steps.min():.2g} s have passed since the frame before.",
                             f"Motion, frame {int(steps.argmin()) + 1}",
                             "Leave out frames that are closer than a millisecond.")
        object.__setattr__(self, "gravity", frozen_array(self.gravity, (3,), "Gravity", "Scene"))
        for push in self.pushes:
            character.index(push.body)
        for load in self.loads:
            character.index(load.body)
        if self.goal.body is not None:
            character.index(self.goal.body)
        for name, share in self.mask.items():
            character.index(name)
            if not 0.0 <= share <= 1.0:
                raise InputError(f"The share {share} of {name} is not between 0 and 1.", "Mask", "Use 0 to 1.")
        if self.amount:
            keys = frozen_array(self.amount, (None, 2), "Physics amount", "Scene")
            if (np.diff(keys[:, 0]) <= 0.0).any() or (keys[:, 1] < 0.0).any() or (keys[:, 1] > 1.0).any():
                raise InputError("The keys of Physics amount repeat a time or leave 0..1.", "Scene",
                                 "Key values between 0 and 1 at increasing times.")
        if self.frames is not None:
            if len(self.frames) != 2 or any(frame % 1 != 0 for frame in self.frames):  # nan is what inf leaves
                raise InputError(f"{self.frames} are not two whole frames.", "Frame range",
                                 "Give the first and the last frame.")
            first, last = (int(frame) for frame in self.frames)
            object.__setattr__(self, "frames", (first, last))
            if first == last:
                raise InputError(f"It holds frame {first} alone.", "Frame range", "Choose a later last frame.")
            if not 0 <= first < last < len(motion):
                raise InputError(f"Frames {first} .. {last} are outside the clip's 0 .. {len(motion) - 1}.",
                                 "Frame range", "Choose a first and a later last frame within the clip.")
        if self.release is not None:
            self.release.check_frames(*self.range)
        if self.substeps is not None:
            if not (self.substeps >= 1 and self.substeps % 1 == 0):
                raise InputError(f"{self.substeps} sub-steps.", "Scene", "Use a whole number per frame, at least one.")
            object.__setattr__(self, "substeps", int(self.substeps))
        if np.shape(self.ease) != (2,) or not all(0.0 <= ease < np.inf for ease in self.ease):
            raise InputError(f"The ease {self.ease} is not two times.", "Scene", "Give seconds, 0 or more.")
        if len(character.points):
            self.check_contacts(character)
        self._check_limits()

    def check_contacts(self, character: Character) -> None:
        """Contacts must name limbs of the character, whose points may have been calibrated only now."""
        limbs = {limb.name for limb in character.points.limbs}
        for override in self.contacts:
            if override.limb not in limbs:
                raise InputError(f"There is no limb {override.limb!r}.", "Contacts",
                                 f"Choose one of: {', '.join(sorted(limbs)) or 'none, nothing comes near the ground'}.")

    @property
    def range(self) -> tuple[int, int]:
        return self.frames if self.frames is not None else (0, len(self.motion) - 1)

    def amount_at(self, times: Array) -> Array:
        """Physics amount, eased in and out at the ends of the range."""
        times = np.asarray(times, dtype=np.float64)
        share = np.ones(len(times))
        if self.amount:
            keys = np.asarray(self.amount)
            share = np.interp(times, keys[:, 0], keys[:, 1])
        first, last = self.range
        start, stop = self.motion.times[first], self.motion.times[last]
        for ease, gone in ((self.ease[0], times - start), (self.ease[1], stop - times)):
            if ease > 0.0:
                s = np.clip(gone / ease, 0.0, 1.0)
                share = share * s * s * s * (s * (6.0 * s - 15.0) + 10.0)  # quintic: no jump in acceleration
        return share

    def _check_limits(self) -> None:
        """Limits that the caller gave must admit the motion; default limits give way to it (`references.clip`)."""
        character = self.character
        for i in np.flatnonzero(character.limits_given):
            q = self.motion.rotations[:, i]
            if character.joints[i] == "hinge":
                angle = rotation.twist_angle(q, character.axes[i])[:, None]
            else:
                angle = rotation.log(q)
            n = angle.shape[1]
            excess = np.maximum(character.lower[i, :n] - angle, angle - character.upper[i, :n])
            if excess.max() > 1e-3:
                frame, axis = np.unravel_index(int(excess.argmax()), excess.shape)
                raise InputError(
                    f"It turns to {np.degrees(angle[frame, axis]):.1f} degrees, its limits are "
                    f"{np.degrees(character.lower[i, axis]):.1f} .. {np.degrees(character.upper[i, axis]):.1f}.",
                    f"Bone {character.names[i]}, frame {frame}", "Widen the limits or correct the key.")
