"""How much torque a joint has, in both directions of each anatomical axis, as a function of its angle and speed.

    limit = strength of the axis x size of the body x dials x g(angle) x b(speed)          [Oshita2001] eq. 8, 3.1
    g = 1 - 0.3 min(1, (angle / 2 rad)^2) ,   b = max(0.6, 1 - w / 20) shortening, 1 + 0.4 min(1, |w| / 2) lengthening

The paper fits functions to the measurements of Pandya and others but prints none. HUMAN holds round values of a fit
adult of 75 kg and 1.75 m as they are usual in the literature, collected from memory by this project's method sheet: a
sensible start, not a measurement. g and b are mild forms of the known fall-off; a strong one (to 0.15) leaves a body
without means. Strength grows with mass x height.

A joint that is not in the table (a tail, a wing, any leg of an animal) holds what hangs on it stretched out level,
HOLDS times over. Where keys are trusted, no limit is below 1.15 times what the unloaded keys need: nothing acts where
nothing disturbs.
"""

from __future__ import annotations

import numpy as np

from ...model.arrays import Array
from ...model.character import SPINE_BOOST, Character
from ...numerics import rotation
from ...physics.tree import Tree
from .parts import Parts
from .settings import Settings

HUMAN_MASS, HUMAN_HEIGHT = 75.0, 1.75   # kg, m
MARGIN = 1.15
HOLDS, LEG_HOLDS = 4.0, 0.45            # of the level weight below a joint; of body weight x leg length
GRAVITY = 9.81

# N m: (flexion, extension), (to the left, to the right; of limbs away, towards), (twist both ways)
HUMAN = {
    "lumbar": ((150.0, 250.0), (150.0, 150.0), (80.0, 80.0)),
    "upper spine": ((120.0, 200.0), (120.0, 120.0), (70.0, 70.0)),
    "neck": ((20.0, 35.0), (20.0, 20.0), (12.0, 12.0)),
    "collar bone": ((60.0, 60.0), (60.0, 60.0), (40.0, 40.0)),
    "shoulder": ((80.0, 80.0), (75.0, 75.0), (40.0, 40.0)),
    "elbow": ((60.0, 60.0), (60.0, 60.0), (9.0, 9.0)),
    "wrist": ((12.0, 12.0), (10.0, 10.0), (8.0, 8.0)),
    "hip": ((140.0, 220.0), (120.0, 120.0), (55.0, 55.0)),
    "knee": ((120.0, 230.0), (120.0, 120.0), (60.0, 60.0)),
    "ankle": ((45.0, 150.0), (35.0, 35.0), (20.0, 20.0)),
    "toes": ((20.0, 60.0), (20.0, 20.0), (10.0, 10.0)),
}
# turning about the axis to the left, positive is: forward for the trunk and for the shank; for thigh and forearm
# backwards; for a foot toes down
_FLEXES_BACKWARDS = ("hip", "ankle", "toes")


