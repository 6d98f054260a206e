"""`linearize`: linearises a diagram between named signals, by automatic differentiation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import expm

from spart_blocks.analysis.place_names import (
    STATES,
    Elements,
    Indices,
    Spots,
    States,
    WirePlace,
    as_names,
    elements,
    repeated,
    together,
)
from spart_blocks.analysis.point import operating_point
from spart_blocks.analysis.system import LinearSystem
from spart_blocks.analysis.taps import Tap, tapped
from spart_blocks.base.errors import Fault, InputError, RunError, warn
from spart_blocks.diagram import Diagram, as_diagram
from spart_blocks.diagram.network.algebraic_loops import uncut
from spart_blocks.diagram.network.flatten import FlatDiagram
from spart_blocks.program import Program, Slot
from spart_blocks.program.derivatives import Derivatives, Point, Rowwise
from spart_blocks.program.tracing.gains import wired
from spart_blocks.program.tracing.trace import traced
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.engines.native import Native
from spart_blocks.run.engines.parity import native_engine

RESTING = 1e-5
"""Largest rate of a state at which a diagram counts as at rest, relative to the terms of its linear
equation, sum |A_kj x_j|, or to 1 in its own unit: the end of a run is at rest within its tolerance.
"""


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

    diagram: a path of a YAML file, a loaded diagram, or a bdsim BlockDiagram. inputs: signals
    ('ctrl.tau') or inputs of blocks ('plant.taum', 'plant.wF0[2]'). u is added to the signal, for
    all blocks that read it, or for that one block. Loops stay closed. outputs: signals, before
    anything is added to them; inputs of blocks, after it; states ('states.plant'). open_at: signals
    or inputs of blocks that are cut: blocks that read them get their value at the point, plus u.
    at: the point: a FinalState, Results or the .npz file of a run (its end), a Trim, or a mapping
    from blocks to states like `initial=` of simulate; by default the initial state. t [s]: by
    default the time of `at`, or 0.

    Derivatives are exact: the traced program is differentiated, without finite differences.
    A diagram with only discrete states gives a discrete system with their clock's period.
    One with continuous states too gives the map of a whole period: u is held over it as by
    a zero-order hold, and states and outputs are those that the tick reads.

    The states of a plant's audit, and the modes of blocks that switch (RELAY, a plant with
    friction), are left out, unless an output or a block takes them.

    Warns (SpartWarning) if the states are not at rest at the point: `drift` has their rates.
    Raises InputError for unknown names, and where discrete states are on several clocks;
    TraceError where the diagram cannot be traced.
    """
    ready = as_diagram(diagram)
    wiring = wired(ready)
    engine = native_engine(ready, wiring)
    _refuse_several_clocks(engine)
    point = operating_point(engine, at, t)
    given = _Given(engine, point, Spots(uncut(wiring)))
    faults: list[Fault] = []
    entries = given.picks(inputs, "input", faults)
    cuts = given.picks(open_at, "open_at", faults)
    wanted = given.picks(outputs, "output", faults, states_too=True)
    if faults:
        raise InputError(faults)
    taps = _taps(entries, cuts, given)
    traced = _Traced(tapped(wiring, list(taps.values())), ready)
    u = together(traced.parameters(pick, taps[_key(pick.spot)]) for pick in entries)
    at_rest = traced.at(point, engine.program)
    system = _differentiated(traced, at_rest, u.indices, wanted, _period(engine))
    linear = _of_kept_states(system, given, point, entries, u.labels, wanted, ready.name)
    _warn_of_drift(linear)
    return linear


def _of_kept_states(
    system: _System,
    given: _Given,
    point: Point,
    inputs: list[_Pick],
    added: tuple[str, ...],
    outputs: list[_Pick],
    name: str,
) -> LinearSystem:
    """The linear system without the states that it does not need. added: names of the inputs.
    Raises RunError for derivatives that are not finite."""
    engine = given.engine
    labels = together(pick.elements for pick in outputs).labels
    _check_finite(system, given.states.labels, labels)
    switching = {c.block for c in engine.crossings if c.kind == "mode"}
    kept = _kept(given.states, [engine.continuous[block] for block in switching], system)
    kept = np.setdiff1d(kept, given.states.helds)
    return LinearSystem(
        system.A[np.ix_(kept, kept)],
        system.B[kept],
        system.C[:, kept],
        system.D,
        dt=_period(engine),
        states=tuple(given.states.labels[k] for k in kept),
        inputs=added,
        outputs=labels,
        x=np.concatenate([point.x, point.xd])[kept],
        u=np.concatenate([np.zeros(0), *(given.value(pick) for pick in inputs)]),
        y=system.y,
        drift=system.drift[kept],
        name=name,
    )


