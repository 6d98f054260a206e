"""Conversions between rotations, quaternions and Euler angles as blocks.

R (3,3) maps body to inertial, as everywhere in this package but in spart_blocks.spart,
whose direction cosine matrices are the transpose.
"""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks import spatial
from spart_blocks.blocks._ports import Port, port_arguments

_SHAPES: dict[str, tuple[int, ...]] = {
    "R": (3, 3),
    "q": (4,),
    "angles": (3,),
    "v": (3,),
    "M": (4, 4),
    "S": (3, 3),
}
_UNITS = {"angles": "rad"}


class _Conversion:
    """A block with one input and one output, named in `takes` and `gives`."""

    takes: str
    gives: str

    def __init__(self, **blockargs: Any) -> None:
        self.in_ports = (Port(self.takes, _SHAPES[self.takes], _UNITS.get(self.takes, "")),)
        self.out_ports = (Port(self.gives, _SHAPES[self.gives], _UNITS.get(self.gives, "")),)
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)


class Quat_R(_Conversion, FunctionBlock):
    """
    :blockname:`QUAT_R`

    Rotation of a quaternion.

    :inputs: 1
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
            - ndarray(4,)
            - ``q``: unit quaternion, scalar last
        *   - Output
            - 0
            - ndarray(3, 3)
            - ``R``: rotation, body to inertial

    Source: SPART's manual, quat_DCM, transposed.
    """

    nin = 1
    nout = 1
    takes = "q"
    gives = "R"

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.quaternion_rotation(inputs[0])]


class R_Quat(_Conversion, FunctionBlock):
    """
    :blockname:`R_QUAT`

    Quaternion of a rotation; its largest component is positive.

    :inputs: 1
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
            - ndarray(3, 3)
            - ``R``: rotation, body to inertial
        *   - Output
            - 0
            - ndarray(4,)
            - ``q``: unit quaternion, scalar last

    Source: SPART's manual, DCM_quat of the transpose.
    """

    nin = 1
    nout = 1
    takes = "R"
    gives = "q"

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.dcm_quat(spatial.transpose(inputs[0]))]


class Angles321_R(_Conversion, FunctionBlock):
    """
    :blockname:`ANGLES321_R`

    Rotation of the 321 Euler angles.

    :inputs: 1
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
            - ndarray(3,)
            - ``angles`` [rad]: [x, y, z]
        *   - Output
            - 0
            - ndarray(3, 3)
            - ``R``: rotation, body to inertial

    Source: SPART's manual, Angles321_DCM, transposed.
    """

    nin = 1
    nout = 1
    takes = "angles"
    gives = "R"

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.angles321_dcm(inputs[0]).T]


class Angles123_R(_Conversion, FunctionBlock):
    """
    :blockname:`ANGLES123_R`

    Rotation of the 123 Euler angles.

    :inputs: 1
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
            - ndarray(3,)
            - ``angles`` [rad]: [x, y, z]
        *   - Output
            - 0
            - ndarray(3, 3)
            - ``R``: rotation, body to inertial

    Source: SPART's manual, Angles123_DCM, transposed.
    """

    nin = 1
    nout = 1
    takes = "angles"
    gives = "R"

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.angles123_dcm(inputs[0]).T]


class R_Angles321(_Conversion, FunctionBlock):
    """
    :blockname:`R_ANGLES321`

    The 321 Euler angles of a rotation.

    :inputs: 1
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
            - ndarray(3, 3)
            - ``R``: rotation, body to inertial
        *   - Output
            - 0
            - ndarray(3,)
            - ``angles`` [rad]: [x, y, z]

    Source: SPART's manual, DCM_Angles321 of the transpose.
    """

    nin = 1
    nout = 1
    takes = "R"
    gives = "angles"

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.dcm_angles321(spatial.transpose(inputs[0]))]


class Quat_Angles321(_Conversion, FunctionBlock):
    """
    :blockname:`QUAT_ANGLES321`

    The 321 Euler angles of a quaternion.

    :inputs: 1
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
            - ndarray(4,)
            - ``q``: unit quaternion, scalar last
        *   - Output
            - 0
            - ndarray(3,)
            - ``angles`` [rad]: [x, y, z]

    Source: SPART's manual, quat_Angles321.
    """

    nin = 1
    nout = 1
    takes = "q"
    gives = "angles"

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.quat_angles321(inputs[0])]


