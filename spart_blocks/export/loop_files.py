"""The files around the step in an export's folder: its model for the loop, links, and README."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from spart_blocks.export.exported_links import LiveLink, link_initialisers
from spart_blocks.export.header import filled
from spart_blocks.export.interface import Member, numbers_of
from spart_blocks.export.step import StepCode
from spart_blocks.program.c.text import c_string

CORTEX_M7 = "-mcpu=cortex-m7 -mthumb -mfpu=fpv5-d16 -mfloat-abi=hard"


def model_header(code: StepCode) -> str:
    """NAME_model.h: the step over flat arrays of doubles, for the loop of sb_loop.h."""
    interface = code.interface
    members = {"U": interface.inputs, "P": interface.parameters, "Y": interface.outputs}
    sizes = {f"SIZE_{letter}": numbers_of(some) for letter, some in members.items()}
    guard = f"{code.name.upper()}_MODEL_H"
    return filled("model.h", code.name, NAME_MODEL_H=guard, REAL=code.real, **sizes)


def links_header(code: StepCode, links: Sequence[LiveLink]) -> str:
    """NAME_links.h: the frames and addresses of the links that main.c opens."""
    name = code.name
    reached = {link: link.link.endpoint.packets_go_to() for link in links}
    opened = {link: place for link, place in reached.items() if place is not None}
    rows: dict[str, list[str]] = {"receive": [], "send": []}
    for k, (live, (address, port)) in enumerate(opened.items()):
        safe = live.way == "send" and live.link.safe is not None
        values = [
            *(c_string(live.name), c_string(address), str(port)),
            *(f"&{name}_frame_{k}", f"{name}_safe_{k}" if safe else "NULL"),
            repr(float(live.link.timeout)),
        ]
        rows[live.way].append(f"  {{{', '.join(values)}}},\n")
    none = '  {"", "", 0, NULL, NULL, 0},\n'
    return filled(
        "links.h",
        name,
        NAME_LINKS_H=f"{name.upper()}_LINKS_H",
        INCOMING=len(rows["receive"]),
        OUTGOING=len(rows["send"]),
        FRAMES=f"{link_initialisers(list(opened), name)}\n" if opened else "",
        RECEIVES="".join([*rows["receive"], none]),
        SENDS="".join([*rows["send"], none]),
    )


def readme(code: StepCode, linked: Collection[str]) -> str:
    """README.md: the files, how to build them, how to call the step. linked: inputs that main.c
    receives over links.
    """
    schedule, interface = code.schedule, code.interface
    states = len(code.part.program.x0)
    method = f", {states} states by {schedule.method}" if states else ""
    tables = [
        _table("input", interface.inputs, linked),
        _table("output", interface.outputs),
        _table("parameter", interface.parameters),
    ]
    return filled(
        "README.md",
        code.name,
        TITLE=code.part.program.name,
        SPEED=f"{float(schedule.rate):g} steps per second{method}",
        REAL=code.real,
        PERIOD=f"{float(schedule.step):g}",
        TABLES="".join(tables),
    )


def _table(kind: str, members: tuple[Member, ...], linked: Collection[str] | None = None) -> str:
    """A table of members. linked: for inputs, the names of those that come over links."""
    if not members:
        return ""
    rows = [f"| {kind} | in C | shape |", "| --- | --- | --- |"]
    if linked is not None:
        rows = [f"{rows[0]} in main.c |", f"{rows[1]} --- |"]
    for m in members:
        size = f"[{m.size}]" if m.shape else ""
        shape = " x ".join(map(str, m.shape)) or "a number"
        rows.append(f"| {m.name.replace('|', ' ')} | `{m.field}{size}` | {shape} |")
        if linked is not None:
            rows[-1] += " over a link |" if m.name in linked else " as at the start |"
    return "\n".join(rows) + "\n\n"
