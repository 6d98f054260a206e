"""References for joints: position, rate and acceleration as functions of time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bdsim.components import SourceBlock

from spart_blocks.base.curves.piecewise import (
    PiecewisePolynomial,
    cubic_spline,
    passing_rates,
    quintic,
    quintic_pieces,
)
from spart_blocks.base.errors import InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.parameters import fixed, need_robot, tunable
from spart_blocks.block_support.ports import Shape
from spart_blocks.block_support.reference_values import (
    MOTION,
    increasing,
    limit_of,
    of_one_width,
    trapezoid,
)
from spart_blocks.block_support.values import numbers, positive_number
from spart_blocks.robot import Robot
from spart_blocks.robot.coordinates import checked_configuration


class _ToGoal:
    """A motion from q0 to qf: entry by entry, or for the joints of a robot, with spherical ones
    about one axis.
    """

    nin = 0
    nout = 3

    robot: Robot | None
    q0: Array
    qf: Array
    tunable: tuple[str, ...] = ()

    def _take(self, q0: Any, qf: Any, robot: Any, rates: Mapping[str, Any]) -> Shape:
        """Check and store the end positions and rates; returns the shape of a motion."""
        if robot is None:
            self.robot, values = None, of_one_width({"q0": q0, "qf": qf, **rates})
        else:
            self.robot = need_robot(robot, type(self).__name__.upper())
            values = _of_robot(self.robot, {"q0": q0, "qf": qf}, rates)
        for name, value in values.items():
            setattr(self, name, value)
        if robot is not None and robot.balls:  # tuned values are not checked
            self.tunable = tuple(name for name in self.tunable if name not in rates)
        return self.q0.shape if self.robot is None else (self.robot.nu,)

    def _way(self) -> Array:
        """The motion of the joints from q0 to qf."""
        if self.robot is not None:
            return self.robot.difference(self.q0, self.qf)  # type: ignore[no-any-return]
        return self.qf - self.q0

    def _origin(self) -> Any:
        """The origin of the motion: q0 for a robot, otherwise zero."""
        return self.q0 if self.robot is None else 0.0

    def _reached(self, moved: Array) -> Array:
        """The position after a motion from the origin."""
        if self.robot is None:
            return moved
        return self.robot.integrate(self.q0, moved)  # type: ignore[no-any-return]


def _of_robot(robot: Robot, ends: Mapping[str, Any], rates: Mapping[str, Any]) -> dict[str, Array]:
    values = {}
    for name, value in ends.items():
        q = numbers(value, name, (robot.nq,))
        values[name] = checked_configuration(q, robot.layout, name)
    for name, value in rates.items():
        given = numbers(value, name)
        values[name] = numbers(np.full(robot.nu, given) if given.ndim == 0 else given, name,
                               (robot.nu,))  # fmt: skip
        for entry in robot.layout:
            if entry.spherical and values[name][entry.u].any():
                raise InputError(f"{name} of {entry.name} must be zero: it turns about one axis")
    return values


_SHORTEST = 1e-9
"""Smallest duration [s] of a segment, which avoids division by zero."""


class Quintic(Declared, _ToGoal, SourceBlock):
    """Joint motion from one position to another by a polynomial of fifth order in time.

    The motion begins at T and ends at T + duration, with zero acceleration at both. Before and
    after, the position is constant, or continues with the rate given for that end. With a robot, a
    spherical joint rotates from its quaternion in q0 to that in qf about one axis, the shorter way;
    it rests at both ends.

    Source: B. Siciliano et al., "Robotics: Modelling, Planning and Control" (2009), sec.
    4.2.1; `jtraj` of P. Corke's Robotics Toolbox.

    :arg q0: initial position
    :arg qf: final position
    :arg duration: duration of the motion
    :arg T: start time, defaults to 0
    :arg rate0: rate at the start, defaults to 0
    :arg ratef: rate at the end, defaults to 0
    :arg robot: the robot of the joints, needed if some are spherical
    """

    gives = MOTION
    q0 = tunable("float or n", "rad, m")
    qf = tunable("float or n", "rad, m")
    duration = tunable("float", "s", above=0)
    T = tunable("float", "s", 0.0)
    rate0 = tunable("float or n", "rad/s, m/s", 0.0)
    ratef = tunable("float or n", "rad/s, m/s", 0.0)
    robot = fixed("Robot", "", None)

    def build(self, q0: Any, qf: Any, rate0: Any, ratef: Any, robot: Any) -> dict[str, Any]:
        shape = self._take(q0, qf, robot, {"rate0": rate0, "ratef": ratef})
        return self.resolve_ports(n=shape, shapes={"q": self.q0.shape})

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        D = self.duration
        way, v0, vf = self._way(), self.rate0 * D, self.ratef * D
        y = (t - self.T) / D
        moved, rate, acceleration = quintic(np.clip(y, 0.0, 1.0), way, v0, vf)
        beyond = v0 * np.minimum(y, 0.0) + vf * np.maximum(y - 1, 0.0)
        q = self._reached(self._origin() + moved + beyond)
        return [q, rate / D, acceleration / (D * D)]

    def edges(self) -> list[tuple[Any, Any]]:
        return [(self.T, 0.0), (self.T + self.duration, 0.0)]


class Trapezoid(Declared, _ToGoal, SourceBlock):
    """Joint motion at constant acceleration, constant rate and constant braking.

    All joints accelerate, cruise and brake together, along a straight line from q0 to qf, as fast
    as all limits allow: the slowest joint, in rate or in acceleration, moves at its limit. A short
    motion that does not reach the limit of rate has no cruise phase. Give velocity and
    acceleration, or duration and blend. With a robot, a spherical joint rotates from its quaternion
    in q0 to that in qf about one axis, the shorter way.

    Source: K. Lynch and F. Park, "Modern Robotics" (2017), sec. 9.2.2.2; B. Siciliano et
    al., "Robotics: Modelling, Planning and Control" (2009), sec. 4.2.1; `lspb` of P. Corke's
    Robotics Toolbox.

    :arg q0: initial position
    :arg qf: final position
    :arg velocity: limit of the rate
    :arg acceleration: limit of the acceleration
    :arg duration: duration of the motion, instead of the limits
    :arg blend: fraction of the duration for acceleration, and as much for braking; up to 0.5,
        defaults to a third
    :arg T: start time, defaults to 0
    :arg robot: the robot of the joints, needed if some are spherical
    """

    gives = MOTION
    q0 = tunable("float or n", "rad, m")
    qf = tunable("float or n", "rad, m")
    velocity = tunable("float or n", "rad/s, m/s", None)
    acceleration = tunable("float or n", "rad/s^2, m/s^2", None)
    duration = tunable("float", "s", None)
    blend = tunable("float", "", None)
    T = tunable("float", "s", 0.0)
    robot = fixed("Robot", "", None)

    def build(
        self, q0: Any, qf: Any, velocity: Any, acceleration: Any, duration: Any, blend: Any,
        robot: Any,
    ) -> dict[str, Any]:  # fmt: skip
        shape = self._take(q0, qf, robot, {})
        limits = {"velocity": velocity, "acceleration": acceleration}
        given = [name for name, value in limits.items() if value is not None]
        if duration is None and len(given) < 2:
            raise ValueError("TRAPEZOID needs velocity and acceleration, or duration")
        if duration is not None and given:
            raise ValueError(f"give duration or {given[0]}, not both")
        if duration is None and blend is not None:
            raise ValueError("blend is a part of the duration; give duration with it")
        self.velocity = None
        self.acceleration = None
        self.duration = None
        self.blend = None
        if duration is None:
            self.velocity = limit_of(velocity, "velocity", shape)
            self.acceleration = limit_of(acceleration, "acceleration", shape)
        else:
            self.duration = positive_number(duration, "duration", "s")
            self.blend = (
                1 / 3 if blend is None else positive_number(blend, "blend", "of the duration")
            )
            if self.blend > 0.5:
                raise ValueError(f"blend is {self.blend:g}; it is at most 0.5 of the duration")
        return self.resolve_ports(n=shape, shapes={"q": self.q0.shape})

    def marks(self) -> tuple[Any, Any, Any, Any]:
        """The times at which the motion starts, cruises, brakes and ends [s]."""
        if self.duration is not None:
            rise, end = self.blend * self.duration, self.duration
        else:
            way = np.ravel(np.abs(self._way()))
            # The smallest time at the rate limit, and the square of that at the acceleration limit.
            at_rate = np.max(way / np.ravel(self.velocity))
            squared = np.max(way / np.ravel(self.acceleration))
            level = np.maximum(np.maximum(at_rate, np.sqrt(squared)), _SHORTEST)
            rise = np.maximum(squared / level, _SHORTEST)
            end = level + rise
        return self.T, self.T + rise, self.T + (end - rise), self.T + end

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        s, rate, acceleration = trapezoid(t, self.marks())
        way = self._way()
        return [self._reached(self._origin() + way * s), way * rate, way * acceleration]

    def edges(self) -> list[tuple[Any, Any]]:
        return [(mark, 0.0) for mark in self.marks()]


class Via_Points(Declared, SourceBlock):
    """Joint motion through points, with continuous acceleration.

    Methods:

    - ``clamped``: the cubic spline that starts and ends at rest (the default)
    - ``natural``: the cubic spline with zero acceleration, and some rate, at both ends
    - ``quintic``: polynomials of fifth order with zero acceleration at the points; rates there are
      those given, or the mean of the slopes on both sides, and zero where a joint reverses

    Quaternions are not supported. Before the first time and after the last the position is held.
    Without times, they follow from the limits velocity and acceleration (the latter is optional):
    each segment takes as long as its slowest joint needs at its velocity, and all segments are
    stretched by the same factor until the largest rate and acceleration of the whole motion meet
    the limits.

    Source: B. Siciliano et al., "Robotics: Modelling, Planning and Control" (2009), sec.
    4.2.2; C. de Boor, "A Practical Guide to Splines" (1978), chapter IV; `mstraj` of P.
    Corke's Robotics Toolbox.

    :arg points: one row for each point
    :arg times: time at each point
    :arg velocity: limit of the rate, if no times are given
    :arg acceleration: limit of the acceleration, if no times are given
    :arg method: clamped, natural or quintic, defaults to clamped
    :arg rates: rate at each point, for the method quintic
    :arg T: start time, if no times are given, defaults to 0
    """

    nin = 0
    nout = 3
    gives = MOTION
    points = fixed("m or m, n", "rad, m")
    times = fixed("m", "s", None)
    velocity = fixed("float or n", "rad/s, m/s", None)
    acceleration = fixed("float or n", "rad/s^2, m/s^2", None)
    method = fixed("str", "", "clamped", choices=("clamped", "natural", "quintic"))
    rates = fixed("m or m, n", "rad/s, m/s", None)
    T = fixed("float", "s", 0.0)

    def build(
        self, points: Any, times: Any, velocity: Any, acceleration: Any, method: Any, rates: Any,
        T: Any,
    ) -> dict[str, Any]:  # fmt: skip
        via = numbers(points, "points")
        if via.ndim not in (1, 2) or len(via) < 2 or via.size == 0:
            raise ValueError(f"points has shape {via.shape}; it takes two or more rows")
        if rates is not None and method != "quintic":
            raise ValueError(f"rates are for the method quintic, not for {method}")
        given = None if rates is None else numbers(rates, "rates", via.shape)
        if times is None:
            self.times = times_within(via, velocity, acceleration, method, given, T)
        elif velocity is not None or acceleration is not None or T:
            raise ValueError("give times, or velocity, acceleration and T")
        else:
            self.times = increasing(times, "times", len(via))
        self.pieces = through(self.times, via, method, given).held(self.times[-1])
        return self.resolve_ports(n=via.shape[1:])

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return self.pieces.at(t, derivatives=2)

    def edges(self) -> list[tuple[Any, Any]]:
        return [(float(t), 0.0) for t in self.times]


def through(times: Array, points: Array, method: str, rates: Array | None) -> PiecewisePolynomial:
    """The segments of a motion through points, by a method of VIA_POINTS."""
    if method == "quintic":
        return quintic_pieces(
            times, points, passing_rates(times, points) if rates is None else rates
        )
    return cubic_spline(times, points, method)


def times_within(
    points: Array, velocity: Any, acceleration: Any, method: str, rates: Array | None, T: float
) -> Array:
    """The times (m,) [s] at the points for a motion within the limits."""
    if velocity is None:
        raise ValueError("VIA_POINTS needs times, or a limit: velocity")
    if rates is not None:
        raise ValueError("rates at the points need times")
    shape = points.shape[1:]
    fastest = limit_of(velocity, "velocity", shape)
    ways = (np.abs(np.diff(points, axis=0)) / fastest).reshape(len(points) - 1, -1).max(axis=1)
    if not ways.all():
        k = int(np.flatnonzero(ways == 0)[0])
        raise ValueError(f"points {k} and {k + 1} are the same; give times to wait there")
    times = np.concatenate([[0.0], np.cumsum(ways)])
    rate, bend = _largest(through(times, points, method, None), times)
    stretch = float(np.max(rate / fastest))
    if acceleration is not None:
        most = limit_of(acceleration, "acceleration", shape)
        stretch = max(stretch, float(np.sqrt(np.max(bend / most))))
    return T + stretch * times


def _largest(pieces: PiecewisePolynomial, times: Array) -> tuple[Array, Array]:
    """The largest rate and acceleration of each joint: at the ends of segments, or where the next
    derivative is zero within one.
    """
    largest = []
    for order in (1, 2):
        found = [np.zeros(pieces.coefficients.shape[2:])]
        for start, end, piece in zip(times[:-1], times[1:], pieces.coefficients, strict=True):
            flat = piece.reshape(len(piece), -1)
            peaks = [_peak(np.polynomial.Polynomial(c).deriv(order), end - start) for c in flat.T]
            found.append(np.reshape(peaks, piece.shape[1:]))
        largest.append(np.max(found, axis=0))
    return largest[0], largest[1]


def _peak(polynomial: Any, width: float) -> float:
    """The largest magnitude of a polynomial between 0 and width."""
    roots = polynomial.deriv().roots()
    inside = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 0) & (roots.real < width)]
    return float(np.abs(polynomial(np.concatenate([[0.0, width], inside]))).max())
