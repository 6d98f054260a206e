"""The links of a subdiagram: inputs received in frames, and outputs sent in frames.

A link block at the boundary of a subdiagram is a connection. The subdiagram receives from a block
whose outputs it reads, and sends to a block whose inputs it feeds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram import Diagram
from spart_blocks.diagram.check.first_values import signal_shapes, start_values
from spart_blocks.diagram.network.algebraic_loops import uncut
from spart_blocks.diagram.network.display import signal_names
from spart_blocks.diagram.network.flatten import FlatDiagram, Node, Source
from spart_blocks.export.step import StepCode
from spart_blocks.program import Slot
from spart_blocks.program.c.text import c_comment
from spart_blocks.program.subdiagram import Subdiagram, is_link
from spart_blocks.program.tracing.gains import wired
from spart_blocks.transports.connection import LinkConnection
from spart_blocks.transports.frames import Frame, size_of

_REARRANGING = ("mux", "demux", "index", "slice1", "flatten")
"""Blocks that only rearrange numbers."""

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class FrameSlice:
    """Contiguous numbers. number: index of the first in the frame, counted over all fields. place:
    index of the first in the flat array of the subdiagram's inputs or outputs. count: how many."""

    number: int
    place: int
    count: int


@dataclass(frozen=True)
class LiveLink:
    """A link block that a subdiagram receives from, or sends to. name: of the block. runs: where
    the numbers of its frame are in the subdiagram's inputs or outputs. Numbers of the frame that
    are in no run are not used by the subdiagram."""

    name: str
    way: Literal["receive", "send"]
    link: LinkConnection
    runs: tuple[FrameSlice, ...]

    def fields(self) -> Iterator[tuple[str, int, int, int, int]]:
        """The parts of all fields for C: type, count, offset in the frame [bytes], index in the
        flat array or -1, and index of the first number in the frame."""
        offsets = {row.name: row.offset for row in self.link.frame.layout()}
        first = 0
        for field in self.link.frame.fields:
            end = first + field.numbers
            for start, stop, place in self._pieces(first, end):
                offset = offsets[field.name] + (start - first) * size_of(field.type)
                yield field.type, stop - start, offset, place, start
            first = end
        yield from self.link.frame.stamp_pieces()

    def _pieces(self, first: int, end: int) -> Iterator[tuple[int, int, int]]:
        """The runs among the numbers from first to end, with their index in the flat array, and
        the gaps between them, with -1."""
        free = np.ones(end - first, dtype=bool)
        for run in self.runs:
            start, stop = max(run.number, first), min(run.number + run.count, end)
            if start < stop:
                free[start - first : stop - first] = False
                yield start, stop, run.place + start - run.number
        edges = np.flatnonzero(np.diff([False, *free, False])).tolist()
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            yield first + start, first + stop, -1


def live_links(diagram: Diagram, part: Subdiagram) -> tuple[LiveLink, ...]:
    """The links of a subdiagram, in the order of the diagram's blocks.

    Raises InputError if a subdiagram both feeds and reads a link block.
    """
    wiring = uncut(wired(diagram))
    links = {node.index: node for node in wiring.nodes if is_link(node) and not _within(node, part)}
    if not links:
        return ()
    shapes = signal_shapes(start_values(wiring)[0])
    labels = _Labels(wiring, shapes)
    received = _received(wiring, part, links, labels)
    sent = _sent(wiring, part, links, labels)
    both = [node.name for i, node in links.items() if i in received and i in sent]
    if both:
        hint = "read the signal before the block: it belongs to the subdiagram"
        texts = [f"the subdiagram feeds {name}, and reads it as well" for name in both]
        raise InputError(
            Fault(text, diagram.places.get(f"blocks.{name}"), hint)
            for name, text in zip(both, texts, strict=True)
        )
    found: list[LiveLink] = []
    for i, node in links.items():
        if i in received:
            found.append(LiveLink(node.name, "receive", node.block.link, received[i]))
        if i in sent:
            found.append(LiveLink(node.name, "send", node.block.link, sent[i]))
    return tuple(found)


def linked_inputs(code: StepCode, links: Sequence[LiveLink]) -> list[str]:
    """The inputs of a subdiagram that are received, fully or in part, over these links."""
    received = [
        range(run.place, run.place + run.count)
        for link in links
        if link.way == "receive"
        for run in link.runs
    ]
    places = {place for run in received for place in run}
    members = code.interface.inputs
    return [m.name for m in members if places & set(range(m.place, m.place + m.size))]


def _within(node: Node, part: Subdiagram) -> bool:
    """Whether a block belongs to the subdiagram."""
    inlets = {slot.name for slot in part.inputs}
    own = {slot.name for slot in part.program.signals} - inlets
    return any(node.output_name(k) in own for k in range(len(node.out_ports)))


@dataclass(frozen=True)
class _Labels:
    """Traces numbers back through blocks that only rearrange them. Each number is labelled at its
    source: labels are integers from 0, and -1 for an unknown source."""

    wiring: FlatDiagram
    shapes: Mapping[Source, tuple[int, ...]]

    def of(self, source: Source, known: Mapping[Source, Floats]) -> Floats:
        """The labels of an output's numbers, in its shape."""
        if source in known:
            return known[source]
        node = self.wiring.nodes[source[0]]
        if node.block.type in _REARRANGING:
            inputs = [self.of(before, known) for before in node.sources]
            return np.asarray(node.block.output(0.0, inputs, None)[source[1]], dtype=float)
        return np.full(self.shapes.get(source, ()), -1.0)


