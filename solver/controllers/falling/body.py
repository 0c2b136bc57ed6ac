"""The falling body: what it is at one instant, and what the forces of a step add up to.

A Step may consist of several sub-divisions (at least 120 a second). It then balances in the mean: forces are averages
over the sub-divisions, a = (v_next - v) / dt, and the equation  M a + h = tau + J_c^T f + J_ext^T f_ext + aid  holds
exactly at the start state because what averaging leaves over goes into tau (joints) and aid (root). Ground forces on
parts that are not the character's contact points are in `external`, and point by point in `FallStep.touch_forces`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.arrays import Array, Bools
from ...model.result import Phase, Step
from ...model.state import State
from ...physics.dynamics import Dynamics, dynamics, point_jacobian
from ...physics.kinematics import forward, place
from ...physics.outside import load_masses, loaded
from ...physics.shape import Shape
from ...physics.skin import skin_points
from ...physics.yielding import kinetic_energy
from ...references.clip import Clip

HUMAN_LEG, HUMAN_MASS = 0.85, 75.0   # m, kg: what the constants of this folder are for


@dataclass(frozen=True, eq=False)
class FallStep(Step):
    """A Step that also knows what touches besides the character's own contact points."""

    touching: Bools       # (S,) spheres of the skin
    touch_forces: Array   # (S, 3) N, ground on them


@dataclass(frozen=True, eq=False)
class Moment:
    """The body at one instant."""

    state: State
    shape: Shape
    motion: Dynamics
    places: Array     # (S, 3) m, the skin in its links' frames
    mass: float       # kg, with loads
    energy: float     # J, kinetic and potential

    @property
    def M(self) -> Array:
        assert self.motion.M is not None
        return self.motion.M


class Tally:
    """What a step's sub-divisions add up to."""

    def __init__(self, skin: int, nv: int) -> None:
        self.impulses = np.zeros((skin, 3))
        self.touching = np.zeros(skin, dtype=bool)
        self.external = np.zeros(nv)   # N s, of pushes and of the ground where the character has no contact point


class FallingBody:
    """A character with its skin, and its size against a person's."""

    def __init__(self, clip: Clip) -> None:
        character = clip.character
        self.clip, self.scene, self.tree = clip, clip.scene, clip.tree
        self.skin = skin_points(character)
        self.size = character.mass / HUMAN_MASS * (character.leg_length / HUMAN_LEG) ** 2   # of inertias
        self.length = character.leg_length / HUMAN_LEG
        self.pace = float(np.sqrt(self.length))  # small bodies fall in less time
        self._own_points = np.flatnonzero(self.skin.point >= 0)

    def look(self, state: State, k: int) -> Moment:
        """Everything about a state; k says which shape the keys give the body then."""
        tree, loads = self.tree, self.scene.loads
        shape = self.clip.shape.at(k)
        if loads:
            shape = loaded(tree, shape, loads, load_masses(loads, state.time))
        pose = forward(tree, shape.offsets, state.position, state.rotations)
        motion = dynamics(tree, shape, pose, state.velocity, np.zeros(tree.nv), self.scene.gravity)
        scales = self.clip.followed.scales
        places = self.skin.position if scales is None else scales[k, self.skin.link] * self.skin.position
        assert motion.M is not None
        mass = float(shape.inertias[:, 3, 3].sum())
        energy = kinetic_energy(motion.M, state.velocity) - mass * float(self.scene.gravity @ motion.com)
        return Moment(state, shape, motion, places, mass, energy)

    def tally(self) -> Tally:
        return Tally(len(self.skin), self.tree.nv)

    def account(self, first: Moment, state: State, dt: float, tally: Tally, phase: Phase) -> FallStep:
        """The step's forces: averages, and what they leave over in tau and aid."""
        a = (state.velocity - first.state.velocity) / dt
        forces = np.zeros((len(self.clip.character.points), 3))
        contacts = np.zeros(len(forces), dtype=bool)
        own = self._own_points
        forces[self.skin.point[own]] = tally.impulses[own] / dt
        contacts[self.skin.point[own]] = tally.touching[own]
        external = tally.external / dt
        total = first.M @ a + first.motion.force - external
        pressed = own[tally.impulses[own].any(1)]
        if len(pressed):
            places = place(first.motion.pose, self.skin.link[pressed], first.places[pressed])
            J = point_jacobian(self.tree, first.motion, self.skin.link[pressed], places)
            total -= (tally.impulses[pressed, None, :] @ J)[:, 0].sum(0) / dt
        torque = total.copy()
        torque[:6] = 0.0
        return FallStep(state, a, torque, total[:6], contacts, forces, external,
                        load_masses(self.scene.loads, first.state.time), tally.touching, tally.impulses / dt,
                        phase=phase)
