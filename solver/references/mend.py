"""What the plan leaves undone, mended over whole stretches of time at once.

Limbs that are bent one by one to ends that were planned one by one may cut an edge with a knee, miss the ground with a
hand or hurry. Around such moments the whole body changes a little, and smoothly, until everything that stands is on its
foothold, nothing is in the ground and no joint is too fast.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools, Ints
from ..model.motion import Motion
from ..model.terrain import Terrain
from ..numerics import rotation
from ..numerics.runs import runs
from ..physics.shape import Shape
from ..physics.skin import skin_points
from ..physics.soles import sole_middles
from ..physics.spacetime import Promises, settle
from ..physics.trajectory import point_paths
from ..physics.tree import Tree
from .obstacles import in_the_way
from .slipping import gathered, slipping_of
from .swings import smooth

# how unwilling each part is to leave the plan, in m2/rad2
STIFF = {"root": 1e-3, "trunk": 1e-3, "neck": 1e-2, "head": 1e-2, "leg": 1e-4, "foot": 1e-4, "toe": 1e-4, "arm": 1e-4,
         "hand": 1e-4}
ROOT_PLACE = 1e-3          # the same in m2/m2
CALM = 0.07                 # s: changes are as smooth as this
AROUND = 0.5               # s before and after what is wrong
EASE = 0.1                 # s in which that begins and ends
LEAVES = 0.1               # s after it leaves the ground, and before it lands, in which a limb comes to its height
BURIED = 0.1               # m: a limb so deep in the ground is brought to its foothold before the ground counts
SPARE = 0.002              # m: contact points keep so far out of the ground if they do in the keys


@dataclass(frozen=True)
class Tolerance:
    """From where on something is wrong, and how it is mended."""

    deep: float = 0.003        # m, of a contact point in the ground
    deep_body: float = 0.012   # m, of any other part
    graze: float = 0.0         # m, to which that is mended
    clear: float = 0.02        # m, that points of a limb in mid-swing then keep off the ground, if they do in the keys
    off: float = 0.004         # m, of a standing point off its place
    slip: float = 0.04         # m/s, of a standing point's place along the ground, beyond the keys ...
    jerked: float = 0.07       # ... and of the point relative to its place
    hurried: float = 1.45      # times the clip's fastest joint;
    fastest: float = 1.4       # what is mended keeps to this,
    least: float = 1.0         # rad/s, which counts as at least so fast,
    root: float = ROOT_PLACE   # m2/m2, and does so by limbs first if the root is so unwilling to go along


PLANNED = Tolerance()


def mend(tree: Tree, shape: Shape, keys: Motion, planned: Motion, touching: Bools, soles: Array, terrain: Terrain,
         ground: float, limits: tuple[Array, Array], tolerance: Tolerance = PLANNED,
         is_free: Bools | None = None, is_wrong: Bools | None = None) -> Motion:
    """The planned motion with its touching (K, P) points at their places on the footholds, `soles` (K, P, 3). Only
    frames that are free (K,) change; all are, if not told. Some may be known to be wrong (K,) already."""
    points, times = tree.character.points, planned.times
    body = watched(tree, shape, keys, planned, touching, terrain, ground, tolerance)
    there, keyed = body.there[:, :len(points)], body.keyed[:, :len(points)]
    soles = _out_of_risers(soles, np.minimum(keyed[..., 2] - ground, points.radius), touching, terrain, times,
                           tolerance.deep)
    missed = np.where(touching, np.linalg.norm(there - soles, axis=-1), 0.0).max(1)
    jerked = _jerked(there - soles, touching, times)
    slipping = slipping_of(keyed, soles, touching, terrain, times, tolerance.slip)
    soles = soles - gathered(slipping, touching)
    dt = planned.duration / (len(planned) - 1)
    fastest = float(max(joint_turns(keys).max(), tolerance.least * dt))
    hurried = np.append(joint_turns(planned), 0.0) / fastest
    wrong = (missed > tolerance.off) | (jerked > tolerance.jerked) | (hurried > tolerance.hurried)
    wrong |= (body.deep > body.tolerated).any(1) | slipping.any((1, 2))
    wrong |= False if is_wrong is None else is_wrong
    free = np.ones(len(times), dtype=bool) if is_free is None else is_free
    wrong &= free
    if not wrong.any():
        return planned
    near = ndimage.binary_dilation(wrong, iterations=max(int(AROUND / dt), 1)) & free
    stiffness, others = unwillingness(tree, tolerance.root), len(body.links) - len(points)
    if not near.all():                                          # what begins while a foot stands begins gently
        soles = there + smooth(ndimage.distance_transform_edt(near) * dt / EASE)[:, None, None] * (soles - there)
    targets = np.concatenate((soles, np.zeros((len(times), others, 3))), axis=1)
    weights = np.concatenate((touching.astype(float), np.zeros((len(times), others))), axis=1)
    positions, rotations = planned.positions.copy(), planned.rotations.copy()
    for mended in runs(near):
        run = slice(max(mended.start - 2, 0), min(mended.stop + 2, len(times)))
        fixed = ~near[run]
        now = times[run]

        def distances(x: Array, now: Array = now) -> tuple[Array, Array]:
            seen = terrain.probe_over(x, now)
            return seen.distance, seen.normal

        local, floor = body.local if body.local.ndim == 2 else body.local[run], body.floor[run]
        promises = Promises(body.links, local, targets[run], weights[run], distances, floor,
                            tolerance.fastest * fastest, limits[0][:, 0], limits[1][:, 0])
        part = Motion(now, positions[run], rotations[run])
        if body.deep[run, :len(points)].max() > BURIED:     # it may be nearer to the wrong side of a platform
            falling = replace(promises, floor=np.full_like(floor, -np.inf))
            part = settle(tree, shape.at(run), part, falling, stiffness, CALM / dt, fixed)
        out = settle(tree, shape.at(run), part, promises, stiffness, CALM / dt, fixed)
        positions[run][~fixed], rotations[run][~fixed] = out.positions[~fixed], out.rotations[~fixed]
    return planned.with_poses(positions, rotations)


def unwillingness(tree: Tree, root: float = ROOT_PLACE) -> Array:
    """(nv,) m2/rad2 how unwilling each freedom is to leave the plan, and (m2/m2) the root its place."""
    out = np.array([STIFF.get(role, 1e-2) for role in tree.character.roles])[tree.dof_link]
    out[:3] = root
    return out


@dataclass(frozen=True, eq=False)
class Watched:
    """What should not be in the ground: the contact points, then points of the skin and soles between them."""

    links: Ints        # (W,)
    local: Array       # (W, 3) or (K, W, 3) in their links
    keyed: Array       # (K, W, 3) where they are in the keys ...
    there: Array       # (K, W, 3) ... and in the plan,
    floor: Array       # (K, W) how far from the ground they should be at least (-inf: whatever),
    deep: Array        # (K, W) how much they lack of that, if none has to be clear of it in mid-swing,
    tolerated: Array   # (W,) and how much of it is not wrong


def watched(tree: Tree, shape: Shape, keys: Motion, planned: Motion, touching: Bools, terrain: Terrain,
             ground: float, tolerance: Tolerance) -> Watched:
    points, times = tree.character.points, planned.times
    skin, (middle_links, middles, feet) = skin_points(tree.character), sole_middles(tree.character)
    used = np.flatnonzero(~skin.is_sole)
    others = np.concatenate((skin.position[used], middles))
    links = np.concatenate((points.link, skin.link[used], middle_links))
    local = np.concatenate((shape.points, np.broadcast_to(others, shape.points.shape[:-2] + others.shape)), axis=-2)
    radius = np.concatenate((points.radius, skin.radius[used], np.zeros(len(middles))))
    spare = np.concatenate((np.full(len(points), SPARE), np.full(len(others), -tolerance.graze)))
    tolerated = np.concatenate((np.full(len(points), tolerance.deep), np.full(len(others), tolerance.deep_body)))
    keyed, there = (point_paths(tree, shape, motion, links, local) for motion in (keys, planned))
    floor = np.minimum(keyed[..., 2] - ground, radius + spare)
    deep = floor - terrain.probe_over(there, times).distance
    clear = points.radius + SPARE + (tolerance.clear - SPARE) * _in_air(points.limb, touching, times)
    floor[:, :len(points)] = np.minimum(keyed[:, :len(points), 2] - ground, clear)
    through = in_the_way(there, deep, there[:, :len(points)], touching, terrain, times)
    through[:, len(points):] |= through[:, len(points):].any(1, keepdims=True)      # then the body minds nothing
    floor, deep = np.where(through, -np.inf, floor), np.where(through, -np.inf, deep)
    floor[:, :len(points)] = np.where(touching, -np.inf, floor[:, :len(points)])
    for n, foot in enumerate(feet, len(points) + len(used)):       # a sole that stands may rest on a bump
        stands = touching[:, points.limb == foot].any(1)
        floor[stands, n] = deep[stands, n] = -np.inf
    return Watched(links, local, keyed, there, floor, deep, tolerated)


def _in_air(limb: Ints, touching: Bools, times: Array) -> Array:
    """(K, P) 1 for points of limbs in mid-swing, 0 for those that stand, land or leave."""
    out, dt = np.zeros(touching.shape), float(times[-1] - times[0]) / (len(times) - 1)
    for own in (limb == n for n in np.unique(limb)):
        down = touching[:, own].any(1)
        if down.any():
            out[:, own] = smooth(ndimage.distance_transform_edt(~down) * dt / LEAVES)[:, None]
    return out


def _out_of_risers(soles: Array, rests: Array, touching: Bools, terrain: Terrain, times: Array, deep: float) -> Array:
    """Footholds (K, P, 3) of points that rest so high (K, P), of which no part is `deep` in a riser; but in a wall."""
    seen = terrain.probe_over(soles, times)
    inside = np.where(touching, rests - seen.distance, 0.0)
    inside = np.where(in_the_way(soles, inside, soles, touching, terrain, times), 0.0, inside)
    return np.asarray(soles + np.where(inside > deep, inside, 0.0)[..., None] * seen.normal)


def _jerked(off: Array, touching: Bools, times: Array) -> Array:
    """(K,) m/s, how fast standing points change how far `off` (K, P, 3) their places they are."""
    speed = np.linalg.norm(np.diff(off, axis=0), axis=-1) / np.diff(times)[:, None]
    return np.append(np.where(touching[1:] & touching[:-1], speed, 0.0).max(1, initial=0.0), 0.0)


def joint_turns(motion: Motion) -> Array:
    """(K - 1,) rad from frame to frame, of the joint that turns most."""
    turns = rotation.subtract(motion.rotations[1:, 1:], motion.rotations[:-1, 1:])
    return np.asarray(np.linalg.norm(turns, axis=-1).max(1, initial=0.0))
