"""The wires of a section as written, and what they tell about the inputs of blocks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spart_blocks.base.document import Document, Keys
from spart_blocks.base.errors import DiagramError, Fault
from spart_blocks.diagram.written.wires import WireSyntaxError, WireText, parse_wire

# Blocks whose wires take the next free input when they name none.
FILLED_IN_ORDER = ("SCOPE", "SCOPEXY", "MUX", "NULL", "WATCH")

MAX_WIRES = 100_000


def read_wires(
    texts: tuple[str, ...], document: Document, path: Keys, faults: list[Fault]
) -> dict[int, WireText]:
    """The wires of a section by their number in it; an empty text is one left out."""
    wires: dict[int, WireText] = {}
    ends = 0
    for number, text in enumerate(texts):
        if not text.strip() and text == "":
            continue
        ends += text.count(",") + 1
        if ends > MAX_WIRES:
            hint = "put signals into vectors, or use subsystems"
            place = document.place(*path, "wires", number)
            raise DiagramError(
                [*faults, Fault(f"there are more than {MAX_WIRES} wires", place, hint)]
            )
        try:
            wires[number] = parse_wire(text)
        except WireSyntaxError as error:
            place = document.place_inside((*path, "wires", number), error.offset)
            faults.append(Fault(f"wire {text.strip()!r}: {error.message}", place, error.hint))
    return wires


@dataclass
class InputCount:
    """A block's inputs as used by wires: the number of wires that name none, and the named
    inputs.
    """

    unnamed: int = 0
    named: set[str] = field(default_factory=set)

    @property
    def needed(self) -> int:
        """The number of inputs that these wires need, when inputs go by number."""
        numbers = [int(name) + 1 for name in self.named if name.isdecimal() and len(name) < 6]
        return max([self.unnamed + len(self.named), *numbers])


def count_inputs(wires: dict[int, WireText], kinds: Mapping[str, str]) -> dict[str, InputCount]:
    """For each block, its inputs as far as the wires tell. Wires of several signals into blocks
    that are filled in order are counted when their sources are known. kinds: types of the blocks.
    """
    counts: dict[str, InputCount] = {}
    for wire in wires.values():
        for end in wire.ends:
            count = counts.setdefault(end.block, InputCount())
            if wire.source.names is not None:
                if end.port is None and kinds.get(end.block) in FILLED_IN_ORDER:
                    continue
                prefix = f"{end.port}." if end.port else ""
                count.named |= {prefix + name.text for name in wire.source.names}
            elif end.port is None:
                count.unnamed += 1
            else:
                count.named.add(end.port)
    return counts
