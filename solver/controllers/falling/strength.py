"""Muscles of a body that is let go: they keep its pose and its motion for a moment, then slacken.

How fast is told by the dials, or by the animator's curve: its value is the strength that is left to the muscles, and
while it goes down to its lowest the keys' torques and the helper force go to nothing. What has been let go does not
come back while the body falls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...model.arrays import Array, Bools, Ints
from ...model.character import SPINE_BOOST
from ...numerics import rotation
from ...physics.kinematics import tangent
from ...physics.yielding import Muscles
from .body import FallingBody, Moment
from .settings import Settings
from .touch import Ground

FIRMNESS = 18.0        # 1/s, w of a muscle at full strength
SLUGGISH = 8.0         # 1/s: least damping, of the joint's own inertia
ARMATURE, LIGHTEST = 0.015, 0.02     # kg m2: without them hands and head whip
FURTHEST = 1.2         # rad, largest error a muscle answers to
FORGET = 0.4           # s, in which the pose aimed at becomes the pose there is
FEED = 1.2             # of the release time: how long joints keep the clip's own torques
LOOSE = 0.01           # m: a foot higher than this carries nothing


@dataclass(frozen=True)
class Curve:
    """The animator's strength."""

    at: Callable[[float], float]   # time -> 0 .. 1
    lowest: float                  # value at which the keys are let go altogether


@dataclass(frozen=True, eq=False)
class Limb:
    """A limb that may carry the clip's weight: its contact points, its spheres, and its freedoms up to the trunk."""

    points: Ints
    spheres: Ints
    freedoms: Ints
    soles: Ints       # the spheres that are its contact points
    ends: Ints        # freedoms of the foot itself


class Strength:
    """Springs and dampers over time, and the pose they aim at."""

    def __init__(self, body: FallingBody, settings: Settings, begin: float, rotations: Array,
                 curve: Curve | None = None) -> None:
        self._body, self._clip, self._tree, self._settings = body, body.clip, body.tree, settings
        self._begin, self._curve, self._left = begin, curve, 1.0
        self._aim = rotations                # the pose muscles aim at
        character, tree = body.clip.character, body.tree
        self._armature = np.full(tree.nv, ARMATURE * body.size)
        self._armature[:6] = 0.0
        self._freedoms = np.maximum(tree.own.sum(1), 1.0)
        usual = np.array([SPINE_BOOST if role == "trunk" else 1.0 for role in character.roles])
        self._strengths = character.strengths / usual
        self._limbs = _find_limbs(body)

    def muscles(self, now: Moment, ground: Ground, k: int, time: float, settled: float) -> Muscles:
        """Springs and dampers now; dampers are `settled` times as strong."""
        tree, settings, body = self._tree, self._settings, self._body
        inertia = np.maximum(tree.own @ np.diagonal(now.M) / self._freedoms, LIGHTEST * body.size)
        slack = smooth(time - self._begin, settings.slacken) if self._curve is None else 1.0 - self._left_at(time)
        s = (1.0 - slack + slack * settings.strength) * self._strengths
        firm = FIRMNESS / body.pace
        stiffness = (s * inertia * firm ** 2)[tree.dof_link]
        damping = np.maximum(2.0 * np.sqrt(s) * firm, SLUGGISH / body.pace) * inertia
        damping = (damping * settled)[tree.dof_link]
        stiffness[:6] = damping[:6] = 0.0
        e = rotation.subtract(self._aim, now.state.rotations)
        size = np.sqrt((e * e).sum(1, keepdims=True))
        e *= np.minimum(1.0, FURTHEST / np.maximum(size, 1e-9))
        keep = self._keep(time)
        feed = np.zeros(tree.nv)
        if keep > 0.0:
            moment = self._clip.moment(k)
            feed = keep * moment.torque
            feed[:6] *= self._share(time, settings.release)
            for limb in self._limbs:
                _lighten(feed, limb, moment.touching[limb.points], ground.gap, LOOSE * body.length)
        error, velocity = tangent(tree, e, np.zeros(3)), keep * self._clip.v[k + 1]
        return Muscles(stiffness, damping, self._armature, error, velocity, feed)

    def follow(self, rotations: Array, k: int, time: float, dt: float) -> None:
        """The pose aimed at moves on with the clip at first, and then comes to the pose there is."""
        keep = self._keep(time)
        aim = self._aim
        if keep > 0.0:
            aim = rotation.add(aim, (self._tree.expand @ (keep * dt * self._clip.v[k + 1])).reshape(-1, 3))
        share = (1.0 - keep) * (1.0 - np.exp(-dt / FORGET))
        self._aim = rotation.add(aim, share * rotation.subtract(rotations, aim))

    def _keep(self, time: float) -> float:
        """Share of the clip's torques and speeds that is left."""
        return self._share(time, FEED * self._settings.release)

    def _share(self, time: float, span: float) -> float:
        """1 at the release, 0 after `span`, or where the curve is lowest."""
        if self._curve is None:
            return 1.0 - smooth(time - self._begin, span)
        lowest = min(self._curve.lowest, 0.99)
        return smooth(self._left_at(time) - lowest, 1.0 - lowest)

    def _left_at(self, time: float) -> float:
        assert self._curve is not None
        self._left = min(self._left, self._curve.at(time))
        return self._left


def _find_limbs(body: FallingBody) -> list[Limb]:
    character, skin = body.clip.character, body.skin
    points, roles, parents = character.points, character.roles, character.parents
    found = []
    for n in range(len(points.limbs)):
        own = np.flatnonzero(points.limb == n)
        end = int(points.link[own].min())
        below = character.is_ancestor[:, end]
        links, link = below.copy(), end
        while link > 0 and roles[link] not in ("root", "trunk"):
            links[link] = True
            link = int(parents[link])
        freedoms = np.flatnonzero(links[body.tree.dof_link])
        spheres = np.flatnonzero(below[skin.link])
        if len(spheres) and link != end:
            soles = np.flatnonzero(np.isin(skin.point, own))
            ends = np.flatnonzero(below[body.tree.dof_link])
            found.append(Limb(own, spheres, freedoms[freedoms >= 6], soles, ends[ends >= 6]))
    return found


def _lighten(feed: Array, limb: Limb, carrying: Bools, gap: Array, loose: float) -> None:
    """A leg that should carry but hangs in the air would kick, and a foot that stands on its edge would twist."""
    if not carrying.any():
        return
    if gap[limb.spheres].min() > loose:
        feed[limb.freedoms] = 0.0
    elif len(limb.soles) == len(carrying):
        feed[limb.ends] *= (gap[limb.soles] < loose)[carrying].mean()


def smooth(time: float, span: float) -> float:
    """0 to 1 over a span of time, without a jump in speed."""
    if span <= 0.0:
        return 1.0
    x = min(max(time / span, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)
