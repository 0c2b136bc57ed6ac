"""A clip made on level ground, planned over another ground: what the controller follows instead of the clip.

Footholds first, then the body over them, then the limbs' way between them, then the limbs bent to it, then what is
still wrong is mended. Where a leg is too short the root goes down, then the heel rises, then the way becomes shorter,
then it is said. The plan becomes the reference, so undisturbed playback on the new ground is exact too; where no
foothold and no swing changes, the clip itself is returned, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools, Ints
from ..model.character import Character
from ..model.motion import Motion
from ..model.terrain import Terrain
from ..numerics import rotation
from ..physics.shape import Shape
from ..physics.trajectory import point_paths
from ..physics.tree import Tree
from .bearing import Borne, Reach, bear, reaches
from .conform import conform
from .footholds import Foothold, Stance, find_stances
from .heel_rise import Heel, heel_of
from .judge import faults, off_ground
from .laying import lay
from .limbs import put, toe_of
from .mend import PLANNED, SPARE, Tolerance, mend
from .obstacles import said
from .parting import parted
from .related import partners_of
from .replant import replant
from .swings import Limb, travel
from .way import Way, shortened

DETOUR = 0.35             # leg lengths: how far a swing may leave the straight way between its footholds
MISSED = 0.005            # m: a standing foot that misses the ground by more makes the way shorter
SAID = 0.015              # m: a limb that stays so far off the ground is worth a sentence
ROUNDS, SHORTER = 10, 0.12  # how often the way is made shorter, and by how much of it at most each time
SHORTEST = 0.4            # of the way
NEARBY = 0.25             # s around a stance in which the way is made shorter
HOVERS = 0.006            # m: a foot this far off the ground, or in it, after its heel has risen is put down again
MENDS = 8                 # how often what is wrong is mended at most: one time may not come to its end ...
UNCHANGED = 2e-4          # m, of unit quaternions: ... but one that changes less has
CONFORMS = 2              # how often at most a planned foot is put down
TIPTOE = 0.06             # m: a point so much higher in the keys than others of its limb does not stand
# what mending may leave undone before standing feet are put down once more
LEFT = Tolerance(deep=0.004, deep_body=0.016, clear=SPARE, off=0.011, slip=np.inf, jerked=np.inf, hurried=1.9,
                 fastest=1.8)
SHARES = (1.0, 0.93, 0.86)   # of the way: what cannot be mended is planned anew on a shorter one, ...
HOPELESS = 3.0            # ... unless it is too wrong (of judge.faults) for that to help
LIFTED = 0.005            # m: a point this much higher than in the keys no longer touches ...
RISEN = 0.001             # m: ... nor does one that has risen so far against the rest of its foot


@dataclass(frozen=True, eq=False)
class GroundPlan:
    """The planned motion on the sub-step grid, what touches in it, and sentences for the animator."""

    motion: Motion
    touching: Bools                      # (K, P)
    notes: tuple[tuple[int, str], ...]   # (sub-step, sentence)


def plan(tree: Tree, shape: Shape, motion: Motion, touching: Bools, sliding: Bools, terrain: Terrain, ground: float,
         limits: tuple[Array, Array]) -> GroundPlan:
    """Plan a motion on level ground (height `ground`), of which some points touch (K, P) and some of those slide
    (K, P), over `terrain`, within the joints' limits (N, 3) each."""
    if not tree.character.points.limbs:
        return GroundPlan(motion, touching, ())
    tried: list[tuple[float, GroundPlan]] = []
    for share in SHARES:
        found = _plan_along(share, tree, shape, motion, touching, sliding, terrain, ground, limits)
        if found.motion is motion:
            return found
        wrong = float(faults(tree, motion, found.motion, found.touching, found.touching & ~sliding, terrain, ground,
                             PLANNED.least).max())
        tried.append((wrong, found))
        if not 1.0 < wrong <= HOPELESS:
            break
    return min(tried, key=lambda entry: entry[0])[1]


