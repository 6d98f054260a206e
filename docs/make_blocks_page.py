"""Writes docs/blocks.md, the page of all our blocks, from their declarations and docstrings.

python docs/make_blocks_page.py
"""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

from spart_blocks.descriptions import describe
from spart_blocks.descriptions.restructured import KEPT
from spart_blocks.descriptions.subjects import place_of
from spart_blocks.diagram.build.registry import PACKAGE, block_types
from spart_blocks.diagram.check.other_names import OTHER_NAMES

PAGE = Path(__file__).with_name("blocks.md")

HEAD = """\
# The blocks

<!-- Written by docs/make_blocks_page.py from the classes of the blocks. Do not edit. -->

The blocks of this package. Those of [bdsim](https://github.com/petercorke/bdsim) (STEP,
GAIN, SUM, SCOPE, ...) work beside them: `spart blocks` lists both, `spart blocks NAME`
shows one, `spart blocks TEXT` searches. In YAML `type` is the name, in Python it is
`bd.NAME(...)`. Those who know a block from Simulink or Drake find it in
[the table of names](#names-of-simulink-and-drake).

A shape's `n` is the number of links without the base-link, `nq` the length of `qm`, `nu`
that of `um`, and `N` the number of states. Units are SI; "rad, m" means rad for revolute
and m for prismatic joints, "N m, N" a torque and then a force. Vectors are inertial unless
their text says otherwise; `R0` turns base axes to inertial ones. An optional input that no
wire reaches is zeros.

SPART's manual is its tutorials and function reference at spart.readthedocs.io.
[From SPART](from_spart.md) has each SPART function beside its block.
"""

HEAD_OF_BDSIM = """\
# The blocks of bdsim

What [bdsim](https://github.com/petercorke/bdsim) tells of its blocks, as `spart blocks NAME` shows
it. Its examples are in Python; in YAML `bd.SUM('+-')` is `{type: SUM, signs: "+-"}`.
"""

NAMES = """\
## Names of Simulink and Drake

What a block is called there, with its toolboxes, and what does the same here. Those without a link
are bdsim's: `spart blocks NAME` shows them. The conventions may differ: read the block's page.
"""


def of_bdsim() -> str:
    """The page of bdsim's blocks, of its help on them; the site alone has it."""
    records, subjects = _records("bdsim")
    parts = [HEAD_OF_BDSIM, _index(records)]
    for subject, group in subjects.items():
        parts += [f"## {subject}\n", *(_block(record) for record in group)]
    return "\n".join(parts)


def _records(package: str) -> tuple[list[dict[str, Any]], dict[str, list[dict[str, Any]]]]:
    """The blocks of a package by their subjects, all of them and each subject's."""
    kinds = [kind for kind in block_types() if kind.package == package]
    records = [
        describe(kind) | {"companion": _companion(kind.cls), "file": _file(kind.cls)}
        for kind in kinds
    ]
    records.sort(key=lambda record: (place_of(record["subject"]), record["name"]))
    subjects = {name: list(group) for name, group in groupby(records, lambda r: r["subject"])}
    return records, subjects


def page() -> str:
    """The text of the page."""
    records, subjects = _records(PACKAGE)
    parts = [HEAD, _index(records)]
    for subject, group in subjects.items():
        files = sorted({record["file"] for record in group})
        links = [f"[{file}](../{PACKAGE}/blocks/{file})" for file in files]
        parts.append(f"## {subject}\n")
        parts.append(f"Source: {', '.join(links)}\n")
        parts += [_block(record) for record in group]
    parts += [NAMES, _names({record["name"] for record in records})]
    return "\n".join(parts)


def _index(records: list[dict[str, Any]]) -> str:
    rows = [[f"[{r['name']}](#{r['name'].lower()})", r["summary"]] for r in records]
    return _table(["block", "what it does"], rows)


def _names(ours: set[str]) -> str:
    """The table of names elsewhere; lines that say the same are one."""
    told: dict[tuple[str, str], list[str]] = {}
    for other in OTHER_NAMES:
        types = [f"[{name}](#{name.lower()})" if name in ours else name for name in other.types]
        here = "; ".join(filter(None, [", ".join(types), other.remark]))
        told.setdefault((other.tool, here), []).append(other.name)
    rows = [[", ".join(names), tool, here] for (tool, here), names in told.items()]
    return _table(["name", "in", "here"], rows)


def _block(record: dict[str, Any]) -> str:
    lines = [f"### {record['name']}\n", f"{_escaped(record['summary'])}\n"]
    rows = [
        [way, port["port"], f"`{port['name']}`", _shape(port["type"]), port["unit"], port["text"]]
        for way, ports in (("in", record["inputs"]), ("out", record["outputs"]))
        for port in ports
    ]
    if rows:  # the ports of some blocks are those of a file
        lines.append(_table(["", "no.", "port", "shape", "unit", "what"], rows))
    if record["parameters"]:
        rows = [
            [f"`{item['name']}`", item["type"], _default(item), item["text"]]
            for item in record["parameters"]
        ]
        lines.append(_table(["parameter", "type", "default", "what"], rows))
    lines += [_paragraph(text) for text in record["description"]]
    if record["companion"]:
        lines.append(record["companion"])
    return "\n".join(lines)


def _paragraph(text: str) -> str:
    """A paragraph, a list's entry, or a line that keeps its form, as Markdown has them."""
    if text.startswith("* "):
        return f"- {_escaped(text[2:])}\n"
    return f"    {text}" if text.startswith(KEPT) else f"{_escaped(text)}\n"


def _file(cls: type[Any]) -> str:
    return f"{cls.__module__.rpartition('.')[2]}.py"


def _companion(cls: type[Any]) -> str:
    """What the page says of outputs that another block gives on this one's behalf."""
    if not hasattr(cls, "companion"):
        return ""
    names = ", ".join(f"`{name}`" for name in cls.companion_outputs)
    return (
        f"In YAML {names} are wired like outputs of this block; they come from its companion "
        f"{cls.companion}, which the loader adds.\n"
    )


def _shape(text: str) -> str:
    """(3, 3) for 'ndarray(3, 3)', 'scalar' for 'ndarray()' and 'float'."""
    shape = text.removeprefix("ndarray")
    return "scalar" if shape in ("()", "float") else shape


def _default(item: dict[str, Any]) -> str:
    if item["required"]:
        return "required"
    return "none" if item["default"] is None else json.dumps(item["default"])


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [f"| {' | '.join(_escaped(cell) for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    """Text that Markdown takes literally; our names and links are meant as they are."""
    signs = {"|": "\\|", "*": "\\*", "<": "\\<", "][": "]\\["}
    for sign, literal in signs.items():
        text = text.replace(sign, literal)
    return text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE}")
