"""How far standing points slip along the ground, beyond what they do in the keys."""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array, Bools
from ..model.motion import Motion
from ..model.terrain import Terrain
from ..physics.shape import shape_of
from ..physics.trajectory import poses
from ..physics.tree import Tree
from .underfoot import CEILING


def slipping_of(keyed: Array, soles: Array, touching: Bools, terrain: Terrain, times: Array, allowed: float,
                turned: Array | None = None) -> Array:
    """(K, P, 3) m, how far standing points have slipped along the ground since the frame before, beyond what they do in
    the keys (K, P, 3) and an `allowed` speed; those do not that move as the keys do, `turned` (K - 1, P, 3) onto the
    ground."""
    out = np.zeros(soles.shape)
    dt = np.diff(times)[:, None]
    moved = np.diff(soles, axis=0) - terrain.probe_over(soles[:-1], times[:-1]).velocity * dt[..., None]
    up = terrain.height_over(soles[:-1, :, :2], times[:-1], soles[:-1, :, 2] + CEILING).normal
    along = _along(moved, up)
    far, usual = _size(along), np.diff(keyed, axis=0)
    otherwise = _size(moved) - _size(usual) if turned is None else _size(_along(moved - turned, up))
    beyond = np.minimum(far - _size(usual[..., :2]), otherwise) - allowed * dt
    held = touching[1:] & touching[:-1] & (beyond > 0.0)
    out[1:] = np.where(held, beyond / np.maximum(far, 1e-9), 0.0)[..., None] * along
    return out


def _along(x: Array, up: Array) -> Array:
    return np.asarray(x - (x * up).sum(-1, keepdims=True) * up)


def _size(x: Array) -> Array:
    return np.asarray(np.linalg.norm(x, axis=-1))


def gathered(slipping: Array, touching: Bools) -> Array:
    """(K, P, 3) how far points have slipped since they came down."""
    total = np.cumsum(slipping, axis=0)
    every = np.arange(len(touching))[:, None]
    came = np.maximum.accumulate(np.where(touching, 0, every), axis=0)      # the last frame in which they were up
    return np.where(touching[..., None], total - np.take_along_axis(total, came[..., None], axis=0), 0.0)


def as_turned(tree: Tree, keys: Motion, motion: Motion, keyed: Array) -> Array:
    """(K - 1, P, 3) m, how points that move in the keys as given (K, P, 3) would, turned as their links are now."""
    turn = _turns(tree, motion) @ _turns(tree, keys).swapaxes(-1, -2)
    return np.asarray((0.5 * (turn[1:] + turn[:-1]) @ np.diff(keyed, axis=0)[..., None])[..., 0])


def _turns(tree: Tree, motion: Motion) -> Array:
    """(K, P, 3, 3) how the points' links are turned in the world."""
    shape, links = shape_of(tree.character, motion), tree.character.points.link
    return np.concatenate([pose.R[:, links] for _, pose in poses(tree, shape, motion)])
