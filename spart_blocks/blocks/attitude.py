"""Conversions between rotations, quaternions and Euler angles as blocks.

R (3,3) maps body to inertial, as everywhere in this package except spart_blocks.spart, whose
direction cosine matrices are the transpose.
"""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks import spatial
from spart_blocks.blocks._declared import Declared, PortSpec


class _Conversion(Declared):
    def __init__(self, **blockargs: Any) -> None:
        super().__init__(**self.resolve_ports(), **blockargs)


class Quat_R(_Conversion, FunctionBlock):
    """Rotation of a quaternion.

    Source: SPART's manual, quat_DCM, transposed.
    """

    nin = 1
    nout = 1
    takes = (PortSpec("q", "4", "", "unit quaternion, scalar last"),)
    gives = (PortSpec("R", "3, 3", "", "rotation, body to inertial"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.quaternion_rotation(inputs[0])]


class R_Quat(_Conversion, FunctionBlock):
    """Quaternion of a rotation; its largest component is positive.

    Source: SPART's manual, DCM_quat of the transpose.
    """

    nin = 1
    nout = 1
    takes = (PortSpec("R", "3, 3", "", "rotation, body to inertial"),)
    gives = (PortSpec("q", "4", "", "unit quaternion, scalar last"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.dcm_quat(spatial.transpose(inputs[0]))]


class Angles321_R(_Conversion, FunctionBlock):
    """Rotation of the 321 Euler angles.

    Source: SPART's manual, Angles321_DCM, transposed.
    """

    nin = 1
    nout = 1
    takes = (PortSpec("angles", "3", "rad", "[x, y, z]"),)
    gives = (PortSpec("R", "3, 3", "", "rotation, body to inertial"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.angles321_dcm(inputs[0]).T]


class Angles123_R(_Conversion, FunctionBlock):
    """Rotation of the 123 Euler angles.

    Source: SPART's manual, Angles123_DCM, transposed.
    """

    nin = 1
    nout = 1
    takes = (PortSpec("angles", "3", "rad", "[x, y, z]"),)
    gives = (PortSpec("R", "3, 3", "", "rotation, body to inertial"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.angles123_dcm(inputs[0]).T]


class R_Angles321(_Conversion, FunctionBlock):
    """The 321 Euler angles of a rotation.

    Source: SPART's manual, DCM_Angles321 of the transpose.
    """

    nin = 1
    nout = 1
    takes = (PortSpec("R", "3, 3", "", "rotation, body to inertial"),)
    gives = (PortSpec("angles", "3", "rad", "[x, y, z]"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.dcm_angles321(spatial.transpose(inputs[0]))]


class Quat_Angles321(_Conversion, FunctionBlock):
    """The 321 Euler angles of a quaternion.

    Source: SPART's manual, quat_Angles321.
    """

    nin = 1
    nout = 1
    takes = (PortSpec("q", "4", "", "unit quaternion, scalar last"),)
    gives = (PortSpec("angles", "3", "rad", "[x, y, z]"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.quat_angles321(inputs[0])]


class Axis_Angle_R(_Conversion, FunctionBlock):
    """Rotation by an angle about a unit axis.

    Source: SPART's manual, Euler_DCM, transposed.
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("e", "3", "", "unit axis"),
        PortSpec("alpha", "", "rad", "angle"),
    )
    gives = (PortSpec("R", "3, 3", "", "rotation, body to inertial"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.euler_dcm(*inputs).T]


class R_Axis_Angle(_Conversion, FunctionBlock):
    """Axis and angle of a rotation.

    The angle is between 0 and pi; for a zero rotation the axis is x. Source: SPART's
    DCM_Euler of the transpose.
    """

    nin = 1
    nout = 2
    takes = (PortSpec("R", "3, 3", "", "rotation, body to inertial"),)
    gives = (
        PortSpec("e", "3", "", "unit axis"),
        PortSpec("alpha", "", "rad", "angle"),
    )

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        turn = spatial.dcm_euler(spatial.transpose(inputs[0]))
        return [turn[:3], turn[3]]


class Quat_Product(_Conversion, FunctionBlock):
    """Product of two quaternions: R(q1 q2) = R(q1) R(q2).

    Source: SPART's QuaternionProduct.
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("q1", "4", "", "quaternion, scalar last"),
        PortSpec("q2", "4", "", "quaternion, scalar last"),
    )
    gives = (PortSpec("q", "4", "", "their product, scalar last"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.quaternion_product(*inputs)]


class Quat_Left_Matrix(_Conversion, FunctionBlock):
    """Matrix of the multiplication by a quaternion from the left.

    Source: SPART's Matrix_QuatProd_Left.
    """

    nin = 1
    nout = 1
    takes = (PortSpec("q", "4", "", "quaternion, scalar last"),)
    gives = (PortSpec("M", "4, 4", "", "the matrix for which M p is the product q p"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.quat_left_matrix(inputs[0])]


class Quat_Right_Matrix(_Conversion, FunctionBlock):
    """Matrix of the multiplication by a quaternion from the right.

    Source: SPART's Matrix_QuatProd_Right.
    """

    nin = 1
    nout = 1
    takes = (PortSpec("q", "4", "", "quaternion, scalar last"),)
    gives = (PortSpec("M", "4, 4", "", "the matrix for which M p is the product p q"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.quat_right_matrix(inputs[0])]


class Skew_Matrix(_Conversion, FunctionBlock):
    """Matrix of the cross product with a vector.

    Source: SPART's SkewSym.
    """

    nin = 1
    nout = 1
    takes = (PortSpec("v", "3", "", "vector"),)
    gives = (PortSpec("S", "3, 3", "", "the matrix for which S x is the cross product of v and x"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.skew(inputs[0])]
