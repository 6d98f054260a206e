"""Resolved motion: momentum, generalized Jacobian, joint rates, and forces on the base."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import robots
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from spart_blocks import dynamics
from spart_blocks.base import spatial
from spart_blocks.base.errors import InputError, SingularInertiaError

EYE, ZERO3, ZERO6 = np.eye(3), np.zeros(3), np.zeros(6)


def matrices(robot, s, link=None, offset=(0.3, -0.1, 0.2)):
    """The end-effector's pose and Jacobian and the inertia matrix at one state."""
    link = robot.n_links_joints if link is None else link
    E = dynamics.end_effector(s.R0, s.r0, s.qm, link, np.array(offset), robot)
    H = dynamics.multibody_inertia(s.R0, s.qm, robot)
    return SimpleNamespace(**E._asdict(), **H._asdict(), H=H)


def momenta(robot, s, u0, um):
    """p and h about the inertial origin, from the twists of all links."""
    out = robots.bookkeeping(robot, replace(s, u0=u0, um=um), np.zeros(3))
    return out["p"], out["h"]


@pytest.fixture(params=["spart_sc_3dof", "spart_branched", "spart_dh_5dof", "spart_kuka_iiwa"])
def spatial_case(request):
    """A robot in three dimensions, at SPART's own state."""
    robot = robots.golden_robot(request.param).with_base("floating")
    return robot, robots.golden_state(robots.golden(request.param)["cases"][0])


@pytest.fixture
def redundant():
    """A floating chain of eight joints, two more than a twist has components."""
    robot = robots.random_robot(41, 8, kinds="r", chain=True)
    return robot, robots.random_state(robot, 4)


@pytest.fixture
def planar():
    """SPART's resolved-motion example: four bars with inertia about z only."""
    return robots.golden_robot("spart_resolved_motion_4dof")


# --- momentum and the base's rates ---------------------------------------------------------


def test_the_momentum_of_u0_is_spart_s_inertia_matrix_times_the_rates(golden_case, close):
    robot, s, case = golden_case
    out = {k: np.array(v, float) for k, v in case["outputs"].items() if k in ("H0", "H0m")}
    M = dynamics.base_momentum(*momenta(robot, s, s.u0, s.um), s.R0, s.r0)
    H0m = out["H0m"].reshape(6, robot.nu)
    close(out["H0"] @ s.u0 + H0m @ s.um, M, "H0 u0 + H0m um", rel=1e-11)


def test_the_base_s_rates_keep_the_momentum_that_was_given(spatial_case, close):
    robot, s = spatial_case
    m = matrices(robot, s)
    p, h = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, -0.4])
    M = dynamics.base_momentum(p, h, s.R0, s.r0)
    u0 = dynamics.base_rates_from_momentum(m.H0, m.H0m, M, s.um)
    close(m.H0 @ u0 + m.H0m @ s.um, M, "M", rel=1e-10)
    got_p, got_h = momenta(robot, s, u0, s.um)
    close(got_p, p, "p", rel=1e-10)
    close(got_h, h, "h", rel=1e-9)


def test_the_rates_of_spart_s_cases_follow_from_their_momentum(spatial_case, close):
    robot, s = spatial_case
    m = matrices(robot, s)
    M = m.H0 @ s.u0 + m.H0m @ s.um
    u0 = dynamics.base_rates_from_momentum(m.H0, m.H0m, M, s.um)
    close(u0, s.u0, "u0", rel=1e-9)


# --- the generalized Jacobian --------------------------------------------------------------


def test_the_generalized_jacobian_gives_the_twist_with_the_base_s_answer(spatial_case, close):
    robot, s = spatial_case
    m = matrices(robot, s)
    M = np.array([0.2, -0.1, 0.4, 3.0, -1.0, 2.0])
    u0 = dynamics.base_rates_from_momentum(m.H0, m.H0m, M, s.um)
    J = dynamics.generalized_jacobian(m.J0, m.Jm, m.H0, m.H0m)
    twist = J @ s.um + dynamics.drift_twist(m.J0, m.H0, M)
    close(twist, m.J0 @ u0 + m.Jm @ s.um, "twist", rel=1e-10)


