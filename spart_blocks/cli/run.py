"""`spart run`: run a diagram, print a summary, save results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from spart_blocks.base.errors import InputError, RunError
from spart_blocks.cli.commands import (
    END,
    HEADLESS,
    OPTIONAL_FILE,
    QUIET,
    Loading,
    command,
    diagram_file,
    option,
    refuse_given,
    switch,
)
from spart_blocks.cli.outputs import (
    Outputs,
    Written,
    attempt,
    check_folder,
    checked_files,
    checked_page,
    checked_recording,
    complain_of,
    list_files,
    show,
    write_page,
    write_recording,
)
from spart_blocks.cli.terminal import FAILED, ProgressBar, complain, has_display, report, say

if TYPE_CHECKING:
    from spart_blocks.results import Results
    from spart_blocks.run import DiagramFile as SomeFile
    from spart_blocks.run.run import Run


Engine = Literal["auto", "native", "interpreter"]
"""The engine that runs the diagram."""
ENGINE = option("--engine", "What runs the diagram.", "auto")


STREAM = option(
    "--stream DIR",
    "Write every row while the run goes, also those that a long run's record lacks: DIR ends in "
    ".zarr (a Zarr store) or .parquet (a folder of parts).",
)


@dataclass(frozen=True)
class RunOutputs:
    """Options: what is shown and saved of a run."""

    out: list[Path] | None = option(
        "--out -o FILE", "Save the results: .npz (everything), .csv or .mat. May be repeated."
    )
    plots: Path | None = option(
        "--plots DIR",
        "Write the plots as PNG files into DIR. Where there is no display, scopes "
        "are written anyway, into out/ and the diagram's name.",
    )
    page: Path | None = option(
        "--animate PAGE.html",
        "Show the motion of the robots as one HTML file; see spart animate.",
    )
    recording: Path | None = option(
        "--record FILE.mcap",
        "Record the signals and the robots as an MCAP file, for Foxglove, Lichtblick, PlotJuggler "
        "and Rerun.",
    )
    headless: bool = HEADLESS

    def checked(self, quiet: bool) -> tuple[Outputs, Motion]:
        """The requested outputs, and the files with the motion of the robots. Raises InputError for
        files that could not be written."""
        files = checked_files(self.out)
        page = None if self.page is None else checked_page(self.page, "--animate", quiet)
        recording = checked_recording(self.recording)
        check_folder(self.plots)
        outputs = Outputs(files, self.plots, has_display() and not self.headless)
        return outputs, Motion(page, recording)


@dataclass(frozen=True)
class Motion:
    """Files with the motion of a run's robots: a page and a recording."""

    page: Path | None
    recording: Path | None

    def writers(
        self, results: Results, read: SomeFile | None, quiet: bool
    ) -> Iterator[Callable[[], Path]]:
        """Functions that write them. read: the file of the diagram, None if the results know it."""
        if self.page is not None and read is not None:
            yield partial(write_page, results, read, self.page, quiet)
        if self.recording is not None:
            yield partial(write_recording, results, read, self.recording)


@dataclass(frozen=True)
class Replay:
    """Options: the run of a sweep to replay."""

    sweep: Path | None = option(
        "--from-sweep DIR",
        "Replay a run of the sweep in this folder exactly; FILE is in it. With --run.",
    )
    number: int | None = option("--run N", "The number of the run to replay.", min=0)


@command(
    "spart run diagrams/spacecraft_pd.yaml",
    "spart run diagrams/spacecraft_pd.yaml --set 'kp=[60,60,20]' --t 5 --out run.npz",
    "spart run diagrams/spacecraft_pd.yaml --initial run.npz --t 10 --headless",
    "spart run diagrams/spacecraft_pd.yaml --t 36000 --stream rows.zarr",
    "spart run diagrams/spacecraft_pd.yaml --record run.mcap",
    "spart run --from-sweep out/study-sweep --run 1234 --out run.npz",
)
def run(
    *,
    file: Path | None = OPTIONAL_FILE,
    engine: Engine = ENGINE,
    end: float | None = END,
    shown: RunOutputs,
    initial: Path | None = option("--initial RUN.NPZ", "Continue from the end of this saved run."),
    stream: Path | None = STREAM,
    replay: Replay,
    loading: Loading,
    quiet: bool = QUIET,
    verbose: bool = switch("--verbose -v", "Also print the versions of the packages."),
) -> int:
    """Run a diagram: print a summary, show its scopes, save its results.

    Ctrl-C, SIGTERM or closing the terminal ends the run early: the results so far are shown and
    saved, and the exit code is 1.
    """
    outputs, motion = shown.checked(quiet)
    if replay != Replay(None, None):
        given = (end, initial, motion.page, stream, *astuple(loading))
        return _replayed(file, replay, given, outputs, motion, quiet)
    if file is None:
        raise InputError("name a diagram: spart run FILE; or a sweep: --from-sweep DIR --run N")
    if stream is not None:
        from spart_blocks.run.record.streams import checked_stream

        stream = checked_stream(stream, "--stream")
    read = diagram_file(file, loading, quiet)
    run = begun(read, engine, end, initial, stream)
    results, failure = finished_run(run, initial, quiet)
    writers = motion.writers(results, read, quiet)
    there = [] if stream is None else [stream]
    return _finished(results, failure, outputs, quiet, verbose, writers, there)


