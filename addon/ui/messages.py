# SPDX-License-Identifier: GPL-3.0-or-later
"""Words for the animator, and who is meant: the character of a context, or why there is none."""

from __future__ import annotations

from typing import Any

from .._link import solver

SolverError = solver.SolverError
NO_CHARACTER = "Select an armature, its mesh, or one of its pushes"
NOT_SET_UP = "Press Set Up Character first"
EDIT_MODE = "Leave edit mode with Tab first"
LINKED = "It is linked from another file: make a library override first (Object > Library Override > Make)"
MEMORY = "There is not enough memory for so many frames. Choose fewer under Path and Range"
RUNNING = "A preview or bake is running: wait, or stop it with Esc"


def character_of(context: Any) -> Any:
    """The armature that is active, deforms the active mesh, or is pushed by the active arrow; else None."""
    ob = context.object
    if ob is None:
        return None
    if ob.type == "ARMATURE":
        return ob.parent if ob.parent is not None and ob.parent.type == "ARMATURE" and \
            ob.parent.heft.overlay == ob else ob
    if ob.type == "MESH":
        found = ob.find_armature()
        if found is not None:
            return found
    for other in context.scene.objects:
        if other.type == "ARMATURE" and any(item.object == ob for item in other.heft.pushes):
            return other
    return None


def refusal(context: Any, needs_set_up: bool = True) -> str | None:
    """Why an operator cannot run now, or None."""
    if context.scene is not None and context.scene.heft.is_running:
        return RUNNING
    ob = character_of(context)
    if ob is None:
        return NO_CHARACTER
    if ob.library is not None:
        return LINKED
    if ob.mode == "EDIT":
        return EDIT_MODE
    if needs_set_up and not ob.heft.is_set_up:
        return NOT_SET_UP
    return None


def push_word(newtons: float, is_impulse: bool) -> str:
    """What a strength means for a grown person."""
    scale = newtons * (4.0 if is_impulse else 1.0)
    for top, word in ((25.0, "touch"), (100.0, "nudge"), (400.0, "shove"), (1000.0, "tackle")):
        if scale < top:
            return word
    return "crash"


def time_words(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
