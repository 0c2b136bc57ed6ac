"""A rig becomes a character, and the character's motion becomes the rig's again."""

from dataclasses import replace

import numpy as np
import pytest

from solver.model.assemble import Assembly, assemble
from solver.model.character import Link
from solver.model.motion import Motion, uniform_times
from solver.numerics import rotation
from tests.tolerances import ROUNDING
from tests.worlds import refusal

FRAMES = 31


def rig() -> list[Link]:
    """A puppet with a weld of every kind: still clavicles, an empty joint in the spine, fingers."""
    joints = [Link("hips"),
              Link("twist", "hips"),                         # no extent: its child sits on it
              Link("chest", "twist", (0.0, 0.0, 0.0)),
              Link("head", "chest", (0.0, 0.0, 0.5), (0.0, 0.0, 0.3))]
    for side, x in (("L", 1.0), ("R", -1.0)):
        joints += [Link(f"clavicle.{side}", "chest", (0.0, 0.0, 0.4)),
                   Link(f"upper.{side}", f"clavicle.{side}", (0.2 * x, 0.0, 0.0)),
                   Link(f"fore.{side}", f"upper.{side}", (0.3 * x, 0.0, 0.0)),
                   Link(f"hand.{side}", f"fore.{side}", (0.25 * x, 0.0, 0.0), (0.08 * x, 0.0, 0.0)),
                   Link(f"finger.{side}", f"hand.{side}", (0.08 * x, 0.0, 0.0), (0.07 * x, 0.0, 0.0)),
                   Link(f"thigh.{side}", "hips", (0.1 * x, 0.0, 0.0)),
                   Link(f"shank.{side}", f"thigh.{side}", (0.0, 0.0, -0.45)),
                   Link(f"foot.{side}", f"shank.{side}", (0.0, 0.0, -0.45), (0.0, -0.2, -0.06))]
    return joints


def motion_of(joints: list[Link], seed: int = 0, still: float = 0.4) -> Motion:
    """Random smooth turns; clavicles stand still at an angle, elbows turn about one axis."""
    random = np.random.default_rng(seed)
    t = uniform_times(FRAMES, 30.0)
    rotations = np.zeros((FRAMES, len(joints), 4))
    for j, joint in enumerate(joints):
        swing = random.normal(size=(2, 3)) * 0.4
        d = swing[0] * np.sin(5.0 * t + random.uniform(0, 6))[:, None] + swing[1] * np.cos(3.0 * t)[:, None]
        if joint.name.startswith("clavicle"):
            d = np.full((FRAMES, 3), still) * [0.3, 1.0, -0.5]
        if joint.name.startswith("fore"):
            d = np.outer(0.8 + 0.5 * np.sin(4.0 * t), [0.0, 0.6, 0.8 if joint.name.endswith("L") else -0.8])
        rotations[:, j] = rotation.exp(d)
    return Motion(t, np.cumsum(random.normal(size=(FRAMES, 3)), 0) * 0.01, rotations)


def frames_of(joints: list[Link], motion: Motion) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """World rotation and place of every joint, one after the other."""
    out: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for j, joint in enumerate(joints):
        Q = rotation.matrix(motion.rotations[:, j])
        if joint.parent is None:
            out[joint.name] = Q, motion.positions
        else:
            R, x = out[joint.parent]
            offset = np.asarray(joint.offset) if motion.offsets is None else motion.offsets[:, j]
            out[joint.name] = R @ Q, x + (R @ np.broadcast_to(offset, x.shape)[..., None])[..., 0]
    return out


def links_of(assembly: Assembly) -> list[Link]:
    c = assembly.character
    return [Link(name, None if p < 0 else c.names[p], offset, tip)
            for name, p, offset, tip in zip(c.names, c.parents, c.offsets, c.tips, strict=True)]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("options", [{}, {"weld": ["chest"]}, {"weld_still": False}, {"hinges": False},
                                     {"weld": ["upper.L", "fore.R"]}, {"keep": ["clavicle.L"]}], ids=str)
def test_links_are_where_their_joints_were(options: dict, seed: int) -> None:
    joints = rig()
    motion = motion_of(joints, seed)
    assembly = assemble(joints, motion, **options)
    before, after = frames_of(joints, motion), frames_of(links_of(assembly), assembly.motion)
    for i, name in enumerate(assembly.character.names):
        R, x = after[name]
        assert np.abs(x - before[name][1]).max() < ROUNDING
        G = rotation.matrix(assembly.turns[assembly.joint_of[i]])
        assert np.abs(R @ G - before[name][0]).max() < ROUNDING


