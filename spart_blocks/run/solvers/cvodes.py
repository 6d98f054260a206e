"""CVODES, from SUNDIALS through CasADi: variable-order multistep methods with exact Jacobians, for
stiff diagrams and for machines without a compiler.

In CasADi, start and grid of an integrator are fixed when it is made. So time is scaled to [0, 1]
over the segment between two stops, and start and length of the segment are parameters. Segments
with the same pattern of samples, for example between the ticks of a clock, share one integrator.
Source: A. C. Hindmarsh et al., "SUNDIALS", ACM Trans. Math. Softw. 31 (2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import RunError
from spart_blocks.run.events.stops import within

if TYPE_CHECKING:
    from spart_blocks.run.engines.native import Native

Floats = NDArray[np.float64]
METHODS = {"CVODES": "bdf", "Adams": "adams"}


class Cvodes:
    """The integrators of an engine, by pattern of samples and smallest number of steps."""

    def __init__(
        self,
        engine: Native,
        solver: str,
        rtol: float,
        atol: float,
        max_step: float | None,
        most_steps: int = 100_000,
    ) -> None:
        self.engine, self.program, self.max_step = engine, engine.program, max_step
        self.options: dict[str, Any] = {
            "linear_multistep_method": METHODS[solver],
            "reltol": rtol,
            "abstol": atol,
            "max_num_steps": most_steps,  # between two samples
            "show_eval_warnings": False,
            "disable_internal_warnings": True,
        }
        self.steps = self.evaluations = 0

    def over(self, start: float, times: Sequence[float], x: Floats, xd: Floats) -> Floats:
        """The states (m, nx) at times (m,) [s] after start; the last time is the stop."""
        length = times[-1] - start
        pattern = [round((t - start) / length, 12) for t in times[:-1]] + [1.0]
        return self._over(start, length, tuple(pattern), x, xd)

    def within(self, start: float, length: float, parts: int, x: Floats, xd: Floats) -> Floats:
        """The states (parts, nx) at the ends of equal parts of an interval. start, length [s]: of
        the interval.
        """
        pattern = tuple(k / parts for k in range(1, parts + 1))
        return self._over(start, length, pattern, x, xd)

    def _over(
        self, start: float, length: float, pattern: tuple[float, ...], x: Floats, xd: Floats
    ) -> Floats:
        # A whole minimum number of steps, so that segments of similar length share an integrator.
        least = int(np.ceil(length / self.max_step - 1e-9)) if self.max_step else 1
        integrator = self._integrator(pattern, max(least, 1))
        inside = within(start, start + length)
        parameters = np.concatenate([[start, length, *inside], xd, self.program.p])
        try:
            states = np.array(integrator(x0=x, p=parameters)["xf"])
        except RuntimeError as error:
            text = str(error).splitlines()[-1]
            raise RunError(
                f"the solver failed: CVODES: {text}",
                time=start,
                hint="try another solver, or looser tolerances",
            ) from None
        stats = integrator.stats()
        self.steps += stats["nsteps"]
        self.evaluations += stats["nfevals"]
        return states.reshape(len(x), len(pattern)).T

    def _integrator(self, pattern: tuple[float, ...], least: int) -> Any:
        key = ("cvodes", pattern, least, *self.options.values())
        return self.engine.derived(key, lambda: self._make(pattern, least))

    def _make(self, pattern: tuple[float, ...], least: int) -> Any:
        """Make an integrator. least: smallest number of steps."""
        import casadi as ca

        _, x, xd, p = self.program.rates.sx_in()
        tau, start, length, lo, hi = (ca.SX.sym(n) for n in ("tau", "start", "len", "lo", "hi"))
        t = ca.fmin(ca.fmax(start + length * tau, lo), hi)
        dae = {
            "t": tau,
            "x": x,
            "p": ca.vertcat(start, length, lo, hi, xd, p),
            "ode": length * self.program.rates(t, x, xd, p),
        }
        options = {**self.options, "max_step_size": 1.0 / least}
        return ca.integrator("cvodes", "cvodes", dae, 0.0, list(pattern), options)
