"""Control of the attitude of a spacecraft."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.spatial import cross, normalised, quaternion_rotation, rotation_error
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.space import symmetric_inertia


class Attitude_PD(Declared, FunctionBlock):
    """Proportional-derivative control of the base's attitude with quaternions, along the shortest
    rotation.

    With the angular rate w and the desired one wd, both in base axes, the torque is kp e + kd (wd -
    w), and if the inertia I is given also w x I w + I (R0' omegadotd - w x wd): then a rigid body
    obeys I (w - wd)' + kd (w - wd) = kp e. The error is continuous except at half a turn, where
    both directions are equally long.

    Source: B. Wie, H. Weiss, A. Arapostathis, "Quaternion feedback regulator for spacecraft
    eigenaxis rotations", J. Guidance, Control, and Dynamics 12 (1989), eqs. 8 and 24; J. Wen
    and K. Kreutz-Delgado, "The attitude control problem", IEEE Trans. Automatic Control 36
    (1991), for a moving reference.

    :arg kp: proportional gain
    :arg kd: derivative gain
    :arg inertia: of the whole spacecraft in base axes, a matrix or its diagonal
    """

    nin = 5
    nout = 2
    takes = (
        *quantities("quatd", quatd="desired attitude, quaternion, scalar last, of either sign"),
        PortSpec("omegad", "3", "rad/s", "desired angular rate, inertial", optional=True),
        PortSpec("omegadotd", "3", "rad/s^2", "its rate, used if inertia is given", optional=True),
        *quantities("R0 u0"),
    )
    gives = (
        *quantities("tau0", tau0="base torque in base axes, and no force"),
        PortSpec(
            "error",
            "3",
            "rad",
            "2 sin(angle / 2) along the axis of the remaining rotation, base axes",
        ),
    )
    kp = tunable("float or 3", "N m/rad", least=0)
    kd = tunable("float or 3", "N m s/rad", least=0)
    inertia = tunable("3, 3 or 3", "kg m^2", None, check=symmetric_inertia)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        quatd, omegad, omegadotd, R0, u0 = inputs
        w, wd = u0[:3], R0.T @ omegad
        e = R0.T @ rotation_error(R0, quaternion_rotation(normalised(quatd)))
        torque = self.kp * e + self.kd * (wd - w)
        if self.inertia is not None:
            I = self.inertia
            torque = torque + cross(w, I @ w) + I @ (R0.T @ omegadotd - cross(w, wd))
        return [np.concatenate([torque, np.zeros(3)]), e]
