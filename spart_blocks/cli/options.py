"""Declarations of options, and the options that several commands share.

A command is a function whose parameters are its arguments and options. A parameter whose type is a
dataclass is a group: each of its fields becomes an option in its place (see commands.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from spart_blocks.base.errors import Fault, InputError, Place
from spart_blocks.cli.terminal import say

if TYPE_CHECKING:
    from spart_blocks import run as simulation

Texts = list[str] | None
"""The values of an option that may be repeated."""


def option(names: str, text: str, default: Any = None, **more: Any) -> Any:
    """Declare an option. names: "--out -o FILE", its names and the word for its value, which a
    switch does not have. text: its help. more: as for typer.Option."""
    words = names.split()
    value = [word for word in words if not word.startswith("-")]
    flags = [word for word in words if word.startswith("-")]
    return typer.Option(default, *flags, metavar=" ".join(value) or None, help=text, **more)


def switch(names: str, text: str) -> Any:
    """Declare an option without a value, off by default."""
    return option(names, text, False)


def argument(name: str, text: str, default: Any = ...) -> Any:
    """Declare an argument, which is required unless it has a default."""
    return typer.Argument(default, metavar=name, help=text)


FILE = argument("FILE", "A diagram: a YAML file.")
OPTIONAL_FILE = argument("FILE", "A diagram: a YAML file.", None)
ROOT = option(
    "--root DIR",
    "The folder that paths in the diagram may not leave; by default the project's folder.",
    exists=True,
    file_okay=False,
)
SETTINGS = option(
    "--set PATH=VALUE",
    "Replace a value of the file: params.kp=3, ctrl.kd=[1,2], run.rtol=1e-8. May be repeated.",
)
BLOCKS = option(
    "--blocks PACKAGE",
    "Import blocks of your own: a module, a package, or a .py file; or allow an .fmu "
    "file that the diagram names. May be repeated.",
)
END = option("--t -t SECONDS", "End time, instead of run.T.")
HEADLESS = switch("--headless", "Open no windows, as without a display.")
QUIET = switch("--quiet -q", "Print only warnings and errors.")


@dataclass(frozen=True)
class Loading:
    """Options for reading a diagram file, besides the values that --set replaces."""

    variants: Texts = option(
        "--variant SLOT=CHOICE",
        "Select a choice for one of the file's variants. May be repeated.",
    )
    blocks: Texts = BLOCKS
    root: Path | None = ROOT


Precision = Literal["double", "float"]
"""Floating-point type of numbers."""


def diagram_file(
    file: Path, settings: Texts, loading: Loading, quiet: bool = False
) -> simulation.DiagramFile:
    """The file with these options applied; prints that it is being loaded."""
    say(f"loading {file}", unless=quiet)
    check_diagram(file)
    from spart_blocks.run import DiagramFile

    given = (tuple(some or ()) for some in (settings, loading.variants, loading.blocks))
    overrides, chosen, packages = given
    return DiagramFile(file, overrides, loading.root, chosen, packages)


def check_diagram(file: Path) -> None:
    """Raise InputError for a missing file, before the modules that read it are imported."""
    if os.path.isfile(file):  # which also takes names that no file can have
        return
    if os.path.isdir(file):
        hint = "it is a folder; name a file in it"
        raise InputError(Fault("is not a file", Place(str(file)), hint))
    if not os.path.exists(file):  # of a pipe or a device, what reads it will tell
        raise InputError(Fault("there is no such file", Place(str(file)), _near(file)))


def _near(file: Path) -> str | None:
    """A hint with files in the same folder whose names are similar; None if there are none."""
    with suppress(OSError):
        beside = [path.name for path in file.parent.iterdir() if path.suffix in (".yaml", ".yml")]
        near = get_close_matches(file.name, sorted(beside), n=3)
        if near:
            return "did you mean " + " or ".join(str(file.with_name(name)) for name in near) + "?"
    return None


def named_values(option: str, given: Texts, example: str) -> list[tuple[str, str]]:
    """The names and values of an option `NAME=VALUE`. Raises InputError with the example if one is
    missing."""
    found = []
    for text in given or ():
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            hint = f"write {option} {example!r}"
            raise InputError(Fault(f"{option} {text}: it has no name or no value", hint=hint))
        found.append((name.strip(), value.strip()))
    return found


def choices_of(given: Texts) -> dict[str, list[str]]:
    """The choices by slot, from texts `slot=a,b` of --variant."""
    choices: dict[str, list[str]] = {}
    for slot, listed in named_values("--variant", given, "controller=pd,lqr"):
        found = [choice.strip() for choice in listed.split(",") if choice.strip()]
        if not found:
            raise InputError(f"--variant {slot}={listed}: no choices")
        choices.setdefault(slot, []).extend(found)
    return choices


def refuse_given(options: Iterable[object], why: str, hint: str) -> None:
    """Raise InputError if one of these options is given, which do not go with another."""
    if any(one is not None for one in options):
        raise InputError(Fault(why, hint=hint))


def check_seconds(name: str, value: float | None) -> None:
    """Raise InputError if a duration [s] is invalid. name: of its option."""
    if value is not None and not 0 < value < float("inf"):
        raise InputError(f"{name} takes a positive number of seconds, not {value:g}")


def holds_bodies(file: Path) -> bool:
    """Whether a file describes a robot by bodies and joints; False if it cannot be read."""
    return _holds(file, ("bodies",))


def holds_robot(file: Path) -> bool:
    """Whether a YAML file describes a robot: by bodies, links, or Denavit-Hartenberg data."""
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
