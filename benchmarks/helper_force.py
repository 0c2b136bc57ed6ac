"""How much help from outside: what clips need by themselves, and what a push costs against PD control of the root.

The second is compared at equal deflection: the PD controller's root springs are tuned until the pushed body (the
chest's joint) is carried as far from where it would have been without the push as quasi-physical control lets it go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from benchmarks.baselines import PDOnRoot, Playback
from benchmarks.table import Row, row
from solver import NATURAL, Character, Motion, Push, QuasiPhysical, Scene
from solver.controllers.base import Controller
from solver.physics.kinematics import forward
from solver.references.clip import Clip
from tests.clips import shared, synthetic

RATE = 60.0
LIMITS = {"walk_crawl": 0.02, "walk": 0.02, "fast_walk": 0.02, "run_cmu": 0.10}   # of body weight; the first that fits
FORCE, START, LASTS = 200.0, 1.0, 0.2
WINDOW = 2.0                  # s after the push begins (or the rest of the clip), over which help is counted
SOFTEST, STIFFEST = 2.0, 200.0   # 1/s, of the root's springs
NEAR = 0.01                   # how near their rate is searched for, as a share


def rows() -> list[Row]:
    return undisturbed() + pushed()


def undisturbed() -> list[Row]:
    """Mean helper force of every clip, nothing disturbing it: what the bake adds is nothing (identity)."""
    out = []
    clips = {f"made {name}": make(rate=RATE) for name, make in synthetic.CLIPS.items()}
    if shared.has_clips:
        clips |= {name: shared.load(name, RATE) for name in shared.NAMES}
    for name, (character, motion) in clips.items():
        limit = next((share for start, share in LIMITS.items() if name.startswith(start)), None)
        out.append(row(f"helper force, undisturbed, {name}", 100.0 * own_share(character, motion), "% of weight",
                       below=None if limit is None else 100.0 * limit))
    return out


def own_share(character: Character, motion: Motion) -> float:
    """Mean helper force of the motion itself, in body weights."""
    scene = Scene(character, motion)
    clip = Clip(scene)
    force = np.array([clip.moment(k).torque[:3] for k in range(clip.steps)])
    return float(np.linalg.norm(force, axis=1).mean() / (character.mass * np.linalg.norm(scene.gravity)))


@dataclass(frozen=True)
class Case:
    """One clip with one push on the chest."""

    name: str
    character: Character
    motion: Motion
    body: str

    def scene(self, is_pushed: bool) -> Scene:
        push = Push.constant(self.body, self.across() * FORCE, START, LASTS)
        return Scene(self.character, self.motion, pushes=(push,) * is_pushed)

    def across(self) -> np.ndarray:
        """To the left of the travel, or to +y."""
        way = self.motion.positions[-1] - self.motion.positions[0]
        return np.array([-way[1], way[0], 0.0]) / np.hypot(*way[:2]) if np.hypot(*way[:2]) > 0.5 else np.eye(3)[1]


@dataclass(frozen=True)
class Outcome:
    """What one controller made of a push."""

    deflection: float   # m, farthest that the pushed body was carried
    mean: float         # body weights, over the window
    peak: float
    extra: float        # mean of what the push alone cost: beyond the same controller's help without the push


def outcome(case: Case, control: Callable[[Scene], Controller]) -> Outcome:
    (path, help_), (calm, usual) = (_played(case, control(case.scene(is_pushed))) for is_pushed in (True, False))
    size = np.linalg.norm(help_, axis=1)
    return Outcome(float(np.linalg.norm(path - calm, axis=1).max()), float(size.mean()), float(size.max()),
                   float(np.linalg.norm(help_ - usual, axis=1).mean()))


def _played(case: Case, controller: Controller) -> tuple[np.ndarray, np.ndarray]:
    """After every step in the window: where the pushed body is, and the helper force in body weights."""
    clip = controller.clip
    state, states, help_ = controller.start(), [], []
    for k in range(clip.steps):
        step = controller.step(state, k)
        state = step.state
        if START < state.time + 1e-6 < START + WINDOW:
            states.append(state)
            help_.append(step.aid[:3])
    pose = forward(clip.tree, clip.character.offsets, np.array([s.position for s in states]),
                   np.array([s.rotations for s in states]))
    weight = clip.character.mass * np.linalg.norm(clip.scene.gravity)
    return pose.position + pose.x[:, clip.character.index(case.body)], np.array(help_) / weight


def matched(case: Case, deflection: float, use_feed_forward: bool) -> Outcome:
    """The PD controller whose root gives way as far: the rate of its springs is searched for."""
    found: dict[float, Outcome] = {}

    def miss(log_rate: float) -> float:
        found[log_rate] = outcome(case, lambda scene: PDOnRoot(scene, float(np.exp(log_rate)), use_feed_forward))
        return float(np.log(found[log_rate].deflection / deflection))

    ends = float(np.log(SOFTEST)), float(np.log(STIFFEST))
    if miss(ends[0]) * miss(ends[1]) < 0.0:
        brentq(miss, *ends, xtol=NEAR, rtol=NEAR)
    return min(found.values(), key=lambda one: abs(np.log(one.deflection / deflection)))


def cases() -> list[Case]:
    clips = {f"made {name}": (*synthetic.CLIPS[name](rate=RATE, duration=START + WINDOW + 0.1), "chest")
             for name in ("squat", "walk")}
    if shared.has_clips:
        clips["walk_cmu_02_01"] = (*shared.load("walk_cmu_02_01", RATE), "Spine1")
    out = []
    for name, (character, motion, body) in clips.items():
        end = int(np.searchsorted(motion.times, START + WINDOW)) + 2
        out.append(Case(name, character, motion.part(0, min(end, len(motion))), body))
    return out


def pushed() -> list[Row]:
    out = []
    for case in cases():
        for dial, settings in (("Natural", NATURAL), ("hard path", replace(NATURAL, hard_path=True))):
            ours = outcome(case, lambda scene, settings=settings: QuasiPhysical(scene, settings))
            naive, fed = matched(case, ours.deflection, False), None
            if settings is NATURAL:
                fed = matched(case, ours.deflection, True)
            naively, ahead = "PD on root", "PD with feed-forward"
            for words, name, rival, who in (("mean", "mean", naive, naively), ("peak", "peak", naive, naively),
                                            ("due to the push", "extra", naive, naively),
                                            ("due to the push", "extra", fed, ahead)):
                if rival is not None:
                    out.append(row(
                        f"helper force, {words}, {case.name}, {dial} ({100 * ours.deflection:.1f} cm) / {who} "
                        f"({100 * rival.deflection:.1f} cm)", 100.0 * getattr(ours, name), "% of weight",
                        baseline=100.0 * getattr(rival, name), ratio_below=1.0))
        out.append(row(f"helper force, due to the push, {case.name}, plain playback (0 cm)",
                       100.0 * outcome(case, Playback).extra, "% of weight"))
    return out
