"""The legs of a planned body, bent so that their feet are where they should be; a heel rises where the leg is too short
or the heel would be in the ground.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools
from ..model.character import Character
from ..model.motion import Motion
from ..numerics import rotation
from ..physics.kinematics import forward
from ..physics.legs import step_to
from ..physics.shape import Shape
from ..physics.trajectory import point_paths
from ..physics.tree import Tree
from .bearing import Reach, hip_path
from .heel_rise import Heel, needed
from .swings import smooth

SOFT, SOFT_TIME = 0.04, 0.12  # of a leg's length, s: a swinging leg comes softly to its full length
FOLDED = 1.2              # shortest lengths: from here on a leg folds ever less


def put(tree: Tree, shape: Shape, keys: Motion, planned: Motion, reach: Reach, ankle: Array, turn: Array,
        heel: Heel | None, touching: Bools, sunk: Array) -> Motion:
    """One leg bent so that its foot is where it should be, as far as it reaches; a heel that is `sunk` (K,) in the
    ground while the toes stand rises out of it."""
    points, times = tree.character.points, planned.times
    standing = np.asarray(touching[:, points.limb == reach.limb].any(1))
    hip = hip_path(tree, shape, planned, reach)
    angle = np.zeros(len(times))
    if heel is not None:
        pivot = _pivots(tree, shape, keys, reach, ankle, turn)
        # in a swing the axis goes with the foot: a heel that is still up would jump where the stance ends
        heel = Heel(pivot, heel.lever, rotation.rotate(turn, heel.keyed), heel.keyed, heel.highest)
        angle = needed(heel, times, hip, ankle, reach.longest, standing, sunk)
        if angle.any():
            ankle, turn = heel.at(ankle, angle), rotation.multiply(heel.turn(angle), turn)
    ankle = _soft(hip, ankle, reach, standing, times)
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


def _place_and_turn(tree: Tree, shape: Shape, motion: Motion, link: int) -> tuple[Array, Array]:
    pose = forward(tree, shape.offsets, motion.positions, motion.rotations)
    return motion.positions + pose.x[:, link], rotation.from_matrix(pose.R[:, link])


def toe_of(character: Character, foot: int) -> int | None:
    return next((c for c in character.children[foot] if character.roles[c] == "toe"), None)
