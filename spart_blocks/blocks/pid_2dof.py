"""PID controllers of two degrees of freedom: they weigh the reference; in time and on a clock."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.ports import Shape
from spart_blocks.block_support.values import in_order
from spart_blocks.formulas.crossings import flat

_ANTI_WINDUP = ("none", "back-calculation", "clamping")


class _Pid2Dof(Declared):
    """The law that PID_2DOF and PID_2DOF_S share: its parameters, terms and limits.

    :arg P: proportional gain
    :arg I: integral gain
    :arg D: derivative gain
    :arg N: cut-off frequency of the derivative's filter
    :arg b: weight of the reference in the proportional term
    :arg c: weight of the reference in the derivative
    :arg lower: smallest output
    :arg upper: largest output
    :arg anti_windup: none, back-calculation or clamping
    :arg Kb: gain against windup; by default 1, and 100 with clamping
    :arg Kt: gain of the tracking
    :arg tracking: whether it has the input tr
    :arg i0: initial integral
    :arg z0: initial state of the filter; the initial c r - y avoids a derivative kick
    :arg width: length of the signals, if all parameters are scalars; by default they are scalars
    """

    nin = 3
    nout = 1

    takes = (
        PortSpec("r", "float or n", "", "reference"),
        PortSpec("y", "float or n", "", "measurement, in the unit of r"),
        PortSpec("tr", "float or n", "", "what acts on the plant; with `tracking: true` only"),
    )
    P = tunable("float or n", "", 1.0)
    I = tunable("float or n", "1/s", 0.0)
    D = tunable("float or n", "s", 0.0)
    N = tunable("float or n", "rad/s", 100.0, above=0)
    b = tunable("float or n", "", 1.0)
    c = tunable("float or n", "", 0.0)
    lower = tunable("float or n", "", None)
    upper = tunable("float or n", "", None)
    anti_windup = fixed("str", "", "back-calculation", choices=_ANTI_WINDUP)
    Kb = tunable("float or n", "1/s", None, least=0)
    Kt = tunable("float or n", "1/s", 1.0, least=0)
    tracking = fixed("bool", "", False)
    i0 = fixed("float or n", "", 0.0)
    z0 = fixed("float or n", "", 0.0)
    width = fixed("int", "", None)

    def _start(self, i0: Any, z0: Any, width: Any) -> Array:
        """The initial state of integral and filter, after the limits are checked."""
        in_order(self.lower, self.upper, ("lower", "upper"))
        self.port_shape: Shape = self.shared_shape(width, i0=i0, z0=z0)
        size = self.port_shape or (1,)
        return np.concatenate([np.broadcast_to(value, size) for value in (i0, z0)])

    def _ports(self) -> dict[str, Any]:
        given = self.resolve_ports(n=self.port_shape, without="" if self.tracking else "tr")
        return {**given, "feedthrough": True}

    def _parts(self, inputs: list[Any], x: Array) -> tuple[Any, ...]:
        """r, y, the integral, and the input of the derivative's filter less its state (n,)."""
        n = len(x) // 2
        r, y = (np.reshape(value, (n,)) for value in inputs[:2])
        return r, y, x[:n], self.c * r - y - x[n:]

    def _slope(self, apart: Any) -> Any:
        """The filtered derivative."""
        return self.N * apart

    def _unlimited(self, inputs: list[Any], x: Array) -> Any:
        r, y, integral, apart = self._parts(inputs, x)
        return self.P * (self.b * r - y) + integral + self.D * self._slope(apart)

    def _limited(self, u: Any) -> Any:
        u = u if self.upper is None else np.minimum(u, self.upper)
        return u if self.lower is None else np.maximum(u, self.lower)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        u = self._limited(self._unlimited(inputs, x))
        return [u if self.port_shape else u[0]]

    def _tracked(self, inputs: list[Any], limited: Any) -> Any:
        if not self.tracking:
            return 0.0
        return self.Kt * (np.reshape(inputs[2], np.shape(limited)) - limited)

    def _integrates(self, rate: Any) -> Any:
        """The rate, but 0 without an integral, whose value could not change again."""
        return np.where(np.not_equal(self.I, 0.0), rate, 0.0)


