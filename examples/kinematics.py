"""Kinematics: where the links are, how they move, and the Jacobians.

After SPART's tutorial "Kinematics". python examples/kinematics.py [--plot [FOLDER]]
"""

import argparse
from pathlib import Path

import numpy as np

import spart_blocks as sb
from spart_blocks import dynamics

parser = argparse.ArgumentParser(description="Kinematics of a spacecraft with an arm.")
parser.add_argument(
    "--plot", nargs="?", const="out", metavar="FOLDER", help="draw the side view into FOLDER (out)"
)
args = parser.parse_args()
np.set_printoptions(precision=4, suppress=True)

ROOT = Path(__file__).resolve().parents[1]
robot = sb.Robot.from_urdf(ROOT / "models" / "spacecraft_3dof.urdf")

# The configuration: pose of the base-link's centre of mass, and joint positions.
R0 = np.eye(3)  # base axes to inertial axes
r0 = np.zeros(3)  # m
qm = np.radians([30, -45, 60])

# Positions and rotations of all joints and links, inertial. Link i is at index i - 1.
K = dynamics.kinematics(R0, r0, qm, robot)
tool = robot.robot_keys.link_id["Link_EE"]
print(f"position of the tool, link {tool}: {K.rL[tool - 1]} m")
print(f"axis of Joint_2: {K.e[robot.robot_keys.joint_id['Joint_2'] - 1]}")
print(f"centre of mass of the system: {dynamics.center_of_mass(r0, K.rL, robot)} m")

# Rates: u0 is [angular rate in base axes, velocity in inertial axes].
D = dynamics.diff_kinematics(R0, r0, K.rL, K.e, K.g, robot)
u0 = np.array([0.01, 0, 0, 0, 0.02, 0])  # rad/s, m/s
um = np.radians([4, -1, 5])  # rad/s
V = dynamics.velocities(D.Bij, D.Bi0, D.P0, D.pm, u0, um, robot)
print(f"\ntwist of the tool: {V.tL[tool - 1]} rad/s, m/s")

# The Jacobian gives the same twist.
J = dynamics.jacobian(K.rL[tool - 1], r0, K.rL, D.P0, D.pm, tool, robot)
tp = J.J0 @ u0 + J.Jm @ um
print(f"J0 u0 + Jm um:     {tp} rad/s, m/s")
print(f"difference: {np.abs(tp - V.tL[tool - 1]).max():.1e}")

# Twist rates, and the same from the Jacobian and its time derivative.
u0dot, umdot = np.zeros(6), np.radians([-0.1, 0.2, 0.1])  # rad/s^2
A = dynamics.accelerations(V.t0, V.tL, D.P0, D.pm, D.Bi0, D.Bij, u0, um, u0dot, umdot, robot)
Jdot = dynamics.jacobian_dot(K.rL[tool - 1], tp, r0, V.t0, K.rL, V.tL, D.P0, D.pm, tool, robot)
tpdot = J.J0 @ u0dot + Jdot.J0dot @ u0 + J.Jm @ umdot + Jdot.Jmdot @ um
print(f"\ntwist rate of the tool: {A.tLdot[tool - 1]} rad/s^2, m/s^2")
print(f"from the Jacobian:      {tpdot} rad/s^2, m/s^2")
print(f"difference: {np.abs(tpdot - A.tLdot[tool - 1]).max():.1e}")

if args.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4, 6), layout="constrained")
    axes = figure.add_subplot(xlabel="y [m]", ylabel="z [m]", aspect="equal")
    path = np.vstack([r0, *np.stack([K.rJ, K.rL], axis=1).reshape(-1, 3)])
    axes.plot(path[:, 1], path[:, 2], color="#0072B2")
    axes.plot(K.rJ[:, 1], K.rJ[:, 2], "o", color="#D55E00", label="joints")
    axes.plot(K.rL[:, 1], K.rL[:, 2], "s", color="#0072B2", label="centres of mass")
    axes.legend()
    Path(args.plot).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(args.plot) / "kinematics.png", dpi=150)
    print(f"\nwritten: {Path(args.plot) / 'kinematics.png'}")
