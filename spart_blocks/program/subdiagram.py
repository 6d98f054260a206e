"""A subdiagram, some blocks of a diagram, as a program for export and real-time loops.

The wires between these blocks and the others are cut. A signal that enters over a cut wire is an
input of the subdiagram, with the name of the signal, and a parameter of its program; a signal that
leaves is an output.

A link block (such as UDP_IN) counts as a named wire: it stays outside, unless all blocks that it
connects are in the subdiagram.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import DiagramError, Fault, InputError, Place, did_you_mean
from spart_blocks.block_support.ports import Port, attribute
from spart_blocks.diagram import Diagram, as_diagram
from spart_blocks.diagram.build.companions import AUDIT, COMPANION, is_audit
from spart_blocks.diagram.check.first_values import failure_of, start_values
from spart_blocks.diagram.network.algebraic_loops import uncut
from spart_blocks.diagram.network.clocks import Clock, clocks_of
from spart_blocks.diagram.network.display import aliases_of, signal_names
from spart_blocks.diagram.network.flatten import FlatDiagram, Node, Source
from spart_blocks.diagram.sections.declarations import Declarations
from spart_blocks.program.declared import declared_parameters
from spart_blocks.program.program import Program, Slot
from spart_blocks.program.tracing.cuts import Inlet, only
from spart_blocks.program.tracing.gains import wired
from spart_blocks.program.tracing.symbol import TraceError
from spart_blocks.program.tracing.trace import traced
from spart_blocks.transports.connection import LinkConnection

Floats = NDArray[np.float64]

ALL = "*"
"""Stands for all blocks, instead of block names, whatever the file says."""
MOST_NAMED = 24
"""Largest number of blocks that a message lists."""
_ZEROS = "=0"
"""Name suffix of the zeros for an input without a wire: 'plant.tau0=0'."""


@dataclass(frozen=True, repr=False)
class Subdiagram:
    """Some blocks of a diagram as a program.

    program: of these blocks only. inputs: signals that enter over cut wires, by name, with their
    places in p, whose values are those at the start of the diagram. outputs: signals that leave,
    with their places among the signals; without cut wires those that are shown, or all.
    parameters: the rest of p. bounds: for each parameter the range of its numbers, if its block
    or the file gives one. docs: what each means, if the file declares it. around: clocks of blocks
    outside that sample the outputs or hold the inputs.
    """

    program: Program
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    parameters: tuple[Slot, ...]
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    docs: Mapping[str, str] = field(default_factory=dict)
    around: tuple[Clock, ...] = ()

    def __repr__(self) -> str:
        sides = (", ".join(slot.name for slot in slots) for slots in (self.inputs, self.outputs))
        return (
            f"<subdiagram {self.program.name}: {' -> '.join(side or 'nothing' for side in sides)}>"
        )


def entries_of(slots: Iterable[Slot]) -> list[int]:
    """The indices of all numbers of some slots, one slot after the other."""
    return [i for slot in slots for i in range(slot.part.start, slot.part.stop)]


def subdiagram_of(
    diagram: Diagram | str | Path | Any, blocks: Sequence[str] = (), outputs: Sequence[str] = ()
) -> Subdiagram:
    """The subdiagram that consists of these blocks.

    diagram: a loaded diagram, a path of a YAML file, or a bdsim BlockDiagram. blocks: names of
    blocks and subsystems, by default those of the file's `export:`, or all ('*'). A plant brings
    its accelerations with it. outputs: signals besides those that leave over wires. Raises
    InputError for unknown names, and for blocks without outputs, such as scopes; DiagramError if a
    signal from outside has no initial value, or a block cannot be traced.
    """
    diagram = as_diagram(diagram)
    title = _title(diagram, blocks)
    blocks = () if ALL in blocks else tuple(blocks) or diagram.export.part
    outputs = tuple(outputs) or diagram.export.outputs
    solved = wired(diagram)
    wiring = uncut(solved)
    inside = _named(wiring, blocks) if blocks else {node.index for node in wiring.nodes}
    inside = _with_slices(wiring, inside)
    inside = _without_links(wiring, inside)
    inside = _without_idle_audits(wiring, inside)
    inward, outward = _cut(wiring, inside)
    inlets = _inlets(solved, inward, diagram.places)
    program = _program(diagram, only(wiring, inside, inlets))
    signals = {slot.name: slot for slot in program.signals}
    named = list(dict.fromkeys(_output_name(wiring, source) for source in outward))
    if not named:
        log, display = program.run.log, program.display
        outside = display.unknown(log, signals) if blocks else ()
        log = tuple(name for name in log if name not in outside)
        named = display.kept(log, signals) or list(signals)
    named += [name for name in _asked(wiring, outputs, signals) if name not in named]
    if not named:
        raise InputError(_without_outputs(wiring, title))
    inputs = {f"{inlet.name}.value": inlet.name for inlet in inlets}
    parameters = tuple(slot for slot in program.parameters if slot.name not in inputs)
    declared = declared_parameters(diagram.declared, program.parameters, program.origins)
    return Subdiagram(
        program=replace(program, name=title).seeing(named),
        inputs=tuple(
            replace(slot, name=inputs[slot.name])
            for slot in program.parameters
            if slot.name in inputs
        ),
        outputs=tuple(signals[name] for name in named),
        parameters=parameters,
        bounds=_bounds(
            diagram,
            wiring,
            inside,
            {slot.name: program.p[slot.part] for slot in parameters},
            declared,
        ),
        docs={name: one.doc for name, one in declared.items() if one.doc},
        around=clocks_of(_sampled_around(wiring, inside), diagram.run.first_tick),
    )


def _program(diagram: Diagram, wiring: FlatDiagram) -> Program:
    try:
        return traced(diagram, wiring)
    except TraceError as error:
        blamed = [n.name for n in wiring.nodes if str(error).startswith(f"block {n.name} (")]
        place = diagram.places.get(f"blocks.{blamed[0]}") if blamed else None
        hint = "leave it out of the subdiagram, or replace it by an expression of numbers"
        text = f"the subdiagram cannot become code: {error}"
        raise DiagramError(Fault(text, place, hint)) from error


def _bounds(
    diagram: Diagram,
    wiring: FlatDiagram,
    inside: Collection[int],
    parameters: Mapping[str, Floats],
    declared: Declarations,
) -> Mapping[str, tuple[float, float]]:
    """The bounds of the subdiagram's parameters: what their blocks take, narrowed by what the file
    declares, and by its section `export:`. Those that the file gives for other blocks are
    ignored."""
    others = {
        owner for node in wiring.nodes if node.index not in inside for owner in _owners(node.name)
    }
    faults = [
        Fault(
            f"export: bounds of {name!r}, which is no parameter",
            diagram.places.get(f"export.bounds.{name}"),
            did_you_mean(name, parameters),
        )
        for name in diagram.export.bounds
        if name not in parameters and name.rpartition(".")[0] not in others
    ]
    found = dict(declared_bounds(wiring, inside, parameters))
    for name, one in declared.items():
        if name in parameters and one.bounded:
            (low, high), (least, most) = one.range, found.get(name, (-math.inf, math.inf))
            found[name] = max(low, least), min(high, most)
    for name, (low, high) in diagram.export.bounds.items():
        if name in parameters:
            least, most = found.get(name, (-math.inf, math.inf))
            found[name] = max(low, least), min(high, most)
            if found[name][0] > found[name][1]:
                text = f"export: bounds of {name}: the block takes none of these values"
                faults.append(Fault(text, diagram.places.get(f"export.bounds.{name}")))
    if faults:
        raise InputError(faults)
    return found


def declared_bounds(
    wiring: FlatDiagram, inside: Collection[int], parameters: Mapping[str, Floats]
) -> Iterator[tuple[str, tuple[float, float]]]:
    """The range of each parameter for which its block declares one, and which holds for its value:
    a block may keep another quantity under the name. inside: indices of the blocks."""
    for node in wiring.nodes:
        if node.index in inside:
            for spec in getattr(type(node.block), "parameters", None) or ():
                name = f"{node.name}.{spec.name}"
                low, high = spec.range
                bounded = name in parameters and (low, high) != (-math.inf, math.inf)
                if bounded and ((parameters[name] >= low) & (parameters[name] <= high)).all():
                    yield name, (low, high)


def _title(diagram: Diagram, blocks: Sequence[str]) -> str:
    """The name of the subdiagram: from the file, otherwise from its blocks."""
    if ALL in blocks:
        return diagram.name
    if not blocks and diagram.export.name:
        return diagram.export.name
    return "-".join((diagram.name, *(blocks or diagram.export.part)))


def _named(wiring: FlatDiagram, blocks: Sequence[str]) -> set[int]:
    """The nodes of these blocks and subsystems, and those that come with them."""
    inside: set[int] = set()
    faults = []
    known = {owner for node in wiring.nodes for owner in _owners(node.name)}
    for name in blocks:
        if name not in known:
            hint = did_you_mean(name, sorted(known))
            faults.append(Fault(f"there is no block {name!r} for a subdiagram", hint=hint))
    if faults:
        raise InputError(faults)
    wanted = set(blocks)
    for node in wiring.nodes:
        if wanted & set(_owners(node.name)):
            inside.add(node.index)
    return inside


def _with_slices(wiring: FlatDiagram, inside: set[int]) -> set[int]:
    """The subdiagram with the slices that it reads of its own signals, and of signals of which it
    also reads other entries, so that no number is an input twice. Slices that only other blocks
    read stay outside.
    """
    used = {source for i in inside for source in wiring.nodes[i].sources}
    slices = {
        i: wiring.nodes[i].sources[0]
        for i, _ in used
        if i not in inside and wiring.nodes[i].name.endswith("]")
    }
    whole = set(slices.values())
    readers = Counter([*slices.values(), *(source for source in used if source in whole)])
    return inside | {i for i, of in slices.items() if of[0] in inside or readers[of] > 1}


def _owners(name: str) -> Iterable[str]:
    """The names that refer to a node: its own, its plant's, and its subsystems'."""
    if name.endswith(_ZEROS):
        name = name.removesuffix(_ZEROS).rpartition(".")[0]
    name = name.removesuffix(COMPANION).removesuffix(AUDIT)
    parts = name.split("/")
    return ("/".join(parts[: k + 1]) for k in range(len(parts)))


def is_link(node: Node) -> bool:
    """Whether a block is a link, which connects a diagram with the outside in real time."""
    return isinstance(attribute(node.block, "link"), LinkConnection)


def _without_links(wiring: FlatDiagram, inside: set[int]) -> set[int]:
    """The subdiagram without the link blocks that lead out of it: those with a wire to the outside,
    or without any wire on one side."""
    consumers = _consumers(wiring)
    kept = set(inside)
    for node in wiring.nodes:
        if node.index in inside and is_link(node):
            zeros = {i for i, _ in node.sources if wiring.nodes[i].name.endswith(_ZEROS)}
            before = {i for i, _ in node.sources} - zeros
            after = {
                i for k in range(len(node.out_ports)) for i in consumers.get((node.index, k), ())
            }
            if not before or not after or (before | after) - inside:
                kept -= {node.index, *zeros}
    return kept


def _without_idle_audits(wiring: FlatDiagram, inside: set[int]) -> set[int]:
    """The subdiagram without audits whose outputs no other block in it reads."""
    used = {source for i in inside for source, _ in wiring.nodes[i].sources}
    return {i for i in inside if i in used or not is_audit(wiring.nodes[i].block)}


def _sampled_around(wiring: FlatDiagram, inside: Collection[int]) -> list[Node]:
    """The sampled blocks outside that are connected to the subdiagram by a wire or a chain of
    function blocks.
    """
    consumers = _consumers(wiring)
    found: set[int] = set()
    for along in (
        lambda node: [i for i, _ in node.sources],
        lambda node: [
            i for k in range(len(node.out_ports)) for i in consumers.get((node.index, k), ())
        ],
    ):
        pending, seen = list(inside), set(inside)
        while pending:
            for i in along(wiring.nodes[pending.pop()]):
                if i in seen:
                    continue
                seen.add(i)
                if wiring.nodes[i].kind == "function":
                    pending.append(i)
                elif wiring.nodes[i].kind == "sampled":
                    found.add(i)
    return [wiring.nodes[i] for i in sorted(found)]


def _consumers(wiring: FlatDiagram) -> dict[Source, list[int]]:
    found: dict[Source, list[int]] = {}
    for node in wiring.nodes:
        for source in node.sources:
            found.setdefault(source, []).append(node.index)
    return found


def _cut(wiring: FlatDiagram, inside: Collection[int]) -> tuple[list[Source], list[Source]]:
    """The outputs outside that enter, and the outputs inside that leave: to blocks that process
    them or, if there are none, to scopes and other sinks.
    """
    inward: list[Source] = []
    outward: dict[bool, list[Source]] = {True: [], False: []}
    for node in wiring.nodes:
        shows = node.kind in ("sink", "graphics")
        if node.index in inside and node.kind != "graphics":
            inward += [source for source in node.sources if source[0] not in inside]
        elif node.index not in inside and not is_audit(node.block):
            outward[shows and not is_link(node)] += [s for s in node.sources if s[0] in inside]
    leaving = outward[False] or outward[True]
    return list(dict.fromkeys(inward)), list(dict.fromkeys(leaving))


def _inlets(
    wiring: FlatDiagram, inward: Sequence[Source], places: Mapping[str, Place]
) -> list[Node]:
    """A node for each signal that enters, with its initial value."""
    values, errors = start_values(wiring)
    failures = {
        node.name: failure_of(node, errors[node.index])
        for node in wiring.nodes
        if node.index in errors
    }
    unknown = [_output_name(wiring, source) for source in inward if source[0] not in values]
    faults = [
        Fault(failure.text, places.get(f"blocks.{name}"))
        for name, failure in failures.items()
        if unknown or failure.of_shapes
    ]
    lost = "has no value at the start, so its shape is not known"
    faults += [Fault(f"{name}, which comes into the subdiagram, {lost}") for name in unknown]
    if faults:
        raise DiagramError(faults)
    inlets = []
    for number, source in enumerate(inward):
        value = np.asarray(values[source[0]][source[1]], dtype=float)
        value = np.where(np.isfinite(value), value, 0.0)
        unit = wiring.nodes[source[0]].out_ports[source[1]].unit
        port = (Port("0", value.shape, unit),)
        name = _output_name(wiring, source)
        inlets.append(Node(number, name, Inlet(value), "source", (), (), port))
    return inlets


def _asked(wiring: FlatDiagram, outputs: Sequence[str], signals: Collection[str]) -> list[str]:
    """The full names of requested signals. Raises InputError for unknown ones."""
    aliases = aliases_of(wiring)
    found = [aliases.get(name, name) for name in outputs]
    known = [name for name in signal_names(wiring) if name in signals]
    faults = [
        Fault(f"the subdiagram has no signal {name!r}", hint=did_you_mean(name, known))
        for name in found
        if name not in signals
    ]
    if faults:
        raise InputError(faults)
    return found


def _without_outputs(wiring: FlatDiagram, title: str) -> Fault:
    """Fault of a subdiagram without outputs, with the blocks and subsystems that have some."""
    giving = {next(iter(_owners(node.name))) for node in wiring.nodes if node.out_ports}
    names = sorted(name for name in giving if not name.endswith("]"))
    more = f", ... ({len(names)} in all)" if len(names) > MOST_NAMED else ""
    hint = f"these have outputs: {', '.join(names[:MOST_NAMED])}{more}"
    return Fault(
        f"the subdiagram {title} gives nothing: none of its blocks has an output", hint=hint
    )


def _output_name(wiring: FlatDiagram, source: Source) -> str:
    return wiring.nodes[source[0]].output_name(source[1])