class Pid_2Dof(_Pid2Dof, ContinuousBlock):
    """A PID controller of two degrees of freedom, with limits and anti-windup, for each signal.

    v = P (b r - y) + i + D N (c r - y - z) with z' = N (c r - y - z), a filtered derivative. u is v
    within lower and upper, and i' = I (r - y) + a + Kt (tr - u). Against windup, a is Kb (u - v)
    with ``back-calculation``, and with ``clamping`` the same, but no more than stops the integral:
    it never turns it round. With `tracking`, v follows tr where that differs from u (bumpless
    transfer): tr is what acts on the plant, be it of this controller or of a person. The inputs
    feed through, so take tr from behind an actuator with a state, or a UNIT_DELAY. With I = 0 the
    integral keeps its initial value.

    Source: K. J. Astrom and T. Hagglund, "Advanced PID Control" (2006), ch. 3; K. Astrom and R.
    Murray, "Feedback Systems" (2008), sec. 10.4 and 10.5.
    """

    gives = (PortSpec("u", "float or n", "", "the controller's output"),)

    def build(self, i0: Any, z0: Any, width: Any) -> dict[str, Any]:
        if self.Kb is None:
            self.Kb = 100.0 if self.anti_windup == "clamping" else 1.0
        start = self._start(i0, z0, width)
        return {"x0": start, **self._ports()}

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        r, y, _, apart = self._parts(inputs, x)
        v = self._unlimited(inputs, x)
        u, wanted = self._limited(v), self.I * (r - y)
        rate = wanted + self._back(v, u, wanted) + self._tracked(inputs, u)
        return np.concatenate([self._integrates(rate), self._slope(apart)])

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        r, y, *_ = self._parts(inputs, x)
        v, wanted = self._unlimited(inputs, x), self.I * (r - y)
        limits = [limit for limit in (self.lower, self.upper) if limit is not None]
        bends = [v - limit for limit in limits]
        if self.anti_windup == "clamping" and limits:
            beyond = v - self._limited(v)
            limited = np.not_equal(beyond, 0.0)
            bends += [np.where(limited, bend, -1.0) for bend in (self.Kb * beyond - wanted, wanted)]
        return flat(*bends)

    def _back(self, v: Any, u: Any, wanted: Any) -> Any:
        """What is added to the integral's rate against windup."""
        if self.anti_windup == "none":
            return 0.0
        back = self.Kb * (u - v)
        if self.anti_windup == "back-calculation":
            return back
        return np.minimum(np.maximum(back, -np.maximum(wanted, 0.0)), -np.minimum(wanted, 0.0))


class Pid_2Dof_S(_Pid2Dof, SampledBlock):
    """A PID controller of two degrees of freedom, limits and anti-windup, at the ticks of a clock.

    PID_2DOF with the period T: u is computed from the samples of a tick, and held. Its filter uses
    backward differences, z becomes z + T d with d = N (c r - y - z) / (1 + N T); the integral
    becomes i + T i' after the output. With ``clamping`` it stays where v is beyond a limit and the
    error would drive it further. The inputs feed through.

    Source: K. J. Astrom and T. Hagglund, "Advanced PID Control" (2006), ch. 3; K. Astrom and R.
    Murray, "Feedback Systems" (2008), sec. 10.4 and 10.5.

    :arg Kb: gain of the back-calculation, at most 1/T
    :arg Kt: gain of the tracking, at most 1/T
    """

    gives = (PortSpec("u", "float or n", "", "the controller's output, held between ticks"),)
    Kb = tunable("float or n", "1/s", 1.0, least=0)
    Kt = tunable("float or n", "1/s", 1.0, least=0)

    def build(self, i0: Any, z0: Any, width: Any) -> dict[str, Any]:
        start = self._start(i0, z0, width)
        used = {"Kb": self.anti_windup == "back-calculation", "Kt": self.tracking}
        for name in (name for name, does in used.items() if does):
            if np.any(np.asarray(getattr(self, name)) * self.T > 1.0 + 1e-12):
                text = f"{name} must be at most {1 / self.T:.6g} 1/s, one over the clock's period"
                raise InputError(Fault(text, hint="the integral would overshoot what it follows"))
        return {"x0": start, **self._ports()}

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        r, y, integral, apart = self._parts(inputs, x)
        v = self._unlimited(inputs, x)
        u, wanted = self._limited(v), self.I * (r - y)
        if self.anti_windup == "clamping":
            wanted = np.where((v - u) * wanted > 0, 0.0, wanted)
        elif self.anti_windup == "back-calculation":
            wanted = wanted + self.Kb * (u - v)
        rate = self._integrates(wanted + self._tracked(inputs, u))
        filtered = x[len(integral) :] + self.T * self._slope(apart)
        return np.concatenate([integral + self.T * rate, filtered])

    def _slope(self, apart: Any) -> Any:
        return self.N * apart / (1.0 + self.N * self.T)
