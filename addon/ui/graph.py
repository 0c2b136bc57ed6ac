# SPDX-License-Identifier: GPL-3.0-or-later
"""A small graph in a panel: a line of block letters, the only picture a panel can draw without an image."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bridge.diagnostics import Diagnostics

BLOCKS = " ▁▂▃▄▅▆▇█"
COLUMNS = 20


def sparkline(values: np.ndarray, top: float) -> str:
    """Values as a line of blocks; the largest of each stretch counts, so that no peak is lost."""
    parts = np.array_split(np.nan_to_num(values), min(COLUMNS, len(values)))
    heights = [int(np.clip(np.ceil(8.0 * part.max() / top), 0, 8)) if top > 0.0 else 0 for part in parts]
    return "".join(BLOCKS[height] for height in heights)


def balance_graph(layout: Any, found: Diagnostics, frame: int) -> None:
    box = layout.box().column(align=True)
    box.scale_y = 0.8
    top = max(float(found.helper.max(initial=0.0)), 1e-6)
    box.label(text=f"Helper force, up to {top:.2f} body weights", translate=False)
    box.label(text=sparkline(found.helper, max(top, 0.1)), translate=False)
    outside = np.maximum(0.0, -np.nan_to_num(found.margin))
    box.label(text=f"Out of balance, up to {100 * float(outside.max(initial=0.0)):.1f} cm", translate=False)
    box.label(text=sparkline(outside, max(float(outside.max(initial=0.0)), 0.01)), translate=False)