def _plan_along(share: float, tree: Tree, shape: Shape, motion: Motion, touching: Bools, sliding: Bools,
                terrain: Terrain, ground: float, limits: tuple[Array, Array]) -> GroundPlan:
    """A plan that goes only this share of the way, or less where legs are too short."""
    points = tree.character.points
    paths = point_paths(tree, shape, motion, points.link, shape.points)
    on_foot = np.array([limb.kind == "foot" for limb in points.limbs], dtype=bool)
    keyed, touching = touching, _lowest(touching, paths, points.limb)
    stances = find_stances(motion.times, touching, paths, points.limb, on_foot, ground)
    anchors = [int(points.link[points.limb == n].min()) for n in range(len(points.limbs))]
    joints = point_paths(tree, shape, motion, np.array(anchors, dtype=np.intp), np.zeros((len(anchors), 3)))
    limbs = reaches(tree, shape, motion, anchors)

    body, way, ends, heels, touching, notes = _settle(share, tree, shape, motion, touching, terrain, ground, stances,
                                                      limbs, joints, paths, partners_of(tree.character, anchors))
    new, turns = ends
    if way.is_straight and _is_same(new, joints, turns):
        return GroundPlan(motion, keyed, tuple(said(tree, shape, motion, motion, terrain, ground)))

    soles = _soles(points.limb, new, turns, joints, paths)
    planned, stays = body.motion, touching
    if not touching[:, ~on_foot[points.limb]].any():       # who carries with hands or knees moves as a whole
        planned = _put_all(tree, shape, motion, body.motion, limbs, new, turns, heels, touching, soles, paths, terrain,
                           ground)
        there = point_paths(tree, shape, planned, points.link, shape.points)
        lower = np.zeros(new.shape)                          # a foot whose heel has risen stands on less of its sole
        for n in np.flatnonzero(on_foot):
            own = points.limb == n
            lower[:, n] = conform(motion.times, there[:, own], paths[:, own], turns[:, n],
                                  np.asarray(touching[:, own].any(1)), terrain, ground)
        if np.abs(lower).max() > HOVERS:
            new = new + lower
            soles = _soles(points.limb, new, turns, joints, paths)
            planned = _put_all(tree, shape, motion, body.motion, limbs, new, turns, heels, touching, soles, paths,
                               terrain, ground)
        stays = _still_touching(tree, shape, planned, touching, paths, soles, terrain, ground)
    for _ in range(MENDS):
        before, planned = planned, mend(tree, shape, motion, planned, stays, soles, terrain, ground, limits)
        if _is_as_it_was(planned, before):                   # nothing is wrong, or nothing helps
            break
    stays = _still_touching(tree, shape, planned, stays, paths, soles, terrain, ground)
    planned = replant(tree, motion, planned, stays, sliding, stays, terrain, ground, limits, LEFT,
                      np.ones(len(motion), dtype=bool))
    there = point_paths(tree, shape, planned, points.link, shape.points)
    notes += _hovering(tree, there, paths, touching, planned.times, terrain, ground)
    notes += said(tree, shape, motion, planned, terrain, ground)
    return GroundPlan(planned, _still_touching(tree, shape, planned, stays, paths, soles, terrain, ground),
                      tuple(notes))


def _hovering(tree: Tree, there: Array, paths: Array, touching: Bools, times: Array, terrain: Terrain,
              ground: float) -> list[tuple[int, str]]:
    """Sentences about limbs that in the end do not come down as far as they do in the clip."""
    notes, limbs = [], tree.character.points.limbs
    for off, limb in zip(off_ground(tree, there, paths, touching, times, terrain, ground).T, limbs, strict=True):
        k = int(off.argmax())
        if SAID < off[k] < np.inf:
            notes.append((k, f"{limb.name} stays {100 * off[k]:.0f} cm off the ground: it does not reach."))
    return notes


