"""Makes help and usage errors of all commands uniform, for all versions of Typer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer


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
