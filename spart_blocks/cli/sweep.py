"""`spart sweep`: many runs of a diagram that differ in their parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spart_blocks.base.errors import Fault, InputError, RunError
from spart_blocks.cli.ending import writing
from spart_blocks.cli.help_texts import with_examples
from spart_blocks.cli.options import (
    Blocks,
    DiagramFile,
    EndTime,
    Precision,
    Quiet,
    Root,
    Settings,
    diagram_file,
)
from spart_blocks.cli.outputs import check_files, default_name
from spart_blocks.cli.progress import RunsBar
from spart_blocks.cli.reporting import FAILED, Debug, report, reporting
from spart_blocks.cli.terminal import complain, say, warn

if TYPE_CHECKING:
    from spart_blocks.sweeps.results import SweepResults

MOST_NAMED = 5
"""Largest number of failed runs that are named."""


@with_examples(
    "spart sweep diagrams/spacecraft_pd.yaml --over 'kp=[20,40,80]' "
    "--metric 'miss=abs(final(plant.qm[0]))'",
    "spart sweep study.yaml --runs 2000 --seed 7 --out out/study --report out/study.html",
    "spart sweep study.yaml --out out/study --resume",
    "spart sweep study.yaml --runs 100000 --until 0.01",
)
def sweep(
    file: DiagramFile,
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs",
            "-n",
            min=1,
            metavar="N",
            help="Draws of what is random, for each point of the grid, variant and fault.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="S", help="Select the random numbers.", show_default=False),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="PATH=VALUES",
            help="Vary a value of the file: 'kp=[10,20]', or 'kd={normal: {mean: 20, sd: 2}}'. "
            "May be repeated.",
        ),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="NAME=FORMULA",
            help="Measure a number of each run: 'miss=abs(final(plant.qm[0]))'. May be repeated.",
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="Runs whose histories are kept: none, failed, all, or a number of runs.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Interval of kept histories.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="The folder of the results, new or empty; by default out/NAME-sweep.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the sweep in this folder.")
    ] = False,
    until: Annotated[
        float | None,
        typer.Option(
            metavar="WIDTH",
            help="Stop as soon as the interval of the success probability is as narrow as this, "
            "for each variant and fault; --runs is the most.",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            "-w",
            min=1,
            metavar="N",
            help="Number of threads or processes; by default one per processor.",
            show_default=False,
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the workers of this Dask scheduler."),
    ] = None,
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Run on a graphics card: cuda.")
    ] = None,
    precision: Annotated[
        Precision | None,
        typer.Option(help="Of states, by default double; float on a card.", show_default=False),
    ] = None,
    variants: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            metavar="SLOT=A,B,...",
            help="Choices for one of the file's variants; each runs with the same random values. "
            "May be repeated.",
        ),
    ] = None,
    settings: Settings = None,
    end: EndTime = None,
    page: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write a report: .html.")
    ] = None,
    root: Root = None,
    blocks: Blocks = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run a diagram many times: print how the runs ended and their metrics, keep a table of all.

    What varies, and what is measured, is in the file's sweep section or in the options. Runs that
    fail are counted and named; they do not end the sweep. Ctrl-C keeps every run that has ended,
    and the same command with --resume does the rest. The exit code is 1 if the sweep was
    interrupted, all runs failed, or the success that expect claims was not reached.
    """
    with reporting(debug):
        pages = (page.expanduser(),) if page else ()
        check_files(pages, (".html", ".htm"), "--report")
        if scheduler is not None and workers is not None:
            raise InputError("--workers and --scheduler exclude each other")
        changes: dict[str, Any] = {
            "runs": runs,
            "seed": seed,
            "keep": _kept(keep),
            "every": every,
            "variants": _choices(variants or []),
            "over": _values("--over", over or []),
            "metrics": _formulas(metrics or []),
        }
        given = {name: value for name, value in changes.items() if value not in (None, {})}
        options = {} if end is None else {"T": end}
        how: dict[str, Any] = {"workers": workers, "scheduler": scheduler, "device": device}
        how |= {
            "precision": (precision or Precision.double).value,
            "until": until,
            "resume": resume,
        }
        read = diagram_file(file, settings, root, None, blocks, quiet)
        folder = out or Path("out") / f"{default_name(file.stem)}-sweep"
        found, failure = _swept(read, given, options, {**how, "out": folder}, quiet)
        with writing():
            code = _finished(found, folder, pages, quiet, whole=failure is None)
        if failure is not None:
            code = report(failure)
        if code:
            raise typer.Exit(code)


