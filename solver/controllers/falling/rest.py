"""When slow is still: settling, coming to rest, and riding on ground that moves.

A body rests when it has been slow for a while, measured against the ground under it, and would stay if its joints were
locked: slow alone may be the top of a topple.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...model.arrays import Array, Ints
from ...numerics import rotation
from ...physics.impact import Body, Contacts, Impact, Side, resolve
from .body import FallingBody, Moment
from .strength import smooth
from .touch import TOUCH, Ground, Touch

SETTLE_SPEED, SETTLE_TIME, SETTLE_DAMPING = 0.5, 0.5, 26.0  # m/s, s, times
TURN = 0.3             # m: makes a speed of a turning rate
REST_SPEED, REST_TIME, REST_FADE = 0.06, 0.3, 0.25          # m/s, s, s
PATIENCE = 1.0         # s: who is slow for so long on knees and head, or still on its feet, has come to rest too
CERTAIN = 4.0          # s: who is so slow for so long rests in any case
STABLE = 0.01          # m/s2: who would gain more speed than this with its joints locked does not rest yet
UNEASY = 0.05          # m/s: a sleeper on moving ground that would slip this fast wakes up
ROUNDING = 1e-6        # m/s
CREEP, DENT = 2e-3, 3e-3   # m/s, m: ground that comes into a sleeper faster, or has come deeper, wakes it


class Rest:
    """How long the body has been down, slow and still."""

    def __init__(self, body: FallingBody, touch: Touch) -> None:
        self._body, self._touch = body, touch
        self._is_root = (body.skin.link == 0) & ~body.skin.is_sole
        self.wake()

    def wake(self) -> None:
        self._settled = self._slow = self._tried = self._propped = self._fading = 0.0

    @property
    def is_fading(self) -> bool:
        """Being brought to rest."""
        return self._fading > 0.0

    @property
    def has_come(self) -> bool:
        return self._fading >= REST_FADE

    @property
    def damping(self) -> float:
        """How many times stronger dampers are on the ground: no slow creeping, no trembling."""
        return 1.0 + (SETTLE_DAMPING - 1.0) * smooth(self._settled, SETTLE_TIME)

    def calmed(self, v: Array, impact: Impact, near: Ints, ground: Ground, now: Moment, dt: float) -> Array:
        """The velocity after contact, brought to rest once the body lies still; tells the phases apart."""
        body = self._body
        skin = body.skin
        carried = self._carried(now, ground, near, impact.impulses)
        own = v - carried
        turning = (body.tree.expand @ own).reshape(-1, 3)
        speed = max(float(np.linalg.norm(own[:3])),
                    TURN * body.length * float(np.sqrt((turning * turning).sum(1).max()))) / body.pace
        pressed = near[(impact.impulses * ground.probe.normal[near]).sum(1) > 0.0]
        is_slow = speed < SETTLE_SPEED
        props = set(skin.link[pressed[~skin.is_sole[pressed]]].tolist())
        self._propped = self._propped + dt if len(props) >= 3 and is_slow else 0.0
        is_down = bool(self._is_root[pressed].any()) or self._propped > PATIENCE
        self._settled += dt if is_down and is_slow else -dt
        self._settled = min(max(self._settled, 0.0), SETTLE_TIME)
        if speed < REST_SPEED and len(pressed):
            self._slow += dt
        else:
            self._slow = self._tried = 0.0
        wait = REST_TIME if is_down else PATIENCE
        rests = self._slow > wait and self._tried < self._slow and not self._is_pressed(now, ground, carried, dt)
        if rests and self._fading == 0.0 and self._slow < CERTAIN and not self._is_stable(now, ground, carried, dt):
            rests, self._tried = False, self._slow + REST_TIME  # slow, but on its way: look again later
        self._fading = self._fading + dt if rests else 0.0
        return carried + max(0.0, 1.0 - self._fading / REST_FADE) * own if rests else v

    def lying(self, now: Moment, ground: Ground, dt: float) -> tuple[Ints, Contacts, Impact, Array] | None:
        """(spheres, contacts, what they do, velocity) of a sleeper on the ground that carries it; None if it slips,
        or if ground comes into it."""
        near, contacts, impact = self._locked(now, ground, now.state.velocity, dt)
        if not len(near) or ground.gap[near].max() > 10.0 * TOUCH:
            return None
        v = self._carried(now, ground, near, impact.impulses)
        if np.abs(impact.velocities[0] - v[:6])[:3].max() > UNEASY or self._is_pressed(now, ground, v, dt):
            return None
        return near, contacts, impact, _ride(now, v, dt) if v.any() else v

    def _is_pressed(self, now: Moment, ground: Ground, v: Array, dt: float) -> bool:
        """Whether ground comes into a body that moves as v: a wall at its side does not carry it, but moves it on."""
        rate = self._touch.rate(now, ground, v)
        reached = ground.gap + dt * rate < 0.0
        return bool((reached & ((rate < -CREEP) | ((rate < -ROUNDING) & (ground.gap < -DENT)))).any())

    def _carried(self, now: Moment, ground: Ground, near: Ints, impulses: Array) -> Array:
        """(nv,) velocity of a body that rides on the ground under it: the twist that fits the touched surface best."""
        out = np.zeros(self._body.tree.nv)
        moving = ground.probe.velocity[near]
        weight = np.sqrt((impulses * impulses).sum(1))
        if not moving.any() or not weight.any():
            return out
        weight = weight / weight.sum()
        x = ground.centre[near]
        middle, mean = weight @ x, weight @ moving
        arm, left = x - middle, moving - mean
        A = (weight * (arm * arm).sum(1)).sum() * np.eye(3) - (arm * weight[:, None]).T @ arm
        turn = np.linalg.pinv(A, rcond=1e-4, hermitian=True) @ (weight @ rotation.cross(arm, left))
        out[:3] = mean + np.cross(turn, now.state.position - middle)
        out[3:6] = turn @ now.motion.pose.R[0]
        return out

    def _locked(self, now: Moment, ground: Ground, v: Array, dt: float) -> tuple[Ints, Contacts, Impact]:
        """(spheres, contacts, what they do) of the body with its joints locked, if it had velocity v now: six freedoms,
        on whatever touches."""
        near = np.flatnonzero((ground.gap < 2.0 * TOUCH) | self._touch.forces.any(1))
        level = Ground(ground.centre, np.zeros(len(ground.gap)), ground.probe)
        contacts = self._touch.contacts(now, level, near, dt)
        J = np.ascontiguousarray(contacts.sides[0].jacobian[:, :, :6])
        weight = now.mass * self._body.scene.gravity
        turn = rotation.cross(now.motion.com - now.state.position, weight) @ now.motion.pose.R[0]
        whole = Body.pushed(now.M[:6, :6], v[:6], dt * np.concatenate((weight, turn)))
        locked = replace(contacts, sides=(Side(0, contacts.sides[0].contacts, J),))
        return near, contacts, resolve((whole,), locked, (), dt, tolerance=1e-7, rounds=1000)

    def _is_stable(self, now: Moment, ground: Ground, v: Array, dt: float) -> bool:
        """Whether it would stay if its joints were locked."""
        gained = self._locked(now, ground, v, dt)[2].velocities[0] - v[:6]
        arm = TURN * self._body.length
        return max(float(np.abs(gained[:3]).max()), arm * float(np.abs(gained[3:]).max())) < STABLE * dt


def _ride(now: Moment, v: Array, dt: float) -> Array:
    """The mean over dt of what a constant twist v makes of the root: a turntable must not fling its sleeper off."""
    turn = now.motion.pose.R[0] @ v[3:6]
    angle = max(float(np.linalg.norm(turn)) * dt, 1e-9)
    K = rotation.skew(dt * turn)
    mean = np.eye(3) + (1.0 - np.cos(angle)) / angle ** 2 * K + (angle - np.sin(angle)) / angle ** 3 * (K @ K)
    return np.concatenate((mean @ v[:3], v[3:]))
