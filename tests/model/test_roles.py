"""Roles come from shape, not from names, heading or size; odd bodies get some role and never crash."""

from dataclasses import replace

import numpy as np
import pytest

from solver.model.character import Character, Link
from solver.model.roles import ROLES, guess_roles
from solver.numerics import rotation
from tests.worlds import HUMANOID_ROLES, humanoid_links, quadruped_links, random_character, refusal

QUADRUPED_ROLES = {
    "hips": "root", "loin": "trunk", "ribs": "trunk", "throat": "neck", "skull": "head",
    "tail.0": "tail", "tail.1": "tail", "tail.2": "tail",
    **{f"{end}_{part}.{side}": role for side in "LR" for end in ("hind", "fore") for part, role in (
        ("upper", "leg"), ("lower", "leg"), ("paw", "foot"), ("claw", "toe"))},
}  # fmt: skip
BODIES = {"humanoid": (humanoid_links, HUMANOID_ROLES), "quadruped": (quadruped_links, QUADRUPED_ROLES)}


def roles_of(links: list[Link]) -> dict[str, str]:
    character = Character.build(links)
    return dict(zip(character.names, character.roles))


def renamed(links: list[Link], names: dict[str, str]) -> list[Link]:
    return [replace(link, name=names[link.name], parent=None if link.parent is None else names[link.parent])
            for link in links]


def turned(links: list[Link], heading: float, size: float) -> list[Link]:
    R = size * rotation.matrix(rotation.exp(np.array([0.0, 0.0, heading])))
    return [replace(link, offset=R @ np.asarray(link.offset), tip=R @ np.asarray(link.tip)) for link in links]


@pytest.mark.parametrize("body", BODIES)
def test_every_part_of_a_body_is_what_it_looks_like(body: str) -> None:
    links, expected = BODIES[body]
    assert roles_of(links()) == expected


def test_hanging_arms_are_arms() -> None:
    assert roles_of(humanoid_links(arms="A")) == HUMANOID_ROLES


def test_a_palm_with_fingers_is_the_hand_and_fingers_are_nothing_special() -> None:
    roles = roles_of(humanoid_links(fingers=True))
    assert {name: role for name, role in roles.items() if "finger" not in name} == HUMANOID_ROLES
    assert {role for name, role in roles.items() if "finger" in name} == {"other"}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("seed", range(3))
def test_scrambled_names_and_order_give_the_same_roles(body: str, seed: int) -> None:
    links, expected = BODIES[body]
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(links()))
    names = {link.name: f"bone{n:03d}" for link, n in zip(links(), order)}
    shuffled = [renamed(links(), names)[k] for k in generator.permutation(len(order))]
    assert roles_of(shuffled) == {names[name]: role for name, role in expected.items()}


@pytest.mark.parametrize("prefix", ["mixamorig:", "Bip01 ", "Armature_", "Carmen:", "Tailor "])
def test_a_common_prefix_says_nothing(prefix: str) -> None:
    names = {link.name: prefix + link.name for link in humanoid_links()}
    assert roles_of(renamed(humanoid_links(), names)) == {names[n]: role for n, role in HUMANOID_ROLES.items()}


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("heading", [0.3, np.pi / 4, np.pi / 2, 2.0, np.pi])
@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
def test_roles_do_not_depend_on_heading_or_size(body: str, heading: float, size: float) -> None:
    links, expected = BODIES[body]
    assert roles_of(turned(links(), heading, size)) == expected


def test_hip_joints_that_start_at_the_root_belong_to_the_legs() -> None:
    """The CMU library's own skeleton has a link from the root to each hip."""
    links = []
    for link in humanoid_links():
        if link.name.startswith("thigh"):
            hip = f"hip{link.name[-2:]}"
            links.append(Link(hip, "pelvis", offset=(0.0, 0.0, 0.0), tip=link.offset))
            link = replace(link, parent=hip)
        links.append(link)
    assert roles_of(links) == HUMANOID_ROLES | {"hip.L": "leg", "hip.R": "leg"}


