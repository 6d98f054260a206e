"""Models of plants for filters: traced and discretised, with exact derivatives.

`find_models` computes the models that blocks leave open, before tracing, as `with_gains` does for
gains. A model is given by formulas, or by blocks with the loop opened at their control inputs. It
works with numbers and with symbols, so that both engines, exported C and FMUs have the same
expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import DiagramError, Fault, InputError, did_you_mean
from spart_blocks.block_support.plants.model_source import FormulaModel, PlantModel
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram import Diagram, as_diagram
from spart_blocks.diagram.network.algebraic_loops import uncut
from spart_blocks.diagram.network.flatten import FlatDiagram, Node, Source
from spart_blocks.program.tracing.cuts import only
from spart_blocks.program.tracing.evaluation import Evaluation
from spart_blocks.program.tracing.open_loop import inlet_name, with_inlets
from spart_blocks.program.tracing.plant_names import find_entries, find_plants
from spart_blocks.program.tracing.symbol import TraceError, column_of, scalars, symbols
from spart_blocks.program.tracing.symbol_array import has_symbols

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TracedModel:
    """x(k+1) = f(t, x, u, p), y = h(t, x, u, p), and their derivatives by x.

    n, m, q: lengths of x, u, y. x0: initial state of the plant. f, h: CasADi Functions of columns,
    whose results are the entries of the value, then those of its derivative row by row.
    """

    n: int
    m: int
    q: int
    x0: Floats
    f: Any
    h: Any

    def moved(self, t: Any, x: Any, u: Any, p: Any) -> tuple[Any, Any]:
        """The next state (n,), and its derivative by the state (n, n)."""
        return self._called(self.f, t, x, u, p)

    def seen(self, t: Any, x: Any, u: Any, p: Any) -> tuple[Any, Any]:
        """The measurements (q,), and their derivative by the state (q, n)."""
        return self._called(self.h, t, x, u, p)

    def _called(self, function: Any, *values: Any) -> tuple[Any, Any]:
        if has_symbols(list(values)):
            flat: Any = scalars(function(*(column_of([value]) for value in values)))
        else:
            flat = np.array(function(*(np.ravel(value) for value in values))).ravel()
        size = len(flat) // (self.n + 1)
        return flat[:size], flat[size:].reshape(size, self.n)


def find_models(
    diagram: Diagram,
    nodes: Sequence[Node],
    wiring: FlatDiagram,
    wired: Callable[[Diagram], FlatDiagram],
) -> None:
    """Set the models of the filters in a flat diagram. wired: flattens another diagram. Raises
    DiagramError, at the place in the file, if there is no model.
    """
    for node in nodes:
        try:
            model, place = node.block.model_source, f"blocks.{node.name}"
            if isinstance(model, FormulaModel):
                found = _of_formulas(model, node.block)
            else:
                other = None if model.diagram is None else wired(as_diagram(model.diagram))
                found = _of_plant(model, other or wiring, node.block)
            node.block.found(found)
        except InputError as error:
            label = f"{node.name} ({type(node.block).__name__.upper()})"
            raise DiagramError(
                [
                    Fault(f"{label}: {fault.message}", diagram.places.get(place), fault.hint)
                    for fault in error.faults
                ]
            ) from None


# --- formulas ---------------------------------------------------------------------------------


def _of_formulas(source: FormulaModel, block: Any) -> TracedModel:
    columns: list[Any] = []
    known: dict[str, Any] = {}
    for group in ({"t": ()}, dict.fromkeys(source.states, ()), dict.fromkeys(source.inputs, ()),
                  dict(source.params)):  # fmt: skip
        found = {name: symbols(name, shape) for name, shape in group.items()}
        columns.append(ca.vertcat(ca.SX(0, 1), *(column for column, _ in found.values())))
        known |= {name: value[()] for name, (_, value) in found.items()}
    f, h = (_values(formulas, known) for formulas in (source.f, source.h))
    return _model(columns, f, h, np.zeros(len(source.states)), block, source.continuous)


def _values(formulas: Sequence[Any], known: Mapping[str, Any]) -> Any:
    """The column of the values of some formulas."""
    values = [formula.value(known) for formula in formulas]
    for formula, value in zip(formulas, values, strict=True):
        if np.ndim(value):
            raise InputError(f"formula {formula.text!r} gives {np.shape(value)}, not a number")
    return column_of(values)


# --- plants of diagrams -------------------------------------------------------------------------


def _of_plant(source: PlantModel, wiring: FlatDiagram, block: Any) -> TracedModel:
    wiring = uncut(wiring)
    plants = find_plants(wiring, source.plant)
    entries = find_entries(wiring, plants, source.inputs)
    nodes = with_inlets(wiring, entries)
    order = (*range(len(wiring.nodes), len(nodes)), *wiring.schedule)
    whole = FlatDiagram(tuple(nodes), order, {}, {}, wiring.loops)
    outputs = [_output(whole, name) for name in source.outputs]
    inside = whole.upstream({plant.index for plant in plants} | {i for i, _ in outputs})
    for i in sorted(inside):
        _refuse(nodes[i], plants[0])
    part = only(whole, inside)
    index = {node.name: node.index for node in part.nodes}
    try:
        traced = Evaluation(part, {})
        moving = list(part.of_kind("continuous"))
        rates = [traced.change(node, "deriv") for node in moving]
        y = [traced.values[index[nodes[i].name]][k] for i, k in outputs]
        function = traced.function("model", [*rates, *y], "y")
    except TraceError as error:
        raise InputError(f"plant: it cannot be traced: {error}") from error
    t, x = ca.SX.sym("t"), ca.SX.sym("x", traced.x_column.numel())
    u = ca.SX.sym("u", sum(entry.size for entry in entries))
    p, done = ca.SX(traced.parameters.p), 0
    slots = {slot.name: slot.part for slot in traced.parameters.slots}
    for entry in entries:
        p[slots[f"{inlet_name(entry)}.value"]] = u[done : done + entry.size]
        done += entry.size
    value = function(t, x, ca.SX(0, 1), p)
    n = x.numel()
    x0 = np.concatenate([np.ravel(np.asarray(node.block.getstate0(), float)) for node in moving])
    columns = [t, x, u, ca.SX.sym("p", 0)]
    return _model(columns, value[:n], value[n:], x0, block, continuous=True)


def _output(wiring: FlatDiagram, name: str) -> Source:
    known = {
        node.output_name(k): (node.index, k)
        for node in wiring.nodes
        for k in range(len(node.out_ports))
        if "=" not in node.name
    }
    alone = {node.name: (node.index, 0) for node in wiring.nodes if len(node.out_ports) == 1}
    found = known.get(name) or alone.get(name)
    if found is None:
        hint = did_you_mean(name, [*known, *alone])
        raise InputError(Fault(f"outputs: there is no signal {name!r}", hint=hint))
    return found


def _refuse(node: Node, plant: Node) -> None:
    """Raise InputError for a block that cannot be part of a plant's model."""
    if attribute(node.block, "pending", False):
        text = f"plant: what moves {plant.name} depends on {node.name}, which is not known yet"
        raise InputError(Fault(text, hint="name the inputs at which the loop is opened"))
    if node.kind == "sampled":
        text = f"plant: what moves {plant.name} depends on {node.name}, which has a clock"
        raise InputError(Fault(text, hint="name among the inputs the one that it moves"))


