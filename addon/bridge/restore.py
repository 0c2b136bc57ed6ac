# SPDX-License-Identifier: GPL-3.0-or-later
"""Leave a scene as it was found: frame, hidden meshes, muted overlays, the action that was on show."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import bpy


class Restored:
    """Remembers values as they are changed through `set`, and gives them back in reverse order at the end.

    with Restored(scene) as scene_state:
        scene_state.set(mesh, "hide_viewport", True)
    """

    def __init__(self, scene: bpy.types.Scene) -> None:
        self._scene = scene
        self._frame, self._subframe = scene.frame_current, scene.frame_subframe
        self._undo: list[Callable[[], None]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        before = getattr(owner, name)
        if before != value:
            self.later(lambda: setattr(owner, name, before))
            setattr(owner, name, value)

    def later(self, undo: Callable[[], None]) -> None:
        """Call this at the end."""
        self._undo.append(undo)

    def hide(self, objects: Iterable[bpy.types.Object]) -> None:
        """Not evaluating a skinned mesh is what makes sampling fast."""
        for ob in objects:
            self.set(ob, "hide_viewport", True)

    def __enter__(self) -> Restored:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        while self._undo:
            undo = self._undo.pop()
            try:
                undo()
            except ReferenceError:  # deleted meanwhile: there is nothing left to restore
                continue
        self._scene.frame_set(self._frame, subframe=self._subframe)
