"""Leaning against loads ahead of time: they are known, as they are to who carries them.

Accelerations ([Oshita2001] 5.1.2) only put off a fall under a steady load, by driving the body ever farther aside. So
pelvis and back lean beforehand, and balance control has the rest to do. Pelvis aside by p, and the back bent after it,
move the ZMP as a cart moves under a table (Kajita and others, 2003):

    F (Z* - Z) = F G p - m B p''        F: vertical force;  m G, m B: first moments of what moves, by way and height

Z is that of the loaded keys, Z* the point of the support area nearest to it (5.1.2), so nobody leans who need not. The
equation is solved over the whole clip at once: one band matrix, whose only bounded solution looks ahead by itself, and
begins on the keys. Then Z is computed anew by inverse dynamics, with legs that follow the pelvis, and what is left is
corrected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_banded
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from ...model.arrays import Array
from ...numerics import rotation
from ...physics.dynamics import dynamics
from ...physics.kinematics import Pose, forward, tangent
from ...physics.outside import load_masses
from ...physics.shape import Shape, spatial_inertia
from ...physics.support import Support, nearest, wrench_map, zmp
from ...physics.trajectory import RUN, poses
from ...references.clip import Clip
from .comfort import UNLOADED
from .course import Course
from .feet import Feet
from .parts import Parts
from .stance import Stance
from .tipping import Tipping

BEND = 2.0           # rad by which the back bends after a pelvis that goes aside a leg length
MOST_LEAN = 0.15     # leg lengths
INNER = 0.4          # share of the support area at its border that a plan leaves alone
CORRECTIONS = 6
NEAR = 1e-3          # m that a plan may miss its ZMPs by
SOFTLY = 0.2         # s in which the pelvis goes down for legs that would be too short


@dataclass(frozen=True, eq=False)
class Cart:
    """The coefficients of the module's equation, (K,) each."""

    force: Array     # F, N
    share: Array     # G
    moment: Array    # m B, kg m

    def lean(self, dt: Array, missing: Array) -> Array:
        """p (K + 1, 2): 0 at first, at rest at last."""
        count = len(missing)
        before, after = 1.0 / (dt[:-1] * dt[1:]), 1.0 / dt[1:] ** 2       # p'' of step k >= 1, as it is integrated
        bands, right = np.zeros((3, count + 1)), np.zeros((count + 1, 2))
        inner = slice(1, count)
        bands[0, 2:] = -self.moment[inner] * after
        bands[2, :-2] = -self.moment[inner] * before
        bands[1, inner] = self.force[inner] * self.share[inner] + self.moment[inner] * (before + after)
        right[inner] = self.force[inner, None] * missing[inner]
        size = float(bands[1].max()) or 1.0     # as large as the other rows, or they would be swapped, and 0 rounded
        bands[1, 0] = bands[1, -1] = size
        bands[2, -2] = -size
        return np.asarray(solve_banded((1, 1), bands, right))


def course_of(clip: Clip, parts: Parts, feet: Feet, stance: Stance, leans: bool) -> Course:
    """The keys, leaning against their loads if they are to."""
    if not clip.scene.loads or not leans or not feet.limbs:
        return Course(clip.positions, clip.rotations, clip.v, clip.a, clip.coms, None)
    return Planner(clip, parts, feet, stance).course()


