"""Many runs of one diagram: on one core and on two, against peers, small diagrams, and an ensemble.

arm     the 7-joint arm under PD, 10 s at rtol 1e-6 and atol 1e-8, sets of gains and starts:
          loop     today's compiled loop, one run after another: its integration alone, and with
                   all that comes before and after it for each run
          lanes    runs side by side in 1, 4 and 8 lanes of each thread
          bdsim    a pool of processes that run bdsim, its plant a block that calls pinocchio.aba
          drake    MonteCarloSimulation, serial: RK5 with the accuracy 1e-6
          mujoco   rollout in threads: RK4 at 1 kHz, the reference held over each step
        Peers that take long do fewer runs. Final states are compared with a reference at
        rtol 1e-12, for the runs that all have done.
cores   how much of two cores the lanes use: time on one thread over twice that on two.
small   a diagram with 5 states: cost of each run of `sweep` with two metrics, and memory.
lorenz  rho from 0 to 21, x = (1, 0, 0), to t = 1 at rtol and atol 1e-8, beside the published
        figures of DiffEqGPU.jl and MPGOS (--all: for 8,388,608 parameters, as these are).

Times are of the processor, per run and core (`--repeat` rounds, the least of them, since other
programs on the machine add to each), with the time on the clock beside it. The peers need the
extras `test` and `benchmarks`, and Drake (`pip install drake`); those that are missing are left
out.

Run: python benchmarks/many_runs.py [arm cores small lorenz] [--runs 1000] [--repeat 3] [--all]
    [--keep]
"""

from __future__ import annotations

import os
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from arm import AMPLITUDE, KD, KP, URDF, mujoco_model, run_bdsim, tracking
from side_by_side import arguments, keep

import spart_blocks as sb
from spart_blocks.measures.work import Work, joined
from spart_blocks.program import Program
from spart_blocks.program.c.compiler import usual_lanes
from spart_blocks.run import begin, finish
from spart_blocks.run.loop import execute
from spart_blocks.sweeps.run import lanes

T, RTOL, ATOL, FREQUENCY = 10.0, 1e-6, 1e-8, 0.25
KNOWN = 4  # runs that all peers do, and whose final states are compared
CORES = os.cpu_count() or 1


@dataclass(frozen=True)
class Sets:
    """Gains kp, kd (n, 7) and starts q (n, 7) of n runs of the arm, at rest."""

    kp: np.ndarray
    kd: np.ndarray
    q: np.ndarray

    @staticmethod
    def of(count: int) -> Sets:
        rng = np.random.default_rng(0)
        kp, kd = (gain * rng.uniform(0.9, 1.1, (count, 7)) for gain in (KP, KD))
        return Sets(kp, kd, rng.uniform(-0.3, 0.3, (count, 7)))

    def first(self, count: int) -> Sets:
        return Sets(self.kp[:count], self.kd[:count], self.q[:count])

    def __len__(self) -> int:
        return len(self.q)


@dataclass(frozen=True)
class Cost:
    """Seconds of a run: of one core, and by the clock. states (n, 14): at the end."""

    core: float
    clock: float
    states: np.ndarray