@pytest.mark.parametrize("options", [{}, {"weld": ["chest", "hand.L"]}, {"weld_still": False}], ids=str)
def test_unchanged_motion_gives_every_key_back(options: dict) -> None:
    joints = rig()
    motion = motion_of(joints)
    assembly = assemble(joints, motion, **options)
    back = assembly.to_joints(assembly.motion)
    assert np.abs(back.rotations - motion.rotations).max() < ROUNDING
    assert np.array_equal(back.positions, motion.positions)


@pytest.mark.parametrize("options", [{}, {"weld": ["chest"]}, {"weld": ["clavicle.L", "twist"]}], ids=str)
def test_a_changed_motion_moves_the_rig_as_it_moves_the_links(options: dict) -> None:
    joints = rig()
    assembly = assemble(joints, motion_of(joints, 0), **options)
    turn = rotation.exp(np.random.default_rng(5).normal(size=(len(assembly.character), 3)) * 0.3)
    changed = assembly.motion.with_poses(
        assembly.motion.positions + 0.1, rotation.multiply(assembly.motion.rotations, turn)).part(4, 20)
    rig_motion = assembly.to_joints(changed)
    after, before = frames_of(joints, rig_motion), frames_of(links_of(assembly), changed)
    for name in assembly.character.names:
        assert np.abs(after[name][1] - before[name][1]).max() < ROUNDING
    for j, joint in enumerate(joints):
        if joint.name not in assembly.character.names:
            assert np.array_equal(rig_motion.rotations[:, j], assembly.joint_motion.rotations[4:20, j])


def test_what_is_welded_and_with_whom_it_moves() -> None:
    joints = rig()
    motion = motion_of(joints)
    assembly = assemble(joints, motion, weld=["finger.L", "finger.R"])
    names = assembly.character.names
    gone = {joint.name for joint in joints} - set(names)
    assert gone == {"twist", "clavicle.L", "clavicle.R", "finger.L", "finger.R"}
    carrier = {joint.name: names[i] for joint, i in zip(joints, assembly.link_of, strict=True)}
    assert carrier["twist"] == "hips"
    assert carrier["clavicle.L"] == "chest"
    assert carrier["finger.R"] == "hand.R"
    assert carrier["fore.L"] == "fore.L"
    assert assembly.motion.offsets is None  # still welds only: a constant tree


def test_a_hand_reaches_to_its_welded_fingertips() -> None:
    joints = rig()
    still = motion_of(joints)
    keys = still.rotations.copy()
    keys[:, [j for j, joint in enumerate(joints) if joint.name.startswith("finger")]] = rotation.IDENTITY
    assembly = assemble(joints, replace(still, rotations=keys))
    i = assembly.character.index("hand.L")
    G = rotation.matrix(assembly.turns[assembly.joint_of[i]])
    assert np.abs(assembly.character.tips[i] - G @ [0.15, 0.0, 0.0]).max() < ROUNDING
    link, fingertip = assembly.in_link("finger.L", (0.07, 0.0, 0.0))
    assert link == "hand.L"
    assert np.abs(fingertip - assembly.character.tips[i]).max() < ROUNDING


def test_a_turning_weld_in_the_middle_moves_the_joints_below_it() -> None:
    joints = rig()
    assembly = assemble(joints, motion_of(joints), weld=["chest"])
    assert assembly.motion.offsets is not None
    moved = np.ptp(assembly.motion.offsets, axis=0).max(-1)
    assert moved[assembly.character.index("head")] > 0.05
    assert moved[assembly.character.index("shank.L")] == 0.0


def test_hinges_are_found_where_bodies_have_them() -> None:
    joints = rig()
    assembly = assemble(joints, motion_of(joints), weld=["finger.L", "finger.R"])
    character = assembly.character
    found = {n for n, j in zip(character.names, character.joints, strict=True) if j == "hinge"}
    assert found == {"fore.L", "fore.R"}
    for i in map(character.index, found):
        angle = rotation.twist_angle(assembly.motion.rotations[:, i], character.axes[i])
        turned = rotation.exp(angle[:, None] * character.axes[i])
        assert np.abs(turned - assembly.motion.rotations[:, i]).max() < ROUNDING
        assert np.median(angle) > 0.0  # elbows bend one way
    assert "hinge" not in assemble(joints, motion_of(joints), hinges=False).character.joints