class Planner:
    """Finds the course of a clip under its loads."""

    def __init__(self, clip: Clip, parts: Parts, feet: Feet, stance: Stance) -> None:
        self._clip, self._parts, self._feet, self._stance = clip, parts, feet, stance
        self._masses = np.stack([load_masses(clip.scene.loads, float(time)) for time in clip.times[:-1]])   # (K, L)
        self._areas = [self._area(k) for k in range(clip.steps)]

    def course(self) -> Course:
        most = MOST_LEAN * self._clip.character.leg_length
        p = np.zeros((self._clip.steps + 1, 3))
        course, zmps, cart, high = self._along(p)
        for _ in range(CORRECTIONS):
            missing = self._missing(zmps)
            if np.abs(missing).max() < NEAR:
                break
            p[:, :2] += cart.lean(self._clip.dt, missing)
            p[:, :2] *= most / np.maximum(most, np.linalg.norm(p[:, :2], axis=1, keepdims=True))
            p[:, 2] -= self._gently(high)
            course, zmps, cart, high = self._along(p)
        return course

    def _area(self, k: int) -> tuple[Support, Array] | None:
        """The support area of the keys, and corners (n, 2) of the part of it that is used."""
        clip, touching = self._clip, self._clip.schedule.touching[k]
        if not touching.any() or self._stance.is_carried(k):
            return None
        ground = clip.terrain.probe(clip.paths[k], float(clip.times[k]))
        support = self._stance.support(k, clip.paths[k], ground, touching, Tipping())
        if support is None or len(support.corners) < 3:
            return None
        return support, self._stance.inner(k, support, INNER)

    def _missing(self, zmps: Array) -> Array:
        """(K, 2) m from each ZMP (K, 3) to where it should be; the first is that of the keys."""
        out = np.zeros((self._clip.steps, 2))
        for k, area in enumerate(self._areas):
            if k > 0 and area is not None and np.isfinite(zmps[k]).all():
                Z = area[0].flat(zmps[k])
                out[k] = ((nearest(area[1], Z)[0] - Z) @ area[0].axes)[:2]
        return out

    def _gently(self, high: Array) -> Array:
        """(K + 1,) at least as much, without haste, and from zero on."""
        times = self._clip.times - self._clip.times[0]
        width = 2 * int(np.ceil(0.5 * SOFTLY / float(self._clip.dt.mean()))) + 1
        wide = maximum_filter1d(high, 2 * width + 1)
        return np.asarray(uniform_filter1d(uniform_filter1d(wide, width), width) * np.minimum(1.0, times / SOFTLY))

    def _along(self, p: Array) -> tuple[Course, Array, Cart, Array]:
        """The course with the pelvis aside by p (K + 1, 3), its ZMPs (K, 3), what moves them, and how much too high
        (K + 1,) m the pelvis is."""
        clip, tree, parts = self._clip, self._clip.tree, self._parts
        positions, rotations, high = clip.positions + p, clip.rotations, np.zeros(len(p))
        if p.any():
            about = BEND / clip.character.leg_length * rotation.cross(np.broadcast_to([0.0, 0.0, 1.0], p.shape), p)
            bends = np.zeros((*rotations.shape[:2], 3))
            for run, pose in poses(tree, clip.shape, clip.followed):
                for link in parts.back:
                    bends[run, link] = (about[run, None] @ pose.R[:, link])[:, 0] / len(parts.back)
            rotations = rotation.add(rotations, (tangent(tree, bends, p) @ tree.expand.T).reshape(bends.shape))
            rotations, high = self._feet.follow(positions, rotations)
        v = tangent(tree, rotation.subtract(rotations[1:], rotations[:-1]), np.diff(positions, axis=0))
        v = np.concatenate((v[:1], v)) / clip.dt[np.maximum(np.arange(len(p)) - 1, 0), None]
        a = np.diff(v, axis=0) / clip.dt[:, None]
        zmps, coms = np.full((clip.steps, 3), np.nan), np.zeros((clip.steps, 3))
        force, share, moment = np.zeros(clip.steps), np.zeros(clip.steps), np.zeros(clip.steps)
        for start in range(0, clip.steps, RUN):
            run = slice(start, min(start + RUN, clip.steps))
            shape = self._loaded(run)
            pose = forward(tree, shape.offsets, positions[run], rotations[run])
            motion = dynamics(tree, shape, pose, v[run], a[run], clip.scene.gravity, mass_matrix=False)
            coms[run], force[run] = motion.com, np.maximum(motion.force[:, 2], 0.0)
            share[run], moment[run] = self._moments(shape, pose)
            for n, area in enumerate(self._areas[run]):
                if area is not None and force[start + n] > UNLOADED * self._stance.weight:
                    w = wrench_map(pose.position[n], pose.R[n, 0], area[0].centre) @ motion.force[n, :6]
                    zmps[start + n] = area[0].lifted(zmp(area[0], w))
        return Course(positions, rotations, v, a, coms, zmps), zmps, Cart(force, share, moment), high

    def _loaded(self, run: slice) -> Shape:
        """The shape over a run of steps with its loads."""
        clip = self._clip
        shape = clip.shape.at(run)
        inertias = np.broadcast_to(shape.inertias, (run.stop - run.start, *shape.inertias.shape[-3:])).copy()
        for n, load in enumerate(clip.scene.loads):
            unit = spatial_inertia(np.array(1.0), load.point, np.zeros((3, 3)))
            inertias[:, clip.character.index(load.body)] += self._masses[run, n, None, None] * unit
        return Shape(shape.offsets, inertias, shape.points)

    def _moments(self, shape: Shape, pose: Pose) -> tuple[Array, Array]:
        """(G (n,), m B (n,) kg m): how far masses go when the pelvis goes aside by one."""
        character = self._clip.character
        mass = shape.inertias[..., 3, 3]
        moment = np.stack((shape.inertias[..., 2, 4], shape.inertias[..., 0, 5], shape.inertias[..., 1, 3]), axis=-1)
        centres = pose.x + (pose.R @ moment[..., None])[..., 0] / np.maximum(mass, 1e-9)[..., None]
        heights = pose.position[:, None, 2] + centres[..., 2]
        share = np.ones_like(heights)
        for limb in self._feet.limbs:
            hip, ankle = (pose.position[:, 2] + pose.x[:, link, 2] for link in (limb.first, limb.last))
            below = character.is_ancestor[:, limb.first]
            part = (heights[:, below] - ankle[:, None]) / np.maximum(hip - ankle, 1e-3)[:, None]
            share[:, below] = np.clip(part, 0.0, 1.0)
        if self._parts.back:
            above = character.is_ancestor[:, self._parts.back[0]]
            lowest = pose.position[:, 2] + pose.x[:, self._parts.back[0], 2]
            share[:, above] += BEND / character.leg_length * (heights[:, above] - lowest[:, None])
        moving = mass * share
        return moving.sum(1) / mass.sum(1), (moving * (heights - self._clip.ground)).sum(1)
