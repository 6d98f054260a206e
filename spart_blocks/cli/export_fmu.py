"""`spart export fmu`: a diagram, or some of its blocks, for other simulators."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spart_blocks.base.tableaus import FixedStepMethod
from spart_blocks.cli.export import HORIZON, PartOption, say_fed
from spart_blocks.cli.help_texts import with_examples
from spart_blocks.cli.options import (
    Blocks,
    DiagramFile,
    Quiet,
    Root,
    Settings,
    Variants,
    check_seconds,
    diagram_file,
)
from spart_blocks.cli.reporting import FAILED, Debug, reporting
from spart_blocks.cli.terminal import complain, put, say

if TYPE_CHECKING:
    from rich.table import Table

    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.sections.exporting import ExportOptions
    from spart_blocks.export import FmuVerification
    from spart_blocks.export.fmu.stepping import Stepping
    from spart_blocks.program.subdiagram import Subdiagram


class StartOfInputs(StrEnum):
    """The values of inputs that no importer sets."""

    zero = "zero"
    diagram = "diagram"


@with_examples(
    "spart export fmu diagrams/spacecraft_pd.yaml -o spacecraft.fmu",
    "spart export fmu diagrams/arm_computed_torque.yaml --part ctrl --version 2 -o ctrl.fmu",
)
def export_fmu(
    file: DiagramFile,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The file NAME.fmu to write, or a folder for it.",
            show_default=False,
        ),
    ],
    version: Annotated[int, typer.Option(metavar="2|3", help="Of FMI.", min=2, max=3)] = 3,
    part: PartOption = None,
    rate: Annotated[
        float | None,
        typer.Option(
            metavar="HZ",
            help="Co-simulation in equal steps, with this number per second; by default "
            "steps with error control.",
        ),
    ] = None,
    method: Annotated[
        FixedStepMethod | None,
        typer.Option(
            help="Method of co-simulation in equal steps; 1000 Hz unless --rate is given.",
            show_default=False,
        ),
    ] = None,
    inputs: Annotated[
        StartOfInputs,
        typer.Option(help="Start values of inputs: zero, or those at the start of the diagram."),
    ] = StartOfInputs.zero,
    check: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Validate it with FMPy, run it, and compare it with a run of this package.",
        ),
    ] = False,
    horizon: Annotated[
        float, typer.Option("--t", "-t", metavar="SECONDS", help="Duration of the run of --verify.")
    ] = HORIZON,
    settings: Settings = None,
    variants: Variants = None,
    blocks: Blocks = None,
    root: Root = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a diagram, or some of its blocks, as an FMU: model exchange and co-simulation
    in one file, with source code and a binary for this platform.

    With --verify nothing is written unless a run of the FMU agrees with a run of this package.
    """
    with reporting(debug):
        check_seconds("--t", horizon)
        diagram = diagram_file(file, settings, root, variants, blocks, quiet).load()
        from spart_blocks import export
        from spart_blocks.export.fmu.stepping import stepping_of
        from spart_blocks.program.subdiagram import subdiagram_of

        made = subdiagram_of(diagram, part or ())
        asked = diagram.export
        rate = asked.rate if rate is None else rate
        chosen = method or _of_file(asked)
        options: dict[str, Any] = {"rate": rate, "method": chosen, "inputs": inputs.value}
        if not quiet:
            say(f"making an FMU of {made.program.name}")
        if check:
            _verify(diagram, made, version, min(horizon, diagram.run.T), quiet, options)
        path = export.export_fmu(made, out, version, **options)
        if not quiet:
            _describe(made, version, path)
            _tell_steps(stepping_of(made, rate, chosen))


def _of_file(asked: ExportOptions) -> str | None:
    """The fixed-step method given by the file; None if it gives none."""
    return asked.method if asked.model_fields_set & {"method", "rate"} else None


def _verify(
    diagram: Diagram,
    part: Subdiagram,
    version: int,
    horizon: float,
    quiet: bool,
    options: Mapping[str, Any],
) -> None:
    from spart_blocks.export import export_fmu, verify_fmu

    if not quiet:
        say(f"running it in FMPy for {horizon:g} s")
    with tempfile.TemporaryDirectory(prefix="spart-") as folder:
        path = export_fmu(part, folder, version, **options)
        found = verify_fmu(path, part, horizon=horizon, diagram=diagram, **options)
    if not quiet and found.errors:
        put(_table(found))
        say_fed(found.fed)
    if found.note and not quiet:
        typer.echo(f"  {found.note}")
    if found.passed:
        return
    for wrong in found.wrong[:-1]:
        say(wrong)
    complain(f"{found.wrong[-1]}; nothing is written")
    raise typer.Exit(FAILED)


def _table(found: FmuVerification) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("interface")
    table.add_column("output")
    table.add_column("relative difference", justify="right")
    for (kind, name), error in found.errors.items():
        table.add_row(kind, name, f"{error:.2e}")
    return table


def _describe(part: Subdiagram, version: int, path: Path) -> None:
    from spart_blocks.export.fmu.variables import variables_of

    variables = variables_of(part)
    size = path.stat().st_size
    typer.echo(f"wrote {path}: FMI {version}.0, model exchange and co-simulation, {size:,} bytes")
    for kind in ("input", "output", "parameter"):
        names = [v.name for v in variables if v.causality == kind]
        if kind == "parameter":
            typer.echo(f"  parameters: {len(names)}, states: {len(part.program.x0)}")
        else:
            typer.echo(f"  {kind}s: {', '.join(names) or 'none'}")


def _tell_steps(stepping: Stepping) -> None:
    how = f"equal steps of {stepping.step:g} s by {stepping.method}"
    if stepping.controlled:
        how = f"steps with error control, to {stepping.rtol:g} or the importer's tolerance"
    typer.echo(f"  co-simulation: {how}")
