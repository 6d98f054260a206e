"""Makes a command of a function with declared options.

Groups of options are replaced by their fields, and `--debug` is added at the end. While the command
runs, exceptions and warnings become messages and exit codes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

import typer

from spart_blocks.cli.options import switch
from spart_blocks.cli.reporting import reporting

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
