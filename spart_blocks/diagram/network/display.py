"""Names and units of a wired diagram's signals, its scopes, and the blocks that act during a
run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from spart_blocks.base.errors import DiagramError, Fault, did_you_mean
from spart_blocks.base.paths import split_index
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.build.companions import is_audit
from spart_blocks.diagram.check.bounds import Bound, bounds_of
from spart_blocks.diagram.check.feedback_signs import PositiveLoop, positive_loops
from spart_blocks.results import ScopeSpec

if TYPE_CHECKING:
    from spart_blocks.diagram.network.nodes import FlatDiagram, Node, Source

T = TypeVar("T")

# bdsim 1.4's sinks without an action; others are stepped at every kept sample.
_KEEPING = ("watch", "record")
_SILENT = ("stop", "event", "null", "algebraic_loop_check", *_KEEPING)


@dataclass(frozen=True)
class Display:
    """Names of signals, and the signals that runs record by default.

    aliases: full names by short names. units: by full name. watched: signals of WATCH and RECORD
    blocks and of plants' audits. acting: blocks with an action at every sample, such as PRINT.
    states: names of a block's states, where it names them. bounds: limits of signals, whose
    violation a run reports. levels: for signals that number states, the names of 1, 2, ... told:
    for blocks whose first state is a phase, the name of the event that leads to each phase; "" for
    events that are not reported. checks: blocks that check signals, with the warning if a check
    fails. passed_on: the aliases that are signals of buses and outputs of subsystems. entries:
    names of the entries of signals, such as the joints. positive_loops: those of SUM blocks, which
    a run that grows without bound names.
    """

    aliases: Mapping[str, str]
    units: Mapping[str, str]
    scopes: tuple[ScopeSpec, ...]
    watched: tuple[str, ...]
    acting: tuple[str, ...]
    states: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    bounds: tuple[Bound, ...] = ()
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    told: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    passed_on: tuple[str, ...] = ()
    entries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    positive_loops: tuple[PositiveLoop, ...] = ()

    def kept(self, log: Iterable[str], signals: Iterable[str]) -> list[str]:
        """The full names of the signals on scopes, watched, or in `log`, once each.

        Raises DiagramError for a name in `log` that is not a signal.
        """
        log, signals = list(log), list(signals)
        choices = [*signals, *self.aliases]
        faults = [
            Fault(
                f"run.log: there is no signal {name!r}",
                hint=did_you_mean(name.split("[")[0], choices),
            )
            for name in self.unknown(log, signals)
        ]
        if faults:
            raise DiagramError(faults)
        wanted = [name for scope in self.scopes for name in scope.signals]
        return list(dict.fromkeys([*wanted, *self.watched, *map(self._full, log)]))

    def by_shown_name(self, log: Iterable[str], kept: Mapping[str, T]) -> dict[str, T]:
        """The kept signals by the names under which results show them. kept: by full name.

        A signal is shown under the name that `log` gives it where this is a signal of a bus or an
        output of a subsystem: its full name is that of a block that the reader need not know.
        """
        shown = {name for scope in self.scopes for name in scope.signals} | {*self.watched}
        names: dict[str, dict[str, None]] = {full: {} for full in kept}
        for name in (split_index(entry)[0] for entry in log):
            full = self._full(name)
            names[full][name if name in self.passed_on else full] = None
        return {
            name: value
            for full, value in kept.items()
            for name in dict.fromkeys([*[full] * (full in shown or not names[full]), *names[full]])
        }

    def units_of(self, names: Iterable[str]) -> dict[str, str]:
        """The units of those signals that have one, by the names given."""
        found = {name: self.units.get(self.aliases.get(name, name), "") for name in names}
        return {name: unit for name, unit in found.items() if unit}

    def unknown(self, log: Iterable[str], signals: Iterable[str]) -> list[str]:
        """The names in `log` that are not signals, nor elements of one."""
        known = set(signals)
        return [name for name in log if self._full(name) not in known]

    def _full(self, name: str) -> str:
        """The full name of the signal that a name or an element's name belongs to."""
        base = name.split("[")[0]
        return self.aliases.get(base, base)


def display_of(wiring: FlatDiagram) -> Display:
    """The display of a wired diagram."""
    return Display(
        aliases=aliases_of(wiring),
        units=units_of(wiring),
        scopes=tuple(scope_of(node, wiring) for node in wiring.of_kind("graphics")),
        watched=(*_watched(wiring), *_audited(wiring)),
        acting=tuple(node.name for node in wiring.nodes if acts_at_samples(node)),
        states=_state_names(wiring),
        bounds=bounds_of(wiring),
        levels=_levels_of(wiring),
        told=_phase_texts(wiring),
        checks=_checks(wiring),
        passed_on=tuple(wiring.outlets),
        entries=entries_of(wiring),
        positive_loops=positive_loops(wiring),
    )


def acts_at_samples(node: Node) -> bool:
    """Whether a node is a sink with an action at every sample, such as PRINT."""
    return node.kind == "sink" and node.block.type not in _SILENT


def _state_names(wiring: FlatDiagram) -> dict[str, tuple[str, ...]]:
    given = {node.name: attribute(node.block, "_state_names") for node in wiring.nodes}
    return {name: tuple(map(str, names)) for name, names in given.items() if names}


def _levels_of(wiring: FlatDiagram) -> dict[str, tuple[str, ...]]:
    return {
        node.output_name(k): port.levels
        for node in wiring.nodes
        for k, port in enumerate(node.out_ports)
        if port.levels
    }


def _checks(wiring: FlatDiagram) -> dict[str, str]:
    told = {node.name: attribute(node.block, "warns_of") for node in wiring.nodes}
    return {name: text for name, text in told.items() if text}


