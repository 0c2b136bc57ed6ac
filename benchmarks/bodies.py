"""People of 30 to 150 degrees of freedom who stand on flat feet: four points under each sole, all ball joints."""

from __future__ import annotations

import numpy as np

from solver import Character, ContactPoints, Limb, Link, Motion
from tests.clips.synthetic import ANKLE, SHANK, SIDES, THIGH, Foot, Puppet, humanoid, keyed

SIZES = (30, 60, 90, 150)
PERIOD = 2.0      # s, down and up again
DEPTH = 0.10      # m
SOLE = ((-0.05, 0.035), (-0.05, -0.035), (0.18, 0.045), (0.18, -0.045))  # m, ahead of and beside the ankle


def person(freedoms: int) -> Character:
    """The same legs at every size; what differs is arms, then a tail of 10, then fingers."""
    bodies = {30: _armless, 60: humanoid, 90: lambda: humanoid(tail=10), 150: lambda: humanoid(fingers=5)}
    character = bodies[freedoms]()
    assert 3 + 3 * len(character) == freedoms
    return character.with_points(_soles(character))


def standing(freedoms: int, duration: float, rate: float = 60.0) -> tuple[Character, Motion]:
    """Knees bend and straighten over planted feet: all eight points touch in every frame."""
    character = person(freedoms)
    puppet = Puppet(character, np.arange(round(duration * rate) + 1) / rate)
    deep = keyed(np.mod(puppet.times / PERIOD, 1.0), (0.1, 0.0), (0.5, 1.0), (0.9, 0.0))
    puppet.turn("chest", pitch=8.0 * deep)
    for side, y in SIDES:
        if f"upperarm.{side}" in character.names:
            puppet.turn(f"upperarm.{side}", pitch=3.0 - 25.0 * deep, roll=5.0 * y)
            puppet.turn(f"forearm.{side}", pitch=-10.0)
    puppet.decorate()
    feet = [Foot(side, np.tile([-0.04, 0.1 * y, ANKLE], (len(deep), 1)), 0.0 * deep, 0.0 * deep) for side, y in SIDES]
    high = puppet.centre()[0, 2] + THIGH + SHANK + ANKLE
    puppet.stand(feet, np.stack([0.01 + 0.0 * deep, 0.0 * deep, high - DEPTH * deep], -1))
    return character, puppet.motion()


def _armless() -> Character:
    links = [Link("pelvis"), Link("chest", "pelvis", (0.0, 0.0, 0.2), role="trunk"),
             Link("head", "chest", (0.0, 0.0, 0.35), (0.0, 0.0, 0.2))]
    for side, y in SIDES:
        links += [Link(f"thigh.{side}", "pelvis", (0.0, 0.09 * y, -0.03)),
                  Link(f"shank.{side}", f"thigh.{side}", (0.0, 0.0, -THIGH)),
                  Link(f"foot.{side}", f"shank.{side}", (0.0, 0.0, -SHANK), (0.2, 0.0, -0.06))]
    return Character.build(links, mass=75.0)


def _soles(character: Character) -> ContactPoints:
    """The heel pair on the foot, the tip pair on the toes where there are any."""
    entries = []
    for side, _ in SIDES:
        foot, limb = character.index(f"foot.{side}"), Limb(f"foot.{side}", "foot")
        toes = next(iter(character.children[foot]), foot)
        for n, (ahead, beside) in enumerate(SOLE):
            link = foot if n < 2 else toes
            ankle = np.zeros(3) if link == foot else character.offsets[toes]
            entries.append((limb, link, np.array([ahead, beside, -ANKLE]) - ankle, n // 2, 0.0))
    return ContactPoints.build(entries)
