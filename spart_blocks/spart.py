"""Every SPART function under SPART's own name and with SPART's argument order.

A MATLAB script ports line by line: arrays over links put the link axis first, and
link i sits at index i-1. The attitude functions are SPART's: direction cosine matrices
map inertial to body, so that R0 = quat_DCM(q).T. Source: SPART's manual.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks import dynamics, spatial

if TYPE_CHECKING:
    from spart_blocks.robot import Robot, RobotKeys
    from spart_blocks.spatial import Array

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

Angles321_DCM = spatial.angles321_dcm
Angles123_DCM = spatial.angles123_dcm
DCM_Angles321 = spatial.dcm_angles321
DCM_quat = spatial.dcm_quat
quat_DCM = spatial.quat_dcm
quat_Angles321 = spatial.quat_angles321
Euler_DCM = spatial.euler_dcm


def urdf2robot(filename: str | Path, verbose_flag: bool = False) -> tuple[Robot, RobotKeys]:
    """SPART's reader: the robot of a URDF file, and its name-to-id maps."""
    from spart_blocks.robot.urdf import urdf2robot as read

    return read(filename, verbose_flag)


def DH_Serial2robot(DH_data: Any) -> tuple[Robot, Array]:
    """SPART's reader of Denavit-Hartenberg data: the robot and T_Ln_EE (4,4) [m]."""
    from spart_blocks.robot.dh import dh_serial_to_robot

    return dh_serial_to_robot(DH_data)


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
    "urdf2robot",
    "DH_Serial2robot",
    "ConnectivityMap",
    "Angles321_DCM",
    "Angles123_DCM",
    "DCM_Angles321",
    "DCM_quat",
    "quat_DCM",
    "quat_Angles321",
    "Euler_DCM",
]