def _phase_texts(wiring: FlatDiagram) -> dict[str, tuple[str, ...]]:
    found = {node.name: attribute(node.block, "told") for node in wiring.nodes}
    return {name: texts for name, texts in found.items() if texts is not None}


def _watched(wiring: FlatDiagram) -> Iterator[str]:
    for node in wiring.of_kind("sink"):
        if node.block.type in _KEEPING:
            yield from (_name(wiring, source) for source in node.sources)


def _audited(wiring: FlatDiagram) -> Iterator[str]:
    for node in wiring.of_kind("continuous"):
        if is_audit(node.block):
            yield from (node.output_name(k) for k in range(len(node.out_ports)))


def _name(wiring: FlatDiagram, source: Source) -> str:
    return wiring.nodes[source[0]].output_name(source[1])


def signal_names(wiring: FlatDiagram) -> dict[str, Source]:
    """Every output of the diagram by its full name, 'block.port'."""
    return {
        node.output_name(k): (node.index, k)
        for node in wiring.nodes
        for k in range(len(node.out_ports))
    }


def aliases_of(wiring: FlatDiagram) -> dict[str, str]:
    """Short names of outputs and their full names: the block's name if it has one output, ports by
    number, outputs of subsystems, inputs of RECORD blocks.
    """
    aliases = {name: _name(wiring, source) for name, source in wiring.outlets.items()}
    for node in wiring.nodes:
        if len(node.out_ports) == 1:
            aliases[node.name] = node.output_name(0)
        for k in range(len(node.out_ports)):
            aliases[f"{node.name}.{k}"] = node.output_name(k)
        if node.name == node.owner and node.part is not None:  # as programs once had it
            aliases[node.part.former] = node.output_name(0)
        if node.block.type == "record":
            for port, source in zip(node.in_ports, node.sources, strict=True):
                aliases[f"{node.name}.{port.name}"] = _name(wiring, source)
            if len(node.sources) == 1:
                aliases[node.name] = _name(wiring, node.sources[0])
    return {short: full for short, full in aliases.items() if short != full}


def units_of(wiring: FlatDiagram) -> dict[str, str]:
    """Units by signal: that of its port, or that of all inputs it feeds which declare one. For
    example, the plant determines whether the outputs of a controller are torques or forces.
    """
    read: dict[Source, set[str]] = {}
    for node in wiring.nodes:
        for port, source in zip(node.in_ports, node.sources, strict=False):
            if port.unit:
                read.setdefault(source, set()).add(port.unit)
    units = {
        node.output_name(k): _unit(port.unit, read.get((node.index, k), set()))
        for node in wiring.nodes
        for k, port in enumerate(node.out_ports)
    }
    return {name: unit for name, unit in units.items() if unit}


def entries_of(wiring: FlatDiagram) -> dict[str, tuple[str, ...]]:
    """The names of the entries of signals: those of its port, or those that all inputs it feeds
    give which name theirs. So the plant names the torques of a controller by its joints.
    """
    read: dict[Source, set[tuple[str, ...]]] = {}
    for node in wiring.nodes:
        for port, source in zip(node.in_ports, node.sources, strict=False):
            if port.entries:
                read.setdefault(source, set()).add(port.entries)
    found = {}
    for node in wiring.nodes:
        for k, port in enumerate(node.out_ports):
            names = {port.entries} if port.entries else read.get((node.index, k), set())
            if len(names) == 1:
                found[node.output_name(k)] = next(iter(names))
    return found


def _unit(declared: str, read: set[str]) -> str:
    """The unit of a signal. declared: of its port, possibly several alternatives. read: those of
    the inputs that it feeds.
    """
    one = next(iter(read)) if len(read) == 1 else ""
    told = "," not in one if not declared else one in declared.split(", ")
    return one if told else declared


def is_held(wiring: FlatDiagram, source: Source) -> bool:
    """Whether a signal changes only at the ticks of clocks."""
    pending, seen, sampled = [source[0]], set[int](), False
    while pending:
        node = wiring.nodes[pending.pop()]
        if node.index in seen:
            continue
        seen.add(node.index)
        if node.varies_between_ticks:
            return False
        if node.kind == "sampled" or node.clock is not None:
            sampled = True
        elif node.kind == "function":
            pending += [source for source, _ in node.sources]
        elif node.block.type != "constant":
            return False
    return sampled


def scope_of(node: Node, wiring: FlatDiagram) -> ScopeSpec:
    """The display of a bdsim 1.4 SCOPE, SCOPEXY or SCOPEXY1."""
    block = node.block
    signals = tuple(_name(wiring, source) for source in node.sources)
    if block.type.startswith("scopexy"):
        scale = None if isinstance(block.scale, str) else tuple(map(float, np.ravel(block.scale)))
        return ScopeSpec(
            node.name,
            "xy",
            signals,
            styles=(block.styles,) if block.styles else None,
            scale=scale,
            xlabel=block.labels[0],
            ylabel=block.labels[1],
            vector=tuple(block.indices) if attribute(block, "indices") is not None else None,
            equal=block.aspect == "equal",
        )
    get = block.__dict__.get
    scale = get("scale", "auto")
    return ScopeSpec(
        node.name,
        "time",
        signals,
        labels=tuple(get("labels")) if get("labels") else None,
        styles=tuple(get("styles")) if get("styles") else None,
        title=get("title"),
        stairs=bool(get("stairs")),
        scale=None if isinstance(scale, str) else tuple(scale),
        vector=tuple(get("vector")) if isinstance(get("vector"), list) else None,
        held=tuple(is_held(wiring, source) for source in node.sources),
    )
