"""The ground plan: a clip made on level ground stands, steps and swings on any other, within promised figures."""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from benchmarks.ground_cases import CAPTURED, CLIPS, GROUNDS, find_clip, pushed_scene, scene
from solver import Push, QuasiPhysical, Scene, bake, finish
from solver.model.terrain import HeightField, TriangleMesh
from solver.references.clip import Clip
from tests import terrains
from tests.clips.shared import needs_clips
from tests.ground_figures import Figures, figures

IDENTITY = 1e-8          # rad, m: undisturbed playback of the plan


@dataclass(frozen=True)
class Promise:
    """Millimetres, millimetres a frame at 60 frames per second, and times the clip's own joint speed."""

    depth: float = 5.0
    body: float = 20.0
    gap: float = 15.0
    slide: float = 2.0
    speed: float = 2.0

    def broken_by(self, reached: Figures) -> list[str]:
        return [f"{name} {getattr(reached, name):.2f} > {limit}" for name, limit in vars(self).items()
                if getattr(reached, name) > limit]


PROMISE = Promise()
PUSHED = ("walk", "captured walk", "run", "trot", "crawl")
QUICK_PUSHED = {("walk", 10), ("walk", 17), ("captured walk", 8), ("captured walk", 25), ("run", 9), ("run", 18),
                ("trot", 1), ("trot", 29)}
QUICK = [("walk", "35 up"), ("walk", "35 down"), ("walk", "35 across"), ("walk", "steps 0.3 up"),
         ("walk", "steps 0.3 down"), ("walk", "rough 0"), ("walk", "ferry"), ("trot", "35 up"),
         ("captured walk", "35 up"), ("captured walk", "35 down"), ("captured walk", "steps 0.3 down"),
         ("run", "35 up"), ("run", "steps 0.3 up")]


def cases(clips: Iterable[str], others: Iterable[object], quick: Container[object]) -> list[object]:
    """Every clip with every other: in every run if it is quick."""
    out = []
    for clip, other in product(clips, others):
        marks = [needs_clips] if clip in CAPTURED else []
        if (clip, other) not in quick:
            marks.append(pytest.mark.exhaustive)
        out.append(pytest.param(clip, other, marks=marks, id=f"{clip}, {other}"))
    return out


@pytest.mark.parametrize(("clip", "ground"), cases(CLIPS, GROUNDS, QUICK))
def test_feet_stand_on_the_ground_and_nothing_goes_through_it(clip: str, ground: str) -> None:
    placed = Clip(scene(clip, ground))
    assert not PROMISE.broken_by(figures(placed, placed.planned))


@pytest.mark.parametrize("name", ["walk", "trot", pytest.param("captured walk", marks=needs_clips)])
@pytest.mark.parametrize("kind", ["mesh", "height field"])
def test_on_its_own_ground_in_another_shape_a_clip_is_left_alone(name: str, kind: str) -> None:
    """Bit for bit."""
    character, motion, height = find_clip(name)
    level = np.full((3, 3), height)
    vertices, faces = terrains.grid_mesh(level, 20.0)
    terrain = (TriangleMesh(vertices, faces) if kind == "mesh" else
               HeightField(np.array([-20.0, -20.0, 0.0]), 20.0, level))
    flat, planned = Clip(Scene(character, motion)), Clip(Scene(character, motion, terrain=terrain))
    assert np.array_equal(planned.planned.positions, flat.planned.positions)
    assert np.array_equal(planned.planned.rotations, flat.planned.rotations)


def test_a_little_slope_changes_little() -> None:
    """The plan is continuous but for what the clip's own feet sink into their ground, here 2 mm."""
    flat = Clip(scene("walk", terrains.slope(0.0))).planned
    tilted = Clip(scene("walk", terrains.slope(0.02))).planned
    assert np.abs(tilted.positions - flat.positions).max() < 0.003


@pytest.mark.parametrize("ground", ["steps 0.3 up", "rough 1"])
def test_undisturbed_the_plan_is_played_back(ground: str) -> None:
    placed = scene("walk", ground)
    controller = QuasiPhysical(placed)
    motion = finish(bake(placed, controller)).motion
    planned, frames = controller.clip.planned, controller.clip.frame_step
    assert np.abs(motion.positions - planned.positions[frames]).max() < IDENTITY
    assert np.abs(motion.rotations - planned.rotations[frames]).max() < IDENTITY