def _numbered(slots: Sequence[Slot]) -> dict[str, Floats]:
    """The indices of each slot's numbers in the flat array of all slots, by name."""
    places, start = {}, 0
    for slot in slots:
        count = slot.part.stop - slot.part.start
        places[slot.name] = np.arange(start, start + count, dtype=float).reshape(slot.shape)
        start += count
    return places


def _received(
    wiring: FlatDiagram, part: Subdiagram, links: Mapping[int, Node], labels: _Labels
) -> dict[int, tuple[FrameSlice, ...]]:
    """For each link, the runs of its frame that are inputs of the subdiagram."""
    sources = signal_names(wiring)
    known, owner, total = {}, [], 0
    for i, node in links.items():
        for k, field in enumerate(node.block.link.frame.fields):
            ends = total + field.numbers
            known[i, k] = np.arange(total, ends, dtype=float).reshape(field.shape)
            owner += [i] * field.numbers
            total = ends
    firsts = {i: owner.index(i) for i in links}
    pairs: dict[int, list[tuple[int, int]]] = {}
    for name, places in _numbered(part.inputs).items():
        found = labels.of(sources[name], known)
        for label, place in zip(_whole(found), _whole(places), strict=True):
            if label >= 0:
                i = owner[label]
                pairs.setdefault(i, []).append((label - firsts[i], place))
    return {i: _runs(found) for i, found in pairs.items()}


def _sent(
    wiring: FlatDiagram, part: Subdiagram, links: Mapping[int, Node], labels: _Labels
) -> dict[int, tuple[FrameSlice, ...]]:
    """For each link, the runs of its frame that are outputs of the subdiagram."""
    sources = signal_names(wiring)
    known = {sources[name]: places for name, places in _numbered(part.outputs).items()}
    runs = {}
    for i, node in links.items():
        if not node.sources:
            continue
        found = np.concatenate([labels.of(source, known).ravel() for source in node.sources])
        pairs = [(number, place) for number, place in enumerate(_whole(found)) if place >= 0]
        if pairs:
            runs[i] = _runs(pairs)
    return runs


def _whole(labels: Floats) -> list[int]:
    return [int(label) for label in labels.ravel()]


def _runs(pairs: Iterable[tuple[int, int]]) -> tuple[FrameSlice, ...]:
    """Pairs (number, place) grouped into runs in which both increase by one."""
    runs: list[FrameSlice] = []
    for number, place in pairs:
        last = runs[-1] if runs else None
        if last and (number, place) == (last.number + last.count, last.place + last.count):
            runs[-1] = FrameSlice(last.number, last.place, last.count + 1)
        else:
            runs.append(FrameSlice(number, place, 1))
    return tuple(runs)


# --- in C -----------------------------------------------------------------------------------

_CHECKSUMS = {"": "SB_NO_CHECKSUM", "crc16": "SB_CRC16", "crc32": "SB_CRC32"}


def link_initialisers(links: Sequence[LiveLink], name: str) -> str:
    """The frames of links as C: `static const sb_frame NAME_frame_0` and so on, the tables that
    they use, and safe values, where declared, as `NAME_safe_0`."""
    return "\n".join(_initialiser(link, f"{name}_{{}}_{k}") for k, link in enumerate(links))


def _initialiser(live: LiveLink, pattern: str) -> str:
    frame = live.link.frame
    lines = [f"/* {c_comment(f'{live.name}: {live.way}, {live.link.endpoint}')} */"]
    rows = [
        f"    {{SB_{kind.upper()}, {count}, {offset}, {place}, {first}}},"
        for kind, count, offset, place, first in live.fields()
    ]
    fields = pattern.format("fields")
    lines += [f"static const sb_field {fields}[] = {{", *rows, "};"]
    header = "NULL"
    if frame.header:
        header = pattern.format("header")
        lines.append(_bytes(header, frame.header))
    background = "NULL"
    if frame.background:
        background = pattern.format("background")
        lines.append(_bytes(background, frame.whole_background))
    values = [frame.size, int(frame.endian == "big"), background, header, len(frame.header)]
    values += [_sequence_size(frame), int(frame.time), _CHECKSUMS[frame.checksum], len(rows)]
    text = ", ".join(map(str, values))
    lines.append(f"static const sb_frame {pattern.format('frame')} = {{{text}, {fields}}};")
    if live.way == "send" and live.link.safe is not None:
        safe = ", ".join(map(repr, live.link.safe))
        lines.append(f"static const double {pattern.format('safe')}[] = {{{safe}}};")
    return "\n".join(lines) + "\n"


def _bytes(name: str, data: bytes) -> str:
    numbers = ", ".join(f"0x{byte:02X}" for byte in data)
    return f"static const unsigned char {name}[] = {{{numbers}}};"


def _sequence_size(frame: Frame) -> int:
    return size_of(frame.sequence) if frame.sequence else 0
