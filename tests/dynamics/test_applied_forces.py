"""Springs, dampers and ports of a robot: energy, power, and what they do to its links."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
import robots
from ball_robots import random_state, robot_with_balls
from scipy.spatial.transform import Rotation

from spart_blocks import dynamics
from spart_blocks.base.errors import InputError
from spart_blocks.dynamics import applied_forces, dissipation, port_widths, spring_energy
from spart_blocks.program.tracing.constructors import constructors_of_symbols
from spart_blocks.program.tracing.symbol import column_of, symbols, unbox
from spart_blocks.robot import (
    BaseLink,
    Joint,
    JointPort,
    JointSpring,
    JointType,
    Link,
    PointPort,
    PointSpring,
    Robot,
)

POINT = np.array([0.1, -0.2, 0.3])


def sprung(robot, seed, damping=0.0):
    """The robot with springs between pairs of its links, the base-link too, and at joints."""
    rng = np.random.default_rng(seed)
    ends = [0, *sorted(set(robot.carriers))]
    forces = [
        JointSpring(f"at {entry.name}", entry.name, 3.0 + k, 0.0 if entry.spherical else 0.2 * k,
                    damping * (1 + k))
        for k, entry in enumerate(robot.layout[1:])
    ]  # fmt: skip
    for k in range(3):
        a, b = rng.choice(ends, 2, replace=False)
        points = rng.normal(scale=0.3, size=(2, 3))
        forces.append(
            PointSpring(f"s{k}", int(a), int(b), *points, 5.0 + k, 0.4 * k, damping * (2 + k))
        )
    return replace(robot, forces=tuple(forces))


CASES = {
    **{f"balls{seed}": (robot_with_balls(seed), random_state) for seed in range(4)},
    "fixed": (robot_with_balls(5, "fixed"), random_state),
    "tree": (robots.random_robot(12, 7), robots.random_state),
}


@pytest.fixture(params=CASES)
def case(request):
    """A random tree, without forces yet, and a state of it."""
    robot, state_of = CASES[request.param]
    return robot, state_of(robot, 3)


def motion(robot, s):
    """K, D and V of the whole tree."""
    K = dynamics.kinematics(s.R0, s.r0, s.qm, robot)
    D = dynamics.diff_kinematics(s.R0, s.r0, K.rL, K.e, K.g, robot)
    return K, D, dynamics.velocities(*D, s.u0, s.um, robot)


def applied(robot, s, **ports):
    return applied_forces(s.R0, s.r0, s.u0, s.qm, s.um, robot, ports)


def generalized(robot, s, forces):
    """The forces on u0 and um (6+nu,) that they amount to."""
    K, D, _ = motion(robot, s)
    N = dynamics.noc(s.r0, K.rL, D.P0, D.pm, robot)
    tau = N.T @ np.concatenate([forces.wF0, forces.wFm.ravel()])
    tau[6:] += forces.taum
    return tau


def power(robot, s, forces):
    _, _, V = motion(robot, s)
    return V.t0 @ forces.wF0 + np.sum(V.tL * forces.wFm) + s.um @ forces.taum


def place(robot, s, link, point):
    """Rotation of a link and a point of it, inertial."""
    K, _, _ = motion(robot, s)
    R, r = (K.RL[link - 1], K.rL[link - 1]) if link else (s.R0, s.r0)
    return R, r + R @ point


def distance(robot, s, force):
    (_, a), (_, b) = place(robot, s, force.a, force.pa), place(robot, s, force.b, force.pb)
    return np.linalg.norm(b - a)


def along(robot, s, h):
    """The state a time h on, of which only the joints matter to a distance."""
    return replace(s, qm=robot.integrate(s.qm, h * s.um))


# --- springs and dampers ------------------------------------------------------------------


def test_the_energy_of_springs_is_that_of_their_lengths_and_turns(case, close):
    robot, s = case
    robot = sprung(robot, 1)
    turns = dict(zip(robot.rate_names, robot.difference(robot.neutral, s.qm), strict=True))
    want = 0.0
    for force in robot.forces:
        if isinstance(force, PointSpring):
            stretch = distance(robot, s, force) - force.free_length
            want += 0.5 * force.stiffness * stretch**2
        else:
            names = (n for n in turns if n == force.joint or n.rpartition(".")[0] == force.joint)
            want += 0.5 * force.stiffness * sum((turns[n] - force.rest) ** 2 for n in names)
    close(spring_energy(s.qm, robot), [want], "energy")


def test_springs_pull_down_the_slope_of_their_energy(case, close):
    robot, s = case
    robot = sprung(robot, 2)
    slope = [
        robots.rate(lambda h, unit=unit: spring_energy(robot.integrate(s.qm, h * unit), robot))[0]
        for unit in np.eye(robot.nu)
    ]
    tau = generalized(robot, s, applied(robot, s))
    close(tau[6:], np.negative(slope), "generalized forces", rel=1e-9)
    close(tau[:6], np.zeros(6), "on the base", floor=1e-12)


def test_dampers_take_the_power_of_their_dissipation_however_the_base_moves(case, close):
    robot, s = case
    damped = sprung(robot, 3, damping=0.7)
    lost = power(damped, s, applied(damped, s)) - power(robot, s, applied(sprung(robot, 3), s))
    assert lost < 0
    close(lost, -dissipation(s.qm, s.um, damped)[0], "power", rel=1e-11)


def test_the_dissipation_is_that_of_the_rates_of_lengths_and_joints(case, close):
    robot, s = case
    robot, want = sprung(robot, 4, damping=0.7), 0.0
    for force in robot.forces:
        if isinstance(force, PointSpring):
            rate = robots.rate(lambda h, f=force: distance(robot, along(robot, s, h), f))
        else:
            entry = next(e for e in robot.layout if e.name == force.joint)
            rate = np.linalg.norm(s.um[entry.u])
        want += force.damping * rate**2
    close(dissipation(s.qm, s.um, robot), [want], "dissipation", rel=1e-9)


def test_forces_between_points_add_up_to_nothing(case, close):
    robot, s = case
    piston = PointPort("piston", "p", 0, POINT, robot.n_links_joints, -POINT)
    springs = [f for f in sprung(robot, 5, 0.3).forces if isinstance(f, PointSpring)]
    robot = replace(robot, forces=(*springs, piston))
    forces, (K, _, _) = applied(robot, s, p=np.array([4.0])), motion(robot, s)
    total = forces.wF0[3:] + forces.wFm[:, 3:].sum(axis=0)
    moments = forces.wF0[:3] + np.cross(s.r0, forces.wF0[3:]) + forces.wFm[:, :3].sum(axis=0)
    moments = moments + np.cross(K.rL, forces.wFm[:, 3:]).sum(axis=0)
    scale = np.abs(forces.wFm).max()
    assert scale > 1.0
    close(total, np.zeros(3), "force", floor=1e-14 * scale)
    close(moments, np.zeros(3), "moment about the origin", floor=1e-13 * scale)


# --- closed forms -------------------------------------------------------------------------


def one_joint(kind, *forces, mass=2.0, count=1):
    """Bodies of inertia 0.5 kg m^2 on the ground, on one joint along or about x or on a
    spherical joint at their centre of mass."""
    names = ["j.x", "j.y", "j.z"] if kind is JointType.SPHERICAL else ["j"]
    last = len(names)
    joints = tuple(
        Joint(i, name, kind, i, i - 1, i, np.eye(3)[i - 1], np.eye(4))
        for i, name in enumerate(names, start=1)
    )
    links = tuple(
        Link(i, f"l{i}", i, np.eye(4), mass * (i == last), 0.5 * np.eye(3) * (i == last))
        for i in range(1, last + 1)
    )
    ground = BaseLink("ground", np.eye(4), 0.0, np.zeros((3, 3)))
    return Robot("one", links, joints, ground, base="fixed", forces=forces)


def accelerations(robot, qm, um):
    """umdot under the robot's own forces alone."""
    R0, none = np.eye(3), np.zeros(6)
    f = applied_forces(R0, np.zeros(3), none, qm, um, robot, {})
    return dynamics.multibody_rates(R0, none, qm, um, none, f.taum, f.wF0, f.wFm, robot).umdot