def _lowest(touching: Bools, paths: Array, limb: Ints) -> Bools:
    """(K, P) contacts without heels high over the toes that stand: captured ones count as down for a while yet."""
    out = touching.copy()
    for own in (np.flatnonzero(limb == n) for n in np.unique(limb)):
        low = np.where(touching[:, own], paths[:, own, 2], np.inf).min(1, keepdims=True)
        out[:, own] &= paths[:, own, 2] <= low + TIPTOE
    return out


def _soles(limb: Ints, new: Array, turns: Array, joints: Array, paths: Array) -> Array:
    """(K, P, 3) where contact points go with the ends of their limbs."""
    return np.asarray(new[:, limb] + rotation.rotate(turns[:, limb], paths - joints[:, limb]))


def _put_all(tree: Tree, shape: Shape, keys: Motion, body: Motion, limbs: list[Reach], new: Array, turns: Array,
             heels: dict[int, Heel], touching: Bools, soles: Array, paths: Array, terrain: Terrain,
             ground: float) -> Motion:
    """The body with all of its feet where they should be."""
    points = tree.character.points
    sunk = -terrain.probe_over(soles, keys.times).distance - np.maximum(ground - paths[..., 2], 0.0)
    sunk = np.where(touching, 0.0, np.maximum(sunk, 0.0))
    for reach in limbs:
        n = reach.limb
        if points.limbs[n].kind == "foot":
            body = put(tree, shape, keys, body, reach, new[:, n], turns[:, n], heels.get(n), touching,
                       sunk[:, points.limb == n].max(1))
    return body


def _settle(longest: float, tree: Tree, shape: Shape, motion: Motion, touching: Bools, terrain: Terrain,
            ground: float, stances: list[Stance], limbs: list[Reach], joints: Array, paths: Array,
            partners: dict[int, int]
            ) -> tuple[Borne, Way, tuple[Array, Array], dict[int, Heel], Bools, list[tuple[int, str]]]:
    """Footholds, swings and a body over them, on a way as short as the legs need it; and what then touches."""
    points, times = tree.character.points, motion.times
    on_foot = [limb.kind == "foot" for limb in points.limbs]
    dt = motion.duration / (len(motion) - 1)
    share = np.full(len(times), longest)
    choosy = False                                 # swings take most of the time: rough ones show what is too far
    for _ in range(ROUNDS):
        short = shortened(motion, share) if share.min() < 1.0 else np.zeros((len(times), 2))
        way, holds = lay(stances, terrain, times, short, on_foot, partners)
        holds, stays = parted(holds, times, partners, on_foot, touching, points.limb)
        heels = _heels(tree, shape, motion, stays, holds, limbs, paths)
        ends = _travel(tree.character, motion, stays, way, terrain, ground, holds, joints, paths, choosy)
        body = bear(tree, shape, way.moved_motion(motion), way, joints, ends[0], holds, limbs, heels)
        is_short_enough = body.wrong.max() <= MISSED or share.min() <= SHORTEST
        if is_short_enough and choosy:
            break
        if is_short_enough:
            choosy = True
            continue
        near = ndimage.maximum_filter1d(body.wrong, 2 * int(NEARBY / dt) + 1, mode="nearest")
        near = ndimage.gaussian_filter1d(near, max(0.5 * NEARBY / dt, 1.0), mode="nearest")
        share = np.maximum(share * (1.0 - SHORTER * np.minimum(near / 0.05, 1.0)), SHORTEST)
    if not choosy:                                 # the rounds ran out before the swings got their due
        ends = _travel(tree.character, motion, stays, way, terrain, ground, holds, joints, paths, True)
        body = bear(tree, shape, way.moved_motion(motion), way, joints, ends[0], holds, limbs, heels)
    notes = []
    if share.min() < 0.95:
        k = int(share.argmin())
        less = f"{100 * (1 - share.min()):.0f} %"
        notes.append((k, f"The way is up to {less} shorter here: the legs are too short for this ground."
                      if share.min() < longest else f"All of the way is {less} shorter, to fit this ground."))
    return body, way, ends, heels, stays, notes


