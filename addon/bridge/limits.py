# SPDX-License-Identifier: GPL-3.0-or-later
"""Joint limits from what a rig already says: Limit Rotation constraints and limits for inverse kinematics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .convert import Array

if TYPE_CHECKING:
    import bpy

FREE = np.radians(179.0)   # a limit this wide is none


@dataclass(frozen=True, eq=False)
class BoneLimits:
    """Angles about the bone's own axes (rad)."""

    lower: Array      # (3,)
    upper: Array      # (3,)
    source: str       # where they come from, in the animator's words

    @property
    def hinge(self) -> int | None:
        """The only axis it may turn about, if there is only one."""
        free = np.flatnonzero(self.upper - self.lower > 1e-3)
        return int(free[0]) if len(free) == 1 else None


def read_limits(bone: bpy.types.PoseBone) -> BoneLimits | None:
    for constraint in bone.constraints:
        if constraint.type == "LIMIT_ROTATION" and not constraint.mute and constraint.influence > 0.5 \
                and constraint.owner_space == "LOCAL":
            return _limits([(getattr(constraint, f"use_limit_{a}"), getattr(constraint, f"min_{a}"),
                             getattr(constraint, f"max_{a}"), False) for a in "xyz"], "Limit Rotation")
    return _limits([(getattr(bone, f"use_ik_limit_{a}"), getattr(bone, f"ik_min_{a}"), getattr(bone, f"ik_max_{a}"),
                     getattr(bone, f"lock_ik_{a}")) for a in "xyz"], "Inverse Kinematics")


def _limits(axes: list[tuple[Any, ...]], source: str) -> BoneLimits | None:
    lower, upper = np.full(3, -np.inf), np.full(3, np.inf)
    for n, (is_used, low, high, is_locked) in enumerate(axes):
        if is_locked:
            lower[n] = upper[n] = 0.0
        elif is_used:
            lower[n] = low if low > -FREE else -np.inf
            upper[n] = high if high < FREE else np.inf
    if not (np.isfinite(lower) | np.isfinite(upper)).any() or (lower == upper).all():
        return None  # all three locked is a switch for inverse kinematics, not a joint
    return BoneLimits(lower, upper, source)


def limits_in_world_axes(limits: BoneLimits, axes: Array) -> tuple[Array, Array]:
    """The smallest box of rotation vectors in world axes around the box in the bone's; `axes` (3, 3) at rest."""
    turn = np.where(np.abs(axes) < 1e-6, 0.0, axes)
    with np.errstate(invalid="ignore"):
        sides = [np.nan_to_num(turn * side, nan=0.0, posinf=np.inf, neginf=-np.inf)
                 for side in (limits.lower, limits.upper)]
        low, high = np.minimum(*sides).sum(1), np.maximum(*sides).sum(1)
    return np.nan_to_num(low, nan=-np.inf, neginf=-np.inf), np.nan_to_num(high, nan=np.inf, posinf=np.inf)