def _warn_of_drift(system: LinearSystem) -> None:
    scale = np.maximum(abs(system.A) @ abs(system.x), 1.0)
    size = abs(system.drift) / scale
    if size.max(initial=0.0) > RESTING:
        k = int(size.argmax())
        what = "changes by" if system.dt else "has the rate"
        warn(
            f"the diagram is not at rest here: {system.states[k]} {what} {system.drift[k]:.3g}; "
            "the poles describe it for a moment only\n"
            "  sb.trim finds where it rests"
        )


def _refuse_several_clocks(engine: Native) -> None:
    if len(engine.clocks) < 2:
        return
    listed = "; ".join(
        f"T = {float(clock.period):g} s, offset {float(clock.offset):g} s: "
        + ", ".join(clock.blocks)
        for clock in engine.clocks
    )
    raise InputError(
        Fault(
            f"the diagram has discrete states on {len(engine.clocks)} clocks, so that no "
            f"system with one period describes it: {listed}",
            hint="put them on one clock, or linearize a diagram with one of them",
        )
    )


def _period(engine: Native) -> float:
    """The period of the only clock [s]; 0 without discrete states."""
    return float(engine.clocks[0].period) if engine.clocks else 0.0


# --- names --------------------------------------------------------------------------------


class _Pick(NamedTuple):
    """Elements of the signal at a spot; if spot is None, of the states."""

    spot: WirePlace | None
    elements: Elements


class _Given:
    """The diagram at the operating point: its names, and the values and shapes of its signals."""

    def __init__(self, engine: Native, point: Point, spots: Spots) -> None:
        self.engine, self.spots = engine, spots
        self.states = States(spots.wiring.nodes, {**engine.continuous, **engine.sampled})
        column = engine.program.outputs(point.t, point.x, point.xd, point.p)
        self._y = np.array(column.full()).ravel()

    def picks(
        self, names: Any, what: str, faults: list[Fault], states_too: bool = False
    ) -> list[_Pick]:
        """The elements that the names select. Unknown names are added to the faults."""
        found = []
        for name in as_names(names, what):
            states = self.states.find(name) if states_too and name.startswith(STATES) else None
            if states is not None:
                found.append(_Pick(None, states))
                continue
            try:
                spot, index = self.spots.find(name)
                shape = self.engine.slot[spot.signal].shape
                found.append(_Pick(spot, elements(spot.label, shape, index)))
            except InputError as error:
                faults += [Fault(f"{what}: {f.message}", f.place, f.hint) for f in error.faults]
        faults += repeated(together(pick.elements for pick in found).labels, what)
        return found

    def whole(self, spot: WirePlace) -> Floats:
        slot = self.engine.slot[spot.signal]
        return self._y[slot.part].reshape(slot.shape)

    def value(self, pick: _Pick) -> Floats:
        assert pick.spot is not None
        return self.whole(pick.spot).ravel()[pick.elements.indices]


_Key = tuple[str, bool]


def _key(spot: WirePlace | None) -> _Key:
    assert spot is not None
    return spot.label, spot.is_input


def _taps(inputs: list[_Pick], cuts: list[_Pick], given: _Given) -> dict[_Key, Tap]:
    """A tap for each spot of which an element is selected."""
    taps: dict[_Key, Tap] = {}
    for pick in (*inputs, *cuts):
        assert pick.spot is not None
        value = given.whole(pick.spot)
        taps.setdefault(_key(pick.spot), Tap(pick.spot, np.zeros(value.shape), value))
    for pick in cuts:
        taps[_key(pick.spot)].cut.reshape(-1)[pick.elements.indices] = 1.0
    return taps


class _Traced:
    """The program of a diagram with taps, and the indices of taps and signals in its vectors."""

    def __init__(self, wiring: FlatDiagram, diagram: Diagram) -> None:
        self.wiring, self.program = wiring, traced(diagram, wiring)

    def parameters(self, pick: _Pick, tap: Tap) -> Elements:
        """The indices, in the vector of parameters, of the values that a tap adds to these
        elements.
        """
        return self._shifted(pick.elements, self.program.parameters, tap.parameter)

    def signals(self, pick: _Pick) -> Elements:
        """The indices of these elements in the vector of signals: for an output before its tap,
        for an input after it.
        """
        assert pick.spot is not None
        node, port = pick.spot.source
        if pick.spot.is_input:
            consumer, k = pick.spot.consumers[0]
            node, port = self.wiring.nodes[consumer].sources[k]
        name = self.wiring.nodes[node].output_name(port)
        return self._shifted(pick.elements, self.program.signals, name)

    def _shifted(self, found: Elements, slots: Iterable[Slot], name: str) -> Elements:
        start = next(slot.start for slot in slots if slot.name == name)
        return Elements(found.labels, found.indices + start)

    def at(self, point: Point, before: Program) -> Point:
        """The operating point for the program with taps, whose added values are zero. before: the
        program without taps.
        """
        p = self.program.p.copy()
        slots = {slot.name: slot for slot in self.program.parameters}
        for slot in before.parameters:
            p[slots[slot.name].part] = point.p[slot.part]
        return Point(point.t, point.x, point.xd, p)


