"""A character: a floating tree of rigid links with masses, joints, limits, strengths and contact points; never a pose.

In the rest pose all link frames are parallel to the world (z up). A link's origin is its joint; `offset` is that
joint in the parent's frame and `tip` the far end of the link in its own frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from ..errors import InputError
from .arrays import Array, Bools, Ints, freeze, frozen_array
from .masses import cylinder_inertia, human_masses, length_masses
from .roles import ROLES, guess_roles

Joint = Literal["ball", "hinge", "fixed"]
Vector = Sequence[float] | Array

SPINE_BOOST = 3.0  # [Levine2012] 2.3: the trunk is 2 to 4 times stronger than limbs of similar length
HUMAN_HINGE = (0.0, np.radians(150.0))  # knees and elbows


@dataclass(frozen=True)
class Link:
    """What a caller says of one link; everything left None is worked out."""

    name: str
    parent: str | None = None
    offset: Vector = (0.0, 0.0, 0.0)          # m, joint in the parent's frame
    tip: Vector | None = None                 # m, far end in the link's frame
    joint: Joint = "ball"
    axis: Vector = (1.0, 0.0, 0.0)            # of a hinge, in the link's frame
    mass: float | None = None                 # kg
    com: Vector | None = None                 # m, in the link's frame
    inertia: Array | None = None              # kg m2, 3x3 about the centre of mass, in the link's frame
    limits: tuple[Vector, Vector] | None = None  # rad, on the rotation vector (hinge: one angle each)
    strength: float | None = None             # 1 = the default of its role
    role: str | None = None


@dataclass(frozen=True)
class Limb:
    """A part that may carry weight: its name and what kind of part it is."""

    name: str
    kind: Literal["foot", "hand", "knee", "body"]


@dataclass(frozen=True)
class ContactPoints:
    """Material points that may touch the ground. Points of one `group` (a pair of heel points) touch together."""

    limbs: tuple[Limb, ...]
    link: Ints        # (P,)
    position: Array   # (P, 3) m, in the link's frame
    limb: Ints        # (P,) index into limbs
    group: Ints       # (P,) index of the detection group
    radius: Array     # (P,) m, 0 for points on the skin

    @staticmethod
    def none() -> ContactPoints:
        empty = freeze(np.zeros(0, dtype=np.intp))
        return ContactPoints((), empty, freeze(np.zeros((0, 3))), empty, empty, freeze(np.zeros(0)))

    @staticmethod
    def build(entries: Iterable[tuple[Limb, int, Vector, int, float]]) -> ContactPoints:
        """From (limb, link, position, group within the limb, radius)."""
        rows = list(entries)
        limbs: list[Limb] = []
        groups: dict[tuple[int, int], int] = {}
        link, position, limb_index, group, radius = [], [], [], [], []
        for limb, link_index, place, within, r in rows:
            if limb not in limbs:
                limbs.append(limb)
            n = limbs.index(limb)
            link.append(link_index)
            position.append(np.asarray(place, dtype=np.float64))
            limb_index.append(n)
            group.append(groups.setdefault((n, within), len(groups)))
            radius.append(r)
        if not rows:
            return ContactPoints.none()
        return ContactPoints(tuple(limbs), freeze(np.array(link, dtype=np.intp)), freeze(np.array(position)),
                             freeze(np.array(limb_index, dtype=np.intp)), freeze(np.array(group, dtype=np.intp)),
                             freeze(np.array(radius, dtype=np.float64)))

    def __len__(self) -> int:
        return len(self.link)

    def of_kind(self, *kinds: str) -> Bools:
        """Which points belong to limbs of these kinds."""
        wanted = np.array([limb.kind in kinds for limb in self.limbs], dtype=bool)
        return wanted[self.limb] if len(self) else np.zeros(0, dtype=bool)


@dataclass(frozen=True, eq=False)
class Character:
    """The built tree; parents come before children. Make one with `Character.build`."""

    names: tuple[str, ...]
    parents: Ints                 # (N,), -1 for the root
    offsets: Array                # (N, 3)
    tips: Array                   # (N, 3)
    joints: tuple[Joint, ...]
    axes: Array                   # (N, 3) unit
    masses: Array                 # (N,)
    coms: Array                   # (N, 3)
    inertias: Array               # (N, 3, 3) about the centre of mass
    lower: Array                  # (N, 3) rad, -inf where free; hinges use the first column
    upper: Array                  # (N, 3)
    limits_given: Bools           # (N,) set by the caller: the motion must respect them
    strengths: Array              # (N,)
    roles: tuple[str, ...]
    points: ContactPoints = field(default_factory=ContactPoints.none)

    @staticmethod
    def build(links: Sequence[Link], mass: float = 75.0,
              masses: Literal["auto", "length", "human"] = "auto") -> Character:
        """Check, order and complete a list of links. `mass` is the whole body's, shared by links that give none."""
        links = parents_first(links)
        count = len(links)
        index = {link.name: i for i, link in enumerate(links)}
        names = tuple(link.name for link in links)
        parents = np.array([-1 if link.parent is None else index[link.parent] for link in links], dtype=np.intp)
        offsets = np.array([frozen_array(link.offset, (3,), "The offset", f"Bone {link.name}") for link in links])
        tips, lengths = _extents(links, parents, offsets)
        roles = guess_roles(names, parents.tolist(), offsets, tips)
        for i, link in enumerate(links):
            if link.role is not None:
                if link.role not in ROLES:
                    raise InputError(f"The role {link.role!r} is not known.", f"Bone {link.name}",
                                     f"Choose one of {', '.join(ROLES)}.")
                roles[i] = link.role
        masses_kg = _masses(links, parents, roles, lengths, mass, masses)
        coms, inertias = _inertias(links, parents, offsets, tips, lengths, masses_kg)
        joints, axes = _joints(links)
        lower, upper, given = _limits(links, joints, roles, count)
        strengths = np.array([link.strength if link.strength is not None
                              else SPINE_BOOST if roles[i] == "trunk" else 1.0 for i, link in enumerate(links)])
        _check_strengths(names, strengths)
        return Character(names, freeze(parents), freeze(offsets), freeze(tips), joints, freeze(axes),
                         freeze(masses_kg), freeze(coms), freeze(inertias), freeze(lower), freeze(upper),
                         freeze(given), freeze(strengths), tuple(roles))

    def __len__(self) -> int:
        return len(self.names)

    @property
    def mass(self) -> float:
        return float(self.masses.sum())

    def index(self, name: str) -> int:
        """Index of a link; an unknown name is an InputError that lists what there is."""
        try:
            return self.names.index(name)
        except ValueError:
            known = ", ".join(self.names[:12]) + (" ..." if len(self) > 12 else "")
            raise InputError(f"The character has no bone {name!r}.", "Character", f"Choose one of: {known}.") from None

    def _check_points(self, points: ContactPoints) -> None:
        """Contact points of a caller may be anything."""
        if not len(points):
            return
        if points.link.min() < 0 or points.link.max() >= len(self):
            raise InputError(f"A contact point belongs to link {int(points.link.max())}, there are {len(self)}.",
                             "Contact points", "Number the links from 0, in the order of the character's names.")
        if not np.isfinite(points.position).all():
            bad = int(np.flatnonzero(~np.isfinite(points.position).all(1))[0])
            raise InputError(f"Point {bad} is not a place.", f"Contact points of {points.limbs[points.limb[bad]].name}",
                             "Give three numbers in metres.")

    def with_points(self, points: ContactPoints) -> Character:
        self._check_points(points)
        return replace(self, points=points)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(int(c) for c in np.flatnonzero(self.parents == i)) for i in range(len(self)))

    @cached_property
    def is_ancestor(self) -> Bools:
        """[i, j]: j is i or above i (j moves i)."""
        table = np.eye(len(self), dtype=bool)
        for i in range(1, len(self)):
            table[i] |= table[self.parents[i]]
        return freeze(table)

    @cached_property
    def rest_positions(self) -> Array:
        heads = np.zeros((len(self), 3))
        for i in range(1, len(self)):
            heads[i] = heads[self.parents[i]] + self.offsets[i]
        return freeze(heads)

    @cached_property
    def leg_length(self) -> float:
        """Hip-to-ankle length, the unit of contact thresholds; half the body's extent where there is no leg."""
        lengths = []
        for foot in (i for i, role in enumerate(self.roles) if role == "foot"):
            total, link = 0.0, foot
            while link > 0 and self.roles[self.parents[link]] == "leg":
                total += float(np.linalg.norm(self.offsets[link]))
                link = int(self.parents[link])
            if total:
                lengths.append(total)
        if lengths:
            return float(np.mean(lengths))
        cloud = np.concatenate((self.rest_positions, self.rest_positions + self.tips))
        return 0.5 * float(np.ptp(cloud, axis=0).max())


