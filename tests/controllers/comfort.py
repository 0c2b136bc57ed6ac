"""The paper's experiment and its measures, shared by tests and benchmarks of comfort and balance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from solver import Load, Push, Scene, ZmpComfort
from solver.controllers.zmp_comfort import USUAL, ComfortStep, Settings
from solver.numerics import rotation
from tests.clips import synthetic

BACK = ("spine", "chest")
ARMS = ("upperarm.L", "upperarm.R")
LEGS = ("thigh.L", "thigh.R", "shank.L", "shank.R")
FACTOR = 1.3     # the back's strength over what the unloaded squat needs of it


@dataclass(frozen=True, eq=False)
class Run:
    """A roll-out and how far it is from its keys."""

    controller: ZmpComfort
    steps: list[ComfortStep]
    off: np.ndarray      # (K, N) rad
    aside: np.ndarray    # (K,) m, of the root

    def deviation(self, *bones: str) -> np.ndarray:
        """(K,) rad, the largest among bones."""
        names = self.controller.clip.character.names
        return self.off[:, [names.index(bone) for bone in bones]].max(1)

    def bend(self) -> np.ndarray:
        """(K,) rad, of the back as a whole."""
        names = self.controller.clip.character.names
        return self.off[:, [names.index(bone) for bone in BACK]].sum(1)

    def outside(self) -> np.ndarray:
        """(K,) m from the ZMP to the support area; 0 where nothing presses."""
        return np.array([np.nan_to_num(np.linalg.norm(step.zmp - step.nearest)) for step in self.steps])

    def first(self, values: np.ndarray, above: float) -> int:
        """The first step at which values exceed something; one past the last if none does."""
        late = np.flatnonzero(values > above)
        return int(late[0]) if len(late) else len(values)


def rolled(scene: Scene, settings: Settings = USUAL) -> Run:
    controller = ZmpComfort(scene, settings)
    clip, state, steps = controller.clip, controller.start(), []
    for k in range(clip.steps):
        steps.append(controller.step(state, k))
        state = steps[-1].state
    off = np.array([np.linalg.norm(rotation.subtract(step.state.rotations, clip.rotations[k + 1]), axis=-1)
                    for k, step in enumerate(steps)])
    aside = np.array([np.linalg.norm(step.state.position - clip.positions[k + 1]) for k, step in enumerate(steps)])
    return Run(controller, steps, off, aside)


@cache
def weak_back() -> Settings:
    """The back is FACTOR times as strong as the squat without load needs it ([Oshita2001] 6, method sheet 7)."""
    character, motion = synthetic.squat(rate=30)
    controller = ZmpComfort(Scene(character, motion, substeps=1))
    tree, clip = controller.tree, controller.clip
    torques = {}
    for bone in BACK:
        dofs = tree.dof_link == character.index(bone)
        torques[bone] = FACTOR * max(float(np.abs(clip.moment(k).torque[dofs]).max()) for k in range(clip.steps))
    return replace(USUAL, joint_torque=torques)


def squat(load: float = 0.0, impulse: float = 0.0, substeps: int = 1, rate: int = 30) -> Scene:
    """Three seconds at 30 frames per second; kg shared by both hands, N s against the chest from the front."""
    character, motion = synthetic.squat(rate=rate)
    loads = (Load("hand.L", 0.5 * load), Load("hand.R", 0.5 * load)) if load else ()
    pushes = (Push.impulse("chest", (-impulse, 0.0, 0.0), 0.0),) if impulse else ()
    return Scene(character, motion, loads=loads, pushes=pushes, substeps=substeps)


@cache
def experiment(load: float = 0.0, impulse: float = 0.0, substeps: int = 1, rate: int = 30) -> Run:
    return rolled(squat(load, impulse, substeps, rate), weak_back())
