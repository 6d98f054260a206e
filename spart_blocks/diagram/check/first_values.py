"""The initial signals of a diagram, from one evaluation."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.block_support.ports import as_signal, attribute, wrong_outputs
from spart_blocks.diagram.check.sizes import MOST_NUMBERS, expected_size
from spart_blocks.diagram.network.display import aliases_of
from spart_blocks.diagram.network.nodes import FlatDiagram, Node, Source

Shape = tuple[int, ...]
SHAPE_WORDS = ("broadcast", "shape", "dimension", "mismatch")
"""What NumPy's errors say where arrays do not fit together."""


@dataclass(frozen=True)
class Failure:
    """A failure: whether shapes did not fit, the text, and where it was raised."""

    of_shapes: bool
    text: str
    where: str | None = None


def first_values(wiring: FlatDiagram, inside: str) -> tuple[Mapping[str, Shape], Failure | None]:
    """The shapes by signal at t = 0, as far as they can be known, and what fails in the
    block or subsystem `inside`, if anything does.

    If a block fails at the start, signals that depend on it are unknown; a run reports the failure.
    """
    values, failures = start_values(wiring)
    nodes = [wiring.nodes[i] for i in failures]
    mine = [n for n in nodes if n.name == inside or n.name.startswith(f"{inside}/")]
    failure = failure_of(mine[0], failures[mine[0].index]) if mine else None
    shapes = {wiring.nodes[i].output_name(k): np.shape(v) for (i, k), v in values.items()}
    for alias, name in aliases_of(wiring).items():
        if name in shapes:
            shapes[alias] = shapes[name]
    return shapes, failure


def start_values(wiring: FlatDiagram) -> tuple[dict[Source, Any], dict[int, Exception]]:
    """Every known output at t = 0, and the exceptions of blocks, by their index."""
    values: dict[Source, Any] = {}
    failures: dict[int, Exception] = {}
    total = 0
    with np.errstate(all="ignore"):
        for node in _in_time(wiring):
            try:
                _evaluate(node, values)
                total += sum(np.size(value) for value in _of(node, values))
                if total > 2 * MOST_NUMBERS:  # it cannot run, which a run tells
                    break
            except _Unknown:
                continue
            except Exception as error:
                failures.setdefault(node.index, error)
    return values, failures


def output_shapes(wiring: FlatDiagram, wanted: Collection[int]) -> dict[Source, Shape]:
    """The shapes at t = 0 of the outputs of these nodes, by their index, as far as they can be
    known. No state is moved."""
    upstream, pending = set(wanted), list(wanted)
    while pending:
        for source, _ in wiring.nodes[pending.pop()].sources:
            if source not in upstream:
                upstream.add(source)
                pending.append(source)
    values: dict[Source, Any] = {}
    with np.errstate(all="ignore"):
        for node in (wiring.nodes[i] for i in wiring.schedule if i in upstream):
            try:
                inputs = _inputs(node, values, node.unread)
                _give_outputs(node, inputs, _state(node), values)
            except Exception:  # whatever a block raises; a run tells it
                continue
    return {source: np.shape(value) for source, value in values.items() if source[0] in wanted}


def failure_of(node: Node, error: Exception) -> Failure:
    """The failure for the error that a block raised."""
    label = f"{node.name} ({node.block.type.upper()})"
    if isinstance(error, _ShapeError):
        return Failure(True, f"{label}: {error}")
    frame = traceback.extract_tb(error.__traceback__)[-1]
    text = str(error)
    of_shapes = isinstance(error, ValueError) and any(word in text for word in SHAPE_WORDS)
    kind = "" if of_shapes or isinstance(error, _OutputsError) else f"{type(error).__name__}: "
    where = (
        None if isinstance(error, _OutputsError) else f"raised in {frame.filename}:{frame.lineno}"
    )
    return Failure(of_shapes, f"{label}: {kind}{text}", where)


class _ShapeError(ValueError):
    """A shape that does not fit a port or a state."""


class _OutputsError(ValueError):
    """Outputs that are no list of one value for each port."""


class _Unknown(Exception):  # noqa: N818 - a signal within this file
    """An input of the block is not known."""


def _in_time(wiring: FlatDiagram) -> list[Node]:
    """The blocks in the order of evaluation; those whose outputs do not wait for their
    inputs come once more at the end, with these."""
    order = [wiring.nodes[i] for i in wiring.schedule]
    return [*order, *(node for node in order if not node.feedthrough and node.sources)]


def _evaluate(node: Node, values: dict[Source, Any]) -> None:
    """Evaluate a block's outputs into values; raises if something does not fit."""
    if node.kind in ("sink", "graphics"):
        return
    state = _state(node)
    again = (node.index, 0) in values
    shown = node.showing == "next" and not again
    if shown:  # its outputs are known before its inputs are
        _give_outputs(node, _inputs(node, values, node.unread), state, values)
    inputs = _inputs(node, values, 0 if again or shown else node.unread)
    if (node.feedthrough or again) and expected_size(node, inputs) > MOST_NUMBERS:
        raise ValueError(f"the signal would have more than {MOST_NUMBERS:,} entries")
    if not (again or shown):
        _give_outputs(node, inputs, state, values)
    pending = attribute(node.block, "pending", False)
    if state is not None and not pending and (node.feedthrough or again):
        change = node.block.deriv if node.kind == "continuous" else node.block.next
        size = np.size(change(0.0, inputs, state))
        if size != state.size:
            raise _ShapeError(f"its state has {state.size} entries, its rate {size}")


def _state(node: Node) -> Any:
    if node.kind not in ("continuous", "sampled"):
        return None
    return np.ravel(np.asarray(node.block.getstate0(), float))


def _give_outputs(node: Node, inputs: list[Any], state: Any, values: dict[Source, Any]) -> None:
    pending = attribute(node.block, "pending", False)
    out = _zeros(node) if pending else node.block.output(0.0, inputs, state)
    if not isinstance(out, (list, tuple)) or len(out) != len(node.out_ports):
        raise _OutputsError(wrong_outputs(out, len(node.out_ports)))
    for port, value in enumerate(out):
        values[node.index, port] = as_signal(value)


def _zeros(node: Node) -> list[Any]:
    """Placeholders for the outputs of a block whose gain is not designed yet."""
    shapes = [port.shape for port in node.out_ports]
    if None in shapes:
        raise _Unknown
    return [np.zeros(shape) for shape in shapes if shape is not None]


def _inputs(node: Node, values: Mapping[Source, Any], unread: int = 0) -> list[Any]:
    """The inputs of a node, None for the first ones that are not read."""
    inputs: list[Any] = [None] * unread
    for port, source in zip(node.in_ports[unread:], node.sources[unread:], strict=True):
        if source not in values:
            raise _Unknown
        value = values[source]
        if port.shape == (1,) and np.ndim(value) == 0:
            value = np.reshape(value, (1,))  # bdsim's blocks give a vector of one as a scalar
        if port.shape is not None and np.shape(value) != port.shape:
            raise _ShapeError(f"{port.name} takes {port.shape}, its wire brings {np.shape(value)}")
        inputs.append(value)
    return inputs


def _of(node: Node, values: Mapping[Source, Any]) -> list[Any]:
    """The outputs of a block, as far as they are known."""
    ports = ((node.index, k) for k in range(len(node.out_ports)))
    return [values[port] for port in ports if port in values]
