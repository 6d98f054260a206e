"""Tracing: evaluate a diagram once on symbols, and keep the expressions as a program."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

import casadi as ca
import numpy as np

from spart_blocks.diagram.flatten import Node, Wiring, flatten
from spart_blocks.diagram.model import Diagram
from spart_blocks.program.program import Program, Slot
from spart_blocks.program.rules import Rule, rule_of
from spart_blocks.program.symbol import (
    Symbol,
    TraceError,
    box,
    column_of,
    symbols,
    unbox,
)
from spart_blocks.diagram.clocks import clocks_of


class _Trace:
    """The symbols of one trace, and the outputs of the nodes evaluated so far."""

    def __init__(self, wiring: Wiring) -> None:
        self.nodes = wiring.nodes
        self.rules = {node.index: rule_of(node.block) for node in self._numeric()}
        for node in self._numeric():
            reason = self.rules[node.index].reason
            if reason:
                raise TraceError(f"block {node.name} ({node.block.type.upper()}): {reason}")
        self.t_column, t = symbols("t", (1,))
        self.t = t[0]
        self.p_column = ca.SX(0, 1)
        self.states, self.x_column, x = self._state_symbols("continuous", "x")
        self.discrete, self.xd_column, xd = self._state_symbols("sampled", "xd")
        self.state = x | xd
        self.blocks, self.parameters, self.p = self._with_symbols_for_parameters()
        self.values: list[Sequence[Any]] = [()] * len(self.nodes)
        for i in wiring.schedule:
            if self.nodes[i].kind not in ("sink", "graphics"):
                self.values[i] = self._outputs(self.nodes[i])

    def _numeric(self) -> list[Node]:
        return [node for node in self.nodes if node.kind not in ("sink", "graphics")]

    def _state_symbols(
        self, kind: str, letter: str
    ) -> tuple[tuple[Slot, ...], Any, dict[int, Any]]:
        slots, start = [], 0
        for node in self.nodes:
            if node.kind == kind:
                width = len(np.ravel(node.block.getstate0()))
                slots.append(Slot(node.name, start, (width,)))
                start += width
        column, flat = symbols(letter, (start,))
        by_name = {node.name: node.index for node in self.nodes}
        return tuple(slots), column, {by_name[slot.name]: flat[slot.part] for slot in slots}

    def _with_symbols_for_parameters(
        self,
    ) -> tuple[dict[int, Any], tuple[Slot, ...], np.ndarray[Any, Any]]:
        """Copies of the blocks whose tunable attributes are symbols."""
        found: list[tuple[Node, str, np.ndarray[Any, Any]]] = []
        for node in self._numeric():
            if node.name.endswith("=0"):  # zeros for an input without a wire fold away
                continue
            for name in self.rules[node.index].tunable:
                value = node.block.__dict__.get(name)
                if value is not None and np.asarray(value).dtype.kind in "fiu":
                    found.append((node, name, np.asarray(value, dtype=float)))
        slots, start = [], 0
        for node, name, value in found:
            slots.append(Slot(f"{node.name}.{name}", start, value.shape))
            start += value.size
        self.p_column, flat = symbols("p", (start,))
        blocks = {node.index: node.block for node in self.nodes}
        for (node, name, value), slot in zip(found, slots, strict=True):
            if blocks[node.index] is node.block:
                blocks[node.index] = _copy(node.block)
            symbol = flat[slot.part].reshape(value.shape)
            blocks[node.index].__dict__[name] = unbox(symbol)
        p = np.concatenate([np.zeros(0), *(value.ravel() for _, _, value in found)])
        return blocks, tuple(slots), p

    def inputs(self, node: Node) -> list[Any]:
        inputs = [self.values[source][port] for source, port in node.sources]
        for k, port in enumerate(node.in_ports):
            if port.shape == (1,) and np.ndim(inputs[k]) == 0:
                inputs[k] = box(inputs[k]).reshape(1)
        return inputs

    def _outputs(self, node: Node) -> list[Any]:
        inputs = self.inputs(node) if node.feedthrough else [None] * len(node.sources)
        out = self.call(node, "output", inputs)
        return [_settled(value) for value in out]

    def call(self, node: Node, method: str, inputs: list[Any]) -> Any:
        """A method of a block on symbols, by its rule or its own code."""
        rule: Rule = self.rules[node.index]
        block = self.blocks[node.index]
        own = getattr(rule, method)
        try:
            if own is not None:
                return own(block, self.t, inputs, self.state.get(node.index))
            return getattr(block, method)(self.t, inputs, self.state.get(node.index))
        except Exception as error:
            _raise_with_line(node, error)


def _copy(block: Any) -> Any:
    """A shallow copy; bdsim's __setattr__ would take a port's name for a wire."""
    twin = object.__new__(type(block))
    twin.__dict__.update(block.__dict__)
    return twin


def _settled(value: Any) -> Any:
    """A signal as later blocks see it: a number, a Symbol, or an array of them."""
    if isinstance(value, list):
        return unbox(np.array(value))
    return unbox(value) if isinstance(value, np.ndarray) else value


def _raise_with_line(node: Node, error: Exception) -> NoReturn:
    """TraceError naming the block, and the line of its code where the trace broke off."""
    own = inspect.getfile(type(node.block))
    frames = traceback.extract_tb(error.__traceback__)
    function = getattr(node.block, "func", None)
    files = {own, inspect.getsourcefile(function) if inspect.isfunction(function) else own}
    lines = [frame for frame in frames if frame.filename in files]
    where = f" ({lines[-1].filename}:{lines[-1].lineno})" if lines else ""
    text = error if isinstance(error, TraceError) else f"{type(error).__name__}: {error}"
    kind = node.block.type.upper()
    raise TraceError(f"block {node.name} ({kind}){where}: {text}") from error


def trace(diagram: Diagram, wiring: Wiring | None = None) -> Program:
    """The program of a diagram.

    Raises TraceError naming the block, the line and the reason where a block cannot be
    an expression.
    """
    wiring = wiring or flatten(diagram.bd, diagram.places)
    traced = _Trace(wiring)
    arguments = [traced.t_column, traced.x_column, traced.xd_column, traced.p_column]
    rates = [
        traced.call(node, "deriv", traced.inputs(node)) for node in wiring.of_kind("continuous")
    ]
    names = ["t", "x", "xd", "p"]
    signals, columns = _signals(traced)
    return Program(
        name=diagram.name,
        states=traced.states,
        discrete=traced.discrete,
        parameters=traced.parameters,
        signals=signals,
        x0=_initial(wiring, "continuous"),
        xd0=_initial(wiring, "sampled"),
        p=traced.p,
        rates=ca.Function("rates", arguments, [column_of(rates)], names, ["xdot"]),
        outputs=ca.Function("outputs", arguments, [column_of(columns)], names, ["y"]),
        updates=_updates(traced, wiring, diagram, arguments),
    )


def _signals(traced: _Trace) -> tuple[tuple[Slot, ...], list[Any]]:
    slots, columns, start = [], [], 0
    for node in traced.nodes:
        for k, value in enumerate(traced.values[node.index]):
            slot = Slot(node.output_name(k), start, np.shape(box(value)))
            start = slot.part.stop
            slots.append(slot)
            columns.append(box(value))
    return tuple(slots), columns


def _initial(wiring: Wiring, kind: str) -> np.ndarray[Any, Any]:
    parts = [np.ravel(np.asarray(n.block.getstate0(), float)) for n in wiring.of_kind(kind)]
    return np.concatenate([np.zeros(0), *parts])


def _updates(
    traced: _Trace, wiring: Wiring, diagram: Diagram, arguments: list[Any]
) -> dict[str, Any]:
    functions = {}
    sampled = list(wiring.of_kind("sampled"))
    for clock in clocks_of(sampled, diagram.run.first_tick):
        after = [
            traced.call(node, "next", traced.inputs(node))
            if node.index in clock.nodes
            else traced.state[node.index]
            for node in sampled
        ]
        column = column_of(after)
        functions[clock.name] = ca.Function("update", arguments, [column])
    return functions
