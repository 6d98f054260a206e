"""Every SPART function under SPART's own name and with SPART's argument order.

A MATLAB script ports line by line: arrays over links put the link axis first, and
link i sits at index i-1. The attitude functions are SPART's: direction cosine matrices
map inertial to body, so that R0 = quat_DCM(q).T. Source: reference 001.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spart_blocks.dynamics import (
    accelerations as Accelerations,
)
from spart_blocks.dynamics import (
    center_of_mass as Center_of_Mass,
)
from spart_blocks.dynamics import (
    convective_inertia as CIM,
)
from spart_blocks.dynamics import (
    diff_kinematics as DiffKinematics,
)
from spart_blocks.dynamics import (
    floating_inverse_dynamics as Floating_ID,
)
from spart_blocks.dynamics import (
    forward_dynamics as FD,
)
from spart_blocks.dynamics import (
    generalized_inertia as GIM,
)
from spart_blocks.dynamics import (
    inertias as I_I,
)
from spart_blocks.dynamics import (
    inverse_dynamics as ID,
)
from spart_blocks.dynamics import (
    jacobian as Jacob,
)
from spart_blocks.dynamics import (
    jacobian_dot as Jacobdot,
)
from spart_blocks.dynamics import (
    kinematics as Kinematics,
)
from spart_blocks.dynamics import (
    mass_composite_body as MCB,
)
from spart_blocks.dynamics import (
    noc as NOC,
)
from spart_blocks.dynamics import (
    noc_dot as NOCdot,
)
from spart_blocks.dynamics import (
    velocities as Velocities,
)
from spart_blocks.spatial import (
    angles123_dcm as Angles123_DCM,
)
from spart_blocks.spatial import (
    angles321_dcm as Angles321_DCM,
)
from spart_blocks.spatial import (
    dcm_angles321 as DCM_Angles321,
)
from spart_blocks.spatial import (
    dcm_quat as DCM_quat,
)
from spart_blocks.spatial import (
    euler_dcm as Euler_DCM,
)
from spart_blocks.spatial import (
    quat_angles321 as quat_Angles321,
)
from spart_blocks.spatial import (
    quat_dcm as quat_DCM,
)

if TYPE_CHECKING:
    from spart_blocks.robot import Robot, RobotKeys
    from spart_blocks.spatial import Array


def urdf2robot(filename: str, verbose_flag: bool = False) -> tuple[Robot, RobotKeys]:
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
