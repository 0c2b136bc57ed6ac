"""Motions made by code: people, a quadruped and a cartoon ghost, for tests that must run anywhere.

Characters face +x, left is +y, z is up; at rest legs and arms hang straight down. Each function returns
(Character, Motion) and takes a rate and a duration; people take the options of `humanoid` as well. Feet are planted
by two-bone inverse kinematics: in stance the points that touch do not move, soles are at z = 0, knees and elbows turn
about y alone and bend the right way. The centre of mass of people follows a path that a body could follow (a
parabola in the air).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from solver.model.arrays import Array
from solver.model.character import Character, Link
from solver.model.motion import Motion, uniform_times
from solver.numerics import rotation
from solver.physics.kinematics import forward
from solver.physics.tree import Tree

G = 9.81
SIDES = (("L", 1.0), ("R", -1.0))

# a person of 1.75 m
THIGH, SHANK, ANKLE = 0.43, 0.42, 0.07
BALL = np.array([0.13, 0.0, -0.045])     # toe joint in the foot's frame
HEEL = np.array([-0.05, 0.0, -ANKLE])    # where the sole ends behind
TOE = np.array([0.07, 0.0, -0.015])
PAW = 0.03                               # height of the joint of a quadruped's paw


def humanoid(toes: bool = True, hinges: bool = False, tail: int = 0, fingers: int = 0,
             mass: float = 75.0) -> Character:
    """19 links and 60 degrees of freedom (17 links without toes); a tail of so many links, fingers of three."""
    def hinge(axis: Sequence[float]) -> dict[str, Any]:
        return {"joint": "hinge", "axis": axis} if hinges else {}

    links = [Link("pelvis"), Link("spine", "pelvis", (0.0, 0.0, 0.09)), Link("chest", "spine", (0.0, 0.0, 0.16)),
             Link("neck", "chest", (0.0, 0.0, 0.25)), Link("head", "neck", (0.0, 0.0, 0.10), (0.0, 0.0, 0.20))]
    for side, y in SIDES:
        links += [Link(f"thigh.{side}", "pelvis", (0.0, 0.09 * y, -0.03)),
                  Link(f"shank.{side}", f"thigh.{side}", (0.0, 0.0, -THIGH), **hinge((0.0, 1.0, 0.0))),
                  Link(f"foot.{side}", f"shank.{side}", (0.0, 0.0, -SHANK), None if toes else BALL + TOE)]
        if toes:
            links.append(Link(f"toes.{side}", f"foot.{side}", BALL, TOE))
    for side, y in SIDES:
        links += [Link(f"upperarm.{side}", "chest", (0.0, 0.18 * y, 0.20)),
                  Link(f"forearm.{side}", f"upperarm.{side}", (0.0, 0.0, -0.29), **hinge((0.0, -1.0, 0.0))),
                  Link(f"hand.{side}", f"forearm.{side}", (0.0, 0.0, -0.26), (0.0, 0.0, -0.18))]
        for n in range(fingers):
            root = (0.035 * (n - 0.5 * (fingers - 1)) / max(1, 0.5 * (fingers - 1)), 0.0, -0.09)
            for m, (offset, length) in enumerate(((root, 0.04), ((0.0, 0.0, -0.04), 0.03), ((0.0, 0.0, -0.03), 0.02))):
                above = f"finger{n}_{m - 1}.{side}" if m else f"hand.{side}"
                links.append(Link(f"finger{n}_{m}.{side}", above, offset, (0.0, 0.0, -length)))
    for n in range(tail):
        links.append(Link(f"tail{n}", f"tail{n - 1}" if n else "pelvis",
                          (-0.05, 0.0, 0.0) if n else (-0.1, 0.0, 0.02), (-0.05, 0.0, 0.0)))
    return Character.build(links, mass=mass, masses="human")


def walk(rate: float = 60.0, duration: float = 3.0, speed: float = 1.0, **body: Any) -> tuple[Character, Motion]:
    """A steady walk along +x; starts at a heel strike of the left foot."""
    period, stance = 1.05, 0.62
    puppet = Puppet(humanoid(**body), uniform_times(round(duration * rate) + 1, rate))
    phase = 2.0 * np.pi * puppet.times / period
    c, s = np.cos(phase), np.sin(phase)
    feet = []
    for n, (side, y) in enumerate(SIDES):
        shift = 0.5 * n * period
        beats = shift + period * np.arange(-2, int(duration / period) + 3)

        def pitch(t: Array, shift: float = shift) -> Array:
            beat = np.mod((t - shift) / period, 1.0)
            return np.radians(keyed(beat, (0.0, -16), (0.09, 0), (0.34, 0), (0.67, 56), (0.88, -8), (1.0, -16)))

        steps = [(on, on + stance * period, np.array([speed * on + 0.26 * speed, 0.075 * y, ANKLE])) for on in beats]
        ankle = foot_path(puppet.times, steps, pitch, lift=0.07, brake=35.0)
        beat = np.mod((puppet.times - shift) / period, 1.0)
        bend = np.where(beat < stance, 1.0, keyed(beat, (stance, 1.0), (0.80, 0.0)))
        feet.append(Foot(side, ankle, pitch(puppet.times), bend))
    puppet.turn("pelvis", yaw=-5 * c, roll=3 * s, pitch=2)
    puppet.turn("spine", yaw=4 * c, roll=-2.5 * s, pitch=1)
    puppet.turn("chest", yaw=6 * c, roll=-1.5 * s, pitch=1)
    puppet.turn("neck", yaw=-3 * c, roll=0.5 * s, pitch=-1)
    puppet.turn("head", yaw=-2 * c, roll=0.5 * s, pitch=-3)
    for (side, y), forth in zip(SIDES, (-c, c)):
        puppet.turn(f"upperarm.{side}", pitch=4 - 20 * forth, roll=6 * y)
        puppet.turn(f"forearm.{side}", pitch=-18 - 10 * forth)
        puppet.turn(f"hand.{side}", pitch=-6 - 4 * forth, roll=-4 * y)
    puppet.decorate()
    late = 2.0 * (phase - np.radians(15.0))  # twice a stride; zero in double support
    path = np.stack([speed * puppet.times + 0.010 * np.sin(late) + 0.01,
                     0.017 * np.sin(phase - np.radians(18.0)), 0.987 - 0.014 * np.cos(late)], -1)
    puppet.stand(feet, path)
    return puppet.character, puppet.motion()


def squat(rate: float = 60.0, duration: float = 3.0, **body: Any) -> tuple[Character, Motion]:
    """Down and up again on flat feet, arms out in front for balance."""
    puppet = Puppet(humanoid(**body), uniform_times(round(duration * rate) + 1, rate))
    deep = keyed(puppet.times / duration, (0.1, 0.0), (0.45, 1.0), (0.55, 1.0), (0.9, 0.0))
    puppet.turn("pelvis", pitch=22 * deep)
    puppet.turn("spine", pitch=16 * deep)
    puppet.turn("chest", pitch=4 * deep)
    puppet.turn("neck", pitch=-14 * deep)
    puppet.turn("head", pitch=-14 * deep)
    for side, y in SIDES:
        puppet.turn(f"upperarm.{side}", pitch=3 - 100 * deep, roll=5 * y)
        puppet.turn(f"forearm.{side}", pitch=-8 - 8 * deep)
        puppet.turn(f"hand.{side}", pitch=-4)
    puppet.decorate()
    feet = [Foot(side, np.tile([-0.04, 0.13 * y, ANKLE], (len(deep), 1)), 0.0 * deep, 0.0 * deep, 15.0 * y)
            for side, y in SIDES]
    path = np.stack([0.0 * deep, 0.0 * deep, 0.992 - 0.42 * deep], -1)
    puppet.stand(feet, path)
    return puppet.character, puppet.motion()


def hop(rate: float = 60.0, duration: float = 3.0, flight: float = 0.45, **body: Any) -> tuple[Character, Motion]:
    """Stands, crouches, hops on both feet as often as fits, lands and stands; `flight` seconds in the air each."""
    ready, down, half, land, rise = 0.1, 0.45, 0.17, 0.28, 0.6  # s; `half` of a contact between two hops
    tall, high, soft = 0.992, 1.01, 0.68                        # m, centre of mass: standing, take-off, landed
    puppet = Puppet(humanoid(**body), uniform_times(round(duration * rate) + 1, rate))
    t = puppet.times
    hops = max(1, int((duration - 2 * ready - down + half - land - rise + 1e-9) / (flight + 2 * half)))
    lift_off = ready + down + half + (flight + 2 * half) * np.arange(hops)
    end = lift_off[-1] + flight + land
    v = 0.5 * G * flight
    pull = 2.0 * (v / half + G)  # of the ground at the lowest point, per mass
    low = high - half * (0.5 * v + (v + G * half) * 2.0 / np.pi**2)

    z, clear = np.full(len(t), tall), np.zeros(len(t))
    for start, stop, first, last in ((ready, ready + down, (tall, 0, 0), (low, 0, pull - G)),
                                     (end - land, end, (high, -v, -G), (soft, 0, 5.0)),
                                     (end, end + rise, (soft, 0, 5.0), (tall, 0, 0))):
        now = (t > start) & (t <= stop)
        z[now] = hermite(t[now], start, first, stop, last)
    for n, start in enumerate(lift_off):
        u = t - start
        air = (u > 0.0) & (u <= flight)
        z[air] = high + v * u[air] - 0.5 * G * u[air] ** 2
        clear[air] = 0.24 * (4.0 * u[air] / flight * (1.0 - u[air] / flight)) ** 2
        for centre in (-half, flight + half)[: 2 if n + 1 < hops else 1]:
            w = u - centre  # from the lowest point; its acceleration is pull (1 + cos) / 2 - g
            touch = (np.abs(w) <= half) & (w > 0.0 if centre < 0.0 else w <= 0.0)
            wave = 0.5 * pull * (half / np.pi) ** 2 * (1.0 - np.cos(np.pi * w / half))
            z[touch] = (low + (0.25 * pull - 0.5 * G) * w * w + wave)[touch]
    crouch = np.clip((tall - z) / (tall - low), 0.0, 1.0) ** 1.5
    # heels leave the ground as the legs straighten; in the air the feet hang
    away = np.min(np.abs(t[:, None] - np.concatenate((lift_off, lift_off + flight))), axis=1)
    air = np.any((t[:, None] > lift_off) & (t[:, None] < lift_off + flight), axis=1)
    pitch = np.radians(np.where(air, 38 + 8 * quintic(away / (0.5 * flight)), 38 * (1.0 - quintic(away / 0.12))))
    swing = np.where(air, 1.0 - quintic(away / (0.5 * flight)) * 0.4, 1.0 - quintic(away / half) * 1.5)
    started = keyed(t, (ready, 0.0), (ready + down, 1.0)) * keyed(t, (end, 1.0), (end + rise, 0.0))
    puppet.turn("pelvis", pitch=16 * crouch * started)
    puppet.turn("spine", pitch=12 * crouch * started)
    puppet.turn("chest", pitch=6 * crouch * started)
    puppet.turn("neck", pitch=-12 * crouch * started)
    puppet.turn("head", pitch=-10 * crouch * started)
    for side, y in SIDES:
        puppet.turn(f"upperarm.{side}", pitch=3 - 32 * swing * started, roll=8 * y)
        puppet.turn(f"forearm.{side}", pitch=-12 - 30 * started)
        puppet.turn(f"hand.{side}", pitch=-5)
    puppet.decorate()
    feet = []
    for side, y in SIDES:
        ball = np.array([BALL[0] - 0.04, 0.10 * y, ANKLE + BALL[2]]) + np.outer(clear, [0.0, 0.0, 1.0])
        ankle = ball - rotation.rotate(about("y", pitch), np.broadcast_to(BALL, ball.shape))
        feet.append(Foot(side, ankle, pitch, np.where(air, 1.0 - 0.7 * quintic(away / 0.15), 1.0)))
    over_the_balls = 0.015 * np.where(air, 1.0, 1.0 - quintic(away / 0.2)) * started
    puppet.stand(feet, np.stack([0.01 + over_the_balls, 0.0 * t, z], -1))
    return puppet.character, puppet.motion()


def trot(rate: float = 60.0, duration: float = 3.0, speed: float = 1.2) -> tuple[Character, Motion]:
    """A quadruped stands for 0.6 s, then trots along +x (or in place with speed 0)."""
    period, duty, start = 0.52, 0.54, 0.6
    puppet = Puppet(quadruped(), uniform_times(round(duration * rate) + 1, rate))
    t = puppet.times

    def way(time: Array) -> Array:
        """The body's path: starts smoothly."""
        return speed * np.logaddexp(0.0, 6.0 * (np.asarray(time) - start - 0.55)) / 6.0

    phase = 2.0 * np.pi * (t - start) / period
    going = keyed(t, (start, 0.0), (start + 0.5, 1.0))
    bob = 0.008 * going * -np.cos(2.0 * phase)
    puppet.position[:] = np.stack([way(t), 0.008 * going * np.sin(phase), 0.505 + bob], -1)
    puppet.turn("pelvis", roll=1.5 * going * np.sin(phase), yaw=1.5 * going * np.cos(phase))
    puppet.turn("loin", yaw=-2.0 * going * np.cos(phase), pitch=1.0 * going * np.cos(2.0 * phase))
    puppet.turn("chest", roll=-2.0 * going * np.sin(phase), pitch=-1.0 * going * np.cos(2.0 * phase))
    puppet.turn("neck1", pitch=3.0 + 2.0 * going * np.cos(2.0 * phase + 0.6))
    puppet.turn("neck2", pitch=-4.0 - 2.0 * going * np.cos(2.0 * phase + 0.2))
    puppet.turn("head", pitch=8.0)
    for n in (1, 2):
        puppet.turn(f"tail{n}", yaw=9.0 * np.sin(0.5 * phase - 0.7 * n), pitch=-5.0)
    for end, side, beat in (("front", "L", 0.0), ("hind", "R", 0.0), ("front", "R", 0.5), ("hind", "L", 0.5)):
        y = 0.08 if side == "L" else -0.08
        x = 0.50 if end == "front" else 0.02
        lifts = start + period * (beat + np.arange(int(duration / period) + 2))
        ons = lifts + (1.0 - duty) * period
        places = [np.array([x + float(way(on + 0.5 * duty * period)), y, PAW]) for on in ons]
        steps = list(zip(np.append(-9.0, ons), np.append(lifts, lifts[-1] + period),
                         [np.array([x, y, PAW]), *places]))
        paw = foot_path(t, steps, np.zeros_like, lift=0.06)
        swing = np.zeros(len(t))
        for lift, on in zip(lifts, ons):
            swing += bump((t - lift) / (on - lift))
        behind = np.degrees(np.arctan2(way(t) + x - paw[:, 0], 0.4))  # the whole leg leans
        lean = (6.0 + 0.9 * behind + 50.0 * swing) if end == "front" else (-14.0 + 0.9 * behind + 40.0 * swing)
        puppet.step(end, side, paw, np.radians(lean), np.radians(40.0 * swing))
    return puppet.character, puppet.motion()


