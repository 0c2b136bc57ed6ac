# SPDX-License-Identifier: GPL-3.0-or-later
"""What is stored in the file: one pointer per owner, `Scene.heft`, `Object.heft`, `Bone.heft`.

No `from __future__ import annotations` here: Blender reads the annotations as they are.
"""

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..bridge.settings import FRAMES
from .dials import dial_groups

OPEN: Any = {"LIBRARY_OVERRIDABLE"}   # what may be changed on an overridden character
OPEN_LIST: Any = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
ROLES = [("AUTO", "Automatic", "Found from where the bone is")] + [
    (name.upper(), name.capitalize(), f"Treat it as {name}")
    for name in ("trunk", "neck", "head", "arm", "hand", "leg", "foot", "toe", "tail", "other")]
_UNTYPED: Any = bpy.types  # the pointers below are not in Blender's stubs


class HEFT_PG_bone(bpy.types.PropertyGroup):
    use: EnumProperty(name="Use", description="What the bone is for the body", items=[
        ("AUTO", "Automatic", "Found from the rig"), ("LINK", "Moves", "A joint of the body"),
        ("JOIN", "Goes along", "Keeps its own animation and goes along with the part above"),
        ("LEAVE", "Left out", "Is not moved")])
    role: EnumProperty(name="Role", description="Which part of the body it is", items=ROLES)
    mass: FloatProperty(name="Mass", description="Kilograms of this part; 0 shares the body's mass by its build",
                        min=0.0, soft_max=50.0, precision=2)
    strength: FloatProperty(name="Firmness", description="How firm this joint is, as a multiple of the usual",
                            default=1.0, min=0.01, soft_max=10.0)
    share: FloatProperty(name="Physics", description="How much of the physical result this part takes; 0 keeps its "
                         "keys", default=1.0, min=0.0, max=1.0, subtype="FACTOR")


class HEFT_PG_push(bpy.types.PropertyGroup):
    bone: StringProperty(name="Bone", description="The bone that is pushed; empty: the one the arrow points at")
    start: FloatProperty(name="Start", description="Frame at which it begins", default=10.0, precision=1)
    length: FloatProperty(name="Length", description="How many frames it lasts", default=5.0, min=0.1, precision=1)
    strength: FloatProperty(name="Strength", description="Newtons (an impulse: newton seconds). 60 nudges a grown "
                            "person, 200 shoves, 600 tackles. Can be keyed", default=200.0, min=0.0, soft_max=2000.0)
    is_impulse: BoolProperty(name="Impulse", description="A blow: all of it at once, however long a frame is")


class HEFT_PG_push_item(bpy.types.PropertyGroup):
    object: PointerProperty(type=bpy.types.Object, name="Arrow", description="The empty that shows the push")
    is_on: BoolProperty(name="On", description="Whether it acts", default=True)


class HEFT_PG_load_item(bpy.types.PropertyGroup):
    object: PointerProperty(type=bpy.types.Object, name="Object", description="Hangs where this object is; none: at "
                            "the end of the bone")
    bone: StringProperty(name="Bone", description="The bone that carries it")
    kg: FloatProperty(name="Mass", description="Kilograms", default=10.0, min=0.0, soft_max=100.0)
    use_frames: BoolProperty(name="From-to", description="Carried between two frames only")
    start: IntProperty(name="From", description="Frame at which it is taken up", default=1)
    end: IntProperty(name="To", description="Frame at which it is put down", default=50)
    is_on: BoolProperty(name="On", description="Whether it counts", default=True)


class HEFT_PG_ground_item(bpy.types.PropertyGroup):
    object: PointerProperty(type=bpy.types.Object, name="Mesh", description="A mesh to stand on; it may be animated",
                            poll=lambda self, ob: ob.type == "MESH")
    collection: PointerProperty(type=bpy.types.Collection, name="Collection", description="Meshes to stand on")
    friction: FloatProperty(name="Friction", description="0 is ice, 0.9 a sole on ordinary ground", default=0.9,
                            min=0.0, soft_max=1.5)
    is_on: BoolProperty(name="On", description="Whether it counts", default=True)


