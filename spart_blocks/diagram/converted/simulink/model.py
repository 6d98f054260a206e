"""The systems of a model: blocks, and what their inputs are wired to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spart_blocks.diagram.converted.draft import DraftBlock, Sheet
from spart_blocks.diagram.converted.matlab import UnreadableError, value_of
from spart_blocks.diagram.converted.simulink.files import Section

CONDITIONS = {"EnablePort": "enable", "TriggerPort": "trigger", "ActionPort": "ifaction",
              "ResetPort": "reset"}  # fmt: skip
"""The name of the port of a subsystem by the block in it that makes it conditional."""
MOST_LOOKED_AT = 200
"""Limit of the blocks that are looked at for the width of a signal."""
Port = tuple[str, str]
"""A block's key and the number or the name of one of its ports."""


@dataclass
class SimulinkBlock:
    """A block of a model. key: what lines name it by."""

    key: str
    title: str
    kind: str
    values: Mapping[str, str]
    section: Section
    inputs: int
    outputs: int


@dataclass
class System:
    """A level of a model. reached: the source of each input. names: of the lines there. known: the
    variables that its parameters see. masked: those of its own mask. sheet: what it becomes.
    parent: where it stands, and holder: the block there that it becomes. sources: the text of each
    output. wires: blocks that are wires, with the number of their input. triggered: whether
    it, or a system around it, runs at edges."""

    blocks: dict[str, SimulinkBlock]
    reached: dict[Port, Port]
    names: dict[Port, str]
    known: Mapping[str, Any]
    sheet: Sheet
    parent: tuple[System, str] | None = None
    holder: DraftBlock | None = None
    masked: Mapping[str, Any] = field(default_factory=dict)
    sources: dict[Port, str] = field(default_factory=dict)
    wires: dict[str, str] = field(default_factory=dict)
    triggered: bool = False

    def source(self, end: Port) -> Port | None:
        """The output that an input is wired to; blocks that are wires are passed."""
        seen = set()
        start = self.reached.get(end)
        while start is not None and start[0] in self.wires and start not in seen:
            seen.add(start)
            start = self.reached.get((start[0], self.wires[start[0]]))
        return start


class Masked:
    """The value of a mask's variable, which is no parameter of the diagram. owner: the system in
    whose sheet it is a parameter; None if it is computed."""

    def __init__(self, value: Any, own: bool = False) -> None:
        self.value, self.own = value, own


def bare_values(known: Mapping[str, Any]) -> Mapping[str, Any]:
    """Variables with their values alone."""
    return {k: v.value if isinstance(v, Masked) else v for k, v in known.items()}


def number(text: str, known: Mapping[str, Any]) -> float | None:
    """The value of an expression, if it is one known number."""
    try:
        found = value_of(text, bare_values(known))
    except UnreadableError:
        return None
    return float(found) if isinstance(found, float) else None


def read_block(one: Section, defaults: Mapping[str, Mapping[str, str]]) -> SimulinkBlock:
    """A block of a section, with the defaults of its type."""
    kind = one.values.get("BlockType", one.kind)
    values = {**defaults.get(kind, {}), **one.values}
    for part in one.all("InstanceData"):
        values.update(part.values)
    title = one.values.get("Name", kind)
    counts = one.first("PortCounts") or Section("")
    ports = [int(n) for n in re.findall(r"\d+", values.get("Ports", ""))[:2]]
    inputs, outputs = (
        int(counts.values.get(side, "0") if counts.values.get(side, "0").isdigit() else 0)
        or (ports[k] if k < len(ports) else 0)
        for k, side in enumerate(("in", "out"))
    )
    key = one.values.get("SID", title)
    return SimulinkBlock(key, title, kind, values, one, min(inputs, 1000), min(outputs, 1000))