def quadruped(mass: float = 30.0) -> Character:
    """24 links, as large as a big dog; at rest the legs are straight, longer than it stands."""
    links = [Link("pelvis"), Link("loin", "pelvis", (0.18, 0.0, 0.03)), Link("chest", "loin", (0.20, 0.0, 0.0)),
             Link("neck1", "chest", (0.18, 0.0, 0.05)), Link("neck2", "neck1", (0.10, 0.0, 0.09)),
             Link("head", "neck2", (0.08, 0.0, 0.09), (0.17, 0.0, -0.03)),
             Link("tail1", "pelvis", (-0.10, 0.0, 0.03)),
             Link("tail2", "tail1", (-0.14, 0.0, -0.06), (-0.16, 0.0, -0.05))]
    for side, y in SIDES:
        links += [Link(f"hind_upper.{side}", "pelvis", (0.0, 0.08 * y, -0.02)),
                  Link(f"hind_lower.{side}", f"hind_upper.{side}", (0.0, 0.0, -0.20)),
                  Link(f"hind_meta.{side}", f"hind_lower.{side}", (0.0, 0.0, -0.21)),
                  Link(f"hind_paw.{side}", f"hind_meta.{side}", (0.0, 0.0, -0.13), (0.07, 0.0, -0.02)),
                  Link(f"front_upper.{side}", "chest", (0.10, 0.08 * y, -0.10)),
                  Link(f"front_lower.{side}", f"front_upper.{side}", (0.0, 0.0, -0.18)),
                  Link(f"front_meta.{side}", f"front_lower.{side}", (0.0, 0.0, -0.20)),
                  Link(f"front_paw.{side}", f"front_meta.{side}", (0.0, 0.0, -0.09), (0.07, 0.0, -0.02))]
    return Character.build(links, mass=mass)


