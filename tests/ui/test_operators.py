"""Every button does what it says, and says why where it cannot."""

import json
from pathlib import Path

import numpy as np
import pytest

from addon._link import solver
from addon.bridge.settings import ContactSpec, LoadSpec, PushSpec, ReleaseSpec, Setup, from_json, to_json
from addon.job import bake_character, finish, read
from addon.ui.stored import setup_of
from tests.rigs import PERSON, all_keys, key_sway, make_armature

bpy = pytest.importorskip("bpy")


@pytest.fixture
def person():
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob)
    bpy.context.scene.frame_set(8)
    return ob


@pytest.fixture
def ready(person):
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    return person


def refusal(operator, **arguments) -> str:
    """What an operator says when it does not run."""
    with pytest.raises(RuntimeError) as caught:
        operator(**arguments)
    return str(caught.value)


def state(ob):
    scene = bpy.context.scene
    return (scene.frame_current, scene.frame_subframe, bpy.context.view_layer.objects.active, ob.mode,
            [o.name for o in bpy.context.selected_objects], len(bpy.data.actions), len(bpy.data.objects),
            ob.animation_data.action, all_keys(ob.animation_data.action))


def test_set_up_tells_what_it_found(ready) -> None:
    lines = {line.sentence: line.level for line in ready.heft.checklist}
    assert "2 feet: foot.L, foot.R." in lines and "2 hands: hand.L, hand.R." in lines
    assert set(lines.values()) == {"GOOD"}


def test_nothing_runs_without_a_character() -> None:
    for name in ("set_up", "bake", "preview", "check", "add_push", "add_load", "add_ground", "remove"):
        assert "Select an armature" in refusal(getattr(bpy.ops.heft, name))


def test_nothing_but_set_up_runs_before_set_up(person) -> None:
    for name in ("bake", "preview", "check", "add_push", "add_load", "add_ground", "remove", "save_preset"):
        assert "Set Up Character first" in refusal(getattr(bpy.ops.heft, name))


def test_edit_mode_is_refused(ready) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    assert "Leave edit mode" in refusal(bpy.ops.heft.bake)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_an_armature_without_bones_is_refused() -> None:
    make_armature(bpy, {})
    assert "has no bones" in refusal(bpy.ops.heft.set_up)


def test_no_motion_and_no_feet_are_told() -> None:
    ob = make_armature(bpy, {f"rope{n}": (f"rope{n - 1}" if n else None, (0, 0, 3.0 + n), (0, 0, 4.0 + n))
                             for n in range(4)})
    assert bpy.ops.heft.set_up() == {"FINISHED"}
    care = [line for line in ob.heft.checklist if line.level == "CARE"]
    assert any("No feet" in line.sentence and line.remedy for line in care)
    assert any("no motion" in line.sentence and line.remedy for line in care)


def test_an_empty_range_is_refused(ready) -> None:
    before = state(ready)
    ready.heft.use_range, ready.heft.start, ready.heft.end = True, 20, 20
    assert "Choose an end at least one frame after the start" in refusal(bpy.ops.heft.bake)
    assert state(ready) == before


def test_a_push_outside_the_range_is_refused_with_the_way_out(ready) -> None:
    bpy.ops.heft.add_push()
    before = state(ready)
    bpy.data.objects["Push"].heft.push.start = 400.0
    words = refusal(bpy.ops.heft.bake)
    assert "outside the range" in words and "Move its start" in words
    assert state(ready) == before


def test_a_deleted_arrow_does_no_harm(ready) -> None:
    bpy.ops.heft.add_push()
    bpy.data.objects.remove(bpy.data.objects["Push"])
    assert bpy.ops.heft.bake() == {"FINISHED"}


def delete(ob, active) -> None:
    """As with X: it goes from the scene, what points at it keeps it in the file."""
    bpy.ops.object.select_all(action="DESELECT")
    ob.select_set(True)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.delete()
    bpy.context.view_layer.objects.active = active
    active.select_set(True)


