"""Where a file uses the value of a path: the arguments of blocks that take it unchanged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spart_blocks.base.document import Document, Keys, read_document
from spart_blocks.base.errors import DiagramError, Fault
from spart_blocks.diagram.build.composed import parts_of
from spart_blocks.diagram.sections.table import FILE_SECTIONS
from spart_blocks.diagram.written.files import existing
from spart_blocks.diagram.written.references import Resolver

_OTHERS = tuple(name for name, row in FILE_SECTIONS.items() if row.refers and row.of_runs)
"""Sections besides those of blocks whose references reach the program."""
_DEEPEST = 32


@dataclass(frozen=True)
class Use:
    """An argument of a block. block: its full name, as `arm/ctrl`. within: the entry of the
    argument that takes the value. origin: the file's parameter that the argument is the whole
    value of; with it other arguments may share a parameter of the program. sign: of the value
    there. apart: values for which there are other blocks."""

    block: str
    argument: str
    within: Keys = ()
    origin: str | None = None
    sign: int = 1
    apart: frozenset[float] = frozenset()


def uses_of_parameter(document: Document, root: Path, name: str, within: Keys) -> list[Use] | None:
    """The uses of a parameter of a file, or of an entry of it; None where one of them is not the
    value of a block. root: the folder that the files it uses must lie in."""
    return _complete(_Body(document, document.data, root).uses(name, within, name))


def uses_of_argument(
    document: Document, root: Path, block: str, argument: str, within: Keys
) -> list[Use] | None:
    """The uses of an argument of one of the file's blocks, which may stand for several."""
    body = _Body(document, document.data, root)
    return _complete(body.uses_in(block, argument, within, None))


def _complete(found: Iterator[Use | None]) -> list[Use] | None:
    uses = list(found)
    whole = [use for use in uses if use is not None]
    return whole if len(whole) == len(uses) else None


@dataclass(frozen=True)
class _Body:
    """Sections with blocks: of a file, or of a subsystem in it. given: its parameters whose values
    come from outside. prefix: the names of the blocks around it."""

    document: Document
    data: Mapping[str, Any]
    root: Path
    given: frozenset[str] = frozenset()
    prefix: str = ""
    depth: int = 0

    def uses(self, name: str, within: Keys, origin: str | None) -> Iterator[Use | None]:
        """The uses of one of its parameters; None for each that is not an argument of a block."""
        if self.depth > _DEEPEST:
            yield None
            return
        text = f"${name}"
        for other, value in _mapping(self.data, "params").items():
            if other not in self.given:
                for place in _places(value, text):
                    whole = other if place and not self.prefix else None if place else origin
                    yield from self._deeper().uses(other, place + within, whole)
        for section in _OTHERS:
            if any(True for _ in _places(self.data.get(section), text)):
                yield None
        for block, entry in _mapping(self.data, "blocks").items():
            for place in _places(entry, text):
                whole = origin if len(place) == 1 else None
                if not place:
                    yield None
                    return
                yield from self.uses_in(block, str(place[0]), place[1:] + within, whole)
            yield from self._inherited(block, name, within, origin)

    def uses_in(
        self, block: str, argument: str, within: Keys, origin: str | None
    ) -> Iterator[Use | None]:
        """The uses of an argument of one of its blocks."""
        entry = _mapping(self.data, "blocks").get(block)
        if not isinstance(entry, Mapping):
            yield None
            return
        if not entry.get("use") and self._subsystem(entry) is None:
            yield from self._of_block(block, entry, Use(block, argument, within, origin))
            return
        inner = self._inside(block, entry)
        if inner is None:
            yield None
            return
        yield from inner.uses(argument, within, origin)

    def _of_block(self, block: str, entry: Mapping[str, Any], use: Use) -> Iterator[Use | None]:
        """The use by a block, or by those that it is made of."""
        parts = parts_of(str(entry.get("type")), use.argument)
        if parts is None:
            yield replace(use, block=self.prefix + block)
            return
        if not parts:
            yield None
        for part in parts:
            if (part.alone and use.within) or entry.get(part.unless) is not None:
                yield None
                continue
            yield replace(
                use,
                block=f"{self.prefix}{block}/{part.block}",
                argument=part.argument,
                sign=part.sign,
                apart=part.apart,
            )

    def _inherited(
        self, block: str, name: str, within: Keys, origin: str | None
    ) -> Iterator[Use | None]:
        """The uses of a parameter inside a subsystem that has none of its name."""
        entry = _mapping(self.data, "blocks")[block]
        body = self._subsystem(entry) if isinstance(entry, Mapping) else None
        if body is None or entry.get("use") or name in _mapping(body, "params"):
            return
        inner = self._inside(block, entry)
        if inner is not None:
            yield from inner.uses(name, within, origin)

    def _inside(self, block: str, entry: Mapping[str, Any]) -> _Body | None:
        """What a block stands for, a subsystem or a file."""
        document, body = self.document, self._subsystem(entry)
        if entry.get("use"):
            path = existing(str(entry["use"]), document, self.root, document.place("blocks"), [])
            try:
                if path is None:
                    return None
                document = read_document(path)
                body = document.data
            except DiagramError:
                return None
        if body is None:
            return None
        prefix, given = f"{self.prefix}{block}/", frozenset(map(str, entry))
        return _Body(document, body, self.root, given, prefix, self.depth + 1)

    def _subsystem(self, entry: Mapping[str, Any]) -> Mapping[str, Any] | None:
        found = _mapping(self.document.data, "subsystems").get(str(entry.get("type")))
        return found if isinstance(found, Mapping) else None

    def _deeper(self) -> _Body:
        return replace(self, depth=self.depth + 1)


def _mapping(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = data.get(name)
    return found if isinstance(found, Mapping) else {}


def _places(value: Any, text: str, path: Keys = ()) -> Iterator[Keys]:
    """The places within a value at which a text stands."""
    if isinstance(value, str):
        if value == text:
            yield path
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _places(item, text, (*path, key))
    elif isinstance(value, list):
        for k, item in enumerate(value):
            yield from _places(item, text, (*path, k))


def value_at(document: Document, keys: Keys) -> Any:
    """The value at a path of a file with its references replaced; None without one."""
    faults: list[Fault] = []
    resolver = Resolver(document, faults)
    scope = resolver.scope(_mapping(document.data, "params"), ("params",))
    value: Any = document.data
    for depth, key in enumerate(keys):
        if isinstance(value, str):
            value = resolver.resolve(value, scope, keys[:depth]).value
        value = _entry(value, key)
        if value is None:
            return None
    resolved = resolver.resolve(value, scope, keys)
    return resolved.value if resolved.complete and not faults else None


def _entry(value: Any, key: Any) -> Any:
    """An entry of a mapping or a list; None without one."""
    if isinstance(value, Mapping):
        return value.get(str(key))
    if isinstance(value, list) and str(key).isdecimal() and int(key) < len(value):
        return value[int(key)]
    return None