def ghost(rate: float = 60.0, duration: float = 3.0) -> tuple[Character, Motion]:
    """A cartoon ghost that floats, spins ever faster, and squashes and stretches: nothing a body could do."""
    links = [Link("body", tip=(0.0, 0.0, 0.5)), Link("head", "body", (0.0, 0.0, 0.5), (0.0, 0.0, 0.45))]
    for side, y in SIDES:
        links += [Link(f"arm.{side}", "body", (0.0, 0.22 * y, 0.42)),
                  Link(f"hand.{side}", f"arm.{side}", (0.0, 0.3 * y, 0.0), (0.0, 0.2 * y, 0.0))]
    links += [Link("wisp1", "body", (0.0, 0.0, -0.05)), Link("wisp2", "wisp1", (0.0, 0.0, -0.2)),
              Link("wisp3", "wisp2", (0.0, 0.0, -0.15), (0.0, 0.0, -0.15))]
    character = Character.build(links, mass=20.0)
    puppet = Puppet(character, uniform_times(round(duration * rate) + 1, rate))
    t = puppet.times
    beat = 2.0 * np.pi * t / 0.9
    puppet.position[:] = np.stack([0.4 * t, 0.3 * np.sin(1.7 * t), 1.0 + 0.2 * np.abs(np.sin(0.5 * beat)) ** 1.5], -1)
    puppet.turn("body", yaw=40.0 * t + 60.0 * t * t, pitch=12.0 * np.sin(beat))
    puppet.turn("head", pitch=-15.0 * np.sin(beat + 0.6), roll=10.0 * np.sin(0.5 * beat))
    for side, y in SIDES:
        puppet.turn(f"arm.{side}", roll=y * (25.0 * np.sin(beat + y)), yaw=15.0 * np.cos(beat))
        puppet.turn(f"hand.{side}", roll=y * (35.0 * np.sin(beat + y - 0.8)))
    for n in range(1, 4):
        puppet.turn(f"wisp{n}", pitch=18.0 * np.sin(beat - 0.8 * n), roll=14.0 * np.sin(0.7 * beat - 0.8 * n))
    high = np.ones((len(t), len(character)))  # each link's stretch along z; thinner where longer
    high[:, 0] = 1.0 + 0.30 * np.sin(beat)
    high[:, 1] = 1.0 - 0.20 * np.sin(beat - 0.5)
    scales = np.stack([high**-0.5, high**-0.5, high], -1)
    offsets = character.offsets * np.ones((len(t), 1, 1))
    offsets[:, 1:] *= scales[:, character.parents[1:]]  # joints ride on the stretched parents
    motion = puppet.motion()
    return character, Motion(motion.times, motion.positions, motion.rotations, offsets, scales)


