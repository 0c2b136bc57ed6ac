"""A motion: poses over frames, on the rotation group, at any rate.

Squash and stretch travel along: `offsets` are the joints' places in their parents' frames, `scales` the links' own
scale, both per frame and both optional. Resampling passes exactly through the keys.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline

from ..errors import InputError
from ..numerics import rotation
from .arrays import Array, Bools, freeze, frozen_array

UNIT = 1e-6  # how far a quaternion's length may be from one; real keys are within rounding


@dataclass(frozen=True, eq=False)
class Motion:
    """Poses of the links of a character, in the order of its `names` (parents first)."""

    times: Array                   # (F,) s, strictly increasing
    positions: Array               # (F, 3) m, the root joint in the world
    rotations: Array               # (F, N, 4) w x y z; [:, 0] root in the world, others child in parent
    offsets: Array | None = None   # (F, N, 3) m
    scales: Array | None = None    # (F, N, 3)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "times", frozen_array(self.times, (None,), "The times", "Motion"))
        frames = len(self.times)
        if frames < 2:
            raise InputError(f"The motion has {frames} frame(s).", "Motion", "Choose a range of at least two frames.")
        steps = np.diff(self.times)
        if (steps <= 0.0).any():
            bad = int(np.flatnonzero(steps <= 0.0)[0]) + 1
            raise InputError(f"Time {self.times[bad]:g} s repeats or goes back.", f"Motion, frame {bad}",
                             "Give each frame a later time than the one before.")
        set_(self, "positions", frozen_array(self.positions, (frames, 3), "The root position", "Motion"))
        rotations = frozen_array(self.rotations, (frames, None, 4), "The rotations", "Motion")
        length = np.linalg.norm(rotations, axis=-1)
        if np.abs(length - 1.0).max(initial=0.0) > UNIT:
            f, n = (int(i) for i in np.unravel_index(int(np.abs(length - 1.0).argmax()), length.shape))
            raise InputError(f"The rotation of link {n} has length {length[f, n]:.4g} instead of 1.",
                             f"Motion, frame {f}", "Normalise the quaternions.")
        set_(self, "rotations", rotations)
        links = rotations.shape[1]
        for name in ("offsets", "scales"):
            value = getattr(self, name)
            if value is not None:
                set_(self, name, frozen_array(value, (frames, links, 3), f"The {name}", "Motion"))
        if self.scales is not None and (self.scales <= 0.0).any():
            f, n, _ = (int(i) for i in np.argwhere(self.scales <= 0.0)[0])
            raise InputError(f"The scale of link {n} is not positive.", f"Motion, frame {f}", "Key a scale above zero.")

    def __len__(self) -> int:
        return len(self.times)

    @property
    def duration(self) -> float:
        return float(self.times[-1] - self.times[0])

    @property
    def rate(self) -> float:
        """Mean frames per second."""
        return (len(self) - 1) / self.duration

    def part(self, start: int, stop: int) -> Motion:
        """Frames start .. stop - 1."""
        if not 0 <= start < stop <= len(self):
            raise InputError(f"Frames {start} .. {stop - 1} are outside its 0 .. {len(self) - 1}.", "Motion",
                             "Choose frames within the clip.")
        cut = slice(start, stop)
        return Motion(self.times[cut], self.positions[cut], self.rotations[cut],
                      None if self.offsets is None else self.offsets[cut],
                      None if self.scales is None else self.scales[cut])

    def resampled(self, times: Array, straight: bool = False) -> Motion:
        """The motion at other times within its range: twice continuously differentiable (a cubic spline of
        sign-aligned quaternion components, renormalised), or straight between the keys, where a spline would swing
        past what comes to a sudden stop; and the keys themselves wherever a time is a key's."""
        times = np.asarray(times, dtype=np.float64)
        slack = 1e-9 * max(1.0, self.duration)
        if times[0] < self.times[0] - slack or times[-1] > self.times[-1] + slack:
            raise InputError(f"{times[0]:g} .. {times[-1]:g} s is outside the motion's {self.times[0]:g} .. "
                             f"{self.times[-1]:g} s.", "Motion", "Choose times within the clip.")
        key = np.clip(np.searchsorted(self.times, times - slack), 0, len(self) - 1)
        on_key = np.abs(self.times[key] - times) <= slack

        def sample(values: Array) -> Array:
            between = make_interp_spline(self.times, values, 1) if straight else CubicSpline(self.times, values, axis=0)
            smooth = np.asarray(between(times))
            smooth[on_key] = values[key[on_key]]
            return smooth

        rotations = _slerped(self.times, self.rotations, times)
        if not straight:
            is_wild = _is_wild(self.times, self.rotations)[:, None]
            rotations = rotation.normalised(np.where(is_wild, rotations, sample(rotation.aligned(self.rotations))))
        rotations[on_key] = self.rotations[key[on_key]]
        return Motion(freeze(times.copy()), sample(self.positions), rotations,
                      None if self.offsets is None else sample(self.offsets),
                      None if self.scales is None else np.maximum(sample(self.scales), 1e-6))

    def with_poses(self, positions: Array, rotations: Array) -> Motion:
        return replace(self, positions=positions, rotations=rotations)


def _is_wild(keys: Array, rotations: Array) -> Bools:
    """(N,) links whose components pass near zero between keys (half a turn apart, or very uneven in time): a spline
    of components says nothing there, the straight way is taken instead."""
    spline = CubicSpline(keys, rotation.aligned(rotations), axis=0)
    shortest = np.full(rotations.shape[1], np.inf)
    for share in np.arange(1, 16) / 16.0:
        between = np.linalg.norm(spline(keys[:-1] + share * np.diff(keys)), axis=-1)
        shortest = np.minimum(shortest, between.min(0))
    return np.asarray(shortest < 0.3)


def _slerped(keys: Array, rotations: Array, times: Array) -> Array:
    at = np.clip(np.searchsorted(keys, times, side="right") - 1, 0, len(keys) - 2)
    share = (times - keys[at]) / (keys[at + 1] - keys[at])
    step = rotation.subtract(rotations[at + 1], rotations[at])
    return rotation.add(rotations[at], share[:, None, None] * step)


def uniform_times(frames: int, rate: float, start: float = 0.0) -> Array:
    """Times of `frames` frames at `rate` per second."""
    return start + np.arange(frames) / rate
