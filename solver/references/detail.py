"""The clip's finest detail, which smoothing took away, put back on what was simulated.

    q_out = q_sim (+) s (q* (-) q_s)                 s: how much of it, 1 where the keys are followed

In joints that a push has turned, the same small angles move a foot elsewhere than in the keys: one that stands would
slide. So the limbs' joints are turned a little more, until the points that may touch have the displacement of the keys,

    x_out = x_sim + s (x* - x_s)

by damped least squares: a matter of millimetres. What would thereby go under the ground, deeper than it is in the keys
or was simulated, stays as much higher.
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array, Ints
from ..numerics import rotation
from ..physics.kinematics import forward, motion_axes, place
from .clip import Clip
from .standing import drops

ROUNDS = 2          # of least squares
DAMPING = 1e-3      # of the mean curvature
RUN = 128           # frames handled at once
TRUNK = ("root", "trunk", "neck", "head")


def with_detail(clip: Clip, frames: Ints, positions: Array, rotations: Array, shares: Array) -> tuple[Array, Array]:
    """Simulated poses (n, 3), (n, N, 4) at `frames` of the range with `shares` (n,) of the detail."""
    keys = clip.frame_step[frames]
    out = positions + shares[:, None] * clip.root_residual[frames]
    turned = rotation.add(rotations, shares[:, None, None] * clip.residual[frames])
    if not len(clip.character.points):
        return out, turned
    # where the keys are followed exactly, they have their detail already
    moved = (positions != clip.positions[keys]).any(-1) | (rotations != clip.rotations[keys]).any((-2, -1))
    astray = moved.nonzero()[0]
    runs = [astray[start:start + RUN] for start in range(0, len(astray), RUN)]
    wanted, planned = (np.zeros((len(keys), len(clip.character.points), 3)) for _ in range(2))
    for run in runs:
        wanted[run], planned[run] = _wanted(clip, keys[run], positions[run], rotations[run], shares[run])
    if not clip.terrain.is_level:
        standing = clip.schedule.touching[keys] & (moved & (shares == 1.0))[:, None]
        wanted[..., 2] += drops(clip, clip.times[keys], wanted, planned, standing)
    for run in runs:
        shape = clip.shape.at(keys[run])
        for _ in range(ROUNDS):
            turned[run] = _nearer(clip, shape.offsets, shape.points, out[run], turned[run], wanted[run])
    return out, turned


def _wanted(clip: Clip, keys: Ints, positions: Array, rotations: Array, shares: Array) -> tuple[Array, Array]:
    """(n, P, 3) where the points should be, no deeper than in the keys or where they were simulated; and where they
    are planned."""
    shape, times, links = clip.shape.at(keys), clip.times[keys], clip.character.points.link
    own, reached = (place(forward(clip.tree, shape.offsets, *pose), links, shape.points) for pose in (
        (clip.planned.positions[keys], clip.planned.rotations[keys]), (positions, rotations)))
    wanted = reached + shares[:, None, None] * (own - clip.paths[keys])
    ground = clip.terrain.probe_over(wanted, times)
    if ground.distance.min(initial=0.0) < 0.0:
        deepest = np.minimum(*(clip.terrain.probe_over(points, times).distance for points in (own, reached)))
        short = np.maximum(np.minimum(deepest, 0.0) - ground.distance, 0.0)
        wanted += short[..., None] * ground.normal
    return wanted, own


def _nearer(clip: Clip, offsets: Array, local: Array, positions: Array, rotations: Array, wanted: Array) -> Array:
    """Rotations (n, N, 4) with the points of the limbs nearer to where they are wanted."""
    tree, links = clip.tree, clip.character.points.link
    pose = forward(tree, offsets, positions, rotations)
    at = place(pose, links, local)
    S = motion_axes(tree, pose)                                                        # (n, nv, 6)
    K = np.zeros(at.shape + (6,))
    K[..., :3] = rotation.skew(pose.position[:, None] - at)
    K[..., 3:] = np.eye(3)
    limbs = np.array([role not in TRUNK for role in clip.character.roles])[tree.dof_link]
    J = (K @ S[:, None].swapaxes(-1, -2)) * (tree.moves[links] * limbs)[:, None]       # (n, P, 3, nv)
    J = J.reshape(len(at), -1, tree.nv)
    H = J @ J.swapaxes(-1, -2)
    rows = np.arange(H.shape[-1])
    H[:, rows, rows] += DAMPING * H[:, rows, rows].mean(-1, keepdims=True) + 1e-12
    missed = (wanted - at).reshape(len(at), -1, 1)
    turn = (J.swapaxes(-1, -2) @ np.linalg.solve(H, missed))[..., 0]                   # (n, nv)
    return rotation.add(rotations, (turn @ tree.expand.T).reshape(len(at), -1, 3))