def _travel(character: Character, motion: Motion, touching: Bools, way: Way, terrain: Terrain, ground: float,
            holds: list[Foothold], joints: Array, paths: Array, choosy: bool) -> tuple[Array, Array]:
    """Where the ends of all limbs go, (K, L, 3), and how they turn, (K, L, 4); roughly, unless choosy."""
    points = character.points
    new, turns = joints.copy(), np.tile(rotation.IDENTITY, joints.shape[:2] + (1,))
    may_sink = way.is_straight and all(hold.is_unchanged for hold in holds)
    for n in range(len(points.limbs)):
        mine = [hold for hold in holds if hold.stance.limb == n]
        course = Limb(motion.times, joints[:, n], paths[:, points.limb == n], way.carried, terrain, ground,
                      DETOUR * character.leg_length, may_sink)
        new[:, n], turns[:, n] = travel(course, mine, choosy)
    if way.is_straight and _is_same(new, joints, turns):
        return new, turns
    for n, limb in enumerate(points.limbs):
        if limb.kind != "body":
            own = points.limb == n
            for _ in range(CONFORMS):              # who comes down finds other ground there
                soles = new[:, n, None] + rotation.rotate(turns[:, n, None], paths[:, own] - joints[:, n, None])
                lower = conform(motion.times, soles, paths[:, own], turns[:, n],
                                np.asarray(touching[:, own].any(1)), terrain, ground)
                new[:, n] += lower
                if np.abs(lower).max() <= HOVERS:
                    break
    return new, turns


def _is_as_it_was(after: Motion, before: Motion) -> bool:
    return after is before or max(float(np.abs(after.positions - before.positions).max()),
                                  float(np.abs(after.rotations - before.rotations).max())) < UNCHANGED


def _is_same(new: Array, joints: Array, turns: Array) -> bool:
    return bool(np.abs(new - joints).max(initial=0.0) < 1e-9 and np.abs(turns[..., 1:]).max(initial=0.0) < 1e-9)


def _heels(tree: Tree, shape: Shape, motion: Motion, touching: Bools, holds: list[Foothold], limbs: list[Reach],
           paths: Array) -> dict[int, Heel]:
    """The heels of all feet that have toes to stand on."""
    points, out = tree.character.points, {}
    for reach in limbs:
        own = np.flatnonzero(points.limb == reach.limb)
        groups = np.unique(points.group[own])
        if points.limbs[reach.limb].kind != "foot" or len(groups) < 2:
            continue
        front, back = (np.flatnonzero(points.group[own] == g) for g in (groups[-1], groups[0]))
        toe = toe_of(tree.character, reach.end)
        ball = (paths[:, own[front]].mean(1) if toe is None else
                point_paths(tree, shape, motion, np.array([toe]), np.zeros((1, 3)))[:, 0])
        mine = [hold for hold in holds if hold.stance.limb == reach.limb]
        out[reach.limb] = heel_of(paths[:, own], ball, front, back, touching[:, own], mine)
    return out


def _still_touching(tree: Tree, shape: Shape, planned: Motion, touching: Bools, paths: Array, soles: Array,
                    terrain: Terrain, ground: float) -> Bools:
    """(K, P) contacts without those that the plan has lifted: heels that have risen from where their foothold had them
    (soles), then what is off the ground. Of a limb that touches with its middle only, as a sole does on a ridge, the
    points that are lifted least stay."""
    points = tree.character.points
    there = point_paths(tree, shape, planned, points.link, shape.points)
    risen = np.maximum((there - soles)[..., 2], 0.0)
    lifted = terrain.probe_over(there, planned.times).distance - np.maximum(paths[..., 2] - ground, 0.0)
    out = touching.copy()
    for own in (np.flatnonzero(points.limb == n) for n in range(len(points.limbs))):
        for height, most in ((risen, RISEN), (np.maximum(lifted, 0.0), LIFTED)):
            now = np.where(out[:, own], height[:, own], np.inf)
            out[:, own] &= now <= now.min(1, keepdims=True) + most
    return out