# --- discretised --------------------------------------------------------------------------------


def _model(
    columns: Sequence[Any], f: Any, h: Any, x0: Floats, block: Any, continuous: bool
) -> TracedModel:
    _, x, u, _ = columns
    if continuous:
        rates = ca.Function("rates", list(columns), [f])
        f = _runge_kutta(rates, columns, float(block.T), block.steps)

    def with_derivative(name: str, value: Any) -> Any:
        by = ca.densify(ca.jacobian(value, x))
        both = ca.cse(ca.vertcat(ca.densify(value), ca.reshape(by.T, -1, 1)))
        return ca.Function(name, list(columns), [both])

    f, h = with_derivative("f", f), with_derivative("h", h)
    n, q = x.numel(), h.numel_out(0) // (x.numel() + 1)
    return TracedModel(n, u.numel(), q, x0, f, h)


def _runge_kutta(rates: Any, columns: Sequence[Any], T: float, steps: int) -> Any:
    """x at the next tick by steps of the classical method of order 4, u held."""
    t, x, u, p = columns
    h = T / steps
    for k in range(steps):
        at = t + k * h
        k1 = rates(at, x, u, p)
        k2 = rates(at + h / 2, x + h / 2 * k1, u, p)
        k3 = rates(at + h / 2, x + h / 2 * k2, u, p)
        k4 = rates(at + h, x + h * k3, u, p)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x
