"""Gradients of a run of 10 s of a 7-joint arm by 20 parameters: in runs' time.

The arm follows a sine under PD control and gravity. Its gains and amplitudes are the parameters,
the mean square of an error and a position at the end the metrics. Everything is prepared once; then
the plain run, the gradient by each method, and forward differences (a run for each parameter and
one more) are timed in turn, by the processor time of the process. The table tells medians, ratios
to the plain run's, and how far each gradient is from the first one's, relative to its largest
entry.

Run: python benchmarks/gradients.py [--repeat 15] [--rtol 1e-6] [--sampled]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import spart_blocks as sb
from spart_blocks.gradients.gradient import GradientRuns
from spart_blocks.gradients.taped_run import taped
from spart_blocks.run.loop import execute
from spart_blocks.run.start import prepare

ARM = Path(__file__).parents[1] / "models" / "arm7.urdf"
DIAGRAM = f"""
name: arm
robots:
  arm: {{urdf: {ARM}, base: fixed}}
params:
  kp: [60, 60, 60, 60, 60, 60, 60]
  kd: [20, 20, 12, 12, 4, 3, 1]
  amplitude: [0.4, 0.5, 0.3, 0.6, 0.4, 0.5, 0.6]
blocks:
  reference: {{type: WAVEFORM, wave: sine, freq: 0.25, amplitude: $amplitude}}
  weight: {{type: GRAVITY, robot: arm, gravity: [0, 0, -9.81]}}
  control: {{type: JOINT_PD, kp: $kp, kd: $kd}}
  plant: {{type: MULTIBODY, robot: arm}}
  joints: {{type: SCOPE}}
wires:
  - reference -> control.qd
  - weight.wFm -> plant.wFm
  - plant.qm -> control.qm, joints
  - plant.um -> control.um
  - control -> plant.taum
run: {{T: 10}}
"""
METRICS = {"error": "rms(plant.qm[1], reference[1])", "end": "final(plant.qm[1])"}
PARAMETERS = ["kp", "kd", "amplitude[0:6]"]
SAMPLED = (
    DIAGRAM.replace("blocks:", "clocks: {c: {rate: 1000}}\nblocks:")
    .replace("  joints:", "  held: {type: ZOH, clock: c, x0: [0, 0, 0, 0, 0, 0, 0]}\n  joints:")
    .replace("control -> plant.taum", "control -> held\n  - held -> plant.taum")
)
"""The same with the torques held between the ticks of a clock."""
STEP = 1e-6
"""Relative step of the forward differences."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--rtol", type=float, default=1e-6)
    parser.add_argument("--sampled", action="store_true", help="the controller is at 1 kHz")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.yaml"
        path.write_text(SAMPLED if asked.sampled else DIAGRAM, encoding="utf-8")
        options = {"rtol": asked.rtol, "atol": 1e-2 * asked.rtol}
        diagram = sb.load(path, root=path.anchor)
        runs = GradientRuns.of(diagram, METRICS, PARAMETERS, **options)
    forward, adjoint = replace(runs, method="forward"), replace(runs, method="adjoint")
    ways = {
        "the run": lambda: plain(runs),
        "forward": lambda: stacked(forward.at().derivatives),
        "adjoint": lambda: stacked(adjoint.at().derivatives),
        "forward differences": lambda: differences(runs),
    }
    found = {name: way() for name, way in ways.items()}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(asked.repeat):
        for name, way in ways.items():
            start = time.process_time()
            way()
            times[name].append(time.process_time() - start)
    one = statistics.median(times["the run"])
    print(f"{runs.changes.shape[1]} parameters, rtol {asked.rtol:g}")
    for name, taken in times.items():
        took = statistics.median(taken)
        off = ""
        if found[name] is not None:
            truth = found["forward"]
            off = f"{np.abs(found[name] - truth).max() / np.abs(truth).max():10.1e}"
        print(f"{name:22}{1e3 * took:10.1f} ms {took / one:8.1f} runs {off}")


def plain(runs: GradientRuns) -> None:
    """The run alone, ready to go."""
    execute(prepare(runs.engine, None, None))


def stacked(derivatives: dict) -> np.ndarray:
    """The derivatives (metrics, parameters)."""
    return np.array(
        [np.concatenate([d.ravel() for d in one.values()]) for one in derivatives.values()]
    )


def differences(runs: GradientRuns) -> np.ndarray:
    """The gradient by forward differences."""
    p = runs.engine.program.p

    def values(p: np.ndarray) -> np.ndarray:
        run = taped(runs.engine.with_parameters(p), runs.metrics.gauges)
        read = {gauge.kind: one for gauge, one in run.readings.items()}
        square, span = (float(read["square"][name][0]) for name in ("integral", "span"))
        return np.array([np.sqrt(square / span), float(read["extremes"]["last"][0])])

    base = values(p)
    columns = []
    for change in runs.changes.T:
        step = STEP * max(1.0, float(np.abs(p[change != 0]).max()))
        columns.append((values(p + step * change) - base) / step)
    return np.array(columns).T


if __name__ == "__main__":
    main()
