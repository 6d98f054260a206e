"""The texts of wires, changed: their ends renamed, taken away, led elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.document import Keys
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.written.wires import End, WireSyntaxError, parse_wire, selection_text
from spart_blocks.versions.edits.steps import RemoveValue, SetValue, Step


@dataclass(frozen=True)
class Written:
    """A wire: its source and ends, read, and their texts."""

    source: End
    source_text: str
    ends: tuple[tuple[End, str], ...]

    @classmethod
    def read(cls, text: str) -> Written:
        """Raises InputError for a text that is no wire."""
        try:
            wire = parse_wire(text)
        except WireSyntaxError as error:
            raise InputError(Fault(f"wire {text.strip()!r}: {error.message}", hint=error.hint)) \
                from None  # fmt: skip
        source, _, rest = text.partition("->")
        texts = (part.strip() for part in rest.split(","))
        return cls(wire.source, source.strip(), tuple(zip(wire.ends, texts, strict=True)))

    def connections(self) -> Iterator[tuple[str, str]]:
        """Source and end of each, in one spelling."""
        return ((spelled(self.source), spelled(end)) for end, _ in self.ends)


def wires_at(path: Keys, wires: Any) -> list[tuple[Keys, str]]:
    """The wires of a list at a path, each with its own path; empty texts are left out."""
    return [
        ((*path, index), text)
        for index, text in enumerate(wires if isinstance(wires, list) else ())
        if isinstance(text, str) and text.strip()
    ]


def wire_steps(
    wires: Iterable[tuple[Keys, str]], change: Callable[[str], str | None]
) -> Iterator[Step]:
    """The steps that change wires. change: gives the new text of a wire, None for none."""
    for path, text in wires:
        left = change(text)
        if left is None:
            yield RemoveValue(path)
        elif left != text:
            yield SetValue(path, left)


def all_connections(wires: list[str]) -> set[tuple[str, str]]:
    """What these wires connect, each source and end in one spelling."""
    return {pair for text in wires if text.strip() for pair in Written.read(text).connections()}


def spelled(end: End) -> str:
    """An end in one spelling."""
    text = end.block if end.port is None else f"{end.block}.{end.port}"
    if end.names is not None:
        return text + (f".{{{','.join(n.text for n in end.names)}}}" if end.names else ".*")
    return text if end.selection is None else text + selection_text(end.selection)


def renamed(text: str, old: str, new: str) -> str:
    """A wire whose block old is called new; its spaces stay."""
    wire = Written.read(text)
    places = [end.offset for end in (wire.source, *(end for end, _ in wire.ends))
              if end.block == old]  # fmt: skip
    for at in reversed(places):
        text = text[:at] + new + text[at + len(old) :]
    return text


def without(text: str, leaves: Callable[[End], bool]) -> str | None:
    """A wire without the ends for which leaves is true; None if none remains."""
    wire = Written.read(text)
    if leaves(wire.source):
        return None
    kept = [written for end, written in wire.ends if not leaves(end)]
    if len(kept) == len(wire.ends):
        return text
    head, _, _ = text.partition("->")
    return f"{head}-> {', '.join(kept)}" if kept else None


def without_connections(text: str, gone: set[tuple[str, str]]) -> str | None:
    """A wire without some connections; None if none remains."""
    source = spelled(Written.read(text).source)
    return without(text, lambda end: (source, spelled(end)) in gone)
