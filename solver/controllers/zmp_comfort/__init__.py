"""Comfort and balance [Oshita2001]: follow the keys within the strength of the joints and in balance, or fall.

The controller chooses accelerations and asks by inverse dynamics what they cost. Where a joint would be overloaded it
yields, and arms, back and pelvis, in that order, move so as to relieve it; where the zero-moment point would leave the
support area, the same parts bring it back to the nearest point of the area. If they cannot, the body tips about that
point, and `is_lost` says when it falls for good; who bakes then lets it go.

It never takes a step: recovery by stepping is outside the method.

| file | section of the paper |
|---|---|
| settings.py | the dials |
| parts.py | 5.2 which joints act: arms, back, pelvis |
| strength.py | 3.1 what a joint can do |
| tracking.py | 4.1 Ferguson curves |
| comfort.py | 5.1, 5.3 stress, passive and active control, balance |
| tipping.py | 3.3 turning about the nearest support point |
| feet.py | 4.2 legs as functions of the pelvis |
| stance.py | 3.3 the support area, and leaning against a push to stay over it |
| course.py, leaning.py | what is tracked: the keys, leaning ahead of time against loads |
| stops.py, floor.py | joint limits, and the ground under hands and head |
| controller.py | the step itself, and its diagnosis |

Beside the paper's letter, each with its reason where it stands: errors are tracked instead of extrema (tracking.py);
hybrid passive control, muscle inertia, caps and a test of merit (comfort.py); the ZMP is exact, and moved by one linear
solve (`physics.support`); feet that swing are kept on their keys by the same limbs that keep planted ones (feet.py);
the ground's forces are shared over all touching points, so that quadrupeds, slopes and hands need no rule of their own;
a steady pull on the balance is met by leaning, ahead of time against loads (leaning.py) and afterwards against pushes
(stance.py), because accelerations can only put off the fall; the pelvis, which acts last, puts balance before the
relief of legs (comfort.py); a joint that cannot follow its keys stops pulling at them for a while (controller.py).
"""

from .comfort import Act
from .controller import ComfortStep, Diagnosis, ZmpComfort
from .settings import TRACKING, USUAL, Settings

__all__ = ["TRACKING", "USUAL", "Act", "ComfortStep", "Diagnosis", "Settings", "ZmpComfort"]
