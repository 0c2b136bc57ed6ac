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
BIG_FOOT = 0.4      # or than this many, if the link then lies rather than stands
CENTRAL = 0.06      # a chain that ends this near (in heights) to the plane of symmetry is not one of a pair
ARM = 0.12          # a chain beside it shorter than this (in heights) is an ear or an eye, not an arm
TWIG = 0.5          # a branch shorter than this share of the limb from there on is no part of the limb


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

    apart = (n for n, (a, b) in enumerate(zip(min(names), max(names))) if a != b)
    common = next(apart, 0)  # what all names begin with says nothing
    hints = [name[common:].lower() for name in names]
    low = {leaf for leaf in leaves if leaf and min(ends[leaf, 2], heads[leaf, 2]) < floor + LOW * height
           and "tail" not in hints[leaf]}
    tops: list[int] = []
    for leaf in sorted(low):
        top = leaf
        while parents[top] > 0:
            around = below[parents[top]]
            spread = max(float(np.linalg.norm((ends[a] - ends[leaf])[:2])) for a in around & low)
            twig = TWIG * _length(leaf, parents[top], parents, offsets, tips)
            if spread > FOOT_SPREAD * height or any(
                    _length(a, parents[top], parents, offsets, tips) > twig for a in around - low):
                break
            top = parents[top]
        reach = heads[top, 2] - min(ends[leaf, 2], heads[leaf, 2])
        if reach > 0.25 * (heads[0, 2] - floor) and top not in tops:  # a leg reaches well up to the hip
            tops.append(top)
    for top in tops:
        _name_leg(top, [[c for c in own if below[c] & low] for own in children], heads, ends, roles)

    lateral = _lateral_axis([heads[t] for t in tops], ends, leaves)
    middle = float(heads[0] @ lateral)
    limbs = [below[t] for t in tops]
    free = set(leaves) - set().union(*limbs)
    beside = {leaf: int(np.sign(round((float(ends[leaf] @ lateral) - middle) / (CENTRAL * height)))) for leaf in free}
    side = dict.fromkeys(free, 0)
    for leaf in free:
        top = leaf
        while parents[top] > 0 and {beside.get(other, 0) for other in below[parents[top]]} == {beside[leaf]}:
            top = parents[top]
        if max(_length(other, top, parents, offsets, tips) for other in below[top]) > ARM * height:
            side[leaf] = beside[leaf]
    for i in range(1, count):
        if roles[i] != "other":
            continue
        sides = {side[leaf] for leaf in below[i] & free}
        if any(leg <= below[i] for leg in limbs) or {-1, 1} <= sides:
            roles[i] = "trunk"  # carries legs, or limbs on both sides
        elif sides == {1} or sides == {-1}:
            roles[i] = "arm"
    _name_central(parents, children, heads, ends, below, hints, heads[0, 2] + 0.2 * height, roles)
    for top in [i for i in range(1, count) if roles[i] == "arm" and roles[parents[i]] != "arm"]:
        _name_arm(top, parents, children, below, offsets, tips, hints, roles)
    return roles


def _length(leaf: int, start: int, parents: Sequence[int], offsets: Array, tips: Array) -> float:
    """Along the chain from the joint of `start` to the end of `leaf`."""
    length, link = float(np.linalg.norm(tips[leaf])), leaf
    while link != start and link > 0:
        length += float(np.linalg.norm(offsets[link]))
        link = parents[link]
    return length


def _subtree(top: int, children: list[list[int]]) -> list[int]:
    links, stack = [], [top]
    while stack:
        link = stack.pop()
        links.append(link)
        stack += children[link]
    return sorted(links)


def _name_arm(top: int, parents: Sequence[int], children: list[list[int]], below: list[set[int]], offsets: Array,
              tips: Array, hints: list[str], roles: list[str]) -> None:
    """The hand is named so, or is where the arm branches into fingers, or is the arm's last link."""
    links = _subtree(top, children)
    named = [link for link in links if link != top and re.search("hand|wrist|palm", hints[link])]
    hand = named[0] if named else top
    while not named and children[hand]:
        reach = {c: max(_length(leaf, hand, parents, offsets, tips) for leaf in below[c]) for c in children[hand]}
        longest = max(reach, key=lambda c: reach[c])
        if any(length > TWIG * reach[longest] for c, length in reach.items() if c != longest):
            break
        hand = longest
    for link in links:
        roles[link] = "other"  # fingers, twist bones
    link = hand
    while link != top:
        link = parents[link]
        roles[link] = "arm"
    roles[hand] = "hand"


def _name_central(parents: Sequence[int], children: list[list[int]], heads: Array, ends: Array,
                  below: list[set[int]], hints: list[str], high: float, roles: list[str]) -> None:
    """Chains in the middle: necks rise from the trunk (or reach highest of all), tails are what else is long."""
    tops = [i for i in range(1, len(roles)) if roles[i] == "other" and roles[parents[i]] != "other"]
    tops = [i for i in tops if roles[parents[i]] in ("root", "trunk")]
    peak = {i: max(float(ends[leaf, 2]) for leaf in below[i]) for i in tops}
    is_tail = {i: any("tail" in hints[leaf] for leaf in below[i]) or not (
        roles[parents[i]] == "trunk" or peak[i] > high) for i in tops}
    highest = max((peak[i] for i in tops if not is_tail[i]), default=0.0)
    for top in tops:
        chain = _subtree(top, children)
        if is_tail[top]:
            for link in chain:
                roles[link] = "tail"
        elif peak[top] >= highest or peak[top] > heads[top, 2] + 1e-9:
            named = [link for link in chain if re.search("head|skull", hints[link])]
            head = named[0] if named else top
            while not named and len(children[head]) == 1:
                head = children[head][0]
            link = head
            while link != top:
                link = parents[link]
                roles[link] = "neck"
            roles[head] = "head"


def _name_leg(top: int, children: list[list[int]], heads: Array, ends: Array, roles: list[str]) -> None:
    chain = _subtree(top, children)
    ground = min(min(heads[i, 2], ends[i, 2]) for i in chain)
    length = heads[top, 2] - ground
    is_low = {i: heads[i, 2] - ground < (BIG_FOOT if _lies(heads[i], ends[i]) else ANKLE) * length for i in chain}
    if not any(is_low.values()):
        is_low[chain[-1]] = True
    for i in chain:
        above = [p for p in chain if i in children[p]]
        if not is_low[i]:
            roles[i] = "leg"
        else:
            roles[i] = "toe" if above and is_low[above[0]] else "foot"


def _lies(head: Array, end: Array) -> bool:
    along = end - head
    return abs(float(along[2])) <= 1.2 * float(np.linalg.norm(along[:2]))


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
