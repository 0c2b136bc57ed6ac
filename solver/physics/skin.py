"""What of a body can touch things: spheres under the skin of every link, and the points of its soles.

A link is a chain of spheres along its bones (from its joint to each child's joint, or to its tip), with the radius that
a tube of body density and the link's mass would have. Feet are flat: they bring their own contact points. Where two
links meet, the thinner one says how thick the joint is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array, Bools, Ints, freeze
from ..model.character import Character
from ..model.masses import DENSITY

THICKEST = 0.15    # leg lengths: a pelvis of a few short bones is no ball
SPACING = 3.0      # radii between the centres of neighbours on one bone
SHORT = 0.8        # of the radius of a ball of the same mass
ABOVE_SOLE = 0.8   # of an ankle's height over the sole: its sphere never reaches the ground before the sole does


@dataclass(frozen=True, eq=False)
class Skin:
    """S spheres; those of radius 0 are points."""

    link: Ints        # (S,)
    position: Array   # (S, 3) m, in the link's frame
    radius: Array     # (S,) m
    point: Ints       # (S,) index of the character's contact point that this one is, or -1
    is_sole: Bools    # (S,)

    def __len__(self) -> int:
        return len(self.link)


def skin_points(character: Character) -> Skin:
    """The skin of a character whose contact points (soles at least) are known."""
    points = character.points
    soles, given = points.of_kind("foot"), points.of_kind("body")
    link, position, radius, point = [], [], [], []
    for n in np.flatnonzero(soles | given):
        link.append(int(points.link[n]))
        position.append(points.position[n])
        radius.append(float(points.radius[n]))
        point.append(int(n))
    complete = set(points.link[given].tolist())
    thickness = _thickness(character)
    clearance = _clearance(character)
    for i in range(len(character)):
        if i in complete:
            continue
        for centre, r in _spheres(character, i, thickness, clearance):
            link.append(i)
            position.append(centre)
            radius.append(r)
            point.append(-1)
    is_sole = np.array([p >= 0 and bool(soles[p]) for p in point], dtype=bool)
    return Skin(freeze(np.array(link, dtype=np.intp)), freeze(np.array(position).reshape(-1, 3)),
                freeze(np.array(radius, dtype=np.float64)), freeze(np.array(point, dtype=np.intp)), freeze(is_sole))


def _bones(character: Character, link: int) -> list[tuple[Array, int]]:
    """(end, child) of each bone of a link; the child is -1 at a free end."""
    bones = [(character.offsets[c], c) for c in character.children[link]
             if np.linalg.norm(character.offsets[c]) > 1e-6]
    tip = character.tips[link]
    if not bones and np.linalg.norm(tip) > 1e-6:
        bones.append((tip, -1))
    return bones


def _thickness(character: Character) -> Array:
    """(N,) radius of each link."""
    out = np.zeros(len(character))
    most = THICKEST * character.leg_length
    for i in range(len(character)):
        length = sum(float(np.linalg.norm(end)) for end, _ in _bones(character, i))
        out[i] = min(float(np.sqrt(character.masses[i] / (DENSITY * np.pi * max(length, 1e-3)))), most)
    return out


def _clearance(character: Character) -> dict[int, tuple[Array, Array]]:
    """Links of feet: a point of the sole and its normal, in the rest pose's axes."""
    points = character.points
    out: dict[int, tuple[Array, Array]] = {}
    for n, limb in enumerate(points.limbs):
        own = np.flatnonzero(points.limb == n)
        if limb.kind != "foot" or len(own) < 3:
            continue
        places = character.rest_positions[points.link[own]] + points.position[own]
        middle = places.mean(0)
        normal = np.linalg.svd(places - middle)[2][2]
        for i in set(points.link[own].tolist()):
            out[i] = (middle, normal)
    return out


def _spheres(character: Character, link: int, thickness: Array,
             clearance: dict[int, tuple[Array, Array]]) -> list[tuple[Array, float]]:
    """Along each bone: spheres between the joints, and one at its end."""
    own = float(thickness[link])
    out: list[tuple[Array, float]] = []

    def add(centre: Array, r: float, foot: int) -> None:
        if foot in clearance:
            middle, normal = clearance[foot]
            r = min(r, ABOVE_SOLE * abs(float((character.rest_positions[link] + centre - middle) @ normal)))
        out.append((centre, r))

    if link == 0:
        add(np.zeros(3), own, 0)
    for end, child in _bones(character, link):
        length = float(np.linalg.norm(end))
        count = int(np.ceil(length / max(SPACING * own, 1e-3)))
        for n in range(1, min(count, 4)):
            add(end * (n / min(count, 4)), own, link)
        if child >= 0:
            add(end, min(own, float(thickness[child])), child if child in clearance else link)
        elif link not in clearance:
            ball = float(np.cbrt(0.75 * character.masses[link] / (np.pi * DENSITY)))
            r = min(own, max(0.5 * length, SHORT * ball))  # a heavy short end (a head) is a ball around its bone
            add(end * max(1.0 - r / length, 0.5), r, link)
    return out
