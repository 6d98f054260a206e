"""`spart linearize`: a diagram as a linear system, its poles, and their plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.cli.commands import command
from spart_blocks.cli.options import FILE, SETTINGS, Loading, Texts, diagram_file, option
from spart_blocks.cli.outputs import check_folder, checked_file
from spart_blocks.cli.terminal import put, say
from spart_blocks.cli.text_tables import matrix_lines, pole_lines

if TYPE_CHECKING:
    from spart_blocks.analysis import LinearSystem


@command(
    "spart linearize diagrams/spacecraft_pd.yaml --input plant.taum --output plant.qm",
    "spart linearize diagrams/spacecraft_pd.yaml -i ctrl.tau -y ctrl.tau --open ctrl.tau "
    "--out loop.npz",
    "spart linearize diagrams/spacecraft_pd.yaml -i qd -y plant.qm --at run.npz --plots out",
)
def linearize(
    *,
    file: Path = FILE,
    inputs: list[str] = option(
        "--input -i SIGNAL",
        "The input of the system: a signal (ctrl.tau), or an input of a block "
        "(plant.taum, plant.wF0[2]). May be repeated.",
        ...,
    ),
    outputs: list[str] = option(
        "--output -y SIGNAL",
        "The output of the system: a signal (plant.qm[0]), or states "
        "(states.plant). May be repeated.",
        ...,
    ),
    open_at: Texts = option("--open SIGNAL", "Cut the loop at this signal. May be repeated."),
    at: Path | None = option("--at RUN.NPZ", "The operating point: the end of this saved run."),
    t: float | None = option("--t -t SECONDS", "The time: by default that of --at, or 0."),
    settings: Texts = SETTINGS,
    out: Path | None = option("--out -o FILE", "Save the system: .npz or .json."),
    plots: Path | None = option("--plots DIR", "Write bode.png and poles.png into DIR."),
    loading: Loading,
) -> None:
    """Print A, B, C, D between named signals near a point, and the poles.

    Derivatives are exact. Loops stay closed unless --open cuts them.
    """
    out = checked_file(out, (".npz", ".json"))
    check_folder(plots)
    diagram = diagram_file(file, settings, loading).load()
    from spart_blocks.analysis import linearize as linearized

    say(f"linearizing {diagram.name}")
    system = linearized(diagram, inputs=inputs, outputs=outputs, open_at=open_at or (), at=at, t=t)
    put(*_shown(system), as_list=True)
    if out is not None:
        system.save(out)
        say(f"written: {out}")
    if plots is not None:
        for path in system.save_figures(plots):
            say(f"written: {path}")


def _shown(system: LinearSystem) -> list[Any]:
    kind = f"discrete, dt = {system.dt:g} s" if system.dt else "continuous"
    parts: list[Any] = [f"{system.name}: {kind}, {len(system.states)} states"]
    sides = {
        "A": (system.A, system.states, system.states),
        "B": (system.B, system.states, system.inputs),
        "C": (system.C, system.outputs, system.states),
        "D": (system.D, system.outputs, system.inputs),
    }
    for name, (matrix, rows, columns) in sides.items():
        parts += ["", *matrix_lines(name, matrix, rows, columns)]
    return [*parts, "", "poles", *pole_lines(system)]
