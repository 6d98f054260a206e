"""Fixed steps against MuJoCo: RK4 at 1 kHz of the 7-joint arm for 10 s, from rest to a
constant target under gravity, by a controller kp (target - qm) - kd um.

Both loops are compiled code, entered once for all steps, that keeps no samples:
  mujoco    mujoco.mj_step(model, data, nstep=10000), integrator RK4; the model is the same
            URDF file without shapes, the controller its joints' springs and dampers, and
            contacts, limits, constraints, sensors and actuation are disabled
  compiled  this package's compiled loop, the controller and the weight wired as blocks
Medians of `--repeat` interleaved runs. loop: the steps alone. call: with reading the model
and, for this package, tracing and the library from the cache. Final states are compared
with a reference at rtol 1e-12; between both, the same method leaves rounding alone.

Run: python benchmarks/fixed_step.py [--repeat 5] [--keep]   (needs the extra `benchmarks`)
"""

from __future__ import annotations

import time

import mujoco
import numpy as np
from arm import AMPLITUDE, GRAVITY, KP, LIGHT, mujoco_model, run_ours, swinging
from side_by_side import arguments, compared, keep, measure, show, versions

T, STEP = 10.0, 1e-3


def mujoco_arm() -> mujoco.MjModel:
    """The arm at its fastest in MuJoCo: no shapes, nothing enabled that it does not need."""
    model = mujoco_model(STEP)
    model.opt.gravity[:] = GRAVITY
    model.jnt_stiffness[:] = KP
    model.dof_damping[:] = LIGHT
    model.qpos_spring[:] = AMPLITUDE
    return model


def run_mujoco() -> tuple[float, np.ndarray]:
    model = mujoco_arm()
    data = mujoco.MjData(model)
    start = time.perf_counter()
    mujoco.mj_step(model, data, nstep=round(T / STEP))
    loop = time.perf_counter() - start
    return loop, np.concatenate([data.qpos, data.qvel])


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    ours = swinging("ours")
    peers = {
        "mujoco": run_mujoco,
        "compiled": lambda: run_ours(ours, T=T, every=T, solver="RK4", max_step=STEP),
    }
    _, truth = run_ours(ours, T=T, every=T, solver="DOP853", rtol=1e-12, atol=1e-13)
    results = measure(peers, given.repeat)
    print(versions("mujoco", "casadi"))
    show(results, "mujoco", truth)
    apart = np.abs(results["mujoco"].state - results["compiled"].state).max()
    print(f"final states are {apart:.2g} apart")
    if given.keep:
        keep(__file__, compared(results, "mujoco"), "mujoco", "casadi")


if __name__ == "__main__":
    main()
