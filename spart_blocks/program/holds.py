"""Outputs that are held between the ticks of a clock, as Simulink holds them.

At tick k a sampled block has its state x_k and its inputs u_k: it gives y_k = g(x_k, u_k),
which is held to the next tick, and then becomes x_{k+1} = f(x_k, u_k). bdsim has no such y:
it evaluates g at any time, with the state after the tick, so that what feeds through goes on
following its input. A held output is one more discrete state, renewed at the ticks.

What a block reads from the ticks of its own clock alone, through a ZOH or the like, does not
change between them; there bdsim's g(x_{k+1}, u_k) is y_{k+1} of inputs that were read one tick
late, and stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spart_blocks.diagram.clocks import Clock, key_of
from spart_blocks.diagram.loop_block import AlgebraicLoop
from spart_blocks.errors import DiagramError, Fault

if TYPE_CHECKING:
    from spart_blocks.diagram.flatten import FlatDiagram, Node


@dataclass(frozen=True)
class Held:
    """The held output of a block. index: its node. clock: the name of its clock. of_state:
    whether the state that the output is of is held in its place."""

    index: int
    block: str
    kind: str
    clock: str
    of_state: bool

    @property
    def name(self) -> str:
        """Name of the discrete state."""
        return f"{self.block}.held"


def holds_of(wiring: FlatDiagram, clocks: Sequence[Clock]) -> tuple[Held, ...]:
    """The held outputs of a diagram in an order of evaluation; none by bdsim's rule."""
    by_key = {(clock.period, clock.offset): clock for clock in clocks if not clock.first}
    if not by_key:
        return ()
    from spart_blocks.program.rules import rule_of

    candidates = {
        node.index: by_key[key_of(node.clock)]
        for node in wiring.nodes
        if node.clock is not None and (node.feedthrough or rule_of(node.block).delays)
    }
    held = _held(wiring, candidates, by_key) if candidates else set()
    _refuse_loops(wiring, held)
    return tuple(
        Held(i, node.name, node.block.type.upper(), candidates[i].name, not node.feedthrough)
        for i, node in ((i, wiring.nodes[i]) for i in wiring.schedule)
        if i in held
    )


def _refuse_loops(wiring: FlatDiagram, held: Collection[int]) -> None:
    """Raise DiagramError for an algebraic loop through a held output, which is a loop at ticks
    only."""
    for node in wiring.nodes:
        if not isinstance(node.block, AlgebraicLoop):
            continue
        for member in (m for m in node.block.members if m.index in held):
            raise DiagramError(
                Fault(
                    f"{member.name} ({member.block.type.upper()}), which holds its output between "
                    f"ticks, is part of an {node.block.kind}: {node.block.chain}",
                    member.place,
                    "put a ZOH on its clock before each signal that comes into the loop, or break "
                    "the loop with one; or bdsim's way, without holding: run: {first_tick: bdsim}",
                )
            )


def with_holds(clocks: Iterable[Clock], holds: Iterable[Held]) -> tuple[Clock, ...]:
    """The clocks with the held outputs among what they move."""
    names = {clock.name: clock.blocks for clock in clocks}
    for one in holds:
        names[one.clock] = (*names[one.clock], one.name)
    return tuple(replace(clock, blocks=names[clock.name]) for clock in clocks)


def notes_of(holds: Sequence[Held]) -> tuple[str, ...]:
    """Note to the user on the held outputs of a diagram."""
    if not holds:
        return ()
    shown = [f"{one.block} ({one.kind})" for one in holds[:4]]
    if len(holds) > len(shown):
        shown.append(f"{len(holds) - len(shown)} more")
    verb = "holds its output" if len(holds) == 1 else "hold their outputs"
    return (
        f"{', '.join(shown)} {verb} from tick to tick, as in Simulink; "
        "bdsim's way is run: {first_tick: bdsim}",
    )


def _held(
    wiring: FlatDiagram,
    candidates: Mapping[int, Clock],
    clocks: Mapping[Any, Clock],
) -> set[int]:
    """Which of the candidates are held: those that something reaches which changes between
    their ticks, or which is itself a held output, and those that no tick reaches at all."""
    consumers: list[list[int]] = [[] for _ in wiring.nodes]
    for node in wiring.nodes:
        for source, _ in node.sources:
            consumers[source].append(node.index)
    held: set[int] = set()
    while True:
        found = set(held)
        for clock in set(candidates.values()):
            mine = {i for i, of in candidates.items() if of is clock}
            passing = mine - held
            starts = _Starts(wiring, candidates, clocks, clock, held)
            varying = _reached(starts.varying, consumers, wiring, passing)
            ticking = _reached(starts.ticking, consumers, wiring, passing)
            found |= {i for i in mine if i in varying or i not in ticking}
        if found == held:
            return held
        held = found


class _Starts:
    """Where signals begin that vary between the ticks of a clock, and those that change at
    its ticks alone."""

    def __init__(
        self,
        wiring: FlatDiagram,
        candidates: Mapping[int, Clock],
        clocks: Mapping[Any, Clock],
        clock: Clock,
        held: Collection[int],
    ) -> None:
        self.varying: list[int] = []
        self.ticking: list[int] = []
        for node in wiring.nodes:
            of = candidates.get(node.index)
            if node.index in held or _varies(node):
                self.varying.append(node.index)
            elif node.clock is not None and of is not clock:
                within = clocks[key_of(node.clock)].ticks_with(clock)
                (self.ticking if within else self.varying).append(node.index)


def _varies(node: Node) -> bool:
    """Whether outputs change by themselves, with time or a continuous state."""
    if getattr(node.block, "changes_at_ticks", False):  # a condition of what is sampled
        return False
    if getattr(node.block, "varies_between_ticks", False) or node.kind == "continuous":
        return True
    return node.kind == "source" and node.block.type != "constant"


def _reached(
    starts: Iterable[int],
    consumers: Sequence[Sequence[int]],
    wiring: FlatDiagram,
    passing: Collection[int],
) -> set[int]:
    """The nodes that signals reach which begin at these, through functions and what passes."""
    reached: set[int] = set()
    pending = list(starts)
    while pending:
        for i in consumers[pending.pop()]:
            if i not in reached:
                reached.add(i)
                node = wiring.nodes[i]
                if i in passing or (node.kind == "function" and node.clock is None):
                    pending.append(i)
    return reached