def parents_first(links: Sequence[Link]) -> list[Link]:
    if not links:
        raise InputError("The skeleton is empty.", "Character", "Select an armature with at least one bone.")
    by_name: dict[str, Link] = {}
    for link in links:
        if link.name in by_name:
            raise InputError("Two bones have this name.", f"Bone {link.name}", "Rename one of them.")
        by_name[link.name] = link
    roots = [link for link in links if link.parent is None]
    if not roots:
        raise InputError("It is its own ancestor.", f"Bone {links[0].name}", "Break the loop of parents.")
    if len(roots) != 1:
        raise InputError(f"{len(roots)} bones have no parent ({', '.join(r.name for r in roots[:5])}).", "Character",
                         "Parent all bones to one root bone, or exclude the others.")
    for link in links:
        if link.parent is not None and link.parent not in by_name:
            raise InputError(f"Its parent {link.parent!r} is missing.", f"Bone {link.name}",
                             "Include the parent or choose another one.")
    ordered, waiting = [roots[0]], {}  # type: list[Link], dict[str, list[Link]]
    for link in links:
        if link.parent is not None:
            waiting.setdefault(link.parent, []).append(link)
    stack = list(reversed(waiting.pop(roots[0].name, [])))
    while stack:  # depth first, children in the given order
        link = stack.pop()
        ordered.append(link)
        stack += reversed(waiting.pop(link.name, []))
    if waiting:
        name = next(iter(waiting.values()))[0].name
        raise InputError("It is its own ancestor.", f"Bone {name}", "Break the loop of parents.")
    return ordered


