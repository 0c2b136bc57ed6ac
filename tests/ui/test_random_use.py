"""Hundreds of buttons pressed in random order: no exception, no lost key of the original."""

from pathlib import Path

import numpy as np
import pytest

from tests.rigs import PERSON, all_keys, key_sway, make_armature

bpy = pytest.importorskip("bpy")
PRESSES = 60


class User:
    """An animator in a hurry; knows only what is on screen."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng, self.folder, self.count = np.random.default_rng(seed), folder, 0
        self.kept: dict[str, dict] = {}
        self.new_character()

    @property
    def ob(self):
        return bpy.context.view_layer.objects.active

    def new_character(self) -> None:
        self.count += 1
        ob = make_armature(bpy, PERSON, name=f"Person {self.count}")
        action = key_sway(bpy, ob, first=1, last=9, step=4)
        action.name = f"Take {self.count}"
        action.use_fake_user = True
        self.kept[action.name] = all_keys(action)

    def press(self, name: str, **arguments) -> None:
        operator = getattr(bpy.ops.heft, name)
        try:
            operator(**arguments)
        except RuntimeError as refusal:
            words = str(refusal)
            assert "Traceback" not in words, words  # a refusal is a sentence, never a bug

    def delete_character(self) -> None:
        bpy.data.objects.remove(self.ob)
        self.new_character()

    def rename_bone(self) -> None:
        bones = self.ob.data.bones
        bone = bones[int(self.rng.integers(len(bones)))]
        bone.name = f"{bone.name}x"
        for action in self.kept:  # Blender renames the paths of keys along
            self.kept[action] = all_keys(bpy.data.actions[action])

    def switch_action(self) -> None:
        ob = self.ob
        names = [a.name for a in bpy.data.actions]
        action = bpy.data.actions[names[int(self.rng.integers(len(names)))]]
        ob.animation_data_create().action = action
        if hasattr(action, "slots") and len(action.slots):
            ob.animation_data.action_slot = action.slots[0]

    def change_range(self) -> None:
        self.ob.heft.use_range = bool(self.rng.integers(2))
        self.ob.heft.start, self.ob.heft.end = (int(n) for n in self.rng.integers(-3, 12, 2))

    def reload(self) -> None:
        path = self.folder / "file with spaces.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(path))
        bpy.ops.wm.open_mainfile(filepath=str(path))

    def undo(self) -> None:
        bpy.ops.ed.undo_push(message="test")
        for name in ("undo", "redo"):
            try:
                getattr(bpy.ops.ed, name)()
            except RuntimeError:
                return  # no undo in the background of this Blender

    def delete_push(self) -> None:
        for ob in [o for o in bpy.data.objects if o.type == "EMPTY"]:
            bpy.data.objects.remove(ob)

    def pose_mode(self) -> None:
        bpy.ops.object.mode_set(mode="POSE" if self.ob.mode == "OBJECT" else "OBJECT")

    def choose_output(self) -> None:
        self.ob.heft.output = ("AUTO", "ACTION", "NLA", "OVERLAY")[int(self.rng.integers(4))]

    def act(self) -> str:
        pick = ["set_up", "bake", "bake", "preview", "check", "add_push", "add_load", "add_ground", "remove",
                "remove_item", "apply_preset", "remove_overlay", "clear_preview", "go_to", "add_contact", "mirror_bone",
                "show_original"]
        own = [self.delete_character, self.rename_bone, self.switch_action, self.change_range, self.reload, self.undo,
               self.delete_push, self.pose_mode, self.choose_output]
        n = int(self.rng.integers(len(pick) + len(own)))
        if n >= len(pick):
            own[n - len(pick)]()
            return own[n - len(pick)].__name__
        extra = {"remove_item": {"kind": ("pushes", "loads", "grounds", "contacts")[int(self.rng.integers(4))]},
                 "apply_preset": {"preset": "Strong"}, "add_contact": {"limb": "foot.L"},
                 "go_to": {"frame": 5, "bone": "head"}}
        self.press(pick[n], **extra.get(pick[n], {}))
        return pick[n]


@pytest.mark.parametrize("seed", [0, 1, 2, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in range(3, 12))])
def test_random_use(seed: int, tmp_path: Path) -> None:
    user = User(seed, tmp_path)
    bpy.ops.heft.set_up()
    history = []
    for _ in range(PRESSES):
        history.append(user.act())
        for name, keys in user.kept.items():
            assert name in bpy.data.actions, f"{name} is gone after {history[-6:]}"
            assert all_keys(bpy.data.actions[name]) == keys, f"{name} has changed after {history[-6:]}"
        assert user.ob is not None and user.ob.type == "ARMATURE", history[-6:]
