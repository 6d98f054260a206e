"""Wires as they are written, their syntax, and their texts changed.

SOURCE -> END, END, ...        SOURCE is block, block.port, block.port[slice],
                               block.* or block.{port, port}
                               END is block or block.port
A port's name may have dots: an audit's port is block.audit.port.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from spart_blocks.base.paths import index_of

Selection = int | tuple[int | None, int | None, int | None]

FILLED_IN_ORDER = ("SCOPE", "SCOPEXY", "MUX", "NULL", "WATCH")
"""Types of blocks whose wires, if they name no input, use the next free one."""
COUNTED = ("SCOPE", "MUX", "NULL", "WATCH")
"""Types of blocks that have one input for each wire, unless their number is given."""

_PART = r"(?:[^\s.\[\]{}*][^\s.\[\]{}]*|\*[^\s.\[\]{}]+)"  # of a port's name: no star alone
_PORT = rf"{_PART}(?:\.{_PART})*"
_END = re.compile(
    rf"(?P<block>[^\s.\[\]{{}}]+)(?:\.(?P<port>{_PORT}))?"
    r"(?P<names>\.\*|\.\{[^{}]*\})?(?P<rest>\[.*\])?"
)
_NAME = re.compile(rf"\s*({_PORT})\s*")


class WireSyntaxError(Exception):
    """A wire that cannot be parsed: message, position in its text, hint."""

    def __init__(self, message: str, offset: int, hint: str | None = None) -> None:
        self.message, self.offset, self.hint = message, offset, hint
        super().__init__(message)


@dataclass(frozen=True)
class Name:
    """A signal named in braces, and its position in the wire's text."""

    text: str
    offset: int


@dataclass(frozen=True)
class End:
    """One end of a wire, with the positions of its parts in the wire's text; stop: the position
    after its last character. names: for a source of several signals those in braces, () for all;
    None for one signal.
    """

    block: str
    port: str | None
    selection: Selection | None
    offset: int
    port_offset: int
    selection_offset: int
    names: tuple[Name, ...] | None = None
    stop: int = 0

    def __str__(self) -> str:
        """The end in normalized spelling."""
        text = self.block if self.port is None else f"{self.block}.{self.port}"
        if self.names is not None:
            listed = ",".join(name.text for name in self.names)
            return f"{text}.{{{listed}}}" if self.names else f"{text}.*"
        return text if self.selection is None else text + selection_text(self.selection)


@dataclass(frozen=True)
class WrittenWire:
    """A parsed wire: its text, its source, and its destinations."""

    text: str
    source: End
    ends: tuple[End, ...]

    def written(self, end: End) -> str:
        """The text of one of its ends."""
        return self.text[end.offset : end.stop]

    def connections(self) -> Iterator[tuple[str, str]]:
        """Pairs of the source and each destination, in normalized spelling."""
        source = str(self.source)
        return ((source, str(end)) for end in self.ends)

    def renamed(self, names: Mapping[str, str]) -> str:
        """The text with blocks renamed; spaces are kept. names: new names by old ones."""
        text = self.text
        for end in (*reversed(self.ends), self.source):
            new = names.get(end.block, end.block)
            text = text[: end.offset] + new + text[end.offset + len(end.block) :]
        return text

    def with_port(self, blocks: Collection[str], is_source: bool, old: str, new: str) -> str:
        """The text with a port of some blocks renamed. is_source: whether it is that of sources."""
        text = self.text
        for end in (self.source,) if is_source else reversed(self.ends):
            if end.block not in blocks:
                continue
            named = [(name.text, name.offset) for name in end.names or ()]
            if end.port is not None:
                named.insert(0, (end.port, end.port_offset))
            for written, offset in reversed(named):
                if written == old:
                    text = text[:offset] + new + text[offset + len(old) :]
        return text

    def with_only_port(self, blocks: Collection[str], is_source: bool, port: str) -> str:
        """The text with a port written at the ends of some blocks that name none."""
        text = self.text
        for end in (self.source,) if is_source else reversed(self.ends):
            if end.block in blocks and end.port is None and end.names is None:
                at = end.offset + len(end.block)
                text = f"{text[:at]}.{port}{text[at:]}"
        return text

    def without(self, leaves: Callable[[End], bool]) -> str | None:
        """The text without the ends for which `leaves` returns True; None if nothing remains."""
        if leaves(self.source):
            return None
        kept = [self.written(end) for end in self.ends if not leaves(end)]
        if len(kept) == len(self.ends):
            return self.text
        head, _, _ = self.text.partition("->")
        return f"{head}-> {', '.join(kept)}" if kept else None

    def without_connections(self, gone: set[tuple[str, str]]) -> str | None:
        """The text without some connections; None if nothing remains."""
        source = str(self.source)
        return self.without(lambda end: (source, str(end)) in gone)


