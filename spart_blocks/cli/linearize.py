"""`spart linearize`: a diagram as a linear system, its poles, and their plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spart_blocks.cli.options import (
    Blocks,
    DiagramFile,
    Root,
    Settings,
    Variants,
    diagram_file,
)
from spart_blocks.cli.outputs import check_files, check_folder
from spart_blocks.cli.reporting import Debug, reporting
from spart_blocks.cli.terminal import put, say, warn

if TYPE_CHECKING:
    from rich.table import Table

    from spart_blocks.analysis import LinearSystem

_SHOWN = 12  # rows and columns of a matrix that fit a page
_RESTING = 1e-6


def linearize(
    file: DiagramFile,
    inputs: Annotated[
        list[str],
        typer.Option(
            "--input",
            "-i",
            metavar="SIGNAL",
            help="What is varied: a signal (ctrl.tau), or an input of a block (plant.taum, "
            "plant.wF0[2]). May be repeated.",
            show_default=False,
        ),
    ],
    outputs: Annotated[
        list[str],
        typer.Option(
            "--output",
            "-y",
            metavar="SIGNAL",
            help="What is looked at: a signal (plant.qm[0]), or states (states.plant). "
            "May be repeated.",
            show_default=False,
        ),
    ],
    open_at: Annotated[
        list[str] | None,
        typer.Option(
            "--open", metavar="SIGNAL", help="Cut the loop at this signal. May be repeated."
        ),
    ] = None,
    at: Annotated[
        Path | None,
        typer.Option(metavar="RUN.NPZ", help="The point: where this saved run ended."),
    ] = None,
    t: Annotated[
        float | None,
        typer.Option(
            "--t", "-t", metavar="SECONDS", help="The time: by default that of --at, or 0."
        ),
    ] = None,
    settings: Settings = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Save the system: .npz or .json."),
    ] = None,
    plots: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write bode.png and poles.png into DIR."),
    ] = None,
    variants: Variants = None,
    blocks: Blocks = None,
    root: Root = None,
    debug: Debug = False,
) -> None:
    """Print A, B, C, D between named signals near a point, and the poles.

    Derivatives are exact. Loops stay closed unless --open cuts them.
    """
    with reporting(debug):
        if out is not None:
            out = out.expanduser()
            check_files([out], (".npz", ".json"))
        if plots is not None:
            check_folder(plots)
        diagram = diagram_file(file, settings, root, variants, blocks).load()
        from spart_blocks.analysis import linearize as linearized

        say(f"linearizing {diagram.name}")
        system = linearized(
            diagram, inputs=inputs, outputs=outputs, open_at=open_at or (), at=at, t=t
        )
        _warn_of_drift(system)
        put(*_shown(system), as_list=True)
        if out is not None:
            system.save(out)
            say(f"written: {out}")
        if plots is not None:
            from spart_blocks.analysis.drawing import save_figures

            for path in save_figures(system, plots):
                say(f"written: {path}")


def _warn_of_drift(system: LinearSystem) -> None:
    size = abs(system.drift)
    if size.max(initial=0.0) > _RESTING:
        k = int(size.argmax())
        what = "changes by" if system.dt else "has the rate"
        warn(
            f"the diagram is not at rest here: {system.states[k]} {what} {system.drift[k]:.3g}; "
            "the poles describe it for a moment only"
        )


def _shown(system: LinearSystem) -> list[Any]:
    kind = f"discrete, dt = {system.dt:g} s" if system.dt else "continuous"
    parts: list[Any] = [f"{system.name}: {kind}, {len(system.states)} states"]
    sides = {
        "A": (system.A, system.states, system.states),
        "B": (system.B, system.states, system.inputs),
        "C": (system.C, system.outputs, system.states),
        "D": (system.D, system.outputs, system.inputs),
    }
    for name, (matrix, rows, columns) in sides.items():
        parts += ["", *_matrix(name, matrix, rows, columns)]
    return [*parts, "", "poles", *_poles(system)]


def _matrix(name: str, matrix: Any, rows: tuple[str, ...], columns: tuple[str, ...]) -> list[Any]:
    """A table where it fits a page, else its entries that are not zero, a row a line."""
    heading = f"{name} ({len(rows)} x {len(columns)})"
    if not matrix.any():
        return [f"{heading}: zero"]
    if len(columns) > _SHOWN:
        lines = []
        for row, values in zip(rows, matrix, strict=True):
            entries = [f"{v:.6g} {c}" for v, c in zip(values, columns, strict=True) if v]
            lines.append(f"  {row}: {' + '.join(entries) if entries else '0'}".replace("+ -", "- "))
        return [f"{heading}, entries that are not zero", *lines]
    table = _table("", *columns)
    for row, values in zip(rows, matrix, strict=True):
        table.add_row(row, *(f"{value:.6g}" for value in values))
    return [heading, table]


def _poles(system: LinearSystem) -> list[Any]:
    if not system.states:
        return ["  none"]
    table = _table("pole", "frequency [rad/s]", "damping", "time constant [s]")
    for pole in system.damping():
        value = f"{pole.value.real:.6g}"
        if pole.value.imag:
            value += f" {'+' if pole.value.imag > 0 else '-'} {abs(pole.value.imag):.6g}j"
        damping = "" if pole.frequency == 0 else f"{pole.damping:.4g}"
        table.add_row(value, f"{pole.frequency:.6g}", damping, f"{pole.time_constant:.6g}")
    return [table]


def _table(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(first)
    for column in others:
        table.add_column(column, justify="right")
    return table