def _extents(links: list[Link], parents: Ints, offsets: Array) -> tuple[Array, Array]:
    """Tip and length of every link; a leaf must give its tip, others may lean on their children."""
    tips, lengths = np.zeros((len(links), 3)), np.zeros(len(links))
    for i, link in enumerate(links):
        below = offsets[np.flatnonzero(parents == i)]
        if link.tip is not None:
            tips[i] = frozen_array(link.tip, (3,), "The tip", f"Bone {link.name}")
        elif len(below):
            tips[i] = below.mean(0)
        spans = [float(np.linalg.norm(tips[i]))] + [float(n) for n in np.linalg.norm(below, axis=-1)]
        lengths[i] = max(spans[0], float(np.mean(spans[1:])) if len(below) else 0.0)
        if lengths[i] < 1e-6:
            raise InputError("It has no length.", f"Bone {link.name}", "Scale it up or exclude it.")
    return tips, lengths


def _masses(links: list[Link], parents: Ints, roles: list[str], lengths: Array, total: float,
            rule: Literal["auto", "length", "human"]) -> Array:
    if not (np.isfinite(total) and total > 0.0):
        raise InputError(f"The body's mass {total} kg is not positive.", "Character", "Give a mass in kilograms.")
    for link in links:
        if link.mass is not None and not (np.isfinite(link.mass) and link.mass > 0.0):
            raise InputError(f"Its mass {link.mass} kg is not positive.", f"Bone {link.name}",
                             "Give it a mass, or exclude it so that it moves with its parent.")
    human = None if rule == "length" else human_masses(parents.tolist(), roles, lengths, total)
    if human is None and rule == "human":
        raise InputError("The human mass table needs two legs, two arms and a trunk.", "Character",
                         "Set the roles of the bones, or use masses by length.")
    share = human if human is not None else length_masses(lengths, total)
    given = np.array([link.mass is not None for link in links])
    if not given.any():
        return share
    values = np.array([link.mass if link.mass is not None else 0.0 for link in links], dtype=np.float64)
    left = total - values.sum()  # what the caller did not give is shared as before, as far as anything is left
    if not given.all():
        values[~given] = share[~given] * (left / share[~given].sum() if left > 0.0 else 1.0)
    return values


