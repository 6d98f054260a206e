"""`spart export`: a diagram, or some of its blocks, as code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spart_blocks.base.tableaus import RECOMMENDED, FixedStepMethod
from spart_blocks.cli.help_texts import epilog, with_examples
from spart_blocks.cli.options import (
    Blocks,
    DiagramFile,
    Precision,
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
    from spart_blocks.export import StepCode, Verification

HORIZON = 1.0  # s


PartOption = Annotated[
    list[str] | None,
    typer.Option(
        "--part",
        metavar="BLOCK",
        help="A block or subsystem to export, usually the controller; by default "
        "export.part of the file, or the whole diagram ('*'). May be repeated.",
    ),
]
RateOption = Annotated[
    float | None,
    typer.Option(
        metavar="HZ", help="Steps per second; by default from its clocks, or 1000 without clocks."
    ),
]
MethodOption = Annotated[
    FixedStepMethod | None,
    typer.Option(
        help=f"How continuous states are integrated, by default {RECOMMENDED}.", show_default=False
    ),
]

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


@with_examples(
    "spart export c diagrams/arm_computed_torque.yaml --part ctrl -o build/ctrl --verify",
    "spart export c diagrams/spacecraft_pd.yaml --rate 500 --precision float -o build/loop",
)
def export_c(
    file: DiagramFile,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="The folder to write.", show_default=False),
    ],
    part: PartOption = None,
    rate: RateOption = None,
    method: MethodOption = None,
    precision: Annotated[
        Precision | None,
        typer.Option(help="The numbers of the code, by default double.", show_default=False),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Prefix of the names in C.", show_default=False),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Compile the code, and compare all outputs with the program's, step by step.",
        ),
    ] = False,
    horizon: Annotated[
        float,
        typer.Option(
            "--t", "-t", metavar="SECONDS", help="Duration of the comparison by --verify."
        ),
    ] = HORIZON,
    settings: Settings = None,
    variants: Variants = None,
    blocks: Blocks = None,
    root: Root = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a diagram, or some of its blocks, as C99: a step with its inputs and outputs,
    and a loop that calls it at absolute deadlines.

    With --verify nothing is written unless the compiled code agrees with the program.
    """
    with reporting(debug):
        check_seconds("--t", horizon)
        diagram = diagram_file(file, settings, root, variants, blocks, quiet).load()
        from spart_blocks.export import (
            check_folder,
            linked_inputs,
            live_links,
            package_files,
            write_package,
        )

        check_folder(out.expanduser())
        code = _code(diagram, part, rate, method, precision, name)

        if not quiet:
            say(f"making C of {code.part.program.name}")
        if check:
            _verify(diagram, code, horizon, quiet)
        links = live_links(diagram, code.part)
        paths = write_package(package_files(code, links), out.expanduser())
        if not quiet:
            asked_for = rate is not None or diagram.export.rate is not None
            _describe(code, out, paths, linked_inputs(code, links), asked_for)


def _code(
    diagram: Diagram,
    part: list[str] | None,
    rate: float | None,
    method: FixedStepMethod | None,
    precision: Precision | None,
    name: str | None,
) -> StepCode:
    """The code according to the options, or the file for options not given."""
    from spart_blocks.export import step_code
    from spart_blocks.program.subdiagram import subdiagram_of

    asked = diagram.export
    return step_code(
        subdiagram_of(diagram, part or ()),
        rate=asked.rate if rate is None else rate,
        method=method or asked.method,
        real=precision.value if precision else asked.precision,
        name=name,
    )


def _verify(diagram: Diagram, code: StepCode, horizon: float, quiet: bool) -> None:
    from spart_blocks.export import moving_inputs, recorded_inputs, verify

    if not quiet:
        say(f"comparing it with the program over {horizon:g} s")
    inputs, told = moving_inputs(code, recorded_inputs(diagram, code, horizon))
    found = verify(code, inputs)
    if not quiet:
        put(_table(found))
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


def _table(found: Verification) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("output or state")
    table.add_column("relative difference", justify="right")
    for name, error in found.errors.items():
        table.add_row(name, f"{error:.2e}")
    return table


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
