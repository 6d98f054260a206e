"""A clutch between two inertias, and the torque that it transmits."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.friction import DryFriction
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.formulas.crossings import bare, flat

_TORQUES = (
    PortSpec("tau1", "float or n", "N m", "torque on the first inertia, without the clutch"),
    PortSpec("tau2", "float or n", "N m", "torque on the second, likewise", optional=True),
    PortSpec("normal", "float or n", "", "force that presses the plates together"),
)
_STATE = (
    PortSpec("w1", "float or n", "rad/s", "speed of the first inertia"),
    PortSpec("w2", "float or n", "rad/s", "speed of the second"),
    PortSpec("mode", "float or n", "", "1 or -1: it slips with w1 above or below w2, 0: locked"),
)


class _Plates(Declared, DryFriction):
    """Two inertias, and the friction between them.

    :arg inertia1: J1
    :arg inertia2: J2
    :arg coulomb: friction torque when slipping, for each unit of normal
    :arg static: largest torque when locked, no less than coulomb, which it is by default; likewise
    :arg stribeck: slip at which friction falls from static to coulomb
    :arg viscous: viscous drag between both, also when open
    :arg exponent: how sharply friction falls: 2 as a Gaussian, 1 as an exponential
    """

    inertia1 = tunable("float or n", "kg m^2", above=0)
    inertia2 = tunable("float or n", "kg m^2", above=0)
    coulomb = tunable("float or n", "N m", least=0)
    static = tunable("float or n", "", None, least=0)
    stribeck = tunable("float or n", "rad/s", 0.01, above=0)
    viscous = tunable("float or n", "N m s/rad", 0.0, least=0)
    exponent = fixed("float", "", 2.0, above=0)

    def _locked(self, tau1: Any, tau2: Any) -> Any:
        """The torque that keeps both at one speed."""
        return (self.inertia2 * tau1 - self.inertia1 * tau2) / (self.inertia1 + self.inertia2)


class Clutch(_Plates, ContinuousBlock):
    """A clutch between two inertias that slips or is locked, for each entry of the torques.

    Slipping at s = w1 - w2, J1 w1' = tau1 - T and J2 w2' = tau2 + T with T = sign(s) normal F(s) +
    viscous s and F(s) = coulomb + (static - coulomb) exp(-abs(s / stribeck)^exponent). It locks
    where s becomes 0, and both have one speed, (J1 + J2) w' = tau1 + tau2, until that would take
    more than normal static: the size of T = (J2 tau1 - J1 tau2) / (J1 + J2). A normal force below 0
    counts as 0: the clutch is open.

    Whether it slips or is locked is a state; a step ends where it changes. At a fixed rate, in
    exported C and in real time, it locks at the end of the step in which s passes 0, at the speed
    that keeps J1 w1 + J2 w2. Nothing feeds through. A brake is FRICTION_MASS with `pressed`.

    Source: M. Otter, H. Elmqvist and S. E. Mattsson, "Hybrid modeling in Modelica based on the
    synchronous data flow principle", CACSD (1999); Modelica.Mechanics.Rotational.Components.Clutch
    between two of Inertia, with its peak = static / coulomb.

    :arg w10: initial w1; it is locked at the start if w20 is the same
    :arg w20: initial w2
    :arg width: length of the torques, if all other parameters are scalars; by default they are
        scalars then
    """

    nin = 3
    nout = 3
    takes = _TORQUES
    gives = _STATE
    w10 = fixed("float or n", "rad/s", 0.0)
    w20 = fixed("float or n", "rad/s", 0.0)
    width = fixed("int", "", None)
    companion: ClassVar[str] = "CLUTCH_TORQUE"
    companion_outputs: tuple[str, ...] = ("torque",)

    def build(self, w10: Any, w20: Any, width: Any) -> dict[str, Any]:
        shape = self.shared_shape(width, w10=w10, w20=w20)
        self._check_friction()
        parts = [w10, w20, np.sign(np.subtract(w10, w20))]
        begin = np.concatenate([np.broadcast_to(part, shape or (1,)) for part in parts])
        return {"x0": begin, **self.resolve_ports(n=shape)}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        parts = self._parts(x)
        return parts if self.in_ports[0].shape else [part[0] for part in parts]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        w1, w2, mode = self._parts(x)
        tau1, tau2, normal = self._given(inputs, w1)
        passes = self._resists(w1 - w2, mode, normal)
        slips = np.abs(mode) > 0.5
        together = (tau1 + tau2) / (self.inertia1 + self.inertia2)
        return np.concatenate([
            np.where(slips, (tau1 - passes) / self.inertia1, together),
            np.where(slips, (tau2 + passes) / self.inertia2, together),
            np.zeros(len(w1)),
        ])  # fmt: skip

    @property
    def watched_kinds(self) -> tuple[str, ...]:
        """The kinds of the first values of `watch`, as in Crossing."""
        clutches: int = self.nstates // 3
        return ("mode",) * clutches

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        """Above zero where the slip has ended, and where the plates break loose; then normal."""
        w1, w2, mode = self._parts(x)
        tau1, tau2, normal = self._given(inputs, w1)
        return flat(self._unfit(self._locked(tau1, tau2), w1 - w2, mode, normal), normal)

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        w1, w2, mode = self._parts(x)
        tau1, tau2, normal = self._given(inputs, w1)
        meet = mode * (w1 - w2) <= 0
        both = (self.inertia1 * w1 + self.inertia2 * w2) / (self.inertia1 + self.inertia2)
        after = np.where(meet, self._mode_at_rest(self._locked(tau1, tau2), normal), mode)
        return np.concatenate([np.where(meet, both, w1), np.where(meet, both, w2), after])

    def restart(self, x: Array) -> Any:
        w1, w2, _ = self._parts(x)
        return np.concatenate([w1, w2, np.sign(w1 - w2)])

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x: locked, or slipping."""
        w1, w2, _ = self._parts(x + rng.normal(scale=spread, size=len(x)))
        w2 = np.where(rng.integers(2, size=len(w1)), w2, w1)
        return np.concatenate([w1, w2, np.sign(w1 - w2)])

    def make_companion(self, **blockargs: Any) -> Clutch_Torque:
        """The companion block with the torque that it transmits."""
        shape = self.in_ports[0].shape
        width = shape[0] if shape else None
        law = {name: getattr(self, name) for name in (*self.tunable, "exponent")}
        return Clutch_Torque(**law, width=width, **blockargs)

    def _given(self, inputs: list[Any], w: Any) -> list[Any]:
        return [np.reshape(one, (len(w),)) for one in inputs]

    def _parts(self, x: Array) -> list[Any]:
        n = len(x) // 3
        return [x[k : k + n] for k in range(0, len(x), n)]


class Clutch_Torque(_Plates, FunctionBlock):
    """The torque that a CLUTCH transmits, from its first inertia to its second.

    Wire it to the inputs and outputs of a CLUTCH with the same parameters.

    :arg width: length of the torques, if all other parameters are scalars
    """

    nin = 6
    nout = 1
    takes = (*_TORQUES, *_STATE)
    gives = (PortSpec("torque", "float or n", "N m", "torque on the second inertia"),)
    width = fixed("int", "", None)

    def build(self, width: Any) -> dict[str, Any]:
        shape = self.shared_shape(width)
        self._check_friction()
        return self.resolve_ports(n=shape)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        tau1, tau2, normal, w1, w2, mode = inputs
        slips = np.abs(mode) > 0.5
        passes = self._resists(w1 - w2, mode, normal)
        torque = np.where(slips, passes, self._locked(tau1, tau2))
        return [torque if self.in_ports[0].shape else bare(torque)]
