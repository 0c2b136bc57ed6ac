"""The made motions are what they say: planted feet, right knees, free fall, and bodies of the right size."""

import numpy as np
import pytest

from solver.model.character import Character
from solver.model.motion import Motion
from solver.numerics import rotation
from solver.physics.kinematics import Pose, forward
from solver.physics.shape import shape_of
from solver.physics.tree import Tree
from tests.clips import synthetic
from tests.clips.synthetic import ANKLE, BALL, CLIPS, HEEL, TOE
from tests.tolerances import ROUNDING

SLIDE = 1e-3  # m per frame


def posed(character: Character, motion: Motion) -> Pose:
    return forward(Tree(character), shape_of(character, motion).offsets, motion.positions, motion.rotations)


def point(character: Character, pose: Pose, name: str, local: np.ndarray) -> np.ndarray:
    i = character.index(name)
    return pose.position + pose.x[:, i] + pose.R[:, i] @ local


def centre(character: Character, pose: Pose) -> np.ndarray:
    return pose.position + character.masses @ (pose.x + (pose.R @ character.coms[..., None])[..., 0]) / character.mass


def knee(character: Character, motion: Motion, name: str) -> np.ndarray:
    return rotation.twist_angle(motion.rotations[:, character.index(name)], np.array([0.0, 1.0, 0.0]))


@pytest.mark.parametrize(("name", "links", "dofs"), [
    ("walk", 19, 60), ("squat", 19, 60), ("hop", 19, 60), ("trot", 24, 75), ("ghost", 9, 30), ("walk_tail", 39, 120),
    ("walk_fingers", 49, 150)])
@pytest.mark.parametrize(("rate", "duration"), [(24, 2.5), (60, 4.0)])
def test_clips_have_the_size_they_promise(name: str, links: int, dofs: int, rate: int, duration: float) -> None:
    character, motion = CLIPS[name](rate=rate, duration=duration)
    assert (len(character), Tree(character).nv) == (links, dofs)
    assert motion.rate == pytest.approx(rate)
    assert motion.duration == pytest.approx(duration)
    again = CLIPS[name](rate=rate, duration=duration)[1]
    assert np.array_equal(again.rotations, motion.rotations)


def test_humanoid_is_a_person() -> None:
    character = synthetic.humanoid()
    rest = character.rest_positions
    assert character.mass == pytest.approx(75.0)
    assert (rest + character.tips)[:, 2].max() - rest[:, 2].min() == pytest.approx(1.75 - ANKLE - BALL[2], abs=1e-9)
    roles = dict(zip(character.names, character.roles, strict=True))
    assert {roles[f"{part}.{side}"] for part in ("thigh", "shank") for side in "LR"} == {"leg"}
    assert (roles["foot.L"], roles["toes.R"], roles["hand.L"], roles["chest"], roles["head"]) == (
        "foot", "toe", "hand", "trunk", "head")
    assert character.leg_length == pytest.approx(synthetic.THIGH + synthetic.SHANK)
    assert len(synthetic.humanoid(toes=False)) == 17


def test_fingers_and_tail_have_roles_of_their_own() -> None:
    fingers, tail = synthetic.humanoid(fingers=5), synthetic.humanoid(tail=20)
    assert {fingers.roles[fingers.index(f"hand.{side}")] for side in "LR"} == {"hand"}
    assert {role for name, role in zip(fingers.names, fingers.roles) if name.startswith("finger")} == {"other"}
    assert {role for name, role in zip(tail.names, tail.roles) if name.startswith("tail")} == {"tail"}


def test_quadruped_has_four_legs() -> None:
    character = synthetic.quadruped()
    assert character.roles.count("foot") == 4
    assert character.roles.count("leg") == 12
    assert {character.roles[character.index(name)] for name in ("loin", "chest")} == {"trunk"}
    assert {character.roles[character.index(f"tail{n}")] for n in (1, 2)} == {"tail"}


@pytest.mark.parametrize("rate", [30, 60])
def test_walking_feet_roll_over_heel_and_ball_without_sliding(rate: int) -> None:
    character, motion = synthetic.walk(rate=rate, duration=3.0)
    pose = posed(character, motion)
    for side, shift in (("L", 0.0), ("R", 0.5)):
        beat = np.mod(motion.times / 1.05 - shift, 1.0)
        for local, foot, first, last in ((HEEL, "foot", 0.0, 0.33), (BALL, "foot", 0.1, 0.61),
                                         (TOE, "toes", 0.1, 0.61)):
            touching = (beat > first) & (beat < last)
            x = point(character, pose, f"{foot}.{side}", local)
            both = touching[1:] & touching[:-1]
            assert both.sum() > 0.2 * len(both)
            assert np.linalg.norm(np.diff(x, axis=0), axis=-1)[both].max() < SLIDE
        flat = (beat > 0.1) & (beat < 0.33)
        assert np.abs(point(character, pose, f"foot.{side}", HEEL)[flat, 2]).max() < 1e-6
        for local, foot in ((HEEL, "foot"), (BALL, "foot"), (TOE, "toes")):
            assert point(character, pose, f"{foot}.{side}", local)[:, 2].min() > -1e-3


def test_walk_goes_at_its_speed_and_never_weighs_less_than_half() -> None:
    character, motion = synthetic.walk(rate=120, duration=1.05 * 4)
    com = centre(character, posed(character, motion))
    assert (com[-1, 0] - com[0, 0]) / motion.duration == pytest.approx(1.0, abs=1e-3)
    assert np.abs(np.diff(com, 2, axis=0) * 120**2).max() < 4.0  # as in captured walks


