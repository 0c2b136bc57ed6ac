"""Falling: nobody holds the body up any more, and every part of it meets the ground.

    (M + armature + dt D + dt^2 K) a = -h + tau_ff + K (e - dt (v - v_t)) + D (v_t - v) + J_ext^T f_ext + J^T f

[Levine2012] eq. 7 with W_tau = M^-1 and no weight on the root (`physics.yielding`), contacts of every link and joint
limits resolved together (`physics.impact`). Four phases:

    release     the clip's own torques and the helper force fade; the pose aimed at moves on with the clip and stops
    slackening  muscles lose strength; the pose aimed at follows the pose there is, so that nothing pulls at rest
    settling    once the pelvis is down and slow, joints are damped strongly: no slow creeping, no trembling
    rest        slower than a hand's breadth in two seconds for a while: it sleeps, pose held exactly, until pushed

Muscles of a falling body brake and never drive: what they could add to its energy is throttled, and energy that a step
of finite length makes from nothing is drained, so that after the last push kinetic and potential energy only fall.

A Step may consist of several sub-divisions (at least 120 a second). It then balances in the mean: forces are averages
over the sub-divisions, a = (v_next - v) / dt, and the equation  M a + h = tau + J_c^T f + J_ext^T f_ext + aid  holds
exactly at the start state because what averaging leaves over goes into tau (joints) and aid (root). Ground forces on
parts that are not the character's contact points are in `external`, and point by point in `FallStep.touch_forces`.

`rise` blends back to the clip (`references.rising`); there the helper force lifts the body, and aid says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..errors import DivergenceError, InputError
from ..model.arrays import Array, Bools, Ints
from ..model.character import SPINE_BOOST
from ..model.result import Note, Step
from ..model.state import State
from ..model.terrain import Probe
from ..numerics import rotation
from ..numerics.qp import solve_nonnegative_qp
from ..physics.cones import cone_edges
from ..physics.dynamics import Dynamics, dynamics, point_jacobian
from ..physics.impact import Body, Contacts, Impact, Side, resolve
from ..physics.kinematics import advance, forward, place, tangent
from ..physics.limits import FARTHEST, JointLimits, bending_limits
from ..physics.outside import load_masses, loaded, pushed
from ..physics.shape import Shape
from ..physics.skin import skin_points
from ..physics.yielding import Muscles, drained, kinetic_energy, own_momentum, root_velocity, yielding_body
from ..references.clip import Clip
from ..references.rising import plan_rise
from .base import dial

RATE = 120.0           # Hz: coarser steps let fast limbs into the ground
HUMAN_LEG, HUMAN_MASS = 0.85, 75.0   # m, kg: what the constants below are for
FIRMNESS = 18.0        # 1/s, w of a muscle at full strength
SLUGGISH = 8.0         # 1/s: least damping, of the joint's own inertia
ARMATURE, LIGHTEST = 0.015, 0.02     # kg m2: without them hands and head whip
FURTHEST = 1.2         # rad, largest error a muscle answers to
FORGET = 0.4           # s, in which the pose aimed at becomes the pose there is
FEED = 1.2             # of the release time: how long joints keep the clip's own torques
TANK = 0.3             # J by which energy may rise: room for muscles that hold still
FASTEST = 40.0         # rad/s, a safety net
MARGIN, SWEEP = 0.024, 1.5   # m, and steps of its own speed: spheres nearer to the ground are watched
TOUCH = 1e-3           # m
FORGIVEN, OUT = 0.04, 0.2   # m that may stay in the ground if it began there; m/s at which more is pushed out
LOOSE = 0.01           # m: a foot higher than this carries nothing
ATTEMPTS = 4           # at one sub-division
SETTLE_SPEED, SETTLE_TIME, SETTLE_DAMPING = 0.5, 0.5, 26.0  # m/s, s, times
TURN = 0.3             # m: makes a speed of a turning rate
REST_SPEED, REST_TIME, REST_FADE = 0.06, 0.3, 0.25          # m/s, s, s
PATIENCE = 1.0         # s: who is slow for so long on knees and head, or still on its feet, has come to rest too
STABLE = 0.01          # m/s2: who would gain more speed than this with its joints locked does not rest yet
UNEASY = 0.05          # m/s: a sleeper on moving ground that would slip this fast wakes up


@dataclass(frozen=True)
class Settings:
    strength: float = dial(0.06, "", 0.0, 1.0, "Muscle that is left in the end: 0.02 limp, 0.06 usual, 0.2 tense.")
    slacken: float = dial(0.7, "s", 0.05, 5.0, "How long the muscles take to go slack.")
    release: float = dial(0.25, "s", 0.0, 2.0, "How long the keys and the helper force take to let go.")

    def __post_init__(self) -> None:
        for name, spec in self.__dataclass_fields__.items():
            value = getattr(self, name)
            low, high, unit = (spec.metadata[key] for key in ("low", "high", "unit"))
            if not low <= value <= high:
                raise InputError(f"{name} is {value}.", "Falling", f"Choose {low:g} to {high:g} {unit}.")


USUAL = Settings()
LIMP = Settings(strength=0.02, slacken=0.3, release=0.1)
TENSE = Settings(strength=0.2)


@dataclass(frozen=True, eq=False)
class FallStep(Step):
    """A Step that also knows what touches besides the character's own contact points."""

    touching: Bools       # (S,) spheres of the skin
    touch_forces: Array   # (S, 3) N, ground on them


