"""Tiny worlds with known answers, and random ones for the judges. Lengths in m, masses in kg, z up."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import pytest

from solver.errors import InputError
from solver.model.character import Character, Link
from solver.model.motion import Motion, uniform_times
from solver.model.state import State
from solver.numerics import rotation
from solver.physics.tree import Tree

GRAVITY = np.array([0.0, 0.0, -9.81])


@contextmanager
def refusal(*words: str) -> Iterator[None]:
    """The block must raise an InputError that says what, where and the remedy, and whose sentence has these words."""
    with pytest.raises(InputError) as caught:
        yield
    error = caught.value
    for part in (error.what, error.remedy):
        assert part.strip().endswith("."), f"not a sentence: {part!r}"
    assert error.where.strip()
    for word in words:
        assert word in str(error), f"{word!r} is not in: {error}"


def box_inertia(mass: float, size: Sequence[float]) -> np.ndarray:
    """Solid box about its centre."""
    x, y, z = np.asarray(size) ** 2
    return mass / 12.0 * np.diag([y + z, x + z, x + y])


def block(mass: float = 2.0, size: Sequence[float] = (0.2, 0.3, 0.4)) -> Character:
    """One free box whose origin is its centre: falls at g, tumbles by Euler's equations."""
    return Character.build(
        [Link("block", tip=(0.0, 0.0, 0.5 * size[2]), mass=mass, com=(0.0, 0.0, 0.0), inertia=box_inertia(mass, size))])


def pendulum(length: float = 0.7, mass: float = 3.0, inertia: float = 0.02) -> Character:
    """A bob on a hinge (axis y) below a root. With the root held still, (I + m l^2) a = -m g l sin(angle)."""
    return Character.build([
        Link("anchor", tip=(0.0, 0.0, 0.1), mass=1.0),
        Link("bob", "anchor", offset=(0.0, 0.0, 0.0), tip=(0.0, 0.0, -length), joint="hinge", axis=(0.0, 1.0, 0.0),
             mass=mass, com=(0.0, 0.0, -length), inertia=inertia * np.eye(3)),
    ])


def biped() -> Character:
    """The least that stands: pelvis, chest, and two legs of thigh, shank (hinge) and foot; 8 links, 23 DOF, 1.5 m."""
    links = [Link("pelvis", tip=(0.0, 0.0, 0.2)), Link("chest", "pelvis", offset=(0.0, 0.0, 0.2), tip=(0.0, 0.0, 0.4))]
    for side, x in (("L", 0.1), ("R", -0.1)):
        links += [
            Link(f"thigh.{side}", "pelvis", offset=(x, 0.0, 0.0), tip=(0.0, 0.0, -0.45)),
            Link(f"shank.{side}", f"thigh.{side}", offset=(0.0, 0.0, -0.45), tip=(0.0, 0.0, -0.4), joint="hinge",
                 axis=(1.0, 0.0, 0.0)),
            Link(f"foot.{side}", f"shank.{side}", offset=(0.0, 0.0, -0.4), tip=(0.0, -0.2, -0.05)),
        ]
    return Character.build(links, mass=60.0)


HUMANOID_ROLES = {
    "pelvis": "root", "spine.1": "trunk", "spine.2": "trunk", "chest": "trunk", "neck": "neck", "head": "head",
    **{f"{name}.{side}": role for side in "LR" for name, role in (
        ("clavicle", "arm"), ("upper_arm", "arm"), ("forearm", "arm"), ("hand", "hand"),
        ("thigh", "leg"), ("shank", "leg"), ("foot", "foot"), ("toe", "toe"))},
}  # fmt: skip


def humanoid_links(fingers: bool = False, arms: Literal["T", "A"] = "T") -> list[Link]:
    """A body like those of the CMU library: 22 links in a T pose (or arms hanging at 45 degrees), facing -y, 1.7 m."""
    links = [
        Link("pelvis", tip=(0.0, 0.0, 0.1)),
        Link("spine.1", "pelvis", offset=(0.0, 0.0, 0.1), tip=(0.0, 0.0, 0.12)),
        Link("spine.2", "spine.1", offset=(0.0, 0.0, 0.12), tip=(0.0, 0.0, 0.12)),
        Link("chest", "spine.2", offset=(0.0, 0.0, 0.12), tip=(0.0, 0.0, 0.2)),
        Link("neck", "chest", offset=(0.0, 0.0, 0.2), tip=(0.0, -0.01, 0.1)),
        Link("head", "neck", offset=(0.0, -0.01, 0.1), tip=(0.0, 0.0, 0.2)),
    ]
    for side, s in (("L", 1.0), ("R", -1.0)):
        out = np.array([s, 0.0, 0.0]) if arms == "T" else np.array([s, 0.0, -1.0]) / np.sqrt(2.0)
        links += [
            Link(f"clavicle.{side}", "chest", offset=(0.03 * s, 0.0, 0.16), tip=(0.14 * s, 0.0, 0.0)),
            Link(f"upper_arm.{side}", f"clavicle.{side}", offset=(0.14 * s, 0.0, 0.0), tip=0.28 * out),
            Link(f"forearm.{side}", f"upper_arm.{side}", offset=0.28 * out, tip=0.25 * out),
            Link(f"hand.{side}", f"forearm.{side}", offset=0.25 * out, tip=0.18 * out),
            Link(f"thigh.{side}", "pelvis", offset=(0.09 * s, 0.0, -0.04), tip=(0.0, 0.0, -0.42)),
            Link(f"shank.{side}", f"thigh.{side}", offset=(0.0, 0.0, -0.42), tip=(0.0, 0.0, -0.41)),
            Link(f"foot.{side}", f"shank.{side}", offset=(0.0, 0.0, -0.41), tip=(0.0, -0.14, -0.06)),
            Link(f"toe.{side}", f"foot.{side}", offset=(0.0, -0.14, -0.06), tip=(0.0, -0.07, 0.0)),
        ]
        for n in range(3 if fingers else 0):
            place = 0.09 * out + np.array([0.0, 0.02 * (n - 1), 0.0])
            links += [
                Link(f"finger{n}a.{side}", f"hand.{side}", offset=place, tip=0.05 * out),
                Link(f"finger{n}b.{side}", f"finger{n}a.{side}", offset=0.05 * out, tip=0.04 * out),
            ]
    return links


