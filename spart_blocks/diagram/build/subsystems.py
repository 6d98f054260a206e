"""Makes bdsim's SUBSYSTEM blocks from subsystems of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from spart_blocks.base.document import Document, Keys
from spart_blocks.base.errors import Fault
from spart_blocks.diagram.build.arguments import MAX_PORTS
from spart_blocks.diagram.build.library import in_library
from spart_blocks.diagram.build.registry import name_problem
from spart_blocks.diagram.sections.drawing_section import check_drawing
from spart_blocks.diagram.sections.schema import BlockSection, PartSection, SubsystemSection
from spart_blocks.diagram.written.conditions import (
    CONDITIONS,
    NONE,
    Conditions,
    wrong_names,
    wrong_values,
)
from spart_blocks.diagram.written.references import Resolved
from spart_blocks.diagram.written.sheets import GATES

MAX_BLOCKS = 20_000
MAX_LEVELS = 16


def check_subsystems(
    sections: Mapping[str, SubsystemSection],
    blocks: Mapping[str, BlockSection],
    document: Document,
    faults: list[Fault],
) -> set[str]:
    """The subsystems that cannot be built, after adding faults: recursive ones, those with too
    many levels or blocks, those with invalid names.
    """
    broken = {name for name in sections if _bad_names(name, sections[name], document, faults)}
    before = len(faults)
    sizes: dict[str, int] = {}
    for name in sections:
        _measure(name, sections, sizes, (), document, faults)
    broken |= {name for name, size in sizes.items() if size > MAX_BLOCKS}
    total = sum(_copies(block) * sizes.get(block.type, 1) for block in blocks.values())
    if len(faults) == before and max([total, *sizes.values()]) > MAX_BLOCKS:
        message = f"with its subsystems the diagram has more than {MAX_BLOCKS} blocks"
        hint = "use fewer subsystems in each other"
        faults.append(Fault(message, document.key_place("subsystems"), hint))
        return set(sections)
    return broken


def _bad_names(
    name: str, section: SubsystemSection, document: Document, faults: list[Fault]
) -> bool:
    before = len(faults)
    problem = name_problem(name)
    if problem is None and in_library(name):
        problem = "is the name of a block type"
    if problem:
        message = f"the subsystem name {name[:60]!r} {problem}"
        faults.append(Fault(message, document.key_place("subsystems", name)))
    check_ports(section, ("subsystems", name), document, faults)
    blocks = {*section.blocks, *GATES}
    check_drawing(section.drawing, blocks, document, ("subsystems", name), faults)
    return len(faults) > before


def check_ports(
    section: SubsystemSection | PartSection, path: Keys, document: Document, faults: list[Fault]
) -> None:
    """Add a fault for each port with an invalid name. path: of the diagram in the file."""
    for side in ("inputs", "outputs"):
        ports: tuple[str, ...] = getattr(section, side)
        if len(ports) > MAX_PORTS:
            message = f"there are {len(ports)} {side}; the most is {MAX_PORTS}"
            faults.append(Fault(message, document.place(*path, side), "put signals into vectors"))
            continue
        seen: set[str] = set()
        signals: set[str] = set()
        for number, port in enumerate(ports):
            problem = next(filter(None, map(name_problem, port.split("."))), None)
            if problem is None and port in seen:
                problem = "is given twice" if port in ports[:number] else "is a bus as well"
            if problem is None and any(bus in signals for bus in _buses(port)):
                problem = "is in a bus that is a signal as well"
            seen |= {port, *_buses(port)}
            signals.add(port)
            if problem:
                place = document.place(*path, side, number)
                faults.append(Fault(f"the port name {port[:60]!r} {problem}", place))
    for keys, fault in wrong_names(section, list(section.inputs), list(section.outputs)):
        faults.append(replace(fault, place=document.place(*path, *keys)))


def built_conditions(
    section: SubsystemSection | PartSection,
    resolved: Callable[..., Resolved],
    document: Document,
    path: Keys,
    faults: list[Fault],
) -> Conditions:
    """The conditions of a subsystem with parameters replaced by their values. resolved: replaces
    references in the values at a path.
    """
    given = {}
    for name in CONDITIONS:
        found = getattr(section, name)
        if found is not None:
            value = resolved(found.model_dump(), path=(*path, name))
            if not value.complete:
                return NONE
            given[name] = value.value
    conditions = Conditions.model_validate(given)
    for keys, fault in wrong_values(conditions):
        faults.append(replace(fault, place=document.place(*path, *keys)))
    return conditions


def _buses(port: str) -> list[str]:
    """The prefixes of a port that are buses: `a.b` and `a` for `a.b.c`."""
    return [port[: match.start()] for match in re.finditer(r"\.", port)]


def _copies(block: BlockSection) -> int:
    """The number of copies that a block asks for, if it is written as a number; otherwise 1."""
    count = block.for_each.count if block.for_each is not None else 1
    return max(count, 1) if isinstance(count, int) else 1


def _measure(
    name: str,
    sections: Mapping[str, SubsystemSection],
    sizes: dict[str, int],
    around: tuple[str, ...],
    document: Document,
    faults: list[Fault],
) -> int:
    """The number of blocks in a subsystem, nested ones included; too large a number if it contains
    itself.
    """
    if name in sizes:
        return sizes[name]
    if name in around or len(around) >= MAX_LEVELS:
        chain = " in ".join((name, *reversed(around[-3:])))
        circle = f"subsystem {name} contains itself: {chain}"
        problem = circle if name in around else f"more than {MAX_LEVELS} subsystems in each other"
        hint = "take one of these uses out"
        faults.append(Fault(problem, document.key_place("subsystems", name), hint))
        sizes[name] = MAX_BLOCKS + 1
        return sizes[name]
    total = 1  # itself, so that empty ones count as well
    for block in sections[name].blocks.values():
        if block.type in sections:
            inside = _measure(block.type, sections, sizes, (*around, name), document, faults)
            total += _copies(block) * inside
        else:
            total += 1
    sizes.setdefault(name, min(total, MAX_BLOCKS + 1))
    return sizes[name]


def make_gates(bd: Any, section: SubsystemSection | PartSection) -> dict[str, Any]:
    """The blocks `in` and `out` of a subsystem's diagram."""
    from bdsim.blocks import InPort, OutPort

    inputs, outputs = list(section.inputs), list(section.outputs)
    gate_in = InPort(nout=len(inputs), onames=inputs or None, bd=bd, name="in")
    gate_out = OutPort(nin=len(outputs), inames=outputs or None, bd=bd, name="out")
    for gate in (gate_in, gate_out):
        if gate.nin + gate.nout == 0:
            # bdsim 1.4.0 wants both gates, and refuses a block that has no ports at all.
            gate.check = _no_check
    return {"in": gate_in, "out": gate_out}


def _no_check() -> None:
    """Replaces bdsim's check of a boundary block: one without ports is valid if the subsystem is a
    source or a sink.
    """


def as_block(
    bd: Any,
    name: str,
    inner: Any,
    section: SubsystemSection | PartSection,
    conditions: Conditions,
) -> Any:
    """The diagram `inner` as a block in bd, with named ports.

    The SubSystem of bdsim 1.4.0 makes a deep copy of its diagram, and with it of each clock and
    all blocks on that clock. Our inner diagram is used only once, so it is not copied.
    """
    from bdsim.blocks import SubSystem
    from bdsim.components import SubsystemBlock

    block = SubSystem.__new__(SubSystem)
    SubsystemBlock.__init__(
        block,
        subsystem=inner,
        bd=bd,
        name=name,
        nin=len(section.inputs),
        nout=len(section.outputs),
        inames=list(section.inputs) or None,
        onames=list(section.outputs) or None,
    )
    if conditions:
        block.__dict__["conditions"] = conditions
    return block
