"""Every sample scene: who is in it, what happens, what to try. `build.py` saves them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np

from addon.bridge.controllers import controllers
from sample_scenes import bodies, motions
from sample_scenes.figure import add_figure
from sample_scenes.places import add_box, add_floor, add_ground, add_heights, add_load, add_mesh, add_push, add_words
from tests.clips import synthetic

RATE = 30
BACK = 0.68    # firmness of a weak back
HOW = """Select the character, open the sidebar (N), tab Heft, and press Bake. The original action stays in the file;
bake as often as you like. Preview shows a ghost without changing anything."""


def walk_with_pushes() -> None:
    ob = add_figure("Walker", *synthetic.walk(rate=RATE, duration=4.0), bodies.person())
    add_ground(ob, add_floor())
    add_push(ob, "chest", 32, 6, 260.0, (0.0, -1.0, 0.0))
    add_push(ob, "chest", 76, 5, 220.0, (-1.0, 0.25, 0.0))
    add_words("Walk with pushes", f"""{HOW}

Try:
- Move or turn an arrow, or change its strength: 60 nudges, 200 shoves, 600 tackles.
- Controller > Path return: how fast the walker comes back to its path.
- Controller > Stiffness: low is soft, high is firm.
- Physics amount at 0.5 takes half of the result; it can be keyed.""")


def walk_over_rough_ground() -> None:
    ob = add_figure("Hiker", *synthetic.walk(rate=RATE, duration=6.0), bodies.person("suit"))
    add_ground(ob, add_heights("Rough ground, slope and steps", np.arange(-1.5, 8.01, 0.125),
                               np.arange(-1.5, 1.51, 0.125), rough_slope_and_steps))
    add_words("Walk over rough ground, a slope and steps", f"""{HOW}

The keys are a walk on a flat floor: without Heft it walks through the ground.

Try:
- Sculpt the ground, or choose another mesh in the list of grounds.
- Give the ground less friction.""")


def rough_slope_and_steps(x: Any, y: Any) -> Any:
    """Bumps, then a slope up, then two steps down."""
    bumps = 0.02 * np.sin(5.0 * x) * np.cos(4.0 * y) + 0.012 * np.sin(9.0 * x + 2.0 * y)
    bumps = bumps * np.clip((x - 1.1) / 0.4, 0.0, 1.0) * np.clip((2.4 - x) / 0.3, 0.0, 1.0)
    slope = 0.16 * np.clip(x - 2.5, 0.0, 1.5)
    steps = -0.12 * (x > 4.56).astype(float) - 0.12 * (x > 5.31).astype(float)
    return bumps + slope + steps


def squat_with_loads() -> None:
    """Four people side by side: no load, 8 kg, 15 kg, and one who is hit from behind."""
    is_comfort = "ZMP_COMFORT" in controllers()
    for n, (name, kg) in enumerate((("Squat 0 kg", 0.0), ("Squat 8 kg", 8.0), ("Squat 15 kg", 15.0),
                                    ("Squat impulse", 0.0))):
        ob = add_figure(name, *synthetic.squat(rate=RATE, duration=3.0), bodies.person(("shirt", "suit")[n % 2]),
                        at=(0.0, 1.4 * (1.5 - n), 0.0))
        if is_comfort:
            ob.heft.controller = "ZMP_COMFORT"
        for bone in ("spine", "chest"):  # no athletes: 8 kg move the arms, 15 kg bend the back as well
            ob.data.bones[bone].heft.strength = BACK
        if kg:
            for side in "LR":
                add_load(ob, f"hand.{side}", 0.5 * kg)
        if name == "Squat impulse":
            add_push(ob, "chest", 45, 1, 35.0, (1.0, 0.0, 0.0), is_impulse=True)
    floor = add_floor(6.0, (0.0, 0.0))
    for ob in [ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE"]:
        add_ground(ob, floor)
    note = "" if is_comfort else ("\nThis file was built where the controller 'Comfort and balance' was not there yet: "
                                  "the figures use 'Follow and give way'. Build the scenes anew to change that.\n")
    add_words("Squats with 0, 8 and 15 kg, and with a blow", f"""{HOW}