def used() -> float:
    """Processor time [s] of this process and of its children that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def cheapest(work: Callable[[], np.ndarray], runs: int, repeat: int) -> Cost:
    """The least cost of a run, of several rounds."""
    rounds = []
    for _ in range(repeat):
        clock, core = time.perf_counter(), used()
        states = work()
        rounds.append((used() - core, time.perf_counter() - clock))
    core, clock = (min(times) / runs for times in zip(*rounds, strict=True))
    return Cost(core, clock, states)


# --- the arm: this package ------------------------------------------------------------------


@cache
def arm_program() -> Program:
    program = sb.trace(tracking("ours"))
    options = {"T": T, "rtol": RTOL, "atol": ATOL, "solver": "RK45", "every": T}
    return replace(program, run=program.run.model_copy(update=options))


def arm_parameters(sets: Sets) -> np.ndarray:
    program = arm_program()
    rows = np.tile(program.p, (len(sets), 1))
    part = {slot.name: slot.part for slot in program.parameters}
    # Matrices lie column by column, which does not matter for diagonal ones.
    rows[:, part["stiffness.K"]] = (sets.kp[:, :, None] * np.eye(7)).reshape(len(sets), -1)
    rows[:, part["damping.K"]] = (-sets.kd[:, :, None] * np.eye(7)).reshape(len(sets), -1)
    rows[:, part["plant.x0"]] = np.hstack([sets.q, np.zeros_like(sets.q)])
    return rows


def reference(sets: Sets) -> np.ndarray:
    options = {"rtol": 1e-12, "atol": 1e-13, "solver": "DOP853"}
    program = arm_program()
    program = replace(program, run=program.run.model_copy(update=options))
    runs = [begin(replace(program, p=row)) for row in arm_parameters(sets.first(KNOWN))]
    for run in runs:
        execute(run)
    return np.array([run.x for run in runs])


def loops(sets: Sets, repeat: int) -> dict[str, Cost]:
    """Today's loop: the integration alone, and with what surrounds it."""
    program, rows = arm_program(), arm_parameters(sets)
    costs, states = [], []
    for row in rows:
        times = []
        for _ in range(repeat):
            at = [(time.process_time(), time.perf_counter())]
            run = begin(replace(program, p=row))
            at.append((time.process_time(), time.perf_counter()))
            execute(run)
            at.append((time.process_time(), time.perf_counter()))
            finish(run)
            at.append((time.process_time(), time.perf_counter()))
            times.append(np.array(at))
        costs.append(np.min([(a[2] - a[1], a[3] - a[0]) for a in times], axis=0))
        states.append(run.x)
    means = np.mean(costs, axis=0)
    return {
        "compiled loop alone": Cost(*means[0], np.array(states)),
        "compiled loop, whole call": Cost(*means[1], np.array(states)),
    }


def in_lanes(rows: np.ndarray, count: int, threads: int) -> np.ndarray:
    work = Work(arm_program(), np.arange(len(rows)), rows)
    return joined(list(lanes.run(work, lanes=count, threads=threads))).x


# --- the arm: others --------------------------------------------------------------------------


def bdsim_run(kp: np.ndarray, kd: np.ndarray, q: np.ndarray) -> np.ndarray:
    from contextlib import redirect_stdout
    from io import StringIO

    bd = tracking("bdsim", pinocchio=True, kp=kp, kd=kd, q=q)
    with redirect_stdout(StringIO()):
        bd.compile()
    return run_bdsim(bd, T, RTOL, ATOL)


def in_processes(sets: Sets) -> np.ndarray:
    with ProcessPoolExecutor(CORES) as pool:
        return np.array(list(pool.map(bdsim_run, sets.kp, sets.kd, sets.q)))


