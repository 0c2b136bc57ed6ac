"""The same character in MuJoCo and in pinocchio, to be timed. (`tests/judges.py` asks them whether we are right.)"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pinocchio

from solver import Character, State

SPHERE = 0.01   # m, radius of what stands for a contact point
MARGIN = 0.02   # m: touching or nearly so


class Mujoco:
    """`mj_forward`, with a small sphere at every contact point on a plane, or in empty space."""

    def __init__(self, character: Character, dt: float, with_contacts: bool) -> None:
        ground = (f'<geom type="plane" size="0 0 1" margin="{MARGIN}" contype="1" conaffinity="0" '
                  'friction="0.9 0.005 0.0001"/>') if with_contacts else ""
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><compiler angle="radian"/><option timestep="{dt!r}"/><worldbody>{ground}'
            f'{_body(character, 0, with_contacts)}</worldbody></mujoco>')
        self.data = mujoco.MjData(self.model)
        assert self.model.nv == 3 + 3 * len(character)

    def take(self, state: State) -> None:
        self.data.qpos[:3], self.data.qpos[3:] = state.position, state.rotations.ravel()
        self.data.qvel[:] = state.velocity

    def run(self) -> None:
        mujoco.mj_forward(self.model, self.data)

    @property
    def contacts(self) -> int:
        return int(self.data.ncon)


def _body(character: Character, i: int, with_contacts: bool) -> str:
    def numbers(values: Any) -> str:
        return " ".join(repr(float(x)) for x in values)

    I = character.inertias[i]
    joint = "<freejoint/>" if i == 0 else '<joint type="ball"/>'
    points = character.points.position[character.points.link == i] if with_contacts else ()
    spheres = "".join(f'<geom type="sphere" size="{SPHERE}" pos="{numbers(p + [0.0, 0.0, SPHERE])}" mass="0" '
                      f'margin="{MARGIN}" contype="0" conaffinity="1" friction="0.9 0.005 0.0001"/>' for p in points)
    return (f'<body pos="{numbers(character.offsets[i])}">{joint}<inertial pos="{numbers(character.coms[i])}" '
            f'mass="{float(character.masses[i])!r}" '
            f'fullinertia="{numbers((I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]))}"/>{spheres}'
            + "".join(_body(character, c, with_contacts) for c in character.children[i]) + "</body>")


class Pinocchio:
    """`crba` and `rnea`: mass matrix and bias, no contacts. The root is a free flyer, the rest are spheres."""

    contacts = 0

    def __init__(self, character: Character) -> None:
        model = self.model = pinocchio.Model()
        for i in range(len(character)):
            joint = pinocchio.JointModelSpherical() if i else pinocchio.JointModelFreeFlyer()
            place = pinocchio.SE3(np.eye(3), character.offsets[i] if i else np.zeros(3))
            at = model.addJoint(int(character.parents[i]) + 1, joint, place, f"joint {i}")
            body = pinocchio.Inertia(character.masses[i], character.coms[i], character.inertias[i])
            model.appendBodyToJoint(at, body, pinocchio.SE3.Identity())
        self.data = model.createData()
        self.still = np.zeros(model.nv)

    def take(self, state: State) -> None:
        self.q = np.concatenate((state.position, state.rotations[:, [1, 2, 3, 0]].ravel()))
        self.v = state.velocity

    def run(self) -> None:
        pinocchio.crba(self.model, self.data, self.q)
        pinocchio.rnea(self.model, self.data, self.q, self.v, self.still)
