"""SPART's URDF tutorial script with SPART's own function names, line by line.

What changes against MATLAB: `from spart_blocks.spart import *`, arrays from NumPy, and
link i at index i - 1, the link axis first. Run it from anywhere:
python examples/matlab_port.py
"""

from pathlib import Path

import numpy as np

from spart_blocks.spart import (
    CIM,
    FD,
    GIM,
    I_I,
    ID,
    MCB,
    Accelerations,
    DiffKinematics,
    Floating_ID,
    Jacob,
    Jacobdot,
    Kinematics,
    Velocities,
    urdf2robot,
)

np.set_printoptions(precision=6, suppress=True)

# Robot model
models = Path(__file__).resolve().parents[1] / "models"
robot, robot_keys = urdf2robot(str(models / "spacecraft_3dof.urdf"))
print(f"active joints: {robot.n_q}, links: {robot.n_links_joints}")

# Pose of the base-link and joint displacements
R0 = np.eye(3)
r0 = np.zeros(3)
qm = np.zeros(3)

# Kinematics
RJ, RL, rJ, rL, e, g = Kinematics(R0, r0, qm, robot)
i = 2
print(f"centre of mass of link {i}: {rL[i - 1]} m")

# Differential kinematics
Bij, Bi0, P0, pm = DiffKinematics(R0, r0, rL, e, g, robot)
u0 = np.zeros(6)
um = np.array([4, -1, 5]) * np.pi / 180
t0, tL = Velocities(Bij, Bi0, P0, pm, u0, um, robot)
print(f"twist of link {i}: {tL[i - 1]} rad/s, m/s")

# Jacobian of the last link's centre of mass, and its time derivative
n = robot.n_links_joints
J0n, Jmn = Jacob(rL[n - 1], r0, rL, P0, pm, n, robot)
J0ndot, Jmndot = Jacobdot(rL[n - 1], tL[n - 1], r0, t0, rL, tL, P0, pm, n, robot)
print(f"velocity of link {n}: {(J0n @ u0 + Jmn @ um)[3:]} m/s")

# Accelerations
u0dot = np.zeros(6)
umdot = np.array([-0.1, 0.2, 0.1]) * np.pi / 180
t0dot, tLdot = Accelerations(t0, tL, P0, pm, Bi0, Bij, u0, um, u0dot, umdot, robot)
print(f"acceleration of link {n}: {tLdot[n - 1, 3:]} m/s^2")

# Inertia matrices
I0, Im = I_I(R0, RL, robot)
M0_tilde, Mm_tilde = MCB(I0, Im, Bij, Bi0, robot)
H0, H0m, Hm = GIM(M0_tilde, Mm_tilde, Bij, Bi0, P0, pm, robot)
C0, C0m, Cm0, Cm = CIM(t0, tL, I0, Im, M0_tilde, Mm_tilde, Bij, Bi0, P0, pm, robot)
print(f"diagonal of Hm: {np.diag(Hm)} kg m^2")

# Forward dynamics
wF0 = np.zeros(6)
wFm = np.zeros((n, 6))
tau0 = np.zeros(6)
taum = np.array([1, 0.5, -0.2])  # N m
u0dot_FD, umdot_FD = FD(tau0, taum, wF0, wFm, t0, tL, P0, pm, I0, Im, Bij, Bi0, u0, um, robot)
print(f"joint accelerations: {umdot_FD} rad/s^2")

# Inverse dynamics: a flying base, then a floating one
tau0, taum = ID(wF0, wFm, t0, tL, t0dot, tLdot, P0, pm, I0, Im, Bij, Bi0, robot)
print(f"torques with the base held: {taum} N m")
taum_floating, u0dot_floating = Floating_ID(
    wF0, wFm, Mm_tilde, H0, t0, tL, P0, pm, I0, Im, Bij, Bi0, u0, um, umdot, robot
)
print(f"torques with the base free: {taum_floating} N m")
