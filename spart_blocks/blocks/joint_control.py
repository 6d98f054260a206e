"""Control of joint positions with an integral, and compensation of loads."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock, SampledBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.gains import gain, one_length
from spart_blocks.block_support.parameters import ROBOT, fixed, tunable
from spart_blocks.block_support.quantities import KNOWN, quantities
from spart_blocks.block_support.values import above_zero
from spart_blocks.dynamics import joint_equations

MOST_JOINTS = 10_000
"""Largest number of joints of a controller with scalar gains; each adds to its state."""


def _time(value: Any, name: str) -> Array:
    """A time or a frequency of each joint, above zero."""
    return above_zero(gain(value, name), name)


class _Pid(Declared):
    """The law that JOINT_PID and JOINT_PID_S share: its parameters, terms and limits.

    :arg kp: proportional gain
    :arg ki: integral gain
    :arg kd: derivative gain
    :arg N: cut-off frequency of the derivative's filter
    :arg limit: largest magnitude of the output
    :arg integral_limit: largest magnitude of the integral I
    :arg Tt: time constant of the anti-windup
    :arg derivative: signal to differentiate, "error" or "measurement"
    :arg z0: initial state of the filter, zero; the initial y avoids a derivative kick
    :arg n: number of joints, if all gains are scalars (1)
    """

    takes = (
        PortSpec("qd", "nu", "rad, m", "desired joint positions"),
        PortSpec("qm", "nu", "rad, m", "joint positions"),
    )
    kp = tunable("float or nu", "N m/rad, N/m", check=gain)
    ki = tunable("float or nu", "N m/(rad s), N/(m s)", 0.0, check=gain)
    kd = tunable("float or nu", "N m s/rad, N s/m", 0.0, check=gain)
    N = tunable("float or nu", "rad/s", 100.0, check=_time)
    limit = tunable("float or nu", "N m, N", None, check=gain)
    integral_limit = tunable("float or nu", "N m, N", None, check=gain)
    Tt = tunable("float or nu", "s", 1.0, check=_time)
    derivative = fixed("str", "", "error", choices=("error", "measurement"))
    z0 = fixed("float or nu", "rad, m", 0.0)
    n = fixed("int", "", None)

    def _start(self, z0: Any, n: Any) -> Array:
        """The initial state of integral and filter, after the lengths are checked."""
        if n is not None and (isinstance(n, bool) or not 1 <= n <= MOST_JOINTS or n % 1):
            raise ValueError(f"n must be a number of joints, 1 to {MOST_JOINTS}, not {n!r}")
        found = {name: value for name in self.tunable if (value := getattr(self, name)) is not None}
        length = one_length({**found, "z0": np.asarray(z0)}, without=1 if n is None else int(n))
        if n is not None and length != n:
            raise ValueError(f"n is {n}, but the parameters have {length} entries")
        self.n, self.of_error = length, self.derivative == "error"
        return np.concatenate([np.zeros(length), np.broadcast_to(z0, length)])

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
    """

    nin = 2
    nout = 1
    gives = quantities("tau")

    def build(self, z0: Any, n: Any) -> dict[str, Any]:
        start = self._start(z0, n)
        names = [f"{part}{k + 1}" for part in ("I", "z") for k in range(self.n)]
        return {
            "x0": start,
            "snames": names,
            "feedthrough": True,
            **self.resolve_ports(nu=self.n),
        }

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

    :arg Tt: time constant of the anti-windup, not below the period
    """

    nin = 2
    nout = 1
    gives = quantities("tau", tau="joint torques and forces, held between ticks")
    Tt = tunable("float or nu", "s", 1.0, check=_time)

    def build(self, z0: Any, n: Any) -> dict[str, Any]:
        start = self._start(z0, n)
        if (self.Tt < self.T).any():
            raise ValueError(f"Tt must not be below the period of the clock, {self.T:.6g} s")
        return {
            "x0": np.concatenate([start, np.zeros(self.n)]),
            **self.resolve_ports(nu=self.n),
        }

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
    """

    nin = 5
    nout = 1
    takes = quantities("tau0? wF0? wFm? R0 qm", **KNOWN)
    gives = quantities("tau")
    robot = ROBOT

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        tau0, wF0, wFm, R0, qm = inputs
        rest, um = np.zeros(6), np.zeros(self.robot.nu)
        return [joint_equations(R0, rest, qm, um, tau0, wF0, wFm, self.robot).h]
