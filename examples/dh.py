"""A serial arm from Denavit-Hartenberg parameters, and where its end-effector is.

After SPART's tutorial on DH parameters. Run it from anywhere: python examples/dh.py
"""

from pathlib import Path

import numpy as np
import yaml

from spart_blocks import dynamics, spart
from spart_blocks.base import spatial

np.set_printoptions(precision=4, suppress=True)
ROOT = Path(__file__).resolve().parents[1]
data = yaml.safe_load((ROOT / "models" / "spacecraft_dh_5dof.yaml").read_text(encoding="utf-8"))

# T_Ln_EE leads from the last link's centre of mass to the end-effector.
robot, T_Ln_EE = spart.DH_Serial2robot(data)
print(f"robot: {robot.n_links_joints} links, {robot.n_q} joints, {robot.mass:g} kg")
print(f"from the last link to the end-effector: {T_Ln_EE[:3, 3]} m")


def end_effector(qm):
    """The pose (4,4) of the end-effector, inertial, with the base at the origin."""
    K = dynamics.kinematics(np.eye(3), np.zeros(3), qm, robot)
    T_Ln = np.eye(4)
    T_Ln[:3, :3], T_Ln[:3, 3] = K.RL[-1], K.rL[-1]
    return T_Ln @ T_Ln_EE


# DH angles are offsets: with qm = 0 the arm is as the table has it.
for qm in (np.zeros(5), np.radians([20, 10, -15, 30, 5])):
    T = end_effector(qm)
    angles = np.degrees(spatial.dcm_angles321(T[:3, :3].T))  # the DCM is the transpose of R
    print(f"\nqm = {np.degrees(qm)} deg")
    print(f"  end-effector at {T[:3, 3]} m")
    print(f"  turned by 321 angles x, y, z: {angles} deg")

# The same robot for diagrams: `robots: {arm: {dh: ../models/spacecraft_dh_5dof.yaml}}`,
# or sb.Robot.from_dh(data), which gives the robot alone.
