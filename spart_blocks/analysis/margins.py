"""`margins`: how far a loop of a diagram is from instability, with exact derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.analysis.frequency.figures import OF_LOOPS, Linearized
from spart_blocks.analysis.place_names import as_names
from spart_blocks.analysis.point import moves_of, operating_point
from spart_blocks.diagram import Diagram
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.engines.native import Native

OF_ONE = ("gain_margin_db", "phase_margin_deg", "delay_margin", "crossover")
"""The figures that a loop cut at several signals lacks."""


@dataclass(frozen=True)
class Margins:
    """The figures of a loop by name.

    values: each in its unit. frequencies [rad/s]: where each is found; nan without one.
    derivatives: of each figure by parameter, in the parameter's shape. without: why some have none.
    """

    values: Mapping[str, float]
    frequencies: Mapping[str, float]
    derivatives: Mapping[str, Mapping[str, Floats]]
    without: Mapping[str, str]

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    def __str__(self) -> str:
        rows = [("", "value", "at rad/s")]
        for name, value in self.values.items():
            w = self.frequencies[name]
            shown = f"{value:.6g} {OF_LOOPS[name].unit}".rstrip()
            rows.append((name, shown, "" if np.isnan(w) else f"{w:.5g}"))
        wide = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = (
            "  ".join(cell.ljust(n) for cell, n in zip(row, wide, strict=True)) for row in rows
        )
        return "\n".join(line.rstrip() for line in lines)


def margins(
    diagram: Diagram | str | Path | Any,
    loop: Sequence[str] | str,
    *,
    by: Sequence[str] | str = (),
    at: Any = None,
    t: float | None = None,
) -> Margins:
    """The margins of a loop of a diagram, cut at signals or inputs of blocks, near a point.

    loop: 'ctrl.tau[0]', or several signals that are cut together. by: parameters for derivatives,
    'ctrl.kp'. at, t: the point, as for `linearize`.

    The feedback is negative: where the diagram subtracts nowhere, its margins are those of a loop
    with another sign. Raises InputError for unknown names; RunError if the closed loop is not
    stable, which tells the pole.
    """
    ready = Linearized(diagram, loop=as_names(loop, "loop"))
    engine = ready.engine
    point = operating_point(engine, at, t)
    parts, changes = _directions(engine, as_names(by, "by"))
    moves = moves_of(engine, at, point, changes)
    linear = ready.at(point, moves)
    single = len(linear.system.D) == 1
    found = {
        name: figure.read(linear)
        for name, figure in OF_LOOPS.items()
        if single or name not in OF_ONE
    }
    derivatives = {
        name: {by: one.changes[part].reshape(shape) for by, (part, shape) in parts.items()}
        for name, one in found.items()
        if not one.kink
    }
    without = {name: one.kink for name, one in found.items() if one.kink}
    values = {name: one.value for name, one in found.items()}
    return Margins(values, {name: one.w for name, one in found.items()}, derivatives, without)


def _directions(
    engine: Native, names: Sequence[str]
) -> tuple[dict[str, tuple[slice, tuple[int, ...]]], Floats]:
    """For each parameter its directions and its shape, and all directions (np, m)."""
    program, parts = engine.program, dict[str, tuple[slice, tuple[int, ...]]]()
    moves: list[Floats] = []
    for name in names:
        places, begin = program.parameter_places(name), len(moves)
        for k in range(places[0].size):
            moves.append(np.zeros(len(program.p)))
            for place in places:
                moves[-1][place.ravel()[k]] = 1.0
        parts[name] = slice(begin, len(moves)), places[0].shape
    return parts, np.array(moves).reshape(len(moves), len(program.p)).T
