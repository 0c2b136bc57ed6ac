"""Bake time inside Blender, side by side: Heft, Blender's own bake of the same rig, and a ragdoll of rigid bodies.

    python -m benchmarks.bake_time        in an environment with the bpy module (`make bench`)

60 bones of which 19 move the body, 250 frames at 24 a second, a skinned mesh, one push.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from benchmarks import table

BONES, FRAMES, MASS = 60, 250, 75.0


def rig(bpy: Any) -> Any:
    """A person with fingers and a face: 60 bones, and a mesh that follows them."""
    from tests.rigs import PERSON, key_sway, make_armature

    bones = dict(PERSON)
    for side, s in (("L", 1.0), ("R", -1.0)):
        for finger in range(5):
            parent, x = f"hand.{side}", 0.88
            for piece in range(3):
                name = f"finger{finger}.{piece}.{side}"
                bones[name] = (parent, (s * x, 0.02 * (finger - 2), 1.42), (s * (x + 0.03), 0.02 * (finger - 2), 1.42))
                parent, x = name, x + 0.03
    for n in range(BONES - len(bones)):
        x = 0.012 * (n - 5)
        bones[f"face{n}"] = ("head", (x, -0.08, 1.62), (x, -0.10, 1.62))
    ob = make_armature(bpy, bones)
    key_sway(bpy, ob, first=1, last=FRAMES, step=7)
    mesh = bpy.data.meshes.new("Skin")
    grid = [(0.01 * x, 0.0, 0.02 * z) for z in range(100) for x in range(100)]
    mesh.from_pydata(grid, [], [(r * 100 + c, r * 100 + c + 1, r * 100 + c + 101, r * 100 + c + 100)
                               for r in range(99) for c in range(99)])
    skin = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    skin.modifiers.new("Armature", "ARMATURE").object = ob
    for bone in ob.data.bones:
        skin.vertex_groups.new(name=bone.name).add(list(range(0, 10000, 60)), 0.5, "REPLACE")
    bpy.context.view_layer.objects.active = ob
    return ob


def fresh() -> tuple[Any, Any]:
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.frame_end = FRAMES
    return bpy, rig(bpy)


def heft(is_disturbed: bool) -> tuple[float, float]:
    """Seconds of the whole bake, and of it without the simulation itself: reading and writing."""
    bpy, ob = fresh()
    from addon.bridge.settings import PushSpec, Setup
    from addon.job import finish, read, simulate, write

    pushes = (PushSpec(bone="chest", start=60, length=5, newtons=200.0),) if is_disturbed else ()
    setup = Setup(start=1, end=FRAMES, pushes=pushes, mass=MASS)
    scene = bpy.context.scene
    start = perf_counter()
    study = finish(read(scene, ob, setup))
    half = perf_counter()
    result, points = finish(simulate(study))
    simulated = perf_counter()
    write(bpy.data, scene, ob, study, result, points, "ACTION")
    end = perf_counter()
    assert len(study.figure.rig) == BONES
    return end - start, (half - start) + (end - simulated)


def visual_bake(bpy: Any) -> float:
    """Seconds of Blender's own bake of all bones, with visual keying."""
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    start = perf_counter()
    bpy.ops.nla.bake(frame_start=1, frame_end=FRAMES, visual_keying=True, use_current_action=False, bake_types={"POSE"})
    return perf_counter() - start


def blender_bake() -> float:
    bpy, _ = fresh()
    return visual_bake(bpy)


def ragdoll() -> float:
    """Seconds of the same bake while the bones follow bodies that fall to the floor: one per moving bone, as long as
    it, joined at its head with limits."""
    bpy, ob = fresh()
    from mathutils import Vector

    from tests.rigs import PERSON

    scene = bpy.context.scene
    bpy.ops.rigidbody.world_add()
    bpy.ops.mesh.primitive_plane_add(size=20.0)
    bpy.ops.rigidbody.object_add(type="PASSIVE")
    bodies = {}
    for name, (_, head, tail) in PERSON.items():
        along = Vector(tail) - Vector(head)
        bpy.ops.mesh.primitive_cube_add(size=1.0, location=0.5 * (Vector(head) + Vector(tail)))
        box = bodies[name] = bpy.context.object
        box.scale = (0.08, 0.9 * along.length, 0.08)
        box.rotation_euler = along.to_track_quat("Y", "Z").to_euler()
        bpy.ops.rigidbody.object_add()
        box.rigid_body.mass = MASS / len(PERSON)
    for name, (parent, head, _) in PERSON.items():
        if parent is None:
            continue
        joint = bpy.data.objects.new(f"{name} joint", None)
        scene.collection.objects.link(joint)
        joint.location = head
        bpy.context.view_layer.objects.active = joint
        bpy.ops.rigidbody.constraint_add(type="GENERIC")
        joined = joint.rigid_body_constraint
        joined.object1, joined.object2 = bodies[parent], bodies[name]
        for kind, limit in (("lin", 0.0), ("ang", 0.8)):
            for axis in "xyz":
                setattr(joined, f"use_limit_{kind}_{axis}", True)
                setattr(joined, f"limit_{kind}_{axis}_lower", -limit)
                setattr(joined, f"limit_{kind}_{axis}_upper", limit)
    bpy.context.view_layer.objects.active = ob
    for name, box in bodies.items():
        ob.pose.bones[name].constraints.new("CHILD_OF").target = box
    scene.rigidbody_world.point_cache.frame_end = FRAMES
    seconds = visual_bake(bpy)
    scene.frame_set(FRAMES)
    heights = [box.matrix_world.translation.z for box in bodies.values()]
    assert 0.0 < min(heights) and max(heights) < 0.5, f"a doll lies on the floor in the end: {heights}"
    return seconds


def rows(rounds: int = 3) -> list[table.Row]:
    baker = float(np.median([blender_bake() for _ in range(rounds)]))
    doll = float(np.median([ragdoll() for _ in range(rounds)]))
    pushed = [heft(True) for _ in range(rounds)]
    whole, around = (float(np.median([times[n] for times in pushed])) for n in (0, 1))
    return [
        table.row("bake in Blender, 60 bones x 250 frames, beside nla.bake", whole, "s", baseline=baker,
                  ratio_below=2.0),
        table.row("the same, without the simulation: reading and writing", around, "s", baseline=baker,
                  ratio_below=1.0),
        table.row("the same bake, beside a ragdoll of rigid bodies", whole, "s", baseline=doll, ratio_below=1.0),
    ]


if __name__ == "__main__":
    found = rows()
    print(table.text(found))
    sys.stdout.flush()
    os._exit(0)  # some bpy modules crash while Python ends
