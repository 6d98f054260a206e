"""Filters by coefficients, averages, extremes, samples and counts, at the ticks of a clock."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.linear import MOST_STATES, Discretised, System, in_series
from spart_blocks.block_support.parameters import U0, fixed, tunable
from spart_blocks.block_support.values import in_order, number, numbers


def _whole(value: Any, name: str) -> float:
    found = number(value, name)
    if found % 1 or abs(found) > 2**53:
        raise InputError(f"{name} must be a whole number, not {brief(value)}")
    return found


def _coefficients(value: Any, name: str) -> Array:
    found = numbers(value, name)
    if found.ndim != 1 or not 1 < found.size <= MOST_STATES:
        text = f"{name} must be 2 to {MOST_STATES} numbers, not {brief(value)}"
        raise InputError(Fault(text, hint="one alone is a GAIN"))
    return found


class _Samples(System):
    """A system whose state is its last inputs.

    :arg u0: input before the first tick
    :arg width: length of u; by default u is a scalar, or as long as u0
    """

    nin = 1
    nout = 1

    u0 = U0
    width = fixed("int", "", None)

    def _of_samples(self, count: int, u0: Any, width: Any) -> dict[str, Any]:
        """The arguments of bdsim's constructor for this number of inputs, with the present one."""
        shape = self.shared_shape(width, u0=u0)
        return self._arguments(np.broadcast_to(u0, (count - 1, *(shape or (1,)))), shape, True)

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        return np.concatenate([self._entries(inputs), x[: -self._width]])


class Fir(_Samples, SampledBlock):
    """A filter with a finite impulse response, for each entry of u.

    y(k) = b0 u(k) + b1 u(k-1) + ... + bm u(k-m), held between ticks. u feeds through.
    scipy.signal.firwin designs coefficients.

    Source: A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing" (2010), sec. 6.5.

    :arg coefficients: b0 to bm
    """

    coefficients = tunable("m", check=_coefficients)

    def build(self, u0: Any, width: Any) -> dict[str, Any]:
        return self._of_samples(self.coefficients.size, u0, width)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        now = self.coefficients[0] * self._entries(inputs)
        return [self._signal(now + self.coefficients[1:] @ self._rows(x))]


class Moving_Average(_Samples, SampledBlock):
    """The mean of the last N samples, for each entry of u.

    y(k) = (u(k) + ... + u(k-N+1)) / N, held between ticks. u feeds through.

    Source: A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing" (2010), sec. 2.2.

    :arg N: number of samples, at least 2
    """

    N = fixed("int", least=2, most=MOST_STATES)

    def build(self, N: int, u0: Any, width: Any) -> dict[str, Any]:
        self.samples = N
        return self._of_samples(N, u0, width)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        total = self._entries(inputs) + np.sum(self._rows(x), axis=0)
        return [self._signal(total / self.samples)]


class Iir(Discretised, SampledBlock):
    """A filter by second-order sections in series, for each entry of u.

    A section is (b0 + b1 z^-1 + b2 z^-2) / (a0 + a1 z^-1 + a2 z^-2), as scipy.signal designs them
    with output="sos". y is held between ticks.

    Source: A. V. Oppenheim and R. W. Schafer, "Discrete-Time Signal Processing" (2010), sec. 6.3;
    scipy.signal.sosfilt.

    :arg sections: a row [b0, b1, b2, a0, a1, a2] for each section, a0 not zero
    :arg u0: input before the start, under which the filter is at rest then
    :arg width: length of u; by default u is a scalar, or as long as u0
    """

    nin = 1
    nout = 1
    sections = fixed("k, 6")
    u0 = fixed("float or n", "", 0.0)
    width = fixed("int", "", None)

    def build(self, sections: Any, u0: Any, width: Any) -> dict[str, Any]:
        rows = np.atleast_2d(numbers(sections, "sections"))
        if rows.ndim != 2 or rows.shape[1] != 6 or not 0 < 2 * len(rows) <= MOST_STATES:
            text = f"sections must be rows of six numbers, not shape {rows.shape}"
            raise InputError(Fault(text, hint='scipy.signal gives them by output="sos"'))
        if not rows[:, 3].all():
            raise InputError("a0, the fourth number of a section, must not be zero")
        return self._start([in_series(rows)], u0, width)


