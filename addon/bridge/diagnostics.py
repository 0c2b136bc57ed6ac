# SPDX-License-Identifier: GPL-3.0-or-later
"""What the solver knows about every frame, kept with the action it belongs to, so that overlays outlive the bake."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from .convert import Array
from .read_character import Figure, link_places

KEY = "heft_diagnostics"


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Scene units and frames of Blender; forces in newtons."""

    frames: Array          # (F,)
    links: tuple[str, ...]
    heads: Array           # (F, N, 3) result
    tails: Array           # (F, N, 3)
    com: Array             # (F, 3)
    zmp: Array             # (F, 3) nan in flight
    margin: Array          # (F,) m
    helper: Array          # (F,) body weights
    points: Array          # (F, P, 3) contact points
    forces: Array          # (F, P, 3) N
    limbs: tuple[str, ...]  # (P,)
    stress: Array          # (F, N) share of the largest torque of the bake
    weight: float          # N

    def row(self, frame: float) -> int | None:
        """The row of a frame, or None outside the range."""
        n = round(float(frame - self.frames[0]))
        return n if 0 <= n < len(self.frames) else None

    @property
    def is_touching(self) -> Array:
        return np.asarray(np.linalg.norm(self.forces, axis=-1) > 1e-6)


def diagnose(figure: Figure, result: Any, points: Any, frames: Array, unit: float) -> Diagnostics:
    character = figure.character
    places = link_places(character, result.motion)
    heads = places[..., :3, 3]
    tails = heads + (places[..., :3, :3] @ character.tips[..., None])[..., 0]
    forces = result.forces
    arms = (places[:, points.link, :3, :3] @ points.position[..., None])[..., 0]
    soles = heads[:, points.link] + arms
    return Diagnostics(frames, tuple(character.names), heads / unit, tails / unit, result.com / unit,
                       result.zmp / unit, result.margin, result.aid_share, soles / unit, forces, tuple(result.limbs),
                       _stress(character, result.torques), float(result.body_weight))


def _stress(character: Any, torques: Array) -> Array:
    """(F, N) how hard each joint works, relative to the hardest moment of the bake."""
    out, column = np.zeros((len(torques), len(character))), 6
    for i, kind in enumerate(character.joints):
        if i == 0:
            continue
        size = {"ball": 3, "hinge": 1, "fixed": 0}[kind]
        out[:, i] = np.linalg.norm(torques[:, column:column + size], axis=1)
        column += size
    top = float(out.max(initial=0.0))
    return out / top if top > 0.0 else out


def store(action: Any, told: Diagnostics) -> None:
    """As one text on the action: small, readable, and gone when the action goes."""
    def plain(x: Array) -> Any:
        return np.round(x, 4).tolist()  # nan stays nan: both ends are ours

    action[KEY] = json.dumps({
        "frames": plain(told.frames), "links": told.links, "limbs": told.limbs, "weight": told.weight,
        **{name: plain(getattr(told, name)) for name in ("heads", "tails", "com", "zmp", "margin", "helper", "points",
                                                         "forces", "stress")}}, separators=(",", ":"))


def load(action: Any) -> Diagnostics | None:
    """What was stored, or None."""
    text = action.get(KEY) if action is not None else None
    if not isinstance(text, str):
        return None
    told = json.loads(text)
    arrays = {name: np.array(value, dtype=np.float64) for name, value in told.items()
              if name not in ("links", "limbs", "weight")}
    shape = (len(arrays["frames"]), -1, 3)
    for name in ("points", "forces"):
        arrays[name] = arrays[name].reshape(shape) if arrays[name].size else np.zeros((shape[0], 0, 3))
    return Diagnostics(links=tuple(told["links"]), limbs=tuple(told["limbs"]), weight=told["weight"], **arrays)
