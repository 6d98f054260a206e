"""Checks a wired diagram by one evaluation: the shapes on its wires, the labels of its scopes, the
limits of its blocks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from spart_blocks.base.errors import DiagramError, Fault, RunError
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.check.first_values import SHAPE_WORDS
from spart_blocks.diagram.check.shapes import (
    Misfit,
    misfit_fault,
    shape_text,
    shapes_of,
    wrong_wires,
)
from spart_blocks.diagram.check.sizes import MOST_NUMBERS, expected_size
from spart_blocks.diagram.network.flatten import Node
from spart_blocks.program.tracing.rules import rule_of
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.engines.held_outputs import Values

if TYPE_CHECKING:
    from spart_blocks.run.engines.interpreter import Interpreter


def check_fitness(engine: Interpreter, t: float, x: Floats, xd: Floats) -> Values:
    """The outputs of all blocks, with held outputs as at a tick. Raises DiagramError for every wire
    whose shape its input does not accept, at the first block with a fault.
    """
    values = Values.none(len(engine.nodes))
    total = 0
    for i in engine.wiring.schedule:
        node = engine.nodes[i]
        # Outputs of a state do not depend on its inputs, which are checked last.
        faults = _wrong_inputs(engine, node, values) if node.feedthrough else []
        faults += _wrong_labels(engine, node, values)
        faults += _wrong_limits(engine, node)
        if node.feedthrough and not faults:
            faults += _too_large(engine, node, expected_size(node, node.inputs(values)))
        if faults:
            raise DiagramError(faults)
        if node.kind in ("sink", "graphics"):
            continue
        try:
            values[i] = engine.output(node, t, values, x, xd)
        except RunError as error:
            if isinstance(error.__cause__, ValueError) and len(node.sources) > 1:
                _refuse_unlike(engine, node, values, error)
            raise
        total += sum(np.size(value) for value in values[i])
        faults += _too_large(engine, node, total)
        if faults:
            raise DiagramError(faults)
    states = [node for node in engine.nodes if not node.feedthrough and node.sources]
    late = [fault for node in states for fault in _wrong_inputs(engine, node, values)]
    if late:
        raise DiagramError(late)
    return values


def _too_large(engine: Interpreter, node: Node, size: int) -> Iterable[Fault]:
    if size > MOST_NUMBERS:
        yield Fault(
            f"with {node.name} ({node.block.type.upper()}) the signals have {size:,} entries; "
            f"the most is {MOST_NUMBERS:,}",
            engine.diagram.places.get(f"blocks.{node.name}"),
            "make the vectors shorter",
        )


def _refuse_unlike(engine: Interpreter, node: Node, values: Values, error: RunError) -> None:
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
    raise DiagramError(misfit_fault(engine.nodes, node, misfit, shapes)) from error


def _wrong_inputs(engine: Interpreter, node: Node, values: Values) -> list[Fault]:
    return wrong_wires(engine.nodes, node, node.inputs(values))


def _wrong_labels(engine: Interpreter, node: Node, values: Values) -> Iterable[Fault]:
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
                engine.diagram.places.get(f"blocks.{node.name}"),
                "give one label for each line, or one for each port",
            )


def _wrong_limits(engine: Interpreter, node: Node) -> Iterable[Fault]:
    """Faults of an INTEGRATOR or a CLIP whose lower limit is above the upper one."""
    if rule_of(node.block).watch is None or attribute(node.block, "min") is None:
        return
    low, high = node.block.min, node.block.max
    if low is not None and high is not None and np.any(np.asarray(low) > np.asarray(high)):
        yield Fault(
            f"{node.name} ({node.block.type.upper()}) has min {low}, above its max {high}",
            engine.diagram.places.get(f"blocks.{node.name}"),
        )
