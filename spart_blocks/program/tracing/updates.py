"""The discrete states after the ticks of each clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.diagram.network.clocks import Clock
from spart_blocks.diagram.network.flatten import FlatDiagram
from spart_blocks.program.program import Handover, with_renewed
from spart_blocks.program.tracing.evaluation import Evaluation
from spart_blocks.program.tracing.holds import HeldOutput


def updates_of(
    traced: Evaluation, wiring: FlatDiagram, clocks: Sequence[Clock], holds: Sequence[HeldOutput]
) -> tuple[dict[str, Any], tuple[Handover, ...]]:
    """For each clock by name its update, and the handovers for clocks that tick together; see
    `Program`.
    """
    stages = _stages(traced, wiring, holds)
    moves = {clock.name: _moved(traced, wiring, clock, holds) for clock in clocks}
    updates = {}
    for name, moved in moves.items():
        own = [stage for stage in stages if stage.clock == name]
        updates[name] = _after(own, moved) if own else moved
    if _meet(traced, clocks, updates, holds):
        return moves, tuple(stages)
    return updates, ()


def _moved(
    traced: Evaluation, wiring: FlatDiagram, clock: Clock, holds: Sequence[HeldOutput]
) -> Any:
    """xd after the states of a clock were updated; held outputs are kept."""
    due = set(clock.blocks) - {one.name for one in holds}
    moved = {
        node.name: traced.change(node, "next")
        for node in wiring.of_kind("sampled")
        if node.name in due
    }
    return _whole(traced, wiring, moved, "update", "xd_next")


def _whole(
    traced: Evaluation, wiring: FlatDiagram, new: Mapping[str, Any], name: str, result: str
) -> Any:
    """The Function (t, x, xd, p) -> xd with some states replaced."""
    old = {node.name: traced.state[node.index] for node in wiring.of_kind("sampled")}
    old |= traced.shown
    parts = [new.get(slot.name, old[slot.name]) for slot in traced.discrete]
    return traced.function(name, parts, result)


def _stages(traced: Evaluation, wiring: FlatDiagram, holds: Sequence[HeldOutput]) -> list[Handover]:
    """The held outputs in groups; a group has one clock, and none of its outputs reads another of
    the group.
    """
    groups: list[list[HeldOutput]] = []
    for one in holds:
        last = groups[-1] if groups else []
        shown = [traced.shown[other.name] for other in last]
        alike = bool(last) and last[0].clock == one.clock
        if alike and not traced.depends(traced.renewed[one.name], shown):
            last.append(one)
        else:
            groups.append([one])
    found = []
    for group in groups:
        new = {one.name: traced.renewed[one.name] for one in group}
        renewed = _whole(traced, wiring, new, "renew", "xd_next")
        found.append(Handover(group[0].clock, tuple(new), renewed))
    return found


def _after(stages: Sequence[Handover], moves: Any) -> Any:
    """The Function `moves` applied to xd after all stages."""

    def renewed(t: Any, x: Any, xd: Any, p: Any) -> Any:
        for stage in stages:
            xd = stage.renewed(t, x, xd, p)
        return xd

    return with_renewed(renewed, moves)


def _meet(
    traced: Evaluation,
    clocks: Sequence[Clock],
    updates: Mapping[str, Any],
    holds: Sequence[HeldOutput],
) -> bool:
    """Whether the update of a clock reads an output that is held on another clock."""
    if len(clocks) < 2:
        return False
    parts = {slot.name: np.r_[slot.part] for slot in traced.discrete}
    for clock in clocks:
        others = [parts[one.name] for one in holds if one.clock != clock.name]
        if others and clock.blocks:
            reads = np.array(ca.DM(updates[clock.name].jac_sparsity(0, 2), 1).full(), dtype=bool)
            rows = np.concatenate([parts[name] for name in clock.blocks])
            if reads[np.ix_(rows, np.concatenate(others))].any():
                return True
    return False
