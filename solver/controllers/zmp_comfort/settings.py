"""The dials of comfort and balance control, in the animator's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...errors import InputError
from ..base import check_dials, dial, switch

PARTS = ("arm", "back", "none")


@dataclass(frozen=True)
class Settings:
    strength: float = dial(1.0, "", 0.1, 10.0, "How strong all muscles are, as a multiple of a fit adult's.")
    use_comfort: bool = switch(True, "Let overloaded joints yield and other parts help them.")
    use_balance: bool = switch(True, "Swing arms, bend the back and shift the pelvis to keep balance.")
    use_fall: bool = switch(True, "Let a lost balance become a fall. Off: the helper force holds the body up.")
    trust_keys: bool = switch(True, "The keys are within strength and balance as they are; only loads and pushes act.")
    use_curves: bool = switch(True, "Muscles are weaker far from the middle of their range and at speed.")
    ease_back: float = dial(0.5, "s", 0.15, 2.0, "How long the body takes to ease back to its keys.")
    arm_swing: float = dial(20.0, "rad/s2", 0.0, 120.0, "How hard the arms may swing to help.")
    back_bend: float = dial(15.0, "rad/s2", 0.0, 60.0, "How hard the back may bend to help.")
    pelvis_shift: float = dial(6.0, "m/s2", 0.0, 20.0, "How hard the pelvis may shift to help.")
    muscle_inertia: float = dial(0.1, "kg m2", 0.01, 0.5, "Inertia of muscle about a joint of an adult. High: calmer.")
    safety: float = dial(0.0, "", 0.0, 0.4, "Share of the support area at its border that is not used.")
    smoothing: float = dial(8.0, "Hz", 0.0, 30.0, "Detail faster than this is not simulated but added back. 0: off.")
    joint_strength: Mapping[str, float] = field(default_factory=dict,
                                                metadata={"help": "Strength per bone, as a multiple."})
    joint_torque: Mapping[str, float] = field(default_factory=dict,
                                              metadata={"help": "Strength per bone in N m, in every direction."})
    parts: Mapping[str, str] = field(default_factory=dict,
                                     metadata={"help": "What a bone is: arm (turns at its head), back, or none."})

    def __post_init__(self) -> None:
        check_dials(self)
        for name, value in (*self.joint_strength.items(), *self.joint_torque.items()):
            if not 0.0 < value < 1e6:
                raise InputError(f"The strength {value} of {name} is not positive.", "Settings", "Use 1 for normal.")
        for name, part in self.parts.items():
            if part not in PARTS:
                raise InputError(f"The part {part!r} of {name} is not known.", "Settings",
                                 f"Choose one of {', '.join(PARTS)}.")


USUAL = Settings()
TRACKING = Settings(use_comfort=False, use_balance=False, use_fall=False)   # [Oshita2001] 4: the cheap mode
