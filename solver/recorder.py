"""Collects what happens at every frame of a bake and draws up the Result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .controllers.base import Controller
from .controllers.falling import FallStep
from .fall_record import FallRecord
from .model.arrays import Array, Bools, freeze
from .model.motion import Motion
from .model.result import Note, Phase, Result, Step
from .model.scene import Scene
from .model.state import State
from .numerics import rotation
from .physics.balance import margins, pressed_height, zero_moment_point
from .physics.shape import shape_of
from .physics.trajectory import com_path, point_paths
from .references.detail import with_detail
from .references.touch_up import touched_up

STANDARD_GRAVITY = 9.81  # m/s2, to express forces in body weights where there is no gravity
LANDING = 0.05        # s: a foot that came down later than this ago is still landing
SLIDE_NOTE = 0.01     # m per frame
AID_NOTE = 0.5        # body weights
ASTRAY_NOTE = 0.5     # rad from the keys
HANGS_NOTE = 0.1      # leg lengths
POP_NOTE, POP_SHIFT = 0.02, 0.03   # rad and m from the keys, where a range begins after the motion or ends before it


class Recorder:
    """One bake's memory: grows only by what the Result needs."""

    def __init__(self, scene: Scene, controller: Controller) -> None:
        self._scene, self._controller, self._clip = scene, controller, controller.clip
        clip = controller.clip
        frames, count = len(scene.motion), len(clip.character.points)
        self._run = slice(scene.range[0], scene.range[1] + 1)
        self._positions, self._rotations = scene.motion.positions.copy(), scene.motion.rotations.copy()
        self._contacts = np.zeros((frames, count), dtype=bool)
        self._forces = np.zeros((frames, count, 3))
        self._torques = np.zeros((frames, clip.tree.nv))
        self._aid, self._reference_aid = np.zeros((frames, 6)), np.zeros((frames, 6))
        self._detail = np.ones(len(clip.frame_step))   # share of the clip's finest detail in each frame of the range
        self._phases: list[Phase] = ["follow"] * frames
        self._fallen = FallRecord(scene, clip)
        self._touched_up = np.zeros(len(clip.frame_step), dtype=bool)
        times = scene.motion.times
        mask = np.array([scene.mask.get(name, 1.0) for name in clip.character.names])
        self._amount = scene.amount_at(times)[:, None] * mask
        self._limited = np.flatnonzero(clip.character.limits_given)

    def frame(self, n: int, state: State, steps: Sequence[Step]) -> None:
        """Frame n of the range has been reached after `steps`."""
        clip, scene = self._clip, self._scene
        f = scene.range[0] + n
        self._positions[f], self._rotations[f] = state.position, state.rotations
        if steps and steps[-1].phase != "follow":
            drift = rotation.subtract(state.rotations, clip.rotations[clip.frame_step[n]])
            self._detail[n] = self._fallen.detail(f, steps[-1].phase, float(np.linalg.norm(drift, axis=-1).max()))
        else:
            self._fallen.follow()
        if not steps:
            return
        self._phases[f] = steps[-1].phase
        if steps[-1].phase != "follow":
            self._fallen.keep(f, [step.touch_forces for step in steps if isinstance(step, FallStep)])
        share_of = 1.0 / len(steps)
        if n == 1:  # the first frame is where the first step begins
            self._contacts[f - 1], self._forces[f - 1] = steps[0].contacts, steps[0].forces
            self._torques[f - 1], self._aid[f - 1] = steps[0].torque, steps[0].aid
            self._reference_aid[f - 1] = clip.moment(0).torque[:6]
        for offset, step in enumerate(steps):
            k = clip.frame_step[n] - len(steps) + offset
            self._contacts[f] = step.contacts
            self._forces[f] += share_of * step.forces
            self._torques[f] += share_of * step.torque
            self._aid[f] += share_of * step.aid
            self._reference_aid[f] += share_of * clip.moment(k).torque[:6]

    def _motion(self) -> Motion:
        """What was simulated, with the clip's detail, within the rig's limits, and as much of it as is wanted."""
        whole, run = self._scene.motion, self._run
        keys, places = whole.rotations[run], whole.positions[run]
        position, rotations = with_detail(self._clip, np.arange(len(keys)), self._positions[run], self._rotations[run],
                                          self._detail)
        follows = np.array([phase == "follow" for phase in self._phases[run]])
        before = position, rotations
        position, rotations = touched_up(self._clip, position, rotations, self._contacts[run], follows)
        self._touched_up = (position != before[0]).any(-1) | (rotations != before[1]).any((-2, -1))
        self._touched_up &= (self._amount[run] > 0.0).any(-1)
        for own, key in zip(rotations, keys, strict=True):
            self._keep_limits(own, key)
        share = self._amount[run, :, None]
        if (share < 1.0).any():  # Physics amount: on the way from the keys to the result
            mixed = rotation.add(keys, share * rotation.subtract(rotations, keys))
            rotations = np.where(share > 0.0, mixed, keys)
            position = np.where(share[:, 0] > 0.0, places + share[:, 0] * (position - places), places)
        positions, turns = whole.positions.copy(), whole.rotations.copy()
        positions[run], turns[run] = position, rotations
        return whole.with_poses(freeze(positions), freeze(turns))

    def _keep_limits(self, rotations: Array, keys: Array) -> None:
        """Neither detail put back nor feet put down may take a joint past limits that the rig has, except as far as its
        keys are."""
        character = self._clip.character
        for i in self._limited:
            is_hinge, axis = character.joints[i] == "hinge", character.axes[i]
            r, own = (np.atleast_1d(rotation.twist_angle(q, axis)) if is_hinge else rotation.log(q)
                      for q in (rotations[i], keys[i]))
            lower, upper = character.lower[i, :len(r)], character.upper[i, :len(r)]
            inside = np.clip(r, np.minimum(lower, own), np.maximum(upper, own))
            if np.abs(inside - r).max() > 1e-9:
                rotations[i] = rotation.add(rotations[i], (inside - r) * axis) if is_hinge else rotation.exp(inside)

    def result(self) -> Result:
        scene, clip = self._scene, self._clip
        first, last = scene.range
        motion = self._motion()
        turns = rotation.subtract(motion.rotations[self._run], scene.motion.rotations[self._run])
        deviation = np.zeros(len(motion))
        deviation[self._run] = np.linalg.norm(turns, axis=-1).max(-1)
        shape = shape_of(clip.character, motion)
        weight = clip.character.mass * (float(np.linalg.norm(scene.gravity)) or STANDARD_GRAVITY)
        points = clip.character.points
        paths = point_paths(clip.tree, shape, motion, points.link, shape.points)
        before = point_paths(clip.tree, shape, scene.motion, points.link, shape.points)
        com = com_path(clip.tree, shape, motion)
        follows = np.array([phase == "follow" for phase in self._phases])
        planted = self._contacts & follows[:, None]
        stands = clip.schedule.touching & ~clip.schedule.sliding
        planted[first:last + 1] &= stands[clip.frame_step]
        planted[first + 1:last + 1] &= np.logical_and.reduceat(stands, clip.frame_step[:-1])  # and all the way there
        planted = _settled(planted, scene.motion.times)
        slide, reference_slide = self._slide(paths, planted), self._slide(before, planted)
        distance, own_distance = (clip.terrain.probe_over(some, scene.motion.times).distance
                                  for some in (paths, before))
        depth, reference_depth = (np.maximum(-some.min(1, initial=0.0), 0.0) for some in (distance, own_distance))
        zmp, inside = self._balance(motion.positions, paths)
        touches = self._fallen.touches(shape, motion)
        depth = self._fallen.depths(shape, motion, depth, self._phases)
        self._fallen.balance(touches, motion, self._aid, zmp, inside)
        remarks = self._remarks(slide - reference_slide, weight, follows, deviation,
                                np.linalg.norm(motion.positions - scene.motion.positions, axis=1))
        remarks += self._hanging(distance, follows)
        notes = (*clip.notes, *self._controller.notes, *remarks)
        return Result(motion, self._contacts, self._forces, self._torques, self._aid, self._reference_aid, com, zmp,
                      inside, deviation, slide, reference_slide, depth, reference_depth, notes,
                      tuple(points.limbs[n].name for n in points.limb), weight, tuple(self._phases), touches)

    def _hanging(self, distance: Array, follows: Bools) -> list[Note]:
        """About limbs that are far higher over the ground, by the distances (F, P) of their points, than in the plan,
        in which they have stood on it for a while; where all of the simulation is wanted."""
        clip, run, notes = self._clip, self._run, []
        times, steps = self._scene.motion.times[run], clip.frame_step
        whole = follows[run] & (self._amount[run] == 1.0).all(-1)
        stands = _settled(clip.schedule.touching[steps] & whole[:, None], times)
        planned = clip.terrain.probe_over(clip.paths[steps], times).distance
        planned = np.where(np.isfinite(planned), np.maximum(planned, 0.0), 0.0)
        for n, limb in enumerate(clip.character.points.limbs):
            own = clip.character.points.limb == n
            off = distance[run, own].min(1) - planned[:, own].min(1)
            off = np.where(stands[:, own].any(1) & np.isfinite(off), off, 0.0)
            f = int(off.argmax())
            if off[f] > HANGS_NOTE * clip.character.leg_length:
                notes.append(Note("warning", f"{limb.name} hangs {100 * off[f]:.0f} cm off the ground on which it "
                                  "should stand. Push less, or let the character fall.", run.start + f))
        return notes

    def _slide(self, paths: Array, contacts: Bools) -> Array:
        """(F,) m: the farthest a point that touches in two successive frames moved along the ground between them. On
        ground that moves, standing is going along with it."""
        out = np.zeros(len(paths))
        if paths.shape[1]:
            moved = np.diff(paths, axis=0)
            if not self._clip.terrain.is_still:
                times = self._scene.motion.times
                between = self._clip.terrain.probe_over(0.5 * (paths[1:] + paths[:-1]), 0.5 * (times[1:] + times[:-1]))
                moved -= between.velocity * np.diff(times)[:, None, None]
            far = np.linalg.norm(moved[..., :2], axis=-1)
            out[1:] = np.where(contacts[1:] & contacts[:-1], far, 0.0).max(1)
        return out

    def _balance(self, roots: Array, paths: Array) -> tuple[Array, Array]:
        """ZMP of the ground's and the helper's forces together, and its margin inside the touching points."""
        ground: Array | float = self._clip.ground
        if not self._clip.terrain.is_level:
            ground = pressed_height(paths[..., 2], self._forces[..., 2], ground)
        arm = paths - roots[:, None]
        moment = rotation.cross(arm, self._forces).sum(1)
        R = rotation.matrix(self._rotations[:, 0])
        moment += (R @ self._aid[:, 3:, None])[..., 0]  # joint-space root torque is in the root's own axes
        force = self._forces.sum(1) + self._aid[:, :3]
        zmp = zero_moment_point(roots, np.concatenate((moment, force), axis=1), ground)
        return zmp, margins(paths, self._contacts, zmp)

    def _remarks(self, extra_slide: Array, weight: float, follows: Bools, deviation: Array,
                 shifted: Array) -> list[Note]:
        notes = []
        clip = self._clip
        bare = clip.schedule.unsupported[clip.frame_step]
        if bare.any():
            frame = self._scene.range[0] + int(np.flatnonzero(bare)[0])
            notes.append(Note("info", f"Nothing touches the ground in {int(bare.sum())} frames although the body is "
                              "carried: the helper force does it. Mark the contact, or add what it holds.", frame))
        first, last = self._scene.range
        comes_before, comes_after = self._scene.goes_on
        if (comes_after or last + 1 < len(deviation)) and (deviation[last] > POP_NOTE or shifted[last] > POP_SHIFT):
            notes.append(Note("warning", f"The range ends {_apart(deviation[last], shifted[last])} from the keys, "
                              "which come back at once. Ease out, or bake to a later frame.", last))
        if (comes_before or first > 0) and (deviation[first] > POP_NOTE or shifted[first] > POP_SHIFT):
            notes.append(Note("warning", f"The range begins {_apart(deviation[first], shifted[first])} from the keys. "
                              "Bake from an earlier frame, or ease in.", first))
        if self._scene.goal.kind == "none" and follows[last] and deviation[last] > ASTRAY_NOTE:
            notes.append(Note("warning", "Nothing keeps the path, and in the end the body is "
                              f"{_apart(deviation[last], shifted[last])} from its keys. Let its centre of mass, or a "
                              "bone, keep it.", last))
        if self._touched_up.any():
            notes.append(Note("info", f"In {int(self._touched_up.sum())} frames the body was mended after it was "
                              "simulated, so that its feet keep to uneven ground: forces there are the simulation's.",
                              first + int(self._touched_up.argmax())))
        worst = int(extra_slide.argmax())
        if extra_slide[worst] > SLIDE_NOTE:
            notes.append(Note("warning", f"A foot slides {100 * extra_slide[worst]:.1f} cm in one frame.", worst))
        extra = np.linalg.norm(self._aid[:, :3] - self._reference_aid[:, :3], axis=1) / weight * follows
        worst = int(extra.argmax())
        if extra[worst] > AID_NOTE:
            notes.append(Note("info", f"The helper force reaches {extra[worst]:.1f} body weights.", worst))
        return notes


def _apart(turn: float, shift: float) -> str:
    return f"{np.degrees(turn):.0f} degrees" if turn > POP_NOTE else f"{100 * shift:.0f} cm"


def _settled(planted: Bools, times: Array) -> Bools:
    """(F, P) points that stand and have stood for LANDING seconds, or since the clip began."""
    out = planted.copy()
    earlier = np.searchsorted(times, times - LANDING + 1e-9)
    for f, first in enumerate(earlier):
        out[f] &= planted[min(first, max(f - 1, 0)):f].all(0)
    return out
