"""Linear systems: state space, transfer functions, zeros and poles; in time and at the ticks of a
clock.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.linear import (
    METHODS,
    Cascade,
    Discretised,
    Matrices,
    Polynomials,
    Rational,
    discretised,
    in_series,
    matrices,
    observer_form,
    polynomial,
    refuse_improper,
    roots,
    sections_of,
    shifted,
    state_of_size,
)
from spart_blocks.block_support.parameters import U0, fixed, tunable

_IN_Z = (*METHODS, "none")


class _StateSpace(Declared):
    """The matrices that STATE_SPACE and STATE_SPACE_S share.

    :arg A: system matrix
    :arg B: input matrix
    :arg C: output matrix
    :arg D: feedthrough matrix, zeros by default
    :arg x0: initial state
    """

    nin = 1
    nout = 1

    takes = (PortSpec("u", "float or m", "", "inputs; a number if B has one column"),)
    gives = (PortSpec("y", "float or p", "", "outputs; a number if C has one row"),)
    out_ports: Any
    A = tunable("n, n")
    B = tunable("n, m")
    C = tunable("p, n")
    D = tunable("p, m", "", None)
    x0 = fixed("float or n", "", 0.0)

    def _take(self, given: Matrices, x0: Any) -> dict[str, Any]:
        """Keep the matrices; returns the arguments of the constructor."""
        self.A, self.B, self.C, self.D = given
        n, m, p = len(given.A), given.B.shape[1], len(given.C)
        start = state_of_size(x0, n)
        self.direct = bool(given.D.any())
        shapes: dict[str, Any] = {"m": () if m == 1 else m, "p": () if p == 1 else p}
        return {"x0": start, "feedthrough": self.direct, **self.resolve_ports(**shapes)}

    def _tunable(self) -> tuple[str, ...]:
        return ("A", "B", "C", "D") if self.direct else ("A", "B", "C")

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        y = self.C @ x
        if self.direct:
            y = y + self.D @ np.reshape(inputs[0], (-1,))
        return [y if self.out_ports[0].shape else y[0]]

    def _moved(self, t: float, inputs: list[Any], x: Any) -> Any:
        return self.A @ x + self.B @ np.reshape(inputs[0], (-1,))


class State_Space(_StateSpace, ContinuousBlock):
    """A linear system. x' = A x + B u, y = C x + D u.

    A list of numbers for B is one column, for C one row. Without D nothing feeds through, and the
    block may close a loop.

    Source: K. Astrom and R. Murray, "Feedback Systems" (2008), sec. 5.3.
    """

    deriv = _StateSpace._moved

    def build(self, A: Any, B: Any, C: Any, D: Any, x0: Any) -> dict[str, Any]:
        given = self._take(matrices(A, B, C, D), x0)
        self.tunable = self._tunable()
        return given


class State_Space_S(_StateSpace, SampledBlock):
    """A linear system at the ticks of a clock. x(k+1) = A x(k) + B u(k), y(k) = C x(k) + D u(k).

    The matrices are those of a system in continuous time, as of STATE_SPACE, which is discretised:
    `zoh` is exact for inputs that are constant between ticks, `tustin` is the trapezoidal rule.
    With `none` they are those of the sampled system, and tunable. y is held between ticks.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 4.3 and 6.1;
    scipy.signal.cont2discrete.

    :arg method: zoh, tustin or none
    """

    next = _StateSpace._moved
    method = fixed("str", "", "zoh", choices=_IN_Z)
    delays = True

    def build(self, A: Any, B: Any, C: Any, D: Any, x0: Any, method: Any) -> dict[str, Any]:
        found = matrices(A, B, C, D)
        if method == "tustin":
            # SciPy's state is x - T/2 x' there.
            half = np.eye(len(found.A)) - self.T / 2 * found.A
            x0 = half @ state_of_size(x0, len(found.A))
        given = self._take(found if method == "none" else found.at(self.T, method), x0)
        self.tunable = self._tunable() if method == "none" else ()
        return given


class _Transfer(Declared):
    """The parameters of TRANSFER_FUNCTION and TRANSFER_FUNCTION_S.

    :arg num: numerator, the highest power of s first
    :arg den: denominator, the highest power of s first
    :arg u0: input before the start, under which the system is at rest then
    :arg width: length of u; by default u is a scalar, or as long as u0
    """

    nin = 1
    nout = 1

    num = tunable("float or m", check=polynomial)
    den = tunable("n", check=polynomial)
    u0 = U0
    width = fixed("int", "", None)

    def law(self) -> Polynomials:
        """The numerator and the denominator."""
        refuse_improper(len(self.num) - 1, len(self.den) - 1, "num / den")
        return self.num, self.den


class Transfer_Function(_Transfer, Rational, ContinuousBlock):
    """A transfer function of s. y = num(s) / den(s) u, for each entry of u.

    Its state is that of the observer form, whose first entry is y but for what feeds through. If
    num has a lower degree than den, nothing feeds through, and the block may close a loop. For
    matrices of transfer functions use STATE_SPACE; for high orders ZERO_POLE, which is less
    sensitive to rounding.

    Source: K. Astrom and R. Murray, "Feedback Systems" (2008), sec. 7.2 and 8.2.

    """


class Transfer_Function_S(_Transfer, Discretised, SampledBlock):
    """A transfer function at the ticks of a clock, for each entry of u.

    num and den are polynomials of s, as of TRANSFER_FUNCTION, and discretised: `zoh` is exact for
    inputs that are constant between ticks, `tustin` replaces s by 2/T (z - 1)/(z + 1). With `none`
    they are polynomials of z, and tunable. y is held between ticks.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 4.3 and 6.1;
    scipy.signal.cont2discrete.

    :arg num: numerator, the highest power first
    :arg den: denominator, the highest power first
    :arg method: zoh, tustin or none
    """

    method = fixed("str", "", "zoh", choices=_IN_Z)

    def build(self, u0: Any, width: Any, method: Any) -> dict[str, Any]:
        law = self.law()
        self.in_z = method == "none"
        self.tunable = ("num", "den") if self.in_z else ()
        each = [observer_form(*law)] if self.in_z else discretised(self.T, law, (), method)
        return self._start(each, u0, width)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        if not self.in_z:
            return super().output(t, inputs, x)
        return [self._signal(shifted(self.law(), self._rows(x), self._entries(inputs))[0])]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        if not self.in_z:
            return super().next(t, inputs, x)
        return shifted(self.law(), self._rows(x), self._entries(inputs))[1]


class _ZeroPole(Declared):
    """The parameters of ZERO_POLE and ZERO_POLE_S.

    :arg zeros: zeros; write complex ones as "-1+2j"
    :arg poles: poles, with the conjugate of each complex one
    :arg gain: the factor above, not the gain at rest
    :arg u0: input before the start, under which the system is at rest then
    :arg width: length of u; by default u is a scalar, or as long as gain and u0
    """

    nin = 1
    nout = 1

    zeros = fixed("m", "rad/s", check=roots)
    poles = fixed("n", "rad/s", check=roots)
    gain = tunable("float or n", "", 1.0)
    u0 = U0
    width = fixed("int", "", None)


class Zero_Pole(_ZeroPole, Cascade, ContinuousBlock):
    """A linear system by its zeros, poles and gain, for each entry of u.

    y = gain (s - z1)(s - z2)... / ((s - p1)(s - p2)...) u, realised as sections of second order in
    series, which rounding hardly affects. With fewer zeros than poles nothing feeds through.

    Source: K. Astrom and R. Murray, "Feedback Systems" (2008), sec. 8.2; scipy.signal.zpk2sos.

    """

    def build(self, zeros: Any, poles: Any, u0: Any, width: Any) -> dict[str, Any]:
        return self._start(_of_roots(zeros, poles, analog=True), u0, width)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self._signal(self.gain * self._y(inputs, x))]


class Zero_Pole_S(_ZeroPole, Discretised, SampledBlock):
    """A linear system by its zeros, poles and gain at the ticks of a clock, for each entry of u.

    They are those of a system in continuous time, as of ZERO_POLE, which is discretised: `zoh` is
    exact for inputs that are constant between ticks, `tustin` is the trapezoidal rule. With `none`
    they are in the plane of z. y is held between ticks.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 4.3 and 6.1;
    scipy.signal.cont2discrete.

    :arg method: zoh, tustin or none
    """

    method = fixed("str", "", "zoh", choices=_IN_Z)

    def build(self, zeros: Any, poles: Any, u0: Any, width: Any, method: Any) -> dict[str, Any]:
        in_z = method == "none"
        found = _of_roots(zeros, poles, analog=not in_z)
        return self._start([found if in_z else found.at(self.T, method)], u0, width)


def _of_roots(zeros: Array, poles: Array, analog: bool) -> Matrices:
    """The sections of a system of gain 1 in series."""
    refuse_improper(len(zeros), len(poles), "the system")
    return in_series(sections_of(zeros, poles, 1.0, analog))
