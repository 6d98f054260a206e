"""The equations of a run with their tangents."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from spart_blocks.base.tableaus import Tableau, tableau
from spart_blocks.diagram.network.clocks import Clock
from spart_blocks.gradients.compiled_rows import CompiledRows
from spart_blocks.gradients.held import HeldMotion, Push
from spart_blocks.gradients.instants import ticked
from spart_blocks.gradients.loops import Equations
from spart_blocks.gradients.place import Place
from spart_blocks.gradients.tangents import Directions, Floats, Tangent
from spart_blocks.run.engines.native import Native
from spart_blocks.run.events.holds import Held
from spart_blocks.run.run import Run

SAME = 1e-6
"""Largest difference of a repeated state from the run's, relative to the size of the states, where
the run is no less accurate: repeated in shorter parts, a step has an error of its own."""
TOLERANCES = 100
"""The same as a multiple of rtol."""


class Field:
    """The equations of a run that has ended.

    compiled: the equations as machine code; rates: their tangents where there is none.
    guards, summed: tangents of the zero-crossing functions and of the integrands; None without any.
    holds: whether limits act by the state at the start of a step. held: the motion of states that
    something holds; its methods replace these.
    """

    held: HeldMotion | None = None

    def __init__(
        self, run: Run, directions: Directions, integrands: Any, sets: Sequence[Sequence[Clock]]
    ) -> None:
        """integrands: a Function (t, x, xd, p) -> column of signals to integrate, or None. sets:
        the clocks that tick together.
        """
        engine, method = run.engine, tableau(run.options.solver)
        assert isinstance(engine, Native)
        assert method is not None
        self.run, self.engine, self.directions = run, engine, directions
        self.method: Tableau = method
        program = engine.program
        self.holds = program.held is not None
        options = run.options
        self.same = max(SAME, TOLERANCES * options.rtol)
        rates = program.held or program.rates
        entries, drifting = directions.entries, engine.drifting
        names = tuple(tuple(clock.name for clock in due) for due in sets)
        ticks = tuple(ticked(program, due, engine.sampled) if due else None for due in names)
        random = tuple(
            k
            for slot in program.discrete
            for k in range(slot.part.start, slot.part.start + program.random.get(slot.name, 0))
        )
        plain = Equations(method, rates, integrands, program.project, entries, drifting)
        plain = replace(plain, random=random)
        self.compiled: CompiledRows | None = None
        for self.equations in (replace(plain, ticks=ticks, names=names), plain):
            with suppress(LookupError):
                self.compiled = CompiledRows(directions, self.equations, self.tolerances)
                break
        often = self.compiled is None
        self.rates = directions.tangent("rates", lambda: rates, often=True) if often else None
        self.guards: Tangent | None = None
        if engine.crossings:
            self.guards = directions.tangent(("guards", engine.crossings), lambda: program.watched)
        self.summed: Tangent | None = None
        if integrands is not None:
            self.summed = directions.tangent("integrands", lambda: integrands, often=often)

    def under(self, held: Held, pushes: Sequence[Push]) -> Field:
        """The equations while something holds the states. pushes: as for `HeldMotion`."""
        if not held:
            return self
        assert self.guards is not None
        found = copy(self)
        found.held = HeldMotion(self.run, self.directions, self.guards, held, pushes)
        found.compiled = None
        return found

    def onto(self, at: Place) -> Place:
        """The states where they are held."""
        return at if self.held is None else self.held.onto(at)

    @property
    def watched(self) -> Tangent | HeldMotion | None:
        """The zero-crossing functions with their tangents."""
        return self.held or self.guards

    @property
    def tolerances(self) -> tuple[float, float, float]:
        """rtol, atol, and the relative size of a difference from the run."""
        return self.run.options.rtol, self.run.options.atol, self.same

    @property
    def no_integral(self) -> Floats:
        """Changes (k, m) of k integrals that are zero."""
        count = 0 if self.summed is None else self.summed.n
        return np.zeros((count, self.directions.m))

    def slope(self, at: Place, t: float | None = None, start: Floats | None = None) -> Floats:
        """The rates at a place. t: another time; start: the states at the start of the step."""
        begun, time = at.x if start is None else start, at.t if t is None else t
        if self.held is not None:
            return self.held.slope(at, time)
        if self.compiled is not None:
            return self.compiled.slope(at, time, begun)
        assert self.rates is not None
        return self.rates.value(time, at.x, at.xd, *((begun,) if self.holds else ()))

    def changes(self, at: Place, start: Floats | None = None) -> tuple[Floats, Floats]:
        """How the rates (nx, m) and the integrands (k, m) change along the directions."""
        begun = at.x if start is None else start
        if self.compiled is not None:
            return self.compiled.changes(at, begun)
        if self.held is not None:
            rates = self.held.changes(at)
        else:
            assert self.rates is not None
            more = (begun,) if self.holds else ()
            rates = self.rates.along(at.t, at.x, at.xd, 0.0, at.dx, at.dxd, *more)
        if self.summed is None:
            return rates, self.no_integral
        return rates, self.summed.along(at.t, at.x, at.xd, 0.0, at.dx, at.dxd)

    def error(self, at: Place, x: Floats, dx: Floats, off: Floats) -> float:
        """The error `off` of changes dx (nx, m) relative to what is allowed: what a state may be
        off, for a change of each direction by its size, and a fraction of the change itself.
        Source: A. C. Hindmarsh, R. Serban, User documentation of CVODES, sec. 2.6 (tolerances of
        sensitivities).
        """
        if not off.size:
            return 0.0
        options = self.run.options
        state = options.atol + options.rtol * np.maximum(abs(at.x), abs(x))
        allowed = state[:, None] / self.directions.size
        allowed = allowed + options.rtol * np.maximum(abs(at.dx), abs(dx))
        return float(np.sqrt(np.mean((off / allowed) ** 2, axis=0)).max())

    def resolved(self, value: float) -> float:
        """The distance from zero that a signal is known to."""
        options = self.run.options
        return float(options.atol + options.rtol * abs(value))
