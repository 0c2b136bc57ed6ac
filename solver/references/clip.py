"""A clip as the motion to follow: on sub-steps, smoothed, with its own velocities, contacts and inner forces.

Exactness rests on four rules ([Levine2012] 2.3, repaired): velocities and accelerations use the integrator's own
convention on the rotation group; every target is computed from (q*, v*, a*) by the same formulas as the simulation;
contact forces are compared with the reference's own; and reference contacts are contacts of the simulation too.

    v*_{k+1} = (q*_{k+1} (-) q*_k) / dt_k         a*_k = (v*_{k+1} - v*_k) / dt_k

Captured motion is noisy, and noise in a* is ruinous under a push. So what is simulated is a smoothed reference q_s,
and the residual is put back afterwards (`detail`):  q_out = q_sim (+) (q* (-) q_s),  which is q* itself where nothing
disturbs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from scipy.signal import butter, filtfilt

from ..errors import InputError
from ..model.arrays import Array, Bools, Ints
from ..model.character import Character
from ..model.motion import Motion
from ..model.result import Note
from ..model.scene import Scene
from ..model.terrain import Plane, Probe, Terrain
from ..numerics import rotation
from ..numerics.nonnegative_fit import nonnegative_fits
from ..numerics.runs import runs
from ..physics.cones import cone_edges
from ..physics.contact import detect
from ..physics.dynamics import Dynamics, Points, coming_height, dynamics, generalised, points
from ..physics.kinematics import forward, tangent
from ..physics.shape import Shape, shape_of
from ..physics.soles import BALL_HEIGHT, calibrated_points
from ..physics.trajectory import com_path, point_paths
from ..physics.tree import Tree
from .ground_plan import plan
from .underfoot import climbed

STEP_RATE = 60.0      # Hz: coarser steps respond visibly differently to the same push (of a person)
RUN = 64              # steps whose quantities are computed together
RIDGE = 1e-6          # of the mean curvature: makes the reference's contact forces unique and continuous
# rad, how far a joint without limits of its own may leave the range it has in the clip
ROOM = {"trunk": 0.2, "neck": 0.2, "head": 0.2, "hand": 0.5, "arm": 0.8, "leg": 0.8, "foot": 0.4, "toe": 0.4}
LOOK_AHEAD = 0.3      # s, t_m: when a landing begins to be tracked
SMALLEST, LARGEST = 0.03, 10.0  # m, legs of a character whose unit is right
HARD = 1.0            # m/s: a push that gives more needs finer steps
MOST_STEPS = 1_000_000  # more than four hours of motion
STEP_SOON = 0.5       # s, a foot that lifts within this time can step after a push
LIMIT_ROOM = 0.02     # rad, default limits contain the clip with this much room
PERSON = 0.85         # m, the leg of one whose motion is smoothed as the dial says
BEGINNING, LEVEL = 0.5, 0.005   # s, m: ground is level where it differs no more under the soles, so long
NO_GROUND = "There is no ground under a foot that stands: the helper force carries. Extend the ground."
BROUGHT = 0.5             # leg lengths up or down at the first frame that are worth a sentence
INSIDE = 0.06         # leg lengths: feet so deep in level ground are not meant to be there


@dataclass(frozen=True, eq=False)
class Moment:
    """The reference at one sub-step: what it does and what it needs."""

    position: Array       # (3,)
    R: Array              # (N, 3, 3)
    v: Array              # (nv,)
    a: Array              # (nv,)
    angular_velocity: Array       # (N, 3) of the links, in their own axes
    angular_acceleration: Array   # (N, 3)
    points: Points        # (P, 3) each
    height: Array         # (P,) of the points over the ground
    next_height: Array    # (P,) the same one step later, to first order
    goal: Array           # (3,) centre of mass, or the body that keeps the path
    goal_acceleration: Array
    edge_forces: Array    # (P, 4) lambda*, N along the edges of the friction cones
    forces: Array         # (P, 3) N, their sums: ground on the points
    torque: Array         # (nv,) tau*: what is left for the joints and, in its first six entries, the helper
    touching: Bools       # (P,)


class Clip:
    """The motion of a scene within its frame range, ready to be followed."""

    def __init__(self, scene: Scene, smoothing: float = 8.0) -> None:
        first, last = scene.range
        self.scene = scene
        motion = self.motion = scene.motion.part(first, last + 1)
        self.character, self.ground = _with_contacts(scene)
        scene.check_contacts(self.character)
        pace = float(np.sqrt(PERSON / self.character.leg_length))  # small creatures move faster, as pendulums do
        smoothing *= pace
        self.terrain: Terrain = scene.terrain if scene.terrain is not None else Plane.level(self.ground)
        self.tree = tree = Tree(self.character)
        rate = STEP_RATE * max(1.0, pace)
        finer = 2.0 if _hardest(scene) > HARD else 1.0
        self.times, self.frame_step = _grid(motion.times, scene.substeps, finer * rate)

        fine = motion if len(self.times) == len(motion) else motion.resampled(self.times)
        self._follow(fine, smoothing)
        self.schedule = detect(self.times, self.paths, self.ground, self.coms, -float(scene.gravity[2]),
                               self.character.points, self.character.leg_length, scene.contacts)
        self.notes = [Note("info", words) for words in self.terrain.notes] + _odd(scene, self.character)
        if scene.terrain is None and not self.schedule.touching.any():  # it floats: there is no ground to bump into
            self.ground = float(self.paths[..., 2].min(initial=self.ground)) - self.character.leg_length
            self.terrain = Plane.level(self.ground)
        self._drop_contacts_over_holes(is_planned=False)
        if not _is_own_ground(self.terrain, self.ground):
            self._plan(_grid(motion.times, None, rate)[0], smoothing)
            self._drop_contacts_over_holes(is_planned=True)
        self.time_to_touch = self.schedule.time_to_touch(self.times)
        self.touch_weight = np.clip(1.0 - self.time_to_touch / LOOK_AHEAD, 0.0, 1.0)  # [Levine2012] 2.5: 1 - t_h / t_m
        self.time_to_land = _limbwise(self.time_to_touch, self.character)
        self.time_to_lift = self.schedule.time_to_lift(self.times)
        self.is_standing = _standing(self.times, self.schedule.touching, self.character)
        self.lateral = _lateral(tree, self.shape, self.followed)
        self.goal_link = None if scene.goal.body is None else self.character.index(scene.goal.body)
        self._moments = lru_cache(maxsize=2)(self._run)  # two runs: memory stays flat over any length

    def _plan(self, times: Array, smoothing: float) -> None:
        """Take the motion over its ground, planned at these times: how finely it is simulated changes nothing."""
        motion, first = self.motion, self.scene.range[0]
        here = motion if len(times) == len(motion) else motion.resampled(times)
        same = np.array_equal(times, self.times)
        middles = 0.5 * (self.times[1:] + self.times[:-1])
        there = np.arange(len(times)) if same else np.searchsorted(middles, times)                 # the nearest
        planned = plan(self.tree, shape_of(self.character, here), here, self.schedule.touching[there],
                       self.schedule.sliding[there], self.terrain, self.ground, (self.lower, self.upper))
        self.notes += [Note("warning", words, first + int(np.searchsorted(motion.times, times[k] - 1e-9)))
                       for k, words in planned.notes]
        brought = float((planned.motion.positions - here.positions)[0, 2])
        is_beginning = first == 0 and not self.scene.goes_on[0]       # later it may have climbed there
        if is_beginning and abs(brought) > BROUGHT * self.character.leg_length:
            where = f"{100 * abs(brought):.0f} cm {'below' if brought > 0.0 else 'above'}"
            self.notes.append(Note("info", f"The clip begins {where} this ground, and was brought to it. If that is "
                                   "wrong, move the character or the ground.", first))
        if planned.motion is not here:
            after = np.searchsorted(times, self.times - 1e-9)
            before = np.searchsorted(times, self.times + 1e-9) - 1
            touching = planned.touching[before] & planned.touching[after]
            self.schedule = replace(self.schedule, touching=touching, sliding=self.schedule.sliding & touching)
            self._follow(planned.motion if same else planned.motion.resampled(self.times, straight=True),
                         smoothing)

    def _drop_contacts_over_holes(self, is_planned: bool) -> None:
        """Where there is no ground nothing touches: the helper carries, and a note says so. Before the plan, which
        finds ground beside a hole, only stances that are nowhere over ground are dropped."""
        if isinstance(self.terrain, Plane):
            return
        touching = self.schedule.touching
        ways = self.paths[..., :2]
        z = (climbed(self.terrain, ways, self.times, self.ground) if self.terrain.is_still else    # a roof is no ground
             self.terrain.height_over(ways, self.times).z)             # moving ground takes the feet elsewhere
        over = z > -np.inf
        if not is_planned:
            over = _stance_wise(touching, over, self.character)
        bare = touching & ~over
        if bare.any():
            k = int(np.flatnonzero(bare.any(1))[0])
            self.schedule = replace(self.schedule, touching=touching & over, sliding=self.schedule.sliding & over,
                                    unsupported=self.schedule.unsupported | touching.any(1) & ~(touching & over).any(1))
            frame = self.scene.range[0] + int(np.searchsorted(self.frame_step, k))
            if not any(note.sentence == NO_GROUND for note in self.notes):
                self.notes.append(Note("warning", NO_GROUND, frame))

    def _follow(self, motion: Motion, smoothing: float) -> None:
        """Take this motion on the sub-step grid as the one to follow."""
        tree = self.tree
        self.planned = motion
        followed = self.followed = _projected(tree, _smoothed(motion, smoothing))
        self.shape = shape_of(self.character, followed)
        self.positions, self.rotations = followed.positions, followed.rotations
        self.dt: Array = np.diff(self.times)
        turns = rotation.subtract(self.rotations[1:], self.rotations[:-1])
        v = tangent(tree, turns, np.diff(self.positions, axis=0)) / self.dt[:, None]
        self.v: Array = np.concatenate((v[:1], v))                            # (K + 1, nv); v*_0 = v*_1
        self.a: Array = np.diff(self.v, axis=0) / self.dt[:, None]            # (K, nv)
        # what smoothing and projection took away, at the frames
        keys = self.frame_step
        self.residual: Array = rotation.subtract(motion.rotations[keys], self.rotations[keys])
        self.root_residual: Array = motion.positions[keys] - self.positions[keys]
        self.coms = com_path(tree, self.shape, followed)
        self.paths = point_paths(tree, self.shape, followed, self.character.points.link, self.shape.points)
        self.lower, self.upper = _limits(tree, self.rotations)

    @property
    def steps(self) -> int:
        return len(self.dt)

    def moment(self, k: int) -> Moment:
        return self._moments(int(k) // RUN)[k % RUN]  # to the cache, numpy's integers would be other keys

    def _run(self, number: int) -> list[Moment]:
        """Reference quantities of RUN consecutive steps at once."""
        run = slice(number * RUN, min((number + 1) * RUN, self.steps))
        tree, shape = self.tree, self.shape.at(run)
        v, a = self.v[run], self.a[run]
        pose = forward(tree, shape.offsets, self.positions[run], self.rotations[run])
        motion = dynamics(tree, shape, pose, v, a, self.scene.gravity, mass_matrix=False)
        contact = points(pose, motion, self.character.points.link, shape.points)
        touching = self.schedule.touching[run]
        ground = self.terrain.probe_over(contact.position, self.times[run])
        edges, edge_forces = self._contact_forces(ground, motion, contact, touching)
        next_height = coming_height(ground, contact, self.dt[run, None])
        forces = (edge_forces[..., None] * edges).sum(-2)
        torque = motion.force - generalised(tree, self.character.points.link, motion, contact, forces)
        goal, goal_acceleration = motion.com, motion.com_acceleration
        if self.goal_link is not None:
            body = points(pose, motion, np.array([self.goal_link]), np.zeros((1, 3)))
            goal, goal_acceleration = body.position[:, 0], body.acceleration[:, 0]
        own = pose.R.swapaxes(-1, -2)
        w = (own @ motion.V[..., :3, None])[..., 0]
        alpha = (own @ motion.A[..., :3, None])[..., 0]
        return [Moment(pose.position[n], pose.R[n], v[n], a[n], w[n], alpha[n],
                       contact.at(n), ground.distance[n], next_height[n],
                       goal[n], goal_acceleration[n], edge_forces[n], forces[n], torque[n], touching[n])
                for n in range(len(v))]

    def _contact_forces(self, ground: Probe, motion: Dynamics, contact: Points,
                        touching: Bools) -> tuple[Array, Array]:
        """[Levine2012] 2.3: the cone forces that leave least to the root,
        lambda* = argmin_{>=0} |u*_{1..6} - B_6 lambda|^2 + ridge |lambda|^2."""
        steps, count = touching.shape
        edges = cone_edges(ground.normal.reshape(-1, 3), ground.friction.reshape(-1)).reshape(steps, count, 4, 3)
        arms = (contact.position - motion.pose.position[:, None])[:, :, None]
        turns = rotation.cross(np.broadcast_to(arms, edges.shape), edges) @ motion.pose.R[:, None, 0]
        B6 = np.concatenate((edges, turns), axis=-1) * touching[:, :, None, None]   # (steps, P, 4, 6)
        B6 = B6.reshape(steps, 4 * count, 6)
        forces = np.zeros((steps, 4 * count))
        stands = np.flatnonzero(touching.any(1))
        ridge = RIDGE * (B6 * B6).sum((1, 2)) / np.maximum(4 * touching.sum(1), 1)
        forces[stands] = nonnegative_fits(B6[stands], motion.force[stands, :6], ridge[stands])
        return edges, forces.reshape(steps, count, 4)


def _with_contacts(scene: Scene) -> tuple[Character, float]:
    """The character with contact points (calibrated where it has none) and the height of the clip's own ground."""
    character = scene.character
    terrain = scene.terrain
    level = float(terrain.point[2]) if isinstance(terrain, Plane) and terrain.normal[2] > 1.0 - 1e-9 else None
    if len(character.points):
        if level is None:
            tree, shape = Tree(character), shape_of(character, scene.motion)
            paths = point_paths(tree, shape, scene.motion, character.points.link, shape.points)
            guess = float(np.quantile(paths[..., 2].min(1), 0.1))
            floor = _floor_at_first(scene, character, guess)
            level = guess if floor is None else floor
        return character, level
    named = {override.limb for override in scene.contacts}
    contact_points, guess = calibrated_points(character, scene.motion, level, named)
    floor = _floor_at_first(scene, character.with_points(contact_points), guess) if level is None else None
    if floor is not None:
        contact_points, guess = calibrated_points(character, scene.motion, floor, named)
    return character.with_points(contact_points), guess


