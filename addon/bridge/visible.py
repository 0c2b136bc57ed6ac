# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender works out: an object that is hidden by the eye moves, one that is switched off stands still."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._link import solver
from .restore import Restored

if TYPE_CHECKING:
    import bpy


def active_layer(scene: bpy.types.Scene) -> Any:
    """The view layer that a window shows, for what is seen there is what is sampled."""
    import bpy

    managers: Any = bpy.data.window_managers
    shown = (window.view_layer for manager in managers for window in manager.windows if window.scene == scene)
    return next(shown, scene.view_layers[0])


def is_worked_out(scene: bpy.types.Scene, ob: Any) -> bool:
    """Whether it is where its keys put it in the view layer on show.

    Being part of Blender's graph says nothing: what a character points at is there though it is switched off.
    """
    return not ob.hide_viewport and any(all(not each.hide_viewport for each in path)
                                        for path in _paths(active_layer(scene).layer_collection, ob))


def show_hidden(scene: bpy.types.Scene, ob: Any, state: Restored, where: str) -> None:
    """Switch an object on until `state` ends, or refuse."""
    active_layer(scene).update()  # of a scene that was never on show, nothing is worked out before
    if is_worked_out(scene, ob):
        return
    path = next(_paths(active_layer(scene).layer_collection, ob), None)
    if path is None:
        raise solver.InputError("Its collection is switched off in this view layer.", where,
                                "Tick its collection in the outliner.")
    for each in (ob, *path):
        state.set(each, "hide_viewport", False)


def shown_collections(scene: bpy.types.Scene, ob: Any) -> list[Any]:
    """The collections that hold an object and are part of the view layer on show."""
    return [path[-1] for path in _paths(active_layer(scene).layer_collection, ob)]


def _paths(layer: Any, ob: Any) -> Iterator[list[Any]]:
    """Every way down to an object through the collections of a view layer."""
    if not layer.exclude and layer.collection.objects.get(ob.name) == ob:
        yield [layer.collection]
    for child in layer.children:
        for path in _paths(child, ob):
            yield [layer.collection, *path]
