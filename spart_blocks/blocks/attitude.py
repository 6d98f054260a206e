"""Conversions between rotations, quaternions and Euler angles as blocks.

R (3,3) maps body to inertial, as everywhere in this package except spart_blocks.spart, whose
direction cosine matrices are the transpose.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base import spatial
from spart_blocks.block_support.declared import Declared, PortSpec

_R = PortSpec("R", "3, 3", "", "rotation, body to inertial")
_Q = PortSpec("q", "4", "", "unit quaternion, scalar last")
_QUATERNION = PortSpec("q", "4", "", "quaternion, scalar last")
_ANGLES = PortSpec("angles", "3", "rad", "[x, y, z]")
_TURN = PortSpec("turn", "3", "rad", "rotation vector")
_AXIS_ANGLE = (PortSpec("e", "3", "", "unit axis"), PortSpec("alpha", "", "rad", "angle"))


class _Conversion(Declared):
    """A function of the inputs that gives the output."""

    nin = 1
    nout = 1

    parameters = ()
    function: ClassVar[Callable[..., Any]]

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [type(self).function(*inputs)]


class _OfRotation(_Conversion):
    """A function of the transpose of a rotation."""

    takes = (_R,)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [type(self).function(spatial.transpose(inputs[0]))]


class _ToRotation(_Conversion):
    """A function that gives the transpose of a rotation."""

    gives = (_R,)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [type(self).function(*inputs).T]


class Quat_R(_Conversion, FunctionBlock):
    """Rotation of a quaternion.

    Source: SPART's manual, quat_DCM, transposed.
    """

    takes = (_Q,)
    gives = (_R,)
    function = staticmethod(spatial.quaternion_rotation)


class R_Quat(_OfRotation, FunctionBlock):
    """Quaternion of a rotation; its largest component is positive.

    Source: SPART's manual, DCM_quat of the transpose.
    """

    gives = (_Q,)
    function = staticmethod(spatial.dcm_quat)


class Angles321_R(_ToRotation, FunctionBlock):
    """Rotation of the 321 Euler angles.

    Source: SPART's manual, Angles321_DCM, transposed.
    """

    takes = (_ANGLES,)
    function = staticmethod(spatial.angles321_dcm)


class Angles123_R(_ToRotation, FunctionBlock):
    """Rotation of the 123 Euler angles.

    Source: SPART's manual, Angles123_DCM, transposed.
    """

    takes = (_ANGLES,)
    function = staticmethod(spatial.angles123_dcm)


class R_Angles321(_OfRotation, FunctionBlock):
    """The 321 Euler angles of a rotation.

    Source: SPART's manual, DCM_Angles321 of the transpose.
    """

    gives = (_ANGLES,)
    function = staticmethod(spatial.dcm_angles321)


class Quat_Angles321(_Conversion, FunctionBlock):
    """The 321 Euler angles of a quaternion.

    Source: SPART's manual, quat_Angles321.
    """

    takes = (_Q,)
    gives = (_ANGLES,)
    function = staticmethod(spatial.quat_angles321)


class Axis_Angle_R(_ToRotation, FunctionBlock):
    """Rotation by an angle about a unit axis.

    Source: SPART's manual, Euler_DCM, transposed.
    """

    nin = 2
    takes = _AXIS_ANGLE
    function = staticmethod(spatial.euler_dcm)


class R_Axis_Angle(_Conversion, FunctionBlock):
    """Axis and angle of a rotation.

    The angle is between 0 and pi; for a zero rotation the axis is x. Source: SPART's
    DCM_Euler of the transpose.
    """

    nout = 2
    takes = (_R,)
    gives = _AXIS_ANGLE

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        turn = spatial.dcm_euler(spatial.transpose(inputs[0]))
        return [turn[:3], turn[3]]


class Quat_Product(_Conversion, FunctionBlock):
    """Product of two quaternions: R(q1 q2) = R(q1) R(q2).

    Source: SPART's QuaternionProduct.
    """

    nin = 2
    takes = (
        PortSpec("q1", "4", "", "quaternion, scalar last"),
        PortSpec("q2", "4", "", "quaternion, scalar last"),
    )
    gives = (PortSpec("q", "4", "", "their product, scalar last"),)
    function = staticmethod(spatial.quaternion_product)


class Quat_Conjugate(_Conversion, FunctionBlock):
    """The conjugate of a quaternion; of a unit quaternion, that of the inverse rotation."""

    takes = (_QUATERNION,)
    gives = (PortSpec("conjugate", "4", "", "its conjugate, scalar last"),)
    function = staticmethod(spatial.conjugate)


class Quat_Rotate(_Conversion, FunctionBlock):
    """A vector turned by a unit quaternion: R(q) v, from body to inertial axes.

    With the conjugate of q, from inertial to body axes.
    """

    nin = 2
    takes = (
        _Q,
        PortSpec("v", "3", "", "vector"),
    )
    gives = (PortSpec("turned", "3", "", "the turned vector, in the unit of v"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        q, v = inputs
        return [spatial.quaternion_rotation(q) @ v]


class Quat_Log(_Conversion, FunctionBlock):
    """The rotation vector of a unit quaternion: the axis times the angle, of at most half a turn.

    It is twice the vector part of the logarithm of q or of -q. A step ends where q passes half a
    turn: there the vector jumps to its opposite. Source: Markley and Crassidis, "Fundamentals of
    Spacecraft Attitude Determination and Control" (2014), 2.9.
    """

    takes = (_Q,)
    gives = (_TURN,)
    function = staticmethod(spatial.turn_of_quaternion)

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [-inputs[0][3]]


class Quat_Exp(_Conversion, FunctionBlock):
    """The unit quaternion of a rotation vector, the axis times the angle: inverse of QUAT_LOG.

    Source: Markley and Crassidis, "Fundamentals of Spacecraft Attitude Determination and Control"
    (2014), 2.9.
    """

    takes = (_TURN,)
    gives = (_Q,)
    function = staticmethod(spatial.quaternion_of_turn)


class Slerp(_Conversion, FunctionBlock):
    """The attitude on the way from one to another, by the shortest turn at a uniform rate.

    q0 exp(s log(q0* q1)): q0 at s = 0, q1 or -q1 at s = 1, and further along the same turn outside.
    A step ends where q0 and q1 are half a turn apart: there the way jumps. Source: K. Shoemake,
    "Animating rotation with quaternion curves", SIGGRAPH (1985).
    """

    nin = 3
    takes = (
        PortSpec("q0", "4", "", "first attitude, unit quaternion, scalar last"),
        PortSpec("q1", "4", "", "second attitude, unit quaternion, scalar last"),
        PortSpec("s", "", "", "part of the way, from 0 to 1"),
    )
    gives = (PortSpec("q", "4", "", "attitude in between, unit quaternion, scalar last"),)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        q0, q1, s = inputs
        turn = spatial.turn_of_quaternion(spatial.quaternion_product(spatial.conjugate(q0), q1))
        return [spatial.quaternion_product(q0, spatial.quaternion_of_turn(s * turn))]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [-np.sum(inputs[0] * inputs[1])]


class Quat_Left_Matrix(_Conversion, FunctionBlock):
    """Matrix of the multiplication by a quaternion from the left.

    Source: SPART's Matrix_QuatProd_Left.
    """

    takes = (_QUATERNION,)
    gives = (PortSpec("M", "4, 4", "", "the matrix for which M p is the product q p"),)
    function = staticmethod(spatial.quat_left_matrix)


class Quat_Right_Matrix(_Conversion, FunctionBlock):
    """Matrix of the multiplication by a quaternion from the right.

    Source: SPART's Matrix_QuatProd_Right.
    """

    takes = (_QUATERNION,)
    gives = (PortSpec("M", "4, 4", "", "the matrix for which M p is the product p q"),)
    function = staticmethod(spatial.quat_right_matrix)


class Skew_Matrix(_Conversion, FunctionBlock):
    """Matrix of the cross product with a vector.

    Source: SPART's SkewSym.
    """

    takes = (PortSpec("v", "3", "", "vector"),)
    gives = (PortSpec("S", "3, 3", "", "the matrix for which S x is the cross product of v and x"),)
    function = staticmethod(spatial.skew)