Each figure is a character of its own: select and bake them one by one, or headless with --armature.
{note}
Try:
- Change the kilograms in the list of loads, or carry the weight in one hand only.
- Spine and chest have a Firmness of {BACK}: a weak back. At 1 the back carries 15 kg and hardly anything moves.
- Turn the blow's arrow, or make it stronger (newton seconds).""")


def cartoon_hop() -> None:
    clip = motions.squash_and_stretch(synthetic.hop(rate=RATE, duration=3.6))
    ob = add_figure("Hopper", *clip, bodies.cartoon())
    add_ground(ob, add_floor())
    add_push(ob, "chest", 50, 4, 160.0, (0.0, 1.0, 0.0))
    add_words("A cartoon hop with squash and stretch", f"""{HOW}

The stretching of the body is part of the keys and stays.

Try:
- Push in the air and on the ground: what differs?
- Controller > Keep the path of > Nothing: it drifts where it is pushed.""")


def trot_pushed_over_rubble() -> None:
    ob = add_figure("Dog", *synthetic.trot(rate=RATE, duration=4.0), bodies.dog())
    add_ground(ob, add_heights("Rubble", np.arange(-1.5, 7.01, 0.1), np.arange(-1.6, 1.61, 0.1), rubble))
    add_push(ob, "chest", 62, 5, 90.0, (0.0, -1.0, 0.0))
    add_words("A trot, pushed, over rubble", f"""{HOW}

The keys are a trot on a flat floor.

Try:
- Make the rubble higher: scale the ground along z.
- Push the pelvis instead of the chest.""")


def rubble(x: Any, y: Any) -> Any:
    """Knobs of a few centimetres, none where it stands at first."""
    random = np.random.default_rng(7)
    z = np.zeros_like(x)
    for cx, cy, size, high in zip(random.uniform(1.0, 6.5, 70), random.uniform(-1.2, 1.2, 70),
                                  random.uniform(0.10, 0.25, 70), random.uniform(0.01, 0.035, 70)):
        z = np.maximum(z, high * np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / size**2))
    return z


def run_on_a_moving_platform() -> None:
    ob = add_figure("Runner", *motions.run(rate=RATE, duration=3.0), bodies.person())
    platform = add_box("Platform", (-1.5, -1.2, -0.15), (10.0, 1.2, 0.0), (0.45, 0.50, 0.60))
    add_mesh("Depth", [(-6, -8, -1.2), (14, -8, -1.2), (14, 8, -1.2), (-6, 8, -1.2)], [(0, 1, 2, 3)], (0.3, 0.33, 0.36))
    for frame, y in ((1, 0.0), (91, 0.5)):
        platform.location = (0.0, y, 0.0)
        platform.keyframe_insert("location", frame=frame)
    add_ground(ob, platform)
    add_words("A run on a platform that moves", f"""{HOW}

The keys run on a floor that stands still; the platform slides sideways.

Try:
- Key the platform's rotation, or let it sink and rise.
- Lower its friction.""")


def fall() -> None:
    ob = add_figure("Faller", *synthetic.walk(rate=RATE, duration=4.5), bodies.person("suit"))
    add_ground(ob, add_floor())
    add_push(ob, "chest", 36, 6, 300.0, (0.3, 1.0, 0.0))
    ob.heft.use_release, ob.heft.release_by, ob.heft.release_frame = True, "FRAME", 38
    add_words("A fall", f"""{HOW}

The keys are a plain walk. A shove comes, and Let go is on: from frame 38 nobody holds the body up.

Try:
- Let go > when pushed: only a blow that is strong enough knocks it over.
- Limp: it falls like a rag doll.
- Switch Let go off: the same shove, and it keeps its feet.""")


SCENES: dict[str, Callable[[], None]] = {
    "walk_with_pushes": walk_with_pushes, "walk_over_rough_ground": walk_over_rough_ground,
    "squat_with_loads": squat_with_loads, "cartoon_hop": cartoon_hop,
    "trot_over_rubble": trot_pushed_over_rubble, "run_on_platform": run_on_a_moving_platform, "fall": fall,
}
