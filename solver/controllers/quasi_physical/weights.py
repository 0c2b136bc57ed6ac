"""Torque and pose weights ([Levine2012] 2.3, 2.4): who is stiff and who gives.

Legs and pelvis carry the paper's weights, W_tau = 1 / m_r and W_p = 2.5 m_r (m_r: the mass a joint carries), which
contain a length of one metre; L, the body's radius of gyration (for legs, their length) over a person's, makes them
fit any size. Everything else uses what the joint really turns, I = m_r rho^2 (rho: radius of gyration):
W_tau = 1 / I ,  W_p = kappa I. With the paper's weights there limbs would be a thousand times too stiff and the trunk
a statue.
"""

from __future__ import annotations

import numpy as np

from ...model.arrays import Array
from ...model.character import SPINE_BOOST, Character
from ...model.scene import Push
from ...physics.tree import Tree
from .settings import Settings

HUMAN_LEG = 0.85       # m
HUMAN_GYRATION = 0.10  # m2, squared radius of gyration of a standing person about the pelvis
LIGHTEST = 0.1      # kg: lighter parts weigh this much in the weights, or a fingertip would whip
LIGHTEST_FOOT = 0.03  # of the body: with its own mass alone a toe folds under every side step
FLOATING_TURN = 0.2   # how dear turning help is to a body in the air, against one on the ground
RELEASE = 0.3       # s, after which a part that was pushed is as stiff as before
PAPER_POSE = 2.5    # Table 1

LEGS = ("root", "leg", "foot", "toe")
NECK = ("neck", "head")


class Weights:
    """W_tau per degree of freedom and W_p per link, at any time."""

    def __init__(self, tree: Tree, M: Array, settings: Settings, pushes: tuple[Push, ...]) -> None:
        character = tree.character
        mass = character.mass
        diagonal = np.diagonal(M)
        size2 = float(diagonal[3:6].mean()) / mass / HUMAN_GYRATION    # L^2
        leg2 = (character.leg_length / HUMAN_LEG) ** 2
        carried = tree.below @ character.masses                    # m_r
        feet = np.array([role in ("foot", "toe") for role in character.roles])
        carried[feet] = np.maximum(carried[feet], LIGHTEST_FOOT * mass)
        count = np.maximum(tree.own.sum(1), 1.0)
        inertia = (tree.own @ diagonal) / count * np.maximum(1.0, LIGHTEST * mass / 75.0 / carried)
        kappa = _stiffness(character, settings)
        effort, pose = np.ones(len(character)), np.ones(len(character))
        for i, role in enumerate(character.roles):
            if role in LEGS:
                own2 = size2 if role == "root" else leg2
                effort[i], pose[i] = 1.0 / (carried[i] * own2), PAPER_POSE * carried[i] * own2
                pose[i] *= settings.joint_stiffness.get(character.names[i], 1.0)
            else:
                effort[i], pose[i] = 1.0 / max(inertia[i], 1e-9), kappa[i] * max(inertia[i], 1e-9)
            usual = SPINE_BOOST if role == "trunk" else 1.0        # the dials are for a trunk of usual strength
            effort[i] *= usual / character.strengths[i]
        self.effort: Array = effort[tree.dof_link]                 # (nv,)
        self.effort[:3] = settings.physicality / mass
        self.effort[3:6] = settings.physicality * settings.helper_turn / (mass * size2)
        self.effort_sqrt: Array = np.sqrt(self.effort)             # (nv,)
        self.floating_sqrt: Array = self.effort_sqrt.copy()        # who touches nothing cannot turn without help
        self.floating_sqrt[3:6] *= np.sqrt(FLOATING_TURN)
        self.pose: Array = pose                                    # (N,)
        self.root_position = PAPER_POSE * mass
        self.rate: Array = np.array([settings.leg_return if role in LEGS else settings.upper_return
                                     for role in character.roles])
        loosened = [(push, _loosened(character, push.body)) for push in pushes if push.is_local]
        self._give = [(push, links) for push, links in loosened if links]
        self._local = settings.local_give
        self._tree = tree
        self._coupled = _coupling(tree, pose)

    def pose_at(self, time: float) -> tuple[Array, Array]:
        """(W_p (N,), its coupling (nv, nv)) with pushed parts loosened while the push lasts and a little longer."""
        if not self._give:
            return self.pose, self._coupled
        share = np.zeros(len(self.pose))
        for push, links in self._give:
            since = np.inf if time < push.times[0] else max(time - float(push.times[-1]), 0.0)
            if since < RELEASE:
                share[links] = np.maximum(share[links], 1.0 - since / RELEASE)
        if not share.any():
            return self.pose, self._coupled
        pose = self.pose * (1.0 - self._local * share)
        return pose, _coupling(self._tree, pose)


def _coupling(tree: Tree, pose: Array) -> Array:
    """sum over links of W_p where both degrees of freedom move the link: T^T W_p T = coupling o (S_w S_w^T)."""
    return np.asarray((tree.moves.T * pose) @ tree.moves)


def _stiffness(character: Character, settings: Settings) -> Array:
    table = {"trunk": settings.trunk_stiffness, "hand": settings.hand_stiffness}
    kappa = np.array([settings.neck_stiffness if role in NECK else table.get(role, settings.arm_stiffness)
                      for role in character.roles])
    for name, factor in settings.joint_stiffness.items():
        kappa[character.index(name)] *= factor
    return kappa * settings.stiffness


def _loosened(character: Character, body: str) -> list[int]:
    """The pushed link and its ancestors up to the trunk."""
    links, link = [], character.index(body)
    while link > 0 and character.roles[link] != "trunk":
        links.append(link)
        link = int(character.parents[link])
    return links
