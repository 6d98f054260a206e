"""Arguments and options shared by several commands."""

from __future__ import annotations

import os
from contextlib import suppress
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spart_blocks.base.errors import Fault, InputError, Place
from spart_blocks.cli.terminal import say

if TYPE_CHECKING:
    from spart_blocks import run as simulation

DiagramFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A diagram: a YAML file.", show_default=False)
]
OptionalFile = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="A diagram: a YAML file.", show_default=False)
]
Root = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        exists=True,
        file_okay=False,
        help="The folder that paths in the diagram may not leave; by default the project's folder.",
        show_default=False,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Replace a value of the file: params.kp=3, ctrl.kd=[1,2], run.rtol=1e-8. "
        "May be repeated.",
    ),
]
Variants = Annotated[
    list[str] | None,
    typer.Option(
        "--variant",
        metavar="SLOT=CHOICE",
        help="Select a choice for one of the file's variants. May be repeated.",
    ),
]
Blocks = Annotated[
    list[str] | None,
    typer.Option(
        "--blocks",
        metavar="PACKAGE",
        help="Import blocks of your own: a module, a package, or a .py file; or allow an .fmu "
        "file that the diagram names. May be repeated.",
    ),
]
EndTime = Annotated[
    float | None,
    typer.Option("--t", "-t", metavar="SECONDS", help="End time, instead of run.T."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]


class Precision(StrEnum):
    """Of numbers."""

    double = "double"
    float = "float"


def diagram_file(
    file: Path,
    settings: list[str] | None,
    root: Path | None,
    variants: list[str] | None,
    blocks: list[str] | None,
    quiet: bool = False,
) -> simulation.DiagramFile:
    """The file with these options applied; prints that it is being loaded."""
    if not quiet:
        say(f"loading {file}")
    check_diagram(file)
    from spart_blocks.run import DiagramFile

    some = (tuple(given or ()) for given in (settings, variants, blocks))
    overrides, chosen, packages = some
    return DiagramFile(file, overrides, root, chosen, packages)


def check_diagram(file: Path) -> None:
    """Reject a missing file before anything is imported to read it."""
    if os.path.isfile(file):  # which also takes names that no file can have
        return
    if os.path.isdir(file):
        hint = "it is a folder; name a file in it"
        raise InputError(Fault("is not a file", Place(str(file)), hint))
    if not os.path.exists(file):  # of a pipe or a device, what reads it will tell
        raise InputError(Fault("there is no such file", Place(str(file)), _near(file)))


def _near(file: Path) -> str | None:
    """Files beside a missing one whose names are like its own."""
    with suppress(OSError):
        beside = [path.name for path in file.parent.iterdir() if path.suffix in (".yaml", ".yml")]
        near = get_close_matches(file.name, sorted(beside), n=3)
        if near:
            return "did you mean " + " or ".join(str(file.with_name(name)) for name in near) + "?"
    return None


def check_seconds(option: str, value: float | None) -> None:
    """Raise InputError if an option's duration is invalid."""
    if value is not None and not 0 < value < float("inf"):
        raise InputError(f"{option} takes a positive number of seconds, not {value:g}")


def holds_bodies(file: Path) -> bool:
    """Whether a file is one of bodies and joints; false if it cannot be read."""
    return _holds(file, ("bodies",))


def holds_robot(file: Path) -> bool:
    """Whether a YAML file is one of a robot: bodies, links, or Denavit-Hartenberg data."""
    return _holds(file, ("bodies", "links", "man"))


def _holds(file: Path, keys: tuple[str, ...]) -> bool:
    if file.suffix not in (".yaml", ".yml") or not file.is_file():
        return False
    from spart_blocks.base.document import read_document

    try:
        data = read_document(file).data
        return any(key in data for key in keys)
    except InputError:
        return False
