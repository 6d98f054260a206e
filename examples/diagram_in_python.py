"""A diagram in Python: the spacecraft of diagrams/spacecraft_pd.yaml, made with bdsim.

python examples/diagram_in_python.py [--plot [FOLDER]]
"""

import argparse
from pathlib import Path

import bdsim
import numpy as np

import spart_blocks as sb

parser = argparse.ArgumentParser(description="A free-floating spacecraft moves its arm.")
parser.add_argument(
    "--plot", nargs="?", const="out", metavar="FOLDER", help="write the scopes into FOLDER (out)"
)
args = parser.parse_args()
np.set_printoptions(precision=4, suppress=True)

ROOT = Path(__file__).resolve().parents[1]
robot = sb.Robot.from_urdf(ROOT / "models" / "spacecraft_3dof.urdf")

# Without sysargs=False bdsim would read this script's command line.
sim = bdsim.BDSim(
    packages="spart_blocks", sysargs=False, graphics=False, toolboxes=False, banner=False
)
bd = sim.blockdiagram(name="spacecraft-pd")

# Blocks. Names are optional, but results go by them.
qd = bd.STEP(T=1.0, off=np.zeros(3), on=np.array([0.5, -0.3, 0.2]), name="qd")  # rad
ctrl = bd.JOINT_PD(kp=[40, 40, 10], kd=[20, 20, 5], name="ctrl")  # N m/rad, N m s/rad
plant = bd.MULTIBODY(robot, initial={"qm": [0.1, 0, 0]}, name="plant")
attitude = bd.R_ANGLES321(name="attitude")
joints = bd.SCOPE(vector=3, labels=["q1", "q2", "q3"], title="Joint positions", name="joints")
torques = bd.SCOPE(vector=3, labels=["tau1", "tau2", "tau3"], title="Joint torques", name="torques")
base = bd.SCOPE(
    vector=3, labels=["roll", "pitch", "yaw"], title="Attitude of the base", name="base"
)

# Wires: ports are attributes. The plant's wrenches and base torque stay zero.
bd.connect(qd, ctrl.qd)
bd.connect(plant.qm, ctrl.qm, joints)
bd.connect(plant.um, ctrl.um)
bd.connect(ctrl, plant.taum, torques)
bd.connect(plant.R0, attitude)
bd.connect(attitude, base)

results = sb.simulate(bd, T=20)
roll, pitch, yaw = np.degrees(results["attitude"][-1])
print(f"joints after {results.t[-1]:g} s: {results['plant.qm'][-1]} rad")
print(f"the base has turned by roll {roll:.3f}, pitch {pitch:.3f}, yaw {yaw:.3f} deg")
print(f"largest joint torque: {results.scale('ctrl.tau'):.2f} N m")

if args.plot:
    for path in results.save_plots(args.plot):
        print(f"written: {path}")
