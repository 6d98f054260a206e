"""`spart examples`: the diagrams that come with the package."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.cli.commands import argument, command, option
from spart_blocks.cli.terminal import grid, put, say

FOLDERS = ("diagrams", "models")


@command(
    "spart examples",
    'spart run "$(spart examples dual_arm)"',
    "spart examples --copy mine",
)
def examples(
    *,
    name: str | None = argument("NAME", "Print the path of this diagram.", None),
    copy: Path | None = option(
        "--copy DIR",
        "Copy all diagrams and their robots into a folder, where you can change them.",
    ),
) -> None:
    """List the diagrams that come with the package. `spart run "$(spart examples spacecraft_pd)"`
    runs one.
    """
    if name is not None and copy is not None:
        raise InputError("give a NAME or --copy, not both")
    home = shipped()
    if copy is not None:
        _copy(home, copy)
    elif name is not None:
        typer.echo(str(_named(home, name)))
    else:
        put(grid(("name", "about"), ((one.name, one.about) for one in found(home))), as_list=True)
        say("spart examples --copy DIR copies them, with their robots")


def shipped() -> Path:
    """The folder that contains diagrams/ and models/: in the package, or the root of a clone."""
    package = Path(__file__).parents[1]
    for home in (package / "shipped", package.parent):
        if all((home / folder).is_dir() for folder in FOLDERS):
            return home
    raise InputError(
        Fault("this installation has no examples", hint="install it again, from a whole wheel")
    )


@dataclass(frozen=True)
class Example:
    """A shipped diagram. name: as `spart examples` lists it; about: what it shows."""

    name: str
    path: Path
    about: str


def found(home: Path) -> Iterator[Example]:
    """All example diagrams, those at the top level first. Files that are only used by others are
    left out."""
    folder = home / "diagrams"
    paths = sorted(folder.rglob("*.yaml"), key=lambda path: (len(path.parts), path.parts))
    for path in paths:
        text = path.read_text("utf-8")
        if re.search(r"^blocks:", text, re.MULTILINE) and not re.search(
            r"^(inputs|outputs):", text, re.MULTILINE
        ):
            name = path.relative_to(folder).with_suffix("").as_posix()
            yield Example(name, path, _about(text))


def _about(text: str) -> str:
    """The first sentence of the comment at the top of a file."""
    head = re.match(r"(?:#.*\n)+", text)
    words = " ".join(line.lstrip("# ") for line in head[0].splitlines()) if head else ""
    return re.split(r"(?<=\.)\s", words, maxsplit=1)[0].rstrip(".")


def _named(home: Path, name: str) -> Path:
    """The path of the diagram with this name, with or without folder and suffix. Raises InputError
    if there is none."""
    known = list(found(home))
    wanted = name.removesuffix(".yaml").removeprefix("diagrams/")
    for one in known:
        if wanted in (one.name, one.path.stem):
            return one.path
    hint = did_you_mean(wanted, [one.name for one in known]) or "spart examples lists them"
    raise InputError(Fault(f"there is no example {name!r}", hint=hint))


def _copy(home: Path, folder: Path) -> None:
    """Copy diagrams/ and models/ into a folder; existing files are not replaced."""
    targets = [folder / name for name in FOLDERS]
    for target in targets:
        if os.path.exists(target):
            hint = "name another folder, or move it away"
            raise InputError(Fault(f"{target} is there already", hint=hint))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, target in zip(FOLDERS, targets, strict=True):
            shutil.copytree(home / name, target)
        (folder / "spart.toml").touch()  # it makes the folder the project
    except OSError as error:
        raise InputError(f"the examples cannot be copied: {error.strerror or error}") from None
    for target in targets:
        typer.echo(str(target))
