"""One step: track, ask what that costs, let joints yield, let other parts help, keep balance, or begin to fall.

    a = a_track + S_arm x_arm + S_back x_back + yielding + T_pelvis p''            [Oshita2001] eq. 6, 16

Legs are functions of the pelvis: their rows of a come from limbs that reach for their feet at the end of the step.
A blow (a push shorter than BLOW) changes velocities before the step, with all joints free and planted feet held; a
longer push, and every load, is part of what the accelerations cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal

import numpy as np

from ...model.arrays import Array, Bools, Ints
from ...model.result import Note, Step
from ...model.scene import Push, Scene
from ...model.state import State
from ...model.terrain import Probe
from ...numerics import rotation
from ...numerics.qp import solve_nonnegative_qp
from ...physics.blow import blow, caught
from ...physics.cones import cone_edges
from ...physics.dynamics import Dynamics, dynamics, point_jacobian, points
from ...physics.kinematics import advance, forward
from ...physics.outside import load_masses, loaded, pushed
from ...physics.support import Support, nearest, widened, wrench_map, zmp
from ...references.clip import Clip
from .comfort import STILL, UNLOADED, Act, Demand, Stop
from .feet import Feet
from .floor import Floor
from .leaning import course_of
from .parts import Levers, find_parts
from .settings import USUAL, Settings
from .stance import Stance
from .stops import Stops
from .strength import HUMAN_HEIGHT, HUMAN_MASS, MARGIN, Strength
from .tipping import BEYOND, LEAN, Tipping, spin_inertia, tipping_acceleration
from .tracking import Tracking

BLOW = 0.05            # s: a shorter push is a blow
RIDGE = 1e-6           # of the mean curvature: makes the ground's forces unique
SHARED = 0.02          # of the weight: every touching point may take a little
ON_KEYS = 1e-9         # rad, m and per second: nothing has disturbed it
SPENT, BACK_SPENT = 1.0, 0.6   # rad off the keys: who has swung so far for balance has nothing left to give
HELD = 30.0            # an arm that holds a thirtieth of the body's mass swings half as readily
SHIFT, SWAY = 0.3, 0.07   # leg lengths that a pelvis goes aside for balance: on standing feet, and in a gait, where the
                          # next step does more for balance than a pelvis that runs away
PATIENCE, ASIDE = 0.15, 0.03   # s, m: Z may be so far outside for so long before the body begins to tip
NEARBY = 0.004         # m outside that a sole and the helper take up without tipping
MENDS = 3              # times that the pelvis looks again at where Z has come to
FASTEST = 30.0         # rad/s beyond the reference: a safety net
SLACKEST, RESUME = 0.9, 0.5   # how far it stops pulling; of the time to ease back, in which it begins again
TOO_MUCH = 0.05        # share beyond its strength from which on a joint complains
MISSED, GIVE_UP = 3.0, 0.08   # rad/s2, s: a joint that misses its keys by so much stops pulling at them in this time


Balance = Literal["kept", "outside", "tipping", "flight", "carried", "lost"]


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What was hard, who helped, and where the balance is."""

    stress: Array                # (N,) share by which the keys would have overloaded each joint; 0 within strength
    overload: Array              # (N,) the same after all help: what is left
    acts: tuple[Act, ...]        # who helped whom, and why
    yielding: Bools              # (N,) joints that gave way
    zmp: Array                   # (3,) nan where nothing presses
    nearest: Array               # (3,) support point nearest to it
    polygon: Array               # (n, 3) the support area
    balance: Balance


@dataclass(frozen=True, eq=False)
class ComfortStep(Step):
    """A Step with its diagnosis."""

    diagnosis: Diagnosis

    @property
    def stress(self) -> Array:
        return self.diagnosis.stress

    @property
    def overload(self) -> Array:
        return self.diagnosis.overload

    @property
    def acts(self) -> tuple[Act, ...]:
        return self.diagnosis.acts

    @property
    def yielding(self) -> Bools:
        return self.diagnosis.yielding

    @property
    def zmp(self) -> Array:
        return self.diagnosis.zmp

    @property
    def nearest(self) -> Array:
        return self.diagnosis.nearest

    @property
    def polygon(self) -> Array:
        return self.diagnosis.polygon

    @property
    def balance(self) -> Balance:
        return self.diagnosis.balance


