"""References for a frame in space: a circle, and a straight line with a rotation about one axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import SourceBlock

from spart_blocks.base.spatial import (
    Array,
    axis_angle_rotation,
    dcm_quat,
    quaternion_rate,
    quaternion_rotation,
)
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.reference_values import rest_to_rest, run_up, unit_vector
from spart_blocks.block_support.values import numbers


class Circle(Declared, SourceBlock):
    """A point that moves on a circle in space.

    The point moves about the normal by the right-hand rule. At phase 0 it lies in the direction
    zero from the centre, projected onto the plane: x by default, or y if the normal is closer to x
    than to y. It rests until T. Then it moves at its full rate, or reaches it within the time rise,
    with continuous acceleration, and lags by half of rise afterwards.

    Source: B. Siciliano et al., "Robotics: Modelling, Planning and Control" (2009), sec. 4.3.

    :arg centre: centre
    :arg radius: radius
    :arg normal: direction of the axis, defaults to z
    :arg period: time of one revolution
    :arg rate: angular rate, instead of the period; negative for the opposite direction
    :arg phase: angle at the start, defaults to 0
    :arg zero: direction of the phase 0
    :arg T: when it starts, defaults to 0
    :arg rise: time to reach the full rate, defaults to 0
    """

    nin = 0
    nout = 3
    gives = (
        PortSpec("r", "3", "m", "position"),
        PortSpec("v", "3", "m/s", "velocity"),
        PortSpec("a", "3", "m/s^2", "acceleration"),
    )
    centre = tunable("3", "m")
    radius = tunable("float", "m", above=0)
    normal = fixed("3", "", (0.0, 0.0, 1.0))
    period = tunable("float", "s", None, above=0)
    rate = tunable("float", "rad/s", None)
    phase = tunable("float", "rad", 0.0)
    zero = fixed("3", "", None)
    T = tunable("float", "s", 0.0)
    rise = fixed("float", "s", 0.0)

    def build(self, normal: Any, zero: Any) -> dict[str, Any]:
        if (self.period is None) == (self.rate is None):
            raise ValueError("CIRCLE takes period or rate: one of them")
        if self.rise < 0:
            raise ValueError(f"rise is {self.rise:g} s; it must not be below zero")
        axis = unit_vector(normal, "normal")
        across = np.eye(3)[int(abs(axis[0]) > abs(axis[1]))] if zero is None else zero
        across = unit_vector(across, "zero")
        in_plane = across - (across @ axis) * axis
        if np.linalg.norm(in_plane) < 1e-6:
            raise ValueError("zero has the direction of the normal; it must have another one")
        first = in_plane / np.linalg.norm(in_plane)
        self.plane = first, np.cross(axis, first)
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        clock = run_up(t, self.T, self.rise)
        speed = self.rate if self.period is None else 2 * np.pi / self.period
        angle = self.phase + speed * clock.s
        rate, acceleration = speed * clock.rate, speed * clock.acceleration
        first, second = self.plane
        out = self.radius * (np.cos(angle) * first + np.sin(angle) * second)
        along = self.radius * (np.cos(angle) * second - np.sin(angle) * first)
        return [self.centre + out, rate * along, acceleration * along - rate * rate * out]

    def edges(self) -> list[tuple[Any, Any]]:
        return [(self.T, 0.0)] + ([(self.T + self.rise, 0.0)] if self.rise else [])


class Cartesian_Quintic(Declared, SourceBlock):
    """A frame that moves straight from one pose to another, and rotates about one axis.

    It rests at both ends, with zero acceleration. The rotation is the shorter one; position and
    angle follow the same polynomial of fifth order in time. The quaternion is continuous.

    Source: K. Lynch and F. Park, "Modern Robotics" (2017), sec. 9.2.1 and 9.2.2.1; K.
    Shoemake, "Animating rotation with quaternion curves" (1985); `ctraj` of P. Corke's
    Robotics Toolbox.

    :arg r0: position at the start
    :arg rf: position at the end
    :arg duration: duration of the motion
    :arg attitude0: attitude at the start: a unit quaternion, scalar last, or a rotation (3,3), body
        to inertial; no rotation by default
    :arg attitudef: attitude at the end, that of the start by default
    :arg T: when it starts, defaults to 0
    """

    nin = 0
    nout = 5
    gives = (
        PortSpec("r", "3", "m", "position"),
        PortSpec("R", "3, 3", "", "rotation, body to inertial"),
        PortSpec("quaternion", "4", "", "the same as a unit quaternion, scalar last"),
        PortSpec("twist", "6", "rad/s, m/s", "inertial"),
        PortSpec("twist_rate", "6", "rad/s^2, m/s^2", "inertial"),
    )
    r0 = tunable("3", "m")
    rf = tunable("3", "m")
    duration = tunable("float", "s", above=0)
    attitude0 = fixed("4 or 3, 3", "", (0.0, 0.0, 0.0, 1.0))
    attitudef = fixed("4 or 3, 3", "", None)
    T = tunable("float", "s", 0.0)

    def build(self, attitude0: Any, attitudef: Any) -> dict[str, Any]:
        self.first = _quaternion(attitude0, "attitude0")
        last = self.first if attitudef is None else _quaternion(attitudef, "attitudef")
        self.axis, self.angle = _turn(self.first, last)
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        s, rate, acceleration = rest_to_rest(t, self.T, self.duration)
        start = quaternion_rotation(self.first)
        half = self.angle * s / 2
        # first * [axis sin, cos] is linear in sine and cosine.
        turned = 2 * quaternion_rate(self.first, self.axis)
        R = start @ axis_angle_rotation(self.axis, np.reshape(self.angle * s, (1,)))
        way, turn = self.rf - self.r0, self.angle * (start @ self.axis)
        return [
            self.r0 + way * s,
            R,
            np.cos(half) * self.first + np.sin(half) * turned,
            np.concatenate([turn * rate, way * rate]),
            np.concatenate([turn * acceleration, way * acceleration]),
        ]

    def edges(self) -> list[tuple[Any, Any]]:
        return [(self.T, 0.0), (self.T + self.duration, 0.0)]


def _quaternion(value: Any, name: str) -> Array:
    """The unit quaternion (4,), scalar last, from a quaternion or a rotation (3,3)."""
    given = numbers(value, name)
    if given.shape == (3, 3):
        off = np.abs(given @ given.T - np.eye(3)).max()
        if off <= 1e-6 and np.linalg.det(given) < 0:
            raise ValueError(f"{name} is not a rotation: its determinant is -1, so it mirrors")
        if off > 1e-6:
            raise ValueError(f"{name} is not a rotation: R R' differs from 1 by {off:.3g}")
        return dcm_quat(given.T)
    if given.shape != (4,):
        raise ValueError(f"{name} has shape {given.shape}; it takes a quaternion (4,) or (3, 3)")
    length = float(np.linalg.norm(given))
    if abs(length - 1) > 1e-6:
        raise ValueError(f"{name} has length {length:.6g}; a quaternion of length 1 is needed")
    return given / length


def _turn(first: Array, last: Array) -> tuple[Array, float]:
    """The axis (3,), in the first axes, and the angle [rad], up to half a turn, from one
    attitude to another: of the quaternion first* last."""
    vector = first[3] * last[:3] - last[3] * first[:3] - np.cross(first[:3], last[:3])
    sine, cosine = float(np.linalg.norm(vector)), float(first @ last)
    if sine == 0:
        return np.array([1.0, 0.0, 0.0]), 0.0
    return vector / sine * (1 if cosine >= 0 else -1), 2 * float(np.arctan2(sine, abs(cosine)))
