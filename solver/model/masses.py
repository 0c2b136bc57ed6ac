"""Masses and inertias of links: from their lengths ([Levine2012] 2.1), or from a table of human segments.

The table holds shares of the whole body (segment averages after Winter's Biomechanics, trunk divided by the usual
lumbar / thoracic split); it is normalised over the links present, so a character without toes still adds up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .arrays import Array

DENSITY = 1000.0  # kg/m3, a body floats; gives every link a radius and hence a finite inertia

HUMAN_SHARES = {
    "root": (0.142,), "trunk": (0.0695, 0.0695, 0.216), "neck": (0.024,), "head": (0.057,),
    "arm": (0.028, 0.016), "hand": (0.006,), "leg": (0.100, 0.0465), "foot": (0.0115,), "toe": (0.003,),
}


def human_masses(parents: Sequence[int], roles: Sequence[str], lengths: Array, total: float) -> Array | None:
    """Masses by the human table, or None where the roles are not those of a two-legged body with arms."""
    feet, hands = roles.count("foot"), roles.count("hand")
    legs = [len(c) for c in _chains(parents, roles, "leg")]
    if feet != 2 or hands != 2 or "trunk" not in roles or len(legs) != 2 or min(legs) < 2:
        return None
    roles = list(roles)
    for i, role in enumerate(roles):  # fingers share the hand's mass, ears the head's
        if role == "other" and roles[parents[i]] in ("hand", "head", "foot", "toe"):
            roles[i] = roles[parents[i]]
    masses = np.zeros(len(roles))
    for role, shares in HUMAN_SHARES.items():
        for chain in _chains(parents, roles, role):
            if role == "trunk":  # the last link is the chest, the others share the back by length
                masses[chain[-1]] += shares[-1]
                back = chain[:-1] or chain
                masses[back] += sum(shares[:-1]) * lengths[back] / lengths[back].sum()
            elif len(shares) == 2:  # thigh + shank, upper arm + forearm; extra links (clavicles) share the first
                first = chain[:-1] or chain
                masses[first] += shares[0] * lengths[first] / lengths[first].sum()
                masses[chain[-1]] += shares[1]
            else:
                masses[chain] += shares[0] * lengths[chain] / lengths[chain].sum()
    rest = masses == 0.0  # tails, props: as by length
    if rest.any():
        masses[rest] = lengths[rest] / lengths.sum() * 0.1
    return masses * (total / masses.sum())


def _chains(parents: Sequence[int], roles: Sequence[str], role: str) -> list[list[int]]:
    """Connected groups of links of one role, parents first."""
    chains: dict[int, list[int]] = {}
    top: dict[int, int] = {}
    for i, own in enumerate(roles):
        if own != role:
            continue
        top[i] = top.get(parents[i], i)
        chains.setdefault(top[i], []).append(i)
    return list(chains.values())


def length_masses(lengths: Array, total: float) -> Array:
    """[Levine2012] 2.1: proportional to length."""
    return lengths * (total / lengths.sum())


def cylinder_inertia(mass: float, direction: Array, length: float) -> Array:
    """Solid cylinder of body density along `direction`, about its centre."""
    radius2 = mass / (DENSITY * np.pi * length)
    along, across = 0.5 * mass * radius2, mass * (length * length / 12.0 + radius2 / 4.0)
    size = float(np.linalg.norm(direction))
    if size < 1e-9:  # no direction (children all around): a ball
        return np.eye(3) * (along + 2 * across) / 3
    axis = direction / size
    return along * np.outer(axis, axis) + across * (np.eye(3) - np.outer(axis, axis))
