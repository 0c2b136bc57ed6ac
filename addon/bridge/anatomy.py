# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones are the links of a body, and what every other bone moves with. Geometry decides; names only help.

A rig has more bones than a body has joints. A *link* is a bone the solver moves. Twist, face, finger and helper
bones are *joined*: they keep their own animation and go along with the link that carries them. What belongs to
no body (a root on the floor, targets, props beside the character) is *left out* and stays where it is keyed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._link import solver
from .convert import Array
from .rig import Rig

FLOOR = 0.08       # heights: a root bone that begins this low stands on the floor,
RAISED = 0.25      # and the body it carries begins at least this much higher
SAME = 0.002       # heights: two places this near are one
NEAR = 0.3         # heights: a loose part this near belongs to the body
STRAIGHT = np.cos(np.radians(1.0))
STUB = 0.015       # heights: a shorter bone at the end of a limb is only an end marker
BODY_ROLES = {"root", "trunk", "neck", "head", "arm", "hand", "leg", "foot", "toe", "tail"}


@dataclass(frozen=True, eq=False)
class Body:
    """Links in an order with parents first, and who carries every bone of the rig."""

    links: tuple[int, ...]        # bones of the rig
    parents: tuple[int, ...]      # link numbers, -1 for the first
    carrier: tuple[int, ...]      # (B,) link number each bone moves with, -1: it stays
    left_out: tuple[int, ...]     # bones that might have been links and are not


def find_body(rig: Rig, heads: Array, tails: Array, uses: Mapping[str, str] | None = None,
              is_still: Array | None = None, swing: Array | None = None) -> Body:
    """`heads` and `tails` (B, 3) stand at rest, z up. `uses` are the animator's words per bone: LINK, JOIN, LEAVE.

    `is_still` (B,) tells bones that never turn in the clip, `swing` (B,) rad how far each bends against its parent.
    """
    uses = uses or {}
    chosen = _candidates(rig, uses)
    parent = _body_parents(rig, chosen)
    cloud = np.concatenate((heads[chosen], tails[chosen]))
    height = max(float(np.ptp(cloud[:, 2])), 0.3 * float(np.ptp(cloud, axis=0).max()), 1e-9)
    pelvis = _cut_at_the_hips(chosen, parent, heads, tails, height)
    left_out = _gather(chosen, parent, pelvis, heads, tails, height)
    chosen = [i for i in chosen if i not in left_out]
    order = _depth_first(pelvis, chosen, parent)
    joined = _joined(rig, order, parent, heads, tails, height, is_still, swing)
    for i in order[1:]:
        use = uses.get(rig.names[i], "AUTO")
        if use != "AUTO":
            joined = joined - {i} if use == "LINK" else joined | {i}
    return _body(rig, order, parent, joined, tuple(sorted(left_out)))


def _candidates(rig: Rig, uses: Mapping[str, str]) -> list[int]:
    """Deform bones that a mesh or their children use; all bones where the flags say nothing."""
    def may(i: int) -> bool:
        return uses.get(rig.names[i], "AUTO") == "LINK" or (
            uses.get(rig.names[i], "AUTO") != "LEAVE" and not rig.is_target[i])

    chosen = [i for i in range(len(rig)) if rig.is_deform[i] and may(i)]
    if rig.has_skin is not None:
        used = [skin or uses.get(rig.names[i], "AUTO") == "LINK" for i, skin in enumerate(rig.has_skin)]
        for i in reversed(range(len(rig))):  # children come after their parents
            if used[i] and rig.parents[i] >= 0:
                used[rig.parents[i]] = True
        skinned = [i for i in chosen if used[i]]
        chosen = skinned if len(skinned) > 1 else chosen
    chosen += [i for i in range(len(rig)) if i not in chosen and uses.get(rig.names[i]) == "LINK"]
    if len(chosen) < 2:
        chosen = [i for i in range(len(rig)) if may(i)]
    if not chosen:
        raise solver.InputError("Every bone is left out.", rig.name, "Set Use of some bones back to Automatic.")
    return sorted(chosen)