def test_an_arrow_or_an_object_deleted_by_hand_has_no_say(ready) -> None:
    bpy.ops.heft.add_push(size="TACKLE")
    bpy.ops.heft.add_load()
    box = bpy.data.objects.new("Box", None)
    bpy.context.scene.collection.objects.link(box)
    ready.heft.loads[0].object = box
    assert setup_of(ready).loads[0].object == "Box" and len(setup_of(ready).pushes) == 1
    delete(bpy.data.objects["Push"], ready)
    delete(box, ready)
    assert ready.heft.pushes[0].object is not None and ready.heft.loads[0].object is not None
    assert not setup_of(ready).pushes and setup_of(ready).loads[0].object == ""


def test_an_arrow_of_the_list_still_moves_when_it_is_switched_off(ready) -> None:
    """The list keeps it in Blender's graph, where it stands still."""
    bpy.ops.heft.add_push()
    arrow, scene = bpy.data.objects["Push"], bpy.context.scene
    for frame, turn in ((1, 0.0), (8, np.pi / 2)):
        arrow.rotation_euler = (0.0, turn, 0.0)
        arrow.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(1)
    arrow.hide_viewport = True
    scene.frame_set(2)
    scene.frame_set(1)
    push = finish(read(scene, ready, setup_of(ready))).scene.pushes[0]
    np.testing.assert_allclose(push.forces[1], (200.0, 0.0, 0.0), atol=1e-3)
    assert arrow.hide_viewport


def test_bones_that_are_gone_are_told(ready) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in list(ready.data.edit_bones):
        ready.data.edit_bones.remove(bone)
    bpy.ops.object.mode_set(mode="OBJECT")
    for operator in (bpy.ops.heft.add_push, bpy.ops.heft.add_load):
        assert "no bones any more" in refusal(operator)


def test_an_impulse_may_strike_at_the_first_frame(ready) -> None:
    strike = PushSpec(bone="chest", start=1, newtons=40.0, is_impulse=True)
    assert len(finish(read(bpy.context.scene, ready, Setup(pushes=(strike,)))).scene.pushes) == 1


@pytest.mark.parametrize(("told", "words"), [
    ({"pushes": (PushSpec(bone="chest", start=0, is_impulse=True),)}, "It acts at frame 0, outside the range 1 to 25"),
    ({"release": ReleaseSpec(frame=400.0)}, "let go at frame 400, the range is 1 to 25"),
    ({"release": ReleaseSpec(frame=-50.0)}, "let go at frame -50, the range is 1 to 25"),
    ({"contacts": (ContactSpec("foot.L", 20, 5),)}, "from frame 20 to 5. Choose an end after the start"),
    ({"contacts": (ContactSpec("foot.L", 200, 300),)}, "from frame 200 to 300, outside the range 1 to 25"),
    ({"loads": (LoadSpec(),)}, "It has no bone. Choose one."),
    ({"goal": "BONE"}, "Goal: It has no bone. Choose one."),
    ({"goal": "BONE", "goal_bone": "wing"}, "There is no bone 'wing'. Choose another bone."),
])
def test_what_makes_no_sense_is_told_in_frames_and_with_a_way_out(ready, told, words) -> None:
    with pytest.raises(solver.InputError) as caught:
        finish(read(bpy.context.scene, ready, Setup(**told)))
    assert words in str(caught.value)


def test_a_push_that_names_a_missing_bone_is_refused(ready) -> None:
    bpy.ops.heft.add_push()
    bpy.data.objects["Push"].heft.push.bone = "wing"
    words = refusal(bpy.ops.heft.bake)
    assert "There is no bone 'wing'" in words and "empty for the nearest" in words