def wire_up(section: Section, system: System) -> None:
    """Add the lines of a section to a system, and count the ports that they name."""
    by_name = {block.title: key for key, block in system.blocks.items()}
    for line in section.all("Line"):
        _line(line, system, by_name)
    blocks = system.blocks
    for (key, port), (start, out) in system.reached.items():
        if port.isdigit() and key in blocks:
            blocks[key].inputs = min(max(blocks[key].inputs, int(port[:4])), 1000)
        if out.isdigit() and start in blocks:
            blocks[start].outputs = min(max(blocks[start].outputs, int(out[:4])), 1000)


def _line(line: Section, system: System, by_name: Mapping[str, str]) -> None:
    values = line.values
    source = _end(values.get("Src"), values.get("SrcBlock"), values.get("SrcPort"), by_name)
    if source is None:
        return
    name = values.get("Name", "") or _port_name(system, source)
    for one in _branches(line, 0):
        given = one.values
        end = _end(given.get("Dst"), given.get("DstBlock"), given.get("DstPort"), by_name)
        if end is not None:
            system.reached[end] = source
            system.names[end] = name


def _end(
    joined: str | None, block: str | None, port: str | None, by_name: Mapping[str, str]
) -> Port | None:
    """An end of a line: `5#out:1`, or a block's name and a port. None for lines of physical
    networks, and those that end at nothing."""
    if joined:
        key, _, rest = joined.rpartition("#")
        side, _, place = rest.partition(":")
        if not key or side.casefold() in ("lconn", "rconn"):
            return None
        return key, (place or side).casefold()
    if block is None or block not in by_name:
        return None
    return by_name[block], (port or "1").strip().casefold()


def _port_name(system: System, source: Port) -> str:
    """The name of the signal of an output, as its block has it."""
    block = system.blocks.get(source[0])
    if block is None:
        return ""
    for part in block.section.all("Port"):
        if part.values.get("PortNumber", "1") == source[1] and part.values.get("Name"):
            return part.values["Name"]
    if block.kind == "BusSelector" and source[1].isdigit():
        names = [one.strip() for one in block.values.get("OutputSignals", "").split(",")]
        place = int(source[1][:4]) - 1
        return names[place].rpartition(".")[2] if 0 <= place < len(names) else ""
    return ""


def _branches(line: Section, depth: int) -> Iterator[Section]:
    yield line
    if depth < 50:
        for branch in line.all("Branch"):
            yield from _branches(branch, depth + 1)


# --- what is known of signals ---------------------------------------------------------------------


def sample_times_before(system: System, key: str) -> Iterator[tuple[float, float]]:
    """The discrete sample times of the blocks before a block, looked for along all lines."""
    waiting, seen = [(system, key)], set()
    while waiting:
        system, key = waiting.pop()
        ports = [str(k + 1) for k in range(system.blocks[key].inputs)]
        for port in (*ports, *CONDITIONS.values()):
            start = system.reached.get((key, port), ("", ""))[0]
            block = system.blocks.get(start)
            if block is None or (id(system), start) in seen:
                continue
            seen.add((id(system), start))
            period = number(block.values.get("SampleTime", "-1"), system.known)
            if period is not None and 0 < period < np.inf:
                yield period, 0.0
            elif block.kind == "Inport" and system.parent is not None:
                waiting.append(system.parent)
            elif period is None or period < 0:
                waiting.append((system, start))


def constant_at(system: System, end: Port, depth: int = 0) -> tuple[System, SimulinkBlock] | None:
    """The Constant or Ground that an input is wired to, also across the border of a subsystem."""
    start = system.source(end)
    block = system.blocks.get(start[0]) if start is not None else None
    if block is None or depth > 30:
        return None
    if block.kind in ("Constant", "Ground"):
        return system, block
    if block.kind == "Inport" and system.parent is not None:
        outer, key = system.parent
        return constant_at(outer, (key, block.values.get("Port", "1")), depth + 1)
    return None


_SAMPLES = {"Constant": "Value", "Step": "After", "Sin": "Amplitude", "Gain": "Gain",
            "Integrator": "InitialCondition", "Bias": "Bias", "UnitDelay": "InitialCondition",
            "DiscreteIntegrator": "InitialCondition", "Saturate": "UpperLimit"}  # fmt: skip
