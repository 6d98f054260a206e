"""Magnetic torquers, and the unloading of stored momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import Array, cross
from spart_blocks.block_support.axes import directions_of, positive_each
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.values import not_negative, number, numbers, positive_number
from spart_blocks.formulas.crossings import flat

_NO_FIELD = 1e-30
"""[T^2] A field without strength gives no dipole."""
_H = PortSpec("h", "3", "N m s", "momentum of the wheels, base axes")


class Magnetorquers(Declared, FunctionBlock):
    """Magnetic torquers on the base: the torque m x B of their dipoles in the field B.

    The dipole m = sum a d + residual, with the commands d within the limits along the axes a. The
    residual dipole is that of the spacecraft itself. A step ends where a limit begins or ends.

    Source: J. Wertz (ed.), "Spacecraft Attitude Determination and Control" (1978), sec. 6.7 and
    17.2.

    :param axes: of the torquers in base axes, of any length; x, y and z by default
    :type axes: array_like(n,3), optional
    :param limit: largest dipole of each [A m^2], none by default
    :type limit: float or array_like(n), optional
    :param residual: dipole of the spacecraft, base axes [A m^2]
    :type residual: array_like(3), optional
    """

    nin = 3
    nout = 2
    takes = (
        PortSpec("dipole", "n", "A m^2", "commands to the torquers"),
        PortSpec("field", "3", "T", "magnetic field, inertial axes"),
        *quantities("R0"),
    )
    gives = (
        *quantities("tau0", tau0="torque on the base, base axes, and no force"),
        PortSpec("m", "3", "A m^2", "dipole of all, base axes"),
    )
    tunable = ("limit", "residual")

    def __init__(
        self, axes: Any = None, limit: Any = None, residual: Any = None, **blockargs: Any
    ) -> None:
        self._axes = np.eye(3) if axes is None else directions_of(axes, "axes")
        n = len(self._axes)
        self.limit = None if limit is None else positive_each(limit, "limit", n)
        self.residual = np.zeros(3) if residual is None else numbers(residual, "residual", (3,))
        super().__init__(**self.resolve_ports(n=n), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        dipole, field, R0 = inputs
        if self.limit is not None:
            dipole = np.clip(dipole, -self.limit, self.limit)
        m = dipole @ self._axes + self.residual
        return [np.concatenate([cross(m, R0.T @ field), np.zeros(3)]), m]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        if self.limit is None:
            return []
        return flat(inputs[0] - self.limit, inputs[0] + self.limit)


class Magnetic_Unloading(Declared, FunctionBlock):
    """The dipole that unloads stored momentum: the cross-product law.

    m = - k B x (h - hd) / |B|^2 gives the torque - k (h - hd) across the field, and none along it;
    along an orbit, where the field turns, h approaches hd. Without a field the dipole is zero.

    Source: J. Wertz (ed.), "Spacecraft Attitude Determination and Control" (1978), sec. 19.3; M.
    Sidi, "Spacecraft Dynamics and Control" (1997), sec. 7.5.

    :param gain: k [1/s]
    :type gain: float
    :param wanted: hd, momentum that is kept, base axes [N m s]
    :type wanted: array_like(3), optional
    """

    nin = 2
    nout = 1
    takes = (_H, PortSpec("field", "3", "T", "magnetic field, base axes, as a sensor measures it"))
    gives = (PortSpec("dipole", "3", "A m^2", "wanted dipole, base axes"),)
    tunable = ("gain", "wanted")

    def __init__(self, gain: float, wanted: Any = None, **blockargs: Any) -> None:
        self.gain = positive_number(gain, "gain")
        self.wanted = np.zeros(3) if wanted is None else numbers(wanted, "wanted", (3,))
        super().__init__(**self.resolve_ports(), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        h, field = inputs
        strength = np.sum(field * field) + _NO_FIELD
        return [-self.gain * cross(field, h - self.wanted) / strength]


class Thruster_Unloading(Declared, ContinuousBlock):
    """The torque for thrusters that unloads stored momentum, in one go.

    It begins where |h| exceeds `on`, and ends where |h| falls below `off`; meanwhile the torque is
    `torque` against the direction of h. The attitude's control lets the wheels give the opposite
    torque, and so slow down. A step ends at both times.

    Source: M. Sidi, "Spacecraft Dynamics and Control" (1997), sec. 7.5.

    :param on: |h| at which it begins [N m s]
    :type on: float
    :param off: |h| at which it ends, below `on` [N m s]
    :type off: float
    :param torque: its torque [N m]
    :type torque: float
    """

    nin = 1
    nout = 1
    takes = (_H,)
    gives = quantities("tau0", tau0="wanted torque, base axes, and no force")
    tunable = ("on", "off", "torque")

    def __init__(self, on: float, off: float, torque: float, **blockargs: Any) -> None:
        self.on = positive_number(on, "on", "N m s")
        self.off = float(not_negative(number(off, "off"), "off"))
        if self.off >= self.on:
            hint = "without a gap it would switch without end"
            raise InputError(Fault(f"off must be below on, not {self.off:g}", hint=hint))
        self.torque = positive_number(torque, "torque", "N m")
        given = {**self.resolve_ports(), "feedthrough": True}
        super().__init__(nstates=1, x0=[0.0], **given, **blockargs)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        along = inputs[0] / np.sqrt(np.sum(inputs[0] * inputs[0]) + _NO_FIELD)
        torque = np.where(x[0] > 0.5, -self.torque, 0.0) * along
        return [np.concatenate([torque, np.zeros(3)])]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        return np.zeros(1)

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        stored = np.sqrt(np.sum(inputs[0] * inputs[0]) + _NO_FIELD)
        return flat(np.where(x[0] > 0.5, self.off - stored, stored - self.on))

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        stored = np.sqrt(np.sum(inputs[0] * inputs[0]))
        ends, begins = (np.where(test, 1.0, 0.0) for test in (stored < self.off, stored > self.on))
        return np.where(x > 0.5, 1.0 - ends, begins)

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """Random modes."""
        return rng.choice([0.0, 1.0], len(x))
