"""Motors, friction and stops in the dynamics: the toolbox's Puma 560, and closed forms."""

from dataclasses import replace

import numpy as np
import pytest
import robots

from spart_blocks import dynamics, spart
from spart_blocks.base.errors import InputError, RobotError
from spart_blocks.robot import Drive, Limits, Robot
from spart_blocks.robot.link import Link

NONE = np.zeros(6)
ARMS = ("puma560_standard", "puma560_modified", "puma560akb_modified")


def toolbox_link(row, convention):
    link = Link(convention=convention)
    link.alpha, link.A, link.theta, link.D = row["alpha"], row["a"], row["theta"], row["d"]
    link.offset, link.m, link.r, link.I = row["offset"], row["m"], row["r"], np.array(row["I"])
    link.Jm, link.G, link.B, link.Tc = row["Jm"], row["G"], row["B"], row["Tc"]
    return link


@pytest.fixture(params=ARMS)
def puma(request):
    """The arm, and the toolbox's reference states."""
    case = robots.golden("rt_link")["robots"][request.param]
    convention = "modified" if case["mdh"] else "standard"
    links = [toolbox_link(row, convention) for row in case["links"]]
    return Robot.from_links(links), case["states"]


class Parts:
    """SPART's functions up to what FD and ID take, at rest on the ground."""

    def __init__(self, robot, q, qd):
        R0, r0 = np.eye(3), np.zeros(3)
        self.robot, self.qd = robot, qd
        self.K = dynamics.kinematics(R0, r0, q, robot)
        self.D = dynamics.diff_kinematics(R0, r0, self.K.rL, self.K.e, self.K.g, robot)
        self.V = dynamics.velocities(*self.D, NONE, qd, robot)
        self.I = dynamics.inertias(R0, self.K.RL, robot)

    def forces(self, qdd, wF0, wFm, **more):
        A = dynamics.accelerations(
            *self.V, self.D.P0, self.D.pm, self.D.Bi0, self.D.Bij, NONE, self.qd, NONE, qdd,
            self.robot,
        )  # fmt: skip
        return spart.ID(
            wF0, wFm, *self.V, *A, self.D.P0, self.D.pm, *self.I, self.D.Bij, self.D.Bi0,
            self.robot, **more,
        )[1]  # fmt: skip

    def rates(self, tau, wFm, **more):
        return dynamics.fixed_forward_dynamics(
            tau, wFm, self.V.tL, self.D.pm, self.I.Im, self.D.Bij, self.D.Bi0, self.qd,
            self.robot, **more,
        )  # fmt: skip

    def inertia(self):
        bodies = dynamics.mass_composite_body(*self.I, self.D.Bij, self.D.Bi0, self.robot)
        return dynamics.generalized_inertia(*bodies, *self.D, self.robot).Hm


def states(puma):
    robot, cases = puma
    weights = dynamics.gravity_wrenches([0, 0, -9.81], robot)
    for case in cases:
        numbers = {key: np.array(value) for key, value in case.items()}
        yield robot, weights, numbers


def test_the_plant_s_functions_give_the_toolbox_s_numbers(puma, close):
    for robot, (wF0, wFm), s in states(puma):
        where = (np.eye(3), NONE, s["q"], s["qd"])
        tau = dynamics.multibody_forces(*where, NONE, s["qdd"], wF0, wFm, robot).taum
        close(tau, s["rne"])
        rates = dynamics.multibody_rates(*where, NONE, s["tau_applied"], wF0, wFm, robot)
        close(rates.umdot, s["accel"])
        close(dynamics.multibody_inertia(np.eye(3), s["q"], robot).Hm, s["inertia"])
        bare = robot.with_effects(())
        close(dynamics.multibody_inertia(np.eye(3), s["q"], bare).Hm, s["inertia_without_motor"])
        close(dynamics.friction_load(s["qd"], robot), s["friction_load"])


def test_spart_s_functions_give_the_toolbox_s_numbers(puma, close):
    for robot, (wF0, wFm), s in states(puma):
        parts = Parts(robot, s["q"], s["qd"])
        close(parts.forces(s["qdd"], wF0, wFm), s["rne"])
        close(parts.rates(s["tau_applied"], wFm), s["accel"])
        close(parts.inertia(), s["inertia"])


