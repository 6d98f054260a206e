"""`spart linearize`: a diagram as a linear system, its poles, and their plots. `spart lqr`: the
gain of a linear quadratic regulator for a plant of a diagram.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.cli.commands import (
    AT,
    AT_TIME,
    FILE,
    Loading,
    Texts,
    command,
    diagram_file,
    option,
)
from spart_blocks.cli.outputs import check_folder, checked_file
from spart_blocks.cli.terminal import matrix_lines, pole_lines, put, say

if TYPE_CHECKING:
    from spart_blocks.analysis import LinearSystem, LQRGain
    from spart_blocks.diagram import Diagram


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
    at: Path | None = AT,
    t: float | None = AT_TIME,
    out: Path | None = option("--out -o FILE", "Save the system: .npz or .json."),
    plots: Path | None = option("--plots DIR", "Write bode.png and poles.png into DIR."),
    loading: Loading,
) -> None:
    """Print A, B, C, D between named signals near a point, and the poles.

    Derivatives are exact. Loops stay closed unless --open cuts them.
    """
    out = checked_file(out, (".npz", ".json"))
    check_folder(plots)
    diagram = diagram_file(file, loading).load()
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


# --- the gain of a linear quadratic regulator -----------------------------------------------------


_NOISE = 1e-12  # of the largest entry of K: what is below it is rounding
_WEIGHTS = "a number, [a, list], or {name: largest value}"


@dataclass(frozen=True)
class Design:
    """Options: the plant whose state is fed back, and the weights of the design."""

    plant: Texts = option(
        "--plant BLOCK",
        "The block whose state is fed back. May be repeated. Without it: the "
        "gains to be designed for blocks LQR of the file.",
    )
    Q: str | None = option("--Q WEIGHT", f"The weights of the states: {_WEIGHTS}.")
    R: str | None = option("--R WEIGHT", f"The weights of the inputs: {_WEIGHTS}.")
    inputs: Texts = option(
        "--input -i INPUT",
        "The control inputs: taum, tau0, or an input of another block (motor.0); "
        "by default a robot's joint torques. May be repeated.",
    )
    at: str | None = option(
        "--at POINT",
        "The equilibrium: '{qm: [0.5, -0.3, 0.2]}', a list, or a saved run's .npz "
        "or .mcap file; by default the initial state.",
    )
    period: float | None = option("--T SECONDS", "The period of a sampled controller.")

    def check(self) -> None:
        """Raise InputError for weights without a plant, or a plant without weights."""
        weights = {"--Q": self.Q, "--R": self.R}
        missing = [name for name, value in weights.items() if value is None]
        if self.plant and missing:
            hint = "as --Q '{qm: 0.1, um: 1}' --R 1"
            raise InputError(Fault(f"--plant needs {' and '.join(missing)}", hint=hint))
        others = (self.inputs, self.at, self.period)
        if not self.plant and (len(missing) < 2 or any(value is not None for value in others)):
            raise InputError("name the --plant whose state is fed back")


@command(
    "spart lqr diagrams/spacecraft_controllers.yaml --plant plant --Q '{qm: 0.1, um: 1}' "
    "--R 1 --at '{qm: [0.5, -0.3, 0.2]}'",
    "spart lqr diagrams/control/lqr.yaml",
)
def lqr(
    *,
    file: Path = FILE,
    design: Design,
    out: Path | None = option("--out -o FILE", "Save the gain: .json, .csv, or .yaml for a LQR."),
    loading: Loading,
) -> None:
    """Print the gain K of a linear quadratic regulator, u = u_point - K x.

    The plant is linearised with the loop open at its control inputs; K minimises the
    integral of x'Qx + u'Ru.
    """
    design.check()
    out = checked_file(out, (".json", ".csv", ".yaml"))
    diagram = diagram_file(file, loading).load()
    say(f"linearizing {diagram.name}")
    gains = _gains(diagram, design)
    _check_found(gains, out, file)
    for name, gain in gains.items():
        put(*_gain_lines(name, gain), as_list=True)
        if out is not None:
            gain.save(out)
            say(f"written: {out}")


def _gains(diagram: Diagram, design: Design) -> dict[str, LQRGain]:
    """The gain for the named plants; if none is named, those of the file's LQR blocks that are to
    be designed."""
    if not design.plant:
        from spart_blocks.program.tracing.gains import designed_gains

        return designed_gains(diagram)
    from spart_blocks.analysis import lqr as found

    weights = _value("--Q", design.Q), _value("--R", design.R)
    at = design.at
    from spart_blocks.results.files import LOADABLE

    point = at if at is None or at.endswith(LOADABLE) else _value("--at", at)
    inputs = design.inputs or ()
    gain = found(diagram, design.plant, *weights, T=design.period, at=point, inputs=inputs)
    return {", ".join(design.plant): gain}


def _check_found(gains: dict[str, LQRGain], out: Path | None, file: Path) -> None:
    if not gains:
        hint = "name a plant: --plant plant --Q 1 --R 1"
        raise InputError(Fault(f"{file} has no block LQR whose gain is to be found", hint=hint))
    if out is not None and len(gains) > 1:
        listed = ", ".join(gains)
        raise InputError(f"--out takes one gain, and there are those of {listed}; name a --plant")


def _value(option: str, text: str | None) -> Any:
    """A number, list or mapping from YAML text."""
    from spart_blocks.base.document import parse_value

    return parse_value(text or "", option)


def _gain_lines(name: str, gain: LQRGain) -> list[Any]:
    import numpy as np

    from spart_blocks.analysis import LinearSystem

    kind = f"sampled, T = {gain.T:g} s" if gain.T else "continuous"
    n = len(gain.states)
    closed = LinearSystem(
        gain.A - gain.B @ gain.K, np.zeros((n, 0)), np.zeros((0, n)), np.zeros((0, 0)),
        gain.T or 0.0, gain.states, (), (), np.zeros(n), np.zeros(0), np.zeros(0), np.zeros(n),
    )  # fmt: skip
    # A column for each input: states are many, inputs few.
    seen = np.where(np.abs(gain.K) > _NOISE * np.abs(gain.K).max(initial=0.0), gain.K, 0.0)
    table = matrix_lines("K'", seen.T, gain.states, gain.inputs)
    held = matrix_lines("u at the point", gain.u[:, None], gain.inputs, ("u",))
    heading = f"{name}: {kind}, {n} states, {len(gain.inputs)} inputs"
    return [heading, "", *table, "", *held, "", "poles of the closed loop", *pole_lines(closed)]
