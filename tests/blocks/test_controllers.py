"""Controllers of joints, frames and attitude: their laws, alone and on random robots."""

from __future__ import annotations

from dataclasses import replace

import bdsim
import numpy as np
import pytest
import robots
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks import dynamics
from spart_blocks.base.errors import DiagramError, InputError

BASES = ("fixed", "floating")
ALL = ["wx", "wy", "wz", "vx", "vy", "vz"]


def results_of(tmp_path, text, **options):
    (tmp_path / "test.yaml").write_text(text)
    return sb.simulate(tmp_path / "test.yaml", rtol=1e-10, atol=1e-12, **options)


# --- JOINT_PID and JOINT_PID_S ------------------------------------------------------------

PID = """
clocks: {{computer: {{T: 0.25}}}}
blocks:
  qd: {{type: CONSTANT, value: [0.5, -0.2]}}
  qm: {{type: CONSTANT, value: [0.1, 0.1]}}
  pid: {{type: {kind}, {parameters}}}
wires: [qd -> pid.qd, qm -> pid.qm]
run: {{T: 2, log: [pid.tau], first_tick: {tick}}}
"""
E = np.array([0.4, -0.3])


def pid(tmp_path, parameters, kind="JOINT_PID", **options):
    text = PID.format(kind=kind, parameters=parameters, tick="zero")
    return results_of(tmp_path, text.replace(", first_tick: zero", ""), **options)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_pid_answers_a_constant_error_with_a_step_a_ramp_and_a_pulse(tmp_path, engine):
    results = pid(tmp_path, "kp: [3, 4], ki: 2, kd: [0.5, 0.1], N: 8", engine=engine)
    t = results.t[:, None]
    exact = np.array([3, 4]) * E + 2 * E * t + np.array([0.5, 0.1]) * 8 * E * np.exp(-8 * t)
    assert np.abs(results["pid.tau"] - exact).max() < 1e-8


def test_the_derivative_of_the_measurement_does_not_see_the_reference(tmp_path):
    results = pid(tmp_path, "kp: 3, kd: 0.5, N: 8, derivative: measurement, n: 2")
    exact = 3 * E - 0.5 * 8 * 0.1 * np.exp(-8 * results.t[:, None])
    assert np.abs(results["pid.tau"] - exact).max() < 1e-8


def test_a_filter_that_starts_where_the_error_is_gives_no_kick(tmp_path):
    results = pid(tmp_path, "kp: 3, kd: 0.5, z0: [0.4, -0.3]")
    assert np.abs(results["pid.tau"] - 3 * E).max() < 1e-8


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_the_integral_of_a_limited_output_stops_winding_up(tmp_path, engine):
    # Limited all the time: I' = ki e + (limit - kp e - I) / Tt, for e > 0.
    results = pid(tmp_path, "kp: 5, ki: 3, limit: [1, 0.5], Tt: 0.4, n: 2", engine=engine)
    sign, limit = np.sign(E), np.array([1, 0.5])
    assert np.abs(results["pid.tau"] - sign * limit).max() < 1e-12
    rest = sign * limit - 5 * E + 3 * E * 0.4
    exact = rest * (1 - np.exp(-results.t[:, None] / 0.4))
    assert np.abs(results.states["pid"][:, :2] - exact).max() < 1e-8


def test_a_pd_that_was_limited_has_no_integral_left_of_it(tmp_path):
    # Without ki nothing could undo what the limit had put there.
    results = pid(tmp_path, "kp: 5, kd: 1, N: 10, limit: 2.2, n: 2")
    t = results.t[:, None]
    exact = np.clip(5 * E + 10 * E * np.exp(-10 * t), -2.2, 2.2)
    assert np.abs(results["pid.tau"] - exact).max() < 1e-8


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_the_integral_stays_within_its_limit(tmp_path, engine):
    # It grows at 2 e, and meets 0.3 at 0.375 s and at 0.5 s.
    results = pid(tmp_path, "kp: 5, ki: 2, integral_limit: 0.3, n: 2", engine=engine)
    exact = 5 * E + np.clip(2 * E * results.t[:, None], -0.3, 0.3)
    assert np.abs(results["pid.tau"] - exact).max() < 1e-8


