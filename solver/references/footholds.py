"""Where a limb that stands on the clip's own level ground will stand on another one.

A sole is a print: the places where its points touch. On new ground it rests on the plane that no part of the ground
under it rises above. Candidates beside the old place are weighed against each other: off edges, away from risers,
not too steep, not far from where the clip steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array, Bools, Ints
from ..model.terrain import Terrain
from ..numerics import rotation

ALONG = np.arange(-0.24, 0.241, 0.06)      # m, shifts tried along the way ...
ACROSS = np.array([0.0, -0.05, 0.05, -0.10, 0.10])  # ... and sideways
FAR, GAP, RISER, STEEP = 0.10, 0.006, 0.010, np.radians(6.0)   # what costs one
SIDEWAYS = 1.5
GENTLE = np.radians(30.0)
STEEPEST = np.radians(50.0)
RING = 0.03                                # m around the sole
KNEE_ROOM, KNEE_COST = 0.35, 0.05          # m ahead of the sole, m above a 45 degree line that cost one


@dataclass(frozen=True, eq=False)
class Stance:
    """One limb down from sub-step `first` to `last` (inclusive), and what its print on level ground looks like."""

    limb: int
    first: int
    last: int
    centre: Array   # (3,) on the clip's ground
    print_: Array   # (n, 2) samples relative to the centre
    ahead: Array    # (2,) unit, the way it travels


@dataclass(frozen=True, eq=False)
class Foothold:
    """Where the stance goes: x -> place + D (x - centre)."""

    stance: Stance
    place: Array     # (3,)
    turn: Array      # (4,) D as a quaternion
    normal: Array    # (3,)

    def moved(self, x: Array) -> Array:
        return self.place + rotation.rotate(self.turn, x - self.stance.centre)

    @property
    def is_unchanged(self) -> bool:
        return bool(np.abs(self.place - self.stance.centre).max() < 1e-9 and np.abs(self.turn[1:]).max() < 1e-9)


def find_stances(touching: Bools, paths: Array, limbs: Ints, feet: Bools, ground: float) -> list[Stance]:
    """All stances of all limbs from the schedule (K, P) and the points' paths (K, P, 3).

    A foot (`feet` (L,)) in the air at either end of the clip counts as about to stand there, so that every swing
    leads somewhere."""
    stances = []
    for limb in np.unique(limbs):
        own = np.flatnonzero(limbs == limb)
        touching = touching.copy()
        down: Bools = np.asarray(touching[:, own].any(1))
        if feet[limb] and down.any():
            for end in (0, -1):
                touching[end, own] |= not down[end]
            down = np.asarray(touching[:, own].any(1))
        edges = np.flatnonzero(np.diff(np.concatenate(([False], down, [False])).astype(int)))
        for first, stop in zip(edges[::2], edges[1::2], strict=True):
            run = slice(int(first), int(stop))
            held = touching[run][:, own]
            used = held.any(0)
            share = held[:, used] / np.maximum(held[:, used].sum(0), 1)
            corners = (paths[run][:, own[used], :2] * share[..., None]).sum(0)
            centre = corners.mean(0)
            stances.append(Stance(int(limb), int(first), int(stop) - 1, np.append(centre, ground),
                                  _dense(corners - centre), _way(paths[:, own, :2].mean(1), run)))
    return stances


def _dense(corners: Array) -> Array:
    """Samples of the area between up to four corners."""
    if len(corners) == 1:
        return corners
    if len(corners) == 2:
        return np.asarray(corners[0] + np.linspace(0.0, 1.0, 4)[:, None] * (corners[1] - corners[0]))
    a, b, c, d = corners[0], corners[1], corners[2], corners[-1]
    u, v = (g.reshape(-1, 1) for g in np.meshgrid(np.linspace(0, 1, 3), np.linspace(0, 1, 6)))
    return np.asarray((1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * c + u * d))


def _way(path: Array, run: slice) -> Array:
    """The direction the limb travels around a stance."""
    before, after = path[max(run.start - 30, 0)], path[min(run.stop + 29, len(path) - 1)]
    way = after - before
    size = float(np.linalg.norm(way))
    return way / size if size > 0.05 else np.array([1.0, 0.0])


def choose(stance: Stance, terrain: Terrain, time: float, carried: Array, knees: bool) -> Foothold:
    """The cheapest foothold near the old one; `carried` (2,) is how far moving ground has taken the body so far."""
    here = _resting(stance, terrain, time, carried[None])
    if here.cost[0] < 1e-12:
        return here.foothold(stance, 0)
    side = np.array([-stance.ahead[1], stance.ahead[0]])
    along, across = (g.ravel() for g in np.meshgrid(ALONG, ACROSS))
    shifts = along[:, None] * stance.ahead + across[:, None] * side
    tried = _resting(stance, terrain, time, carried + shifts)
    cost = tried.cost + (along / FAR) ** 2 + (SIDEWAYS * across / FAR) ** 2
    if knees:
        cost = cost + _knee_room(stance, terrain, time, tried.places)
    return tried.foothold(stance, int(np.argmin(cost)))


@dataclass(frozen=True, eq=False)
class _Tried:
    places: Array   # (n, 3)
    normals: Array  # (n, 3)
    cost: Array     # (n,)

    def foothold(self, stance: Stance, n: int) -> Foothold:
        up = np.array([0.0, 0.0, 1.0])
        normal = self.normals[n]
        tilt = float(np.arccos(np.clip(normal[2], -1.0, 1.0)))
        turn = rotation.exp(rotation.log(rotation.between(up, normal)) * min(1.0, STEEPEST / max(tilt, 1e-9)))
        return Foothold(stance, self.places[n], turn, normal)


def _resting(stance: Stance, terrain: Terrain, time: float, shifts: Array) -> _Tried:
    """The planes on which the print rests at the shifted places: least squares, raised until nothing is above."""
    samples, count = stance.print_, len(shifts)
    spots = stance.centre[:2] + shifts[:, None] + samples                            # (n, m, 2)
    h = terrain.height(spots.reshape(-1, 2), time).z.reshape(count, -1)
    missing = ~np.isfinite(h)
    h = np.where(missing, np.where(missing, np.inf, h).min(1, keepdims=True), h)
    h = np.where(np.isfinite(h), h, stance.centre[2])
    design = np.concatenate((np.ones((len(samples), 1)), samples), axis=1)
    ridge = np.diag([0.0, 1e-9, 1e-9]) + 1e-12 * np.eye(3)
    fit = np.linalg.solve(design.T @ design + ridge, design.T @ h.T).T               # (n, 3)
    gap = fit @ design.T - h
    raised = np.maximum(-gap.min(1), 0.0)
    fit[:, 0] += raised
    gap = gap + raised[:, None]
    normals = np.concatenate((-fit[:, 1:], np.ones((count, 1))), axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    tilt = np.arccos(np.clip(normals[:, 2], -1.0, 1.0))
    places = np.concatenate((stance.centre[:2] + shifts, fit[:, :1]), axis=1)
    cost = (gap.mean(1) / GAP) ** 2 + (np.maximum(tilt - GENTLE, 0.0) / STEEP) ** 2 + 1e3 * missing.mean(1)
    ring = samples * (1.0 + RING / np.maximum(np.linalg.norm(samples, axis=1, keepdims=True), 0.02))
    around = stance.centre[:2] + shifts[:, None] + ring
    above = terrain.height(around.reshape(-1, 2), time).z.reshape(count, -1)
    plane = fit[:, :1] + np.einsum("nk,mk->nm", fit[:, 1:], ring)
    over = np.where(np.isfinite(above), above - plane, 0.0)
    return _Tried(places, normals, cost + (np.maximum(over, 0.0).max(1) / RISER) ** 2)


def _knee_room(stance: Stance, terrain: Terrain, time: float, places: Array) -> Array:
    """A riser close ahead leaves no room for the shin to lean forward."""
    distance = np.linspace(0.12, KNEE_ROOM, 4)
    spots = places[:, None, :2] + distance[:, None] * stance.ahead
    h = terrain.height(spots.reshape(-1, 2), time).z.reshape(len(places), -1)
    over = np.where(np.isfinite(h), h - places[:, 2:3] - distance, 0.0)
    return np.asarray((np.maximum(over, 0.0).max(1) / KNEE_COST) ** 2)
