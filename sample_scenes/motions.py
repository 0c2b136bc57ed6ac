"""The motions of the sample scenes: some are those that the tests use, others are made here in the same way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from solver import Character, Motion
from tests.clips.synthetic import ANKLE, SIDES, Foot, G, Puppet, foot_path, humanoid, keyed, uniform_times

Clip = tuple[Character, Motion]


def run(rate: float = 30.0, duration: float = 3.0, speed: float = 2.7) -> Clip:
    """A run along +x with a flight after every step; the centre of mass flies on parabolas."""
    period, touch = 0.70, 0.24
    flight = 0.5 * period - touch
    half, v = 0.5 * touch, 0.5 * G * flight
    pull = 2.0 * (v / half + G)
    puppet = Puppet(humanoid(), uniform_times(round(duration * rate) + 1, rate))
    t = puppet.times
    phase = 2.0 * np.pi * t / period
    c, s = np.cos(phase), np.sin(phase)
    feet = []
    for n, (side, y) in enumerate(SIDES):
        shift = 0.5 * n * period
        beats = shift + period * np.arange(-2, int(duration / period) + 3)

        def pitch(time: np.ndarray, shift: float = shift) -> np.ndarray:
            beat = np.mod((time - shift) / period, 1.0)
            return np.radians(keyed(beat, (0.0, 0), (0.12, 0), (touch / period, 42), (0.62, 78), (0.88, 4), (1.0, 0)))

        steps = [(on, on + touch, np.array([speed * (on + half) - 0.04, 0.045 * y, ANKLE])) for on in beats]
        ankle = foot_path(t, steps, pitch, lift=0.26, brake=120.0)
        beat = np.mod((t - shift) / period, 1.0)
        bend = np.where(beat < touch / period, 1.0, keyed(beat, (touch / period, 1.0), (0.55, 0.0)))
        feet.append(Foot(side, ankle, pitch(t), bend))
    puppet.turn("pelvis", yaw=-7 * c, roll=3 * s, pitch=7)
    puppet.turn("spine", yaw=5 * c, roll=-2 * s, pitch=3)
    puppet.turn("chest", yaw=9 * c, roll=-1 * s, pitch=2)
    puppet.turn("neck", yaw=-4 * c, pitch=-5)
    puppet.turn("head", yaw=-3 * c, pitch=-6)
    for (side, y), forth in zip(SIDES, (-c, c)):
        puppet.turn(f"upperarm.{side}", pitch=14 - 36 * forth, roll=9 * y)
        puppet.turn(f"forearm.{side}", pitch=-78 - 16 * forth)
        puppet.turn(f"hand.{side}", pitch=-8, roll=-4 * y)
    u = np.mod(t, 0.5 * period)
    w = u - half
    low = 0.86
    z = low + (0.25 * pull - 0.5 * G) * w * w + 0.5 * pull * (half / np.pi) ** 2 * (1.0 - np.cos(np.pi * w / half))
    edge = low + (0.25 * pull - 0.5 * G) * half * half + pull * (half / np.pi) ** 2
    air = u > touch
    z[air] = (edge + v * (u - touch) - 0.5 * G * (u - touch) ** 2)[air]
    puppet.stand(feet, np.stack([speed * t, 0.008 * np.sin(phase), z], -1))
    return puppet.character, puppet.motion()


def squash_and_stretch(clip: Clip, amount: float = 0.22) -> Clip:
    """Let the trunk and head of a hop grow long in the air and short on landing, as in a cartoon."""
    character, motion = clip
    high = motion.positions[:, 2]
    fast = np.abs(np.gradient(high, motion.times))
    lift = np.clip((high - high[0]) / 0.15, 0.0, 1.0)
    crouch = np.clip((high[0] - high) / 0.3, 0.0, 1.0)
    stretch = 1.0 + amount * np.clip(fast / 2.0, 0.0, 1.0) * np.maximum(lift, 0.3) - amount * crouch ** 2
    kernel = np.hanning(7)
    padded = np.pad(stretch, 3, mode="edge")
    stretch = np.convolve(padded, kernel / kernel.sum(), mode="valid")
    scales = np.ones((len(motion.times), len(character), 3))
    for name in ("spine", "chest", "head"):
        share = stretch if name != "head" else 1.0 + 0.6 * (stretch - 1.0)
        scales[:, character.index(name)] = np.stack([share ** -0.5, share ** -0.5, share], -1)
    offsets = character.offsets * np.ones((len(motion.times), 1, 1))
    offsets[:, 1:] *= scales[:, character.parents[1:]]
    return character, replace(motion, offsets=offsets, scales=scales)