def test_a_pid_watches_where_it_meets_its_limits(make):
    block = make("JOINT_PID", kp=2.0, limit=[1.0, 3.0], integral_limit=0.5)
    x, qm = np.array([0.4, -0.6, 0, 0]), np.zeros(2)

    def signs(qd):
        return np.sign(np.array(block.watch(0.0, [np.array(qd), qm], x)).astype(float))

    np.testing.assert_array_equal(signs([0.1, 1.0]), [-1, -1, 1, 1, -1, -1, 1, -1])
    np.testing.assert_array_equal(signs([0.4, 2.0]), [1, 1, 1, 1, -1, -1, 1, -1])
    assert make("JOINT_PID", kp=2.0).watch(0.0, [qm[:1], qm[:1]], np.zeros(2)) == []


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_the_sampled_pid_is_its_recursion(tmp_path, engine):
    given = "clock: computer, kp: [3, 4], ki: 2, kd: 0.5, N: 8, limit: 2, integral_limit: 1"
    results = pid(tmp_path, given, "JOINT_PID_S", engine=engine)
    I, z, T, kp, held = np.zeros(2), np.zeros(2), 0.25, np.array([3, 4]), []
    for _ in range(8):
        d = 8 * (E - z) / (1 + 8 * T)
        u = kp * E + I + 0.5 * d
        tau = np.clip(u, -2, 2)
        I, z = np.clip(I + T * (2 * E + (tau - u)), -1, 1), z + T * d
        held.append(tau)
    for k, tau in enumerate(held):
        inside = (results.t >= k * T) & (results.t < (k + 1) * T)
        assert np.abs(results["pid.tau"][inside] - tau).max() < 1e-14


# --- GRAVITY_COMPENSATION --------------------------------------------------------------------


@pytest.mark.parametrize("base", BASES)
def test_carried_loads_do_not_move_joints_at_rest(base, make, close):
    robot = robots.random_robot(14, 6).with_base(base)
    s = robots.random_state(robot, 3)
    s = replace(s, u0=np.zeros(6), um=np.zeros(robot.nu))
    block = make("GRAVITY_COMPENSATION", robot=robot)
    (tau,) = block.output(0.0, [s.tau0, s.wF0, s.wFm, s.R0, s.qm], None)
    rates = dynamics.multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, tau, s.wF0, s.wFm, robot)
    assert np.abs(rates.umdot).max() < 1e-9 * np.abs(tau).max()
    assert np.abs(tau).max() > 0.1


def test_a_robot_that_falls_freely_carries_nothing(make):
    robot = robots.random_robot(14, 6).with_base("floating")
    s = robots.random_state(robot, 3)
    weights = dynamics.gravity_wrenches([1.0, 2.0, -9.0], robot)
    block = make("GRAVITY_COMPENSATION", robot=robot)
    (tau,) = block.output(0.0, [np.zeros(6), *weights, s.R0, s.qm], None)
    assert np.abs(tau).max() < 1e-11


# --- INVERSE_DYNAMICS ------------------------------------------------------------------------


@pytest.mark.parametrize("base", BASES)
def test_the_forces_of_a_motion_are_those_that_gave_it(base, make):
    robot = robots.random_robot(14, 6).with_base(base)
    s = robots.random_state(robot, 3)
    if base == "fixed":
        s = s.held()
    known = s.wF0, s.wFm
    rates = dynamics.multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, *known, robot)
    block = make("INVERSE_DYNAMICS", robot=robot)
    moved = s.qm, s.um, rates.umdot
    taum, tau0 = block.output(0.0, [*moved, *known, s.R0, s.u0, rates.u0dot], None)
    assert np.abs(taum - s.taum).max() < 1e-11 * np.abs(s.taum).max()
    if base == "floating":
        assert np.abs(tau0 - s.tau0).max() < 1e-11 * np.abs(s.tau0).max()


def test_without_a_wire_a_fixed_base_stands_upright(make):
    robot = robots.random_robot(14, 6).with_base("fixed")
    s = robots.random_state(robot, 3).held()
    block = make("INVERSE_DYNAMICS", robot=robot)
    rest = s.u0, np.zeros(6)
    found = [block.output(0.0, [s.qm, s.um, s.um, s.wF0, s.wFm, R0, *rest], None)[0]
             for R0 in (np.zeros((3, 3)), np.eye(3))]  # fmt: skip
    np.testing.assert_array_equal(*found)


# --- OPERATIONAL_SPACE, IMPEDANCE, TRANSPOSE_JACOBIAN ------------------------------------------


