"""Dynamics: inertia matrices, forward and inverse dynamics, with and without gravity.

After SPART's tutorial "Dynamics". Run it from anywhere: python examples/dynamics.py
"""

from pathlib import Path

import numpy as np

import spart_blocks as sb
from spart_blocks import dynamics as dyn

np.set_printoptions(precision=4, suppress=True)
ROOT = Path(__file__).resolve().parents[1]
robot = sb.Robot.from_urdf(ROOT / "models" / "spacecraft_3dof.urdf")

# Configuration and rates.
R0, r0, qm = np.eye(3), np.zeros(3), np.radians([30, -45, 60])
u0, um = np.zeros(6), np.radians([4, -1, 5])  # rad/s, m/s
K = dyn.kinematics(R0, r0, qm, robot)
D = dyn.diff_kinematics(R0, r0, K.rL, K.e, K.g, robot)
V = dyn.velocities(D.Bij, D.Bi0, D.P0, D.pm, u0, um, robot)

# Generalized inertia H and convective inertia C, in blocks of base and arm.
I = dyn.inertias(R0, K.RL, robot)
M = dyn.mass_composite_body(I.I0, I.Im, D.Bij, D.Bi0, robot)
H0, H0m, Hm = dyn.generalized_inertia(M.M0_tilde, M.Mm_tilde, D.Bij, D.Bi0, D.P0, D.pm, robot)
C0, C0m, Cm0, Cm = dyn.convective_inertia(
    V.t0, V.tL, I.I0, I.Im, M.M0_tilde, M.Mm_tilde, D.Bij, D.Bi0, D.P0, D.pm, robot
)
H = np.block([[H0, H0m], [H0m.T, Hm]])
C = np.block([[C0, C0m], [Cm0, Cm]])
print(f"inertia of the arm Hm [kg m^2]:\n{Hm}")
print(f"smallest eigenvalue of H: {np.linalg.eigvalsh(H)[0]:.4f}")

# Forward dynamics: joint torques accelerate the joints, and the base recoils.
rates = (V.t0, V.tL, D.P0, D.pm, I.I0, I.Im, D.Bij, D.Bi0)
tau0, taum = np.zeros(6), np.array([1.0, 0.5, -0.2])  # N m, N
wF0, wFm = np.zeros(6), np.zeros((robot.n_links_joints, 6))  # no wrench from outside
fd = dyn.forward_dynamics(tau0, taum, wF0, wFm, *rates, u0, um, robot)
print("\nforward dynamics, no gravity:")
print(f"  joints: {fd.umdot} rad/s^2")
print(f"  base: {fd.u0dot} rad/s^2, m/s^2")
u, udot = np.concatenate([u0, um]), np.concatenate([*fd])
residual = H @ udot + C @ u - np.concatenate([tau0, taum])
print(f"  H udot + C u - tau: {np.abs(residual).max():.1e} N m")

# Gravity is a wrench on every body; here z points up.
weight = dyn.gravity_wrenches([0, 0, -9.81], robot)
wF0, wFm = weight
print(f"\nweight of the base-link: {wF0[5]:.1f} N")

# A free robot at rest falls, and its joints feel nothing.
still = dyn.velocities(D.Bij, D.Bi0, D.P0, D.pm, np.zeros(6), np.zeros(3), robot)
fall = dyn.forward_dynamics(
    np.zeros(6), np.zeros(3), wF0, wFm, *still, D.P0, D.pm, I.I0, I.Im, D.Bij, D.Bi0,
    np.zeros(6), np.zeros(3), robot,
)  # fmt: skip
print(f"free fall: base {fall.u0dot[5]:.2f} m/s^2, joints {np.abs(fall.umdot).max():.1e} rad/s^2")

# Inverse dynamics: what holds everything in place against gravity.
none = np.zeros_like
hold = dyn.inverse_dynamics(
    wF0, wFm, *still, none(still.t0), none(still.tL), D.P0, D.pm, I.I0, I.Im, D.Bij, D.Bi0, robot
)
print("\ninverse dynamics, holding still under gravity:")
print(f"  on the base: {hold.tau0} N m, N")
print(f"  on the joints: {hold.taum} N m")

# Inverse dynamics with a free base: joint accelerations are asked for, the base does what it
# must. Forward dynamics with the torques found gives the same motion.
umdot = np.array([0.1, -0.2, 0.3])  # rad/s^2
free = dyn.floating_inverse_dynamics(wF0, wFm, M.Mm_tilde, H0, *rates, u0, um, umdot, robot)
back = dyn.forward_dynamics(np.zeros(6), free.taum, wF0, wFm, *rates, u0, um, robot)
print("\ninverse dynamics with a floating base, under gravity:")
print(f"  joint torques: {free.taum} N m")
print(f"  the base answers with: {free.u0dot} rad/s^2, m/s^2")
print(f"  forward dynamics of these differs by {np.abs(back.umdot - umdot).max():.1e} rad/s^2")
