"""`spart compare`: run variants of a diagram side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.cli.commands import (
    BLOCKS,
    END,
    HEADLESS,
    QUIET,
    ROOT,
    SETTINGS,
    Loading,
    Texts,
    argument,
    check_diagram,
    choices_of,
    command,
    diagram_file,
    option,
    refuse_given,
)
from spart_blocks.cli.outputs import (
    Outputs,
    Shown,
    check_folder,
    checked_files,
    complain_of,
    list_files,
    show,
)
from spart_blocks.cli.terminal import (
    FAILED,
    ProgressBar,
    has_display,
    headed_table,
    put,
    report,
    say,
)

if TYPE_CHECKING:
    from rich.table import Table

    from spart_blocks import run as simulation
    from spart_blocks.analysis.comparison import Comparison


@dataclass(frozen=True)
class Cases:
    """Options: the variants of a diagram to compare."""

    variants: Texts = option(
        "--variant SLOT=A,B,...",
        "Choices of a slot to compare. May be repeated: several slots give every "
        "combination. By default every choice of every slot.",
    )
    cases: Texts = option(
        "--case NAME:PATH=VALUE",
        "A named case with a replaced value, like --set. May be repeated, also with the same name.",
    )


@command(
    "spart compare diagrams/spacecraft_controllers.yaml --variant controller=pd,lqr",
    "spart compare diagrams/spacecraft_pd.yaml --case 'soft:kp=[20,20,5]' "
    "--case 'stiff:kp=[160,160,40]'",
    "spart compare before.yaml after.yaml",
    "spart compare out/study-sweep out/other-sweep --plots out/compared",
)
def compare(
    *,
    file: Path = argument("FILE", "A diagram: a YAML file. Or the folder of a sweep."),
    other: Path | None = argument(
        "[OTHER]", "Another diagram, or the folder of another sweep, to compare two.", None
    ),
    cases: Cases,
    settings: Texts = SETTINGS,
    end: float | None = END,
    out: Path | None = option("--out -o FILE", "Save the table: .csv."),
    plots: Path | None = option(
        "--plots DIR",
        "Write the plots as PNG files into DIR. Where there is no display, scopes "
        "are written anyway, into out/NAME-compare.",
    ),
    headless: bool = HEADLESS,
    jobs: int | None = option(
        "--jobs -j N", "Number of parallel runs; by default one per processor.", min=1
    ),
    root: Path | None = ROOT,
    blocks: Texts = BLOCKS,
    quiet: bool = QUIET,
    debug: bool,
) -> int:
    """Run variants of a diagram, or two diagrams, in parallel, print a table of metrics, overlay
    the scopes. If a case fails, the others are still shown, and the exit code is 1. Ctrl-C ends all
    runs and shows the completed ones. Of two folders of sweeps, compare success and metrics, draw
    by draw where both have the same draws.
    """
    tables = checked_files([out] if out else None, (".csv",))
    check_folder(plots)
    outputs = Outputs(tables, plots, has_display() and not headless, "-compare")
    _refuse_unlike(file, other)
    if other is not None and not other.is_file():
        given = (cases.variants, cases.cases, settings, end, jobs, root, blocks)
        hint = "leave out --variant, --case, --set, --t, --jobs, --root and --blocks"
        refuse_given(given, "two sweeps are compared as they are", hint)
        return _compared_sweeps((file, other), outputs, quiet)
    choices, sets = choices_of(cases.variants), _sets(cases.cases or [])
    read = diagram_file(file, Loading(settings, None, blocks, root), quiet)
    files = [] if other is None else [file, other]
    found = _compared(read, {} if end is None else {"T": end}, choices, sets, files, jobs, quiet)
    return _finished(found, outputs, quiet, debug)


def _refuse_unlike(file: Path, other: Path | None) -> None:
    """Raise InputError for a single sweep, or for a sweep and a file."""
    from spart_blocks.sweeps.storage.store import holds_sweep

    if other is None:
        if holds_sweep(file):
            hint = f"name the folder of another: spart compare {file} DIR"
            raise InputError(Fault(f"{file} is one sweep; two are compared", hint=hint))
        return
    files = [path for path in (file, other) if path.is_file()]
    if len(files) == 1:
        if not other.exists():
            check_diagram(other)
        sweep = other if files[0] == file else file
        text = f"{files[0]} is a file, no folder of a sweep; two sweeps are compared"
        hint = f"spart sweep {files[0]} --out DIR; spart compare {sweep} DIR"
        raise InputError(Fault(text, hint=hint))


def _compared_sweeps(folders: tuple[Path, Path], outputs: Outputs, quiet: bool) -> int:
    """Compare two sweeps, print and save; returns the exit code."""
    from spart_blocks.sweeps.results import SweepResults

    first, second = (SweepResults.load(folder) for folder in folders)
    names = (str(folders[0]), str(folders[1]))
    if folders[0].name != folders[1].name:
        names = (folders[0].name, folders[1].name)
    found = first.compare(second, names)
    return _presented(found, outputs, quiet, lambda: typer.echo(str(found)))


def _presented(found: Shown, outputs: Outputs, quiet: bool, tell: Callable[[], None]) -> int:
    """Save, print and show a comparison; returns the exit code. tell: prints it."""
    written = outputs.write(found)
    if not quiet:
        tell()
        list_files(written, found, outputs)
    complain_of(written)
    if outputs.windows and found.scopes:
        show(found, outputs, written, quiet)
    return FAILED if written.problems else 0


def _sets(given: list[str]) -> dict[str, list[str]]:
    """The overrides by case, from texts `name:path=value`; `name:` alone is the unchanged file."""
    sets: dict[str, list[str]] = {}
    for text in given:
        name, colon, override = text.partition(":")
        if not colon or not name.strip() or "=" in name:
            hint = "write name:path=value, for instance soft:kp=10"
            raise InputError(Fault(f"--case {text}: it has no name", hint=hint))
        found = sets.setdefault(name.strip(), [])
        if override.strip():
            found.append(override.strip())
    return sets


def _compared(
    file: simulation.DiagramFile,
    options: dict[str, Any],
    choices: dict[str, list[str]],
    sets: dict[str, list[str]],
    files: list[Path],
    jobs: int | None,
    quiet: bool,
) -> Comparison:
    from spart_blocks.analysis.compare import CaseSource, cases_for, compare_cases

    source = CaseSource(file, options)
    cases = cases_for(source, choices, sets, files)
    say(f"running {', '.join(case.label for case in cases)}", unless=quiet)
    with ProgressBar(wanted=not quiet) as progress:
        return compare_cases(source, cases, jobs, progress)


def _finished(found: Comparison, outputs: Outputs, quiet: bool, debug: bool) -> int:
    """Save, print and show the results; returns the exit code."""
    code = 0
    if found.results:
        code = _presented(found, outputs, quiet, lambda: put(*_tables(found)))
    for error in found.failures.values():
        code = max(code, report(error))
        if debug:
            say("\n".join(getattr(error, "__notes__", ())))
    return code


def _tables(found: Comparison) -> list[Table | str]:
    shown: list[Table | str] = []
    for page in found.pages():
        shown += [page.title, headed_table(page.columns, page.rows, left=2), ""]
    return shown + [f"note: {note}" for note in found.notes]
