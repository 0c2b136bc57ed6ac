"""What carries a body: the plane and area of its contacts, the zero-moment point on any plane, and who is nearest.

With F the ground's force and M_c its moment about a point c of the plane with unit normal n,

    Z = c + n x M_c / (n . F)                      the moment about Z is along n        [Oshita2001] eq. 11, 12

exact for any motion with pushes and loads, unlike the paper's sums over point masses. Moving Z to a point p is linear
in the accelerations, because  (n . F)(p - Z) = (p - c)(n . F) - n x M_c :

    B a_change = (n . F)(p - Z) ,   B_j = n x A_Mj - (p - c)(n . A_Fj) ,   [F; M_c] = A a + b     replaces eq. 13, 14
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Array
from ..numerics.rotation import cross, skew

FLAT = 1e-12   # m2: a corner that stands out by less is none


@dataclass(frozen=True, eq=False)
class Support:
    """A plane with axes (2, 3), and the area (n, 2) in it that carries."""

    centre: Array    # (3,) a point of the plane
    normal: Array    # (3,) unit
    axes: Array      # (2, 3) of the plane, axes[0] x axes[1] = normal
    corners: Array   # (n, 2) counter-clockwise, relative to the centre

    def flat(self, places: Array) -> Array:
        """(..., 2) of places (..., 3), seen along the normal."""
        return np.asarray((places - self.centre) @ self.axes.T)

    def lifted(self, flat: Array) -> Array:
        """(..., 3) in the world."""
        return np.asarray(self.centre + flat @ self.axes)

    @property
    def polygon(self) -> Array:
        """(n, 3) corners in the world."""
        return self.lifted(self.corners)


def hull(points: Array) -> Array:
    """(k, 2) corners, counter-clockwise, of the convex hull of a few points (n, 2): Andrew's chain, a dozen times
    faster on ten points than a general library. Two corners for points on a line, one for one place."""
    order = sorted({(round(x, 12), round(y, 12)) for x, y in points.tolist()})
    if len(order) < 3:
        return np.array(order)

    def chain(places: list[tuple[float, float]]) -> list[tuple[float, float]]:
        out: list[tuple[float, float]] = []
        for x, y in places:
            while len(out) > 1 and ((out[-1][0] - out[-2][0]) * (y - out[-2][1])
                                    - (out[-1][1] - out[-2][1]) * (x - out[-2][0])) <= FLAT:
                out.pop()
            out.append((x, y))
        return out[:-1]

    return np.array(chain(order) + chain(order[::-1]))


def support_of(places: Array, normals: Array) -> Support:
    """The area of touching points (n, 3) on ground with these normals, seen along their mean."""
    normal = normals.sum(0)
    normal = normal / np.sqrt(normal @ normal)
    centre = places.mean(0)
    lean = np.array([1.0, 0.0, 0.0]) if abs(normal[0]) < 0.8 else np.array([0.0, 1.0, 0.0])
    second = cross(normal, lean)
    second = second / np.sqrt(second @ second)
    axes = np.stack((cross(second, normal), second))
    return Support(centre, normal, axes, hull((places - centre) @ axes.T))


def widened(support: Support, flat: Array) -> Support:
    """The area and more points (2,) or (n, 2)."""
    return Support(support.centre, support.normal, support.axes, hull(np.vstack((support.corners, flat))))


def wrench_map(position: Array, R: Array, centre: Array) -> Array:
    """(6, 6) from the six root entries of a generalised force (root at `position`, turned by R) to
    [force; moment about `centre`] in world axes."""
    X = np.zeros((6, 6))
    X[:3, :3] = np.eye(3)
    X[3:, :3] = skew(position - centre)
    X[3:, 3:] = R
    return X


def zmp(support: Support, wrench: Array) -> Array:
    """(2,) Z in the support's plane, of [force; moment about its centre] (6,)."""
    return np.asarray(support.axes @ cross(support.normal, wrench[3:]) / (support.normal @ wrench[:3]))


def zmp_rows(support: Support, A: Array, target: Array) -> Array:
    """(2, n) B of the module's page for columns A (6, n) and a target (2,)."""
    across = support.axes @ skew(support.normal)
    return np.asarray(across @ A[3:] - np.outer(target, support.normal @ A[:3]))


def nearest(corners: Array, point: Array) -> tuple[Array, bool]:
    """The point of a convex area that is nearest to `point` (2,), and whether that is the point itself.

    A line or a single point has no inside."""
    if len(corners) == 1:
        return corners[0], False
    a, b = (corners, np.concatenate((corners[1:], corners[:1]))) if len(corners) > 2 else (corners[:1], corners[1:])
    edge, off = b - a, point - a
    if len(corners) > 2 and (edge[:, 0] * off[:, 1] - edge[:, 1] * off[:, 0] >= 0.0).all():
        return point, True
    share = np.clip((off * edge).sum(1) / np.maximum((edge * edge).sum(1), 1e-18), 0.0, 1.0)
    on = a + share[:, None] * edge
    return on[int(((on - point) ** 2).sum(1).argmin())], False
