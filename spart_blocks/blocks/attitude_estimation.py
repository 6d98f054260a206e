"""Estimators of attitude: the multiplicative Kalman filter, and complementary filters.

Rotations R map body to inertial axes. A gyro measures omega + bias in body axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base import spatial
from spart_blocks.base.errors import InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.channels import Channels
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.estimation import (
    corrected,
    covariance,
    covariance_near,
    packed,
    unpacked,
    where,
)
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.values import numbers

_TINY = 1e-30
_GIVES = (
    PortSpec("R", "3, 3", "", "rotation, body to inertial"),
    PortSpec("omega_hat", "3", "rad/s", "angular rate in body axes, without the bias"),
    PortSpec("bias", "3", "rad/s", "bias of the gyro"),
)


def _unit(v: Any) -> Any:
    """A vector of length 1; zeros for zeros."""
    return v / np.sqrt(np.sum(v * v) + _TINY)


class Mekf_S(Declared, SampledBlock):
    """The multiplicative extended Kalman filter of attitude and gyro bias at the ticks of a clock.

    Its state is a unit quaternion, the bias, and the covariance of the errors of both: of the
    rotation vector from the estimate to the truth in body axes [rad], and of the bias [rad/s]. At a
    tick it is corrected by a quaternion (of a star tracker) if `valid` is above zero, and by a
    vector known in inertial axes (of the sun, or the magnetic field) unless `body` is zero; then
    the outputs are taken; then the gyro moves the attitude to the next tick. The sign of q does not
    matter, nor the lengths of the vectors.

    Source: E. J. Lefferts, F. L. Markley and M. D. Shuster, "Kalman Filtering for Spacecraft
    Attitude Estimation", J. Guidance 5 (1982); F. L. Markley and J. L. Crassidis, "Fundamentals of
    Spacecraft Attitude Determination and Control" (2014), sec. 6.2.

    :arg gyro_noise: density of the noise of the gyro
    :arg bias_noise: density of the random walk of its bias
    :arg q_noise: standard deviation of the measured quaternion about the body axes
    :arg vector_noise: standard deviation of the direction of the measured vector
    :arg P0: covariance of the initial errors of attitude [rad^2] and bias [rad^2/s^2]: a number, 6
        numbers or a matrix
    :arg q0: initial quaternion, scalar last
    :arg bias0: initial bias
    """

    nin = 5
    nout = 4
    takes = (
        PortSpec("omega", "3", "rad/s", "measured by the gyro, in body axes"),
        PortSpec("q", "4", "", "measured quaternion, scalar last"),
        PortSpec("valid", "", "", "above zero: q is a measurement"),
        PortSpec("body", "3", "", "measured vector in body axes", optional=True),
        PortSpec("reference", "3", "", "the same vector in inertial axes", optional=True),
    )
    gives = (*_GIVES, PortSpec("variance", "6", "rad^2", "of the errors of attitude and bias"))
    gyro_noise = tunable("float", "rad/s^0.5", least=0)
    bias_noise = tunable("float", "rad/s^1.5", least=0)
    q_noise = tunable("float or 3", "rad", 1e-4, above=0)
    vector_noise = tunable("float", "rad", 1e-2, above=0)
    P0 = fixed("float or 6, 6", "", 0.01)
    q0 = fixed("4", "", (0.0, 0.0, 0.0, 1.0), check=spatial.unit_quaternion)
    bias0 = fixed("3", "rad/s", (0.0, 0.0, 0.0))

    def build(self, P0: Any, q0: Any, bias0: Any) -> dict[str, Any]:
        self.q_noise = np.broadcast_to(self.q_noise, (3,)).copy()
        start = np.concatenate([q0, bias0, packed(covariance(P0, "P0", 6))])
        return {"x0": start, "feedthrough": True, **self.resolve_ports()}

    def _corrected(self, inputs: list[Any], x: Any) -> tuple[Any, Any, Any]:
        """Attitude, bias and covariance with the measurements of the tick."""
        _, measured, valid, body, reference = inputs
        q, bias, P = x[:4], x[4:7], unpacked(x[7:], 6)
        # A quaternion of zeros, where there is none, would not have a length.
        trusted = np.where(valid > 0.0, measured, q)
        turn = spatial.turn_of_quaternion(
            spatial.quaternion_product(spatial.conjugate(q), spatial.normalised(trusted))
        )
        found = _turned(q, bias, P, turn, np.eye(3, 6), np.diag(self.q_noise**2))
        q, bias, P = where(valid > 0.0, found, (q, bias, P))
        seen = spatial.quaternion_rotation(q).T @ _unit(reference)
        C = np.concatenate([spatial.skew(seen), np.zeros((3, 3))], axis=1)
        noise = self.vector_noise**2 * np.eye(3)
        found = _turned(q, bias, P, _unit(body) - seen, C, noise)
        q, bias, P = where(np.sum(body * body) > 0.0, found, (q, bias, P))
        return q, bias, P

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        q, bias, P = self._corrected(inputs, x)
        return [spatial.quaternion_rotation(q), inputs[0] - bias, bias, np.diagonal(P)]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        q, bias, P = self._corrected(inputs, x)
        omega, T = inputs[0] - bias, self.T
        q = spatial.quaternion_product(q, spatial.quaternion_of_turn(omega * T))
        Phi = _transition(omega, T)
        P = Phi @ P @ Phi.T + self._noise(T)
        return np.concatenate([spatial.normalised(q), bias, packed(P)])

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x: a unit quaternion, the bias, a positive definite covariance."""
        near = _turned_nearby(x[:7], spread, rng)
        return np.concatenate([near, packed(covariance_near(unpacked(x[7:], 6), spread, rng))])

    def _noise(self, T: float) -> Any:
        """The covariance that noise adds between ticks; the rate turns it by a small angle only.

        Source: Markley and Crassidis (2014), eq. 6.93.
        """
        v, u, one = self.gyro_noise**2, self.bias_noise**2, np.eye(3)
        cross = -u * T**2 / 2 * one
        above = np.concatenate([(v * T + u * T**3 / 3) * one, cross], axis=1)
        return np.concatenate([above, np.concatenate([cross, u * T * one], axis=1)])


