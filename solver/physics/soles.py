"""Where the skin touches: contact points calibrated from the motion where the rig gives none.

A rest pose says little about a sole (with the legs spread the foot's "up" is 12 to 27 degrees off), but every motion
that stands still for a moment shows it: the part that is slow and low is flat on the ground. A pose that is held counts
once, however long, or a walk whose last pose is held with a heel up would seem to stand on its toes.
Lengths are in leg lengths.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array, Bools, Ints
from ..model.character import Character, ContactPoints, Limb
from ..model.motion import Motion
from .shape import shape_of
from .trajectory import point_paths, poses, windowed_speed
from .tree import Tree

SLOW = 0.2             # leg lengths per second
BALL_HEIGHT = 0.055    # how high the ball of the foot sits over the floor when nothing else tells
SUNK = 0.02            # how far the lowest parts may be under the ground for long
MAX_TILT = np.cos(np.radians(35.0))
MAX_ANKLE = 0.16
SAME = 1e-9            # by which a frame may differ from the one it repeats
LOW = 0.2              # hands and knees below this height may carry
MIDDLES = (0.2, 0.35, 0.5, 0.65, 0.8)   # of the way from heels to toes
REACH = 0.45           # hands and knees that never come this low get no points


def sole_samples(points: Array, across: int = 3, along: int = 7) -> Array:
    """(K, n, 3) of a sole of four points (K, 4, 3), heel pair first; points of other limbs as they are."""
    if points.shape[1] != 4:
        return points
    u, v = (g.reshape(-1, 1) for g in np.meshgrid(np.linspace(0, 1, across), np.linspace(0, 1, along)))
    a, b, c, d = (points[:, n:n + 1] for n in range(4))
    return np.asarray((1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * c + u * d))


def sole_middles(character: Character) -> tuple[Ints, Array, Ints]:
    """(links (n,), places in them (n, 3), limbs (n,)) of points between heels and toes, of soles of four points."""
    points = character.points
    links, places, limbs = [], [], []
    for n in range(len(points.limbs)):
        own = np.flatnonzero(points.limb == n)
        if len(own) == 4:
            heel = int(points.link[own[0]])
            rest = character.rest_positions[points.link[own]] + points.position[own]
            for share in MIDDLES:
                links += [heel, heel]
                places += list((1.0 - share) * rest[:2] + share * rest[2:] - character.rest_positions[heel])
                limbs += [n, n]
    return np.array(links, dtype=np.intp), np.array(places).reshape(-1, 3), np.array(limbs, dtype=np.intp)


@dataclass(frozen=True)
class _Stance:
    """How one foot stands when flat: its up direction and the heights of ankle, ball and tip."""

    up: Array
    up_toe: Array
    ankle: float
    ball: float
    tip: float


def calibrated_points(character: Character, motion: Motion, ground: float | None = None,
                      wanted: Collection[str] = ()) -> tuple[ContactPoints, float]:
    """Contact points of feet, and of hands and knees that come near the ground or are `wanted`; the ground's height."""
    tree = Tree(character)
    unit = character.leg_length
    feet = [i for i, role in enumerate(character.roles) if role == "foot"]
    toes = {f: next((c for c in character.children[f] if character.roles[c] == "toe"), None) for f in feet}
    stances = {f: _stance(character, tree, motion, f, toes[f], unit) for f in feet}
    if ground is None:
        balls = [s.ball for s in stances.values() if s is not None]
        lowest = _lowest(character, tree, motion)                 # (F,)
        ground = float(np.median(balls)) - BALL_HEIGHT * unit if balls else float(lowest.min())
        ground = min(ground, float(np.quantile(lowest, 0.1)) + SUNK * unit)  # who floats does not wade
    entries: list[tuple[Limb, int, Array, int, float]] = []
    for foot in feet:
        stance = stances[foot]
        if stance is None or _is_unlikely(stance, ground, unit):
            others = [s for s in stances.values() if s is not None and not _is_unlikely(s, ground, unit)]
            stance = others[0] if others else _from_rest(character, foot, toes[foot], ground, unit)
        entries += _sole(character, foot, toes[foot], stance, ground, unit)
    for link, role in enumerate(character.roles):
        is_knee = role == "leg" and character.roles[character.parents[link]] == "leg"
        if role == "hand" or is_knee:
            reach = np.inf if character.names[link] in wanted else REACH * unit
            entries += _pad(character, tree, motion, link, "hand" if role == "hand" else "knee", ground, unit, reach)
    return ContactPoints.build(entries), ground


def _lowest(character: Character, tree: Tree, motion: Motion) -> Array:
    """(F,) height of the lowest joint or tip."""
    links = np.tile(np.arange(len(character)), 2)
    local = np.concatenate((character.tips, np.zeros_like(character.tips)))
    return np.asarray(point_paths(tree, shape_of(character, motion), motion, links, local)[..., 2].min(1))


def _stance(character: Character, tree: Tree, motion: Motion, foot: int, toe: int | None,
            unit: float) -> _Stance | None:
    shape = shape_of(character, motion)
    tip_link = foot if toe is None else toe
    links = np.array([foot, tip_link, tip_link])
    local = np.stack([np.zeros(3), character.tips[foot] if toe is None else np.zeros(3), character.tips[tip_link]])
    paths = point_paths(tree, shape, motion, links, local)                      # ankle, ball, tip
    speed = windowed_speed(motion.times, paths[:, :2]).max(1)
    counts = ~_held(motion)
    slow = counts & (speed < SLOW * unit)
    if slow.sum() < 8:
        slow = counts & (speed <= np.quantile(speed[counts], 0.1))
    height = paths[..., 2]
    flat = slow & (height[:, 0] < np.quantile(height[slow, 0], 0.05) + 0.035 * unit)
    flat &= height[:, 1] < np.quantile(height[slow, 1], 0.30) + 0.03 * unit
    if not flat.any():
        return None
    up, up_toe = _mean_up(tree, motion, foot, flat), _mean_up(tree, motion, tip_link, flat)
    ankle, ball, tip = np.median(height[flat], axis=0)
    return _Stance(up, up_toe, float(ankle), float(ball), float(tip))


