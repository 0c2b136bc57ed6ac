"""The clips and grounds on which the ground plan is judged, by name; clips travel along +x from the origin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from solver import Character, Motion, Push, Scene
from solver.model.terrain import Moving, Plane, Steps, Terrain, TriangleMesh
from solver.numerics import rotation
from solver.references.clip import Clip
from tests import terrains
from tests.clips import shared, synthetic

CLIPS = {"walk": "made:walk", "trot": "made:trot", "captured walk": "walk_cmu_02_01", "run": "run_cmu_09_01",
         "crawl": "walk_crawl_cmu_133_01", "cartwheel": "cartwheel_cmu_49_07"}
CAPTURED = {name for name, source in CLIPS.items() if not source.startswith("made:")}
GROUNDS: dict[str, Callable[[], Terrain]] = {
    "35 up": lambda: terrains.slope(35.0), "35 down": lambda: terrains.slope(-35.0),
    "35 across": lambda: terrains.slope(35.0, 90.0), "20 up": lambda: terrains.slope(20.0),
    "steps 0.2 up": lambda: terrains.stairs(0.2),
    "steps 0.3 up": lambda: terrains.stairs(0.3), "steps 0.3 down": lambda: terrains.stairs(-0.3),
    "steps 0.5 up": lambda: terrains.stairs(0.5), "steps 0.5 down": lambda: terrains.stairs(-0.5),
    "rough 0": lambda: terrains.rough_ground(0), "rough 1": lambda: terrains.rough_ground(1),
    "rough 2": lambda: terrains.rough_ground(2), "ferry": terrains.ferry, "turntable": terrains.turntable,
    "lift 0": lambda: terrains.lift(0), "lift 1": lambda: terrains.lift(1)}


@cache
def find_clip(name: str) -> tuple[Character, Motion, float]:
    """With the height of the ground on which it was made."""
    source = CLIPS[name]
    if source.startswith("made:"):
        character, motion = synthetic.CLIPS[source[5:]](rate=60.0)
    else:
        character, motion = shared.load(source, 60.0)
        motion = along_x(motion)
    return character, motion, Clip(Scene(character, motion)).ground


def along_x(motion: Motion) -> Motion:
    """The same motion from the origin along +x."""
    way = (motion.positions[-1] - motion.positions[0])[:2]
    turn = np.tile(rotation.exp(np.array([0.0, 0.0, -np.arctan2(way[1], way[0])])), (len(motion), 1))
    rotations = motion.rotations.copy()
    rotations[:, 0] = rotation.multiply(turn, rotations[:, 0])
    return motion.with_poses(rotation.rotate(turn, motion.positions - np.append(motion.positions[0, :2], 0.0)),
                             rotations)


def raised(terrain: Terrain, height: float) -> Terrain:
    """The ground so much higher, as a ground of the same kind where that is easy."""
    up = np.array([0.0, 0.0, height])
    if isinstance(terrain, Plane):
        return replace(terrain, point=terrain.point + up)
    if isinstance(terrain, Steps):
        return Steps(terrain.start + up, terrain.direction, terrain.tread, terrain.rise, terrain.count)
    if isinstance(terrain, TriangleMesh):
        return TriangleMesh(terrain.vertices + up, terrain.faces)
    return Moving(terrain, np.zeros(1), up[None])


def scene(clip: str, ground: str | Terrain, **placed: object) -> Scene:
    """A clip on a ground whose origin is at the height of the clip's own."""
    character, motion, height = find_clip(clip)
    terrain = GROUNDS[ground]() if isinstance(ground, str) else ground
    return Scene(character, motion, terrain=raised(terrain, height), **placed)  # type: ignore[arg-type]


def pushed_scene(name: str, seed: int) -> Scene:
    """The clip on a random ground with one push in any direction, at any time, of 100 to 300 N."""
    generator = np.random.default_rng(1000 + seed)
    heading, force = generator.uniform(0.0, 2.0 * np.pi), generator.uniform(100.0, 300.0)
    start = float(generator.uniform(0.6, 1.8)) * min(1.0, find_clip(name)[1].duration / 3.0)
    push = Push.constant("Spine1" if name in CAPTURED else "chest",
                         force * np.array([np.cos(heading), np.sin(heading), 0.0]), start, 0.2)
    return scene(name, terrains.random_terrain(seed)[1], pushes=(push,))
