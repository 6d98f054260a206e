"""Observers: Luenberger's, and one of a disturbance; in time and at the ticks of a clock."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.errors import InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.estimation import column, observer_gain, plant, scalar_or
from spart_blocks.block_support.linear import Matrices, roots, state_of_size
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.values import numbers

_METHODS = ("zoh", "none")
_TAKES = (
    PortSpec("u", "float or m", "", "inputs of the plant", optional=True),
    PortSpec("y", "float or p", "", "outputs of the plant"),
)


class _Observer(Declared):
    """x^' = A x^ + B u + L (y - C x^ - D u), or the next x^."""

    nin = 2
    nout = 2

    takes: ClassVar[tuple[PortSpec, ...]] = _TAKES
    A: Any
    B: Any
    C: Any
    D: Any
    L: Any

    def _take(self, given: Matrices, L: Array, x0: Any, **sizes: Any) -> dict[str, Any]:
        """Keep the matrices; returns the arguments of the constructor."""
        self.A, self.B, self.C, self.D = given
        self.L = L
        self.direct = bool(given.D.any())
        m, p = given.B.shape[1], len(given.C)
        ports = self.resolve_ports(m=scalar_or(m), p=scalar_or(p), **sizes)
        return {"x0": x0, "feedthrough": self.direct, **ports}

    def _moved(self, t: float, inputs: list[Any], x: Any) -> Any:
        u, y = column(inputs[0]), column(inputs[1])
        return self.A @ x + self.B @ u + self.L @ (y - self.C @ x - self.D @ u)


class _Luenberger(_Observer):
    """What LUENBERGER and LUENBERGER_S share.

    :arg A: system matrix
    :arg B: input matrix; without it the plant has no input
    :arg C: output matrix
    :arg D: feedthrough matrix, zeros by default
    :arg L: gain of the observer
    :arg poles: poles of A - L C, in its place; complex ones are texts, "-3+2j"; one number is the
        pole of all states, for one output
    :arg x0: initial estimate
    """

    gives = (
        PortSpec("x_hat", "n", "", "estimate of the state"),
        PortSpec("y_hat", "float or p", "", "estimate of y"),
    )
    A = tunable("n, n")
    B = tunable("n, m", "", None)
    C = tunable("p, n")
    D = tunable("p, m", "", None)
    L = tunable("n, p", "", None)
    poles = fixed("float or list", "1/s", None)
    x0 = fixed("float or n", "", 0.0)

    def _begin(self, given: Matrices, L: Any, poles: Any, x0: Any) -> dict[str, Any]:
        start = state_of_size(x0, len(given.A))
        return self._take(given, observer_gain(given.A, given.C, L, poles), start, n=len(start))

    def _tunable(self, poles: Any, method: str = "none") -> tuple[str, ...]:
        """With poles, or discretised, L follows from the matrices."""
        names = ("L",) if poles is not None or method != "none" else ("A", "B", "C", "L")
        return (*names, "D") if len(names) > 1 and self.direct else names

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        y = self.C @ x
        if self.direct:
            y = y + self.D @ column(inputs[0])
        return [x, y if self.out_ports[1].shape else y[0]]


class Luenberger(_Luenberger, ContinuousBlock):
    """Luenberger's observer of a linear plant. x^' = A x^ + B u + L (y - C x^ - D u).

    The error x - x^ decays with the poles of A - L C. L is given, or found from `poles`. Without D
    nothing feeds through, and the block may close a loop.

    Source: D. G. Luenberger, "An introduction to observers", IEEE Trans. Automatic Control 16
    (1971); K. Astrom and R. Murray, "Feedback Systems" (2008), sec. 7.2.
    """

    deriv = _Observer._moved

    def build(self, L: Any, poles: Any, x0: Any, **matrices: Any) -> dict[str, Any]:
        given = self._begin(plant(**matrices), L, poles, x0)
        self.tunable = self._tunable(poles)
        return given


class Luenberger_S(_Luenberger, SampledBlock):
    """Luenberger's observer at the ticks of a clock: x^(k+1) = A x^ + B u + L (y - C x^ - D u).

    The matrices are those of a plant in continuous time, as of LUENBERGER, whose input is held
    between ticks (`zoh`), and poles are those of s, of which e^(s T) are those of A - L C; L is the
    gain at a tick. With `none` all are those of the sampled plant. x_hat is the prediction for
    the tick from the ticks before it, and held.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 8.2.

    :arg poles: the poles of the error, in its place; complex ones are texts, "-3+2j"; one number is
        the pole of all states, for one output
    :arg x0: estimate at the first tick
    :arg method: zoh or none
    """

    next = _Observer._moved
    method = fixed("str", "", "zoh", choices=_METHODS)
    delays = True

    def build(self, L: Any, poles: Any, x0: Any, method: Any, **matrices: Any) -> dict[str, Any]:
        system, poles = _sampled(self.T, plant(**matrices), poles, method)
        given = self._begin(system, L, poles, x0)
        self.tunable = self._tunable(poles, method)
        return given


