"""Every controller the solver has is offered, with the dials it says it has, and bakes."""

import pytest

from addon.bridge.controllers import can_fall, controllers
from addon.ui.stored import setup_of
from tests.rigs import PERSON, all_keys, key_sway, make_armature

bpy = pytest.importorskip("bpy")


@pytest.fixture
def ready():
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob, last=13)
    bpy.ops.heft.set_up()
    bpy.context.scene.frame_set(4)
    bpy.ops.heft.add_push(size="SHOVE")
    return ob


@pytest.mark.parametrize("name", list(controllers()))
def test_dials_come_from_the_solver_and_the_bake_uses_them(ready, name: str) -> None:
    kind = controllers()[name]
    ready.heft.controller = name
    group = getattr(ready.heft, name.lower())
    for dial in kind.dials:
        told = group.bl_rna.properties[dial.name]
        assert told.name == dial.label and told.description == dial.words.rstrip(".")
        if not dial.is_switch:
            assert (told.hard_min, told.hard_max) == pytest.approx((dial.low, dial.high))
    assert setup_of(ready).dials == {}, "untouched dials are the solver's own"
    assert bpy.ops.heft.bake() == {"FINISHED"}
    plain = all_keys(ready.animation_data.action)
    for dial in (d for d in kind.dials if not d.is_switch):  # some have nothing to do in a motion this short
        setattr(group, dial.name, 0.5 * (dial.low + dial.default))
    assert bpy.ops.heft.bake() == {"FINISHED"}
    assert all_keys(ready.animation_data.action) != plain
    for preset in kind.presets:
        assert bpy.ops.heft.apply_preset(preset=preset) == {"FINISHED"}


@pytest.mark.skipif(not can_fall(), reason="this solver cannot let go")
def test_letting_go_changes_the_end_and_not_the_beginning(ready) -> None:
    bpy.ops.heft.bake()
    held = all_keys(ready.animation_data.action)
    ready.heft.use_release, ready.heft.release_by, ready.heft.release_frame = True, "FRAME", 8
    assert bpy.ops.heft.bake() == {"FINISHED"}
    fallen = all_keys(ready.animation_data.action)
    path = ('pose.bones["pelvis"].location', 1)
    assert fallen[path][2][1] == pytest.approx(held[path][2][1], abs=1e-6)
    assert abs(fallen[path][-1][1] - held[path][-1][1]) > 1e-3
