"""Converters between signals and samples: first-order hold, analogue to digital and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.errors import InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.linear import System
from spart_blocks.block_support.parameters import U0, fixed, tunable
from spart_blocks.block_support.values import in_order
from spart_blocks.formulas.crossings import bare

MOST_BITS = 32


class First_Order_Hold(System, SampledBlock):
    """The straight line through the last two samples of u, extended to the next tick.

    From tick k on y = u(k) + (u(k) - u(k-1)) (t - t(k)) / (t(k) - t(k-1)), for each entry: between
    the ticks it goes on as it went, and at a tick it is u. A ramp passes unchanged after the second
    tick; of other signals the error is at most T^2 max |u''|. Up to the second tick y is the
    sample, and before the first one u0. u feeds through at ticks.

    Source: K. J. Astrom and B. Wittenmark, "Computer-Controlled Systems" (1997), sec. 7.4;
    Simulink's First-Order Hold.

    :arg u0: output before the first tick, in the unit of u
    :arg width: length of u; by default u is a scalar, or as long as u0
    """

    nin = 1
    nout = 1
    gives = (PortSpec("y", "float or n", "", "the line through the last two samples"),)
    delays = False
    varies_between_ticks = True
    u0 = U0
    width = fixed("int", "", None)

    def build(self, u0: Any, width: Any) -> dict[str, Any]:
        # The time of the last tick, the number of ticks up to 2, the last sample, its slope.
        given = self.begin(width, sample=u0, slope=0.0)
        return {**given, "x0": np.append([0.0, 0.0], given["x0"])}

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        sample, slope = self._rows(x[2:])
        return [self._signal(sample + slope * (t - x[0]))]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        sample, u = self._rows(x[2:])[0], self._entries(inputs)
        since = np.where(x[1] > 0.5, t - x[0], 1.0)
        slope = np.where(x[1] > 0.5, (u - sample) / since, 0.0)
        return np.concatenate([np.array([t, np.minimum(x[1] + 1.0, 2.0)]), u, slope])


class _Converter(Declared):
    """What a converter and its inverse share: codes 0 to 2^bits - 1 for `lower` to `upper`.

    :arg bits: number of bits, 1 to 32
    :arg lower: start of the range, in the unit of the signal; that of code 0
    :arg upper: end of the range, one step above the value of the largest code
    :arg width: length of the signals; by default numbers, or as long as the limits
    """

    nin = 1
    nout = 1
    bits = fixed("int", "", 12, least=1, most=MOST_BITS)
    lower = tunable("float or n", "", -1.0)
    upper = tunable("float or n", "", 1.0)
    width = fixed("int", "", None)

    def build(self, width: Any) -> dict[str, Any]:
        in_order(self.lower, self.upper, ("lower", "upper"))
        if np.any(np.asarray(self.lower) == np.asarray(self.upper)):
            raise InputError("lower and upper must differ")
        shape = self.shared_shape(width)
        self._size = shape or (1,)
        return {"x0": np.zeros(self._size), "feedthrough": False, **self.resolve_ports(n=shape)}

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """Random codes."""
        codes: Array = rng.integers(0, 2**self.bits, len(x)).astype(float)
        return codes

    @property
    def _step(self) -> Any:
        """The distance between the values of two codes."""
        return (self.upper - self.lower) / 2.0**self.bits

    def _limited(self, code: Any) -> Any:
        return np.clip(code, 0.0, 2.0**self.bits - 1.0)


class Adc(_Converter, SampledBlock):
    """An analogue-to-digital converter, sampling at the ticks of a clock.

    The code is floor((u - lower) / step), limited to 0 to 2^bits - 1, with step = (upper - lower) /
    2^bits, held between ticks; a DAC with the same parameters gives back the lower end of its step.
    Half a step of offset in `lower` rounds in place of that. u feeds through at ticks.

    Source: IEEE Std 1241, "Terminology and test methods for analog-to-digital converters" (2010).
    """

    takes = (PortSpec("u", "float or n", "", "the analogue signal"),)
    gives = (PortSpec("code", "float or n", "", "a whole number from 0 to 2^bits - 1"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [x if self.in_ports[0].shape else x[0]]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        steps = (np.reshape(inputs[0], self._size) - self.lower) / self._step
        return self._limited(np.floor(steps))


class Dac(_Converter, SampledBlock):
    """A digital-to-analogue converter, which holds a value between the ticks of a clock.

    y = lower + code step, with step = (upper - lower) / 2^bits. The code is rounded to a whole
    number and limited to 0 to 2^bits - 1. The code feeds through at ticks; before the first one y
    is that of code 0.

    Source: IEEE Std 1658, "Terminology and test methods of digital-to-analog converter devices"
    (2011).
    """

    takes = (PortSpec("code", "float or n", "", "a whole number from 0 to 2^bits - 1"),)
    gives = (PortSpec("y", "float or n", "", "the analogue signal, held between ticks"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        y = self.lower + x * self._step
        return [y if self.in_ports[0].shape else bare(y[0])]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        return self._limited(np.floor(np.reshape(inputs[0], self._size) + 0.5))
