"""Figures of time and memory that pages of docs/ tell, each beside the page that tells it.

compiled_functions.md: what a call of a compiled function costs beyond the function in a loop in C.
estimation.md: a tick of MPC_S with a horizon of 25, 50 bounds and 40 steps.
speed.md: the second `spart run` of a file, three pictures included.
variational.md: a step of the double pendulum by the variational integrator, against RK4.
records.md: the most memory that `spart run` takes, by T, of a loop at 100 Hz.

Times are processor times, the least of `--repeat`.

Run: python benchmarks/page_figures.py [--long] [--keep]
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from side_by_side import arguments, keep

import spart_blocks as sb
from spart_blocks import dynamics

ROOT = Path(__file__).resolve().parents[1]
SPART = [sys.executable, "-m", "spart_blocks"]


def least(act: Callable[[], object], repeat: int) -> float:
    """The least processor time of a call [s]."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        act()
        times.append(time.process_time() - start)
    return min(times)


def calls(repeat: int) -> None:
    robot = sb.Robot.from_urdf(ROOT / "models" / "arm7.urdf", base="fixed")
    R0, none = robot.base_link.T[:3, :3], np.zeros(6)
    weights = dynamics.gravity_wrenches([0, 0, -9.81], robot)

    def forward(qm, um, taum):
        return dynamics.multibody_rates(R0, none, qm, um, none, taum, *weights, robot).umdot

    function = sb.compiled(forward, 7, 7, 7)
    given = np.full(7, 0.3), np.zeros(7), np.ones(7)
    bound = function.bound(*given)
    n = 20_000
    for what, act in (("function(...)", lambda: function(*given)), ("bound()", bound)):
        took = least(lambda act=act: [act() for _ in range(n)], repeat) / n
        print(f"compiled_functions.md  {what:40} {1e6 * took:8.2f} us")


def tick_of_mpc(repeat: int, folder: Path) -> None:
    text = {
        "clocks": {"c": {"rate": 10}},
        "blocks": {
            "goal": {"type": "CONSTANT", "value": [1, 0]},
            "mpc": {"type": "MPC_S", "clock": "c", "A": [[0, 1], [0, 0]], "B": [0, 1],
                    "Q": [1, 0], "R": 0.01, "N": 25, "iterations": 40, "lower": -1, "upper": 1,
                    "C": [0, 1], "y_upper": 0.5, "y_weight": 100, "penalty": 10},
            "held": {"type": "CONSTANT", "value": [0, 0]},
        },
        "wires": ["held -> mpc.x", "goal -> mpc.xd"],
        "run": {"T": 1000, "every": 1000, "log": ["mpc.u"]},
    }  # fmt: skip
    path = folder / "mpc.yaml"
    path.write_text(json.dumps(text))
    sb.simulate(path, T=1000)
    short, whole = (least(lambda T=T: sb.simulate(path, T=T), repeat) for T in (1000, 11_000))
    print(f"estimation.md          {'a tick of MPC_S':40} {1e6 * (whole - short) / 1e5:8.2f} us")


def steps(repeat: int, folder: Path) -> None:
    page = (ROOT / "docs" / "variational.md").read_text(encoding="utf-8")
    text = page.split("```yaml\n")[1].split("```")[0]
    path = folder / "swing.yaml"
    path.write_text(text.replace("models/", ""))
    shutil.copy(ROOT / "models" / "double_pendulum.urdf", folder)
    for way, given in (("variational", {}), ("solver", {"run.solver": "RK4"})):
        changes = {"params.integrator": way, "run.T": 600, "run.every": 10, **given}
        runs = [sb.simulate(path, overrides=changes).info for _ in range(repeat)]
        took = min(info["wall_time"] / info["steps"] for info in runs)
        print(f"variational.md         {'a step by ' + way:40} {1e6 * took:8.2f} us")


def second_run(repeat: int, folder: Path) -> float:
    """The least processor time of `spart run` with a filled cache [s]."""
    words = [*SPART, "run", str(ROOT / "diagrams" / "spacecraft_pd.yaml"), "--quiet"]
    times = []
    for _ in range(repeat + 1):
        before = ended()
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
        times.append(ended() - before)
    print(f"speed.md               {'the second spart run of a file':40} {min(times[1:]):8.2f} s")
    return min(times[1:])


def ended() -> float:
    """Processor time of processes that have ended [s]."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def memory(folder: Path, spans: tuple[int, ...]) -> None:
    (folder / "loop.yaml").write_text(
        "clocks: {c: {rate: 100}}\n"
        "blocks:\n"
        "  r: {type: WAVEFORM, wave: sine, freq: 0.2}\n"
        '  e: {type: SUM, signs: "+-"}\n'
        "  pid: {type: PID_2DOF_S, clock: c, P: 2, I: 1}\n"
        "  zero: {type: CONSTANT, value: 0}\n"
        "  x: {type: INTEGRATOR}\n"
        "  scope: {type: SCOPE, nin: 2}\n"
        "wires: [r -> e.0, x -> e.1, e -> pid.r, zero -> pid.y, pid -> x, r -> scope.0,"
        " x -> scope.1]\n"
    )
    count = "import resource,subprocess,sys; subprocess.run(sys.argv[1:], check=True); " \
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"  # fmt: skip
    for span in spans:
        words = [*SPART, "run", "loop.yaml", "--headless", "--quiet", "--t", str(span),
                 "--out", "run.npz"]  # fmt: skip
        told = subprocess.run(
            [sys.executable, "-c", count, *words], cwd=folder, check=True, capture_output=True
        )
        peak = int(told.stdout.split()[-1]) / 1024
        print(f"records.md             {f'peak of spart run, T = {span}':40} {peak:8.0f} MB")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--long", action="store_true", help="also the run of 360,000 s")
    given = parser.parse_args()
    calls(given.repeat)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tick_of_mpc(given.repeat, folder)
        steps(given.repeat, folder)
        again = second_run(given.repeat, folder)
        memory(folder, (3600, 36_000, *([360_000] if given.long else [])))
    if given.keep:
        keep(__file__, {"second run s": again}, "casadi")


if __name__ == "__main__":
    main()
