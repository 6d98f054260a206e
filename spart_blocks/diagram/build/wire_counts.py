"""Checks of a sheet's wires: syntax errors, and how many inputs of each block they use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from spart_blocks.base.document import Document
from spart_blocks.base.errors import DiagramError, Fault
from spart_blocks.diagram.written.sheets import Sheet
from spart_blocks.diagram.written.wires import FILLED_IN_ORDER, WrittenWire

MAX_WIRES = 100_000


def check_number_of_wires(sheet: Sheet, document: Document, faults: list[Fault]) -> None:
    """Raise DiagramError, with the faults so far, if a sheet has more than MAX_WIRES wires."""
    ends = 0
    for number, text in sheet.wire_texts.items():
        ends += text.count(",") + 1
        if ends > MAX_WIRES:
            hint = "put signals into vectors, or use subsystems"
            place = document.place(*sheet.keys, "wires", number)
            raise DiagramError(
                [*faults, Fault(f"there are more than {MAX_WIRES} wires", place, hint)]
            )


def wire_faults(sheet: Sheet, document: Document) -> Iterator[Fault]:
    """A fault for each wire of a sheet that cannot be parsed."""
    for number, error in sheet.wrong_wires.items():
        place = document.place_inside((*sheet.keys, "wires", number), error.offset)
        text = sheet.wire_texts[number].strip()
        yield Fault(f"wire {text!r}: {error.message}", place, error.hint)


@dataclass
class InputCount:
    """How wires use a block's inputs. unnamed: number of wires that do not name an input. named:
    the named inputs.
    """

    unnamed: int = 0
    named: set[str] = field(default_factory=set)

    @property
    def needed(self) -> int:
        """The number of inputs that these wires need if inputs are numbered."""
        numbers = [int(name) + 1 for name in self.named if name.isdecimal() and len(name) < 6]
        return max([self.unnamed + len(self.named), *numbers])


def count_inputs(wires: Iterable[WrittenWire], kinds: Mapping[str, str]) -> dict[str, InputCount]:
    """For each block the use of its inputs. Wires of several signals into blocks that are filled
    in order are counted later, when their sources are known. kinds: types of the blocks.
    """
    counts: dict[str, InputCount] = {}
    for wire in wires:
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