def _floor_at_first(scene: Scene, character: Character, guess: float) -> float | None:
    """The height of level ground that the clip begins on, if its soles are about there: then the clip was made on it,
    and how thick its soles are need not be guessed."""
    terrain, motion = scene.terrain, scene.motion
    if terrain is None or not len(character.points):
        return None
    rows = np.flatnonzero(motion.times <= motion.times[0] + BEGINNING)
    shape = shape_of(character, motion)
    paths = point_paths(Tree(character), shape, motion, character.points.link, shape.points)[rows]   # (n, P, 3)
    near = BALL_HEIGHT * character.leg_length
    low = paths[..., 2] < guess + near
    seen = terrain.height_over(paths[..., :2], motion.times[rows], guess + near).z[low]
    if not len(seen) or not np.isfinite(seen).all() or np.ptp(seen) > LEVEL or abs(seen[0] - guess) > near:
        return None
    return float(seen[0])


def _odd(scene: Scene, character: Character) -> list[Note]:
    """What is most likely not meant."""
    notes = []
    first, last = scene.range
    start, end = float(scene.motion.times[first]), float(scene.motion.times[last])
    if not SMALLEST < character.leg_length < LARGEST:
        notes.append(Note("warning", f"The character's legs are {character.leg_length:.3g} m long. "
                          "Check the unit scale."))
    inside = _inside(scene, character)
    if inside > INSIDE * character.leg_length:
        notes.append(Note("warning", f"The character stands {100 * inside:.0f} cm inside the ground: set the ground's "
                          "height, or move the character."))
    for push in scene.pushes:
        if push.times[-1] <= start or push.times[0] >= end:
            notes.append(Note("warning", f"The push on {push.body} lies outside the frame range and does nothing.",
                              bone=push.body))
    for load in scene.loads:
        if load.end <= start or load.start >= end:
            notes.append(Note("warning", f"The load on {load.body} lies outside the frame range and does nothing.",
                              bone=load.body))
    return notes


