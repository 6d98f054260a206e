"""Reachable workspace of a two-link arm on a spacecraft, and how freely it moves there.

After SPART's workspace example: the joint space is sampled, and the kinematic manipulability
sqrt(det(J J')) of the velocity in the plane drawn over it, for a base that is held, J = Jm,
and for one that floats, J = Jm - J0 inv(H0) H0m. python examples/workspace.py [--plot [FOLDER]]
Sources: T. Yoshikawa, "Manipulability of robotic mechanisms", Int. J. Robotics Research 4
(1985); Y. Umetani, K. Yoshida, "Workspace and manipulability analysis of space
manipulator", Trans. SICE 26 (1990).
"""

import argparse
from pathlib import Path

import numpy as np

from spart_blocks.spart import GIM, I_I, MCB, DH_Serial2robot, DiffKinematics, Jacob, Kinematics

parser = argparse.ArgumentParser(description="Workspace of a two-link arm on a free base.")
parser.add_argument(
    "--plot", nargs="?", const="out", metavar="FOLDER", help="draw the workspace into FOLDER (out)"
)
args = parser.parse_args()
np.set_printoptions(precision=4, suppress=True)

SIDE, LINK, WIDTH = 0.5, 0.5, 0.05  # m: edge of the base, length and width of the links
SAMPLES = 41  # of each joint
R0, r0 = np.eye(3), np.zeros(3)


def spacecraft(base_mass, link_mass=10.0):
    """The robot, a cube with two bars, and T_Ln_EE (4,4)."""
    moments = [WIDTH**2, (LINK**2 + WIDTH**2) / 2, (LINK**2 + WIDTH**2) / 2]
    bar = {
        "type": 1,
        "DH": {"d": 0, "alpha": 0, "a": LINK, "theta": 0},
        "b": [LINK / 2, 0, 0],
        "mass": link_mass,
        "I": link_mass / 6 * np.diag(moments),
    }
    to_joint = np.eye(4)
    to_joint[0, 3] = SIDE / 2
    base = {"T_L0_J1": to_joint, "mass": base_mass, "I": base_mass * SIDE**2 / 6 * np.eye(3)}
    return DH_Serial2robot({"n": 2, "man": [bar, bar], "base": base})


def velocities(qm, robot, T_Ln_EE):
    """The end-effector (2,) [m], and its Jacobians (2,2) with the base held and floating."""
    _, RL, _, rL, e, g = Kinematics(R0, r0, qm, robot)
    rEE = rL[-1] + RL[-1] @ T_Ln_EE[:3, 3]
    Bij, Bi0, P0, pm = DiffKinematics(R0, r0, rL, e, g, robot)
    J0, Jm = Jacob(rEE, r0, rL, P0, pm, robot.n_links_joints, robot)
    H0, H0m, _ = GIM(*MCB(*I_I(R0, RL, robot), Bij, Bi0, robot), Bij, Bi0, P0, pm, robot)
    J_star = Jm - J0 @ np.linalg.solve(H0, H0m)
    return rEE[:2], Jm[3:5], J_star[3:5]


light, heavy = spacecraft(100.0), spacecraft(500.0)
q1, q2 = (np.radians(np.linspace(-end, end, SAMPLES)) for end in (90, 135))
reached = [[velocities(np.array([a, b]), *light) for b in q2] for a in q1]
xy = np.array([[at[0] for at in row] for row in reached])
measures = [
    np.array([[abs(np.linalg.det(at[k])) for at in row] for row in reached]) for k in (1, 2)
]

print(f"farthest from the shoulder: {np.linalg.norm(xy - [SIDE / 2, 0], axis=-1).max():.4f} m")
for name, measure in zip(("held", "floating"), measures, strict=True):
    print(f"base {name}: manipulability at most {measure.max():.4f}, mean {measure.mean():.4f} m^2")

pose = np.radians([45, -90])
tip, held, floating = velocities(pose, *light)
stiff = velocities(pose, *heavy)[2]
for name, J in (("held", held), ("floating, 100 kg", floating), ("floating, 500 kg", stiff)):
    print(f"at 45, -90 deg, base {name}: {np.sqrt(np.linalg.det(J @ J.T)):.6f} m^2")

if args.plot:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.6), layout="constrained")
    circle = np.array([f(np.linspace(0, 2 * np.pi, 100)) for f in (np.cos, np.sin)])
    arm = np.array([[SIDE / 2, 0], [SIDE / 2, 0] + LINK * np.array([1, 1]) / np.sqrt(2), tip])
    for k, (name, measure) in enumerate(zip(("held", "floating"), measures, strict=True)):
        axes = figure.add_subplot(1, 2, k + 1, xlabel="x [m]", ylabel="y [m]", aspect="equal")
        axes.set_title(f"base {name}")
        filled = axes.pcolormesh(*np.moveaxis(xy, -1, 0), measure, shading="gouraud", vmin=0)
        figure.colorbar(filled, label="manipulability [m²]", shrink=0.8)
        axes.plot(*(SIDE / 2 * np.array([[1, -1, -1, 1, 1], [1, 1, -1, -1, 1]])), color="0.3")
        axes.plot(*arm.T, "o-", color="0.1", linewidth=3)
        ellipse = tip[:, None] + 0.5 * (held, floating)[k] @ circle  # reached at |um| = 0.5 rad/s
        axes.plot(*ellipse, color="#D55E00", label="velocity at 0.5 rad/s, in 1 s")
        axes.legend(loc="lower left")
    Path(args.plot).mkdir(parents=True, exist_ok=True)
    figure.savefig(Path(args.plot) / "workspace.png", dpi=150)
    print(f"written: {Path(args.plot) / 'workspace.png'}")
