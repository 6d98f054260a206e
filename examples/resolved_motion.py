"""Resolved motion on a floating base: SPART's Simulink example, its script and its model.

Three bars on a free base. The script makes the robot and its first momentum; the model moves
the joints so that the end-effector follows a twist, while the base answers as momentum has
it. python examples/resolved_motion.py [--plot [FOLDER]]
"""

import argparse
from pathlib import Path

import numpy as np

import spart_blocks as sb
from spart_blocks.diagram import new_diagram
from spart_blocks.spart import GIM, I_I, MCB, DH_Serial2robot, DiffKinematics, Kinematics, quat_DCM

parser = argparse.ArgumentParser(description="An end-effector follows a twist on a free base.")
parser.add_argument(
    "--plot", nargs="?", const="out", metavar="FOLDER", help="draw the motion into FOLDER (out)"
)
args = parser.parse_args()
np.set_printoptions(precision=4, suppress=True)

# Robot: bars of 1 m and 10 kg on a cube of 0.5 m and 100 kg.
LENGTH, WIDTH, SIDE = 1.0, 0.05, 0.5  # m
moments = [WIDTH**2, (LENGTH**2 + WIDTH**2) / 2, (LENGTH**2 + WIDTH**2) / 2]
bar = {
    "type": 1,
    "DH": {"d": 0, "alpha": 0, "a": LENGTH, "theta": 0},
    "b": [LENGTH / 2, 0, 0],
    "mass": 10,
    "I": 10 / 6 * np.diag(moments),
}
to_joint = np.eye(4)
to_joint[0, 3] = SIDE / 2
base = {"T_L0_J1": to_joint, "mass": 100, "I": 100 * SIDE**2 / 6 * np.eye(3)}
robot, T_Ln_EE = DH_Serial2robot({"n": 3, "man": [bar] * 3, "base": base})

# Initial state and momentum.
R0, r0 = quat_DCM([0, 0, 0, 1]).T, np.zeros(3)
qm0, u00, um0 = np.radians([45, -45, -45]), np.zeros(6), np.zeros(3)
RJ, RL, rJ, rL, e, g = Kinematics(R0, r0, qm0, robot)
Bij, Bi0, P0, pm = DiffKinematics(R0, r0, rL, e, g, robot)
H0, H0m, Hm = GIM(*MCB(*I_I(R0, RL, robot), Bij, Bi0, robot), Bij, Bi0, P0, pm, robot)
M0 = H0 @ u00 + H0m @ um0
print(f"first momentum: {M0} N m s, kg m/s")

# The model: rates of the joints, of the base, and the motion that they make.
bd = new_diagram("resolved-motion")
# links[-1].T leads from the link's own frame, at its joint, to its centre of mass.
tool = {"frame": "link3", "offset": (robot.links[-1].T @ T_Ln_EE)[:3, 3]}
twist = np.array([0, 0, 0.01, -0.03, 0.02, 0])  # rad/s, m/s: of the end-effector
wanted = bd.CONSTANT(twist, name="wanted")
plant = bd.STATE_INTEGRATOR(robot, initial={"qm": qm0}, name="plant")
rates = bd.RESOLVED_RATE(robot, **tool, name="rates")
answer = bd.BASE_REACTION(robot, name="answer")
tip = bd.END_EFFECTOR(robot, **tool, name="tip")
for port in ("R0", "r0", "qm"):
    bd.connect(getattr(plant, port), *(getattr(block, port) for block in (rates, answer, tip)))
bd.connect(wanted, rates.td)
bd.connect(rates.um, plant.um, answer.um, tip.um)
bd.connect(answer.u0, plant.u0, tip.u0)

log = ["tip.rp", "tip.tp", "answer.u0", "rates.um"]
results = sb.simulate(bd, T=10, rtol=1e-9, atol=1e-11, every=0.25, log=log)
print(f"end-effector after {results.t[-1]:g} s: {results['tip.rp'][-1]} m")
print(f"joints: {np.degrees(results['plant.qm'][-1])} deg")
turned = np.degrees(np.arctan2(*results["plant.R0"][-1, [1, 0], 0]))
print(f"the base has turned by {turned:.4f} deg, and moved by {results['plant.r0'][-1]} m")
print(f"largest error of the twist: {np.abs(results['tip.tp'] - twist).max():.1e}")

if args.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.add_subplot(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    for k, shade in ((0, "0.75"), (20, "0.5"), (40, "0.1")):
        R, r = results["plant.R0"][k], results["plant.r0"][k]
        joints = Kinematics(R, r, results["plant.qm"][k], robot).rJ
        square = SIDE / 2 * np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0], [1, 1, 0]])
        axes.plot(*(square @ R.T + r).T[:2], color=shade)
        label = f"t = {results.t[k]:g} s"
        axes.plot(*np.vstack([joints, results["tip.rp"][k]]).T[:2], "o-", color=shade, label=label)
    axes.plot(*results["tip.rp"].T[:2], color="#D55E00", label="end-effector")
    axes.legend()
    Path(args.plot).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(args.plot) / "resolved_motion.png", dpi=150)
    print(f"written: {Path(args.plot) / 'resolved_motion.png'}")
