"""One step of quasi-physical control, written as a deviation from the reference: a = a* + d, lambda = lambda* + e.

    minimise over d, e >= -lambda*
        1/2 |M d + rho - B e|^2_Wtau + 1/2 |T d - eps_p|^2_Wp + 1/2 |J d - eps_e|^2_We
    rho   = (M a* + h) - J_ext^T f_ext - tau* - B lambda*       what the present state asks of the joints beyond tau*
    eps_p = alpha_des - T a* - T' v ,   eps_e = x_des'' - J a* - J' v

On the reference rho, eps_p and eps_e vanish to rounding, and so does the answer. World-frame tracking (T: angular
accelerations of the links in the world) instead of the paper's parent-space one keeps errors from growing along
chains, and damping is 2 zeta omega (the paper's omega zeta is half of critical).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isfinite

import numpy as np

from ...model.arrays import Array, Ints
from ...model.result import Note, Step
from ...model.scene import Scene
from ...model.state import State
from ...model.terrain import Probe
from ...numerics import rotation
from ...numerics.elimination import minimise
from ...physics.cones import cone_edges
from ...physics.dynamics import Dynamics, Points, coming_height, dynamics, point_jacobian, points
from ...physics.kinematics import Pose, advance, forward
from ...physics.outside import load_masses, loaded, pushed
from ...references.clip import Clip, Moment
from .clearance import CALM, Clearance
from .footing import Footholds, Footing
from .glide import can_glide, glide
from .joint_stops import JointStops
from .path import REACH, Path
from .settings import NATURAL, Settings
from .weights import Weights

FOOT_DAMPING = 0.5     # zeta_e, Table 1
PLANT = 1.0            # share of its own speed that a planted point loses in one step
HUMAN_MASS = 75.0      # kg; the same newtons move a dog more, so its paws grip more than its mass says
WATCHED = 0.18         # leg lengths: points lower than this must not go under the ground
AGAIN, BELOW = 3, 0.9  # a step that goes too fast is solved again, so often at most, for this share of FASTEST
FASTEST = 30.0         # rad/s beyond the reference (m/s for the root), more than a kicking knee reaches: a safety net
TOO_FAST = f"A joint would have moved faster than {FASTEST:.0f} rad/s; it was slowed down."
_ONES = np.ones(3)     # x @ _ONES is x.sum(-1), in a third of the time


class QuasiPhysical:
    """[Levine2012] on a clip; see the package's page for the problem it solves."""

    is_lost = False  # the helper force keeps it up

    def __init__(self, scene: Scene, settings: Settings = NATURAL) -> None:
        self.scene, self.settings = scene, settings
        clip = self.clip = Clip(scene, settings.smoothing)
        self.tree = clip.tree
        character = clip.character
        self._links = character.points.link
        self._grip = settings.foot_grip * np.sqrt(character.mass / HUMAN_MASS)
        pose = forward(self.tree, clip.shape.at(0).offsets, clip.positions[0], clip.rotations[0])
        still = np.zeros(self.tree.nv)
        M = dynamics(self.tree, clip.shape.at(0), pose, still, still, scene.gravity).M
        assert M is not None
        self.weights = Weights(self.tree, M, settings, scene.pushes)
        self._watched = WATCHED * character.leg_length
        self._lands = bool(clip.schedule.touching.any())  # who never touches the ground hangs on its path
        self._load_links = [character.index(load.body) for load in scene.loads]
        self._cones = b"", np.zeros((0, 4, 3))
        self._double_rate, self._squared_rate = 2.0 * self.weights.rate[:, None], self.weights.rate[:, None] ** 2
        self._stops, self._clearance = JointStops(clip), Clearance(clip)
        self.start()

    def start(self, k: int = 0) -> State:
        """Begin, or begin anew, with nothing remembered."""
        clip = self.clip
        self.path = Path(self.settings.path_return, self.settings.hard_path, REACH * clip.character.leg_length)
        self.footing = Footing(clip, self.path, self.settings.step_shift)
        self._load_masses: Array = np.zeros(len(self.scene.loads))
        self._binding: set[int] = set()   # names of the rows of C that bound the last step
        self._is_home = True              # on the keys, with nothing to come back from but
        self._way_home: list[Step] = []   # a last bit, known in advance; the next step last
        if k == 0:
            self.notes: list[Note] = []
            self._noted: dict[str, int] = {}  # sentence -> the last frame that had it
        return self._keys(k)

    def _keys(self, k: int) -> State:
        clip = self.clip
        return State(float(clip.times[k]), clip.positions[k], clip.rotations[k], clip.v[k])

    def calm_step(self, state: State, k: int) -> Step | None:
        """Where nothing acts and nothing has to be come back from, the step is the reference's own, to rounding; what
        little is left of the way back is laid out at once (`glide`)."""
        now, then = float(self.clip.times[k]), float(self.clip.times[k + 1])
        acts = any(push.times[0] < then and push.times[-1] > now for push in self.scene.pushes)
        if acts or self._load_masses.any() or load_masses(self.scene.loads, now).any():
            self._is_home = False
        elif not self._is_home and self._nearly_home(state, k):
            way = glide(self.clip, state, k)
            self.start(k)
            self._way_home = way[::-1]
        if not self._is_home:
            return None
        moment = self.clip.moment(k)
        self.path.calm(then - now)
        if self._way_home:
            return replace(self._way_home.pop(), contacts=self.footing.calm(k, moment))
        torque = moment.torque.copy()
        torque[:6] = 0.0
        return Step(self._keys(k + 1), moment.a, torque, moment.torque[:6].copy(), self.footing.calm(k, moment),
                    moment.forces, np.zeros(self.tree.nv), np.zeros(len(self.scene.loads)))

    def _nearly_home(self, state: State, k: int) -> bool:
        path = self.path
        shifted = max(float(np.abs(path.offset).max()), self.footing.farthest)
        return can_glide(self.clip, state, k, shifted, float(np.abs(path.rate).max()))

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a step that overflows is caught by `_finish`
    def step(self, state: State, k: int) -> Step:
        clip, tree = self.clip, self.tree
        moment = clip.moment(k)
        dt = float(clip.dt[k])
        v = state.velocity
        taken_up = self._take_up(state.time)
        shape = loaded(tree, clip.shape.at(k), self.scene.loads, self._load_masses)
        pose = forward(tree, shape.offsets, state.position, state.rotations)
        motion = dynamics(tree, shape, pose, v, moment.a, self.scene.gravity)
        if taken_up is not None:
            self._shift_goal(motion, taken_up)
        M, J_com = motion.M, motion.J_com
        assert M is not None and J_com is not None
        external = pushed(tree, motion, self.scene.pushes, state.time, state.time + dt)

        # contacts: B = J_c^T V_c
        touch = points(pose, motion, self._links, shape.points)
        J = point_jacobian(tree, motion, self._links, touch.position)          # (P, 3, nv)
        ground = clip.terrain.probe(touch.position, state.time)
        hold = self.footing.footholds(k, dt, moment, touch, ground)
        active = hold.touching.nonzero()[0]
        edges = self._cone_edges(ground, active)                               # (nc, 4, 3)
        Bt = (edges @ J.take(active, axis=0)).reshape(-1, tree.nv)             # B^T (4 nc, nv)
        usual = moment.edge_forces.take(active, axis=0).reshape(-1)            # lambda*
        rho = motion.force - external - moment.torque - usual @ Bt

        # the goal's particle, then all targets
        mass = clip.character.mass + float(self._load_masses.sum())
        is_free = not len(active) and self._lands and not clip.schedule.unsupported[k]
        target = self.path.advance(external[:2] / mass, bool(clip.is_standing[k]), is_free, dt)
        W_half = self.weights.effort_sqrt if len(active) else self.weights.floating_sqrt   # W_tau^1/2
        W_p, coupling = self.weights.pose_at(state.time)
        S_w = motion.S[:, :3]
        eps_p = self._pose_error(moment, pose, motion)                         # (N, 3)
        eps_root = self._root_error(moment, state, v)
        eps_e = self._foot_error(moment, touch, hold, dt)                      # (P, 3)

        # X = [W_tau^1/2 M; W_e^1/2 E], Q = X^T X + ...; rows of E: all directions with the tangent weight, then the
        # normal with what it has more
        nv, count = tree.nv, len(hold.touching)
        J_n = (ground.normal[:, None, :] @ J)[:, 0]                            # (P, nv)
        X = np.empty((nv + 4 * count, nv))
        np.multiply(M, W_half[:, None], out=X[:nv])
        t_half = np.sqrt(self._grip * hold.tangent_weight)
        n_half = np.sqrt(self._grip * (hold.normal_weight - hold.tangent_weight))
        np.multiply(J, t_half[:, None, None], out=X[nv:nv + 3 * count].reshape(J.shape))
        np.multiply(J_n, n_half[:, None], out=X[nv + 3 * count:])
        eps = np.empty(4 * count)
        np.multiply(eps_e, t_half[:, None], out=eps[:3 * count].reshape(-1, 3))
        np.multiply((ground.normal * eps_e) @ _ONES, n_half, out=eps[3 * count:])
        Y = np.empty((len(Bt) + 1, nv))                                        # [B, rho]^T W_tau^1/2
        np.multiply(Bt, W_half, out=Y[:-1])
        np.multiply(rho, W_half, out=Y[-1])
        MB = Y @ X[:nv]                                                        # [B, rho]^T W_tau M
        BB = Y @ Y.T                                                           # [B, rho]^T W_tau [B, rho]
        Q = X.T @ X
        pull = S_w @ S_w.T
        pull *= coupling
        Q += pull
        Q.reshape(-1)[:3 * nv:nv + 1] += self.weights.root_position
        c = (S_w * (tree.below @ (W_p[:, None] * eps_p)).take(tree.dof_link, axis=0)) @ _ONES
        c += eps @ X[nv:]
        c -= MB[-1]
        c[:3] += self.weights.root_position * eps_root

        G, g = self._goal(k, moment, motion, target, dt)
        C, u, names = self._rows(k, dt, state, moment, motion, touch, J_n, ground)
        guess = [n for n, name in enumerate(names) if name in self._binding] if self._binding else []

        def solve(C: Array, u: Array, guess: list[int]) -> tuple[Array, Array, list[int]]:
            return minimise(Q, c, MB[:-1].T, BB[:-1, :-1], BB[-1, :-1], -usual, G, g, C, u, guess)

        try:
            d, e, binding = solve(C, u, guess)
            extra = v + dt * (moment.a + d) - clip.v[k + 1]
            if np.abs(extra).max() > FASTEST:
                self._note(k, TOO_FAST)
                d, e = _slower(solve, C, u, binding, d, e, extra, dt)
        except (np.linalg.LinAlgError, ValueError, ArithmeticError):  # numbers beyond all bounds
            d, e, binding = np.full(nv, np.nan), np.zeros(len(usual)), []
        self._binding = {names[n] for n in binding}
        return self._finish(k, dt, state, moment, motion, external, active, edges, Bt, d, e, usual)

    # -- the pieces ----------------------------------------------------------------------------------------------

    def _finish(self, k: int, dt: float, state: State, moment: Moment, motion: Dynamics, external: Array, active: Ints,
                edges: Array, Bt: Array, d: Array, e: Array, usual: Array) -> Step:
        """Integrate ([Levine2012] eq. 4, 5) and account for every force."""
        tree = self.tree
        assert motion.M is not None
        v_ref = self.clip.v[k + 1]
        v = state.velocity + dt * (moment.a + d)
        extra = v - v_ref
        fastest = float(np.abs(extra).max())
        if not isfinite(fastest):
            self._note(k, "The step had no finite answer; the keys were followed instead.")
            v, d, e = v_ref, (v_ref - state.velocity) / dt - moment.a, np.zeros_like(e)
        elif fastest > FASTEST:
            v = v_ref + extra * (FASTEST / fastest)
            d, e = (v - state.velocity) / dt - moment.a, np.zeros_like(e)  # forces of a step that is not made
        position, rotations = advance(tree, state.position, state.rotations, v, dt)
        if len(tree.fixed_links):
            rotations[tree.fixed_links] = self.clip.rotations[k + 1, tree.fixed_links]
        edge_forces = usual + e
        total = motion.force + motion.M @ d - external - edge_forces @ Bt
        torque = total.copy()
        torque[:6] = 0.0
        count = len(self._links)
        forces, contacts = np.zeros((count, 3)), np.zeros(count, dtype=bool)
        forces[active] = (edge_forces.reshape(-1, 1, 4) @ edges)[:, 0]
        contacts[active] = True
        return Step(State(float(self.clip.times[k + 1]), position, rotations, v), moment.a + d, torque, total[:6],
                    contacts, forces, external, self._load_masses.copy())

    def _cone_edges(self, ground: Probe, active: Ints) -> Array:
        """Friction cones of the active points: who stands has those of the step before."""
        normal, friction = ground.normal.take(active, axis=0), ground.friction.take(active)
        there = normal.tobytes() + friction.tobytes()
        if there != self._cones[0]:
            self._cones = there, cone_edges(normal, friction)
        return self._cones[1]

    def _note(self, k: int, sentence: str) -> None:
        """Once for a run of frames that have it."""
        frame = self.scene.range[0] + int(np.searchsorted(self.clip.frame_step, k))
        if self._noted.get(sentence, -2) < frame - 1:
            self.notes.append(Note("warning", sentence, frame))
        self._noted[sentence] = frame

    def _take_up(self, time: float) -> Array | None:
        """Masses of the loads at this time; if they changed, by how much."""
        if not self._load_links:
            return None
        masses = load_masses(self.scene.loads, time)
        change = masses - self._load_masses
        self._load_masses = masses
        return change if change.any() else None

    def _shift_goal(self, motion: Dynamics, change: Array) -> None:
        """A load moves the common centre of mass at once; the path's particle takes that up and brings the body
        under its load again, as a person leans back with a crate in the arms."""
        if self.clip.goal_link is not None:
            return
        links = np.array(self._load_links)
        at = points(motion.pose, motion, links, np.array([load.point for load in self.scene.loads]))
        whole = self.clip.character.mass + self._load_masses.sum()
        linear = motion.momentum[3:] / whole
        self.path.shift(change @ (at.position - motion.com)[:, :2] / (whole - change.sum()),
                        change @ (at.velocity - linear)[:, :2] / (whole - change.sum()))

    def _pose_error(self, moment: Moment, pose: Pose, motion: Dynamics) -> Array:
        """eps_p: world angular accelerations wanted beyond those of a*."""
        turn = rotation.log_matrix(pose.R.swapaxes(-1, -2) @ moment.R)         # e_i = Log(R_i^T R*_i)
        wanted = moment.angular_acceleration + self._double_rate * moment.angular_velocity + self._squared_rate * turn
        return np.asarray((pose.R @ wanted[..., None])[..., 0] - self._double_rate * motion.V[:, :3] - motion.A[:, :3])

    def _root_error(self, moment: Moment, state: State, v: Array) -> Array:
        w = self.settings.leg_return
        error = moment.position - state.position
        rate = moment.v[:3] - v[:3]
        error[:2] += self.path.offset
        rate[:2] += self.path.rate
        wanted = 2.0 * w * rate + w * w * error
        wanted[:2] += self.path.acceleration
        return wanted

    def _foot_error(self, moment: Moment, touch: Points, hold: Footholds, dt: float) -> Array:
        """eps_e: a PD law (2.5); planted points lose any speed of their own almost at once, or soles would creep."""
        w = self.settings.foot_return
        ref = moment.points
        soft = 2.0 * FOOT_DAMPING * w
        damping = (soft + (PLANT / dt - soft) * hold.planted)[:, None]
        return np.asarray(ref.acceleration - touch.acceleration + damping * (ref.velocity - touch.velocity)
                          + w * w * (ref.position + hold.offset - touch.position))

    def _goal(self, k: int, moment: Moment, motion: Dynamics, target: Array, dt: float) -> tuple[Array, Array]:
        """[Levine2012] 2.2, relative to the reference: the next deviation of the goal is the particle's offset."""
        assert motion.J_com is not None
        if self.scene.goal.kind == "none":
            return np.zeros((0, self.tree.nv)), np.zeros(0)
        if self.clip.goal_link is None:
            place, acceleration, J = motion.com, motion.com_acceleration, motion.J_com
        else:
            link = np.array([self.clip.goal_link])
            body = points(motion.pose, motion, link, np.zeros((1, 3)))
            place, acceleration = body.position[0], body.acceleration[0]
            J = point_jacobian(self.tree, motion, link, body.position)[0]
        wanted = self.path.demand((place - moment.goal)[:2], target, dt)
        return J[:2], (moment.goal_acceleration - acceleration)[:2] + wanted

    def _rows(self, k: int, dt: float, state: State, moment: Moment, motion: Dynamics, touch: Points, J_n: Array,
              ground: Probe) -> tuple[Array, Array, list[int]]:
        """C d <= u: no low point under the ground, no joint past its limit, no shin in an edge, at the end of the step;
        and names of the rows (a point, -1 - a limit, a part after the points) that say the same from step to step."""
        height = ground.distance
        low = (height < self._watched).nonzero()[0]
        rows, bounds, names = [], [], []
        if len(low):
            names += low.tolist()
            coming = coming_height(ground, touch, dt)
            floor = np.minimum(np.minimum(0.0, moment.next_height), CALM * height)
            rows.append(-J_n.take(low, axis=0))
            bounds.append(((coming - floor) / (dt * dt)).take(low))
        if len(self._stops):
            limit_rows, limit_bounds, limit_names = self._stops.rows(k, dt, state, moment.a)
            if len(limit_bounds):
                rows.append(limit_rows)
                bounds.append(limit_bounds)
                names += limit_names
        if len(self._clearance):
            part_rows, part_bounds, parts = self._clearance.rows(k, dt, motion)
            if len(parts):
                rows.append(part_rows)
                bounds.append(part_bounds)
                names += [len(height) + part for part in parts]
        if not rows:
            return np.zeros((0, self.tree.nv)), np.zeros(0), names
        if len(rows) == 1:
            return rows[0], bounds[0], names
        return np.concatenate(rows), np.concatenate(bounds), names


Solve = Callable[[Array, Array, list[int]], tuple[Array, Array, list[int]]]


def _slower(solve: Solve, C: Array, u: Array, binding: list[int], d: Array, e: Array, extra: Array,
            dt: float) -> tuple[Array, Array]:
    """The step once more, with rows that hold the too fast degrees of freedom below FASTEST: merely cutting their
    speeds would drive other points into the ground. Where no such step is found, as it was."""
    without, first = extra - dt * d, (d, e)
    for _ in range(AGAIN):
        fast = (np.abs(extra) > FASTEST).nonzero()[0]
        side = np.sign(extra[fast])
        C = np.concatenate((C, side[:, None] * np.eye(len(d))[fast]))
        u = np.concatenate((u, (BELOW * FASTEST - side * without[fast]) / dt))
        d, e, _ = solve(C, u, binding)
        extra = without + dt * d
        if np.abs(extra).max() <= FASTEST:
            return d, e
    return first