def _body_parents(rig: Rig, chosen: list[int]) -> dict[int, int]:
    """Nearest chosen bone above, through the bones that deform bones copy (controls behind a Rigify chain)."""
    inside = set(chosen)
    followers: dict[int, int] = {}
    for i in chosen:
        if rig.copied[i] >= 0:
            followers.setdefault(rig.copied[i], i)
    parent: dict[int, int] = {}
    for i in chosen:
        above = rig.parents[i]
        if above not in inside and rig.copied[i] >= 0:
            above = rig.parents[rig.copied[i]]
        parent[i] = -1
        while above >= 0:
            found = above if above in inside else followers.get(above, -1)
            if found >= 0 and found != i and not _is_above(i, found, parent):
                parent[i] = found
                break
            above = rig.parents[above]
    return parent


def _is_above(i: int, j: int, parent: Mapping[int, int]) -> bool:
    """Whether i is j or above j."""
    while j >= 0:
        if i == j:
            return True
        j = parent.get(j, -1)
    return False


def _cut_at_the_hips(chosen: list[int], parent: dict[int, int], heads: Array, tails: Array, height: float) -> int:
    """The bone that becomes the root of the body; bones above it, such as a root on the floor, leave `parent`."""
    while True:
        roots = [i for i in chosen if parent.get(i, 0) < 0]
        below = {i: _depth_first(i, chosen, parent) for i in roots}
        size = {i: sum(float(np.linalg.norm(tails[j] - heads[j])) for j in below[i]) for i in roots}
        top = max(roots, key=lambda i: (size[i], -i))
        own = [j for j in chosen if parent.get(j) == top]
        if not own or not _is_no_pelvis(top, own, chosen, heads, tails, height):
            return top
        parent[top] = -2  # above the body
        for j in own:
            parent[j] = -1


def _is_no_pelvis(top: int, own: list[int], chosen: list[int], heads: Array, tails: Array, height: float) -> bool:
    others = [i for i in chosen if i != top]
    floor = min(float(heads[others, 2].min()), float(tails[others, 2].min()))
    stands = heads[top, 2] < floor + FLOOR * height
    raised = max(float(heads[j, 2]) for j in own) > heads[top, 2] + RAISED * height
    if stands and raised:
        return True
    return len(own) == 1 and float(np.linalg.norm(heads[own[0]] - heads[top])) < SAME * height


def _gather(chosen: list[int], parent: dict[int, int], pelvis: int, heads: Array, tails: Array,
            height: float) -> set[int]:
    """Hang loose parts (legs parented to a root bone) on the nearest bone of the body; what is far, a single bone, or
    mostly repeats joints of the body, as targets and controls do, is left out."""
    left_out = {i for i in chosen if parent[i] == -2}
    body = _depth_first(pelvis, chosen, parent)
    loose = [i for i in chosen if parent[i] == -1 and i != pelvis]
    for top in sorted(loose, key=lambda i: (_distance(heads[i], heads[body], tails[body]), i)):
        part = _depth_first(top, chosen, parent)
        repeats = [float(np.linalg.norm(heads[body] - heads[i], axis=1).min()) < SAME * height for i in part]
        away = np.array([_segment_distance(heads[top], heads[i], tails[i]) for i in body])
        if len(part) < 2 or 2 * sum(repeats) >= len(part) or away.min() > NEAR * height:
            left_out.update(part)
            continue
        parent[top] = body[int(away.argmin())]
        body = body + part
    return left_out


def _joined(rig: Rig, order: list[int], parent: Mapping[int, int], heads: Array, tails: Array, height: float,
            is_still: Array | None, swing: Array | None) -> set[int]:
    """Bones that are no joints of a body."""
    pelvis = order[0]
    leaves = set(order) - {parent[i] for i in order if i != pelvis}
    joined = {i for i in order[1:] if i in leaves and float(np.linalg.norm(tails[i] - heads[i])) < STUB * height}
    roles = _roles(rig, [i for i in order if i not in joined], parent, heads, tails)
    limbs = [i for i in order if roles.get(i) in ("leg", "arm", "tail", "trunk", "hand", "foot")]
    if len(limbs) > 1:  # else it is no creature: a rope, a prop, a chain, all of whose bones are links
        joined |= {i for i in order[1:] if roles.get(i, "other") not in BODY_ROLES}
    for i in order[1:]:
        p = parent[i]
        is_limb = roles.get(i) in ("leg", "arm") and roles.get(p) == roles.get(i)
        if is_limb and _continues(rig, p, i, heads, tails, height, swing):
            joined.add(i)
        toes = [j for j in order if parent.get(j) == p and roles.get(j) == "toe"]
        if roles.get(i) == "toe" and (len(toes) > 1 or roles.get(p) == "toe"):
            joined.add(i)
        if is_still is not None and bool(is_still[i]) and np.linalg.norm(heads[i] - heads[p]) < SAME * height:
            joined.add(i)  # two joints in one place, one of which never turns
    return joined