def random_tree(n_links: int, seed: int, rate: float = 60.0, duration: float = 2.0,
                hinges: float = 0.3) -> tuple[Character, Motion]:
    """A tree of any shape with smooth random motion; a share of the joints are hinges."""
    random = np.random.default_rng(seed)
    links = [Link("link0", tip=(0.0, 0.0, 0.2))]
    for i in range(1, n_links):
        reach = random.uniform(0.1, 0.4)
        direction = random.normal(size=3)
        links.append(Link(f"link{i}", f"link{random.integers(0, i)}", random.normal(size=3) * 0.15,
                          reach * direction / np.linalg.norm(direction),
                          "hinge" if random.uniform() < hinges else "ball", tuple(random.normal(size=3))))
    character = Character.build(links, mass=10.0 + 2.0 * n_links, masses="length")
    puppet = Puppet(character, uniform_times(round(duration * rate) + 1, rate))

    def wander(width: int) -> Array:
        """Three slow waves per channel."""
        t, out = puppet.times[:, None], np.zeros((len(puppet.times), width))
        for _ in range(3):
            size, speed, late = random.normal(size=width), random.uniform(1, 6, width), random.uniform(0, 6, width)
            out += size / speed * np.sin(speed * t + late)
        return out

    puppet.position[:] = wander(3) + [0.0, 0.0, 1.0]
    for i, joint in enumerate(character.joints):
        turn = wander(3) if joint == "ball" else wander(1) * character.axes[i]
        puppet.rotations[:, i] = rotation.exp(turn)
    return character, puppet.motion()


