"""What the recorder keeps of frames in which the character does not follow its keys: the whole skin touches there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .model.arrays import Array
from .model.motion import Motion
from .model.result import Phase, Touches
from .model.scene import Scene
from .numerics import rotation
from .physics.balance import margin, pressed_height, support_polygon, zero_moment_point
from .physics.kinematics import forward, place
from .physics.shape import Shape
from .physics.skin import Skin, skin_points
from .references.clip import Clip

FADE = 0.15        # s in which the clip's finest detail, which is not simulated, leaves a body that is let go
RETURN = 0.08      # s, at least, in which it comes back to one who rises
NEAR = 1.0         # rad: who rises and is nearer than this to its keys gets it back, the nearer the more


class FallRecord:
    """Forces on the skin, frame by frame."""

    def __init__(self, scene: Scene, clip: Clip) -> None:
        self._scene, self._clip = scene, clip
        self._skin: Skin | None = None
        self._forces: dict[int, Array] = {}    # per frame (S, 3) N
        self._detail = 1.0

    def follow(self) -> None:
        self._detail = 1.0

    def detail(self, f: int, phase: Phase, astray: float) -> float:
        """How much of the clip's detail frame f shows, `astray` (rad) from its keys: who lies must not tremble
        with keys it has left, and nothing may jump when it is let go or back."""
        times = self._scene.motion.times
        if phase == "rise":
            self._detail = min(self._detail + float(times[f] - times[f - 1]) / RETURN, max(0.0, 1.0 - astray / NEAR))
        else:
            self._detail = max(0.0, self._detail - float(times[f] - times[f - 1]) / FADE)
        return self._detail

    def keep(self, f: int, forces: Sequence[Array]) -> None:
        """Forces (S, 3) on the skin in the sub-steps of frame f in which it did not follow."""
        self._forces[f] = np.mean(forces, axis=0)

    def touches(self, shape: Shape, motion: Motion) -> dict[int, Touches]:
        """Where the ground presses on the skin."""
        out = {}
        for f, forces in self._forces.items():
            pressed = np.flatnonzero(forces.any(1))
            centre, radius = self._places(shape, motion, f)
            down = self._clip.terrain.probe(centre[pressed], float(motion.times[f])).normal
            out[f] = Touches(centre[pressed] - radius[pressed, None] * down, forces[pressed])
        return out

    def depths(self, shape: Shape, motion: Motion, soles: Array, phases: Sequence[Phase]) -> Array:
        """(F,) m: where it falls or lies, the deepest sphere of the skin, beyond how deep it was when it was let go (a
        thickness is a guess); where it rises, beyond how deep the keys are in the same frame too. Else as given."""
        out = soles.copy()
        keys = self._clip.followed
        first = self._scene.range[0]
        for f in sorted(self._forces):
            if f - 1 not in self._forces:
                before = np.maximum(self._depth(shape, motion, max(f - 1, 0)), 0.0)
            allowed = before
            if phases[f] == "rise":
                k = int(self._clip.frame_step[f - first])
                allowed = np.maximum(before, self._depth(self._clip.shape, keys, k))
            out[f] = max(0.0, float((self._depth(shape, motion, f) - allowed).max(initial=0.0)))
        return out

    def balance(self, touches: dict[int, Touches], motion: Motion, aid: Array, zmp: Array, margins: Array) -> None:
        """ZMP and its margin in these frames, from all that touches."""
        for f, touch in touches.items():
            root = motion.positions[f]
            moment = rotation.cross(touch.places - root, touch.forces).sum(0)
            moment += rotation.matrix(motion.rotations[f, 0]) @ aid[f, 3:]
            wrench = np.concatenate((moment, touch.forces.sum(0) + aid[f, :3]))
            level = pressed_height(touch.places[:, 2], touch.forces[:, 2], self._clip.ground)
            zmp[f], margins[f] = zero_moment_point(root, wrench, level), np.nan
            if len(touch.places) and np.isfinite(zmp[f]).all():
                margins[f] = margin(support_polygon(touch.places), zmp[f])

    def _places(self, shape: Shape, motion: Motion, f: int) -> tuple[Array, Array]:
        """(centres (S, 3), radii (S,)) of the skin."""
        if self._skin is None:
            self._skin = skin_points(self._clip.character)
        skin = self._skin
        pose = forward(self._clip.tree, shape.at(f).offsets, motion.positions[f], motion.rotations[f])
        local = skin.position if motion.scales is None else motion.scales[f, skin.link] * skin.position
        return place(pose, skin.link, local), skin.radius

    def _depth(self, shape: Shape, motion: Motion, f: int) -> Array:
        centre, radius = self._places(shape, motion, f)
        return np.asarray(radius - self._clip.terrain.probe(centre, float(motion.times[f])).distance)