class ZmpComfort:
    """[Oshita2001] on a clip; see the package's page."""

    def __init__(self, scene: Scene, settings: Settings = USUAL) -> None:
        self.scene, self.settings = scene, settings
        clip = self.clip = Clip(scene, settings.smoothing)
        tree = self.tree = clip.tree
        character = clip.character
        self.parts = find_parts(tree, settings.parts)
        self.strength = Strength(tree, self.parts, settings)
        self._levers = Levers(tree, self.parts)
        height = float(np.ptp(np.concatenate((character.rest_positions, character.rest_positions + character.tips)),
                              axis=0)[2])
        armature = settings.muscle_inertia * character.mass / HUMAN_MASS * (height / HUMAN_HEIGHT) ** 2
        self._armature = np.full(tree.nv, armature)
        self._armature[:6] = 0.0
        self._feet = Feet(clip, self.parts)
        self._find_freedoms()
        self._props = self._find_props()
        self._stops = Stops(clip, self.parts, self.strength.Q, self._standing)
        self._floor = Floor(clip, self._upper)
        self._steady = tuple(push for push in scene.pushes if not _is_blow(push))
        self._blows = tuple(push for push in scene.pushes if _is_blow(push))
        self.diagnoses: dict[int, Diagnosis] = {}     # per frame of the motion, of its last sub-step
        self._peaks = self._find_peaks()
        self._stance = Stance(clip, settings, self._force_ref[:, :6])
        self.course = course_of(clip, self.parts, self._feet, self._stance, settings.use_balance)
        self.tracking = Tracking(clip, self.course, settings.ease_back)
        self.start()

    # -- once ----------------------------------------------------------------------------------------------------

    def _find_freedoms(self) -> None:
        tree, character = self.tree, self.clip.character
        self._standing = self._feet.freedoms
        self._relieved = self._standing.copy()     # an ankle carries what the ZMP makes it carry: balance is its cure
        for limb in self._feet.limbs:
            self._relieved[tree.dof_link == limb.last] = False
        soles = np.isin(tree.dof_link, [i for i, role in enumerate(character.roles) if role == "toe"])
        self._upper = ~self._standing & ~soles
        self._upper[:6] = False
        self._is_upper = np.zeros(len(character), dtype=bool)
        self._is_upper[tree.dof_link[self._upper]] = True
        self._joints = [(character.names[i], np.flatnonzero((tree.dof_link == i) & (np.arange(tree.nv) >= 6)))
                        for i in range(1, len(character))]
        below: Bools = np.asarray(character.is_ancestor[:, list(self.parts.swings)].any(axis=1))
        self._own_arms = below[tree.dof_link] & self._upper
        self._own_back = np.isin(tree.dof_link, self.parts.back) & self._upper
        carries: Bools = np.asarray(character.is_ancestor[character.points.link].any(axis=0))
        self._is_hanging = ~carries[tree.dof_link]    # torques that no contact force changes

    def _find_peaks(self) -> tuple[Array, Array]:
        """(least, most) (nv,) N m that the unloaded reference needs where no contact force enters."""
        clip, tree = self.clip, self.tree
        self._force_ref = np.zeros((clip.steps, tree.nv))      # M a + h of the reference
        least, most = np.zeros(tree.nv), np.zeros(tree.nv)
        for start in range(0, clip.steps, 256):
            run = slice(start, min(start + 256, clip.steps))
            shape = clip.shape.at(run)
            pose = forward(tree, shape.offsets, clip.positions[run], clip.rotations[run])
            force = dynamics(tree, shape, pose, clip.v[run], clip.a[run], self.scene.gravity, mass_matrix=False).force
            self._force_ref[run] = force
            tau = (force + self._armature * clip.a[run]) @ self.strength.Q.T
            least, most = np.minimum(least, tau.min(0)), np.maximum(most, tau.max(0))
        return np.where(self._is_hanging, least, 0.0), np.where(self._is_hanging, most, 0.0)

    def _find_props(self) -> list[tuple[Ints, Bools]]:
        """Contact points of each hand, and the freedoms of its arm."""
        tree, character = self.tree, self.clip.character
        contact = character.points
        found: list[tuple[Ints, Bools]] = []
        for n, limb in enumerate(contact.limbs):
            if limb.kind == "hand":
                own = np.flatnonzero(contact.limb == n)
                arm = character.is_ancestor[int(contact.link[own[0]])] & ~character.is_ancestor[self.parts.chest]
                found.append((own, np.asarray(arm[tree.dof_link] & self._upper)))
        return found

    # -- the clock -----------------------------------------------------------------------------------------------

    def calm_step(self, state: State, k: int) -> Step | None:
        return None  # keys that ask too much of a joint are eased also where nothing acts

    def start(self, k: int = 0) -> State:
        """On the keys at sub-step k (at first already beginning to lean); earlier steps are forgotten."""
        clip = self.clip
        self.is_lost = False
        if k == 0:
            self.notes: list[Note] = [Note("info", sentence) for sentence in self.parts.sentences]
        self._tip = Tipping()
        self._feet.start()
        self._stance.start()
        self._slack = np.zeros(len(clip.character))       # share of its error that each joint lets be
        self._outside = 0.0                               # s since Z left the support
        self._pressed = np.zeros(len(clip.character.points))
        self._told: set[str] = set()
        self._worst: dict[str, tuple[float, int]] = {}    # per bone: overload, place among the notes
        self._stopped = np.zeros(self.tree.nv, dtype=bool)
        v = clip.v[k] if k else self.course.v[0]
        return State(float(clip.times[k]), clip.positions[k], clip.rotations[k], v)

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what overflows is caught by `_finish`
    def step(self, state: State, k: int) -> ComfortStep:
        clip, tree, settings = self.clip, self.tree, self.settings
        dt = float(clip.dt[k])
        masses = load_masses(self.scene.loads, state.time)
        shape = loaded(tree, clip.shape.at(k), self.scene.loads, masses) if self.scene.loads else clip.shape.at(k)
        pose = forward(tree, shape.offsets, state.position, state.rotations)
        still = np.zeros(tree.nv)
        first = motion = dynamics(tree, shape, pose, state.velocity, still, self.scene.gravity)
        links = clip.character.points.link
        touch = points(pose, motion, links, shape.points)
        J = point_jacobian(tree, motion, links, touch.position)
        ground = clip.terrain.probe(touch.position, state.time)
        touching = self._stance.touching(k, touch.position, ground, self._tip)
        assert first.M is not None
        M = first.M
        v = state.velocity
        steady = pushed(tree, motion, self._steady, state.time, state.time + dt)
        sudden = self._sudden(k, motion)
        H = M + np.diag(self._armature)
        if sudden.any():
            reply, _ = blow(H, J[touching], ground.normal[touching], dt * sudden)
            v = caught(reply, v + reply.to(dt * sudden), *self._stops.for_blow(k, state, dt))
            motion = dynamics(tree, shape, pose, v, still, self.scene.gravity)
        if self.is_lost:
            return self._hold(state, k, dt, first, steady + sudden, J, ground, touching, masses)
        off = np.linalg.norm(rotation.subtract(state.rotations, self.course.rotations[k]), axis=-1)
        aside = (state.position - self.course.positions[k] - self._feet.carry - self._stance.lean)[:2]
        room = clip.character.leg_length * (SHIFT if clip.is_standing[k] else SWAY)
        self._spent = (min(1.0, float(off[list(self.parts.swings)].max(initial=0.0)) / SPENT),
                       min(1.0, float(off[list(self.parts.back)].sum()) / BACK_SPENT),
                       min(1.0, float(np.linalg.norm(aside)) / room))
        is_disturbed = bool(steady.any() or sudden.any() or masses.any()) or self._is_astray(k, state, v)
        standing = touching & (not is_disturbed or not self._stance.is_carried(k))
        support = self._stance.support(k, touch.position, ground, standing, self._tip)
        if sudden.any() and support is not None and settings.use_balance and settings.use_fall:
            self._judge(k, motion, support, state.time)     # a blow that throws it over does so at once
        if is_disturbed:
            self._stance.lean_over(k, dt, motion, support, self._tip, self.course, bool(steady.any()))
        a = self._track(k, state, v)
        demand, before, resting = None, a, still
        acts: list[Act] = []
        is_flying = not touching.any() and not self._stance.is_carried(k)
        if is_flying and is_disturbed:
            a = self._fly(k, a, H, motion.force - steady)
        if is_disturbed:
            Q, stop = self.strength.Q, self._stops.at(k, state, v, dt)
            before = a = self._feet.settle(k, dt, state, v, Q.T @ stop(Q @ a)[0], is_flying, self._tip)
            demand = self._demand(k, state, v, H, motion, steady, J, ground, standing, support, stop)
            if settings.use_comfort or settings.use_balance:
                asked = Q @ a
                given, acts = self._respond(demand, asked, motion, masses)
                if given is not asked:
                    given, self._stopped = stop(given)
                    a = self._feet.settle(k, dt, state, v, Q.T @ given, is_flying, self._tip)
                    for _ in range(MENDS):     # legs settle otherwise than their levers say, most so when straight
                        if demand.outside(Q @ a) < STILL:
                            break
                        mended, act = demand.shift(Q @ a, self._pelvis(motion), settings.pelvis_shift, self._spent[2])
                        if act is None:
                            break
                        acts.append(act)
                        a = self._feet.settle(k, dt, state, v, Q.T @ mended, is_flying, self._tip)
                self._slacken(before, a, dt)
            if is_flying:      # whatever joints do, momentum stays
                a = self._fly(k, a, H, motion.force - steady)
            a = self._tip_over(k, dt, state, v, a, demand, motion, is_flying)
            is_flying = is_flying and not self._tip.is_on
            after, resting = self._floor.stopped(k, dt, state, v + dt * a, motion, H)
            if resting.any():
                a = (after - v) / dt
        return self._finish(k, dt, state, v, a, before, first, steady + sudden, J, ground, touching, masses, demand,
                            support, tuple(acts), is_flying, resting)

    # -- the pieces ----------------------------------------------------------------------------------------------

    def _sudden(self, k: int, motion: Dynamics) -> Array:
        """(nv,) the blows whose middle is in this step, each delivered whole: spread over the steps that it lasts, the
        answer to its first part would meet the second, and the response would depend on the frame rate. Of a blow
        across an end of the range, what lies within it counts."""
        out, times = np.zeros(self.tree.nv), self.clip.times
        for push in self._blows:
            start, stop = max(float(push.times[0]), float(times[0])), min(float(push.times[-1]), float(times[-1]))
            if start < stop and times[k] <= 0.5 * (start + stop) < times[k + 1]:
                out += (stop - start) / self.clip.dt[k] * pushed(self.tree, motion, (push,), start, stop)
        return out

    def _is_astray(self, k: int, state: State, v: Array) -> bool:
        clip = self.clip
        return bool(np.abs(state.position - clip.positions[k]).max() > ON_KEYS
                    or np.abs(v - clip.v[k]).max() > ON_KEYS
                    or np.abs(rotation.subtract(state.rotations, clip.rotations[k])).max() > ON_KEYS)

    def _root_reference(self, k: int) -> tuple[Array, Array, Array]:
        """(place, turn, v (nv,)) of the reference, carried by its feet and by a fall."""
        course, tip = self.course, self._tip
        place, turn, v = course.positions[k] + self._feet.carry + self._stance.lean, course.rotations[k, 0], course.v[k]
        if not tip.is_on:
            return place, turn, v
        place = tip.place(place)
        R = tip.R @ rotation.matrix(turn)
        v = v.copy()
        v[:3] = tip.R @ v[:3] + tip.velocity(place)
        v[3:6] = v[3:6] + tip.rate @ R
        return place, rotation.from_matrix(R), v

    def _track(self, k: int, state: State, v: Array) -> Array:
        place, turn, v_ref = self._root_reference(k)
        return self.tracking.accelerations(k, state.position, state.rotations, v, place, turn, v_ref,
                                           1.0 - self._slack)

    def _slacken(self, wanted: Array, given: Array, dt: float) -> None:
        """A joint that cannot follow its keys stops pulling at them, and begins again little by little. Otherwise what
        it asks for grows with its error, others are called to help it, and all swing against each other."""
        missed = np.sqrt((self.tree.turns(given - wanted) ** 2).sum(1))
        target = np.where(self._is_upper, np.minimum(missed / MISSED, SLACKEST), 0.0)
        span = np.where(target > self._slack, GIVE_UP, RESUME * self.settings.ease_back)
        self._slack = self._slack + np.minimum(dt / span, 1.0) * (target - self._slack)

    def _fly(self, k: int, a: Array, H: Array, h: Array) -> Array:
        """In the air the root obeys momentum; what the helper gives the keys, it goes on giving, but not the ground
        that they may stand on by now."""
        a = a.copy()
        a[:6] = np.linalg.solve(H[:6, :6], self.clip.moment(k).torque[:6] - H[:6, 6:] @ a[6:] - h[:6])
        return a

    def _demand(self, k: int, state: State, v: Array, H: Array, motion: Dynamics, steady: Array, J: Array,
                ground: Probe, touching: Bools, support: Support | None, stop: Stop) -> Demand:
        Q, settings = self.strength.Q, self.settings
        h = motion.force - steady
        centre = support.centre if support is not None else state.position
        X = wrench_map(state.position, motion.pose.R[0], centre)
        A, b = X @ H[:6], X @ h[:6]
        D = self._share(J, ground, touching, motion, X)
        G, g = H - D @ A, h - D @ b
        lowest, highest = self.strength.limits(state.rotations, Q @ v)
        if settings.trust_keys:
            own = self._armature * self.clip.a[k]
            X = wrench_map(self.clip.positions[k], rotation.matrix(self.clip.rotations[k, 0]), centre)
            shared = self._force_ref[k] - D @ (X @ self._force_ref[k, :6])      # the ground's forces shared as here
            usual = np.stack((self.clip.moment(k).torque + own, shared + own)) @ Q.T
            lowest = np.minimum(lowest, MARGIN * np.minimum(self._peaks[0], usual.min(0)))
            highest = np.maximum(highest, MARGIN * np.maximum(self._peaks[1], usual.max(0)))
        upper = self._upper
        for own, arm in self._props:     # a hand that stands on something is a leg: its arm neither swings nor yields
            if self.clip.schedule.touching[k, own].any():
                upper = upper & ~arm
        return Demand(Q @ G @ Q.T, Q @ g, lowest, highest, upper, self._relieved, self._levers.spine,
                      self._levers.bend, self._levers.vertebrae, self._joints, A @ Q.T, b, support,
                      self._stance.weight, stop, settings.use_comfort, settings.use_balance)

    def _share(self, J: Array, ground: Probe, touching: Bools, motion: Dynamics, X: Array) -> Array:
        """(nv, 6) generalised force of the ground per unit of its wrench: points share as in the step before,
        f = w G^T (G w G^T)^-1 wrench, which leaves nothing at the root. Replaces the paper's split between two feet."""
        if not touching.any():
            return np.zeros((self.tree.nv, 6))
        rows = J[touching].reshape(-1, self.tree.nv)                 # (3 n, nv)
        weights = np.repeat(self._pressed[touching] + SHARED * self._stance.weight, 3)
        grasp = X @ rows[:, :6].T                                    # (6, 3 n)
        K = (grasp * weights) @ grasp.T
        K.ravel()[::7] += 1e-9 * np.trace(K)
        return np.asarray(rows.T @ ((weights[:, None] * grasp.T) @ np.linalg.inv(K)))

    def _ease_of_arms(self, masses: Array) -> Array:
        """(2 n,) how readily each arm swings for balance, with what its hand holds."""
        character = self.clip.character
        held = np.zeros(len(character))
        for load, mass in zip(self.scene.loads, masses, strict=True):
            held[character.index(load.body)] += mass
        below = character.is_ancestor[:, list(self.parts.swings)]
        return np.repeat(1.0 / (1.0 + HELD * (held @ below) / character.mass), 2)

    def _respond(self, demand: Demand, a: Array, motion: Dynamics, masses: Array) -> tuple[Array, list[Act]]:
        """[Oshita2001] 5.3: passive, then arms, back, passive again, then the pelvis."""
        settings, Q = self.settings, self.strength.Q
        tau = demand.torque(a)
        found = demand.balance(a)
        is_stressed = settings.use_comfort and bool(demand.stress(tau)[6:].any())
        if not is_stressed and (found is None or found[2]):
            return a, []
        acts: list[Act] = []
        base = a
        arms, back, pelvis = self._spent
        swings = self._levers.arms(motion.pose)
        swings[(self._upper & ~demand.upper)] = 0.0
        for part, S, ease, own, cap, spent in (
                ("arms", swings, self._ease_of_arms(masses), self._own_arms, settings.arm_swing, arms),
                ("back", self._levers.back(motion.pose), np.ones(1), self._own_back, settings.back_bend, back)):
            base, act = demand.help(base, Q @ self._feet.complete(S, motion), ease, own, cap, spent,
                                    "arms" if part == "arms" else "back")
            if act is not None:
                acts.append(act)
        a = demand.yielded(base)
        if demand.support is None:     # nothing to shift the pelvis from
            return a, acts
        moved, act = demand.shift(a, self._pelvis(motion), settings.pelvis_shift, pelvis)
        if act is not None:
            acts.append(act)
            a = demand.yielded(moved)
        return a, acts

    def _pelvis(self, motion: Dynamics) -> Array:
        """(nv, 3) T_p of eq. 16, in anatomical coordinates: the pelvis moves, and the legs with it."""
        T = np.zeros((self.tree.nv, 3 if self._feet.limbs else 0))
        T[:3] = np.eye(3)[:, :T.shape[1]]
        return np.asarray(self.strength.Q @ self._feet.complete(T, motion))

    def _tip_over(self, k: int, dt: float, state: State, v: Array, a: Array, demand: Demand, motion: Dynamics,
                  is_flying: bool) -> Array:
        """What to do about a Z that is still outside: wait a little, tip about the nearest point, or give up."""
        support, tip = demand.support, self._tip
        self._feet.carry_on(k, dt, state, is_flying)
        if support is None or not self.settings.use_balance:
            if tip.is_on and support is None:
                self._lose(k)
            self._outside = 0.0
            return a
        w = demand.A @ (self.strength.Q @ a) + demand.b
        press = float(support.normal @ w[:3])
        Z, target, is_inside = np.zeros(2), np.zeros(2), True
        if press > UNLOADED * demand.weight:
            Z = zmp(support, w)
            target, is_inside = nearest(support.corners, Z)
        far = float(np.linalg.norm(Z - target))
        if not tip.is_on and (is_inside or far < NEARBY):
            self._outside = 0.0
            return a
        self._outside += dt * min(max(far / ASIDE, 0.5), 3.0)     # far outside counts more, at any frame rate
        if not self.settings.use_fall or (not tip.is_on and self._outside < PATIENCE):
            return a
        if not tip.is_on and not self.clip.is_standing[k]:     # who walks puts the other foot down instead
            self._judge(k, motion, support, state.time)
            return a
        pivot = support.lifted(target)
        assert motion.M is not None
        spin = spin_inertia(motion.M, motion.pose.R[0], motion.com, state.position)
        alpha = tipping_acceleration(support, pivot, w, motion.com, float(motion.M[0, 0]), spin)
        out = a.copy()
        out[:3] += rotation.cross(alpha, state.position - pivot)
        out[3:6] += alpha @ motion.pose.R[0]
        tip.turn(tip.rate + dt * alpha, pivot, dt)
        tip.keep_above(self.clip.paths[k][self.clip.schedule.touching[k]], support.normal)
        self._judge(k, motion, support, state.time)
        return self._feet.settle(k, dt, state, v, out, is_flying, self._tip)

    def _judge(self, k: int, motion: Dynamics, support: Support, time: float) -> None:
        """Lost: tipped far, or the capture point  com + com' sqrt(z / g)  of the body is far outside, and not only
        because the keys have it there (who walks is always about to fall)."""
        clip = self.clip
        height = float((motion.com - support.centre) @ support.normal)
        if height <= 0.0 or self._tip.angle > LEAN:
            self._lose(k)
            return
        gravity = max(float(np.linalg.norm(self.scene.gravity)), 1e-6)
        pace = np.sqrt(height / gravity)
        assert motion.M is not None
        whole = float(motion.M[0, 0])
        com = whole * motion.com
        for load, mass in zip(self.scene.loads, load_masses(self.scene.loads, time), strict=True):
            link = clip.character.index(load.body)
            com = com - mass * (motion.pose.position + motion.pose.x[link] + motion.pose.R[link] @ load.point)
        com = com / clip.character.mass
        lean = self.course.positions[k] - clip.positions[k]
        usual = clip.coms[k] + lean + self._feet.carry + pace * (clip.coms[k + 1] - clip.coms[k]) / float(clip.dt[k])
        capture = support.flat(com + pace * motion.momentum[3:] / whole)
        reached = widened(support, support.flat(usual)).corners
        if float(np.linalg.norm(capture - nearest(reached, capture)[0])) > BEYOND * height:
            self._lose(k)

    def _lose(self, k: int) -> None:
        self.is_lost = True
        self._note(k, "warning", "It loses its balance and falls.")

    # -- accounts ------------------------------------------------------------------------------------------------

    def _ground_forces(self, first: Dynamics, needed: Array, J: Array, ground: Probe, touching: Bools) -> Array:
        """(P, 3) forces within the cones that leave least to the helper."""
        forces = np.zeros((len(touching), 3))
        if not touching.any():
            return forces
        edges = cone_edges(ground.normal[touching], ground.friction[touching])
        B = (edges @ J[touching][:, :, :6]).reshape(-1, 6)
        K = B @ B.T
        K.ravel()[::len(K) + 1] += RIDGE * np.trace(K) / len(K)
        along = solve_nonnegative_qp(K, -B @ needed[:6]).reshape(-1, 4)
        forces[touching] = (along[:, None, :] @ edges)[:, 0]
        return forces

    def _finish(self, k: int, dt: float, state: State, v: Array, a: Array, before: Array, first: Dynamics,
                external: Array, J: Array, ground: Probe, touching: Bools, masses: Array, demand: Demand | None,
                support: Support | None, acts: tuple[Act, ...], is_flying: bool, resting: Array) -> ComfortStep:
        """Integrate and account for every force; `resting` (nv,) is what the floor gives under hands and head."""
        clip, tree = self.clip, self.tree
        assert first.M is not None
        after = v + dt * a
        fastest = float(np.abs(after - clip.v[k + 1]).max())
        if not isfinite(fastest):
            self._note(k, "warning", "The step had no finite answer; the keys were followed instead.")
            after = clip.v[k + 1].copy()
        elif fastest > FASTEST:
            after = clip.v[k + 1] + (after - clip.v[k + 1]) * (FASTEST / fastest)
            self._note(k, "warning", f"A joint would have moved at {fastest:.0f} rad/s; it was slowed down.")
        position, rotations = advance(tree, state.position, state.rotations, after, dt)
        if len(tree.fixed_links):
            rotations[tree.fixed_links] = clip.rotations[k + 1, tree.fixed_links]
        whole = (after - state.velocity) / dt
        needed = first.M @ whole + first.force - external
        forces = self._ground_forces(first, needed, J, ground, touching)
        self._pressed = np.maximum((forces * ground.normal).sum(1), 0.0)
        torque = needed - np.einsum("pij,pi->j", J[touching], forces[touching])
        aid = torque[:6].copy()
        torque[:6] = 0.0
        Z, target, polygon, balance = self._balance_of(needed, state, first, support, is_flying, k)
        worked = torque
        if resting.any():     # what the floor takes, neither feet nor muscles carry
            left = needed - resting
            worked = left - np.einsum("pij,pi->j", J[touching],
                                      self._ground_forces(first, left, J, ground, touching)[touching])
        is_struck = bool((v != state.velocity).any())
        stress, overload, yielding = self._burden(demand, before, a, None if is_struck else worked, k)
        diagnosis = Diagnosis(stress, overload, acts, yielding, Z, target, polygon, balance)
        self.diagnoses[self._frame(k + 1)] = diagnosis
        return ComfortStep(State(float(clip.times[k + 1]), position, rotations, after), whole, torque, aid, touching,
                           forces, external, masses, diagnosis)

    def _balance_of(self, needed: Array, state: State, first: Dynamics, support: Support | None, is_flying: bool,
                    k: int) -> tuple[Array, Array, Array, Balance]:
        nowhere = np.full(3, np.nan)
        if support is None:
            return nowhere, nowhere, np.zeros((0, 3)), "flight" if is_flying else "carried"
        w = wrench_map(state.position, first.pose.R[0], support.centre) @ needed[:6]
        if float(support.normal @ w[:3]) <= UNLOADED * self._stance.weight:
            return nowhere, nowhere, support.polygon, "kept"
        Z = zmp(support, w)
        target, is_inside = nearest(support.corners, Z)
        kept = is_inside or float(np.linalg.norm(Z - target)) < 1e-3
        return support.lifted(Z), support.lifted(target), support.polygon, \
            "lost" if self.is_lost else "tipping" if self._tip.is_on else "kept" if kept else "outside"

    def _burden(self, demand: Demand | None, before: Array, a: Array, torque: Array | None,
                k: int) -> tuple[Array, Array, Bools]:
        """(stress of the keys, stress that is left, joints that gave way), per link. `torque` (nv,) is what muscles
        give; None in the step of a blow, which bones and stops take, so that only what it leaves to do counts."""
        count = len(self.clip.character)
        if demand is None:
            return np.zeros(count), np.zeros(count), np.zeros(count, dtype=bool)
        Q, link = self.strength.Q, self.tree.dof_link
        asked = demand.share(demand.stress(demand.torque(Q @ before)))
        given = demand.torque(Q @ a) if torque is None else Q @ (torque + self._armature * a)
        left = demand.share(demand.stress(given))
        asked[:6] = left[:6] = 0.0
        left[self._stopped] = 0.0     # held by its stop, not by muscle
        stress, overload = np.zeros(count), np.zeros(count)
        np.maximum.at(stress, link, asked)
        np.maximum.at(overload, link, left)
        yielding = (stress > 1e-9) & self._is_upper
        for i in np.flatnonzero(overload > TOO_MUCH):
            self._complain(self.clip.character.names[i], float(overload[i]), self._frame(k))
        return stress, overload, yielding

    def _complain(self, bone: str, overload: float, frame: int) -> None:
        """One note per bone, of the frame where it is worst."""
        worst, place = self._worst.get(bone, (0.0, len(self.notes)))
        if overload > worst:
            self._worst[bone] = overload, place
            sentence = f"It needs up to {100 * overload:.0f} % more strength than it has."
            self.notes[place:place + 1] = [Note("warning", sentence, frame, bone)]

    def _hold(self, state: State, k: int, dt: float, first: Dynamics, external: Array, J: Array, ground: Probe,
              touching: Bools, masses: Array) -> ComfortStep:
        """Lost, and nobody took over: the pose is held where it is by the helper force."""
        return self._finish(k, dt, state, np.zeros(self.tree.nv), np.zeros(self.tree.nv), np.zeros(self.tree.nv),
                            first, external, J, ground, touching, masses, None, None, (), False,
                            np.zeros(self.tree.nv))

    def _frame(self, k: int) -> int:
        return self.scene.range[0] + int(np.searchsorted(self.clip.frame_step, k))

    def _note(self, k: int, level: Literal["info", "warning"], sentence: str) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            self.notes.append(Note(level, sentence, self._frame(k)))


def _is_blow(push: Push) -> bool:
    return float(push.times[-1] - push.times[0]) < BLOW
