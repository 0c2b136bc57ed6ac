"""What acts on a body from outside: pushes, and loads that it carries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.arrays import Array
from ..model.scene import Load, Push
from ..numerics.rotation import skew
from .dynamics import Dynamics
from .shape import Shape, spatial_inertia
from .tree import Tree


def pushed(tree: Tree, motion: Dynamics, pushes: Sequence[Push], start: float, stop: float) -> Array:
    """(nv,) J_ext^T f_ext of all pushes, averaged from start to stop (s); its first three entries are their sum."""
    out = np.zeros(tree.nv)
    for push in pushes:
        force = push.mean_force(start, stop)
        if not force.any():
            continue
        link = tree.character.index(push.body)
        R = motion.pose.R[link]
        if push.frame == "body":
            force = R @ force
        wrench = np.empty(6)
        wrench[:3] = skew(motion.pose.x[link] + R @ push.point) @ force
        wrench[3:] = force
        out += (motion.S @ wrench) * tree.moves[link]                          # J^T f
    return out


def load_masses(loads: Sequence[Load], time: float) -> Array:
    """(L,) kg at this time."""
    return np.array([load.mass_at(time) for load in loads])


def loaded(tree: Tree, shape: Shape, loads: Sequence[Load], masses: Array) -> Shape:
    """The shape at one frame with loads as point masses."""
    if not masses.any():
        return shape
    inertias = shape.inertias.copy()
    for load, mass in zip(loads, masses, strict=True):
        inertias[tree.character.index(load.body)] += spatial_inertia(np.array(mass), load.point, np.zeros((3, 3)))
    return Shape(shape.offsets, inertias, shape.points)
