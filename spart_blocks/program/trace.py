"""Tracing: evaluate a diagram once on symbols, and keep the expressions as a program."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import scipy

from spart_blocks.diagram.clocks import clocks_of
from spart_blocks.diagram.flatten import Node, Wiring, flatten
from spart_blocks.diagram.model import Diagram
from spart_blocks.program.constructors import constructors_of_symbols
from spart_blocks.program.program import Program, Slot
from spart_blocks.program.rules import rule_of
from spart_blocks.program.symbol import (
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


class _Trace:
    """The symbols of one trace, and the outputs of the nodes evaluated so far."""

    def __init__(self, wiring: Wiring) -> None:
        self.nodes = wiring.nodes
        self.rules = {node.index: rule_of(node.block) for node in self._numeric()}
        for node in self._numeric():
            reason = self.rules[node.index].reason
            if reason:
                raise _error(node, reason)
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
                    array = np.asarray(value, dtype=float)
                    if np.isfinite(array).all():  # a limit at infinity is none
                        found.append((node, name, array))
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
            given = node.block.__dict__[name]
            blocks[node.index].__dict__[name] = _like(given, symbol)
        p = np.concatenate([np.zeros(0), *(value.ravel() for _, _, value in found)])
        return blocks, tuple(slots), p

    def inputs(self, node: Node) -> list[Any]:
        """What the wires bring to a node: its own copies, for it may write into them."""
        inputs = [self.values[source][port] for source, port in node.sources]
        for k, port in enumerate(node.in_ports):
            if port.shape == (1,) and np.ndim(inputs[k]) == 0:
                inputs[k] = box(inputs[k]).reshape(1)
        return [value.copy() if isinstance(value, np.ndarray) else value for value in inputs]

    def _outputs(self, node: Node) -> list[Any]:
        out = self._call(node, "output", blind=not node.feedthrough)
        if len(out) != len(node.out_ports):
            found, ports = len(out), len(node.out_ports)
            raise _error(node, f"output gives {found} values for {ports} output ports")
        return [_settled(node, value) for value in out]

    def change(self, node: Node, method: str) -> Any:
        """The derivative or the next state of a node: an array as long as its state."""
        value = _settled(node, self._call(node, method))
        out = box(np.zeros(self.state[node.index].shape))
        try:
            out[...] = value if method == "deriv" else np.ravel(value)
        except ValueError:
            shapes = f"{np.shape(value)}, its state is {out.shape}"
            raise _error(node, f"its method {method} gives {shapes}") from None
        return out

    def _call(self, node: Node, method: str, blind: bool = False) -> Any:
        """A method of a block on symbols, by its rule or its own code; once more with the
        constructors of float arrays replaced, where that breaks off."""
        block = self.blocks[node.index]
        own = getattr(self.rules[node.index], method)
        run = partial(own, block) if own is not None else getattr(block, method)
        state = self.state.get(node.index)

        def arguments() -> list[Any]:
            inputs = [None] * len(node.sources) if blind else self.inputs(node)
            return [self.t, inputs, None if state is None else state.copy()]

        try:
            return run(*arguments())
        except Exception as error:
            t, inputs, x = arguments()
            boxed = [box(value) if isinstance(value, np.ndarray) else value for value in inputs]
            try:
                with constructors_of_symbols():
                    return run(t, boxed, x)
            except Exception:
                raise _located(node, error) from error

    def function(self, name: str, values: list[Any], result: str) -> Any:
        """The CasADi Function (t, x, xd, p) -> all values in one column, with what occurs
        twice computed once."""
        arguments = [self.t_column, self.x_column, self.xd_column, self.p_column]
        column = ca.cse(ca.densify(column_of(values)))
        return ca.Function(name, arguments, [column], ["t", "x", "xd", "p"], [result])


def _copy(block: Any) -> Any:
    """A shallow copy; bdsim's __setattr__ would take a port's name for a wire."""
    twin = object.__new__(type(block))
    twin.__dict__.update(block.__dict__)
    return twin


def _like(value: Any, symbol: Any) -> Any:
    """The symbols in the container that the attribute was: NumPy treats lists in its own way."""
    return symbol.tolist() if isinstance(value, (list, tuple)) else unbox(symbol)


def _settled(node: Node, value: Any) -> Any:
    """A signal as later blocks see it: a number, a Symbol, or an array of them; numbers
    where it turned out constant."""
    if isinstance(value, (list, tuple)):
        value = np.array(value)
    if isinstance(value, np.ndarray):
        value = unbox(value)
    entries = value.flat if isinstance(value, SymbolArray) else [value]
    numeric = isinstance(value, np.ndarray) and value.dtype.kind in "fiub"
    if not numeric and not all(is_number(x) or isinstance(x, Symbol) for x in entries):
        kind = next(type(x) for x in entries if not (is_number(x) or isinstance(x, Symbol)))
        raise _error(node, f"it gives a {kind.__name__}, not numbers")
    return folded(value)


# --- errors -------------------------------------------------------------------------------------

_MACHINERY = tuple(
    str(Path(file).parent) for file in (__file__, np.__file__, scipy.__file__, ca.__file__)
)


def _error(node: Node, text: str, where: str = "") -> TraceError:
    return TraceError(f"block {node.name} ({node.block.type.upper()}){where}: {text}")


def _located(node: Node, error: Exception) -> TraceError:
    """The error with the block, and the last line of its code, or of what that called,
    before NumPy's and ours."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame for frame in frames if not frame.filename.startswith(_MACHINERY)]
    where = f" ({lines[-1].filename}:{lines[-1].lineno})" if lines else ""
    text = str(error) if isinstance(error, TraceError) else f"{type(error).__name__}: {error}"
    return _error(node, text, where)


def trace(diagram: Diagram, wiring: Wiring | None = None) -> Program:
    """The program of a diagram.

    Raises TraceError naming the block, the line and the reason where a block cannot be
    an expression.
    """
    wiring = wiring or flatten(diagram.bd, diagram.places)
    traced = _Trace(wiring)
    rates = [traced.change(node, "deriv") for node in wiring.of_kind("continuous")]
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
        rates=traced.function("rates", rates, "xdot"),
        outputs=traced.function("outputs", columns, "y"),
        updates=_updates(traced, wiring, diagram),
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


def _updates(traced: _Trace, wiring: Wiring, diagram: Diagram) -> dict[str, Any]:
    functions = {}
    sampled = list(wiring.of_kind("sampled"))
    for clock in clocks_of(sampled, diagram.run.first_tick):
        due = set(clock.nodes)
        after = [
            traced.change(node, "next") if node.index in due else traced.state[node.index]
            for node in sampled
        ]
        functions[clock.name] = traced.function("update", after, "xd_next")
    return functions
