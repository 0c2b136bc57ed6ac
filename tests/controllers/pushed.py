"""Bakes with one push, measured the way the promises are worded; shared by the tests of this folder.

Motions are the captured clips and the made ones under one name space (`walk_cmu_02_01`, `made_walk`). A bake covers a
window of the clip that begins a little before the push, so that hundreds of them are affordable.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from solver import (
    NATURAL,
    STRONG,
    SUBTLE,
    Character,
    Motion,
    Push,
    QuasiPhysical,
    Result,
    Scene,
    Settings,
    bake,
    finish,
)
from solver.physics.shape import shape_of
from solver.physics.trajectory import point_paths
from solver.physics.tree import Tree
from tests.clips import shared, synthetic

RATES = (24, 30, 60, 120)
MADE = ("walk", "squat", "hop", "ghost", "trot")
NAMES = shared.NAMES + tuple(f"made_{name}" for name in MADE)
DIALS = {"natural": NATURAL, "subtle": SUBTLE, "strong": STRONG, "hard": Settings(hard_path=True)}
BEFORE = 0.3     # s from the start of the window to the push
LASTS = 0.2      # s
BACK = 0.02      # rad: this near to the keys counts as back

# what chest, head, hand and thigh are called
_CAPTURED = {"chest": "Spine1", "head": "Head", "hand": "LeftHand", "thigh": "LeftUpLeg"}
_PERSON = {"chest": "chest", "head": "head", "hand": "hand.L", "thigh": "thigh.L"}
_MADE = {"walk": _PERSON, "squat": _PERSON, "hop": _PERSON,
         "ghost": {"chest": "body", "head": "head", "hand": "hand.L", "thigh": "wisp1"},
         "trot": {"chest": "chest", "head": "head", "hand": "front_meta.L", "thigh": "hind_upper.L"}}
PARTS = ("chest", "head", "hand", "thigh")
DIRECTIONS = {"left": (0.0, 1.0, 0.0), "right": (0.0, -1.0, 0.0), "front": (1.0, 0.0, 0.0), "back": (-1.0, 0.0, 0.0)}


# s, so that cases can be chosen without reading the clips
DURATIONS = {
    "walk_cmu_02_01": 2.85, "fast_walk_cmu_16_21": 2.59, "run_cmu_09_01": 1.22, "jump_up_balance_cmu_02_04": 4.01,
    "jump_forward_cmu_13_11": 3.45, "squat_pick_up_set_down_cmu_69_70": 8.69, "cartwheel_cmu_49_07": 3.91,
    "walk_crawl_cmu_133_01": 11.45, "walk_turn_left_90_cmu_69_24": 3.55, "walk_turn_180_cmu_39_11": 7.44,
    "run_dive_roll_cmu_127_23": 2.9, "carry_suitcase_cmu_70_01": 5.95, "pair_stumble_A_cmu_22_12": 2.52,
    "pair_stumble_B_cmu_23_12": 2.52, "dance_pirouette_cmu_05_02": 9.35, "cartoon_sneak_cmu_120_13": 8.33,
    "swing_on_bar_cmu_43_02": 7.52, **{f"made_{name}": 5.0 for name in MADE},
}


@cache
def clip(name: str, rate: float = 60.0) -> tuple[Character, Motion]:
    if name.startswith("made_"):
        return synthetic.CLIPS[name.removeprefix("made_")](rate=rate, duration=5.0)
    return shared.load(name, rate)


def part(name: str, what: str) -> str:
    """The link that is the chest (head, hand, thigh) of a motion's character."""
    return _MADE[name.removeprefix("made_")][what] if name.startswith("made_") else _CAPTURED[what]


@dataclass(frozen=True)
class Case:
    """One place, direction and time of a push, whatever its force."""

    name: str
    what: str
    direction: str
    start: float      # s in the clip
    rate: float = 60.0

    def __str__(self) -> str:
        return f"{self.name}-{self.what}-{self.direction}-{self.start:.2f}s-{self.rate:g}fps"

    def scene(self, force: float, after: float) -> Scene:
        """The push within a window that ends `after` seconds after it (or with the clip)."""
        character, motion = clip(self.name, self.rate)
        start = float(motion.times[0]) + self.start
        first = int(np.searchsorted(motion.times, start - BEFORE - 1e-9))
        last = min(int(np.searchsorted(motion.times, start + LASTS + after)) + 1, len(motion) - 1)
        push = Push.constant(part(self.name, self.what), force * np.array(DIRECTIONS[self.direction]), start, LASTS)
        return Scene(character, motion, pushes=(push,), frames=(first, last))


@dataclass(frozen=True)
class Response:
    """What a push did."""

    is_finite: bool
    peak: float          # rad, largest joint deviation from the keys
    moved: float         # m, farthest that the pushed part is from where its keys put it
    returned: float      # s after the push from which on the deviation stays below BACK; inf: never in the window
    seen: float          # s after the push that the window covers
    left: float          # rad, deviation in the last frame
    penetration: float   # m, deepest beyond the input's own
    slide: float         # m per frame, fastest planted point beyond the input's own
    when: dict[str, int]  # frames of peak, penetration and slide


@lru_cache(maxsize=16)
def respond(case: Case, force: float, dials: str = "natural", after: float = 1.5) -> Response:
    scene = case.scene(force, after)
    return measure(scene, finish(bake(scene, QuasiPhysical(scene, DIALS[dials]))))


def measure(scene: Scene, result: Result) -> Response:
    last = scene.range[1]
    over = max(push.times[-1] for push in scene.pushes)
    times = scene.motion.times
    deviation = result.deviation[:last + 1]
    late = np.flatnonzero(deviation > BACK)
    if not len(late):
        returned = 0.0
    elif late[-1] == last:
        returned = np.inf
    else:
        returned = max(0.0, float(times[late[-1] + 1] - over))
    penetration = result.penetration - result.reference_penetration
    slide = result.slide - result.reference_slide
    when = {"peak": int(deviation.argmax()), "penetration": int(penetration.argmax()), "slide": int(slide.argmax())}
    return Response(is_finite(result), float(deviation.max()), moved(scene, result), returned,
                    float(times[last] - over),
                    float(deviation[last]), float(penetration.max()), float(slide.max()), when)


def moved(scene: Scene, result: Result) -> float:
    """How far the pushed parts (their far ends) get from where the keys put them."""
    tree, links = Tree(scene.character), np.array([scene.character.index(push.body) for push in scene.pushes])
    ends = [point_paths(tree, shape_of(scene.character, motion), motion, links, scene.character.tips[links])
            for motion in (scene.motion, result.motion)]
    return float(np.linalg.norm(ends[1] - ends[0], axis=-1).max())


def starts(name: str, after: float, count: int = 2) -> list[float]:
    """Times for `count` pushes, spread over the clip, that leave `after` seconds to watch; none if it is too short."""
    latest = DURATIONS[name] - LASTS - after
    earliest = min(BEFORE, latest)
    if latest < 0.05:
        return []
    return sorted({round(float(t), 2) for t in np.linspace(earliest, latest, count + 2)[1:-1]})


def is_finite(result: Result) -> bool:
    """Every number of the result that must be one (ZMP and margin are nan in flight)."""
    parts = (result.motion.positions, result.motion.rotations, result.forces, result.torques, result.aid,
             result.reference_aid, result.com, result.deviation, result.slide, result.penetration)
    return all(bool(np.isfinite(values).all()) for values in parts)
