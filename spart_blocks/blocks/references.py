"""References for joints: position, rate and acceleration as functions of time."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from bdsim.components import SourceBlock

from spart_blocks.base.curves.quintic import quintic
from spart_blocks.base.errors import did_you_mean
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.reference_values import (
    MOTION,
    increasing,
    limit_of,
)
from spart_blocks.block_support.scalings import trapezoid
from spart_blocks.block_support.to_goal import ToGoal
from spart_blocks.block_support.values import number, numbers, positive_number
from spart_blocks.block_support.via_points import through, times_within
from spart_blocks.robot import Robot

_SHORTEST = 1e-9
"""Smallest duration [s] of a segment, which avoids division by zero."""


class Quintic(Declared, ToGoal, SourceBlock):
    """Joint motion from one position to another by a polynomial of fifth order in time.

    The motion begins at T and ends at T + duration, with zero acceleration at both. Before and
    after, the position is constant, or continues with the rate given for that end. With a robot, a
    spherical joint rotates from its quaternion in q0 to that in qf about one axis, the shorter way;
    it rests at both ends.

    Source: B. Siciliano et al., "Robotics: Modelling, Planning and Control" (2009), sec.
    4.2.1; `jtraj` of P. Corke's Robotics Toolbox.

    :param q0: initial position [rad, m]
    :type q0: float or array_like(n)
    :param qf: final position [rad, m]
    :type qf: float or array_like(n)
    :param duration: duration of the motion [s]
    :type duration: float
    :param T: start time [s], defaults to 0
    :type T: float, optional
    :param rate0: rate at the start [rad/s, m/s], defaults to 0
    :type rate0: float or array_like(n), optional
    :param ratef: rate at the end [rad/s, m/s], defaults to 0
    :type ratef: float or array_like(n), optional
    :param robot: the robot of the joints, needed if some are spherical
    :type robot: Robot, optional
    """

    nin = 0
    nout = 3
    gives = MOTION
    tunable = ("q0", "qf", "duration", "T", "rate0", "ratef")

    def __init__(
        self,
        q0: Any,
        qf: Any,
        duration: float,
        T: float = 0.0,
        rate0: Any = 0.0,
        ratef: Any = 0.0,
        robot: Robot | None = None,
        **blockargs: Any,
    ) -> None:
        shape = self._take(q0, qf, robot, {"rate0": rate0, "ratef": ratef})
        self.duration, self.T = positive_number(duration, "duration", "s"), number(T, "T")
        super().__init__(**self.resolve_ports(n=shape, shapes={"q": self.q0.shape}), **blockargs)

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


class Trapezoid(Declared, ToGoal, SourceBlock):
    """Joint motion at constant acceleration, constant rate and constant braking.

    All joints accelerate, cruise and brake together, along a straight line from q0 to qf, as fast
    as all limits allow: the slowest joint, in rate or in acceleration, moves at its limit. A short
    motion that does not reach the limit of rate has no cruise phase. Give velocity and
    acceleration, or duration and blend. With a robot, a spherical joint rotates from its quaternion
    in q0 to that in qf about one axis, the shorter way.

    Source: K. Lynch and F. Park, "Modern Robotics" (2017), sec. 9.2.2.2; B. Siciliano et
    al., "Robotics: Modelling, Planning and Control" (2009), sec. 4.2.1; `lspb` of P. Corke's
    Robotics Toolbox.

    :param q0: initial position [rad, m]
    :type q0: float or array_like(n)
    :param qf: final position [rad, m]
    :type qf: float or array_like(n)
    :param velocity: limit of the rate [rad/s, m/s]
    :type velocity: float or array_like(n), optional
    :param acceleration: limit of the acceleration [rad/s^2, m/s^2]
    :type acceleration: float or array_like(n), optional
    :param duration: duration of the motion, instead of the limits [s]
    :type duration: float, optional
    :param blend: fraction of the duration for acceleration, and as much for braking; up to 0.5,
        defaults to a third
    :type blend: float, optional
    :param T: start time [s], defaults to 0
    :type T: float, optional
    :param robot: the robot of the joints, needed if some are spherical
    :type robot: Robot, optional
    """

    nin = 0
    nout = 3
    gives = MOTION
    tunable = ("q0", "qf", "velocity", "acceleration", "duration", "blend", "T")

    def __init__(
        self,
        q0: Any,
        qf: Any,
        velocity: Any = None,
        acceleration: Any = None,
        duration: float | None = None,
        blend: float | None = None,
        T: float = 0.0,
        robot: Robot | None = None,
        **blockargs: Any,
    ) -> None:
        shape = self._take(q0, qf, robot, {})
        self.T = number(T, "T")
        limits = {"velocity": velocity, "acceleration": acceleration}
        given = [name for name, value in limits.items() if value is not None]
        if duration is None and len(given) < 2:
            raise ValueError("TRAPEZOID needs velocity and acceleration, or duration")
        if duration is not None and given:
            raise ValueError(f"give duration or {given[0]}, not both")
        if duration is None and blend is not None:
            raise ValueError("blend is a part of the duration; give duration with it")
        self.velocity: Any = None
        self.acceleration: Any = None
        self.duration: Any = None
        self.blend: Any = None
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
        super().__init__(**self.resolve_ports(n=shape, shapes={"q": self.q0.shape}), **blockargs)

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

    :param points: one row for each point [rad, m]
    :type points: array_like(m) or array_like(m, n)
    :param times: time at each point [s]
    :type times: array_like(m), optional
    :param velocity: limit of the rate, if no times are given [rad/s, m/s]
    :type velocity: float or array_like(n), optional
    :param acceleration: limit of the acceleration, if no times are given [rad/s^2, m/s^2]
    :type acceleration: float or array_like(n), optional
    :param method: clamped, natural or quintic, defaults to clamped
    :type method: str, optional
    :param rates: rate at each point, for the method quintic [rad/s, m/s]
    :type rates: array_like(m) or array_like(m, n), optional
    :param T: start time, if no times are given [s], defaults to 0
    :type T: float, optional
    """

    nin = 0
    nout = 3
    gives = MOTION
    METHODS = ("clamped", "natural", "quintic")

    def __init__(
        self,
        points: Any,
        times: Any = None,
        velocity: Any = None,
        acceleration: Any = None,
        method: Literal["clamped", "natural", "quintic"] = "clamped",
        rates: Any = None,
        T: float = 0.0,
        **blockargs: Any,
    ) -> None:
        via = numbers(points, "points")
        if via.ndim not in (1, 2) or len(via) < 2 or via.size == 0:
            raise ValueError(f"points has shape {via.shape}; it takes two or more rows")
        if method not in self.METHODS:
            raise ValueError(f"there is no method {method!r}: {did_you_mean(method, self.METHODS)}")
        if rates is not None and method != "quintic":
            raise ValueError(f"rates are for the method quintic, not for {method}")
        given = None if rates is None else numbers(rates, "rates", via.shape)
        if times is None:
            self.times = times_within(via, velocity, acceleration, method, given, number(T, "T"))
        elif velocity is not None or acceleration is not None or T:
            raise ValueError("give times, or velocity, acceleration and T")
        else:
            self.times = increasing(times, "times", len(via))
        self.pieces = through(self.times, via, method, given).held(self.times[-1])
        super().__init__(**self.resolve_ports(n=via.shape[1:]), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return self.pieces.at(t, derivatives=2)

    def edges(self) -> list[tuple[Any, Any]]:
        return [(float(t), 0.0) for t in self.times]
