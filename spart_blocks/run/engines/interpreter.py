"""The interpreter, the reference engine: evaluates a diagram block by block, with numbers.

It calls the methods of bdsim's blocks (output, deriv, next). All states are kept outside the
blocks, in two vectors x and xd.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cached_property, partial
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from spart_blocks.base.errors import InputError, RunError, SpartError, raised_in
from spart_blocks.block_support.ports import as_signal, attribute, wrong_outputs
from spart_blocks.diagram.diagram import Diagram
from spart_blocks.diagram.network.clocks import Clock, clocks_of
from spart_blocks.diagram.network.display import Display, display_of, signal_names
from spart_blocks.diagram.network.flatten import FlatDiagram, Node
from spart_blocks.diagram.network.gates import at_tick, resets_at_ticks
from spart_blocks.diagram.network.loop_block import AlgebraicLoop, LoopCheck
from spart_blocks.program.exact_values import as_exact
from spart_blocks.program.tracing.holds import holds_of, shown_as_held, with_holds
from spart_blocks.program.tracing.resets import BlockStates, call_event
from spart_blocks.program.tracing.rules import (
    correction,
    drifts,
    needs_fixed_steps,
    passes_singular,
    random_entries,
    rule_of,
)
from spart_blocks.program.tracing.seen import with_signals
from spart_blocks.program.tracing.switching import (
    Crossing,
    SwitchTimes,
    crossings_of,
    exact_edges,
    started,
)
from spart_blocks.run.engines.engine import Engine, Floats, Pick, not_finite, shown
from spart_blocks.run.engines.held_outputs import HeldOutputs, Values
from spart_blocks.run.fitness import check_fitness


class Interpreter(Engine):
    """Outputs and derivatives of a wired diagram, block by block."""

    name = "interpreter"
    traced = False

    def __init__(self, diagram: Diagram, wiring: FlatDiagram) -> None:
        self.diagram, self.wiring = diagram, wiring
        self.title, self.run = diagram.name, diagram.run
        self.nodes = wiring.nodes
        self.node = {node.name: node for node in self.nodes}
        self._names = signal_names(wiring)
        ordered = [self.nodes[i] for i in wiring.schedule]
        self._evaluated = [node for node in ordered if node.kind not in ("sink", "graphics")]
        sampled = list(wiring.of_kind("sampled"))
        clocks = clocks_of(sampled, diagram.run.first_tick)
        self.holds = holds_of(wiring, clocks)
        self.clocks = with_holds(clocks, self.holds)
        ends = [node.index for node in wiring.of_kind("continuous")]
        self._shown_as_held = shown_as_held(self.holds)
        upstream = _upstream(wiring, ends, self._shown_as_held)
        self._for_derivative = [node for node in self._evaluated if node.index in upstream]
        self.continuous = _slices(wiring.of_kind("continuous"))
        self._states = _slices(sampled)
        self._held = HeldOutputs(wiring, self.holds, self._states)
        self.sampled = self._states | self._held.slices
        self._rates = {name: _rate(self.node[name].block) for name in self.continuous}
        self.drifting = any(drifts(self.node[name].block) for name in self.continuous)
        self.damped = tuple(n for n in self.continuous if passes_singular(self.node[n].block))
        corrected = {n.index: correction(n.block, "output") for n in self._evaluated}
        self._corrected = {
            i: partial(own, self.nodes[i].block) for i, own in corrected.items() if own is not None
        }
        self._limited = {n for n in self.continuous if correction(self.node[n].block)}
        blocks = {name: self.node[name].block for name in self.continuous}
        self._stopping = [
            n for n, block in blocks.items() if attribute(block, "next_stop") is not None
        ]
        self._jumping = [n for n in blocks if attribute(blocks[n], "jumped") is not None]
        self._completing = [n for n in blocks if attribute(blocks[n], "told_of_steps")]
        by_rule = {n: rule_of(block).project for n, block in blocks.items()}
        self._projected = {
            n: rule
            for n, rule in by_rule.items()
            if n in self._limited or attribute(blocks[n], "project") is not None
        }
        self._unread = [node.unread for node in self.nodes]
        self._stepped = [n for n, block in blocks.items() if attribute(block, "advance")]
        self._restarting = [node for node in sampled if resets_at_ticks(node.block)]

    @cached_property
    def display(self) -> Display:
        """What is shown of the diagram; not needed where a program is compared with the blocks."""
        return display_of(self.wiring)

    # --- evaluation ----------------------------------------------------------------

    def initial(self) -> tuple[Floats, Floats]:
        """The initial continuous and discrete states."""
        return self._gather(self.continuous), self._held.initial(self._gather(self._states))

    def _gather(self, slices: Mapping[str, slice]) -> Floats:
        parts = [np.zeros(0)]
        for name in slices:
            node = self.node[name]
            with Failing(node, "its initial state", 0.0, refuses=True):
                parts.append(np.ravel(np.asarray(node.block.getstate0(), float)))
        return np.concatenate(parts)

    def outputs(self, t: float, x: Floats, xd: Floats, due: Collection[Clock] = ()) -> Values:
        """The outputs of every node at time t and states x, xd; outputs held on the clocks due are
        renewed."""
        return self._evaluate(self._evaluated, t, x, xd, {clock.name for clock in due})

    def some_outputs(
        self, nodes: Iterable[Node], known: Values, t: float, x: Floats, xd: Floats
    ) -> Values:
        """The outputs of some nodes for known ones of the others."""
        values = known.copied()
        for node in nodes:
            values[node.index] = self.output(node, t, known, x, xd)
        return values

    @cached_property
    def start_outputs(self) -> Values:
        """The outputs of every node at t = 0 in the initial states: of the one evaluation that also
        checks the diagram, unless outputs are held or a block fails."""
        if not self.holds:
            with suppress(RunError):
                return self._checked_start
        return self.outputs(0.0, *self.initial())

    @cached_property
    def _checked_start(self) -> Values:
        return self._checked(0.0, *self.initial())

    def _checked(self, t: float, x: Floats, xd: Floats) -> Values:
        return check_fitness(
            self.wiring,
            self.diagram.places,
            lambda node, values: self.output(node, t, values, x, xd),
        )

    def _evaluate(
        self,
        nodes: Iterable[Node],
        t: float,
        x: Floats,
        xd: Floats,
        due: Collection[str] = (),
    ) -> Values:
        values = Values.none(len(self.nodes))
        held_at = self._held.by_node
        for node in nodes:
            held = held_at.get(node.index)
            try:
                if held is not None and held.clock in due:
                    values[node.index] = self.evaluated(node, t, values, x, xd)
                elif held is None or held.shows == "next":
                    values[node.index] = self.output(node, t, values, x, xd)
                elif held.shows == "state":
                    kept = xd[self._held.slices[held.name]]
                    values[node.index] = self.output(node, t, values, x, xd, kept)
                else:
                    values[node.index] = [as_signal(v) for v in self._held.outputs(held, xd)]
            except RunError:
                self.check_finite(t, values)  # its inputs may be the cause
                raise
        return values

    def evaluated(
        self, node: Node, t: float, values: Values, x: Floats, xd: Floats
    ) -> Sequence[Any]:
        """The outputs of a node; for a sampled node those at its tick."""
        if node.showing != "next":
            return self.output(node, t, values, x, xd)
        after = values.after[node.name] = self._next(node, t, values, xd)
        return self.output(node, t, values, x, xd, after)

    @cached_property
    def constrained(self) -> Sequence[tuple[int, str, slice]]:
        """The states that not any numbers suit: which vector (0: x, 1: xd), the block that makes
        valid ones, and their entries. A held state is made by its block.
        """
        held = {one.name: one.block for one in self.holds}
        outputs = {one.name for one in self.holds if one.shows == "output"}
        parts = [(0, name, part) for name, part in self.continuous.items()]
        parts += [
            (1, held.get(name, name), part)
            for name, part in self.sampled.items()
            if name not in outputs
        ]
        return [
            (which, name, part)
            for which, name, part in parts
            if attribute(self.node[name].block, "nearby") is not None
            or random_entries(self.node[name].block, part.stop - part.start)
        ]

    def output(
        self,
        node: Node,
        t: float,
        values: Values,
        x: Floats,
        xd: Floats,
        state: Floats | None = None,
    ) -> Sequence[Any]:
        """The outputs of a node for its current state, or for another state."""
        if isinstance(node.block, AlgebraicLoop):
            with Failing(node, "its solution", t):
                return node.block.solve(
                    [values[i][k] for i, k in node.sources],
                    values,
                    lambda member, _: self.evaluated(member, t, values, x, xd),
                )
        state = self._state(node, x, xd) if state is None else state
        try:
            inputs = node.inputs(values, self._unread[node.index])
            own = self._corrected.get(node.index)
            out = own(t, inputs, state) if own else node.block.output(t, inputs, state)
            if isinstance(out, (list, tuple)) and len(out) == len(node.out_ports):
                return [v if type(v) is float else as_signal(v) for v in out]
        except Exception as error:  # costs nothing until it is raised, unlike a context
            raise_failure(error, node, "output", t)
        text = wrong_outputs(out, len(node.out_ports))
        raise RunError(text, block=node.name, time=t, place=node.place)

    def _state(self, node: Node, x: Floats, xd: Floats) -> Floats | None:
        if node.kind == "continuous":
            return x[self.continuous[node.name]]
        if node.kind == "sampled":
            return xd[self._states[node.name]]
        return None

    def derivative(self, t: float, x: Floats, xd: Floats, start: Floats | None = None) -> Floats:
        values = self._evaluate(self._for_derivative, t, x, xd)
        return self.derivative_of(values, t, x, start)

    def derivative_of(
        self, values: Values, t: float, x: Floats, start: Floats | None = None
    ) -> Floats:
        """dx/dt from known outputs."""
        return self._derivatives(self.continuous, np.empty_like(x), values, t, x, start)

    def some_derivatives(
        self, nodes: Iterable[Node], known: Floats, values: Values, t: float, x: Floats
    ) -> Floats:
        """The derivatives of the states of some nodes, beside known ones of the others."""
        names = [node.name for node in nodes if node.kind == "continuous"]
        return self._derivatives(names, known.copy(), values, t, x)

    def _derivatives(
        self,
        names: Iterable[str],
        xdot: Floats,
        values: Values,
        t: float,
        x: Floats,
        start: Floats | None = None,
    ) -> Floats:
        """xdot with the derivatives of the states of these blocks."""
        for name in names:
            node, part = self.node[name], self.continuous[name]
            try:
                inputs = [np.array(v) for v in node.inputs(values)]
                by = x if start is None or name not in self._limited else start
                xdot[part] = self._rates[name](t, inputs, by[part])
            except Exception as error:
                self.check_finite(t, values)  # its inputs may be the cause
                raise_failure(error, node, "deriv", t)
        if not np.isfinite(xdot).all():
            self.check_finite(t, values)
            block = not_finite(self.continuous, xdot)
            raise RunError("the derivative of its state is not finite", block=block, time=t)
        return xdot

    def tick(self, t: float, x: Floats, xd: Floats, due: Sequence[Clock]) -> Floats:
        return self.tick_of(self.outputs(t, x, xd, due), t, xd, due)

    def filled(self, t: float, x: Floats, xd: Floats) -> Floats:
        after = xd.copy()
        due = {clock.name for clock in self.clocks}
        values = self.outputs(t, x, xd, self.clocks)
        self._held.renew(after, self._restarted(xd, values), values, due)
        return after

    def tick_of(self, values: Values, t: float, xd: Floats, due: Sequence[Clock]) -> Floats:
        """The discrete states after a tick, from the outputs at that tick."""
        self.check_finite(t, values)
        after = xd.copy()
        before = self._restarted(xd, values)
        self._held.renew(after, before, values, {clock.name for clock in due})
        for name in (n for clock in due for n in clock.blocks if n in self._states):
            node, part = self.node[name], self.sampled[name]
            moved = values.after.get(name)
            after[part] = self._next(node, t, values, xd) if moved is None else moved
            if not _finite(after[part]):
                raise RunError("its next state is not finite", block=name, time=t)
        return after

    def _next(self, node: Node, t: float, values: Values, xd: Floats) -> Floats:
        """The state of a sampled node after a tick."""
        with Failing(node, "next", t):
            after: Floats = np.ravel(
                node.block.next(t, node.inputs(values), xd[self._states[node.name]])
            )
            return after

    def _restarted(self, xd: Floats, values: Values) -> Floats:
        """The discrete states at a tick; states that are reset at it have their initial values."""
        if not self._restarting:
            return xd
        before = xd.copy()
        for node in self._restarting:
            part = self._states[node.name]
            before[part] = at_tick(node.block, node.inputs(values), xd[part])
        return before

    def reach(self, t: float, x: Floats) -> float:
        blocks = {name: self.node[name].block for name in self.continuous}
        steps = [
            b.reach(x[self.continuous[n]])
            for n, b in blocks.items()
            if attribute(b, "reach") is not None
        ]
        return float(min(steps, default=np.inf))

    def project(self, t: float, x: Floats) -> Floats:
        out = x.copy()
        for name, rule in self._projected.items():
            node, part = self.node[name], self.continuous[name]
            if rule is not None:
                with Failing(node, "project", t):
                    out[part] = rule(node.block, x[part])
            else:
                out[part] = self._own(name, "project", t, x[part])
        return out

    @property
    def fixed(self) -> Sequence[str]:
        return [name for name in self.continuous if needs_fixed_steps(self.node[name].block)]

    def advance(self, t: float, h: float, x: Floats, xd: Floats) -> Mapping[str, Floats]:
        if not self._stepped:
            return {}
        values = self._evaluate(self._for_derivative, t, x, xd)
        after = {}
        for name in self._stepped:
            with Failing(self.node[name], "advance", t):
                inputs = [np.array(v) for v in self.node[name].inputs(values)]
            after[name] = self._own(name, "advance", t, h, inputs, x[self.continuous[name]])
        return after

    def _own(self, name: str, method: str, t: float, *arguments: Any) -> Floats:
        """The result of a block's method that takes its state; checked to have as many entries as
        the state.
        """
        node = self.node[name]
        first = arguments if method in ("project", "restart") else (t, *arguments)
        with Failing(node, method, t):
            out: Floats = np.asarray(getattr(node.block, method)(*first), dtype=float)
        if out.shape != arguments[-1].shape:
            text = f"{method} gives {out.shape}, its state is {arguments[-1].shape}"
            raise RunError(text, block=name, time=t)
        return out

    # --- signals -------------------------------------------------------------------

    def signals(self) -> Iterable[str]:
        return self._names

    def picked(self, names: Sequence[str]) -> Pick:
        sources = [self._names[name] for name in names]

        def pick(t: float, x: Floats, xd: Floats) -> list[Floats]:
            values = self.outputs(t, x, xd)
            self.check_finite(t, values)
            return [self._numbers(i, port, t, values) for i, port in sources]

        return pick

    def over(self, names: Sequence[str], t: Floats, x: Floats, xd: Floats) -> list[Floats]:
        sources = [self._names[name] for name in names]
        upstream = _upstream(self.wiring, [i for i, _ in sources], self._shown_as_held)
        nodes = [node for node in self._evaluated if node.index in upstream]
        samples: list[list[Floats]] = [[] for _ in names]
        for one, state, discrete in zip(t.tolist(), x, xd, strict=True):
            values = self._evaluate(nodes, one, state, discrete)
            for kept, (i, port) in zip(samples, sources, strict=True):
                kept.append(self._numbers(i, port, one, values))
        return [np.array(kept) for kept in samples]

    def _numbers(self, index: int, port: int, t: float, values: Values) -> Floats:
        """An output as a float array."""
        with Failing(self.nodes[index], "output", t):
            return np.array(values[index][port], dtype=float)

    def act(self, t: float, x: Floats, xd: Floats) -> None:
        values = self.outputs(t, x, xd)
        for name in self.display.acting:
            node = self.node[name]
            with Failing(node, "step", t):
                node.block.step(t, node.inputs(values))

    def explain(self, t: float, x: Floats, xd: Floats) -> None:
        self.refuse_states(t, x, xd)
        self.check_finite(t, self.outputs(t, x, xd))
        self.derivative(t, x, xd)

    def made_of(self) -> tuple[Diagram, Sequence[Node]]:
        return self.diagram, self.nodes

    def plant_state(self, block: str) -> Any:
        return attribute(self.node[block].block, "plant_state")

    # --- events ----------------------------------------------------------------------

    @cached_property
    def crossings(self) -> Sequence[Crossing]:
        return [crossing for _, watched in self._watching for crossing in watched.values()]

    @cached_property
    def _watching(self) -> list[tuple[Node, dict[int, Crossing]]]:
        """The nodes with zero-crossing functions, and the crossings of these by number. Found by
        one evaluation, since a CLIP has as many crossings as its signal has entries.
        """
        x, xd = self.initial()
        values = self.start_outputs
        nodes = [node for node in self.nodes if rule_of(node.block).watch is not None]
        found = [crossings_of(n, len(self._watched(n, 0.0, values, x, xd))) for n in nodes]
        whole = iter(with_signals([one for own in found for one in own], self.wiring, self.holds))
        parts = [dict(enumerate(islice(whole, len(own)))) for own in found]
        return [(node, part) for node, part in zip(nodes, parts, strict=True) if part]

    def seeing(self, signals: Collection[str]) -> Interpreter:
        if all(crossing.is_seen(signals) for crossing in self.crossings):
            return self
        parts = [
            (node, {k: crossing for k, crossing in part.items() if crossing.is_seen(signals)})
            for node, part in self._watching
        ]
        other = copy(self)
        other.__dict__.pop("crossings")
        other.__dict__["_watching"] = [(node, part) for node, part in parts if part]
        return other

    def _watched(self, node: Node, t: float, values: Values, x: Floats, xd: Floats) -> list[Any]:
        watch = rule_of(node.block).watch
        assert watch is not None
        with Failing(node, "its condition", t):
            state = self._state(node, x, xd)
            return [float(v) for v in watch(node.block, t, node.inputs(values), state)]

    def watch(self, t: float, x: Floats, xd: Floats) -> Floats:
        return self.watch_of(self.outputs(t, x, xd), t, x, xd)

    def watch_of(self, values: Values, t: float, x: Floats, xd: Floats) -> Floats:
        """Values of the zero-crossing functions, from known outputs."""
        found = [
            value
            for node, part in self._watching
            for k, value in enumerate(self._watched(node, t, values, x, xd))
            if k in part
        ]
        return np.array(found, dtype=float)

    def reset(self, k: int, t: float, x: Floats, xd: Floats) -> tuple[Floats, Floats]:
        node = self.node[self.crossings[k].block]
        x, xd = x.copy(), xd.copy()
        if self.crossings[k].kind == "mode":
            part = self.continuous[node.name]
            inputs = node.inputs(self.outputs(t, x, xd))
            x[part] = self._own(node.name, "switch", t, inputs, x[part])
            return x, xd
        number = self.crossings[k].jump
        if number is not None:
            part = self.continuous[node.name]
            inputs = node.inputs(self.outputs(t, x, xd))
            x[part] = self._own(node.name, "jump", t, number, inputs, x[part])
            if not _finite(x[part]):
                text = f"its jump gives {shown(x[part])} for its states"
                raise RunError(text, block=node.name, time=t)
            return x, xd
        states = {self.node[name].block: x[part] for name, part in self.continuous.items()}
        states |= {self.node[name].block: xd[part] for name, part in self._states.items()}
        with Failing(node, "its function", t):
            call_event(node.block, BlockStates(states))
        for block, state in states.items():
            if not _finite(state):
                text = f"its function gives {shown(state)} for the state of {block.name}"
                raise RunError(text, block=node.name, time=t)
        return self.restarted(t, x, xd)

    def restarted(self, t: float, x: Floats, xd: Floats) -> tuple[Floats, Floats]:
        """The states as the methods `restart` make them after an EVENT has set them."""
        x, xd = x.copy(), xd.copy()
        for vector, parts in ((x, self.continuous), (xd, self._states)):
            for name, part in parts.items():
                if attribute(self.node[name].block, "restart"):
                    vector[part] = self._own(name, "restart", t, vector[part])
        return x, xd

    def next_stop(self, x: Floats) -> float:
        stops = [self.node[n].block.next_stop(x[self.continuous[n]]) for n in self._stopping]
        return float(min(stops, default=np.inf))

    def completed(self, t: float, x: Floats, xd: Floats) -> Sequence[int]:
        if not self._completing:
            return ()
        values = self.outputs(t, x, xd)
        asking = []
        for name in self._completing:
            node = self.node[name]
            with Failing(node, "completed", t):
                inputs, state = node.inputs(values), x[self.continuous[name]]
                if node.block.completed(t, inputs, state):
                    asking.append(self._mode_of(name))
        return asking

    def jump_inputs(self, t: float, x: Floats, xd: Floats) -> Sequence[Any]:
        if not self._jumping:
            return ()
        values = self.outputs(t, x, xd)
        return [self.node[name].inputs(values) for name in self._jumping]

    def jumped(self, before: Sequence[Any], t: float, x: Floats, xd: Floats) -> Sequence[int]:
        found = []
        now = self.jump_inputs(t, x, xd)
        for name, then, inputs in zip(self._jumping, before, now, strict=True):
            with Failing(self.node[name], "jumped", t):
                if self.node[name].block.jumped(then, inputs, x[self.continuous[name]]):
                    found.append(self._mode_of(name))
        return found

    def _mode_of(self, name: str) -> int:
        """The first mode crossing of a block."""
        places = enumerate(self.crossings)
        return next(k for k, c in places if c.block == name and c.kind == "mode")

    def failure(self, k: int, t: float, x: Floats, xd: Floats) -> RunError:
        node = self.node[self.crossings[k].block]
        if isinstance(node.block, LoopCheck):
            loop = node.block.loop
            residual = loop.residual_of(self.outputs(t, x, xd))
            return RunError(loop.fault(residual), time=t, hint=loop.hint)
        inputs = node.inputs(self.outputs(t, x, xd))
        text = node.block.fault(t, inputs, self._state(node, x, xd))
        return RunError(text, block=node.name, time=t)

    def switches(self) -> Iterable[SwitchTimes]:
        for node in self.nodes:
            edges, tunable = rule_of(node.block).edges, rule_of(node.block).tunable
            with Failing(node, "start", 0.0):
                if edges is None:
                    times = started(node, self.run.T)
                else:
                    times = exact_edges(node.block, edges, tunable)
            for first, period in times:
                yield SwitchTimes(node.name, as_exact(first), as_exact(period))

    # --- checks --------------------------------------------------------------------

    def check_finite(self, t: float, values: Values) -> None:
        """Raise RunError naming the first output, in order of evaluation, that is not finite.

        Nodes that were not evaluated have no values and pass.
        """
        for node in self._evaluated:
            for k, value in enumerate(values[node.index]):
                if not _finite(value):
                    raise RunError(
                        f"its output is not finite ({shown(value)})",
                        block=node.output_name(k),
                        time=t,
                        hint=_inputs_of(node, values),
                        place=node.place,
                    )

    def check_shapes(self, t: float, x: Floats, xd: Floats) -> None:
        """Raise DiagramError for every wire whose shape its input does not accept."""
        x0, xd0 = self.initial()
        if t == 0.0 and np.array_equal(x, x0) and np.array_equal(xd, xd0):
            checked = self._checked_start
            self.derivative_of(self.start_outputs if self.holds else checked, t, x)
        else:
            self._checked(t, x, xd)
            self.derivative(t, x, xd)


def _rate(block: Any) -> Callable[[float, list[Any], Floats], Any]:
    """The derivative of a block's state: by its own method, or by the rule that corrects it."""
    corrected = correction(block)
    return partial(corrected, block) if corrected else block.deriv