def _roles(rig: Rig, order: list[int], parent: Mapping[int, int], heads: Array, tails: Array) -> dict[int, str]:
    """What the solver takes each bone for; its names are sorted by depth, ours are numbers."""
    inside = set(order)

    def above(i: int) -> int:
        p = parent[i]
        while p not in inside:
            p = parent[p]
        return p

    links = [solver.Link(f"{rig.names[i]}", None if n == 0 else rig.names[above(i)],
                         np.zeros(3) if n == 0 else heads[i] - heads[above(i)], _tip(heads[i], tails[i]))
             for n, i in enumerate(order)]
    character = solver.Character.build(links, masses="length")
    return {rig.index[name]: role for name, role in zip(character.names, character.roles)}


def _tip(head: Array, tail: Array) -> Array:
    along = tail - head
    return along if np.linalg.norm(along) > 1e-5 else np.array([0.0, 0.0, 1e-5])


def _continues(rig: Rig, p: int, i: int, heads: Array, tails: Array, height: float, swing: Array | None) -> bool:
    """Whether bone i is the second piece of one limb part (a twist segment) rather than the next joint."""
    a, b = tails[p] - heads[p], tails[i] - heads[i]
    la, lb = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    if min(la, lb) < 1e-9 or float(a @ b) < STRAIGHT * la * lb:
        return False
    if np.linalg.norm(heads[i] - tails[p]) > SAME * height and _segment_distance(heads[i], heads[p], tails[p]) > \
            SAME * height:
        return False
    same_name = _base(rig.names[p]) == _base(rig.names[i])
    return same_name or (swing is not None and bool(swing[i] < np.radians(1.0)))


def _base(name: str) -> str:
    """`DEF-forearm.L.001`, `forearm_twist.L` -> `def forearm l`: what two pieces of one part share."""
    words = re.split(r"[^a-z]+", re.sub(r"twist|roll|segment|bend", " ", name.lower()))
    return " ".join(word for word in words if word)


def _body(rig: Rig, order: list[int], parent: Mapping[int, int], joined: set[int], left_out: tuple[int, ...]) -> Body:
    links = [i for i in order if i not in joined]
    number = {bone: n for n, bone in enumerate(links)}
    carried: dict[int, int] = {}
    for i in order:
        carried[i] = number[i] if i in number else carried[parent[i]]
    parents = tuple(-1 if n == 0 else carried[parent[i]] for n, i in enumerate(links))
    carrier = [-1] * len(rig)
    for i in range(len(rig)):  # Blender lists parents before children
        if i in carried:
            carrier[i] = carried[i]
        elif rig.parents[i] >= 0:
            carrier[i] = carrier[rig.parents[i]]
    above = links[0]
    while rig.is_connected[above]:  # a connected bone cannot leave its parent's tail: the parent must go along
        above = rig.parents[above]
        carrier[above] = 0
    return Body(tuple(links), parents, tuple(carrier), left_out)


def _depth_first(top: int, chosen: list[int], parent: Mapping[int, int]) -> list[int]:
    below: dict[int, list[int]] = {}
    for i in chosen:
        below.setdefault(parent[i], []).append(i)
    order, stack = [], [top]
    while stack:
        i = stack.pop()
        order.append(i)
        stack += reversed(below.get(i, []))
    return order


def _segment_distance(x: Array, a: Array, b: Array) -> float:
    along = b - a
    share = float(np.clip((x - a) @ along / max(float(along @ along), 1e-18), 0.0, 1.0))
    return float(np.linalg.norm(x - a - share * along))


def _distance(x: Array, heads: Array, tails: Array) -> float:
    return min(_segment_distance(x, a, b) for a, b in zip(heads, tails))
