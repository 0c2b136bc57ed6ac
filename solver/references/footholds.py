"""Where a limb that stands on the clip's own level ground will stand on another one.

A sole is a print: the places where its points touch. On new ground it rests on the plane that no part of the ground
under it rises above. Candidates beside the old place are weighed against each other: off edges, away from risers,
not too steep, not far from where the clip steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..model.arrays import Array, Bools, Ints
from ..model.terrain import Terrain
from ..numerics import rotation
from ..numerics.qp import InfeasibleError, UnsolvedError, solve_qp
from ..numerics.runs import runs
from .foothold_costs import Tried, apart, brink, edged, room, torn, walled
from .underfoot import CEILING, reachable
from .way import Way

ALONG = np.arange(-0.24, 0.241, 0.06)      # m, shifts tried along the way ...
ACROSS = np.array([0.0, -0.05, 0.05, -0.10, 0.10])  # ... and sideways
FAR, GAP, STEEP = 0.10, 0.006, np.radians(6.0)     # m, m, rad: what costs one
SIDEWAYS = 1.5
ALONG_TOGETHER = np.arange(-0.48, 0.481, 0.06)      # m, the same for limbs that are shifted together ...
FAR_TOGETHER, ROOM_TOGETHER = 0.25, 0.25            # ... to whom so much costs one, and room for shins so much of it
GENTLE = np.radians(30.0)
STEEPEST = np.radians(50.0)
FINE, SETTLES = (5, 9), 2                  # samples across and along a sole, how often it is tilted anew
PAD = 0.02                                 # m
SLIDES = 0.08                              # m that a limb moves while it is down
MARK = 1e-3                                # m, between the marks that show how moving ground turns
COMES_UP = 0.05                            # m in a sub-step: ground that comes up faster is a wall that passes
AHEAD, FALL = 1.0, (0.5, 2.0)              # how steeply ground may rise ahead, and at least and most behind
LEAD, DROP = 0.1, 0.2                      # s, m: a landing limb comes down so much in so short a time
FITS, SAME_TREAD = 6, 0.4                  # how often a shank is laid down; of its length: higher is another tread
MOMENT, SAME_SPOT = 0.1, 0.06              # s, m: who is up for less than this and comes down so near has not stepped
SAME_GROUND = 0.12                         # m: ... unless the ground there is higher or lower by more
STRIDE, SCALE = 1.1, (0.5, 2.0)            # m, for which the shifts are meant, and how far they scale with others


@dataclass(frozen=True, eq=False)
class Stance:
    """One limb down from sub-step `first` to `last` (inclusive), and what its print on level ground looks like."""

    limb: int
    first: int
    last: int
    centre: Array   # (3,) on the clip's ground
    print_: Array   # (n, 2) samples relative to the centre
    ahead: Array    # (2,) unit, the way it travels
    bears: bool     # or it only hangs in the air at an end of the clip ...
    phase: float    # ... this much of a usual swing away from its neighbour
    stride: float   # m, between this limb's footholds
    fall: float     # how steeply the limb can come down to it
    ends: Array     # (2, 2) where the limb is when it comes down, and when it leaves
    slides: bool    # in between, so that its print is long

    @property
    def run(self) -> slice:
        return slice(self.first, self.last + 1)

    def on(self, way: Way) -> Stance:
        """The same stance after the way has been changed under it."""
        turn = way.turn(self.first)[:2, :2]
        centre = way.moved(self.first, self.centre, (self.first + self.last) // 2)
        return replace(self, centre=centre, print_=self.print_ @ turn.T, ahead=turn @ self.ahead)


@dataclass(frozen=True, eq=False)
class Foothold:
    """Where the stance goes, over its n sub-steps (they differ on moving ground):  x -> place + D (x - centre)."""

    stance: Stance   # as keyed
    place: Array     # (n, 3)
    turn: Array      # (n, 4) D as a quaternion

    def moved(self, n: int | slice, x: Array) -> Array:
        """Where x (..., 3) goes at the n-th sub-step of the stance."""
        return np.asarray(self.place[n] + rotation.rotate(self.turn[n], x - self.stance.centre))

    @property
    def is_unchanged(self) -> bool:
        return bool(np.abs(self.place - self.stance.centre).max() < 1e-9 and np.abs(self.turn[:, 1:]).max() < 1e-9)


def find_stances(times: Array, touching: Bools, paths: Array, limbs: Ints, feet: Bools, ground: float) -> list[Stance]:
    """All stances of all limbs from the schedule (K, P) and the points' paths (K, P, 3).

    A foot (`feet` (L,)) in the air at either end of the clip counts as about to stand there, so that every swing
    leads somewhere."""
    stances = []
    lead = max(int(round(LEAD * (len(times) - 1) / float(times[-1] - times[0]))), 1)
    touching = touching.copy()
    typical = _usual_swing(touching, limbs)
    for limb in np.unique(limbs):
        own = np.flatnonzero(limbs == limb)
        down: Bools = np.asarray(touching[:, own].any(1))
        in_air = {end for end in (0, len(down) - 1) if feet[limb] and down.any() and not down[end]}
        held_at = np.flatnonzero(down)
        for end in in_air:
            touching[end, own] = down[end] = True
        for run in runs(down):
            first, stop = run.start, run.stop
            held = touching[run][:, own]
            used = held.any(0)
            share = held[:, used] / np.maximum(held[:, used].sum(0), 1)
            corners = (paths[run][:, own[used], :2] * share[..., None]).sum(0)
            centre = corners.mean(0)
            still, corners = corners, _travelled(paths[run][:, own[used], :2], held[:, used], corners)
            bears = not (stop - first == 1 and first in in_air)
            phase = 1.0 if bears else min(1.0, float(np.abs(held_at - first).min()) / typical)
            middle = paths[:, own, :2].mean(1)
            early = max(first - lead, 0)
            fall = DROP / max(float(np.linalg.norm(middle[first] - middle[early])), 1e-3) if first else np.inf
            stances.append(Stance(int(limb), first, stop - 1, np.append(centre, ground),
                                  _dense(corners - centre), _heading(middle, run), bears, phase, 0.0,
                                  float(np.clip(fall, *FALL)), middle[[first, stop - 1]], corners is not still))
    return _with_strides(stances)


def _travelled(paths: Array, held: Bools, corners: Array) -> Array:
    """Corners of a print whose limb slides while it is down, as a hand or a toe that is dragged does: all of its way
    wants ground, from where its rear comes down to where its front leaves."""
    every = np.arange(len(held))[:, None]
    first, last = np.where(held, every, len(held)).min(0), np.where(held, every, -1).max(0)
    points = np.arange(paths.shape[1])
    start, end = paths[first, points], paths[last, points]
    slides = end - start
    slide = slides[np.linalg.norm(slides, axis=1).argmax()]
    if np.linalg.norm(slide) < SLIDES:
        return corners
    slide = slide / np.linalg.norm(slide)
    along, across = corners @ slide, corners @ np.array([-slide[1], slide[0]])
    if np.ptp(along) < PAD:                                    # abreast: each leaves a trace
        edges = np.unique([across.argmin(), across.argmax()])
        return np.concatenate((start[edges], end[edges]))
    return np.where((along > along.mean())[:, None], end, start)


def _with_strides(stances: list[Stance]) -> list[Stance]:
    out = []
    for stance in stances:
        others = [float(np.linalg.norm((other.centre - stance.centre)[:2])) for other in stances
                  if other.limb == stance.limb and other is not stance]
        out.append(replace(stance, stride=min(others, default=STRIDE)))
    return out


def _usual_swing(touching: Bools, limbs: Ints) -> float:
    """Sub-steps, the median of all swings that begin and end within the clip; one if there is none."""
    swings: list[int] = []
    for limb in np.unique(limbs):
        down = np.flatnonzero(touching[:, limbs == limb].any(1))
        gaps = np.diff(down)
        swings += gaps[gaps > 1].tolist()
    return float(np.median(swings)) if swings else 1.0


def _dense(corners: Array) -> Array:
    """Samples of the area between up to four corners; a point or a line is as wide as the flesh around it."""
    if len(corners) < 3:
        along = corners[-1] - corners[0]
        size = float(np.linalg.norm(along))
        along = along / size if size > 1e-6 else np.array([1.0, 0.0])
        across = PAD * np.array([-along[1], along[0]])
        a, b = corners[0] - PAD * along, corners[-1] + PAD * along
        corners = np.array([a + across, a - across, b + across, b - across])
    a, b, c, d = corners[0], corners[1], corners[2], corners[-1]
    u, v = (g.reshape(-1, 1) for g in np.meshgrid(np.linspace(0, 1, 3), np.linspace(0, 1, 6)))
    return np.asarray((1 - v) * ((1 - u) * a + u * b) + v * ((1 - u) * c + u * d))


def _heading(path: Array, run: slice) -> Array:
    """The direction the limb travels around a stance."""
    before, after = path[max(run.start - 30, 0)], path[min(run.stop + 29, len(path) - 1)]
    way = after - before
    size = float(np.linalg.norm(way))
    return way / size if size > 0.05 else np.array([1.0, 0.0])


@dataclass(frozen=True, eq=False)
class Weighed:
    """Places at which a stance could go, and what speaks against each."""

    tried: Tried
    along: Array    # (n,) m, how far they are shifted along the way
    cost: Array     # (n,)


def weigh(keyed: Stance, way: Way, terrain: Terrain, times: Array, knees: bool, level: float,
          following: Stance | None = None, joining: Stance | None = None, partner: Foothold | None = None,
          together: bool = False) -> Weighed:
    """Places near where the way leads a stance, onto ground about as high as `level`, and what they cost on their own.
    `following` is the next one to stand after it, of another limb; `joining` is where the same leg will stand as well,
    with its foot or its knee; `partner` is where it stands already and takes the places along. Limbs that are shifted
    `together` may go farther."""
    stance, time = keyed.on(way), float(times[keyed.first])
    if partner is not None:                                    # a leg that kneels is shifted as a whole
        led = way.moved(keyed.first, partner.stance.centre, (partner.stance.first + partner.stance.last) // 2)
        stance = replace(stance, centre=stance.centre + np.append((_shank(keyed, partner)[0] - led)[:2], 0.0))
    side = np.array([-stance.ahead[1], stance.ahead[0]])
    scale = float(np.clip(stance.stride / STRIDE, *SCALE))     # long strides may change more
    if stance.slides or partner is not None or joining is not None:
        scale = max(scale, 1.0)                                # so may who needs much room, as a shank that lies down
    along, across = (scale * g.ravel() for g in np.meshgrid(ALONG, ACROSS))
    far = scale * FAR
    roomy = 1.0
    if together:
        along, across = (g.ravel() for g in np.meshgrid(ALONG_TOGETHER, ACROSS))
        far, roomy = FAR_TOGETHER, ROOM_TOGETHER
    if reachable(terrain, stance.centre[None, :2], time, level)[0] == np.inf:      # in a wall no place is better
        along, across = np.zeros((2, 1))
    shifts = along[:, None] * stance.ahead + across[:, None] * side
    tried, cost = _resting(stance, terrain, time, shifts, level)
    cost = cost + walled(tried, terrain, time) + (along / far) ** 2 + (SIDEWAYS * across / (scale * FAR)) ** 2
    if not terrain.is_still:
        cost = cost + torn(tried, terrain, time)
        middle, end = float(times[(keyed.first + keyed.last) // 2]), float(times[keyed.last])
        for moment in (middle, end):                  # a platform that comes there would shove it
            later = replace(tried, places=terrain.carry(tried.places, time, moment))
            cost = cost + walled(later, terrain, moment)
        if knees:                                     # where one comes near, there is no room to leave
            cost = cost + roomy * room(later, terrain, end, stance.ahead, AHEAD)
    if knees:
        cost = cost + roomy * room(tried, terrain, time, stance.ahead, AHEAD)
        cost = cost + roomy * room(tried, terrain, time, -stance.ahead, stance.fall)
        if following is not None:
            cost = cost + brink(tried, terrain, time, stance.ahead, following.on(way).centre)
    if joining is not None and partner is None:
        away = (joining.on(way).centre - stance.centre)[:2]
        cost = cost + edged(tried, terrain, time, np.tile(away, (len(shifts), 1)))
    return Weighed(tried, along, cost)


def fit(weighed: Weighed, keyed: Stance, partner: Foothold, terrain: Terrain, times: Array) -> Array:
    """(n,) what speaks against the places because of where the same leg stands already, with its foot or its knee: both
    stay as far apart as they are in the clip, and no edge comes between them."""
    (start, length), tried = _shank(keyed, partner), weighed.tried
    now = float(times[keyed.first])
    cost = apart(tried, start, length) + edged(tried, terrain, now, start[:2] - tried.places[:, :2])
    if not terrain.is_still:                                   # nor do they drift apart while both stand
        last = min(keyed.last, partner.stance.last)
        later = replace(tried, places=terrain.carry(tried.places, now, float(times[last])))
        cost = cost + apart(later, partner.place[last - partner.stance.first], length)
    return cost


def stand(weighed: Weighed, n: int, keyed: Stance, way: Way, partner: Foothold | None, terrain: Terrain,
          times: Array) -> Foothold:
    """The foothold at the n-th place; it travels with the ground it is on."""
    time, tried = float(times[keyed.first]), weighed.tried
    place, normal = tried.places[n], tried.normals[n]
    if partner is not None:
        fitted = _fitted(place, *_shank(keyed, partner), terrain, time)
        both = replace(tried, places=np.stack((place, fitted)), normals=np.stack((normal, normal)))
        before, after = walled(both, terrain, time)
        place = fitted if after <= before + 1.0 else place               # but not to a riser
    return _standing(keyed, way, place, normal, terrain, times)


def choose(keyed: Stance, way: Way, terrain: Terrain, times: Array, knees: bool, level: float,
           following: Stance | None = None, partner: Foothold | None = None, joining: Stance | None = None) -> Foothold:
    """The cheapest foothold near where the way leads the old one."""
    weighed = weigh(keyed, way, terrain, times, knees, level, following, joining, partner)
    cost = weighed.cost if partner is None else weighed.cost + fit(weighed, keyed, partner, terrain, times)
    return stand(weighed, int(np.argmin(cost)), keyed, way, partner, terrain, times)


def has_not_stepped(before: Stance, after: Stance, times: Array) -> bool:
    """Of a limb that was up for a moment only, between two stances, and came down where it was."""
    moment = float(times[after.first] - times[before.last])
    return moment <= MOMENT and bool(np.linalg.norm(after.ends[0] - before.ends[1]) <= SAME_SPOT)


def again(before: Foothold, keyed: Stance, terrain: Terrain, times: Array) -> Foothold | None:
    """The foothold of a limb that is up for a moment only and comes down where it was: it is still the same one."""
    if not has_not_stepped(before.stance, keyed, times):
        return None
    place = before.moved(-1, keyed.centre)
    if not terrain.is_still:
        place = terrain.carry(place[None], float(times[before.stance.last]), float(times[keyed.first]))[0]
    sunk = float(_sunk(terrain, place[None], times[[keyed.first]])[0])
    if not np.isfinite(sunk) or abs(sunk) > SAME_GROUND:       # it has slid over an edge
        return None
    return _ridden(keyed, place, before.turn[-1], terrain, times[keyed.run])


def _shank(keyed: Stance, partner: Foothold) -> tuple[Array, float]:
    """Where the same leg stands already, and how far apart foot and knee are in the clip."""
    return (partner.place[keyed.first - partner.stance.first],
            float(np.linalg.norm(keyed.centre - partner.stance.centre)))


def _fitted(place: Array, start: Array, length: float, terrain: Terrain, time: float) -> Array:
    """The place moved to or from `start` until it is `length` away from it, on the ground."""
    towards = (place - start)[:2] / max(float(np.linalg.norm((place - start)[:2])), 1e-6)
    out = place
    for _ in range(FITS):
        climb = float(np.clip(out[2] - start[2], -0.9 * length, 0.9 * length))
        spot = start[:2] + np.sqrt(length * length - climb * climb) * towards
        z = float(terrain.height(spot[None], time, float(place[2]) + CEILING).z[0])
        if not np.isfinite(z) or abs(z - place[2]) > SAME_TREAD * length:
            return place
        out = np.append(spot, z)
    return out


def _standing(stance: Stance, way: Way, place: Array, normal: Array, terrain: Terrain, times: Array) -> Foothold:
    """The foothold at a place that was tried."""
    up = np.array([0.0, 0.0, 1.0])
    place, normal = _settled(stance.on(way), place, normal, terrain, float(times[stance.first]))
    tilt = float(np.arccos(np.clip(normal[2], -1.0, 1.0)))
    turn = rotation.exp(rotation.log(rotation.between(up, normal)) * min(1.0, STEEPEST / max(tilt, 1e-9)))
    yaw = way.yaw[stance.first]
    if yaw:
        turn = rotation.multiply(turn, rotation.exp(np.array([0.0, 0.0, yaw])))
    return _ridden(stance, place, turn, terrain, times[stance.run])


def _ridden(stance: Stance, place: Array, turn: Array, terrain: Terrain, times: Array) -> Foothold:
    """A foothold belongs to the piece of ground under it and goes where that goes, until other ground comes up through
    it: a platform that sinks into the floor leaves the foot on the floor."""
    places, turns = np.tile(place, (len(times), 1)), np.tile(turn, (len(times), 1))
    if terrain.is_still:
        return Foothold(stance, places, turns)
    sunk = max(float(_sunk(terrain, place[None], times[:1])[0]), 0.0)
    n = 0
    while n + 1 < len(times):
        marks = places[n] + MARK * np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        at, x, y = terrain.carry_over(marks, float(times[n]), times[n + 1:]).swapaxes(0, 1)
        axes = np.stack(((x - at) / MARK, (y - at) / MARK, np.cross(x - at, y - at) / MARK ** 2), axis=-1)
        places[n + 1:], turns[n + 1:] = at, rotation.multiply(rotation.from_matrix(axes), turns[n])
        deeper = _sunk(terrain, at, times[n + 1:]) - sunk
        buried = np.flatnonzero((deeper > 1e-9) & (deeper < COMES_UP))
        if not len(buried):
            break
        n += 1 + int(buried[0])
        places[n, 2] += deeper[buried[0]]
    return Foothold(stance, places, turns)


def _sunk(terrain: Terrain, places: Array, times: Array) -> Array:
    """(n,) m, how deep under the ground places (n, 3) are at times (n,)."""
    below = places[:, 2:] + CEILING
    return np.asarray(terrain.height_over(places[:, None, :2], times, below).z[:, 0] - places[:, 2])


def _settled(stance: Stance, place: Array, normal: Array, terrain: Terrain, time: float) -> tuple[Array, Array]:
    """(place, normal) of the plane that a rigid sole comes to rest on, seen from where the sole is tilted to:

        min over k   sum (k0 + k1 x + k2 y - h)^2    such that    k0 + k1 x + k2 y >= h
    """
    corners = stance.print_[[0, 2, -3, -1]]
    u, v = (g.reshape(-1, 1) for g in np.meshgrid(np.linspace(0, 1, FINE[0]), np.linspace(0, 1, FINE[1])))
    fine = (1 - v) * ((1 - u) * corners[0] + u * corners[1]) + v * ((1 - u) * corners[2] + u * corners[3])
    for _ in range(SETTLES):
        turn = rotation.between(np.array([0.0, 0.0, 1.0]), normal)
        samples = rotation.rotate(np.tile(turn, (len(fine), 1)), np.pad(fine, ((0, 0), (0, 1))))[:, :2]
        h = terrain.height(place[:2] + samples, time, float(place[2]) + CEILING).z
        if not np.isfinite(h).all():
            return place, normal
        design = np.concatenate((np.ones((len(h), 1)), samples), axis=1)
        middle = float(h.max())
        if np.ptp(h - (normal[:2] @ samples.T) / -normal[2]) < 1e-9:    # even ground: nothing to settle
            return place, normal
        try:
            k = solve_qp(design.T @ design + 1e-9 * np.eye(3), -design.T @ (h - middle), -design, middle - h).x
        except (InfeasibleError, UnsolvedError):
            return place, normal
        normal = np.array([-k[1], -k[2], 1.0]) / np.sqrt(1.0 + k[1] ** 2 + k[2] ** 2)
        place = np.append(place[:2], k[0] + middle)
    return place, normal


def _resting(stance: Stance, terrain: Terrain, time: float, shifts: Array, level: float) -> tuple[Tried, Array]:
    """The planes on which the print rests at the shifted places (least squares, raised until nothing is above), and
    what their gaps and tilts cost (n,)."""
    samples, count = stance.print_, len(shifts)
    spots = stance.centre[:2] + shifts[:, None] + samples                            # (n, m, 2)
    h = reachable(terrain, spots.reshape(-1, 2), time, level).reshape(count, -1)
    missing = ~np.isfinite(h)                                                        # or walled up
    h = np.where(missing, np.where(missing, np.inf, h).min(1, keepdims=True), h)
    h = np.where(np.isfinite(h), h, level)
    design = np.concatenate((np.ones((len(samples), 1)), samples), axis=1)
    ridge = np.diag([0.0, 1e-9, 1e-9]) + 1e-12 * np.eye(3)
    fit = np.linalg.solve(design.T @ design + ridge, design.T @ h.T).T               # (n, 3)
    gap = fit @ design.T - h
    raised = np.maximum(-gap.min(1), 0.0)
    fit[:, 0] += raised
    gap = gap + raised[:, None]
    normals = np.concatenate((-fit[:, 1:], np.ones((count, 1))), axis=1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    tilt = np.arccos(np.clip(normals[:, 2], -1.0, 1.0))
    places = np.concatenate((stance.centre[:2] + shifts, fit[:, :1]), axis=1)
    cost = (gap.mean(1) / GAP) ** 2 + (np.maximum(tilt - GENTLE, 0.0) / STEEP) ** 2 + 1e3 * missing.mean(1)
    return Tried(samples, places, normals), cost
