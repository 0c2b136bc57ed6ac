"""Comfort and balance at one instant: everything is linear in the accelerations.

    tau(a) = G a + g        torques of joints, with the ground's forces shared out        [Oshita2001] eq. 7
    w(a)   = A a + b        [force; moment] of the ground about the support's centre
    Z(a)                    from w (`physics.support`)

in anatomical coordinates and with the inertia of muscle on the diagonal (`armature`). That inertia is the most
important change against the paper: without it twists of arms, of 0.001 kg m2, blow up under a load.

Other changes, all to keep the paper's behaviour where its letter diverges:
- passive control (eq. 17, 18) is hybrid dynamics: joints at their limit stay there, all others keep their
  acceleration, solved together instead of one after the other; and a back of several bones yields as the one joint
  that it is in the paper, or its bones would fold against each other;
- the pseudo-inverse of eq. 20 is the right one, damped;
- a candidate is capped and accepted only at the first scale (1, 1/2, 1/4, 1/8) that makes things better; if the
  largest never does, the next one is tried (a back that gives way throws Z off: relieving it is the cure, not Z);
- the sensitivity of stance legs (eq. 21) includes what the ground answers, or it has the wrong size and even sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ...model.arrays import Array, Bools, Ints
from ...physics.support import Support, nearest, zmp, zmp_rows

Stop = Callable[[Array], tuple[Array, Bools]]
Cause = Literal["comfort", "balance"]

ROUNDS = 4                       # of passive control, until no more joints come to their limits
SCALES = (1.0, 0.5, 0.25, 0.125)
COMFORT_DAMPING, BALANCE_DAMPING = 1e-4, 1e-3
FAR = 0.1                        # m: a ZMP this far outside is as bad as one joint at twice its strength
UNLOADED = 0.2                   # of the weight: less presses too little for a ZMP
SLACK = 1e-7                     # N m
HOPELESS = 1e6
BORDER = 0.2                     # share of the support area at its border that is not spent on the relief of legs
STILL = 1e-4                     # m: Z that moves by less stays


@dataclass(frozen=True)
class Act:
    """One thing that was done about something."""

    part: Literal["arms", "back", "pelvis"]
    cause: Cause
    bone: str | None             # whose stress is relieved
    size: float                  # rad/s2 or m/s2


@dataclass(frozen=True, eq=False)
class Demand:
    """What accelerations ask of joints and ground."""

    G: Array                     # (nv, nv)
    g: Array                     # (nv,)
    lowest: Array                # (nv,) N m
    highest: Array
    upper: Bools                 # (nv,) freedoms that may yield
    lower: Bools                 # (nv,) freedoms of legs that stand
    spine: Bools                 # (nv,) freedoms of the back, which yields as one
    bend: Array                  # (nv, 3) the back turning about its own three axes, shared by its joints; or (nv, 0)
    vertebrae: Ints              # (3, n) its freedoms about each axis
    joints: Sequence[tuple[str, Ints]]   # name and freedoms of every joint
    A: Array                     # (6, nv)
    b: Array                     # (6,)
    support: Support | None      # None: nothing carries
    weight: float                # N
    stop: Stop                   # what joint limits leave of accelerations
    use_comfort: bool
    use_balance: bool

    def torque(self, a: Array) -> Array:
        return np.asarray(self.G @ a + self.g)

    def stress(self, tau: Array) -> Array:
        """(nv,) eq. 9: what is beyond the limits, with its sign."""
        return np.asarray(np.maximum(tau - self.highest, 0.0) + np.minimum(tau - self.lowest, 0.0))

    def share(self, stress: Array) -> Array:
        """(nv,) stress as a share of the strength in its direction."""
        return np.asarray(np.abs(stress) / np.maximum(np.where(stress > 0.0, self.highest, -self.lowest), 1e-9))

    def balance(self, a: Array) -> tuple[Array, Array, bool] | None:
        """(Z, nearest support point, whether it is inside), flat; None where the ground is hardly pressed."""
        if self.support is None or not self.use_balance:
            return None
        w = self.A @ a + self.b
        if float(self.support.normal @ w[:3]) < UNLOADED * self.weight:
            return None
        Z = zmp(self.support, w)
        return Z, *nearest(self.support.corners, Z)

    def outside(self, a: Array) -> float:
        """m from Z to the support area; 0 inside."""
        if self.support is None or not self.use_balance:
            return 0.0
        found = self.balance(a)
        return HOPELESS * FAR if found is None else float(np.linalg.norm(found[0] - found[1]))

    def yielded(self, a: Array) -> Array:
        """Passive control (eq. 17, 18): stressed joints of the upper body give way until they are at their limits."""
        if not self.use_comfort:
            return a
        alone = self.upper & ~self.spine
        bends = bool(self.bend.shape[1])
        at_limit = np.zeros(len(a) + 3, dtype=bool)         # freedoms that yield alone, then the back's three axes
        for n in range(ROUNDS):
            tau = self.torque(a)
            beyond = (tau > self.highest + SLACK) | (tau < self.lowest - SLACK)
            rows = np.arange(len(a) + 3)
            new = np.zeros(len(a) + 3, dtype=bool)
            new[:len(a)] = alone & beyond
            if bends:
                share = self.share(self.stress(tau))[self.vertebrae]            # (3, n)
                rows[-3:] = self.vertebrae[np.arange(3), share.argmax(1)]
                new[-3:] = share.max(1) > 1e-9
            if n and not (new & ~at_limit).any() and not (n == 1 and new[-3:].any()):
                break
            at_limit |= new
            S = np.flatnonzero(at_limit)
            if not len(S):
                break
            r = rows[S]
            columns = self.levers[:, S]
            wanted = np.clip(tau[r], self.lowest[r], self.highest[r]) - tau[r]
            a, stopped = self.stop(a + columns @ np.linalg.solve(self.G[r] @ columns, wanted))
            if stopped.any():              # who is held by a stop yields no more
                alone = alone & ~stopped
                at_limit[:len(a)] &= ~stopped
                if (stopped & self.spine).any():
                    bends, at_limit[-3:] = False, False
        return a

    @cached_property
    def levers(self) -> Array:
        """(nv, nv + 3) what yields: every freedom alone, and the back as one."""
        bend = self.bend if self.bend.shape[1] else np.zeros((len(self.g), 3))
        return np.concatenate((np.eye(len(self.g)), bend), axis=1)

    # -- active control ------------------------------------------------------------------------------------------

    def help(self, base: Array, S: Array, ease: Array, own: Bools, cap: float, spent: float,
             part: Literal["arms", "back"]) -> tuple[Array, Act | None]:
        """Eq. 19, 20: the change S x that relieves a stressed joint, or brings Z back, whichever needs more.

        `spent` is the share of its swing that the part has used up: a steady pull on the balance is not for arms that
        swing ever farther, but for the pelvis. `ease` (columns of S) says who swings readily, not the arm with the
        suitcase; and who holds something in both hands leaves more of the balance to back and pelvis."""
        if not S.shape[1] or cap <= 0.0:
            return base, None
        stress = np.where(self.upper, self.stress(self.torque(base)), 0.0) if self.use_comfort \
            else np.zeros(len(base))
        candidates = self._relief(stress, S, own)
        after = self.yielded(base)
        x = self._return(after, S * ease)
        if x is not None:
            x = ease.max() * ease * x
            size = float(np.sqrt(x @ x))
            candidates.append((x * min(1.0, (1.0 - spent) * cap / max(size, 1e-9)), "balance", None))

        def merit(a: Array) -> float:
            left = self.share(np.where(self.upper, self.stress(self.torque(a)), 0.0)).sum() if self.use_comfort else 0.0
            return float(left) + self.outside(self.yielded(a)) / FAR

        return self._take(base, S, candidates, cap, part, merit)

    def shift(self, a: Array, T: Array, cap: float, spent: float) -> tuple[Array, Act | None]:
        """Eq. 21: the pelvis moves so that Z comes back, or legs are relieved. It is the last to act, so that nobody
        mends what it does to Z: unlike in the paper, balance goes first, and relief must not push Z to the border."""
        cap = (1.0 - spent) * cap
        if not T.shape[1] or cap <= 0.0:
            return a, None
        stress = np.where(self.lower, self.stress(self.torque(a)), 0.0) if self.use_comfort else np.zeros(len(a))
        candidates = self._relief(stress, T, np.zeros(len(a), dtype=bool), BALANCE_DAMPING)
        x = self._return(a, T)
        before = self._beyond(a)

        def merit(trial: Array) -> float:
            left = self.share(np.where(self.lower, self.stress(self.torque(trial)), 0.0)).sum() \
                if self.use_comfort else 0.0
            return float(left) + HOPELESS * (self._beyond(trial) > before + STILL)

        if x is not None:
            moved, act = self._take(a, T, [(x, "balance", None)], cap, "pelvis",
                                    lambda trial: self.outside(self.yielded(trial)))
            if act is not None:
                return moved, act
        return self._take(a, T, candidates, cap, "pelvis", merit)

    def _beyond(self, a: Array) -> float:
        """m from Z to the inner part of the support area; 0 in it."""
        found = self.balance(self.yielded(a))
        if found is None or self.support is None or len(self.support.corners) < 3:
            return 0.0 if found is None else float(np.linalg.norm(found[0] - found[1]))
        middle = self.support.corners.mean(0)
        inner = middle + (1.0 - BORDER) * (self.support.corners - middle)
        return float(np.linalg.norm(found[0] - nearest(inner, found[0])[0]))

    def _relief(self, stress: Array, S: Array, own: Bools,
                damping: float = COMFORT_DAMPING) -> list[tuple[Array, Cause, str | None]]:
        found: list[tuple[Array, Cause, str | None]] = []
        stressed = (np.abs(stress) > SLACK) & ~own
        if not stressed.any():
            return found
        for name, dofs in self.joints:
            V = dofs[stressed[dofs]]
            if len(V):
                found.append((_least(self.G[V] @ S, -stress[V], damping), "comfort", name))
        return found

    def _return(self, a: Array, S: Array) -> Array | None:
        """What brings Z to the nearest support point."""
        found = self.balance(a)
        if found is None or found[2] or self.support is None:
            return None
        Z, target, _ = found
        press = float(self.support.normal @ (self.A @ a + self.b)[:3])
        return _least(zmp_rows(self.support, self.A @ S, target), press * (target - Z), BALANCE_DAMPING)

    def _take(self, base: Array, S: Array, candidates: list[tuple[Array, Cause, str | None]], cap: float,
              part: Literal["arms", "back", "pelvis"], merit: Callable[[Array], float]) -> tuple[Array, Act | None]:
        if not candidates:
            return base, None
        before = merit(base)
        for x, cause, bone in sorted(candidates, key=lambda c: -float(c[0] @ c[0])):
            size = float(np.sqrt(x @ x))
            if size < 1e-9:
                break
            x = x * min(1.0, cap / size)
            for scale in SCALES:
                trial = self.stop(base + S @ (scale * x))[0]
                if merit(trial) < before - 1e-9:
                    return trial, Act(part, cause, bone, scale * min(size, cap))
        return base, None


def _least(rows: Array, wanted: Array, damping: float) -> Array:
    """The smallest x with rows x = wanted, damped: rows^T (rows rows^T + lambda 1)^-1 wanted."""
    K = rows @ rows.T
    K.ravel()[::len(K) + 1] += max(damping * float(np.trace(K)), 1e-12)
    return np.asarray(rows.T @ np.linalg.solve(K, wanted))
