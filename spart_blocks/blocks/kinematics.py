"""SPART's kinematics, velocities and accelerations as blocks."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.block_support.quantities import OfRobot, quantities
from spart_blocks.dynamics import (
    accelerations,
    center_of_mass,
    diff_kinematics,
    kinematics,
    velocities,
)


class Kinematics(OfRobot, FunctionBlock):
    """Positions and orientations of joints and links.

    Source: SPART's manual, Kinematics.
    """

    nin = 3
    nout = 6
    takes = quantities("R0 r0 qm")
    gives = quantities("RJ RL rJ rL e g")
    function = staticmethod(kinematics)


class DiffKinematics(OfRobot, FunctionBlock):
    """Twist-propagation matrices and vectors.

    Source: SPART's manual, DiffKinematics.
    """

    nin = 5
    nout = 4
    takes = quantities("R0 r0 rL e g")
    gives = quantities("Bij Bi0 P0 pm")
    function = staticmethod(diff_kinematics)


class Velocities(OfRobot, FunctionBlock):
    """Twists of base and links.

    Source: SPART's manual, Velocities.
    """

    nin = 6
    nout = 2
    takes = quantities("Bij Bi0 P0 pm u0 um")
    gives = quantities("t0 tL")
    function = staticmethod(velocities)


class Accelerations(OfRobot, FunctionBlock):
    """Twist rates of base and links.

    Source: SPART's manual, Accelerations.
    """

    nin = 10
    nout = 2
    takes = quantities("t0 tL P0 pm Bi0 Bij u0 um u0dot umdot")
    gives = quantities("t0dot tLdot")
    function = staticmethod(accelerations)


class Center_Of_Mass(OfRobot, FunctionBlock):
    """Centre of mass of the system; with the rates of r0 and rL as inputs, its rate.

    Source: SPART's manual, Center_of_Mass.
    """

    nin = 2
    nout = 1
    takes = quantities("r0 rL")
    gives = quantities("r_com")
    function = staticmethod(center_of_mass)
