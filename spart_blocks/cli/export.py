"""`spart export`: a diagram, or some of its blocks, as code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from spart_blocks.base.tableaus import RECOMMENDED, FixedStepMethod
from spart_blocks.cli.commands import command
from spart_blocks.cli.help_texts import epilog
from spart_blocks.cli.options import (
    FILE,
    QUIET,
    SETTINGS,
    Loading,
    Precision,
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
    from spart_blocks.export import StepCode

HORIZON = 1.0  # s


PART = option(
    "--part BLOCK",
    "A block or subsystem to export, usually the controller; by default "
    "export.part of the file, or the whole diagram ('*'). May be repeated.",
)
RATE = option("--rate HZ", "Steps per second; by default from its clocks, or 1000 without clocks.")
METHOD = option("--method", f"How continuous states are integrated, by default {RECOMMENDED}.")


@dataclass(frozen=True)
class CodeOptions:
    """Options of the C code."""

    part: Texts = PART
    rate: float | None = RATE
    method: FixedStepMethod | None = METHOD
    precision: Precision | None = option(
        "--precision", "The numbers of the code, by default double."
    )
    name: str | None = option("--name NAME", "Prefix of the names in C.")


export = typer.Typer(
    name="export",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
    help="Generate code from a diagram or some of its blocks, which runs without this package.",
    epilog=epilog(
        "spart export c diagrams/arm_computed_torque.yaml --part ctrl -o build/ctrl --verify",
        "spart export fmu diagrams/spacecraft_pd.yaml -o spacecraft.fmu",
    ),
)


@command(
    "spart export c diagrams/arm_computed_torque.yaml --part ctrl -o build/ctrl --verify",
    "spart export c diagrams/spacecraft_pd.yaml --rate 500 --precision float -o build/loop",
)
def export_c(
    *,
    file: Path = FILE,
    out: Path = option("--out -o DIR", "The folder to write.", ...),
    options: CodeOptions,
    check: bool = switch(
        "--verify",
        "Compile the code, and compare all outputs with the program's, step by step.",
    ),
    horizon: float = option("--t -t SECONDS", "Duration of the comparison by --verify.", HORIZON),
    settings: Texts = SETTINGS,
    loading: Loading,
    quiet: bool = QUIET,
) -> None:
    """Write a diagram, or some of its blocks, as C99: a step with its inputs and outputs,
    and a loop that calls it at absolute deadlines.

    With --verify nothing is written unless the compiled code agrees with the program.
    """
    check_seconds("--t", horizon)
    diagram = diagram_file(file, settings, loading, quiet).load()
    from spart_blocks.export import (
        check_folder,
        linked_inputs,
        live_links,
        package_files,
        write_package,
    )

    check_folder(out.expanduser())
    code = _code(diagram, options)
    say(f"making C of {code.part.program.name}", unless=quiet)
    if check:
        _verify(diagram, code, horizon, quiet)
    links = live_links(diagram, code.part)
    paths = write_package(package_files(code, links), out.expanduser())
    if not quiet:
        asked_for = options.rate is not None or diagram.export.rate is not None
        _describe(code, out, paths, linked_inputs(code, links), asked_for)


def _code(diagram: Diagram, options: CodeOptions) -> StepCode:
    """The C code for these options; those that are not given come from the file."""
    from spart_blocks.export import step_code
    from spart_blocks.program.subdiagram import subdiagram_of

    asked = diagram.export
    return step_code(
        subdiagram_of(diagram, options.part or ()),
        rate=asked.rate if options.rate is None else options.rate,
        method=options.method or asked.method,
        real=options.precision or asked.precision,
        name=options.name,
    )


def _verify(diagram: Diagram, code: StepCode, horizon: float, quiet: bool) -> None:
    from spart_blocks.export import moving_inputs, recorded_inputs, verify

    say(f"comparing it with the program over {horizon:g} s", unless=quiet)
    inputs, told = moving_inputs(code, recorded_inputs(diagram, code, horizon))
    found = verify(code, inputs)
    if not quiet:
        numbers = ((name, f"{error:.2e}") for name, error in found.errors.items())
        put(headed_table(("output or state", "relative difference"), numbers))
    if not found.passed:
        complain(f"the C differs from the program by {found.worst:.1e}, nothing is written")
        raise typer.Exit(FAILED)
    if not quiet:
        typer.echo(f"{code.name}: {found.steps} steps agree to {found.tolerance:g}")
        if found.ended:
            typer.echo(f"  it ended there, {len(inputs)} were asked for: {found.ended}")
        say_fed(told)


def say_fed(fed: Mapping[str, str]) -> None:
    """Print how each input changed during the comparison."""
    if fed:
        shown = ", ".join(f"{name} {how}" for name, how in fed.items())
        typer.echo(f"  fed meanwhile: {shown}")


def _describe(
    code: StepCode, out: Path, paths: list[Path], linked: list[str], asked_for: bool
) -> None:
    from spart_blocks.export.board import board_size
    from spart_blocks.export.schedule import rate_reason

    schedule, interface = code.schedule, code.interface
    states = len(code.part.program.x0)
    method = f", {states} states by {schedule.method}" if states else ""
    why = rate_reason(code.part, schedule, asked_for)
    typer.echo(
        f"{code.name}: {float(schedule.rate):g} steps per second ({why}){method}, {code.real}"
    )
    for kind, members in (("inputs", interface.inputs), ("outputs", interface.outputs)):
        listed = ", ".join(f"{m.name} {m.shape}" if m.shape else m.name for m in members)
        typer.echo(f"  {kind}: {listed or 'none'}")
    alone = [m.name for m in interface.inputs if m.name not in linked]
    if linked and alone:
        typer.echo(f"  no link brings {', '.join(alone)}: main.c holds them as at the start")
    size = board_size(code)
    if size is not None:
        typer.echo(f"  {size}")
    typer.echo(f"wrote {len(paths)} files into {out}; its README.md says how to build it")
