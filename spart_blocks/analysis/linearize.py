"""`linearize`: a diagram as a linear system between named signals, by differentiation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import expm

from spart_blocks.analysis.derivatives import Derivatives, Rowwise
from spart_blocks.analysis.names import (
    STATES,
    Elements,
    Indices,
    Spot,
    Spots,
    States,
    as_names,
    elements,
    repeated,
    together,
)
from spart_blocks.analysis.point import Point, operating_point
from spart_blocks.analysis.system import LinearSystem
from spart_blocks.analysis.taps import Tap, tapped
from spart_blocks.diagram import Diagram
from spart_blocks.diagram.flatten import Wiring, flatten
from spart_blocks.errors import Fault, InputError, RunError
from spart_blocks.program import Program, trace
from spart_blocks.simulation.interpreter import Floats
from spart_blocks.simulation.native import Native, native_engine
from spart_blocks.simulation.simulate import as_diagram


def linearize(
    diagram: Diagram | str | Path | Any,
    *,
    inputs: Sequence[str] | str,
    outputs: Sequence[str] | str,
    at: Any = None,
    t: float | None = None,
    open_at: Sequence[str] | str = (),
) -> LinearSystem:
    """The diagram near a point as a linear system between named signals.

    diagram: a path of a YAML file, a loaded diagram, or a bdsim BlockDiagram.
    inputs: signals ('ctrl.tau') or inputs of blocks ('plant.taum', 'plant.wF0[2]'). What u
    is gets added to the signal, for all that read it, or for that one block. Loops stay
    closed.
    outputs: signals, before anything is added to them; inputs of blocks, after it; states
    ('states.plant').
    open_at: signals or inputs of blocks that are cut: what reads them gets their value at
    the point, plus what u adds there.
    at: the point: a FinalState, Results or the .npz file of a run (its end), a Trim, or a
    mapping from blocks to states as `initial=` of simulate takes it; by default the start.
    t [s]: by default the time of `at`, or 0.

    Derivatives are exact: the traced program is differentiated, no differences are taken.
    A diagram with only discrete states gives a discrete system with their clock's period.
    One with continuous states too gives the map of a whole period: u is held over it as by
    a zero-order hold, and states and outputs are those that the tick reads.

    Raises InputError for unknown names, and where discrete states are on several clocks;
    TraceError where the diagram cannot be traced.
    """
    ready = as_diagram(diagram)
    wiring = flatten(ready.bd, ready.places)
    engine = native_engine(ready, wiring)
    _refuse_several_clocks(engine)
    point = operating_point(engine, at, t)
    spots = Spots(wiring)
    given = _Given(engine, point)
    wanted = _spots(spots, as_names(inputs, "inputs"), "input")
    taps = _taps(wanted, _spots(spots, as_names(open_at, "open_at"), "open_at"), given)
    cut_open = tapped(wiring, list(taps.values()))
    program = trace(ready, cut_open)
    point = Point(point.t, point.x, point.xd, _with_old_values(program, engine.program, point.p))
    states = States(engine.nodes, {**engine.continuous, **engine.sampled})
    u = together(
        _element(taps[spot.label, spot.is_input], program, spot, index) for spot, index in wanted
    )
    rows = _outputs(as_names(outputs, "outputs"), _Traced(spots, cut_open, program), states)
    system = _differentiated(program, point, u.indices, rows, float_period(engine))
    _check_finite(system, states, rows)
    values = np.concatenate([np.zeros(0), *(given.value(spot, index) for spot, index in wanted)])
    return LinearSystem(
        *system[:4],
        dt=float_period(engine),
        states=tuple(states.labels),
        inputs=u.labels,
        outputs=tuple(rows.labels),
        x=np.concatenate([point.x, point.xd]),
        u=values,
        y=system.y,
        drift=system.drift,
        name=ready.name,
    )


def _refuse_several_clocks(engine: Native) -> None:
    if len(engine.clocks) < 2:
        return
    listed = "; ".join(
        f"T = {float(clock.period):g} s, offset {float(clock.offset):g} s: "
        + ", ".join(engine.nodes[i].name for i in clock.nodes)
        for clock in engine.clocks
    )
    raise InputError(
        Fault(
            f"the diagram has discrete states on {len(engine.clocks)} clocks, so that no "
            f"system with one period describes it: {listed}",
            hint="put them on one clock, or linearize a diagram with one of them",
        )
    )


def float_period(engine: Native) -> float:
    """The period of the one clock [s]; 0 without discrete states."""
    return float(engine.clocks[0].period) if engine.clocks else 0.0


# --- names --------------------------------------------------------------------------------

_Wanted = list[tuple[Spot, str | None]]


def _spots(spots: Spots, names: list[str], what: str) -> _Wanted:
    found: _Wanted = []
    faults: list[Fault] = repeated(names, what)
    for name in names:
        try:
            found.append(spots.find(name))
        except InputError as error:
            faults += [Fault(f"{what}: {f.message}", f.place, f.hint) for f in error.faults]
    if faults:
        raise InputError(faults)
    return found


class _Given:
    """The values of the signals at the point, and their shapes."""

    def __init__(self, engine: Native, point: Point) -> None:
        column = engine.program.outputs(point.t, point.x, point.xd, point.p)
        self.y = np.array(column.full()).ravel()
        self.engine = engine

    def whole(self, spot: Spot) -> Floats:
        slot = self.engine.slot_of(spot.source)
        return self.y[slot.part].reshape(slot.shape)

    def value(self, spot: Spot, index: str | None) -> Floats:
        whole = self.whole(spot)
        return whole.ravel()[elements(spot.label, whole.shape, index).indices]


def _taps(inputs: _Wanted, cuts: _Wanted, given: _Given) -> dict[tuple[str, bool], Tap]:
    """One tap for each spot, whatever of it is named."""
    taps: dict[tuple[str, bool], Tap] = {}
    for spot, _ in (*inputs, *cuts):
        value = given.whole(spot)
        taps.setdefault((spot.label, spot.is_input), Tap(spot, np.zeros(value.shape), value))
    for spot, index in cuts:
        cut = taps[spot.label, spot.is_input].cut
        cut.reshape(-1)[elements(spot.label, cut.shape, index).indices] = 1.0
    return taps


def _element(tap: Tap, program: Program, spot: Spot, index: str | None) -> Elements:
    slot = next(slot for slot in program.parameters if slot.name == tap.parameter)
    found = elements(spot.label, slot.shape, index)
    return Elements(found.labels, found.indices + slot.start)


def _with_old_values(program: Program, old: Program, p: Floats) -> Floats:
    """The parameters of the tapped program: those of the old one, and nothing added."""
    out = program.p.copy()
    slots = {slot.name: slot for slot in program.parameters}
    for slot in old.parameters:
        out[slots[slot.name].part] = p[slot.part]
    return out


class _Rows(NamedTuple):
    """Outputs in order: their labels, and for each the row of y, or of the states."""

    labels: list[str]
    signals: Indices
    states: Indices


class _Traced(NamedTuple):
    """The names of a diagram, its wiring with taps, and the program of that."""

    spots: Spots
    wiring: Wiring
    program: Program

    def elements(self, name: str) -> Elements:
        """Where the signal of a name lies in the vector of all signals."""
        spot, index = self.spots.find(name)
        node, port = spot.source
        if spot.is_input:
            consumer, k = spot.consumers[0]
            node, port = self.wiring.nodes[consumer].sources[k]
        full = self.wiring.nodes[node].output_name(port)
        slot = next(slot for slot in self.program.signals if slot.name == full)
        found = elements(spot.label, slot.shape, index)
        return Elements(found.labels, found.indices + slot.start)


def _outputs(names: list[str], traced: _Traced, states: States) -> _Rows:
    """Which signal or state each output is."""
    labels: list[str] = []
    signals: list[Indices] = []
    numbers: list[Indices] = []
    faults = repeated(names, "output")
    for name in names:
        found = states.find(name) if name.startswith(STATES) else None
        is_state = found is not None
        try:
            found = traced.elements(name) if found is None else found
        except InputError as error:
            faults += [Fault(f"output: {f.message}", f.place, f.hint) for f in error.faults]
            continue
        labels += found.labels
        nothing = np.full(found.size, -1)
        signals.append(nothing if is_state else found.indices)
        numbers.append(found.indices if is_state else nothing)
    if faults:
        raise InputError(faults)
    none = np.zeros(0, int)
    return _Rows(labels, np.concatenate([none, *signals]), np.concatenate([none, *numbers]))


# --- derivatives --------------------------------------------------------------------------


class _System(NamedTuple):
    A: Floats
    B: Floats
    C: Floats
    D: Floats
    y: Floats
    drift: Floats


def _differentiated(program: Program, point: Point, u: Any, rows: _Rows, period: float) -> _System:
    """A, B, C, D at the point; u are the entries of p that are added to signals."""
    nx, nd = len(point.x), len(point.xd)
    flow = Rowwise(program.rates, np.arange(nx))(point)
    Cx, Cd, D, y = _output_matrices(program, point, u, rows)
    C = np.hstack([Cx, Cd])
    if not period:
        return _System(flow.x, flow.p[:, u], C, D, y, flow.value)
    [update] = program.updates.values()
    jump = Rowwise(update, np.arange(nd))(point)
    drift = np.concatenate([flow.value, jump.value - point.xd])
    A, B = _period_map(flow, jump, u, period)
    return _System(A, B, C, D, y, drift)


def _output_matrices(
    program: Program, point: Point, u: Any, rows: _Rows
) -> tuple[Floats, Floats, Floats, Floats]:
    """The derivatives of the outputs by x, xd and u, and their values."""
    is_state = rows.states >= 0
    signals = Rowwise(program.outputs, rows.signals[~is_state])(point)
    nx, width = len(point.x), len(point.x) + len(point.xd)
    by_state, D = np.zeros((len(rows.labels), width)), np.zeros((len(rows.labels), len(u)))
    y = np.empty(len(rows.labels))
    by_state[~is_state] = np.hstack([signals.x, signals.xd])
    by_state[is_state] = np.eye(width)[rows.states[is_state]]
    D[~is_state] = signals.p[:, u]
    y[~is_state] = signals.value
    y[is_state] = np.concatenate([point.x, point.xd])[rows.states[is_state]]
    return by_state[:, :nx], by_state[:, nx:], D, y


def _period_map(
    flow: Derivatives, jump: Derivatives, u: Any, period: float
) -> tuple[Floats, Floats]:
    """A and B from the values that one tick reads to those that the next one reads.

    At the tick xd+ = J (x, xd, u); then x flows for a period with xd+ and u held:
    x+ = Phi x + Gd xd+ + Gu u, exact for the linear flow.
    Source: Astrom and Wittenmark, Computer-Controlled Systems (1997), sec. 2.3.
    """
    nx, nd, nu = flow.x.shape[1], jump.xd.shape[1], len(u)
    held = np.zeros((nx + nd + nu, nx + nd + nu))
    held[:nx] = np.hstack([flow.x, flow.xd, flow.p[:, u]])
    moved = expm(held * period)[:nx]
    Phi, Gd, Gu = moved[:, :nx], moved[:, nx : nx + nd], moved[:, nx + nd :]
    Jx, Jd, Ju = jump.x, jump.xd, jump.p[:, u]
    A = np.block([[Phi + Gd @ Jx, Gd @ Jd], [Jx, Jd]])
    return A, np.vstack([Gd @ Ju + Gu, Ju])


def _check_finite(system: _System, states: States, rows: _Rows) -> None:
    """RunError naming the first state or output whose derivatives are not finite."""
    tops = [(f"the rate of {name}", row) for name, row in _named(states.labels, system.A, system.B)]
    tops += [(f"output {name}", row) for name, row in _named(rows.labels, system.C, system.D)]
    for name, row in tops:
        if not np.isfinite(row).all():
            raise RunError(
                f"the derivatives of {name} are not finite at this point",
                hint="linearize beside it, with at= or t=",
            )


def _named(labels: Iterable[str], *sides: Floats) -> Iterable[tuple[str, Floats]]:
    return zip(labels, np.hstack(sides), strict=True)
