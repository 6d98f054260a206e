"""References: `$name` in a value stands for the parameter `name`.

A reference is a whole scalar: `$kp`, also inside lists and mappings. `$$kp` is the text `$kp`.
Parameters may refer to one another in any order, but not in a circle. The number of expanded
values is limited, so that a small file cannot grow without bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spart_blocks.base.document import (
    MAX_DEPTH,
    MAX_FAULTS,
    MAX_NODES,
    Document,
    Key,
    Keys,
    mapping_at,
    text_size,
    texts_in,
    value_at,
)
from spart_blocks.base.errors import DiagramError, Fault, did_you_mean

MAX_EXPANDED = 5 * MAX_NODES
MOST_SOURCES = 32
"""Longest chain of parameters that refer to each other of which all sources are recorded."""

_REFERENCE = re.compile(r"\$([^\W\d]\w*)")
_ESCAPED = re.compile(r"\$\$+[^\W\d]\w*")


@dataclass(frozen=True)
class Sources:
    """The entries of the diagram's own file from which a value comes unchanged.

    own: paths of the entries with the whole value. A parameter that is a reference follows the one
    that it refers to: params.other, params.b. parts: the sources of entries within the value.
    """

    own: tuple[Keys, ...] = ()
    parts: Mapping[Key, Sources] = field(default_factory=dict)

    @property
    def parameter(self) -> Keys | None:
        """The path of the parameter of the file that has this value; of the first one if there are
        several.
        """
        return next((path for path in self.own if path[0] == "params"), None)

    def __iter__(self) -> Iterator[tuple[Keys, Keys]]:
        """Pairs of a path within the value that has a source, and the path of this source in the
        file.
        """
        for path in self.own:
            yield (), path
        for key, part in self.parts.items():
            yield from (((key, *within), path) for within, path in part)


_NO_SOURCES = Sources()


@dataclass(frozen=True)
class Resolved:
    """A value with its references replaced. size: number of values in it. height: its nesting
    depth.

    complete: False if a reference could not be resolved. sources: the entries of the file that it
    comes from.
    """

    value: Any
    size: int = 1
    height: int = 1
    complete: bool = True
    sources: Sources = _NO_SOURCES

    def at(self, *path: Key) -> Resolved:
        """The same value, with one more entry of the file as a source."""
        own = (*self.sources.own, path)
        return replace(self, sources=Sources(own, self.sources.parts))


@dataclass
class Resolver:
    """Resolves references, collects faults and counts the expanded values. elsewhere: entries of
    the file whose values affect more than arguments of blocks.
    """

    document: Document
    faults: list[Fault]
    expanded: int = 0
    elsewhere: set[Keys] = field(default_factory=set)

    def resolve(self, raw: Any, scope: Scope, path: Keys, *, followed: bool = False) -> Resolved:
        """The value `raw`, written at a path, with every reference replaced by its parameter.
        followed: whether the caller records the uses of its sources.
        """
        resolved = self._resolve(raw, scope, path)
        if not followed:
            self.elsewhere.update(source for _, source in resolved.sources)
        self.expanded += resolved.size
        if self.expanded > MAX_EXPANDED or resolved.height > MAX_DEPTH:
            place = self.document.place(*path)
            problem = "the parameters expand to a value that is too large or too deep"
            hint = f"the most is {MAX_EXPANDED} values in all, {MAX_DEPTH} levels"
            raise DiagramError([*self.faults, Fault(problem, place, hint)])
        return resolved

    def _resolve(self, raw: Any, scope: Scope, path: Keys) -> Resolved:
        if isinstance(raw, str):
            return self._text(raw, scope, path)
        if isinstance(raw, dict):
            items = {key: self._resolve(value, scope, (*path, key)) for key, value in raw.items()}
            return _joined({key: item.value for key, item in items.items()}, items)
        if isinstance(raw, list):
            parts = [self._resolve(value, scope, (*path, i)) for i, value in enumerate(raw)]
            return _joined([part.value for part in parts], dict(enumerate(parts)))
        return Resolved(raw)

    def _text(self, raw: str, scope: Scope, path: Keys) -> Resolved:
        name = reference_of(raw)
        if name is None:
            return Resolved(raw[1:] if _ESCAPED.fullmatch(raw) else raw, text_size(raw))
        found = scope.find(name)
        if found is None:
            hint = None
            if len(self.faults) < MAX_FAULTS:  # a search through every name, for each fault
                hint = did_you_mean(name, scope.names())
                hint = hint or "there are no params; a text that begins with $ is written $$"
            message = f"unknown parameter {raw}"
            self.faults.append(Fault(message, self.document.place(*path), hint))
            return Resolved(None, complete=False)
        return found

    def scope(
        self,
        raw: Mapping[str, Any],
        path: Keys,
        parent: Scope | None = None,
        given: Mapping[str, Resolved] | None = None,
        named: bool = False,
    ) -> Scope:
        """The parameters of a `params:` section. given: values from outside, which replace those
        of the section.

        named: whether they are the diagram's own, so that each is a source of its value.
        References in a circle are a fault.
        """
        scope = Scope(dict(given or {}), parent)
        raw = {name: value for name, value in raw.items() if name not in scope.values}
        waiting = {name: {*references_in(value)} & raw.keys() for name, value in raw.items()}
        users: dict[str, list[str]] = {name: [] for name in raw}
        for name, needed in waiting.items():
            for other in needed:
                users[other].append(name)
        ready = [name for name, needed in waiting.items() if not needed]
        while ready:
            name = ready.pop()
            value = self.resolve(raw[name], scope, (*path, name), followed=True)
            if named and len(value.sources.own) < MOST_SOURCES:
                value = value.at(*path, name)
            elif named:
                self.elsewhere.add((*path, name))
            scope.values[name] = value
            for user in users[name]:
                waiting[user].discard(name)
                if not waiting[user]:
                    ready.append(user)
        self._circles(raw, scope, path)
        return scope

    def _circles(self, raw: Mapping[str, Any], scope: Scope, path: Keys) -> None:
        stuck = [name for name in raw if name not in scope.values]
        for name in stuck:
            scope.values[name] = Resolved(None, complete=False)
        if stuck:
            place = self.document.key_place(*path, stuck[0])
            listed = ", ".join(stuck[:8]) + (", ..." if len(stuck) > 8 else "")
            message = f"parameters refer to each other in a circle: {listed}"
            self.faults.append(Fault(message, place, "give one of them a value of its own"))


@dataclass(frozen=True)
class Scope:
    """The parameters to which a value can refer: those of a file, or of a subsystem and its
    enclosing scopes.
    """

    values: dict[str, Resolved] = field(default_factory=dict)
    parent: Scope | None = None

    def find(self, name: str) -> Resolved | None:
        """The parameter of this name, here or in an enclosing scope."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.parent
        return None

    @property
    def of_file(self) -> Scope:
        """The outermost scope around this one: that of the file."""
        return self if self.parent is None else self.parent.of_file

    def names(self) -> list[str]:
        """Every name that can be referred to from here."""
        above = self.parent.names() if self.parent else []
        return [*self.values, *above]


