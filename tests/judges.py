"""Two independent engines that answer the same questions about a Character: pinocchio and MuJoCo.

Both get the tree joint by joint, with exact inertias. Fixed joints become rigid attachments, turned as the state says.
Conventions agree without translation: root velocity in world axes, angular rates in the child's axes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from solver.model.character import Character
from solver.model.state import State
from solver.numerics import rotation

JUDGES = ("pinocchio", "mujoco")


@dataclass(frozen=True)
class Verdict:
    M: np.ndarray                 # (nv, nv)
    force: np.ndarray             # (nv,) M a + h
    com: np.ndarray               # (3,)
    com_acceleration: np.ndarray  # (3,) under a
    J_com: np.ndarray             # (3, nv)
    momentum: np.ndarray          # (6,) [angular about the centre of mass; linear]
    position: np.ndarray          # (P, 3) of material points
    velocity: np.ndarray          # (P, 3)
    acceleration: np.ndarray      # (P, 3) under a
    J: np.ndarray                 # (P, 3, nv)


def judge(engine: str, character: Character, state: State, a: np.ndarray, gravity: np.ndarray, links: np.ndarray,
          local: np.ndarray) -> Verdict:
    """What `engine` says of the character in `state` under acceleration `a`, and of points `local` on `links`."""
    return {"pinocchio": _pinocchio, "mujoco": _mujoco}[engine](character, state, a, gravity, links, local)


def _joint_coordinates(character: Character, state: State, scalar_first: bool) -> np.ndarray:
    """Root position, then a quaternion per ball and an angle per hinge."""
    q = list(state.position)
    for i, joint in enumerate(character.joints):
        w, *xyz = state.rotations[i]
        if joint == "ball":
            q += [w, *xyz] if scalar_first else [*xyz, w]
        elif joint == "hinge":
            angle = 2.0 * np.arctan2(np.dot(xyz, character.axes[i]), w)
            assert np.allclose(rotation.exp(angle * character.axes[i]), state.rotations[i], atol=1e-12), "not a hinge"
            q.append(angle)
    return np.array(q)


def _pinocchio(character: Character, state: State, a: np.ndarray, gravity: np.ndarray, links: np.ndarray,
               local: np.ndarray) -> Verdict:
    pin = pytest.importorskip("pinocchio")
    model = pin.Model()
    model.gravity.linear = gravity
    root = pin.JointModelComposite()
    root.addJoint(pin.JointModelTranslation())
    root.addJoint(pin.JointModelSpherical())
    carrier: list[tuple[int, Any]] = []  # joint of a link, and the link in that joint's frame
    for i, kind in enumerate(character.joints):
        above, frame = (0, pin.SE3.Identity()) if i == 0 else carrier[character.parents[i]]
        place = frame * pin.SE3(np.eye(3), np.zeros(3) if i == 0 else character.offsets[i])
        if kind == "fixed":
            carrier.append((above, place * pin.SE3(rotation.matrix(state.rotations[i]), np.zeros(3))))
        else:
            joint = (root if i == 0 else pin.JointModelSpherical() if kind == "ball"
                     else pin.JointModelRevoluteUnaligned(*character.axes[i]))
            carrier.append((model.addJoint(above, joint, place, f"joint {i}"), pin.SE3.Identity()))
        body = pin.Inertia(character.masses[i], character.coms[i], character.inertias[i])
        model.appendBodyToJoint(carrier[i][0], body, carrier[i][1])
    assert all(list(below) == list(range(below[0], below[0] + len(below))) for below in model.subtrees), \
        "crba is silently wrong unless joints come depth first"
    frames = [model.addFrame(pin.Frame(f"point {n}", carrier[i][0], carrier[i][1] * pin.SE3(np.eye(3), local[n]),
                                       pin.FrameType.OP_FRAME)) for n, i in enumerate(links)]
    data = model.createData()
    q, v = _joint_coordinates(character, state, scalar_first=False), state.velocity
    force = np.array(pin.rnea(model, data, q, v, a))
    M = np.array(pin.crba(model, data, q))
    M = np.triu(M) + np.triu(M, 1).T
    pin.computeJointJacobians(model, data, q)
    pin.forwardKinematics(model, data, q, v, a)
    pin.updateFramePlacements(model, data)
    world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    points = {
        "position": np.array([data.oMf[f].translation.copy() for f in frames]),
        "velocity": np.array([pin.getFrameVelocity(model, data, f, world).linear for f in frames]),
        "acceleration": np.array([pin.getFrameClassicalAcceleration(model, data, f, world).linear for f in frames]),
        "J": np.array([pin.getFrameJacobian(model, data, f, world)[:3] for f in frames]),
    }
    pin.centerOfMass(model, data, q, v, a)
    com, com_acceleration = data.com[0].copy(), data.acom[0].copy()
    J_com = np.array(pin.jacobianCenterOfMass(model, data, q))
    momentum = pin.computeCentroidalMomentum(model, data, q, v)
    return Verdict(M, force, com, com_acceleration, J_com, np.concatenate((momentum.angular, momentum.linear)),
                   **points)


def _mujoco(character: Character, state: State, a: np.ndarray, gravity: np.ndarray, links: np.ndarray,
            local: np.ndarray) -> Verdict:
    mujoco = pytest.importorskip("mujoco")

    def numbers(values: np.ndarray) -> str:
        return " ".join(repr(float(x)) for x in values)

    def body(i: int) -> str:
        kind, I = character.joints[i], character.inertias[i]
        joint = {"ball": "<freejoint/>" if i == 0 else '<joint type="ball"/>', "fixed": "",
                 "hinge": f'<joint type="hinge" axis="{numbers(character.axes[i])}"/>'}[kind]
        turn = f'quat="{numbers(state.rotations[i])}"' if kind == "fixed" else ""
        full = numbers(np.array([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]))
        return (f'<body name="{i}" pos="{numbers(character.offsets[i])}" {turn}>{joint}'
                f'<inertial pos="{numbers(character.coms[i])}" mass="{float(character.masses[i])!r}" '
                f'fullinertia="{full}"/>'
                + "".join(body(c) for c in character.children[i]) + "</body>")

    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian"/><option gravity="{numbers(gravity)}"/>'
        f"<worldbody>{body(0)}</worldbody></mujoco>")
    assert [model.body(i + 1).name for i in range(len(character))] == [str(i) for i in range(len(character))]
    data = mujoco.MjData(model)
    data.qpos[:] = _joint_coordinates(character, state, scalar_first=True)
    data.qvel[:] = state.velocity
    mujoco.mj_forward(model, data)
    mujoco.mj_subtreeVel(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)

    def jacobian(call: Any, *place: Any) -> np.ndarray:
        J = np.zeros((3, model.nv))
        call(model, data, J, None, *place) if len(place) == 2 else call(model, data, J, *place)
        return J

    def drift(point: np.ndarray, body_id: int) -> np.ndarray:
        return jacobian(mujoco.mj_jacDot, point, body_id) @ state.velocity

    places = [data.xpos[i + 1] + data.xmat[i + 1].reshape(3, 3) @ x for i, x in zip(links, local)]
    J = np.array([jacobian(mujoco.mj_jac, x, i + 1) for i, x in zip(links, places)])
    J_com = jacobian(mujoco.mj_jacSubtreeCom, 1)
    com_drift = sum(character.masses[i] * drift(data.xipos[i + 1], i + 1) for i in range(len(character)))
    return Verdict(
        M, M @ a + data.qfrc_bias, data.subtree_com[1].copy(), J_com @ a + com_drift / character.masses.sum(), J_com,
        np.concatenate((data.subtree_angmom[1], data.subtree_linvel[1] * character.masses.sum())),
        np.array(places), J @ state.velocity,
        J @ a + np.array([drift(x, i + 1) for i, x in zip(links, places)]), J)
