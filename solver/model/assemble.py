"""From the joints of a rig and their sampled motion to a character that can be simulated, and back.

A rig has joints that are no joints of a body: some never turn, some are fingers or props, some have no
extent. They are *welded*: the link above carries them, their keyed rotation stays as it is, and what hangs
on them turns relative to the link above. With A the link above, W the welded joints between and K the joint
that stays,

    Q_link(t) = G_A Q_W(t) Q_K(t) G_K^-1        G: rotation in the rest pose, still welded joints in place

so that the links' frames are parallel to the world in that rest pose, a joint that turns about one axis still
does, and  Q_K = (G_A Q_W)^-1 Q_link G_K  gives every key back where nothing has changed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..errors import InputError
from ..numerics import rotation
from .arrays import Array, Bools, Ints, freeze
from .character import Character, Link, Vector, parents_first
from .motion import Motion

STILL = 1e-3                # rad, a joint that turns less over the clip never turns
EXTENT = 1e-6               # m, a link shorter than this has no length
OFF_AXIS = np.radians(0.5)  # a hinge turns about any other axis by less than this,
SWING = np.radians(10.0)    # and about its own by more: a tremble shows no axis


@dataclass(frozen=True, eq=False)
class Assembly:
    """A character with its motion, and how both belong to the joints of the rig they were made of."""

    character: Character
    motion: Motion           # over the character's links
    joints: tuple[str, ...]  # names of the rig's joints, as given
    joint_motion: Motion     # over the rig's joints, as given
    link_of: Ints            # (J,) the link each joint moves with
    joint_of: Ints           # (N,) the joint at each link's origin
    carry: Array             # (F, N, 4) G_A Q_W
    turns: Array             # (J, 4) G
    places: Array            # (J, 3) m, each joint in its link's frame, in the rest pose

    def to_joints(self, result: Motion) -> Motion:
        """The motion of the rig that moves its links as `result` does; its times are frames of the clip.

        Welded joints keep their keys; all joints do, to rounding, where the result is the reference.
        """
        times = self.motion.times
        frames = np.clip(np.searchsorted(times, result.times - 1e-9), 0, len(times) - 1)
        if np.abs(times[frames] - result.times).max() > 1e-6:
            raise InputError("The result has times that are no frames of the clip.", "Motion",
                             "Resample it to the clip's frames first.")
        keys = self.joint_motion
        rotations = keys.rotations[frames]
        rotations[:, self.joint_of] = rotation.multiply(
            rotation.multiply(rotation.conjugate(self.carry[frames]), result.rotations),
            self.turns[self.joint_of])
        return Motion(result.times, result.positions, rotations,
                      None if keys.offsets is None else keys.offsets[frames],
                      None if keys.scales is None else keys.scales[frames])

    def in_link(self, joint: str, point: Vector = (0.0, 0.0, 0.0)) -> tuple[str, Array]:
        """The link a joint moves with, and a point of the joint's frame in that link's, in the rest pose."""
        _check_names([joint], self.joints)
        j = self.joints.index(joint)
        local = self.places[j] + rotation.rotate(self.turns[j], _vector(point))
        return self.character.names[self.link_of[j]], local


def assemble(joints: Sequence[Link], motion: Motion, *, mass: float = 75.0,
             masses: Literal["auto", "length", "human"] = "auto", weld: Collection[str] = (),
             keep: Collection[str] = (), weld_still: bool = True,
             hinges: bool | Collection[str] = True) -> Assembly:
    """Weld what is no joint of a body, find hinges, and build the character (without contact points).

    `joints` are the rig's, in the order of `motion`, rest frames parallel to the world; most need only name,
    parent, offset and, at the ends, tip. What else they say (mass, limits, role ...) counts for those that
    stay. `weld` names joints that move with their parents, `keep` those that stay even if they never turn in
    this clip. `weld_still` and `hinges` switch the search on; `hinges` may also name the joints to look at
    (else: knees, elbows, wrists, toes).
    """
    names = [joint.name for joint in joints]
    if motion.rotations.shape[1] != len(joints):
        raise InputError(f"It moves {motion.rotations.shape[1]} joints, the rig has {len(joints)}.", "Motion",
                         "Read both from the same armature.")
    _check_names((*weld, *keep, *(() if isinstance(hinges, bool) else hinges)), names)
    order = [names.index(joint.name) for joint in parents_first(joints)]
    parents = [-1 if joint.parent is None else names.index(joint.parent) for joint in joints]

    still, mean = _still(motion.rotations)
    welded = np.array([name in weld or (weld_still and bool(still[j]) and name not in keep)
                       for j, name in enumerate(names)])
    welded[order[0]] = False
    _weld_points(joints, parents, order, welded)

    # the rest pose, with the rotations that still welded joints always have
    above = np.zeros(len(joints), dtype=np.intp)  # whose link carries the joint: its own where it stays
    turns, heads = np.zeros((len(joints), 4)), np.zeros((len(joints), 3))
    for j in order:
        p = parents[j]
        above[j] = above[p] if welded[j] else j
        turns[j] = mean[j] if welded[j] and still[j] else rotation.IDENTITY
        if p >= 0:
            turns[j] = rotation.multiply(turns[p], turns[j])
            heads[j] = heads[p] + rotation.rotate(turns[p], _vector(joints[j].offset))
    links = [_link(j, joints, parents, above, turns, heads) for j in order if not welded[j]]
    character = Character.build(links, mass, masses)
    joint_of = np.array([names.index(name) for name in character.names], dtype=np.intp)

    carry, offsets = np.zeros((len(motion), len(links), 4)), np.zeros((len(motion), len(links), 3))
    for i, j in enumerate(joint_of):
        carry[:, i], offsets[:, i] = _carried(int(j), joints, motion, parents, welded, still, mean, turns)
    rotations = rotation.multiply(rotation.multiply(carry, motion.rotations[:, joint_of]),
                                  rotation.conjugate(turns[joint_of]))
    has_offsets = motion.offsets is not None or np.ptp(offsets, axis=0).max() > 1e-9
    scales = motion.scales
    if scales is not None:  # exact for even scales and for turns that swap axes
        scales = (rotation.matrix(turns[joint_of]) ** 2 @ scales[:, joint_of, :, None])[..., 0]
    link_motion = Motion(motion.times, motion.positions, rotations, offsets if has_offsets else None, scales)

    for n, link in enumerate(links):
        i = character.index(link.name)
        is_asked = hinges and _may_hinge(character, i) if isinstance(hinges, bool) else link.name in hinges
        if is_asked and link.joint == "ball" and link.limits is None:
            axis = _hinge_axis(rotations[:, i])
            links[n] = link if axis is None else replace(link, joint="hinge", axis=axis)
    character = Character.build(links, mass, masses)
    link_of = np.array([character.index(names[a]) for a in above], dtype=np.intp)
    return Assembly(character, link_motion, tuple(names), motion, freeze(link_of), freeze(joint_of),
                    freeze(carry), freeze(turns), freeze(heads - heads[above]))


def _vector(x: Vector) -> Array:
    return np.asarray(x, dtype=np.float64)


def _check_names(asked: Collection[str], names: Sequence[str]) -> None:
    for name in asked:
        if name not in names:
            known = ", ".join(names[:12]) + (" ..." if len(names) > 12 else "")
            raise InputError(f"The rig has no joint {name!r}.", "Character", f"Choose one of: {known}.")


def _still(rotations: Array) -> tuple[Bools, Array]:
    """Which joints never turn, and the mean rotation of each."""
    keys = rotation.aligned(rotations)
    mean = keys.mean(0)
    has_mean = np.linalg.norm(mean, axis=-1, keepdims=True) > 0.5  # not where it turns all round
    mean = rotation.normalised(np.where(has_mean, mean, keys[0]))
    angle = np.linalg.norm(rotation.subtract(keys, mean), axis=-1)
    return 2.0 * angle.max(0) < STILL, mean


def _weld_points(joints: Sequence[Link], parents: list[int], order: list[int], welded: Bools) -> None:
    """Add to `welded` what has no extent: no tip, and nothing on it away from its origin."""
    reach = [0.0 if joint.tip is None else float(np.linalg.norm(joint.tip)) for joint in joints]
    for j in reversed(order[1:]):  # children first
        welded[j] |= reach[j] < EXTENT
        offset = float(np.linalg.norm(joints[j].offset))
        reach[parents[j]] = max(reach[parents[j]], offset, reach[j] if welded[j] else 0.0)


def _link(j: int, joints: Sequence[Link], parents: list[int], above: Ints, turns: Array,
          heads: Array) -> Link:
    """Joint j as a link of the welded tree; the last of a limb reaches as far as anything welded to it."""
    joint = joints[j]
    G = rotation.matrix(turns[j])

    def turned(x: Vector | None) -> Array | None:
        return None if x is None else G @ _vector(x)

    tip, own = turned(joint.tip), [k for k, a in enumerate(above) if a == j]
    below = [k for k, p in enumerate(parents) if p in own and above[k] == k]
    if all(np.linalg.norm(heads[k] - heads[j]) < EXTENT for k in below):
        ends = [heads[k] - heads[j] for k in own]
        ends += [heads[k] - heads[j] + rotation.rotate(turns[k], _vector(end))
                 for k in own if (end := joints[k].tip) is not None]
        tip = max(ends, key=lambda end: float(np.linalg.norm(end)))
    if parents[j] < 0:
        return replace(joint, tip=tip)
    limits = joint.limits
    if limits is not None and joint.joint == "ball":  # the smallest box around the turned box
        with np.errstate(invalid="ignore"):
            sides = [np.nan_to_num(np.round(G, 9) * _vector(side), nan=0.0, posinf=np.inf, neginf=-np.inf)
                     for side in limits]
        limits = np.minimum(*sides).sum(1), np.maximum(*sides).sum(1)
    carrier = above[parents[j]]
    return replace(joint, parent=joints[int(carrier)].name, offset=heads[j] - heads[carrier], tip=tip,
                   axis=G @ _vector(joint.axis), com=turned(joint.com), limits=limits,
                   inertia=None if joint.inertia is None else G @ joint.inertia @ G.T)


def _carried(j: int, joints: Sequence[Link], motion: Motion, parents: list[int], welded: Bools, still: Bools,
             mean: Array, turns: Array) -> tuple[Array, Array]:
    """G_A Q_W (F, 4) of joint j, and its offset (F, 3) in the frame of the link above."""
    def offset(k: int) -> Array:
        return _vector(joints[k].offset) if motion.offsets is None else motion.offsets[:, k]

    carry, x, w = np.tile(rotation.IDENTITY, (len(motion), 1)), offset(j), parents[j]
    while w >= 0 and welded[w]:
        keys = rotation.normalised(motion.rotations[:, w])
        carry = rotation.multiply(keys, carry)
        x = offset(w) + rotation.rotate(mean[w] if still[w] else keys, x)
        w = parents[w]
    if w >= 0:
        carry, x = rotation.multiply(turns[w], carry), rotation.rotate(turns[w], x)
    return carry, np.broadcast_to(x, (len(motion), 3))


def _may_hinge(character: Character, i: int) -> bool:
    """Knees and elbows (the last link of leg or arm), wrists, toes; elsewhere one axis is this clip's."""
    role = character.roles[i]
    if role in ("leg", "arm"):
        return character.roles[character.parents[i]] == role and not any(
            character.roles[c] == role for c in character.children[i])
    return role in ("hand", "toe")


def _hinge_axis(rotations: Array) -> Array | None:
    """The one axis the rotations turn about, or None; its sense makes the median angle positive."""
    d = rotation.log(rotations)
    axis = np.linalg.svd(d, full_matrices=False)[2][0]
    angle = d @ axis
    off = np.linalg.norm(d - angle[:, None] * axis, axis=-1)
    if np.ptp(angle) < SWING or off.max() > OFF_AXIS:
        return None
    return axis if np.median(angle) >= 0.0 else -axis
