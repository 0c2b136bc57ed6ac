"""Which joints act: shoulders, back, pelvis with its legs. Read from roles (topology and geometry), or told.

[Oshita2001] fig. 6: each shoulder turns about the chest's lateral and forward axes, the back about three axes, and
the pelvis moves along three. A back of n bones shares a turn equally. Tails, and the necks of those without arms, are
swung like arms. A quadruped's forelegs are legs: they stand, and do not swing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ...model.arrays import Array, Ints
from ...model.character import Character
from ...physics.kinematics import Pose
from ...physics.legs import leg_chain
from ...physics.tree import Tree

LONG = 0.6   # of the longest bone of an arm: shorter ones before it are collar bones


@dataclass(frozen=True, eq=False)
class Parts:
    """Links by what they do, and directions of the body at rest."""

    chest: int
    back: tuple[int, ...]        # links that turn when the back bends, from the pelvis up
    swings: tuple[int, ...]      # links that turn when the arms (or what stands in for them) swing
    legs: tuple[tuple[int, int, int], ...]   # (hip, knee, ankle) of every leg that can bend
    left: Array                  # (3,) of the body at rest
    ahead: Array                 # (3,)
    sentences: tuple[str, ...]   # what is missing, and what is done instead


def find_parts(tree: Tree, told: Mapping[str, str]) -> Parts:
    character = tree.character
    roles, parents = character.roles, character.parents
    named = {character.index(name): part for name, part in told.items()}
    legs, sentences = [], []
    for foot in (i for i, role in enumerate(roles) if role == "foot"):
        chain = leg_chain(character, foot)
        if len(chain) >= 2:
            legs.append((chain[0], chain[1], foot))
        else:
            sentences.append(f"The leg of {character.names[foot]} has no knee: its foot moves with the body.")
    arms = [i for i in range(1, len(character)) if roles[i] == "arm" and roles[parents[i]] not in ("arm", "hand")]
    chest = _common(character, arms) if arms else _highest_trunk(character)
    back = [i for i in _path(character, chest) if character.joints[i] != "fixed" and roles[i] == "trunk"]
    swings = [_shoulder(character, arm) for arm in arms]
    swings += [i for i in range(1, len(character)) if roles[i] == "tail" and roles[parents[i]] != "tail"]
    if not arms:
        necks = [i for i in range(1, len(character)) if roles[i] in ("neck", "head")
                 and roles[parents[i]] not in ("neck", "head")]
        swings += necks
        sentences.append("It has no arms" + (": its neck and tail swing instead." if swings else
                                             ": only its back and pelvis keep it in balance."))
    back = [i for i in back if named.get(i, "back") == "back"] + [
        i for i, part in named.items() if part == "back" and i not in back]
    swings = [i for i in swings if named.get(i, "arm") == "arm"] + [
        i for i, part in named.items() if part == "arm" and i not in swings]
    if not back:
        sentences.append("It has no back that bends: arms and pelvis do its work. Say which bones are the back.")
    if not legs:
        sentences.append("It has no legs that bend: nothing shifts its pelvis, and it is carried along its keys.")
    elif len(legs) > 2:
        sentences.append(f"It stands on {len(legs)} legs: all of them carry, and its forelegs do not swing.")
    ahead = _ahead(character, [leg[2] for leg in legs])
    left = np.cross([0.0, 0.0, 1.0], ahead)
    return Parts(chest, tuple(sorted(back)), tuple(sorted(swings)), tuple(legs), left, ahead, tuple(sentences))


def _path(character: Character, link: int) -> list[int]:
    """Links from the root (without it) to a link."""
    path: list[int] = []
    while link > 0:
        path.insert(0, link)
        link = int(character.parents[link])
    return path


def _common(character: Character, arms: list[int]) -> int:
    """The link that carries all arms."""
    above = character.is_ancestor[[int(character.parents[arm]) for arm in arms]].all(0)
    return int(np.flatnonzero(above)[-1])


def _highest_trunk(character: Character) -> int:
    trunk = [i for i, role in enumerate(character.roles) if role == "trunk"]
    return max(trunk, key=lambda i: len(_path(character, i))) if trunk else 0


def _shoulder(character: Character, arm: int) -> int:
    """The first long bone of an arm that is free to turn."""
    chain, link = [arm], arm
    while True:
        below = [c for c in character.children[link] if character.roles[c] == "arm"]
        if not below:
            break
        link = below[0]
        chain.append(link)
    lengths = [float(np.linalg.norm(character.tips[i])) for i in chain]
    for i, length in zip(chain, lengths):
        if character.joints[i] == "ball" and length >= LONG * max(lengths):
            return i
    return arm


def _ahead(character: Character, feet: list[int]) -> Array:
    """Where the feet point at rest; else across the line between hips or arms; else along x."""
    total = np.zeros(3)
    for foot in feet:
        toes = [c for c in character.children[foot] if character.roles[c] == "toe"]
        total += character.tips[foot] if not toes else character.offsets[toes[0]] + character.tips[toes[0]]
    total[2] = 0.0
    if np.linalg.norm(total) > 1e-3:
        return total / np.linalg.norm(total)
    rest = character.rest_positions
    sides = [rest[i] for i, role in enumerate(character.roles) if role in ("leg", "arm")]
    if len(sides) > 1:
        cloud = np.array(sides)[:, :2] - np.mean(sides, axis=0)[:2]
        across = np.linalg.svd(cloud)[2][0]
        return np.array([across[1], -across[0], 0.0])
    return np.array([1.0, 0.0, 0.0])


class Levers:
    """Columns of acceleration per unit of what each part does: S_arm, S_back of [Oshita2001] eq. 16."""

    def __init__(self, tree: Tree, parts: Parts) -> None:
        self._tree, self._parts = tree, parts
        self._dofs: dict[int, Ints] = {i: np.flatnonzero((tree.dof_link == i) & (np.arange(tree.nv) >= 6))
                                       for i in (*parts.back, *parts.swings)}
        self.swinging: Ints = np.concatenate([np.zeros(0, dtype=np.intp)] + [self._dofs[i] for i in parts.swings])
        self.bending: Ints = np.concatenate([np.zeros(0, dtype=np.intp)] + [self._dofs[i] for i in parts.back])

        balls = [i for i in parts.back if len(self._dofs[i]) == 3]
        self.bend = np.zeros((tree.nv, 3 if balls else 0))   # anatomical: the same axis of every bone
        self.vertebrae: Ints = np.zeros((3, len(balls)), dtype=np.intp)
        for m, link in enumerate(balls):
            self.vertebrae[:, m] = self._dofs[link]
            self.bend[self._dofs[link], np.arange(3)] = 1.0 / len(balls)
        self.spine = np.zeros(tree.nv, dtype=bool)
        self.spine[self.vertebrae.ravel()] = True

    def _turn(self, pose: Pose, link: int, axis: Array) -> Array:
        """How the freedoms of a link turn it about a world axis: R^T axis, or its part along a hinge."""
        return np.asarray(self._tree.dof_axis[self._dofs[link]] @ (axis @ pose.R[link]))

    def arms(self, pose: Pose) -> Array:
        parts, R = self._parts, pose.R[self._parts.chest]
        S = np.zeros((self._tree.nv, 2 * len(parts.swings)))
        for n, link in enumerate(parts.swings):
            S[self._dofs[link], 2 * n] = self._turn(pose, link, R @ parts.left)
            S[self._dofs[link], 2 * n + 1] = self._turn(pose, link, R @ parts.ahead)
        return S

    def back(self, pose: Pose) -> Array:
        parts = self._parts
        S = np.zeros((self._tree.nv, 3 if parts.back else 0))
        for link in parts.back:
            for n in range(S.shape[1]):
                S[self._dofs[link], n] = self._turn(pose, link, np.eye(3)[n]) / len(parts.back)
        return S