def case(base, seed=1, n=8):
    """A chain with more joints than components, its state, and a reference."""
    robot = robots.random_robot(30 + seed, n, kinds="r", chain=True).with_base(base)
    s = robots.random_state(robot, seed)
    if base == "fixed":
        s = s.held()
    rng = np.random.default_rng(seed)
    quatd = Rotation.random(random_state=rng).as_quat()
    rd, td, tdotd = rng.normal(size=3), rng.normal(size=6), rng.normal(size=6)
    return robot, s, (rd, quatd, td, tdotd)


def frame_of(robot, s, link):
    return dynamics.frame_motion(link, s.R0, s.r0, s.qm, s.u0, s.um, robot)


def acceleration(robot, s, link, tau, wF0, wFm):
    """The twist rate of a frame on the plant under these forces."""
    rates = dynamics.multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, tau, wF0, wFm, robot)
    frame = frame_of(robot, s, link)
    return frame.J.J0 @ rates.u0dot + frame.J.Jm @ rates.umdot + frame.drift


def errors(robot, s, link, reference):
    rd, quatd, td, _ = reference
    frame = frame_of(robot, s, link)
    turn = Rotation.from_quat(quatd) * Rotation.from_matrix(frame.R).inv()
    x, y, z, w = turn.as_quat()
    shortest = 2 * np.sign(w) * np.array([x, y, z])
    return np.concatenate([shortest, rd - frame.r]), td - frame.t


def control(block, s, reference, taun):
    state = [s.R0, s.r0, s.qm, s.u0, s.um]
    return block.output(0.0, [*reference, s.tau0, s.wF0, s.wFm, *state, taun], None)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("components", ["wx wy wz vx vy vz", "vy wz", "vx vy vz"])
def test_a_frame_gets_exactly_the_acceleration_that_is_asked_for(base, components, make, close):
    robot, s, reference = case(base)
    rows = sorted(ALL.index(name) for name in components.split())
    kp, kd = np.linspace(4, 9, len(rows)), np.linspace(5, 6, len(rows))
    block = make(
        "OPERATIONAL_SPACE", robot=robot, frame="link7", kp=kp, kd=kd, components=components
    )
    e, edot = errors(robot, s, 7, reference)
    for taun in (np.zeros(robot.nu), s.taum):
        tau, error = control(block, s, reference, taun)
        got = acceleration(robot, s, 7, tau, s.wF0, s.wFm)
        wanted = reference[3][rows] + kd * edot[rows] + kp * e[rows]
        close(got[rows], wanted, "acceleration", rel=1e-8)
        close(error, e[rows], "error", rel=1e-12)


def test_motors_and_friction_are_in_the_law_where_the_robot_has_them(make, close):
    arm = sb.Robot.from_urdf(robots.ROOT / "models/arm3.urdf")
    driven = arm.with_drives(robots.ROOT / "models/arm3_drives.yaml")
    s = replace(robots.random_state(driven, 4).held(), R0=np.eye(3), r0=np.zeros(3))
    reference = (np.array([0.3, 0.2, 0.5]), np.zeros(4), np.zeros(6), np.ones(6))
    law = {"frame": "tool", "kp": 9.0, "kd": 6.0, "components": "vx vy vz"}
    frame = frame_of(driven, s, 4)
    wanted = np.ones(3) - 6 * frame.t[3:] + 9 * (reference[0] - frame.r)
    got = {}
    for robot in (driven, arm):
        block = make("OPERATIONAL_SPACE", robot=robot, **law)
        tau = control(block, s, reference, np.zeros(3))[0]
        got[robot] = acceleration(driven, s, 4, tau, s.wF0, s.wFm)[3:]
    close(got[driven], wanted, "acceleration", rel=1e-9)
    assert np.abs(got[arm] - wanted).max() > 1  # the law of the bare arm does not know them


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(
    ("kind", "law", "takes"),
    [
        ("COMPUTED_TORQUE", {"kp": 9.0, "kd": 6.0}, "qd ud ad wF0 wFm R0 r0 qm u0 um"),
        ("GRAVITY_COMPENSATION", {}, "tau0 wF0 wFm R0 qm"),
        (
            "OPERATIONAL_SPACE",
            {"frame": "tool", "kp": 9.0, "kd": 6.0, "components": "vx vz"},
            "rd quatd td tdotd tau0 wF0 wFm R0 r0 qm u0 um taun",
        ),
    ],
)
def test_controllers_know_motors_and_friction_and_leave_the_stops_alone(
    make, close, kind, law, takes, base
):
    arm = sb.Robot.from_urdf(robots.ROOT / "models/arm3.urdf").with_base(base)
    robot = arm.with_drives(robots.ROOT / "models/arm3_drives.yaml")
    stopped = robot.with_effects(["motors", "friction", "stops"])
    s = robots.random_state(robot, 4)
    s = replace(s, qm=np.array([0.1, 2.6, -2.9]), um=np.array([0.1, 0.2, -0.1]))
    s = s.held() if base == "fixed" else s
    assert np.abs(dynamics.stop_forces(s.qm, s.um, stopped)).max() > 10
    given = s.arrays() | {
        "qd": np.zeros(3), "ud": np.zeros(3), "ad": np.ones(3), "rd": np.array([0.3, 0.2, 0.5]),
        "quatd": np.zeros(4), "td": np.zeros(6), "tdotd": np.ones(6), "taun": np.zeros(3),
    }  # fmt: skip
    tau = [
        make(kind, robot=one, **law).output(0.0, [given[name] for name in takes.split()], None)[0]
        for one in (robot, stopped)
    ]
    close(tau[1], tau[0], "tau", rel=1e-10)