def test_check_and_preview_change_nothing(ready) -> None:
    bpy.ops.heft.add_push(size="TACKLE")
    before = state(ready)
    assert bpy.ops.heft.check() == {"FINISHED"} and ready.heft.verdict and len(ready.heft.bars) == 2
    assert bpy.ops.heft.preview() == {"FINISHED"}
    assert state(ready) == before


def test_bake_keeps_the_original_and_shows_the_result(ready) -> None:
    source = ready.animation_data.action
    keys = all_keys(source)
    bpy.ops.heft.add_push(size="TACKLE")
    assert bpy.ops.heft.bake() == {"FINISHED"}
    result = ready.animation_data.action
    assert result != source and result.name == f"{source.name} Heft" and source.use_fake_user
    assert all_keys(source) == keys and len(ready.heft.report) >= 3
    assert any("Largest change" in line.sentence for line in ready.heft.report)


def test_the_result_plays_without_the_add_on(ready) -> None:
    import addon

    bpy.ops.heft.add_push(size="TACKLE")
    bpy.ops.heft.bake()
    bpy.context.scene.frame_set(14)
    before = np.array([bone.matrix for bone in ready.pose.bones])
    addon.unregister()
    try:
        bpy.context.scene.frame_set(1)
        bpy.context.scene.frame_set(14)
        assert (np.array([bone.matrix for bone in ready.pose.bones]) == before).all()
    finally:
        addon.register()


def test_panel_and_preset_give_the_same_keys_to_the_last_bit(ready, tmp_path: Path) -> None:
    """The command reads the preset and drives the same job: its Setup is the panel's."""
    bpy.ops.heft.add_push(size="SHOVE")
    arrow = bpy.data.objects["Push"]
    arrow.heft.push.strength = 123.4
    arrow.heft.push.keyframe_insert("strength", frame=8)
    arrow.heft.push.strength = 222.2
    arrow.heft.push.keyframe_insert("strength", frame=12)
    bpy.context.scene.frame_set(8)
    bpy.ops.heft.add_load(kg=3.3)
    ready.heft.mass, ready.heft.quasi_physical.stiffness = 71.3, 1.7
    ready.data.bones["head"].heft.share = 0.3
    ready.heft.amount = 0.9
    path = tmp_path / "ein Preset.json"
    assert bpy.ops.heft.save_preset(filepath=str(path)) == {"FINISHED"}
    assert json.loads(path.read_text())["dials"] == {"stiffness": 1.7}
    assert bpy.ops.heft.bake() == {"FINISHED"}
    panel = all_keys(ready.animation_data.action)
    told = from_json(path.read_text(encoding="utf-8"))
    assert told == setup_of(ready)
    baked = finish(bake_character(bpy.data, bpy.context.scene, ready, told))
    assert all_keys(baked.action) == panel
    bpy.ops.heft.apply_preset(preset="Strong")
    assert bpy.ops.heft.load_preset(filepath=str(path)) == {"FINISHED"}
    assert setup_of(ready) == told


def test_keyed_strength_and_amount_reach_the_solver(ready) -> None:
    bpy.ops.heft.add_push(size="SHOVE")
    arrow = bpy.data.objects["Push"]
    for frame, value in ((8, 100.0), (13, 300.0)):
        arrow.heft.push.strength = value
        arrow.heft.push.keyframe_insert("strength", frame=frame)
    for frame, value in ((1, 0.0), (20, 1.0)):
        ready.heft.amount = value
        ready.keyframe_insert("heft.amount", frame=frame)
    scene = finish(read(bpy.context.scene, ready, setup_of(ready))).scene
    sizes = np.linalg.norm(scene.pushes[0].forces, axis=1)
    assert sizes[0] == pytest.approx(100.0, rel=1e-3) and sizes[-1] == pytest.approx(300.0, rel=1e-3)
    assert scene.amount[0][1] == 0.0 and scene.amount[-1][1] == 1.0


