"""Outputs of a run: files, whose paths are checked before the run, plots, windows, pages."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.web_build import VIEWER, built
from spart_blocks.cli.ending import writing
from spart_blocks.cli.terminal import ProgressBar, complain, say

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spart_blocks.results import Results
    from spart_blocks.run import DiagramFile

SUFFIXES = (".npz", ".csv", ".mat")
REPORT = "--report"


def checked_files(
    files: Sequence[Path] | None, suffixes: Sequence[str] = SUFFIXES, option: str = "--out"
) -> tuple[Path, ...]:
    """The files that an option names, with `~` expanded. Raises InputError, before the run, for
    those that could not be written after it. The folders of reports are made."""
    paths = tuple(path.expanduser() for path in files or ())
    if option == REPORT:
        for folder in {path.parent for path in paths if path.suffix.lower() in suffixes}:
            with suppress(OSError):  # what is wrong is told below
                folder.mkdir(parents=True, exist_ok=True)
    faults = [fault for path in paths if (fault := _file_fault(path, suffixes, option)) is not None]
    if faults:
        raise InputError(faults)
    return paths


def checked_file(file: Path | None, suffixes: Sequence[str], option: str = "--out") -> Path | None:
    """The file that an option names, as `checked_files`; None if it is not given."""
    return None if file is None else checked_files([file], suffixes, option)[0]


def _file_fault(path: Path, suffixes: Sequence[str], option: str) -> Fault | None:
    folder = path.parent
    if path.is_dir():
        return Fault(
            f"{option} {path} is a folder", hint=f"name a file, as {path / ('run' + suffixes[0])}"
        )
    if os.path.exists(path) and not os.path.isfile(path):
        return Fault(f"{option} {path} is a device or a pipe", hint="name a file")
    if path.suffix.lower() not in suffixes:
        return Fault(
            f"{option} {path}: the file type is not known", hint=f"end it in {_or(suffixes)}"
        )
    if not folder.is_dir():
        return Fault(
            f"{option} {path}: there is no folder {folder}", hint=f"make it: mkdir -p {folder}"
        )
    if not os.access(folder, os.W_OK):
        return Fault(f"{option} {path}: you may not write into the folder {folder}")
    return None


def _or(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]


def check_folder(folder: Path | None) -> None:
    """Raise InputError, before the run, for a folder for plots that cannot be created or written
    to."""
    if folder is None:
        return
    wanted = folder.expanduser().absolute()
    nearest = next(place for place in (wanted, *wanted.parents) if place.exists())
    if not nearest.is_dir():
        raise InputError(f"--plots {folder}: {nearest} is not a folder")
    if not os.access(nearest, os.W_OK):
        raise InputError(f"--plots {folder}: you may not write into the folder {nearest}")


def default_name(name: str) -> str:
    """A diagram's name, changed to be safe for a file or folder."""
    from spart_blocks.results.signal_names import file_name

    return file_name(name, "diagram")


def default_folder() -> Path:
    """The default folder for outputs, out/. It is created if missing."""
    folder = Path("out")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from error
    return folder


class Shown(Protocol):
    """Interface of objects to save and show: the results of a run, or a comparison."""

    @property
    def diagram_name(self) -> str: ...

    @property
    def scopes(self) -> Sequence[Any]: ...

    def save(self, path: str | Path) -> Path: ...

    def save_plots(self, folder: str | Path) -> list[Path]: ...

    def plot(self) -> list[Figure]: ...


@dataclass
class Written:
    """The files that were written, and the errors of the others. elsewhere: path of the results if
    none of the files of --out could be written."""

    paths: list[Path] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    elsewhere: Path | None = None


@dataclass(frozen=True)
class Outputs:
    """The requested outputs. files: of --out; plots: folder of --plots; windows: whether scopes are
    shown; suffix: of the default folder for plots, out/NAME."""

    files: tuple[Path, ...]
    plots: Path | None
    windows: bool
    suffix: str = ""

    def write(self, results: Shown) -> Written:
        """Write every file. Errors and Ctrl-C do not prevent the writing of the others. If no file
        of --out could be written, the results go to a temporary folder."""
        written = Written()
        with writing():
            for file in self.files:
                attempt(written, lambda file=file: [results.save(file)])  # type: ignore[misc]
            if self.files and not written.paths:
                written.elsewhere = _saved_elsewhere(results, self.files[0].suffix)
            if self.plots or (results.scopes and not self.windows):
                self.write_plots(results, written)
        return written

    def write_plots(self, results: Shown, written: Written) -> None:
        """Write the scopes as PNG files, by default into out/NAME."""
        name = f"{default_name(results.diagram_name)}{self.suffix}"
        folder = self.plots or Path("out") / name
        import_matplotlib()
        attempt(written, lambda: results.save_plots(folder))


