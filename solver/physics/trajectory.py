"""Trajectories of links and points over a whole motion, in runs of frames so that memory stays flat."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..model.arrays import Array, Ints
from ..model.motion import Motion
from .kinematics import Pose, forward, place
from .shape import Shape
from .tree import Tree

RUN = 256  # frames handled at once


def poses(tree: Tree, shape: Shape, motion: Motion) -> Iterator[tuple[slice, Pose]]:
    """World poses, one run of frames after the other."""
    for start in range(0, len(motion), RUN):
        run = slice(start, min(start + RUN, len(motion)))
        yield run, forward(tree, shape.at(run).offsets, motion.positions[run], motion.rotations[run])


def point_paths(tree: Tree, shape: Shape, motion: Motion, links: Ints, local: Array) -> Array:
    """(F, P, 3) world positions of points that are fixed in their links (`local` may also be given per frame)."""
    out = np.zeros((len(motion), len(links), 3))
    for run, pose in poses(tree, shape, motion):
        out[run] = place(pose, links, local if local.ndim == 2 else local[run])
    return out


def com_path(tree: Tree, shape: Shape, motion: Motion) -> Array:
    """(F, 3) centre of mass."""
    out = np.zeros((len(motion), 3))
    for run, pose in poses(tree, shape, motion):
        inertias = shape.at(run).inertias
        mass = inertias[..., 3, 3]
        moment = np.stack((inertias[..., 2, 4], inertias[..., 0, 5], inertias[..., 1, 3]), axis=-1)  # m c, from m [c]
        first = (pose.R @ moment[..., None])[..., 0] + mass[..., None] * pose.x
        out[run] = pose.position + first.sum(-2) / mass.sum(-1)[..., None]
    return out


def windowed_speed(times: Array, path: Array, window: float = 0.05) -> Array:
    """(F, ...) speed by central difference over about `window` seconds; less sensitive to noise than one frame."""
    half = max(1, int(round(0.5 * window * (len(times) - 1) / (times[-1] - times[0]))))
    k = np.arange(len(times))
    before, after = np.maximum(k - half, 0), np.minimum(k + half, len(times) - 1)
    span = (times[after] - times[before]).reshape((-1,) + (1,) * (path.ndim - 2))
    return np.asarray(np.linalg.norm(path[after] - path[before], axis=-1) / span)
