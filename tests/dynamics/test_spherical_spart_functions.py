"""SPART's own functions agree with each other on robots with spherical joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots
from ball_robots import random_state, robot_with_balls

from spart_blocks import dynamics, spart
from spart_blocks.dynamics.joint_effects import joint_motion
from spart_blocks.robot import Drive, Limits


def split(matrix):
    return np.block([[matrix[0], matrix[1]], [matrix[2], matrix[3]]])


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_fd_cim_and_id_are_one_equation_of_motion(seed, close):
    robot = robot_with_balls(seed)
    s = random_state(robot, seed)
    s = replace(s, wF0=np.zeros(6), wFm=np.zeros_like(s.wFm))
    out = robots.everything(robot, s)
    H = split([out["H0"], out["H0m"], out["H0m"].T, out["Hm"]])
    C = split([out[name] for name in ("C0", "C0m", "Cm0", "Cm")])
    u = np.concatenate([s.u0, s.um])
    tau = H @ np.concatenate([s.u0dot, s.umdot]) + C @ u
    close(np.concatenate([out["tau0_ID"], out["taum_ID"]]), tau, "ID", rel=1e-11)
    found = spart.FD(
        tau[:6], tau[6:], s.wF0, s.wFm, out["t0"], out["tL"], out["P0"], out["pm"], out["I0"],
        out["Im"], out["Bij"], out["Bi0"], s.u0, s.um, robot,
    )  # fmt: skip
    close(found.u0dot, s.u0dot, "u0dot", rel=1e-10)
    close(found.umdot, s.umdot, "umdot", rel=1e-10)


def test_drives_and_stops_act_at_the_joints_that_have_them(close):
    robot = robot_with_balls(4)  # j1, the ball b2, j3, the ball b4, j5
    viscous = {"b2.y": 2.0, "j3": 3.0}
    joints = tuple(
        replace(
            joint,
            drive=Drive(viscous=viscous.get(joint.name, 0.0), stiffness=10.0, dissipation=0.0),
            limits=Limits(-0.1, 0.1) if joint.name == "j5" else None,
        )
        for joint in robot.joints
    )
    robot = replace(robot, joints=joints).with_effects(["friction", "stops"])
    names = robot.rate_names
    um = np.arange(1.0, robot.nu + 1)
    want = [viscous.get(name, 0.0) * u for name, u in zip(names, um, strict=True)]
    close(dynamics.friction_load(um, robot), want)
    qm = robot.neutral.copy()
    qm[robot.position_names.index("j5")] = 0.3
    stop = np.zeros(robot.nu)
    stop[names.index("j5")] = -10.0 * 0.2
    close(dynamics.stop_forces(qm, um, robot), stop)


def test_rates_of_joints_are_found_from_the_twists_of_links(close):
    robot = robot_with_balls(2)
    s = random_state(robot, 3)
    out = robots.everything(robot, s)
    twists = [out[name] for name in ("t0", "tL", "t0dot", "tLdot", "pm", "Bij", "Bi0")]
    um, umdot = joint_motion(*twists, robot)
    close(um, s.um, "um", rel=1e-11)
    close(umdot, s.umdot, "umdot", rel=1e-11)
