"""Forward dynamics of the 7-joint arm, one call from Python, against pinocchio.aba.

Peers, interleaved, medians of `--repeat` rounds of `--calls` calls each:
  pinocchio        pinocchio.aba(model, data, q, v, tau)
  virtual machine  the traced program evaluated by CasADi through its buffers
  interpreter      spart_blocks.dynamics.multibody_rates on NumPy arrays

Run: python benchmarks/forward_dynamics.py [--repeat 7] [--calls 20000]
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin

import spart_blocks as sb
from spart_blocks.dynamics import multibody_rates
from spart_blocks.program.symbol import column_of, symbols

ARM = Path(__file__).parents[1] / "models" / "arm7.urdf"


def traced(robot: sb.Robot):
    """umdot (7,) as a function of q, u, tau, called through CasADi's buffers."""
    columns, arrays = zip(*(symbols(name, (7,)) for name in "quf"), strict=True)
    none, weightless = np.zeros(6), np.zeros((robot.n_links_joints, 6))
    rates = multibody_rates(
        np.eye(3), none, arrays[0], arrays[1], none, arrays[2], none, weightless, robot
    )
    function = ca.Function("fd", list(columns), [column_of([rates.umdot])])
    buffer, call = function.buffer()
    inputs, out = [np.zeros(7) for _ in range(3)], np.zeros(7)
    for k, array in enumerate(inputs):
        buffer.set_arg(k, memoryview(array))
    buffer.set_res(0, memoryview(out))
    return buffer, call, inputs, out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--calls", type=int, default=20000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    q, u, tau = rng.normal(size=(3, 7))
    model = pin.buildModelFromUrdf(str(ARM))
    model.gravity.setZero()
    data = model.createData()
    robot = sb.Robot.from_urdf(ARM, base="fixed")
    none, weightless = np.zeros(6), np.zeros((robot.n_links_joints, 6))
    _buffer, call, inputs, out = traced(robot)
    for array, value in zip(inputs, (q, u, tau), strict=True):
        array[:] = value

    def interpreter():
        return multibody_rates(np.eye(3), none, q, u, none, tau, none, weightless, robot).umdot

    call()
    truth = pin.aba(model, data, q, u, tau)
    for name, got in (("virtual machine", out), ("interpreter", interpreter())):
        assert np.abs(got - truth).max() < 1e-9 * np.abs(truth).max(), name
    peers = {
        "pinocchio": (lambda: pin.aba(model, data, q, u, tau), options.calls),
        "virtual machine": (call, options.calls),
        "interpreter": (interpreter, max(1, options.calls // 100)),
    }
    times: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(options.repeat):
        for name, (function, calls) in peers.items():
            start = time.perf_counter()
            for _ in range(calls):
                function()
            times[name].append((time.perf_counter() - start) / calls)
    base = statistics.median(times["pinocchio"])
    print(f"pinocchio {pin.__version__}, casadi {ca.__version__}")
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:16} {median * 1e6:10.2f} us   {base / median:6.2f} x pinocchio's speed")


if __name__ == "__main__":
    main()
