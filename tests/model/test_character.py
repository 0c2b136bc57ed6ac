"""What a character refuses and what it works out by itself."""

import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from solver.errors import DivergenceError, InputError, NoSolutionError, SolverError
from solver.model.character import Character, ContactPoints, Limb, Link, with_strengths
from solver.model.masses import DENSITY, HUMAN_SHARES
from solver.model.scene import Load, Push, Scene
from solver.model.terrain import Plane
from tests.tolerances import ROUNDING
from tests.worlds import biped, humanoid, humanoid_links, quadruped_links, random_character, refusal, still

ROOT = Link("hips", tip=(0.0, 0.0, 0.2))


def arm(**kind: Any) -> list[Link]:
    """A root and one good link with something changed."""
    return [ROOT, replace(Link("forearm.L", "hips", offset=(0.0, 0.0, 0.2), tip=(0.1, 0.0, 0.0)), **kind)]


# --- refusals -----------------------------------------------------------------------------------------------

SKEWED = np.array([[1.0, 0.3, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
BAD_LINKS: dict[str, tuple[list[Link], tuple[str, ...]]] = {
    "empty skeleton": ([], ("empty",)),
    "two roots": ([ROOT, Link("prop", tip=(0.0, 0.0, 1.0))], ("hips", "prop")),
    "duplicate names": ([*arm(), arm()[1]], ("forearm.L", "Two bones")),
    "unknown parent": (arm(parent="elbow.L"), ("forearm.L", "elbow.L")),
    "own parent": (arm(parent="forearm.L"), ("forearm.L", "ancestor")),
    "loop of three": ([ROOT, *(Link(a, b, tip=(0.0, 0.0, 1.0)) for a, b in ("xy", "yz", "zx"))], ("Bone ", "ancestor")),
    "leaf without tip": (arm(tip=None), ("forearm.L", "length")),
    "zero length": (arm(tip=(0.0, 0.0, 0.0)), ("forearm.L", "length")),
    "zero length inside": ([replace(ROOT, tip=None), *arm(offset=(0.0, 0.0, 0.0))[1:]], ("hips", "length")),
    "zero mass": (arm(mass=0.0), ("forearm.L", "mass")),
    "negative mass": (arm(mass=-1.0), ("forearm.L", "mass")),
    "mass not a number": (arm(mass=np.nan), ("forearm.L", "mass")),
    "infinite mass": (arm(mass=np.inf), ("forearm.L", "mass")),
    "inertia not symmetric": (arm(inertia=SKEWED), ("forearm.L", "inertia")),
    "inertia negative": (arm(inertia=np.diag([1.0, 1.0, -1.0])), ("forearm.L", "inertia")),
    "inertia zero": (arm(inertia=np.zeros((3, 3))), ("forearm.L", "inertia")),
    "inertia not a number": (arm(inertia=np.full((3, 3), np.nan)), ("forearm.L", "inertia")),
    "inertia of three numbers": (arm(inertia=np.ones(3)), ("forearm.L", "inertia", "3 x 3")),
    "hinge axis zero": (arm(joint="hinge", axis=(0.0, 0.0, 0.0)), ("forearm.L", "axis")),
    "hinge axis not a number": (arm(joint="hinge", axis=(np.nan, 0.0, 0.0)), ("forearm.L", "axis")),
    "unknown joint": (arm(joint="slider"), ("forearm.L", "slider", "hinge")),
    "offset not a number": (arm(offset=(0.0, np.nan, 0.0)), ("forearm.L", "offset")),
    "offset of two numbers": (arm(offset=(0.0, 1.0)), ("forearm.L", "offset")),
    "tip not a number": (arm(tip=(0.0, np.inf, 0.0)), ("forearm.L", "tip")),
    "centre of mass not a number": (arm(com=(0.0, np.nan, 0.0)), ("forearm.L", "centre of mass")),
    "limits crossed": (arm(limits=((-1.0, 0.5, -1.0), (1.0, 0.4, 1.0))), ("forearm.L", "limit")),
    "limits crossed on a hinge": (arm(joint="hinge", limits=([1.0], [0.0])), ("forearm.L", "limit")),
    "too few limits": (arm(limits=((0.0,), (1.0,))), ("forearm.L", "limits", "3")),
    "too many limits": (arm(joint="hinge", limits=((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))), ("forearm.L", "limits", "1")),
    "limits not a number": (arm(limits=((np.nan,) * 3, (1.0,) * 3)), ("forearm.L", "limits")),
    "strength zero": (arm(strength=0.0), ("forearm.L", "strength")),
    "strength not a number": (arm(strength=np.nan), ("forearm.L", "strength")),
    "loop without any root": ([Link("a", "b", tip=(0.0, 0.0, 1.0)), Link("b", "a", tip=(0.0, 0.0, 1.0))],
                              ("Bone ", "ancestor")),
    "offset not even numbers": (arm(offset=("x", 0.0, 0.0)), ("forearm.L", "offset")),
    "three sides of limits": (arm(limits=((0.0,) * 3, (1.0,) * 3, (2.0,) * 3)), ("forearm.L", "limits")),
    "inertia no body can have": (arm(inertia=np.diag([1.0, 1.0, 10.0])), ("forearm.L", "inertia")),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_LINKS)
def test_a_bad_skeleton_is_refused_by_name(name: str) -> None:
    links, words = BAD_LINKS[name]
    with refusal(*words):
        Character.build(links)


def test_the_good_skeleton_of_these_tests_is_accepted() -> None:
    assert Character.build(arm()).names == ("hips", "forearm.L")


@pytest.mark.parametrize("mass", [0.0, -75.0, np.nan, np.inf])
def test_a_body_needs_a_positive_mass(mass: float) -> None:
    with refusal("mass", "kg"):
        Character.build(arm(), mass=mass)


def test_an_unknown_bone_is_answered_with_those_there_are() -> None:
    with refusal("wing", "pelvis", "chest"):
        biped().index("wing")


def test_the_sentence_has_place_fault_and_remedy() -> None:
    with pytest.raises(InputError, match=r"^Bone forearm\.L: It has no length\. Scale it up or exclude it\.$"):
        Character.build(arm(tip=None))


@pytest.mark.parametrize("error", [InputError("It is bad.", "Bone x", "Mend it."), NoSolutionError(7, "Nothing fits."),
                                   DivergenceError(9, "The speed")], ids=lambda error: type(error).__name__)
def test_errors_survive_the_way_between_processes(error: SolverError) -> None:
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is type(error) and str(back) == str(error) and vars(back) == vars(error)
    assert isinstance(back, SolverError)


# --- order and questions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_parents_come_first_and_subtrees_stay_together(seed: int) -> None:
    character = random_character(50, seed)
    assert character.parents[0] == -1
    assert (character.parents[1:] < np.arange(1, 50)).all()
    for i in range(50):
        below = np.flatnonzero(character.is_ancestor[:, i])
        np.testing.assert_array_equal(below, np.arange(i, i + len(below)))


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_list_changes_nothing_but_the_order(seed: int) -> None:
    links = humanoid_links()
    told = Character.build([links[k] for k in np.random.default_rng(seed).permutation(len(links))])
    plain = Character.build(links)
    assert sorted(told.names) == sorted(plain.names)
    for i, name in enumerate(told.names):
        j = plain.index(name)
        assert told.masses[i] == pytest.approx(plain.masses[j], rel=ROUNDING)
        np.testing.assert_array_equal(told.tips[i], plain.tips[j])
        assert np.abs(told.inertias[i] - plain.inertias[j]).max() < ROUNDING
        assert told.roles[i] == plain.roles[j]
        assert i == 0 or told.names[told.parents[i]] == plain.names[plain.parents[j]]


def test_children_and_ancestors_tell_the_same_tree() -> None:
    character = random_character(30, 0)
    for i, below in enumerate(character.children):
        for child in below:
            assert character.parents[child] == i
    assert sum(len(below) for below in character.children) == 29
    for i in range(30):
        line, link = {i}, i
        while character.parents[link] >= 0:
            link = int(character.parents[link])
            line.add(link)
        assert set(np.flatnonzero(character.is_ancestor[i])) == line


def test_leg_length_is_hip_to_ankle() -> None:
    assert humanoid().leg_length == pytest.approx(0.42 + 0.41)


def test_without_legs_half_the_extent_stands_in_for_them() -> None:
    pole = [Link("pole", tip=(0.0, 0.0, 3.0)), Link("flag", "pole", offset=(0.0, 0.0, 3.0), tip=(0.0, 0.0, 1.0))]
    assert Character.build(pole).leg_length == pytest.approx(2.0)


def test_the_root_is_free_whatever_it_was_told() -> None:
    assert Character.build([replace(ROOT, joint="hinge"), *arm()[1:]]).joints == ("ball", "ball")


def test_a_link_that_says_little_sits_on_its_parent_and_hinges_about_x() -> None:
    character = Character.build([ROOT, Link("flap", "hips", tip=(0.0, 0.1, 0.0), joint="hinge")])
    np.testing.assert_array_equal(character.offsets[1], np.zeros(3))
    np.testing.assert_array_equal(character.axes[1], [1.0, 0.0, 0.0])
    assert Character.build([ROOT, Link("lid", "hips", tip=(0.0, 0.1, 0.0))]).joints[1] == "ball"


def test_hinge_axes_become_unit_vectors() -> None:
    character = Character.build(arm(joint="hinge", axis=(0.0, 3.0, 4.0)))
    np.testing.assert_allclose(character.axes[1], [0.0, 0.6, 0.8], atol=ROUNDING)


def test_limits_are_remembered_as_given_or_not() -> None:
    given = Character.build(arm(limits=((-1.0, -np.inf, 0.0), (1.0, 2.0, np.inf))))
    assert given.limits_given.tolist() == [False, True]
    np.testing.assert_array_equal(given.lower[1], [-1.0, -np.inf, 0.0])
    np.testing.assert_array_equal(given.upper[1], [1.0, 2.0, np.inf])
    free = Character.build(arm())
    assert not free.limits_given.any() and np.isinf(free.lower).all() and np.isinf(free.upper).all()


def test_hinged_knees_bend_one_way_by_default_and_may_be_overruled() -> None:
    character = biped()
    knee = character.index("shank.L")
    assert character.roles[knee] == "leg" and character.joints[knee] == "hinge"
    assert (character.lower[knee, 0], character.upper[knee, 0]) == (0.0, pytest.approx(np.radians(150.0)))
    assert not character.limits_given[knee]
    hip = character.index("thigh.L")
    assert character.roles[hip] == "leg" and np.isinf(character.upper[hip]).all(), "a ball is free"
    lid = Character.build([ROOT, Link("lid", "hips", tip=(0.0, 0.1, 0.0), joint="hinge", role="other")])
    assert np.isinf(lid.upper).all(), "a hinge that is no knee is free"


def test_the_trunk_is_stronger_than_the_limbs_unless_told_otherwise() -> None:
    character = humanoid()
    assert 2.0 <= character.strengths[character.index("chest")] <= 4.0
    assert character.strengths[character.index("thigh.L")] == 1.0
    links = [replace(link, strength=0.5) if link.name == "chest" else link for link in humanoid_links()]
    assert Character.build(links).strengths[3] == 0.5


def test_strengths_can_be_changed_without_changing_the_character() -> None:
    character = humanoid()
    stronger = with_strengths(character, {"thigh.L": 2.0})
    assert stronger.strengths[character.index("thigh.L")] == 2.0
    assert character.strengths[character.index("thigh.L")] == 1.0
    with refusal("wing"):
        with_strengths(character, {"wing": 1.0})


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_changed_strengths_are_checked_like_built_ones(value: float) -> None:
    with refusal("chest", "strength"):
        with_strengths(humanoid(), {"chest": value})


# --- masses and inertias ------------------------------------------------------------------------------------


@pytest.mark.parametrize("fingers", [False, True])
@pytest.mark.parametrize("mass", [3.0, 75.0, 500.0])
def test_the_human_table_adds_up_to_the_mass(mass: float, fingers: bool) -> None:
    character = Character.build(humanoid_links(fingers=fingers), mass=mass, masses="human")
    assert character.mass == pytest.approx(mass, rel=ROUNDING)
    assert (character.masses > 0.0).all()
    for name in ("thigh", "forearm", "toe"):
        assert character.masses[character.index(f"{name}.L")] == character.masses[character.index(f"{name}.R")]


def test_the_human_table_gives_the_shares_it_shows() -> None:
    character = Character.build(humanoid_links(), mass=100.0)  # "auto" sees a human
    weigh = dict(zip(character.names, character.masses))
    assert weigh["thigh.L"] == pytest.approx(10.0) and weigh["shank.L"] == pytest.approx(4.65)
    assert weigh["head"] == pytest.approx(5.7) and weigh["pelvis"] == pytest.approx(14.2)
    assert weigh["forearm.R"] == pytest.approx(1.6) and weigh["hand.R"] == pytest.approx(0.6)
    assert weigh["clavicle.R"] + weigh["upper_arm.R"] == pytest.approx(2.8)
    assert weigh["chest"] == pytest.approx(21.6) and weigh["spine.1"] + weigh["spine.2"] == pytest.approx(13.9)


def test_a_hand_and_its_fingers_weigh_a_hand() -> None:
    character = Character.build(humanoid_links(fingers=True), mass=100.0)
    hand = character.index("hand.L")
    assert character.masses[character.is_ancestor[:, hand]].sum() == pytest.approx(0.6)
    assert character.masses[hand] > character.masses[character.index("finger0a.L")]


def test_a_tail_weighs_a_tenth_of_what_its_length_would_say() -> None:
    tail = [Link(f"tail.{n}", f"tail.{n - 1}" if n else "pelvis", offset=(0.0, 0.1, 0.0), tip=(0.0, 0.1, 0.0))
            for n in range(4)]
    character = Character.build(humanoid_links() + tail)
    weight = sum(m for name, m in zip(character.names, character.masses) if name.startswith("tail"))
    share = 0.1 * 0.4 / np.linalg.norm(character.tips, axis=-1).sum()
    assert {role for name, role in zip(character.names, character.roles) if "tail" in name} == {"tail"}
    assert weight == pytest.approx(75.0 * share / (1.0 + share), rel=0.1)


def test_the_human_shares_add_up_to_one() -> None:
    twice = ("arm", "hand", "leg", "foot", "toe")
    total = sum(sum(shares) * (2 if role in twice else 1) for role, shares in HUMAN_SHARES.items())
    assert total == pytest.approx(1.0, abs=1e-3)


def test_the_human_table_is_refused_for_a_dog_and_not_guessed_for_one() -> None:
    with refusal("human", "legs"):
        Character.build(quadruped_links(), masses="human")
    auto, by_length = Character.build(quadruped_links()), Character.build(quadruped_links(), masses="length")
    np.testing.assert_array_equal(auto.masses, by_length.masses)


def test_the_length_rule_is_proportional() -> None:
    lengths = np.array([0.1, 0.2, 0.4, 0.8])
    step = np.array([1.0, 0.0, 0.0])
    links = [Link("s0", tip=lengths[0] * step)]
    links += [Link(f"s{i}", f"s{i - 1}", offset=lengths[i - 1] * step, tip=lengths[i] * step) for i in range(1, 4)]
    character = Character.build(links, mass=30.0, masses="length")
    np.testing.assert_allclose(character.masses, 30.0 * lengths / lengths.sum(), rtol=ROUNDING)
    human = Character.build(humanoid_links(), masses="length")
    assert human.mass == pytest.approx(75.0)
    ratio = human.masses[human.index("thigh.L")] / human.masses[human.index("head")]
    assert ratio == pytest.approx(0.42 / 0.2)


def test_given_masses_are_kept_and_the_rest_is_shared_as_before() -> None:
    plain = humanoid()
    links = [replace(link, mass=9.0) if link.name == "head" else link for link in humanoid_links()]
    character = Character.build(links, mass=75.0)
    head = character.index("head")
    assert character.masses[head] == 9.0
    assert character.mass == pytest.approx(75.0, rel=ROUNDING)
    ratio = np.delete(character.masses / plain.masses, head)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-12)


def test_masses_given_for_all_links_make_the_mass() -> None:
    character = Character.build([replace(link, mass=2.0) for link in humanoid_links()], mass=75.0)
    assert (character.masses == 2.0).all() and character.mass == 44.0


def test_a_given_mass_above_the_whole_leaves_the_others_theirs() -> None:
    links = [replace(link, mass=200.0) if link.name == "head" else link for link in humanoid_links()]
    character, plain = Character.build(links, mass=75.0), humanoid()
    assert character.masses[character.index("head")] == 200.0
    assert character.masses[0] == pytest.approx(plain.masses[0])


def test_default_inertia_is_a_cylinder_of_body_density() -> None:
    length, mass = 0.5, 4.0
    character = Character.build([Link("log", tip=(0.0, 0.0, length), mass=mass)])
    r2 = mass / (DENSITY * np.pi * length)
    across = mass * (3.0 * r2 + length**2) / 12.0
    assert np.abs(character.inertias[0] - np.diag([across, across, 0.5 * mass * r2])).max() < ROUNDING
    np.testing.assert_allclose(character.coms[0], [0.0, 0.0, 0.25])


def test_a_link_between_children_all_around_is_as_heavy_to_turn_every_way() -> None:
    hub = [Link("hub", mass=4.0)]
    hub += [Link(f"arm{s}", "hub", offset=(0.0, s, 0.0), tip=(0.0, s, 0.0)) for s in (0.5, -0.5)]
    character = Character.build(hub)
    r2 = 4.0 / (DENSITY * np.pi * 0.5)
    along, across = 0.5 * 4.0 * r2, 4.0 * (0.25 / 12.0 + r2 / 4.0)
    assert np.abs(character.inertias[0] - (along + 2.0 * across) / 3.0 * np.eye(3)).max() < ROUNDING


@pytest.mark.parametrize("build", [humanoid, biped, lambda: Character.build(quadruped_links())])
def test_every_inertia_is_one_a_body_can_have(build: Callable[[], Character]) -> None:
    for inertia in build().inertias:
        a, b, c = np.linalg.eigvalsh(inertia)
        assert a > 0.0 and a + b >= c * (1.0 - ROUNDING)


def test_given_inertia_and_centre_of_mass_are_kept() -> None:
    inertia = np.array([[0.3, 0.01, 0.0], [0.01, 0.2, 0.02], [0.0, 0.02, 0.25]])
    character = Character.build(arm(inertia=inertia, com=(0.01, 0.02, 0.03)))
    np.testing.assert_array_equal(character.inertias[1], inertia)
    np.testing.assert_array_equal(character.coms[1], [0.01, 0.02, 0.03])


def test_a_branching_link_has_its_mass_between_its_children() -> None:
    character = humanoid()
    pelvis = np.mean([character.offsets[c] for c in character.children[0]], axis=0)
    np.testing.assert_allclose(character.coms[0], pelvis, atol=ROUNDING)


# --- contact points -----------------------------------------------------------------------------------------


def test_contact_points_are_sorted_by_limb_and_group() -> None:
    left, right = Limb("foot.L", "foot"), Limb("hand.R", "hand")
    points = ContactPoints.build([(left, 4, (0.0, 0.1, 0.0), 0, 0.0), (left, 4, (0.0, -0.1, 0.0), 0, 0.0),
                                  (left, 5, (0.0, 0.0, 0.0), 1, 0.0), (right, 7, (0.0, 0.0, 0.0), 0, 0.02)])
    assert len(points) == 4 and points.limbs == (left, right)
    assert points.limb.tolist() == [0, 0, 0, 1]
    assert points.group.tolist() == [0, 0, 1, 2]
    assert points.link.tolist() == [4, 4, 5, 7]
    assert points.of_kind("foot").tolist() == [True, True, True, False]
    assert points.of_kind("foot", "hand").all() and not points.of_kind("knee").any()
    assert points.radius.tolist() == [0.0, 0.0, 0.0, 0.02]
    none = ContactPoints.build([])
    assert len(none) == 0 and none.position.shape == (0, 3) and none.of_kind("foot").shape == (0,)
    assert biped().with_points(points).points is points


# --- read only ----------------------------------------------------------------------------------------------


def arrays_of(noun: Any, path: str = "") -> dict[str, np.ndarray]:
    """Every array inside a dataclass, however deep."""
    found: dict[str, np.ndarray] = {}
    for entry in fields(noun):
        value = getattr(noun, entry.name)
        if isinstance(value, np.ndarray):
            found[path + entry.name] = value
        elif is_dataclass(value):
            found |= arrays_of(value, f"{path}{entry.name}.")
    return found


def make_nouns() -> dict[str, Any]:
    points = ContactPoints.build([(Limb("foot", "foot"), 2, (0.0, 0.0, 0.0), 0, 0.0)])
    character = biped().with_points(points)
    motion = still(character)
    shape = (len(motion), len(character), 3)
    return {
        "character": character,
        "motion": replace(motion, offsets=np.zeros(shape), scales=np.ones(shape)),
        "push": Push.constant("chest", (1.0, 0.0, 0.0), 0.0, 1.0),
        "load": Load("chest", 1.0),
        "scene": Scene(character, motion),
        "no points": ContactPoints.none(),
        "plane": Plane.level(),
    }


@pytest.mark.parametrize("noun", ["character", "motion", "push", "load", "scene",
                                  pytest.param("no points"), pytest.param("plane")])
def test_arrays_cannot_be_written(noun: str) -> None:
    arrays = arrays_of(make_nouns()[noun])
    assert arrays
    for name, array in arrays.items():
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
            pytest.fail(f"{noun}.{name} was written")


@pytest.mark.parametrize("noun", list(make_nouns()))
def test_fields_cannot_be_replaced(noun: str) -> None:
    thing = make_nouns()[noun]
    for entry in fields(thing):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, entry.name, None)


def test_derived_arrays_cannot_be_written() -> None:
    character = biped()
    for array in (character.rest_positions, character.is_ancestor):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_callers_array_stays_the_callers() -> None:
    offset = np.array([0.0, 0.0, 0.2])
    character = Character.build(arm(offset=offset))
    offset[:] = 9.0
    np.testing.assert_array_equal(character.offsets[1], [0.0, 0.0, 0.2])
