"""The dials of the quasi-physical controller, in the animator's words.

A stiffness kappa means: a joint answers an outside torque with 1 / (1 + kappa) of its free acceleration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...errors import InputError
from ..base import check_dials, dial, switch


@dataclass(frozen=True)
class Settings:
    path_return: float = dial(2.9, "1/s", 0.5, 10.0, "How fast a pushed character comes back to its path.")
    hard_path: bool = switch(False, "Keep the path exactly; the body only turns about its centre of mass.")
    step_shift: bool = switch(True, "Let the feet step to where the push carries the body.")
    physicality: float = dial(500.0, "", 50.0, 2500.0, "How little help the body gets from outside. High: physical.")
    helper_turn: float = dial(1.0, "", 0.05, 4.0, "The same for turning help, as a multiple. High: sways more.")
    stiffness: float = dial(1.0, "", 0.2, 5.0, "All stiffnesses at once: low is soft, high is firm.")
    trunk_stiffness: float = dial(7.0, "", 2.0, 300.0, "Back and chest.")
    arm_stiffness: float = dial(50.0, "", 5.0, 300.0, "Arms and everything that is not trunk, neck or leg.")
    hand_stiffness: float = dial(150.0, "", 5.0, 300.0, "Hands.")
    neck_stiffness: float = dial(300.0, "", 5.0, 500.0, "Neck and head; people steady the head in space.")
    leg_return: float = dial(20.0, "1/s", 5.0, 40.0, "How fast legs and pelvis come back to their keys.")
    upper_return: float = dial(10.0, "1/s", 3.0, 40.0, "How fast the upper body comes back to its keys.")
    local_give: float = dial(0.9, "", 0.0, 0.98, "How much softer a part is while it is itself pushed.")
    foot_grip: float = dial(1000.0, "", 10.0, 2000.0, "How firmly planted feet stay where they are.")
    foot_return: float = dial(20.0, "1/s", 5.0, 40.0, "How fast a foot comes back to its place.")
    smoothing: float = dial(8.0, "Hz", 0.0, 30.0, "Detail faster than this is not simulated but added back. 0: off.")
    joint_stiffness: Mapping[str, float] = field(default_factory=dict,
                                                 metadata={"help": "Stiffness per bone, as a multiple."})

    def __post_init__(self) -> None:
        check_dials(self)
        for name, value in self.joint_stiffness.items():
            if not 0.0 < value < 1e6:
                raise InputError(f"The stiffness {value} of {name} is not positive.", "Settings", "Use 1 for normal.")


NATURAL = Settings()
SUBTLE = Settings(path_return=4.0, upper_return=14.0, trunk_stiffness=40.0, helper_turn=0.3, arm_stiffness=100.0,
                  local_give=0.8)
STRONG = Settings(path_return=1.5, upper_return=8.0, trunk_stiffness=5.0, arm_stiffness=25.0, neck_stiffness=200.0,
                  local_give=0.95)
