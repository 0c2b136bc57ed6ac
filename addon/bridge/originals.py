# SPDX-License-Identifier: GPL-3.0-or-later
"""Behind every result stands its original: show it while it is sampled, or for good."""

from __future__ import annotations

from typing import Any

from .._link import solver
from .actions import all_curves, bone_of, mute_results, original, result_track, show, shown, shown_result
from .restore import Restored
from .unkeyed import give_back


def show_original(ob: Any, state: Restored) -> None:
    """Put an earlier result aside until `state` ends."""
    check_names(ob)
    give_back(ob)
    before, source = shown(ob), original(ob)
    track = result_track(ob)
    if track is not None:
        state.set(track, "mute", True)
    if before[0] != source[0]:
        state.later(lambda: show(ob, *before))
        show(ob, *source)


def go_back(ob: Any) -> None:
    """Show the original for good, as it was before any result."""
    check_names(ob)
    source = original(ob)
    give_back(ob)
    mute_results(ob)
    if shown(ob)[0] != source[0]:
        show(ob, *source)


def check_names(ob: Any) -> None:
    """Blender renames bones in the actions that are shown, and an original that a result hides is not."""
    action, source = shown_result(ob), original(ob)[0]
    if action is None or source is None or source == action:
        return
    here, there = _bones(action), _bones(source)
    lost = sorted(there - here - set(ob.pose.bones.keys()))
    if lost:
        raise solver.InputError(f"Bones were renamed since {action.name} was baked: in its original, {source.name}, "
                                f"they are {', '.join(lost[:3])}{' and others' if len(lost) > 3 else ''}.", ob.name,
                                "Give them these names again, or delete the original to go on from the result.")


def _bones(action: Any) -> set[str]:
    """All that an action has curves for."""
    return {name for curve in all_curves(action) for name in bone_of(curve.data_path)}
