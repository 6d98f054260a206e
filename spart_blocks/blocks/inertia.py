"""SPART's inertia matrices as blocks."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.blocks._quantities import OfRobot
from spart_blocks.dynamics import (
    convective_inertia,
    convective_inertia_noc,
    generalized_inertia,
    generalized_inertia_noc,
    inertias,
    mass_composite_body,
)


class Inertias(OfRobot, FunctionBlock):
    """
    :blockname:`INERTIAS`

    Link inertias projected in inertial axes (SPART's I_I).

    :inputs: 2
    :outputs: 2
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(3, 3)
            - ``R0``: rotation of the base-link, body to inertial
        *   - Input
            - 1
            - ndarray(n, 3, 3)
            - ``RL``: rotations of the links
        *   - Output
            - 0
            - ndarray(3, 3)
            - ``I0`` [kg m^2]: inertia of the base-link, inertial axes
        *   - Output
            - 1
            - ndarray(n, 3, 3)
            - ``Im`` [kg m^2]: inertias of the links, inertial axes

    The rotations come from KINEMATICS. Source: SPART's manual, I_I.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 2
    nout = 2
    takes = "R0 RL"
    gives = "I0 Im"
    function = staticmethod(inertias)


class MCB(OfRobot, FunctionBlock):
    """
    :blockname:`MCB`

    Mass composite bodies.

    :inputs: 4
    :outputs: 2
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(3, 3)
            - ``I0`` [kg m^2]: inertia of the base-link, inertial axes
        *   - Input
            - 1
            - ndarray(n, 3, 3)
            - ``Im`` [kg m^2]: inertias of the links, inertial axes
        *   - Input
            - 2
            - ndarray(n, n, 6, 6)
            - ``Bij``: twist-propagation matrices between links
        *   - Input
            - 3
            - ndarray(n, 6, 6)
            - ``Bi0``: twist-propagation matrices from the base
        *   - Output
            - 0
            - ndarray(6, 6)
            - ``M0_tilde`` [kg m^2, kg m, kg]: composite body of the base
        *   - Output
            - 1
            - ndarray(n, 6, 6)
            - ``Mm_tilde`` [kg m^2, kg m, kg]: composite bodies of the links

    Source: SPART's manual, MCB.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 4
    nout = 2
    takes = "I0 Im Bij Bi0"
    gives = "M0_tilde Mm_tilde"
    function = staticmethod(mass_composite_body)


class GIM(OfRobot, FunctionBlock):
    """
    :blockname:`GIM`

    Generalized inertia matrix H = [H0, H0m; H0m', Hm].

    :inputs: 6
    :outputs: 3
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(6, 6)
            - ``M0_tilde`` [kg m^2, kg m, kg]: composite body of the base
        *   - Input
            - 1
            - ndarray(n, 6, 6)
            - ``Mm_tilde`` [kg m^2, kg m, kg]: composite bodies of the links
        *   - Input
            - 2
            - ndarray(n, n, 6, 6)
            - ``Bij``: twist-propagation matrices between links
        *   - Input
            - 3
            - ndarray(n, 6, 6)
            - ``Bi0``: twist-propagation matrices from the base
        *   - Input
            - 4
            - ndarray(6, 6)
            - ``P0``: base twist-propagation matrix
        *   - Input
            - 5
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors
        *   - Output
            - 0
            - ndarray(6, 6)
            - ``H0`` [kg m^2, kg m, kg]: inertia matrix of the base
        *   - Output
            - 1
            - ndarray(6, nu)
            - ``H0m`` [kg m^2, kg m, kg]: coupling inertia matrix
        *   - Output
            - 2
            - ndarray(nu, nu)
            - ``Hm`` [kg m^2, kg m, kg]: inertia matrix of the joints

    Source: SPART's manual, GIM.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 6
    nout = 3
    takes = "M0_tilde Mm_tilde Bij Bi0 P0 pm"
    gives = "H0 H0m Hm"
    function = staticmethod(generalized_inertia)


class CIM(OfRobot, FunctionBlock):
    """
    :blockname:`CIM`

    Convective inertia matrix C = [C0, C0m; Cm0, Cm], SPART's own.

    :inputs: 10
    :outputs: 4
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(6,)
            - ``t0`` [rad/s, m/s]: twist of the base-link
        *   - Input
            - 1
            - ndarray(n, 6)
            - ``tL`` [rad/s, m/s]: twists of the links
        *   - Input
            - 2
            - ndarray(3, 3)
            - ``I0`` [kg m^2]: inertia of the base-link, inertial axes
        *   - Input
            - 3
            - ndarray(n, 3, 3)
            - ``Im`` [kg m^2]: inertias of the links, inertial axes
        *   - Input
            - 4
            - ndarray(6, 6)
            - ``M0_tilde`` [kg m^2, kg m, kg]: composite body of the base
        *   - Input
            - 5
            - ndarray(n, 6, 6)
            - ``Mm_tilde`` [kg m^2, kg m, kg]: composite bodies of the links
        *   - Input
            - 6
            - ndarray(n, n, 6, 6)
            - ``Bij``: twist-propagation matrices between links
        *   - Input
            - 7
            - ndarray(n, 6, 6)
            - ``Bi0``: twist-propagation matrices from the base
        *   - Input
            - 8
            - ndarray(6, 6)
            - ``P0``: base twist-propagation matrix
        *   - Input
            - 9
            - ndarray(n, 6)
            - ``pm``: joint twist-propagation vectors
        *   - Output
            - 0
            - ndarray(6, 6)
            - ``C0``: convective matrix of the base
        *   - Output
            - 1
            - ndarray(6, nu)
            - ``C0m``: its coupling block, base by joints
        *   - Output
            - 2
            - ndarray(nu, 6)
            - ``Cm0``: its coupling block, joints by base
        *   - Output
            - 3
            - ndarray(nu, nu)
            - ``Cm``: convective matrix of the joints

    Source: SPART's manual, CIM.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 10
    nout = 4
    takes = "t0 tL I0 Im M0_tilde Mm_tilde Bij Bi0 P0 pm"
    gives = "C0 C0m Cm0 Cm"
    function = staticmethod(convective_inertia)


class GIM_NOC(OfRobot, FunctionBlock):
    """
    :blockname:`GIM_NOC`

    Generalized inertia matrix H by the natural orthogonal complement.

    :inputs: 3
    :outputs: 1
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(6+6n, 6+nu)
            - ``N``: natural orthogonal complement
        *   - Input
            - 1
            - ndarray(3, 3)
            - ``I0`` [kg m^2]: inertia of the base-link, inertial axes
        *   - Input
            - 2
            - ndarray(n, 3, 3)
            - ``Im`` [kg m^2]: inertias of the links, inertial axes
        *   - Output
            - 0
            - ndarray(6+nu, 6+nu)
            - ``H`` [kg m^2, kg m, kg]: inertia matrix of base and joints

    H = N' M N, the whole of what GIM gives in blocks. Source: SPART's GIM_NOC.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 3
    nout = 1
    takes = "N I0 Im"
    gives = "H"
    function = staticmethod(generalized_inertia_noc)


class CIM_NOC(OfRobot, FunctionBlock):
    """
    :blockname:`CIM_NOC`

    Convective inertia matrix C by the natural orthogonal complement.

    :inputs: 6
    :outputs: 1
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(6+6n, 6+nu)
            - ``N``: natural orthogonal complement
        *   - Input
            - 1
            - ndarray(6+6n, 6+nu)
            - ``Ndot``: its rate
        *   - Input
            - 2
            - ndarray(6,)
            - ``t0`` [rad/s, m/s]: twist of the base-link
        *   - Input
            - 3
            - ndarray(n, 6)
            - ``tL`` [rad/s, m/s]: twists of the links
        *   - Input
            - 4
            - ndarray(3, 3)
            - ``I0`` [kg m^2]: inertia of the base-link, inertial axes
        *   - Input
            - 5
            - ndarray(n, 3, 3)
            - ``Im`` [kg m^2]: inertias of the links, inertial axes
        *   - Output
            - 0
            - ndarray(6+nu, 6+nu)
            - ``C``: convective matrix of base and joints

    C = N' (M Ndot + Mdot N), the whole of what CIM gives in blocks. Source: SPART's CIM_NOC.

    :param robot: the robot model
    :type robot: Robot
    """

    nin = 6
    nout = 1
    takes = "N Ndot t0 tL I0 Im"
    gives = "C"
    function = staticmethod(convective_inertia_noc)
