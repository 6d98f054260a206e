"""The signals of a diagram at the initial time, from one evaluation of its blocks."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.network.display import aliases_of
from spart_blocks.diagram.network.nodes import FlatDiagram, Node, Source, WrongOutputsError

# --- Sizes of signals -----------------------------------------------------------------------------
# Limits on the sizes of signals, computed before a block is evaluated.
#
# A file of a few lines can produce signals of any size: a MUX of a thousand wires gives a vector a
# thousand times as long, and the product of a column and a row is a matrix.


MOST_NUMBERS = 1_000_000
"""Largest number of entries of all signals of a diagram together."""


def expected_size(node: Node, inputs: Sequence[Any]) -> int:
    """The number of entries of a block's output if it can be larger than the inputs;
    otherwise 0.
    """
    if all(type(value) is float for value in inputs):
        return 0  # even a MUX gives but as many
    kind, shapes = node.block.type.upper(), [np.shape(value) for value in inputs]
    if kind == "MUX":
        return sum(prod(shape) for shape in shapes)
    if kind == "GAIN":
        gain = np.shape(node.block.K)
        return _of_product([gain, *shapes] if node.block.premul else [*shapes, gain])
    if kind in ("SUM", "PROD"):
        try:
            together = prod(np.broadcast_shapes(*shapes))
        except ValueError:
            together = 0
        return max(together, _of_product(shapes) if kind == "PROD" else 0)
    return 0


def _of_product(shapes: Sequence[tuple[int, ...]]) -> int:
    """The size of the largest matrix in the product of these shapes, multiplied one after the
    other.
    """
    pairs = [(a, b) for a, b in pairwise(shapes) if len(a) == len(b) == 2]
    return max((a[0] * b[1] for a, b in pairs), default=0)


Shape = tuple[int, ...]
Values = Mapping[int, Sequence[Any]]
"""The outputs of nodes, by node index."""
SHAPE_WORDS = ("broadcast", "shape", "dimension", "mismatch")
"""Words in NumPy's messages about shapes that do not match."""


@dataclass(frozen=True)
class Failure:
    """An error of a block. of_shapes: whether it is about shapes. text: its message. where: file
    and line at which it was raised.
    """

    of_shapes: bool
    text: str
    where: str | None = None


def first_values(wiring: FlatDiagram, inside: str) -> tuple[Mapping[str, Shape], Failure | None]:
    """The shapes of signals at t = 0 as far as they are known, and the error in the block or
    subsystem `inside`, if there is one.

    If another block fails, the signals that depend on it are unknown; a run reports that error.
    """
    values, failures = start_values(wiring)
    nodes = [wiring.nodes[i] for i in failures]
    mine = [n for n in nodes if n.name == inside or n.name.startswith(f"{inside}/")]
    failure = failure_of(mine[0], failures[mine[0].index]) if mine else None
    shapes = named_shapes(wiring, values)
    for alias, name in aliases_of(wiring).items():
        if name in shapes:
            shapes[alias] = shapes[name]
    return shapes, failure


def output_shapes(wiring: FlatDiagram, wanted: Collection[int]) -> dict[Source, Shape]:
    """The shapes at t = 0 of the outputs of the nodes `wanted` (indices), as far as they are
    known. States are not updated.
    """
    values, _ = start_values(wiring, wanted)
    return signal_shapes({i: values[i] for i in wanted if i in values})


def named_shapes(wiring: FlatDiagram, values: Values) -> dict[str, Shape]:
    """The shapes of signals by name."""
    shapes = signal_shapes(values)
    return {wiring.nodes[i].output_name(port): shape for (i, port), shape in shapes.items()}


def signal_shapes(values: Values) -> dict[Source, Shape]:
    """The shapes of signals."""
    return {(i, k): np.shape(v) for i, row in values.items() for k, v in enumerate(row)}


