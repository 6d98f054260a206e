"""Declares commands: their arguments and options, and what several commands share of them.

A command is a function whose parameters are its arguments and options. A parameter whose type is a
dataclass is a group: each of its fields becomes an option in its place. `--debug` is added at the
end. While the command runs, exceptions and warnings become messages and exit codes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

import typer

from spart_blocks.base.errors import Fault, InputError, Place
from spart_blocks.cli.terminal import reporting, say

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
AT = option("--at RUN.NPZ", "The operating point: the end of this saved run.")
AT_TIME = option("--t -t SECONDS", "The time: by default that of --at, or 0.")
HEADLESS = switch("--headless", "Open no windows, as without a display.")
QUIET = switch("--quiet -q", "Print only warnings and errors.")


@dataclass(frozen=True)
class Loading:
    """Options for reading a diagram file."""

    settings: Texts = SETTINGS
    variants: Texts = option(
        "--variant SLOT=CHOICE",
        "Select a choice for one of the file's variants. May be repeated.",
    )
    blocks: Texts = BLOCKS
    root: Path | None = ROOT


Precision = Literal["double", "float"]
"""Floating-point type of numbers."""


def diagram_file(file: Path, loading: Loading, quiet: bool = False) -> simulation.DiagramFile:
    """The file with these options applied; prints that it is being loaded."""
    say(f"loading {file}", unless=quiet)
    check_diagram(file)
    from spart_blocks.run import DiagramFile

    given = loading.settings, loading.variants, loading.blocks
    overrides, chosen, packages = (tuple(some or ()) for some in given)
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
        written = [file.with_name(f"{file.name}{end}") for end in (".yaml", ".yml")]
        if found := [path for path in written if path.is_file()]:
            return f"write {found[0]}"
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


_EXAMPLES: dict[Callable[..., None], tuple[str, ...]] = {}
_DEBUG = switch("--debug", "Show where an error comes from (also SPART_DEBUG=1).")


def command(*examples: str) -> Callable[[Callable[..., int | None]], Callable[..., None]]:
    """Decorator that makes a command, with these examples at the end of its help. The function may
    return an exit code; if it has a parameter `debug`, this is the value of --debug."""

    def made(body: Callable[..., int | None]) -> Callable[..., None]:
        groups, parameters = _declared(body)
        told_debug = "debug" in signature(body).parameters

        def run(debug: bool, **given: Any) -> None:
            with reporting(debug):
                for name, group in groups.items():
                    values = {one.name: given.pop(one.name) for one in fields(group)}
                    given[name] = group(**values)
                if told_debug:
                    given["debug"] = debug
                if code := body(**given):
                    raise typer.Exit(code)

        run.__name__, run.__doc__, run.__module__ = body.__name__, body.__doc__, body.__module__
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        _EXAMPLES[run] = examples
        return run

    return made


def _declared(body: Callable[..., Any]) -> tuple[dict[str, Any], list[Parameter]]:
    """The option groups of a function by parameter name, and the parameters of its command: groups
    are replaced by their fields, and --debug comes last."""
    groups: dict[str, Any] = {}
    found = []
    hints = get_type_hints(body)
    for name, one in signature(body).parameters.items():
        if is_dataclass(hints[name]):
            group = groups[name] = hints[name]
            types = get_type_hints(group)
            found += [_parameter(f.name, types[f.name], f.default) for f in fields(group)]
        elif name != "debug":
            found.append(_parameter(name, hints[name], one.default))
    return groups, [*found, _parameter("debug", bool, _DEBUG)]


def _parameter(name: str, kind: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def examples_of(made: Callable[..., None]) -> tuple[str, ...]:
    """The examples of a command."""
    return _EXAMPLES[made]


# --- help and usage errors, the same for all versions of Typer ------------------------------------


def epilog(*examples: str) -> str:
    """The end of a help text, with examples."""
    listed = "\n".join(f"  {line}" for line in examples)
    return f"\b\nExamples:\n{listed}"


def in_one_form(whole: Any) -> Any:
    """Make help and errors of a command and its subcommands uniform. A list of commands shows the
    whole first sentence of each, which Typer would truncate; an argument is a word, in brackets if
    optional, without its Python type. Errors of values do not mention Python exceptions."""
    left = [whole]
    while left:
        command = left.pop()
        for parameter in command.params:
            parameter.process_value = _in_plain_words(parameter.process_value)
            if parameter.param_type_name == "argument":
                _in_words(parameter)
        for one in getattr(command, "commands", {}).values():
            paragraph = " ".join((one.help or "").split("\n\n")[0].split())
            one.short_help = paragraph.split(". ")[0].removesuffix(".") + "."
            left.append(one)
    return whole


def _in_plain_words(process: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a function that reads a value, to remove pydantic's "Value error, " from its errors."""

    def processed(context: Any, value: Any) -> Any:
        try:
            return process(context, value)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise

    return processed


def _in_words(argument: Any) -> None:
    name = str(argument.metavar)
    many = "" if argument.nargs == 1 else "..."
    usage = name if argument.required or "[" in name else f"[{name}]{many}"
    note = "  [required]" if argument.required else ""
    argument.get_usage_pieces = _always([usage])
    argument.get_help_record = _always((name, f"{argument.help}{note}"))


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _: value
