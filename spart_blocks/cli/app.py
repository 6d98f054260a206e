"""The commands under one name, and the process around them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.main import get_command

from spart_blocks import __version__
from spart_blocks.cli.blocks import blocks
from spart_blocks.cli.check import check
from spart_blocks.cli.compare import compare
from spart_blocks.cli.doctor import doctor
from spart_blocks.cli.ending import interruptible
from spart_blocks.cli.examples import examples as shipped_examples
from spart_blocks.cli.export import export
from spart_blocks.cli.export_fmu import export_fmu
from spart_blocks.cli.help_texts import in_one_form
from spart_blocks.cli.linearize import linearize
from spart_blocks.cli.lqr import lqr
from spart_blocks.cli.new import new
from spart_blocks.cli.realtime import realtime
from spart_blocks.cli.robot import robot
from spart_blocks.cli.run import run
from spart_blocks.cli.schema import schema
from spart_blocks.cli.scope import scope
from spart_blocks.cli.show import show
from spart_blocks.cli.terminal import discard_stdout, examples, never_fail_on_encoding
from spart_blocks.cli.test import run_tests
from spart_blocks.cli.tune import tune

_HELP = {"help_option_names": ["--help", "-h"]}

app = typer.Typer(
    name="spart",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=_HELP,
    epilog=examples(
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
    """Run block diagrams of robots and spacecraft, and look at what they are made of.

    Exit codes: 0 all went well, 1 the run failed, 2 the input is wrong.
    """


app.command(
    epilog=examples(
        "spart run diagrams/spacecraft_pd.yaml",
        "spart run diagrams/spacecraft_pd.yaml --set 'kp=[60,60,20]' --t 5 --out run.npz",
        "spart run diagrams/spacecraft_pd.yaml --initial run.npz --t 10 --headless",
    )
)(run)
app.command(
    epilog=examples(
        "spart linearize diagrams/spacecraft_pd.yaml --input plant.taum --output plant.qm",
        "spart linearize diagrams/spacecraft_pd.yaml -i ctrl.tau -y ctrl.tau --open ctrl.tau "
        "--out loop.npz",
        "spart linearize diagrams/spacecraft_pd.yaml -i qd -y plant.qm --at run.npz --plots out",
    )
)(linearize)
app.command(
    epilog=examples(
        "spart lqr diagrams/spacecraft_controllers.yaml --plant plant --Q '{qm: 0.1, um: 1}' "
        "--R 1 --at '{qm: [0.5, -0.3, 0.2]}'",
        "spart lqr diagrams/control/lqr.yaml",
    )
)(lqr)
app.command(
    epilog=examples(
        "spart check diagrams/spacecraft_pd.yaml", "spart check diagrams/dual_arm.yaml --t 2"
    )
)(check)
app.command(
    epilog=examples(
        "spart compare diagrams/spacecraft_controllers.yaml --variant controller=pd,lqr",
        "spart compare diagrams/spacecraft_pd.yaml --case 'soft:kp=[20,20,5]' "
        "--case 'stiff:kp=[160,160,40]'",
    )
)(compare)
app.command(
    "test",
    epilog=examples(
        "spart test", "spart test diagrams/spacecraft_pd.yaml --timing", "spart test --update"
    ),
)(run_tests)
export.command(
    "fmu",
    epilog=examples(
        "spart export fmu diagrams/spacecraft_pd.yaml -o spacecraft.fmu",
        "spart export fmu diagrams/arm_computed_torque.yaml --part ctrl --version 2 -o ctrl.fmu",
    ),
)(export_fmu)
app.add_typer(export)
app.command(
    epilog=examples(
        "spart realtime diagrams/arm_computed_torque.yaml --part ctrl --rate 1000 --t 10",
        "spart realtime diagrams/arm_computed_torque.yaml --part ctrl --t 60 --policy stop "
        "--report report.json --report report.png",
    )
)(realtime)
app.command(
    epilog=examples(
        "spart tune", "spart tune 'ctrl.kp=[60,60,20]' qd=0.3", "spart tune --print-set"
    )
)(tune)
app.command(
    epilog=examples(
        "spart scope", "spart scope ctrl.tau plant.qm[0]", "spart scope --t 10 --out run.npz"
    )
)(scope)
app.command(
    epilog=examples(
        "spart blocks",
        "spart blocks JOINT_PD",
        "spart blocks transport delay",
        "spart blocks --json > blocks.json",
    )
)(blocks)
app.command(
    epilog=examples(
        "spart show diagrams/spacecraft_pd.yaml",
        "spart show diagrams/spacecraft_pd.yaml --out spacecraft.png",
        "spart show models/delta_robot.yaml",
    )
)(show)
app.command(
    epilog=examples("spart robot models/spacecraft_3dof.urdf", "spart robot arm.urdf --strict")
)(robot)
app.command(
    epilog=examples(
        "spart schema > diagram.schema.json",
        "spart schema --blocks controllers.py > diagram.schema.json",
        "spart schema --ports > part.schema.json",
    )
)(schema)
app.command(epilog=examples("spart new my_robot", "spart new loop.yaml --from loop.bd"))(new)
app.command(
    "examples",
    epilog=examples(
        "spart examples", 'spart run "$(spart examples dual_arm)"', "spart examples --copy mine"
    ),
)(shipped_examples)
app.command(epilog=examples("spart doctor", "spart doctor --json"))(doctor)


def command() -> Any:
    """The command with all its commands."""
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