# ---------------------------------------------------------------------------------------------------------- tools

class Foot:
    """Where one foot of a person is over the frames."""

    def __init__(self, side: str, ankle: Array, pitch: Array, toes_flat: Array, yaw: float = 0.0) -> None:
        self.side = side
        self.ankle = ankle          # (F, 3)
        self.pitch = pitch          # (F,) rad, heel up is positive
        self.toes_flat = toes_flat  # (F,) 1: the toes make up for the pitch and lie flat
        self.yaw = yaw              # degrees, to the left


class Puppet:
    """A character being posed, all frames at once."""

    def __init__(self, character: Character, times: Array) -> None:
        self.character, self.times, self.tree = character, times, Tree(character)
        self.position = np.zeros((len(times), 3))
        self.rotations = np.tile(rotation.IDENTITY, (len(times), len(character), 1))

    def turn(self, name: str, yaw: Array | float = 0.0, pitch: Array | float = 0.0, roll: Array | float = 0.0) -> None:
        """Degrees about z, then y, then x; pitch forward (down at the front) is positive."""
        angles = np.stack(np.broadcast_arrays(yaw, pitch, roll, self.times)[:3], -1)
        self.rotations[:, self.character.index(name)] = rotation.from_euler(np.radians(angles), "zyx")

    def aim(self, name: str, world: Array) -> Array:
        """Turn a link to a world rotation (F, 4); returns it."""
        i = self.character.index(name)
        self.rotations[:, i] = rotation.multiply(rotation.conjugate(self.world(int(self.character.parents[i]))), world)
        return world

    def world(self, i: int) -> Array:
        """World rotation (F, 4) of a link."""
        q = self.rotations[:, i]
        while (i := int(self.character.parents[i])) >= 0:
            q = rotation.multiply(self.rotations[:, i], q)
        return q

    def place(self, i: int) -> Array:
        """World place (F, 3) of a link's joint."""
        offset, parent = self.character.offsets[i], int(self.character.parents[i])
        if parent < 0:
            return self.position
        return self.place(parent) + rotation.rotate(self.world(parent), np.broadcast_to(offset, self.position.shape))

    def reach(self, upper: str, lower: str, end: Array, pole: Array, bends: float = 1.0) -> None:
        """Two links that hang straight down at rest: their far end goes to `end`, the joint between towards `pole`.

        `bends` is the sign of the angle about y by which the joint between bends.
        """
        i = self.character.index(lower)
        below = next(c for c in self.character.children[i])
        l1, l2 = -self.character.offsets[i][2], -self.character.offsets[below][2]
        start = self.place(self.character.index(upper))
        d = end - start
        length = np.linalg.norm(d, axis=-1, keepdims=True)
        if length.max() > 0.9999 * (l1 + l2):
            frame = int(length.argmax())
            raise ValueError(f"{upper} cannot reach at frame {frame}: {length.max():.4f} m of {l1 + l2:.4f} m")
        d = d / length
        y = bends * np.cross(pole, d)
        y /= np.linalg.norm(y, axis=-1, keepdims=True)
        cosine = (l1 * l1 + length**2 - l2 * l2) / (2.0 * l1 * length)
        u = d * cosine + bends * np.cross(d, y) * np.sqrt(1.0 - cosine**2)
        self.aim(upper, frame_of(-u, y))
        self.aim(lower, frame_of(-(end - start - l1 * u) / l2, y))

    def stand(self, feet: Sequence[Foot], path: Array) -> None:
        """Place the root so that the centre of mass follows `path` (F, 3) while the feet are where they are."""
        self.position[:, :2], self.position[:, 2] = path[:, :2], path[:, 2] - 0.06
        for _ in range(60):
            for foot in feet:
                yaw = np.full(len(path), np.radians(foot.yaw))
                heading = np.stack([np.cos(yaw), np.sin(yaw), 0.0 * yaw], -1)
                self.reach(f"thigh.{foot.side}", f"shank.{foot.side}", foot.ankle, heading)
                self.aim(f"foot.{foot.side}", rotation.multiply(about("z", yaw), about("y", foot.pitch)))
                if f"toes.{foot.side}" in self.character.names:
                    bend = -np.maximum(foot.pitch, 0.0) * foot.toes_flat
                    self.rotations[:, self.character.index(f"toes.{foot.side}")] = about("y", bend)
            error = path - self.centre()
            if np.abs(error).max() < 1e-7:
                return
            self.position += error
        raise ValueError(f"the centre of mass misses its path by {np.abs(error).max():.1e} m")

    def step(self, end: str, side: str, paw: Array, lean: Array, pitch: Array) -> None:
        """One leg of the quadruped: the paw's joint, the lean of the long foot above it, the pitch of the paw."""
        i = self.character.index(f"{end}_paw.{side}")
        foot = about("y", lean)
        hock = paw - rotation.rotate(foot, np.broadcast_to(self.character.offsets[i], paw.shape))
        bends = 1.0 if end == "hind" else -1.0
        pole = np.broadcast_to([bends, 0.0, 0.0], paw.shape)
        self.reach(f"{end}_upper.{side}", f"{end}_lower.{side}", hock, pole, bends)
        self.aim(f"{end}_meta.{side}", foot)
        self.aim(f"{end}_paw.{side}", about("y", pitch))

    def centre(self) -> Array:
        c = self.character
        pose = forward(self.tree, c.offsets, self.position, self.rotations)
        centres = pose.x + (pose.R @ c.coms[..., None])[..., 0]
        return self.position + (c.masses @ centres) / c.mass

    def decorate(self) -> None:
        """A wave along the tail, fingers half closed."""
        for name in self.character.names:
            if name.startswith("tail"):
                n = int(name[4:])
                self.turn(name, yaw=4.0 * np.sin(5.0 * self.times - 0.35 * n), pitch=-6.0 if n < 5 else 1.0)
            if name.startswith("finger"):
                self.turn(name, pitch=-12.0 - 4.0 * np.sin(2.0 * self.times + int(name[6])))

    def motion(self) -> Motion:
        return Motion(self.times, self.position, rotation.aligned(self.rotations))


