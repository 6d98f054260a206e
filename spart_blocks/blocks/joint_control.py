"""Control of joint positions, with and without a model, and limits of efforts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock, SampledBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import ROBOT, fixed, tunable
from spart_blocks.block_support.quantities import KNOWN, quantities
from spart_blocks.block_support.values import above_zero, common_shape, gain, one_length
from spart_blocks.dynamics import (
    accelerations,
    diff_kinematics,
    floating_inverse_dynamics,
    generalized_inertia,
    inertias,
    inverse_dynamics,
    joint_equations,
    kinematics,
    mass_composite_body,
    stop_forces,
    velocities,
)
from spart_blocks.dynamics.joint_effects import driven_forces, joint_effects
from spart_blocks.formulas.crossings import flat

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

    nin = 2
    nout = 1

    takes = (
        PortSpec("qd", "nu", "rad, m", "desired joint positions"),
        PortSpec("qm", "nu", "rad, m", "joint positions"),
    )
    kp = tunable("float or nu", "N m/rad, N/m", check=gain, least=0)
    ki = tunable("float or nu", "N m/(rad s), N/(m s)", 0.0, check=gain, least=0)
    kd = tunable("float or nu", "N m s/rad, N s/m", 0.0, check=gain, least=0)
    N = tunable("float or nu", "rad/s", 100.0, check=_time, above=0)
    limit = tunable("float or nu", "N m, N", None, check=gain, least=0)
    integral_limit = tunable("float or nu", "N m, N", None, check=gain, least=0)
    Tt = tunable("float or nu", "s", 1.0, check=_time, above=0)
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
    """Proportional-integral-derivative control of joint positions, with limits and anti-windup.

    u = kp e + I + kd N (y - z) with e = qd - qm, z' = N (y - z), and y = e, or -qm for the
    derivative of the measurement. tau is u within limit. I' = ki e + (tau - u) / Tt, so that the
    integral does not wind up while the output is limited; I stays within integral_limit. A scalar
    applies to every joint. It does not use joint rates: if they are measured, use JOINT_PD with an
    INTEGRATOR. Joints must have one position each: for spherical ones, whose quaternions cannot be
    subtracted, use JOINT_PD with a robot.

    Source: K. Astrom and R. Murray, "Feedback Systems" (2008), sec. 10.4 and 10.5.
    """

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

    gives = quantities("tau", tau="joint torques and forces, held between ticks")
    Tt = tunable("float or nu", "s", 1.0, check=_time, above=0)

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


class Joint_PD(Declared, FunctionBlock):
    """Proportional-derivative control of joint positions.

    tau = kp (qd - qm) + kd (ud - um). A scalar gain applies to every joint. A robot is needed if
    joints are spherical: then qd - qm contains the rotation from their quaternion in qm to that in
    qd, as a rotation vector in the axes of um.

    :arg kp: proportional gain
    :arg kd: derivative gain
    :arg robot: the robot of the joints
    """

    nin = 4
    nout = 1
    takes = quantities("qd ud? qm um")
    gives = quantities("tau")
    kp = tunable("float or nu", "N m/rad, N/m", least=0)
    kd = tunable("float or nu", "N m s/rad, N s/m", least=0)
    robot = fixed("Robot", "", None)

    def build(self) -> dict[str, Any]:
        if self.robot is not None:
            return self.resolve_ports(self.robot)
        shape = common_shape(kp=self.kp, kd=self.kd) or None
        return self.resolve_ports(nu=shape, nq=shape)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qd, ud, qm, um = inputs
        error = qd - qm if self.robot is None else self.robot.difference(qm, qd)
        return [self.kp * error + self.kd * (ud - um)]


class Computed_Torque(Declared, FunctionBlock):
    """Computed-torque control: inverse dynamics of a corrected joint acceleration.

    The joints get the acceleration ad + kd (ud - um) + kp (qd - qm), through ID for a fixed base
    and Floating_ID for a free one, so that the error obeys e'' + kd e' + kp e = 0 for an exact
    model. For a spherical joint qd - qm is the rotation from the quaternion in qm to that in qd, in
    the axes of um; it obeys this law if it is small or about one axis. Motors and friction of the
    robot are included. Coulomb friction is compensated by the sign of um, so it is not compensated
    for a joint at rest, which sticks until the rest of tau breaks it away. Stops are not
    compensated: they hold the joint against the controller.

    Source: B. Siciliano et al., "Robotics: Modelling, Planning and Control" (2009),
    sec. 8.5.2; SPART's manual for ID and Floating_ID.

    :arg kp: proportional gain
    :arg kd: derivative gain
    """

    nin = 10
    nout = 1
    takes = quantities(
        "qd ud? ad? wF0? wFm? R0 r0 qm u0 um",
        **KNOWN,
    )
    gives = quantities("tau")
    robot = ROBOT
    kp = tunable("float or nu", "1/s^2", least=0)
    kd = tunable("float or nu", "1/s", least=0)

    def build(self) -> dict[str, Any]:
        optional = "" if self.robot.base == "floating" else "u0"
        return self.resolve_ports(self.robot, optional=optional)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        qd, ud, ad, wF0, wFm, R0, r0, qm, u0, um = inputs
        robot = self.robot
        umdot = ad + self.kd * (ud - um) + self.kp * robot.difference(qm, qd)
        K = kinematics(R0, r0, qm, robot)
        D = diff_kinematics(R0, r0, K.rL, K.e, K.g, robot)
        V = velocities(*D, u0, um, robot)
        I = inertias(R0, K.RL, robot)
        if robot.base == "floating":
            bodies = mass_composite_body(*I, D.Bij, D.Bi0, robot)
            H0 = generalized_inertia(*bodies, *D, robot).H0
            answer = floating_inverse_dynamics(
                wF0, wFm, bodies.Mm_tilde, H0, *V, D.P0, D.pm, *I, D.Bij, D.Bi0, u0, um, umdot,
                robot, qm,
            )  # fmt: skip
            return [answer.taum + stop_forces(qm, um, robot)]
        A = accelerations(*V, D.P0, D.pm, D.Bi0, D.Bij, u0, um, np.zeros(6), umdot, robot)
        forces = inverse_dynamics(wF0, wFm, *V, *A, D.P0, D.pm, *I, D.Bij, D.Bi0, robot, qm)
        return [forces.taum + stop_forces(qm, um, robot)]


class Effort_Limit(Declared, FunctionBlock):
    """Joint forces limited to the effort limits. tau = min(max(taum, -E), E), where E is the effort
    limit of each joint; joints without a limit are not limited. It gives the result of the effect
    ``limits`` on a plant's taum as a signal, and works whether or not the robot has that effect.
    """

    nin = 1
    nout = 1
    takes = quantities("taum")
    gives = (replace(quantities("taum")[0], name="tau"),)
    robot = ROBOT

    def build(self, robot: Any) -> dict[str, Any]:
        self.robot = robot.with_effects((*robot.effects, "limits"))
        effort = joint_effects(self.robot).effort
        self._bounded = np.flatnonzero(np.isfinite(effort))
        self._effort = effort[self._bounded]
        return self.resolve_ports(robot)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [driven_forces(inputs[0], self.robot)]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        taum = inputs[0][self._bounded]
        return flat(taum - self._effort, taum + self._effort)
