"""The last of the way home: what is left of a push, too little to be seen, fades along a curve known in advance.

    x = x* (+) d ,    d(t) = h00(t / T) d0 + h10(t / T) T d0'         cubic Hermite, from (d0, d0') to rest on the keys

Simulated, it would fade by the same share in every second, and the last tenth of a millimetre would cost as many steps
as the first centimetre. Here all steps are known at once; the forces are the reference's own, and what the curve takes
beyond them is accounted for, so that every Step balances. One more step, from key to key, takes up the keys' speed.
"""

from __future__ import annotations

import numpy as np

from ...model.result import Step
from ...model.state import State
from ...numerics import rotation
from ...physics.dynamics import dynamics, generalised, points
from ...physics.kinematics import forward, tangent
from ...references.clip import Clip

FADE = 0.3               # s
NEAR, SLOW = 2e-3, 0.02  # rad or leg lengths, and per second: from here


def can_glide(clip: Clip, state: State, k: int, shifted: float, rate: float) -> bool:
    """Whether so little is left, and nothing acts until it is gone. `shifted` (m) and `rate` (m/s): what the goal and
    the footholds are off by."""
    size, end = clip.character.leg_length, _end(clip, k)
    off = np.abs(state.velocity - clip.v[k])
    if max(off[:3].max() / size, off[3:].max(), rate / size) > SLOW or shifted > NEAR * size or end > clip.steps:
        return False
    now, then = clip.times[k], clip.times[end]
    if any(push.times[0] < then for push in clip.scene.pushes if push.times[-1] > now) \
            or any(load.start < then for load in clip.scene.loads if load.end > now):
        return False
    turns = rotation.subtract(state.rotations, clip.rotations[k])
    return bool(max(np.abs(turns).max(), np.abs(state.position - clip.positions[k]).max() / size) < NEAR)


def _end(clip: Clip, k: int) -> int:
    """The sub-step one after that at which the keys are reached."""
    return int(np.searchsorted(clip.times, float(clip.times[k]) + FADE - 1e-9)) + 1


def glide(clip: Clip, state: State, k: int) -> list[Step]:
    """The steps from here to the keys, and the first on them."""
    tree, links, end = clip.tree, clip.character.points.link, _end(clip, k)
    way = slice(k, end + 1)
    last = float(clip.times[end - 1] - clip.times[k])
    t = np.minimum((clip.times[way] - clip.times[k]) / last, 1.0)[:, None]
    stays, goes = (1.0 + 2.0 * t) * (1.0 - t) ** 2, last * t * (1.0 - t) ** 2        # h00, T h10
    off = state.velocity - clip.v[k]
    shift = stays * (state.position - clip.positions[k]) + goes * off[:3]
    turn = stays[..., None] * rotation.subtract(state.rotations, clip.rotations[k]) + goes[..., None] * tree.turns(off)
    positions, rotations = clip.positions[way] + shift, rotation.add(clip.rotations[way], turn)
    positions[0], rotations[0] = state.position, state.rotations
    positions[-2:], rotations[-2:] = clip.positions[end - 1:end + 1], clip.rotations[end - 1:end + 1]

    dt = clip.dt[k:end, None]
    moved = tangent(tree, rotation.subtract(rotations[1:], rotations[:-1]), np.diff(positions, axis=0))
    v = np.concatenate((state.velocity[None], moved / dt))
    v[-1] = clip.v[end]
    a = np.diff(v, axis=0) / dt
    shape = clip.shape.at(slice(k, end))
    pose = forward(tree, shape.offsets, positions[:-1], rotations[:-1])
    motion = dynamics(tree, shape, pose, v[:-1], a, clip.scene.gravity, mass_matrix=False)
    moments = [clip.moment(n) for n in range(k, end)]
    forces = np.array([moment.forces for moment in moments])
    total = motion.force - generalised(tree, links, motion, points(pose, motion, links, shape.points), forces)
    torque = total.copy()
    torque[:, :6] = 0.0
    nothing, unloaded = np.zeros(tree.nv), np.zeros(len(clip.scene.loads))
    return [Step(State(float(clip.times[k + n + 1]), positions[n + 1], rotations[n + 1], v[n + 1]), a[n], torque[n],
                 total[n, :6], moment.touching, forces[n], nothing, unloaded) for n, moment in enumerate(moments)]
