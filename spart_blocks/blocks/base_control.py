"""Forces on a floating base for a desired motion of the base."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.motion import need_floating
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.quantities import KNOWN, ports, quantities
from spart_blocks.dynamics import base_control_free_joints, multibody_forces


class Base_Control(Declared, FunctionBlock):
    """Base torques and forces for a desired motion of a floating base.

    The base gets the acceleration a = u0dotd + kd (u0d - u0) + kp e. The error e consists of the
    attitude error, the axis times the sine of the angle from R0 to R0d in base axes, and r0d - r0.
    H and c are from the equations of motion, and w is the effect of the known wrenches.

    Free joints, under the torques taum: tau0 = H0 a + H0m umdot + c0 - w0 with
    umdot = Hm^-1 (taum + wm - cm - H0m' a).

    Prescribed joints: the same with umdot as an input (zeros without a wire) instead of taum. A
    second output, taum = H0m' a + Hm umdot + cm - wm, gives the torques that the joints need.

    For an exact model the error obeys e'' + kd e' + kp e = 0: in position for any error, in
    attitude for small errors about one axis.

    Source: SPART's manual for ID; B. Siciliano et al., "Robotics" (2009), sec. 8.5.2, for
    the feedback; sec. 3.7.3 for the attitude error.

    :arg robot: the robot model, with a floating base
    :arg kp: gain on the error of the pose; six: attitude, then position
    :arg kd: gain on the error of the rates
    :arg joints: "free" (default) or "prescribed"
    """

    nin = 12
    nout = 1
    takes = (
        PortSpec("R0d", "3, 3", "", "desired rotation of the base-link, body to inertial"),
        PortSpec("r0d", "3", "m", "desired centre of mass of the base-link"),
        *quantities("u0d?"),
        PortSpec("u0dotd", "6", "rad/s^2, m/s^2", "desired base accelerations", optional=True),
        *quantities(
            "wF0? wFm? R0 r0 qm u0 um taum",
            **KNOWN,
        ),
    )
    gives = quantities("tau0")
    robot = fixed("Robot", check=need_floating)
    kp = tunable("float or 6", "1/s^2", least=0)
    kd = tunable("float or 6", "1/s", least=0)
    joints = fixed("str", "", "free", choices=("free", "prescribed"))

    def build(self) -> dict[str, Any]:
        if self.joints == "free" and self.robot.kinematic:
            raise ValueError(
                f"joints are free, but {self.robot.name} has kinematic ones: say prescribed"
            )
        if self.joints == "free":
            return self.resolve_ports(self.robot)
        more = ports(self.robot, "umdot?"), ports(self.robot, "taum")
        return self.resolve_ports(self.robot, without="taum", more=more)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0d, r0d, u0d, u0dotd, wF0, wFm, R0, r0, qm, u0, um, driven = inputs
        error = np.concatenate([_attitude_error(R0, R0d), r0d - r0])
        a = u0dotd + self.kd * (u0d - u0) + self.kp * error
        known = (R0, u0, qm, um, a, driven, wF0, wFm, self.robot)
        if self.joints == "free":
            return [base_control_free_joints(*known)]
        return list(multibody_forces(*known))


def _attitude_error(R: Array, Rd: Array) -> Array:
    """(3,): the axis times the sine of the angle of the rotation from R to Rd, in R's axes."""
    turn = R.T @ Rd
    skew = 0.5 * (turn - turn.T)
    return np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