def test_an_amount_keyed_in_a_strip_reaches_the_solver(ready) -> None:
    for frame, value in ((1, 0.0), (20, 1.0)):
        ready.heft.amount = value
        ready.keyframe_insert("heft.amount", frame=frame)
    data = ready.animation_data
    action, slot = data.action, getattr(data, "action_slot", None)
    strip = data.nla_tracks.new().strips.new("Sway", 1, action)
    if slot is not None:
        strip.action_slot = slot
    data.action = None
    scene = finish(read(bpy.context.scene, ready, Setup())).scene
    assert scene.amount[0][1] == 0.0 and scene.amount[-1][1] == 1.0


def test_letting_go_is_told_or_refused(ready, tmp_path: Path) -> None:
    ready.heft.use_release, ready.heft.release_by, ready.heft.release_impulse = True, "PUSH", 12.5
    ready.heft.use_get_up = True
    setup = setup_of(ready)
    assert (setup.release.impulse, setup.release.frame, setup.release.get_up) == (12.5, None, 2.0)
    assert from_json(to_json(setup)) == setup
    if hasattr(solver, "Release"):
        assert finish(read(bpy.context.scene, ready, setup)).scene.release.threshold == 12.5
    else:
        assert "cannot let a character fall" in refusal(bpy.ops.heft.bake)


def test_presets_turn_the_dials(ready) -> None:
    bpy.ops.heft.apply_preset(preset="Strong")
    assert setup_of(ready).dials["path_return"] == 1.5
    bpy.ops.heft.apply_preset(preset="Natural")
    assert setup_of(ready) == Setup()
    assert "There is no preset" in refusal(bpy.ops.heft.apply_preset, preset="Mad")


