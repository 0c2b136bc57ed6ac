# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures as arrays (H, W, 4), first row at the bottom as Blender keeps them; and PNG files of them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.float32]


def canvas(width: int, height: int, colour: tuple[float, float, float]) -> Picture:
    out = np.ones((height, width, 4), dtype=np.float32)
    out[..., :3] = colour
    return out


def paste(onto: Picture, picture: Picture, left: int, bottom: int) -> None:
    """Lay a picture over another; its alpha counts."""
    h, w = min(picture.shape[0], onto.shape[0] - bottom), min(picture.shape[1], onto.shape[1] - left)
    part, alpha = onto[bottom:bottom + h, left:left + w], picture[:h, :w, 3:]
    part[..., :3] = picture[:h, :w, :3] * alpha + part[..., :3] * (1.0 - alpha)


def box(onto: Picture, left: float, bottom: float, right: float, top: float, colour: tuple[float, float, float],
        alpha: float = 1.0) -> None:
    """Fill a rectangle; edges between pixels are soft, so that thin lines stay even."""
    h, w = onto.shape[:2]
    cover_x = np.clip(np.minimum(np.arange(1, w + 1), right) - np.maximum(np.arange(w), left), 0.0, 1.0)
    cover_y = np.clip(np.minimum(np.arange(1, h + 1), top) - np.maximum(np.arange(h), bottom), 0.0, 1.0)
    cover = alpha * (cover_y[:, None] * cover_x[None])[..., None]
    onto[..., :3] = np.asarray(colour, dtype=np.float32) * cover + onto[..., :3] * (1.0 - cover)


def line(onto: Picture, x: Any, y: Any, colour: tuple[float, float, float], width: float = 2.0) -> None:
    """A polyline with soft edges; nan leaves a gap."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    cover = np.zeros(onto.shape[:2], dtype=np.float64)
    for a, b, c, d in zip(x[:-1], y[:-1], x[1:], y[1:]):
        if not np.isfinite([a, b, c, d]).all():
            continue
        x0, x1 = int(max(min(a, c) - width - 1, 0)), int(min(max(a, c) + width + 2, onto.shape[1]))
        y0, y1 = int(max(min(b, d) - width - 1, 0)), int(min(max(b, d) + width + 2, onto.shape[0]))
        if x0 >= x1 or y0 >= y1:
            continue
        px, py = np.meshgrid(np.arange(x0, x1) + 0.5, np.arange(y0, y1) + 0.5)
        length = max((c - a) ** 2 + (d - b) ** 2, 1e-12)
        share = np.clip(((px - a) * (c - a) + (py - b) * (d - b)) / length, 0.0, 1.0)
        away = np.hypot(px - a - share * (c - a), py - b - share * (d - b))
        part = cover[y0:y1, x0:x1]
        np.maximum(part, np.clip(0.5 * width + 0.5 - away, 0.0, 1.0), out=part)
    onto[..., :3] = np.asarray(colour) * cover[..., None] + onto[..., :3] * (1.0 - cover[..., None])


def write_png(path: Path, picture: Picture) -> None:
    rows = (np.clip(picture[::-1, :, :3], 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)
    height, width = rows.shape[:2]
    raw = b"".join(b"\x00" + row.tobytes() for row in rows)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))
