"""The nested diagrams of a diagram, and the sources of their blocks' inputs through the boundaries
of subsystems, buses, and GOTO/FROM tags.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.base.errors import Fault, Place, did_you_mean
from spart_blocks.block_support.ports import input_ports
from spart_blocks.diagram.network.composed import Composed, composed_of
from spart_blocks.diagram.written.conditions import conditions_of

Origin = tuple["Level", Any, int]
"""An output: the level of its diagram, its block, its port number."""


@dataclass(eq=False)
class Level:
    """One diagram of the hierarchy.

    drivers: for each input (id of block, port) the output that feeds it. inner: levels of its
    subsystems, by id of the block. gotos: its GOTO blocks by tag. composed: its shell, if this is a
    block that bdsim makes of others.
    """

    bd: Any
    prefix: str
    parent: Level | None
    shell: Any
    net: Net
    drivers: dict[tuple[int, int], tuple[Any, int]] = field(default_factory=dict)
    inner: dict[int, Level] = field(default_factory=dict)
    gotos: dict[str, Any] = field(default_factory=dict)
    composed: Composed | None = None

    def name(self, block: Any) -> str:
        """The full name of one of its blocks. In a composed block, that of the output is the name
        of the composed block.
        """
        if self.composed is None:
            return f"{self.prefix}{block.name}"
        if self.drivers.get((id(self.shell.outport), 0), (None,))[0] is block:
            return self.prefix.removesuffix("/")
        return self.prefix + self.composed.term(block.name)

    def former_name(self, block: Any) -> str:
        """The full name of one of its blocks as bdsim has it."""
        around = "" if self.parent is None else f"{self.parent.former_name(self.shell)}/"
        return f"{around}{block.name}"

    def owner(self, block: Any) -> str:
        """The full name of the block of the user that one of its blocks is, or is part of."""
        return self.name(block) if self.composed is None else self.composed.user

    def is_gate(self, block: Any) -> bool:
        """Whether a block is a boundary of this diagram."""
        return self.shell is not None and block in (self.shell.inport, self.shell.outport)


@dataclass(eq=False)
class Net:
    """All levels of a diagram.

    everywhere: the GOTO blocks with global tags. known: cache of the sources of inputs.
    """

    levels: list[Level] = field(default_factory=list)
    everywhere: dict[str, tuple[Level, Any]] = field(default_factory=dict)
    known: dict[tuple[int, int, int], Origin | None] = field(default_factory=dict)

    @staticmethod
    def of(bd: Any, places: Mapping[str, Place], faults: list[Fault]) -> Net:
        """The levels of a bdsim BlockDiagram, the outermost first. Adds a fault for each wrong
        wire and tag.
        """
        net = Net()
        pending = deque([Level(bd, "", None, None, net)])
        while pending:
            level = pending.popleft()
            net.levels.append(level)
            _read_wires(level, places, faults)
            for block in level.bd.blocklist:
                if block.blockclass == "subsystem":
                    name = level.name(block)
                    inner = Level(block.subsystem, f"{name}/", level, block, net)
                    inner.composed = composed_of(block, name, level.composed)
                    level.inner[id(block)] = inner
                    pending.append(inner)
                elif block.type == "goto":
                    net._goto(level, block, places, faults)
        net._check_froms(places, faults)
        return net

    def _goto(
        self, level: Level, block: Any, places: Mapping[str, Place], faults: list[Fault]
    ) -> None:
        others = [level.gotos.get(block.tag)]
        if block.scope == "global":
            others += [self.everywhere.setdefault(block.tag, (level, block))[1]]
        if any(other not in (None, block) for other in others):
            message = f"two GOTO blocks have the tag {block.tag!r}"
            hint = "a tag has one source: give one of them another"
            faults.append(Fault(message, place_of(places, level.name(block)), hint))
        level.gotos.setdefault(block.tag, block)

    def _check_froms(self, places: Mapping[str, Place], faults: list[Fault]) -> None:
        for level in self.levels:
            for block in level.bd.blocklist:
                home = _goto_of(level, block) if block.type == "from" else None
                if block.type == "from" and home is None:
                    faults.append(self._no_goto(level, block, places))
                elif home is not None and (shell := _conditional(home[0], level)) is not None:
                    message = f"{level.name(block)} (FROM): its signal comes out of {shell}"
                    hint = "that runs on a condition: give it an output, which is held"
                    faults.append(Fault(message, place_of(places, level.name(block)), hint))

    def _no_goto(self, level: Level, block: Any, places: Mapping[str, Place]) -> Fault:
        """The fault of a FROM without a GOTO."""
        hint = did_you_mean(block.tag, [*level.gotos, *self.everywhere])
        elsewhere = next((at for at in self.levels if block.tag in at.gotos), None)
        if elsewhere is not None:
            owner = elsewhere.name(elsewhere.gotos[block.tag])
            hint = f"that of {owner} is for its own diagram: give it scope: global"
        message = f"{level.name(block)} (FROM): there is no GOTO with the tag {block.tag!r}"
        hint = hint or "write {type: GOTO, tag: " + block.tag + "} and a wire to it"
        return Fault(message, place_of(places, level.name(block)), hint)


def place_of(places: Mapping[str, Place], name: str) -> Place | None:
    """The place in the file of a block with this full name."""
    return places.get(f"blocks.{name}")


def is_route(block: Any) -> bool:
    """Whether a block only passes signals on; such blocks are not part of the program."""
    return getattr(type(block), "is_route", False)


def check_tags(bd: Any, places: Mapping[str, Place]) -> list[Fault]:
    """The faults of the tags of GOTO and FROM in a bdsim BlockDiagram."""
    faults: list[Fault] = []
    Net.of(bd, places, faults)
    return faults


def origin_of(level: Level, block: Any, port: int) -> Origin | None:
    """The output that feeds an input: of a block that computes it, or of a conditional subsystem.
    None if a wire is missing or the wires form a circle.
    """
    known, path = level.net.known, []
    found: Origin | None = None
    while True:
        key = (id(level), id(block), port)
        if key in known:
            found = known[key]
            break
        known[key] = None  # also what is met again in a circle
        path.append(key)
        driver = level.drivers.get(key[1:])
        if driver is None:
            break
        before = _before(level, *driver)
        if before is None:
            found = (level, *driver)
            break
        level, block, port = before
    known.update(dict.fromkeys(path, found))
    return found


def outlet_of(level: Level, block: Any, port: int) -> Origin | None:
    """The computed output that an output of a subsystem or a routing block passes on. An output of
    a conditional subsystem counts as computed.
    """
    before = _before(level, block, port)
    return origin_of(*before) if before is not None else (level, block, port)


def _before(level: Level, source: Any, number: int) -> Origin | None:
    """The input whose signal an output passes on; None if the output is computed by its block."""
    if source.blockclass == "subsystem":
        if conditions_of(source):
            return None
        return level.inner[id(source)], source.outport, number
    if level.shell is not None and source is level.shell.inport:
        assert level.parent is not None
        return level.parent, level.shell, number
    if not is_route(source):
        return None
    if source.type == "from":
        home = _goto_of(level, source)
        return (*home, 0) if home is not None else (level, source, 0)
    return level, source, source.passes[number]


def _goto_of(level: Level, block: Any) -> tuple[Level, Any] | None:
    """The GOTO block of a FROM: one of the same diagram, or a global one."""
    own = level.gotos.get(block.tag)
    return (level, own) if own is not None else level.net.everywhere.get(block.tag)


def _conditional(inside: Level, outside: Level) -> str | None:
    """The name of a conditional subsystem that contains `inside` but not `outside`; None if there
    is none.
    """
    around: list[Level] = []
    level: Level | None = outside
    while level is not None:
        around.append(level)
        level = level.parent
    level = inside
    while level is not None and level not in around:
        if level.parent is not None and conditions_of(level.shell):
            return level.parent.name(level.shell)
        level = level.parent
    return None


def _read_wires(level: Level, places: Mapping[str, Place], faults: list[Fault]) -> None:
    own = {id(block) for block in level.bd.blocklist}
    for wire in level.bd.wirelist:
        start, end = wire.start, wire.end
        for block in (start.block, end.block):
            if id(block) not in own:
                faults.append(Fault(f"a wire ends at block '{block.name}' of another diagram"))
        texts = [f"{b.name}[{p!r}]" for b, p in ((start.block, start.port), (end.block, end.port))
                 if not isinstance(p, int)]  # fmt: skip
        if texts:  # bdsim 1.4 takes any key for a port, and loses the wire
            hint = "give a port's number, or its name as an attribute: block.qd"
            faults += [Fault(f"a wire names a port as {text}", hint=hint) for text in texts]
            continue
        key = (id(end.block), end.port)
        if key in level.drivers:
            port = input_ports(end.block)[end.port].name
            name = level.name(end.block)
            faults.append(Fault(f"two wires lead into {name}.{port}", place_of(places, name)))
        level.drivers[key] = (start.block, start.port)