def test_a_mass_on_a_spring_swings_about_its_free_length(close):
    spring = PointSpring("s", 0, 1, np.zeros(3), np.zeros(3), 50.0, 0.3, 4.0)
    robot = one_joint(JointType.PRISMATIC, spring)
    umdot = accelerations(robot, np.array([0.45]), np.array([-0.2]))
    close(umdot, [-(50.0 * (0.45 - 0.3) + 4.0 * -0.2) / 2.0], "umdot")


def test_a_body_in_a_spherical_bushing_turns_back_about_the_axis_of_its_turn(close):
    robot = one_joint(JointType.SPHERICAL, JointSpring("s", "j", 7.0, damping=0.4))
    none, rates = np.zeros(6), np.array([0.3, 0.2, -0.1])
    for turn in np.array([[0.9, -1.4, 0.8], [3.1, 0.0, 0.0], [0.0, 0.0, 0.0]]):
        qm = Rotation.from_rotvec(turn).as_quat()
        forces = applied_forces(np.eye(3), none[:3], none, qm, rates, robot, {})
        close(forces.taum, -7.0 * turn - 0.4 * rates, "torque")


def test_a_spring_of_no_free_length_pulls_in_proportion_even_where_its_points_coincide(close):
    spring = PointSpring("s", 0, 1, np.zeros(3), np.zeros(3), 50.0)
    robot = one_joint(JointType.PRISMATIC, spring)
    for q in (0.0, 1e-180, -1e-9, 0.2):
        close(accelerations(robot, np.array([q]), np.zeros(1)), [-25.0 * q], f"at {q}", floor=0.0)


