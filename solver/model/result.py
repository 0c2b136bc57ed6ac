"""What a bake gives back: the motion, and what the solver knows about every frame of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .arrays import Array, Bools
from .motion import Motion
from .state import State

Phase = Literal["follow", "fall", "rest", "rise"]   # who acts: the keys' controller, the fall, nobody, the way back


@dataclass(frozen=True, eq=False)
class Step:
    """One step of any controller; it obeys  M(q) a + bias(q, v) = tau + J_c^T f + J_ext^T f_ext + aid."""

    state: State            # after the step
    acceleration: Array     # (nv,) a
    torque: Array           # (nv,) tau; its six root entries are zero
    aid: Array              # (6,) force and torque on the root that no muscle or ground gives
    contacts: Bools         # (P,) points that touch
    forces: Array           # (P, 3) N, ground on the points
    external: Array         # (nv,) J_ext^T f_ext
    loads: Array            # (L,) kg of each load during the step
    phase: Phase = field(default="follow", kw_only=True)


@dataclass(frozen=True)
class Note:
    """Something the animator should know."""

    level: Literal["info", "warning"]
    sentence: str
    frame: int | None = None
    bone: str | None = None


@dataclass(frozen=True)
class Progress:
    """One frame is done."""

    frame: int       # index in the motion
    done: int        # frames
    total: int
    state: State | None = field(default=None, compare=False)   # of the body, as simulated: without the finest detail


@dataclass(frozen=True, eq=False)
class Touches:
    """Where the skin of a character that is not following its keys meets the ground in one frame."""

    places: Array           # (n, 3) m, on the skin
    forces: Array           # (n, 3) N, ground on them


@dataclass(frozen=True, eq=False)
class Result:
    """The baked motion with diagnostics per frame of the whole motion (F), zero outside the simulated range."""

    motion: Motion
    contacts: Bools         # (F, P) in the baked motion
    forces: Array           # (F, P, 3) N; forces, torques and aid are the simulation's, whatever share of it is taken
    torques: Array          # (F, nv) N m
    aid: Array              # (F, 6) N, N m: helper force
    reference_aid: Array    # (F, 6) helper force that the undisturbed motion itself needs
    com: Array              # (F, 3) m
    zmp: Array              # (F, 3) m, on the ground; nan in flight
    margin: Array           # (F,) m, of the ZMP inside the support polygon, negative outside; nan in flight
    deviation: Array        # (F,) rad, largest joint difference from the input
    slide: Array            # (F,) m per frame over the ground, fastest point that stands (from 50 ms after landing)
    reference_slide: Array  # (F,) m per frame, the same points in the input over the same ground
    penetration: Array      # (F,) m, deepest point under the ground; of the whole skin where it falls, lies or rises
    reference_penetration: Array
    notes: tuple[Note, ...]
    limbs: tuple[str, ...]  # names behind the contact points
    body_weight: float      # N
    phases: tuple[Phase, ...]         # (F,) who acted on the way to each frame
    touches: Mapping[int, Touches]    # per frame in which it falls, lies or rises

    @property
    def aid_share(self) -> Array:
        """(F,) helper force in body weights."""
        return (self.aid[:, :3] ** 2).sum(1) ** 0.5 / self.body_weight