def import_matplotlib() -> None:
    """Import Matplotlib without writing the docstrings of artists' properties: those of every
    artist's `set`, and the lists of properties in those of functions. They take a third of the
    import time of Matplotlib 3.11, and commands do not need them."""
    if "matplotlib.artist" in sys.modules:
        return
    from matplotlib import artist

    writer = "_update_set_signature_and_docstring"
    if hasattr(artist.Artist, writer):
        setattr(artist.Artist, writer, classmethod(lambda cls: None))
    artist.kwdoc = lambda artist: ""


def attempt(written: Written, write: Callable[[], list[Path]]) -> None:
    """Write something, and record the paths or the error."""
    try:
        written.paths += write()
    except (InputError, OSError, MemoryError) as error:
        written.problems.append(str(error) or type(error).__name__)


def _saved_elsewhere(results: Shown, suffix: str) -> Path | None:
    """Save results that could not be saved to --out in a temporary folder; None if this fails
    too."""
    with suppress(InputError, OSError, MemoryError):
        folder = Path(tempfile.mkdtemp(prefix="spart-results-"))
        try:
            return results.save(folder / f"{default_name(results.diagram_name)}{suffix}")
        except BaseException:
            folder.rmdir()
            raise
    return None


def list_files(written: Written, results: Shown, outputs: Outputs) -> None:
    """Print which files were written."""
    if written.paths:
        typer.echo("files written:")
    for path in written.paths:
        typer.echo(f"  {path}")
    if not results.scopes and not outputs.plots:
        say("the diagram has no scopes, so nothing is plotted; --plots DIR plots what was kept")


def complain_of(written: Written) -> None:
    """Print the errors of files that could not be written, and where the results are instead."""
    for problem in written.problems:
        complain(problem)
    if written.elsewhere is not None:
        say(f"  the results are in {written.elsewhere}")


def show(results: Shown, outputs: Outputs, written: Written, quiet: bool) -> None:
    """Show the scopes in windows; if no window can be opened, write them as PNG files."""
    from spart_blocks.results import show_windows

    say("opening the scopes; close their windows to end", unless=quiet)
    try:
        shown = show_windows(results.plot())
    except KeyboardInterrupt:
        return
    if not shown and not outputs.plots:
        late = Written()
        outputs.write_plots(results, late)
        if not quiet:
            say("no window can be opened here, so the scopes are written as files")
            list_files(late, results, outputs)
        complain_of(late)
        written.problems += late.problems


# --- pages with animations ------------------------------------------------------------------------


PAGES = (".html",)


def checked_page(file: Path | None, option: str = "--out", quiet: bool = False) -> Path | None:
    """The page that an option names, as `checked_file`. The viewer in it is built now if need be,
    so that no run is lost for want of it."""
    path = checked_file(file, PAGES, option)
    built(VIEWER, None if quiet else say)
    return path


def write_page(
    results: Results,
    read: DiagramFile,
    out: Path | None,
    quiet: bool = False,
    triangles: int | None = None,
) -> Path:
    """Write the page of a run, by default into out/; returns its path. triangles: number of
    triangles of all meshes."""
    from spart_blocks.animation.animate import run_page
    from spart_blocks.animation.animate import write_page as write
    from spart_blocks.animation.meshes import DETAIL
    from spart_blocks.animation.recording import Options

    with writing(), ProgressBar(wanted=not quiet) as progress:
        last = float(results.t[-1]) if len(results.t) else 0.0
        given = Options(
            root=read.root, detail=triangles or DETAIL, looked=lambda _, t: progress(t, last)
        )
        page = run_page(results, read.load(), given, None if quiet else say)
        path = out or default_folder() / f"{default_name(results.diagram_name)}.html"
        write(path, page)
    return path


# --- recordings -----------------------------------------------------------------------------------


RECORDINGS = (".mcap",)


def checked_recording(file: Path | None) -> Path | None:
    """The recording that an option names, as `checked_file`. Raises MissingExtraError without the
    packages that write it, so that no run is lost for want of them."""
    path = checked_file(file, RECORDINGS, "--record")
    if path is not None:
        from spart_blocks.recordings.record import checked_recording as checked

        checked(path)
    return path


def write_recording(results: Results, read: DiagramFile | None, path: Path) -> Path:
    """Write the recording of a run; returns its path. read: the file of its diagram, None if the
    results know it."""
    from spart_blocks.recordings.record import record

    with writing():
        diagram, root = (None, None) if read is None else (read.load(), read.root)
        return record(results, path, diagram, root=root)


def page_and_size(path: Path) -> str:
    """A page's path and size, as text."""
    return f"{path}  ({path.stat().st_size / 1000:.0f} kB)"
