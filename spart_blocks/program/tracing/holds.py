"""What sampled blocks show at their ticks, and hold until the next.

At tick k a sampled block with state x_k and input u_k shows y_k = g(x_k, u_k) to every reader,
from that tick until the next; then its state becomes x_{k+1} = f(x_k, u_k). bdsim has no such y: it
evaluates g at any time, with the state after the tick. So what is shown is one more discrete state,
renewed at the ticks in the order of direct feedthrough, before any state moves on: the output, or,
of a block that delays, the state that its output is of. A block in bdsim's manner, whose output is
of the state after the tick, y_k = g(x_{k+1}), needs none: its own state is renewed in that order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.network.clocks import Clock, key_of
from spart_blocks.diagram.network.gates import own_class
from spart_blocks.diagram.network.nodes import Showing

if TYPE_CHECKING:
    from spart_blocks.diagram.network.flatten import FlatDiagram


@dataclass(frozen=True)
class HeldOutput:
    """What a sampled block shows. index: its node. clock: the name of its clock. shows: what of
    the block is renewed at its ticks. told: it is a block of the user's, which a note names."""

    index: int
    block: str
    kind: str
    clock: str
    shows: Showing
    told: bool = True

    @property
    def name(self) -> str:
        """Name of the discrete state that is renewed."""
        return f"{self.block}.held" if self.is_added else self.block

    @property
    def is_added(self) -> bool:
        """Whether it is a discrete state beside those of the blocks."""
        return self.shows != "next"


def holds_of(wiring: FlatDiagram, clocks: Sequence[Clock]) -> tuple[HeldOutput, ...]:
    """What the sampled blocks of a diagram show, in an order of evaluation; none by bdsim's rule.
    Outputs that vary between ticks are not held."""
    names = {(clock.period, clock.offset): clock.name for clock in clocks if not clock.first}
    return tuple(
        HeldOutput(
            i,
            node.name,
            node.block.type.upper(),
            names[key_of(node.clock)],
            node.showing,
            not own_class(node.block).__module__.startswith("spart_blocks.diagram."),
        )
        for i, node in ((i, wiring.nodes[i]) for i in wiring.schedule)
        if node.showing is not None and key_of(node.clock) in names
        if node.showing == "next" or not (node.varies_between_ticks or _holds_itself(node.block))
    )


def _holds_itself(block: Any) -> bool:
    """Whether the state of a block has what it shows until its next tick."""
    return bool(attribute(block, "holds_itself", False))


def with_holds(clocks: Iterable[Clock], holds: Iterable[HeldOutput]) -> tuple[Clock, ...]:
    """The clocks with the held outputs among what they move."""
    names = {clock.name: clock.blocks for clock in clocks}
    for one in (one for one in holds if one.is_added):
        names[one.clock] = (*names[one.clock], one.name)
    return tuple(replace(clock, blocks=names[clock.name]) for clock in clocks)


def notes_of(holds: Sequence[HeldOutput]) -> tuple[str, ...]:
    """Note to the user on the held outputs of a diagram."""
    held = [f"{one.block} ({one.kind})" for one in holds if one.is_added and one.told]
    if not held:
        return ()
    shown = held[:4]
    if len(held) > len(shown):
        shown.append(f"{len(held) - len(shown)} more")
    verb = "holds its output" if len(held) == 1 else "hold their outputs"
    return (
        f"{', '.join(shown)} {verb} from tick to tick, as in Simulink; "
        "bdsim's way is run: {first_tick: bdsim}",
    )
