"""`spart compare`: run variants of a diagram side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.cli.help_texts import with_examples
from spart_blocks.cli.options import (
    Blocks,
    EndTime,
    Quiet,
    Root,
    Settings,
    diagram_file,
)
from spart_blocks.cli.outputs import (
    Outputs,
    check_files,
    check_folder,
    complain_of,
    list_files,
    show,
)
from spart_blocks.cli.progress import ProgressBar
from spart_blocks.cli.reporting import FAILED, Debug, report, reporting
from spart_blocks.cli.terminal import has_display, put, say

if TYPE_CHECKING:
    from rich.table import Table

    from spart_blocks import run as simulation
    from spart_blocks.analysis.comparison import Comparison, Page


@with_examples(
    "spart compare diagrams/spacecraft_controllers.yaml --variant controller=pd,lqr",
    "spart compare diagrams/spacecraft_pd.yaml --case 'soft:kp=[20,20,5]' "
    "--case 'stiff:kp=[160,160,40]'",
    "spart compare out/study-sweep out/other-sweep --plots out/compared",
)
def compare(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A diagram: a YAML file. Or the folder of a sweep.",
            show_default=False,
        ),
    ],
    other: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            help="The folder of another sweep, to compare two.",
            show_default=False,
        ),
    ] = None,
    variants: Annotated[
        list[str] | None,
        typer.Option(
            "--variant",
            metavar="SLOT=A,B,...",
            help="Choices of a slot to compare. May be repeated: several slots give every "
            "combination. By default every choice of every slot.",
        ),
    ] = None,
    cases: Annotated[
        list[str] | None,
        typer.Option(
            "--case",
            metavar="NAME:PATH=VALUE",
            help="A named case with a replaced value, like --set. May be repeated, also "
            "with the same name.",
        ),
    ] = None,
    settings: Settings = None,
    end: EndTime = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Save the table: .csv.")
    ] = None,
    plots: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write the plots as PNG files into DIR. Where there is no display, scopes "
            "are written anyway, into out/NAME-compare.",
        ),
    ] = None,
    headless: Annotated[
        bool, typer.Option("--headless", help="Open no windows, as without a display.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            metavar="N",
            help="Number of parallel runs; by default one per processor.",
            show_default=False,
        ),
    ] = None,
    root: Root = None,
    blocks: Blocks = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run variants of a diagram in parallel, print a table of metrics, overlay the scopes. If a
    case fails, the others are still shown, and the exit code is 1. Ctrl-C ends all runs and shows
    the completed ones. Of two folders of sweeps, compare success and metrics, draw by draw where
    both have the same draws.
    """
    with reporting(debug):
        files = (out.expanduser(),) if out else ()
        check_files(files, (".csv",))
        if plots is not None:
            check_folder(plots)
        outputs = Outputs(files, plots, has_display() and not headless, "-compare")
        _refuse_unlike(file, other)
        if other is not None:
            _refuse_for_sweeps(variants, cases, settings, end, jobs, root, blocks)
            code = _compared_sweeps((file, other), outputs, quiet)
            if code:
                raise typer.Exit(code)
            return
        choices, sets = _choices(variants or []), _sets(cases or [])
        read = diagram_file(file, settings, root, None, blocks, quiet)
        found = _compared(read, {} if end is None else {"T": end}, choices, sets, jobs, quiet)
        code = _finished(found, outputs, quiet, debug)
        if code:
            raise typer.Exit(code)


def _refuse_unlike(file: Path, other: Path | None) -> None:
    """Refuse one sweep, a sweep and a file, and two files."""
    from spart_blocks.sweeps.storage.store import holds_sweep

    if other is None:
        if holds_sweep(file):
            hint = f"name the folder of another: spart compare {file} DIR"
            raise InputError(Fault(f"{file} is one sweep; two are compared", hint=hint))
        return
    files = [path for path in (file, other) if path.is_file()]
    if len(files) == 2:
        text = f"{file} and {other} are files; two sweeps are compared, or variants of one diagram"
        raise InputError(Fault(text, hint=f"spart compare {file} --case NAME:PATH=VALUE"))
    if files:
        sweep = other if files[0] == file else file
        text = f"{files[0]} is a file, no folder of a sweep; two sweeps are compared"
        hint = f"spart sweep {files[0]} --out DIR; spart compare {sweep} DIR"
        raise InputError(Fault(text, hint=hint))


def _refuse_for_sweeps(*given: object) -> None:
    """Refuse options that say what to run; the runs of sweeps are done."""
    if any(one is not None for one in given):
        hint = "leave out --variant, --case, --set, --t, --jobs, --root and --blocks"
        raise InputError(Fault("two sweeps are compared as they are", hint=hint))


def _compared_sweeps(folders: tuple[Path, Path], outputs: Outputs, quiet: bool) -> int:
    """Compare two sweeps, print and save; returns the exit code."""
    from spart_blocks.sweeps.results import SweepResults

    first, second = (SweepResults.load(folder) for folder in folders)
    names = (str(folders[0]), str(folders[1]))
    if folders[0].name != folders[1].name:
        names = (folders[0].name, folders[1].name)
    found = first.compare(second, names)
    written = outputs.write(found)
    if not quiet:
        typer.echo(str(found))
        list_files(written, found, outputs)
    complain_of(written)
    if outputs.windows and found.scopes:
        show(found, outputs, written, quiet)
    return FAILED if written.problems else 0


def _choices(given: list[str]) -> dict[str, list[str]]:
    """`slot=a,b` texts as choices by slot."""
    choices: dict[str, list[str]] = {}
    for text in given:
        slot, equals, listed = text.partition("=")
        found = [choice.strip() for choice in listed.split(",") if choice.strip()]
        if not equals or not slot.strip() or not found:
            hint = "write slot=a,b, for instance controller=pd,lqr"
            raise InputError(Fault(f"--variant {text}: no slot or no choices", hint=hint))
        choices.setdefault(slot.strip(), []).extend(found)
    return choices


def _sets(given: list[str]) -> dict[str, list[str]]:
    """`name:path=value` texts as overrides by name; `name:` alone is the unchanged file."""
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
    jobs: int | None,
    quiet: bool,
) -> Comparison:
    from spart_blocks.analysis.compare import Source, cases_for, compare_cases

    source = Source(file, options)
    cases = cases_for(source, choices, sets)
    if not quiet:
        say(f"running {', '.join(case.label for case in cases)}")
    with ProgressBar(wanted=not quiet) as progress:
        return compare_cases(source, cases, jobs, progress)


def _finished(found: Comparison, outputs: Outputs, quiet: bool, debug: bool) -> int:
    """Save, print and show the results; returns the exit code."""
    code = 0
    if found.results:
        written = outputs.write(found)
        if not quiet:
            put(*_tables(found))
            list_files(written, found, outputs)
        complain_of(written)
        if outputs.windows and found.scopes:
            show(found, outputs, written, quiet)
        code = FAILED if written.problems else 0
    for error in found.failures.values():
        code = max(code, report(error))
        if debug:
            say("\n".join(getattr(error, "__notes__", ())))
    return code


def _tables(found: Comparison) -> list[Table | str]:
    shown: list[Table | str] = []
    for page in found.pages():
        shown += [page.title, _table(page), ""]
    return shown + [f"note: {note}" for note in found.notes]


def _table(page: Page) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, column in enumerate(page.columns):
        table.add_column(column, justify="left" if number < 2 else "right")
    for row in page.rows:
        table.add_row(*row)
    return table