@dataclass(frozen=True, eq=False)
class _Moment:
    """The body at one instant."""

    state: State
    shape: Shape
    motion: Dynamics
    places: Array     # (S, 3) m, the skin in its links' frames
    mass: float       # kg, with loads
    energy: float     # J, kinetic and potential

    @property
    def M(self) -> Array:
        assert self.motion.M is not None
        return self.motion.M


@dataclass(frozen=True, eq=False)
class _Ground:
    """The skin over the ground at one instant."""

    centre: Array     # (S, 3)
    gap: Array        # (S,) m, what counts as inside at the start forgiven
    probe: Probe


@dataclass(frozen=True, eq=False)
class _Limb:
    """A limb that may carry the clip's weight: its contact points, its spheres, and its freedoms up to the trunk."""

    points: Ints
    spheres: Ints
    freedoms: Ints


class _Tally:
    """What a step's sub-divisions add up to."""

    def __init__(self, skin: int, nv: int) -> None:
        self.impulses = np.zeros((skin, 3))
        self.touching = np.zeros(skin, dtype=bool)
        self.external = np.zeros(nv)   # N s, of pushes and of the ground where the character has no contact point


class Falling:
    """One fall from hand-over at sub-step k to rest, and back to the clip if wanted."""

    def __init__(self, clip: Clip, settings: Settings, state: State, k: int) -> None:
        self.clip, self.settings, self.scene = clip, settings, clip.scene
        self.notes: list[Note] = []
        self.is_resting = False
        tree = self.tree = clip.tree
        character = clip.character
        self.skin = skin_points(character)
        axes, lower, upper = bending_limits(tree, clip.rotations, clip.lower, clip.upper)
        widest = np.linalg.norm(rotation.log(clip.rotations), axis=-1).max(0)
        self.limits = JointLimits(tree, lower, upper, axes, np.clip(widest + 0.1, FARTHEST, 3.0))
        self._size = character.mass / HUMAN_MASS * (character.leg_length / HUMAN_LEG) ** 2
        self._length = character.leg_length / HUMAN_LEG
        self._pace = float(np.sqrt(self._length))  # small bodies fall in less time
        self._tank = TANK * character.mass / HUMAN_MASS * character.leg_length / HUMAN_LEG
        self._armature = np.full(tree.nv, ARMATURE * self._size)
        self._armature[:6] = 0.0
        self._freedoms = np.maximum(tree.own.sum(1), 1.0)
        usual = np.array([SPINE_BOOST if role == "trunk" else 1.0 for role in character.roles])
        self._strengths = character.strengths / usual
        self._is_root = (self.skin.link == 0) & ~self.skin.is_sole
        self._own_points = np.flatnonzero(self.skin.point >= 0)
        self._limbs = self._find_limbs()

        self._begin = float(clip.times[k])
        self._aim = state.rotations          # the pose muscles aim at
        self._forces = np.zeros((len(self.skin), 3))
        self._held = np.zeros(len(self.limits))
        self._sink: Array | None = None      # m by which spheres were inside at the start and have not come out
        self._felt = self._begin
        self._work = 0.0                     # J, done by pushes and moving ground
        self._floor = np.inf                 # J, least energy so far, without that work
        self._settled = self._slow = self._propped = self._fading = 0.0
        self._now: _Moment | None = None
        self._asleep: _Ground | None = None
        self._rise: tuple[int, int, Array, Array] | None = None
        self._note(k, "info", "The character is let go.")

    def _find_limbs(self) -> list[_Limb]:
        points, roles, parents = self.clip.character.points, self.clip.character.roles, self.clip.character.parents
        found = []
        for n in range(len(points.limbs)):
            own = np.flatnonzero(points.limb == n)
            end = int(points.link[own].min())
            below = self.clip.character.is_ancestor[:, end]
            links, link = below.copy(), end
            while link > 0 and roles[link] not in ("root", "trunk"):
                links[link] = True
                link = int(parents[link])
            freedoms = np.flatnonzero(links[self.tree.dof_link])
            spheres = np.flatnonzero(below[self.skin.link])
            if len(spheres) and link != end:
                found.append(_Limb(own, spheres, freedoms[freedoms >= 6]))
        return found

    # -- for the driver ------------------------------------------------------------------------------------------

    def step(self, state: State, k: int) -> FallStep:
        """From sub-step k to k + 1."""
        if self._rise is not None:
            return self._follow_rise(state, k)
        if self.is_resting:
            step = self._sleep(state, k)
            if step is not None:
                return step
            self._wake()
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
        plan = plan_rise(clip, self.skin, now.state, k, end)
        if plan.slide > 1.5 * clip.character.leg_length:
            self._note(k, "warning", f"It lies {plan.slide:.1f} m from its keys and slides there while it gets up. "
                       "Key the path nearer, or let it rise later.")
        self._rise = (k, end, plan.positions, plan.rotations)
        self.is_resting = False

    def has_risen(self, k: int) -> bool:
        """At sub-step k the pose is the clip's own again."""
        return self._rise is not None and k >= self._rise[1]

    # -- a fall --------------------------------------------------------------------------------------------------

    def _fall(self, state: State, k: int) -> FallStep:
        start, dt = float(self.clip.times[k]), float(self.clip.dt[k])
        parts = max(1, int(np.ceil(dt * RATE - 1e-6)))
        first = now = self._look(state, k)
        self._floor = min(self._floor, now.energy - self._work)
        tally = _Tally(len(self.skin), self.tree.nv)
        for n in range(parts):
            now = self._advance(now, k + (n + 1) // parts, k, start + n * dt / parts, dt / parts, tally)
        self._now = now
        if self._fading >= REST_FADE:
            self._fall_asleep(k + 1)
        return self._account(first, now.state, k, tally)

    def _advance(self, now: _Moment, after: int, k: int, time: float, dt: float, tally: _Tally) -> _Moment:
        """One sub-division; `after` is the sub-step whose shape the body then has."""
        tree, v = self.tree, now.state.velocity
        external = pushed(tree, now.motion, self.scene.pushes, time, time + dt)
        ground = self._feel(now, time)
        muscles = self._muscles(now, ground, k, time, dt)
        near, contacts, held, muscles, impact = self._meet(now, ground, external, muscles, dt)
        v_next = self._calm(impact, near, ground, now, k, dt)

        position, rotations = advance(tree, now.state.position, now.state.rotations, v_next, dt)
        if len(tree.fixed_links):
            rotations[tree.fixed_links] = self.clip.rotations[after, tree.fixed_links]
        p = impact.impulses
        onto = (p[:, None, :] @ contacts.sides[0].jacobian)[:, 0]               # (C, nv) N s
        self._forces[:], self._held[:] = 0.0, 0.0
        self._forces[near], self._held[held] = p / dt, impact.stops / dt
        tally.impulses[near] += p
        tally.touching[:] = False
        tally.touching[near] = (ground.gap[near] < TOUCH) | p.any(1)
        tally.external += dt * external + onto[self.skin.point[near] < 0].sum(0)
        pushing = np.maximum((p * impact.slip).sum(1), 0.0).sum()               # what was inside is pushed out
        self._work += dt * float(external @ (0.5 * (v + v_next))) + float((p * contacts.drift).sum() + pushing)
        self._follow(rotations, k, time, dt)
        root = dt * (external + muscles.drive(dt))[:6] + onto.sum(0)[:6]
        return self._conserve(now, self._look(State(time + dt, position, rotations, v_next), after), root, dt)

    def _meet(self, now: _Moment, ground: _Ground, external: Array, muscles: Muscles,
              dt: float) -> tuple[Ints, Contacts, Ints, Muscles, Impact]:
        """Contacts and stops resolved; once more where the answer shows that one that was thought far off is reached,
        or that muscles would add energy."""
        v = now.state.velocity
        watched = self._watched(now, ground, dt)
        table = self.limits.at(now.state.rotations, dt)
        watched_stops = table.near(v)
        room = max(self._floor + self._tank - (now.energy - self._work), 0.0)
        for _ in range(ATTEMPTS):
            body = yielding_body(now.M, now.motion.force, external, muscles, v, dt)
            near = np.flatnonzero(watched)
            contacts = self._contacts(now, ground, near, dt)
            watched_stops |= table.near(body.velocity)
            held = np.flatnonzero(watched_stops)
            impact = resolve((body,), contacts, (table.stops(held, dt * self._held),), dt)
            v_next = impact.velocities[0]
            missed = ~watched & (ground.gap + dt * self._rate(now, ground, v_next) < 0.0)
            missed_stops = ~watched_stops & (table.slack(v_next) < 0.0)
            added = dt * float((muscles.drive(dt) - muscles.drag(dt) * v_next) @ (0.5 * (v + v_next)))
            if not missed.any() and not missed_stops.any() and added <= 1.01 * room:
                break
            watched |= missed
            watched_stops |= missed_stops
            if added > room:
                muscles = muscles.weakened(room / added)
        return near, contacts, held, muscles, impact

    def _look(self, state: State, k: int) -> _Moment:
        """Everything about a state; k says which shape the keys give the body then."""
        if self._now is not None and self._now.state is state:
            return self._now
        tree, loads = self.tree, self.scene.loads
        shape = self.clip.shape.at(k)
        if loads:
            shape = loaded(tree, shape, loads, load_masses(loads, state.time))
        pose = forward(tree, shape.offsets, state.position, state.rotations)
        motion = dynamics(tree, shape, pose, state.velocity, np.zeros(tree.nv), self.scene.gravity)
        scales = self.clip.followed.scales
        places = self.skin.position if scales is None else scales[k, self.skin.link] * self.skin.position
        assert motion.M is not None
        mass = float(shape.inertias[:, 3, 3].sum())
        energy = kinetic_energy(motion.M, state.velocity) - mass * float(self.scene.gravity @ motion.com)
        return _Moment(state, shape, motion, places, mass, energy)

    def _conserve(self, before: _Moment, after: _Moment, root: Array, dt: float) -> _Moment:
        """`after` with the momentum that gravity and the impulse `root` (six entries) give, and without energy that
        nothing gave."""
        if self._fading > 0.0:
            return after  # being brought to rest
        M, state = after.M, after.state
        v, position, pose_after = state.velocity, state.position, after.motion.pose
        is_same = self.clip.shape.is_constant and after.mass == before.mass
        if is_same:  # else keys stretch the body or a load is taken up: momentum and energy from outside
            pose = before.motion.pose
            linear, angular = own_momentum(before.motion)
            arm = before.motion.com - pose.position
            angular = angular + pose.R[0] @ root[3:] - rotation.cross(arm, root[:3])
            linear = linear + root[:3] + dt * before.mass * self.scene.gravity
            v = root_velocity(after.motion, v, linear, angular)
            if not self._forces.any():  # nobody touches: the centre of mass goes where its momentum takes it
                position = position + before.motion.com + (dt / before.mass) * linear - after.motion.com
                pose_after = replace(pose_after, position=position)
        own = kinetic_energy(M, v)
        raised = before.mass * float(self.scene.gravity @ (position - state.position))
        energy = after.energy - kinetic_energy(M, state.velocity) + own - raised
        excess = energy - self._work - self._floor - self._tank
        if is_same and excess > 0.0:
            v = drained(M, v, excess)
            energy += kinetic_energy(M, v) - own
        self._floor = min(self._floor, energy - self._work) if is_same else energy - self._work
        again = dynamics(self.tree, after.shape, pose_after, v, np.zeros(self.tree.nv), self.scene.gravity,
                         mass_matrix=False)
        return replace(after, state=State(state.time, position, state.rotations, v),
                       motion=replace(again, M=M, J_com=after.motion.J_com), energy=energy)

    # -- what the body feels and does ----------------------------------------------------------------------------

    def _feel(self, now: _Moment, time: float) -> _Ground:
        """Distances of the skin from the ground. What was inside when the fall began is forgiven until it comes out:
        radii are guesses, and a captured foot may be in the floor. Only what is far inside is pushed out, slowly."""
        centre = place(now.motion.pose, self.skin.link, now.places)
        probe = self.clip.terrain.probe(centre, time)
        gap = probe.distance - self.skin.radius
        inside = np.maximum(-gap, 0.0)
        if self._sink is None:
            self._sink = inside
        else:
            most = np.maximum(self._sink - OUT * max(time - self._felt, 0.0), FORGIVEN * self._length)
            self._sink = np.minimum(np.minimum(self._sink, most), inside)
        self._felt = time
        return _Ground(centre, gap + self._sink, probe)

    def _rate(self, now: _Moment, ground: _Ground, v: Array) -> Array:
        """(S,) how fast the spheres would move away from the ground at velocity v."""
        V = (self.tree.moves @ (now.motion.S * v[:, None]))[self.skin.link]
        speed = V[:, 3:] + rotation.cross(V[:, :3], ground.centre - now.state.position) - ground.probe.velocity
        return np.asarray((speed * ground.probe.normal).sum(1))

    def _watched(self, now: _Moment, ground: _Ground, dt: float) -> Bools:
        """(S,) spheres that may touch within the step."""
        coming = np.minimum(self._rate(now, ground, now.state.velocity), 0.0)
        return np.asarray(ground.gap < MARGIN * self._length - SWEEP * dt * coming)

    def _contacts(self, now: _Moment, ground: _Ground, near: Ints, dt: float) -> Contacts:
        skin, probe = self.skin, ground.probe
        normal = probe.normal[near]
        places = ground.centre[near] - skin.radius[near, None] * normal
        J = point_jacobian(self.tree, now.motion, skin.link[near], places)
        return Contacts(normal, ground.gap[near], probe.friction[near], probe.velocity[near],
                        (Side(0, np.arange(len(near)), J),), dt * self._forces[near])

    def _muscles(self, now: _Moment, ground: _Ground, k: int, time: float, dt: float) -> Muscles:
        """Springs and dampers of this phase."""
        tree, settings = self.tree, self.settings
        since = time - self._begin
        inertia = np.maximum(tree.own @ np.diagonal(now.M) / self._freedoms, LIGHTEST * self._size)
        slack = _smooth(since, settings.slacken)
        s = (1.0 - slack + slack * settings.strength) * self._strengths
        firm = FIRMNESS / self._pace
        stiffness = (s * inertia * firm ** 2)[tree.dof_link]
        damping = np.maximum(2.0 * np.sqrt(s) * firm, SLUGGISH / self._pace) * inertia
        damping = (damping * (1.0 + (SETTLE_DAMPING - 1.0) * _smooth(self._settled, SETTLE_TIME)))[tree.dof_link]
        stiffness[:6] = damping[:6] = 0.0
        e = rotation.subtract(self._aim, now.state.rotations)
        size = np.sqrt((e * e).sum(1, keepdims=True))
        e *= np.minimum(1.0, FURTHEST / np.maximum(size, 1e-9))
        keep = self._keep(time)
        feed = np.zeros(tree.nv)
        if keep > 0.0:
            moment = self.clip.moment(k)
            feed = keep * moment.torque
            feed[:6] *= 1.0 - _smooth(since, settings.release)
            for limb in self._limbs:  # a leg that should carry but hangs in the air would kick
                if moment.touching[limb.points].any() and ground.gap[limb.spheres].min() > LOOSE * self._length:
                    feed[limb.freedoms] = 0.0
        error, velocity = tangent(tree, e, np.zeros(3)), keep * self.clip.v[k + 1]
        return Muscles(stiffness, damping, self._armature, error, velocity, feed)

    def _keep(self, time: float) -> float:
        """Share of the clip's torques and speeds that is left."""
        return 1.0 - _smooth(time - self._begin, FEED * self.settings.release)

    def _follow(self, rotations: Array, k: int, time: float, dt: float) -> None:
        """The pose aimed at moves on with the clip at first, and then comes to the pose there is."""
        keep = self._keep(time)
        aim = self._aim
        if keep > 0.0:
            aim = rotation.add(aim, (self.tree.expand @ (keep * dt * self.clip.v[k + 1])).reshape(-1, 3))
        share = (1.0 - keep) * (1.0 - np.exp(-dt / FORGET))
        self._aim = rotation.add(aim, share * rotation.subtract(rotations, aim))

    # -- coming to rest ------------------------------------------------------------------------------------------

    def _calm(self, impact: Impact, near: Ints, ground: _Ground, now: _Moment, k: int, dt: float) -> Array:
        """The velocity after contact, brought to rest once the body lies still; tells the phases apart."""
        v = impact.velocities[0]
        if not np.isfinite(v).all():
            raise DivergenceError(self._frame(k), "The speed of the falling body")
        fastest = float(np.abs(v[6:]).max(initial=0.0))
        if fastest > FASTEST:
            self._note(k, "warning", f"A joint would have moved at {fastest:.0f} rad/s; it was slowed down.")
            v = np.concatenate((v[:6], np.clip(v[6:], -FASTEST, FASTEST)))
        carried = self._carried(now, ground, near, impact.impulses)
        own = v - carried
        turning = (self.tree.expand @ own).reshape(-1, 3)
        speed = max(float(np.linalg.norm(own[:3])),
                    TURN * self._length * float(np.sqrt((turning * turning).sum(1).max()))) / self._pace
        pressed = near[(impact.impulses * ground.probe.normal[near]).sum(1) > 0.0]
        is_slow = speed < SETTLE_SPEED
        props = set(self.skin.link[pressed[~self.skin.is_sole[pressed]]].tolist())
        self._propped = self._propped + dt if len(props) >= 3 and is_slow else 0.0
        is_down = bool(self._is_root[pressed].any()) or self._propped > PATIENCE
        self._settled += dt if is_down and is_slow else -dt
        self._settled = min(max(self._settled, 0.0), SETTLE_TIME)
        self._slow = self._slow + dt if speed < REST_SPEED and len(pressed) else 0.0
        rests = self._slow > (REST_TIME if is_down else PATIENCE)
        if rests and self._fading == 0.0 and not self._is_stable(now, ground, near, carried, dt):
            rests, self._slow = False, 0.0  # slow, but on its way
        self._fading = self._fading + dt if rests else 0.0
        return carried + max(0.0, 1.0 - self._fading / REST_FADE) * own if rests else v

    def _carried(self, now: _Moment, ground: _Ground, near: Ints, impulses: Array) -> Array:
        """(nv,) velocity of a body that rides on the ground under it: the twist that fits the touched surface best."""
        out = np.zeros(self.tree.nv)
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

    def _ride(self, now: _Moment, v: Array, dt: float) -> Array:
        """The mean over dt of what a constant twist v makes of the root: a turntable must not fling its sleeper off."""
        turn = now.motion.pose.R[0] @ v[3:6]
        angle = max(float(np.linalg.norm(turn)) * dt, 1e-9)
        K = rotation.skew(dt * turn)
        mean = np.eye(3) + (1.0 - np.cos(angle)) / angle ** 2 * K + (angle - np.sin(angle)) / angle ** 3 * (K @ K)
        return np.concatenate((mean @ v[:3], v[3:]))

    def _frozen(self, now: _Moment, ground: _Ground, near: Ints, v: Array, dt: float) -> tuple[Contacts, Impact]:
        """The body with its joints locked, six freedoms, on the contacts `near`, if it had velocity v now."""
        contacts = self._contacts(now, ground, near, dt)
        J = np.ascontiguousarray(contacts.sides[0].jacobian[:, :, :6])
        weight = now.mass * self.scene.gravity
        turn = rotation.cross(now.motion.com - now.state.position, weight) @ now.motion.pose.R[0]
        body = Body.pushed(now.M[:6, :6], v[:6], dt * np.concatenate((weight, turn)))
        locked = replace(contacts, sides=(Side(0, contacts.sides[0].contacts, J),))
        return contacts, resolve((body,), locked, (), dt, tolerance=1e-7, rounds=1000)

    def _is_stable(self, now: _Moment, ground: _Ground, near: Ints, v: Array, dt: float) -> bool:
        """Whether it would stay if its joints were locked."""
        gained = self._frozen(now, ground, near, v, dt)[1].velocities[0] - v[:6]
        arm = TURN * self._length
        return max(float(np.abs(gained[:3]).max()), arm * float(np.abs(gained[3:]).max())) < STABLE * dt

    def _fall_asleep(self, k: int) -> None:
        self.is_resting = True
        self._note(k, "info", "The character has come to rest.")

    def _wake(self) -> None:
        self.is_resting = False
        self._settled = self._slow = self._propped = self._fading = 0.0

    def _sleep(self, state: State, k: int) -> FallStep | None:
        """The pose is held on the ground that carries it; None if something wakes it."""
        start, dt = float(self.clip.times[k]), float(self.clip.dt[k])
        now = self._look(state, k)
        if any(push.mean_force(start, start + dt).any() for push in self.scene.pushes):
            return None
        if any(load.mass_at(start) != load.mass_at(start + dt) for load in self.scene.loads):
            return None
        ground = self._feel(now, start)
        near = np.flatnonzero((ground.gap < 2.0 * TOUCH) | self._forces.any(1))
        if not len(near) or ground.gap[near].max() > 10.0 * TOUCH:
            return None
        contacts, impact = self._frozen(now, _Ground(ground.centre, np.zeros(len(ground.gap)), ground.probe), near,
                                        state.velocity, dt)
        v = self._carried(now, ground, near, impact.impulses)
        if np.abs(impact.velocities[0] - v[:6])[:3].max() > UNEASY:
            return None
        tally = _Tally(len(self.skin), self.tree.nv)
        tally.impulses[near] = impact.impulses
        tally.touching[near] = True
        onto = (impact.impulses[:, None, :] @ contacts.sides[0].jacobian)[:, 0]
        tally.external += onto[self.skin.point[near] < 0].sum(0)
        self._forces[near] = impact.impulses / dt
        position, rotations = state.position, state.rotations
        if v.any():
            v = self._ride(now, v, dt)
            position, rotations = advance(self.tree, position, rotations, v, dt)
        if len(self.tree.fixed_links):
            rotations = rotations.copy()
            rotations[self.tree.fixed_links] = self.clip.rotations[k + 1, self.tree.fixed_links]
        after = State(float(self.clip.times[k + 1]), position, rotations, v)
        step = self._account(now, after, k, tally)
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
        tally = _Tally(len(self.skin), self.tree.nv)
        tally.external += dt * pushed(self.tree, now.motion, self.scene.pushes, state.time, state.time + dt)
        ground = self._feel(now, state.time)
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
        step = self._account(now, after, k, tally)
        self._now = self._look(after, min(k + 1, self.clip.steps))
        return step

    # -- bookkeeping ---------------------------------------------------------------------------------------------

    def _account(self, first: _Moment, state: State, k: int, tally: _Tally) -> FallStep:
        """The step's forces: averages, and what they leave over in tau and aid."""
        dt = float(self.clip.dt[k])
        a = (state.velocity - first.state.velocity) / dt
        forces = np.zeros((len(self.clip.character.points), 3))
        contacts = np.zeros(len(forces), dtype=bool)
        own = self._own_points
        forces[self.skin.point[own]] = tally.impulses[own] / dt
        contacts[self.skin.point[own]] = tally.touching[own]
        external = tally.external / dt
        total = first.M @ a + first.motion.force - external
        pressed = own[tally.impulses[own].any(1)]
        if len(pressed):
            places = place(first.motion.pose, self.skin.link[pressed], first.places[pressed])
            J = point_jacobian(self.tree, first.motion, self.skin.link[pressed], places)
            total -= (tally.impulses[pressed, None, :] @ J)[:, 0].sum(0) / dt
        torque = total.copy()
        torque[:6] = 0.0
        return FallStep(state, a, torque, total[:6], contacts, forces, external,
                        load_masses(self.scene.loads, first.state.time), tally.touching, tally.impulses / dt)

    def _frame(self, k: int) -> int:
        return self.scene.range[0] + int(np.searchsorted(self.clip.frame_step, k))

    def _note(self, k: int, level: Literal["info", "warning"], sentence: str) -> None:
        self.notes.append(Note(level, sentence, self._frame(k)))


def _smooth(time: float, span: float) -> float:
    """0 to 1 over a span of time, without a jump in speed."""
    if span <= 0.0:
        return 1.0
    x = min(max(time / span, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)
