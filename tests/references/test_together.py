"""Footholds of who goes on hands and knees: chosen together."""

import numpy as np
import pytest

from solver.model.terrain import Plane, Terrain
from solver.references.footholds import Foothold, Stance
from solver.references.laying import lay
from tests import terrains

TIMES = np.linspace(0.0, 1.0, 61)
FOOT, KNEE, HAND = 0, 1, 2
SHANK = 0.42             # m
SOLE = np.stack([g.ravel() for g in np.meshgrid(np.linspace(-0.1, 0.1, 6), np.linspace(-0.04, 0.04, 3))], axis=1)


def stance_of(limb: int, x: float, first: int) -> Stance:
    """A limb that comes down at x and stays to the end."""
    print_ = SOLE if limb == FOOT else 0.3 * SOLE
    return Stance(limb, first, 60, np.array([x, 0.0, 0.0]), print_, np.array([1.0, 0.0]), True, 1.0, 0.5, 2.0,
                  np.array([[x, 0.0], [x, 0.0]]), False)


def laid(x: float, terrain: Terrain) -> dict[int, Foothold]:
    """A foot at x, the knee of the same leg ahead of it, then a hand ahead of both."""
    stances = [stance_of(FOOT, x, 0), stance_of(KNEE, x + SHANK, 20), stance_of(HAND, x + SHANK + 0.15, 40)]
    _, holds = lay(stances, terrain, TIMES, np.zeros((len(TIMES), 2)), [True, False, False], {FOOT: KNEE, KNEE: FOOT})
    return {hold.stance.limb: hold for hold in holds}


@pytest.mark.parametrize("x", [0.6, 0.75, 0.9, 1.05, 1.2, 1.35])
@pytest.mark.parametrize("rise", [0.5, -0.5])
def test_foot_and_knee_of_a_leg_kneel_on_one_tread(x: float, rise: float) -> None:
    holds = laid(x, terrains.stairs(rise))
    foot, knee = holds[FOOT].place[0], holds[KNEE].place[0]
    assert foot[2] == pytest.approx(knee[2], abs=1e-6)
    assert np.linalg.norm(knee - foot) == pytest.approx(SHANK, abs=0.03)


def test_limbs_are_shifted_together() -> None:
    """The hand has no reason of its own to leave its place, which is far from all edges."""
    holds = laid(0.65, terrains.stairs(0.5, tread=3.0))          # the foot hangs over the edge at 0.6
    shift = holds[FOOT].place[0, 0] - 0.65
    assert shift > 0.05
    assert holds[HAND].place[0, 0] > 0.65 + SHANK + 0.15 + 0.3 * shift


def test_on_level_ground_nothing_moves() -> None:
    """Bit for bit."""
    assert all(hold.is_unchanged for hold in laid(0.9, Plane.level()).values())
