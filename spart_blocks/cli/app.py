"""The command `spart` with all its commands, and their exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.main import get_command

from spart_blocks import __version__
from spart_blocks.cli.commands import epilog, examples_of, in_one_form
from spart_blocks.cli.ending import interruptible
from spart_blocks.cli.terminal import discard_stdout, never_fail_on_encoding, say

COMMANDS = {
    "run": "run.run",
    "studio": "studio.studio",
    "animate": "animate.animate",
    "sweep": "sweep.sweep",
    "fit": "fit.fit",
    "tune": "tune.tune",
    "optimize": "optimize.optimize",
    "linearize": "linearize.linearize",
    "margins": "margins.margins",
    "lqr": "linearize.lqr",
    "check": "check.check",
    "compare": "compare.compare",
    "diff": "diff.diff",
    "test": "test.run_tests",
    "export c": "export.export_c",
    "export fmu": "export.export_fmu",
    "export ros2_control": "export.export_ros2_control",
    "export web": "export.export_web",
    "realtime": "realtime.realtime",
    "live": "live.live",
    "scope": "scope.scope",
    "blocks": "blocks.blocks",
    "show": "show.show",
    "robot": "robot.robot",
    "edit": "edit.edit",
    "merge": "merge.merge",
    "git-setup": "git_setup.git_setup",
    "schema": "schema.schema",
    "new": "new.new",
    "examples": "examples.examples",
    "doctor": "doctor.doctor",
}
"""The commands by name, in the order of the help: their modules and functions in this folder, which
are imported only for a command that is called, and for lists of all."""


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"spart_blocks {__version__}")
        raise typer.Exit


def _spart(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Run block diagrams of robots and spacecraft, and inspect them.

    Exit codes: 0 success, 1 the run failed, 2 the input is wrong.
    """


def app(called: str = "") -> typer.Typer:
    """The application with the commands whose first word is `called`; with all if none has it."""
    whole = _group(
        "spart",
        "spart run diagrams/spacecraft_pd.yaml",
        "spart blocks MULTIBODY",
        "spart COMMAND --help",
    )
    whole.callback()(_spart)
    export = _group(
        "export",
        "spart export c diagrams/arm_computed_torque.yaml --part ctrl -o build/ctrl --verify",
        "spart export fmu diagrams/spacecraft_pd.yaml -o spacecraft.fmu",
        "spart export ros2_control diagrams/spacecraft_pd.yaml --part ctrl -o build/ctrl",
        "spart export web diagrams/spacecraft_pd.yaml -o spacecraft.html",
        help="Generate code from a diagram or some of its blocks, which runs without this package.",
    )
    for words in [one for one in COMMANDS if one.split()[0] == called] or COMMANDS:
        made = function_of(words)
        group = export if words.startswith("export ") else whole
        group.command(words.split()[-1], epilog=epilog(*examples_of(made)))(made)
    if export.registered_commands:
        whole.add_typer(export)
    return whole


def function_of(words: str) -> Any:
    """The function of a command: "export c"."""
    module, _, name = COMMANDS[words].partition(".")
    return getattr(import_module(f"spart_blocks.cli.{module}"), name)


def _group(name: str, *examples: str, **more: Any) -> typer.Typer:
    """A group of commands, which has none yet."""
    return typer.Typer(
        name=name,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["--help", "-h"]},
        epilog=epilog(*examples),
        **more,
    )


def command(called: str = "") -> Any:
    """The command `spart` with the commands whose first word is `called`, or with all."""
    return in_one_form(get_command(app(called)))


_OF_LOOPS = ("--loop", "--print-set", "--save")
"""Options of `spart live` that `spart tune` has not."""


def _in_new_words(given: list[str]) -> list[str]:
    """The arguments, with `spart live` for `spart tune` where a loop is meant, as before the tuning
    of designs had this name: `spart tune`, `spart tune LOOP`, `spart tune kp=3`.
    """
    if given[:1] != ["tune"]:
        return given
    words = [word for word in given[1:] if word != "--debug"]
    of_loop = any(word.partition("=")[0] in _OF_LOOPS for word in words)
    file = any(word.endswith((".yaml", ".yml")) or os.path.isfile(word) for word in words)
    if not of_loop and (file or any(word.startswith("-") for word in words)):
        return given
    say("note: spart live sets parameters of a running loop; spart tune FILE searches a design")
    return ["live", *given[1:]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code. arguments: by default the process's own."""
    never_fail_on_encoding()
    given = _in_new_words(list(sys.argv[1:] if arguments is None else arguments))
    try:
        with interruptible():
            command(given[0] if given else "").main(args=given, prog_name="spart")
        code: int | str | None = 0
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        code = 1
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()
        code = code or 1
    return code if isinstance(code, int) else int(code is not None)
