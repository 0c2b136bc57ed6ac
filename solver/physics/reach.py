"""Whole-body reaching: the pose nearest to a given one whose points are at given places, for all frames at once.

Gauss-Newton on the rotation group,

    min over d   sum_p w_p |x_p(q (+) d) - target_p|^2 + sum_j lambda_j |d_j|^2 ,

with the freedoms of the root among the unknowns, so that a body whose legs are too short lowers its pelvis.
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array, Ints
from ..model.motion import Motion
from ..numerics import rotation
from .kinematics import forward, motion_axes, place
from .shape import Shape
from .trajectory import RUN
from .tree import Tree

ROUNDS = 12
DONE = 1e-6  # m: largest change of a target's distance between rounds


def reach(tree: Tree, shape: Shape, motion: Motion, links: Ints, local: Array, targets: Array, weights: Array,
          stiffness: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """(positions (F, 3), rotations (F, N, 4)) that bring points (links, local) to `targets` (F, P, 3) as far as their
    `weights` (F, P) ask, moving each degree of freedom as little as its `stiffness` (nv,) says.

    Hinges stay within lower .. upper (N,)."""
    positions, rotations = motion.positions.copy(), motion.rotations.copy()
    for start in range(0, len(motion), RUN):
        run = slice(start, min(start + RUN, len(motion)))
        part = shape.at(run)
        here = part.points if local is shape.points else local
        _reach(tree, part, here, links, positions[run], rotations[run], targets[run], weights[run], stiffness,
               lower, upper)
    return positions, rotations


def _reach(tree: Tree, shape: Shape, local: Array, links: Ints, positions: Array, rotations: Array, targets: Array,
           weights: Array, stiffness: Array, lower: Array, upper: Array) -> None:
    """In place, for one run of frames."""
    frames, count = len(positions), len(links)
    if not weights.any():
        return
    moved = np.zeros((frames, tree.nv))
    hinges, axes = tree.hinge_links, tree.character.axes[tree.hinge_links]
    mask = tree.moves[links][:, None, :]
    before = np.inf
    for _ in range(ROUNDS):
        pose = forward(tree, shape.offsets, positions, rotations)
        x = place(pose, links, local)
        error = targets - x
        now = float(np.sqrt((weights[..., None] * error * error).sum((-1, -2))).max())
        if abs(before - now) < DONE:
            break
        before = now
        arm = x - pose.position[:, None]
        K = np.concatenate((-rotation.skew(arm), np.broadcast_to(np.eye(3), arm.shape + (3,))), axis=-1)
        J = (K.reshape(frames, 3 * count, 6) @ motion_axes(tree, pose).swapaxes(-1, -2))
        J = (J.reshape(frames, count, 3, tree.nv) * mask).reshape(frames, 3 * count, tree.nv)
        w = np.repeat(weights, 3, axis=-1)
        JW = J * w[..., None]
        H = J.swapaxes(-1, -2) @ JW
        H[:, np.arange(tree.nv), np.arange(tree.nv)] += stiffness
        gradient = (JW.swapaxes(-1, -2) @ error.reshape(frames, -1, 1))[..., 0] - stiffness * moved
        step = np.linalg.solve(H, gradient[..., None])[..., 0]
        size = np.abs(step[:, 3:]).max(1, keepdims=True)
        step *= np.minimum(1.0, 0.5 / np.maximum(size, 1e-9))  # trust: half a radian per round
        moved += step
        positions += step[:, :3]
        turns = (step @ tree.expand.T).reshape(frames, -1, 3)
        rotations[:] = rotation.add(rotations, turns)
        if len(hinges):
            angle = rotation.twist_angle(rotations[:, hinges], axes)
            kept = np.clip(angle, lower[hinges], upper[hinges])
            rotations[:, hinges] = rotation.add(rotations[:, hinges], (kept - angle)[..., None] * axes)
