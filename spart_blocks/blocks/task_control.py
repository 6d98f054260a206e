"""Control of the pose of a frame on a robot, with a fixed or a free base."""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.block_support.parameters import tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.task import ForceLaw, OfTask
from spart_blocks.dynamics import base_answer, frame_motion, joint_jacobian


class Operational_Space(ForceLaw, FunctionBlock):
    """Operational-space control: commands the acceleration of a frame, with its inertia and all
    other forces compensated.

    tau = J' Lambda (tdotd + kd (td - t) + kp e - Jdot u) + h, Lambda = (J H^-1 J')^-1, so that for
    an exact model the frame obeys e'' + kd e' + kp e = 0 (for an orientation, e is 2 sin(angle / 2)
    along the axis). For a free base, J is the generalized Jacobian, H the inertia of the joints
    with the base free, and h and Jdot u include the motion of the base. taun (zeros) moves a
    redundant arm without moving the frame: it acts as (1 - J' Lambda J H^-1) taun. With damping,
    Lambda = (J H^-1 J' + damping)^-1: at singular configurations the forces stay bounded, and the
    frame lags. A reference that no component uses needs no wire.

    Source: O. Khatib, "A unified approach for motion and force control of robot
    manipulators: the operational space formulation", IEEE J. Robotics and Automation 3
    (1987), eqs. 15, 25 and 51; Y. Umetani and K. Yoshida, IEEE Trans. Robotics and
    Automation 5 (1989), for the free base.

    :arg kp: proportional gain
    :arg kd: derivative gain
    :arg damping: added to the task's mobility
    """

    nin = 13
    nout = 2
    kp = tunable("float or k", "1/s^2", least=0)
    kd = tunable("float or k", "1/s", least=0)
    damping = tunable("float or k", "1/(kg m^2), 1/kg", 0.0, least=0)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return self._law(inputs, pull=(self.kp, self.kd), softness=self.damping)


class Impedance(ForceLaw, FunctionBlock):
    """Impedance control: a frame responds to contact like a spring and a damper with its natural
    inertia; no force is measured.

    tau = J' (Lambda (tdotd - Jdot u) + D (td - t) + K e) + h, Lambda = (J H^-1 J')^-1, so that an
    unmeasured wrench F on the frame gives Lambda e'' + D e' + K e = -F: at rest the deflection is F
    / K. Wrenches wired to wF0 and wFm, such as weights, are compensated; do not wire contact
    wrenches. For a free base, J, H, h and Jdot u are those of OPERATIONAL_SPACE.

    Source: N. Hogan, "Impedance control: an approach to manipulation", ASME J. Dynamic
    Systems, Measurement, and Control 107 (1985); B. Siciliano et al., "Robotics: Modelling,
    Planning and Control" (2009), sec. 9.2, with the natural inertia.

    :arg stiffness: K
    :arg damping: D
    """

    nin = 13
    nout = 2
    stiffness = tunable("float or k", "N m/rad, N/m", least=0)
    damping = tunable("float or k", "N m s/rad, N s/m", least=0)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return self._law(inputs, spring=(self.stiffness, self.damping))


class Transpose_Jacobian(OfTask, FunctionBlock):
    """A virtual spring and damper between a frame and its reference.

    tau = J' (K e + D (td - t)): a fixed base needs no inertia and no inverse. For a free base J is
    the generalized Jacobian. Use GRAVITY_COMPENSATION for weights.

    Source: J. Craig, "Introduction to Robotics" (2005), sec. 10.8; Y. Masutani, F. Miyazaki,
    S. Arimoto, "Sensory feedback control for space manipulators", IEEE Int. Conf. Robotics
    and Automation (1989), for the free base.

    :arg stiffness: K
    :arg damping: D
    """

    nin = 8
    nout = 2
    inverts = False
    takes = quantities("rd quatd td? R0 r0 qm u0 um")
    stiffness = tunable("float or k", "N m/rad, N/m", least=0)
    damping = tunable("float or k", "N m s/rad, N s/m", least=0)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        rd, quatd, td, R0, r0, qm, u0, um = inputs
        frame = frame_motion(self.task.link, R0, r0, qm, u0, um, self.robot)
        J = self.task.pick(joint_jacobian(frame.J, base_answer(R0, qm, self.robot).G))
        e = self.task.error(rd, quatd, frame)
        F = self.stiffness * e + self.damping * self.task.pick(td - frame.t)
        return [J.T @ F, e]
