"""What a block's docstring tells, in bdsim's form: prose, port table, parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from inspect import cleandoc

from spart_blocks.cli.formulas import formula, formula_lines

_FIELD = re.compile(r":(\w+)(?:\s+([^:`]+))?:(?!`)\s*(.*)")
_PORT = re.compile(r"``(?P<name>[^`]+)``\s*(?:\[(?P<unit>[^\]]*)\])?\s*:?\s*(?P<text>.*)")
_MATH = re.compile(r":math:`([^`]*)`")
FORMULA = "  "
"""How a paragraph begins that is a formula."""
LEFT_OUT = ""
_ROLE = re.compile(r":[\w:]+:`~?([^`<]*?)(?:\s*<[^>]*>)?`")


@dataclass(frozen=True)
class PortText:
    """A row of the port table; name is '' where the text does not begin with one."""

    number: str
    types: str
    name: str
    unit: str
    text: str


@dataclass
class BlockText:
    """prose: paragraphs, the summary first; fields: ('param', 'kp') to its text."""

    prose: list[str] = field(default_factory=list)
    inputs: list[PortText] = field(default_factory=list)
    outputs: list[PortText] = field(default_factory=list)
    fields: dict[tuple[str, str], str] = field(default_factory=dict)


def read_docstring(doc: str) -> BlockText:
    """The parts of a docstring; what is neither prose, ports nor fields is left out."""
    text = BlockText()
    for head, *rest in _chunks(cleandoc(doc).splitlines()):
        found = _FIELD.match(head)
        if found:
            key = (found[1], (found[2] or "").strip())
            text.fields[key] = plain(" ".join([found[3], *rest]))
        elif head.startswith(".. list-table"):
            _read_table(rest, text)
        elif head.startswith(".. math::"):
            written = "\n".join([head.removeprefix(".. math::"), *rest])
            text.prose += [FORMULA + line for line in formula_lines(written)]
        elif not head.startswith(("..", ":")):
            text.prose.append(plain(" ".join([head, *rest])))
        else:
            text.prose.append(LEFT_OUT)
    text.prose = _complete(text.prose)
    return text


def _complete(prose: list[str]) -> list[str]:
    """Without the lines that announce what was left out, such as code, and those that go on
    from there."""
    complete: list[str] = []
    gap = False
    for paragraph, after in zip(prose, [*prose[1:], LEFT_OUT], strict=True):
        announced = paragraph.endswith(":") and (
            not after.startswith(("* ", FORMULA)) or after.endswith(":")
        )
        gap = paragraph == LEFT_OUT or announced or (gap and paragraph[:1].islower())
        if not gap:
            complete.append(paragraph)
    return complete


def plain(text: str) -> str:
    """Text without reStructuredText's marks."""
    text = _MATH.sub(lambda found: formula(found[1]), text)
    return " ".join(
        _ROLE.sub(r"\1", text).replace("``", "").replace("**", "").replace("::", ":").split()
    )


def _chunks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Paragraphs; a directive or a field with all that is indented below it."""
    chunk: list[str] = []
    for line in lines:
        indented = line.startswith((" ", "\t"))
        directive = bool(chunk) and chunk[0].startswith((".. ", ":"))
        ended = not line.strip() or line.startswith((".. ", ":", "* "))
        belongs = (directive and (indented or not line.strip())) or not ended
        if chunk and (not belongs or (directive and not indented and line.strip())):
            yield chunk
            chunk = []
        if line.strip() and (chunk or not indented):
            chunk.append(line)
    if chunk:
        yield chunk


def _read_table(lines: Iterable[str], text: BlockText) -> None:
    rows: list[list[str]] = []
    for line in lines:
        entry = re.match(r"\s*(\*\s+)?-\s+(.*)", line)
        if entry is None:
            if rows and not line.strip().startswith(":"):
                rows[-1][-1] += " " + line.strip()
        elif entry[1]:
            rows.append([entry[2]])
        elif rows:
            rows[-1].append(entry[2])
    for row in rows:
        target = {"input": text.inputs, "output": text.outputs}.get(row[0].strip().lower())
        if target is not None and len(row) == 4:
            target.append(_port(*row[1:]))


def _port(number: str, types: str, description: str) -> PortText:
    found = _PORT.fullmatch(description.strip())
    if found is None:
        return PortText(number, plain(types), "", "", plain(description))
    return PortText(number, plain(types), found["name"], found["unit"] or "", plain(found["text"]))
