"""How well a motion stands on its ground: depth, gaps, slides and joint speeds, each beside the clip's own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solver.model.arrays import Array, Bools, Ints
from solver.model.motion import Motion
from solver.model.terrain import Plane
from solver.numerics import rotation
from solver.physics.shape import shape_of
from solver.physics.skin import skin_points
from solver.physics.trajectory import point_paths, poses
from solver.recorder import LANDING
from solver.references.clip import Clip

RIM = 0.1    # m: ground so far below a point that touches is not what it stands on


@dataclass(frozen=True)
class Figures:
    """Lengths in mm, slides in mm a frame at 60 frames per second."""

    depth: float        # of the deepest contact point, beyond what the clip itself sinks into its own ground
    raw_depth: float    # the same, with what the clip sinks
    body: float         # of the deepest other part of the body, soles between their points too, beyond the clip's own
    gap: float          # of the highest standing foot, beyond the clip's own
    slide: float        # of the fastest standing point along the ground, beyond the clip's own
    speed: float        # of the fastest joint, against the clip's fastest
    worst: str          # that joint

    def __str__(self) -> str:
        return (f"depth {self.depth:6.1f} ({self.raw_depth:5.1f})  body {self.body:6.1f}  gap {self.gap:6.1f}  "
                f"slide {self.slide:5.2f}  speed x{self.speed:5.2f} {self.worst}")


def figures(clip: Clip, motion: Motion, steps: Ints | None = None, contacts: Bools | None = None) -> Figures:
    """Of a motion whose frames are the sub-steps `steps` of a clip (all of them if not told). With `contacts` (F, P) it
    is a result: a foot that a push leads elsewhere lands up to LANDING later than planned; what touches can slide."""
    steps = np.arange(len(clip.times)) if steps is None else steps
    keys = clip.motion.resampled(clip.times[steps]) if len(steps) != len(clip.motion) else clip.motion
    times, terrain, own_ground = clip.times[steps], clip.terrain, Plane.level(clip.ground)
    links, character = clip.character.points.link, clip.character
    there = point_paths(clip.tree, shape_of(character, motion), motion, links, character.points.position)
    here = point_paths(clip.tree, shape_of(character, keys), keys, links, character.points.position)
    turn = _turns(clip, motion, links) @ _turns(clip, keys, links).swapaxes(-1, -2)
    seen, seen_own = terrain.probe_over(there, times), own_ground.probe_over(here, times)
    radius = character.points.radius
    depth, own = radius - seen.distance, radius - seen_own.distance

    skin = skin_points(character)
    skin_there = point_paths(clip.tree, shape_of(character, motion), motion, skin.link, skin.position)
    skin_here = point_paths(clip.tree, shape_of(character, keys), keys, skin.link, skin.position)
    others = np.flatnonzero(~skin.is_sole)
    sunk = skin.radius[others] - terrain.probe_over(skin_there[:, others], times).distance
    sunk_own = skin.radius[others] - own_ground.probe_over(skin_here[:, others], times).distance

    touching, sliding = clip.schedule.touching[steps], clip.schedule.sliding[steps]
    gap, body = 0.0, float((sunk - np.maximum(sunk_own, 0.0)).max())
    for limb in range(len(character.points.limbs)):
        points = np.flatnonzero(character.points.limb == limb)
        lowest = terrain.probe_over(_dense(there[:, points]), times).distance.min(1)
        lowest_own = own_ground.probe_over(_dense(here[:, points]), times).distance.min(1)
        if character.points.limbs[limb].kind == "foot":
            body = max(body, float((np.minimum(lowest_own, 0.0) - lowest).max()))
        down = touching[:, points].any(1)
        if contacts is not None:
            down = _landed(down[:, None], times)[:, 0]
        if down.any():
            gap = max(gap, float((lowest - np.maximum(lowest_own, 0.0))[down].max()))

    stands = touching & ~sliding
    if contacts is not None:
        stands = _landed(stands & contacts, times)
    held = stands[1:] & stands[:-1]
    dt = np.diff(times)[:, None]
    tread = terrain.height_over(there[:-1, :, :2], times[:-1])          # beside a riser the tread counts, not its face
    up, under = tread.normal, there[:-1].copy()                         # but not the one far below a rim
    under[..., 2] = np.where(np.abs(tread.z - under[..., 2]) < RIM, tread.z, under[..., 2])
    moved = np.diff(there, axis=0) / dt[..., None] - terrain.probe_over(under, times[:-1]).velocity
    usual = np.diff(here, axis=0) / dt[..., None]
    # as keyed, a foot may roll: what counts is how much farther a point goes along the ground than it does in the clip,
    # or how much otherwise than the clip's own foot would, turned onto the ground as this one is
    turned = (0.5 * (turn[1:] + turn[:-1]) @ usual[..., None])[..., 0]
    beyond = np.minimum(_size(_along(moved, up)) - _size(usual[..., :2]), _size(_along(moved - turned, up)))
    slide = np.where(held, beyond, 0.0).max(initial=0.0) / 60.0

    fast, fast_own = _joint_speeds(motion), _joint_speeds(keys)
    return Figures(1e3 * float((depth - np.maximum(own, 0.0)).max()), 1e3 * float(depth.max()),
                   1e3 * body, 1e3 * gap, 1e3 * float(slide),
                   float(fast.max() / fast_own.max()), character.names[1 + int(fast.argmax())])


def _turns(clip: Clip, motion: Motion, links: Ints) -> Array:
    """(F, n, 3, 3) how links are turned in the world."""
    shape = shape_of(clip.character, motion)
    return np.concatenate([pose.R[:, links] for _, pose in poses(clip.tree, shape, motion)])


def _along(v: Array, up: Array) -> Array:
    return np.asarray(v - (v * up).sum(-1, keepdims=True) * up)


def _size(v: Array) -> Array:
    return np.asarray(np.linalg.norm(v, axis=-1))


def _landed(down: Bools, times: Array) -> Bools:
    """(F, n) down for LANDING seconds, or since the clip began."""
    up = np.where(down, -np.inf, times[:, None])
    return np.asarray(down & (times[:, None] - np.maximum.accumulate(up) > LANDING + 1e-9))


def _dense(corners: Array) -> Array:
    """(K, n, 3) samples of soles (K, 4, 3), heel pair first; other limbs as they are."""
    if corners.shape[1] != 4:
        return corners
    u, v = (g.reshape(-1, 1) for g in np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 9)))
    a, b, c, d = (corners[:, n:n + 1] for n in range(4))
    return np.asarray((1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * c + u * d))


def _joint_speeds(motion: Motion) -> Array:
    """(N - 1,) the greatest, rad/s."""
    turns = rotation.subtract(motion.rotations[1:, 1:], motion.rotations[:-1, 1:])
    return np.asarray((np.linalg.norm(turns, axis=-1) / np.diff(motion.times)[:, None]).max(0))