def quintic(u: Array) -> Array:
    """0 to 1 with neither speed nor acceleration at the ends."""
    u = np.clip(u, 0.0, 1.0)
    return u * u * u * (10.0 + u * (6.0 * u - 15.0))


def bump(u: Array) -> Array:
    """0 to 1 and back to 0, smooth at the ends."""
    u = np.clip(u, 0.0, 1.0)
    return (4.0 * u * (1.0 - u)) ** 3


def keyed(t: Array, *keys: tuple[float, float]) -> Array:
    """Values at times, eased from key to key, constant outside."""
    value = np.full(np.shape(t), float(keys[0][1]))
    for (t0, v0), (t1, v1) in pairwise(keys):
        value = value + (v1 - v0) * quintic((t - t0) / (t1 - t0))
    return value


def hermite(t: Array, t0: float, start: Sequence[Any], t1: float, stop: Sequence[Any]) -> Array:
    """The quintic through (value, speed, acceleration) at both ends."""
    T = t1 - t0
    (p0, v0, a0), (p1, v1, a1) = ([np.asarray(x) * T**n for n, x in enumerate(end)] for end in (start, stop))
    u = ((t - t0) / T)[(...,) + (None,) * p0.ndim]
    r = p1 - p0 - v0 - 0.5 * a0
    rv, ra = v1 - v0 - a0, a1 - a0
    c3, c4, c5 = 10 * r - 4 * rv + 0.5 * ra, -15 * r + 7 * rv - ra, 6 * r - 3 * rv + 0.5 * ra
    return p0 + u * (v0 + u * (0.5 * a0 + u * (c3 + u * (c4 + u * c5))))


