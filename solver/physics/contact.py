"""When the reference touches the ground: heights, speeds, hysteresis, and a check that something carries the weight.

All lengths are in leg lengths `unit`. Points of one group (a pair of heel points) are judged together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from ..model.arrays import Array, Bools
from ..model.character import ContactPoints
from ..model.scene import ContactOverride
from ..numerics.runs import runs
from .trajectory import windowed_speed

# (height, speed) in leg lengths and leg lengths per second
TOUCH, KEEP = (0.03, 0.4), (0.05, 0.8)
SLOW_TOUCH, SLOW_KEEP = (0.11, 0.2), (0.11, 0.4)  # the slow band: captured feet float in deep squats
SLOW_TIME = 0.08    # s
GAP = SHORTEST = 0.05   # s
SUPPORT = 0.25      # of gravity: a body that accelerates up more than this against free fall stands on something
STRETCH_TIME, STRETCH_HEIGHT = 0.08, 0.09
SWEEPING = 1.2      # leg lengths per second
LAST_RESORT = 0.45  # a limb higher than this cannot be what carries


@dataclass(frozen=True, eq=False)
class Schedule:
    """Contacts of the reference over time."""

    touching: Bools     # (K, P)
    sliding: Bools      # (K, P) touching, but free to move along the ground
    barred: Bools       # (K, P) must not touch, whatever the simulation does
    unsupported: Bools  # (K,) the body is carried, but nothing touches

    def time_to_touch(self, times: Array) -> Array:
        """(K, P) seconds until the next contact, 0 while touching, inf if none comes."""
        return _time_until(times, self.touching)

    def time_to_lift(self, times: Array) -> Array:
        """(K, P) seconds until the contact ends, 0 while in the air, inf if it never ends."""
        return _time_until(times, ~self.touching)


def _time_until(times: Array, event: Bools) -> Array:
    due = np.full(event.shape[1], np.inf)
    out = np.zeros(event.shape)
    for k in range(len(times) - 1, -1, -1):
        due = np.where(event[k], times[k], due)
        out[k] = due - times[k]
    return out


def detect(times: Array, paths: Array, ground: float, com: Array, gravity: float, points: ContactPoints, unit: float,
           overrides: Sequence[ContactOverride] = ()) -> Schedule:
    """Contacts of points with paths (K, P, 3) over level ground, by the motion itself and by what the animator says."""
    groups = int(points.group.max()) + 1 if len(points) else 0
    if not groups:
        none = np.zeros(paths.shape[:2], dtype=bool)
        return Schedule(none, none, none, _carried(times, com, gravity))
    members = [np.flatnonzero(points.group == g) for g in range(groups)]
    centre = np.stack([paths[:, m].mean(1) for m in members], axis=1)          # (K, G, 3)
    height = (centre[..., 2] - ground) / unit
    speed = windowed_speed(times, centre) / unit
    dt = (times[-1] - times[0]) / (len(times) - 1)
    touch = np.stack([_touching(height[:, g], speed[:, g], dt) for g in range(groups)], axis=1)
    limb_of_group = np.array([points.limb[m[0]] for m in members])

    carried = _carried(times, com, gravity)
    seen = touch
    touch = _stretch(touch, height, carried & ~touch.any(1), dt)
    touch = _last_resort(touch, height, speed, carried & ~touch.any(1), limb_of_group, dt)
    slide = (speed > KEEP[1]) | ~seen  # carries, but is not planted: too fast, or only inferred from the weight
    barred = np.zeros_like(touch)
    for override in overrides:
        if override.mode == "auto":
            continue
        rows = (times >= override.start - 1e-9) & (times < override.end - 1e-9)
        names = np.array([points.limbs[n].name == override.limb for n in limb_of_group])
        touch[np.ix_(rows, names)] = override.mode != "off"
        slide[np.ix_(rows, names)] = override.mode == "slide"  # who says On means planted
        barred[np.ix_(rows, names)] = override.mode == "off"
    group = points.group
    return Schedule(touch[:, group], (touch & slide)[:, group], barred[:, group], carried & ~touch.any(1))


def _touching(height: Array, speed: Array, dt: float) -> Bools:
    slow = (height < SLOW_TOUCH[0]) & (speed < SLOW_TOUCH[1])
    slow = _drop_short(slow, SLOW_TIME, dt)
    on = ((height < TOUCH[0]) & (speed < TOUCH[1])) | slow
    stay = on | ((height < KEEP[0]) & (speed < KEEP[1])) | ((height < SLOW_KEEP[0]) & (speed < SLOW_KEEP[1]))
    # hysteresis run forwards and backwards: a stretch of `stay` counts whole if any of it is `on`
    labels, count = ndimage.label(stay)
    touched = np.zeros(count + 1, dtype=bool)
    touched[np.unique(labels[on])] = True
    touched[0] = False
    state = _drop_short(~touched[labels], GAP, dt)  # fill short gaps
    return _drop_short(~state, SHORTEST, dt)


def _drop_short(flags: Bools, shortest: float, dt: float) -> Bools:
    """Runs of True shorter than `shortest` seconds become False, except where they reach the ends of the clip."""
    out = flags.copy()
    for run in runs(flags):
        if 0 < run.start and run.stop < len(flags) and (run.stop - run.start) * dt < shortest:
            out[run] = False
    return out


def _carried(times: Array, com: Array, gravity: float) -> Bools:
    """Whether the ground (or a helper) must hold the body up."""
    if gravity <= 0.0:
        return np.zeros(len(times), dtype=bool)
    dt = (times[-1] - times[0]) / (len(times) - 1)
    width = max(1, int(round(0.04 / dt)))
    z = ndimage.gaussian_filter1d(com[:, 2], width, mode="nearest")
    rising = np.gradient(np.gradient(z, times), times) if len(times) > 2 else np.zeros(len(times))
    return np.asarray(rising + gravity > SUPPORT * gravity)


def _stretch(touch: Bools, height: Array, bare: Bools, dt: float) -> Bools:
    """Let neighbouring contacts reach into unsupported frames while their points are still low."""
    reach = max(1, int(round(STRETCH_TIME / dt)))
    window = np.ones((2 * reach + 1, 1), dtype=bool)
    near = ndimage.binary_dilation(touch, structure=window)
    return touch | (near & bare[:, None] & (height < STRETCH_HEIGHT))


def _last_resort(touch: Bools, height: Array, speed: Array, bare: Bools, limb: Array, dt: float) -> Bools:
    """What still stands on nothing is given to the two lowest limbs (a cartwheel's hands hover 14 to 30 cm up), but
    not to one that sweeps past (the feet of somebody who swings on a bar)."""
    out = touch.copy()
    for run in runs(bare):
        if (run.stop - run.start) * dt <= SHORTEST:
            continue
        lowest = np.median(height[run], axis=0)         # per group, over the whole stretch
        limbs = np.unique(limb)
        order = limbs[np.argsort([lowest[limb == n].min() for n in limbs])]
        for n in order[:2]:
            groups = np.flatnonzero(limb == n)
            best = groups[np.argmin(lowest[groups])]
            if lowest[best] < LAST_RESORT and np.median(speed[run, best]) < SWEEPING:
                out[run, best] |= height[run, best] < LAST_RESORT
    return out