class Strength:
    """Limits (nv,) in anatomical coordinates: tau' = Q tau."""

    def __init__(self, tree: Tree, parts: Parts, settings: Settings) -> None:
        character = tree.character
        self._tree, self._use_curves = tree, settings.use_curves
        count = len(character)
        usual = np.array([SPINE_BOOST if role == "trunk" else 1.0 for role in character.roles])
        own = settings.strength * character.strengths / usual
        for name, value in settings.joint_strength.items():
            own[character.index(name)] *= value
        self.frames: Array = np.stack([_frame(character, parts, i) for i in range(count)])   # (N, 3, 3) rows: axes
        table = _table(character, parts) * own[:, None, None]                                  # (N, 3, 2)
        for name, value in settings.joint_torque.items():
            table[character.index(name)] = value
        nv = tree.nv
        self.Q = np.eye(nv)
        self.lowest, self.highest = np.full(nv, -np.inf), np.full(nv, np.inf)
        for i in range(1, count):
            dofs = np.flatnonzero((tree.dof_link == i) & (np.arange(nv) >= 6))
            if len(dofs) == 3:
                self.Q[np.ix_(dofs, dofs)] = self.frames[i]
                self.highest[dofs], self.lowest[dofs] = table[i, :, 0], -table[i, :, 1]
            elif len(dofs) == 1:
                along = self.frames[i] @ character.axes[i]
                n = int(np.abs(along).argmax())
                up, down = table[i, n] if along[n] > 0.0 else table[i, n, ::-1]
                self.highest[dofs], self.lowest[dofs] = up, -down

    def limits(self, rotations: Array, v: Array) -> tuple[Array, Array]:
        """(lowest, highest) (nv,) N m in a pose at anatomical rates v."""
        if not self._use_curves:
            return self.lowest, self.highest
        tree = self._tree
        r = rotation.log(rotations)
        bent = np.minimum((r * r).sum(1) / 4.0, 1.0)[tree.dof_link]
        g = 1.0 - 0.3 * bent
        shorter = np.maximum(0.6, 1.0 - np.abs(v) / 20.0)
        longer = 1.0 + 0.4 * np.minimum(1.0, np.abs(v) / 2.0)
        return self.lowest * g * np.where(v < 0.0, shorter, longer), \
            self.highest * g * np.where(v > 0.0, shorter, longer)


def _frame(character: Character, parts: Parts, link: int) -> Array:
    """(3, 3) rows: the axis to the left (flexion), the one ahead (sideways), the one along the bone (twist)."""
    tip = character.tips[link]
    length = float(np.linalg.norm(tip))
    along = tip / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    if character.roles[link] in ("foot", "toe"):   # a foot lies: its twist is about the shank
        along = np.array([0.0, 0.0, 1.0])
    side = parts.left - along * (along @ parts.left)
    if np.linalg.norm(side) < 0.3:                 # an arm held out sideways: up and down is about the axis ahead
        side = parts.ahead - along * (along @ parts.ahead)
    side = side / np.linalg.norm(side)
    return np.stack((side, np.cross(along, side), along))


def _kind(character: Character, parts: Parts, link: int) -> str | None:
    role, above = character.roles[link], character.roles[int(character.parents[link])] if link else ""
    if role == "trunk":
        return "lumbar" if above == "root" else "upper spine"
    if role in ("neck", "head"):
        return "neck"
    if role == "arm":
        if link in parts.swings:
            return "shoulder"
        return "elbow" if any(character.is_ancestor[link, s] for s in parts.swings) else "collar bone"
    if role == "leg":
        return "knee" if above == "leg" else "hip"
    return {"hand": "wrist", "foot": "ankle", "toe": "toes"}.get(role)


def _table(character: Character, parts: Parts) -> Array:
    """(N, 3, 2) N m about each axis of the frame, positive and negative."""
    cloud = np.concatenate((character.rest_positions, character.rest_positions + character.tips))
    height = float(np.ptp(cloud[:, 2]))
    scale = character.mass / HUMAN_MASS * height / HUMAN_HEIGHT
    is_human = len(parts.legs) == 2 and any(character.roles[i] == "arm" for i in parts.swings)
    centres = character.rest_positions + character.coms
    out = np.zeros((len(character), 3, 2))
    for i in range(1, len(character)):
        kind = _kind(character, parts, i) if is_human else None
        if kind is not None:
            rows = np.array(HUMAN[kind]) * scale
            if kind in _FLEXES_BACKWARDS:
                rows[0] = rows[0, ::-1]
            out[i] = rows
            continue
        below = character.is_ancestor[:, i]
        arm = np.linalg.norm(centres[below] - character.rest_positions[i], axis=1)
        hold = HOLDS * GRAVITY * float(character.masses[below] @ arm)
        if character.roles[i] in ("leg", "foot", "toe"):
            hold = max(hold, LEG_HOLDS * GRAVITY * character.mass * character.leg_length)
        out[i] = hold
    return out
