"""A limb put where its end should be: the knee bends about its own axis, the thigh swings by the shortest arc.

Closed form, so that the knee keeps its plane and nothing flips when the leg is almost straight. What lies between
knee and ankle (a paw's long foot) keeps its shape. Arms are legs that end in hands.

    |a + Rot(u, theta) b| = d     a: hip to knee, b: knee to ankle, u: axis of the knee, d: hip to target
    A cos theta + B sin theta = (d^2 - |a|^2 - |b|^2) / 2 - C ,  A = a.b_across, B = a.(u x b_across), C = a.b_along
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array
from ..model.character import Character
from ..model.motion import Motion
from ..numerics import rotation
from .kinematics import forward
from .shape import Shape
from .tree import Tree


def leg_chain(character: Character, foot: int) -> list[int]:
    """Links of the leg above a foot (or of the arm above a hand), hip first; empty where there is none."""
    role = "arm" if character.roles[foot] == "hand" else "leg"
    chain: list[int] = []
    link = int(character.parents[foot])
    while link > 0 and character.roles[link] == role:
        chain.insert(0, link)
        link = int(character.parents[link])
    return chain[-2:] if role == "arm" else chain  # a collar bone is no part of the reach


def leg_length(character: Character, foot: int) -> float:
    """Hip to ankle when straight."""
    links = [*leg_chain(character, foot)[1:], foot]
    return float(np.linalg.norm(character.offsets[links], axis=1).sum())


def longest_reach(tree: Tree, shape: Shape, motion: Motion, foot: int) -> Array:
    """(F,) hip to ankle with the knee straight, everything below it shaped as it is in the motion."""
    hip, knee = leg_chain(tree.character, foot)[:2]
    a, b, u = _bones(tree, shape, motion, hip, knee, foot)
    along = (b * u).sum(1)
    across = np.sqrt(np.maximum((b * b).sum(1) - along * along, 0.0))
    off = (a * u).sum(1)
    level = np.sqrt(np.maximum((a * a).sum(1) - off * off, 0.0))
    return np.asarray(np.hypot(level + across, along + off))


def step_to(tree: Tree, shape: Shape, motion: Motion, foot: int, ankle: Array, turn: Array) -> Motion:
    """The motion with one leg changed: its ankle at `ankle` (F, 3) as far as it reaches, its foot turned by `turn`
    (F, 4) in the world."""
    chain = leg_chain(tree.character, foot)
    if len(chain) < 2:
        return motion
    hip, knee = chain[0], chain[1]
    pose = forward(tree, shape.offsets, motion.positions, motion.rotations)
    h, k, e = (motion.positions + pose.x[:, i] for i in (hip, knee, foot))
    a, b = k - h, e - k
    u = _knee_axis(tree, pose.R, a, b, hip, knee)
    along = (b * u).sum(1, keepdims=True) * u
    across = b - along
    A, B, C = (a * across).sum(1), (a * rotation.cross(u, across)).sum(1), (a * along).sum(1)
    size = np.maximum(np.hypot(A, B), 1e-12)
    straight = np.arctan2(B, A)                                   # theta at which the leg is longest
    away = ankle - h
    d2 = (away * away).sum(1)
    share = (0.5 * (d2 - (a * a).sum(1) - (b * b).sum(1)) - C) / size
    side = -np.sign(np.median(straight)) or 1.0                   # the side to which this knee bends
    theta = straight + side * np.arccos(np.clip(share, -1.0, 1.0))
    bent = rotation.exp(theta[:, None] * u)                       # in the world
    reached = a + rotation.rotate(bent, b)
    swung = rotation.between(reached, np.where(d2[:, None] > 1e-12, away, reached))
    rotations = motion.rotations.copy()
    Q = rotation.from_matrix(pose.R[:, [hip, knee, foot, tree.character.parents[foot]]])
    rotations[:, hip] = _locally(rotations[:, hip], Q[:, 0], swung)
    rotations[:, knee] = _locally(rotations[:, knee], Q[:, 1], bent)
    carrier = rotation.multiply(rotation.multiply(swung, bent), Q[:, 3])
    rotations[:, foot] = rotation.normalised(
        rotation.multiply(rotation.conjugate(carrier), rotation.multiply(turn, Q[:, 2])))
    return motion.with_poses(motion.positions, rotations)


def _bones(tree: Tree, shape: Shape, motion: Motion, hip: int, knee: int, foot: int) -> tuple[Array, Array, Array]:
    """(F, 3) hip to knee, knee to ankle, and the knee's axis."""
    pose = forward(tree, shape.offsets, motion.positions, motion.rotations)
    a, b = pose.x[:, knee] - pose.x[:, hip], pose.x[:, foot] - pose.x[:, knee]
    return a, b, _knee_axis(tree, pose.R, a, b, hip, knee)


def _locally(local: Array, world: Array, turn: Array) -> Array:
    """A joint's rotation after its link was turned by `turn` in the world, its parent staying: Q Exp(R^T w)."""
    own = rotation.multiply(rotation.multiply(rotation.conjugate(world), turn), world)
    return rotation.normalised(rotation.multiply(local, own))


def _knee_axis(tree: Tree, R: Array, a: Array, b: Array, hip: int, knee: int) -> Array:
    """(F, 3) world axis about which the knee bends: its hinge, or the mean axis it bends about in this motion."""
    if tree.character.joints[knee] == "hinge":
        return np.asarray(R[:, knee] @ tree.character.axes[knee])
    bends = (R[:, hip].swapaxes(-1, -2) @ rotation.cross(a, b)[..., None])[..., 0]
    mean = bends.sum(0)
    size = float(np.linalg.norm(mean))
    axis = mean / size if size > 1e-9 else np.array([0.0, 1.0, 0.0])
    return np.asarray(R[:, hip] @ axis)
