"""The spectrum of a signal while it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock

from spart_blocks.base.errors import InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.values import numbers

MOST_FREQUENCIES = 1000


class Spectrum(Declared, ContinuousBlock):
    """The running Fourier transform of u at given frequencies, which forgets exponentially.

    X_k(t) = integral of u(s) exp(-(t - s)/tau) exp(-i w_k s) ds / integral of exp(-(t - s)/tau) ds,
    both from 0 to t, with w_k = 2 pi f_k: the mean of u exp(-i w_k s) with more weight on the last
    tau seconds; without tau the mean since the start. The outputs are its real and imaginary part
    and twice its size, the amplitude of a sine of that frequency; at f = 0 its size alone. Of a
    sine a cos(w s + p) X tends to a/2 exp(i p) at its frequency, with a ripple of relative size
    1/(2 w tau); of one at a distance of dw it is less by the factor 1/sqrt(1 + (dw tau)^2).
    Nothing feeds through. At t = 0 it is zero.

    Source: A. Papoulis, "Signal Analysis" (1977), sec. 8-2, the running transform; PathSim's
    Spectrum.

    :arg frequencies: the frequencies, 0 or more
    :arg tau: time constant of forgetting; by default nothing is forgotten
    """

    nin = 1
    nout = 3
    takes = (PortSpec("u", "", "", "the signal"),)
    gives = (
        PortSpec("amplitude", "n", "", "amplitude at each frequency, in the unit of u"),
        PortSpec("real", "n", "", "real parts of X, in the unit of u"),
        PortSpec("imag", "n", "", "imaginary parts of X, in the unit of u"),
    )
    frequencies = fixed("n", "Hz")
    tau = tunable("float", "s", None, above=0)

    def build(self, frequencies: Any) -> dict[str, Any]:
        found = np.atleast_1d(numbers(frequencies, "frequencies"))
        if found.ndim != 1 or not 0 < found.size <= MOST_FREQUENCIES or (found < 0).any():
            text = f"frequencies must be 1 to {MOST_FREQUENCIES} numbers, 0 or more"
            raise InputError(f"{text}, not {brief(frequencies)}")
        self._turns = 2 * np.pi * found
        self._factor = np.where(found > 0, 2.0, 1.0)
        # The integral of the weights, and those of the real and of the imaginary parts.
        return {"x0": np.zeros(1 + 2 * found.size), **self.resolve_ports(n=found.size)}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        weight = np.where(x[0] > 0.0, x[0], 1.0)
        n = len(self._turns)
        real, imag = x[1 : 1 + n] / weight, x[1 + n :] / weight
        # A root of zero has no derivative.
        square = real**2 + imag**2
        size = np.where(square > 0.0, np.sqrt(np.where(square > 0.0, square, 1.0)), 0.0)
        return [self._factor * size, real, imag]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        turn = self._turns * t
        given = np.concatenate([np.ones(1), inputs[0] * np.cos(turn), -inputs[0] * np.sin(turn)])
        return given if self.tau is None else given - x / self.tau