class Axis_Angle_R(FunctionBlock):
    """
    :blockname:`AXIS_ANGLE_R`

    Rotation by an angle about a unit axis.

    :inputs: 2
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
            - ndarray(3,)
            - ``e``: unit axis
        *   - Input
            - 1
            - float
            - ``alpha`` [rad]: angle
        *   - Output
            - 0
            - ndarray(3, 3)
            - ``R``: rotation, body to inertial

    Source: SPART's manual, Euler_DCM, transposed.
    """

    nin = 2
    nout = 1

    def __init__(self, **blockargs: Any) -> None:
        self.in_ports = (Port("e", (3,)), Port("alpha", (), "rad"))
        self.out_ports = (Port("R", (3, 3)),)
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.euler_dcm(*inputs).T]


class R_Axis_Angle(FunctionBlock):
    """
    :blockname:`R_AXIS_ANGLE`

    Axis and angle of a rotation.

    :inputs: 1
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
            - ``R``: rotation, body to inertial
        *   - Output
            - 0
            - ndarray(3,)
            - ``e``: unit axis
        *   - Output
            - 1
            - float
            - ``alpha`` [rad]: angle

    The angle lies within 0 and pi; without a turn the axis is that of x. Source: SPART's
    DCM_Euler of the transpose.
    """

    nin = 1
    nout = 2

    def __init__(self, **blockargs: Any) -> None:
        self.in_ports = (Port("R", (3, 3)),)
        self.out_ports = (Port("e", (3,)), Port("alpha", (), "rad"))
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        turn = spatial.dcm_euler(spatial.transpose(inputs[0]))
        return [turn[:3], turn[3]]


class Quat_Product(FunctionBlock):
    """
    :blockname:`QUAT_PRODUCT`

    Product of two quaternions, which turns as R(q1) R(q2).

    :inputs: 2
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
            - ndarray(4,)
            - ``q1``: quaternion, scalar last
        *   - Input
            - 1
            - ndarray(4,)
            - ``q2``: quaternion, scalar last
        *   - Output
            - 0
            - ndarray(4,)
            - ``q``: their product, scalar last

    Source: SPART's QuaternionProduct.
    """

    nin = 2
    nout = 1

    def __init__(self, **blockargs: Any) -> None:
        self.in_ports = (Port("q1", (4,)), Port("q2", (4,)))
        self.out_ports = (Port("q", (4,)),)
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.quaternion_product(*inputs)]


class Quat_Left_Matrix(_Conversion, FunctionBlock):
    """
    :blockname:`QUAT_LEFT_MATRIX`

    Matrix that multiplies a quaternion from the left by another.

    :inputs: 1
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
            - ndarray(4,)
            - ``q``: quaternion, scalar last
        *   - Output
            - 0
            - ndarray(4, 4)
            - ``M``: the matrix for which M p is the product q p

    Source: SPART's Matrix_QuatProd_Left.
    """

    nin = 1
    nout = 1
    takes = "q"
    gives = "M"

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.quat_left_matrix(inputs[0])]


class Quat_Right_Matrix(_Conversion, FunctionBlock):
    """
    :blockname:`QUAT_RIGHT_MATRIX`

    Matrix that multiplies a quaternion from the right by another.

    :inputs: 1
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
            - ndarray(4,)
            - ``q``: quaternion, scalar last
        *   - Output
            - 0
            - ndarray(4, 4)
            - ``M``: the matrix for which M p is the product p q

    Source: SPART's Matrix_QuatProd_Right.
    """

    nin = 1
    nout = 1
    takes = "q"
    gives = "M"

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.quat_right_matrix(inputs[0])]


class Skew_Matrix(_Conversion, FunctionBlock):
    """
    :blockname:`SKEW_MATRIX`

    Matrix of the cross product with a vector.

    :inputs: 1
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
            - ndarray(3,)
            - ``v``: vector
        *   - Output
            - 0
            - ndarray(3, 3)
            - ``S``: the matrix for which S x is the cross product of v and x

    Source: SPART's SkewSym.
    """

    nin = 1
    nout = 1
    takes = "v"
    gives = "S"

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.skew(inputs[0])]
