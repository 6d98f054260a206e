"""Control of joint positions with an integral, and compensation of loads."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock, SampledBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.gains import gain, one_length
from spart_blocks.block_support.quantities import KNOWN, need_robot, quantities
from spart_blocks.block_support.values import above_zero
from spart_blocks.dynamics import joint_equations
from spart_blocks.robot import Robot

MOST_JOINTS = 10_000
"""Largest number of joints of a controller with scalar gains; each adds to its state."""
_DERIVATIVES = ("error", "measurement")


class _Pid(Declared):
    """The law that JOINT_PID and JOINT_PID_S share: its parameters, terms and limits."""

    takes = (
        PortSpec("qd", "nu", "rad, m", "desired joint positions"),
        PortSpec("qm", "nu", "rad, m", "joint positions"),
    )
    n: int
    kp: Array
    ki: Array
    kd: Array
    N: Array
    Tt: Array

    def _take(
        self, gains: dict[str, Any], times: dict[str, Any], derivative: str, z0: Any, n: Any
    ) -> Array:
        """Check and store the parameters; returns the initial state of integral and filter."""
        given = {name: gain(value, name) for name, value in gains.items() if value is not None}
        given |= {name: above_zero(gain(value, name), name) for name, value in times.items()}
        if derivative not in _DERIVATIVES:
            raise ValueError(f"derivative is {derivative!r}; it must be 'error' or 'measurement'")
        if n is not None and (isinstance(n, bool) or not 1 <= n <= MOST_JOINTS or n % 1):
            raise ValueError(f"n must be a number of joints, 1 to {MOST_JOINTS}, not {n!r}")
        z = np.asarray(z0, dtype=float)
        if z.ndim > 1 or not np.isfinite(z).all():
            raise ValueError(f"z0 must be a finite number or a list of them, not {z0!r}")
        length = one_length({**given, "z0": z}, without=1 if n is None else int(n))
        if n is not None and length != n:
            raise ValueError(f"n is {n}, but the parameters have {length} entries")
        self.n, self.of_error = length, derivative == "error"
        for name in (*gains, *times):
            setattr(self, name, given.get(name))
        return np.concatenate([np.zeros(length), np.broadcast_to(z, length)])

    def _filtered(self, qd: Array, qm: Array) -> Array:
        """The signal that is differentiated."""
        return qd - qm if self.of_error else -qm

    def _integrand(self, e: Array, u: Array, tau: Array) -> Array:
        """The rate of the integral: zero for ki = 0, since the integral could not decrease
        again.
        """
        rate: Array = np.where(self.ki > 0.0, self.ki * e + (tau - u) / self.Tt, 0.0)
        return rate

    def _clipped(self, value: Array, limit: Array | None) -> Array:
        return value if limit is None else np.clip(value, -limit, limit)


class Joint_PID(_Pid, ContinuousBlock):
    """Proportional-integral-derivative control of joint positions, with limits.

    u = kp e + I + kd N (y - z) with e = qd - qm, z' = N (y - z), and y = e, or -qm for the
    derivative of the measurement. tau is u within limit. I' = ki e + (tau - u) / Tt, so that the
    integral does not wind up while the output is limited; I stays within integral_limit. A scalar
    applies to every joint. It does not use joint rates: if they are measured, use JOINT_PD with an
    INTEGRATOR. Joints must have one position each: for spherical ones, whose quaternions cannot be
    subtracted, use JOINT_PD with a robot.

    Source: K. Astrom and R. Murray, "Feedback Systems" (2008), sec. 10.4 and 10.5.

    :param kp: proportional gain [N m/rad, N/m]
    :type kp: float or array_like(nu)
    :param ki: integral gain [N m/(rad s), N/(m s)]
    :type ki: float or array_like(nu)
    :param kd: derivative gain [N m s/rad, N s/m]
    :type kd: float or array_like(nu)
    :param N: cut-off frequency of the derivative's filter [rad/s]
    :type N: float or array_like(nu)
    :param limit: largest magnitude of the output [N m, N]
    :type limit: float or array_like(nu), optional
    :param integral_limit: largest magnitude of the integral I [N m, N]
    :type integral_limit: float or array_like(nu), optional
    :param Tt: time constant of the anti-windup [s]
    :type Tt: float or array_like(nu)
    :param derivative: signal to differentiate, "error" or "measurement"
    :type derivative: str
    :param z0: initial state of the filter, zero; the initial y avoids a derivative kick [rad, m]
    :type z0: float or array_like(nu)
    :param n: number of joints, if all gains are scalars (1)
    :type n: int, optional
    """

    nin = 2
    nout = 1
    gives = quantities("tau")
    tunable = ("kp", "ki", "kd", "N", "limit", "integral_limit", "Tt")

    def __init__(
        self,
        kp: Any,
        ki: Any = 0.0,
        kd: Any = 0.0,
        N: Any = 100.0,
        limit: Any = None,
        integral_limit: Any = None,
        Tt: Any = 1.0,
        derivative: str = "error",
        z0: Any = 0.0,
        n: int | None = None,
        **blockargs: Any,
    ) -> None:
        gains = {"kp": kp, "ki": ki, "kd": kd, "limit": limit, "integral_limit": integral_limit}
        start = self._take(gains, {"N": N, "Tt": Tt}, derivative, z0, n)
        names = [f"{part}{k + 1}" for part in ("I", "z") for k in range(self.n)]
        super().__init__(
            nstates=2 * self.n,
            x0=start,
            snames=names,
            feedthrough=True,
            **self.resolve_ports(nu=self.n),
            **blockargs,
        )

    def _unlimited(self, inputs: list[Any], x: Array) -> Array:
        qd, qm = inputs
        integral, z = x[: self.n], x[self.n :]
        derivative = self.N * (self._filtered(qd, qm) - z)
        held = self._clipped(integral, self.integral_limit)
        u: Array = self.kp * (qd - qm) + held + self.kd * derivative
        return u

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [self._clipped(self._unlimited(inputs, x), self.limit)]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        qd, qm = inputs
        integral, z = x[: self.n], x[self.n :]
        u = self._unlimited(inputs, x)
        rate = self._integrand(qd - qm, u, self._clipped(u, self.limit))
        if self.integral_limit is not None:
            outward = np.logical_and(np.abs(integral) >= self.integral_limit, rate * integral > 0)
            rate = np.where(outward, 0.0, rate)
        return np.concatenate([rate, self.N * (self._filtered(qd, qm) - z)])

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        """Zero-crossing functions for the limits of output and integral, where the law has
        kinks.
        """
        bends: list[Any] = []
        if self.limit is not None:
            u = self._unlimited(inputs, x)
            bends += [*(u - self.limit), *(u + self.limit)]
        if self.integral_limit is not None:
            integral = x[: self.n]
            bends += [*(integral - self.integral_limit), *(integral + self.integral_limit)]
        return bends


class Joint_PID_S(_Pid, SampledBlock):
    """Proportional-integral-derivative control of joint positions, as a computer runs it.

    JOINT_PID at the ticks of a clock with the period T: the torque is computed from the samples of
    the tick, and held. The filter uses backward differences; the integral is updated after the
    output. The output is zero before the first tick.

    Source: K. Astrom and R. Murray, "Feedback Systems" (2008), sec. 10.5.

    :param clock: the clock at whose ticks it works
    :type clock: Clock
    :param kp: proportional gain [N m/rad, N/m]
    :type kp: float or array_like(nu)
    :param ki: integral gain [N m/(rad s), N/(m s)]
    :type ki: float or array_like(nu)
    :param kd: derivative gain [N m s/rad, N s/m]
    :type kd: float or array_like(nu)
    :param N: cut-off frequency of the derivative's filter [rad/s]
    :type N: float or array_like(nu)
    :param limit: largest magnitude of the output [N m, N]
    :type limit: float or array_like(nu), optional
    :param integral_limit: largest magnitude of the integral I [N m, N]
    :type integral_limit: float or array_like(nu), optional
    :param Tt: time constant of the anti-windup [s], not below the period
    :type Tt: float or array_like(nu)
    :param derivative: signal to differentiate, "error" or "measurement"
    :type derivative: str
    :param z0: initial state of the filter, zero; the initial y avoids a derivative kick [rad, m]
    :type z0: float or array_like(nu)
    :param n: number of joints, if all gains are scalars (1)
    :type n: int, optional
    """

    nin = 2
    nout = 1
    gives = quantities("tau", tau="joint torques and forces, held between ticks")
    tunable = ("kp", "ki", "kd", "N", "limit", "integral_limit", "Tt")

    def __init__(
        self,
        clock: Any,
        kp: Any,
        ki: Any = 0.0,
        kd: Any = 0.0,
        N: Any = 100.0,
        limit: Any = None,
        integral_limit: Any = None,
        Tt: Any = 1.0,
        derivative: str = "error",
        z0: Any = 0.0,
        n: int | None = None,
        **blockargs: Any,
    ) -> None:
        gains = {"kp": kp, "ki": ki, "kd": kd, "limit": limit, "integral_limit": integral_limit}
        start = self._take(gains, {"N": N, "Tt": Tt}, derivative, z0, n)
        if (self.Tt < clock.T).any():
            raise ValueError(f"Tt must not be below the period of the clock, {clock.T:.6g} s")
        super().__init__(
            clock=clock,
            ndstates=3 * self.n,
            x0=np.concatenate([start, np.zeros(self.n)]),
            **self.resolve_ports(nu=self.n),
            **blockargs,
        )
        self.T = clock.T

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [x[2 * self.n :]]

    def next(self, t: float, inputs: list[Any], x: Array) -> Array:
        qd, qm = inputs
        integral, z = x[: self.n], x[self.n : 2 * self.n]
        derivative = self.N * (self._filtered(qd, qm) - z) / (1.0 + self.N * self.T)
        u = self.kp * (qd - qm) + integral + self.kd * derivative
        tau = self._clipped(u, self.limit)
        more = self.T * self._integrand(qd - qm, u, tau)
        after = self._clipped(integral + more, self.integral_limit)
        return np.concatenate([after, z + self.T * derivative, tau])


class Gravity_Compensation(Declared, FunctionBlock):
    """Joint forces that carry known loads, such as the weight of the links.

    At rest they hold the joints: ID with zero rates for a fixed base. For a free base it is
    Floating_ID with zero rates: the base accelerates under the loads, and the joints carry the
    resulting loads. In a uniform field these are zero, since all bodies fall equally. Use a SUM to
    add it to JOINT_PD or TRANSPOSE_JACOBIAN.

    Source: M. Takegaki and S. Arimoto, "A new feedback method for dynamic control of
    manipulators", ASME J. Dynamic Systems, Measurement, and Control 103 (1981); B. Siciliano
    et al., "Robotics: Modelling, Planning and Control" (2009), sec. 8.5.1.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 5
    nout = 1
    takes = quantities("tau0? wF0? wFm? R0 qm", **KNOWN)
    gives = quantities("tau")

    def __init__(self, robot: Robot, **blockargs: Any) -> None:
        self.robot = need_robot(robot, "GRAVITY_COMPENSATION")
        super().__init__(**self.resolve_ports(robot), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        tau0, wF0, wFm, R0, qm = inputs
        rest, um = np.zeros(6), np.zeros(self.robot.nu)
        return [joint_equations(R0, rest, qm, um, tau0, wF0, wFm, self.robot).h]