# --- derivatives --------------------------------------------------------------------------


class _System(NamedTuple):
    A: Floats
    B: Floats
    C: Floats
    D: Floats
    y: Floats
    drift: Floats


def _differentiated(
    traced: _Traced, point: Point, u: Indices, outputs: list[_Pick], period: float
) -> _System:
    """A, B, C, D at the point. u: indices in p of the values that are added to signals."""
    nx, nd = len(point.x), len(point.xd)
    flow = Rowwise(traced.program.rates, np.arange(nx))(point)
    C, D, y = _output_matrices(traced, point, u, outputs)
    if not period:
        return _System(flow.x, flow.p[:, u], C, D, y, flow.value)
    update = traced.program.updates[traced.program.clocks[0].name]
    jump = Rowwise(update, np.arange(nd))(point)
    drift = np.concatenate([flow.value, jump.value - point.xd])
    A, B = _period_map(flow, jump, u, period)
    return _System(A, B, C, D, y, drift)


def _output_matrices(
    traced: _Traced, point: Point, u: Indices, outputs: list[_Pick]
) -> tuple[Floats, Floats, Floats]:
    """The derivatives of the outputs by the states and u, and their values."""
    rows = together(traced.signals(pick) for pick in outputs if pick.spot is not None)
    seen = traced.program.at_ticks(traced.program.outputs)
    signals = Rowwise(seen, rows.indices)(point)
    states = np.concatenate([point.x, point.xd])
    parts = [(np.zeros((0, len(states))), np.zeros((0, len(u))), np.zeros(0))]
    done = 0
    for pick in outputs:
        size, numbers = pick.elements.size, pick.elements.indices
        if pick.spot is None:
            parts.append((np.eye(len(states))[numbers], np.zeros((size, len(u))), states[numbers]))
            continue
        part = slice(done, done + size)
        done += size
        by_state = np.hstack([signals.x[part], signals.xd[part]])
        parts.append((by_state, signals.p[part][:, u], signals.value[part]))
    C, D, y = (np.concatenate(column) for column in zip(*parts, strict=True))
    return C, D, y


def _period_map(
    flow: Derivatives, jump: Derivatives, u: Indices, period: float
) -> tuple[Floats, Floats]:
    """A and B of the map from the values read at one tick to those read at the next.

    At the tick xd+ = J (x, xd, u); then x evolves for one period with xd+ and u constant: x+ = Phi
    x + Gd xd+ + Gu u, exact for the linearised system. Source: Astrom and Wittenmark,
    Computer-Controlled Systems (1997), sec. 2.3.
    """
    nx, nd, nu = flow.x.shape[1], jump.xd.shape[1], len(u)
    held = np.zeros((nx + nd + nu, nx + nd + nu))
    held[:nx] = np.hstack([flow.x, flow.xd, flow.p[:, u]])
    moved = expm(held * period)[:nx]
    Phi, Gd, Gu = moved[:, :nx], moved[:, nx : nx + nd], moved[:, nx + nd :]
    Jx, Jd, Ju = jump.x, jump.xd, jump.p[:, u]
    A = np.block([[Phi + Gd @ Jx, Gd @ Jd], [Jx, Jd]])
    return A, np.vstack([Gd @ Ju + Gu, Ju])


def _kept(states: States, switching: Sequence[slice], system: _System) -> Indices:
    """The indices of the states to keep. Left out are the states of plants' audits on which
    nothing depends, and modes of blocks on which nothing depends. switching: slices of the states
    of blocks with modes.
    """
    seen = np.vstack([system.A, system.C])
    kept = np.ones(states.size, dtype=bool)
    for audit in states.audits:
        others = np.delete(seen, audit, axis=0)
        kept[audit] = others[:, audit].any()
    moved = np.hstack([system.A, system.B])
    for k in (k for part in switching for k in range(part.start, part.stop)):
        kept[k] = np.delete(seen, k, axis=0)[:, k].any() or np.delete(moved, k, axis=1)[k].any()
    return np.flatnonzero(kept)


def _check_finite(system: _System, states: Sequence[str], outputs: Sequence[str]) -> None:
    """Raise RunError for the first state or output whose derivatives are not finite."""
    rows = [(f"the rate of {name}", row) for name, row in _named(states, system.A, system.B)]
    rows += [(f"output {name}", row) for name, row in _named(outputs, system.C, system.D)]
    for name, row in rows:
        if not np.isfinite(row).all():
            raise RunError(
                f"the derivatives of {name} are not finite at this point",
                hint="linearize beside it, with at= or t=",
            )


def _named(labels: Sequence[str], *sides: Floats) -> Iterable[tuple[str, Floats]]:
    return zip(labels, np.hstack(sides), strict=True)
