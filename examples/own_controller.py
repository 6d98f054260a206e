"""A controller of your own: a bdsim block in your script, wired to a plant.

python examples/own_controller.py [--plot [FOLDER]]
"""

import argparse
from pathlib import Path

import bdsim
import numpy as np
from bdsim.components import FunctionBlock

import spart_blocks as sb


class LimitedPD(FunctionBlock):
    """Proportional-derivative control of joints whose motors have a limit.

    tau = clip(kp (qd - qm) - kd um, -limit, limit), in N m.
    """

    nin = 3
    nout = 1

    def __init__(self, kp, kd, limit, **blockargs):
        super().__init__(inames=["qd", "qm", "um"], onames=["tau"], **blockargs)
        self.kp, self.kd, self.limit = np.array(kp), np.array(kd), np.array(limit)

    def output(self, t, inputs, x):
        qd, qm, um = inputs
        tau = self.kp * (qd - qm) - self.kd * um
        return [np.clip(tau, -self.limit, self.limit)]


def spacecraft(limit):
    """The diagram of a spacecraft whose arm this controller moves. limit: N m."""
    models = Path(__file__).resolve().parents[1] / "models"
    robot = sb.Robot.from_urdf(models / "spacecraft_3dof.urdf")
    sim = bdsim.BDSim(
        packages="spart_blocks", sysargs=False, graphics=False, toolboxes=False, banner=False
    )
    bd = sim.blockdiagram(name="own-controller")
    target = bd.STEP(T=1.0, off=np.zeros(3), on=np.array([0.5, -0.3, 0.2]), name="target")
    # bd=bd puts the block into the diagram; bdsim's own blocks get this from bd.NAME(...).
    ctrl = LimitedPD([40, 40, 10], [20, 20, 5], limit, bd=bd, name="ctrl")
    plant = bd.MULTIBODY(robot, name="plant")
    joints = bd.SCOPE(vector=3, labels=["q1", "q2", "q3"], title="Joints", name="joints")
    torques = bd.SCOPE(vector=3, labels=["tau1", "tau2", "tau3"], title="Torques", name="torques")
    bd.connect(target, ctrl.qd)
    bd.connect(plant.qm, ctrl.qm, joints)
    bd.connect(plant.um, ctrl.um)
    bd.connect(ctrl, plant.taum, torques)
    return bd


def main():
    parser = argparse.ArgumentParser(description="A controller with limited torque.")
    parser.add_argument(
        "--plot", nargs="?", const="out", metavar="FOLDER", help="write scopes into FOLDER (out)"
    )
    args = parser.parse_args()
    for limit in (100.0, 2.0):
        results = sb.simulate(spacecraft(limit), T=20)
        error = np.abs(results["plant.qm"] - [0.5, -0.3, 0.2]).max(axis=1)
        settled = results.t[error > 0.005][-1]
        print(f"limit {limit:g} N m:")
        print(f"  largest torque: {results.scale('ctrl.tau'):.2f} N m")
        print(f"  joints within 0.005 rad from t = {settled:.2f} s on")
        print(f"  joint error after {results.t[-1]:g} s: {error[-1]:.1e} rad")
    if args.plot:
        for path in results.save_plots(args.plot):
            print(f"written: {path}")


if __name__ == "__main__":
    main()
