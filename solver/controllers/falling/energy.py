"""Momentum is kept and energy never made.

Muscles of a falling body brake and never drive: what they could add to its energy is throttled, and energy that a step
of finite length makes from nothing is drained, so that after the last push kinetic and potential energy only fall.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...model.arrays import Array
from ...model.state import State
from ...numerics import rotation
from ...physics.dynamics import dynamics
from ...physics.yielding import drained, kinetic_energy, own_momentum, root_velocity
from .body import HUMAN_LEG, HUMAN_MASS, FallingBody, Moment

TANK = 0.01            # J by which energy may rise: room for rounding and for muscles that hold still


class Energy:
    """The account: what pushes and moving ground gave, and the least there has been without it."""

    def __init__(self, body: FallingBody) -> None:
        character = body.clip.character
        self._body = body
        self._tank = TANK * character.mass / HUMAN_MASS * character.leg_length / HUMAN_LEG
        self.work = 0.0       # J, done by pushes and moving ground
        self._floor = np.inf  # J, least energy so far, without that work

    def begin(self, now: Moment) -> None:
        self._floor = min(self._floor, now.energy - self.work)

    def forget(self) -> None:
        """What carried a sleeper may have given it energy."""
        self._floor = np.inf

    def room(self, now: Moment) -> float:
        """J that muscles may add."""
        return float(max(self._floor + self._tank - (now.energy - self.work), 0.0))

    def conserved(self, before: Moment, after: Moment, root: Array, dt: float, is_free: bool) -> Moment:
        """`after` with the momentum that gravity and the impulse `root` (six entries) give, and without energy that
        nothing gave."""
        body = self._body
        gravity = body.scene.gravity
        M, state = after.M, after.state
        v, position, pose_after = state.velocity, state.position, after.motion.pose
        is_same = body.clip.shape.is_constant and after.mass == before.mass
        if is_same:  # else keys stretch the body or a load is taken up: momentum and energy from outside
            pose = before.motion.pose
            linear, angular = own_momentum(before.motion)
            arm = before.motion.com - pose.position
            angular = angular + pose.R[0] @ root[3:] - rotation.cross(arm, root[:3])
            linear = linear + root[:3] + dt * before.mass * gravity
            v = root_velocity(after.motion, v, linear, angular)
            if is_free:  # nobody touches: the centre of mass goes where its momentum takes it
                position = position + before.motion.com + (dt / before.mass) * linear - after.motion.com
                pose_after = replace(pose_after, position=position)
        own = kinetic_energy(M, v)
        raised = before.mass * float(gravity @ (position - state.position))
        energy = after.energy - kinetic_energy(M, state.velocity) + own - raised
        excess = energy - self.work - self._floor - self._tank
        if is_same and excess > 0.0:
            v = drained(M, v, excess)
            energy += kinetic_energy(M, v) - own
        self._floor = min(self._floor, energy - self.work) if is_same else energy - self.work
        again = dynamics(body.tree, after.shape, pose_after, v, np.zeros(body.tree.nv), gravity, mass_matrix=False)
        return replace(after, state=State(state.time, position, state.rotations, v),
                       motion=replace(again, M=M, J_com=after.motion.J_com), energy=energy)
