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
    """Whether it is where its keys put it in the view layer on show."""
    layer = active_layer(scene)
    return ob.name in layer.objects and bool(ob.evaluated_get(layer.depsgraph).is_evaluated)


def show_hidden(scene: bpy.types.Scene, ob: Any, state: Restored, where: str) -> None:
    """Switch an object on until `state` ends, or refuse."""
    layer = active_layer(scene)
    layer.update()
    if ob.name in layer.objects and not is_worked_out(scene, ob):
        state.set(ob, "hide_viewport", False)
        for collection in _collections(layer.layer_collection, ob):
            state.set(collection, "hide_viewport", False)
        layer.update()
    if not is_worked_out(scene, ob):
        raise solver.InputError("Its collection is switched off in this view layer.", where,
                                "Tick its collection in the outliner.")


def _collections(layer: Any, ob: Any) -> Iterator[Any]:
    """Collections of a view layer that an object is in, and those around them."""
    inner = [each for child in layer.children if not child.exclude for each in _collections(child, ob)]
    if inner or ob.name in layer.collection.objects:
        yield layer.collection
        yield from inner