@pytest.mark.parametrize("base", BASES)
def test_what_leaves_the_frame_alone_still_moves_the_joints(base, make):
    robot, s, reference = case(base)
    block = make("OPERATIONAL_SPACE", robot=robot, frame="link7", kp=4.0, kd=4.0)
    still = control(block, s, reference, np.zeros(robot.nu))[0]
    moved = control(block, s, reference, s.taum)[0]
    assert np.abs(moved - still).max() > 0.1


def test_damping_bounds_the_forces_of_a_singular_arm(make):
    robot = sb.Robot.from_urdf(robots.ROOT / "models/arm3.urdf")
    rd = np.array([0.2, 0.1, 1.0])
    s = robots.random_state(robot, 0).held()
    s = replace(s, R0=np.eye(3), r0=np.zeros(3), qm=np.full(3, 1e-6), um=np.zeros(3))
    reference = (rd, np.zeros(4), np.zeros(6), np.zeros(6))
    largest = {}
    for damping in (0.0, 0.01):
        block = make(
            "OPERATIONAL_SPACE", robot=robot, frame="tool", kp=25, kd=10, components="vx vy vz",
            damping=damping,
        )  # fmt: skip
        largest[damping] = np.abs(control(block, s, reference, np.zeros(3))[0]).max()
    assert largest[0.0] > 1e5
    assert largest[0.01] < 1e3


@pytest.mark.parametrize("base", BASES)
def test_an_impedance_answers_an_unmeasured_wrench_as_spring_and_damper(base, make, close):
    robot, s, reference = case(base)
    K, D, F = np.linspace(50, 80, 6), np.linspace(7, 9, 6), np.array([1, -2, 0.5, 4, -3, 2.0])
    block = make("IMPEDANCE", robot=robot, frame="link7", stiffness=K, damping=D)
    tau, _ = control(block, s, reference, s.taum)
    frame, e, edot = frame_of(robot, s, 7), *errors(robot, s, 7, reference)
    at_com = F.copy()  # the same wrench about the centre of mass of the link
    K7 = dynamics.kinematics(s.R0, s.r0, s.qm, robot)
    at_com[:3] += np.cross(frame.r - K7.rL[6], F[3:])
    wFm = s.wFm.copy()
    wFm[6] += at_com
    eddot = reference[3] - acceleration(robot, s, 7, tau, s.wF0, wFm)
    # Lambda is of the joints alone; a wrench moves a free base as well, by J0 H0^-1 J0' F.
    H, G = dynamics.base_answer(s.R0, s.qm, robot)
    J = dynamics.joint_jacobian(frame.J, G)
    mobility = J @ np.linalg.solve(H, J.T)
    moved = mobility
    if base == "floating":
        H0 = dynamics.multibody_inertia(s.R0, s.qm, robot).H0
        moved = mobility + frame.J.J0 @ np.linalg.solve(H0, frame.J.J0.T)
    close(eddot + mobility @ (D * edot + K * e), -moved @ F, "e''", rel=1e-7)


