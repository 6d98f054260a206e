"""The mechanisms of models/ as robots, and what their closed dynamics say, by names of joints
and bodies."""

from functools import cache
from pathlib import Path

import free_bodies
import numpy as np
from free_bodies import Placed

from spart_blocks.dynamics import (
    accelerations,
    applied_forces,
    assemble,
    closed_rates,
    diff_kinematics,
    gravity_wrenches,
    kept_rows,
    kinematics,
    loop_jacobian,
    port_widths,
    row_names,
    velocities,
)
from spart_blocks.robot import Robot

MODELS = Path(__file__).parents[1] / "models"
DOWN, DOWN_Y, NONE = (0, 0, -9.81), (0, -9.81, 0), (0, 0, 0)
GRAVITY = {
    "delta_robot": DOWN,
    "four_bar": DOWN_Y,
    "andrews_squeezer": NONE,
    "five_bar": DOWN,
    "slider_crank": DOWN_Y,
    "stewart_platform": DOWN,
}
PORTS = {  # the joints that each port drives, in its order
    "delta_robot": {"tau": ("B", "C", "D")},
    "four_bar": {"tau": ("J1",)},
    "andrews_squeezer": {"drive": ("O",)},
    "five_bar": {"tau": ("left", "right")},
    "slider_crank": {"gas": ("liner",)},
    "stewart_platform": {"force": tuple(f"slide_{k}" for k in range(1, 7))},
}
SIX = np.zeros(6)


@cache
def mechanism(name):
    """The robot, and its bodies as the oracle reads them."""
    file = MODELS / f"{name}.yaml"
    return Robot.from_bodies(file), free_bodies.read(file)


def place_in_u(robot, joint):
    return next(entry.u.start for entry in robot.layout if entry.name == joint)


def vector(robot, by_name):
    """Rates or accelerations (nu,) by joint name, others zero."""
    u = np.zeros(robot.nu)
    for joint, value in by_name.items():
        u[place_in_u(robot, joint)] = value
    return u


def closed_at(robot, joints):
    """The configuration nearest to home with these joints held there."""
    q = robot.home.copy()
    for entry in robot.layout:
        q[entry.q] = joints.get(entry.name, q[entry.q])
    return assemble(robot, q, hold=tuple(joints)).qm


def moving(robot, qm, wanted):
    """The rates (nu,) nearest to those wanted that keep the loops closed."""
    J = loop_jacobian(qm, robot)
    return wanted - np.linalg.lstsq(J, J @ wanted, rcond=None)[0]


def moving_with(robot, qm, rates):
    """The least rates (nu,) that keep the loops closed, some joints' given by name."""
    J = loop_jacobian(qm, robot)
    held = [place_in_u(robot, joint) for joint in rates]
    um, free = vector(robot, rates), np.setdiff1d(np.arange(robot.nu), held)
    um[free] = np.linalg.lstsq(J[:, free], -J @ um, rcond=None)[0]
    return um


def solved(robot, qm, um, loads, gravity, umdot_k=None):
    """The closed robot's accelerations under loads on its ports, by name."""
    still, R0 = np.zeros(3), np.eye(3)
    ports = {name: loads.get(name, np.zeros(width)) for name, width in port_widths(robot).items()}
    own = applied_forces(R0, still, SIX, qm, um, robot, ports)
    weight = gravity_wrenches(gravity, robot)
    return closed_rates(
        R0, SIX, qm, um, SIX, own.taum, own.wF0 + weight.wF0, own.wFm + weight.wFm, robot, umdot_k
    )


def in_space(robot, qm, um, umdot):
    """Where the bodies are and how they move, and their accelerations, by name."""
    R0, r0 = np.eye(3), np.zeros(3)
    kin = kinematics(R0, r0, qm, robot)
    diff = diff_kinematics(R0, r0, kin.rL, kin.e, kin.g, robot)
    tw = velocities(diff.Bij, diff.Bi0, diff.P0, diff.pm, SIX, um, robot)
    rate = accelerations(
        tw.t0, tw.tL, diff.P0, diff.pm, diff.Bi0, diff.Bij, SIX, um, SIX, umdot, robot
    )
    placed, motion = {}, {}
    for link in robot.links:
        i = link.id - 1
        placed[link.name] = Placed(kin.RL[i], kin.rL[i], tw.tL[i, :3], tw.tL[i, 3:])
        motion[link.name] = (rate.tLdot[i, :3], rate.tLdot[i, 3:])
    return placed, motion


def loop_forces(robot, lam):
    """The forces of the loops on their frames b, by loop and axis."""
    rows, found = row_names(robot), {}
    for k, value in zip(kept_rows(robot), lam, strict=True):
        loop, _, row = rows[k].rpartition(".")
        if row in "xyz":
            found.setdefault(loop, {})[row] = value
    return found
