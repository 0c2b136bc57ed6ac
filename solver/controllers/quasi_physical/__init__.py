"""Quasi-physical control [Levine2012]: follow the keys exactly where nothing disturbs, give way where something does.

At every step, over accelerations a and contact forces lambda >= 0 along the edges of the friction cones,

    min   |tau - tau*|^2_Wtau  +  |T a - alpha_des|^2_Wp  +  |J a - x_des|^2_We          [Levine2012] eq. 1
    s.t.  tau = M a + h - J_ext^T f_ext - B lambda                                       eq. 6
          G a = g           the goal keeps its path                                      2.2
          C a <= u          joint limits, no point under the ground

tau includes the root: its first six entries are the helper force (`aid`), penalised but allowed.
On the reference every term is zero at a*, lambda*, so the motion comes back exactly, whatever the weights.

| file | section of the paper |
|---|---|
| settings.py | Table 1 and the dials |
| weights.py | 2.3 torque and 2.4 pose: who is stiff, who gives |
| path.py | 2.2 goal, with the particle of Appendix A |
| footing.py | 2.5 end effectors: sticky contacts, look-ahead, shifted footholds |
| joint_stops.py | 2.6 joint limits |
| clearance.py | 2.6 non-penetration, of what is not a sole |
| glide.py | the last of the way home |
| controller.py | the step itself |
"""

from .controller import QuasiPhysical
from .settings import NATURAL, STRONG, SUBTLE, Settings

__all__ = ["NATURAL", "STRONG", "SUBTLE", "QuasiPhysical", "Settings"]
