"""YAML text -> a tree of plain values with the place of each in the text.

Read from PyYAML's events, never with its constructors: no tags, no objects, scalars
as YAML 1.2's core schema has them, and limits that are checked before anything is
built. An alias is shared, not copied, but counts in full against the limits.
Source: YAML 1.2.2, chapter 10.3 (core schema).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isinf
from pathlib import Path
from typing import Any, Literal

import yaml

from spart_blocks.base.errors import DiagramError, Fault, Place

MAX_BYTES = 4_000_000
MAX_DEPTH = 64
MAX_NODES = 200_000
MAX_KEY = 200
MAX_FAULTS = 50
TEXT_NODE = 200
"""Number of characters of a text that count as one value, so that aliases of long texts count."""

Key = str | int
Keys = tuple[Key, ...]

# libyaml's parser gives the same events as PyYAML's own, some twenty times as fast.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INF = re.compile(r"[-+]?\.(inf|Inf|INF)")
_OF_NUMBERS = frozenset("+-.0123456789")
"""What a number begins with."""
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
DIAGRAM_SECTIONS = "a diagram has sections such as blocks:, wires: and run:"
_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
_FLATTER = "write it in fewer levels"
_COLON = re.compile(r"[ \t]*:")
_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(slots=True)
class YamlNode:
    """One value of the file. line and column are 0-based, as PyYAML counts.

    start, end: its first character in the text and the one behind its last, without an anchor;
    comments and blank lines behind a collection in lines are not part of it. flow: it is a scalar,
    or in brackets. alias: only its name stands at start; line, column and what is inside are of
    the value that it names. inside is the column where a scalar's first character stands, when the
    text in the file is the scalar's value letter by letter; otherwise None. children, keys: of a
    mapping or a list, in the order of the file.
    """

    value: Any
    line: int
    column: int
    start: int = 0
    end: int = 0
    flow: bool = False
    alias: bool = False
    inside: int | None = None
    children: dict[Key, YamlNode] = field(default_factory=lambda: _NONE)
    keys: dict[Key, YamlNode] = field(default_factory=lambda: _NONE)
    size: int = 1
    height: int = 1

    @property
    def kind(self) -> Literal["alias", "mapping", "list", "scalar"]:
        """What it is in the text."""
        if self.alias:
            return "alias"
        if isinstance(self.value, dict):
            return "mapping"
        return "list" if isinstance(self.value, list) else "scalar"

    def at(self, path: Keys) -> YamlNode | None:
        """The value at a path, or None: also for what lies in the value of an alias."""
        node = self
        for key in path:
            if node.alias or key not in node.children:
                return None
            node = node.children[key]
        return node


_NONE: dict[Key, YamlNode] = {}
"""What is inside of a scalar; never changed."""


@dataclass(frozen=True)
class Document:
    """A file's text, its plain values in data, and the place of each. replaced: paths whose value
    comes from elsewhere, such as an override, with its place. moved: paths in data whose value is
    at another path of the file.
    """

    file: str
    data: dict[str, Any]
    root: YamlNode
    text: str = ""
    replaced: Mapping[Keys, Place] = field(default_factory=dict)
    moved: Mapping[Keys, Keys] = field(default_factory=dict)

    def place(self, *path: Key) -> Place:
        """Where the value at this path is written, or the nearest value around it."""
        for end in range(len(path) if self.replaced else 0, 0, -1):
            if path[:end] in self.replaced:
                return self.replaced[path[:end]]
        node = self._nearest(self._written(path))
        return Place(self.file, node.line + 1, node.column + 1)

    def key_place(self, *path: Key) -> Place:
        """Where the key at the end of this path is written."""
        if any(path[:end] in self.replaced for end in range(1, len(path) + 1)):
            return self.place(*path)
        path = self._written(path)
        holder = self._nearest(path[:-1])
        key = holder.keys.get(path[-1], holder)
        return Place(self.file, key.line + 1, key.column + 1)

    def place_inside(self, path: Keys, offset: int) -> Place:
        """Where the character at offset in the text at this path is written."""
        node = self._nearest(self._written(path))
        if node.inside is None or path in self.replaced:
            return self.place(*path)
        return Place(self.file, node.line + 1, node.inside + offset + 1)

    def _written(self, path: Keys) -> Keys:
        """The path in the file of the value at a path in data."""
        for start, home in self.moved.items():
            if path[: len(start)] == start:
                return (*home, *path[len(start) :])
        return path

    def _nearest(self, path: Keys) -> YamlNode:
        node = self.root
        for key in path:
            if key not in node.children:
                break
            node = node.children[key]
        return node


def read_document(path: Path, sections: str = DIAGRAM_SECTIONS) -> Document:
    """Read a YAML file; raises DiagramError with every fault of its text. sections: the contents
    of such a file, named in the error for an empty one.
    """
    return parse_document(read_file(path)[1], str(path), sections)


def parse_document(text: str, file: str, sections: str = DIAGRAM_SECTIONS) -> Document:
    """Parse YAML text whose top level is a mapping."""
    root = _compose(text, file)
    if root is None:
        raise DiagramError(Fault("the file is empty", Place(file, 1, 1), sections))
    if not isinstance(root.value, dict):
        place = Place(file, root.line + 1, root.column + 1)
        problem = "the file must be a mapping of keys to values"
        raise DiagramError(Fault(problem, place, sections))
    return Document(file, root.value, root, text)


def parse_value(text: str, origin: str) -> Any:
    """Parse one value, such as `[1, 2]` or `1e-6`; origin is named in errors."""
    root = _compose(text, origin)
    return None if root is None else root.value


def value_at(data: Any, path: Keys, otherwise: Any = None) -> Any:
    """The value at a path of keys and indices in plain values, or otherwise where there is none."""
    for key in path:
        inner = isinstance(data, dict) and key in data
        if not inner and isinstance(data, list) and isinstance(key, int):
            inner = 0 <= key < len(data)
        if not inner:
            return otherwise
        data = data[key]
    return data


def mapping_at(data: Any, *path: Key) -> dict[str, Any]:
    """The mapping at a path in plain values; an empty one where there is none."""
    found = value_at(data, path)
    return found if isinstance(found, dict) else {}


def texts_in(value: Any) -> Iterator[str]:
    """All texts within lists and mappings, without the keys of these."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_in(one)
    elif isinstance(value, str):
        yield value


