"""Worker process for a command of `spart` that the studio gives.

The first message is the job: {"arguments", "folder"}, the words after `spart` and the folder in
which it works; or {"describe"}, the words of commands whose options are asked for. Messages to the
parent are "lines" of the output, "progress", and "exited" with the exit code; or "described".
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from inspect import Parameter, signature
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from typer.models import OptionInfo

from spart_blocks.cli.app import function_of, main
from spart_blocks.cli.terminal import ProgressBar
from spart_blocks.workers.frames import Inbox, Outbox
from spart_blocks.workers.job import Say, serve_job
from spart_blocks.workers.progress import throttled


def serve(inbox: Inbox, outbox: Outbox) -> None:
    """Call the command of the job, and send its output."""
    serve_job(inbox, outbox, _work)


def _work(job: dict[str, Any], say: Say) -> None:
    if "describe" in job:
        say(
            {
                "tell": "described",
                "options": {words: options_of(words) for words in job["describe"]},
            }
        )
        return
    os.chdir(job["folder"])
    output, errors = _Lines(say, "out"), _Lines(say, "err")
    sys.stdout, sys.stderr = output, errors
    ProgressBar.heard.append(_reporter(say))
    code = main(job["arguments"])
    output.close()
    errors.close()
    say({"tell": "exited", "code": code})


def _reporter(say: Say) -> Callable[[float, float, str], None]:
    """A function that sends the progress, at most ten times per second."""
    units = [""]
    send = throttled(
        lambda done, whole: say({"tell": "progress", "done": done, "all": whole, "unit": units[0]})
    )

    def report(done: float, whole: float, unit: str) -> None:
        units[0] = unit
        send(done, whole)

    return report


class _Lines(io.TextIOBase):
    """A stream that sends the lines that are written to it."""

    def __init__(self, say: Say, stream: str) -> None:
        self.say, self.stream, self.left = say, stream, ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self.left = (self.left + text).split("\n")
        if lines:
            self.say({"tell": "lines", "stream": self.stream, "lines": lines})
        return len(text)

    def close(self) -> None:
        if self.left:
            self.write("\n")
        super().close()


# --- the options of commands ----------------------------------------------------------------------


def options_of(words: str) -> list[dict[str, Any]]:
    """The options of a command for a form, as `JobOption` of the protocol. words: "export c"."""
    parameters = signature(function_of(words)).parameters.values()
    return [_option(one) for one in parameters if isinstance(one.default, OptionInfo)]


def _option(one: Parameter) -> dict[str, Any]:
    """An option, from its declaration: its type says whether it is a switch, a list or a choice."""
    kinds = [kind for kind in get_args(one.annotation) or (one.annotation,) if kind is not NoneType]
    literal = next((k for k in (one.annotation, *kinds) if get_origin(k) is Literal), None)
    default = one.default.default
    return {
        "name": max(one.default.param_decls or (one.name,), key=len).removeprefix("--"),
        "doc": one.default.help or "",
        "value": one.default.metavar or "",
        "choices": [] if literal is None else [str(choice) for choice in get_args(literal)],
        "flag": one.annotation is bool,
        "several": any(get_origin(kind) is list for kind in (one.annotation, *kinds)),
        "required": default is ...,
        "default": "" if isinstance(default, bool) or default in (None, ...) else str(default),
    }
