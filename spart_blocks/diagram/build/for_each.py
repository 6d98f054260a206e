"""A copy of a subsystem for each entry of some inputs: `for_each: {over: [goal, k]}` in its block.

Copies are named by their numbers. Copy k gets entry k (or row k) of the inputs and parameters
listed in `over`, and all of the others. The outputs of the copies are stacked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.document import Document, Keys
from spart_blocks.base.errors import Fault, did_you_mean
from spart_blocks.block_support.ports import Port, attribute
from spart_blocks.diagram.build.arguments import MAX_PORTS
from spart_blocks.diagram.build.connect import connect
from spart_blocks.diagram.build.late_blocks import arrival_of
from spart_blocks.diagram.build.product import Part, Product, Section
from spart_blocks.diagram.build.registry import find_type, inner_diagram
from spart_blocks.diagram.build.subsystems import as_block, make_gates
from spart_blocks.diagram.build.wiring import Skip, Wiring, WrongEnd, index_of
from spart_blocks.diagram.sections.schema import (
    BlockSection,
    ForEachSection,
)
from spart_blocks.diagram.written.references import Resolved, Resolver, Scope
from spart_blocks.diagram.written.wires import End

# The attribute of a bdsim block that has the shape of its output, which its port does not state.
_SHAPED = {
    "CONSTANT": "value",
    "STEP": "on",
    "RAMP": "slope",
    "WAVEFORM": "amplitude",
    "INTEGRATOR": "_x0",  # of one entry also where the output is a scalar
}


@dataclass(frozen=True)
class Copies:
    """Builds the copies for a block.

    make: builds a copy, from its parameters and the prefix of its blocks' names. given: parameters
    of the block. keys: its path in the file.
    """

    document: Document
    product: Product
    resolver: Resolver
    make: Callable[[Mapping[str, Resolved], str], Part | None]
    wiring: Wiring
    name: str
    block: BlockSection
    given: Mapping[str, Resolved]
    scope: Scope
    keys: Keys

    @property
    def _each(self) -> ForEachSection:
        assert self.block.for_each is not None
        return self.block.for_each

    @property
    def _label(self) -> str:
        return f"{self.name} ({self.block.kind})"

    def build(self) -> Part | None:
        """A diagram with all copies, and its ports; None after a fault."""
        lists = {name: self.given[name] for name in self._each.over if name in self.given}
        for number, name in enumerate(self._each.over):
            if name in lists and not (isinstance(lists[name].value, list) and lists[name].value):
                hint = f"write {name}: [...], an entry for each copy"
                self._fault(f"{name} of {self._label} is no list", ("over", number), hint)
                return None
        self.resolver.elsewhere.update(path for item in lists.values() for _, path in item.sources)
        first = self._part(0, lists)
        if first is None or not self._known(first[0], lists):
            return None
        count = self._count(first[0], {name: len(item.value) for name, item in lists.items()})
        if count is None:
            return None
        parts = [first]
        for k in range(1, count):
            part = self._part(k, lists)
            if part is None:
                return None
            parts.append(part)
        return first[0], self._joined(first[0], [wiring for _, wiring in parts])

    def _part(self, k: int, lists: Mapping[str, Resolved]) -> Part | None:
        """Build copy k."""
        own = {name: _entry(item, k) for name, item in lists.items()}
        prefix = f"{self.wiring.prefix}{self.name}/{k}"
        place = self.document.key_place(*self.keys)
        self.product.places[f"blocks.{prefix}"] = place
        given = {**self.given, **own}
        return self.make(given, f"{prefix}/")

    def _known(self, section: Section, lists: Mapping[str, Resolved]) -> bool:
        """Whether each name in `over` is an input or a parameter, but not both; adds faults."""
        before = len(self.product.faults)
        for number, name in enumerate(self._each.over):
            if name in section.inputs and name in lists:
                hint = "rename one of them"
                self._fault(
                    f"{name} of {self._label} is an input and a parameter", ("over", number), hint
                )
            elif name in section.params and name not in lists:
                hint = f"write {name}: [...] in {self.name}"
                self._fault(f"{self._label} has no list of {name}", ("over", number), hint)
            elif name not in section.inputs and name not in lists:
                known = [*section.inputs, *section.params]
                message = f"{self._label} has no input and no parameter {name!r}"
                self._fault(message, ("over", number), did_you_mean(name, known))
        return len(self.product.faults) == before

    def _count(self, section: Section, lengths: Mapping[str, int]) -> int | None:
        """The number of copies, from `count` and the lengths of lists and inputs; None if these
        disagree.
        """
        told: dict[str, Any] = {}
        if self._each.count is not None:
            keys = (*self.keys, "for_each", "count")
            resolved = self.resolver.resolve(self._each.count, self.scope, keys)
            if not resolved.complete:
                return None
            told["count"] = resolved.value
        told |= {**lengths, **self._lengths(section)}
        wrong = [n for n in told.values() if isinstance(n, bool) or not isinstance(n, int)]
        numbers = set(told.values()) if not wrong else {0}
        if not told:
            self._fault(f"how many copies {self._label} has is not known", (), "write count: 3")
        elif wrong or not 0 < min(numbers) <= max(numbers) <= MAX_PORTS:
            shown = next(iter(wrong), max(numbers))
            message = f"{self._label} would have {shown!r} copies; it must be 1 to {MAX_PORTS}"
            self._fault(message, ("count",) if self._each.count is not None else ())
        elif len(numbers) > 1:
            listed = ", ".join(f"{name} {n}" for name, n in told.items())
            hint = "give them one length"
            self._fault(f"the numbers of copies of {self._label} differ: {listed}", (), hint)
        else:
            return numbers.pop()
        return None

    def _lengths(self, section: Section) -> dict[str, int]:
        """The lengths of the inputs in `over`, where the shapes of their sources are known."""
        place, found = self.document.place(*self.keys), {}
        for source, end in self.wiring.incoming.get(self.name, ()):
            try:
                arrival = arrival_of(self.wiring, source, end, place)
            except (WrongEnd, Skip):
                continue  # it is reported when the wire is made
            alone = section.inputs[0] if len(section.inputs) == 1 else ""
            for name, port in arrival.signals.items():
                full = ".".join(filter(None, (end.port, name))) or alone
                index = index_of(full, tuple(map(Port, section.inputs)))
                shape = port.shape or self._shape(source)
                if index is not None and shape and section.inputs[index] in self._each.over:
                    found[section.inputs[index]] = shape[0]
        return found

    def _shape(self, source: End) -> tuple[int, ...]:
        """The shape of a bdsim block's output if it follows from a parameter; otherwise ()."""
        block = self.wiring.blocks.get(source.block)
        name = _SHAPED.get(self.wiring.kinds.get(source.block, ""))
        known = name is not None and block is not None and source.selection is None
        if not known or name is None:
            return ()
        value = attribute(block, name)
        return () if name == "_x0" and np.size(value) == 1 else np.shape(value)

    def _joined(self, section: Section, copies: Sequence[Wiring]) -> Wiring:
        """A diagram that contains the copies and has the ports of one."""
        wiring, count = self.wiring, len(copies)
        prefix = f"{wiring.prefix}{self.name}/"
        place = self.document.key_place(*self.keys)
        ends = count * (len(section.inputs) + len(section.outputs))
        extra = sum(name in section.inputs for name in self._each.over) + len(section.outputs)
        self.product.count(place, blocks=count + extra, wires=ends)
        bd = inner_diagram(self.name)
        gates = make_gates(bd, section)
        made = [
            as_block(bd, str(k), copy.bd, section, copy.conditions) for k, copy in enumerate(copies)
        ]
        for i, name in enumerate(section.inputs):
            source: Any = gates["in"], i
            each = name in self._each.over
            if each:
                parts = _make("DEMUX", bd, f"in.{name}", nout=count)
                connect(bd, source, (parts, 0))
            for k, copy in enumerate(made):
                connect(bd, (parts, k) if each else source, (copy, i))
        for i, name in enumerate(section.outputs):
            whole = _make("STACK", bd, f"out.{name}", nin=count)
            for k, copy in enumerate(made):
                connect(bd, (copy, i), (whole, k))
            connect(bd, (whole, 0), (gates["out"], i))
        for block in bd.blocklist:
            self.product.places.setdefault(f"blocks.{prefix}{block.name}", place)
        return Wiring(
            bd=bd,
            document=self.document,
            path=self.keys,
            prefix=prefix,
            faults=self.product.faults,
            places=self.product.places,
            kinds={str(k): self.block.kind for k in range(count)},
            broken=set(),
            counts={},
            count=self.product.count,
            blocks={str(block.name): block for block in bd.blocklist},
            children={str(k): copy for k, copy in enumerate(copies)},
        )

    def _fault(self, message: str, keys: Keys, hint: str | None = None) -> None:
        place = self.document.place(*self.keys, "for_each", *keys)
        self.product.faults.append(Fault(message, place, hint))


def _make(kind: str, bd: Any, name: str, **arguments: Any) -> Any:
    found = find_type(kind)
    assert found is not None
    return found.construct(bd, name, arguments)


def _entry(item: Resolved, k: int) -> Resolved:
    """Entry k of a list; the last entry if the list is too short, which is reported elsewhere. Its
    size is its share of the list's.
    """
    value, size = item.value[min(k, len(item.value) - 1)], -(-item.size // len(item.value))
    return Resolved(value, size, item.height, item.complete)