def _turned_nearby(x: Array, spread: float, rng: np.random.Generator) -> Array:
    """A random state near one that begins with a unit quaternion."""
    near = x + rng.normal(scale=spread, size=len(x))
    return np.concatenate([spatial.normalised(near[:4]), near[4:]])


def _turned(q: Any, bias: Any, P: Any, e: Any, C: Any, R: Any) -> tuple[Any, Any, Any]:
    """Attitude, bias and covariance after a measurement with the innovation e."""
    found, P = corrected(np.zeros(6), P, e, C, R)
    q = spatial.quaternion_product(q, spatial.quaternion_of_turn(found[:3]))
    return spatial.normalised(q), bias + found[3:], P


def _transition(omega: Any, T: float) -> Any:
    """How the errors of attitude and bias move from tick to tick (6, 6), at a constant rate.

    Source: Markley and Crassidis (2014), sec. 6.2.4.
    """
    K = spatial.skew(omega * T)
    angle = np.sqrt(np.sum(omega * omega) * T**2 + 1e-12)  # at rest the limits, to 1e-12
    sine, cosine = np.sin(angle) / angle, 0.5 * (np.sin(angle / 2) / (angle / 2)) ** 2
    turned = np.eye(3) - sine * K + cosine * K @ K
    drifted = (cosine * K - np.eye(3) - (angle - np.sin(angle)) / angle**3 * K @ K) * T
    below = np.concatenate([np.zeros((3, 3)), np.eye(3)], axis=1)
    return np.concatenate([np.concatenate([turned, drifted], axis=1), below])


# --- complementary filters ----------------------------------------------------------------------


class _Mahony(Declared):
    """What MAHONY_FILTER and MAHONY_FILTER_S share.

    :arg references: the directions of v1 and v2 in inertial axes; v2 may be left out
    :arg kp: gain of the attitude
    :arg ki: gain of the bias
    :arg weights: weights of the vectors
    :arg q0: initial quaternion, scalar last
    :arg bias0: initial bias
    """

    nin = 3
    nout = 3

    takes = (
        PortSpec("omega", "3", "rad/s", "measured by the gyro, in body axes"),
        PortSpec("v1", "3", "", "first measured vector, in body axes"),
        PortSpec("v2", "3", "", "second one", optional=True),
    )
    gives = _GIVES
    references = fixed("k, 3")
    kp = tunable("float", "1/s", 1.0, above=0)
    ki = tunable("float", "1/s^2", 0.3, least=0)
    weights = tunable("float or k", "", 1.0, above=0)
    q0 = fixed("4", "", (0.0, 0.0, 0.0, 1.0), check=spatial.unit_quaternion)
    bias0 = fixed("3", "rad/s", (0.0, 0.0, 0.0))

    def build(self, references: Any, q0: Any, bias0: Any) -> dict[str, Any]:
        rows = np.atleast_2d(numbers(references, "references"))
        if rows.shape not in ((1, 3), (2, 3)) or not rows.any(axis=1).all():
            raise InputError("references takes one or two rows of 3 numbers, not all zero")
        self.references = rows / np.linalg.norm(rows, axis=1)[:, None]
        self.weights = np.broadcast_to(self.weights, (len(rows),)).copy()
        start = np.concatenate([q0, bias0])
        return {"x0": start, "feedthrough": True, **self.resolve_ports()}

    def _rates(self, inputs: list[Any], q: Any, bias: Any) -> tuple[Any, Any]:
        """The rate of the attitude in body axes, and of the bias."""
        back = spatial.quaternion_rotation(q).T
        error = np.zeros(3)
        for weight, reference, v in zip(self.weights, self.references, inputs[1:], strict=False):
            error = error + weight * spatial.cross(_unit(v), back @ reference)
        return inputs[0] - bias + self.kp * error, -self.ki * error

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.quaternion_rotation(spatial.normalised(x[:4])), inputs[0] - x[4:], x[4:]]


