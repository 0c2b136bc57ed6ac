"""What the plan leaves undone, mended over whole stretches of time at once.

Limbs that are bent one by one to ends that were planned one by one may cut an edge with a knee, miss the ground with a
hand or hurry. Around such moments the whole body changes a little, and smoothly, until everything that stands is on its
foothold, nothing is in the ground and no joint is too fast.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools
from ..model.motion import Motion
from ..model.terrain import Terrain
from ..numerics import rotation
from ..physics.shape import Shape
from ..physics.skin import skin_points
from ..physics.soles import sole_middles
from ..physics.spacetime import Promises, settle
from ..physics.trajectory import point_paths
from ..physics.tree import Tree
from .obstacles import in_the_way
from .underfoot import CEILING

# how unwilling each part is to leave the plan, in m2/rad2 (m2/m2 for the root's position)
STIFF = {"root": 1e-3, "trunk": 1e-3, "neck": 1e-2, "head": 1e-2, "leg": 1e-4, "foot": 1e-4, "toe": 1e-4, "arm": 1e-4,
         "hand": 1e-4}
ROOT_PLACE = 1e-3
CALM = 0.07                 # s: changes are as smooth as this
AROUND = 0.5               # s before and after what is wrong
BURIED = 0.1               # m: a limb so deep in the ground is brought to its foothold before the ground counts
SPARE = 0.002              # m: contact points keep so far out of the ground if they do in the keys


@dataclass(frozen=True)
class Tolerance:
    """From where on something is wrong."""

    deep: float = 0.003        # m, of a contact point in the ground
    deep_body: float = 0.012   # m, of any other part
    graze: float = 0.0         # m, to which that is mended
    off: float = 0.004         # m, of a standing point off its place
    slip: float = 0.04         # m/s, of a standing point's place along the ground, beyond the keys ...
    jerked: float = 0.07       # ... and of the point relative to its place
    hurried: float = 1.45      # times the clip's fastest joint;
    fastest: float = 1.4       # what is mended keeps to this,
    least: float = 1.0         # rad/s, which counts as at least so fast


PLANNED = Tolerance()


def mend(tree: Tree, shape: Shape, keys: Motion, planned: Motion, touching: Bools, soles: Array, terrain: Terrain,
         ground: float, limits: tuple[Array, Array], tolerance: Tolerance = PLANNED,
         is_free: Bools | None = None, is_wrong: Bools | None = None) -> Motion:
    """The planned motion with its touching (K, P) points at their places on the footholds, `soles` (K, P, 3). Only
    frames that are free (K,) change; all are, if not told. Some may be known to be wrong (K,) already."""
    character, points, times = tree.character, tree.character.points, planned.times
    skin, (middle_links, middles, feet) = skin_points(character), sole_middles(character)
    used = np.flatnonzero(~skin.is_sole)
    others = np.concatenate((skin.position[used], middles))
    links = np.concatenate((points.link, skin.link[used], middle_links))
    local = np.concatenate((shape.points, np.broadcast_to(others, shape.points.shape[:-2] + others.shape)), axis=-2)
    radius = np.concatenate((points.radius, skin.radius[used], np.zeros(len(middles))))
    keyed = point_paths(tree, shape, keys, links, local)
    own, own_points = keyed[..., 2] - ground, keyed[:, :len(points)]
    spare = np.concatenate((np.full(len(points), SPARE), np.full(len(others), -tolerance.graze)))
    floor = np.minimum(own, radius + spare)
    there = point_paths(tree, shape, planned, links, local)
    deep = floor - terrain.probe_over(there, times).distance
    through = in_the_way(there, deep, there[:, :len(points)], touching, terrain, times)
    through[:, len(points):] |= through[:, len(points):].any(1, keepdims=True)      # then the body minds nothing
    floor, deep = np.where(through, -np.inf, floor), np.where(through, -np.inf, deep)
    floor[:, :len(points)] = np.where(touching, -np.inf, floor[:, :len(points)])
    for n, foot in enumerate(feet, len(points) + len(used)):       # a sole that stands may rest on a bump
        stands = touching[:, points.limb == foot].any(1)
        floor[stands, n] = deep[stands, n] = -np.inf

    seen, rests = terrain.probe_over(soles, times), np.minimum(own[:, :len(points)], points.radius)
    inside = rests - seen.distance                              # no part of a foothold is in a riser
    inside = np.where(touching, inside, 0.0)
    inside = np.where(in_the_way(soles, inside, soles, touching, terrain, times), 0.0, inside)    # but in a wall
    soles = soles + np.where(inside > tolerance.deep, inside, 0.0)[..., None] * seen.normal
    missed = np.where(touching, np.linalg.norm(there[:, :len(points)] - soles, axis=-1), 0.0).max(1)
    jerked = _jerked(there[:, :len(points)] - soles, touching, times)
    slipping = slipping_of(own_points, soles, touching, terrain, times, tolerance.slip)
    soles = soles - gathered(slipping, touching)
    fastest = max(_turns(keys).max(), tolerance.least * planned.duration / (len(planned) - 1))
    hurried = np.append(_turns(planned), 0.0) / fastest
    tolerated = np.concatenate((np.full(len(points), tolerance.deep), np.full(len(others), tolerance.deep_body)))
    wrong = (missed > tolerance.off) | (jerked > tolerance.jerked) | (hurried > tolerance.hurried)
    wrong |= (deep > tolerated).any(1) | slipping.any((1, 2))
    wrong |= False if is_wrong is None else is_wrong
    free = np.ones(len(times), dtype=bool) if is_free is None else is_free
    wrong &= free
    if not wrong.any():
        return planned
    dt = planned.duration / (len(planned) - 1)
    near = ndimage.binary_dilation(wrong, iterations=max(int(AROUND / dt), 1)) & free
    stiffness = np.array([STIFF.get(role, 1e-2) for role in character.roles])[tree.dof_link]
    stiffness[:3] = ROOT_PLACE
    targets = np.concatenate((soles, np.zeros((len(times), len(others), 3))), axis=1)
    weights = np.concatenate((touching.astype(float), np.zeros((len(times), len(others)))), axis=1)
    positions, rotations = planned.positions.copy(), planned.rotations.copy()
    for first, stop in np.flatnonzero(np.diff(np.concatenate(([0], near, [0])))).reshape(-1, 2):
        run = slice(max(int(first) - 2, 0), min(int(stop) + 2, len(times)))
        fixed = ~near[run]
        now = times[run]

        def distances(x: Array, now: Array = now) -> tuple[Array, Array]:
            seen = terrain.probe_over(x, now)
            return seen.distance, seen.normal

        promises = Promises(links, local if local.ndim == 2 else local[run], targets[run], weights[run], distances,
                            floor[run], tolerance.fastest * float(fastest), limits[0][:, 0], limits[1][:, 0])
        part = Motion(now, positions[run], rotations[run])
        if deep[run, :len(points)].max() > BURIED:     # it may be nearer to the wrong side of a platform
            falling = replace(promises, floor=np.full_like(floor[run], -np.inf))
            part = settle(tree, shape.at(run), part, falling, stiffness, CALM / dt, fixed)
        out = settle(tree, shape.at(run), part, promises, stiffness, CALM / dt, fixed)
        positions[run][~fixed], rotations[run][~fixed] = out.positions[~fixed], out.rotations[~fixed]
    return planned.with_poses(positions, rotations)


def slipping_of(keyed: Array, soles: Array, touching: Bools, terrain: Terrain, times: Array, allowed: float,
                turned: Array | None = None) -> Array:
    """(K, P, 3) m, how far standing points have slipped along the ground since the frame before, beyond what they do in
    the keys (K, P, 3) and an `allowed` speed; those do not that move as the keys do, `turned` (K - 1, P, 3) onto the
    ground."""
    out = np.zeros(soles.shape)
    dt = np.diff(times)[:, None]
    moved = np.diff(soles, axis=0) - terrain.probe_over(soles[:-1], times[:-1]).velocity * dt[..., None]
    up = terrain.height_over(soles[:-1, :, :2], times[:-1], soles[:-1, :, 2] + CEILING).normal
    along = _along(moved, up)
    far, usual = _size(along), np.diff(keyed, axis=0)
    otherwise = _size(moved) - _size(usual) if turned is None else _size(_along(moved - turned, up))
    beyond = np.minimum(far - _size(usual[..., :2]), otherwise) - allowed * dt
    held = touching[1:] & touching[:-1] & (beyond > 0.0)
    out[1:] = np.where(held, beyond / np.maximum(far, 1e-9), 0.0)[..., None] * along
    return out


def _along(x: Array, up: Array) -> Array:
    return np.asarray(x - (x * up).sum(-1, keepdims=True) * up)


def _size(x: Array) -> Array:
    return np.asarray(np.linalg.norm(x, axis=-1))


def _jerked(off: Array, touching: Bools, times: Array) -> Array:
    """(K,) m/s, how fast standing points change how far `off` (K, P, 3) their places they are."""
    speed = np.linalg.norm(np.diff(off, axis=0), axis=-1) / np.diff(times)[:, None]
    return np.append(np.where(touching[1:] & touching[:-1], speed, 0.0).max(1, initial=0.0), 0.0)


def gathered(slipping: Array, touching: Bools) -> Array:
    """(K, P, 3) how far points have slipped since they came down."""
    total = np.cumsum(slipping, axis=0)
    every = np.arange(len(touching))[:, None]
    came = np.maximum.accumulate(np.where(touching, 0, every), axis=0)      # the last frame in which they were up
    return np.where(touching[..., None], total - np.take_along_axis(total, came[..., None], axis=0), 0.0)


def _turns(motion: Motion) -> Array:
    """(K - 1,) rad from frame to frame, of the joint that turns most."""
    turns = rotation.subtract(motion.rotations[1:, 1:], motion.rotations[:-1, 1:])
    return np.asarray(np.linalg.norm(turns, axis=-1).max(1, initial=0.0))
