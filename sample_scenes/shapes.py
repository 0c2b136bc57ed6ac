"""Round bodies from simple shapes: capsules and eggs, each for one link, joined to one skinned mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Vector = Sequence[float]


@dataclass(frozen=True)
class Piece:
    """A closed surface that goes along with one link, in that link's frame at rest (parallel to the world)."""

    link: str
    vertices: Any      # (V, 3)
    faces: Any         # tuples of indices
    colour: str


def capsule(link: str, a: Vector, b: Vector, ra: float, rb: float, colour: str, wide: float = 1.0,
            sides: int = 20) -> Piece:
    """From a to b, round at both ends; `wide` stretches it along y."""
    a, b = np.array(a, dtype=float), np.array(b, dtype=float)
    along = b - a
    length = float(np.linalg.norm(along))
    z = along / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
    x = np.cross(z, [0.0, 1.0, 0.0])
    x = x / np.linalg.norm(x) if np.linalg.norm(x) > 0.1 else np.array([1.0, 0.0, 0.0])
    y = np.cross(z, x)
    angles = np.radians([-90, -65, -40, -15])
    profile = [(ra * np.sin(t), ra * np.cos(t)) for t in angles]
    profile += [(length * u, ra + (rb - ra) * u * u * (3 - 2 * u)) for u in (0.25, 0.5, 0.75)]
    profile += [(length + rb * np.sin(-t), rb * np.cos(t)) for t in angles[::-1]]
    turn = 2.0 * np.pi * np.arange(sides) / sides
    rings = [a + h * z + max(r, 1e-4) * (np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * y) for h, r in profile]
    vertices = np.concatenate(rings)
    middle = 0.5 * (a + b)
    vertices[:, 1] = middle[1] + (vertices[:, 1] - middle[1]) * wide
    faces: list[Any] = [(k * sides + n, k * sides + (n + 1) % sides, (k + 1) * sides + (n + 1) % sides,
                         (k + 1) * sides + n) for k in range(len(profile) - 1) for n in range(sides)]
    faces += [tuple(range(sides))[::-1], tuple(range(len(vertices) - sides, len(vertices)))]
    return Piece(link, vertices, faces, colour)


def egg(link: str, centre: Vector, radii: Vector, colour: str, sides: int = 24, rings: int = 14) -> Piece:
    """An ellipsoid."""
    up = np.linspace(-np.pi / 2, np.pi / 2, rings)
    turn = 2.0 * np.pi * np.arange(sides) / sides
    unit = np.stack([np.outer(np.cos(up), np.cos(turn)), np.outer(np.cos(up), np.sin(turn)),
                     np.outer(np.sin(up), np.ones(sides))], -1).reshape(-1, 3)
    unit[:, :2][np.abs(np.repeat(up, sides)) > 1.57] *= 1e-3
    vertices = np.array(centre, dtype=float) + unit * np.array(radii, dtype=float)
    faces: list[Any] = [(k * sides + n, k * sides + (n + 1) % sides, (k + 1) * sides + (n + 1) % sides,
                         (k + 1) * sides + n) for k in range(rings - 1) for n in range(sides)]
    return Piece(link, vertices, faces, colour)
