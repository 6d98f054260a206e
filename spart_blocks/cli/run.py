"""`spart run`: run a diagram, print a summary, save results."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spart_blocks.base.errors import Fault, InputError, RunError
from spart_blocks.cli.animation_page import PAGES, write_page
from spart_blocks.cli.help_texts import with_examples
from spart_blocks.cli.options import (
    Blocks,
    EndTime,
    OptionalFile,
    Quiet,
    Root,
    Settings,
    Variants,
    diagram_file,
)
from spart_blocks.cli.outputs import (
    Outputs,
    Written,
    attempt,
    check_files,
    check_folder,
    complain_of,
    list_files,
    show,
)
from spart_blocks.cli.progress import ProgressBar
from spart_blocks.cli.reporting import FAILED, Debug, report, reporting
from spart_blocks.cli.terminal import complain, has_display, say

if TYPE_CHECKING:
    from spart_blocks.results import Results
    from spart_blocks.run import DiagramFile as SomeFile
    from spart_blocks.run.loop import Run


class Engine(StrEnum):
    """What runs the diagram."""

    auto = "auto"
    native = "native"
    interpreter = "interpreter"


@with_examples(
    "spart run diagrams/spacecraft_pd.yaml",
    "spart run diagrams/spacecraft_pd.yaml --set 'kp=[60,60,20]' --t 5 --out run.npz",
    "spart run diagrams/spacecraft_pd.yaml --initial run.npz --t 10 --headless",
    "spart run --from-sweep out/study-sweep --run 1234 --out run.npz",
)
def run(
    file: OptionalFile = None,
    settings: Settings = None,
    engine: Annotated[Engine, typer.Option(help="What runs the diagram.")] = Engine.auto,
    end: EndTime = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="Save the results: .npz (everything), .csv or .mat. May be repeated.",
        ),
    ] = None,
    plots: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the plots as PNG files into DIR. Where there is no display, scopes "
            "are written anyway, into out/ and the diagram's name.",
        ),
    ] = None,
    page: Annotated[
        Path | None,
        typer.Option(
            "--animate",
            metavar="PAGE.html",
            help="Show the motion of the robots as one HTML file; see spart animate.",
        ),
    ] = None,
    headless: Annotated[
        bool, typer.Option("--headless", help="Open no windows, as without a display.")
    ] = False,
    initial: Annotated[
        Path | None,
        typer.Option(metavar="RUN.NPZ", help="Continue from the end of this saved run."),
    ] = None,
    sweep: Annotated[
        Path | None,
        typer.Option(
            "--from-sweep",
            metavar="DIR",
            help="Replay a run of the sweep in this folder exactly; FILE is in it. With --run.",
        ),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("--run", min=0, metavar="N", help="The number of the run to replay."),
    ] = None,
    variants: Variants = None,
    blocks: Blocks = None,
    root: Root = None,
    quiet: Quiet = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Also print the versions of the packages."),
    ] = False,
    debug: Debug = False,
) -> None:
    """Run a diagram: print a summary, show its scopes, save its results.

    Ctrl-C, SIGTERM or closing the terminal ends the run early: the results so far are shown and
    saved, and the exit code is 1.
    """
    with reporting(debug):
        files = tuple(path.expanduser() for path in out or ())
        check_files(files)
        if page is not None:
            page = page.expanduser()
            check_files([page], PAGES, "--animate")
        if plots is not None:
            check_folder(plots)
        outputs = Outputs(files, plots, has_display() and not headless)
        if sweep is not None or number is not None:
            given = (settings, variants, blocks, root, end, initial, page)
            _replay(file, sweep, number, any(one is not None for one in given), outputs, quiet)
            return
        if file is None:
            raise InputError("name a diagram: spart run FILE; or a sweep: --from-sweep DIR --run N")
        read = diagram_file(file, settings, root, variants, blocks, quiet)
        run = begun(read, engine, end, initial)
        results, failure = finished_run(run, initial, quiet)
        show_motion = None if page is None else partial(write_page, results, read, page, quiet)
        if not _finished(results, failure, outputs, quiet, verbose, show_motion):
            raise typer.Exit(FAILED)


def _replay(
    file: Path | None,
    folder: Path | None,
    number: int | None,
    changed: bool,
    outputs: Outputs,
    quiet: bool,
) -> None:
    """Replay a run of a sweep, and say whether it is the stored one."""
    if folder is None or number is None:
        raise InputError("--from-sweep DIR and --run N go together")
    if changed:
        hint = "leave out --set, --variant, --blocks, --root, --t, --initial and --animate"
        raise InputError(Fault("a run of a sweep is replayed as it was", hint=hint))
    from spart_blocks.sweeps.replay import replayed
    from spart_blocks.sweeps.results import SweepResults

    if not quiet:
        say(f"replaying run {number} of {folder}")
    found = SweepResults.load(folder)
    replay = replayed(found.of_file(file) if file else found, number)
    if not quiet:
        listed = ", ".join(f"{path} = {value}" for path, value in replay.case.items())
        say(f"{replay.label}{': ' if listed else ''}{listed}")
    failure = None if replay.failure is None else RunError(replay.failure)
    finished = _finished(replay.results, failure, outputs, quiet, verbose=False)
    if replay.reasons and not quiet:
        say("\n  ".join([f"run {number} did not pass:", *replay.reasons]))
    if replay.differences:
        complain(replay.said)
    elif not quiet:
        say(replay.said)
    if replay.differences or not finished:
        raise typer.Exit(FAILED)


def begun(read: SomeFile, engine: Engine, end: float | None, initial: Path | None) -> Run:
    """A run of a file at its start. initial: the saved run from whose end it continues."""
    from spart_blocks.run import begin

    options: dict[str, Any] = {} if end is None else {"T": end}
    return begin(read, engine=engine.value, initial=initial, **options)


def finished_run(run: Run, initial: Path | None, quiet: bool) -> tuple[Results, RunError | None]:
    """The results, and the error if the run failed; a failure without results is raised."""
    from spart_blocks.run import finish

    if not quiet:
        start = f" from where {initial} ended" if initial else ""
        say(f"running {run.engine.title}{start} to t = {run.options.T:g} s")
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
    show_motion: Callable[[], Path] | None = None,
) -> bool:
    """Save, print and show the results; returns whether all succeeded. show_motion: writes the page
    of an animation."""
    some = len(results.t) > 0
    written = outputs.write(results) if some else Written()
    if show_motion is not None and some:
        attempt(written, lambda: [show_motion()])
    if not quiet:
        typer.echo(results.summary(verbose))
        list_files(written, results, outputs)
    complain_of(written)
    if failure is not None:
        report(failure)
    elif not results.complete:
        complain(f"the run was {results.stopped or 'stopped early'}")
    complete = failure is None and results.complete
    if not complete:
        say(f"  {_what_is_kept(results, outputs, written)}")
    if outputs.windows and results.scopes and some:
        show(results, outputs, written, quiet)
    return complete and not written.problems


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
