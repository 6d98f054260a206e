"""The outputs and states of a subdiagram that are the same in any two exact runs.

While states slide along a surface, a signal that jumps there has no value of its own: a run shows
that of either side.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from spart_blocks.export.schedule import slides
from spart_blocks.program.c.writer import selected
from spart_blocks.program.program import Program
from spart_blocks.program.subdiagram import Subdiagram, entries_of


def unique_outputs(part: Subdiagram) -> set[str]:
    """The outputs that are unique."""
    sliding = slides(part.program)
    return {slot.name for slot in part.outputs if not (sliding and _jumps(part, slot.name))}


def unique_states(program: Program) -> set[str]:
    """The blocks whose states are unique: not the mode of a block that switches at a surface."""
    modes = _modes(program) if slides(program) else set()
    return {slot.name for slot in (*program.states, *program.discrete)} - modes


def _modes(program: Program) -> set[str]:
    return {crossing.block for crossing in program.crossings if crossing.kind == "mode"}


def _jumps(part: Subdiagram, output: str) -> bool:
    """Whether an output can jump at a surface: it is not unique while states slide along it."""
    program = part.program
    entries = entries_of(slot for slot in part.outputs if slot.name == output)
    function = selected(program.outputs, entries, "output")
    jumping = {ca.OP_SIGN, ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_IF_ELSE_ZERO}
    jumping |= {ca.OP_FLOOR, ca.OP_CEIL}
    modes = _modes(program)
    pattern = np.array(ca.DM(function.jac_sparsity(0, 1), 1).full(), dtype=bool)
    reads = set(np.nonzero(pattern)[1].tolist())
    if any(function.instruction_id(k) in jumping for k in range(function.n_instructions())):
        return True
    return not reads.isdisjoint(entries_of(s for s in program.states if s.name in modes))
