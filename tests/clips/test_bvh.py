"""The takes are read right: places by a second forward kinematics, unit and rate by gravity."""

from pathlib import Path

import numpy as np
import pytest

from solver.model.character import Character
from solver.model.motion import Motion
from solver.numerics import rotation
from solver.physics.kinematics import forward
from solver.physics.tree import Tree
from tests.clips import bvh
from tests.clips.shared import FOLDER, NAMES, assembly, load, needs_clips
from tests.tolerances import ROUNDING
from tests.worlds import refusal

SMALL = """HIERARCHY
ROOT Hips
{
  OFFSET 1 2 3
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Leg
  {
    OFFSET 0 -1 0
    CHANNELS 3 Yrotation Xrotation Zrotation
    End Site
    {
      OFFSET 0 -1 0.5
    }
  }
}
MOTION
Frames: 3
Frame Time: .0333333
0 0 0 0 0 0 0 0 0
1 2 3 90 0 0 0 0 0
1 2 3 10 20 30 40 50 60
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.bvh"
    path.write_text(SMALL)
    return path


def turn(axis: str, degrees: float) -> np.ndarray:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array({"X": [[1, 0, 0], [0, c, -s], [0, s, c]], "Y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
                     "Z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis])


def places(path: Path, frame: int) -> dict[str, np.ndarray]:
    """Joints of one frame by a naive reading of the text, in the file's own axes and unit."""
    text, numbers = path.read_text().split("MOTION")
    values = iter(float(word) for word in numbers.split("\n")[3 + frame].split())
    world, stack, name = {}, [(np.eye(3), np.zeros(3))], ""
    for line in text.splitlines():
        words = line.split()
        if words[:1] in (["ROOT"], ["JOINT"]):
            name = words[1]
        elif words[:1] == ["OFFSET"]:
            R, x = stack[-1]
            offset = x + R @ [float(word) for word in words[1:]]
            stack.append((R, offset))
        elif words[:1] == ["CHANNELS"]:
            R, x = stack[-1]
            for channel in words[2:]:
                value = next(values)
                if channel.endswith("position"):
                    x = x + value * np.eye(3)["XYZ".index(channel[0])]
                else:
                    R = R @ turn(channel[0], value)
            stack[-1] = R, x
            world[name] = x
        elif words[:1] == ["}"]:
            stack.pop()
    return world


def seen(path: Path, frame: int, unit: float) -> dict[str, np.ndarray]:
    """Where we put the same joints."""
    joints, motion = bvh.read(path, unit=unit, skip=0)
    out: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for j, joint in enumerate(joints):
        Q = rotation.matrix(motion.rotations[frame, j])
        R, x = out[joint.parent] if joint.parent else (np.eye(3), np.zeros(3))
        out[joint.name] = R @ Q, (x + R @ joint.offset) if joint.parent else motion.positions[frame]
    return {name: x for name, (_, x) in out.items()}


@pytest.mark.parametrize("frame", [0, 1, 2])
def test_small_file_is_read_by_its_own_channel_orders(small: Path, frame: int) -> None:
    expected, ours = places(small, frame), seen(small, frame, 1.0)
    for name, (x, y, z) in expected.items():
        assert np.abs(ours[name] - [x, -z, y]).max() < ROUNDING


def test_small_file_has_tip_rate_and_frames(small: Path) -> None:
    joints, motion = bvh.read(small, unit=2.0)
    assert len(motion) == 2
    assert motion.rate == pytest.approx(30.0, abs=1e-12)
    assert np.allclose(joints[1].tip, [0.0, -1.0, -2.0])


@pytest.mark.parametrize(("right", "wrong", "words"), [
    ("Frames: 3", "Frames: 4", "36"), ("Frames: 3", "", "Frames"), ("3 Yrot", "3 Wrot", "Leg"),
    ("HIERARCHY", "GIF89a", "GIF89a"), ("2 3 90", "2 3 x", "x"), ("3 Yrotation", "3 Yposition", "Leg")])
def test_broken_files_are_refused_in_sentences(small: Path, right: str, wrong: str, words: str) -> None:
    small.write_text(SMALL.replace(right, wrong))
    with refusal("small.bvh", words):
        bvh.read(small)


@needs_clips
@pytest.mark.parametrize("name", NAMES)
def test_takes_become_the_body_of_the_method_sheet(name: str) -> None:
    whole = assembly(name)
    character = whole.character
    assert (len(character), Tree(character).nv, character.mass) == (21, 50, pytest.approx(75.0))
    hinged = {n for n, joint in zip(character.names, character.joints, strict=True) if joint == "hinge"}
    parts = ("Leg", "ForeArm", "Hand", "ToeBase")
    assert hinged == {side + part for side in ("Left", "Right") for part in parts}
    back = whole.to_joints(whole.motion)
    assert np.abs(back.rotations - whole.joint_motion.rotations).max() < ROUNDING


@needs_clips
@pytest.mark.parametrize("name", ["walk_cmu_02_01", "cartwheel_cmu_49_07"])
def test_joints_are_where_a_naive_reading_puts_them(name: str) -> None:
    character, motion = load(name)
    for frame in (0, 57, len(motion) - 1):
        expected = places(FOLDER / f"{name}.bvh", frame + 1)
        pose = forward(Tree(character), character.offsets, motion.positions[frame], motion.rotations[frame])
        for i, link in enumerate(character.names):
            x, y, z = bvh.CMU_UNIT * expected[link]
            assert np.abs(pose.position + pose.x[i] - [x, -z, y]).max() < 1e-9


def centre_of_mass(character: Character, motion: Motion) -> np.ndarray:
    pose = forward(Tree(character), character.offsets, motion.positions, motion.rotations)
    centres = motion.positions[:, None] + pose.x + (pose.R @ character.coms[..., None])[..., 0]
    return (character.masses[:, None] * centres).sum(1) / character.mass


@needs_clips
@pytest.mark.parametrize(("name", "flight", "gravity", "within"), [
    ("jump_up", (0.95, 1.44), 9.82, 0.05), ("jump_forward", (2.0, 2.36), 9.6, 0.25),
    ("run", (0.94, 1.06), 9.8, 0.5)])
def test_bodies_in_the_air_fall_at_g(name: str, flight: tuple[float, float], gravity: float,
                                     within: float) -> None:
    """jump_up also says that the masses are right: with masses by length its centre of mass falls at 9.4."""
    character, motion = load(name)
    airborne = (motion.times >= flight[0]) & (motion.times <= flight[1])
    height = centre_of_mass(character, motion)[airborne, 2]
    assert -2.0 * np.polyfit(motion.times[airborne], height, 2)[0] == pytest.approx(gravity, abs=within)


@needs_clips
@pytest.mark.parametrize(("name", "speed"), [("walk_cmu_02_01", 1.2), ("run_cmu_09_01", 3.6)])
def test_takes_travel_at_the_noted_speed(name: str, speed: float) -> None:
    _, motion = load(name)
    way = np.linalg.norm((motion.positions[-1] - motion.positions[0])[:2])
    assert way / motion.duration == pytest.approx(speed, rel=0.05)


@needs_clips
@pytest.mark.parametrize("rate", [24, 30, 60, 120])
def test_other_rates_pass_through_the_same_poses(rate: int) -> None:
    _, fine = load("walk")
    _, coarse = load("walk", rate)
    assert coarse.rate == pytest.approx(rate)
    every = 120 // rate
    assert np.array_equal(coarse.rotations, fine.rotations[::every])
    assert np.abs(coarse.times - fine.times[::every]).max() < 1e-12
