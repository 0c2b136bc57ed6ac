"""The way back from where a body fell to its keys: gather the feet, come upright, stand up over them.

A blend, not an acted motion: joints go straight from the pose they lie in to the moving keys, the feet are put where
the clip will have them and stay there while the legs straighten, and the root is raised as far as no part of the skin
goes under the ground. Where that is not enough (a thigh against a riser is not helped by going up), the whole path is
settled out of the ground at once. With u from 0 to 1 over the time given, and q(u) a quintic without speed or
acceleration at its ends,

    r_j = (1 - q(u)) r_j,fallen + q(u) r_j*(t)        rotation vectors: within the limits if both ends are

so that the end is the clip itself, to the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools, Ints
from ..model.motion import Motion
from ..model.state import State
from ..numerics import rotation
from ..physics.kinematics import forward, place
from ..physics.legs import leg_chain, step_to
from ..physics.limits import JointLimits
from ..physics.shape import Shape
from ..physics.skin import Skin
from ..physics.spacetime import Promises, settle
from .clip import Clip
from .mend import unwillingness

COAST = 0.15              # s in which speed left from the fall dies out
UPRIGHT = 0.75            # of the time: the root has turned
ARRIVED = 0.6             # of the time: the root is where the clip has it, but for its height
LOW = 0.05                # of the time before the root begins to rise
GATHER = (0.18, 0.75)     # of the time: feet go to their places, once the body has begun to turn
FLAT = 0.3                # of a foot's way: from here on it turns to stand; before, it hangs as the pose has it
ARRIVE = 0.15             # of the time before a foot is in its place: from easing to exactness
EASE = 0.08               # s
FOLD = 0.9                # rad that knees bend on the way, at most
CLEAR = 0.06              # leg lengths a foot is lifted on its way
REACH, SOFT = 0.95, 0.93   # of a leg's length: the root follows, and the knee does not snap straight
CALM = 0.2                # s over which the root's detours are smoothed
DEEP, SPARE = 0.004, 0.002   # m: a path that goes deeper is settled, and then goes no deeper than this
SOOTHE = 0.07             # s: what is settled changes as smoothly as this
HURRY = 1.1               # times the fastest joint of the path there was
HELD = 2                  # frames at either end that settling leaves alone


@dataclass(frozen=True, eq=False)
class Rise:
    """Poses of sub-steps k .. end."""

    positions: Array   # (n + 1, 3)
    rotations: Array   # (n + 1, N, 4)
    slide: float       # m, how far the body has to go along the ground


def plan_rise(clip: Clip, skin: Skin, limits: JointLimits, state: State, k: int, end: int) -> Rise:
    """From `state` at sub-step k to the clip at sub-step `end`."""
    run = slice(k, end + 1)
    times = clip.times[run] - clip.times[k]
    u = times / times[-1]
    shape = clip.shape.at(run)
    keys_x, keys_q = clip.positions[run], clip.rotations[run]
    start_x, start_q = _coasting(clip, state, times)
    share = _quintic(u)[:, None, None]
    start_r = rotation.log(start_q)
    rotations = rotation.exp(start_r + share * (_unwrapped(rotation.log(keys_q), start_r[-1]) - start_r))
    feet = [_Foot(clip, n, k, end) for n, limb in enumerate(clip.character.points.limbs) if limb.kind == "foot"]
    feet = [foot for foot in feet if foot.has_leg]
    for foot in feet:  # a sole has its shape when it arrives, or its toes would be in the ground
        r = rotation.log(start_q[:, foot.toes])
        keys_r = _unwrapped(rotation.log(keys_q[foot.at][:, foot.toes]), r[-1])
        rotations[:, foot.toes] = rotation.exp(r + _quintic(u / GATHER[1])[:, None, None] * (keys_r - r))
    turn = _quintic(u / UPRIGHT)[:, None]
    around = _unwrapped(rotation.subtract(keys_q[:, 0], start_q[:, 0]), np.zeros(3))
    rotations[:, 0] = rotation.add(start_q[:, 0], turn * around)
    positions = start_x + _quintic(u / ARRIVED)[:, None] * (keys_x - start_x)
    positions[:, 2] = start_x[:, 2] + _quintic((u - LOW) / (1.0 - LOW)) * (keys_x - start_x)[:, 2]
    motion = Motion(clip.times[run], positions, rotations, clip.followed.part(k, end + 1).offsets,
                    clip.followed.part(k, end + 1).scales)

    motion = _folded(clip, motion, feet, u)
    for _ in range(2):
        motion = _within_reach(clip, shape, motion, feet, times, u)
        motion = _above_ground(clip, skin, shape, _stepping(clip, shape, motion, feet, u), motion, times, u)
    motion = _stepping(clip, shape, motion, feet, u)
    on_the_way = (1.0 - _quintic((u - GATHER[1] + ARRIVE) / ARRIVE))[:, None]
    rotations = _limited(clip, motion.rotations)
    rotations = rotation.add(rotations, on_the_way[..., None] * rotation.subtract(limits.kept(rotations), rotations))
    motion = motion.with_poses(motion.positions, rotations)
    lifted = _above_ground(clip, skin, shape, motion, motion, times, u).positions
    positions = motion.positions + on_the_way * (lifted - motion.positions)
    positions[0], rotations[0] = state.position, state.rotations
    positions[-1], rotations[-1] = clip.positions[end], clip.rotations[end]
    motion = _settled(clip, skin, shape, motion.with_poses(positions, rotations), feet, u)
    return Rise(motion.positions, motion.rotations, float(np.linalg.norm((keys_x[-1] - state.position)[:2])))


class _Foot:
    """Where one foot goes: to where the clip has it down (or puts it down next) when the body arrives, and on with
    the clip."""

    def __init__(self, clip: Clip, limb: int, k: int, end: int) -> None:
        points = clip.character.points
        self.points: Ints = np.flatnonzero(points.limb == limb)
        self.link = int(points.link[self.points].min())
        chain = leg_chain(clip.character, self.link)
        self.has_leg = len(chain) >= 2
        self.hip = chain[0] if chain else 0
        self.knee = chain[1] if self.has_leg else 0
        down: Bools = np.asarray(clip.schedule.touching[k:end + 1, self.points].any(1))
        pose = forward(clip.tree, clip.shape.at(slice(k, end + 1)).offsets, clip.positions[k:end + 1],
                       clip.rotations[k:end + 1])
        ankle = clip.positions[k:end + 1] + pose.x[:, self.link]
        turned = rotation.from_matrix(pose.R[:, self.link])
        stands = np.flatnonzero(down)
        arrives = stands[stands >= ARRIVED * (len(down) - 1)]
        wait = int(arrives[0]) if len(arrives) else int(stands[-1]) if len(stands) else 0
        self.at: Ints = np.maximum(np.arange(len(down)), wait)
        self.ankle, self.turned = ankle[self.at], turned[self.at]
        below = clip.character.is_ancestor[:, self.link].copy()
        below[self.link] = False
        self.toes: Ints = np.flatnonzero(below)


def _coasting(clip: Clip, state: State, times: Array) -> tuple[Array, Array]:
    """The fallen pose over time: speed that is left dies out."""
    way = (COAST * (1.0 - np.exp(-times / COAST)))[:, None] * state.velocity
    turns = (way @ clip.tree.expand.T).reshape(len(times), -1, 3)
    return state.position + way[:, :3], rotation.add(state.rotations[None], turns)


def _unwrapped(r: Array, near: Array) -> Array:
    """Rotation vectors over time (F, ..., 3) that do not flip: the last one is the one nearest to `near`, and each the
    one nearest to the next; they may be longer than pi."""
    out = r.copy()
    goal = np.broadcast_to(near, r.shape[1:])
    for n in range(len(r) - 1, -1, -1):
        size = np.linalg.norm(r[n], axis=-1, keepdims=True)
        turns = np.round(((goal * r[n]).sum(-1, keepdims=True) / np.maximum(size, 1e-9) - size) / (2.0 * np.pi))
        out[n] = np.where(size > 1e-6, r[n] * (1.0 + 2.0 * np.pi * turns / np.maximum(size, 1e-9)), r[n])
        goal = out[n]
    return out


def _folded(clip: Clip, motion: Motion, feet: list[_Foot], u: Array) -> Motion:
    """Knees bend more on the way than at either end: legs are drawn under the body."""
    rotations = motion.rotations.copy()
    for foot in feet:
        r = rotation.log(clip.rotations[:, foot.knee])
        main = np.linalg.svd(r, full_matrices=False)[2][0]
        main = main * np.sign((r @ main).sum() or 1.0)
        bump = 64.0 * (np.clip(u, 0.0, 1.0) * (1.0 - np.clip(u, 0.0, 1.0))) ** 3
        rotations[:, foot.knee] = rotation.add(rotations[:, foot.knee], FOLD * bump[:, None] * main)
    return motion.with_poses(motion.positions, rotations)


def _targets(clip: Clip, shape: Shape, motion: Motion, foot: _Foot, u: Array) -> tuple[Array, Array, Array]:
    """(ankle (F, 3), world rotation (F, 4) wanted, world rotation there is)."""
    pose = forward(clip.tree, shape.offsets, motion.positions, motion.rotations)
    ankle = motion.positions + pose.x[:, foot.link]
    there = rotation.from_matrix(pose.R[:, foot.link])
    way = np.clip((u - GATHER[0]) / (GATHER[1] - GATHER[0]), 0.0, 1.0)
    share = _quintic(way)[:, None]
    wanted = ankle + share * (foot.ankle - ankle)
    lift = CLEAR * clip.character.leg_length * 64.0 * (way * (1.0 - way)) ** 3
    wanted[:, 2] += lift
    flat = _quintic((way - FLAT) / (1.0 - FLAT))[:, None]
    turned = rotation.add(there, flat * _unwrapped(rotation.subtract(foot.turned, there), np.zeros(3)))
    # the sole stays above the ground on the way
    points = clip.character.points
    sole = foot.points[points.link[foot.points] == foot.link]
    local = shape.points if shape.points.ndim == 2 else shape.points[0]
    depth = np.zeros(len(u))
    if len(sole):
        places = wanted[:, None] + (rotation.matrix(turned)[:, None] @ local[sole][None, ..., None])[..., 0]
        distance = _distances(clip, places, motion.times).min(1)
        own = _distances(clip, clip.paths[_steps(clip, motion)][:, sole], motion.times).min(1)
        depth = np.maximum(np.minimum(own, 0.0) - distance, 0.0) * (share[:, 0] < 1.0)
    wanted[:, 2] += _cover(depth, motion.times, u)
    return wanted, turned, there


def _stepping(clip: Clip, shape: Shape, motion: Motion, feet: list[_Foot], u: Array) -> Motion:
    """Feet at their targets. On the way there legs do not whip when the foot passes close to the hip: they ease
    through, and the foot arrives all the same."""
    rate = (len(u) - 1) / float(motion.times[-1] - motion.times[0])
    arrived = _quintic((u - GATHER[1] + ARRIVE) / ARRIVE)[:, None]
    for foot in feet:
        wanted, turned, there = _targets(clip, shape, motion, foot, u)
        wanted = _softened(clip, shape, motion, foot, wanted, u)
        motion = step_to(clip.tree, shape, motion, foot.link, wanted,
                         rotation.multiply(turned, rotation.conjugate(there)))
        rotations = motion.rotations.copy()
        for link in (*leg_chain(clip.character, foot.link), foot.link):
            exact = rotation.aligned(motion.rotations[:, link])
            eased = rotation.normalised(ndimage.gaussian_filter1d(exact, EASE * rate, axis=0, mode="nearest"))
            eased = rotation.add(motion.rotations[:, link], _inner(u)[:, None] * rotation.subtract(eased, exact))
            rotations[:, link] = rotation.add(eased, arrived * rotation.subtract(exact, eased))
        motion = motion.with_poses(motion.positions, rotations)
    return motion


def _softened(clip: Clip, shape: Shape, motion: Motion, foot: _Foot, wanted: Array, u: Array) -> Array:
    """Ankle places that a leg can follow without its knee snapping straight: beyond SOFT of its length it gives."""
    pose = forward(clip.tree, shape.offsets, motion.positions, motion.rotations)
    hip = motion.positions + pose.x[:, foot.hip]
    bones = np.diff(pose.x[:, [foot.hip, foot.knee, foot.link]], axis=1)
    length = np.linalg.norm(bones, axis=-1).sum(1, keepdims=True)
    away = wanted - hip
    size = np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    room = (0.995 - SOFT) * length
    kept = SOFT * length + room * (1.0 - np.exp(-np.maximum(size - SOFT * length, 0.0) / room))
    share = np.minimum(kept / size, 1.0)
    return np.asarray(hip + away * (1.0 + _inner(u)[:, None] * (share - 1.0)))


def _limited(clip: Clip, rotations: Array) -> Array:
    """Hinges, and balls whose limits the animator gave, stay within them."""
    out = rotations.copy()
    character = clip.character
    for i in range(1, len(character)):
        if character.joints[i] == "hinge":
            axis = character.axes[i]
            angle = rotation.twist_angle(out[:, i], axis)
            kept = np.clip(angle, clip.lower[i, 0], clip.upper[i, 0])
            past: Bools = np.asarray(np.abs(kept - angle) > 1e-12)
            out[past, i] = rotation.exp(kept[past, None] * axis)
        elif character.limits_given[i] and character.joints[i] == "ball":
            r = rotation.log(out[:, i])
            kept = np.clip(r, clip.lower[i], clip.upper[i])
            past = np.asarray((np.abs(kept - r) > 1e-12).any(1))
            out[past, i] = rotation.exp(kept[past])
    return out


def _within_reach(clip: Clip, shape: Shape, motion: Motion, feet: list[_Foot], times: Array, u: Array) -> Motion:
    """The root comes nearer where a leg is too short for where its foot stands."""
    positions = motion.positions.copy()
    for _ in range(3):
        moved = motion.with_poses(positions, motion.rotations)
        pose = forward(clip.tree, shape.offsets, positions, motion.rotations)
        excess = np.zeros(positions.shape)
        for foot in feet:
            wanted = _targets(clip, shape, moved, foot, u)[0]
            away = wanted - (positions + pose.x[:, foot.hip])
            size = np.linalg.norm(away, axis=1, keepdims=True)
            bones = np.diff(pose.x[:, [foot.hip, foot.knee, foot.link]], axis=1)  # a paw's long foot keeps its bend
            own = np.maximum(REACH * np.linalg.norm(bones, axis=-1).sum(1, keepdims=True), size[-1])
            much = np.maximum(size - own, 0.0) * away / np.maximum(size, 1e-9)
            excess = np.where(np.abs(much) > np.abs(excess), much, excess)
        if np.abs(excess).max() < 1e-4:
            break
        width = max(1, int(round(0.5 * CALM / (times[-1] / (len(times) - 1)))))
        positions = positions + ndimage.gaussian_filter1d(excess, width, axis=0, mode="nearest") * _inner(u)[:, None]
    return motion.with_poses(positions, motion.rotations)


def _above_ground(clip: Clip, skin: Skin, shape: Shape, stepped: Motion, motion: Motion, times: Array,
                  u: Array) -> Motion:
    """The root is raised as far as parts of the body would be deeper in the ground than at both ends."""
    depth = np.maximum(_depths(clip, skin, shape, stepped, u)[0], 0.0)
    if stepped is not motion:
        depth = depth[:, ~skin.is_sole]            # soles are put above the ground by themselves
    depth = depth.max(1, initial=0.0)
    positions = motion.positions.copy()
    positions[:, 2] += _cover(depth, stepped.times, u)
    return motion.with_poses(positions, motion.rotations)


def _depths(clip: Clip, skin: Skin, shape: Shape, motion: Motion, u: Array) -> tuple[Array, Array]:
    """(F, S) m by which the skin is deeper in the ground than is allowed, and what is: what it is at both ends."""
    pose = forward(clip.tree, shape.offsets, motion.positions, motion.rotations)
    gap = _distances(clip, place(pose, skin.link, _local(skin, motion)), motion.times) - skin.radius
    end = np.maximum(-gap[[0, -1]], 0.0)
    share = _quintic(u)[:, None]
    allowed = (1.0 - share) * end[0] + share * end[1]
    return -gap - allowed, allowed


def _local(skin: Skin, motion: Motion) -> Array:
    return skin.position if motion.scales is None else motion.scales[:, skin.link] * skin.position


def _settled(clip: Clip, skin: Skin, shape: Shape, motion: Motion, feet: list[_Foot], u: Array) -> Motion:
    """All of the path out of the ground, its ends untouched, feet that have arrived where they are."""
    depth, allowed = _depths(clip, skin, shape, motion, u)
    if depth.max() < DEEP or len(u) <= 2 * HELD + 1:
        return motion
    tree, times = clip.tree, motion.times
    local = _local(skin, motion)
    places = place(forward(tree, shape.offsets, motion.positions, motion.rotations), skin.link, local)
    stands = np.isin(skin.point, np.concatenate([foot.points for foot in feet])) if feet else np.zeros(len(skin), bool)
    weights = (stands & (u >= GATHER[1])[:, None] & (depth < SPARE)).astype(float)
    turns = np.linalg.norm(rotation.subtract(motion.rotations[1:, 1:], motion.rotations[:-1, 1:]), axis=-1)

    def distances(x: Array) -> tuple[Array, Array]:
        seen = clip.terrain.probe_over(x, times)
        return seen.distance, seen.normal

    promises = Promises(skin.link, local, places, weights, distances, skin.radius - allowed - SPARE,
                        HURRY * float(turns.max(initial=0.0)), clip.lower[:, 0], clip.upper[:, 0])
    inner = slice(HELD, len(u) - HELD)
    fixed = np.ones(len(u), dtype=bool)
    fixed[inner] = False
    out = settle(tree, shape, motion, promises, unwillingness(tree),
                 SOOTHE * (len(u) - 1) / float(times[-1] - times[0]), fixed)
    positions, rotations = motion.positions.copy(), motion.rotations.copy()
    positions[inner], rotations[inner] = out.positions[inner], out.rotations[inner]
    return motion.with_poses(positions, rotations)


def _cover(depth: Array, times: Array, u: Array) -> Array:
    """(F,) a smooth hull over what is needed, zero at both ends."""
    if depth.max() < 1e-5:
        return np.zeros(len(depth))
    width = max(1, int(round(CALM * (len(times) - 1) / (times[-1] - times[0]))))
    hull = ndimage.maximum_filter1d(depth, 2 * width + 1, mode="nearest")
    return np.asarray(ndimage.gaussian_filter1d(hull, 0.5 * width, mode="nearest") * _inner(u))


def _distances(clip: Clip, places: Array, times: Array) -> Array:
    """(F, P) m over the ground, each frame at its time."""
    return np.stack([clip.terrain.probe(places[f], float(time)).distance for f, time in enumerate(times)])


def _steps(clip: Clip, motion: Motion) -> slice:
    first = int(np.searchsorted(clip.times, motion.times[0] - 1e-9))
    return slice(first, first + len(motion))


def _inner(u: Array) -> Array:
    """1 but at the ends, where it is 0."""
    return _quintic(u / 0.2) * _quintic((1.0 - u) / 0.15)


def _quintic(u: Array) -> Array:
    u = np.clip(u, 0.0, 1.0)
    return np.asarray(u * u * u * (10.0 + u * (6.0 * u - 15.0)))
