"""What quasi-physical control is compared with: a naive tracker with springs on the root, and plain playback.

Both have a controller's interface, so that `bake` runs them, and every Step of theirs balances:
M a + h = tau + J_c^T f + J_ext^T f_ext + aid.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from solver import Note, Scene, State, Step
from solver.model.arrays import Array
from solver.numerics import rotation
from solver.numerics.qp import solve_nonnegative_qp
from solver.physics.cones import cone_edges
from solver.physics.dynamics import Dynamics, dynamics, point_jacobian, points
from solver.physics.kinematics import advance, forward, tangent
from solver.physics.shape import Shape, spatial_inertia
from solver.physics.tree import Tree
from solver.references.clip import Clip

# N m / rad of a body of 45 kg, as in DeepMimic (Peng et al. 2018); damping is a tenth of it
STIFFNESS = {"trunk": 1000.0, "leg": 500.0, "foot": 400.0, "toe": 100.0, "arm": 350.0, "hand": 50.0, "neck": 100.0,
             "head": 100.0}
USUAL_MASS = 45.0  # kg
OTHER = 20.0       # N m / rad, tails and fingers
DAMPING = 0.1      # s
WATCHED = 0.002    # m: points that are lower than this, or would be under the ground, may touch
PASSES = 4         # over the speed of sliding
CALM = 0.3         # share of its depth that a point under the ground comes out in one step
RIDGE = 1e-8       # of the mean curvature: contact forces of a rigid foot are not unique


class PDOnRoot:
    """The naive tracker of [Levine2012] 4, "Importance of Minimization": PD torques at the joints, PD force and torque
    on the root, contacts with friction; nothing keeps the root's share small.

    Springs and dampers act on the end of the step (stable PD), so that no gain is too stiff:

        tau = K (q*_{k+1} (-) q - dt v') + D (v*_{k+1} - v')
        (M + dt D + dt^2 K) v' = M v + dt (K (q*_{k+1} (-) q) + D v*_{k+1} - h + J_ext^T f_ext + B lambda)
        0 <= lambda  complementary to  B^T v' + gap / dt + mu |v'_t| >= 0

    The last line is Coulomb's law (de Saxcé); with the speed of sliding |v'_t| taken from the iteration before it is
    a non-negative program in lambda.
    `root_rate` w (1/s) sets the root's springs, critically damped: K = m w^2, D = 2 m w, with the body's inertia
    for turning. With `use_feed_forward` the clip's own torques tau* are added: a stronger rival.
    """

    is_lost = False

    def __init__(self, scene: Scene, root_rate: float = 20.0, use_feed_forward: bool = False) -> None:
        self.scene, self.clip = scene, Clip(scene)
        self.notes: list[Note] = []
        self.use_feed_forward = use_feed_forward
        clip, tree = self.clip, self.clip.tree
        character, shape = clip.character, clip.shape.at(0)
        pose = forward(tree, shape.offsets, clip.positions[0], clip.rotations[0])
        still = np.zeros(tree.nv)
        M = dynamics(tree, shape, pose, still, still, scene.gravity).M
        assert M is not None
        size = character.mass / USUAL_MASS
        self.K = size * np.array([STIFFNESS.get(character.roles[i], OTHER) for i in tree.dof_link])
        self.D = DAMPING * self.K
        root = np.diagonal(M)[:6]
        self.K[:6], self.D[:6] = root * root_rate ** 2, 2.0 * root * root_rate

    def calm_step(self, state: State, k: int) -> Step | None:
        return None

    def start(self, k: int = 0) -> State:
        return _start(self.clip, k)

    def step(self, state: State, k: int) -> Step:
        clip, tree, K, D = self.clip, self.clip.tree, self.K, self.D
        dt, v, shape = float(clip.dt[k]), state.velocity, clip.shape.at(k)
        motion = _motion(clip, k, state, np.zeros(tree.nv))
        M, h = motion.M, motion.force
        assert M is not None
        external = push_force(clip, motion, state.time, dt)
        error = tangent(tree, rotation.subtract(clip.rotations[k + 1], state.rotations),
                        clip.positions[k + 1] - state.position)
        moment = clip.moment(k)
        wanted = K * error + D * clip.v[k + 1] + self.use_feed_forward * moment.torque

        touch = points(motion.pose, motion, clip.character.points.link, shape.points)
        ground = clip.terrain.probe(touch.position, state.time)
        own = np.minimum(moment.height, moment.next_height)   # where the clip itself is under the ground, it may be
        gap = ground.distance - np.minimum(0.0, own)
        gap = np.maximum(gap, CALM * gap)

        factor = cho_factor(M + np.diag(dt * D + dt * dt * K))
        v_free = v_next = cho_solve(factor, M @ v + dt * (wanted - h + external))
        J = point_jacobian(tree, motion, clip.character.points.link, touch.position)   # (P, 3, nv)
        falling = (ground.normal * (J @ v_free)).sum(1)
        active = np.flatnonzero(np.minimum(gap, gap + dt * falling) < WATCHED)
        J, normal, friction = J[active], ground.normal[active], ground.friction[active]
        edges = cone_edges(normal, friction)
        B = (edges @ J).reshape(-1, tree.nv).T                                         # (nv, 4 nc)
        pressed = np.zeros(B.shape[1])
        if len(active):
            Y = cho_solve(factor, B)
            H = dt * (B.T @ Y)
            H = 0.5 * (H + H.T) + RIDGE * np.trace(H) / len(H) * np.eye(len(H))
            for _ in range(PASSES):
                speed = J @ v_next
                along = speed - (normal * speed).sum(1, keepdims=True) * normal
                slack = gap[active] / dt + friction * np.linalg.norm(along, axis=1)
                pressed = solve_nonnegative_qp(H, B.T @ v_free + np.repeat(slack, 4))
                v_next = v_free + dt * (Y @ pressed)
        a = (v_next - v) / dt
        total = wanted - K * (dt * v_next) - D * v_next
        forces, contacts = np.zeros((len(gap), 3)), np.zeros(len(gap), dtype=bool)
        forces[active] = (pressed.reshape(-1, 4, 1) * edges).sum(1)
        contacts[active] = pressed.reshape(-1, 4).any(1)
        return _step(clip, k, state, v_next, a, total, contacts, forces, external)


class Playback:
    """The keys and nothing else: whatever a push or a load would do, the helper and the joints undo."""

    is_lost = False

    def __init__(self, scene: Scene) -> None:
        self.scene, self.clip = scene, Clip(scene)
        self.notes: list[Note] = []

    def calm_step(self, state: State, k: int) -> Step | None:
        return None

    def start(self, k: int = 0) -> State:
        return _start(self.clip, k)

    def step(self, state: State, k: int) -> Step:
        clip = self.clip
        moment = clip.moment(k)
        motion = _motion(clip, k, state, moment.a)
        external = push_force(clip, motion, state.time, float(clip.dt[k]))
        ground = clip.terrain.probe(moment.points.position, state.time)
        edges = cone_edges(ground.normal, ground.friction)
        forces = (moment.edge_forces[..., None] * edges).sum(1)
        J = point_jacobian(clip.tree, motion, clip.character.points.link, moment.points.position)
        total = motion.force - np.einsum("pij,pi->j", J, forces) - external
        return _step(clip, k, state, clip.v[k + 1], moment.a, total, moment.touching.copy(), forces, external)


def push_force(clip: Clip, motion: Dynamics, time: float, dt: float) -> Array:
    """J_ext^T f_ext of the scene's pushes, averaged over the step."""
    external = np.zeros(clip.tree.nv)
    for push in clip.scene.pushes:
        link = clip.character.index(push.body)
        R = motion.pose.R[link]
        force = push.mean_force(time, time + dt)
        force = R @ force if push.frame == "body" else force
        place = motion.pose.position + motion.pose.x[link] + R @ push.point
        external += point_jacobian(clip.tree, motion, np.array([link]), place[None])[0].T @ force
    return external