def test_the_floating_inertia_is_the_energy_at_no_momentum(spatial_case, close):
    robot, s = spatial_case
    m = matrices(robot, s)
    W = dynamics.floating_inertia(*m.H)
    u0 = dynamics.base_rates_from_momentum(m.H0, m.H0m, ZERO6, s.um)
    energy = robots.bookkeeping(robot, replace(s, u0=u0), np.zeros(3))["kinetic"]
    close([0.5 * s.um @ W @ s.um], energy, "T", rel=1e-10)


def test_the_twist_is_the_rate_of_the_pose(spatial_case, close):
    robot, s = spatial_case
    s = replace(s, u0dot=ZERO6, umdot=0 * s.um)
    m = matrices(robot, s)
    twist = m.J0 @ s.u0 + m.Jm @ s.um
    close(robots.rate(lambda h: matrices(robot, robots.moved(s, h)).rp), twist[3:], "v", rel=1e-7)
    turn = robots.rate(lambda h: matrices(robot, robots.moved(s, h)).R) @ m.R.T
    close([turn[2, 1], turn[0, 2], turn[1, 0]], twist[:3], "omega", rel=1e-7)


def test_the_point_is_the_offset_in_the_urdf_frame_of_its_link(close):
    # SPART's T_Ln_EE: the last link's centre of mass to the end-effector.
    for name in ("spart_dh_5dof", "spart_resolved_motion_4dof"):
        robot, file = robots.golden_robot(name), robots.golden(name)
        s = robots.golden_state(file["cases"][0])
        E = matrices(robot, s, offset=(0, 0, 0))
        K = dynamics.kinematics(s.R0, s.r0, s.qm, robot)
        T = robot.links[-1].T
        close(K.rL[-1], E.rp + E.R @ T[:3, 3], name)
        close(K.RL[-1], E.R @ T[:3, :3], name)


def test_the_link_s_quaternion_is_its_rotation_and_keeps_its_sign_over_turns(close):
    robot = robots.random_robot(43, 6)
    s = robots.random_state(robot, 2)
    link = 6
    R = dynamics.end_effector(EYE, ZERO3, s.qm, link, ZERO3, robot).R
    close(spatial.quaternion_rotation(dynamics.link_quaternion(s.qm, link, robot)), R, "R")
    path = [dynamics.link_quaternion(s.qm * k / 50, link, robot) for k in range(-400, 400)]
    steps = [a @ b for a, b in pairwise(path)]
    assert min(steps) > 0.9  # neighbours; minus that would be a jump
    close(np.linalg.norm(path, axis=1), np.ones(len(path)), "length")


# --- joint rates for a twist ---------------------------------------------------------------


def test_resolved_rates_are_those_of_the_pseudo_inverse(redundant, close):
    robot, s = redundant
    m = matrices(robot, s)
    J = dynamics.generalized_jacobian(m.J0, m.Jm, m.H0, m.H0m)
    td = np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6])
    um = dynamics.resolved_rate(J, td)
    close(um, np.linalg.pinv(J) @ td, "um", rel=1e-9)
    close(J @ um, td, "twist", rel=1e-11)


def test_too_few_joints_come_as_near_to_a_twist_as_least_squares_can(close):
    robot = robots.golden_robot("spart_sc_3dof")
    m = matrices(robot, robots.golden_state(robots.golden("spart_sc_3dof")["cases"][0]))
    J = dynamics.generalized_jacobian(m.J0, m.Jm, m.H0, m.H0m)
    td = np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6])
    close(dynamics.resolved_rate(J, td), np.linalg.lstsq(J, td, rcond=None)[0], "um", rel=1e-9)
    weight = dynamics.floating_inertia(*m.H)
    least = dynamics.resolved_rate_min_energy(J, td, weight)
    close(least, dynamics.resolved_rate(J, td), "nothing is left to choose", rel=1e-9)


def test_damping_is_a_price_on_the_rates(redundant, close):
    robot, s = redundant
    m = matrices(robot, s)
    J, td = m.Jm, np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6])
    um = dynamics.resolved_rate(J, td, damping=0.3)
    whole = np.vstack([J, 0.3 * np.eye(robot.nu)])
    want = np.linalg.lstsq(whole, np.concatenate([td, np.zeros(robot.nu)]), rcond=None)[0]
    close(um, want, "um", rel=1e-11)
    few = dynamics.resolved_rate(J[:, :3], td, damping=0.3)
    close(few, np.linalg.solve(J[:, :3].T @ J[:, :3] + 0.09 * EYE, J[:, :3].T @ td), "few")


