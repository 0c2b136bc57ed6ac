"""What is hidden counts as if it were seen, or is refused: a bake must not depend on what happens to be on show."""

import numpy as np
import pytest

from addon.bridge.settings import GroundSpec, PushSpec, Setup
from addon.job import finish, look, read
from solver import InputError
from tests.rigs import PERSON, key_sway, make_armature

bpy = pytest.importorskip("bpy")


@pytest.fixture
def person():
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    return ob


def study(ob, **told):
    return finish(read(bpy.context.scene, ob, Setup(start=1, end=25, **told)))


def moves(ob) -> bool:
    return bool(np.ptp(study(ob).samples.poses, axis=0).max() > 0.1)


def in_collection(ob):
    scene, home = bpy.context.scene, bpy.data.collections.new("Home")
    scene.collection.children.link(home)
    scene.collection.objects.unlink(ob)
    home.objects.link(ob)
    return home


def key_place(ob, x) -> None:
    for frame, place in ((1, 0.0), (25, x)):
        ob.location.x = place
        ob.keyframe_insert("location", frame=frame)


def floor():
    mesh = bpy.data.meshes.new("Floor")
    mesh.from_pydata([(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [], [(0, 1, 2, 3)])
    ob = bpy.data.objects.new("Floor", mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def height(ob) -> float:
    terrain = study(ob, grounds=(GroundSpec(object="Floor"),)).scene.terrain
    return float(0.3 - terrain.probe(np.array([[0.0, 0.0, 0.3]]), 0.0).distance[0])


def test_a_hidden_collection_is_shown_for_the_bake_only(person) -> None:
    home = in_collection(person)
    home.hide_viewport = True
    assert moves(person) and home.hide_viewport


def test_a_collection_that_is_off_in_this_view_layer_is_refused(person) -> None:
    in_collection(person)
    bpy.context.scene.view_layers.new("Other")
    bpy.context.view_layer.layer_collection.children["Home"].exclude = True
    with pytest.raises(InputError, match="switched off in this view layer"):
        study(person)


def test_a_scene_that_no_window_shows_is_read_as_well(person) -> None:
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(person)
    samples = finish(read(other, person, Setup(start=1, end=25))).samples
    assert np.ptp(samples.poses, axis=0).max() > 0.1


def test_the_rest_position_is_only_a_way_of_looking(person) -> None:
    person.data.pose_position = "REST"
    _, _, has_clip = look(bpy.context.scene, person, Setup())
    assert has_clip and moves(person) and person.data.pose_position == "REST"


def test_a_hidden_arrow_still_moves(person) -> None:
    arrow = bpy.data.objects.new("Push", None)
    bpy.context.scene.collection.objects.link(arrow)
    for frame, turn in ((1, 0.0), (8, np.pi / 2)):
        arrow.rotation_euler = (0.0, turn, 0.0)
        arrow.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(1)
    arrow.hide_viewport = True
    push = study(person, pushes=(PushSpec(object="Push", bone="chest", start=8, length=4, newtons=100.0),))
    np.testing.assert_allclose(push.scene.pushes[0].forces[1], (100.0, 0.0, 0.0), atol=1e-3)
    assert arrow.hide_viewport


def test_a_hidden_ground_still_moves_and_keeps_its_modifiers(person) -> None:
    ground = floor()
    key_place(ground, 1.0)
    lift = ground.modifiers.new("Lift", "DISPLACE")
    lift.strength, lift.mid_level, lift.direction = 0.1, 0.0, "Z"
    bpy.context.scene.frame_set(1)
    ground.hide_viewport = True
    assert height(person) == pytest.approx(0.1)
    terrain = study(person, grounds=(GroundSpec(object="Floor"),)).scene.terrain
    assert terrain.probe(np.array([[0.0, 0.0, 0.3]]), 0.5).velocity[0, 0] > 0.1


def test_a_ground_that_changes_its_shape_is_refused(person) -> None:
    ground = floor()
    ground.shape_key_add(name="Basis")
    key = ground.shape_key_add(name="Dip")
    for point in key.data:
        point.co.z -= 0.3
    for frame, value in ((1, 0.0), (25, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    with pytest.raises(InputError, match="Its shape is animated"):
        height(person)


def test_the_playhead_has_no_say_in_a_grounds_shape(person) -> None:
    """Its shape changes before the range: the bake takes that of the range."""
    ground = floor()
    ground.shape_key_add(name="Basis")
    key = ground.shape_key_add(name="Dip")
    for point in key.data:
        point.co.z -= 0.3
    for frame, value in ((-20, 0.0), (0, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    for playhead in (-20, 10):
        bpy.context.scene.frame_set(playhead)
        assert height(person) == pytest.approx(-0.3)
