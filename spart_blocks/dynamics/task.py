"""The motion of a frame on a robot, and what joint forces do to it.

A fixed base and a free one are treated alike: the base's acceleration is eliminated from
the equations of motion, so that the joints have an equation of their own and the frame a
Jacobian of the joints alone.

Sources: Y. Umetani and K. Yoshida, "Resolved motion rate control of space manipulators
with generalized Jacobian matrix", IEEE Trans. Robotics and Automation 5 (1989); O. Khatib,
"A unified approach for motion and force control of robot manipulators: the operational
space formulation", IEEE J. Robotics and Automation 3 (1987).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from spart_blocks.base.spatial import Array, array, solve_spd, zeros
from spart_blocks.dynamics.composite import multibody_inertia
from spart_blocks.dynamics.inverse import multibody_forces
from spart_blocks.dynamics.jacobians import Jacobian, jacobian, jacobian_dot
from spart_blocks.dynamics.joint_effects import stop_forces
from spart_blocks.dynamics.kinematics import diff_kinematics, frame_of_link, kinematics, velocities
from spart_blocks.robot import Robot


class BaseAnswer(NamedTuple):
    """H (nu,nu): inertia that the joints feel. G (6,nu): u0dot = -G umdot for a base that
    nothing else moves; zeros for a fixed one."""

    H: Array
    G: Array


class JointEquations(NamedTuple):
    """H umdot + h = taum, and what the base does meanwhile: u0dot = g - G umdot.

    H (nu,nu); h (nu,) [N m, N]; G (6,nu); g (6,) [rad/s^2 base axes, m/s^2 inertial].
    """

    H: Array
    h: Array
    G: Array
    g: Array


class FrameMotion(NamedTuple):
    """A frame on a link: R (3,3), r (3,) [m], its twist t (6,) [rad/s, m/s], its Jacobian J
    (J0 (6,6), Jm (6,nu)), and drift (6,) [rad/s^2, m/s^2]: its twist rate at u0dot = 0 and
    umdot = 0. All inertial."""

    R: Array
    r: Array
    t: Array
    J: Jacobian
    drift: Array


def base_answer(R0: Any, qm: Any, robot: Robot) -> BaseAnswer:
    """What the base does when joints accelerate, and the inertia that is left to them.

    R0 (3,3), qm (nq,). For a free base G = H0^-1 H0m and H = Hm - H0m' G; the same G gives
    u0 = -G um where the momentum is zero. Raises SingularInertiaError where H0 is singular.
    """
    H0, H0m, Hm = multibody_inertia(R0, qm, robot)
    if robot.base != "floating":
        return BaseAnswer(Hm, zeros((6, robot.nu), H0m))
    G = solve_spd(H0, H0m, "the inertia of the base H0")
    return BaseAnswer(Hm - H0m.T @ G, G)


def joint_equations(
    R0: Any, u0: Any, qm: Any, um: Any, tau0: Any, wF0: Any, wFm: Any, robot: Robot
) -> JointEquations:
    """The equation of the joints alone, on a fixed base or on a free one.

    R0 (3,3), u0 (6,), qm (nq,), um (nu,): configuration and rates. tau0 (6,) [N m base
    axes, N inertial]: known forces on a free base. wF0 (6,), wFm (n,6) [N m, N]: known
    wrenches, inertial. h is what SPART's ID, or Floating_ID, gives for umdot = 0, but
    without what stops give: a controller that countered them would push through them.
    """
    rest6, rest = zeros(6), zeros(robot.nu)
    held = multibody_forces(R0, u0, qm, um, rest6, rest, wF0, wFm, robot)
    h = held.taum + stop_forces(qm, um, robot)
    H0, H0m, Hm = multibody_inertia(R0, qm, robot)
    if robot.base != "floating":
        return JointEquations(Hm, h, zeros((6, robot.nu), H0m), rest6)
    left = array(tau0, (6,), "tau0") - held.tau0
    both = zeros((6, robot.nu + 1), H0m, left)
    both[:, :-1], both[:, -1] = H0m, left
    solved = solve_spd(H0, both, "the inertia of the base H0")
    G, g = solved[:, :-1], solved[:, -1]
    return JointEquations(Hm - H0m.T @ G, h + H0m.T @ g, G, g)


def frame_motion(
    link: int, R0: Any, r0: Any, qm: Any, u0: Any, um: Any, robot: Robot
) -> FrameMotion:
    """Pose, twist, Jacobian and drift of the URDF link frame of a link (0: the base)."""
    K = kinematics(R0, r0, qm, robot)
    D = diff_kinematics(R0, r0, K.rL, K.e, K.g, robot)
    V = velocities(*D, u0, um, robot)
    frame = frame_of_link(link, R0, r0, K.RL, K.rL, robot)
    rp = frame[:3, 3]
    J = jacobian(rp, r0, K.rL, D.P0, D.pm, link, robot)
    t = J.J0 @ u0 + J.Jm @ um
    rate = jacobian_dot(rp, t, r0, V.t0, K.rL, V.tL, D.P0, D.pm, link, robot)
    return FrameMotion(frame[:3, :3], rp, t, J, rate.J0dot @ u0 + rate.Jmdot @ um)


def joint_jacobian(J: Jacobian, G: Array) -> Array:
    """Jm - J0 G (6,nu): the twist of a frame per joint rate, and its twist rate per joint
    acceleration, with the base's answer in it. For a free base it is the generalized
    Jacobian of Umetani and Yoshida; for a fixed one it is Jm."""
    moved: Array = J.Jm - J.J0 @ G
    return moved
