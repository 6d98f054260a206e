"""`spart export`: a diagram, or some of its blocks, as code."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.tableaus import RECOMMENDED, FixedStepMethod
from spart_blocks.cli.commands import (
    FILE,
    QUIET,
    Loading,
    Precision,
    Texts,
    check_seconds,
    command,
    diagram_file,
    option,
    switch,
)
from spart_blocks.cli.terminal import FAILED, complain, headed_table, put, say

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.sections.exporting import ExportOptions
    from spart_blocks.export import Plan, StepCode
    from spart_blocks.export.fmu.stepping import Stepping
    from spart_blocks.program.subdiagram import Subdiagram
    from spart_blocks.run import DiagramFile
    from spart_blocks.web.runnable import Runnable

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
    loading: Loading,
    quiet: bool = QUIET,
) -> None:
    """Write a diagram, or some of its blocks, as C99: a step with its inputs and outputs,
    and a loop that calls it at absolute deadlines.

    With --verify nothing is written unless the compiled code agrees with the program.
    """
    check_seconds("--t", horizon)
    diagram = diagram_file(file, loading, quiet).load()
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


# --- as a controller of ros2_control --------------------------------------------------------------


@command(
    "spart export ros2_control diagrams/spacecraft_pd.yaml --part ctrl -o build/pd",
    "spart export ros2_control diagrams/spacecraft_pd.yaml --part ctrl --rate 500 -o build/pd",
)
def export_ros2_control(
    *,
    file: Path = FILE,
    out: Path = option("--out -o DIR", "The folder of the package to write.", ...),
    options: CodeOptions,
    check: bool = switch(
        "--verify",
        "Compile the step, and compare all outputs with the program's, step by step.",
    ),
    horizon: float = option("--t -t SECONDS", "Duration of the comparison by --verify.", HORIZON),
    loading: Loading,
    quiet: bool = QUIET,
) -> None:
    """Write some blocks of a diagram as a controller of ros2_control: a package of ROS 2 with the
    C99 step and a controller plugin around it.

    Joints and units of the diagram say which signals are which interfaces of the hardware;
    `export: ros2_control:` of the file has precedence. Other inputs come over topics.
    """
    check_seconds("--t", horizon)
    diagram = diagram_file(file, loading, quiet).load()
    from spart_blocks.export import check_folder, controller_files, plan_of, write_package

    check_folder(out.expanduser())
    code = _code(diagram, options)
    plan = plan_of(diagram, code)
    say(f"making a controller of {code.part.program.name}", unless=quiet)
    if check:
        _verify(diagram, code, horizon, quiet)
    paths = write_package(controller_files(plan), out.expanduser())
    if not quiet:
        _describe_controller(plan, out, paths)


def _describe_controller(plan: Plan, out: Path, paths: list[Path]) -> None:
    typer.echo(f"{plan.package}: {plan.package}::{plan.class_name} at {plan.rate} Hz")
    for kind, rows in (("state", plan.states), ("command", plan.commands)):
        names = ", ".join(row.name for row in rows)
        typer.echo(f"  {kind} interfaces: {names or 'none'}")
    for topic in plan.topics:
        names = ", ".join(piece.member.name for piece in topic.pieces)
        typer.echo(f"  {topic.name} ({topic.message}): {names}")
    if plan.unsafe:
        typer.echo(f"  no safe command for {', '.join(plan.unsafe)}: the last one stays")
    typer.echo(f"wrote {len(paths)} files into {out}; its README.md says how to build it")


# --- as an FMU ------------------------------------------------------------------------------------


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
    loading: Loading,
    quiet: bool = QUIET,
) -> None:
    """Write a diagram, or some of its blocks, as an FMU: model exchange and co-simulation
    in one file, with source code and a binary for this platform.

    With --verify nothing is written unless a run of the FMU agrees with a run of this package.
    """
    check_seconds("--t", horizon)
    diagram = diagram_file(file, loading, quiet).load()
    from spart_blocks.export import export_fmu as write_fmu
    from spart_blocks.export.fmu.stepping import stepping_of
    from spart_blocks.program.subdiagram import subdiagram_of

    made = subdiagram_of(diagram, part or ())
    asked = diagram.export
    rate = asked.rate if rate is None else rate
    chosen = method or _of_file(asked)
    options: dict[str, Any] = {"rate": rate, "method": chosen, "inputs": inputs}
    say(f"making an FMU of {made.program.name}", unless=quiet)
    if check:
        _verify_fmu(diagram, made, version, min(horizon, diagram.run.T), quiet, options)
    path = write_fmu(made, out, version, **options)
    if not quiet:
        _describe_fmu(made, version, path)
        _tell_steps(stepping_of(made, rate, chosen))


def _of_file(asked: ExportOptions) -> str | None:
    """The fixed-step method from the file; None if the file sets neither method nor rate."""
    return asked.method if asked.model_fields_set & {"method", "rate"} else None


def _verify_fmu(
    diagram: Diagram,
    part: Subdiagram,
    version: int,
    horizon: float,
    quiet: bool,
    options: Mapping[str, Any],
) -> None:
    from spart_blocks.export import export_fmu as write_fmu
    from spart_blocks.export import verify_fmu

    say(f"running it in FMPy for {horizon:g} s", unless=quiet)
    with tempfile.TemporaryDirectory(prefix="spart-") as folder:
        path = write_fmu(part, folder, version, **options)
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


def _describe_fmu(part: Subdiagram, version: int, path: Path) -> None:
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


# --- as a page ------------------------------------------------------------------------------------

MOST_VARIANTS = 8


@command(
    "spart export web diagrams/spacecraft_pd.yaml -o spacecraft.html",
    "spart export web diagrams/spacecraft_controllers.yaml --all-variants --verify -o three.html",
)
def export_web(
    *,
    file: Path = FILE,
    out: Path = option("--out -o FILE", "The file NAME.html to write.", ...),
    all_variants: bool = switch(
        "--all-variants",
        f"A button for each choice of the file's variants, {MOST_VARIANTS} at most.",
    ),
    check: bool = switch(
        "--verify", "Run the page's WebAssembly, and compare all states with a lane's, bit by bit."
    ),
    loading: Loading,
    quiet: bool = QUIET,
) -> None:
    """Write a page that runs the diagram in a browser, without Python, server or network.

    It holds the compiled program, sliders for parameters and initial states, scopes, the robots in
    3-D, the claims of expect: and small sweeps. With --verify nothing is written unless all bits
    of the states agree.
    """
    from spart_blocks.animation.animate import checked_path, write_page
    from spart_blocks.web.page import page_of_runs
    from spart_blocks.web.runnable import Runnable

    target = checked_path(out.expanduser())
    given = diagram_file(file, loading, quiet)
    files = _variants_of(given) if all_variants else [given]
    made = [Runnable.of(one.load()) for one in files]
    say(f"making WebAssembly of {made[0].program.name}", unless=quiet)
    if check:
        _verify_page(made, quiet)
    write_page(target, page_of_runs(made, None if quiet else say))
    if not quiet:
        size = target.stat().st_size / 1000
        typer.echo(f"wrote {target}: {size:,.0f} kB, {_counted(made[0])}")


def _variants_of(file: DiagramFile) -> list[DiagramFile]:
    """The file with each choice for the slots that were given none, the defaults first. Raises
    InputError if there are too many."""
    from spart_blocks.diagram.written.variants import choices_in

    given = {one.partition("=")[0] for one in file.variants}
    free = {slot: some for slot, some in choices_in(file.path).items() if slot not in given}
    number = math.prod(map(len, free.values()))
    if number > MOST_VARIANTS:
        slots = ", ".join(free)
        text = f"{slots} have {number} choices together; a page holds {MOST_VARIANTS} at most"
        raise InputError(Fault(text, hint="choose for some of them: --variant SLOT=CHOICE"))
    chosen = (
        tuple(f"{slot}={choice}" for slot, choice in zip(free, choices, strict=True))
        for choices in product(*free.values())
    )
    return [replace(file, variants=(*file.variants, *some)) for some in chosen]


def _verify_page(made: Sequence[Runnable], quiet: bool) -> None:
    from spart_blocks.web.executed import differing

    for one in made:
        say(f"running it for {float(one.program.run.T):g} s", unless=quiet)
        wrong = differing(one)
        if wrong is not None:
            complain(f"the page's run differs from a lane's: {wrong}; nothing is written")
            raise typer.Exit(FAILED)
    if not quiet:
        typer.echo(f"{made[0].program.name}: all bits of its states are those of a lane")


def _counted(made: Runnable) -> str:
    data = made.data
    counts = (("parameters", "parameter"), ("signals", "signal"), ("claims", "claim"))
    words = [f"{len(data[name])} {one}{'s' * (len(data[name]) != 1)}" for name, one in counts]
    return ", ".join(words)
