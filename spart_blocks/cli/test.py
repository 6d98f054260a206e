"""`spart test`: run the diagrams that are regression tests, and record their baselines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from spart_blocks.base.errors import Fault, InputError, counted
from spart_blocks.cli.commands import BLOCKS, QUIET, ROOT, Texts, argument, command, option, switch
from spart_blocks.cli.outputs import check_folder
from spart_blocks.cli.terminal import FAILED, WRONG_INPUT, ProgressBar, RunsBar, complain, say, warn

if TYPE_CHECKING:
    from spart_blocks.claims.check import Manner
    from spart_blocks.claims.files import ClaimCase
    from spart_blocks.claims.outcome import CaseOutcome
    from spart_blocks.run.run import Progress

HOME = Path("diagrams")


@command(
    "spart test",
    "spart test diagrams/spacecraft_pd.yaml --timing",
    "spart test --update",
)
def run_tests(
    *,
    paths: list[Path] | None = argument(
        "PATH",
        "Diagrams, or folders that are searched for those with a section expect:. "
        "By default diagrams/, or else the current folder.",
        None,
    ),
    update: bool = switch(
        "--update",
        "Record the baselines that are missing or no longer hold. Shows what changes.",
    ),
    force: bool = switch("--force", "With --update: also record baselines that still hold."),
    timing: bool = switch("--timing", "A diagram that runs too slowly fails."),
    plots: Path = option(
        "--plots DIR",
        "Folder for the pictures of failures, with a subfolder for each diagram.",
        Path("out"),
    ),
    blocks: Texts = BLOCKS,
    root: Path | None = ROOT,
    quiet: bool = QUIET,
) -> int:
    """Run every diagram that has a section expect:, and check its claims. Exit codes: 0 all passed,
    1 at least one failed, 2 a file is wrong, or there is nothing to test.
    """
    if force and not update:
        raise InputError("--force goes with --update")
    check_folder(plots)
    cases = _cases(paths or [HOME if HOME.is_dir() else Path()], root, tuple(blocks or ()))
    say(f"testing {counted(len(cases), 'diagram')}", unless=quiet)
    from spart_blocks.claims.check import Manner

    manner = Manner(update=update, force=force, timing=timing, plots=plots)
    return _Session(len(cases), manner, quiet).run(cases)


def _cases(paths: Sequence[Path], root: Path | None, blocks: tuple[str, ...]) -> list[ClaimCase]:
    """The tests in these files and folders, each file once."""
    from spart_blocks.claims.files import cases, found_below

    files: dict[Path, Path] = {}
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: there is no such file or folder")
        for file in found_below(path) if path.is_dir() else (path,):
            files.setdefault(file.resolve(), file)
    found = [case for file in files.values() for case in cases(file, root=root, blocks=blocks)]
    if not found:
        hint = "add a section expect: to a diagram, or name its file"
        listed = ", ".join(map(str, paths))
        raise InputError(Fault(f"no diagram in {listed} has a section expect:", hint=hint))
    return found


def _after(first: ProgressBar, then: ProgressBar) -> Progress:
    """A progress function for the second bar, which removes the first."""

    def told(done: float, total: float) -> None:
        first.end()
        then(done, total)

    return told


class _Session:
    """Runs the tests one after another, and prints the result of each; ends early at Ctrl-C."""

    def __init__(self, number: int, manner: Manner, quiet: bool) -> None:
        self.number, self.manner, self.quiet = number, manner, quiet
        self.outcomes: list[CaseOutcome] = []

    def run(self, cases: Sequence[ClaimCase]) -> int:
        """Run all tests; returns the exit code."""
        from spart_blocks.claims.check import check

        interrupted = False
        try:
            for case in cases:
                shown = not self.quiet
                with ProgressBar(wanted=shown) as run, RunsBar(wanted=shown) as runs:
                    outcome = check(case, self.manner, run, _after(run, runs))
                if outcome.interrupted:
                    interrupted = True
                    break
                self._tell(outcome)
        except KeyboardInterrupt:
            interrupted = True
        return self._summary(interrupted)

    def _tell(self, outcome: CaseOutcome) -> None:
        for text in outcome.warnings:
            warn(f"{outcome.case.path}: {text}")
        if outcome.slow:
            warn(f"{outcome.case.path}: {outcome.slow}")
        if not self.quiet:
            word = "passed" if outcome.passed else "wrong " if outcome.faults else "FAILED"
            what = f"{counted(outcome.claims, 'claim')}, {outcome.seconds:.1f} s"
            typer.echo(f"{word}  {_shown(outcome.case)}  ({what})")
        for text in outcome.troubles:
            typer.echo("\n".join(f"    {line}" for line in text.splitlines()))
        self.outcomes.append(self._recorded(outcome) if outcome.change else outcome)

    def _recorded(self, outcome: CaseOutcome) -> CaseOutcome:
        """Print the changes of a baseline, then write it. If this fails, the returned outcome has a
        fault."""
        from spart_blocks.claims.baselines import record

        change = outcome.change
        assert change is not None
        if not self.quiet:
            for line in change.lines:
                typer.echo(f"    {line}")
        try:
            record(change)
        except InputError as error:
            complain(str(error))
            return replace(outcome, faults=error.faults, change=None)
        if not self.quiet:
            typer.echo(f"    recorded {os.path.relpath(change.path)}")
        return outcome

    def _summary(self, interrupted: bool) -> int:
        done = self.outcomes
        wrong = [one for one in done if one.faults]
        failed = [one for one in done if not one.passed and not one.faults]
        recorded = sum(one.change is not None for one in done)
        if not self.quiet:
            typer.echo(", ".join(_parts(done, failed, wrong, recorded)))
        if interrupted:
            rest = counted(self.number - len(done), "diagram")
            complain(f"interrupted: {rest} of {self.number} not tested")
        if self.manner.update and failed:
            say("a diagram that fails gets no new baseline")
        return WRONG_INPUT if wrong else FAILED if failed or interrupted else 0


def _parts(
    done: Sequence[CaseOutcome],
    failed: Sequence[CaseOutcome],
    wrong: Sequence[CaseOutcome],
    recorded: int,
) -> Iterator[str]:
    passed = len(done) - len(failed) - len(wrong)
    yield f"{counted(passed, 'diagram')} passed"
    if failed:
        yield f"{len(failed)} failed: " + ", ".join(_shown(one.case) for one in failed)
    if wrong:
        yield f"{len(wrong)} wrong: " + ", ".join(_shown(one.case) for one in wrong)
    if recorded:
        yield f"{counted(recorded, 'baseline')} recorded"


def _shown(case: ClaimCase) -> str:
    return " ".join((str(case.path), *case.variants))
