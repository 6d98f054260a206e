"""A clutch between two inertias, and the torque that it transmits."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.friction import DryFriction
from spart_blocks.block_support.values import common_shape, counted, positive, scalar_or_vector
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
_LAW = ("inertia1", "inertia2", "coulomb", "static", "stribeck", "viscous")


class _Plates(Declared, DryFriction):
    """Two inertias, and the friction between them."""

    inertia1: Any
    inertia2: Any

    def _take(
        self, inertia1: Any, inertia2: Any, coulomb: Any, static: Any, stribeck: Any,
        viscous: Any, exponent: float,
    ) -> dict[str, Any]:  # fmt: skip
        """Keep the parameters; returns those that may be vectors, by name."""
        self.inertia1 = positive(inertia1, "inertia1")
        self.inertia2 = positive(inertia2, "inertia2")
        law = self._take_friction(coulomb, static, stribeck, exponent, viscous)
        return {"inertia1": self.inertia1, "inertia2": self.inertia2, **law}

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

    :param inertia1: J1 [kg m^2]
    :type inertia1: float or array_like(n)
    :param inertia2: J2 [kg m^2]
    :type inertia2: float or array_like(n)
    :param coulomb: friction torque when slipping, for each unit of normal [N m]
    :type coulomb: float or array_like(n)
    :param static: largest torque when locked, no less than coulomb, which it is by default;
        likewise
    :type static: float or array_like(n), optional
    :param stribeck: slip at which friction falls from static to coulomb [rad/s]
    :type stribeck: float or array_like(n)
    :param viscous: viscous drag between both, also when open [N m s/rad]
    :type viscous: float or array_like(n)
    :param exponent: how sharply friction falls: 2 as a Gaussian, 1 as an exponential
    :type exponent: float
    :param w10: initial w1 [rad/s]; it is locked at the start if w20 is the same
    :type w10: float or array_like(n)
    :param w20: initial w2 [rad/s]
    :type w20: float or array_like(n)
    :param width: length of the torques, if all other parameters are scalars; by default they are
        scalars then
    :type width: int, optional
    """

    nin = 3
    nout = 3
    takes = _TORQUES
    gives = _STATE
    tunable = _LAW
    companion: ClassVar[str] = "CLUTCH_TORQUE"
    companion_outputs: tuple[str, ...] = ("torque",)

    def __init__(
        self, inertia1: Any, inertia2: Any, coulomb: Any, static: Any = None,
        stribeck: Any = 0.01, viscous: Any = 0.0, exponent: float = 2.0, w10: Any = 0.0,
        w20: Any = 0.0, width: int | None = None, **blockargs: Any,
    ) -> None:  # fmt: skip
        given = self._take(inertia1, inertia2, coulomb, static, stribeck, viscous, exponent)
        start = {"w10": scalar_or_vector(w10, "w10"), "w20": scalar_or_vector(w20, "w20")}
        wide = {} if width is None else {"width": np.zeros(counted(width, "width", 10_000))}
        shape = common_shape(**given, **start, **wide)
        self._check_friction()
        slips = np.sign(np.subtract(start["w10"], start["w20"]))
        parts = [start["w10"], start["w20"], slips]
        begin = np.concatenate([np.broadcast_to(part, shape or (1,)) for part in parts])
        super().__init__(nstates=begin.size, x0=begin, **self.resolve_ports(n=shape), **blockargs)

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
        law = {name: getattr(self, name) for name in _LAW}
        return Clutch_Torque(**law, exponent=self._exponent, width=width, **blockargs)

    def _given(self, inputs: list[Any], w: Any) -> list[Any]:
        return [np.reshape(one, (len(w),)) for one in inputs]

    def _parts(self, x: Array) -> list[Any]:
        n = len(x) // 3
        return [x[k : k + n] for k in range(0, len(x), n)]


class Clutch_Torque(_Plates, FunctionBlock):
    """The torque that a CLUTCH transmits, from its first inertia to its second.

    Wire it to the inputs and outputs of a CLUTCH with the same parameters.

    :param inertia1: J1 [kg m^2]
    :type inertia1: float or array_like(n)
    :param inertia2: J2 [kg m^2]
    :type inertia2: float or array_like(n)
    :param coulomb: friction torque when slipping, for each unit of normal [N m]
    :type coulomb: float or array_like(n)
    :param static: largest torque when locked, likewise; by default coulomb
    :type static: float or array_like(n), optional
    :param stribeck: slip at which friction falls from static to coulomb [rad/s]
    :type stribeck: float or array_like(n)
    :param viscous: viscous drag between both [N m s/rad]
    :type viscous: float or array_like(n)
    :param exponent: how sharply friction falls
    :type exponent: float
    :param width: length of the torques, if all other parameters are scalars
    :type width: int, optional
    """

    nin = 6
    nout = 1
    takes = (*_TORQUES, *_STATE)
    gives = (PortSpec("torque", "float or n", "N m", "torque on the second inertia"),)
    tunable = _LAW

    def __init__(
        self, inertia1: Any, inertia2: Any, coulomb: Any, static: Any = None,
        stribeck: Any = 0.01, viscous: Any = 0.0, exponent: float = 2.0,
        width: int | None = None, **blockargs: Any,
    ) -> None:  # fmt: skip
        given = self._take(inertia1, inertia2, coulomb, static, stribeck, viscous, exponent)
        wide = {} if width is None else {"width": np.zeros(counted(width, "width", 10_000))}
        shape = common_shape(**given, **wide)
        self._check_friction()
        super().__init__(**self.resolve_ports(n=shape), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        tau1, tau2, normal, w1, w2, mode = inputs
        slips = np.abs(mode) > 0.5
        passes = self._resists(w1 - w2, mode, normal)
        torque = np.where(slips, passes, self._locked(tau1, tau2))
        return [torque if self.in_ports[0].shape else bare(torque)]
