"""New names of parameters, clocks, robots and blocks, and their use in values."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.document import mapping_at
from spart_blocks.diagram.written.references import reference_of, references_in
from spart_blocks.diagram.written.sheets import Name
from spart_blocks.versions.differences.matched_versions import (
    DiagramVersion,
    MatchedVersions,
    shown,
)
from spart_blocks.versions.differences.values import Renaming, frozen

_HEAD = re.compile(r"[^\s.\[\]{}*,=>-]+")
Users = dict[str, list[tuple[Name, str]]]
"""For each parameter the blocks that use it, each with the name of the argument."""


@dataclass(frozen=True)
class References:
    """New names of what is renamed, by the old names. blocks: as in changes, `servo/gain`."""

    params: Mapping[str, str]
    clocks: Mapping[str, str]
    robots: Mapping[str, str]
    blocks: Mapping[str, str]

    def parameter(self, text: str) -> str:
        """The new form of a value that may be a reference to a parameter, `$kp`."""
        new = self.params.get(reference_of(text) or "")
        return text if new is None else f"${new}"

    def argument(self, name: str) -> Renaming:
        """The renaming that applies to the values of a block's argument."""
        others = {"clock": self.clocks, "robot": self.robots}.get(name)
        if not others:
            return self.parameter
        return lambda text: others.get(text, self.parameter(text))

    def signal(self, text: str) -> str:
        """The new form of a text that may name a signal, or an entry that can be overridden."""
        if text.startswith("$"):
            return self.parameter(text)
        head, dot, rest = text.partition(".")
        section = {"params": self.params, "robots": self.robots, "clocks": self.clocks}.get(head)
        if section and dot:
            name, inner, tail = rest.partition(".")
            return f"{head}.{section.get(name, name)}{inner}{tail}"
        begun = "blocks." if head == "blocks" and dot else ""
        found = _HEAD.match(text, len(begun))
        if found is None:
            return text
        for names in (self.blocks, self.robots, self.params):
            if found[0] in names:
                return f"{begun}{names[found[0]]}{text[found.end() :]}"
        return text


def references_of(
    pair: MatchedVersions, old: Mapping[str, Any], new: Mapping[str, Any]
) -> References:
    """The new names of parameters, clocks, robots and blocks in a new version."""

    def renamed(section: str, about: Callable[[Any], Any] = frozen) -> dict[str, str]:
        before, after = mapping_at(old, section), mapping_at(new, section)
        gone = {name: about(value) for name, value in before.items() if name not in after}
        come = {name: about(value) for name, value in after.items() if name not in before}
        return dict(_only_pairs(gone, come))

    params = renamed("params")
    if params:
        used = users_of(pair.old), users_of(pair.new)
        params = {a: b for a, b in params.items() if _same_users(used[0][a], used[1][b], pair)}
    return References(params, renamed("clocks", clock_of), renamed("robots"), pair.renamed())


def clock_of(section: Any) -> Any:
    """A clock's period and offset, so that a rate equals its period; other entries as they are
    written."""
    if not isinstance(section, dict):
        return frozen(section)
    rate = section.get("rate")
    if isinstance(rate, int | float) and not isinstance(rate, bool) and rate > 0:
        return 1.0 / rate, section.get("offset", 0)
    return frozen(section.get("T")), frozen(section.get("offset", 0))


def _only_pairs(gone: Mapping[str, Any], come: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names, old and new, of entries with equal content, if each file has exactly one with this
    content."""
    names: dict[Any, list[list[str]]] = defaultdict(lambda: [[], []])
    for side, held in enumerate((gone, come)):
        for name, value in held.items():
            names[value][side].append(name)
    for a, b in names.values():
        if len(a) == len(b) == 1:
            yield a[0], b[0]


def users_of(half: DiagramVersion) -> Users:
    """The blocks that use each parameter, also within lists and mappings."""
    found: Users = defaultdict(list)
    for name, piece in half.pieces.items():
        for argument, value in piece.parameters.items():
            for parameter in dict.fromkeys(references_in(value)):
                found[parameter].append((name, argument))
    return found


def _same_users(
    old: list[tuple[Name, str]], new: list[tuple[Name, str]], pair: MatchedVersions
) -> bool:
    """Whether a parameter is used by the same blocks in both files."""
    return {(pair.blocks.get(name), argument) for name, argument in old} == set(new)


def users_text(users: list[tuple[Name, str]], most: int = 8) -> str:
    """`used by law.kp and other.kp`; empty if there are no users."""
    names = [f"{shown(name)}.{argument}" for name, argument in users]
    more = [f"{len(names) - most} more"] if len(names) > most else []
    listed = names[:most] + more
    return f"used by {_and(listed)}" if listed else ""


def _and(words: list[str]) -> str:
    """Words joined by commas and `and`."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