def test_a_root_bone_on_the_floor_changes_no_limb() -> None:
    floor = Link("floor", tip=(0.0, 0.3, 0.0))
    links = [floor] + [replace(link, parent="floor", offset=(0.0, 0.0, 0.93)) if link.name == "pelvis" else link
                       for link in humanoid_links()]
    assert roles_of(links) == HUMANOID_ROLES | {"floor": "root", "pelvis": "trunk"}


def test_flippers_are_arms_though_they_start_at_the_middle() -> None:
    links = [Link("pelvis", tip=(0.0, 0.0, 0.3)), Link("chest", "pelvis", offset=(0.0, 0.0, 0.3), tip=(0.0, 0.0, 0.3)),
             Link("head", "chest", offset=(0.0, 0.0, 0.3), tip=(0.0, 0.0, 0.2))]
    for side, s in (("L", 1.0), ("R", -1.0)):
        links += [Link(f"flipper.{side}", "chest", offset=(0.0, 0.0, 0.2), tip=(0.3 * s, 0.0, -0.1)),
                  Link(f"leg.{side}", "pelvis", offset=(0.1 * s, 0.0, 0.0), tip=(0.0, 0.0, -0.3)),
                  Link(f"web.{side}", f"leg.{side}", offset=(0.0, 0.0, -0.3), tip=(0.0, -0.1, 0.0))]
    sides = {"flipper": "hand", "leg": "leg", "web": "foot"}
    assert roles_of(links) == {"pelvis": "root", "chest": "trunk", "head": "head"} | {
        f"{name}.{side}": role for name, role in sides.items() for side in "LR"}


@pytest.mark.parametrize("heading", [0.0, 1.0, np.pi / 2])
def test_a_ghost_without_legs_still_has_arms_and_a_head(heading: float) -> None:
    legs = ("thigh", "shank", "foot", "toe")
    links = [link for link in humanoid_links() if not link.name.startswith(legs)]
    expected = {name: role for name, role in HUMANOID_ROLES.items() if not name.startswith(legs)}
    assert roles_of(turned(links, heading, 1.0)) == expected


def test_a_given_role_is_kept_and_an_unknown_one_is_refused() -> None:
    links = [replace(link, role="tail") if link.name == "head" else link for link in humanoid_links()]
    assert roles_of(links) == HUMANOID_ROLES | {"head": "tail"}
    with refusal("head", "wing", "tail"):
        Character.build([replace(link, role="wing") if link.name == "head" else link for link in humanoid_links()])


def chain(direction: tuple[float, float, float], count: int = 12) -> list[Link]:
    step = 0.2 * np.asarray(direction)
    return [Link("s0", tip=step)] + [Link(f"s{i}", f"s{i - 1}", offset=step, tip=step) for i in range(1, count)]


@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, -1), (0.5, 0.5, 0.1)])
@pytest.mark.parametrize("count", [1, 2, 12])
def test_snakes_and_single_bones_get_roles(direction: tuple[float, float, float], count: int) -> None:
    character = Character.build(chain(direction, count))
    assert character.roles[0] == "root" and character.roles.count("root") == 1
    assert set(character.roles) <= set(ROLES)
    assert character.mass == pytest.approx(75.0)
    assert character.leg_length > 0.0


@pytest.mark.parametrize("form", ["tree", "chain", "star"])
@pytest.mark.parametrize("seed", range(4))
def test_two_hundred_random_links_get_roles(seed: int, form: str) -> None:
    character = random_character(200, seed, form=form)
    assert len(character.roles) == 200 and character.roles.count("root") == 1 and character.roles[0] == "root"
    assert set(character.roles) <= set(ROLES)


def test_links_without_any_extent_get_roles() -> None:
    assert guess_roles(["a", "b", "c"], [-1, 0, 1], np.zeros((3, 3)), np.zeros((3, 3)))[0] == "root"
