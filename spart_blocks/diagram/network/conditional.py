"""Conditional subsystems in a flat diagram: their blocks get gates, and their conditions and held
outputs become blocks.

The condition of a subsystem `servo` is the block `servo`; its output `command` is the output of
the block `servo/out.command`. A condition is a mode, whose changes are located in time. Sampled
blocks read the condition as it is at their tick, from `servo/in.now`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spart_blocks.base.errors import DiagramError, Fault, Place
from spart_blocks.block_support.ports import Port, Shape, attribute, input_ports, output_ports
from spart_blocks.diagram.check.first_values import output_shapes
from spart_blocks.diagram.network.algebraic_loops import scheduled
from spart_blocks.diagram.network.clocks import key_of
from spart_blocks.diagram.network.gates import Gate, gate_of, gated
from spart_blocks.diagram.network.nodes import FlatDiagram, Node, Source
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.diagram.written.conditions import CONDITIONS, Conditions, merges, numbers


@dataclass(frozen=True)
class ConditionalRegion:
    """A conditional subsystem.

    conditions: as written. sources: for each kind of condition its signal. outlets: for each
    output the index of the node that stands for it.
    """

    name: str
    conditions: Conditions
    sources: Mapping[str, Source]
    outlets: Mapping[str, int]


@dataclass
class _Stage:
    """One condition (enable, trigger or reset) of a conditional subsystem, while its blocks are
    added to the flat diagram.

    phase: the signal of the condition's mode. outlets: nodes of the outputs that it holds. sampled:
    whether its signal changes at ticks only. clock: for a trigger, the only clock at which its
    signal changes. now: signal that says whether it is enabled, or triggered, at a tick. anew: for
    a reset, its phase at the ticks of each clock. The last two are made when first needed.
    """

    kind: str
    region: ConditionalRegion
    source: Source
    phase: Source
    outlets: dict[str, int] = field(default_factory=dict)
    sampled: bool = False
    clock: Any = None
    now: Source | None = None
    anew: dict[Any, Source] = field(default_factory=dict)
    clocks_known: bool = False

    @property
    def section(self) -> Any:
        return getattr(self.region.conditions, self.kind)


def conditioned(
    nodes: Sequence[Node],
    regions: Sequence[ConditionalRegion],
    places: Mapping[str, Place],
    run: RunOptions,
) -> tuple[Node, ...]:
    """The nodes with gates and conditions added for the conditional subsystems. regions: outer
    ones first. run: says whether algebraic loops are solved. Raises DiagramError for blocks that
    cannot be in a conditional subsystem.
    """
    return _Conditioning(list(nodes), regions, places, run).done()


class _Conditioning:
    def __init__(
        self,
        nodes: list[Node],
        regions: Sequence[ConditionalRegion],
        places: Mapping[str, Place],
        run: RunOptions,
    ) -> None:
        self.run = run
        self.nodes, self.regions, self.places = nodes, regions, places
        self.leaves = len(nodes) - sum(len(region.outlets) for region in regions)
        self.stages: list[_Stage] = []
        self.faults: list[Fault] = []
        self.held: dict[int, tuple[_Stage, str]] = {}
        self.walked: set[int] = set()

    def done(self) -> tuple[Node, ...]:
        inner = {region.name: self._inner_outlets(region) for region in self.regions}
        for region in self.regions:
            self._begin(region, inner[region.name])
        self.held = {i: (s, name) for s in self.stages for name, i in s.outlets.items()}
        for stage in self.stages:
            self._find_clocks(stage)
        for index in range(self.leaves):
            if merges(self.nodes[index].block):
                self._merge(self.nodes[index])
        for index in range(self.leaves):
            self._gate(self.nodes[index])
        if self.faults:
            raise DiagramError(self.faults)
        self._hold()
        if self.faults:
            raise DiagramError(self.faults)
        return tuple(self.nodes)

    # --- conditions ----------------------------------------------------------------------

    def _inner_outlets(self, region: ConditionalRegion) -> dict[str, int]:
        """Additional nodes for outputs that are held by both a trigger and an enabling
        condition.
        """
        if not (region.conditions.enabled and region.conditions.triggered):
            return {}
        found = {}
        for name, outlet in region.outlets.items():
            node = self.nodes[outlet]
            found[name] = self._add(f"{region.name}/in.{name}", node.block, node.sources)
            self._put(outlet, sources=((found[name], 0),))
        return found

    def _begin(self, region: ConditionalRegion, inner: dict[str, int]) -> None:
        """Make the blocks of a region's conditions, the outermost condition first."""
        from spart_blocks.diagram.network import condition_blocks as made

        kinds = [kind for kind in CONDITIONS if getattr(region.conditions, kind) is not None]
        around = self._around(region.name, ("enabled",))
        for kind in kinds:
            source = region.sources[kind]
            name = region.name if kind == kinds[0] else f"{region.name}/in.{kind}"
            outer = [around.phase] if around else []
            arguments = {"inputs": 1 + len(outer)}
            if kind == "enabled":
                block: Any = made.Enabling(**arguments)
            else:
                edge = getattr(region.conditions, kind).edge
                block = (made.Trigger if kind == "triggered" else made.Reset)(edge, **arguments)
            phase = (self._add(name, block, (source, *outer), "continuous"), 1)
            stage = _Stage(kind, region, source, phase)
            if kind == "enabled":
                stage.outlets = dict(region.outlets)
            elif kind == "triggered":
                stage.outlets = inner or dict(region.outlets)
            self.stages.append(stage)
            around = stage if kind == "enabled" else around

    def _around(self, name: str, kinds: Sequence[str] = CONDITIONS) -> _Stage | None:
        """The innermost condition of these kinds around a block; None if there is none. name: of
        the block.
        """
        return next(iter(self._all_around(name, kinds)), None)

    def _all_around(self, name: str, kinds: Sequence[str]) -> list[_Stage]:
        """The conditions of these kinds around a block, the innermost first. name: of the block."""
        found = (s for s in reversed(self.stages) if s.kind in kinds)
        return [stage for stage in found if name.startswith(f"{stage.region.name}/")]

    def _now(self, stage: _Stage) -> Source:
        """A signal that says whether a condition holds at a tick; its node is made if needed."""
        from spart_blocks.diagram.network import condition_blocks as made

        if stage.now is None:
            if stage.kind == "triggered":
                outer = self._enabling_of(stage)
            else:
                outer = self._around(stage.region.name, ("enabled", "triggered"))
                outer = outer if outer and (outer.kind == "enabled" or outer.clock) else None
            around = (self._now(outer),) if outer else ()
            if stage.kind == "enabled":
                sources = (stage.source, *around)
                block: Any = made.EnabledNow(len(sources))
                index = self._add(f"{stage.region.name}/in.now", block, sources)
            else:
                sources = (stage.source, (stage.phase[0], 2), *around)
                block = made.EdgeNow(stage.clock, stage.section.edge, len(sources))
                index = self._add(f"{stage.region.name}/in.edge", block, sources, "sampled")
            stage.now = (index, 0)
        return stage.now

    def _anew(self, stage: _Stage, clock: Any) -> Source:
        """The signal with the phase of a reset at the ticks of a clock; its node is made if
        needed.
        """
        from spart_blocks.diagram.network import condition_blocks as made

        key = key_of(clock)
        if key not in stage.anew:
            name = f"{stage.region.name}/in.resets"
            name = f"{name}_{len(stage.anew) + 1}" if stage.anew else name
            block, outer = stage.phase[0], self._enabling_of(stage)
            sources = [stage.source, (block, 0), (block, 2), *([self._now(outer)] if outer else [])]
            now = self._add(name, made.ResetsNow(stage.section.edge, len(sources)), sources)
            self._put(now, clock=clock)
            last = self._add(f"{name}.before", made.ResetsBefore(clock), [(now, 0)], "sampled")
            found = self._add(f"{name}.anew", made.ResetAtTick(3), [(now, 0), (now, 1), (last, 0)])
            stage.anew[key] = found, 0
        return stage.anew[key]

    def _enabling_of(self, stage: _Stage) -> _Stage | None:
        """The enabling condition of the same subsystem as a trigger or reset, or the one around
        it.
        """
        own = (s for s in self.stages if s.kind == "enabled" and s.region is stage.region)
        return next(own, None) or self._around(stage.region.name, ("enabled",))

    def _find_clocks(self, stage: _Stage) -> None:
        """Determine at which clocks the signal of a condition changes."""
        if not stage.clocks_known:
            stage.clocks_known = True  # in a circle it changes at any time
            clocks = self._clocks(stage.source)
            stage.sampled = clocks is not None
            stage.clock = self._only_clock(clocks) if stage.kind == "triggered" else None

    def _clocks(self, source: Source) -> frozenset[Any] | None:
        """The clocks at whose ticks a signal changes; empty for a constant, None if it also
        changes between ticks.
        """
        found: set[Any] = set()
        pending, seen = [source[0]], set[int]()
        while pending:
            node = self.nodes[pending.pop()]
            if node.index in seen:
                continue
            seen.add(node.index)
            clocks: frozenset[Any] | None = None
            if node.index in self.held and node.kind == "function":
                clocks = self._clocks_of_output(node, *self.held[node.index])
            elif node.varies_between_ticks:
                return None
            elif node.clock is not None:
                clocks = self._clocks_of_ticks(node)
            elif node.kind == "function" or node.block.type == "constant" or merges(node.block):
                gate = gate_of(node.block)
                own = len(node.sources) - (gate.count if gate else 0)
                pending += [source for source, _ in node.sources[:own]]
                continue
            if clocks is None:
                return None
            found |= clocks
        return frozenset(found)

    def _clocks_of_ticks(self, node: Node) -> frozenset[Any] | None:
        if not _is_stand_in(node.clock):
            return frozenset([node.clock])
        stage = self._around(node.name, ("triggered",))
        if stage is not None:
            self._find_clocks(stage)
        return None if stage is None or stage.clock is None else frozenset([stage.clock])

    def _clocks_of_output(self, node: Node, stage: _Stage, name: str) -> frozenset[Any] | None:
        """The clocks at whose ticks an output of a conditional subsystem changes; None if it also
        changes between ticks.
        """
        self._find_clocks(stage)
        if node.index in self.walked:
            return None  # an algebraic loop, which is reported where blocks are ordered
        if stage.kind == "triggered":
            return None if stage.clock is None else frozenset([stage.clock])
        self.walked.add(node.index)
        inner = self._clocks(node.sources[0])
        self.walked.remove(node.index)
        one = self._only_clock(inner) is not None and name not in stage.region.conditions.given
        if inner is None or not (stage.sampled or one):
            return None
        return inner | (self._clocks(stage.source) or frozenset())

    @staticmethod
    def _only_clock(clocks: frozenset[Any] | None) -> Any:
        """The clock if there is exactly one; None otherwise."""
        by_key = {key_of(clock): clock for clock in clocks or ()}
        return next(iter(by_key.values())) if len(by_key) == 1 else None

    def _merge(self, node: Node) -> None:
        """Connect a MERGE to the signals that say which of its source subsystems run."""
        found: list[Source] = []
        for port, (source, _) in zip(node.in_ports, node.sources, strict=True):
            stage = self.held[source][0] if source in self.held else None
            if stage is None:
                wire = self.nodes[source].name
                text = f"{node.name} (MERGE) gets {port.name} from {wire}, which has no condition"
                hint = "it takes outputs of subsystems that are enabled or triggered; SWITCH any"
                self.faults.append(Fault(text, node.wire_place(len(found)), hint))
                return
            inner = self._trigger_of(stage.region) or stage
            by_ticks = inner.clock is not None or (inner.kind == "enabled" and inner.sampled)
            found.append(self._now(inner) if by_ticks else inner.phase)
        self._extend(node, node.block, found)

    def _trigger_of(self, region: ConditionalRegion) -> _Stage | None:
        own = (s for s in self.stages if s.kind == "triggered" and s.region is region)
        return next(own, None)

    # --- blocks in subsystems -------------------------------------------------------------

    def _gate(self, node: Node) -> None:
        """Replace a block by its gated version, for the conditions around it."""
        stands_in = node.kind == "sampled" and _is_stand_in(node.clock)
        around = self._all_around(node.name, CONDITIONS)
        trigger = next((s for s in around if s.kind == "triggered"), None)
        if stands_in and trigger is None:
            text = f"{node.label} needs clock"
            self._fault(node, text, "only blocks in a triggered subsystem have none")
        acts = node.kind == "sink" and node.block.type in ("stop", "event")
        if not around or (node.kind in ("source", "sink", "graphics") and not acts):
            return
        if self._refused(node, trigger, stands_in):
            return
        if acts or node.kind == "function":
            self._gate_stateless(node, around)
        elif stands_in and trigger is not None and trigger.clock is None:
            self._step(node, trigger, around)
        elif node.kind == "sampled":
            self._gate_sampled(node, trigger, around)
        else:
            self._gate_continuous(node, around)

    def _refused(self, node: Node, trigger: _Stage | None, stands_in: bool) -> bool:
        label = node.label
        kind = type(node.block)
        outside = attribute(node.block, "link") is not None or hasattr(kind, "loads_code")
        if outside:
            text = f"{label} cannot be in a conditional subsystem: its state is not in the diagram"
            self._fault(node, text, "move it out, and wire its signals in")
        elif trigger is not None and node.kind == "continuous" and not merges(node.block):
            text = f"{label} has a continuous state, which a triggered subsystem cannot run"
            self._fault(node, text, "take its sampled twin, or an enabled subsystem")
        elif trigger is not None and node.kind == "sampled" and not stands_in:
            text = f"{label} has a clock, but in a triggered subsystem the trigger is the clock"
            self._fault(node, text, "leave out its clock")
        elif trigger is not None and stands_in and attribute(node.block, "needs_period"):
            text = f"{label} counts periods of its clock, and the edges of a trigger have none"
            self._fault(node, text, "put it outside with a clock, and wire its signal in")
        else:
            return False
        return True

    def _gate_continuous(self, node: Node, around: Sequence[_Stage]) -> None:
        enabling = next((s for s in around if s.kind == "enabled"), None)
        resets, kept = self._resets(around, enabling)
        gate = Gate(enabled=enabling is not None, resets=len(resets), kept=kept)
        self._behind(node, gate, [*([enabling.phase] if enabling else []), *resets])

    def _gate_stateless(self, node: Node, around: Sequence[_Stage]) -> None:
        enabling = next((s for s in around if s.kind == "enabled"), None)
        if enabling is not None:
            self._behind(node, Gate(enabled=True), [enabling.phase])

    def _step(self, node: Node, trigger: _Stage, around: Sequence[_Stage]) -> None:
        """Replace a sampled block in a triggered subsystem by one that steps at the trigger, in
        continuous time.
        """
        inner = around[: around.index(trigger)]
        enabling = next((s for s in inner if s.kind == "enabled"), None)
        outer = next((s for s in around if s.kind == "enabled"), None)
        resets, kept = self._resets(around, outer)
        sources = [trigger.phase, *([self._now(enabling)] if enabling else []), *resets]
        enabled = enabling is not None
        after = node.showing == "next"
        gate = Gate(enabled, resets=len(resets), kept=kept, stepping=True, after=after)
        self._behind(node, gate, sources)
        self._put(node.index, kind="continuous", clock=None)

    def _gate_sampled(self, node: Node, trigger: _Stage | None, around: Sequence[_Stage]) -> None:
        stage = next((s for s in around if s.kind in ("enabled", "triggered")), None)
        resets = [s for s in around if s.kind == "reset"]
        if stage is None and not resets:
            return
        enabling = next((s for s in around if s.kind == "enabled"), None)
        reset = enabling is not None and enabling.section.states == "reset"
        runs = [self._now(stage)] if stage is not None else []
        alive = [self._now(enabling)] if enabling is not None and reset else []
        clock = trigger.clock if trigger is not None else node.clock
        anew = [self._anew(one, clock) for one in resets]
        after = node.showing == "next"
        gate = Gate(enabled=bool(runs), alive=bool(alive), anew=len(anew), after=after)
        self._behind(node, gate, [*runs, *alive, *anew])
        if trigger is not None:
            self._put(node.index, clock=trigger.clock)
            self.nodes[node.index].block.__dict__["_clock"] = trigger.clock

    def _resets(
        self, around: Sequence[_Stage], enabling: _Stage | None
    ) -> tuple[list[Source], int]:
        """The phases that reset a state, and how many of them can keep it at its initial value."""
        resets = [s.phase for s in around if s.kind == "reset"]
        kept = len(resets)
        if enabling is not None and enabling.section.states == "reset":
            resets.append(enabling.phase)
        return resets, kept

    def _behind(self, node: Node, gate: Gate, sources: Sequence[Source]) -> None:
        self._extend(node, gated(node.block, gate, node.kind), sources)

    def _extend(self, node: Node, block: Any, sources: Sequence[Source]) -> None:
        """Append inputs to a node."""
        ports = tuple(Port(f"gate{k}", ()) for k in range(len(sources)))
        self._put(
            node.index,
            block=block,
            sources=(*node.sources, *sources),
            in_ports=(*node.in_ports, *ports),
            wires=(*node.wires, *(None,) * len(sources)) if node.wires else (),
        )

    # --- outputs --------------------------------------------------------------------------

    def _hold(self) -> None:
        """Replace the nodes that pass on the outputs of conditional subsystems by blocks that hold
        them.
        """
        shapes = self._shapes([i for stage in self.stages for i in stage.outlets.values()])
        for stage in reversed(self.stages):
            for name, index in stage.outlets.items():
                shape = shapes.get((index, 0), ())
                conditions = stage.region.conditions
                if stage.kind == "enabled" and name in conditions.given:
                    value = self._value(stage, name, conditions.given[name], shape)
                    self._give(stage, index, value)
                else:
                    given = conditions.initial.get(name, 0.0)
                    self._hold_one(stage, index, shape, self._value(stage, name, given, shape))

    def _give(self, stage: _Stage, index: int, value: Any) -> None:
        from spart_blocks.diagram.network import condition_blocks as made

        gate = self._now(stage) if stage.sampled else stage.phase
        block = made.OutputGiven(value, stage.sampled)
        self._replace(index, block, (*self.nodes[index].sources, gate), "function")

    def _hold_one(self, stage: _Stage, index: int, shape: Shape, value: Any) -> None:
        from spart_blocks.diagram.network import condition_blocks as made

        (inner,) = self.nodes[index].sources
        clock = self._only_clock(self._clocks(inner))
        if stage.kind == "triggered":
            clock = stage.clock
        if clock is not None:
            block: Any = made.OutputSampled(clock, shape, value)
            self._replace(index, block, (inner, self._now(stage)), "sampled")
            return
        gates = [stage.phase]
        if stage.kind == "enabled" and stage.sampled:
            gates.append(self._now(stage))
        block = made.OutputHeld(shape, value, 1 + len(gates))
        self._replace(index, block, (inner, *gates), "continuous")

    def _value(self, stage: _Stage, name: str, given: Any, shape: Shape) -> Any:
        """A given value of an output, broadcast to its shape. Raises DiagramError if it does not
        match.
        """
        value = numbers(given)
        if value is None or value.shape not in ((), shape):
            what = "finite numbers" if value is None else f"of shape {shape}, as the output"
            region = stage.region.name
            text = f"{region}: the value of {name} while it does not run must be {what}"
            self.faults.append(Fault(text, self.places.get(f"blocks.{region}")))
            return np.zeros(shape) if shape else 0.0
        return np.broadcast_to(value, shape).copy() if shape else float(value)

    def _shapes(self, indices: Sequence[int]) -> Mapping[Source, Shape]:
        """The shapes of outputs, computed while their nodes still pass them on."""
        if not indices:
            return {}
        nodes, schedule = scheduled(tuple(self.nodes), self.run, {}, whole=False)
        wiring = FlatDiagram(nodes, schedule, {}, {})
        return output_shapes(wiring, set(indices))

    # --- nodes ----------------------------------------------------------------------------

    def _add(self, name: str, block: Any, sources: Sequence[Source], kind: str = "function") -> int:
        index = len(self.nodes)
        place = self.places.get(f"blocks.{name.partition('/in.')[0]}")
        self.nodes.append(_named(Node(index, name, block, kind, (), (), (), place), sources))
        return index

    def _replace(self, index: int, block: Any, sources: Sequence[Source], kind: str) -> None:
        node = replace(self.nodes[index], block=block, kind=kind)
        self.nodes[index] = _named(node, sources)

    def _put(self, index: int, **changes: Any) -> None:
        self.nodes[index] = replace(self.nodes[index], **changes)

    def _fault(self, node: Node, text: str, hint: str) -> None:
        self.faults.append(Fault(text, node.place, hint))


def _named(node: Node, sources: Sequence[Source]) -> Node:
    """A node with the ports of its block; the block is given the name of the node."""
    node.block.__dict__["_name"] = node.name
    ends = input_ports(node.block), output_ports(node.block)
    clock = node.block._clock if node.kind == "sampled" else None
    if clock is not None and node.block in clock.blocklist[-1:]:  # it is no block of the user's
        clock.blocklist.pop()
    return replace(node, sources=tuple(sources), in_ports=ends[0], out_ports=ends[1], clock=clock)


def outlet_node(index: int, name: str, source: Source, place: Place | None) -> Node:
    """A node that passes on an output of a conditional subsystem, until its size is known."""
    from spart_blocks.diagram.network.condition_blocks import PassedOn

    return _named(Node(index, name, PassedOn(1), "function", (), (), (), place), [source])


def _is_stand_in(clock: Any) -> bool:
    """Whether a clock is the placeholder for a subsystem's trigger."""
    return bool(getattr(clock, "of_trigger", False))