def _stance_wise(touching: Bools, over: Bools, character: Character) -> Bools:
    """(K, P) true for all points of a limb from when it comes down until it leaves, if any that touches is `over`
    ground in that time."""
    out = np.zeros_like(over)
    for own in (np.flatnonzero(character.points.limb == n) for n in range(len(character.points.limbs))):
        for run in runs(np.asarray(touching[:, own].any(1))):
            out[run, own] = (touching & over)[run, own].any()
    return out


def _inside(scene: Scene, character: Character) -> float:
    """m, how deep in level ground, which nothing is planned onto, the feet's lowest bones are most of the time."""
    terrain, (first, last) = scene.terrain, scene.range
    feet = np.array([i for i, role in enumerate(character.roles) if role in ("foot", "toe")], dtype=np.intp)
    if not isinstance(terrain, Plane) or not terrain.is_level or not len(feet):
        return 0.0
    motion = scene.motion.part(first, last + 1)
    local = np.concatenate((np.zeros((len(feet), 3)), character.tips[feet]))
    paths = point_paths(Tree(character), shape_of(character, motion), motion, np.tile(feet, 2), local)
    return float(terrain.point[2] - np.median(paths[..., 2].min(1)))


def _is_own_ground(terrain: Terrain, ground: float) -> bool:
    """Level ground at the height on which the clip was made: nothing to plan."""
    return isinstance(terrain, Plane) and terrain.is_level and abs(terrain.point[2] - ground) < 1e-12


