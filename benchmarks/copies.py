"""Copies of a subsystem in compiled code: lines of C, compiling it, and a call of the rates.

servo: ten blocks, of a PI controller with a limit, a filter and a plant. pendulum: a double
pendulum under PD control. arm: ten blocks of one subsystem, each a 7-joint arm under PD control.
For each, with loops and written out as CasADi does, in processor time:
  lines      of C
  source     writing it [s]
  compiler   compiling it [s]
  rates      one call [us], minimum of `--repeat` rounds that alternate

Run: python benchmarks/copies.py [--repeat 31]
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import spart_blocks as sb
from spart_blocks.program.c import machine_code
from spart_blocks.program.c.compiler import compiler_name, loaded_library
from spart_blocks.run.engines import compiled

ROOT = Path(__file__).parents[1]
SERVO = """
subsystems:
  servo:
    inputs: [goal]
    outputs: [angle]
    blocks:
      error: {type: SUM, signs: "+-"}
      gain: {type: GAIN, K: 1.5}
      integral: {type: INTEGRATOR}
      ki: {type: GAIN, K: 0.7}
      sum: {type: SUM, signs: "++"}
      sat: {type: CLIP, min: -1.5, max: 1.5}
      filter: {type: LTI_SISO, N: 1, D: [0.1, 1]}
      angle: {type: INTEGRATOR}
    wires: [in.goal -> error.0, angle -> error.1, error -> gain, error -> integral, integral -> ki,
            gain -> sum.0, ki -> sum.1, sum -> sat, sat -> filter, filter -> angle,
            angle -> out.angle]
"""
ARM = """
robots: {{arm: {{urdf: models/{model}.urdf, base: fixed}}}}
subsystems:
  servo:
    inputs: [goal]
    outputs: [angle]
    blocks:
      pd: {{type: JOINT_PD, kp: 20.0, kd: 5.0}}
      plant: {{type: MULTIBODY, robot: arm}}
    wires: [in.goal -> pd.qd, plant.qm -> pd.qm, plant.um -> pd.um, plant.qm -> out.angle,
            pd -> plant.taum]
"""


def each(count: int, entry: Any) -> str:
    goals = [entry(0.1 + k / count) for k in range(count)]
    return f"""blocks:
  goals: {{type: CONSTANT, value: {goals}}}
  copies: {{type: servo, for_each: {{over: [goal]}}}}
wires: [goals -> copies.goal]
"""


def several(count: int) -> str:
    blocks = [f"  arm{k}: {{type: servo}}" for k in range(count)]
    wires = ", ".join(f"goal -> arm{k}.goal" for k in range(count))
    goal = "  goal: {type: CONSTANT, value: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]}"
    return "\n".join(["blocks:", goal, *blocks, f"wires: [{wires}]", ""])


CASES = {
    **{f"{n} servos": SERVO + each(n, float) for n in (10, 100, 1000)},
    **{
        f"{n} pendulums": ARM.format(model="double_pendulum") + each(n, lambda v: [v, -v])
        for n in (10, 100, 1000)
    },
    "10 arms": ARM.format(model="arm7") + several(10),
}


def spent(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=31)
    given = parser.parse_args()
    print(f"compiler: {compiler_name()}; load {os.getloadavg()[0]:.1f}")
    print(f"{'':15}{'lines':>16}{'source [s]':>16}{'compiler [s]':>16}{'rates [us]':>18}")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SPART_CACHE"] = folder
        path = Path(folder, "copies.yaml")
        for name, text in CASES.items():
            path.write_text(text.replace("models/", f"{ROOT}/models/"))
            print(f"{name:15}{measured(path, given.repeat)}", flush=True)


def measured(path: Path, repeat: int) -> str:
    program = sb.trace(sb.load(path, root="/"))
    function = compiled._renamed("program_rates", program.rates)
    columns: list[list[str]] = [[], [], []]
    calls = []
    with_loops = machine_code._with_loops
    rng = np.random.default_rng(0)
    arguments = [rng.normal(size=max(1, function.numel_in(k))) for k in range(function.n_in())]
    results = [np.zeros(function.numel_out(0)) for _ in range(2)]
    for loops, out in zip((True, False), results, strict=True):
        machine_code._with_loops = with_loops if loops else lambda function: None
        start = time.process_time()
        source = machine_code._c_source([function])
        columns[1].append(f"{time.process_time() - start:.2f}")
        columns[0].append(f"{source.count(chr(10)):,}")
        before = spent(resource.RUSAGE_CHILDREN)
        library = loaded_library(source)
        columns[2].append(f"{spent(resource.RUSAGE_CHILDREN) - before:.2f}")
        calls.append(call_of(library, arguments, out))
    machine_code._with_loops = with_loops
    assert np.allclose(*results, rtol=1e-9)
    count = max(10, int(5e-3 / timed(calls[1], 10)))
    rounds = [[timed(call, count) for call in calls] for _ in range(repeat)]
    fastest = [f"{1e6 * min(times):.2f}" for times in zip(*rounds, strict=True)]
    return "".join(f"{' / '.join(pair):>16}" for pair in (*columns, fastest))


def call_of(library: Any, arguments: list[Any], out: Any) -> Any:
    address = ctypes.c_void_p
    arg = (address * 8)(*(array.ctypes.data for array in arguments))
    res = (address * 2)(out.ctypes.data)
    function = library.program_rates
    function.argtypes = [address, address, address, address, ctypes.c_int]
    work = np.zeros(100_000)

    def call(work: Any = work, kept: Any = (arguments, out)) -> None:
        function(arg, res, work.ctypes.data, work.ctypes.data, 0)

    call()
    return call


def timed(call: Any, count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count


if __name__ == "__main__":
    main()
