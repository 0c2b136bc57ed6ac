"""Rotations as unit quaternions (w, x, y, z) and as matrices; every function works on stacks (..., 4), (..., 3).

The tangent of a quaternion is the rotation vector in its own (body) frame:

    Q (+) d  = Q Exp(d)             Exp(d) = (cos |d|/2, sin(|d|/2) d/|d|)
    Q1 (-) Q0 = Log(Q0^-1 Q1)       the short way round

(+) and (-) are exact inverses of each other for |d| < pi.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

IDENTITY: Array = np.array([1.0, 0.0, 0.0, 0.0])


def _matrix_basis() -> Array:
    """The constant that turns the outer product q q^T (16) into the homogeneous 4x4 matrix of q (16)."""
    T = np.zeros((4, 4, 4, 4))
    w, x, y, z = range(4)
    for row, (i, j, k) in enumerate(((x, y, z), (y, z, x), (z, x, y))):
        T[w, w, row, row] = T[i, i, row, row] = 1.0
        T[j, j, row, row] = T[k, k, row, row] = -1.0
    for row, col, a, b, sign in ((0, 1, x, y, -1), (0, 2, x, z, 1), (1, 2, y, z, -1)):
        c = ({x, y, z} - {a, b}).pop()
        T[a, b, row, col] = T[a, b, col, row] = 2.0
        T[w, c, row, col] = 2.0 * sign
        T[w, c, col, row] = -2.0 * sign
    for n in range(4):
        T[n, n, 3, 3] = 1.0
    return T.reshape(16, 16)


def _product_basis() -> Array:
    """The constant that turns the outer product a b^T (16) into the Hamilton product a b (4)."""
    T = np.zeros((4, 4, 4))
    for a, b, c, sign in ((0, 0, 0, 1), (1, 1, 0, -1), (2, 2, 0, -1), (3, 3, 0, -1), (0, 1, 1, 1), (1, 0, 1, 1),
                          (2, 3, 1, 1), (3, 2, 1, -1), (0, 2, 2, 1), (2, 0, 2, 1), (3, 1, 2, 1), (1, 3, 2, -1),
                          (0, 3, 3, 1), (3, 0, 3, 1), (1, 2, 3, 1), (2, 1, 3, -1)):
        T[a, b, c] = sign
    return T.reshape(16, 4)


_MATRIX = _matrix_basis()
_PRODUCT = _product_basis()
_ONES: Array = np.ones((3, 1))  # x @ _ONES is x.sum(-1, keepdims=True), in a third of the time
_ONES4: Array = np.ones((4, 1))
_TINY = 1e-300  # keeps 0 / 0 away where the numerator is zero as well
_SKEW: Array = np.zeros((3, 9))
_SKEW[0, 7], _SKEW[0, 5] = 1.0, -1.0
_SKEW[1, 2], _SKEW[1, 6] = 1.0, -1.0
_SKEW[2, 3], _SKEW[2, 1] = 1.0, -1.0


_AXIAL: Array = np.concatenate((0.5 * _SKEW.T, 0.5 * np.eye(3).reshape(9, 1)), axis=1)  # R (9) -> axial, trace/2


def homogeneous(q: Array) -> Array:
    """4x4 matrices of unit quaternions, translation zero."""
    outer = q[..., :, None] * q[..., None, :]
    return (outer.reshape(q.shape[:-1] + (16,)) @ _MATRIX).reshape(q.shape[:-1] + (4, 4))


def matrix(q: Array) -> Array:
    """Rotation matrices of unit quaternions."""
    return homogeneous(q)[..., :3, :3]


def skew(x: Array) -> Array:
    """[x], with [x] y = x cross y."""
    return (x @ _SKEW).reshape(x.shape[:-1] + (3, 3))


def cross(a: Array, b: Array) -> Array:
    """a cross b; several times faster than np.cross on short stacks."""
    return (skew(a) @ b[..., None])[..., 0]


def multiply(a: Array, b: Array) -> Array:
    """Hamilton product."""
    outer = a[..., :, None] * b[..., None, :]
    return outer.reshape(outer.shape[:-2] + (16,)) @ _PRODUCT


def conjugate(q: Array) -> Array:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def normalised(q: Array) -> Array:
    return q / np.sqrt((q * q) @ _ONES4)


def rotate(q: Array, x: Array) -> Array:
    """Vectors x turned by q."""
    return (matrix(q) @ x[..., None])[..., 0]


def exp(d: Array) -> Array:
    """Quaternion of a rotation vector."""
    angle = np.sqrt((d * d) @ _ONES)
    half = 0.5 * angle
    out = np.empty(d.shape[:-1] + (4,))
    np.cos(half, out=out[..., :1])
    np.multiply(np.sin(half) / np.maximum(angle, _TINY), d, out=out[..., 1:])
    return out


def log(q: Array) -> Array:
    """Rotation vector of a unit quaternion, the short way (|d| <= pi)."""
    w, v = q[..., :1], q[..., 1:]
    sine = np.sqrt((v * v) @ _ONES)
    scale = 2.0 * np.arctan2(sine, np.abs(w)) / np.maximum(sine, _TINY)
    return np.copysign(scale, w) * v


def add(q: Array, d: Array) -> Array:
    """q (+) d, renormalised."""
    return normalised(multiply(q, exp(d)))


def subtract(q1: Array, q0: Array) -> Array:
    """q1 (-) q0: the tangent at q0 that leads to q1."""
    return log(multiply(conjugate(q0), q1))


def log_matrix(R: Array) -> Array:
    """Rotation vector of a rotation matrix; exact for small angles, direction unreliable within 1e-3 of pi."""
    parts = R.reshape(R.shape[:-2] + (9,)) @ _AXIAL
    axial, cosine = parts[..., :3], parts[..., 3:] - 0.5
    sine = np.sqrt((axial * axial) @ _ONES)
    return axial * (np.arctan2(sine, cosine) / np.maximum(sine, np.where(cosine < 0.0, 1e-3, _TINY)))


def from_matrix(R: Array) -> Array:
    """Unit quaternions of rotation matrices (the largest component first, so that no root is near zero)."""
    trace = R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2]
    squares = np.stack([1 + trace, 1 - trace + 2 * R[..., 0, 0], 1 - trace + 2 * R[..., 1, 1],
                        1 - trace + 2 * R[..., 2, 2]], axis=-1)
    a, b, c = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    d, e, f = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    s = squares
    rows = np.stack([np.stack([s[..., 0], a, b, c], -1), np.stack([a, s[..., 1], d, e], -1),
                     np.stack([b, d, s[..., 2], f], -1), np.stack([c, e, f, s[..., 3]], -1)], axis=-2)
    best = squares.argmax(-1)
    return normalised(np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :])


def from_euler(angles: Array, order: str) -> Array:
    """Quaternions of intrinsic rotations about the named axes: order "zyx" turns about z first, then y', then x''."""
    q = IDENTITY
    for n, letter in enumerate(order.lower()):
        half = 0.5 * angles[..., n]
        turn = np.zeros(angles.shape[:-1] + (4,))
        turn[..., 0], turn[..., 1 + "xyz".index(letter)] = np.cos(half), np.sin(half)
        q = multiply(q, turn) if n else turn
    return q


