"""Writes values as YAML text that is parsed as the same values again. A value that is moved keeps
the text in which it was written, with its comments.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.base.document import Document, YamlNode, parse_value
from spart_blocks.base.errors import DiagramError, Fault, InputError, brief
from spart_blocks.diagram.sections.expectations import CLAIMS
from spart_blocks.diagram.sections.table import FILE_SECTIONS, STRUCTURE
from spart_blocks.versions.edits.patches import column_of, line_end


@dataclass
class Origins:
    """Finds the text of values in some documents: of entries of mappings, and of items of lists,
    that are written on lines of their own. A value is recognized by its identity (`is`).
    """

    documents: Iterable[Document]
    _found: dict[int, tuple[str, int, int, int]] | None = field(default=None, repr=False)

    def text(self, value: Any, column: int) -> str | None:
        """The original text of a value, from behind its colon or dash to the end of its last line,
        indented for an entry at a column. None if the value is not from the documents.
        """
        if not isinstance(value, dict | str) or value == "":
            return None
        if self._found is None:
            self._found = {}
            for document in self.documents:
                self._note(document.text, document.root)
        place = self._found.get(id(value))
        if place is None:
            return None
        text, start, end, before = place
        first, *others = text[start:end].replace("\r\n", "\n").split("\n")
        return "\n".join([first, *(_shifted(line, column - before) for line in others)])

    def _note(self, text: str, holder: YamlNode) -> None:
        if holder.flow or holder.alias:
            return
        kind = dict if holder.keys else str
        column = column_of(text, holder.start)
        for key, item in holder.children.items():
            if isinstance(item.value, kind) and not item.alias:
                start = text.index(":", holder.keys[key].end) + 1 if holder.keys else item.start
                assert self._found is not None
                self._found[id(item.value)] = (text, start, line_end(text, item.end), column)
            self._note(text, item)


def _shifted(line: str, by: int) -> str:
    """A line with its indentation changed by some spaces."""
    if by >= 0 or not line.strip():
        return " " * by + line if line.strip() else line
    blanks = len(line) - len(line.lstrip(" "))
    return line[min(-by, blanks) :]


WIDTH = 100
"""Intended longest line [characters], where a value can be broken into lines."""
_HOLDERS = (*(name for name, row in STRUCTURE.items() if row.in_lines), "choices")
_LISTS = "choices", "notes", "areas", "looks", *CLAIMS
IN_LINES = (*(name for name, row in FILE_SECTIONS.items() if row.in_lines), *_LISTS)
"""Sections whose entries are written on lines of their own."""
_PLAIN = re.compile(r"[^\s'\"][^\n\r\t'\"]*")

_ODD = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""Characters that JSON does not escape, but that YAML changes or refuses."""


def flow_text(value: Any, column: int = 0, *, in_flow: bool = False) -> str:
    """A value in flow style. column: where its text starts; long values are broken accordingly.
    Raises InputError for a value that cannot be written to a file.
    """
    if isinstance(value, Mapping):
        parts = []
        for key, item in value.items():
            name = scalar_text(_named(key), in_flow=True)
            parts.append(f"{name}: {flow_text(item, column + len(name) + 3, in_flow=True)}")
        return _joined("{", parts, "}", column)
    if isinstance(value, list | tuple):
        parts = [flow_text(item, column + 1, in_flow=True) for item in value]
        return _joined("[", parts, "]", column)
    return scalar_text(value, in_flow=in_flow)


def _named(key: Any) -> str:
    if not isinstance(key, str):
        raise InputError(Fault(f"the key {brief(key)} is not text", hint="quote it"))
    return key


def _joined(opening: str, parts: list[str], closing: str, column: int) -> str:
    lines = [opening]
    for k, part in enumerate(parts):
        text = part + ("," if k + 1 < len(parts) else closing)
        start = column if len(lines) == 1 else 0
        if k and start + len(lines[-1]) + 1 + len(text.partition("\n")[0]) > WIDTH:
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * (column + 1) + text)
        else:
            lines[-1] += f"{' ' if k else ''}{text}"
    return "\n".join(lines) if parts else opening + closing


def in_lines(value: Any, column: int, texts: Origins) -> str:
    """A mapping or list that is not empty in block style: an entry on each line, indented to a
    column.
    """
    space = " " * column
    if isinstance(value, Mapping):
        entries = (entry_text(key, item, column, texts) for key, item in value.items())
        return "\n".join(space + entry for entry in entries)
    return "\n".join(space + item_text(item, column, texts) for item in value)


def item_text(value: Any, column: int, texts: Origins) -> str:
    """An item of a list in block style, `- value`. column: of its dash."""
    return "- " + (texts.text(value, column) or flow_text(value, column + 2))


def entry_text(key: str, value: Any, column: int, texts: Origins) -> str:
    """An entry of a mapping in block style, `key: value`. column: of its key."""
    name = scalar_text(_named(key), in_flow=False)
    written = texts.text(value, column) if isinstance(value, Mapping) else None
    if written is not None:
        return f"{name}:{written}"
    whole = isinstance(value, Mapping) and any(section in value for section in _HOLDERS)
    if value and isinstance(value, Mapping | list | tuple) and (key in IN_LINES or whole):
        return f"{name}:\n{in_lines(value, column + 2, texts)}"
    return f"{name}: {flow_text(value, column + len(name) + 2)}"


def scalar_text(value: Any, *, in_flow: bool) -> str:
    """A scalar (number, truth value, null or text) as YAML. Raises InputError."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if hasattr(value, "tolist"):
        return flow_text(value.tolist(), in_flow=in_flow)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and _read_back(value, in_flow)
        return value if plain else _ODD.sub(_escaped, json.dumps(value, ensure_ascii=False))
    text = f"{brief(value)} has no place in a file"
    raise InputError(Fault(text, hint="give a number, a text, a list or a mapping"))


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _number(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return repr(float(value))


def _read_back(text: str, in_flow: bool) -> bool:
    try:
        found = parse_value(f"{{it: {text}}}" if in_flow else f"it: {text}", "it")
        return bool(found == {"it": text} and type(found["it"]) is str)
    except DiagramError:
        return False


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal and of the same types; the order of keys does not matter."""
    if isinstance(one, dict):
        return (
            isinstance(other, dict)
            and one.keys() == other.keys()
            and all(same(value, other[key]) for key, value in one.items())
        )
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and bool(one == other)