def parse_wire(text: str) -> WrittenWire:
    """Parse a wire. Raises WireSyntaxError."""
    arrow = text.find("->")
    if arrow < 0:
        raise WireSyntaxError(
            "a wire is written SOURCE -> INPUT",
            0,
            "no arrow ->; inside [ ], quote a wire with commas",
        )
    second = text.find("->", arrow + 2)
    if second >= 0:
        hint = "write a line for each wire; one source may lead to several inputs: a -> b, c"
        raise WireSyntaxError("a wire has one arrow", second, hint)
    source = parse_end(text[:arrow], 0)
    ends: list[End] = []
    start = arrow + 2
    if "{" in text[start:]:
        hint = "write plant.{qm, um} -> law; it goes to the inputs of the same names"
        raise WireSyntaxError("braces belong to a source", text.index("{", start), hint)
    for part in text[start:].split(","):
        end = parse_end(part, start)
        if end.names is not None:
            hint = f"write {end.block}: its inputs of the same names are wired"
            raise WireSyntaxError(
                "a star belongs to a source", start + len(part.rstrip()) - 1, hint
            )
        if end.selection is not None:
            hint = f"an input is named by a dot, as {end.block}.0"
            raise WireSyntaxError("only a source can be sliced", end.selection_offset, hint)
        ends.append(end)
        start += len(part) + 1
    return WrittenWire(text, source, tuple(ends))


def parse_end(text: str, start: int = 0) -> End:
    """Parse `block.port[slice]`. start: its position in the text of the wire."""
    bare = text.strip()
    offset = start + len(text) - len(text.lstrip())
    if not bare:
        raise WireSyntaxError("a block's name is missing", max(offset - 1, 0))
    match = _END.fullmatch(bare)
    if match is None:
        hint = "write block, block.port, block.port[0:2], block.* or block.{port, port}"
        raise WireSyntaxError(f"cannot read {bare!r}", offset, hint)
    names = (
        None if match["names"] is None else _names(match["names"], offset + match.start("names"))
    )
    if names is not None and match["rest"] is not None:
        raise WireSyntaxError("only one signal can be sliced", offset + match.start("rest"))
    selection = None
    if match["rest"] is not None:
        selection = _selection(match["rest"][1:-1].replace(" ", ""), offset + match.start("rest"))
    port_offset = offset + max(match.start("port"), 0)
    return End(
        match["block"],
        match["port"],
        selection,
        offset,
        port_offset,
        offset + max(match.start("rest"), 0),
        names,
        offset + len(bare),
    )


def _names(text: str, offset: int) -> tuple[Name, ...]:
    """The names in `.{qm, um}`; () for `.*`. offset: position in the text of the wire."""
    if text == ".*":
        return ()
    names: list[Name] = []
    start = 2
    for part in text[2:-1].split(","):
        match = _NAME.fullmatch(part)
        if match is None:
            hint = "write the ports' names between the braces: plant.{qm, um}"
            raise WireSyntaxError(f"cannot read {text!r}", offset + start, hint)
        names.append(Name(match[1], offset + start + match.start(1)))
        start += len(part) + 1
    return tuple(names)


def _selection(text: str, offset: int) -> Selection:
    found = index_of(text)
    if found is None:
        hint = "write one index, [2], or a slice, [0:2]"
        raise WireSyntaxError(f"cannot read [{text}]", offset, hint)
    if isinstance(found, int):
        return found
    if found.step == 0:
        raise WireSyntaxError("a slice cannot step by 0", offset)
    return (found.start, found.stop, found.step)


def selection_text(selection: Selection) -> str:
    """A selection as text in its shortest form: [2], [0:2], [::2]."""
    if isinstance(selection, int):
        return f"[{selection}]"
    start, stop, step = ("" if part is None else str(part) for part in selection)
    return f"[{start}:{stop}:{step}]" if step else f"[{start}:{stop}]"
