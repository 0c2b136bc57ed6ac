# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's side of Heft.

There is nothing to see in Blender yet: the solver comes first, and `PARTS` is still empty.

A part is a module of this package with its own `register` and `unregister`. Parts are imported when Blender
registers the add-on and not before: what needs no bpy at run time can be imported and tested without it.
"""

from importlib import import_module

PARTS: tuple[str, ...] = ()  # module names relative to this package, in the order they are registered


def register() -> None:
    for part in PARTS:
        import_module(f".{part}", __name__).register()


def unregister() -> None:
    for part in reversed(PARTS):
        import_module(f".{part}", __name__).unregister()
