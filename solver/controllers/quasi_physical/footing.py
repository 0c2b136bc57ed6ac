"""End-effector targets ([Levine2012] 2.5): planted feet stick, swinging feet aim at where they will land."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.arrays import Array, Bools, Ints
from ...model.terrain import Probe
from ...physics.dynamics import Points
from ...physics.soles import sole_samples
from ...references.clip import PERSON, Clip, Moment
from .path import Path

# Lengths are those of a person, whose leg is PERSON long; others' are as much longer or shorter as their legs.
STEP_AHEAD = 0.6        # s: when a landing begins to shift with the push
SETTLED = 0.1           # s: a foot about to land no longer changes its mind
# how much more a planted point insists than one that is still to land: feet; hands and knees, of few points
HOLD, HOLD_OTHERS = 2.0, 5.0
NEAR = 0.2              # m, h_m: lower than this a foot's height is watched
TOUCH = 0.010           # m: a simulated point this low touches
FLOAT = 0.020           # m: a reference contact may float this much more than in the clip
CREEP_TIME, CREEP_SPEED = 0.3, 0.036   # s, m/s: how a foot that will not lift for long slides home
CREEP_WAIT, HARDLY = 1.0, 0.012   # s; m off its place
ROUNDING = 1e-7         # m
CEILING = 0.5           # m over the foot: what is higher is not stepped on
SOON = 0.15             # s: from then on the ground on which a foot will land counts, ever more
FORESIGHT, EVERY = 0.15, 2   # s, sub-steps: so far ahead, and so often, a swinging foot looks at the ground
CAREFUL = 0.7            # at least as much as this a foot that sees an edge insists on getting over it
LAG = 0.05               # s: so late it follows
CLIMB, OVER = 1.0, 0.04  # m/s: how fast it gets over an edge that it sees; m above it
EDGE = 0.1              # m: ground that changes so much more than elsewhere under a sole is another tread
BESIDE = np.array([1.0, 0.8, 1.2, 0.6, 1.4, 0.4, 0.2, 0.0])   # shares of a shift that are tried beside an edge
WIDER = 0.2             # of a sole: so much around it counts, too
OTHER = 0.01            # m: ground that was carried along and is so much higher or lower is another one
TORN = 0.05             # m/s: ground that moves so differently under a sole is another one
APART = 0.08            # m, feet of a biped land at least this far apart sideways (or as far as in the clip)


@dataclass(frozen=True, eq=False)
class Footholds:
    """What the end-effector term wants at one step."""

    offset: Array         # (P, 3) added to the reference's positions
    touching: Bools       # (P,) contacts of this step
    planted: Bools        # (P,) those that are contacts of the reference too and do not slide there
    tangent_weight: Array # (P,)
    normal_weight: Array  # (P,)


class Footing:
    """Remembers where each contact began."""

    def __init__(self, clip: Clip, path: Path, use_shift: bool) -> None:
        points = clip.character.points
        self._clip, self._path, self._use_shift = clip, path, use_shift
        self._size = clip.character.leg_length / PERSON
        self._sticky = np.zeros((len(points), 2))
        self._held: Bools | None = None
        self._aim, self._aimed = np.zeros((len(points), 2)), np.zeros(len(points), dtype=bool)
        self._is_foot = points.of_kind("foot")
        self._hold = np.where(self._is_foot, HOLD, HOLD_OTHERS) - 1.0
        self._is_level = clip.terrain.is_level
        self._limbs = [np.flatnonzero(points.limb == n) for n in range(len(points.limbs))]
        feet = [np.flatnonzero(points.limb == n) for n, limb in enumerate(points.limbs) if limb.kind == "foot"]
        self._pairs = [(feet[0], feet[1]), (feet[1], feet[0])] if len(feet) == 2 else []  # bipeds only

    def footholds(self, k: int, dt: float, moment: Moment, points: Points, ground: Probe) -> Footholds:
        clip, path = self._clip, self._path
        height = ground.distance
        touching = self._touching(k, moment, height)
        planted = touching & moment.touching & ~clip.schedule.sliding[k]
        self._stick(planted, points, moment)
        self._creep(k, dt, planted)

        offset = np.zeros((len(height), 3))
        offset[:, :2] = self._sticky
        if self._use_shift and (path.offset.any() or path.rate.any()) and not planted.all():
            landing = clip.time_to_land[k]
            soon = ~planted & (landing < STEP_AHEAD)
            offset[~planted, :2] = path.offset
            offset[soon, :2] = path.ahead(landing[soon])
            self._keep_apart(k, moment, offset, planted)
            if not self._is_level:
                self._keep_off_edges(k, offset, soon)
            settled = soon & (landing < SETTLED) & self._aimed
            offset[settled, :2] = self._aim[settled]
            self._aim, self._aimed = offset[:, :2].copy(), soon
        if not planted.all() and offset.any():
            self._keep_whole(offset, planted)
        care = clip.touch_weight[k]
        if not self._is_level and offset.any():
            care = np.maximum(care, self._follow_ground(k, moment, offset))
        tangent = care * (1.0 + self._hold * planted)
        normal = tangent + self._is_foot * np.minimum(np.maximum(1.0 - height * (1.0 / (self._size * NEAR)), 0.0), 1.0)
        return Footholds(offset, touching, planted, tangent, normal)

    def calm(self, k: int, moment: Moment) -> Bools:
        """(P,) contacts of a step on the keys; no foothold is off its target."""
        touching = self._touching(k, moment, moment.height)
        self._held = touching & moment.touching & ~self._clip.schedule.sliding[k]
        return touching

    @property
    def farthest(self) -> float:
        """m, the farthest that a foothold is off its target."""
        return float(np.abs(self._sticky).max(initial=0.0))

    def _touching(self, k: int, moment: Moment, height: Array) -> Bools:
        floating = np.maximum(moment.height, 0.0) + self._size * FLOAT
        low = (height < self._size * TOUCH) & ~self._clip.schedule.barred[k]
        return np.asarray(low | moment.touching & (height < floating))

    def _follow_ground(self, k: int, moment: Moment, offset: Array) -> Array:
        """A foot that a push has shifted goes as much higher or lower as the ground there is: first the ground it
        is over, then the ground on which it will land; and over edges that it will come to, in time. Those that do
        so (P,) take care where they go."""
        clip, dt = self._clip, float(self._clip.dt[k])
        care = np.zeros(len(offset))
        for own in self._limbs:
            if not offset[own].any():
                continue
            wait = float(clip.time_to_land[k, own[0]])
            last = min(k + round(wait / dt), clip.steps) if 0.0 < wait < STEP_AHEAD else k
            steps = np.array([k, *range(k + EVERY, min(last, k + round(FORESIGHT / dt)), EVERY), last])
            points = np.concatenate((moment.points.position[None, own], clip.paths[steps[1:]][:, own]))
            stands, clears = self._rises(clip.times[steps], points, offset[own])
            rise = stands[0] + max(0.0, 1.0 - wait / SOON) * (stands[-1] - stands[0])
            late = self._size * CLIMB * np.maximum(clip.times[steps[1:-1]] - clip.times[k] - LAG, 0.0)
            over = float((clears[1:-1] - late).max(initial=-np.inf))
            offset[own, 2] = max(rise, over)
            care[own] = CAREFUL * (over > rise)
        return care

    def _keep_off_edges(self, k: int, offset: Array, soon: Bools) -> None:
        """A foot that a push leads across an edge lands beside it: as near to where it is led as its sole finds one
        tread."""
        clip = self._clip
        for own in self._limbs:
            if not soon[own].all() or not offset[own].any():
                continue
            landing = min(k + round(float(clip.time_to_land[k, own[0]]) / float(clip.dt[k])), clip.steps)
            sole = sole_samples(clip.paths[landing, own][None])[0]
            sole[:, :2] += WIDER * (sole - sole.mean(0))[:, :2]
            spots = sole[:, :2] + BESIDE[:, None, None] * offset[own[0], :2]                      # (n, m, 2)
            below = np.tile(sole[:, 2] + self._size * CEILING, len(BESIDE))
            h = clip.terrain.height(spots.reshape(-1, 2), float(clip.times[landing]), below).z.reshape(len(BESIDE), -1)
            rise = h - h[-1]                       # beyond the ground under where it is planned
            whole = np.flatnonzero(np.ptp(rise, axis=1) < self._size * EDGE)
            at = np.concatenate((spots, h[..., None]), axis=-1)
            best = next((n for n in whole if self._stays_one(own, landing, at[n], at[-1])), -1)
            offset[own, :2] *= BESIDE[best]        # if nothing is better, as planned

    def _stays_one(self, own: Ints, landing: int, spots: Array, planned: Array) -> bool:
        """Whether the ground under spots (m, 3) moves no more in different ways than where it is planned, and is still
        the same one when the limb leaves: a platform that comes there would shove it."""
        clip = self._clip
        if clip.terrain.is_still or spots is planned:
            return True
        v = clip.terrain.probe(np.concatenate((spots, planned)), float(clip.times[landing])).velocity
        if np.linalg.norm(np.ptp(v[:len(spots)] - v[len(spots):], axis=0)) > self._size * TORN:
            return False
        stands = np.asarray(clip.schedule.touching[landing:, own].any(1))
        leaves = landing + (int(stands.argmin()) if not stands.all() else len(stands) - 1)
        for k in ((landing + leaves) // 2, leaves):
            later = clip.terrain.carry(spots, float(clip.times[landing]), float(clip.times[k]))
            h = clip.terrain.height(later[:, :2], float(clip.times[k]), later[:, 2] + self._size * CEILING).z
            if not (np.abs(h - later[:, 2]) < self._size * OTHER).all():
                return False
        return True

    def _rises(self, times: Array, points: Array, offset: Array) -> tuple[Array, Array]:
        """(n,) m each: what leaves a shifted limb, at `points` (n, p, 3) before, as much air under its sole as at its
        own place, across an edge only on its tread; and what it takes to be just over higher treads."""
        ref, there = sole_samples(points), sole_samples(points + offset)                            # (n, m, 3)
        spots, below = np.concatenate((ref, there), axis=1)[..., :2], ref[..., 2] + self._size * CEILING
        h = self._clip.terrain.height_over(spots, times, np.concatenate((below, below), axis=1)).z
        before, after, z = h[:, :ref.shape[1]], h[:, ref.shape[1]:], ref[..., 2]
        known = np.isfinite(before) & np.isfinite(after)
        rise = np.where(known, after - before, np.inf)
        least = np.take_along_axis(rise, np.abs(rise).argmin(1)[:, None], axis=1)
        same = known & (np.abs(rise - np.where(np.isfinite(least), least, 0.0)) < self._size * EDGE)
        air = [np.where(same, ground - z, -np.inf).max(1) for ground in (after, before)]
        higher = np.where(known & (rise > self._size * EDGE), after - z, -np.inf).max(1) + self._size * OVER
        return np.where(same.any(1), air[0] - air[1], 0.0), higher

    def _stick(self, planted: Bools, points: Points, moment: Moment) -> None:
        """A contact keeps the (horizontal) distance from its target that it had when it began, until it lifts."""
        if self._held is not None:
            new = planted & ~self._held
            if new.any():
                off = (points.position - moment.points.position)[new, :2]
                self._sticky[new] = np.where(np.abs(off) > ROUNDING, off, 0.0)   # on its place it asks for no ground
        self._held = planted
        self._sticky *= planted[:, None]

    def _keep_whole(self, offset: Array, planted: Bools) -> None:
        """A foot that stands on its toes, or on its heel, goes nowhere with the rest."""
        for own in self._limbs:
            stands = planted[own]
            if stands.any() and not stands.all():
                offset[own[~stands], :2] = self._sticky[own[stands]].mean(0)

    def _creep(self, k: int, dt: float, planted: Bools) -> None:
        """Feet that stay down for long go home slowly, or a squat would keep the scar of a push for ever; those that
        are hardly off do so in any case, half as fast."""
        if not self._sticky.any():
            return
        stays = planted & (self._clip.time_to_lift[k] > CREEP_WAIT)
        for own in self._limbs:
            if not planted[own].any():
                continue
            # as a whole: points that drew away from one another would snap back when one lifts
            far = float(np.linalg.norm(self._sticky[own], axis=1).max()) / self._size
            speed = CREEP_SPEED if stays[own].any() else 0.5 * CREEP_SPEED if far < HARDLY else 0.0
            self._sticky[own] *= 1.0 - min(dt / CREEP_TIME, speed * dt / max(far, 1e-12))

    def _keep_apart(self, k: int, moment: Moment, offset: Array, planted: Bools) -> None:
        """A biped pushed towards its standing leg steps beside that foot, not through it."""
        clip = self._clip
        for up, down in self._pairs:
            wait = float(clip.time_to_land[k, up[0]])
            standing = down[planted[down]]
            if wait >= STEP_AHEAD or not len(standing) or planted[up].any():
                continue
            landing = min(k + round(wait / float(clip.dt[k])), clip.steps)
            side = clip.lateral[k]
            own = float((clip.paths[landing, up, :2].mean(0) - moment.points.position[standing, :2].mean(0)) @ side)
            moved = float((offset[up[0], :2] - self._sticky[standing].mean(0)) @ side)
            sign = 1.0 if own >= 0.0 else -1.0
            short = min(self._size * APART, abs(own)) - sign * (own + moved)
            if short > 0.0:
                offset[up, :2] += sign * short * side