"""A parameter by type of block whose size may be that of the output."""
_ALIKE = {"Gain", "Bias", "Integrator", "UnitDelay", "DiscreteIntegrator", "Saturate", "Abs", "Sum",
          "Product", "Signum", "UnaryMinus", "Rounding", "Math", "Trigonometry", "Sqrt", "DeadZone",
          "Memory", "ZeroOrderHold", "Delay", "Quantizer", "RelationalOperator", "Logic",
          "DataTypeConversion", "RateTransition", "Switch", "MinMax"}  # fmt: skip
_SINGLE = {"Ramp", "Clock", "DigitalClock", "DiscretePulseGenerator", "TransferFcn", "ZeroPole",
           "Fcn", "DotProduct", "SignalGenerator", "DiscreteTransferFcn"}  # fmt: skip


Widths = dict[tuple[int, str], int | None]


def width_at(system: System, end: Port, seen: Widths | None = None) -> int | None:
    """The length of the signal at an input, where the blocks before it tell. seen: the widths of
    blocks that are known, or being looked for, by system and key."""
    start = system.source(end)
    block = system.blocks.get(start[0]) if start is not None else None
    if block is None:
        return None
    seen = {} if seen is None else seen
    place = (id(system), block.key)
    if place not in seen and len(seen) < MOST_LOOKED_AT:
        seen[place] = None
        if block.kind == "Inport" and system.parent is not None:
            outer, key = system.parent
            seen[place] = width_at(outer, (key, block.values.get("Port", "1")), seen)
        else:
            seen[place] = _width_of(system, block, seen)
    return seen.get(place)


def _width_of(system: System, block: SimulinkBlock, seen: Widths) -> int | None:
    def sized(text: str) -> int | None:
        try:
            return int(np.size(value_of(text, bare_values(system.known))))
        except UnreadableError:
            return None

    if block.kind in _SINGLE:
        return 1
    if block.kind == "Demux":
        return 1 if sized(block.values.get("Outputs", "2")) == 1 else None
    ins = [width_at(system, (block.key, str(k + 1)), seen) for k in range(block.inputs)]
    if block.kind in ("Mux", "Concatenate"):
        return sum(n for n in ins if n) if ins and None not in ins else None
    own = sized(block.values.get(_SAMPLES[block.kind], "1")) if block.kind in _SAMPLES else 1
    if block.kind in ("Constant", "Step", "Sin"):
        return own
    if block.kind not in _ALIKE or own is None or None in ins:
        return None
    return max([own, *(n for n in ins if n)])


# --- masks ----------------------------------------------------------------------------------------


def mask_of(section: Section) -> tuple[dict[str, str], str]:
    """The variables of a block's mask with their expressions, and its code of assignments."""
    names = re.findall(r"(\w+)\s*=\s*[@&]\d+", section.values.get("MaskVariables", ""))
    texts = section.values.get("MaskValueString", "").split("|")
    found = dict(zip(names, texts, strict=False))
    found.update(_mask_parameters(section.parts))
    code = section.values.get("MaskInitialization", "")
    for part in section.parts:
        if part.kind in ("Mask", "Object", "Simulink.Mask"):
            code = code or part.values.get("Initialization", "")
    return found, code


def _mask_parameters(parts: Sequence[Section]) -> Iterator[tuple[str, str]]:
    for part in parts:
        if part.kind in ("MaskParameter", "Simulink.MaskParameter") or (
            part.values.get("$ClassName", part.values.get("ClassName")) == "Simulink.MaskParameter"
        ):
            if "Name" in part.values and "Value" in part.values:
                yield part.values["Name"], part.values["Value"]
        elif part.kind in ("Mask", "Array", "Object", "Simulink.Mask"):
            yield from _mask_parameters(part.parts)


def cells(section: Section, name: str) -> list[str]:
    """The texts of a cell array of a block."""
    for part in section.all("Array"):
        if part.values.get("PropName") == name:
            return [cell.values.get("", "") for cell in part.all("Cell")]
    text = section.values.get(name, "")
    return [one.strip().strip("'") for one in text.strip("{} ").split(",")] if text else []