def read_file(path: Path) -> tuple[bytes, str]:
    """A YAML file's bytes, and its text with its line breaks, unparsed. Raises DiagramError where
    it cannot be read, is too large, or is not UTF-8.
    """
    file = str(path)
    try:
        if not path.is_file():
            problem = "is not a file" if path.exists() else "there is no such file"
            raise DiagramError(Fault(problem, Place(file)))
        with path.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DiagramError(Fault(f"cannot be read: {reason}", Place(file))) from None
    if len(raw) > MAX_BYTES:
        raise DiagramError(Fault(f"is larger than {MAX_BYTES} bytes", Place(file)))
    try:
        return raw, raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - raw.rfind(b"\n", 0, error.start)
        fault = Fault("is not UTF-8 text", Place(file, line, column), "save it as UTF-8")
        raise DiagramError(fault) from None


def _compose(text: str, file: str) -> YamlNode | None:
    if len(text) > MAX_BYTES:
        raise DiagramError(Fault(f"is larger than {MAX_BYTES} bytes", Place(file)))
    control = _CONTROL.search(text)
    if control:
        line = text.count("\n", 0, control.start()) + 1
        column = control.start() - text.rfind("\n", 0, control.start())
        problem = f"character U+{ord(control[0]):04X} is not allowed in YAML"
        hint = "take it out; in double quotes it can be written with a backslash"
        raise DiagramError(Fault(problem, Place(file, line, column), hint))
    composer = _Composer(file, text)
    try:
        root = composer.compose(yaml.parse(text, Loader=_Loader))
    except yaml.MarkedYAMLError as error:
        composer.faults.append(_syntax_fault(error, file))
    except yaml.YAMLError as error:
        composer.faults.append(Fault(f"not YAML: {error}", Place(file)))
    if composer.faults:
        raise DiagramError(composer.faults)
    return root