class Mahony_Filter(_Mahony, ContinuousBlock):
    """The explicit complementary filter on rotations, with the bias of the gyro.

    R^' = R^ skew(omega - bias + kp e), bias' = -ki e with e = sum of w_i v_i x (R^' r_i) over one
    or two vectors v_i, measured in body axes, of known directions r_i in inertial axes: gravity
    and magnetic field, or Sun and Earth. One vector leaves the turn about it to the gyro. The
    lengths of vectors do not matter; a vector of zeros is no measurement. omega feeds through to
    omega_hat.

    Source: R. Mahony, T. Hamel and J.-M. Pflimlin, "Nonlinear Complementary Filters on the Special
    Orthogonal Group", IEEE Trans. Automatic Control 53 (2008), eq. 32.
    """

    def deriv(self, t: float, inputs: list[Any], x: Any) -> Any:
        q = spatial.normalised(x[:4])
        turning, drifting = self._rates(inputs, q, x[4:])
        return np.concatenate([spatial.quaternion_rate(x[:4], turning, 1.0), drifting])

    def project(self, x: Any) -> Any:
        return np.concatenate([spatial.normalised(x[:4]), x[4:]])


class Mahony_Filter_S(_Mahony, SampledBlock):
    """The explicit complementary filter on rotations at the ticks of a clock.

    As MAHONY_FILTER; between ticks the rate of the attitude is constant, and the step exact. The
    outputs at a tick are the predictions from the ticks before, but for omega, and held.

    Source: R. Mahony, T. Hamel and J.-M. Pflimlin, "Nonlinear Complementary Filters on the Special
    Orthogonal Group", IEEE Trans. Automatic Control 53 (2008), eq. 32.
    """

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        turning, drifting = self._rates(inputs, x[:4], x[4:])
        q = spatial.quaternion_product(x[:4], spatial.quaternion_of_turn(turning * self.T))
        return np.concatenate([spatial.normalised(q), x[4:] + drifting * self.T])

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x: a unit quaternion and the bias."""
        return _turned_nearby(x, spread, rng)


class _Complementary(Channels):
    """What COMPLEMENTARY_FILTER and COMPLEMENTARY_FILTER_S share.

    :arg tau: time constant
    :arg y0: initial value
    :arg width: length of the signals; by default they are scalars, or as long as tau or y0
    """

    nin = 2
    nout = 1

    takes = (
        PortSpec("rate", "float or n", "", "measured rate, good at high frequencies"),
        PortSpec("value", "float or n", "", "measured value, good at low frequencies"),
    )
    gives = (PortSpec("y", "float or n", "", "their value together"),)
    tau = tunable("float or n", "s", above=0)
    y0 = fixed("float or n", "", 0.0)
    width = fixed("int", "", None)

    def build(self, y0: Any, width: Any) -> dict[str, Any]:
        return self.begin(width, y0=y0)


class Complementary_Filter(_Complementary, ContinuousBlock):
    """The complementary filter of a rate and a value, for each entry.

    y' = rate + (value - y) / tau: above the frequency 1/tau y is the integral of the rate, of a
    gyro, below it the value, of an inclinometer. An offset d of the rate leaves y off by tau d.

    Source: W. T. Higgins, "A Comparison of Complementary and Kalman Filtering", IEEE Trans.
    Aerospace and Electronic Systems 11 (1975).
    """

    def deriv(self, t: float, inputs: list[Any], x: Any) -> Any:
        rate, value = map(self._each, inputs)
        return rate + (value - x) / self.tau


class Complementary_Filter_S(_Complementary, SampledBlock):
    """The complementary filter of a rate and a value at the ticks of a clock, for each entry.

    y(k) = a (y(k-1) + T rate(k)) + (1 - a) value(k) with a = tau / (tau + T), held between ticks.
    The inputs feed through.

    Source: W. T. Higgins, "A Comparison of Complementary and Kalman Filtering", IEEE Trans.
    Aerospace and Electronic Systems 11 (1975), with the rate integrated by Euler's implicit method.

    :arg y0: value before the first tick
    """

    def build(self, y0: Any, width: Any) -> dict[str, Any]:
        return {"feedthrough": True, **super().build(y0, width)}

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self._signal(self.next(t, inputs, x))]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        rate, value = map(self._each, inputs)
        kept = self.tau / (self.tau + self.T)
        return kept * (x + self.T * rate) + (1 - kept) * value