class _Disturbance(_Observer):
    """What DISTURBANCE_OBSERVER and DISTURBANCE_OBSERVER_S share.

    :arg A: system matrix
    :arg C: output matrix
    :arg B: input matrix; without it the plant has no input
    :arg E: input matrix of the disturbance, B by default
    :arg L: gain of the observer
    :arg poles: the n+q poles of the error, in its place; complex ones are texts, "-3+2j"; one
        number is the pole of all, for one output
    :arg x0: initial estimate of the state
    :arg d0: initial estimate of the disturbance
    """

    gives = (
        PortSpec("x_hat", "n", "", "estimate of the state"),
        PortSpec("d_hat", "float or q", "", "estimate of the disturbance"),
    )
    A = fixed("n, n")
    C = fixed("p, n")
    B = fixed("n, m", "", None)
    E = fixed("n, q", "", None)
    L = tunable("n+q, p", "", None)
    poles = fixed("float or list", "1/s", None)
    x0 = fixed("float or n", "", 0.0)
    d0 = fixed("float or q", "", 0.0)

    def _begin(
        self, given: Matrices, L: Any, poles: Any, x0: Any, q: int, d0: Any
    ) -> dict[str, Any]:
        n = len(given.A) - q
        self.n = n
        first = numbers(d0, "d0")
        if first.shape not in ((), (q,)):
            raise InputError(f"d0 has shape {first.shape}, there are {q} disturbances")
        start = np.concatenate([state_of_size(x0, n), np.broadcast_to(first, (q,))])
        gain = observer_gain(given.A, given.C, L, poles)
        return self._take(given, gain, start, n=n, q=scalar_or(q))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        d = x[self.n :]
        return [x[: self.n], d if self.out_ports[1].shape else d[0]]


class Disturbance_Observer(_Disturbance, ContinuousBlock):
    """Observer of a linear plant and of the constant or slow disturbance d that acts on it.

    The plant x' = A x + B u + E d, y = C x is augmented by d' = 0 and observed: L has a row for
    each state and each disturbance. By default d adds to u (E = B), and -d_hat added to the plant's
    input cancels it. It is also called an extended state observer.

    Source: G. F. Franklin et al., "Feedback Control of Dynamic Systems" (2010), sec. 7.10.2;
    W.-H. Chen et al., "Disturbance-Observer-Based Control and Related Methods", IEEE Trans.
    Industrial Electronics 63 (2016).
    """

    deriv = _Observer._moved

    def build(self, L: Any, poles: Any, x0: Any, d0: Any, **matrices: Any) -> dict[str, Any]:
        system, q = _augmented(**matrices, at_rest=0.0)
        return self._begin(system, L, poles, x0, q, d0)


class Disturbance_Observer_S(_Disturbance, SampledBlock):
    """Observer of a linear plant and of a constant or slow disturbance, at the ticks of a clock.

    The matrices are those of DISTURBANCE_OBSERVER, whose u and d are constant between ticks
    (`zoh`), and poles are those of s; with `none` all are those of the sampled plant. Estimates are
    predictions for the tick from the ticks before it, and held.

    Source: G. F. Franklin et al., "Digital Control of Dynamic Systems" (1998), sec. 8.2 and 8.5.2.

    :arg x0: estimate of the state at the first tick
    :arg d0: estimate of the disturbance at the first tick
    :arg method: zoh or none
    """

    next = _Observer._moved
    method = fixed("str", "", "zoh", choices=_METHODS)
    delays = True

    def build(
        self, L: Any, poles: Any, x0: Any, d0: Any, method: Any, **matrices: Any
    ) -> dict[str, Any]:
        augmented, q = _augmented(**matrices, at_rest=1.0 if method == "none" else 0.0)
        system, poles = _sampled(self.T, augmented, poles, method)
        return self._begin(system, L, poles, x0, q, d0)


def _sampled(T: float, system: Matrices, poles: Any, method: str) -> tuple[Matrices, Any]:
    """The plant and the poles at the ticks of a clock."""
    if method == "none":
        return system, poles
    if poles is not None:
        poles = list(np.exp(roots(poles, "poles") * T))
    return system.at(T, method), poles


def _augmented(A: Any, B: Any, C: Any, E: Any, at_rest: float) -> tuple[Matrices, int]:
    """The plant with its disturbances as states, and how many they are. at_rest: the factor by
    which a constant one moves, 0 in time and 1 at ticks.
    """
    one = plant(A, B, C, None)
    n = len(one.A)
    if E is None and B is None:
        raise InputError("it takes B or E: without both no disturbance acts on the plant")
    acts = one.B if E is None else numbers(E, "E")
    acts = acts.reshape(-1, 1) if acts.ndim < 2 else acts
    if acts.ndim > 2 or len(acts) != n or not acts.size:
        raise InputError(f"E must have {n} rows, as A has, not shape {np.shape(E)}")
    q, m, p = acts.shape[1], one.B.shape[1], len(one.C)
    below = np.hstack([np.zeros((q, n)), at_rest * np.eye(q)])
    return Matrices(
        np.vstack([np.hstack([one.A, acts]), below]),
        np.vstack([one.B, np.zeros((q, m))]),
        np.hstack([one.C, np.zeros((p, q))]),
        np.zeros((p, m)),
    ), q
