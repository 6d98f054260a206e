"""`spart sweep`: many runs of a diagram that differ in their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from spart_blocks.base.errors import InputError, RunError
from spart_blocks.cli.commands import (
    BLOCKS,
    END,
    FILE,
    QUIET,
    ROOT,
    SETTINGS,
    Loading,
    Precision,
    Texts,
    choices_of,
    command,
    diagram_file,
    named_values,
    option,
    switch,
)
from spart_blocks.cli.ending import writing
from spart_blocks.cli.outputs import REPORT, checked_file, default_name
from spart_blocks.cli.terminal import FAILED, RunsBar, complain, report, say, warn

if TYPE_CHECKING:
    from spart_blocks.sweeps.results import SweepResults

MOST_NAMED = 5
"""Largest number of failed runs that are named."""


@dataclass(frozen=True)
class Plan:
    """Options: what varies from run to run, and what is measured and kept of each run."""

    runs: int | None = option(
        "--runs -n N",
        "Draws of what is random, for each point of the grid, variant and fault.",
        min=1,
    )
    seed: int | None = option("--seed S", "Select the random numbers.", min=0)
    over: Texts = option(
        "--over PATH=VALUES",
        "Vary a value of the file: 'kp=[10,20]', or 'kd={normal: {mean: 20, sd: 2}}'. "
        "May be repeated.",
    )
    metrics: Texts = option(
        "--metric NAME=FORMULA",
        "Measure a number of each run: 'miss=abs(final(plant.qm[0]))'. May be repeated.",
    )
    gradients: Texts = option(
        "--gradient PARAMETER",
        "Differentiate the metrics of each run by a parameter: kp, ctrl.kp, plant.x0. "
        "May be repeated.",
    )
    keep: str | None = option(
        "--keep WHICH", "Runs whose histories are kept: none, failed, all, or a number of runs."
    )
    every: float | None = option("--every SECONDS", "Interval of kept histories.")

    def changes(self, variants: Texts) -> dict[str, Any]:
        """The entries of the section `sweep` that the options replace."""
        from spart_blocks.base.document import parse_value

        over = named_values("--over", self.over, "kp=[10,20]")
        keep = self.keep
        changes = {
            "runs": self.runs,
            "seed": self.seed,
            "keep": int(keep) if keep is not None and keep.isdecimal() else keep,
            "every": self.every,
            "variants": choices_of(variants),
            "over": {path: parse_value(text, f"--over {path}={text}") for path, text in over},
            "metrics": dict(named_values("--metric", self.metrics, "miss=abs(final(plant.qm[0]))")),
            "gradients": [*self.gradients] if self.gradients else None,
        }
        return {name: value for name, value in changes.items() if value not in (None, {})}


@dataclass(frozen=True)
class Execution:
    """Options: where a sweep runs, where its results go, and when it ends."""

    out: Path | None = option(
        "--out -o DIR",
        "The folder of the results, new or empty; by default out/NAME-sweep.",
    )
    resume: bool = switch("--resume", "Continue the sweep in this folder.")
    until: float | None = option(
        "--until WIDTH",
        "Stop as soon as the interval of the success probability is as narrow as this, "
        "for each variant and fault; --runs is the most.",
    )
    workers: int | None = option(
        "--workers -w N",
        "Number of threads or processes; by default one per processor.",
        min=1,
    )
    executor: str | None = option(
        "--scheduler ADDRESS", "Run on the workers of this Dask scheduler."
    )
    device: str | None = option("--device NAME", "Run on a graphics card: cuda.")
    precision: Precision | None = option(
        "--precision", "Of states, by default double; float on a card."
    )


@command(
    "spart sweep diagrams/spacecraft_pd.yaml --over 'kp=[20,40,80]' "
    "--metric 'miss=abs(final(plant.qm[0]))'",
    "spart sweep study.yaml --runs 2000 --seed 7 --out out/study --report out/study.html",
    "spart sweep study.yaml --out out/study --resume",
    "spart sweep study.yaml --runs 100000 --until 0.01",
)
def sweep(
    *,
    file: Path = FILE,
    plan: Plan,
    execution: Execution,
    variants: Texts = option(
        "--variant SLOT=A,B,...",
        "Choices for one of the file's variants; each runs with the same random values. "
        "May be repeated.",
    ),
    settings: Texts = SETTINGS,
    end: float | None = END,
    page: Path | None = option("--report FILE", "Write a report: .html."),
    root: Path | None = ROOT,
    blocks: Texts = BLOCKS,
    quiet: bool = QUIET,
) -> int:
    """Run a diagram many times: print how the runs ended and their metrics, keep a table of all.

    What varies, and what is measured, is in the file's sweep section or in the options. Runs that
    fail are counted and named; they do not end the sweep. Ctrl-C keeps every run that has ended,
    and the same command with --resume does the rest. The exit code is 1 if the sweep was
    interrupted, all runs failed, or the success that expect claims was not reached.
    """
    page = checked_file(page, (".html", ".htm"), REPORT)
    if execution.executor is not None and execution.workers is not None:
        raise InputError("--workers and --scheduler exclude each other")
    changes = plan.changes(variants)
    read = diagram_file(file, Loading(settings, None, blocks, root), quiet)
    folder = execution.out or Path("out") / f"{default_name(file.stem)}-sweep"
    found, failure = _swept(read, changes, end, execution, folder, quiet)
    with writing():
        code = _finished(found, folder, page, quiet, whole=failure is None)
    return code if failure is None else report(failure)


def _swept(
    read: Any,
    changes: dict[str, Any],
    end: float | None,
    execution: Execution,
    folder: Path,
    quiet: bool,
) -> tuple[SweepResults, RunError | None]:
    """Run the sweep: its results, and the error if not all of them could be stored."""
    from spart_blocks.sweeps.sweep import sweep as run_sweep

    how = {**vars(execution), "out": folder, "precision": execution.precision or "double"}
    with RunsBar(wanted=not quiet) as progress:
        try:
            return run_sweep(read, T=end, progress=progress, **how, **changes), None
        except RunError as error:
            if error.results is None:
                raise
            return error.results, error


def _finished(
    found: SweepResults, folder: Path, page: Path | None, quiet: bool, *, whole: bool
) -> int:
    """Print and write the results; returns the exit code. whole: whether all are stored in the
    folder; if not, an error is printed later."""
    from spart_blocks.sweeps.run.batches import ENOUGH

    code = 0
    if not quiet and len(found):
        typer.echo(str(found.statistics()))
        for one in found.comparisons(found.metrics):
            typer.echo(f"\n{one}")
    _name_failed(found, folder)
    _name_underived(found)
    if whole and not quiet:
        typer.echo(f"{len(found):,} runs are in {folder}")
        if len(found):
            typer.echo(f"spart run --from-sweep {folder} --run N replays run N")
    if found.stopped == ENOUGH and not quiet:
        left = found.planned_runs - len(found)
        typer.echo(f"{found.stopped}; the other {left:,} runs were not needed")
    if page is not None:
        found.report(page)
        if not quiet:
            typer.echo(f"the report is in {page}")
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
    """A message if the sweep does not reach the success that its diagram claims; otherwise None."""
    from spart_blocks.claims.success import judged

    expected = found.planned.expected
    claim = None if expected is None else expected.section.success
    if claim is None:
        return None
    bound, told = judged(found, claim)
    return told if bound < claim.at_least else None


def _name_underived(found: SweepResults) -> None:
    """Print which runs lack derivatives, and why."""
    lacking = found.underived
    if not len(lacking):
        return
    warn(f"{len(lacking):,} of {len(found):,} runs lack derivatives")
    reasons = dict(zip(found["run"].tolist(), found["no_gradient"], strict=True))
    for run in lacking[:MOST_NAMED].tolist():
        say(f"  run {run}: {reasons[run]}")
    if len(lacking) > MOST_NAMED:
        text = (
            f"and {len(lacking) - MOST_NAMED:,} more; the column no_gradient of the table has all"
        )
        say(f"  {text}")


def _name_failed(found: SweepResults, folder: Path) -> None:
    """Print which runs failed, and how to replay the first."""
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
