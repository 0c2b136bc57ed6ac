# SPDX-License-Identifier: GPL-3.0-or-later
"""Packages the solver needs; Blender brings numpy, the extension the others. Known without importing any of them."""

from importlib.util import find_spec

NEEDED = ("numpy", "scipy", "quadprog")


def missing() -> list[str]:
    return [name for name in NEEDED if find_spec(name) is None]
