"""Evaluates a diagram with symbols: every signal, derivative and update becomes an expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.errors import DiagramError
from spart_blocks.block_support.ports import wrong_outputs
from spart_blocks.diagram.build.origins import Origins
from spart_blocks.diagram.check.shapes import wrong_wires
from spart_blocks.diagram.network.flatten import FlatDiagram, Node
from spart_blocks.diagram.network.gates import at_tick
from spart_blocks.diagram.network.loop_block import AlgebraicLoop
from spart_blocks.program.program import Slot
from spart_blocks.program.tracing.constructors import constructors_of_symbols
from spart_blocks.program.tracing.faults import OfBlock, label_of, located
from spart_blocks.program.tracing.holds import HeldOutput
from spart_blocks.program.tracing.loops import solved
from spart_blocks.program.tracing.parameters import Matter, Parameters
from spart_blocks.program.tracing.rules import rule_of
from spart_blocks.program.tracing.symbol import (
    Symbol,
    SymbolArray,
    TraceError,
    box,
    column_of,
    folded,
    is_number,
    symbols,
    unbox,
)
from spart_blocks.robot import Robot


class Evaluation:
    """The evaluation of a flat diagram with symbols.

    t, state: symbols of time, and of the state of each node that has one. values: outputs of each
    node, held ones where they are held. order: nodes with outputs, in the order of evaluation.
    shown, renewed: for each held output by name its present value, and its value after a tick.
    """

    def __init__(
        self,
        wiring: FlatDiagram,
        origins: Origins,
        robots: Mapping[str, Robot] = MappingProxyType({}),
        tunable: Matter = (),
        holds: Sequence[HeldOutput] = (),
    ) -> None:
        self.nodes = wiring.nodes
        numeric = [node for node in self.nodes if node.kind not in ("sink", "graphics")]
        for node in numeric:
            reason = rule_of(node.block).reason
            if reason:
                raise _error(node, reason)
        self.t_column, t = symbols("t", (1,))
        self.t = t[0]
        self.states, self.x_column, x = self._state_symbols("continuous", "x")
        self.discrete, self.xd_column, xd = self._state_symbols("sampled", "xd")
        self.state = x | xd
        self.parameters = Parameters(numeric, origins, robots, tunable)
        self.values: list[Sequence[Any]] = [()] * len(self.nodes)
        self.order = [
            self.nodes[i] for i in wiring.schedule if self.nodes[i].kind not in ("sink", "graphics")
        ]
        self.renewed: dict[str, Any] = {}
        self.shown: dict[str, Any] = {}
        held = {one.index: one for one in holds}
        for node in self.order:
            one = held.get(node.index)
            self.values[node.index] = self._outputs(node) if one is None else self._held(node, one)

    def _state_symbols(
        self, kind: str, letter: str
    ) -> tuple[tuple[Slot, ...], Any, dict[int, Any]]:
        slots, start = [], 0
        for node in self.nodes:
            if node.kind == kind:
                with OfBlock(node):
                    width = np.asarray(node.block.getstate0(), dtype=float).size
                slots.append(Slot(node.name, start, (width,)))
                start += width
        column, flat = symbols(letter, (start,))
        by_name = {node.name: node.index for node in self.nodes}
        return tuple(slots), column, {by_name[slot.name]: flat[slot.part] for slot in slots}

    def block(self, node: Node) -> Any:
        """The block with symbols for its parameters."""
        return self.parameters.blocks.get(node.index, node.block)

    def inputs(self, node: Node, unread: int = 0) -> list[Any]:
        """Copies of the inputs of a node, since its block may change them. The first `unread`
        ones, which are not read, are None.
        """
        inputs: list[Any] = [None] * unread
        inputs += [self.values[source][port] for source, port in node.sources[unread:]]
        for k, port in enumerate(node.in_ports):
            if k >= unread and port.shape == (1,) and np.ndim(inputs[k]) == 0:
                inputs[k] = box(inputs[k]).reshape(1)
        return [value.copy() if isinstance(value, np.ndarray) else value for value in inputs]

    def _outputs(self, node: Node, state: Any = None) -> list[Any]:
        """The outputs of a node for its current state, or for another state."""
        if isinstance(node.block, AlgebraicLoop):
            return self._solved(node)
        if node.feedthrough:
            self._check_wires(node)
        out = self._call(node, "output", unread=node.unread, state=state)
        if not isinstance(out, (list, tuple)) or len(out) != len(node.out_ports):
            raise _error(node, wrong_outputs(out, len(node.out_ports)))
        with OfBlock(node):
            return [_settled(node, value) for value in out]

    def _solved(self, node: Node) -> list[Any]:
        """The outputs of a node that solves an algebraic loop."""
        loop, values = node.block, self.values

        def residual(z: Sequence[Any]) -> list[Any]:
            return list(loop.residual(z, values, lambda member, _: self._shown(member)))

        starts = loop.starts(values, self.block)
        inputs = [values[i][k] for i, k in node.sources]
        shapes = loop.settle(inputs, values, lambda member, _: self._shown(member))
        with OfBlock(node):
            return solved(loop, shapes, starts, residual, values)

    def _shown(self, node: Node) -> list[Any]:
        """The outputs of a node in an algebraic loop; for a sampled node those at its tick."""
        state = self.change(node, "next") if node.showing == "next" else None
        return self._outputs(node, state)

    def _check_wires(self, node: Node) -> None:
        """Raise DiagramError for wires with shapes that the node does not accept."""
        faults = wrong_wires(self.nodes, node, self.inputs(node))
        if faults:
            raise DiagramError(faults)

    def _held(self, node: Node, held: HeldOutput) -> list[Any]:
        """The held outputs of a sampled node: of its own state, or stored in an additional
        discrete state.
        """
        if held.shows == "next":
            self.renewed[held.name] = self.change(node, "next")
            self.shown[held.name] = self.state[node.index]
            return self._outputs(node)
        if held.shows == "state":
            state = self.state[node.index]
            inputs = self.inputs(node, node.unread)
            self.renewed[held.name] = at_tick(self.block(node), inputs, state)
            shown = self._more_discrete(held.name, state.size)
            self.parameters.start[held.name] = self.parameters.start[node.name]
            return self._outputs(node, shown)
        fresh = [box(value) for value in self._outputs(node)]
        parts = [np.ravel(value) for value in fresh]
        self.renewed[held.name] = np.concatenate(parts)
        ends = np.cumsum([len(part) for part in parts])[:-1]
        shown = np.split(self._more_discrete(held.name, len(self.renewed[held.name])), ends)
        return [unbox(part.reshape(np.shape(v))) for part, v in zip(shown, fresh, strict=True)]

    def _more_discrete(self, name: str, width: int) -> Any:
        """Symbols for an additional discrete state."""
        start = self.xd_column.numel()
        column, flat = symbols(f"h{start}", (width,))
        self.discrete = (*self.discrete, Slot(name, start, (width,)))
        self.xd_column = ca.vertcat(self.xd_column, column)
        self.shown[name] = flat
        return flat

    def depends(self, value: Any, on: Sequence[Any]) -> bool:
        """Whether a value depends on any of these symbols."""
        columns = [column_of([one]) for one in on]
        return bool(columns) and bool(ca.depends_on(column_of([value]), ca.vertcat(*columns)))

    def change(self, node: Node, method: str) -> Any:
        """The derivative or the next state of a node, an array of the length of its state."""
        self._check_wires(node)
        return self.moved(node, self._call(node, method), method)

    def moved(self, node: Node, value: Any, method: str) -> Any:
        """The result of a method of a node as an array of the length of its state."""
        with OfBlock(node):
            value = _settled(node, value)
        out = box(np.zeros(self.state[node.index].shape))
        try:
            if method in ("project", "advance", "switch", "jump") and np.shape(value) != out.shape:
                raise ValueError(method)
            out[...] = value if method == "deriv" else np.ravel(value)
        except ValueError:
            shapes = f"{np.shape(value)}, its state is {out.shape}"
            raise _error(node, f"its method {method} gives {shapes}") from None
        return out

    def _call(self, node: Node, method: str, unread: int = 0, state: Any = None) -> Any:
        """Call a method of a block with symbols: the one of its rule, or its own."""
        block = self.block(node)
        own = getattr(rule_of(node.block), method)
        run = partial(own, block) if own is not None else getattr(block, method)
        return self.run(node, run, unread=unread, state=state)

    def run(
        self,
        node: Node,
        run: Callable[..., Any],
        *first: Any,
        unread: int = 0,
        state: Any = None,
    ) -> Any:
        """Call a function of (t, *first, inputs, state) of a node with symbols. If it fails, it is
        repeated with the constructors of float arrays replaced.
        """
        state = self.state.get(node.index) if state is None else state

        def arguments() -> list[Any]:
            inputs = self.inputs(node, unread)
            return [self.t, *first, inputs, None if state is None else state.copy()]

        try:
            return run(*arguments())
        except Exception as error:
            t, *more, inputs, x = arguments()
            boxed = [box(value) if isinstance(value, np.ndarray) else value for value in inputs]
            try:
                with constructors_of_symbols():
                    return run(t, *more, boxed, x)
            except Exception:
                raise located(label_of(node), error, node.place) from error

    def function(self, name: str, values: list[Any], result: str, **more: Any) -> Any:
        """The CasADi Function (t, x, xd, p) -> all values in one column, without common
        subexpressions. more: further arguments after p, by name, with their columns.
        """
        columns = {
            "t": self.t_column,
            "x": self.x_column,
            "xd": self.xd_column,
            "p": self.parameters.column,
            **more,
        }
        column = ca.cse(ca.densify(column_of(values)))
        return ca.Function(name, list(columns.values()), [column], list(columns), [result])


def _settled(node: Node, value: Any) -> Any:
    """A signal in the form that later blocks get: a number, a Symbol, or an array of them; numbers
    if it is constant.
    """
    if isinstance(value, (list, tuple)):
        value = np.array(value)
    if isinstance(value, np.ndarray):
        value = unbox(value)
    entries = list(value.flat) if isinstance(value, SymbolArray) else [value]
    numeric = isinstance(value, np.ndarray) and value.dtype.kind in "fiub"
    if not numeric and not all(is_number(x) or isinstance(x, Symbol) for x in entries):
        kind = next(type(x) for x in entries if not (is_number(x) or isinstance(x, Symbol)))
        raise _error(node, f"it gives a {kind.__name__}, not numbers")
    return folded(value)


def _error(node: Node, text: str) -> TraceError:
    return TraceError(f"{label_of(node)}: {text}")
