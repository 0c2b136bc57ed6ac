# SPDX-License-Identifier: GPL-3.0-or-later
"""The checklist after Set Up: what was mapped, what needs care, what stops a bake, each with its remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .actions import original
from .checklist import Line
from .convert import scale_of
from .read_character import Figure
from .read_motion import Samples

SMALL, LARGE = 0.15, 6.0   # m: characters outside these are usually in another unit


def findings(ob: Any, figure: Figure, samples: Samples, has_clip: bool, output: str) -> list[Line]:
    lines = [_links(figure), _feet(figure), _hands(figure), _size(figure), _motion(ob, has_clip)]
    lines += [*_object(ob, samples), *_rig(figure, output), *figure.lines]
    return [line for line in lines if line is not None]


def _some(names: Sequence[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _links(figure: Figure) -> Line:
    rig, body = figure.rig, figure.body
    along = sum(carrier >= 0 for carrier in body.carrier) - len(body.links)
    words = f"{len(body.links)} of {len(rig)} bones move the body, from {rig.names[body.links[0]]} on"
    return Line("GOOD", words + (f"; {along} go along with them." if along else "."), "", rig.names[body.links[0]])


def _of_role(figure: Figure, role: str) -> list[str]:
    character = figure.character
    return [name for name, own in zip(character.names, character.roles) if own == role]


def _feet(figure: Figure) -> Line:
    feet = _of_role(figure, "foot")
    if not feet:
        return Line("CARE", "No feet were found: nothing will hold to the ground.",
                    "Set Role of the foot bones to Foot, if it has any.")
    return Line("GOOD", f"{len(feet)} feet: {_some(feet)}.")


def _hands(figure: Figure) -> Line | None:
    hands = _of_role(figure, "hand")
    return Line("GOOD", f"{len(hands)} hands: {_some(hands)}.") if hands else None


def _size(figure: Figure) -> Line:
    words = f"{figure.height:.2f} m tall, {figure.character.mass:.3g} kg."
    if not SMALL <= figure.height <= LARGE:
        return Line("CARE", words + " It will move as something of that size does.",
                    "Scale the object, or set the scene's unit scale, to its true size.")
    return Line("GOOD", words)


def _motion(ob: Any, has_clip: bool) -> Line:
    action, _ = original(ob)
    if not has_clip:
        return Line("CARE", "It has no motion.", "Give it an action; Heft follows keys.")
    return Line("GOOD", f"Motion: {action.name if action is not None else 'tracks, drivers or constraints'}.")


def _object(ob: Any, samples: Samples) -> list[Line]:
    lines = []
    scale = scale_of(samples.world)
    uneven = float((scale.max(1) / np.maximum(scale.min(1), 1e-12)).max())
    if uneven > 1.001:
        lines.append(Line("CARE", f"The object is scaled unevenly ({uneven:.2f} to 1): turned bones shear.",
                          "Apply the scale: Object > Apply > Scale."))
    elif abs(float(scale[0, 0]) - 1.0) > 1e-4:
        lines.append(Line("GOOD", f"The object's scale of {scale[0, 0]:.3g} is taken into account."))
    if np.abs(samples.world - samples.world[0]).max() > 1e-6:
        lines.append(Line("GOOD", "The object itself is animated: that stays, the result is keyed on the bones."))
    if ob.parent is not None:
        lines.append(Line("GOOD", f"It is parented to {ob.parent.name}: that motion is followed."))
    if ob.library is not None:
        lines.append(Line("STOP", "It is linked from another file.",
                          "Make a library override: Object > Library Override > Make."))
    return lines


def _rig(figure: Figure, output: str) -> list[Line]:
    rig, body = figure.rig, figure.body
    lines = []
    live = [rig.names[i] for i in range(len(rig)) if rig.is_live[i] and body.carrier[i] >= 0]
    if live:
        words = f"Constraints or drivers hold {len(live)} bones ({_some(live, 2)})"
        if output in ("AUTO", "OVERLAY"):
            lines.append(Line("GOOD", f"{words}: the result goes to an overlay, the controls stay as they are."))
        else:
            lines.append(Line("STOP", f"{words}: keys would have no effect.", "Choose Overlay as output."))
    left = [rig.names[i] for i in body.left_out]
    if left:
        lines.append(Line("GOOD", f"Left out and not moved: {_some(left)}."))
    if figure.assembly.motion.offsets is not None:
        lines.append(Line("GOOD", "Bones stretch or shift: that is kept."))
    return lines
