"""Finds algebraic loops of a diagram that have several solutions at the initial time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.base.errors import SpartError, warn
from spart_blocks.diagram.network.loop_block import AlgebraicLoop, differences, solution

if TYPE_CHECKING:
    from spart_blocks.run.engines.held_outputs import Values
    from spart_blocks.run.engines.interpreter import Interpreter

_FAR = (1.0, 3.0, 10.0, 30.0)
"""Distances of other initial guesses from the solution, in both directions, relative
to its size.
"""
_APART = 1e-6
"""Two solutions, or two slopes, are different if they differ by more than this; relative for
values above 1.
"""
_SHOWN = 3


def warn_of_solutions(blocks: Interpreter) -> None:
    """Warn of each loop that has several solutions at t = 0, unless the file gives an initial
    guess.
    """
    nodes = [node for node in blocks.nodes if isinstance(node.block, AlgebraicLoop)]
    if not nodes:
        return
    x, xd = blocks.initial()
    try:
        held = bool(blocks.holds)
        values = blocks.outputs(0.0, x, xd, blocks.clocks) if held else blocks.start_outputs
    except SpartError:  # the run tells it
        return
    for node in nodes:
        loop: AlgebraicLoop = node.block
        if loop.is_started:
            continue
        found = _several(loop, blocks, values, x, xd)
        if len(found) > 1:
            warn(_text(loop, found))


def _several(
    loop: AlgebraicLoop, blocks: Interpreter, values: Values, x: Any, xd: Any
) -> list[Any]:
    """The solutions that were found, starting with the one that is used; empty if none
    was found.
    """
    shapes, known = loop.shapes or [], values.copied()

    def residual(z: Any) -> Any:
        parts = loop.parts(z, shapes)
        found = loop.residual(parts, known, lambda m, _: blocks.evaluated(m, 0.0, known, x, xd))
        return np.concatenate([np.ravel(np.asarray(value, float)) for value in found])

    *parts, error = values[loop.index]
    used = np.concatenate([np.ravel(np.asarray(part, float)) for part in parts])
    if not (error < _APART and np.isfinite(used).all()):
        return []
    size = np.maximum(1.0, np.abs(used))
    rng = np.random.default_rng(0)
    found = [used]
    try:
        with np.errstate(all="ignore"):
            here, there = (differences(residual, z)[1] for z in (used, used + size))
            if np.abs(here - there).max() <= _APART * max(1.0, np.abs(here).max()):
                return found  # it is linear
            ways = [far * size * rng.choice([-1.0, 1.0], len(used)) for far in _FAR]
            for way in (*ways, *(-way for way in ways)):
                start = used + way * rng.uniform(0.5, 1.5, len(used))
                z, off = solution(residual, start, loop.absolute)
                apart = [np.abs(z - other).max() > _APART * size.max() for other in found]
                if off < _APART and all(apart):
                    found.append(z)
    except SpartError:  # a block fails far from the solution
        pass
    return found


def _text(loop: AlgebraicLoop, found: Sequence[Any]) -> str:
    names = ", ".join(unknown.name for unknown in loop.unknowns)
    listed = [_shown(z) for z in found[: _SHOWN + 1]]
    more = "" if len(found) <= _SHOWN + 1 else f" and {len(found) - _SHOWN - 1} more"
    first = loop.unknowns[0]
    if first.constraint is not None:
        chooses = f"`initial` of {first.constraint.name} chooses one"
    else:
        chooses = f"run: {{loop_start: {{{first.name}: VALUE}}}} chooses one"
    return (
        f"the {loop.kind} {loop.chain} has several solutions at t = 0: {names} = {listed[0]} is "
        f"used, others are {', '.join(listed[1:])}{more}\n  {chooses}, by where the search starts"
    )


def _shown(z: Any) -> str:
    entries = [f"{entry:.6g}" for entry in z[:4]]
    return entries[0] if len(z) == 1 else f"[{', '.join(entries)}{', ...' * (len(z) > 4)}]"