def _inertias(links: list[Link], parents: Ints, offsets: Array, tips: Array, lengths: Array,
              masses: Array) -> tuple[Array, Array]:
    coms, inertias = np.zeros((len(links), 3)), np.zeros((len(links), 3, 3))
    for i, link in enumerate(links):
        where = f"Bone {link.name}"
        below = offsets[np.flatnonzero(parents == i)]
        if link.com is not None:
            coms[i] = frozen_array(link.com, (3,), "The centre of mass", where)
        else:  # branching links (pelvis, chest) fill the space between their children
            coms[i] = below.mean(0) if len(below) > 1 else 0.5 * tips[i]
        if link.inertia is None:
            inertias[i] = cylinder_inertia(masses[i], tips[i], lengths[i])
            continue
        inertia = frozen_array(link.inertia, (3, 3), "The inertia", where)
        moments = np.linalg.eigvalsh(inertia)
        is_symmetric = np.abs(inertia - inertia.T).max() <= 1e-9 * np.abs(inertia).max()
        # no body turns harder about one axis than about the other two together
        if not is_symmetric or moments[0] <= 0.0 or moments[2] > (1.0 + 1e-6) * (moments[0] + moments[1]):
            raise InputError("The inertia is not one that a body can have.", where,
                             "Leave it out to have it computed.")
        inertias[i] = inertia
    return coms, inertias


def _joints(links: list[Link]) -> tuple[tuple[Joint, ...], Array]:
    axes = np.zeros((len(links), 3))
    axes[:, 0] = 1.0
    kinds: list[Joint] = []
    for i, link in enumerate(links):
        where = f"Bone {link.name}"
        if link.joint not in ("ball", "hinge", "fixed"):
            raise InputError(f"The joint {link.joint!r} is not known.", where, "Choose ball, hinge or fixed.")
        kinds.append("ball" if i == 0 else link.joint)  # the root is free in any case
        if link.joint == "hinge":
            axis = frozen_array(link.axis, (3,), "The hinge axis", where)
            if np.linalg.norm(axis) < 1e-9:
                raise InputError("The hinge axis has no length.", where, "Give the direction of the axis.")
            axes[i] = axis / np.linalg.norm(axis)
    return tuple(kinds), axes


def _limits(links: list[Link], joints: Sequence[Joint], roles: Sequence[str],
            count: int) -> tuple[Array, Array, Bools]:
    lower, upper = np.full((count, 3), -np.inf), np.full((count, 3), np.inf)
    given = np.zeros(count, dtype=bool)
    for i, link in enumerate(links):
        if link.limits is not None:
            sides = [np.array(side, dtype=np.float64).reshape(-1) for side in link.limits]
            wanted = 1 if joints[i] == "hinge" else 3
            if len(sides) != 2:
                raise InputError("The limits need two sides, lower and upper.", f"Bone {link.name}",
                                 "Give them in radians.")
            low, high = sides
            if low.shape != (wanted,) or high.shape != (wanted,) or np.isnan(low).any() or np.isnan(high).any():
                raise InputError(f"The limits need {wanted} lower and {wanted} upper angles.", f"Bone {link.name}",
                                 "Give them in radians.")
            if (low > high).any():
                raise InputError("A lower limit is above its upper limit.", f"Bone {link.name}", "Swap the two.")
            lower[i, :wanted], upper[i, :wanted], given[i] = low, high, True
        elif joints[i] == "hinge" and roles[i] in ("leg", "arm"):
            lower[i, 0], upper[i, 0] = HUMAN_HINGE
    return lower, upper, given


def _check_strengths(names: Sequence[str], strengths: Array) -> None:
    for name, strength in zip(names, strengths, strict=True):
        if not (np.isfinite(strength) and strength > 0.0):
            raise InputError(f"The strength {strength} is not positive.", f"Bone {name}", "Give 1 for normal.")


def with_strengths(character: Character, strengths: Mapping[str, float]) -> Character:
    """The same character with some joints stronger or weaker."""
    values = character.strengths.copy()
    for name, value in strengths.items():
        values[character.index(name)] = value
    _check_strengths(character.names, values)
    return replace(character, strengths=freeze(values))
