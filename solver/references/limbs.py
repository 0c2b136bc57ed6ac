"""The limbs of a planned body, bent so that their ends are where they should be.

Feet first, with their heels raised where the leg is too short or the heel would be in the ground; hands and knees come
under control a little before they carry and leave it a little after.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools
from ..model.character import Character
from ..model.motion import Motion
from ..numerics import rotation
from ..physics.kinematics import forward
from ..physics.legs import kneel_to, leg_chain, step_to
from ..physics.reach import reach as whole_reach
from ..physics.shape import Shape
from ..physics.trajectory import point_paths
from ..physics.tree import Tree
from .bearing import Reach, hip_path
from .heel_rise import Heel, needed
from .swings import smooth

# how unwilling each part is to leave its keys while hands and knees reach, in m2/rad2 (m2/m2 for the root's position)
STIFF = {"root": 0.05, "trunk": 0.02, "neck": 1.0, "head": 1.0, "leg": 1e-5, "foot": 1e-5, "toe": 1e-3, "arm": 1e-4,
         "hand": 1e-4}
ROOT_PLACE = 0.05
FEET = 0.1                # how much feet insist while hands and knees reach
FADE = 0.3                # s, in which hands and knees come under and leave control
SOFT, SOFT_TIME = 0.04, 0.12  # of a leg's length, s: a swinging leg comes softly to its full length
FOLDED = 1.2              # shortest lengths: from here on a leg folds ever less


def reach_out(tree: Tree, shape: Shape, planned: Motion, touching: Bools, new: Array, anchors: list[int],
              limits: tuple[Array, Array]) -> Motion:
    """Hands and knees carry with limbs that are almost straight: the whole body moves so that all of them reach."""
    character, points = tree.character, tree.character.points
    others = [n for n, limb in enumerate(points.limbs) if limb.kind in ("hand", "knee")]
    weights = np.zeros((len(planned), len(anchors)))
    for n in range(len(anchors)):
        led = _led(planned.times, np.asarray(touching[:, points.limb == n].any(1)))
        weights[:, n] = led if n in others else FEET * led
    if not weights[:, others].any():
        return planned
    weights *= weights[:, others].max(1, keepdims=True)          # who only walks is left alone
    stiffness = np.array([STIFF.get(role, 1e-2) for role in character.roles])[tree.dof_link]
    stiffness[:3] = ROOT_PLACE
    low, high = np.maximum(limits[0][:, 0], -np.pi), np.minimum(limits[1][:, 0], np.pi)
    return planned.with_poses(*whole_reach(tree, shape, planned, np.array(anchors, dtype=np.intp),
                                           np.zeros((len(anchors), 3)), new, weights, stiffness, low, high))


def put(tree: Tree, shape: Shape, keys: Motion, planned: Motion, reach: Reach, ankle: Array, turn: Array,
        heel: Heel | None, touching: Bools, sunk: Array) -> Motion:
    """One limb bent so that its end is where it should be, as far as it reaches; a heel that is `sunk` (K,) in the
    ground while the toes stand rises out of it."""
    points, times = tree.character.points, planned.times
    standing = np.asarray(touching[:, points.limb == reach.limb].any(1))
    hip = hip_path(tree, shape, planned, reach)
    angle = np.zeros(len(times))
    if heel is not None:
        pivot = _pivots(tree, shape, keys, reach, ankle, turn)
        heel = Heel(pivot, heel.lever, heel.axis, heel.highest)
        angle = needed(heel, times, hip, ankle, reach.longest, standing, sunk)
        if angle.any():
            ankle, turn = heel.at(ankle, angle), rotation.multiply(heel.turn(angle), turn)
    ankle = _soft(hip, ankle, reach, standing, times)
    if points.limbs[reach.limb].kind == "hand":
        if not standing.any():
            return planned
        led = _led(times, standing)[:, None]
        free, here = _place_and_turn(tree, shape, planned, reach.end), _place_and_turn(tree, shape, keys, reach.end)
        ankle = free[0] + led * (ankle - free[0])
        wanted = rotation.multiply(turn, here[1])
        full = rotation.subtract(wanted, free[1])
        now = rotation.add(free[1], led * full)
        return step_to(tree, shape, planned, reach.end, ankle, rotation.multiply(now, rotation.conjugate(free[1])))
    before, now = (_place_and_turn(tree, shape, m, reach.end)[1] for m in (keys, planned))
    planned = step_to(tree, shape, planned, reach.end, ankle,
                      rotation.multiply(rotation.multiply(turn, before), rotation.conjugate(now)))
    toe = toe_of(tree.character, reach.end)
    if heel is not None and toe is not None and angle.any():  # the toes stay as they were
        foot = _place_and_turn(tree, shape, planned, reach.end)[1]
        back = rotation.multiply(rotation.multiply(rotation.conjugate(foot), heel.turn(-angle)), foot)
        rotations = planned.rotations.copy()
        rotations[:, toe] = rotation.normalised(rotation.multiply(back, rotations[:, toe]))
        planned = planned.with_poses(planned.positions, rotations)
    return planned


def kneel(tree: Tree, shape: Shape, planned: Motion, reach: Reach, new: Array, anchors: list[int],
          touching: Bools) -> Motion:
    """A knee that stands, put where it should be; its leg comes under the knee's control and leaves it smoothly."""
    points, character = tree.character.points, tree.character
    led = _led(planned.times, np.asarray(touching[:, points.limb == reach.limb].any(1)))
    foot = next((end for end in anchors if reach.end in leg_chain(character, end)), None)
    if foot is None or not led.any():
        return planned
    ankle = _place_and_turn(tree, shape, planned, foot)[0]
    knelt = kneel_to(tree, shape, planned, reach.end, foot, new[:, reach.limb], ankle)
    turns = rotation.subtract(knelt.rotations, planned.rotations)
    return planned.with_poses(planned.positions, rotation.add(planned.rotations, led[:, None, None] * turns))


