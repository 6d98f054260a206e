"""Writes docs/blocks.md, the page of all our blocks, from their declarations and docstrings.

python docs/make_blocks_page.py
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

from spart_blocks.descriptions import describe
from spart_blocks.descriptions.markdown import block, index, table
from spart_blocks.descriptions.subjects import place_of
from spart_blocks.diagram.build.registry import block_types
from spart_blocks.diagram.check.other_names import OTHER_NAMES
from spart_blocks.diagram.standard import PACKAGE

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
    parts = [HEAD_OF_BDSIM, index(records)]
    for subject, group in subjects.items():
        parts += [f"## {subject}\n", *(block(record, record["companion"]) for record in group)]
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
    parts = [HEAD, index(records)]
    for subject, group in subjects.items():
        files = sorted({record["file"] for record in group})
        links = [f"[{file}](../{PACKAGE}/blocks/{file})" for file in files]
        parts.append(f"## {subject}\n")
        parts.append(f"Source: {', '.join(links)}\n")
        parts += [block(record, record["companion"]) for record in group]
    parts += [NAMES, _names({record["name"] for record in records})]
    return "\n".join(parts)


def _names(ours: set[str]) -> str:
    """The table of names elsewhere; lines that say the same are one."""
    told: dict[tuple[str, str], list[str]] = {}
    for other in OTHER_NAMES:
        types = [f"[{name}](#{name.lower()})" if name in ours else name for name in other.types]
        here = "; ".join(filter(None, [", ".join(types), other.remark]))
        told.setdefault((other.tool, here), []).append(other.name)
    rows = [[", ".join(names), tool, here] for (tool, here), names in told.items()]
    return table(["name", "in", "here"], rows)


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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"written: {PAGE}")
