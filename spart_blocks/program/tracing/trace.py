"""Tracing: evaluates a diagram once with symbols, and makes a program of the expressions."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram import Diagram
from spart_blocks.diagram.build.paused_collector import collector_paused
from spart_blocks.diagram.network.clocks import clocks_of
from spart_blocks.diagram.network.display import display_of
from spart_blocks.diagram.network.flatten import FlatDiagram, Node
from spart_blocks.program.declared import with_units
from spart_blocks.program.program import Program, Slot
from spart_blocks.program.tracing.evaluation import Evaluation
from spart_blocks.program.tracing.faults import OfBlock, tracing
from spart_blocks.program.tracing.holds import holds_of, with_holds
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
from spart_blocks.program.tracing.switching import Crossing, crossings_of, started
from spart_blocks.program.tracing.symbol import Symbol, box, column_of, is_number, symbols
from spart_blocks.program.tracing.updates import updates_of


def traced(diagram: Diagram, wiring: FlatDiagram, *, resets: bool = True) -> Program:
    """The program of a diagram all of whose gains are known.

    wiring: its flattened form, or a part of it. resets: whether to trace the effect of EVENT
    functions on states, which calls each of them once. Raises TraceError naming the block, the
    line and the reason if a block cannot be an expression.
    """
    with collector_paused(), tracing(diagram.name):
        return _traced(diagram, wiring, resets)


def _traced(diagram: Diagram, wiring: FlatDiagram, resets: bool) -> Program:
    clocks = clocks_of(list(wiring.of_kind("sampled")), diagram.run.first_tick)
    holds = holds_of(wiring, clocks)
    clocks = with_holds(clocks, holds)
    traced = Evaluation(wiring, diagram.origins, diagram.robots, diagram.tunable, holds)
    signals, columns = _signals(traced)
    updates, handovers = updates_of(traced, wiring, clocks, holds)
    crossings, watched = _crossings(traced)
    crossings = with_signals(crossings, wiring, holds)
    switching, edges, declared_until = _edges(traced, diagram.run.T)
    stepped, advance = _own_steps(traced, wiring)
    rates = [traced.change(node, "deriv") for node in wiring.of_kind("continuous")]
    return Program(
        name=diagram.name,
        run=diagram.run,
        display=with_units(
            display_of(wiring),
            diagram.declared,
            traced.parameters.slots,
            traced.parameters.origins,
        ),
        states=traced.states,
        discrete=traced.discrete,
        parameters=traced.parameters.slots,
        signals=signals,
        clocks=clocks,
        crossings=crossings,
        switching=switching,
        declared_until=declared_until,
        p=traced.parameters.p,
        start=traced.parameters.start,
        origins=traced.parameters.origins,
        plants={n.name: n.block.plant_state for n in wiring.nodes if _is_plant(n)},
        rates=traced.function("rates", rates, "xdot"),
        held=_held(traced, wiring, rates),
        outputs=traced.function("outputs", columns, "y"),
        updates=updates,
        holds=holds,
        handovers=handovers,
        watched=traced.function("watched", watched, "g"),
        edges=edges,
        project=_projection(traced, wiring),
        stepped=stepped,
        fixed=tuple(n.name for n in wiring.of_kind("continuous") if needs_fixed_steps(n.block)),
        advance=advance,
        reach=_reach(traced, wiring),
        random=_random(traced, wiring),
        drifting=tuple(n.name for n in wiring.of_kind("continuous") if drifts(n.block)),
        damped=tuple(n.name for n in wiring.of_kind("continuous") if passes_singular(n.block)),
        resets=(_resets(traced) if resets else {}) | _jumps(traced, crossings),
        switched=_switched(traced, crossings),
        restarted=_restarts(traced),
    )


def _is_plant(node: Node) -> bool:
    """Whether the initial state of a node is given by entries such as qm and um."""
    return node.kind == "continuous" and attribute(node.block, "plant_state") is not None


def _signals(traced: Evaluation) -> tuple[tuple[Slot, ...], list[Any]]:
    """All outputs in the order of evaluation."""
    slots, columns, start = [], [], 0
    for node in traced.order:
        for k, value in enumerate(traced.values[node.index]):
            shape = () if isinstance(value, Symbol | float) else box(value).shape
            slot = Slot(node.output_name(k), start, shape)
            start = slot.part.stop
            slots.append(slot)
            columns.append(value)
    return tuple(slots), columns


# --- events ------------------------------------------------------------------------------


def _crossings(traced: Evaluation) -> tuple[tuple[Crossing, ...], list[Any]]:
    found: list[Crossing] = []
    values: list[Any] = []
    for node in traced.nodes:
        watch = rule_of(node.block).watch
        if watch is not None:
            block = traced.block(node)
            watched = traced.run(node, lambda t, inputs, x, w=watch, b=block: w(b, t, inputs, x))
            with OfBlock(node):
                found += crossings_of(node, len(watched))
                values += watched
    return tuple(found), [np.array(values, dtype=object)] if values else []


def _edges(traced: Evaluation, until: float) -> tuple[tuple[str, ...], Any, float | None]:
    """The names of the blocks that switch at known times; the Function p -> (first, period) for
    each; and the time [s] up to which users' blocks have declared theirs, None without such
    blocks.
    """
    names, rows, declared = [], [], False
    for node in traced.nodes:
        edges = rule_of(node.block).edges
        if edges is None and type(node.block).__module__.startswith("bdsim."):
            continue
        with OfBlock(node):
            times = started(node, until) if edges is None else list(edges(traced.block(node)))
            declared = declared or bool(edges is None and times)
            for first, period in times:
                names.append(node.name)
                rows += [box(first), box(period)]
    column = ca.densify(column_of(rows))
    function = ca.Function("edges", [traced.parameters.column], [column], ["p"], ["edges"])
    return tuple(names), function, until if declared else None


def _random(traced: Evaluation, wiring: FlatDiagram) -> dict[str, int]:
    """For random blocks the number of entries of the state that are random sequences."""
    found = {
        node.name: random_entries(node.block, len(traced.state[node.index]))
        for node in wiring.of_kind("sampled")
    }
    return {name: count for name, count in found.items() if count}


def _projection(traced: Evaluation, wiring: FlatDiagram) -> Any:
    """x projected onto its constraints; None without constraints."""
    nodes = list(wiring.of_kind("continuous"))
    parts = [_projected(traced, node) for node in nodes]
    if all(part is traced.state[node.index] for node, part in zip(nodes, parts, strict=True)):
        return None
    return traced.function("project", parts, "x_projected")


def _projected(traced: Evaluation, node: Node) -> Any:
    x, block, rule = traced.state[node.index], traced.block(node), rule_of(node.block)
    if rule.project is not None:
        with OfBlock(node):
            return rule.project(block, x)
    own = attribute(block, "project")
    if own is None:
        return x
    return traced.moved(node, traced.run(node, lambda t, inputs, x: own(x)), "project")


def _reach(traced: Evaluation, wiring: FlatDiagram) -> Any:
    """The longest step that all blocks allow; None if none has a limit."""
    steps = []
    for node in wiring.of_kind("continuous"):
        own = attribute(traced.block(node), "reach")
        if own is not None:
            steps.append(traced.run(node, lambda t, inputs, x, own=own: own(x)))
    if all(is_number(step) and np.isinf(step) for step in steps):
        return None
    least = steps[0]
    for step in steps[1:]:
        least = np.minimum(least, step)
    return traced.function("reach", [box(least).reshape(1)], "h")


def _held(traced: Evaluation, wiring: FlatDiagram, rates: list[Any]) -> Any:
    """(t, x, xd, p, x_start) -> xdot, in which limits act by the state at the start of a step;
    None without limits.
    """
    column, start = symbols("start", (traced.x_column.numel(),))
    parts, limited = list(rates), False
    for k, (node, slot) in enumerate(zip(wiring.of_kind("continuous"), traced.states, strict=True)):
        deriv = correction(node.block)
        if deriv is not None:
            with OfBlock(node):
                rate = deriv(traced.block(node), traced.t, traced.inputs(node), start[slot.part])
            parts[k], limited = traced.moved(node, rate, "deriv"), True
    return traced.function("held", parts, "xdot", x_start=column) if limited else None


def _own_steps(traced: Evaluation, wiring: FlatDiagram) -> tuple[tuple[str, ...], Any]:
    """The blocks with a one-step map, and the Function (t, x, xd, p, h) -> x at t + h, which keeps
    the states of other blocks.
    """
    stepped, parts = [], []
    h_column, h = symbols("h", (1,))
    for node in wiring.of_kind("continuous"):
        part = traced.state[node.index]
        if attribute(node.block, "advance") is not None:
            stepped.append(node.name)
            part = traced.moved(node, traced.run(node, traced.block(node).advance, h[0]), "advance")
        parts.append(part)
    if not stepped:
        return (), None
    return tuple(stepped), traced.function("advance", parts, "x_next", h=h_column)


def _switched(traced: Evaluation, crossings: tuple[Crossing, ...]) -> Any:
    """x after each block with modes has switched; None without such blocks."""
    switching = {crossing.block for crossing in crossings if crossing.kind == "mode"}
    parts = []
    for node in (node for node in traced.nodes if node.kind == "continuous"):
        part = traced.state[node.index]
        if node.name in switching:
            block, own = traced.block(node), rule_of(node.block).switch
            moved = traced.run(node, partial(own, block) if own else block.switch)
            part = traced.moved(node, moved, "switch")
        parts.append(part)
    return traced.function("switched", parts, "x_switched") if switching else None


def _jumps(traced: Evaluation, crossings: tuple[Crossing, ...]) -> dict[str, Any]:
    """The effects of the jumps that blocks make of their own states."""
    functions = {}
    by_name = {node.name: node for node in traced.nodes}
    for crossing in crossings:
        if crossing.jump is None:
            continue
        node = by_name[crossing.block]
        moved = traced.run(node, traced.block(node).jump, crossing.jump)
        states = dict(traced.state) | {node.index: traced.moved(node, moved, "jump")}
        functions[crossing.event] = _all_states(traced, states, "reset")
    return functions


def _restarted(block: Any, x: Any) -> Any:
    """The state of a block after an EVENT has set it, corrected by the block's method `restart`."""
    return block.restart(x) if attribute(block, "restart") is not None else x