def _soft(hip: Array, ankle: Array, reach: Reach, standing: Bools, times: Array) -> Array:
    """Ends farther from the hip than the limb is long come nearer: at once while standing, softly in a swing, because
    a knee that is pulled straight at full speed snaps."""
    away = ankle - hip
    far = np.maximum(np.linalg.norm(away, axis=1), 1e-9)
    dt = float(times[-1] - times[0]) / (len(times) - 1)
    apart = ndimage.distance_transform_edt(~standing) * dt if standing.any() else np.full(len(times), SOFT_TIME)
    soft = 1e-6 + SOFT * reach.longest * smooth(apart / SOFT_TIME)
    start = np.maximum(reach.longest - soft, np.minimum(reach.own, reach.longest))
    room = np.maximum(reach.longest - start, 1e-9)
    over = np.maximum(far - start, 0.0)
    kept = np.where(over > 0.0, start + room * (1.0 - np.exp(-np.minimum(over / room, 50.0))), far)
    # ... and ends nearer to it than it folds go away from it, in a swing
    close = np.maximum(np.minimum(FOLDED * reach.tightest, reach.own), reach.tightest + 1e-6)
    room = close - reach.tightest
    folded = reach.tightest + room * np.exp(-np.clip((close - kept) / room, 0.0, 50.0))
    kept = np.where(~standing & (kept < close), folded, kept)
    return np.asarray(hip + away * (kept / far)[:, None])


def _pivots(tree: Tree, shape: Shape, keys: Motion, reach: Reach, ankle: Array, turn: Array) -> Array:
    """(K, 3) where the toe line goes with the foot, through stances and swings."""
    points = tree.character.points
    toe = toe_of(tree.character, reach.end)
    own = np.flatnonzero(points.limb == reach.limb)
    front = own[points.group[own] == points.group[own].max()]
    links = np.append(points.link[front] if toe is None else [toe], reach.end)
    local = np.concatenate((points.position[front] if toe is None else np.zeros((1, 3)), np.zeros((1, 3))))
    paths = point_paths(tree, shape, keys, links, local)
    return np.asarray(ankle + rotation.rotate(turn, paths[:, :-1].mean(1) - paths[:, -1]))


def _led(times: Array, standing: Bools) -> Array:
    """(K,) how much a hand or a knee is under control: 1 where it stands, 0 far from there."""
    if not standing.any():
        return np.zeros(len(times))
    away = ndimage.distance_transform_edt(~standing) * float(times[-1] - times[0]) / (len(times) - 1)
    return smooth(1.0 - away / FADE)


def _place_and_turn(tree: Tree, shape: Shape, motion: Motion, link: int) -> tuple[Array, Array]:
    pose = forward(tree, shape.offsets, motion.positions, motion.rotations)
    return motion.positions + pose.x[:, link], rotation.from_matrix(pose.R[:, link])


def toe_of(character: Character, foot: int) -> int | None:
    return next((c for c in character.children[foot] if character.roles[c] == "toe"), None)