class HEFT_PG_contact_item(bpy.types.PropertyGroup):
    limb: StringProperty(name="Limb", description="The foot, hand, knee or other part")
    start: IntProperty(name="From", description="First frame")
    end: IntProperty(name="To", description="Last frame")
    mode: EnumProperty(name="Contact", description="What the limb does there", items=[
        ("AUTO", "Auto", "As found"), ("ON", "On", "It stands"), ("OFF", "Off", "It does not touch"),
        ("SLIDE", "Slide", "It touches and may slide")], default="ON")


class HEFT_PG_line(bpy.types.PropertyGroup):
    level: EnumProperty(items=[("GOOD", "Good", ""), ("CARE", "Care", ""), ("STOP", "Stop", "")])
    sentence: StringProperty()
    remedy: StringProperty()
    bone: StringProperty()
    frame: IntProperty(default=-1_000_000)


class HEFT_PG_bar(bpy.types.PropertyGroup):
    limb: StringProperty()
    spans: StringProperty()
    frames: StringProperty()   # JSON: [[first, last], ...]


class HEFT_PG_object(bpy.types.PropertyGroup):
    """A character's settings; of a push, only `push` counts."""

    is_set_up: BoolProperty(options={"HIDDEN"}, override=OPEN)
    push: PointerProperty(type=HEFT_PG_push)
    mass: FloatProperty(name="Total kg", description="Kilograms of the whole body; 0 estimates it from the size",
                        min=0.0, soft_max=500.0, precision=1, override=OPEN)
    build: EnumProperty(name="Build", description="How the mass is shared among the parts", items=[
        ("AUTO", "Automatic", "Human where it is built like one"), ("HUMAN", "Human", "As in a grown person"),
        ("LENGTH", "By length", "Long bones are heavy")], override=OPEN)
    use_range: BoolProperty(name="Frame range", description="Bake only these frames; off: the whole action",
                            override=OPEN)
    start: IntProperty(name="Start", description="First frame", default=1, min=FRAMES[0], max=FRAMES[1], override=OPEN)
    end: IntProperty(name="End", description="Last frame", default=100, min=FRAMES[0], max=FRAMES[1], override=OPEN)
    ease_in: FloatProperty(name="Ease in", description="Frames over which physics sets in", min=0.0, override=OPEN)
    ease_out: FloatProperty(name="Ease out", description="Frames over which physics fades", min=0.0, override=OPEN)
    amount: FloatProperty(name="Physics amount", description="How much of the physical result is taken; can be keyed",
                          default=1.0, min=0.0, max=1.0, subtype="FACTOR", override=OPEN)
    goal: EnumProperty(name="Keep the path of", description="What comes back to its path after a push", items=[
        ("COM", "Body", "The centre of mass"), ("BONE", "Bone", "One bone"), ("NONE", "Nothing", "It may drift")],
        override=OPEN)
    goal_bone: StringProperty(name="Bone", description="The bone that keeps its path", override=OPEN)
    controller: EnumProperty(name="Controller", description="How the character answers", items=[
        (kind.id, kind.label, kind.words) for kind in dial_groups.kinds], override=OPEN)
    use_release: BoolProperty(name="Let go", description="Let the character fall: at a frame, or when it is pushed "
                              "hard enough", override=OPEN)
    release_by: EnumProperty(name="Let go", description="What makes it fall", items=[
        ("FRAME", "At a frame", "The keys let go there"), ("PUSH", "By a push", "Pushes beyond an impulse let it go")],
        override=OPEN)
    release_frame: IntProperty(name="Frame", description="Where the keys let go", default=20, override=OPEN)
    release_impulse: FloatProperty(name="Impulse", description="Newton seconds that knock it over; a grown person: "
                                   "about 80", default=80.0, min=0.1, soft_max=500.0, override=OPEN)
    is_limp: BoolProperty(name="Limp", description="Falls like a rag rather than like a person", override=OPEN)
    use_get_up: BoolProperty(name="Get up", description="Comes back to its keys after lying still", override=OPEN)
    get_up: FloatProperty(name="Within", description="Seconds in which it gets up", default=2.0, min=0.1, max=60.0,
                          override=OPEN)
    output: EnumProperty(name="Output", description="Where the result goes", items=[
        ("AUTO", "Automatic", "A new action; an overlay where constraints hold the bones"),
        ("ACTION", "New action", "A copy of the action with the result; the original is kept"),
        ("NLA", "New track", "A track of its own in the nonlinear animation editor"),
        ("OVERLAY", "Overlay", "An armature of its own that the bones follow, with one slider")], override=OPEN)
    use_reduction: BoolProperty(name="Fewer keys", description="Leave out keys that change nothing visible",
                                override=OPEN)
    reduce_degrees: FloatProperty(name="Degrees", description="How far a bone may turn from the full result",
                                  default=0.1, min=0.001, soft_max=5.0, override=OPEN)
    reduce_mm: FloatProperty(name="Millimetres", description="How far a bone may shift from the full result",
                             default=0.5, min=0.001, soft_max=20.0, override=OPEN)
    use_fields: BoolProperty(name="Force fields", description="Wind and force fields of the scene push the character, "
                             "with as many newtons on the whole body as their strength", override=OPEN)
    pushes: CollectionProperty(type=HEFT_PG_push_item, override=OPEN_LIST)
    loads: CollectionProperty(type=HEFT_PG_load_item, override=OPEN_LIST)
    grounds: CollectionProperty(type=HEFT_PG_ground_item, override=OPEN_LIST)
    contacts: CollectionProperty(type=HEFT_PG_contact_item, override=OPEN_LIST)
    checklist: CollectionProperty(type=HEFT_PG_line, override=OPEN_LIST)
    report: CollectionProperty(type=HEFT_PG_line, override=OPEN_LIST)
    bars: CollectionProperty(type=HEFT_PG_bar, override=OPEN_LIST)
    verdict: StringProperty(options={"HIDDEN"}, override=OPEN)
    overlay: PointerProperty(type=bpy.types.Object, options={"HIDDEN"}, override=OPEN)