def resolved_at(document: Document, keys: Keys) -> Any:
    """The value at a path of a file with references replaced; None if there is none."""
    faults: list[Fault] = []
    resolver = Resolver(document, faults)
    scope = resolver.scope(mapping_at(document.data, "params"), ("params",))
    value: Any = document.data
    for depth, key in enumerate(keys):
        if isinstance(value, str):
            value = resolver.resolve(value, scope, keys[:depth]).value
        index = int(key) if isinstance(value, list) and str(key).isdecimal() else str(key)
        value = value_at(value, (index,))
        if value is None:
            return None
    resolved = resolver.resolve(value, scope, keys)
    return resolved.value if resolved.complete and not faults else None


def _joined(value: Any, parts: Mapping[Any, Resolved]) -> Resolved:
    """A list or mapping of resolved values as one resolved value. parts: the values by key."""
    size, height, complete = 1, 1, True
    for part in parts.values():
        size += part.size
        height = max(height, part.height + 1)
        complete = complete and part.complete
    sources = {key: part.sources for key, part in parts.items() if part.sources is not _NO_SOURCES}
    return Resolved(value, size, height, complete, Sources((), sources) if sources else _NO_SOURCES)


def reference_of(value: Any) -> str | None:
    """The name of the parameter that a text refers to; None for other values."""
    found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else None


def references_in(value: Any) -> Iterator[str]:
    """The names of the parameters that a value refers to, also within lists and mappings."""
    found = (reference_of(text) for text in texts_in(value))
    return (name for name in found if name is not None)
