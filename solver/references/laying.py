"""Footholds for all stances, in time; moving ground carries the way along while something stands on it."""

from __future__ import annotations

import numpy as np

from ..model.arrays import Array
from ..model.terrain import Terrain
from ..numerics import rotation
from .footholds import Foothold, Stance, again, choose
from .related import before_of, following_of, joining_of, level_of, partner_of
from .together import choose_together
from .way import Way


def lay(stances: list[Stance], terrain: Terrain, times: Array, short: Array, on_foot: list[bool],
        partners: dict[int, int]) -> tuple[Way, list[Foothold]]:
    """The footholds, and the way with what `short` (K, 2) takes off it; `partners` are the knees and feet of a leg."""
    way = Way(short, np.zeros(len(times)), np.zeros((len(times), 2)))
    waiting = sorted(stances, key=lambda stance: stance.first)
    after = {id(stance): following_of(stance, waiting) for stance in stances}
    holds: list[Foothold] = []

    def put_down(stance: Stance) -> None:
        before = before_of(stance, holds)
        same = None if before is None else again(before, stance, terrain, times)
        holds.append(same or choose(stance, way, terrain, times, on_foot[stance.limb],
                                    level_of(stance.on(way), holds, terrain, times), after[id(stance)],
                                    partner_of(stance, holds, partners), joining_of(stance, stances, partners, times)))

    kneels = any(stance.limb in partners and not on_foot[stance.limb] for stance in stances)
    if terrain.is_still:
        if kneels:
            return way, choose_together(waiting, after, way, terrain, times, on_foot, partners)
        for stance in waiting:
            put_down(stance)
        return way, holds
    in_time = list(waiting)
    for k in range(len(times)):
        while waiting and waiting[0].first == k:
            put_down(waiting.pop(0))
        _ride(way, holds, k)
    if kneels:                                     # now that it is known where the ground takes it
        holds = choose_together(in_time, after, way, terrain, times, on_foot, partners)
        way = Way(short, np.zeros(len(times)), np.zeros((len(times), 2)))
        for k in range(len(times)):
            _ride(way, holds, k)
    return way, holds


def _ride(way: Way, holds: list[Foothold], k: int) -> None:
    """Where the ground under those of the footholds that are stood on takes the way from sub-step k to the next."""
    if k + 1 == len(way.yaw):
        return
    way.yaw[k + 1], way.carried[k + 1] = way.yaw[k], way.carried[k]
    standing = [hold for hold in holds if hold.stance.bears and hold.stance.first <= k < hold.stance.last]
    if not standing:
        return
    now = np.array([hold.place[k - hold.stance.first] for hold in standing])
    then = np.array([hold.place[k + 1 - hold.stance.first] for hold in standing])
    turn = np.mean([_yaw(hold.turn[k + 1 - hold.stance.first], hold.turn[k - hold.stance.first]) for hold in standing])
    middle, moved = now.mean(0)[:2], (then - now).mean(0)[:2]
    c, s = np.cos(turn), np.sin(turn)
    way.yaw[k + 1] += turn
    way.carried[k + 1] = np.array([[c, -s], [s, c]]) @ (way.carried[k] - middle) + middle + moved


def _yaw(after: Array, before: Array) -> float:
    """rad about the vertical between two turns."""
    return float(rotation.log(rotation.multiply(after, rotation.conjugate(before)))[2])