@pytest.mark.parametrize("base", BASES)
def test_the_transposed_jacobian_does_the_work_of_the_spring(base, make, close):
    robot, s, (rd, quatd, td, _) = case(base)
    if base == "floating":  # at zero momentum
        s = replace(s, u0=-dynamics.base_answer(s.R0, s.qm, robot).G @ s.um)
    K, D = np.linspace(50, 80, 6), np.linspace(7, 9, 6)
    block = make("TRANSPOSE_JACOBIAN", robot=robot, frame=7, stiffness=K, damping=D)
    tau, error = block.output(0.0, [rd, quatd, td, s.R0, s.r0, s.qm, s.u0, s.um], None)
    e, edot = errors(robot, s, 7, (rd, quatd, td, None))
    close(tau @ s.um, (K * e + D * edot) @ frame_of(robot, s, 7).t, "power", rel=1e-11)
    close(error, e, "error", rel=1e-12)


# --- ATTITUDE_PD -------------------------------------------------------------------------------

INERTIA = np.array([[9.0, 0.5, -0.3], [0.5, 11.0, 0.2], [-0.3, 0.2, 7.0]])


def attitude_case():
    rng = np.random.default_rng(5)
    R0 = Rotation.random(random_state=rng).as_matrix()
    quatd = Rotation.random(random_state=rng).as_quat()
    return R0, quatd, *rng.normal(size=(3, 3))


def test_a_rigid_body_follows_a_turning_reference_as_a_spring_and_a_damper(make, close):
    R0, quatd, omegad, omegadotd, w = attitude_case()
    kp, kd = np.array([3.0, 4, 5]), np.array([6.0, 7, 8])
    block = make("ATTITUDE_PD", kp=kp, kd=kd, inertia=INERTIA)
    u0 = np.concatenate([w, [1, 2, 3]])
    tau0, e = block.output(0.0, [quatd, omegad, omegadotd, R0, u0], None)
    wdot = np.linalg.solve(INERTIA, tau0[:3] - np.cross(w, INERTIA @ w))  # Euler's equation
    wd = R0.T @ omegad
    wd_rate = robots.rate(
        lambda h: (R0 @ Rotation.from_rotvec(h * w).as_matrix()).T @ (omegad + h * omegadotd)
    )
    close(INERTIA @ (wdot - wd_rate), kp * e + kd * (wd - w), "torque", rel=1e-9)
    assert not tau0[3:].any()
    turn = Rotation.from_matrix(R0.T) * Rotation.from_quat(quatd)  # body axes
    close(np.linalg.norm(e), 2 * np.sin(turn.magnitude() / 2), rel=1e-12)
    close(np.cross(e, turn.as_rotvec()), np.zeros(3))


def test_the_sign_and_the_length_of_the_reference_quaternion_do_not_matter(make, close):
    R0, quatd, *_ = attitude_case()
    block = make("ATTITUDE_PD", kp=2.0, kd=3.0)
    rest = [np.zeros(3), np.zeros(3), R0, np.zeros(6)]
    one = block.output(0.0, [quatd, *rest], None)[0]
    close(block.output(0.0, [-quatd, *rest], None)[0], one)
    close(block.output(0.0, [3 * quatd, *rest], None)[0], one)


# --- what is refused ---------------------------------------------------------------------------

