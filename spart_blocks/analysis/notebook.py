"""HTML of linear systems and comparisons for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base import html

if TYPE_CHECKING:
    from spart_blocks.analysis.comparison import Comparison
    from spart_blocks.analysis.system import LinearSystem

_MOST = 12
"""Largest number of rows and columns of a matrix that are shown."""


def system_html(system: LinearSystem) -> str:
    """The HTML of a linear system; see LinearSystem._repr_html_."""
    kind = f"discrete, dt = {system.dt:g} s" if system.dt else "continuous"
    stable = "stable" if system.stable else "not stable"
    parts = [html.heading(system.name, f"{kind}, {stable}, {len(system.states)} states")]
    sides = {
        "A": (system.A, system.states, system.states),
        "B": (system.B, system.states, system.inputs),
        "C": (system.C, system.outputs, system.states),
        "D": (system.D, system.outputs, system.inputs),
    }
    parts += [_matrix(name, *side) for name, side in sides.items() if side[0].size]
    poles = [
        [f"{p.value:.5g}", f"{p.frequency:.4g}", f"{p.damping:.4g}", f"{p.time_constant:.4g}"]
        for p in system.damping()
    ]
    columns = ("pole", "frequency [rad/s]", "damping", "time constant [s]")
    return "".join([*parts, html.table(columns, poles, 2 * _MOST)])


def _matrix(name: str, matrix: NDArray[Any], rows: Sequence[str], columns: Sequence[str]) -> str:
    if matrix.shape[1] > _MOST:
        size = (
            f"{matrix.shape[0]} x {matrix.shape[1]}, largest magnitude {np.abs(matrix).max():.4g}"
        )
        return html.heading(name, size)
    cells = [
        [row, *(f"{value:.4g}" for value in values)]
        for row, values in zip(rows, matrix, strict=True)
    ]
    return html.table((name, *columns), cells, _MOST)


def comparison_html(comparison: Comparison) -> str:
    """The HTML of a comparison; see Comparison._repr_html_."""
    parts = [html.heading(comparison.diagram_name, f"{len(comparison.results)} cases")]
    for page in comparison.pages():
        parts += [html.heading(page.title), html.table(page.columns, page.rows)]
    notes = [f"note: {note}" for note in comparison.notes]
    failed = [f"{case} failed: {error}" for case, error in comparison.failures.items()]
    return "".join([*parts, html.lines([*notes, *failed])])
