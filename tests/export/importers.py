"""Four ways to solve an FMU by model exchange, as importers have them.

Each takes a running Model and gives its outputs at points of time, after what happens there.
"""

from __future__ import annotations

import math
from ctypes import POINTER, c_double
from dataclasses import dataclass
from math import prod

import fmpy
import numpy as np
from fmpy.sundials import CVodeSolver
from fmus import instance
from scipy.integrate import RK45


@dataclass
class Change:
    """What an FMU says of an event: whether a solver is to begin anew, whether the run ends,
    and when the next known event is."""

    reset: bool
    ended: bool
    next: float


class Model:
    """An FMU of either version in model exchange, over arrays."""

    def __init__(self, fmu, description, names):
        self.fmu, self.three = fmu, description.fmiVersion.startswith("3")
        self.nx, self.nz = (
            description.numberOfContinuousStates,
            description.numberOfEventIndicators,
        )
        chosen = [v for v in description.modelVariables if v.name.split("[")[0] in names]
        self.references = [v.valueReference for v in chosen]
        self.width = sum(prod(int(d.start) for d in v.dimensions) for v in chosen)
        self.update = fmu.updateDiscreteStates if self.three else fmu.newDiscreteStates
        self.rates = fmu.getContinuousStateDerivatives if self.three else fmu.getDerivatives

    def outputs(self):
        if self.three:
            return self.fmu.getFloat64(self.references, self.width)
        return self.fmu.getReal(self.references)

    def event(self):
        """Event mode, and on in continuous time."""
        self.fmu.enterEventMode()
        return self.settle()

    def settle(self):
        reset, again, ended = False, True, False
        while again and not ended:
            again, ended, nominals, values, known, at = self.update()
            reset |= nominals or values
        if not ended:
            self.fmu.enterContinuousTimeMode()
        return Change(reset, ended, at if known else math.inf)

    def place(self, t, x):
        self.fmu.setTime(t)
        self.fmu.setContinuousStates(_pointer(np.array(x, dtype=float)), self.nx)

    @property
    def x(self):
        return self._got(self.fmu.getContinuousStates, self.nx)

    def slope(self, t, x):
        self.place(t, x)
        return self._got(self.rates, self.nx)

    def sides(self, t, x):
        """On which side of zero each indicator is."""
        self.place(t, x)
        return np.sign(self._got(self.fmu.getEventIndicators, self.nz))

    def _got(self, get, n):
        values = np.zeros(n)
        get(_pointer(values), n)
        return values


def _pointer(values):
    return values.ctypes.data_as(POINTER(c_double))


def run(way, path, times, names, **options):
    """The outputs of an FMU at times, which begin with 0, solved in one of the ways."""
    if way is fmpy_itself:
        return fmpy_itself(path, times, names, **options)
    description = fmpy.read_model_description(str(path))
    with instance(path, "ModelExchange") as fmu:
        model = Model(fmu, description, names)
        first = model.settle()
        return np.array([model.outputs(), *way(model, times, first, **options)])


def fmpy_itself(path, times, names, tolerance=1e-10):
    """FMPy's own loop: a solver of several steps, that begins anew at every event."""
    found = fmpy.simulate_fmu(
        str(path),
        fmi_type="ModelExchange",
        stop_time=times[-1],
        output_interval=times[1],
        relative_tolerance=tolerance,
        record_events=False,
    )
    names = [name for name in found.dtype.names if name.split("[")[0] in names]
    return np.stack([found[name] for name in names], axis=-1).reshape(len(found), -1)


class _NoInput:
    def apply(self, *_):
        pass


def when_told(model, times, first, tolerance=1e-10):
    """The reference importer's loop: CVODE goes beyond the points that it is asked for, keeps
    what it has learned there, and begins anew only where states are said to have changed."""
    solver = CVodeSolver(
        *(model.nx, model.nz),
        *(model.fmu.getContinuousStates, model.fmu.setContinuousStates),
        *(model.rates, model.fmu.getEventIndicators),
        *(model.fmu.getNominalsOfContinuousStates, model.fmu.setTime),
        input=_NoInput(),
        startTime=0.0,
        relativeTolerance=tolerance,
        maxNumSteps=100_000,
    )
    t, following = 0.0, first.next
    for end in times[1:]:
        while t < end:
            timed = end >= following
            crossed, _, t = solver.step(t, min(end, following))
            model.fmu.setTime(t)
            asked, _ = model.fmu.completedIntegratorStep()
            if timed or crossed or asked:
                change = model.event()
                following = change.next
                if change.ended:
                    return
                if change.reset:
                    solver.reset(t)
        yield model.outputs()


def never_beyond(model, times, first, tolerance=1e-11):
    """A solver of one step at a time that asks for nothing behind the next known event, and
    looks for crossings in its dense output."""
    t, following, x = 0.0, first.next, model.x
    for end in times[1:]:
        while t < end:
            bound = min(end, following)
            solver = RK45(model.slope, t, x, bound, rtol=tolerance, atol=tolerance)
            happened = False
            while solver.status == "running" and not happened:
                before = model.sides(solver.t, solver.y)
                assert solver.step() is None, "the step became too small"
                t, x = solver.t, solver.y
                crossed = (model.sides(t, x) != before).any()
                if crossed:
                    t, x = _far_side(model, solver.dense_output(), solver.t_old, t, before)
                model.place(t, x)
                asked, _ = model.fmu.completedIntegratorStep()
                happened = crossed or asked
            if happened or t >= following:
                change = model.event()
                following, x = change.next, model.x
                if change.ended:
                    return
        yield model.outputs()


def _far_side(model, curve, low, high, before):
    while high - low > 1e-13 * max(1.0, high):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if (model.sides(middle, curve(middle)) != before).any():
            high = middle
        else:
            low = middle
    return high, curve(high)


def with_stored_states(model, times, first, tolerance=1e-11):
    """A solver that tries a step whole and in halves, each time from a stored state of the
    FMU, and comes to a crossing by ever shorter steps."""
    t, following, h, x = 0.0, first.next, 1e-3, model.x
    for end in times[1:]:
        while t < end:
            whole = min(end, following) - t
            tried = min(h, whole)
            kept = model.fmu.getFMUState()
            before = model.sides(t, x)
            half = _rk4(model, t + tried / 2, _rk4(model, t, x, tried / 2), tried / 2)
            model.fmu.setFMUState(kept)
            error = np.abs(half - _rk4(model, t, x, tried)).max(initial=0.0) / 15
            factor = 0.9 * (tolerance * (1 + np.abs(x).max(initial=0.0)) / (error + 1e-300)) ** 0.2
            h = tried * min(5.0, max(0.2, factor))
            fine = factor >= 0.9
            crossed = fine and (model.sides(t + tried, half) != before).any()
            if crossed and tried > 1e-12 * max(1.0, t):
                h, fine = tried / 2, False
            model.fmu.setFMUState(kept)
            model.fmu.freeFMUState(kept)
            assert np.array_equal(model.x, x)
            if not fine:
                continue
            t, x = (min(end, following) if tried == whole else t + tried), half
            model.place(t, x)
            asked, _ = model.fmu.completedIntegratorStep()
            if crossed or asked or t >= following:
                change = model.event()
                following, x = change.next, model.x
                if change.ended:
                    return
        yield model.outputs()


def _rk4(model, t, x, h):
    k1 = model.slope(t, x)
    k2 = model.slope(t + h / 2, x + h / 2 * k1)
    k3 = model.slope(t + h / 2, x + h / 2 * k2)
    k4 = model.slope(t + h, x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


WAYS = (fmpy_itself, when_told, never_beyond, with_stored_states)
