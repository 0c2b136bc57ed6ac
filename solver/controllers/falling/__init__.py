"""Falling: nobody holds the body up any more, and every part of it meets the ground.

    (M + armature + dt D + dt^2 K) a = -h + tau_ff + K (e - dt (v - v_t)) + D (v_t - v) + J_ext^T f_ext + J^T f

[Levine2012] eq. 7 with W_tau = M^-1 and no weight on the root (`physics.yielding`), contacts of every link and joint
limits resolved together (`physics.impact`). Four phases:

    release     the clip's own torques and the helper force fade; the pose aimed at moves on with the clip and stops
    slackening  muscles lose strength; the pose aimed at follows the pose there is, so that nothing pulls at rest
    settling    once the pelvis is down and slow, joints are damped strongly: no slow creeping, no trembling
    rest        slower than a hand's breadth in two seconds for a while: it sleeps, pose held exactly, until pushed

`Falling.rise` blends back to the clip (`references.rising`); there the helper force lifts the body, and aid says so.

| file | idea |
|---|---|
| settings.py | how much strength is left, and how fast it goes |
| body.py | the body at one instant, and what a step's forces add up to |
| touch.py | the skin over the ground: what is near, what is forgiven |
| strength.py | muscles that slacken, by time or by the animator's curve |
| energy.py | momentum kept, energy never made |
| rest.py | when slow is still: settling, resting, riding on moving ground |
| controller.py | the step itself |
"""

from .body import FallStep
from .controller import Falling
from .settings import LIMP, TENSE, USUAL, Settings
from .strength import Curve

__all__ = ["LIMP", "TENSE", "USUAL", "Curve", "FallStep", "Falling", "Settings"]