def _hardest(scene: Scene) -> float:
    """m/s that the hardest push alone would give to the whole body before that can step under it."""
    blows = (float(np.linalg.norm(push.forces, axis=1).max()) * min(float(np.ptp(push.times)), STEP_SOON)
             for push in scene.pushes)
    return max(blows, default=0.0) / scene.character.mass


def _grid(times: Array, substeps: int | None, rate: float) -> tuple[Array, Ints]:
    """Times of the sub-steps, and the index of every frame among them. Frames may be spaced unevenly."""
    spans = np.diff(times)
    counts = np.full(len(spans), substeps) if substeps else np.ceil(spans * rate - 0.15).astype(int)
    counts = np.maximum(counts, 1)
    if counts.sum() > MOST_STEPS:
        raise InputError(f"It takes {counts.sum():.3g} sub-steps.", "Frame range",
                         "Choose a shorter range or fewer sub-steps, or close the gap between its frames.")
    at = np.concatenate(([0], np.cumsum(counts)))
    shares = np.concatenate([np.arange(n) / n for n in counts])
    grid = np.repeat(times[:-1], counts) + shares * np.repeat(spans, counts)
    return np.concatenate((grid, times[-1:])), at


def _smoothed(motion: Motion, cutoff: float) -> Motion:
    """Zero-phase low-pass of root position and rotations."""
    rate = motion.rate
    if cutoff <= 0.0 or cutoff >= 0.45 * rate:
        return motion
    b, a = butter(2, cutoff / (0.5 * rate))
    pad = min(len(motion) - 1, int(round(0.5 * rate)))
    if pad < 2:
        return motion
    positions = filtfilt(b, a, motion.positions, axis=0, padlen=pad)
    rotations = filtfilt(b, a, rotation.aligned(motion.rotations), axis=0, padlen=pad)
    length = np.linalg.norm(rotations, axis=-1, keepdims=True)
    usable = length > 0.5  # a joint that spins faster than the filter follows is left as it is
    safe = np.where(usable, rotations / np.where(usable, length, 1.0), motion.rotations)
    return motion.with_poses(positions, safe)


