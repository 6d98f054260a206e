"""A mass on a surface with dry friction."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock

from spart_blocks.blocks._declared import Declared, PortSpec
from spart_blocks.blocks._values import (
    common_shape,
    counted,
    in_order,
    not_negative,
    positive,
    scalar_or_vector,
)
from spart_blocks.formulas.crossings import flat
from spart_blocks.spatial import Array


class Friction_Mass(Declared, ContinuousBlock):
    """A mass that a force moves against friction, and that sticks, for each entry of the force.

    Sliding, mass v' = f - sign(v) F(v) - viscous v with F(v) = coulomb + (static - coulomb)
    exp(-(v / stribeck)^2). At rest it sticks, v is exactly 0, until the size of f exceeds static.
    Whether it slides or sticks is a state; a step ends where it changes. At a fixed rate, in
    exported C and in real time, it sticks at the end of the step in which v passes 0. Nothing feeds
    through. In radians it is an inertia with friction in its bearing.

    Source: B. Armstrong-Helouvry, P. Dupont and C. Canudas de Wit, "A survey of models, analysis
    tools and compensation methods for the control of machines with friction", Automatica 30 (1994)
    1083; Modelica.Mechanics.Translational.Components.MassWithStopAndFriction.

    :param mass: mass [kg]
    :type mass: float or array_like(n)
    :param coulomb: friction when sliding [N]
    :type coulomb: float or array_like(n)
    :param static: largest friction at rest [N], no less than coulomb, which it is by default
    :type static: float or array_like(n), optional
    :param stribeck: speed at which friction falls from static to coulomb [m/s]
    :type stribeck: float or array_like(n)
    :param viscous: viscous friction [N s/m]
    :type viscous: float or array_like(n)
    :param x0: initial position [m]
    :type x0: float or array_like(n)
    :param v0: initial velocity [m/s]
    :type v0: float or array_like(n)
    :param width: length of f, if all other parameters are scalars; by default f is a scalar then
    :type width: int, optional
    """

    nin = 1
    nout = 3
    takes = (PortSpec("f", "float or n", "N", "force on the mass, without friction"),)
    gives = (
        PortSpec("x", "float or n", "m", "position"),
        PortSpec("v", "float or n", "m/s", "velocity"),
        PortSpec(
            "mode", "float or n", "", "1 or -1: it slides forwards or backwards, 0: it sticks"
        ),
    )
    tunable = ("mass", "coulomb", "static", "stribeck", "viscous")

    def __init__(
        self, mass: Any, coulomb: Any, static: Any = None, stribeck: Any = 0.01,
        viscous: Any = 0.0, x0: Any = 0.0, v0: Any = 0.0, width: int | None = None,
        **blockargs: Any,
    ) -> None:  # fmt: skip
        self.mass, self.stribeck = positive(mass, "mass"), positive(stribeck, "stribeck")
        self.coulomb = not_negative(coulomb, "coulomb")
        self.static = self.coulomb if static is None else not_negative(static, "static")
        self.viscous = not_negative(viscous, "viscous")
        given = {name: getattr(self, name) for name in self.tunable}
        start = {"x0": scalar_or_vector(x0, "x0"), "v0": scalar_or_vector(v0, "v0")}
        wide = {} if width is None else {"width": np.zeros(counted(width, "width", 10_000))}
        shape = common_shape(**given, **start, **wide)
        in_order(self.coulomb, self.static, ("coulomb", "static"))
        parts = [start["x0"], start["v0"], np.sign(start["v0"])]
        begin = np.concatenate([np.broadcast_to(part, shape or (1,)) for part in parts])
        super().__init__(nstates=begin.size, x0=begin, **self.resolve_ports(n=shape), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        parts = self._parts(x)
        return parts if self.in_ports[0].shape else [part[0] for part in parts]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        _, v, mode = self._parts(x)
        held = self._holds()
        dry = self.coulomb + (held - self.coulomb) * np.exp(-((v / self.stribeck) ** 2))
        slides = np.abs(mode) > 0.5
        rate = (self._force(inputs, v) - mode * dry - self.viscous * v) / self.mass
        return np.concatenate([
            np.where(slides, v, 0.0), np.where(slides, rate, 0.0), np.zeros(len(v)),
        ])  # fmt: skip

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        """Above zero where a sliding mass has come to rest, and a sticking one breaks away."""
        _, v, mode = self._parts(x)
        breaks = np.abs(self._force(inputs, v)) - self._holds()
        return flat(np.where(np.abs(mode) > 0.5, -mode * v, breaks))

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        position, v, mode = self._parts(x)
        force = self._force(inputs, v)
        rests = mode * v <= 0
        breaks = np.where(np.abs(force) > self._holds(), np.sign(force), 0.0)
        after = np.where(rests, breaks, mode)
        return np.concatenate([position, np.where(rests, 0.0, v), after])

    def restart(self, x: Array) -> Any:
        position, v, _ = self._parts(x)
        return np.concatenate([position, v, np.sign(v)])

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x: it sticks at rest, or slides."""
        position, v, _ = self._parts(x + rng.normal(scale=spread, size=len(x)))
        v = v * rng.integers(2, size=len(v))
        return np.concatenate([position, v, np.sign(v)])

    def _holds(self) -> Any:
        """The largest friction at rest; tuned parameters may be in the wrong order."""
        return np.maximum(self.static, self.coulomb)

    def _force(self, inputs: list[Any], v: Any) -> Any:
        return np.reshape(inputs[0], (len(v),))

    def _parts(self, x: Array) -> list[Any]:
        n = len(x) // 3
        return [x[k : k + n] for k in range(0, len(x), n)]