def drake_diagram(kp: np.ndarray, kd: np.ndarray, q: np.ndarray) -> object:
    """The arm, the gains and the reference in Drake's blocks, of continuous time."""
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.systems.framework import DiagramBuilder
    from pydrake.systems.primitives import Adder, MatrixGain, Sine

    builder = DiagramBuilder()
    plant = builder.AddSystem(MultibodyPlant(time_step=0.0))
    text = URDF.read_text().replace('<mass value="0"/>', '<mass value="1"/>')  # of the fixed base
    Parser(plant).AddModelsFromString(text, "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("lbr_iiwa_link_0"))
    plant.mutable_gravity_field().set_gravity_vector(np.zeros(3))
    plant.Finalize()
    omega = np.full(7, 2 * np.pi * FREQUENCY)
    sine = builder.AddSystem(Sine(kp * AMPLITUDE, omega, np.zeros(7), True))
    back = builder.AddSystem(MatrixGain(-np.hstack([np.diag(kp), np.diag(kd)])))
    torque = builder.AddSystem(Adder(2, 7))
    builder.Connect(plant.get_state_output_port(), back.get_input_port())
    builder.Connect(sine.get_output_port(0), torque.get_input_port(0))
    builder.Connect(back.get_output_port(), torque.get_input_port(1))
    builder.Connect(torque.get_output_port(), plant.get_applied_generalized_force_input_port())
    plant.SetDefaultPositions(q)
    return builder.Build()


def in_drake(sets: Sets) -> np.ndarray:
    """MonteCarloSimulation, whose output is one number: states are taken as it is asked for."""
    from pydrake.common import RandomGenerator
    from pydrake.systems.analysis import (
        ApplySimulatorConfig,
        MonteCarloSimulation,
        Simulator,
        SimulatorConfig,
    )

    states: list[np.ndarray] = []
    drawn = iter(range(len(sets)))
    config = SimulatorConfig(
        integration_scheme="runge_kutta5",
        accuracy=RTOL,
        use_error_control=True,
        max_step_size=5e-3,
    )

    def made(generator: object) -> object:
        k = next(drawn)
        simulator = Simulator(drake_diagram(sets.kp[k], sets.kd[k], sets.q[k]))
        ApplySimulatorConfig(config, simulator)
        return simulator

    def output(system: object, context: object) -> float:
        states.append(context.get_continuous_state_vector().CopyToVector())
        return 0.0

    MonteCarloSimulation(made, output, T, len(sets), RandomGenerator(0))
    return np.array(states)


def in_mujoco(sets: Sets, step: float = 1e-3) -> np.ndarray:
    import mujoco
    from mujoco import rollout

    models, starts = [], []
    spec = mujoco.mjtState.mjSTATE_FULLPHYSICS
    for kp, kd, q in zip(sets.kp, sets.kd, sets.q, strict=True):
        model = mujoco_model(step, motors=True)
        model.dof_damping[:] = kd
        model.jnt_stiffness[:] = kp
        model.actuator_gainprm[:, 0] = kp
        model.opt.gravity[:] = 0.0
        models.append(model)
        data = mujoco.MjData(model)
        data.qpos[:] = q
        state = np.empty(mujoco.mj_stateSize(model, spec))
        mujoco.mj_getState(model, data, state, spec)
        starts.append(state)
    steps = round(T / step)
    middle = (np.arange(steps) + 0.5) * step
    control = AMPLITUDE * np.sin(2 * np.pi * FREQUENCY * middle)[:, None]
    room = [mujoco.MjData(models[0]) for _ in range(CORES)]
    states = np.empty((0, 14))
    for k in range(0, len(sets), 16):  # rollout keeps every step
        part = slice(k, k + 16)
        with rollout.Rollout(nthread=CORES) as pool:
            found, _ = pool.rollout(models[part], room, np.array(starts[part]), control[None])
        states = np.vstack([states, found[:, -1, 1:15]])
    return states


# --- parts ------------------------------------------------------------------------------------


def arm(runs: int, repeat: int, _: bool) -> dict[str, float]:
    sets = Sets.of(runs)
    truth, rows = reference(sets), arm_parameters(sets)
    costs = loops(sets.first(min(runs, 20)), repeat)
    for count in (1, 4, 8):
        for threads in (1, CORES):
            in_lanes(rows[:count], count, threads)
            name = f"{count} lanes, {threads} thread{'s' * (threads > 1)}"
            some = rows[: runs if count == 8 else max(8 * count, runs // 4)]
            costs[name] = cheapest(
                lambda some=some, count=count, threads=threads: in_lanes(some, count, threads),
                len(some), repeat,
            )  # fmt: skip
    others = {"bdsim in processes": (in_processes, "bdsim", CORES * 2)}
    others["drake, serial"] = (in_drake, "pydrake", 10)
    others["mujoco rollout, 1 ms"] = (in_mujoco, "mujoco", 32)
    for name, (work, module, count) in others.items():
        if find_spec(module) is None:
            print(f"{name} is left out: there is no {module}")
            continue
        some = sets.first(max(count, KNOWN))
        once = 1 if module == "bdsim" else repeat
        costs[name] = cheapest(lambda work=work, some=some: work(some), len(some), once)
    print(f"arm, {runs} runs: ms of a core a run, ms by the clock, ratio, largest error at the end")
    base, usual, figures = costs["compiled loop alone"].core, f"{usual_lanes()} lanes, 1 thread", {}
    for name, cost in costs.items():
        error = np.abs(cost.states[:KNOWN] - truth).max()
        numbers = f"{cost.core * 1e3:10.3f} {cost.clock * 1e3:10.3f} {base / cost.core:8.2f}"
        print(f"  {name:26}{numbers} {error:10.1e}")
        figures |= {f"{name} s": cost.core, f"{name} error": error}
        figures[f"{name} ratio"] = cost.core / costs[usual].core
    named = {name.replace(usual, "usual lanes"): value for name, value in figures.items()}
    return {"lanes": usual_lanes(), **named}


def cores(runs: int, repeat: int, _: bool) -> None:
    rows = arm_parameters(Sets.of(runs))
    usual = usual_lanes()
    in_lanes(rows[:usual], usual, 1)
    alone, both = [], []
    for _ in range(repeat):
        for times, threads in ((alone, 1), (both, CORES)):
            start = time.perf_counter()
            in_lanes(rows, usual, threads)
            times.append(time.perf_counter() - start)
    ratios = [a / (CORES * b) for a, b in zip(alone, both, strict=True)]
    print(f"cores, {runs} runs of the arm: {min(alone):.3f} s in one thread, {min(both):.3f} s")
    print(f"  in {CORES}: efficiency {min(alone) / (CORES * min(both)):.3f}, rounds {ratios}")


FIVE = """
name: five
blocks:
  goal: {type: STEP, T: 0.0, off: 0.0, on: 1.0}
  pid: {type: PID, P: 2.0, I: 1.0, D: 0.5, D_pole: 10.0}
  motor: {type: LTI_SISO, N: [1.0], D: [0.1, 1.0]}
  spring: {type: GAIN, K: -4.0}
  damper: {type: GAIN, K: -0.4}
  force: {type: SUM, signs: "+++"}
  v: {type: INTEGRATOR, x0: 0.0}
  x: {type: INTEGRATOR, x0: 1.0}
wires: [goal -> pid.0, x -> pid.1, pid -> motor, motor -> force.0, x -> spring,
  spring -> force.1, v -> damper, damper -> force.2, force -> v, v -> x]
run: {T: 5.0}
"""
OVER = {
    "spring.K": {"uniform": {"low": -5.0, "high": -3.0}},
    "x.x0": {"uniform": {"low": 0.0, "high": 1.0}},
}
METRICS = {"miss": "abs(final(x))", "top": "max(x)"}


def small(runs: int, repeat: int, everything: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "five.yaml"
        path.write_text(FIVE)
        sb.sweep(path, OVER, runs=64, metrics=METRICS)
        for count in (10_000, 100_000, *([1_000_000] if everything else [])):

            def sweep(count: int = count) -> np.ndarray:
                found = sb.sweep(path, OVER, runs=count, metrics=METRICS, workers=1)
                assert found.table().status.eq("complete").all()
                return np.zeros(0)

            cost = cheapest(sweep, count, repeat if count < 100_000 else 1)
            most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            numbers = f"{cost.core * 1e6:8.2f} us a run, {cost.clock * 1e6:8.2f} by the clock"
            print(f"small, {count:8} runs in one thread: {numbers}, {most:6.0f} MiB at most")


LORENZ = """
name: lorenz
blocks:
  x: {type: INTEGRATOR, x0: 1.0}
  y: {type: INTEGRATOR, x0: 0.0}
  z: {type: INTEGRATOR, x0: 0.0}
  gap: {type: SUM, signs: "+-"}
  sigma: {type: GAIN, K: 10.0}
  rho: {type: GAIN, K: 21.0}
  beta: {type: GAIN, K: 2.6666666666666665}
  xz: {type: PROD, ops: "**"}
  xy: {type: PROD, ops: "**"}
  dy: {type: SUM, signs: "+--"}
  dz: {type: SUM, signs: "+-"}
wires: [y -> gap.0, x -> gap.1, gap -> sigma, sigma -> x, x -> rho, rho -> dy.0, y -> dy.1,
  x -> xz.0, z -> xz.1, xz -> dy.2, dy -> y, x -> xy.0, y -> xy.1, xy -> dz.0, z -> beta,
  beta -> dz.1, dz -> z]
run: {T: 1.0, solver: RK45, rtol: 1.0e-8, atol: 1.0e-8}
"""
ENSEMBLE = 8_388_608
PUBLISHED = {  # seconds for ENSEMBLE runs, adaptive, single precision
    "DiffEqGPU.jl, Tesla V100": 69.451464e-3,
    "DiffEqGPU.jl, Quadro RTX 5000": 83.490168e-3,
    "MPGOS, Tesla V100": 48.808e-3,
    "MPGOS, Quadro RTX 5000": 191.764e-3,
}
SOURCE = """  U. Utkarsh, V. Churavy, Y. Ma et al., Automated translation and accelerated solving of
  differential equations on multiple GPU platforms, Comput. Methods Appl. Mech. Engrg. 419 (2024),
  10.1016/j.cma.2023.116591: its data in github.com/utkarsh530/GPUODEBenchmarks, paper_artifacts/"""


def lorenz(_: int, repeat: int, everything: bool) -> None:
    count = ENSEMBLE if everything else ENSEMBLE >> 5
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lorenz.yaml"
        path.write_text(LORENZ)
        program = sb.trace(sb.load(path))
    place = {slot.name: slot.part for slot in program.parameters}["rho.K"]

    def runs(threads: int, first: int = 0, last: int = count) -> np.ndarray:
        steps = ended = 0
        for start in range(first, last, 1 << 18):  # as a program that does not keep all would
            k = np.arange(start, min(start + (1 << 18), last))
            rows = np.tile(program.p, (len(k), 1))
            rows[:, place] = (21.0 * k / (count - 1))[:, None]
            for done in lanes.run(Work(program, k, rows), threads=threads):
                steps += int(done.steps.sum())
                ended += int((done.status == 0).sum())
        assert ended == last - first
        return np.array([[steps / (last - first)]])

    runs(1, 0, 64)
    for threads in (1, CORES):
        cost = cheapest(lambda threads=threads: runs(threads), count, 1 if everything else repeat)
        print(f"lorenz, {count} runs, {threads} thread(s), {cost.states[0, 0]:.1f} steps a run:")
        rates = (1 / cost.core, 1 / cost.clock)
        print("  {:12,.0f} runs a second and core, {:12,.0f} by the clock".format(*rates))
    for name, seconds in PUBLISHED.items():
        print(f"  {ENSEMBLE / seconds:12,.0f} published, {name}")
    print(SOURCE)


PARTS = {"arm": arm, "cores": cores, "small": small, "lorenz": lorenz}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[], metavar="PART")
    parser.add_argument("--runs", type=int, default=1000, help="of the arm")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--all", action="store_true", help="1e6 small runs, and the ensemble")
    options = parser.parse_args()
    for name in options.parts or PARTS:
        figures = PARTS[name](options.runs, options.repeat, options.all)
        if options.keep and figures:
            keep(__file__, figures, "pin", "bdsim", "drake", "mujoco", "casadi")


if __name__ == "__main__":
    main()
