"""A diagram file that is being written from another tool's file, and the table of what was carried
over. What could not be carried over is a hole: a subsystem with the ports of the block and nothing
in it, marked by a comment, which the loader reports until it is filled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import yaml

from spart_blocks.base.errors import readable

MARK = "NOT CONVERTED"
"""The word by which holes are found in a file."""
State = Literal["carried", "changed", "left"]


@dataclass(frozen=True)
class Row:
    """A line of the table. was: its type in the other tool. became: its type here. state: `changed`
    if it does not do exactly the same. why: what is different, or missing."""

    name: str
    was: str
    became: str
    state: State
    why: str = ""


@dataclass
class DraftBlock:
    """A block of a sheet; remarks stand above it as comments."""

    name: str
    arguments: dict[str, Any]
    remarks: list[str] = field(default_factory=list)


@dataclass
class Sheet:
    """The diagram or a subsystem. conditions: `enabled:` and the like. spots: places by block."""

    name: str = ""
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    params: dict[str, Any] = field(default_factory=dict)
    conditions: dict[str, Any] = field(default_factory=dict)
    blocks: list[DraftBlock] = field(default_factory=list)
    wires: dict[str, list[str]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    spots: dict[str, tuple[float, float]] = field(default_factory=dict)
    names: set[str] = field(default_factory=lambda: {"in", "out"})

    def named(self, title: str) -> str:
        """A name for a block that no other of the sheet has."""
        name, k = plain_name(title), 2
        while name.casefold() in self.names:
            name, k = f"{plain_name(title)}_{k}", k + 1
        self.names.add(name.casefold())
        return name

    def wire(self, start: str, end: str) -> None:
        self.wires.setdefault(start, []).append(end)


@dataclass
class Draft:
    """A diagram file. head: comments at its beginning. missing: parameters without a value, with
    what is known of them."""

    name: str
    head: list[str]
    top: Sheet = field(default_factory=Sheet)
    clocks: dict[str, dict[str, Any]] = field(default_factory=dict)
    subsystems: list[Sheet] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=lambda: {"T": 10})
    rows: list[Row] = field(default_factory=list)

    def hole(self, sheet: Sheet, title: str, was: str, ports: tuple[int, int], why: str) -> str:
        """Add a hole with numbers of inputs and outputs to a sheet; returns its block's name."""
        name = sheet.named(title)
        kind = f"hole_{len(self.subsystems) + 1}_{name}"
        text = f"{MARK}: {one_line(title)} ({one_line(was)}): {one_line(why)}"
        names = zip("uy", ports, strict=True)
        inputs, outputs = ([f"{letter}{k + 1}" for k in range(n)] for letter, n in names)
        self.subsystems.append(Sheet(kind, inputs, outputs, remarks=[text]))
        sheet.blocks.append(DraftBlock(name, {"type": kind}, [text]))
        return name

    def text(self) -> str:
        """The text of the file."""
        parts = [*(f"# {one_line(line)}" for line in self.head), f"name: {self.name}"]
        if self.top.inputs or self.top.outputs:
            parts += [f"inputs: {_flow(self.top.inputs)}", f"outputs: {_flow(self.top.outputs)}"]
        if self.top.params or self.missing:
            parts += ["params:" if self.top.params else "params: {}"]
            parts += [f"  {key}: {_flow(value)}" for key, value in self.top.params.items()]
            parts += [f"  # {MARK}: {key}: {one_line(why)}" for key, why in self.missing.items()]
        if self.clocks:
            parts += ["clocks:", *(f"  {k}: {_flow(v)}" for k, v in self.clocks.items())]
        if self.subsystems:
            parts += ["subsystems:"]
            for sheet in self.subsystems:
                parts += [f"  # {remark}" for remark in sheet.remarks]
                parts += [f"  {sheet.name}:", *(f"    {line}" for line in _subsystem(sheet))]
        return "\n".join([*parts, *_content(self.top), f"run: {_flow(self.run)}"]) + "\n"


def _subsystem(sheet: Sheet) -> list[str]:
    given = {"params": sheet.params, "inputs": sheet.inputs, "outputs": sheet.outputs}
    lines = [f"{key}: {_flow(value)}" for key, value in given.items() if value]
    lines += [f"{key}: {_flow(value)}" for key, value in sheet.conditions.items()]
    return [*lines, *_content(sheet)]


def _content(sheet: Sheet) -> list[str]:
    lines = ["blocks:" if sheet.blocks else "blocks: {}"]
    for block in sheet.blocks:
        lines += [f"  # {one_line(remark)}" for remark in block.remarks]
        lines += [f"  {block.name}: {_flow(block.arguments)}"]
    wires = [f"  - {start} -> {', '.join(ends)}" for start, ends in sheet.wires.items()]
    return [*lines, *(["wires:", *wires] if wires else ["wires: []"])]


def _flow(value: Any) -> str:
    text = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, width=10**6, allow_unicode=True
    )
    return text.strip().removesuffix("...").strip()


def plain_name(text: str) -> str:
    """A valid name made from a text."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
    return name if re.match(r"[A-Za-z]", name) else f"b_{name}".rstrip("_")


def one_line(text: str) -> str:
    return readable(" ".join(str(text).split()))[:300]


def table(rows: Iterable[Row]) -> list[str]:
    """The rows that were changed or left, as lines of text, after a line of counts."""
    listed = list(rows)
    counts = {
        state: sum(r.state == state for r in listed) for state in ("carried", "changed", "left")
    }
    lines = [
        f"{len(listed)} blocks: {counts['carried']} carried over, {counts['changed']} changed, "
        f"{counts['left']} not converted"
    ]
    shown = [r for r in listed if r.state != "carried"]
    for row in shown:
        what = "NOT CONVERTED" if row.state == "left" else "changed"
        lines.append(f"  {what}: {one_line(row.name)} ({one_line(row.was)}): {one_line(row.why)}")
    return lines
