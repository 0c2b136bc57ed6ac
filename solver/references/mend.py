"""What the plan leaves undone, mended over whole stretches of time at once.

Limbs that are bent one by one to ends that were planned one by one may cut an edge with a knee, miss the ground with a
hand or hurry. Around such moments the whole body changes a little, and smoothly, until everything that stands is on its
foothold, nothing is in the ground and no joint is too fast.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools
from ..model.motion import Motion
from ..model.terrain import Terrain
from ..numerics import rotation
from ..physics.shape import Shape
from ..physics.skin import skin_points
from ..physics.spacetime import Promises, settle
from ..physics.trajectory import point_paths
from ..physics.tree import Tree

# how unwilling each part is to leave the plan, in m2/rad2 (m2/m2 for the root's position)
STIFF = {"root": 1e-3, "trunk": 1e-3, "neck": 1e-2, "head": 1e-2, "leg": 1e-4, "foot": 1e-4, "toe": 1e-4, "arm": 1e-4,
         "hand": 1e-4}
ROOT_PLACE = 1e-3
CALM = 0.1                 # s: changes are as smooth as this
AROUND = 0.5               # s before and after what is wrong
DEEP, OFF, HURRIED = 0.003, 0.006, 1.8   # m, m, times the clip's fastest joint: from here on something is wrong
DEEP_BODY = 0.012          # m
SPARE = 0.002              # m: contact points keep so far out of the ground if they do in the keys
FASTEST = 1.7              # times the clip's fastest joint


def mend(tree: Tree, shape: Shape, keys: Motion, planned: Motion, touching: Bools, soles: Array, terrain: Terrain,
         ground: float, limits: tuple[Array, Array]) -> Motion:
    """The planned motion with its touching (K, P) points at their places on the footholds, `soles` (K, P, 3)."""
    character, points, times = tree.character, tree.character.points, planned.times
    skin = skin_points(character)
    others = np.flatnonzero(~skin.is_sole)
    links = np.concatenate((points.link, skin.link[others]))
    local = np.concatenate((shape.points, np.broadcast_to(skin.position[others], shape.points.shape[:-2] +
                                                          (len(others), 3))), axis=-2)
    radius = np.concatenate((points.radius, skin.radius[others]))
    own = point_paths(tree, shape, keys, links, local)[..., 2] - ground
    spare = np.concatenate((np.full(len(points), SPARE), np.zeros(len(others))))
    floor = np.minimum(own, radius + spare)
    there = point_paths(tree, shape, planned, links, local)
    deep = floor - terrain.probe_over(there, times).distance
    floor[:, :len(points)] = np.where(touching, -np.inf, floor[:, :len(points)])

    missed = np.where(touching, np.linalg.norm(there[:, :len(points)] - soles, axis=-1), 0.0).max(1)
    fastest = _turns(keys).max()
    hurried = np.append(_turns(planned), 0.0) / fastest
    tolerated = np.concatenate((np.full(len(points), DEEP), np.full(len(others), DEEP_BODY)))
    wrong = (missed > OFF) | (hurried > HURRIED) | (deep > tolerated).any(1)
    if not wrong.any():
        return planned
    dt = planned.duration / (len(planned) - 1)
    near = ndimage.binary_dilation(wrong, iterations=int(AROUND / dt))
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
                            floor[run], FASTEST * float(fastest), limits[0][:, 0], limits[1][:, 0])
        part = Motion(now, positions[run], rotations[run])
        out = settle(tree, shape.at(run), part, promises, stiffness, CALM / dt, fixed)
        positions[run], rotations[run] = out.positions, out.rotations
    return planned.with_poses(positions, rotations)


def _turns(motion: Motion) -> Array:
    """(K - 1,) rad from frame to frame, of the joint that turns most."""
    turns = rotation.subtract(motion.rotations[1:, 1:], motion.rotations[:-1, 1:])
    return np.asarray(np.linalg.norm(turns, axis=-1).max(1, initial=0.0))