def _held(motion: Motion) -> Bools:
    """(F,) frames that only repeat the one before."""
    out = np.ones(len(motion), dtype=bool)
    out[0] = False
    for values in (motion.positions, motion.rotations, motion.offsets, motion.scales):
        if values is not None:
            out[1:] &= (np.abs(np.diff(values, axis=0)) < SAME).reshape(len(motion) - 1, -1).all(1)
    return out


def _mean_up(tree: Tree, motion: Motion, link: int, frames: Bools) -> Array:
    total = np.zeros(3)
    for run, pose in poses(tree, shape_of(tree.character, motion), motion):
        total += pose.R[frames[run], link, 2, :].sum(0)
    return total / max(float(np.linalg.norm(total)), 1e-12)


def _is_unlikely(stance: _Stance, ground: float, unit: float) -> bool:
    """A dancer on pointe never shows a flat foot."""
    return bool(stance.up[2] < MAX_TILT or stance.ankle - ground > MAX_ANKLE * unit)


def _from_rest(character: Character, foot: int, toe: int | None, ground: float, unit: float) -> _Stance:
    up = np.array([0.0, 0.0, 1.0])
    drop = character.offsets[toe][2] if toe is not None else character.tips[foot][2]
    end = drop + (character.tips[toe][2] if toe is not None else 0.0)
    lowest = min(drop, end, 0.0)
    base = ground + 0.02 * unit - lowest
    return _Stance(up, up, base, base + drop, base + end)


def _sole(character: Character, foot: int, toe: int | None, stance: _Stance, ground: float,
          unit: float) -> list[tuple[Limb, int, Array, int, float]]:
    """Heel pair on the foot link, tip pair on the toe link (or on the foot where there is none)."""
    limb = Limb(character.names[foot], "foot")
    up = stance.up
    ball = character.tips[foot] if toe is None else character.offsets[toe]
    forward = ball - up * (ball @ up)
    length = float(np.linalg.norm(forward))
    if length < max(0.7 * float(np.linalg.norm(ball)), 0.02 * unit):  # a leg that ends in a point: a hoof, a stump
        return _hoof(limb, character, foot, toe, stance, ground, unit)
    forward /= length
    side = np.cross(up, forward)
    if toe is not None:
        length += float(np.linalg.norm(character.tips[toe]))
    heel = -0.30 * length * forward - (stance.ankle - ground) * up
    points = [(limb, foot, heel + s * 0.12 * length * side, 0, 0.0) for s in (1.0, -1.0)]
    if toe is None:
        end = ball - (stance.ball - ground) * up
        return points + [(limb, foot, end + s * 0.15 * length * side, 1, 0.0) for s in (1.0, -1.0)]
    toe_side = side - stance.up_toe * (side @ stance.up_toe)
    end = character.tips[toe] - (stance.tip - ground) * stance.up_toe
    return points + [(limb, toe, end + s * 0.14 * length * toe_side, 1, 0.0) for s in (1.0, -1.0)]


def _hoof(limb: Limb, character: Character, foot: int, toe: int | None, stance: _Stance, ground: float,
          unit: float) -> list[tuple[Limb, int, Array, int, float]]:
    link = foot if toe is None else toe
    up = stance.up if toe is None else stance.up_toe
    end = character.tips[link] - (stance.tip - ground) * up
    across = np.cross(up, [0.0, 1.0, 0.0] if abs(up[1]) < 0.9 else [1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)
    along = np.cross(up, across)
    size = 0.04 * unit
    return [(limb, link, end + size * (a * along + s * across), 0 if a < 0 else 1, 0.0)
            for a in (-1.0, 1.0) for s in (1.0, -1.0)]


def _pad(character: Character, tree: Tree, motion: Motion, link: int, kind: str, ground: float,
         unit: float, reach: float) -> list[tuple[Limb, int, Array, int, float]]:
    """A hand (wrist and finger tip) or a knee, if it ever comes within reach of the ground."""
    shape = shape_of(character, motion)
    local = np.stack([np.zeros(3), character.tips[link]]) if kind == "hand" else np.zeros((1, 3))
    links = np.full(len(local), link)
    paths = point_paths(tree, shape, motion, links, local)
    height = paths[..., 2] - ground
    if height.min() > reach:
        return []
    speed = windowed_speed(motion.times, paths).max(1)
    rest = (speed < SLOW * unit) & (height.min(1) < LOW * unit)
    entries: list[tuple[Limb, int, Array, int, float]] = []
    if rest.sum() >= 4:
        up, drop = _mean_up(tree, motion, link, rest), np.quantile(height[rest], 0.4, axis=0)
    else:  # near the ground but never at rest there: the joint itself
        up, drop = np.array([0.0, 0.0, 1.0]), np.zeros(len(local))
    limb = Limb(character.names[link], "hand" if kind == "hand" else "knee")
    for n, point in enumerate(local):
        entries.append((limb, link, point - max(float(drop[n]), 0.0) * up, n, 0.0))
    return entries
