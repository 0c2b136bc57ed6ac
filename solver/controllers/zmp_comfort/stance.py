"""What the body stands on, whether to believe it, and how it leans to stay over it."""

from __future__ import annotations

import numpy as np

from ...model.arrays import Array, Bools
from ...model.terrain import Probe
from ...numerics import rotation
from ...numerics.runs import runs
from ...physics.dynamics import Dynamics
from ...physics.support import Support, hull, nearest, support_of, widened, wrench_map, zmp
from ...references.clip import Clip
from .comfort import UNLOADED
from .course import Course
from .settings import Settings
from .tipping import Tipping

FLOAT = 0.02           # m: a contact of the reference may be this much higher and still carry
TIPPED_EDGE = 0.004    # m: of a tipping sole, points this near to the lowest carry
SHORTEST_FLIGHT = 0.1  # s
FLOATS = 0.25          # leg lengths
CARRIED = 0.3          # of the weight: a helper force of the keys from which on the ground counts as not carrying
MEANT = 0.02           # m about a keyed ZMP outside the feet that are still meant
ABOUT = np.stack((np.cos(np.arange(8) * np.pi / 4.0), np.sin(np.arange(8) * np.pi / 4.0)), axis=1)   # eight ways
LEAN_TIME, MOST_LEAN, INNER = 0.25, 0.15, 0.1   # s, leg lengths, share of the support area
UPRIGHT_TIME, FREE_TIME = 1.5, 0.75             # s in which it stands up again, while it is pushed and after that
UPRIGHT = 1e-7         # m


class Stance:
    """The contacts of a clip, and the wrenches (K, 6) at the root that its motion needs."""

    def __init__(self, clip: Clip, settings: Settings, wrenches: Array) -> None:
        self._clip, self._settings, self.wrenches = clip, settings, wrenches
        self.weight = clip.character.mass * float(np.linalg.norm(clip.scene.gravity))
        self._is_doubtful = self._find_doubts()
        bare = ~clip.schedule.touching[:-1].any(1) & (
            np.linalg.norm(wrenches[:, :3], axis=1) < CARRIED * self.weight)
        self._flights = np.zeros(clip.steps, dtype=bool)       # in the air, and for long enough to be meant
        for run in runs(bare):
            self._flights[run] = clip.times[run.stop] - clip.times[run.start] > SHORTEST_FLIGHT
        self.start()

    def start(self) -> None:
        self.lean = np.zeros(3)     # m by which the pelvis aims beside its keys to carry a load

    def _find_doubts(self) -> Bools:
        """(K,) a hand seems to stand on the ground while a foot floats just above it: captured feet do so in deep
        squats, and nobody squats on a hand. Who crawls has a knee down, who turns a cartwheel has the feet up."""
        clip = self._clip
        contact, touching = clip.character.points, clip.schedule.touching
        floats = np.zeros(len(touching), dtype=bool)
        for n, limb in enumerate(contact.limbs):
            own = contact.limb == n
            if limb.kind == "foot":
                height = clip.paths[:, own, 2].min(1) - clip.ground
                floats |= ~touching[:, own].any(1) & (height < FLOATS * clip.character.leg_length)
        return np.asarray(touching[:, contact.of_kind("hand")].any(1) & ~touching[:, contact.of_kind("knee")].any(1)
                          & floats)

    def touching(self, k: int, places: Array, ground: Probe, tip: Tipping) -> Bools:
        """(P,) contacts of the reference whose points are still down."""
        touching = self._clip.schedule.touching[k]
        if not touching.any():
            return touching
        reference = tip.place(self._clip.paths[k]) if tip.is_on else self._clip.paths[k]
        lifted = ((places - reference) * ground.normal).sum(1)
        touching = touching & (lifted < FLOAT)
        if tip.is_on and touching.any():
            touching = touching & (ground.distance < ground.distance[touching].min() + TIPPED_EDGE)
        return touching

    def is_carried(self, k: int) -> bool:
        """The contacts of the reference do not explain it: it hangs on a bar, or captured feet float. The helper force
        that holds it in the keys goes on holding it."""
        if not self._clip.schedule.touching[k].any():
            return not bool(self._flights[k])
        return bool(self._is_doubtful[k]
                    or np.linalg.norm(self._clip.moment(k).torque[:3]) > CARRIED * self.weight)

    def support(self, k: int, places: Array, ground: Probe, touching: Bools, tip: Tipping) -> Support | None:
        """The area of touching points; with a tip, or keys that are not trusted, no more than that."""
        if not touching.any():
            return None
        support = support_of(places[touching], ground.normal[touching])
        if self._settings.safety and len(support.corners) > 2:
            middle = support.corners.mean(0)
            support = Support(support.centre, support.normal, support.axes,
                              middle + (1.0 - self._settings.safety) * (support.corners - middle))
        if self._settings.trust_keys and not tip.is_on:
            # who keys a ZMP outside the feet means it: the area reaches there, and as far about it as the keys are off.
            # Asked to be exact where its keys are not, a walk that was struck would swing its arms for ever
            Z = self._keyed(k, support)
            if Z is not None:
                inside, is_inside = nearest(support.corners, Z)
                if not is_inside:
                    support = widened(support, Z + max(MEANT, float(np.linalg.norm(Z - inside))) * ABOUT)
        return support

    def _keyed(self, k: int, support: Support) -> Array | None:
        """(2,) the keys' own ZMP; None where they hardly press."""
        X = wrench_map(self._clip.positions[k], rotation.matrix(self._clip.rotations[k, 0]), support.centre)
        w = X @ self.wrenches[k]
        return zmp(support, w) if float(support.normal @ w[:3]) > UNLOADED * self.weight else None

    def inner(self, k: int, support: Support, left: float) -> Array:
        """(n, 2) corners of the area without this share at its border, except where the keys themselves go."""
        middle, own = support.corners.mean(0), self._keyed(k, support)
        inner = middle + (1.0 - left) * (support.corners - middle)
        return hull(np.vstack((inner, own))) if own is not None and not nearest(inner, own)[1] else inner

    def lean_over(self, k: int, dt: float, motion: Dynamics, support: Support | None, tip: Tipping, course: Course,
                  is_pushed: bool) -> None:
        """A push pulls the body aside for as long as it lasts. Accelerations (5.1.2 of the paper) only put off a fall
        from that, by driving the body ever farther; so the pelvis aims at where the quasi-static ZMP, the course's own
        moved by how far the centre of mass is from its, is inside again."""
        wanted = np.zeros(3)
        if support is not None and not tip.is_on and self._settings.use_balance and len(support.corners) > 2:
            own = self._keyed(k, support) if course.zmps is None else support.flat(course.zmps[k])
            if own is not None and np.isfinite(own).all():
                Z = own + support.flat(motion.com) - support.flat(course.coms[k])
                wanted = (nearest(self.inner(k, support, INNER), Z)[0] - Z) @ support.axes
        wanted[2] = 0.0
        if wanted.any():
            self.lean = self.lean + dt / LEAN_TIME * wanted
            size, most = float(np.linalg.norm(self.lean)), MOST_LEAN * self._clip.character.leg_length
            self.lean *= min(1.0, most / max(size, 1e-9))
        else:
            time = UPRIGHT_TIME if is_pushed else FREE_TIME
            self.lean = self.lean * max(0.0, 1.0 - dt / time) * (np.abs(self.lean).max() > UPRIGHT)
