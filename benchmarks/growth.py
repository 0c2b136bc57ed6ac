"""How long a step takes, and how that grows with the character: 30 to 150 degrees of freedom, eight contacts.

Undisturbed, and under a push on the chest that changes all the time. Beside it, on the same states in the same
process: MuJoCo's `mj_forward` with the same eight contacts and without any, and pinocchio's `crba` and `rnea`.
The reference's own quantities (computed in runs of frames) are timed apart. What a step takes on a quiet core is
measured as a bake takes them, one after another.
"""

from __future__ import annotations

from time import thread_time

import numpy as np

from benchmarks import bodies
from benchmarks.engines import Mujoco, Pinocchio
from benchmarks.table import Row, row
from benchmarks.timing import WARM_UP, Spread, Task, interleaved
from solver import Push, QuasiPhysical, Scene, State

REPETITIONS = 320
ROUNDS = 8      # to find a quiet core in
RATE = 60.0
PUSH = 80.0   # N, the most the push comes to
SWAY = 1.0    # s, from one side to the other and back


class Player:
    """One character on its way through its clip, one step a call."""

    def __init__(self, freedoms: int, is_pushed: bool) -> None:
        self.character, motion = bodies.standing(freedoms, (REPETITIONS + WARM_UP + 2) / RATE, RATE)
        self.controller = QuasiPhysical(Scene(self.character, motion, pushes=(_swaying(motion.duration),) * is_pushed))
        self.state: State = self.controller.start()
        self.contacts: list[int] = []

    def prepare(self) -> None:
        self.controller.clip.moment(len(self.contacts))

    def run(self) -> None:
        step = self.controller.step(self.state, len(self.contacts))
        self.state = step.state
        self.contacts.append(int(step.contacts.sum()))


class Follower:
    """An engine that gets every state its player comes to."""

    def __init__(self, engine: Mujoco | Pinocchio, player: Player) -> None:
        self.engine, self.player = engine, player
        self.run = engine.run
        self.contacts: list[int] = []

    def prepare(self) -> None:
        if self.player.contacts[1:]:
            self.contacts.append(self.engine.contacts)
        self.engine.take(self.player.state)


def _swaying(duration: float) -> Push:
    times = np.arange(0.0, duration + SWAY, 0.25 * SWAY)
    strength = PUSH * np.sin(2.0 * np.pi * times / SWAY + 0.5)
    return Push.keyed("chest", times, np.stack([0.3 * strength, strength, 0.0 * strength], -1))


def measured() -> tuple[dict[str, Spread], dict[int, float]]:
    """Times by name, and seconds per step for the reference's quantities."""
    runners: dict[str, Player | Follower] = {}
    for freedoms in bodies.SIZES:
        for kind in ("calm", "pushed"):
            player = runners[f"{kind} {freedoms}"] = Player(freedoms, kind == "pushed")
        for name, engine in (("touching", Mujoco(player.character, 1.0 / RATE, True)),
                             ("bare", Mujoco(player.character, 1.0 / RATE, False)),
                             ("pinocchio", Pinocchio(player.character))):
            runners[f"{name} {freedoms}"] = Follower(engine, player)
    times = interleaved({name: Task(one.run, one.prepare) for name, one in runners.items()}, REPETITIONS)
    for name, one in runners.items():
        meant = 0 if name.startswith(("bare", "pinocchio")) else 8
        assert set(one.contacts) == {meant}, f"{name}: {set(one.contacts)} contacts"
    calm = {freedoms: runners[f"calm {freedoms}"] for freedoms in bodies.SIZES}
    return times, {freedoms: _reference_time(player) for freedoms, player in calm.items()}


def _in_a_row(is_pushed: bool, freedoms: int = 60) -> float:
    """Seconds of a step among others of its kind, in a tenth of all no more. Cores are lent to others by the second,
    and half as fast meanwhile: the quietest of some rounds tells what a quiet core takes."""
    def a_round() -> float:
        player = Player(freedoms, is_pushed)
        return interleaved({"": Task(player.run, player.prepare)}, REPETITIONS)[""].p10

    return min(a_round() for _ in range(ROUNDS))


def _reference_time(player: Player) -> float:
    fresh = QuasiPhysical(player.controller.scene).clip
    start = thread_time()
    for k in range(fresh.steps):
        fresh.moment(k)
    return (thread_time() - start) / fresh.steps


def rows() -> list[Row]:
    times, reference = measured()
    out = []
    for kind, words in (("calm", "undisturbed"), ("pushed", "pushed")):
        for freedoms in bodies.SIZES:
            step, forward = times[f"{kind} {freedoms}"], times[f"touching {freedoms}"]
            out.append(row(f"step, {freedoms} DOF, 8 contacts, {words} / mj_forward with the contacts",
                           1e3 * step.median, "ms", baseline=1e3 * forward.median,
                           ratio_below=60.0 if freedoms == 60 else None))
        step = times[f"{kind} 60"]
        quiet = _in_a_row(kind == "pushed")
        out.append(row(f"step, 60 DOF, {words} / mj_forward without contacts", 1e3 * step.median, "ms",
                       baseline=1e3 * times["bare 60"].median))
        out.append(row(f"step, 60 DOF, {words} / pinocchio crba + rnea", 1e3 * step.median, "ms",
                       baseline=1e3 * times["pinocchio 60"].median))
        out.append(row(f"step, 60 DOF, {words}, one after another, on a quiet core (p10 of the quietest round)",
                       1e3 * quiet, "ms", below=0.8))
        out.append(row(f"step, 150 DOF / 30 DOF, {words} (p10)", 1e3 * times[f"{kind} 150"].p10, "ms",
                       baseline=1e3 * times[f"{kind} 30"].p10, ratio_below=2.0))
    out.append(row("reference quantities per step, 60 DOF (once per clip)", 1e3 * reference[60], "ms"))
    return out
