"""Legs as functions of the pelvis ([Oshita2001] 4.2): feet stay on their keys, and legs do what that takes.

Beyond the paper, feet that swing are kept by the same limbs as planted ones, or a pelvis that has moved aside would
land them in the ground. In the air feet go with the body; where they come down they stay, and the next step brings them
home.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...model.arrays import Array, Bools
from ...model.state import State
from ...numerics import rotation
from ...physics.dynamics import Dynamics
from ...physics.kinematics import advance, forward, tangent
from ...physics.limbs import STRAIGHT, Limb, reached
from ...physics.trajectory import poses
from ...references.clip import Clip
from .parts import Parts
from .tipping import Tipping

PULL = 4.0     # m/s2 with which a leg that is too short pulls the pelvis
BENT = 0.998   # of a leg's length: a plan leaves knees so much bent, or they would pop
HOME = 0.2     # s in which a lifted foot gives up the place it was carried to


class Feet:
    """Where the feet should be, and the legs that bring them there."""

    def __init__(self, clip: Clip, parts: Parts) -> None:
        self._clip = clip
        tree = self._tree = clip.tree
        limbs = self.limbs = [Limb(tree, clip.shape, clip.followed, *leg) for leg in parts.legs]
        self._leg_links = np.array([(limb.first, limb.middle, limb.last) for limb in limbs], dtype=np.intp)
        self.freedoms: Bools = np.zeros(tree.nv, dtype=bool)      # of all legs
        for limb in limbs:
            self.freedoms[limb.freedoms] = True
        count = len(limbs)
        self._ankles = np.zeros((clip.steps + 1, count, 3))
        self._feet = np.zeros((clip.steps + 1, count, 3, 3))
        self._stretch = np.zeros((clip.steps + 1, count))
        for run, pose in poses(self._tree, clip.shape, clip.followed):
            for n, limb in enumerate(limbs):
                self._ankles[run, n] = pose.position + pose.x[:, limb.last]
                self._feet[run, n] = pose.R[:, limb.last]
                self._stretch[run, n] = np.linalg.norm(pose.x[:, limb.last] - pose.x[:, limb.first], axis=-1)
        offsets = clip.character.offsets
        lengths = [sum(float(np.linalg.norm(offsets[i])) for i in (*limb.upper, *limb.between)) for limb in limbs]
        self._longest = np.maximum(self._stretch, STRAIGHT * np.array(lengths)) if count else self._stretch
        points_of = clip.character.points
        self._limb_points = [clip.character.is_ancestor[points_of.link, limb.last] for limb in limbs]
        self.start()

    def start(self) -> None:
        """Forget where feet were carried."""
        self._shift = np.zeros((len(self.limbs), 3))     # m by which feet are off their keys
        self.carry = np.zeros(3)                         # m by which the pelvis therefore aims beside its keys

    def settle(self, k: int, dt: float, state: State, v: Array, a: Array, is_flying: bool, tip: Tipping) -> Array:
        """The accelerations with which legs reach for their feet at the end of the step."""
        if not self.limbs:
            return a
        clip, tree = self._clip, self._tree
        offsets = clip.shape.at(min(k + 1, clip.steps)).offsets
        position, rotations = advance(tree, state.position, state.rotations, v + dt * a, dt)
        if len(tree.fixed_links):
            rotations[tree.fixed_links] = clip.rotations[k + 1, tree.fixed_links]
        pose = forward(tree, offsets, position, rotations)
        ankles, feet = self._targets(k + 1, position, is_flying, tip)
        start = rotations.copy()
        start[self._leg_links] = clip.rotations[k + 1][self._leg_links]
        moved = np.zeros(3)
        for _ in range(3):
            found, short = [], np.zeros(3)
            for n, limb in enumerate(self.limbs):
                found.append(limb.reach(offsets, start, pose.R[limb.parent], position + moved + pose.x[limb.parent],
                                        ankles[n], feet[n], float(self._longest[k + 1, n])))
                if float(found[-1].short @ found[-1].short) > float(short @ short):
                    short = found[-1].short
            if not short.any():
                break
            moved = moved + short      # a leg is too short: the pelvis comes along, gently
            size = float(np.linalg.norm(moved))
            if size > PULL * dt * dt:
                moved = moved * (PULL * dt * dt / size)
                break
        rotations[self._leg_links] = reached(self.limbs, found)
        after = tangent(tree, rotation.subtract(rotations, state.rotations), position + moved - state.position) / dt
        out = a.copy()
        out[:3] += moved / (dt * dt)
        out[self.freedoms] = ((after - v) / dt)[self.freedoms]
        return out

    def follow(self, positions: Array, rotations: Array) -> tuple[Array, Array]:
        """(rotations (K + 1, N, 4) of a whole motion whose legs keep the feet on their keys, m (K + 1,) by which the
        pelvis is too high for that with knees that stay a little bent, or as straight as in the keys)."""
        clip, out, high = self._clip, rotations.copy(), np.zeros(len(positions))
        if not self.limbs:
            return out, high
        longest = np.maximum(self._stretch, BENT / STRAIGHT * self._longest)
        moved = replace(clip.followed, positions=positions, rotations=rotations)
        for run, pose in poses(self._tree, clip.shape, moved):
            offsets, found = clip.shape.at(run).offsets, []
            for n, limb in enumerate(self.limbs):
                hip = positions[run] + pose.x[:, limb.parent]
                found.append(limb.reach(offsets, rotations[run], pose.R[:, limb.parent], hip, self._ankles[run, n],
                                        self._feet[run, n], longest[run, n]))
                short = found[-1].short
                down = np.maximum(-short[:, 2], 1e-12)
                high[run] = np.maximum(high[run], np.where(short[:, 2] < 0.0, (short * short).sum(1) / down, 0.0))
            out[run, self._leg_links] = reached(self.limbs, found)
        return out, high

    def _targets(self, k: int, position: Array, is_flying: bool, tip: Tipping) -> tuple[Array, Array]:
        ankles, feet = self._ankles[k] + self._shift, self._feet[k]
        if is_flying:   # feet go with the body
            ankles = self._ankles[k] + (position - self._clip.positions[k])
        if tip.is_on:
            return tip.place(ankles), tip.R @ feet
        return ankles, feet

    def complete(self, S: Array, motion: Dynamics) -> Array:
        """Columns S completed by what keeps the feet where they are: -C (J C)^+ J S for every leg."""
        if not self.limbs or not S.shape[1]:
            return S
        S = S.copy()
        for limb in self.limbs:
            # the foot's own turning and moving, six rows, in spatial coordinates about the root
            rows = (motion.S * self._tree.moves[limb.last][:, None]).T           # (6, nv)
            arm = motion.pose.x[limb.last]
            rows = np.concatenate((rows[:3], rows[3:] - rotation.skew(arm) @ rows[:3]))
            wanted = rows @ S
            if not wanted.any():
                continue
            C = rows[:, limb.freedoms]
            K = C @ C.T
            K.ravel()[::7] += 1e-6 * np.trace(K)
            S[limb.freedoms] -= C.T @ np.linalg.solve(K, wanted)
        return S

    def carry_on(self, k: int, dt: float, state: State, is_flying: bool) -> None:
        """Feet that were carried in the air stay where they land, and come home at the next step."""
        clip = self._clip
        astray = state.position - clip.positions[k]
        for n in range(len(self.limbs)):
            down = clip.schedule.touching[k, self._limb_points[n]].any()
            if is_flying:
                due = float(clip.time_to_touch[k, self._limb_points[n]].min(initial=HOME))
                self._shift[n] = astray * np.array([1.0, 1.0, min(1.0, due / HOME)])
            elif down:
                self._shift[n, 2] *= max(0.0, 1.0 - 4.0 * dt / HOME)
            else:
                self._shift[n] *= max(0.0, 1.0 - 2.0 * dt / HOME)
        aim = astray if is_flying else self._shift.mean(0) if len(self._shift) else np.zeros(3)
        self.carry = self.carry + min(1.0, dt / HOME) * (aim * np.array([1.0, 1.0, 0.0]) - self.carry)
