"""Linearisations of a diagram between named signals, prepared once for many points, with their
changes as parameters move.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import expm, expm_frechet

from spart_blocks.analysis.frequency.response import Changes
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
from spart_blocks.analysis.system import LinearSystem
from spart_blocks.analysis.taps import Tap, tapped
from spart_blocks.base.errors import Fault, InputError, RunError
from spart_blocks.diagram import Diagram, as_diagram
from spart_blocks.diagram.network.algebraic_loops import uncut
from spart_blocks.diagram.network.flatten import FlatDiagram
from spart_blocks.program import Slot
from spart_blocks.program.derivatives import Derivatives, Moves, Point, Rowwise
from spart_blocks.program.tracing.gains import wired
from spart_blocks.program.tracing.trace import traced
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.engines.native import Native
from spart_blocks.run.engines.parity import native_engine


class Linearization:
    """A diagram with named inputs and outputs, and cuts.

    engine: of the diagram as it is. See `linearize` for the arguments. Raises InputError for
    unknown names, and where discrete states are on several clocks; TraceError where the diagram
    cannot be traced.
    """

    @staticmethod
    def of_loop(diagram: Diagram | Any, loop: Sequence[str] | str) -> Linearization:
        """From what is added behind a cut of signals, or of inputs of blocks, to what comes back
        to it.
        """
        return Linearization(diagram, loop, loop, loop, before_taps=True)

    def __init__(
        self,
        diagram: Diagram | Any,
        inputs: Sequence[str] | str,
        outputs: Sequence[str] | str,
        open_at: Sequence[str] | str = (),
        *,
        before_taps: bool = False,
    ) -> None:
        """before_taps: whether inputs of blocks are outputs before what is added to them."""
        ready = as_diagram(diagram)
        wiring = wired(ready)
        self.name = ready.name
        self.engine = engine = native_engine(ready, wiring)
        _refuse_several_clocks(engine)
        self.period = float(engine.clocks[0].period) if engine.clocks else 0.0
        names = self._names = _Names(engine, Spots(uncut(wiring)))
        faults: list[Fault] = []
        self._inputs = names.picks(inputs, "input", faults)
        cuts = names.picks(open_at, "open_at", faults)
        self._outputs = names.picks(outputs, "output", faults, states_too=True)
        if faults:
            raise InputError(faults)
        self._taps = _taps(self._inputs, cuts, names)
        whole = tapped(wiring, list(self._taps.values()))
        self._traced = _Traced(whole, ready, self._outputs, before_taps)
        added = (self._traced.parameters(one, self._taps[_key(one.spot)]) for one in self._inputs)
        self._u = together(added)
        self._traced.differentiate(self._u.indices, self.period)
        every = np.arange(engine.program.outputs.numel_out(0))
        seen = engine.program.at_ticks(engine.program.outputs)
        self._signals = Rowwise(seen, every, np.zeros(0, int))

    def at(self, point: Point) -> LinearSystem:
        """The linear system at a point of the engine. Raises RunError for derivatives that are not
        finite.
        """
        y = self._signals.value(point)
        system = self._traced.system(self._of_traced(point, y), self.period)
        kept, names = self._kept(system), self._names
        labels = together(pick.elements for pick in self._outputs).labels
        return LinearSystem(
            system.A[np.ix_(kept, kept)],
            system.B[kept],
            system.C[:, kept],
            system.D,
            dt=self.period,
            states=tuple(names.states.labels[k] for k in kept),
            inputs=self._u.labels,
            outputs=labels,
            x=np.concatenate([point.x, point.xd])[kept],
            u=np.concatenate([np.zeros(0), *(names.value(pick, y) for pick in self._inputs)]),
            y=system.y,
            drift=system.drift[kept],
            name=self.name,
        )

    def changes(self, point: Point, moves: Moves) -> Changes:
        """The changes of A, B, C, D of the system at a point as the point moves."""
        y, dy = self._signals.value(point), self._signals.moved(point, moves).T
        there = self._of_traced(point, y)
        system = self._traced.system(there, self.period)
        kept = self._kept(system)
        found = self._traced.changes(there, self._moves_of_traced(moves, dy), self.period)
        return Changes(
            found.dA[:, kept][:, :, kept], found.dB[:, kept], found.dC[:, :, kept], found.dD
        )

    def _kept(self, system: _System) -> Indices:
        """The states that the system needs."""
        names, engine = self._names, self.engine
        outputs = together(pick.elements for pick in self._outputs)
        _check_finite(system, names.states.labels, outputs.labels)
        switching = {c.block for c in engine.crossings if c.kind == "mode"}
        kept = _kept(names.states, [engine.continuous[block] for block in switching], system)
        return np.setdiff1d(kept, names.states.helds)

    def _of_traced(self, point: Point, y: Floats) -> Point:
        """A point of the program with taps, where nothing is added, and signals that are cut have
        the values that they have in y.
        """
        program = self._traced.program
        p = program.p.copy()
        slots = {slot.name: slot for slot in program.parameters}
        for slot in self.engine.program.parameters:
            p[slots[slot.name].part] = point.p[slot.part]
        for tap in self._taps.values():
            p[slots[tap.parameter].part] = (tap.cut * self._names.whole(tap.spot, y)).ravel()
        return Point(point.t, point.x, point.xd, p)

    def _moves_of_traced(self, moves: Moves, dy: Floats) -> Moves:
        """The same of changes. dy (signals, m)."""
        program, m = self._traced.program, moves.dp.shape[1]
        dp = np.zeros((len(program.p), m))
        slots = {slot.name: slot for slot in program.parameters}
        for slot in self.engine.program.parameters:
            dp[slots[slot.name].part] = moves.dp[slot.part]
        for tap in self._taps.values():
            rows = dy[self.engine.slot[tap.spot.signal].part]
            dp[slots[tap.parameter].part] = tap.cut.reshape(-1, 1) * rows
        return Moves(moves.dx, moves.dxd, dp)


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


# --- names --------------------------------------------------------------------------------


class _Pick(NamedTuple):
    """Elements of the signal at a spot; if spot is None, of the states."""

    spot: WirePlace | None
    elements: Elements


class _Names:
    """The names of a diagram, and the shapes of its signals."""

    def __init__(self, engine: Native, spots: Spots) -> None:
        self.engine, self.spots = engine, spots
        self.states = States(spots.wiring.nodes, {**engine.continuous, **engine.sampled})

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

    def whole(self, spot: WirePlace, y: Floats) -> Floats:
        """The signal at a spot, of all signals y."""
        slot = self.engine.slot[spot.signal]
        return y[slot.part].reshape(slot.shape)

    def value(self, pick: _Pick, y: Floats) -> Floats:
        assert pick.spot is not None
        return self.whole(pick.spot, y).ravel()[pick.elements.indices]


_Key = tuple[str, bool]


def _key(spot: WirePlace | None) -> _Key:
    assert spot is not None
    return spot.label, spot.is_input


def _taps(inputs: list[_Pick], cuts: list[_Pick], names: _Names) -> dict[_Key, Tap]:
    """A tap for each spot of which an element is selected."""
    taps: dict[_Key, Tap] = {}
    for pick in (*inputs, *cuts):
        assert pick.spot is not None
        shape = names.engine.slot[pick.spot.signal].shape
        taps.setdefault(_key(pick.spot), Tap(pick.spot, np.zeros(shape)))
    for pick in cuts:
        taps[_key(pick.spot)].cut.reshape(-1)[pick.elements.indices] = 1.0
    return taps


# --- derivatives --------------------------------------------------------------------------


class _System(NamedTuple):
    A: Floats
    B: Floats
    C: Floats
    D: Floats
    y: Floats
    drift: Floats


class _Traced:
    """The program of a diagram with taps, and the indices of taps and signals in its vectors."""

    def __init__(
        self, wiring: FlatDiagram, diagram: Diagram, outputs: list[_Pick], before_taps: bool
    ) -> None:
        self.wiring, self.program = wiring, traced(diagram, wiring)
        self.outputs, self.before_taps = outputs, before_taps
        self.signals = together(self._of_signal(pick) for pick in outputs if pick.spot is not None)

    def differentiate(self, u: Indices, period: float) -> None:
        """Prepare the derivatives by the states and by u, indices in p of what is added."""
        program = self.program
        nx, nd = (
            sum(int(np.prod(slot.shape)) for slot in slots)
            for slots in (program.states, program.discrete)
        )
        self._flow = Rowwise(program.rates, np.arange(nx), u)
        self._seen = Rowwise(program.at_ticks(program.outputs), self.signals.indices, u)
        self._jump: Rowwise | None = None
        if period:
            self._jump = Rowwise(program.updates[program.clocks[0].name], np.arange(nd), u)

    def system(self, point: Point, period: float) -> _System:
        """A, B, C, D at the point."""
        flow, seen = self._flow(self._after(point)), self._seen(point)
        states = np.concatenate([point.x, point.xd])
        C, D = self._output_matrices(seen.x, seen.xd, seen.p)
        y = np.zeros(len(C))
        y[self._rows_of(signals=True)] = seen.value
        y[self._rows_of(signals=False)] = states[self._states_shown]
        if self._jump is None:
            return _System(flow.x, flow.p, C, D, y, flow.value)
        jump = self._jump(point)
        drift = np.concatenate([flow.value, jump.value - point.xd])
        held = expm(_held(flow) * period)
        return _System(*_period_map(held, jump, len(point.x)), C, D, y, drift)

    def changes(self, point: Point, moves: Moves, period: float) -> Changes:
        """The changes of A, B, C, D as the point moves."""
        after = self._after(point)
        moved = moves
        if self._jump is not None:
            moved = Moves(moves.dx, self._jump.moved(point, moves).T, moves.dp)
        flow, flows = self._flow(after), self._flow.changes(after, moved)
        seen = self._seen.changes(point, moves)
        size, shown = len(point.x) + len(point.xd), [self._output_matrices(*s[1:]) for s in seen]
        fixed = np.zeros(0) if not len(self._states_shown) else self._states_shown
        dC = np.array([C for C, _ in shown]).reshape(len(seen), -1, size)
        dD = np.array([D for _, D in shown]).reshape(len(seen), dC.shape[1], -1)
        if len(fixed):
            dC[:, self._rows_of(signals=False)] = 0.0
        if self._jump is None:
            dA, dB = np.array([f.x for f in flows]), np.array([f.p for f in flows])
            return Changes(_stack(dA, flow.x), _stack(dB, flow.p), dC, dD)
        jump, nx = self._jump(point), len(point.x)
        found = []
        whole = _held(flow) * period
        for df, dj in zip(flows, self._jump.changes(point, moves), strict=True):
            held, dheld = expm_frechet(whole, _held(df) * period)
            found.append(_change_of_map(held, dheld, jump, dj, nx))
        dA, dB = np.array([a for a, _ in found]), np.array([b for _, b in found])
        return Changes(dA.reshape(-1, size, size), dB.reshape(len(seen), size, -1), dC, dD)

    def _after(self, point: Point) -> Point:
        """The point between this tick and the next: with the discrete states after it."""
        if self._jump is None:
            return point
        return Point(point.t, point.x, self._jump.value(point), point.p)

    @property
    def _states_shown(self) -> Indices:
        """The indices of the states among the outputs."""
        shown = [pick.elements.indices for pick in self.outputs if pick.spot is None]
        return np.concatenate([np.zeros(0, int), *shown])

    def _rows_of(self, *, signals: bool) -> Indices:
        """The rows of the outputs that are signals, or states."""
        kinds = [np.full(p.elements.size, p.spot is not None) for p in self.outputs]
        whole = np.concatenate([np.zeros(0, bool), *kinds])
        return np.flatnonzero(whole == signals)

    def _output_matrices(self, x: Floats, xd: Floats, u: Floats) -> tuple[Floats, Floats]:
        """The derivatives of all outputs by the states and u, from those of the signals."""
        count = sum(pick.elements.size for pick in self.outputs)
        C, D = np.zeros((count, x.shape[1] + xd.shape[1])), np.zeros((count, u.shape[1]))
        rows = self._rows_of(signals=True)
        C[rows], D[rows] = np.hstack([x, xd]), u
        C[self._rows_of(signals=False), self._states_shown] = 1.0
        return C, D

    def parameters(self, pick: _Pick, tap: Tap) -> Elements:
        """The indices, in the vector of parameters, of the values that a tap adds to these
        elements.
        """
        return self._shifted(pick.elements, self.program.parameters, tap.parameter)

    def _of_signal(self, pick: _Pick) -> Elements:
        """The indices of these elements in the vector of signals: for an output before its tap,
        for an input after it.
        """
        assert pick.spot is not None
        node, port = pick.spot.source
        if pick.spot.is_input and not self.before_taps:
            consumer, k = pick.spot.consumers[0]
            node, port = self.wiring.nodes[consumer].sources[k]
        name = self.wiring.nodes[node].output_name(port)
        return self._shifted(pick.elements, self.program.signals, name)

    def _shifted(self, found: Elements, slots: Iterable[Slot], name: str) -> Elements:
        start = next(slot.start for slot in slots if slot.name == name)
        return Elements(found.labels, found.indices + start)


def _stack(found: Floats, like: Floats) -> Floats:
    """Changes (m, ...) of a matrix, also along no direction."""
    return np.asarray(found).reshape(-1, *like.shape)


def _held(flow: Derivatives) -> Floats:
    """The rates of (x, xd, u) between ticks, linear in them: xd and u are constant."""
    rows = np.hstack([flow.x, flow.xd, flow.p])
    return np.vstack([rows, np.zeros((rows.shape[1] - len(rows), rows.shape[1]))])


def _period_map(held: Floats, jump: Derivatives, nx: int) -> tuple[Floats, Floats]:
    """A and B of the map from the values read at one tick to those read at the next. held: the
    exponential of `_held` over the period.

    At the tick xd+ = J (x, xd, u); then x evolves for one period with xd+ and u constant: x+ = Phi
    x + Gd xd+ + Gu u, exact for the linearised system. Source: Astrom and Wittenmark,
    Computer-Controlled Systems (1997), sec. 2.3.
    """
    Phi, Gd, Gu = _parts_of(held, jump, nx)
    A = np.block([[Phi + Gd @ jump.x, Gd @ jump.xd], [jump.x, jump.xd]])
    return A, np.vstack([Gd @ jump.p + Gu, jump.p])


def _change_of_map(
    held: Floats, dheld: Floats, jump: Derivatives, change: Derivatives, nx: int
) -> tuple[Floats, Floats]:
    """The changes of A and B of `_period_map`."""
    _, Gd, _ = _parts_of(held, jump, nx)
    dPhi, dGd, dGu = _parts_of(dheld, jump, nx)
    above = [dPhi + dGd @ jump.x + Gd @ change.x, dGd @ jump.xd + Gd @ change.xd]
    dA = np.block([above, [change.x, change.xd]])
    return dA, np.vstack([dGd @ jump.p + Gd @ change.p + dGu, change.p])


def _parts_of(held: Floats, jump: Derivatives, nx: int) -> tuple[Floats, Floats, Floats]:
    """The columns of x, xd and u of the rows of x."""
    nd = jump.xd.shape[1]
    return held[:nx, :nx], held[:nx, nx : nx + nd], held[:nx, nx + nd :]


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