def _swept(
    read: Any, changes: dict[str, Any], options: dict[str, Any], how: dict[str, Any], quiet: bool
) -> tuple[SweepResults, RunError | None]:
    """The results, and the error if they could not all be kept."""
    from spart_blocks.sweeps.sweep import sweep_file

    with RunsBar(wanted=not quiet) as progress:
        try:
            return sweep_file(read, changes, options, progress=progress, **how), None
        except RunError as error:
            if error.results is None:
                raise
            return error.results, error


def _finished(
    found: SweepResults, folder: Path, pages: tuple[Path, ...], quiet: bool, *, whole: bool
) -> int:
    """Print and write the results; returns the exit code. whole: whether all are in the folder;
    an error tells otherwise."""
    from spart_blocks.sweeps.run.batches import ENOUGH

    code = 0
    if not quiet and len(found):
        typer.echo(str(found.statistics()))
    _name_failed(found, folder)
    if not quiet:
        left = found.planned_runs - len(found)
        if whole:
            typer.echo(f"{len(found):,} runs are in {folder}")
        if found.stopped == ENOUGH:
            typer.echo(f"{found.stopped}; the other {left:,} runs were not needed")
    for path in pages:
        found.report(path)
        if not quiet:
            typer.echo(f"the report is in {path}")
    if found.stopped not in (None, ENOUGH):
        complain(
            f"the sweep was {found.stopped} after {len(found):,} of {found.planned_runs:,} runs"
        )
        if whole:
            say("  the same command with --resume does the rest")
        code = FAILED
    if len(found) and len(found.failed) == len(found):
        complain("all runs failed")
        code = FAILED
    missed = _missed(found) if len(found) and not code else None
    if missed is not None:
        complain(f"expect: success: {missed}")
        code = FAILED
    return code


def _missed(found: SweepResults) -> str | None:
    """In what the sweep misses the success that its diagram claims; None if it does not."""
    from spart_blocks.claims.success import judged

    expected = found.planned.expected
    claim = None if expected is None else expected.section.success
    if claim is None:
        return None
    _, bound, told = judged(found, claim)
    return told if bound < claim.at_least else None


def _name_failed(found: SweepResults, folder: Path) -> None:
    """Say which runs failed, and how to look at one."""
    failed = found.failed
    if not len(failed):
        return
    warn(f"{len(failed):,} of {len(found):,} runs failed")
    messages = found["message"]
    place = {int(run): k for k, run in enumerate(found["run"])}
    for run in failed[:MOST_NAMED]:
        say(f"  run {run}: {messages[place[int(run)]]}")
    if len(failed) > MOST_NAMED:
        say(f"  and {len(failed) - MOST_NAMED:,} more; the table has all")
    say(f"  spart run --from-sweep {folder} --run {failed[0]} replays the first")


def _choices(given: list[str]) -> dict[str, list[str]]:
    """`slot=a,b` texts as choices by slot."""
    choices: dict[str, list[str]] = {}
    for text in given:
        slot, value = _named("--variant", text, "controller=pd,lqr")
        choices.setdefault(slot, []).extend(c.strip() for c in value.split(",") if c.strip())
    return choices


def _values(option: str, given: list[str]) -> dict[str, Any]:
    """`path=values` texts as values by path."""
    from spart_blocks.base.document import parse_value

    found = {}
    for text in given:
        path, value = _named(option, text, "kp=[10,20]")
        found[path] = parse_value(value, f"{option} {text}")
    return found


def _formulas(given: list[str]) -> dict[str, str]:
    return dict(_named("--metric", text, "miss=abs(final(plant.qm[0]))") for text in given)


def _kept(given: str | None) -> Any:
    return int(given) if given is not None and given.isdecimal() else given


def _named(option: str, text: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        hint = f"write {option} {example!r}"
        raise InputError(Fault(f"{option} {text}: it has no name or no value", hint=hint))
    return name.strip(), value.strip()