class _Extreme(System):
    """What CUMULATIVE_MIN and CUMULATIVE_MAX share: the state is whether there was a sample, and
    the extreme so far.

    :arg width: length of u; by default u is a scalar
    """

    nin = 2
    nout = 1

    takes = (
        PortSpec("u", "float or n", "", "any signal"),
        PortSpec("clear", "", "", "above zero at a tick: begin again", optional=True),
    )
    extreme: ClassVar[np.ufunc]
    width = fixed("int", "", None)

    def build(self, width: Any) -> dict[str, Any]:
        given = self.begin(width, extreme=0.0)
        return {**given, "x0": np.append(given["x0"], 0.0), "feedthrough": True}

    def _now(self, inputs: list[Any], x: Any) -> Any:
        u = self._entries(inputs)
        goes_on = np.logical_and(x[0] > 0.5, inputs[1] <= 0.0)
        return np.where(goes_on, self.extreme(x[1:], u), u)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self._signal(self._now(inputs, x))]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        return np.concatenate([np.ones(1), self._now(inputs, x)])


class Cumulative_Min(_Extreme, SampledBlock):
    """The smallest sample so far, of each entry of u. y is held between ticks; u feeds through."""

    extreme = np.minimum


class Cumulative_Max(_Extreme, SampledBlock):
    """The largest sample so far, of each entry of u. y is held between ticks; u feeds through."""

    extreme = np.maximum


class Sample_Hold(System, SampledBlock):
    """A sample of u, taken at the ticks at which a trigger has risen above zero.

    It has risen if it was at most zero at the tick before; before the first tick it was zero. In
    between y is held. u feeds through.

    :arg initial: output before the first sample, in the unit of u
    :arg width: length of u; by default u is a scalar, or as long as initial
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("u", "float or n", "", "any signal"),
        PortSpec("trigger", "", "", "takes a sample where it rises above zero"),
    )
    delays = False
    initial = fixed("float or n", "", 0.0)
    width = fixed("int", "", None)

    def build(self, initial: Any, width: Any) -> dict[str, Any]:
        given = self.begin(width, initial=initial)
        return {**given, "x0": np.append(0.0, given["x0"])}

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self._signal(x[1:])]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        risen = np.logical_and(inputs[1] > 0.0, x[0] <= 0.0)
        now = np.where(risen, self._entries(inputs), x[1:])
        return np.concatenate([np.ravel(inputs[1]), now])


class Counter(Declared, SampledBlock):
    """A count of the ticks at which a signal is above zero, up or down.

    At a tick with `up` above zero the count grows by one, with `down` above zero it falls by one;
    with `clear` above zero it is `initial`. Beyond its limits it wraps around to the other one, or
    stays. y is the count with this tick, held between ticks; the inputs feed through.

    :arg lower: smallest count
    :arg upper: largest count
    :arg initial: count before the first tick
    :arg overflow: wrap or saturate
    """

    nin = 3
    nout = 1
    takes = (
        PortSpec("up", "", "", "counts up where above zero"),
        PortSpec("down", "", "", "counts down where above zero", optional=True),
        PortSpec("clear", "", "", "above zero: the count is initial", optional=True),
    )
    gives = (PortSpec("y", "", "", "the count"),)
    lower = fixed("int", "", 0, check=_whole)
    upper = fixed("int", "", 255, check=_whole)
    initial = fixed("int", "", 0, check=_whole)
    overflow = fixed("str", "", "wrap", choices=("wrap", "saturate"))

    def build(self, overflow: Any) -> dict[str, Any]:
        in_order(self.lower, self.initial, ("lower", "initial"))
        in_order(self.initial, self.upper, ("initial", "upper"))
        self.wraps = overflow == "wrap"
        return {"x0": [self.initial], **self.resolve_ports()}

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [x[0]]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        up, down, clear = inputs
        after = x + np.where(up > 0.0, 1.0, 0.0) - np.where(down > 0.0, 1.0, 0.0)
        over, under = (self.lower, self.upper) if self.wraps else (self.upper, self.lower)
        after = np.where(after > self.upper, over, np.where(after < self.lower, under, after))
        return np.where(clear > 0.0, self.initial, after)

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random count near x or at a limit."""
        counts = np.array([x[0] + rng.integers(-3, 4), self.lower, self.upper])
        near: Array = np.clip(rng.choice(counts, 1), self.lower, self.upper)
        return near
