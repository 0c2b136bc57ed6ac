# SPDX-License-Identifier: GPL-3.0-or-later
"""What lives only as long as Blender runs: the preview or check on show. Names, not objects: undo kills those."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..bridge.actions import shown_result
from ..bridge.diagnostics import Diagnostics, load

_previews: dict[str, Diagnostics] = {}
_loaded: dict[str, tuple[int, Diagnostics | None]] = {}
live: dict[str, Any] = {}   # object name -> (heads, tails) of the pose a running job has reached, scene units


def show_preview(name: str, told: Diagnostics) -> None:
    _previews[name] = told


def clear_preview(name: str) -> None:
    _previews.pop(name, None)


def has_preview(name: str) -> bool:
    return name in _previews


def diagnostics_of(ob: Any) -> Diagnostics | None:
    """The preview of a character, else what its baked action remembers."""
    if ob.name in _previews:
        return _previews[ob.name]
    holder = ob.heft.overlay if ob.heft.overlay is not None else ob
    action = shown_result(holder)
    if action is None:
        return None
    text = action.get("heft_diagnostics")
    size = len(text) if isinstance(text, str) else 0
    known = _loaded.get(action.name)
    if known is None or known[0] != size:
        _loaded[action.name] = known = (size, load(action))
    return known[1]


@persistent
def forget(*_: Any) -> None:
    """After undo or loading a file nothing that was remembered can be trusted."""
    _previews.clear()
    _loaded.clear()
    live.clear()
    scenes: Any = bpy.data.scenes
    for scene in scenes:
        if scene.heft.is_running:
            scene.heft.is_running = False


def register() -> None:
    bpy.app.handlers.load_post.append(forget)
    bpy.app.handlers.undo_post.append(forget)
    bpy.app.handlers.redo_post.append(forget)


def unregister() -> None:
    for handlers in (bpy.app.handlers.redo_post, bpy.app.handlers.undo_post, bpy.app.handlers.load_post):
        if forget in handlers:
            handlers.remove(forget)
    _previews.clear()
    _loaded.clear()
    live.clear()