def start_values(
    wiring: FlatDiagram, wanted: Collection[int] | None = None
) -> tuple[Values, dict[int, Exception]]:
    """The known outputs of each node at t = 0, and the exceptions of blocks, both by node index.
    wanted: evaluate only these nodes and those before them, without updating states.
    """
    values: dict[int, Sequence[Any]] = {}
    failures: dict[int, Exception] = {}
    total = 0
    nodes = _in_time(wiring) if wanted is None else _before(wiring, wanted)
    with np.errstate(all="ignore"):
        for node in nodes:
            try:
                _evaluate(node, values, moved=wanted is None)
                total += sum(np.size(value) for value in values.get(node.index, ()))
                if total > 2 * MOST_NUMBERS:  # it cannot run, which a run tells
                    break
            except _Unknown:
                continue
            except Exception as error:  # whatever a block raises; a run tells it
                failures.setdefault(node.index, error)
    return values, failures


def failure_of(node: Node, error: Exception) -> Failure:
    """The failure for the error that a block raised."""
    label = node.label
    if isinstance(error, _ShapeError):
        return Failure(True, f"{label}: {error}")
    frame = traceback.extract_tb(error.__traceback__)[-1]
    text = str(error)
    of_shapes = isinstance(error, ValueError) and any(word in text for word in SHAPE_WORDS)
    known = isinstance(error, WrongOutputsError)
    kind = "" if of_shapes or known else f"{type(error).__name__}: "
    where = None if known else f"raised in {frame.filename}:{frame.lineno}"
    return Failure(of_shapes, f"{label}: {kind}{text}", where)


class _ShapeError(ValueError):
    """A shape that does not fit a port or a state."""


class _Unknown(Exception):  # noqa: N818 - a signal within this file
    """An input of the block is not known."""


def _in_time(wiring: FlatDiagram) -> list[Node]:
    """The blocks in the order of evaluation. Blocks without direct feedthrough come a second time
    at the end, when their inputs are known.
    """
    order = [wiring.nodes[i] for i in wiring.schedule]
    return [*order, *(node for node in order if not node.feedthrough and node.sources)]


def _before(wiring: FlatDiagram, wanted: Collection[int]) -> list[Node]:
    """Some nodes and those that they depend on, in the order of evaluation."""
    found = wiring.upstream(wanted)
    return [wiring.nodes[i] for i in wiring.schedule if i in found]


def _evaluate(node: Node, values: dict[int, Sequence[Any]], *, moved: bool) -> None:
    """Evaluate a block's outputs and store them in `values`; raises an error if shapes do not
    match. moved: also compute its state derivative or next state, to check its length.
    """
    if node.kind in ("sink", "graphics"):
        return
    state = node.start_state()
    again = node.index in values
    shown = node.showing == "next" and not again
    if shown or not moved:  # its outputs are known before its inputs are
        _give_outputs(node, _inputs(node, values, node.unread), state, values)
    if not moved:
        return
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


def _give_outputs(
    node: Node, inputs: list[Any], state: Any, values: dict[int, Sequence[Any]]
) -> None:
    pending = attribute(node.block, "pending", False)
    out = _zeros(node) if pending else node.block.output(0.0, inputs, state)
    values[node.index] = node.signals(out)


def _zeros(node: Node) -> list[Any]:
    """Zeros for the outputs of a block whose gain is not designed yet."""
    shapes = [port.shape for port in node.out_ports]
    if None in shapes:
        raise _Unknown
    return [np.zeros(shape) for shape in shapes if shape is not None]


def _inputs(node: Node, values: Values, unread: int = 0) -> list[Any]:
    """The inputs of a node. The first `unread` ones, which it does not use, are None."""
    try:
        inputs = node.inputs(values, unread)
    except KeyError:
        raise _Unknown from None
    for port, value in zip(node.in_ports[unread:], inputs[unread:], strict=True):
        if port.shape is not None and np.shape(value) != port.shape:
            raise _ShapeError(f"{port.name} takes {port.shape}, its wire brings {np.shape(value)}")
    return inputs
