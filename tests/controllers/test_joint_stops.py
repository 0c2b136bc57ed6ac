"""Joints brake on the way to their limits; keys that hurry towards theirs are followed all the same."""

from dataclasses import replace

import numpy as np
import pytest

from solver import Character, Motion, Push, Scene, bake, finish
from solver.numerics import rotation
from tests import worlds

LIMIT = 1.0   # rad
ELBOW = "forearm.L"


def waving(rate: float, middle: float = 0.0, limit: float = LIMIT, joint: str = "ball") -> tuple[Character, Motion]:
    """One who stands still but for a forearm that swings `rate` times a second by almost LIMIT about `middle`."""
    sides = (1,) if joint == "hinge" else (3,)
    links = [replace(link, joint=joint, axis=(0.0, 0.0, 1.0), limits=(np.full(sides, -limit), np.full(sides, limit)))
             if link.name == ELBOW else link for link in worlds.humanoid_links()]
    character = Character.build(links)
    motion = worlds.still(character, frames=181, rate=60.0)
    rotations = motion.rotations.copy()
    angle = middle + 0.999 * LIMIT * np.sin(2.0 * np.pi * rate * motion.times)
    rotations[:, character.index(ELBOW)] = rotation.exp(angle[:, None] * np.array([0.0, 0.0, 1.0]))
    return character, replace(motion, rotations=rotations)


@pytest.mark.parametrize("rate", [0.5, 2.0, 4.0])
@pytest.mark.parametrize(("body", "force"), [("chest", 150.0), ("hand.L", 60.0)])
def test_a_push_fades_where_keys_hurry_to_their_limits(rate: float, body: str, force: float) -> None:
    """At 4 Hz keys turn by a third of their range in one step."""
    character, motion = waving(rate)
    result = finish(bake(Scene(character, motion, pushes=(Push.constant(body, (0.0, force, 0.0), 0.5, 0.2),))))
    assert result.deviation.max() > 0.01
    assert result.deviation[motion.times > 2.5].max() < 1e-6
    angles = rotation.log(result.motion.rotations[:, character.index(ELBOW)])
    assert np.abs(angles).max() < LIMIT + 1e-3


def test_a_joint_that_turns_through_half_a_turn_is_not_caught_there() -> None:
    """Limits of half a turn to either side are none: there an angle changes its sign, and nothing else."""
    push = Push.constant("hand.L", (0.0, 30.0, 0.0), 0.5, 0.2)
    free, limited = (finish(bake(Scene(*waving(0.7, np.pi, limit, "hinge"), pushes=(push,)))).motion.rotations
                     for limit in (np.inf, np.pi))
    assert np.array_equal(free, limited)