def _start(clip: Clip, k: int) -> State:
    return State(float(clip.times[k]), clip.positions[k], clip.rotations[k], clip.v[k])


def _masses(clip: Clip, time: float) -> list[float]:
    return [load.mass_at(time) for load in clip.scene.loads]


def _motion(clip: Clip, k: int, state: State, a: Array) -> Dynamics:
    """The character under a, with its loads."""
    shape = clip.shape.at(k)
    if clip.scene.loads:
        inertias = shape.inertias.copy()
        for load, mass in zip(clip.scene.loads, _masses(clip, state.time)):
            inertias[clip.character.index(load.body)] += spatial_inertia(np.array(mass), load.point, np.zeros((3, 3)))
        shape = Shape(shape.offsets, inertias, shape.points)
    pose = forward(clip.tree, shape.offsets, state.position, state.rotations)
    return dynamics(clip.tree, shape, pose, state.velocity, a, clip.scene.gravity)


def _step(clip: Clip, k: int, state: State, v: Array, a: Array, total: Array, contacts: Array, forces: Array,
          external: Array) -> Step:
    """Integrate; the root's six entries of the total torque are the helper's."""
    tree: Tree = clip.tree
    position, rotations = advance(tree, state.position, state.rotations, v, float(clip.dt[k]))
    if len(tree.fixed_links):
        rotations[tree.fixed_links] = clip.rotations[k + 1, tree.fixed_links]
    torque = total.copy()
    torque[:6] = 0.0
    return Step(State(float(clip.times[k + 1]), position, rotations, v), a, torque, total[:6].copy(), contacts, forces,
                external, np.array(_masses(clip, state.time)))
