"""Which link is a leg, an arm, the trunk: read from topology and rest geometry; names are only a hint.

The rest pose is the one with every link frame parallel to the world, z up, in which offsets and tips are given.
A role says how a link answers a push (controllers) and what share of a human's mass it has (`masses`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from .arrays import Array

ROLES = ("root", "trunk", "neck", "head", "arm", "hand", "leg", "foot", "toe", "tail", "other")

LOW = 0.15          # a tip this near (in heights) to the lowest point of the rest pose may be a foot
FOOT_SPREAD = 0.12  # tips of one foot lie within this distance (in heights) of each other
ANKLE = 0.16        # an ankle is lower than this many leg lengths
CENTRAL = 0.06      # a chain that ends this near (in heights) to the plane of symmetry is not one of a pair


def guess_roles(names: Sequence[str], parents: Sequence[int], offsets: Array, tips: Array) -> list[str]:
    """One role per link of a tree (parents before children)."""
    count = len(names)
    heads = np.zeros((count, 3))
    for i in range(1, count):
        heads[i] = heads[parents[i]] + offsets[i]
    ends = heads + tips
    children: list[list[int]] = [[] for _ in range(count)]
    for i in range(1, count):
        children[parents[i]].append(i)
    leaves = [i for i in range(count) if not children[i]]
    below: list[set[int]] = [set() for _ in range(count)]  # leaves of each subtree
    for leaf in leaves:
        link = leaf
        while link >= 0:
            below[link].add(leaf)
            link = parents[link]

    cloud = np.concatenate((heads, ends))
    floor, height = cloud[:, 2].min(), max(float(np.ptp(cloud[:, 2])), 1e-9)
    roles = ["other"] * count
    roles[0] = "root"

    low = {leaf for leaf in leaves if leaf and min(ends[leaf, 2], heads[leaf, 2]) < floor + LOW * height
           and not re.search("tail|arm|hand|finger", names[leaf].lower())}
    tops: list[int] = []
    for leaf in sorted(low):
        top = leaf
        while parents[top] > 0:
            around = below[parents[top]]
            spread = max(float(np.linalg.norm((ends[a] - ends[leaf])[:2])) for a in around)
            if not around <= low or spread > FOOT_SPREAD * height:
                break
            top = parents[top]
        reach = heads[top, 2] - min(ends[leaf, 2], heads[leaf, 2])
        if reach > 0.25 * (heads[0, 2] - floor) and top not in tops:  # a leg reaches well up to the hip
            tops.append(top)
    for top in tops:
        _name_leg(top, children, heads, ends, roles)

    lateral = _lateral_axis([heads[t] for t in tops], ends, leaves)
    middle = float(heads[0] @ lateral)
    limbs = [below[t] for t in tops]
    for i in range(1, count):
        if roles[i] != "other":
            continue
        outside = below[i] - set().union(*limbs) if limbs else below[i]
        legs_here = sum(1 for leg in limbs if leg <= below[i])
        tipward = [ends[leaf] for leaf in outside]
        sides = {int(np.sign(round(float((tip @ lateral) - middle) / (CENTRAL * height)))) for tip in tipward}
        if legs_here or {-1, 1} <= sides:
            roles[i] = "trunk"  # carries legs, or limbs on both sides
        elif sides == {1} or sides == {-1}:
            roles[i] = "arm"
    for i in range(1, count):  # what is left is central: head and neck end high or ahead of the chest, tails behind
        if roles[i] != "other":
            continue
        top = i
        while roles[parents[top]] == "other":
            top = parents[top]
        on_trunk = roles[parents[top]] == "trunk"
        highest = max(ends[leaf, 2] for leaf in below[top])
        hint = " ".join(names[leaf].lower() for leaf in below[top])
        if "tail" not in hint and (on_trunk or highest > heads[0, 2] + 0.2 * height):
            roles[i] = "neck"
        else:
            roles[i] = "tail"
    for i in range(count):  # the ends of arms and necks
        last = not any(roles[c] == roles[i] for c in children[i])
        if roles[i] == "arm" and last:
            roles[i] = "hand"
        elif roles[i] == "neck" and last:
            roles[i] = "head"
    return _fingers(parents, heads, ends, roles)


def _name_leg(top: int, children: list[list[int]], heads: Array, ends: Array, roles: list[str]) -> None:
    chain, stack = [], [top]
    while stack:
        link = stack.pop()
        chain.append(link)
        stack += children[link]
    ground = min(min(heads[i, 2], ends[i, 2]) for i in chain)
    length = heads[top, 2] - ground
    is_low = {i: heads[i, 2] - ground < ANKLE * length for i in chain}
    if not any(is_low.values()):
        is_low[chain[-1]] = True
    for i in chain:
        above = [p for p in chain if i in children[p]]
        if not is_low[i]:
            roles[i] = "leg"
        else:
            roles[i] = "toe" if above and is_low[above[0]] else "foot"


def _lateral_axis(tops: list[Array], ends: Array, leaves: list[int]) -> Array:
    """The horizontal left-right direction: between the two nearest hips, else between the two tips farthest apart."""
    points = [np.array([t[0], t[1]]) for t in tops]
    pairs = [(float(np.linalg.norm(a - b)), i, j) for i, a in enumerate(points) for j, b in enumerate(points) if i < j]
    pairs = [p for p in pairs if p[0] > 1e-6]
    if pairs:
        _, i, j = min(pairs)
        across = points[i] - points[j]
    else:
        flat = [ends[leaf][:2] for leaf in leaves]
        far = [(float(np.linalg.norm(a - b)), i, j) for i, a in enumerate(flat) for j, b in enumerate(flat) if i < j]
        if not far or max(far)[0] < 1e-6:
            return np.array([1.0, 0.0, 0.0])
        _, i, j = max(far)
        across = flat[i] - flat[j]
    across = across / np.linalg.norm(across)
    return np.array([across[0], across[1], 0.0])


def _fingers(parents: Sequence[int], heads: Array, ends: Array, roles: list[str]) -> list[str]:
    """An arm that branches has a palm: the last link before the branching is the hand, the rest are fingers."""
    count = len(roles)
    arm_children = [[c for c in range(1, count) if parents[c] == i and roles[c] in ("arm", "hand")]
                    for i in range(count)]
    for i in range(count):
        if roles[i] == "arm" and len(arm_children[i]) >= 2:
            stack = list(arm_children[i])
            while stack:
                link = stack.pop()
                roles[link] = "other"
                stack += arm_children[link]
                arm_children[link] = []
            roles[i] = "hand"
    return roles