ROBOT = sb.Robot.from_urdf(robots.ROOT / "models/spacecraft_3dof.urdf")
FRAME = {"robot": ROBOT, "frame": "Link_EE", "components": "vx vy vz"}
FIXED = ROBOT.with_base("fixed")
HELD = ROBOT.with_kinematic(["Joint_2"])


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("JOINT_PD", {"kp": -1, "kd": 1}, "kp must not be negative, not -1"),
        ("COMPUTED_TORQUE", {"robot": ROBOT, "kp": 1, "kd": [1, -2, 3]}, "kd .*, -2, 3"),
        ("JOINT_PID", {"kp": [1, 2], "ki": [1, 2, 3]}, "kp has 2 entries and ki has 3"),
        ("JOINT_PID", {"kp": [1, 2], "n": 3}, "n is 3, but the parameters have 2"),
        ("JOINT_PID", {"kp": 1, "n": 0}, "n must be a number of joints, 1 to 10000, not 0"),
        ("JOINT_PID", {"kp": 1, "n": 1e9}, "n must be a number of joints, 1 to 10000, not 1000"),
        ("JOINT_PID", {"kp": 1, "ki": -1}, "ki must not be negative"),
        ("JOINT_PID", {"kp": 1, "N": 0}, "N must be above zero, not 0"),
        ("JOINT_PID", {"kp": 1, "limit": [1, np.nan]}, "limit must be finite"),
        ("JOINT_PID", {"kp": 1, "derivative": "rate"}, "must be one of error, measurement"),
        ("JOINT_PID", {"kp": [1, 2], "z0": [1, 2, 3]}, "kp has 2 entries and z0 has 3"),
        ("JOINT_PID_S", {"clock": bdsim.Clock(0.1), "kp": 1, "Tt": 0.01}, "Tt must not be below"),
        ("GRAVITY_COMPENSATION", {"robot": "arm"}, "needs a Robot for its parameter robot"),
        ("OPERATIONAL_SPACE", {**FRAME, "kp": [1, 2], "kd": 1}, "kp has 2 .*, 3 components are"),
        ("OPERATIONAL_SPACE", {**FRAME, "kp": 1, "kd": 1, "damping": -1}, "damping must not be"),
        ("IMPEDANCE", {**FRAME, "stiffness": -5, "damping": 1}, "stiffness must not be negative"),
        (
            "IMPEDANCE",
            {**FRAME, "frame": "Link_EF", "stiffness": 5, "damping": 1},
            "no link 'Link_EF' on .*: did you mean 'Link_EE'",
        ),
        (
            "TRANSPOSE_JACOBIAN",
            {**FRAME, "components": "vx vv", "stiffness": 5, "damping": 1},
            "components has no component 'vv'\n  did you mean 'vz' or 'vy' or 'vx'\\?",
        ),
        (
            "TRANSPOSE_JACOBIAN",
            {**FRAME, "components": ["vx", "vx"], "stiffness": 5, "damping": 1},
            "components names a component twice",
        ),
        (
            "IMPEDANCE",
            {**FRAME, "components": 3, "stiffness": 5, "damping": 1},
            'components must be names as "wx wy wz vx vy vz", not 3',
        ),
        (
            "OPERATIONAL_SPACE",
            {"robot": ROBOT, "frame": "Link_EE", "kp": 1, "kd": 1},
            "components are 6, but the joints that move 'Link_EE' are 3",
        ),
        (
            "OPERATIONAL_SPACE",
            {**FRAME, "robot": FIXED, "frame": "Link_1", "kp": 1, "kd": 1},
            "components are 3, but the joints that move 'Link_1' are 1",
        ),
        (
            "IMPEDANCE",
            {**FRAME, "robot": HELD, "stiffness": 5, "damping": 1},
            "robot must drive all its joints for this law; prescribed are Joint_2",
        ),
        ("ATTITUDE_PD", {"kp": [1, 2], "kd": 1}, "one for each of 3"),
        ("ATTITUDE_PD", {"kp": 1, "kd": 1, "inertia": [1, 2]}, "inertia must be a matrix"),
        ("ATTITUDE_PD", {"kp": 1, "kd": 1, "inertia": [1, 2, -3]}, "symmetric and positive def"),
    ],
)  # fmt: skip
def test_wrong_parameters_say_what_is_wrong(name, given, message, make):
    with pytest.raises((ValueError, InputError), match=message):
        make(name, **given)


FAULTY = """\
robots: {{sc: {{urdf: {model}}}}}
blocks:
  ctrl:
    type: OPERATIONAL_SPACE
    robot: sc
    frame: {frame}
    components: {components}
    kp: {kp}
    kd: 1
"""


@pytest.mark.parametrize(
    ("wrong", "line", "message"),
    [
        ({"frame": "Link_EF"}, 6, "did you mean 'Link_EE'"),
        (
            {"components": "[vy, rx]"},
            7,
            "components has no component 'rx'\n  did you mean 'wx' or 'vx'?",
        ),
        ({"kp": "[1, 2]"}, 8, "kp has 2 entries, 3 components are controlled"),
        ({"kp": "-4"}, 8, "kp must not be negative, not -4"),
    ],
)
def test_a_file_is_told_the_line_of_a_wrong_parameter(wrong, line, message, tmp_path):
    given = {"frame": "Link_EE", "components": "vx vy vz", "kp": "4", **wrong}
    model = robots.ROOT / "models/spacecraft_3dof.urdf"
    (tmp_path / "bad.yaml").write_text(FAULTY.format(model=model.name, **given))
    (tmp_path / model.name).write_text(model.read_text())
    with pytest.raises(DiagramError) as caught:
        sb.load(tmp_path / "bad.yaml")
    assert message in str(caught.value)
    assert caught.value.faults[0].place.line == line
