"""`linearize`: linearises a diagram between named signals, by automatic differentiation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.analysis.linearization import Linearization
from spart_blocks.analysis.point import operating_point
from spart_blocks.analysis.system import LinearSystem
from spart_blocks.base.errors import warn
from spart_blocks.diagram import Diagram

RESTING = 1e-5
"""Largest rate of a state at which a diagram counts as at rest, relative to the terms of its linear
equation, sum |A_kj x_j|, or to 1 in its own unit: the end of a run is at rest within its tolerance.
"""


def linearize(
    diagram: Diagram | str | Path | Any,
    *,
    inputs: Sequence[str] | str,
    outputs: Sequence[str] | str,
    at: Any = None,
    t: float | None = None,
    open_at: Sequence[str] | str = (),
) -> LinearSystem:
    """The diagram near a point as a linear system between named signals.

    diagram: a path of a YAML file, a loaded diagram, or a bdsim BlockDiagram. inputs: signals
    ('ctrl.tau') or inputs of blocks ('plant.taum', 'plant.wF0[2]'). u is added to the signal, for
    all blocks that read it, or for that one block. Loops stay closed. outputs: signals, before
    anything is added to them; inputs of blocks, after it; states ('states.plant'). open_at: signals
    or inputs of blocks that are cut: blocks that read them get their value at the point, plus u.
    at: the point: a FinalState, Results or the file of a run (its end), a Trim, or a mapping
    from blocks to states like `initial=` of simulate; by default the initial state. t [s]: by
    default the time of `at`, or 0.

    Derivatives are exact: the traced program is differentiated, without finite differences.
    A diagram with only discrete states gives a discrete system with their clock's period.
    One with continuous states too gives the map of a whole period: u is held over it as by
    a zero-order hold, and states and outputs are those that the tick reads.

    The states of a plant's audit, and the modes of blocks that switch (RELAY, a plant with
    friction), are left out, unless an output or a block takes them.

    Warns (SpartWarning) if the states are not at rest at the point: `drift` has their rates.
    Raises InputError for unknown names, and where discrete states are on several clocks;
    TraceError where the diagram cannot be traced.
    """
    prepared = Linearization(diagram, inputs, outputs, open_at)
    linear = prepared.at(operating_point(prepared.engine, at, t))
    _warn_of_drift(linear)
    return linear


def _warn_of_drift(system: LinearSystem) -> None:
    scale = np.maximum(abs(system.A) @ abs(system.x), 1.0)
    size = abs(system.drift) / scale
    if size.max(initial=0.0) > RESTING:
        k = int(size.argmax())
        what = "changes by" if system.dt else "has the rate"
        warn(
            f"the diagram is not at rest here: {system.states[k]} {what} {system.drift[k]:.3g}; "
            "the poles describe it for a moment only\n"
            "  sb.trim finds where it rests"
        )
