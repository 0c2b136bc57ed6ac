"""What the faces of a mesh belong to: parts, which are closed or open, and which way is out of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..arrays import Array, Bools, Ints

FACES_UP = 0.2   # an open part looks up or down if at least this share of its ground plan does, on balance
HOLLOW = 1e-9    # of the size of its surface to the power 3/2: a closed part with less volume has no inside


@dataclass(frozen=True, eq=False)
class Parts:
    """Faces that hang together across edges, told apart and turned to look out of the ground."""

    part: Ints            # (T,)
    is_turned: Bools      # (T,) the face's own winding looks inwards
    is_closed: Bools      # (T,) its part is watertight: solid inside
    inside_out: int       # closed parts whose faces all looked inwards
    sideways: int         # open parts that look neither up nor down on balance, walls aside
    holes: int            # rims of open parts beyond the first


def weld(vertices: Array) -> Ints:
    """(V,) a number for each vertex, the same for those in the same place."""
    if not len(vertices):
        return np.zeros(0, dtype=np.intp)
    order = np.lexsort(vertices.T)
    ordered = vertices[order]
    is_new = np.append(False, (ordered[1:] != ordered[:-1]).any(1))
    number = np.empty(len(vertices), dtype=np.intp)
    number[order] = np.cumsum(is_new)
    return number


def find_doubles(faces: Ints) -> Bools:
    """(T,) whether an earlier face has the same three vertices, in whatever order."""
    vertices = np.sort(faces, axis=1)
    order = np.lexsort(vertices.T)                                                  # stable: the earliest comes first
    same = np.append(False, (vertices[order][1:] == vertices[order][:-1]).all(1))
    is_double = np.zeros(len(faces), dtype=bool)
    is_double[order[1:]] = same[1:]
    return is_double


def find_parts(faces: Ints, corners: Array, areas: Array) -> Parts:
    """Parts of faces (T, 3) of welded vertices, with corners (T, 3, 3) and area vectors (T, 3).

    Every face stands for two, one turned over. Across an edge that exactly two faces share, each face is tied to the
    version of its neighbour that winds the same way round. A part is then one of two connected components, which are
    each other turned over: out of a closed part is where its volume is positive, out of an open one is up.
    """
    count = len(faces)
    if not count:
        return Parts(faces[:, 0], np.zeros(0, dtype=bool), np.zeros(0, dtype=bool), 0, 0, 0)
    tail, head = faces.ravel(), np.roll(faces, -1, axis=1).ravel()                   # (3 T,)
    owner, forward = np.repeat(np.arange(count), 3), tail < head
    key = np.minimum(tail, head) * (int(faces.max()) + 1) + np.maximum(tail, head)
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.append(True, key[order][1:] != key[order][:-1]))
    shared = np.diff(np.append(first, len(order)))
    one, two = order[first[shared == 2]], order[first[shared == 2] + 1]
    disagrees = np.where(forward[one] == forward[two], count, 0)
    a, b = owner[one], owner[two]
    ties = np.concatenate((a, a + count)), np.concatenate((b + disagrees, b + count - disagrees))
    _, label = connected_components(coo_array((np.ones(len(ties[0])), ties), shape=(2 * count, 2 * count)),
                                    directed=False)
    given, turned = label[:count], label[count:]
    _, part = np.unique(np.minimum(given, turned), return_inverse=True)
    part = part.reshape(count)
    parts = int(part.max()) + 1

    way = np.where(given <= turned, 1.0, -1.0)                                       # (T,) to wind like its part
    centre = corners.reshape(-1, 3).mean(0)
    volume = np.einsum("ti,ti->t", corners[:, 0] - centre, areas) / 3.0
    size = np.linalg.norm(areas, axis=1)

    def total(values: Array) -> Array:
        return np.bincount(part, values, parts).astype(np.float64)

    up, plan = total(way * areas[:, 2]), total(np.abs(areas[:, 2]))
    surface, kept, volume = total(size), total(way * size), total(way * volume)
    is_open = np.bincount(part[owner[order[first[shared % 2 == 1]]]], minlength=parts) > 0
    rim = order[first[shared == 1]]
    has_inside = ~is_open & (np.abs(volume) > HOLLOW * surface ** 1.5)
    faces_up = np.abs(up) > FACES_UP * plan
    sign = np.sign(np.where(has_inside, volume, np.where(faces_up, up, kept)))
    sign = np.where(sign == 0.0, 1.0, sign)
    one_sided = given == turned                                                     # Moebius: each face for itself
    way = np.where(one_sided, np.where(areas[:, 2] < 0.0, -1.0, 1.0), way * sign[part])
    has_inside[part[one_sided]] = False
    is_wall = plan <= 1e-6 * surface
    return Parts(part, way < 0.0, has_inside[part],
                 int((has_inside & (kept * sign < -0.999 * surface)).sum()),
                 int((~has_inside & ~faces_up & ~is_wall).sum()),
                 _count_holes(tail[rim], head[rim], len(np.unique(part[owner[rim]]))))


def _count_holes(tail: Ints, head: Ints, open_parts: int) -> int:
    """Rims, which are chains of edges that belong to one face alone, beyond one for each open part."""
    if not len(tail):
        return 0
    _, at = np.unique(np.concatenate((tail, head)), return_inverse=True)
    at = at.reshape(2, -1)
    nodes = int(at.max()) + 1
    rims, _ = connected_components(coo_array((np.ones(at.shape[1]), (at[0], at[1])), shape=(nodes, nodes)),
                                   directed=False)
    return max(int(rims) - open_parts, 0)
