"""The nodes of a flat diagram: blocks with the sources of their inputs."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from spart_blocks.base.errors import Place
from spart_blocks.block_support.ports import Port, as_signal, attribute, wrong_outputs
from spart_blocks.diagram.build.companions import COMPANION
from spart_blocks.diagram.network.composed import Part
from spart_blocks.diagram.network.gates import own_class, read_by_output

if TYPE_CHECKING:
    from spart_blocks.diagram.sections.run_options import RunOptions

Source = tuple[int, int]  # index of a node, number of its output port
Showing = Literal["output", "state", "next"]
"""The output of a sampled block with state x and input u, from a tick until the next one:
'output', g(x, u) with direct feedthrough; 'state', g(x); 'next', g(f(x, u)), that of the state
after the tick, as in bdsim's blocks.
"""

_DELAYING = ("Integrator_S", "DIntegrator", "PoseIntegrator_S", "DPoseIntegrator", "LTI_SS_S",
             "LTI_SISO_S")  # fmt: skip
"""bdsim's sampled blocks whose output is that of the state before the tick."""


def delays(block: Any) -> bool:
    """Whether the output of a sampled block without direct feedthrough is that of the state before
    its tick.
    """
    kind = own_class(block)
    if kind.__module__.startswith("bdsim.blocks."):
        return kind.__name__ in _DELAYING
    return bool(attribute(block, "delays", False))


@cache
def _reads_time(kind: type[Any]) -> bool:
    """Whether the method `output` of a class uses its argument t. True if its code cannot be
    inspected.
    """
    code = getattr(inspect.unwrap(kind.output), "__code__", None)
    if code is None or code.co_argcount < 2:
        return True
    name = code.co_varnames[1]
    used = (one.argval for one in dis.get_instructions(code) if "LOAD_FAST" in one.opname)
    return name in code.co_cellvars or any(
        name == one or (isinstance(one, tuple) and name in one) for one in used
    )


class WrongOutputsError(ValueError):
    """The outputs of a block are not a list with one value for each port."""


