# SPDX-License-Identifier: GPL-3.0-or-later
"""Heft: physics for animated characters.

Blender calls `register` and `unregister`. They look up the add-on only then: `heft.solver` never meets bpy.
"""


def register() -> None:
    from . import addon

    addon.register()


def unregister() -> None:
    from . import addon

    addon.unregister()
