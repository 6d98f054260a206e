"""`spart margins`: how far a loop of a diagram is from instability."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.cli.commands import (
    AT,
    AT_TIME,
    FILE,
    Loading,
    Texts,
    command,
    diagram_file,
    option,
)
from spart_blocks.cli.terminal import headed_table, put, say

if TYPE_CHECKING:
    from spart_blocks.analysis.margins import Margins


@command(
    "spart margins diagrams/spacecraft_pd.yaml --cut 'ctrl.tau[0]'",
    "spart margins diagrams/spacecraft_pd.yaml --cut 'ctrl.tau[0]' --by kp --by kd",
    "spart margins diagrams/spacecraft_pd.yaml --cut ctrl.tau --at run.npz",
)
def margins(
    *,
    file: Path = FILE,
    loop: list[str] = option(
        "--cut SIGNAL",
        "Where the loop is cut: a signal (ctrl.tau[0]), or an input of a block (plant.taum). "
        "Those of several are cut together. May be repeated.",
        ...,
    ),
    by: Texts = option("--by PARAMETER", "Print derivatives by a parameter. May be repeated."),
    at: Path | None = AT,
    t: float | None = AT_TIME,
    loading: Loading,
) -> None:
    """Print gain, phase, delay and disk margins of a loop, its peaks and its closed poles.

    The diagram is made linear near a point, with all other loops closed. Derivatives are exact.
    """
    diagram = diagram_file(file, loading).load()
    from spart_blocks.analysis.margins import margins as found_margins

    say(f"linearizing {diagram.name}")
    found = found_margins(diagram, loop, by=by or (), at=at, t=t)
    put(*_shown(found), as_list=True)


def _shown(found: Margins) -> list[Any]:
    from spart_blocks.analysis.frequency.figures import OF_LOOPS

    rows = [
        (name, f"{value:.6g}", OF_LOOPS[name].unit, _frequency(found.frequencies[name]))
        for name, value in found.values.items()
    ]
    parts: list[Any] = [headed_table(("margin", "value", "unit", "at [rad/s]"), rows)]
    names = next(iter(found.derivatives.values()), {})
    if names:
        table = [
            (figure, *(_numbers(by[name]) for name in names))
            for figure, by in found.derivatives.items()
        ]
        parts += ["", headed_table(("derivative by", *names), table)]
    return [*parts, *(f"{name}: {why}" for name, why in found.without.items())]


def _frequency(w: float) -> str:
    return "" if w != w else f"{w:.5g}"


def _numbers(value: Any) -> str:
    """A derivative, or those by each element. Below 1e-12 of the largest it is rounding."""
    flat = value.ravel()
    least = 1e-12 * abs(flat).max(initial=0.0)
    return " ".join(f"{number if abs(number) > least else 0.0:.5g}" for number in flat)