def test_damping_bounds_the_rates_at_a_singularity():
    # Two bars stretched out: no rates move the tip along them.
    J = np.array([[0.0, 0.0], [2.0, 1.0]])
    near = np.array([[1e-4, 0.0], [2.0, 1.0]])
    td = np.array([1.0, 0.0])
    assert np.abs(dynamics.resolved_rate(near, td)).max() > 1e4
    assert np.abs(dynamics.resolved_rate(J, td)).max() == 0.0  # undamped, yet no NaN
    for jacobian in (J, near):  # |J' (J J' + d^2)^-1| is 1 / 2d at the most
        assert np.linalg.norm(dynamics.resolved_rate(jacobian, td, damping=0.1)) <= 5.0


def test_secondary_rates_leave_the_twist_alone_and_only_they_are_projected(redundant, close):
    robot, s = redundant
    m = matrices(robot, s)
    J = dynamics.generalized_jacobian(m.J0, m.Jm, m.H0, m.H0m)
    td, other = np.arange(6) / 10, np.linspace(-1, 1, robot.nu)
    um = dynamics.resolved_rate(J, td, um_null=other)
    close(J @ um, td, "twist", rel=1e-10)
    inverse = np.linalg.pinv(J)
    close(um, inverse @ td + (np.eye(robot.nu) - inverse @ J) @ other, "um", rel=1e-9)


