"""Read-only arrays with checked shapes, the material of every frozen noun."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

Array = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

LARGEST = 1e15   # of any quantity, in SI units: squares and products of larger ones overflow sooner or later


def frozen_array(values: Any, shape: tuple[int | None, ...], what: str, where: str) -> Array:
    """A read-only float64 copy of `values`; None in `shape` matches any length."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} is not an array of numbers.", where, "Pass one value per entry.") from None
    fits = array.ndim == len(shape) and all(n is None or n == m for n, m in zip(shape, array.shape, strict=True))
    if not fits:
        wanted = " x ".join("any" if n is None else str(n) for n in shape)
        raise InputError(f"{what} has shape {array.shape}, wanted {wanted}.", where, "Pass one value per entry.")
    if not np.isfinite(array).all():
        place = tuple(int(n) for n in np.argwhere(~np.isfinite(array))[0])
        raise InputError(f"{what} holds a value that is not a number (entry {place}).", where,
                         "Look for broken drivers or keys there.")
    if np.abs(array).max(initial=0.0) > LARGEST:
        raise InputError(f"{what} reaches {np.abs(array).max():.0e}.", where, "Check the unit and the keys there.")
    array.flags.writeable = False
    return array


def freeze(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