def _replayed(
    file: Path | None,
    replay: Replay,
    given: Iterable[object],
    outputs: Outputs,
    motion: Motion,
    quiet: bool,
) -> int:
    """Replay a run of a sweep, and print whether it equals the stored one; returns the exit
    code."""
    folder, number = replay.sweep, replay.number
    if folder is None or number is None:
        raise InputError("--from-sweep DIR and --run N go together")
    hint = "leave out --set, --variant, --blocks, --root, --t, --initial, --stream and --animate"
    refuse_given(given, "a run of a sweep is replayed as it was", hint)
    from spart_blocks.sweeps.replay import replayed
    from spart_blocks.sweeps.results import SweepResults

    say(f"replaying run {number} of {folder}", unless=quiet)
    found = SweepResults.load(folder)
    again = replayed(found.of_file(file) if file else found, number)
    listed = ", ".join(f"{path} = {value}" for path, value in again.case.items())
    say(f"{again.label}{': ' if listed else ''}{listed}", unless=quiet)
    failure = None if again.failure is None else RunError(again.failure)
    writers = motion.writers(again.results, None, quiet)
    code = _finished(again.results, failure, outputs, quiet, verbose=False, writers=writers)
    if again.reasons:
        say("\n  ".join([f"run {number} did not pass:", *again.reasons]), unless=quiet)
    if again.differences:
        complain(again.message)
        return FAILED
    say(again.message, unless=quiet)
    return code


def begun(
    read: SomeFile,
    engine: Engine,
    end: float | None,
    initial: Path | None,
    stream: Path | None = None,
) -> Run:
    """A run of a file at its start. initial: a saved run; the new one continues from its end.
    stream: as `simulate` takes it."""
    from spart_blocks.run import begin

    options: dict[str, Any] = {} if end is None else {"T": end}
    return begin(read, engine=engine, initial=initial, stream=stream, **options)


def finished_run(run: Run, initial: Path | None, quiet: bool) -> tuple[Results, RunError | None]:
    """Perform a run: its results, and the error if it failed. A failure without results is
    raised."""
    from spart_blocks.run import finish

    start = f" from where {initial} ended" if initial else ""
    say(f"running {run.engine.title}{start} to t = {run.options.T:g} s", unless=quiet)
    try:
        with ProgressBar(wanted=not quiet) as progress:
            run.progress = progress
            results = finish(run)
    except RunError as error:
        if error.results is None or not len(error.results.t):
            raise
        return error.results, error
    return results, None


def _finished(
    results: Results,
    failure: RunError | None,
    outputs: Outputs,
    quiet: bool,
    verbose: bool,
    writers: Iterable[Callable[[], Path]] = (),
    there: Sequence[Path] = (),
) -> int:
    """Save, print and show the results; returns the exit code. writers: of files with the motion.
    there: what the run itself has written."""
    some = len(results.t) > 0
    if not quiet:  # before the pictures, which take longer than the rest of a short run
        typer.echo(results.summary(verbose))
    written = outputs.write(results) if some else Written()
    written.paths[:0] = there
    for write in writers if some else ():
        attempt(written, lambda write=write: [write()])  # type: ignore[misc]
    if not quiet:
        list_files(written, results, outputs)
    complain_of(written)
    tell_incomplete(results, failure)
    complete = failure is None and results.complete
    if not complete:
        say(f"  {_what_is_kept(results, outputs, written)}")
    if outputs.windows and results.scopes and some:
        show(results, outputs, written, quiet)
    return 0 if complete and not written.problems else FAILED


def tell_incomplete(results: Results, failure: RunError | None) -> None:
    """Print why a run ended before its end time, if it did."""
    if failure is not None:
        report(failure)
    elif not results.complete:
        complain(f"the run was {results.stopped or 'stopped early'}")


def _what_is_kept(results: Results, outputs: Outputs, written: Written) -> str:
    if not len(results.t):
        return "it had computed nothing yet, so nothing is saved"
    until = f"what was computed up to t = {results.t[-1]:.6g} s"
    kept = [str(path) for path in outputs.files if path in written.paths]
    if not kept and written.elsewhere is not None:
        kept = [str(written.elsewhere)]
    if kept:
        return f"{until} is saved in {', '.join(kept)}"
    if outputs.files:
        return f"{until} could not be saved"
    return f"{until} is not saved; give --out FILE to save it"