@dataclass(frozen=True)
class Node:
    """A block with the sources of its inputs.

    kind: bdsim's block class: source, sink, function, continuous, sampled or graphics. place: of
    the block in its file. wires: places of the wires to its inputs. clock: bdsim's clock of a
    sampled block, and of the block with the output of a PID_S. as_bdsim: whether the output of a
    sampled block depends on its state at all times, as in bdsim. part: of a block that bdsim makes
    of others, such as PID, the part that this is.
    """

    index: int
    name: str
    block: Any
    kind: str
    sources: tuple[Source, ...]
    in_ports: tuple[Port, ...]
    out_ports: tuple[Port, ...]
    place: Place | None = None
    clock: Any = None
    wires: tuple[Place | None, ...] = ()
    as_bdsim: bool = False
    part: Part | None = None

    @property
    def owner(self) -> str:
        """The full name of the block of the user that it is, or is part of."""
        return self.name if self.part is None else self.part.owner

    @property
    def type(self) -> str:
        """The type of that block."""
        return str(self.block.type).upper() if self.part is None else self.part.kind

    @property
    def label(self) -> str:
        """That block for messages: 'pid (PID)'."""
        return f"{self.owner} ({self.type})"

    @property
    def showing(self) -> Showing | None:
        """Which output a sampled block gives at its ticks; None for other blocks, and with bdsim's
        rule.
        """
        if self.clock is None or self.as_bdsim:
            return None
        if self.kind != "sampled" or self.block._feedthrough:
            return "output"
        return "state" if delays(self.block) else "next"

    @property
    def varies_between_ticks(self) -> bool:
        """Whether its outputs can change between the ticks at which it or its inputs change. This
        is what the block declares; otherwise, for a function, whether it uses the time. A block
        with a clock is evaluated at its ticks only.
        """
        if self.kind == "function" and self.clock is not None:
            return False
        declared = attribute(self.block, "varies_between_ticks")
        kind: Any = own_class(self.block)
        if declared is not None or kind.__module__.startswith("bdsim.blocks."):
            return bool(declared)  # bdsim's functions of time alone are sources
        return self.kind == "function" and _reads_time(kind)

    @property
    def feedthrough(self) -> bool:
        """Whether it has direct feedthrough, at a tick if it is sampled."""
        if self.kind in ("continuous", "sampled"):
            return bool(self.block._feedthrough) or self.showing == "next"
        return self.kind != "source"

    @property
    def unread(self) -> int:
        """The number of first inputs that its method `output` does not read. Without direct
        feedthrough these are all except those that reset its state.
        """
        if self.kind not in ("continuous", "sampled") or self.block._feedthrough:
            return 0 if self.feedthrough else len(self.sources)
        return len(self.sources) - read_by_output(self.block)

    @property
    def waits_for(self) -> tuple[Source, ...]:
        """The outputs of other nodes that its own outputs depend on."""
        return self.sources if self.feedthrough else self.sources[self.unread :]

    @cached_property
    def _vectors_of_one(self) -> tuple[int, ...]:
        return tuple(k for k, port in enumerate(self.in_ports) if port.shape == (1,))

    def inputs(self, values: Any, unread: int = 0) -> list[Any]:
        """Its inputs. values[index][port]: outputs of nodes. The first `unread` ones, which are
        not read, are None.
        """
        inputs: list[Any] = [values[index][port] for index, port in self.sources[unread:]]
        if unread:
            inputs = [None] * unread + inputs
        for k in self._vectors_of_one:
            # bdsim's blocks give a vector of one as a number.
            if k >= unread and np.ndim(inputs[k]) == 0:
                inputs[k] = np.reshape(inputs[k], (1,))
        return inputs

    def start_state(self) -> Any:
        """Its initial state, a vector; None for a block without state."""
        if self.kind not in ("continuous", "sampled"):
            return None
        return np.ravel(np.asarray(self.block.getstate0(), float))

    def signals(self, outputs: Any) -> list[Any]:
        """The result of its block's method `output` as a list of signals. Raises
        WrongOutputsError.
        """
        if not isinstance(outputs, (list, tuple)) or len(outputs) != len(self.out_ports):
            raise WrongOutputsError(wrong_outputs(outputs, len(self.out_ports)))
        return [as_signal(value) for value in outputs]

    def output_name(self, port: int) -> str:
        """'block.port'; the block alone where its one output has no name."""
        name = self.out_ports[port].name
        alone = len(self.out_ports) == 1 and name == "0"
        # A plant's accelerations are named after the plant; the companion is internal.
        return self.name if alone else f"{self.name.removesuffix(COMPANION)}.{name}"

    def input_name(self, port: int) -> str:
        return f"{self.name}.{self.in_ports[port].name}"

    def wire_place(self, port: int) -> Place | None:
        """The place of the wire to an input; if unknown, the place of the block."""
        return (self.wires[port] if self.wires else None) or self.place


@dataclass(frozen=True)
class FlatDiagram:
    """Nodes, and their indices in the order of evaluation.

    outlets: for each output of a subsystem, by name, the node's output that it passes on. inlets:
    for each subsystem, by name, the sources of its inputs. loops: options for solving its
    algebraic loops; None if there are none.
    """

    nodes: tuple[Node, ...]
    schedule: tuple[int, ...]
    outlets: Mapping[str, Source]
    inlets: Mapping[str, Mapping[str, Source]]
    loops: RunOptions | None = None

    def of_kind(self, kind: str) -> Iterator[Node]:
        return (node for node in self.nodes if node.kind == kind)

    def upstream(self, wanted: Iterable[int]) -> set[int]:
        """The indices of these nodes, and of all nodes that they depend on."""
        found = set(wanted)
        pending = list(found)
        while pending:
            for source, _ in self.nodes[pending.pop()].sources:
                if source not in found:
                    found.add(source)
                    pending.append(source)
        return found