def _syntax_fault(error: yaml.MarkedYAMLError, file: str) -> Fault:
    mark = error.problem_mark or error.context_mark
    place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
    problem = error.problem or error.context or "cannot be read"
    if "nesting depth" in problem:  # libyaml 0.2.6 has a limit of its own, and reads ahead
        return Fault(_TOO_DEEP, place, _FLATTER)
    hint = "see that brackets and quotes are closed, and that keys of one mapping stand alike"
    if "\\t" in problem or "tab" in problem or "cannot start any token" in problem:
        hint = "indent with spaces, not tabs, and quote text that begins with a special sign"
    elif "alias" in problem:
        hint = "quote text that begins with * or &"
    return Fault(f"not YAML: {problem}", place, hint)


class _Stop(Exception):  # noqa: N818 - a signal within this file, not an error
    """A limit is exceeded; reading stops."""


@dataclass
class _Open:
    """A mapping or sequence that is being read."""

    node: YamlNode
    anchor: str | None
    mapping: bool
    key: tuple[str, YamlNode] | None = None


class _Composer:
    """Builds the tree from events with an explicit stack, without recursion."""

    def __init__(self, file: str, text: str) -> None:
        self.file, self.text = file, text
        self.faults: list[Fault] = []
        self.stack: list[_Open] = []
        self.anchors: dict[str, YamlNode | None] = {}
        self.nodes = 0
        self.documents = 0
        self.root: YamlNode | None = None

    def compose(self, events: Iterator[Any]) -> YamlNode | None:
        try:
            for event in events:
                self._take(event)
        except _Stop:
            pass
        return self.root

    def _take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            size = text_size(event.value)
            self._check(event, size)
            self._add(self._scalar(event, size), event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._check(event, 1)
            self._start(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._close(self.stack.pop(), event)
        elif isinstance(event, yaml.AliasEvent):
            self._alias(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                hint = "write a file for each, or take the line --- out"
                self._fault("a second document begins here; a file holds one", event, hint)
                raise _Stop

    def _fault(self, message: str, event: Any, hint: str | None = None) -> None:
        self._fault_at(message, event.start_mark, hint)

    def _fault_at(self, message: str, mark: Any, hint: str | None = None) -> None:
        """A fault where a mark of PyYAML or a node stands."""
        self.faults.append(Fault(message, Place(self.file, mark.line + 1, mark.column + 1), hint))
        if len(self.faults) >= MAX_FAULTS:
            raise _Stop

    def _check(self, event: Any, size: int) -> None:
        if event.tag is not None:
            self._fault(f"tag {event.tag} is refused", event, "a file holds plain values only")
        if event.anchor:
            self.anchors[event.anchor] = None
        self._count(size, event)

    def _count(self, size: int, event: Any) -> None:
        self.nodes += size
        if self.nodes > MAX_NODES:
            problem = f"more than {MAX_NODES} values, aliases counted in full"
            self._fault(problem, event, "make the file smaller, or use fewer aliases")
            raise _Stop

    def _start(self, event: Any) -> None:
        if len(self.stack) >= MAX_DEPTH:
            self._fault(_TOO_DEEP, event, _FLATTER)
            raise _Stop
        mapping = isinstance(event, yaml.MappingStartEvent)
        mark, start = event.start_mark, self._behind_anchor(event)
        value: Any = {} if mapping else []
        node = YamlNode(value, mark.line, mark.column, start, start, bool(event.flow_style),
                    children={}, keys={} if mapping else _NONE)  # fmt: skip
        self._add(node, event)
        self.stack.append(_Open(node, event.anchor, mapping))

    def _close(self, closed: _Open, event: Any) -> None:
        node = closed.node
        if node.flow:
            node.end = event.end_mark.index
        elif node.children:
            node.end = max(node.start, next(reversed(node.children.values())).end)
        if closed.anchor:
            self.anchors[closed.anchor] = node
        if self.stack:
            self._absorb(self.stack[-1].node, node)

    def _behind_anchor(self, event: Any) -> int:
        """Where a value begins in the text."""
        start: int = event.start_mark.index
        if event.anchor and self.text[start : start + 1] == "&":
            start += len(event.anchor) + 1
            while self.text[start : start + 1].isspace():
                start += 1
        return start

    def _alias(self, event: Any) -> None:
        node = self.anchors.get(event.anchor)
        if node is None:
            known = event.anchor in self.anchors
            problem = "contains itself" if known else "is not defined above"
            hint = "write the value without it" if known else f"write &{event.anchor} above it"
            self._fault(f"alias *{event.anchor} {problem}", event, hint)
            node = YamlNode(None, event.start_mark.line, event.start_mark.column)
        self._count(node.size, event)
        if len(self.stack) + node.height > MAX_DEPTH:
            self._fault(_TOO_DEEP, event, _FLATTER)
            raise _Stop
        start, end = event.start_mark.index, event.end_mark.index
        self._add(replace(node, start=start, end=end, alias=True), event)
        if self.stack and node.children:
            self._absorb(self.stack[-1].node, node)

    def _scalar(self, event: Any, size: int) -> YamlNode:
        start, end, text = event.start_mark, event.end_mark, event.value
        first, last, line, column = start.index, end.index, start.line, start.column
        plain = not event.style
        inside, quotes = None, 0 if plain else 1
        if line == end.line and last - first == len(text) + 2 * quotes:
            inside = column + quotes
        elif event.style in ("|", ">"):
            last = first + len(self.text[first:last].rstrip())
        value = self._resolve(event) if plain and not self._expects_key() else text
        node = YamlNode(value, line, column, first, last, True, False, inside, _NONE, _NONE, size)
        if event.anchor:
            node.start = self._behind_anchor(event)
            node.end = max(node.start, node.end)
            self.anchors[event.anchor] = node
        return node

    def _resolve(self, event: Any) -> Any:
        text = event.value
        if text in _WORDS:
            return _WORDS[text]
        if text[0] not in _OF_NUMBERS:
            return text
        if _INT.fullmatch(text):
            return self._whole(text, event)
        if _INF.fullmatch(text):
            return float(text.replace(".", "").lower())
        if not _FLOAT.fullmatch(text):
            return text
        number = float(text)
        if isinf(number):
            self._out_of_range(event)
        return number

    def _whole(self, text: str, event: Any) -> int:
        """An integer; a fault if a float cannot represent its magnitude."""
        base = 0 if text[:2] in ("0x", "0o") else 10
        number = int(text, base) if len(text) <= 400 else sys.maxsize**20
        if abs(number) > sys.float_info.max:
            self._out_of_range(event)
            return 0
        return number

    def _out_of_range(self, event: Any) -> None:
        text = event.value
        shown = text if len(text) < 40 else text[:40] + "..."
        self._fault(f"number {shown} is out of range", event, "write .inf for infinity")

    def _expects_key(self) -> bool:
        return bool(self.stack) and self.stack[-1].mapping and self.stack[-1].key is None

    def _add(self, node: YamlNode, event: Any) -> None:
        """Put a node where it belongs: at the top, in a sequence, as key or as value."""
        if not self.stack:
            self.root = node
            return
        top = self.stack[-1]
        holder = top.node
        if not top.mapping:
            holder.children[len(holder.value)] = node
            holder.value.append(node.value)
        elif top.key is None:
            top.key = (self._key(node, event), node)
        else:
            (key, named), top.key = top.key, None
            if key in holder.value:
                self._duplicate(key, named, holder)
                return
            if node.start == node.end and node.children is _NONE:
                self._settle(node, named)
            holder.value[key] = node.value
            holder.children[key] = node
            holder.keys[key] = named
        if node.children is _NONE:
            self._absorb(holder, node)

    def _settle(self, empty: YamlNode, key: YamlNode) -> None:
        """The place of a value without characters: right behind its colon."""
        colon = _COLON.match(self.text, key.end)
        if colon:
            empty.start = empty.end = colon.end()

    def _key(self, node: YamlNode, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            self._fault("a key must be text", event, "quote it if it begins with [, { or *")
        elif len(event.value) > MAX_KEY:
            hint = "shorten it; a long text can be a value"
            self._fault(f"a key has more than {MAX_KEY} characters", event, hint)
        elif event.value == "<<" and not event.style:
            self._fault("there are no merge keys", event, "write the entries themselves")
        else:
            return str(event.value)
        return "\0" + str(self.nodes)

    def _duplicate(self, key: str, again: YamlNode, holder: YamlNode) -> None:
        line = holder.keys[key].line + 1
        self._fault_at(f"key {key!r} is given twice", again, f"first given in line {line}")

    @staticmethod
    def _absorb(holder: YamlNode, node: YamlNode) -> None:
        holder.size += node.size
        if node.height >= holder.height:
            holder.height = node.height + 1


def text_size(text: str) -> int:
    """The number of values that a text counts as."""
    return 1 + len(text) // TEXT_NODE