def test_points_that_coincide_are_neither_pulled_nor_driven(close):
    spring = PointSpring("s", 0, 1, np.zeros(3), np.zeros(3), 50.0, 0.3, 4.0)
    piston = PointPort("piston", "p", 0, np.zeros(3), 1, np.zeros(3))
    robot = one_joint(JointType.PRISMATIC, spring, piston)
    rest, rate = np.zeros(1), np.array([0.7])
    forces = applied_forces(
        np.eye(3), np.zeros(3), np.zeros(6), rest, rate, robot, {"p": np.array([9.0])}
    )
    assert not forces.wFm.any()
    assert not forces.wF0.any()
    assert dissipation(rest, rate, robot) == 0
    close(spring_energy(rest, robot), [0.5 * 50.0 * 0.3**2], "energy")


# --- ports --------------------------------------------------------------------------------


def test_ports_come_in_the_order_of_first_use_with_the_numbers_of_all_that_name_them():
    forces = (
        PointPort("thrust", "thrust", 1, POINT),
        JointPort("first", "j", "tau"),
        PointPort("piston", "p", 0, POINT, 1, POINT),
        JointPort("second", "j", "tau"),
    )
    assert list(port_widths(one_joint(JointType.REVOLUTE, *forces)).items()) == [
        ("thrust", 3),
        ("tau", 2),
        ("p", 1),
    ]


def test_a_port_with_several_forces_gives_each_its_own_numbers(case):
    robot, s = case
    plain = [entry for entry in robot.layout if not entry.spherical][:2]
    forces = [JointPort(f"on {entry.name}", entry.name, "tau") for entry in plain[::-1]]
    robot = replace(robot, forces=tuple(forces))
    want = np.zeros(robot.nu)
    for entry, value in zip(plain[::-1], (3.0, -5.0), strict=False):
        want[entry.u] = value
    got = applied(robot, s, tau=np.array([3.0, -5.0])[: len(plain)])
    assert np.array_equal(got.taum, want)
    assert not got.wFm.any()


@pytest.mark.parametrize("local", [False, True])
def test_a_force_at_a_point_is_in_inertial_axes_or_in_those_of_its_link(case, local, close):
    robot, s = case
    f = np.array([1.0, -2.0, 3.0])
    for link in (0, robot.n_links_joints):
        pushed = replace(robot, forces=(PointPort("thrust", "f", link, POINT, local=local),))
        got = applied(pushed, s, f=f)
        R, _ = place(robot, s, link, POINT)
        force = R @ f if local else f
        want = np.zeros((robot.n_links_joints + 1, 6))
        want[link] = [*np.cross(R @ POINT, force), *force]
        close(np.vstack([got.wF0, got.wFm]), want, f"on link {link}")


