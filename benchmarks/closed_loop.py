"""A closed loop against bdsim with Pinocchio inside: the 7-joint arm, PD to a moving
reference, 10 s at rtol 1e-6 and atol 1e-8.

Peers, interleaved, medians of `--repeat` runs in one process:
  bdsim     bdsim's own sim.run, its plant a block that calls pinocchio.aba
  native    this package with CasADi's virtual machine (CVODES)
  compiled  this package with the compiled loop (RK45)
Each final state is compared with a reference at rtol 1e-12.

Run: python benchmarks/closed_loop.py [--repeat 5]      (needs the extra `test`)
"""

from __future__ import annotations

import argparse
import statistics
import time
from contextlib import redirect_stdout
from dataclasses import replace
from importlib.metadata import version
from io import StringIO
from pathlib import Path

import numpy as np
import pinocchio as pin
from bdsim.components import ContinuousBlock

import spart_blocks as sb
from spart_blocks.simulation import compiled as compiled_loop

ARM = Path(__file__).parents[1] / "models" / "arm7.urdf"
T, RTOL, ATOL = 10.0, 1e-6, 1e-8
AMPLITUDE = np.array([0.4, 0.5, 0.3, 0.6, 0.4, 0.5, 0.6])
KP, KD = np.full(7, 60.0), np.array([20.0, 20, 12, 12, 4, 3, 1])


class PinocchioPlant(ContinuousBlock):  # type: ignore[misc]
    """The arm as bdsim's users write it: state [q, u], derivative by pinocchio.aba."""

    nin = 1
    nout = 2

    def __init__(self, **blockargs: object) -> None:
        super().__init__(x0=np.zeros(14), nin=1, nout=2, onames=["qm", "um"], **blockargs)
        self.model = pin.buildModelFromUrdf(str(ARM))
        self.model.gravity.setZero()
        self.data = self.model.createData()

    def output(self, t: float, u: list, x: np.ndarray) -> list:
        return [x[:7], x[7:]]

    def deriv(self, t: float, u: list, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[7:], pin.aba(self.model, self.data, x[:7], x[7:], u[0])])


def diagram(name: str, pinocchio: bool) -> object:
    """The loop with Pinocchio's plant or ours."""
    from bdsim.connect import Plug

    bd = sb.new_diagram(name)
    reference = bd.WAVEFORM(wave="sine", freq=0.25, amplitude=AMPLITUDE, name="reference")
    error, damping = bd.SUM("+-", name="error"), bd.GAIN(-KD * np.eye(7), name="damping")
    stiffness, torque = bd.GAIN(KP * np.eye(7), name="stiffness"), bd.SUM("++", name="torque")
    if pinocchio:
        plant = PinocchioPlant(bd=bd, name="plant")
        ports = (0, 1)
    else:
        plant = bd.MULTIBODY(sb.Robot.from_urdf(ARM, base="fixed"), name="plant")
        ports = (2, 4)
    bd.connect(reference, error[0])
    bd.connect(Plug(plant, ports[0]), error[1])
    bd.connect(error, stiffness)
    bd.connect(Plug(plant, ports[1]), damping)
    bd.connect(stiffness, torque[0])
    bd.connect(damping, torque[1])
    bd.connect(torque, plant[0])
    return bd


def timed(function) -> tuple[float, np.ndarray]:
    start = time.perf_counter()
    state = function()
    return time.perf_counter() - start, state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    theirs, ours = diagram("bdsim", True), diagram("ours", False)
    library_of = compiled_loop.library_of
    options = {"T": T, "rtol": RTOL, "atol": ATOL, "every": T}

    def run_bdsim() -> np.ndarray:
        with redirect_stdout(StringIO()):
            out = theirs.runtime.run(theirs, T=T, solver_args={"rtol": RTOL, "atol": ATOL})
        return out.x[-1]

    from spart_blocks.simulation.simulate import _engine, as_diagram
    from spart_blocks.simulation.start import prepare

    ready = as_diagram(ours)

    def our_run(solver: str, compiled: bool):
        compiled_loop.library_of = library_of if compiled else (lambda *a: None)
        changed = replace(ready, run=ready.run.model_copy(update={**options, "solver": solver}))
        engine = _engine(changed, "native")

        def go() -> np.ndarray:
            run = prepare(engine, None, None)
            run.go()
            return run.x

        go()  # compile, or make the integrator
        return go

    reference = sb.simulate(ours, T=T, rtol=1e-12, atol=1e-13, solver="DOP853", every=T)
    truth = reference.final_state.continuous["plant"]
    with redirect_stdout(StringIO()):
        theirs.compile()
    peers = {"bdsim": run_bdsim}
    peers["native"] = our_run("CVODES", False)
    peers["compiled"] = our_run("RK45", True)
    compiled_loop.library_of = library_of
    times: dict[str, list[float]] = {name: [] for name in peers}
    errors = {}
    for _ in range(repeat):
        for name, function in peers.items():
            elapsed, state = timed(function)
            times[name].append(elapsed)
            errors[name] = np.abs(np.ravel(state) - truth).max()
    base = statistics.median(times["bdsim"])
    print(f"pinocchio {pin.__version__}, bdsim {version('bdsim')}, casadi {version('casadi')}")
    print(f"{'':10} {'median [s]':>12} {'ratio':>8} {'final error':>12}")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:10} {median:12.4f} {base / median:8.1f} {errors[name]:12.2g}")


if __name__ == "__main__":
    main()