@pytest.mark.parametrize("ground", ["35 up", "35 across", "steps 0.3 down"])
def test_who_is_pushed_on_a_slope_or_on_steps_keeps_to_the_ground(ground: str) -> None:
    placed = scene("walk", ground, pushes=(Push.constant("chest", (100.0, 200.0, 0.0), 1.0, 0.2),))
    controller = QuasiPhysical(placed)
    result = finish(bake(placed, controller))
    assert not PROMISE.broken_by(figures(controller.clip, result.motion, controller.clip.frame_step, result.contacts))


@pytest.mark.parametrize(("clip", "seed"), cases(PUSHED, range(50), QUICK_PUSHED))
def test_who_is_pushed_on_any_ground_keeps_to_it(clip: str, seed: int) -> None:
    """100 to 300 N in any direction at any time; slopes, steps, rough, fine and moving grounds in turn."""
    placed = pushed_scene(clip, seed)
    controller = QuasiPhysical(placed)
    result = finish(bake(placed, controller))
    assert not PROMISE.broken_by(figures(controller.clip, result.motion, controller.clip.frame_step, result.contacts))


def test_the_ferry_takes_a_walk_along() -> None:
    """On even ground that moves evenly, the plan is the clip plus the ground's way."""
    ferry = terrains.ferry(0.5, 30.0)
    placed = Clip(scene("walk", ferry))
    drift = (placed.planned.positions - placed.motion.resampled(placed.times).positions)[:, :2]
    taken = placed.times[:, None] * 0.5 * terrains.heading(30.0)[:2]
    assert np.abs(drift - taken).max() < 0.01


@needs_clips
def test_too_long_strides_are_shortened_and_said() -> None:
    placed = Clip(scene("run", "35 up"))
    gone = np.linalg.norm(np.ptp(placed.planned.positions[:, :2], axis=0))
    assert gone < 0.95 * np.linalg.norm(np.ptp(placed.motion.positions[:, :2], axis=0))
    assert any("shorter" in note.sentence for note in placed.notes)


@pytest.mark.parametrize(("height", "where"), [(1.0, "above"), (-1.0, "below")])
def test_a_clip_far_off_its_ground_is_brought_to_it_and_that_is_said(height: float, where: str) -> None:
    character, motion, _ = find_clip("walk")
    keyed = motion.with_poses(motion.positions + np.array([0.0, 0.0, height]), motion.rotations)
    clip = Clip(Scene(character, keyed, terrain=terrains.stairs(0.2)))
    assert abs(clip.planned.positions[0, 2] - motion.positions[0, 2]) < 0.05
    assert any(f"cm {where} this ground" in note.sentence for note in clip.notes)


def test_a_range_that_begins_up_the_stairs_is_not_brought_there() -> None:
    clip = Clip(scene("walk", "steps 0.5 up", frames=(60, 120)))
    assert clip.planned.positions[0, 2] - clip.motion.positions[0, 2] > 0.45
    assert not any("was brought" in note.sentence for note in clip.notes)


def test_who_walks_upright_leans_into_the_slope_and_who_goes_on_four_legs_lies_along_it() -> None:
    pitch = {}
    for name in ("walk", "trot"):
        for degrees in (0.0, 25.0):
            clip = Clip(scene(name, terrains.slope(degrees)))
            up = clip.planned.rotations[len(clip.times) // 2, 0]
            w, x, y, z = up
            pitch[name, degrees] = np.degrees(np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0)))
    assert 3.0 < pitch["walk", 25.0] - pitch["walk", 0.0] < 12.0       # forward
    assert -27.0 < pitch["trot", 25.0] - pitch["trot", 0.0] < -18.0    # nose up


def test_a_hole_in_the_ground_is_not_stepped_into() -> None:
    """Where the ground is missing under part of a stance, the foothold goes beside the hole."""
    vertices, faces = terrains.grid_mesh(np.zeros((41, 41)), 0.2)
    middle = vertices[faces].mean(1)
    hole = (np.abs(middle[:, 0] - 0.9) < 0.1) & (np.abs(middle[:, 1]) < 2.0)
    flat, clip = Clip(scene("walk", terrains.slope(0.0))), Clip(scene("walk", TriangleMesh(vertices, faces[~hole])))

    def bare(placed: Clip) -> int:
        seen = clip.terrain.height_over(placed.paths[..., :2], placed.times).z
        return int((flat.schedule.touching & ~np.isfinite(seen)).sum())

    assert bare(flat) > 20 and bare(clip) == 0
    assert not any("no ground" in note.sentence for note in clip.notes)