def _projected(tree: Tree, motion: Motion) -> Motion:
    """Hinges turn about their axis alone; what is off the axis goes into the residual."""
    if not len(tree.hinge_links):
        return motion
    rotations = motion.rotations.copy()
    axes = tree.character.axes[tree.hinge_links]
    angle = rotation.twist_angle(rotations[:, tree.hinge_links], axes)
    rotations[:, tree.hinge_links] = rotation.exp(angle[..., None] * axes)
    return motion.with_poses(motion.positions, rotations)


def _limits(tree: Tree, rotations: Array) -> tuple[Array, Array]:
    """Joint limits for this clip: given ones as they are, default ones widened to contain the clip."""
    character = tree.character
    lower, upper = character.lower.copy(), character.upper.copy()
    angles = rotation.log(rotations)
    if len(tree.hinge_links):
        axes = character.axes[tree.hinge_links]
        angles[:, tree.hinge_links, 0] = rotation.twist_angle(rotations[:, tree.hinge_links], axes)
    low, high = angles.min(0), angles.max(0)
    for i, role in enumerate(character.roles):
        if character.limits_given[i]:
            continue
        bounded = np.isfinite(lower[i]) | np.isfinite(upper[i])
        if bounded.any():
            lower[i] = np.where(bounded, np.minimum(lower[i], low[i] - LIMIT_ROOM), lower[i])
            upper[i] = np.where(bounded, np.maximum(upper[i], high[i] + LIMIT_ROOM), upper[i])
        elif role in ROOM and np.abs(angles[:, i]).max() < 2.3:  # the rotation vector flips at pi: no box there
            axes_used = 1 if character.joints[i] == "hinge" else 3
            lower[i, :axes_used] = low[i, :axes_used] - ROOM[role]
            upper[i, :axes_used] = high[i, :axes_used] + ROOM[role]
    return lower, upper


