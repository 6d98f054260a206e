"""`spart new`: creates a project that runs, or a package of blocks that passes its tests."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from spart_blocks.base.errors import Fault, InputError, SpartError, brief
from spart_blocks.cli.commands import Texts, argument, command, option, switch
from spart_blocks.cli.outputs import checked_files
from spart_blocks.cli.terminal import say, warn

if TYPE_CHECKING:
    from spart_blocks.diagram.converted.draft import Draft

TEMPLATE, HIDDEN = ".in", "dot_"
_DISTRIBUTION = re.compile(r"[A-Za-z]([A-Za-z0-9_-]*[A-Za-z0-9])?")


@command(
    "spart new my_robot",
    "spart new --package my_blocks",
    "spart new loop.yaml --from loop.bd",
    "spart new loop.yaml --from loop.slx --values gains.m",
)
def new(
    *,
    folder: Path = argument("NAME", "The folder to create, or an empty one; with --from a file."),
    package: bool = switch(
        "--package", "Create a package of blocks, which `pip install` adds to diagrams."
    ),
    drawn: Path | None = option(
        "--from FILE", "Convert a diagram of bdsim's editor (.bd) or Simulink (.slx, .mdl) to NAME."
    ),
    values: Texts = option(
        "--values FILE",
        "A .mat or .m file with the variables of a Simulink model; may be repeated.",
    ),
) -> None:
    """Create a project: a diagram, a robot, a controller, tests, and a CI configuration that runs
    them; or a package with a block, its test, and the entry point that makes it known. The files
    are listed; all of them work, and are meant to be changed.
    """
    if drawn is not None:
        if package:
            raise InputError("--from converts a diagram, and --package creates a package")
        _convert(drawn, folder, [Path(file) for file in values or []])
        return
    folder = Path(os.path.normpath(folder.expanduser()))
    try:
        _check(folder)
    except OSError as error:  # such as a name that is too long
        raise InputError(f"{brief(str(folder))}: {error.strerror}") from None
    name = folder.absolute().name
    kind = _package(name) if package else Kind("starter", {"NAME": name}, _RUN)
    for path in _make(folder, kind):
        typer.echo(str(folder / path))
    steps = [] if folder == Path() else [f"cd {shlex.quote(str(folder))}"]
    say("next: " + " && ".join([*steps, *kind.steps]))


@dataclass(frozen=True)
class Kind:
    """A kind of folder to create. templates: the folder of its templates. words: what words of them
    become, in texts and paths. steps: commands to try next.
    """

    templates: str
    words: Mapping[str, str]
    steps: tuple[str, ...]


_RUN = ("spart run diagrams/reach.yaml", "spart test")


def _package(name: str) -> Kind:
    """A package of blocks. Raises InputError for a name that Python or an installed package has."""
    module = name.replace("-", "_")
    if not _DISTRIBUTION.fullmatch(name) or iskeyword(module):
        hint = "letters, digits, - and _, of which a letter is first, such as my_blocks"
        raise InputError(Fault(f"{brief(name)} cannot be the name of a package", hint=hint))
    found = find_spec(module)
    if found is not None and found.origin is not None:
        hint = "name another: Python would find one of the two"
        raise InputError(Fault(f"there is a module {module} already, {found.origin}", hint=hint))
    label = "_".join(part.capitalize() for part in module.split("_") if part)
    words = {"NAME": name, "MODULE": module, "CLASS": f"{label}_Limit"}
    words["TYPE"] = words["CLASS"].upper()
    return Kind(
        "starter_package", words, ("pip install -e .", f"spart blocks {module}", "python -m pytest")
    )


def _convert(drawn: Path, target: Path, values: list[Path]) -> None:
    """Convert a file of another tool, and print what was carried over and what remains."""
    checked_files([target], (".yaml", ".yml"), "NAME")
    if target.exists():
        raise InputError(Fault(f"{target} is there already", hint="name another file"))
    from spart_blocks.diagram import load
    from spart_blocks.diagram.converted.convert import convert
    from spart_blocks.diagram.converted.draft import table
    from spart_blocks.results.files import write_bytes

    draft, left = convert(drawn, values)
    write_bytes(target, draft.text().encode())
    _place(target, draft)
    typer.echo(str(target))
    say("\n".join([*table(draft.rows), *(f"  left out: {line}" for line in left)]))
    try:
        load(target)
    except SpartError as error:
        warn(f"it does not run yet:\n{error}")
    else:
        say(f"next: spart run {target}")


def _place(target: Path, draft: Draft) -> None:
    """Store the places of the blocks, as the studio does of those that the user moves."""
    from spart_blocks.drawing.placed import Spot
    from spart_blocks.studio.files.places import store

    sheets = {sheet.name: sheet.spots for sheet in [draft.top, *draft.subsystems] if sheet.spots}
    store(
        target,
        {name: {b: Spot(x, y, True) for b, (x, y) in at.items()} for name, at in sheets.items()},
    )


def _check(folder: Path) -> None:
    """Raise InputError for a folder that is not empty, or cannot be created."""
    if folder.is_dir():
        if any(folder.iterdir()):
            hint = "name a folder that is not there yet, or an empty one"
            raise InputError(Fault(f"the folder {folder} is not empty", hint=hint))
    elif folder.exists() or folder.is_symlink():
        raise InputError(f"{folder} is there already, and is no folder")
    parent = folder if folder.is_dir() else folder.absolute().parent
    if not parent.is_dir():
        raise InputError(Fault(f"there is no folder {parent}", hint=f"make it: mkdir -p {parent}"))
    if not os.access(parent, os.W_OK):
        raise InputError(f"you may not write into the folder {parent}")


def _make(folder: Path, kind: Kind) -> list[Path]:
    """Write the files of a new folder, all or none; returns their paths."""
    parent = folder if folder.is_dir() else folder.absolute().parent
    made = []
    try:
        with tempfile.TemporaryDirectory(prefix=".spart-new-", dir=parent) as place:
            whole = Path(place, "project")
            templates = resources.files("spart_blocks").joinpath(kind.templates)
            for inside, template in _templates(templates):
                path = Path(_worded(str(inside), kind.words))
                target = whole / path
                target.parent.mkdir(parents=True, exist_ok=True)
                text = _worded(template.read_text("utf-8"), kind.words)
                target.write_text(text, encoding="utf-8", newline="\n")
                made.append(path)
            if folder.is_dir():
                for part in whole.iterdir():
                    shutil.move(part, folder / part.name)
            else:
                whole.rename(folder)
    except OSError as error:
        raise InputError(f"the project cannot be written: {error.strerror}") from None
    return sorted(made)


def _worded(text: str, words: Mapping[str, str]) -> str:
    """A text of a template with its words replaced, all at once."""
    return re.sub("|".join(words), lambda found: words[found[0]], text)


def _templates(folder: Traversable, inside: Path = Path()) -> Iterator[tuple[Path, Traversable]]:
    """The path of each file of the project, with its template."""
    for item in folder.iterdir():
        name = item.name
        name = f".{name.removeprefix(HIDDEN)}" if name.startswith(HIDDEN) else name
        if item.is_dir():
            yield from _templates(item, inside / name)
        elif name.endswith(TEMPLATE):
            yield inside / name.removesuffix(TEMPLATE), item