def test_a_piston_drives_its_points_apart(case, close):
    robot, s = case
    piston = PointPort("piston", "p", robot.n_links_joints, POINT, 0, -POINT)
    driven = replace(robot, forces=(piston,))
    rate = robots.rate(lambda h: distance(robot, along(robot, s, h), piston))
    close(power(robot, s, applied(driven, s, p=np.array([6.0]))), 6.0 * rate, "power", rel=1e-9)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "port 'tau' of one is not given"),
        ({"tau": [1.0], "taus": [1.0]}, "one has no port 'taus'\n  did you mean 'tau'?"),
        ({"tau": [1.0, 2.0]}, "tau has shape (2,), it must be (1,)"),
    ],
)
def test_ports_that_are_not_the_robot_s_are_refused(given, text):
    robot = one_joint(JointType.REVOLUTE, JointPort("motor", "j", "tau"))
    with pytest.raises(InputError) as error:
        applied_forces(np.eye(3), np.zeros(3), np.zeros(6), [0.0], [0.0], robot, given)
    assert str(error.value) == text


# --- every number type, and the cost ------------------------------------------------------


def everything(robot, R0, qm, um, f, p, tau):
    none = np.zeros(6)
    ports = {"f": f, "p": p, "tau": tau}
    forces = applied_forces(R0, none[:3], none, qm, um, robot, ports)
    return [*forces, spring_energy(qm, robot), dissipation(qm, um, robot)]


def test_symbols_give_what_numbers_give(case, close):
    robot, s = case
    last = robot.n_links_joints
    joint = next(entry.name for entry in robot.layout if not entry.spherical)
    ports = (
        PointPort("f", "f", last, POINT, local=True),
        PointPort("p", "p", 0, POINT, last, POINT),
        JointPort("tau", joint, "tau"),
    )
    robot = replace(robot, forces=(*sprung(robot, 6, 0.2).forces, *ports))
    given = [s.R0, s.qm, s.um, POINT, np.array([2.0]), np.array([-1.0])]
    want = everything(robot, *given)
    assert {value.dtype for value in want} == {np.dtype(float)}
    made = [symbols(f"v{k}", np.shape(value)) for k, value in enumerate(given)]
    with constructors_of_symbols():  # as a trace has it, once a block takes np.where
        outputs = everything(robot, *(unbox(array) for _, array in made))
    f = ca.Function("f", [column for column, _ in made], [ca.densify(column_of(outputs))])
    flat = np.array(f(*(np.ravel(value) for value in given))).ravel()
    close(flat, np.concatenate([value.ravel() for value in want]), "all", rel=1e-13)


def operations(robot):
    """How many a program does for the forces of a robot."""
    columns, arrays = zip(*(symbols(n, (robot.nu,)) for n in ("q", "u")), strict=True)
    q, u = (unbox(array) for array in arrays)
    forces = applied_forces(np.eye(3), np.zeros(3), np.zeros(6), q, u, robot, {})
    return ca.Function("f", columns, [ca.densify(column_of(forces))]).n_instructions()


def test_a_spring_costs_what_leads_to_its_points_and_no_more():
    robot = robots.random_robot(2, 20, kinds="r", chain=True)
    spring = PointSpring("s", 0, 3, POINT, POINT, 5.0, 0.1, 0.2)
    ends = [replace(spring, b=b) for b in (3, 6)]
    short, long = (operations(replace(robot, forces=(end,))) for end in ends)
    whole = robots.random_robot(2, 3, kinds="r", chain=True)
    outputs = 7 * (robot.n_links_joints - 3)  # zeros of the other links and joints
    assert short <= operations(replace(whole, forces=(spring,))) + 2 * outputs
    assert long > 1.5 * short


def test_a_robot_without_forces_gives_zeros_that_are_no_symbols():
    robot = robots.random_robot(3, 4)
    _, q = symbols("q", (robot.nq,))
    forces = applied_forces(np.eye(3), np.zeros(3), np.zeros(6), unbox(q), unbox(q), robot, {})
    assert [value.shape for value in forces] == [(robot.nu,), (6,), (4, 6)]
    assert not any(value.any() for value in forces)
    assert {value.dtype for value in forces} == {np.dtype(float)}
