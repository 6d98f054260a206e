"""Orbits of a point mass about the Earth, and Keplerian elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import MU, fixed, tunable
from spart_blocks.block_support.space import POSITION, VELOCITY
from spart_blocks.block_support.values import number, numbers
from spart_blocks.environment.gravity import central_acceleration
from spart_blocks.environment.kepler import elements_of_state, state_of_elements, true_anomaly

_ELEMENTS = (
    PortSpec("a", "", "m", "semi-major axis"),
    PortSpec("e", "", "", "eccentricity"),
    PortSpec("i", "", "rad", "inclination"),
    PortSpec("raan", "", "rad", "right ascension of the ascending node"),
    PortSpec("argp", "", "rad", "argument of perigee"),
    PortSpec("nu", "", "rad", "true anomaly"),
)


class Orbit(Declared, ContinuousBlock):
    """The orbit of a point mass: r'' = -mu r / |r|^3 + a + f / mass.

    The central attraction is part of the block; zonal terms and other bodies come as a, drag and
    the pressure of light as f. Its state is [r, v].

    Source: Vallado (2013), eq. 8-1, Cowell's formulation.

    :arg initial: r [m] and v [m/s] in ECI; or the elements a [m], negative for a hyperbola, e, and,
        0 by default, i, raan, argp [rad] and nu, the true anomaly, or M, the mean one of an ellipse
    :arg mass: mass that f acts on
    """

    nin = 2
    nout = 2
    takes = (
        PortSpec("a", "3", "m/s^2", "perturbing acceleration, ECI", optional=True),
        PortSpec("f", "3", "N", "perturbing force, ECI", optional=True),
    )
    gives = (POSITION, VELOCITY)
    initial = fixed(
        "mapping", entries={"r": "m", "v": "m/s", "M": "rad", **{e.name: e.unit for e in _ELEMENTS}}
    )
    mu = MU
    mass = tunable("float", "kg", 1.0, above=0)

    def build(self, initial: Any) -> dict[str, Any]:
        x0 = _start(initial, self.mu)
        names = ["rx", "ry", "rz", "vx", "vy", "vz"]
        return {"x0": x0, "snames": names, **self.resolve_ports()}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [x[:3], x[3:]]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        a, f = inputs
        return np.concatenate([x[3:], central_acceleration(x[:3], self.mu) + a + f / self.mass])


def _start(initial: Any, mu: float) -> Array:
    """The state (6,) of what a user gives as `initial`."""
    if not isinstance(initial, dict):
        raise InputError(
            f"initial must have r and v, or elements from a, e on, not {brief(initial)}"
        )
    cartesian = set(initial) <= {"r", "v"}
    for key in initial:
        if not cartesian and key not in (*_KEYS, "M"):
            fault = f"initial has no entry {brief(key)}"
            raise InputError(Fault(fault, hint=did_you_mean(str(key), (*_KEYS, "M", "r", "v"))))
    for needed in ("r", "v") if cartesian else ("a", "e"):
        if needed not in initial:
            raise InputError(f"initial needs {needed}")
    if cartesian:
        r, v = (numbers(initial[key], f"initial.{key}", (3,)) for key in ("r", "v"))
        if not np.any(r):
            raise InputError("initial.r is the Earth's centre")
        return np.concatenate([r, v])
    return np.concatenate(state_of_elements(*_elements(initial), mu))


_KEYS = tuple(spec.name for spec in _ELEMENTS)


def _elements(initial: dict[str, Any]) -> tuple[float, float, float, float, float, float]:
    given = {key: number(value, f"initial.{key}") for key, value in initial.items()}
    a, e = given["a"], given["e"]
    if e < 0 or a * (1 - e) <= 0 or e == 1:
        fault = f"initial: a = {a:g} m and e = {e:g} are no orbit"
        raise InputError(Fault(fault, hint="an ellipse has a > 0, e < 1; a hyperbola a < 0, e > 1"))
    if "M" in given:
        if "nu" in given or e > 1:
            raise InputError("initial: M is the mean anomaly of an ellipse, in the place of nu")
        given["nu"] = true_anomaly(given["M"], e)
    elif e > 1 and 1 + e * np.cos(given.get("nu", 0.0)) <= 0:
        raise InputError("initial.nu is beyond the asymptote of the hyperbola")
    i, raan, argp, nu = (given.get(key, 0.0) for key in _KEYS[2:])
    return a, e, i, raan, argp, nu


class Orbital_Elements(Declared, FunctionBlock):
    """The Keplerian elements of a position and a velocity.

    raan, argp and nu are from 0 to one turn; a step ends where one of them jumps or passes half a
    turn. On a circular orbit argp is 0 and nu counts from the node; on an equatorial one raan is 0
    and argp counts from x.

    Source: Vallado (2013), algorithm 9.
    """

    nin = 2
    nout = 6
    takes = (POSITION, VELOCITY)
    gives = _ELEMENTS
    mu = MU

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        r, v = inputs
        return list(elements_of_state(r, v, self.mu))

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        r, v = inputs
        angles = elements_of_state(r, v, self.mu)[3:]
        return [np.sin(angle) for angle in angles]


class Elements_Orbit(Declared, FunctionBlock):
    """The position and the velocity of Keplerian elements; a is negative for a hyperbola, e is not
    1.

    Source: Vallado (2013), algorithm 10.
    """

    nin = 6
    nout = 2
    takes = _ELEMENTS
    gives = (POSITION, VELOCITY)
    mu = MU

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        a, e, i, raan, argp, nu = inputs
        return list(state_of_elements(a, e, i, raan, argp, nu, self.mu))