def _standing(times: Array, touching: Bools, character: Character) -> Bools:
    """(K,) no foot is in the air and none lifts within half a second: no step can catch the body."""
    points = character.points
    feet = [n for n, limb in enumerate(points.limbs) if limb.kind == "foot"]
    if not feet:
        return np.zeros(len(times), dtype=bool)
    down = np.stack([touching[:, points.limb == n].any(1) for n in feet], axis=1)
    soon = np.searchsorted(times, times + STEP_SOON) - 1
    lifts = np.concatenate((np.zeros((1, len(feet))), np.cumsum(~down, axis=0)))
    up_until_then = lifts[np.maximum(soon, np.arange(len(times))) + 1] - lifts[np.arange(len(times))]
    return np.asarray((up_until_then == 0).all(1))


def _limbwise(times: Array, character: Character) -> Array:
    """(K, P) the earliest time among the points of each point's limb: a foot lands as a whole."""
    out = times.copy()
    for n in range(len(character.points.limbs)):
        own = character.points.limb == n
        out[:, own] = times[:, own].min(1, keepdims=True)
    return out


def _lateral(tree: Tree, shape: Shape, motion: Motion) -> Array:
    """(K, 2) horizontal direction from one hip to the other, for a biped; else zero."""
    character = tree.character
    is_leg = [role == "leg" for role in character.roles]
    hips = [i for i in range(1, len(character)) if is_leg[i] and not is_leg[character.parents[i]]]
    if len(hips) != 2:
        return np.zeros((len(motion), 2))
    paths = point_paths(tree, shape, motion, np.array(hips), np.zeros((2, 3)))
    across = paths[:, 0, :2] - paths[:, 1, :2]
    return np.asarray(across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-9))