@pytest.mark.parametrize("name", ["walk", "squat", "hop"])
def test_knees_and_elbows_are_hinges_that_bend_the_right_way(name: str) -> None:
    character, motion = CLIPS[name](rate=60.0)
    hinged = synthetic.humanoid(hinges=True)
    for joint, sense in (("shank", 1.0), ("forearm", -1.0)):
        for side in "LR":
            angle = knee(character, motion, f"{joint}.{side}")
            assert (sense * angle).min() > np.radians(2.0)
            assert (sense * angle).max() < np.radians(150.0)
            i = character.index(f"{joint}.{side}")
            off = np.linalg.norm(motion.rotations[:, i, [1, 3]], axis=-1)
            assert off.max() < 1e-9
            assert hinged.axes[i] @ [0.0, sense, 0.0] == 1.0


def test_squat_stands_on_flat_feet_over_its_weight() -> None:
    character, motion = synthetic.squat()
    pose = posed(character, motion)
    for local, foot in ((HEEL, "foot"), (BALL, "foot"), (TOE, "toes")):
        x = point(character, pose, f"{foot}.L", local)
        assert np.ptp(x, axis=0).max() < 1e-6
    com = centre(character, pose)
    assert np.ptp(com[:, :2], axis=0).max() < 1e-6
    assert np.ptp(com[:, 2]) == pytest.approx(0.42, abs=1e-6)
    assert motion.positions[:, 2].min() < 0.55


@pytest.mark.parametrize("duration", [2.5, 3.0, 5.0])
def test_hops_fall_freely_for_as_long_as_they_say(duration: float) -> None:
    rate = 240
    character, motion = synthetic.hop(rate=rate, duration=duration)
    pose = posed(character, motion)
    acceleration = np.diff(centre(character, pose), 2, axis=0) * rate**2
    toe = np.minimum(point(character, pose, "toes.L", TOE), point(character, pose, "foot.L", BALL))[1:-1, 2]
    free = np.abs(acceleration[:, 2] + 9.81) < 0.05
    starts = np.flatnonzero(np.diff(free.astype(int)) == 1)
    lengths = [int((~free[s + 1:]).argmax()) / rate for s in starts]
    flights = [(s, length) for s, length in zip(starts, lengths) if length > 0.2]
    assert len(flights) == max(1, int((duration - 2.0 + 0.64) / 0.79))
    for start, length in flights:
        assert length == pytest.approx(0.45, abs=0.03)
        inside = slice(start + 8, start + int(length * rate) - 8)
        assert toe[inside].min() > 0.01
        assert np.abs(acceleration[inside, :2]).max() < 0.1
    grounded = toe < 0.0101
    x = point(character, pose, "foot.R", BALL)[1:-1]
    both = grounded[1:] & grounded[:-1]
    assert np.linalg.norm(np.diff(x, axis=0), axis=-1)[both].max() < SLIDE


@pytest.mark.parametrize("speed", [0.0, 1.2])
def test_trotting_paws_are_planted_and_diagonal(speed: float) -> None:
    character, motion = synthetic.trot(speed=speed, duration=4.0)
    pose = posed(character, motion)
    up = {}
    for end in ("front", "hind"):
        for side in "LR":
            paw = point(character, pose, f"{end}_paw.{side}", np.zeros(3))
            planted = paw[:, 2] < synthetic.PAW + 1e-6
            both = planted[1:] & planted[:-1]
            assert np.linalg.norm(np.diff(paw, axis=0), axis=-1)[both].max() < SLIDE
            assert point(character, pose, f"{end}_paw.{side}", np.array([0.07, 0.0, -0.02]))[:, 2].min() > -1e-3
            up[end, side] = ~planted
            bend = knee(character, motion, f"{end}_lower.{side}")
            assert (bend * (1.0 if end == "hind" else -1.0)).min() > 0.0
    assert (up["front", "L"] == up["hind", "R"]).all()
    assert not (up["front", "L"] & up["front", "R"]).any()
    assert not any(u[motion.times < 0.6].any() for u in up.values())  # it stands first
    assert motion.positions[-1, 0] - motion.positions[0, 0] == pytest.approx(speed * (4.0 - 0.6 - 0.55), abs=0.02)


def test_ghost_squashes_stretches_and_keeps_its_volume() -> None:
    character, motion = synthetic.ghost()
    assert motion.scales is not None and motion.offsets is not None
    assert np.abs(motion.scales.prod(-1) - 1.0).max() < ROUNDING
    assert np.ptp(motion.scales[:, 0, 2]) > 0.4
    head = character.index("head")
    assert np.abs(motion.offsets[:, head, 2] - 0.5 * motion.scales[:, 0, 2]).max() < ROUNDING
    assert motion.positions[:, 2].min() > 0.9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_random_trees_move_smoothly_within_their_joints(count: int, seed: int) -> None:
    character, motion = synthetic.random_tree(count, seed)
    assert len(character) == count
    speed = np.linalg.norm(rotation.subtract(motion.rotations[1:], motion.rotations[:-1]), axis=-1) * motion.rate
    assert speed.max() < 30.0
    for i, joint in enumerate(character.joints):
        if joint == "hinge":
            angle = rotation.twist_angle(motion.rotations[:, i], character.axes[i])
            turn = rotation.exp(angle[:, None] * character.axes[i])
            assert np.abs(rotation.subtract(turn, motion.rotations[:, i])).max() < 1e-7