def _upstream(wiring: FlatDiagram, ends: Iterable[int], held: Collection[int]) -> set[int]:
    """The nodes `ends` and all that their inputs depend on. Held outputs count as independent."""
    found = set(ends)
    pending = [source for end in found for source, _ in wiring.nodes[end].sources]
    while pending:
        index = pending.pop()
        if index not in found:
            found.add(index)
            if index not in held:
                pending += [source for source, _ in wiring.nodes[index].waits_for]
    return found


def _slices(nodes: Iterable[Node]) -> dict[str, slice]:
    slices: dict[str, slice] = {}
    start = 0
    for node in nodes:
        width = node.block.nstates if node.kind == "continuous" else node.block.ndstates
        slices[node.name] = slice(start, start + width)
        start += width
    return slices


def _inputs_of(node: Node, values: Values) -> str | None:
    """What an output was computed from, for its message."""
    read = [(port.name, values[index][k]) for (index, k), port in _read(node) if values[index]]
    told = [f"{name} = {shown(value)}" for name, value in read[:4]]
    return f"computed from {', '.join(told)}" if told else None


def _read(node: Node) -> Iterable[Any]:
    """The sources of the inputs that a node's output reads, with their ports."""
    return zip(node.sources, node.in_ports, strict=False) if node.feedthrough else ()


def _finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    array = np.asarray(value)
    if array.dtype.kind == "c":  # Python's roots and powers of numbers below zero
        return False
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


class Failing:
    """A context in which any exception becomes a RunError that names the block.

    method: the method of the block, or a description. refuses: whether an InputError stays an
    InputError. This is a class because it is faster than a generator.
    """

    __slots__ = ("method", "node", "refuses", "t")

    def __init__(self, node: Node, method: str, t: float, *, refuses: bool = False) -> None:
        self.node, self.method, self.t, self.refuses = node, method, t, refuses

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if not isinstance(error, Exception) or isinstance(error, RunError):
            return
        if self.refuses and isinstance(error, InputError):
            return
        raise_failure(error, self.node, self.method, self.t)


def raise_failure(error: Exception, node: Node, method: str, t: float) -> NoReturn:
    """Raise the exception of a block's method as a RunError that names the block; a RunError as it
    is.
    """
    if isinstance(error, RunError):
        raise error
    if isinstance(error, SpartError):
        text, _, hint = str(error).partition("\n")
    else:
        text = f"{method} failed: {type(error).__name__}: {error}"
        hint = raised_in(error)
    raise RunError(
        text, block=node.name, time=t, hint=hint.strip() or None, place=node.place
    ) from error
