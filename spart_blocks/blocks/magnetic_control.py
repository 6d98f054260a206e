"""Magnetic torquers, and the unloading of stored momentum."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import Array, cross
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.values import directions_of
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

    :arg axes: of the torquers in base axes, of any length; x, y and z by default
    :arg limit: largest dipole of each, none by default
    :arg residual: dipole of the spacecraft, base axes
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
    axes = fixed("n, 3", "", None, check=directions_of)
    limit = tunable("float or n", "A m^2", None, above=0)
    residual = tunable("3", "A m^2", None)

    def build(self, axes: Any, residual: Any) -> dict[str, Any]:
        self._axes = np.eye(3) if axes is None else axes
        self.residual = np.zeros(3) if residual is None else residual
        return self.resolve_ports(n=len(self._axes))

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

    :arg gain: k
    :arg wanted: hd, momentum that is kept, base axes
    """

    nin = 2
    nout = 1
    takes = (_H, PortSpec("field", "3", "T", "magnetic field, base axes, as a sensor measures it"))
    gives = (PortSpec("dipole", "3", "A m^2", "wanted dipole, base axes"),)
    gain = tunable("float", "1/s", above=0)
    wanted = tunable("3", "N m s", None)

    def build(self, wanted: Any) -> dict[str, Any]:
        self.wanted = np.zeros(3) if wanted is None else wanted
        return self.resolve_ports()

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

    :arg on: |h| at which it begins
    :arg off: |h| at which it ends, below `on`
    :arg torque: its torque
    """

    nin = 1
    nout = 1
    takes = (_H,)
    gives = quantities("tau0", tau0="wanted torque, base axes, and no force")
    on = tunable("float", "N m s", above=0)
    off = tunable("float", "N m s", least=0)
    torque = tunable("float", "N m", above=0)

    def build(self) -> dict[str, Any]:
        if self.off >= self.on:
            hint = "without a gap it would switch without end"
            raise InputError(Fault(f"off must be below on, not {self.off:g}", hint=hint))
        return {"x0": [0.0], **self.resolve_ports(), "feedthrough": True}

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
