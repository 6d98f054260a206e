"""`spart export fmu`: a diagram, or some of its blocks, for other simulators."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from spart_blocks.base.tableaus import FixedStepMethod
from spart_blocks.cli.commands import command
from spart_blocks.cli.export import HORIZON, PART, say_fed
from spart_blocks.cli.options import (
    FILE,
    QUIET,
    SETTINGS,
    Loading,
    Texts,
    check_seconds,
    diagram_file,
    option,
    switch,
)
from spart_blocks.cli.reporting import FAILED
from spart_blocks.cli.terminal import complain, put, say
from spart_blocks.cli.text_tables import headed_table

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.sections.exporting import ExportOptions
    from spart_blocks.export.fmu.stepping import Stepping
    from spart_blocks.program.subdiagram import Subdiagram


@command(
    "spart export fmu diagrams/spacecraft_pd.yaml -o spacecraft.fmu",
    "spart export fmu diagrams/arm_computed_torque.yaml --part ctrl --version 2 -o ctrl.fmu",
)
def export_fmu(
    *,
    file: Path = FILE,
    out: Path = option("--out -o FILE", "The file NAME.fmu to write, or a folder for it.", ...),
    version: int = option("--version 2|3", "Of FMI.", 3, min=2, max=3),
    part: Texts = PART,
    rate: float | None = option(
        "--rate HZ",
        "Co-simulation in equal steps, with this number per second; by default "
        "steps with error control.",
    ),
    method: FixedStepMethod | None = option(
        "--method", "Method of co-simulation in equal steps; 1000 Hz unless --rate is given."
    ),
    inputs: Literal["zero", "diagram"] = option(
        "--inputs",
        "Start values of inputs: zero, or those at the start of the diagram.",
        "zero",
    ),
    check: bool = switch(
        "--verify", "Validate it with FMPy, run it, and compare it with a run of this package."
    ),
    horizon: float = option("--t -t SECONDS", "Duration of the run of --verify.", HORIZON),
    settings: Texts = SETTINGS,
    loading: Loading,
    quiet: bool = QUIET,
) -> None:
    """Write a diagram, or some of its blocks, as an FMU: model exchange and co-simulation
    in one file, with source code and a binary for this platform.

    With --verify nothing is written unless a run of the FMU agrees with a run of this package.
    """
    check_seconds("--t", horizon)
    diagram = diagram_file(file, settings, loading, quiet).load()
    from spart_blocks import export
    from spart_blocks.export.fmu.stepping import stepping_of
    from spart_blocks.program.subdiagram import subdiagram_of

    made = subdiagram_of(diagram, part or ())
    asked = diagram.export
    rate = asked.rate if rate is None else rate
    chosen = method or _of_file(asked)
    options: dict[str, Any] = {"rate": rate, "method": chosen, "inputs": inputs}
    say(f"making an FMU of {made.program.name}", unless=quiet)
    if check:
        _verify(diagram, made, version, min(horizon, diagram.run.T), quiet, options)
    path = export.export_fmu(made, out, version, **options)
    if not quiet:
        _describe(made, version, path)
        _tell_steps(stepping_of(made, rate, chosen))


def _of_file(asked: ExportOptions) -> str | None:
    """The fixed-step method from the file; None if the file sets neither method nor rate."""
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

    say(f"running it in FMPy for {horizon:g} s", unless=quiet)
    with tempfile.TemporaryDirectory(prefix="spart-") as folder:
        path = export_fmu(part, folder, version, **options)
        found = verify_fmu(path, part, horizon=horizon, diagram=diagram, **options)
    if not quiet and found.errors:
        numbers = ((kind, name, f"{error:.2e}") for (kind, name), error in found.errors.items())
        put(headed_table(("interface", "output", "relative difference"), numbers, left=2))
        say_fed(found.fed)
    if found.note and not quiet:
        typer.echo(f"  {found.note}")
    if found.passed:
        return
    for wrong in found.wrong[:-1]:
        say(wrong)
    complain(f"{found.wrong[-1]}; nothing is written")
    raise typer.Exit(FAILED)


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
