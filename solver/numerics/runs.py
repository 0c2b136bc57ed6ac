"""Stretches of frames in which something holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage


def runs(flags: NDArray[np.bool_]) -> list[slice]:
    """Each run of flags (K,), in order."""
    return [found[0] for found in ndimage.find_objects(ndimage.label(flags)[0])] if len(flags) else []