class HEFT_PG_scene(bpy.types.PropertyGroup):
    show_ghost: BoolProperty(name="Ghost", description="The result as coloured bones over the original", default=True)
    show_pushes: BoolProperty(name="Pushes", description="Arrows of pushes while they act", default=True)
    show_contacts: BoolProperty(name="Contact forces", description="Where and how hard the ground pushes", default=True)
    show_com: BoolProperty(name="Centre of mass", description="The centre of mass and its path", default=True)
    show_zmp: BoolProperty(name="Balance", description="The support area and the point about which nothing tips",
                           default=True)
    show_stress: BoolProperty(name="Effort", description="Colour the ghost by how hard each joint works")
    show_helper: BoolProperty(name="Helper force", description="How much help from outside the motion needs",
                              default=True)
    show_bars: BoolProperty(name="Contact bars", description="Bars along the timeline: when each limb touches the "
                            "ground", default=True)
    color: FloatVectorProperty(name="Ghost colour", description="Of the ghost", subtype="COLOR", size=4, min=0.0,
                               max=1.0, default=(0.2, 0.75, 1.0, 0.9))
    is_running: BoolProperty(options={"HIDDEN", "SKIP_SAVE"})
    progress: FloatProperty(options={"HIDDEN", "SKIP_SAVE"}, min=0.0, max=1.0)
    progress_words: StringProperty(options={"HIDDEN", "SKIP_SAVE"})


GROUPS = (HEFT_PG_bone, HEFT_PG_push, HEFT_PG_push_item, HEFT_PG_load_item, HEFT_PG_ground_item, HEFT_PG_contact_item,
          HEFT_PG_line, HEFT_PG_bar, *dial_groups.classes, HEFT_PG_object, HEFT_PG_scene)
for _kind, _group in zip(dial_groups.kinds, dial_groups.classes):  # one pointer per controller: its dials
    HEFT_PG_object.__annotations__[_kind.id.lower()] = PointerProperty(type=_group, override=OPEN)


def register() -> None:
    for group in GROUPS:
        bpy.utils.register_class(group)
    _UNTYPED.Bone.heft = PointerProperty(type=HEFT_PG_bone)
    _UNTYPED.Object.heft = PointerProperty(type=HEFT_PG_object, override=OPEN)
    _UNTYPED.Scene.heft = PointerProperty(type=HEFT_PG_scene)


def unregister() -> None:
    for owner in (_UNTYPED.Scene, _UNTYPED.Object, _UNTYPED.Bone):
        del owner.heft
    for group in reversed(GROUPS):
        bpy.utils.unregister_class(group)
