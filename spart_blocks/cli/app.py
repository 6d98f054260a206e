"""The command `spart` with all its commands, and their exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from typer.main import get_command

from spart_blocks import __version__
from spart_blocks.cli.animate import animate
from spart_blocks.cli.blocks import blocks
from spart_blocks.cli.check import check
from spart_blocks.cli.commands import epilog, examples_of, in_one_form
from spart_blocks.cli.compare import compare
from spart_blocks.cli.diff import diff
from spart_blocks.cli.doctor import doctor
from spart_blocks.cli.edit import edit
from spart_blocks.cli.ending import interruptible
from spart_blocks.cli.examples import examples
from spart_blocks.cli.export import export, export_c, export_fmu
from spart_blocks.cli.git_setup import git_setup
from spart_blocks.cli.linearize import linearize, lqr
from spart_blocks.cli.merge import merge
from spart_blocks.cli.new import new
from spart_blocks.cli.realtime import realtime
from spart_blocks.cli.robot import robot
from spart_blocks.cli.run import run
from spart_blocks.cli.schema import schema
from spart_blocks.cli.scope import scope
from spart_blocks.cli.show import show
from spart_blocks.cli.studio import studio
from spart_blocks.cli.sweep import sweep
from spart_blocks.cli.terminal import discard_stdout, never_fail_on_encoding
from spart_blocks.cli.test import run_tests
from spart_blocks.cli.tune import tune

COMMANDS: dict[str, Callable[..., None]] = {
    "run": run,
    "studio": studio,
    "animate": animate,
    "sweep": sweep,
    "linearize": linearize,
    "lqr": lqr,
    "check": check,
    "compare": compare,
    "diff": diff,
    "test": run_tests,
    "export c": export_c,
    "export fmu": export_fmu,
    "realtime": realtime,
    "tune": tune,
    "scope": scope,
    "blocks": blocks,
    "show": show,
    "robot": robot,
    "edit": edit,
    "merge": merge,
    "git-setup": git_setup,
    "schema": schema,
    "new": new,
    "examples": examples,
    "doctor": doctor,
}
"""The commands by name, in the order of the help."""
_HELP = {"help_option_names": ["--help", "-h"]}

app = typer.Typer(
    name="spart",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=_HELP,
    epilog=epilog(
        "spart run diagrams/spacecraft_pd.yaml",
        "spart blocks MULTIBODY",
        "spart COMMAND --help",
    ),
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"spart_blocks {__version__}")
        raise typer.Exit


@app.callback()
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


for _words, _command in COMMANDS.items():
    _group = export if _words.startswith("export ") else app
    _group.command(_words.split()[-1], epilog=epilog(*examples_of(_command)))(_command)
app.add_typer(export)


def command() -> Any:
    """The command `spart` with all its commands."""
    return in_one_form(get_command(app))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code. arguments: by default the process's own."""
    never_fail_on_encoding()
    try:
        with interruptible():
            command().main(args=arguments, prog_name="spart")
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
