"""Homogeneous transforms (4,4) [m], used by the readers of robots."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spart_blocks.robot._record import Floats


def translation(p: ArrayLike) -> Floats:
    """T (4,4) that moves by p (3,) [m]."""
    T = np.eye(4)
    T[:3, 3] = p
    return T


QUARTER = np.pi / 2
WRITTEN = 5e-12  # [rad] half of the last digit where an angle is written with eleven decimals


def _cosine_and_sine(angle: float) -> tuple[float, float]:
    """Of an angle [rad]. One written as 1.57079632679 is a quarter turn: its cosine is zero, and
    what is multiplied by it is left out of compiled functions."""
    quarters = round(angle / QUARTER) if np.isfinite(angle) else 0
    if abs(angle - quarters * QUARTER) <= WRITTEN:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarters % 4]
    return float(np.cos(angle)), float(np.sin(angle))


def rotation_x(angle: float) -> Floats:
    """T (4,4) of a rotation by an angle [rad] about x."""
    c, s = _cosine_and_sine(angle)
    T = np.eye(4)
    T[1:3, 1:3] = [[c, -s], [s, c]]
    return T


def rotation_y(angle: float) -> Floats:
    """T (4,4) of a rotation by an angle [rad] about y."""
    c, s = _cosine_and_sine(angle)
    T = np.eye(4)
    T[0, 0], T[0, 2], T[2, 0], T[2, 2] = c, s, -s, c
    return T


def rotation_z(angle: float) -> Floats:
    """T (4,4) of a rotation by an angle [rad] about z."""
    c, s = _cosine_and_sine(angle)
    T = np.eye(4)
    T[:2, :2] = [[c, -s], [s, c]]
    return T


def urdf_origin(xyz: ArrayLike, rpy: ArrayLike) -> Floats:
    """T (4,4) of a URDF origin: xyz (3,) [m], then rpy (3,) [rad] about fixed x, y, z."""
    roll, pitch, yaw = np.asarray(rpy, dtype=float)
    T = rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll)
    T[:3, 3] = xyz
    return T


def rigid_inverse(T: Floats) -> Floats:
    """Inverse of a rigid transform, by the transpose of its rotation."""
    kind = object if T.dtype.hasobject else float
    inverse: Floats = np.eye(4, dtype=int).astype(kind).view(type(T))
    inverse[:3, :3] = T[:3, :3].T
    inverse[:3, 3] = -T[:3, :3].T @ T[:3, 3]
    return inverse


def displacement(T: Floats, p: Any) -> Any:
    """How far (3,) [m] a point p (3,), floats or symbols, is from the origin of T, in its axes."""
    return T[:3, :3].T @ (p - T[:3, 3])


def displaced(T: Floats, d: Any) -> Any:
    """T with its origin moved by d (3,), floats or symbols, in the axes that it starts from."""
    moved = T + np.zeros((4, 4), dtype=d.dtype).view(type(d))
    moved[:3, 3] = T[:3, 3] + d
    return moved


def skew(v: ArrayLike) -> Floats:
    """The matrix (3,3) of the cross product with v (3,)."""
    x, y, z = np.asarray(v, dtype=float)
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
