"""A clip made on level ground, planned over another ground: what the controller follows instead of the clip.

Footholds first, then the limbs' way between them, then the pelvis and the trunk's lean, then one pose per sub-step
that reaches all of it. The plan becomes the reference, so undisturbed playback on the new ground is exact too; where
no foothold and no swing changes, the clip itself is returned, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools, Ints
from ..model.character import Character
from ..model.motion import Motion
from ..model.terrain import Terrain
from ..numerics import rotation
from ..physics.kinematics import forward
from ..physics.legs import leg_chain, leg_length, step_to
from ..physics.reach import reach
from ..physics.shape import Shape
from ..physics.trajectory import point_paths
from ..physics.tree import Tree
from .footholds import Foothold, choose, find_stances
from .swings import Limb, smooth, travel

STRAIGHT = 0.985          # of its length: as far as a leg stretches
CALM = 0.12               # s, smoothing of the pelvis
LEAN_CALM = 0.25          # s
LEAN_BASE = 0.75          # leg lengths: the longer, the less a biped leans with the slope
PRONE_BASE = 0.10         # who goes on four limbs lies along the slope
DETOUR = 0.35             # leg lengths: how far a swing may leave the straight way between its footholds
SWINGING = 0.5            # how much a swinging foot carries the pelvis, against one for a standing foot
MISSED = 0.01             # m: a standing foot that misses the ground by more is worth a sentence
FADE = 0.15               # s, in which hands and knees come under and leave control
# how unwilling each part is to leave its keys while reaching, in m2/rad2 (m2/m2 for the root's position)
STIFF = {"root": 0.05, "trunk": 0.02, "neck": 1.0, "head": 1.0, "leg": 1e-5, "foot": 1e-5, "toe": 1e-3, "arm": 1e-4,
         "hand": 1e-4}
ROOT_PLACE = 0.2


@dataclass(frozen=True, eq=False)
class GroundPlan:
    """The planned motion on the sub-step grid, and sentences for the animator."""

    motion: Motion
    notes: tuple[tuple[int, str], ...]   # (sub-step, sentence)


def plan(tree: Tree, shape: Shape, motion: Motion, touching: Bools, terrain: Terrain, ground: float, lower: Array,
         upper: Array) -> GroundPlan:
    """Plan a motion on level ground (height `ground`) over `terrain`."""
    character = tree.character
    points = character.points
    times = motion.times
    paths = point_paths(tree, shape, motion, points.link, shape.points)
    on_foot = np.array([limb.kind == "foot" for limb in points.limbs], dtype=bool)
    stances = find_stances(touching, paths, points.limb, on_foot, ground)
    carried = np.zeros((len(times), 2))
    holds = [choose(s, terrain, float(times[s.first]), carried[s.first], bool(on_foot[s.limb])) for s in stances]
    anchors = _anchors(character)
    joints = point_paths(tree, shape, motion, anchors, np.zeros((len(anchors), 3)))
    new, turns = joints.copy(), np.tile(rotation.IDENTITY, joints.shape[:2] + (1,))
    for n in range(len(points.limbs)):
        own = points.limb == n
        mine = [hold for hold in holds if hold.stance.limb == n]
        way = Limb(times, joints[:, n], paths[:, own], carried, terrain, ground, DETOUR * character.leg_length)
        new[:, n], turns[:, n] = travel(way, mine)
    if np.abs(new - joints).max() < 1e-9 and np.abs(turns[..., 1:]).max() < 1e-9:
        return GroundPlan(motion, ())

    weights = _weights(times, touching, character)
    feet = points.of_kind("foot")
    started, down = _carry_body(tree, shape, motion, joints, new, holds)
    new, notes = _within_reach(tree, shape, motion, started, joints, new, down)
    R = rotation.matrix(turns)
    targets = new[:, points.limb] + (R[:, points.limb] @ (paths - joints[:, points.limb])[..., None])[..., 0]
    planned = started
    if weights[:, ~feet].any():  # hands and knees carry too: the whole body reaches for the ground
        stiffness = np.array([STIFF.get(role, 1e-2) for role in character.roles])[tree.dof_link]
        stiffness[:3] = ROOT_PLACE
        low, high = np.maximum(lower[:, 0], -np.pi), np.minimum(upper[:, 0], np.pi)
        weights = np.where(feet, 0.1 * weights, weights)
        planned = motion.with_poses(*reach(tree, shape, started, points.link, shape.points, targets, weights,
                                           stiffness, low, high))
    for n, limb in enumerate(points.limbs):
        if limb.kind == "foot":
            foot = int(anchors[n])
            turn = _from_keys(tree, shape, motion, planned, foot, turns[:, n])
            planned = step_to(tree, shape, planned, foot, new[:, n], turn)
    return GroundPlan(planned, notes)


def _from_keys(tree: Tree, shape: Shape, keys: Motion, planned: Motion, foot: int, turn: Array) -> Array:
    """(K, 4) the turn that brings a foot from where the plan has it to where `turn` puts that of the keys."""
    before, now = (rotation.from_matrix(forward(tree, shape.offsets, m.positions, m.rotations).R[:, foot])
                   for m in (keys, planned))
    return rotation.multiply(rotation.multiply(turn, before), rotation.conjugate(now))


def _anchors(character: Character) -> Ints:
    """The link whose joint stands for each limb: the one nearest to the body among those that carry its points."""
    points = character.points
    return np.array([int(points.link[points.limb == n].min()) for n in range(len(points.limbs))], dtype=np.intp)


def _weights(times: Array, touching: Bools, character: Character) -> Array:
    """(K, P) feet are always led; hands and knees only while they carry, and a little before and after."""
    points = character.points
    weights = np.ones(touching.shape)
    others = ~points.of_kind("foot")
    if others.any():
        dt = float(times[-1] - times[0]) / (len(times) - 1)
        width = max(1, int(round(FADE / dt)))
        for p in np.flatnonzero(others):
            if not touching[:, p].any():
                weights[:, p] = 0.0
                continue
            away = ndimage.distance_transform_edt(~touching[:, p])
            weights[:, p] = smooth(1.0 - away / width)
    return weights


def _carry_body(tree: Tree, shape: Shape, motion: Motion, joints: Array, new: Array,
                holds: list[Foothold]) -> tuple[Motion, Array]:
    """Root height, place and lean: the body goes where its supports go, smoothly, and within the legs' reach.

    Also which limbs are down, (K, L)."""
    character = tree.character
    points = character.points
    unit, times = character.leg_length, motion.times
    dt = float(times[-1] - times[0]) / (len(times) - 1)
    limbs = len(points.limbs)
    down = np.zeros((len(times), limbs))
    for hold in holds:
        down[hold.stance.first:hold.stance.last + 1, hold.stance.limb] = 1.0
    calm = max(CALM / dt, 1.0)
    on_foot = np.array([limb.kind == "foot" for limb in points.limbs])
    share = ndimage.gaussian_filter1d(down, calm, axis=0, mode="nearest") + 1e-3      # (K, L)
    share = np.where(on_foot, SWINGING + (1.0 - SWINGING) * share, share)             # both feet carry the pelvis along
    moved = new - joints                                                             # displacement of each limb
    for hold in holds:                                                               # without the swing's own lift
        moved[hold.stance.first:hold.stance.last + 1, hold.stance.limb] = (hold.place - hold.stance.centre)
    held = _between(times, moved, down)
    arm = joints[..., :2] - motion.positions[:, None, :2]
    prone = len([limb for limb in points.limbs if limb.kind == "foot"]) > 2
    many = np.clip(share.sum(1) - 2.0, 0.0, 1.0)
    base = np.where(prone, PRONE_BASE, LEAN_BASE * (1.0 - many) + PRONE_BASE * many) * unit
    offset, slope = _plane(arm, held, share, base)
    offset = ndimage.gaussian_filter1d(offset, calm, axis=0, mode="nearest")
    slope = ndimage.gaussian_filter1d(slope, max(LEAN_CALM / dt, 1.0), axis=0, mode="nearest")
    normal = np.concatenate((-slope, np.ones((len(times), 1))), axis=1)
    lean = rotation.between(np.broadcast_to([0.0, 0.0, 1.0], normal.shape), normal)
    rotations = motion.rotations.copy()
    rotations[:, 0] = rotation.multiply(lean, rotations[:, 0])
    positions = motion.positions + offset
    started = motion.with_poses(positions, rotations)
    positions[:, 2] += _sink(tree, shape, motion, started, joints, new, down, calm)
    return motion.with_poses(positions, rotations), down


def _within_reach(tree: Tree, shape: Shape, keys: Motion, started: Motion, joints: Array, new: Array,
                  down: Array) -> tuple[Array, tuple[tuple[int, str], ...]]:
    """Feet that are farther from the hip than the leg is long come nearer; if they should stand there, it is said."""
    character = tree.character
    points = character.points
    new, notes = new.copy(), []
    for n, limb in enumerate(points.limbs):
        foot = int(points.link[points.limb == n].min())
        if limb.kind != "foot" or not leg_chain(character, foot):
            continue
        hip, length = leg_chain(character, foot)[0], leg_length(character, foot)
        own = np.linalg.norm(_path(tree, shape, keys, hip) - joints[:, n], axis=1)
        place = _path(tree, shape, started, hip)
        away = new[:, n] - place
        far = np.linalg.norm(away, axis=1)
        longest = np.maximum(STRAIGHT * length, np.minimum(own, length))
        short = np.maximum(far - longest, 0.0)
        new[:, n] -= away * (short / np.maximum(far, 1e-9))[:, None]
        missed = short * (down[:, n] > 0.0)
        if missed.max() > MISSED:
            worst = int(missed.argmax())
            gap = 100 * missed[worst]
            notes.append((worst, f"{limb.name} stays {gap:.0f} cm off the ground: the leg is too short."))
    return new, tuple(notes)


def _between(times: Array, moved: Array, down: Array) -> Array:
    """Displacements of the footholds, carried smoothly through the swings between them."""
    out = moved.copy()
    for limb in range(moved.shape[1]):
        held = down[:, limb] > 0.0
        if not held.any():
            out[:, limb] = 0.0
            continue
        known = np.flatnonzero(held)
        for axis in range(3):
            out[:, limb, axis] = np.interp(times, times[known], moved[known, limb, axis])
    return out


def _plane(arm: Array, moved: Array, share: Array, base: Array) -> tuple[Array, Array]:
    """Weighted fit  moved = offset + slope . arm  per frame; the slope only of heights, drawn to zero over `base`."""
    total = share.sum(1)
    middle = (share[..., None] * arm).sum(1) / total[:, None]
    mean = (share[..., None] * moved).sum(1) / total[:, None]
    away = arm - middle[:, None]
    spread = np.einsum("kl,kli,klj->kij", share, away, away)
    spread[:, (0, 1), (0, 1)] += (total * base * base)[:, None]
    pull = np.einsum("kl,kli,kl->ki", share, away, moved[..., 2] - mean[:, None, 2])
    slope = np.linalg.solve(spread, pull[..., None])[..., 0]
    offset = mean.copy()
    offset[:, 2] -= (slope * middle).sum(1)
    return offset, slope


def _path(tree: Tree, shape: Shape, motion: Motion, link: int) -> Array:
    return point_paths(tree, shape, motion, np.array([link]), np.zeros((1, 3)))[:, 0]


def _sink(tree: Tree, shape: Shape, keys: Motion, motion: Motion, joints: Array, new: Array, down: Array,
          calm: float) -> Array:
    """(K,) how far the body must go down so that no standing leg is longer than it can be."""
    character = tree.character
    points = character.points
    low = np.zeros(len(motion))
    for n, limb in enumerate(points.limbs):
        foot = int(points.link[points.limb == n].min())
        if limb.kind != "foot" or not leg_chain(character, foot):
            continue
        hip, length = leg_chain(character, foot)[0], leg_length(character, foot)
        own = np.linalg.norm(_path(tree, shape, keys, hip) - joints[:, n], axis=1)
        gap = _path(tree, shape, motion, hip) - new[:, n]
        longest = np.maximum(STRAIGHT * length, np.minimum(own, length))  # the clip's own stretch is allowed
        flat = np.minimum(np.linalg.norm(gap[:, :2], axis=1), 0.9 * longest)
        room = np.sqrt(longest ** 2 - flat ** 2) - gap[:, 2]
        near = ndimage.maximum_filter1d(down[:, n], max(int(calm), 1))
        low = np.minimum(low, np.where(near > 0.0, np.minimum(room, 0.0), 0.0))
    window = max(int(3 * calm), 1)
    return np.asarray(ndimage.gaussian_filter1d(ndimage.minimum_filter1d(low, 2 * window + 1), calm, mode="nearest"))
