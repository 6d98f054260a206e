"""Held outputs: outputs of sampled blocks that are computed at their ticks and constant in
between.

At tick k a sampled block with state x_k and input u_k outputs y_k = g(x_k, u_k) from this tick
until the next; then its state becomes x_{k+1} = f(x_k, u_k). bdsim does not store y_k: it
evaluates g at any time, with the state after the tick. So here the output is an additional
discrete state. At the ticks these are renewed in the order of direct feedthrough, before any state
is updated. For a block that delays, the state of which it is the output is stored instead. A block
of bdsim, whose output is that of the state after the tick, y_k = g(x_{k+1}), needs no additional
state: its own state is renewed in that order.
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
    """A held output of a sampled block.

    index: of its node. clock: name of its clock. shows: what is renewed at its ticks. told:
    whether it is a block of the user, which a note mentions.
    """

    index: int
    block: str
    kind: str
    clock: str
    shows: Showing
    told: bool = True

    @property
    def name(self) -> str:
        """The name of the discrete state that is renewed."""
        return f"{self.block}.held" if self.is_added else self.block

    @property
    def is_added(self) -> bool:
        """Whether it is a discrete state in addition to those of the blocks."""
        return self.shows != "next"


def holds_of(wiring: FlatDiagram, clocks: Sequence[Clock]) -> tuple[HeldOutput, ...]:
    """The held outputs of a diagram, in the order of evaluation; none with bdsim's rule. Outputs
    that vary between ticks are not held.
    """
    names = {(clock.period, clock.offset): clock.name for clock in clocks if not clock.first}
    return tuple(
        HeldOutput(
            i,
            node.name,
            node.type,
            names[key_of(node.clock)],
            node.showing,
            node.name == node.owner
            and not own_class(node.block).__module__.startswith("spart_blocks.diagram."),
        )
        for i, node in ((i, wiring.nodes[i]) for i in wiring.schedule)
        if node.showing is not None and key_of(node.clock) in names
        if node.showing == "next" or not (node.varies_between_ticks or _holds_itself(node.block))
    )


def shown_as_held(holds: Iterable[HeldOutput]) -> frozenset[int]:
    """The nodes whose outputs depend on nothing between ticks. A held state is shown by the
    block's output, which reads what resets it.
    """
    return frozenset(one.index for one in holds if one.shows != "state")


def _holds_itself(block: Any) -> bool:
    """Whether the state of a block contains its output until the next tick."""
    return bool(attribute(block, "holds_itself", False))


def with_holds(clocks: Iterable[Clock], holds: Iterable[HeldOutput]) -> tuple[Clock, ...]:
    """The clocks with the held outputs added to the states that they update."""
    names = {clock.name: clock.blocks for clock in clocks}
    for one in (one for one in holds if one.is_added):
        names[one.clock] = (*names[one.clock], one.name)
    return tuple(replace(clock, blocks=names[clock.name]) for clock in clocks)


def notes_of(holds: Sequence[HeldOutput]) -> tuple[str, ...]:
    """A note for the user about the held outputs of a diagram."""
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
