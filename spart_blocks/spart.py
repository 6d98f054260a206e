"""Every SPART function under SPART's own name and with SPART's argument order.

A MATLAB script ports line by line: arrays over links put the link axis first, and
link i sits at index i-1. The attitude functions are SPART's: direction cosine matrices
map inertial to body, so that R0 = quat_DCM(q).T. Source: SPART's manual.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks import dynamics
from spart_blocks.base import spatial
from spart_blocks.robot import Robot
from spart_blocks.robot.dh import dh_rotation_and_translation, dh_serial_to_robot

if TYPE_CHECKING:
    from spart_blocks.base.spatial import Array
    from spart_blocks.robot import RobotKeys

Kinematics = dynamics.kinematics
DiffKinematics = dynamics.diff_kinematics
Velocities = dynamics.velocities
Jacob = dynamics.jacobian
Accelerations = dynamics.accelerations
Jacobdot = dynamics.jacobian_dot
Center_of_Mass = dynamics.center_of_mass
NOC = dynamics.noc
NOCdot = dynamics.noc_dot
FD = dynamics.forward_dynamics
ID = dynamics.inverse_dynamics
Floating_ID = dynamics.floating_inverse_dynamics
I_I = dynamics.inertias
MCB = dynamics.mass_composite_body
GIM = dynamics.generalized_inertia
CIM = dynamics.convective_inertia
GIM_NOC = dynamics.generalized_inertia_noc
CIM_NOC = dynamics.convective_inertia_noc

Angles321_DCM = spatial.angles321_dcm
Angles123_DCM = spatial.angles123_dcm
DCM_Angles321 = spatial.dcm_angles321
DCM_quat = spatial.dcm_quat
quat_DCM = spatial.quat_dcm
quat_Angles321 = spatial.quat_angles321
Euler_DCM = spatial.euler_dcm
DCM_Euler = spatial.dcm_euler

QuaternionProduct = spatial.quat_product
Matrix_QuatProd_Left = spatial.quat_left_matrix
Matrix_QuatProd_Right = spatial.quat_right_matrix
SkewSym = spatial.skew_matrix


def urdf2robot(filename: str | Path, verbose_flag: bool = False) -> tuple[Robot, RobotKeys]:
    """SPART's reader: the robot of a URDF file, and its name-to-id maps."""
    from spart_blocks.robot.urdf import urdf2robot as read

    model, keys = read(filename, verbose_flag)
    return Robot.of(model), keys


def DH_Serial2robot(DH_data: Any) -> tuple[Robot, Array]:
    """SPART's reader of Denavit-Hartenberg data: the robot and T_Ln_EE (4,4) [m]."""
    model, T_Ln_EE = dh_serial_to_robot(DH_data)
    return Robot.of(model), T_Ln_EE


def DH_Rs(DH: Any, qm: Any, type: int) -> tuple[Array, Array]:
    """R (3,3) and s (3,) [m] from one Denavit-Hartenberg frame to the next, for the joint's
    position qm [rad or m]. type: 0 revolute, 1 prismatic, as SPART's DH_Rs counts them; in
    the data of DH_Serial2robot it is 1 and 2."""
    return dh_rotation_and_translation(DH, qm, type)


def ConnectivityMap(robot: Robot) -> tuple[Array, Array, Array]:
    """branch (n,n), child (n,n) and child_base (n,) of a robot."""
    return robot.con.branch, robot.con.child, robot.con.child_base


__all__ = [
    "Kinematics",
    "DiffKinematics",
    "Velocities",
    "Jacob",
    "Accelerations",
    "Jacobdot",
    "Center_of_Mass",
    "NOC",
    "NOCdot",
    "FD",
    "ID",
    "Floating_ID",
    "I_I",
    "MCB",
    "GIM",
    "CIM",
    "GIM_NOC",
    "CIM_NOC",
    "urdf2robot",
    "DH_Serial2robot",
    "DH_Rs",
    "ConnectivityMap",
    "Angles321_DCM",
    "Angles123_DCM",
    "DCM_Angles321",
    "DCM_quat",
    "quat_DCM",
    "quat_Angles321",
    "Euler_DCM",
    "DCM_Euler",
    "QuaternionProduct",
    "Matrix_QuatProd_Left",
    "Matrix_QuatProd_Right",
    "SkewSym",
]
