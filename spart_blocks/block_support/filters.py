"""Filters at the ticks of a clock, of linear plants and of others: a correction by the measurement,
then a prediction for the next tick.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.estimation import (
    column,
    covariance,
    covariance_near,
    packed,
    triangle,
    unpacked,
)
from spart_blocks.block_support.linear import state_of_size


class Filter(Declared):
    """Its state is the prediction for the tick: x, the triangle of P unless that is constant, and
    the last innovation where the outputs do not use the measurement of their tick.
    """

    takes = (
        PortSpec("u", "float or m", "", "inputs of the plant", optional=True),
        PortSpec("y", "float or p", "", "measurements"),
        PortSpec("skip", "", "", "above zero: no measurement", optional=True),
    )
    gives = (
        PortSpec("x_hat", "n", "", "estimate of the state"),
        PortSpec("P", "n, n", "", "covariance of its error"),
        PortSpec("innovation", "float or p", "", "y less its prediction"),
    )
    delays = True
    out_ports: Any
    current: bool
    _n: int  # states
    _P: Any = None  # a constant covariance

    def correct(self, t: Any, mean: Any, P: Any, u: Any, y: Any) -> tuple[Any, Any, Any]:
        """The estimate and its covariance after the measurement, and the innovation."""
        raise NotImplementedError

    def predict(self, t: Any, mean: Any, P: Any, u: Any) -> tuple[Any, Any]:
        """The estimate and its covariance at the next tick."""
        raise NotImplementedError

    def begin(self, x0: Any, P0: Any, measured: int) -> Array:
        """The state at the first tick."""
        x = state_of_size(x0, self._n)
        parts = [x] if P0 is None else [x, packed(covariance(P0, "P0", self._n))]
        return np.concatenate(parts if self.current else [*parts, np.zeros(measured)])

    def _split(self, x: Any) -> tuple[Any, Any, Any]:
        n = self._n
        if self._P is not None:
            return x[:n], self._P, x[n:]
        end = n + triangle(n)
        return x[:n], unpacked(x[n:end], n), x[end:]

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x, with a positive definite P."""
        near = x + rng.normal(scale=spread, size=len(x))
        if self._P is None:
            n = self._n
            _, P, _ = self._split(x)
            near[n : n + triangle(n)] = packed(covariance_near(P, spread, rng))
        return near

    def _corrected(self, t: Any, inputs: list[Any], x: Any) -> tuple[Any, Any, Any]:
        """The estimate, its covariance and the innovation, with the measurement if there is one."""
        mean, P, _ = self._split(x)
        skip = inputs[2] > 0.0
        found = self.correct(t, mean, P, column(inputs[0]), column(inputs[1]))
        kept = mean, P, np.zeros(len(found[2]))
        mean, P, e = (np.where(skip, a, b) for a, b in zip(kept, found, strict=True))
        return mean, P, e

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        mean, P, e = self._corrected(t, inputs, x) if self.current else self._split(x)
        return [mean, P, e if self.out_ports[2].shape else e[0]]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        mean, P, e = self._corrected(t, inputs, x)
        mean, P = self.predict(t, mean, P, column(inputs[0]))
        parts = [mean] if self._P is not None else [mean, packed(P)]
        return np.concatenate(parts if self.current else [*parts, e])