def test_one_axis_of_a_hip_is_only_this_clips_axis() -> None:
    joints = rig()
    motion = motion_of(joints)
    keys = motion.rotations.copy()
    thigh = next(j for j, joint in enumerate(joints) if joint.name == "thigh.L")
    keys[:, thigh] = rotation.exp(np.outer(np.sin(motion.times * 6.0), [1.0, 0.0, 0.0]))
    motion = replace(motion, rotations=keys)
    by_role = assemble(joints, motion).character
    asked = assemble(joints, motion, hinges=["thigh.L"]).character
    assert by_role.joints[by_role.index("thigh.L")] == "ball"
    assert asked.joints[asked.index("thigh.L")] == "hinge"
    assert asked.joints[asked.index("fore.L")] == "ball"


def test_squash_and_stretch_travel_along() -> None:
    joints = rig()
    motion = motion_of(joints, still=0.0)
    random = np.random.default_rng(3)
    scales = 1.0 + 0.2 * random.uniform(-1, 1, (FRAMES, len(joints), 3))
    offsets = np.array([joint.offset for joint in joints]) * (1.0 + 0.1 * np.sin(motion.times))[:, None, None]
    motion = replace(motion, scales=scales, offsets=offsets)
    assembly = assemble(joints, motion)
    assert np.abs(assembly.motion.scales - scales[:, assembly.joint_of]).max() < ROUNDING
    before, after = frames_of(joints, motion), frames_of(links_of(assembly), assembly.motion)
    assert all(np.abs(after[n][1] - before[n][1]).max() < ROUNDING for n in assembly.character.names)
    back = assembly.to_joints(assembly.motion.part(3, 9))
    assert np.array_equal(back.scales, scales[3:9])
    assert np.array_equal(back.offsets, offsets[3:9])


def test_what_the_caller_says_of_a_joint_stays_with_it() -> None:
    joints = rig()
    names = [joint.name for joint in joints]
    upper, fore = names.index("upper.L"), names.index("fore.L")
    joints[upper] = replace(joints[upper], mass=2.5, limits=((-1.0, -9.0, -9.0), (9.0, 9.0, np.inf)))
    joints[fore] = replace(joints[fore], strength=0.5, limits=((-2.0,) * 3, (2.0,) * 3))
    motion = motion_of(joints)
    keys = motion.rotations.copy()
    keys[:, names.index("clavicle.L")] = rotation.exp(np.array([0.0, 0.0, np.pi / 2]))  # x -> y, y -> -x
    character = assemble(joints, replace(motion, rotations=keys)).character
    i = character.index("upper.L")
    assert character.masses[i] == 2.5
    assert np.abs(character.lower[i, :2] - [-9.0, -1.0]).max() < 1e-7
    assert np.abs(character.upper[i, :2] - [9.0, 9.0]).max() < 1e-7
    assert character.upper[i, 2] == np.inf
    assert character.joints[character.index("fore.L")] == "ball"  # three limits were given
    assert character.strengths[character.index("fore.L")] == 0.5


def test_a_clip_in_which_nothing_moves_can_keep_its_joints() -> None:
    joints = rig()
    motion = motion_of(joints)
    frozen = replace(motion, rotations=np.repeat(motion.rotations[:1], FRAMES, 0))
    assert len(assemble(joints, frozen).character) == 1
    assert len(assemble(joints, frozen, weld_still=False).character) == len(joints) - 1  # the empty one goes


def test_joints_may_come_in_any_order() -> None:
    joints = rig()
    motion = motion_of(joints)
    turned = assemble(joints[::-1], replace(motion, rotations=motion.rotations[:, ::-1]))
    straight = assemble(joints, motion)
    after, before = frames_of(links_of(turned), turned.motion), frames_of(links_of(straight), straight.motion)
    assert all(np.abs(after[n][1] - before[n][1]).max() < ROUNDING for n in straight.character.names)


def test_what_cannot_be_assembled_is_refused_in_sentences() -> None:
    joints = rig()
    motion = motion_of(joints)
    with refusal("fingre"):
        assemble(joints, motion, weld=["fingre"])
    with refusal("20 joints", "19"):
        assemble(joints[:-1], motion)
    assembly = assemble(joints, motion)
    with refusal("no frames of the clip"):
        assembly.to_joints(assembly.motion.resampled(assembly.motion.times[:-1] + 0.01))
