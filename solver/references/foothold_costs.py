"""What speaks against a foothold: a riser too close, no room for shin or heel, a long brink, ground that moves apart.

All costs are squares of something in units of what costs one, (n,) for n places that are tried.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array
from ..model.terrain import Terrain
from .underfoot import WALL, reachable

STRAY = 0.06                  # m away that cost one
APART = 0.03                  # m that a shank is too long or too short
EDGE = 0.03                   # m of ground above the line between its ends that cost one
RING, RISER = 0.03, 0.010      # m around the sole, m above its plane that cost one
ROOM, ROOM_COST = 0.3, 0.05    # m beyond the sole, m above a rising line that cost one
TREAD, BRINK = 0.5, 0.05       # m ahead of the toes that are looked at, m of tread left that cost one ...
DEEP = (0.25, 0.45)            # m: ... if the next step goes down by at least this, and in full
TORN = 0.05                    # m/s between parts of a sole's ground that cost one


@dataclass(frozen=True, eq=False)
class Tried:
    """Places at which one print could stand."""

    print_: Array   # (m, 2) samples of the sole relative to its centre
    places: Array   # (n, 3)
    normals: Array  # (n, 3)


def walled(tried: Tried, terrain: Terrain, time: float) -> Array:
    """Ground around the sole that is higher than the sole's plane: a riser too close."""
    ring = _ring(tried)
    around = tried.places[:, None, :2] + ring
    above = _heights(tried, terrain, time, around)
    slope = -tried.normals[:, :2] / tried.normals[:, 2:]
    plane = tried.places[:, 2:] + np.einsum("nk,mk->nm", slope, ring)
    over = np.where(np.isfinite(above), above - plane, 0.0)
    return np.asarray((np.maximum(over, 0.0).max(1) / RISER) ** 2)


def room(tried: Tried, terrain: Terrain, time: float, towards: Array, steepness: float) -> Array:
    """Ground that rises steeply beyond the sole's end: ahead it leaves no room for the shin to lean forward, behind
    none for the heel to come down."""
    beyond = np.linspace(0.02, ROOM, 8)
    over = _beyond(tried, terrain, time, towards, beyond) - steepness * beyond
    return np.asarray((np.maximum(np.where(np.isfinite(over), over, 0.0), 0.0).max(1) / ROOM_COST) ** 2)


def brink(tried: Tried, terrain: Terrain, time: float, ahead: Array, following: Array) -> Array:
    """Tread left ahead of the toes where the next step, to `following` (3,), goes far down: the shin would lean over
    it and cut its edge."""
    under = float(reachable(terrain, following[None, :2], time, float(tried.places[:, 2].max()))[0])
    if not np.isfinite(under):
        return np.zeros(len(tried.places))
    beyond = np.linspace(0.0, TREAD, 12)
    gone = _beyond(tried, terrain, time, ahead, beyond) < -DEEP[0]
    left = np.where(gone.any(1), beyond[gone.argmax(1)], TREAD)
    climb = -tried.normals[:, :2] / np.maximum(tried.normals[:, 2:], 0.1)
    slope = (climb * (following - tried.places)[:, :2]).sum(1)
    drop = tried.places[:, 2] + np.minimum(slope, 0.0) - under           # a slope has no brink
    deep = np.clip((drop - DEEP[0]) / (DEEP[1] - DEEP[0]), 0.0, 1.0)
    return np.asarray(deep * (left / BRINK) ** 2)


def apart(tried: Tried, start: Array, length: float) -> Array:
    """Places nearer to `start` (3,) than `length`, or farther."""
    return np.asarray(((np.linalg.norm(tried.places - start, axis=1) - length) / APART) ** 2)


def strayed(tried: Tried, spot: Array) -> Array:
    """Places away from the `spot` (3,) where a limb was that is up for a moment only."""
    return np.asarray((np.linalg.norm(tried.places - spot, axis=1) / STRAY) ** 2)


def edged(tried: Tried, terrain: Terrain, time: float, away: Array) -> Array:
    """Ground that rises above the line to where the other end of the shank is, `away` (n, 2): an edge would cut it."""
    share = np.linspace(0.0, 1.0, 12)
    spots = tried.places[:, None, :2] + share[:, None] * away[:, None]
    h = _heights(tried, terrain, time, spots)
    over = h - tried.places[:, 2:] - share * (h[:, -1:] - tried.places[:, 2:])
    return np.asarray((np.maximum(np.where(np.isfinite(over), over, 0.0), 0.0).max(1) / EDGE) ** 2)


def torn(tried: Tried, terrain: Terrain, time: float) -> Array:
    """A sole half on a platform, or at its very edge: its ground moves in two ways."""
    spots = tried.places[:, None, :2] + _ring(tried)
    z = _heights(tried, terrain, time, spots)
    seen = np.concatenate((spots, np.where(np.isfinite(z), z, 0.0)[..., None]), axis=-1)
    v = terrain.probe(seen.reshape(-1, 3), time).velocity.reshape(seen.shape)
    return np.asarray((np.linalg.norm(np.ptp(v, axis=1), axis=-1) / TORN) ** 2)


def _heights(tried: Tried, terrain: Terrain, time: float, spots: Array) -> Array:
    """(n, m) m, of the ground at spots (n, m, 2) around the places; a wall counts as just too high to climb."""
    level = np.repeat(tried.places[:, 2], spots.shape[1])
    return np.minimum(reachable(terrain, spots.reshape(-1, 2), time, level), level + WALL).reshape(spots.shape[:2])


def _ring(tried: Tried) -> Array:
    """(m, 2) the print, RING wider on all sides."""
    return tried.print_ * (1.0 + RING / np.maximum(np.linalg.norm(tried.print_, axis=1, keepdims=True), 0.02))


def _beyond(tried: Tried, terrain: Terrain, time: float, towards: Array, beyond: Array) -> Array:
    """(n, b) m, how much higher than the sole's plane the ground is so far beyond the sole's end."""
    away = float((tried.print_ @ towards).max()) + beyond
    spots = tried.places[:, None, :2] + away[:, None] * towards
    h = _heights(tried, terrain, time, spots)
    climb = -(tried.normals[:, :2] @ towards) / np.maximum(tried.normals[:, 2], 0.1)
    return np.asarray(h - tried.places[:, 2:3] - climb[:, None] * away)