def test_least_energy_is_what_constrained_minimisation_finds(redundant, close):
    robot, s = redundant
    m = matrices(robot, s)
    J = dynamics.generalized_jacobian(m.J0, m.Jm, m.H0, m.H0m)
    W, td = dynamics.floating_inertia(*m.H), np.arange(6) / 10
    um = dynamics.resolved_rate_min_energy(J, td, W)
    close(J @ um, td, "twist", rel=1e-9)
    found = minimize(
        lambda x: 0.5 * x @ W @ x,
        dynamics.resolved_rate(J, td),
        jac=lambda x: W @ x,
        constraints={"type": "eq", "fun": lambda x: J @ x - td, "jac": lambda x: J},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    assert found.success
    assert 0.5 * um @ W @ um <= found.fun * (1 + 1e-9)
    close(um, found.x, "um", rel=1e-4)


def test_momentum_does_not_change_which_rates_have_the_least_energy(redundant, close):
    # (3) of the module: with M given, the energy's gradient in um is W um, as without.
    robot, s = redundant
    m = matrices(robot, s)
    W, M = dynamics.floating_inertia(*m.H), np.array([0.2, -0.1, 0.4, 3.0, -1.0, 2.0])

    def energy(um):
        u0 = dynamics.base_rates_from_momentum(m.H0, m.H0m, M, um)
        return robots.bookkeeping(robot, replace(s, u0=u0, um=um), np.zeros(3))["kinetic"][0]

    rest = energy(np.zeros(robot.nu))
    close([energy(s.um)], [rest + 0.5 * s.um @ W @ s.um], "T", rel=1e-10)


# --- a twist and a base motion at once -----------------------------------------------------


def test_a_base_that_must_not_turn_does_not(redundant, close):
    robot, s = redundant
    m = matrices(robot, s)
    M, td = np.zeros(6), np.array([0, 0, 0, 0.1, -0.2, 0.3])
    um = dynamics.desired_reaction(m.J0, m.Jm, m.H0, m.H0m, M, td, ZERO6, rows=(3, 4, 5))
    u0 = dynamics.base_rates_from_momentum(m.H0, m.H0m, M, um)
    assert np.abs(u0[:3]).max() < 1e-12
    close((m.J0 @ u0 + m.Jm @ um)[3:], td[3:], "velocity", rel=1e-11)


def test_a_base_turns_as_it_is_told_with_momentum_of_its_own(redundant, close):
    robot, s = redundant
    m = matrices(robot, s)
    M = np.array([0.2, -0.1, 0.4, 3.0, -1.0, 2.0])
    td, u0d = np.array([0, 0, 0, 0.1, -0.2, 0.3]), np.array([0.02, -0.01, 0.03, 9, 9, 9])
    um = dynamics.desired_reaction(m.J0, m.Jm, m.H0, m.H0m, M, td, u0d, rows=(3, 4, 5))
    u0 = dynamics.base_rates_from_momentum(m.H0, m.H0m, M, um)
    close(u0[:3], u0d[:3], "omega0", rel=1e-10)
    close((m.J0 @ u0 + m.Jm @ um)[3:], td[3:], "velocity", rel=1e-10)


def test_too_many_equations_are_missed_by_the_least_squares(spatial_case, close):
    robot, s = spatial_case
    m = matrices(robot, s)
    given = (m.J0, m.Jm, m.H0, m.H0m, ZERO6, np.arange(6) / 10, ZERO6)
    um = dynamics.desired_reaction(*given, base_rows=range(6))
    A, b = dynamics.reaction_equations(*given)
    close(A.T @ (A @ um - b), np.zeros(robot.nu), "gradient", floor=1e-9)
    assert np.linalg.norm(A @ um - b) > 1e-3


@pytest.mark.parametrize("rows", [(0, 0), (6,), (-1,)])
def test_rows_that_are_not_there_or_twice_are_refused(redundant, rows):
    robot, s = redundant
    m = matrices(robot, s)
    with pytest.raises(InputError, match="each of 0 to 5 once at most"):
        dynamics.desired_reaction(m.J0, m.Jm, m.H0, m.H0m, ZERO6, ZERO6, ZERO6, rows=rows)


# --- planar robots -------------------------------------------------------------------------

TWIST = np.array([0, 0, 0.01, -0.03, 0.02, 0])  # SPART's example [rad/s, m/s]
BENT = np.deg2rad([45.0, -45.0, -45.0, 45.0])


@pytest.mark.parametrize("turn", [0.0, 0.7])
@pytest.mark.parametrize("qm", [BENT, np.array([0.5, 0.4, 0.0, 0.3])], ids=["bent", "straighter"])
def test_a_planar_robot_needs_no_choice_of_rows(planar, qm, turn, close):
    R0 = Rotation.from_rotvec([0, 0, turn]).as_matrix()
    s = replace(robots.random_state(planar, 0), R0=R0, r0=ZERO3, qm=qm)
    m = matrices(planar, s, offset=(0.5, 0, 0))
    J = dynamics.generalized_jacobian(m.J0, m.Jm, m.H0, m.H0m)
    um = dynamics.resolved_rate(J, TWIST)
    close(um, np.linalg.pinv(J) @ TWIST, "um", rel=1e-9)
    close(J @ um, TWIST, "twist", rel=1e-10)
    W = dynamics.floating_inertia(*m.H)
    close(J @ dynamics.resolved_rate_min_energy(J, TWIST, W), TWIST, "least energy", rel=1e-9)
    um = dynamics.desired_reaction(m.J0, m.Jm, m.H0, m.H0m, ZERO6, TWIST, ZERO6)
    u0 = dynamics.base_rates_from_momentum(m.H0, m.H0m, ZERO6, um)
    assert np.abs(u0[:3]).max() < 1e-12
    close(m.J0 @ u0 + m.Jm @ um, TWIST, "twist with a base that does not turn", rel=1e-9)


@pytest.mark.parametrize("angle", [0.0, np.pi / 2, 0.3])
def test_a_base_without_inertia_about_an_axis_stays_at_rest_about_it(planar, angle, close):
    # All in one line: nothing has inertia about it, and H0 is singular.
    H = dynamics.multibody_inertia(EYE, np.array([angle, 0, 0, 0]), planar)
    straight = dynamics.multibody_inertia(EYE, np.zeros(4), planar)
    assert np.linalg.matrix_rank(straight.H0) < 6
    u0 = np.array([0, 0, 0.3, 0.1, -0.2, 0.4])
    um = np.array([0.1, 0.2, -0.3, 0.4])
    M = H.H0 @ u0 + H.H0m @ um
    got = dynamics.base_rates_from_momentum(H.H0, H.H0m, M, um)
    close(got, u0, "u0", rel=1e-9)


def test_a_robot_without_mass_is_refused():
    with pytest.raises(SingularInertiaError, match="no mass"):
        dynamics.base_rates_from_momentum(np.zeros((6, 6)), np.zeros((6, 2)), ZERO6, np.ones(2))


def test_row_space_leaves_out_what_no_sample_reaches(close):
    rng = np.random.default_rng(3)
    whole = [rng.normal(size=(4, 2)) for _ in range(4)]
    close(dynamics.row_space(whole), np.eye(4))
    for sample in whole:
        sample[1] = 0
    close(dynamics.row_space(whole), np.eye(4)[[0, 2, 3]])
    for sample in whole:
        sample[3] = sample[0] + 2 * sample[2]
    basis = dynamics.row_space(whole)
    assert basis.shape == (2, 4)
    close(basis @ basis.T, np.eye(2), "orthonormal")
    for sample in whole:
        close(basis.T @ basis @ sample, sample, "nothing is lost")
    assert dynamics.row_space([np.zeros((3, 2))]).shape == (0, 3)


# --- forces on the base --------------------------------------------------------------------


def test_forces_on_the_base_accelerate_it_as_wanted_while_the_joints_are_free(close):
    robot = robots.random_robot(44, 6)
    s = robots.random_state(robot, 3)
    tau0 = dynamics.base_control_free_joints(
        s.R0, s.u0, s.qm, s.um, s.u0dot, s.taum, s.wF0, s.wFm, robot
    )
    moved = dynamics.multibody_rates(s.R0, s.u0, s.qm, s.um, tau0, s.taum, s.wF0, s.wFm, robot)
    close(moved.u0dot, s.u0dot, "u0dot", rel=1e-10)


def test_they_are_spart_s_inverse_dynamics_at_the_accelerations_that_follow(golden_case, close):
    robot, s, case = golden_case
    robot = robot.with_base("floating")
    out = {k: np.array(case["outputs"][k], float) for k in ("u0dot_FD", "umdot_FD")}
    tau0 = dynamics.base_control_free_joints(
        s.R0, s.u0, s.qm, s.um, out["u0dot_FD"], s.taum, s.wF0, s.wFm, robot
    )
    close(tau0, s.tau0, "the forces SPART's FD was given", rel=1e-8)


# --- symbols -------------------------------------------------------------------------------


def every_function(robot, s):
    """All functions at one state, from numbers or symbols."""
    m = matrices(robot, s, link=3)
    M = dynamics.base_momentum(s.wF0[:3], s.wF0[3:], s.R0, s.r0)
    J = dynamics.generalized_jacobian(m.J0, m.Jm, m.H0, m.H0m)
    W = dynamics.floating_inertia(*m.H)
    return {
        "rp": m.rp,
        "R": m.R,
        "M": M,
        "u0": dynamics.base_rates_from_momentum(m.H0, m.H0m, M, s.um),
        "J": J,
        "drift": dynamics.drift_twist(m.J0, m.H0, M),
        "W": W,
        "least": dynamics.resolved_rate(J[3:], s.tau0[3:]),
        "few": dynamics.resolved_rate(J, s.tau0),
        "damped": dynamics.resolved_rate(J[3:], s.tau0[3:], 0.2, s.taum),
        "energy": dynamics.resolved_rate_min_energy(J[3:], s.tau0[3:], W),
        "reaction": dynamics.desired_reaction(
            m.J0, m.Jm, m.H0, m.H0m, M, s.tau0, s.u0, rows=(3, 4), base_rows=(0, 2)
        ),
        "tau0": dynamics.base_control_free_joints(
            s.R0, s.u0, s.qm, s.um, s.u0dot, s.taum, s.wF0, s.wFm, robot
        ),
        "q": dynamics.link_quaternion(s.qm, 3, robot),
    }


def test_casadi_runs_through_every_function_of_resolved_motion(close):
    from test_symbols import casadi_function, casadi_symbols, evaluated

    robot = robots.random_robot(45, 5, kinds="rrp", chain=True)
    s = robots.random_state(robot, 5)
    vectors, symbols = casadi_symbols(s)
    outputs = every_function(robot, symbols)
    got = evaluated(casadi_function(vectors, outputs), s, outputs)
    for name, value in every_function(robot, s).items():
        close(got[name], value, name, rel=1e-10)


def test_sympy_solves_for_the_base_s_rates(close):
    sympy = pytest.importorskip("sympy")
    robot = robots.golden_robot("spart_resolved_motion_4dof")
    H = dynamics.multibody_inertia(EYE, BENT, robot)
    symbols = np.array(sympy.symbols("a b c d"), dtype=object)
    u0 = dynamics.base_rates_from_momentum(H.H0, H.H0m, ZERO6, symbols)
    values = dict(zip(symbols, [0.1, -0.2, 0.3, 0.4], strict=True))
    got = [float(sympy.sympify(x).subs(values)) for x in u0]
    numbers = np.array(list(values.values()))
    close(got, dynamics.base_rates_from_momentum(H.H0, H.H0m, ZERO6, numbers), "u0", rel=1e-11)
