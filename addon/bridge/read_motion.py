# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample an armature over frames, and turn the samples into the motion of its links."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._link import solver
from .anatomy import Body
from .convert import Array, array_of, matrices, rotation, scale_of, turn_of, upright
from .rig import Rig

if TYPE_CHECKING:
    import bpy

STEADY = 1e-4   # lengths of a link: a joint that leaves its place by less does not stretch
EVEN = 1e-3     # a scale this near to one is one


Shape = tuple[Array, NDArray[np.intp]]   # (V, 3) vertices, (T, 3) triangles


@dataclass(frozen=True, eq=False)
class Samples:
    """What Blender showed at every frame."""

    frames: Array                                        # (F,)
    world: Array                                         # (F, 4, 4) of the armature object
    poses: Array                                         # (F, B, 4, 4) bones in the armature's space
    watched: Mapping[str, Array] = field(default_factory=dict)  # object name -> (F, 4, 4)
    values: Mapping[str, Array] = field(default_factory=dict)   # any name -> (F,) animated numbers
    shapes: Mapping[str, Shape] = field(default_factory=dict)   # object name -> a ground's mesh in its own space

    def __len__(self) -> int:
        return len(self.frames)


def sample(scene: bpy.types.Scene, ob: bpy.types.Object, frames: Array, watched: Sequence[bpy.types.Object] = (),
           values: Mapping[str, tuple[Any, str]] | None = None) -> Generator[int, None, Samples]:
    """Step through the frames; yields how many are done. Who calls it restores the frame (`restore.Restored`)."""
    values = values or {}
    assert ob.pose is not None
    bones = ob.pose.bones
    count = len(bones)
    buffer = np.empty(count * 16, dtype=np.float32)
    world, poses = np.empty((len(frames), 4, 4)), np.empty((len(frames), count, 4, 4))
    places = {each.name: np.empty((len(frames), 4, 4)) for each in watched}
    numbers = {name: np.empty(len(frames)) for name in values}
    for n, frame in enumerate(frames):
        whole = int(np.floor(frame))
        scene.frame_set(whole, subframe=float(frame - whole))
        world[n] = array_of(ob.matrix_world)
        poses[n] = matrices(bones, "matrix", count, buffer)
        for each in watched:
            places[each.name][n] = array_of(each.matrix_world)
        for name, (owner, attribute) in values.items():
            numbers[name][n] = float(getattr(owner, attribute))
        yield n + 1
    return Samples(np.asarray(frames, dtype=np.float64), world, poses, places, numbers)


def still_samples(ob: bpy.types.Object, rig: Rig) -> Samples:
    """The rest pose twice: enough to build a character where there is no motion yet."""
    world = array_of(ob.matrix_world)
    return Samples(np.array([0.0, 1.0]), np.stack([world, world]), np.stack([rig.rests, rig.rests]))


def rest_frame(samples: Samples, unit: float) -> Array:
    """(4, 4) from the armature's space to metres in the world, upright: the rest pose the solver knows."""
    frame = np.eye(4)
    linear = samples.world[0, :3, :3]
    turn = turn_of(samples.world[0])
    frame[:3, :3] = unit * (upright(turn) @ turn.T) @ linear
    return frame


def link_motion(rig: Rig, body: Body, samples: Samples, unit: float, rate: float) -> Any:
    """The solver's Motion of the links, rest frames parallel to the world."""
    rest, links, parents = rest_frame(samples, unit), list(body.links), list(body.parents)
    rests = rest @ rig.rests[links]
    places = samples.world[:, None] @ samples.poses[:, links]
    x = unit * places[..., :3, 3]
    _check_finite(rig, links, x, samples)
    own = turn_of(rests)
    Q = turn_of(places) @ own.swapaxes(-1, -2)
    turns = Q.copy()
    turns[:, 1:] = Q[:, parents[1:]].swapaxes(-1, -2) @ Q[:, 1:]
    rotations = rotation.aligned(rotation.normalised(rotation.from_matrix(turns)))

    offsets = np.zeros_like(x)
    offsets[:, 1:] = (Q[:, parents[1:]].swapaxes(-1, -2) @ (x[:, 1:] - x[:, parents[1:]])[..., None])[..., 0]
    at_rest = rest_offsets(rig, body, rest)
    size = max(float(np.linalg.norm(at_rest, axis=1).max(initial=0.0)), 1e-9)
    moves = float(np.abs(offsets[:, 1:] - at_rest[1:]).max(initial=0.0)) > STEADY * size

    stretch = unit * scale_of(places) / scale_of(rests)
    scales = ((own ** 2) @ stretch[..., None])[..., 0]  # exact for even scales and for axes that lie along the world's
    is_scaled = bool(np.abs(stretch - 1.0).max() > EVEN)
    if (stretch < 1e-4).any():
        f, n = (int(k) for k in np.argwhere((stretch < 1e-4).any(-1))[0])
        raise solver.InputError("It is scaled to nothing.", f"Bone {rig.names[links[n]]}, frame "
                                f"{samples.frames[f]:g}", "Key a scale above zero, or leave the bone out.")
    return solver.Motion((samples.frames - samples.frames[0]) / rate, x[:, 0], rotations,
                         offsets if moves else None, scales if is_scaled else None)


def rest_offsets(rig: Rig, body: Body, rest: Array) -> Array:
    """(N, 3) m, each link's joint seen from its parent's."""
    x = (rest @ rig.rests[list(body.links)])[:, :3, 3]
    out = np.zeros_like(x)
    parents = list(body.parents)
    out[1:] = x[1:] - x[parents[1:]]
    return out


def turning(rig: Rig, samples: Samples) -> tuple[Array, Array]:
    """(B,) whether a bone never turns against its parent over the clip, and (B,) rad how far it bends against it."""
    turns = turn_of(samples.poses)
    parents = np.array(rig.parents)
    has = parents >= 0
    local = turns.copy()
    local[:, has] = turns[:, parents[has]].swapaxes(-1, -2) @ turns[:, has]
    change = local[:1].swapaxes(-1, -2) @ local
    angle = np.arccos(np.clip((np.trace(change, axis1=-2, axis2=-1) - 1.0) / 2.0, -1.0, 1.0)).max(0)
    along = turns[..., 1]                                        # (F, B, 3) where each bone points
    bend = np.zeros(len(rig))
    cosine = (along[:, has] * along[:, parents[has]]).sum(-1)
    bend[has] = np.arccos(np.clip(cosine, -1.0, 1.0)).max(0)
    return angle < 1e-3, bend


def _check_finite(rig: Rig, links: Sequence[int], x: Array, samples: Samples) -> None:
    if not np.isfinite(x).all():
        f, n = (int(k) for k in np.argwhere(~np.isfinite(x).all(-1))[0])
        raise solver.InputError("It is nowhere.", f"Bone {rig.names[links[n]]}, frame {samples.frames[f]:g}",
                                "Correct its keys, or its drivers.")