def between(a: Array, b: Array) -> Array:
    """The shortest rotation that turns direction a into direction b."""
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    w = 1.0 + (a * b).sum(-1, keepdims=True)
    other = np.where(np.abs(a[..., :1]) < 0.9, np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
    axis = np.where(w > 1e-9, cross(a, b), cross(a, other))  # opposite directions: any axis across
    return normalised(np.concatenate((np.where(w > 1e-9, w, 0.0), axis), axis=-1))


def twist_angle(q: Array, axis: Array) -> Array:
    """The angle of the part of q that turns about `axis`, in (-pi, pi]."""
    angle = 2.0 * np.arctan2((q[..., 1:] * axis).sum(-1), q[..., 0])
    turns = np.ceil((angle - np.pi) / (2.0 * np.pi) - 1e-12)  # half a turn is +pi, whatever the last digit says
    return np.asarray(angle - 2.0 * np.pi * turns)


def aligned(q: Array) -> Array:
    """A time series of quaternions (first axis time) with signs chosen so that neighbours agree."""
    flips = np.where((q[1:] * q[:-1]).sum(-1) < 0.0, -1.0, 1.0)
    signs = np.concatenate((np.ones((1,) + flips.shape[1:]), np.cumprod(flips, axis=0)))
    return np.asarray(q * signs[..., None])


def inverse_right_jacobian(r: Array) -> Array:
    """Jr^-1(r) with  Log(Exp(r) Exp(d)) = r + Jr^-1(r) d + O(d^2)."""
    angle2 = (r * r).sum(-1)[..., None, None]
    angle = np.sqrt(angle2)
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    coefficient = np.where(small, 1.0 / 12.0, (1.0 - 0.5 * safe / np.tan(0.5 * safe)) / (safe * safe))
    K = skew(r)
    return np.eye(3) + 0.5 * K + coefficient * (K @ K)
