"""SPART's inertia matrices as blocks."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.block_support.quantities import OfRobot, quantities
from spart_blocks.dynamics import (
    convective_inertia,
    convective_inertia_noc,
    generalized_inertia,
    generalized_inertia_noc,
    inertias,
    mass_composite_body,
)


class Inertias(OfRobot, FunctionBlock):
    """Link inertias projected in inertial axes (SPART's I_I).

    The rotations come from KINEMATICS. Source: SPART's manual, I_I.
    """

    nin = 2
    nout = 2
    takes = quantities("R0 RL")
    gives = quantities("I0 Im")
    function = staticmethod(inertias)


class MCB(OfRobot, FunctionBlock):
    """Mass composite bodies.

    Source: SPART's manual, MCB.
    """

    nin = 4
    nout = 2
    takes = quantities("I0 Im Bij Bi0")
    gives = quantities("M0_tilde Mm_tilde")
    function = staticmethod(mass_composite_body)


class GIM(OfRobot, FunctionBlock):
    """Generalized inertia matrix H = [H0, H0m; H0m', Hm].

    Source: SPART's manual, GIM.
    """

    nin = 6
    nout = 3
    takes = quantities("M0_tilde Mm_tilde Bij Bi0 P0 pm")
    gives = quantities("H0 H0m Hm")
    function = staticmethod(generalized_inertia)


class CIM(OfRobot, FunctionBlock):
    """Convective inertia matrix C = [C0, C0m; Cm0, Cm], SPART's own.

    Source: SPART's manual, CIM.
    """

    nin = 10
    nout = 4
    takes = quantities("t0 tL I0 Im M0_tilde Mm_tilde Bij Bi0 P0 pm")
    gives = quantities("C0 C0m Cm0 Cm")
    function = staticmethod(convective_inertia)


class GIM_NOC(OfRobot, FunctionBlock):
    """Generalized inertia matrix H by the natural orthogonal complement.

    H = N' M N, the whole matrix, of which GIM gives the submatrices. Source: SPART's GIM_NOC.
    """

    nin = 3
    nout = 1
    takes = quantities("N I0 Im")
    gives = quantities("H")
    function = staticmethod(generalized_inertia_noc)


class CIM_NOC(OfRobot, FunctionBlock):
    """Convective inertia matrix C by the natural orthogonal complement.

    C = N' (M Ndot + Mdot N), the whole matrix, of which CIM gives the submatrices. Source: SPART's
    CIM_NOC.
    """

    nin = 6
    nout = 1
    takes = quantities("N Ndot t0 tL I0 Im")
    gives = quantities("C")
    function = staticmethod(convective_inertia_noc)