def about(axis: str, angle: Array) -> Array:
    return rotation.from_euler(np.asarray(angle)[..., None], axis)


def frame_of(z: Array, y: Array) -> Array:
    """The rotation (F, 4) whose frame has these axes (F, 3)."""
    return rotation.from_matrix(np.stack([np.cross(y, z), y, z], -1))


def foot_path(t: Array, steps: Sequence[tuple[float, float, Array]], pitch: Callable[[Array], Array],
              lift: float, brake: float = 0.0) -> Array:
    """The ankle (F, 3) of a foot that stands from `on` to `off` at `place` (ankle of the flat foot) and swings between.

    In stance it rolls: over the heel while the pitch is negative, over the ball while it is positive. It lands
    without speed, braking with `brake` m/s2 until it does.
    """
    def rolled(time: Array, place: Array) -> Array:
        angle = np.atleast_1d(pitch(np.atleast_1d(time)))
        pivot = np.where((angle < 0.0)[:, None], HEEL, BALL)
        return place + pivot - rotation.rotate(about("y", angle), pivot)

    def motion_at(time: float, place: Array) -> tuple[Array, Array, Array]:
        h = 1e-4
        x = rolled(np.array([time - h, time, time + h]), place)
        return x[1], (x[2] - x[0]) / (2 * h), (x[2] - 2 * x[1] + x[0]) / h**2

    path = np.zeros((len(t), 3))
    for n, (on, off, place) in enumerate(steps):
        stance = (t >= on) & (t <= off)
        path[stance] = rolled(t[stance], place)
        if n + 1 < len(steps):
            landing, target = steps[n + 1][0], steps[n + 1][2]
            swing = (t > off) & (t < landing)
            x, v, a = motion_at(landing, target)
            ahead = target - place
            a = a - brake * ahead / max(float(np.linalg.norm(ahead)), 1e-9)
            path[swing] = hermite(t[swing], off, motion_at(off, place), landing, (x, v, a))
            path[swing, 2] += lift * bump(((t[swing] - off) / (landing - off)) ** 0.65)  # highest early
    return path


CLIPS: dict[str, Callable[..., tuple[Character, Motion]]] = {
    "walk": walk, "squat": squat, "hop": hop, "trot": trot, "ghost": ghost,
    "walk_tail": lambda **options: walk(tail=20, **options),
    "walk_fingers": lambda **options: walk(fingers=5, **options),
}
