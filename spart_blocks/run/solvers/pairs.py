"""Explicit Runge-Kutta steps with error control, with the interface of SciPy's solvers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import RK45

from spart_blocks.base.tableaus import Tableau
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.solvers.steps import Rates, dense, make_dense


class ExplicitPair(RK45):  # type: ignore[misc]
    """A method with one error estimate, in steps by SciPy's control. The slopes of stages for dense
    output alone are evaluated once it is asked for.
    """

    def __init__(
        self, rates: Rates, t0: float, x0: Floats, t1: float, method: Tableau, **options: Any
    ) -> None:
        self.method = method
        self.order, self.error_estimator_order = method.order, method.order - 1
        self.n_stages = s = len(method.b) - 1  # SciPy counts the slope at the end apart
        self.A, self.B, self.C = method.A[:s, :s], method.b[:s], method.c[:s]
        self.E = method.e
        super().__init__(rates, t0, x0, t1, **options)

    def _dense_output_impl(self) -> Any:
        method, fun, t, x, h = self.method, self.fun, self.t_old, self.y_old, self.h_previous
        after, slopes = self.y, [np.array(slope) for slope in self.K]
        made: list[Floats] = []

        def curve(at: Floats | float) -> Floats:
            if not made:
                made.extend(make_dense(method, fun, t, x, slopes, h))
            theta = (np.asarray(at) - t) / h
            return dense(method, x, made, after, slopes[-1], h, theta)

        return curve
