"""Conversions between rotations, quaternions and Euler angles as blocks.

R (3,3) maps body to inertial, as everywhere in this package but in spart_blocks.spart,
whose direction cosine matrices are the transpose.
"""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks import spatial
from spart_blocks.blocks._ports import Port, port_arguments

_SHAPES: dict[str, tuple[int, ...]] = {"R": (3, 3), "q": (4,), "angles": (3,)}
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