def test_a_broken_preset_is_refused(ready, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for text, words in (("{", "not JSON"), ("{}", "not a preset"), ('{"heft": 1, "colour": 3}', "'colour'"),
                        ('{"heft": 1, "dials": {"magic": 1}}', "no dial 'magic'"),
                        ('{"heft": 1, "dials": {"stiffness": 900}}', "stiffness is 900"),
                        ('{"heft": 1, "pushes": [{"newtons": "many"}]}', "newtons is 'many'")):
        path.write_text(text)
        before = to_json(setup_of(ready))
        assert words in refusal(bpy.ops.heft.load_preset, filepath=str(path))
        assert to_json(setup_of(ready)) == before
    assert "could not be read" in refusal(bpy.ops.heft.load_preset, filepath=str(tmp_path / "none.json"))


def test_loads_grounds_and_contacts(ready) -> None:
    assert bpy.ops.heft.add_load() == {"FINISHED"} and ready.heft.loads[0].bone == "hand.L"
    bpy.ops.mesh.primitive_plane_add(size=20)
    floor = bpy.context.object
    bpy.context.view_layer.objects.active = ready
    assert bpy.ops.heft.add_ground() == {"FINISHED"} and ready.heft.grounds[0].object == floor
    assert bpy.ops.heft.add_contact(limb="foot.L", mode="OFF") == {"FINISHED"}
    assert bpy.ops.heft.bake() == {"FINISHED"}
    for kind in ("loads", "grounds", "contacts"):
        assert bpy.ops.heft.remove_item(kind=kind, index=0) == {"FINISHED"}
        assert "There are only 0" in refusal(bpy.ops.heft.remove_item, kind=kind, index=0)


def test_an_unknown_limb_is_refused_with_those_there_are(ready) -> None:
    bpy.ops.heft.add_contact(limb="wing", mode="ON")
    assert "foot.L" in refusal(bpy.ops.heft.bake)


def test_settings_of_a_bone_are_mirrored(ready) -> None:
    ready.data.bones["hand.L"].heft.mass = 2.0
    assert bpy.ops.heft.mirror_bone(bone="hand.L") == {"FINISHED"}
    assert ready.data.bones["hand.R"].heft.mass == 2.0
    assert "other side" in refusal(bpy.ops.heft.mirror_bone, bone="head")


def test_bones_can_be_left_out_and_masses_set(ready) -> None:
    bones = ready.data.bones
    bones["toe.L"].heft.use = bones["toe.R"].heft.use = "JOIN"
    bones["head"].heft.mass = 9.0
    character = finish(read(bpy.context.scene, ready, setup_of(ready))).figure.character
    assert "toe.L" not in character.names and character.masses[character.index("head")] == pytest.approx(9.0)


def test_removing_forgets_but_keeps_actions(ready) -> None:
    bpy.ops.heft.add_push()
    bpy.ops.heft.bake()
    action = ready.animation_data.action
    assert bpy.ops.heft.remove() == {"FINISHED"}
    assert not ready.heft.is_set_up and not len(ready.heft.pushes) and ready.animation_data.action == action


def test_removing_forgets_every_setting(ready) -> None:
    untouched = to_json(setup_of(ready))
    ready.heft.mass, ready.heft.use_release, ready.heft.quasi_physical.stiffness = 99.0, True, 3.0
    ready.data.bones["head"].heft.use, ready.data.bones["head"].heft.share = "LEAVE", 0.5
    bpy.ops.heft.add_push()
    assert bpy.ops.heft.remove() == {"FINISHED"}
    assert to_json(setup_of(ready)) == untouched and "Push" in bpy.context.scene.objects


def test_a_mesh_or_an_arrow_stands_for_its_character(ready) -> None:
    bpy.ops.heft.add_push()
    bpy.context.view_layer.objects.active = bpy.data.objects["Push"]
    assert bpy.ops.heft.bake() == {"FINISHED"}


def test_a_layered_action_is_refused(ready) -> None:
    ready.animation_data.action_blend_type = "ADD"
    assert "layered over others" in refusal(bpy.ops.heft.bake)


def test_a_driven_bone_refuses_plain_keys(ready) -> None:
    driver = ready.pose.bones["head"].driver_add("location", 0).driver
    driver.expression = "0.01"
    ready.heft.output = "ACTION"
    assert "Choose Overlay as output" in refusal(bpy.ops.heft.bake)


def test_go_to_a_line(ready) -> None:
    assert bpy.ops.heft.go_to(frame=17, bone="head") == {"FINISHED"}
    assert bpy.context.scene.frame_current == 17 and ready.data.bones.active.name == "head"


def test_unregistering_leaves_nothing() -> None:
    import addon

    addon.unregister()
    try:
        left = [name for name in dir(bpy.types) if "HEFT" in name]
        assert not left and not any(hasattr(owner, "heft") for owner in (bpy.types.Scene, bpy.types.Object,
                                                                          bpy.types.Bone))
        handlers = [f for name in ("load_post", "undo_post", "redo_post", "frame_change_post")
                    for f in getattr(bpy.app.handlers, name)]
        assert not [f for f in handlers if "addon" in getattr(f, "__module__", "")]
    finally:
        addon.register()


def test_a_missing_library_is_told_instead_of_an_error(monkeypatch) -> None:
    import addon
    from addon.ui import needs
    from addon.ui.missing import words

    addon.unregister()
    monkeypatch.setattr(needs, "find_spec", lambda name: None if name == "quadprog" else object())
    try:
        addon.register()
        assert hasattr(bpy.types, "HEFT_PT_missing") and "quadprog" in words()[0]
        addon.unregister()
        assert not hasattr(bpy.types, "HEFT_PT_missing")
    finally:
        monkeypatch.undo()
        addon.register()


def test_everything_has_a_tooltip() -> None:
    from addon.ui import _classes, properties

    for operator in (c for c in _classes() if issubclass(c, bpy.types.Operator)):
        assert operator.bl_description and not operator.bl_description.endswith("."), operator
    hidden = {"level", "sentence", "remedy", "bone", "frame", "limb", "spans", "frames", "name", "rna_type"}
    for group in properties.GROUPS:
        for prop in group.bl_rna.properties:
            if prop.type != "POINTER" and prop.type != "COLLECTION" and not prop.is_hidden \
                    and prop.identifier not in hidden:
                assert prop.description and not prop.description.endswith("."), (group, prop.identifier)


def test_a_pose_that_is_keyed_once_is_set_up_and_can_be_pushed() -> None:
    ob = make_armature(bpy, PERSON)
    key_sway(bpy, ob, first=4, last=4)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 20
    assert bpy.ops.heft.set_up() == {"FINISHED"} and ob.heft.is_set_up
    bpy.ops.heft.add_push()
    bpy.data.objects["Push"].heft.push.start = 8.0
    assert bpy.ops.heft.bake() == {"FINISHED"}
    assert any("Largest change" in line.sentence and " 0.0 " not in line.sentence for line in ob.heft.report)


def test_a_stretched_time_is_refused_with_the_way_out(ready) -> None:
    before = state(ready)
    bpy.context.scene.render.frame_map_new = 200
    words = refusal(bpy.ops.heft.bake)
    assert "100 to 200" in words and "Time Stretching" in words and state(ready) == before


def test_more_frames_than_there_is_memory_for_are_refused(ready, monkeypatch) -> None:
    before = state(ready)

    def read_nothing(*_):
        raise MemoryError
        yield

    monkeypatch.setattr("addon.job.sample", read_nothing)
    for operator in (bpy.ops.heft.bake, bpy.ops.heft.preview, bpy.ops.heft.check):
        words = refusal(operator)
        assert "not enough memory" in words and "Traceback" not in words and state(ready) == before


def test_the_range_ends_where_blenders_frames_do(ready) -> None:
    ready.heft.start, ready.heft.end = -2**31, 2**31 - 1
    assert (ready.heft.start, ready.heft.end) == (-1048574, 1048574)
    ready.heft.contacts.add().end = 2**31 - 1
    assert "Give -1048574 to 1048574" in refusal(bpy.ops.heft.save_preset, filepath="never.json")


def test_a_result_on_a_track_can_be_seen(ready) -> None:
    from addon.ui import session

    ready.heft.output = "NLA"
    bpy.ops.heft.bake()
    found = session.diagnostics_of(ready)
    assert found is not None and len(found.frames) == 25


@pytest.mark.skipif(bpy.app.version < (4, 4), reason="slots came with 4.4")
def test_looking_adds_nothing_to_an_action(ready) -> None:
    action = ready.animation_data.action
    ready.animation_data.action_slot = action.slots.new("OBJECT", "empty")
    bags = len(action.layers[0].strips[0].channelbags)
    bpy.ops.heft.set_up()
    bpy.ops.heft.check()
    assert len(action.layers[0].strips[0].channelbags) == bags


@pytest.mark.parametrize("output", ["ACTION", "NLA"])
def test_back_to_the_original_and_to_bones_without_keys(output) -> None:
    ob = make_armature(bpy, PERSON)
    action = key_sway(bpy, ob, still=[name for name in PERSON if name not in ("pelvis", "chest")])
    for bone in ob.pose.bones:
        bone.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    bpy.ops.heft.set_up()
    bpy.ops.heft.add_push(size="TACKLE")
    bpy.data.objects["Push"].heft.push.start = 4.0
    scene, ob.heft.output = bpy.context.scene, output
    scene.frame_set(14)
    before = [bone.matrix.copy() for bone in ob.pose.bones]
    assert "shows no result" in refusal(bpy.ops.heft.show_original)
    bpy.ops.heft.bake()
    bpy.context.view_layer.update()
    assert [bone.matrix for bone in ob.pose.bones] != before
    assert bpy.ops.heft.show_original() == {"FINISHED"} and ob.animation_data.action == action
    assert [bone.matrix for bone in ob.pose.bones] == before
    assert any(other.name.endswith("Heft") for other in bpy.data.actions)