def _restarts(traced: Evaluation) -> Any:
    """All states after the methods `restart` of their blocks; None where no EVENT can set them, no
    block has the method, or one cannot be traced.
    """
    restarting = any(attribute(node.block, "restart") is not None for node in traced.nodes)
    if restarting and any(node.block.type == "event" for node in traced.nodes):
        with suppress(Exception):  # whatever a user's method does; a run in Python calls it itself
            return _all_set(traced, {i: x.copy() for i, x in traced.state.items()}, "restarted")
    return None


def _all_set(traced: Evaluation, states: Mapping[int, Any], name: str) -> Any:
    """The Function to all states after an EVENT has set those of nodes, by index."""
    nodes = [traced.nodes[i] for i in states]
    after = {n.index: _restarted(traced.block(n), states[n.index]) for n in nodes}
    return _all_states(traced, after, name)


def _all_states(traced: Evaluation, states: Mapping[int, Any], name: str) -> Any:
    """The Function to all states, of nodes by index, and held outputs, which may be states of their
    blocks.
    """
    after = traced.shown | {traced.nodes[i].name: x for i, x in states.items()}
    columns = [after[slot.name] for slot in (*traced.states, *traced.discrete)]
    return traced.function(name, columns, "states")


def _resets(traced: Evaluation) -> dict[str, Any]:
    """The effects of EVENT functions on states, for those that can be traced."""
    functions = {}
    for node in traced.nodes:
        if node.block.type != "event":
            continue
        states = {i: box(x.copy()) for i, x in traced.state.items()}
        try:
            by_block = {traced.nodes[i].block: x for i, x in states.items()}
            call_event(node.block, BlockStates(by_block))
            functions[node.name] = _all_set(traced, states, "reset")
        except Exception:  # whatever a user's function does; a run in Python calls it itself
            continue
    return functions
