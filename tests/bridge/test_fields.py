"""Wind and force fields of the scene push the character when they are ticked, and only then."""

from dataclasses import replace

import numpy as np
import pytest

from addon.bridge.settings import ReleaseSpec, Setup, from_json, to_json
from addon.job import bake_character, check_character, finish
from solver import InputError
from tests.rigs import PERSON, key_sway, make_armature

bpy = pytest.importorskip("bpy")
SETUP = Setup(start=1, end=25, mass=75.0, use_fields=True)


def field(kind, strength, location=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0), **told):
    bpy.ops.object.effector_add(type=kind, location=location, rotation=turn)
    made = bpy.context.object
    made.field.strength = strength
    for name, value in told.items():
        setattr(made.field, name, value)
    return made


@pytest.fixture
def person():
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    return ob


def bake(ob, setup=SETUP):
    return finish(bake_character(bpy.data, bpy.context.scene, ob, setup))


def total(baked, row=0):
    """(3,) N on the whole body at a frame."""
    return sum(push.forces[row] for push in baked.study.scene.pushes)


def drift(baked, undisturbed):
    """(3,) m: how far the centre of mass is led away, at most."""
    away = baked.result.com - undisturbed.result.com
    return away[np.linalg.norm(away, axis=1).argmax()]


def test_a_wind_blows_the_whole_body_along_its_z_axis(person) -> None:
    calm = bake(person, replace(SETUP, use_fields=False))
    field("WIND", 150.0, turn=(0.0, np.pi / 2, 0.0), falloff_power=0.0)
    windy = bake(person)
    assert np.allclose(total(windy), (150.0, 0.0, 0.0), atol=1e-3)
    led = drift(windy, calm)
    assert led[0] > 0.02 and abs(led[1]) < 0.3 * led[0]
    unticked = bake(person, replace(SETUP, use_fields=False))
    assert np.array_equal(unticked.result.motion.rotations, calm.result.motion.rotations)


def test_a_stronger_wind_leads_farther(person) -> None:
    calm = bake(person, replace(SETUP, use_fields=False))
    wind = field("WIND", 50.0, turn=(0.0, np.pi / 2, 0.0))
    led = []
    for strength in (50.0, 150.0):
        wind.field.strength = strength
        led.append(np.linalg.norm(drift(bake(person), calm)))
    assert 0.0 < led[0] < led[1]


def test_a_force_pushes_away_and_pulls_with_a_negative_strength(person) -> None:
    ball = field("FORCE", 100.0, location=(-2.0, 0.0, 1.0), falloff_power=0.0)
    assert total(bake(person))[0] > 80.0
    ball.field.strength = -100.0
    assert total(bake(person))[0] < -80.0


def test_a_field_fades_as_in_blender(person) -> None:
    """At ten units with power 2 it has (1 + 10)^-2 of its strength, with a least distance of 9 (1 + 1)^-2."""
    ball = field("FORCE", 1000.0, location=(-10.0, 0.0, 1.0), falloff_power=2.0)
    assert total(bake(person))[0] == pytest.approx(1000.0 / 121.0, rel=0.15)
    ball.field.use_min_distance, ball.field.distance_min = True, 9.0
    assert total(bake(person))[0] == pytest.approx(250.0, rel=0.15)
    ball.field.use_max_distance, ball.field.distance_max = True, 5.0
    assert not bake(person).study.scene.pushes


def test_a_keyed_strength_and_a_moving_field_count_frame_by_frame(person) -> None:
    wind = field("WIND", 0.0, turn=(0.0, np.pi / 2, 0.0), falloff_power=0.0)
    for frame, strength in ((1, 0.0), (25, 120.0)):
        wind.field.strength = strength
        wind.field.keyframe_insert("strength", frame=frame)
    baked = bake(person)
    assert np.linalg.norm(total(baked)) < 1e-3 and total(baked, -1)[0] == pytest.approx(120.0, rel=1e-3)


def test_a_tube_fades_along_its_axis_and_away_from_it(person) -> None:
    """At the height of the chest, five units aside: (1 + 5)^-1 by the radius; nothing beyond the greatest radius."""
    wind = field("WIND", 600.0, location=(5.0, 0.0, 1.0), falloff_type="TUBE", falloff_power=0.0, radial_falloff=1.0)
    assert total(bake(person))[2] == pytest.approx(100.0, rel=0.1)
    wind.field.use_radial_max, wind.field.radial_max = True, 3.0
    assert not bake(person).study.scene.pushes


def test_a_cone_reaches_what_lies_within_its_angle(person) -> None:
    """Radii are degrees from the axis: here 90, as all of the body lies far aside at about the same height."""
    wind = field("WIND", 100.0, location=(50.0, 0.0, 1.0), falloff_type="CONE", falloff_power=0.0, use_radial_max=True,
                 radial_max=80.0)
    assert not bake(person).study.scene.pushes
    wind.field.radial_max = 100.0
    assert total(bake(person))[2] == pytest.approx(100.0, rel=1e-3)


def test_a_plane_pushes_along_its_normal_and_on_the_side_it_is_told(person) -> None:
    plane = field("FORCE", 100.0, location=(-2.0, 5.0, 0.0), turn=(0.0, np.pi / 2, 0.0), shape="PLANE",
                  falloff_power=0.0)
    assert np.allclose(total(bake(person)), (100.0, 0.0, 0.0), atol=0.01)
    plane.field.z_direction = "NEGATIVE"
    assert not bake(person).study.scene.pushes


def test_a_shape_that_does_not_push_and_a_field_that_is_switched_off_are_said(person) -> None:
    from addon.bridge.read_fields import why_idle

    scene = bpy.context.scene
    line = field("FORCE", 100.0, shape="LINE")
    off = field("WIND", 100.0)
    off.hide_viewport = True
    bpy.context.view_layer.update()
    assert "shape Line" in why_idle(scene, line) and "switched off" in why_idle(scene, off)
    with pytest.raises(InputError, match="no wind and no force"):
        bake(person)


def test_a_wind_without_a_direction_does_not_blow(person) -> None:
    field("WIND", 100.0).scale = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert not bake(person).study.scene.pushes


def test_a_tick_without_a_field_is_refused_with_the_way_out(person) -> None:
    field("TURBULENCE", 10.0)
    with pytest.raises(InputError, match="no wind and no force") as told:
        bake(person)
    assert "untick" in str(told.value)


def test_a_preset_keeps_the_tick() -> None:
    assert from_json(to_json(SETUP)).use_fields and not from_json(to_json(Setup())).use_fields


def test_a_check_looks_at_the_keys_alone(person) -> None:
    field("WIND", 400.0, turn=(0.0, np.pi / 2, 0.0), falloff_power=0.0)
    told = replace(SETUP, release=ReleaseSpec(frame=5.0))
    scene = finish(check_character(bpy.context.scene, person, told)).study.scene
    assert not scene.pushes and scene.release is None
