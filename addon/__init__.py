# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's side of Heft.

A part is a module of this package with its own `register` and `unregister`. Parts are imported when Blender
registers the add-on and not before: what needs no bpy at run time can be imported and tested without it.
"""

from importlib import import_module

from .ui.needs import missing

PARTS: tuple[str, ...] = ("ui", "command")  # module names relative to this package, in the order they are registered
_registered: list[str] = []


def register() -> None:
    for part in ("ui.missing",) if missing() else PARTS:
        import_module(f".{part}", __name__).register()
        _registered.append(part)


def unregister() -> None:
    while _registered:
        import_module(f".{_registered.pop()}", __name__).unregister()