def test_only_the_effects_that_a_robot_names_act(puma, close):
    for robot, (wF0, wFm), s in states(puma):
        where = (np.eye(3), NONE, s["q"], s["qd"], NONE, s["qdd"], wF0, wFm)
        bare = dynamics.multibody_forces(*where, robot.with_effects(())).taum
        close(bare, s["rne_rigid_body_only"])
        braked = dynamics.multibody_forces(*where, robot.with_effects(["friction"])).taum
        np.testing.assert_allclose(braked - bare, s["friction_load"], rtol=0, atol=1e-10)


@pytest.fixture
def slider():
    """A mass of 2 kg on a rail whose stops are at -0.5 m and 0.25 m."""
    link = Link([0, 0, 0, 0, 1], name="x")
    link.m, link.qlim = 2.0, [-0.5, 0.25]
    robot = Robot.from_links([link])
    drive = Drive(stiffness=1e4, dissipation=0.5)
    return replace(robot, joints=(replace(robot.joints[0], drive=drive),)).with_effects(["stops"])


@pytest.mark.parametrize(
    ("q", "rate", "force"),
    [
        (0.2, 3.0, 0.0),  # inside
        (0.26, 0.0, -1e4 * 0.01),
        (0.26, 1.0, -1e4 * 0.01 * 1.5),  # k d (1 + c d'), Hunt and Crossley
        (0.26, -3.0, 0.0),  # it leaves faster than the stop follows, which never pulls
        (-0.52, -1.0, 1e4 * 0.02 * 1.5),
    ],
)
def test_a_stop_pushes_back_by_hunt_and_crossley_and_never_pulls(slider, q, rate, force):
    given = np.array([q]), np.array([rate])
    np.testing.assert_allclose(dynamics.stop_forces(*given, slider), [force], rtol=1e-12)
    weightless = np.zeros((1, 6))
    rates = dynamics.multibody_rates(
        np.eye(3), NONE, *given, NONE, np.array([3.0]), NONE, weightless, slider
    )
    np.testing.assert_allclose(rates.umdot, [(3.0 + force) / 2.0], rtol=1e-12)
    parts = Parts(slider, *given)
    umdot = parts.rates([3.0], weightless, qm=given[0])
    np.testing.assert_allclose(umdot, rates.umdot, rtol=1e-12)
    tau = parts.forces(umdot, NONE, weightless, qm=given[0])
    np.testing.assert_allclose(tau, [3.0], rtol=1e-12)


def test_stops_without_positions_are_refused(slider):
    parts = Parts(slider, np.zeros(1), np.zeros(1))
    with pytest.raises(InputError, match="has stops at its joints: their forces need qm"):
        parts.rates([0.0], np.zeros((1, 6)))


def test_a_stop_without_stiffness_takes_it_from_the_inertia_that_the_joint_moves(slider):
    joint = replace(slider.joints[0], drive=None)
    effects = dynamics.joint_effects(replace(slider, joints=(joint,)))
    np.testing.assert_allclose(effects.stiffness, [200.0**2 * 2.0], rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"gear": 0}, "gear is 0"),
        ({"motor_inertia": -1e-4}, "motor_inertia is -0.0001; it must not be negative"),
        ({"viscous": float("nan")}, "viscous is nan; it must be a finite number"),
        ({"coulomb": (-0.1, 0.1)}, r"coulomb is \[-0.1, 0.1\]"),
        ({"stiffness": 0}, "stiffness is 0; it must be positive"),
    ],
)
def test_impossible_drives_are_refused(given, says):
    with pytest.raises(RobotError, match=says):
        Drive(**given)


def test_unknown_effects_and_joints_are_refused_with_the_likely_one(slider):
    with pytest.raises(RobotError, match=r"no effect 'stop'.*stops"):
        slider.with_effects(["stop"])
    with pytest.raises(RobotError, match=r"no joint 'y' on .*\n.*x"):
        slider.with_kinematic(["y"])
    assert slider.joints[0].limits == Limits(-0.5, 0.25)


def test_one_name_is_no_list_and_none_comes_twice(slider):
    with pytest.raises(RobotError, match="prescribed joints are a list of names, not 'x'"):
        slider.with_kinematic("x")
    with pytest.raises(RobotError, match="effects are a list of names, not 'stops'"):
        slider.with_effects("stops")
    with pytest.raises(RobotError, match="joint 'x' is listed twice among those prescribed"):
        slider.with_kinematic(["x", "x"])
    with pytest.raises(RobotError, match="a robot needs a list of links, not one Link"):
        Robot.from_links(Link())
