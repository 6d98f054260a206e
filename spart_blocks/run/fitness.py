"""Checks a wired diagram by one evaluation: the shapes on its wires, the labels of its scopes, the
limits of its blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from spart_blocks.base.errors import DiagramError, Fault, Place, RunError
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.check.first_values import MOST_NUMBERS, SHAPE_WORDS, expected_size
from spart_blocks.diagram.check.shapes import (
    Misfit,
    misfit_fault,
    shape_text,
    shapes_of,
    wrong_wires,
)
from spart_blocks.diagram.network.nodes import FlatDiagram, Node
from spart_blocks.program.tracing.rules import rule_of
from spart_blocks.run.engines.held_outputs import Values

Places = Mapping[str, Place]


def check_fitness(
    wiring: FlatDiagram, places: Places, output: Callable[[Node, Values], Sequence[Any]]
) -> Values:
    """The outputs of all blocks, with held outputs as at a tick. Raises DiagramError for every wire
    whose shape its input does not accept, at the first block with a fault.

    places: of blocks and wires in the file. output: computes the outputs of a node.
    """
    values = Values.none(len(wiring.nodes))
    total = 0
    for i in wiring.schedule:
        node = wiring.nodes[i]
        # Outputs of a state do not depend on its inputs, which are checked last.
        faults = _wrong_inputs(wiring.nodes, node, values) if node.feedthrough else []
        faults += _wrong_labels(places, node, values)
        faults += _wrong_limits(places, node)
        if node.feedthrough and not faults:
            faults += _too_large(places, node, expected_size(node, node.inputs(values)))
        if faults:
            raise DiagramError(faults)
        if node.kind in ("sink", "graphics"):
            continue
        try:
            values[i] = output(node, values)
        except RunError as error:
            if isinstance(error.__cause__, ValueError) and len(node.sources) > 1:
                _refuse_unlike(wiring.nodes, node, values, error)
            raise
        total += sum(1 if type(value) is float else np.size(value) for value in values[i])
        faults += _too_large(places, node, total)
        if faults:
            raise DiagramError(faults)
    states = [node for node in wiring.nodes if not node.feedthrough and node.sources]
    late = [fault for node in states for fault in _wrong_inputs(wiring.nodes, node, values)]
    if late:
        raise DiagramError(late)
    return values


def _too_large(places: Places, node: Node, size: int) -> Iterable[Fault]:
    if size > MOST_NUMBERS:
        yield Fault(
            f"with {node.label} the signals have {size:,} entries; the most is {MOST_NUMBERS:,}",
            places.get(f"blocks.{node.owner}"),
            "make the vectors shorter",
        )


def _refuse_unlike(nodes: Sequence[Node], node: Node, values: Values, error: RunError) -> None:
    """Raise DiagramError if an error is NumPy's about shapes of inputs that cannot be combined."""
    text = str(error.__cause__)
    shapes = shapes_of(node.inputs(values))
    if shapes is None or not any(word in text for word in SHAPE_WORDS):
        return
    others = [k for k, shape in enumerate(shapes) if k and shape and shape != shapes[0]]
    listed = ", ".join(f"{node.input_name(k)} is {shape_text(s)}" for k, s in enumerate(shapes))
    misfit = Misfit(
        others[0] if others else len(shapes) - 1,
        f"another shape: the inputs of {node.name} do not fit together",
        f"{listed}; {text.strip()}",
    )
    raise DiagramError(misfit_fault(nodes, node, misfit, shapes)) from error


def _wrong_inputs(nodes: Sequence[Node], node: Node, values: Values) -> list[Fault]:
    return wrong_wires(nodes, node, node.inputs(values))


def _wrong_labels(places: Places, node: Node, values: Values) -> Iterable[Fault]:
    """Faults of a scope whose number of labels is neither that of its ports nor that
    of its lines.
    """
    labels = attribute(node.block, "labels") if node.block.type == "scope" else None
    if labels:
        picked = attribute(node.block, "vector")
        lines = sum(np.size(value) for value in node.inputs(values))
        lines = len(picked) if isinstance(picked, list) else lines
        if len(labels) not in (lines, len(node.sources)):
            yield Fault(
                f"scope {node.name} has {len(labels)} labels for {lines} lines",
                places.get(f"blocks.{node.owner}"),
                "give one label for each line, or one for each port",
            )


def _wrong_limits(places: Places, node: Node) -> Iterable[Fault]:
    """Faults of an INTEGRATOR or a CLIP whose lower limit is above the upper one."""
    if rule_of(node.block).watch is None or attribute(node.block, "min") is None:
        return
    low, high = node.block.min, node.block.max
    if low is not None and high is not None and np.any(np.asarray(low) > np.asarray(high)):
        yield Fault(
            f"{node.label} has min {low}, above its max {high}",
            places.get(f"blocks.{node.owner}"),
        )
