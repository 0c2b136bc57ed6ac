"""One step of a fall, of rest, or of the way back to the clip."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...errors import DivergenceError, InputError
from ...model.arrays import Array, Ints
from ...model.result import Note
from ...model.state import State
from ...numerics import rotation
from ...numerics.qp import solve_nonnegative_qp
from ...physics.cones import cone_edges
from ...physics.dynamics import point_jacobian
from ...physics.impact import Contacts, Impact, resolve
from ...physics.kinematics import advance, tangent
from ...physics.limits import FARTHEST, JointLimits, bending_limits
from ...physics.outside import pushed
from ...physics.yielding import Muscles, yielding_body
from ...references.clip import Clip
from ...references.rising import plan_rise
from .body import FallingBody, FallStep, Moment, Tally
from .energy import Energy
from .rest import Rest
from .settings import Settings
from .strength import Curve, Strength
from .touch import TOUCH, Ground, Touch

RATE = 120.0           # Hz: coarser steps let fast limbs into the ground
FASTEST = 40.0         # rad/s, a safety net
ATTEMPTS = 4           # at one sub-division


class Falling:
    """One fall from hand-over at sub-step k to rest, and back to the clip if wanted."""

    def __init__(self, clip: Clip, settings: Settings, state: State, k: int, curve: Curve | None = None) -> None:
        self.clip, self.settings, self.scene, self.tree = clip, settings, clip.scene, clip.tree
        self.notes: list[Note] = []
        self.is_resting = False
        axes, lower, upper = bending_limits(clip.tree, clip.rotations, clip.lower, clip.upper)
        widest = np.linalg.norm(rotation.log(clip.rotations), axis=-1).max(0)
        self.limits = JointLimits(clip.tree, lower, upper, axes, np.clip(widest + 0.1, FARTHEST, 3.0))
        begin = float(clip.times[k])
        self._body = FallingBody(clip)
        self.skin = self._body.skin
        self._touch = Touch(self._body, begin)
        self._strength = Strength(self._body, settings, begin, state.rotations, curve)
        self._energy = Energy(self._body)
        self._rest = Rest(self._body, self._touch)
        self._held = np.zeros(len(self.limits))   # of the last sub-division, what joint limits gave
        self._now: Moment | None = None
        self._rise: tuple[int, int, Array, Array] | None = None
        self._note(k, "info", "The character is let go.")

    # -- for the driver ------------------------------------------------------------------------------------------

    def step(self, state: State, k: int) -> FallStep:
        """From sub-step k to k + 1."""
        if self._rise is not None:
            return self._follow_rise(state, k)
        if self.is_resting:
            step = self._sleep(state, k)
            if step is not None:
                return step
            self.is_resting = False
            self._energy.forget()
            self._rest.wake()
        return self._fall(state, k)

    def rise(self, k: int, seconds: float) -> None:
        """From sub-step k on, blend back to the clip; it is reached after `seconds`, or where the clip ends."""
        clip = self.clip
        now = self._now
        if now is None:
            raise InputError("It has not fallen yet.", "Falling", "Let it fall before it rises.")
        end = int(np.searchsorted(clip.times, clip.times[k] + seconds - 1e-9))
        if end > clip.steps:
            end = clip.steps
            self._note(k, "warning", f"The clip ends before it has risen; it rises within "
                       f"{clip.times[-1] - clip.times[k]:.2f} s. Let it rise sooner.")
        if end <= k:
            raise InputError("There is no time left to rise.", "Falling", "Let it rise before the clip ends.")
        plan = plan_rise(clip, self.skin, self.limits, now.state, k, end)
        if plan.slide > 1.5 * clip.character.leg_length:
            self._note(k, "warning", f"It lies {plan.slide:.1f} m from its keys and slides there while it gets up. "
                       "Key the path nearer, or let it rise later.")
        self._rise = (k, end, plan.positions, plan.rotations)
        self.is_resting = False

    @property
    def is_rising(self) -> bool:
        return self._rise is not None

    def has_risen(self, k: int) -> bool:
        """At sub-step k the pose is the clip's own again."""
        return self._rise is not None and k >= self._rise[1]

    # -- a fall --------------------------------------------------------------------------------------------------

    def _fall(self, state: State, k: int) -> FallStep:
        start, dt = float(self.clip.times[k]), float(self.clip.dt[k])
        parts = max(1, int(np.ceil(dt * RATE - 1e-6)))
        first = now = self._look(state, k)
        self._energy.begin(now)
        tally = self._body.tally()
        for n in range(parts):
            now = self._advance(now, k + (n + 1) // parts, k, start + n * dt / parts, dt / parts, tally)
        self._now = now
        if self._rest.has_come:
            self.is_resting = True
            self._note(k + 1, "info", "The character has come to rest.")
        return self._body.account(first, now.state, dt, tally, "fall")

    def _advance(self, now: Moment, after: int, k: int, time: float, dt: float, tally: Tally) -> Moment:
        """One sub-division; `after` is the sub-step whose shape the body then has."""
        tree, v = self.tree, now.state.velocity
        external = pushed(tree, now.motion, self.scene.pushes, time, time + dt)
        ground = self._touch.feel(now, time)
        muscles = self._strength.muscles(now, ground, k, time, self._rest.damping)
        near, contacts, held, muscles, impact = self._meet(now, ground, external, muscles, dt)
        v_next = self._rest.calmed(self._within_speed(impact.velocities[0], k), impact, near, ground, now, dt)

        position, rotations = advance(tree, now.state.position, now.state.rotations, v_next, dt)
        if len(tree.fixed_links):
            rotations[tree.fixed_links] = self.clip.rotations[after, tree.fixed_links]
        p = impact.impulses
        onto = (p[:, None, :] @ contacts.sides[0].jacobian)[:, 0]               # (C, nv) N s
        self._touch.forces[:], self._held[:] = 0.0, 0.0
        self._touch.forces[near], self._held[held] = p / dt, impact.stops / dt
        tally.impulses[near] += p
        tally.touching[near] |= (ground.gap[near] < TOUCH) | p.any(1)
        tally.external += dt * external + onto[self.skin.point[near] < 0].sum(0)
        pushing = np.maximum((p * impact.slip).sum(1), 0.0).sum()               # what was inside is pushed out
        self._energy.work += dt * float(external @ (0.5 * (v + v_next))) + float((p * contacts.drift).sum() + pushing)
        self._strength.follow(rotations, k, time, dt)
        root = dt * (external + muscles.drive(dt))[:6] + onto.sum(0)[:6]
        reached = self._look(State(time + dt, position, rotations, v_next), after)
        if self._rest.is_fading:
            return reached
        return self._energy.conserved(now, reached, root, dt, not self._touch.forces.any())

    def _meet(self, now: Moment, ground: Ground, external: Array, muscles: Muscles,
              dt: float) -> tuple[Ints, Contacts, Ints, Muscles, Impact]:
        """Contacts and stops resolved; once more where the answer shows that one that was thought far off is reached,
        or that muscles would add energy."""
        v = now.state.velocity
        watched = self._touch.watched(now, ground, dt)
        table = self.limits.at(now.state.rotations, dt)
        watched_stops = table.near(v)
        room = self._energy.room(now)
        for _ in range(ATTEMPTS):
            body = yielding_body(now.M, now.motion.force, external, muscles, v, dt)
            near = np.flatnonzero(watched)
            contacts = self._touch.contacts(now, ground, near, dt)
            watched_stops |= table.near(body.velocity)
            held = np.flatnonzero(watched_stops)
            impact = resolve((body,), contacts, (table.stops(held, dt * self._held),), dt)
            v_next = impact.velocities[0]
            missed = ~watched & (ground.gap + dt * self._touch.rate(now, ground, v_next) < 0.0)
            missed_stops = ~watched_stops & (table.slack(v_next) < 0.0)
            added = dt * float((muscles.drive(dt) - muscles.drag(dt) * v_next) @ (0.5 * (v + v_next)))
            if not missed.any() and not missed_stops.any() and added <= 1.01 * room:
                break
            watched |= missed
            watched_stops |= missed_stops
            if added > room:
                muscles = muscles.weakened(room / added)
        return near, contacts, held, muscles, impact

    def _within_speed(self, v: Array, k: int) -> Array:
        if not np.isfinite(v).all():
            raise DivergenceError(self._frame(k), "The speed of the falling body")
        fastest = float(np.abs(v[6:]).max(initial=0.0))
        if fastest <= FASTEST:
            return v
        if not any("slowed down" in note.sentence for note in self.notes):
            self._note(k, "warning", f"A joint would have moved at {fastest:.0f} rad/s; it was slowed down.")
        return np.concatenate((v[:6], np.clip(v[6:], -FASTEST, FASTEST)))

    def _look(self, state: State, k: int) -> Moment:
        if self._now is not None and self._now.state is state:
            return self._now
        return self._body.look(state, k)

    # -- rest ----------------------------------------------------------------------------------------------------

    def _sleep(self, state: State, k: int) -> FallStep | None:
        """The pose is held on the ground that carries it; None if something wakes it."""
        start, dt = float(self.clip.times[k]), float(self.clip.dt[k])
        now = self._look(state, k)
        if any(push.mean_force(start, start + dt).any() for push in self.scene.pushes):
            return None
        if any(load.mass_at(start) != load.mass_at(start + dt) for load in self.scene.loads):
            return None
        lying = self._rest.lying(now, self._touch.feel(now, start), dt)
        if lying is None:
            return None
        near, contacts, impact, v = lying
        tally = self._body.tally()
        tally.impulses[near] = impact.impulses
        tally.touching[near] = True
        onto = (impact.impulses[:, None, :] @ contacts.sides[0].jacobian)[:, 0]
        tally.external += onto[self.skin.point[near] < 0].sum(0)
        self._touch.forces[near] = impact.impulses / dt
        position, rotations = state.position, state.rotations
        if v.any():
            position, rotations = advance(self.tree, position, rotations, v, dt)
        if len(self.tree.fixed_links):
            rotations = rotations.copy()
            rotations[self.tree.fixed_links] = self.clip.rotations[k + 1, self.tree.fixed_links]
        after = State(float(self.clip.times[k + 1]), position, rotations, v)
        step = self._body.account(now, after, dt, tally, "rest")
        self._now = self._look(after, min(k + 1, self.clip.steps))
        return step

    # -- rising --------------------------------------------------------------------------------------------------

    def _follow_rise(self, state: State, k: int) -> FallStep:
        """Along the planned way; feet that touch carry what they can, the helper force does the rest."""
        assert self._rise is not None
        begin, end, positions, rotations = self._rise
        dt = float(self.clip.dt[k])
        now = self._look(state, k)
        n = k + 1 - begin
        if k + 1 >= end:
            v = self.clip.v[k + 1]
        else:
            turns = rotation.subtract(rotations[n], rotations[n - 1])
            v = tangent(self.tree, turns, positions[n] - positions[n - 1]) / dt
        after = State(float(self.clip.times[k + 1]), positions[n], rotations[n], v)
        tally = self._body.tally()
        tally.external += dt * pushed(self.tree, now.motion, self.scene.pushes, state.time, state.time + dt)
        ground = self._touch.feel(now, state.time)
        near = np.flatnonzero(ground.gap < 5.0 * TOUCH)
        if len(near):
            J = point_jacobian(self.tree, now.motion, self.skin.link[near], ground.centre[near])
            wanted = (now.M @ ((v - state.velocity) / dt) + now.motion.force - tally.external / dt)[:6]
            edges = cone_edges(ground.probe.normal[near], ground.probe.friction[near])
            B = (edges @ J).reshape(-1, self.tree.nv).T
            H = B[:6].T @ B[:6]
            H.ravel()[::len(H) + 1] += 1e-6 * np.trace(H) / len(H)
            along = solve_nonnegative_qp(H, -B[:6].T @ wanted).reshape(-1, 4)
            forces = (along[..., None] * edges).sum(1)
            tally.impulses[near] = dt * forces
            tally.touching[near] = True
            tally.external += dt * ((forces[:, None, :] @ J)[:, 0][self.skin.point[near] < 0]).sum(0)
        step = self._body.account(now, after, dt, tally, "rise")
        self._now = self._look(after, min(k + 1, self.clip.steps))
        return step

    # -- bookkeeping ---------------------------------------------------------------------------------------------

    def _frame(self, k: int) -> int:
        return self.scene.range[0] + int(np.searchsorted(self.clip.frame_step, k))

    def _note(self, k: int, level: Literal["info", "warning"], sentence: str) -> None:
        self.notes.append(Note(level, sentence, self._frame(k)))