def humanoid(**kind: Any) -> Character:
    return Character.build(humanoid_links(**kind))


def quadruped_links() -> list[Link]:
    """A dog facing -y: 24 links, hips on the root, shoulders on the chest, neck, head and a tail of three."""
    links = [
        Link("hips", tip=(0.0, -0.15, 0.0)),
        Link("loin", "hips", offset=(0.0, -0.15, 0.0), tip=(0.0, -0.2, 0.02)),
        Link("ribs", "loin", offset=(0.0, -0.2, 0.02), tip=(0.0, -0.2, 0.0)),
        Link("throat", "ribs", offset=(0.0, -0.25, 0.05), tip=(0.0, -0.1, 0.15)),
        Link("skull", "throat", offset=(0.0, -0.1, 0.15), tip=(0.0, -0.2, 0.0)),
    ]
    for n in range(3):
        links.append(Link(f"tail.{n}", f"tail.{n - 1}" if n else "hips", offset=(0.0, 0.12 if n else 0.08, 0.0),
                          tip=(0.0, 0.12, 0.0)))
    for side, s in (("L", 1.0), ("R", -1.0)):
        for name, top, place in (("hind", "hips", (0.09 * s, 0.0, -0.02)), ("fore", "ribs", (0.09 * s, -0.2, -0.04))):
            links += [
                Link(f"{name}_upper.{side}", top, offset=place, tip=(0.0, 0.0, -0.25)),
                Link(f"{name}_lower.{side}", f"{name}_upper.{side}", offset=(0.0, 0.0, -0.25), tip=(0.0, 0.0, -0.25)),
                Link(f"{name}_paw.{side}", f"{name}_lower.{side}", offset=(0.0, 0.0, -0.25), tip=(0.0, -0.06, -0.04)),
                Link(f"{name}_claw.{side}", f"{name}_paw.{side}", offset=(0.0, -0.06, -0.04), tip=(0.0, -0.03, 0.0)),
            ]
    return links


def still(character: Character, frames: int = 11, rate: float = 30.0, height: float = 0.0) -> Motion:
    """The rest pose, held: the lowest joint or tip is on the ground, then raised by `height`."""
    lowest = min(character.rest_positions[:, 2].min(), (character.rest_positions + character.tips)[:, 2].min())
    rotations = np.tile(rotation.IDENTITY, (frames, len(character), 1))
    return Motion(uniform_times(frames, rate), np.tile([0.0, 0.0, height - lowest], (frames, 1)), rotations)


def random_inertia(mass: float, size: float, generator: np.random.Generator) -> np.ndarray:
    """Of a cloud of points: any inertia a real body can have, axes askew."""
    cloud = generator.normal(size=(8, 3)) * size
    cloud -= cloud.mean(0)
    second = mass / len(cloud) * cloud.T @ cloud
    return np.trace(second) * np.eye(3) - second


def random_character(links: int, seed: int, hinges: float = 0.3, fixed: float = 0.1,
                     form: Literal["tree", "chain", "star"] = "tree") -> Character:
    """A tree of links of any shape, with shares of hinges and fixed joints, told in shuffled order."""
    generator = np.random.default_rng(seed)
    made: list[Link] = []
    for i in range(links):
        mass = float(generator.uniform(0.2, 5.0))
        kind = generator.random()
        below = {"chain": i - 1, "star": 0, "tree": int(generator.integers(max(0, i - 6), max(i, 1)))}[form]
        made.append(Link(
            f"l{i}", None if i == 0 else f"l{below}", offset=generator.normal(size=3) * 0.3,
            tip=generator.normal(size=3) * 0.2 + np.array([0.0, 0.0, 0.3]),
            joint="hinge" if kind < hinges else "fixed" if kind < hinges + fixed else "ball",
            axis=generator.normal(size=3), mass=mass, com=generator.normal(size=3) * 0.15,
            inertia=random_inertia(mass, 0.1, generator)))
    return Character.build([made[k] for k in generator.permutation(links)])


def random_rotations(tree: Tree, generator: np.random.Generator) -> np.ndarray:
    """Any rotation for balls and fixed joints, any angle about its axis for a hinge."""
    rotations = rotation.normalised(generator.normal(size=(tree.count, 4)))
    for i in tree.hinge_links:
        rotations[i] = rotation.exp(generator.uniform(-3.0, 3.0) * tree.character.axes[i])
    return rotations


def random_state(tree: Tree, seed: int, speed: float = 3.0, far: float = 1.0) -> State:
    generator = np.random.default_rng(1000 + seed)
    return State(0.0, generator.normal(size=3) * far, random_rotations(tree, generator),
                 generator.normal(size=tree.nv) * speed)
