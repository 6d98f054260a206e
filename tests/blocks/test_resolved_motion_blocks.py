"""BASE_REACTION to BASE_CONTROL: what they compute, on every base, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import robots
from scipy.spatial.transform import Rotation

from spart_blocks import dynamics
from spart_blocks.base import spatial
from spart_blocks.base.errors import InputError
from spart_blocks.diagram import load

TWIST = np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6])
NONE = np.zeros(3)


def out(block, **given):
    """A block's outputs by name; inputs that are not given are zeros."""
    inputs = [np.asarray(given.pop(p.name, np.zeros(p.shape)), float) for p in block.in_ports]
    assert not given, f"no such inputs: {sorted(given)}"
    values = block.output(0.0, inputs, None)
    for value, port in zip(values, block.out_ports, strict=True):
        assert np.shape(value) == port.shape, port.name
    return {p.name: v for p, v in zip(block.out_ports, values, strict=True)}


def of(s, names="R0 r0 qm"):
    return {name: getattr(s, name) for name in names.split()}


def chain(n=8, seed=41):
    robot = robots.random_robot(seed, n, kinds="r", chain=True)
    return robot, robots.random_state(robot, 4), f"link{n}"


@pytest.fixture
def momentum():
    return {"p": np.array([1.0, -2.0, 0.5]), "h": np.array([0.3, 0.1, -0.4])}


# --- a floating base ------------------------------------------------------------------------


def test_base_reaction_keeps_the_momentum(make, momentum, close):
    robot, s, _ = chain(5)
    u0 = out(make("BASE_REACTION", robot), **of(s, "R0 r0 qm um"), **momentum)["u0"]
    got = robots.bookkeeping(robot, replace(s, u0=u0), np.zeros(3))
    close(got["p"], momentum["p"], "p", rel=1e-10)
    close(got["h"], momentum["h"], "h", rel=1e-9)


def test_the_generalized_jacobian_and_drift_give_the_end_effector_s_twist(make, momentum, close):
    robot, s, frame = chain(5)
    G = out(make("GENERALIZED_JACOBIAN", robot, frame, [0.1, 0, -0.2]), **of(s), **momentum)
    u0 = out(make("BASE_REACTION", robot), **of(s, "R0 r0 qm um"), **momentum)["u0"]
    tip = make("END_EFFECTOR", robot, frame, offset=[0.1, 0, -0.2])
    twist = out(tip, **of(s, "R0 r0 qm um"), u0=u0)["tp"]
    close(G["Jstar"] @ s.um + G["drift"], twist, "twist", rel=1e-10)


@pytest.mark.parametrize("name", ["RESOLVED_RATE", "RESOLVED_RATE_MIN_ENERGY"])
def test_resolved_rates_give_the_twist_whatever_the_momentum(name, make, momentum, close):
    robot, s, frame = chain()
    um = out(make(name, robot, frame), **of(s), td=TWIST, **momentum)["um"]
    u0 = out(make("BASE_REACTION", robot), **of(s), um=um, **momentum)["u0"]
    tip = out(make("END_EFFECTOR", robot, frame), **of(s), u0=u0, um=um)
    close(tip["tp"], TWIST, "twist", rel=1e-9)


def test_both_resolved_rates_are_their_functions_in_inertial_axes(make, close):
    robot, s, frame = chain()
    G = out(make("GENERALIZED_JACOBIAN", robot, frame), **of(s))
    other = np.linspace(-1, 1, robot.nu)
    um = out(make("RESOLVED_RATE", robot, frame), **of(s), td=TWIST, um_null=other)["um"]
    want = dynamics.resolved_rate(G["Jstar"], TWIST, um_null=other)
    close(um, want, "least", rel=1e-9)
    damped = out(make("RESOLVED_RATE", robot, frame, damping=0.2), **of(s), td=TWIST)["um"]
    close(damped, dynamics.resolved_rate(G["Jstar"], TWIST, 0.2), "damped", rel=1e-10)
    um = out(make("RESOLVED_RATE_MIN_ENERGY", robot, frame), **of(s), td=TWIST)["um"]
    want = dynamics.resolved_rate_min_energy(G["Jstar"], TWIST, G["Hstar"])
    close(um, want, "least energy", rel=1e-9)


def test_chosen_components_are_met_and_the_others_left_free(make, close):
    robot, s, frame = chain(4)
    for names, rows in (("vx vy vz", [3, 4, 5]), (["wz", "vx"], [2, 3]), ("wx wy wz", [0, 1, 2])):
        for name in ("RESOLVED_RATE", "RESOLVED_RATE_MIN_ENERGY"):
            um = out(make(name, robot, frame, components=names), **of(s), td=TWIST)["um"]
            twist = out(make("GENERALIZED_JACOBIAN", robot, frame), **of(s))["Jstar"] @ um
            close(twist[rows], TWIST[rows], f"{names}", rel=1e-9)
            assert np.abs(twist - TWIST).max() > 1e-3


def test_a_twist_and_a_base_that_must_not_turn(make, momentum, close):
    robot, s, frame = chain()
    block = make("DESIRED_REACTION", robot, frame, components="vx vy vz")
    um = out(block, **of(s), td=TWIST, **momentum)["um"]
    u0 = out(make("BASE_REACTION", robot), **of(s), um=um, **momentum)["u0"]
    assert np.abs(u0[:3]).max() < 1e-12
    tip = out(make("END_EFFECTOR", robot, frame), **of(s), u0=u0, um=um)["tp"]
    close(tip[3:], TWIST[3:], "velocity", rel=1e-10)


def test_a_base_told_to_move_in_inertial_x_and_turn_about_its_own_z(make, close):
    robot, s, frame = chain()
    block = make(
        "DESIRED_REACTION", robot, frame, components="vx vy vz", base_components=["wz", "vx"]
    )
    u0d = np.array([9, 9, 0.02, 0.03, 9, 9])
    um = out(block, **of(s), td=TWIST, u0d=u0d)["um"]
    u0 = out(make("BASE_REACTION", robot), **of(s), um=um)["u0"]
    close(u0[[2, 3]], u0d[[2, 3]], "u0", rel=1e-9)


# --- planar robots --------------------------------------------------------------------------


@pytest.mark.parametrize("qm", [[0.8, -0.8, -0.8, 0.8], [0.0, 0.4, 0.0, 0.3]])
def test_a_planar_robot_in_any_attitude_needs_no_choice(qm, make, close):
    # SPART's example has inertia about z only: H0 is singular where it is stretched out, and
    # here its plane is tilted, so that no row of its Jacobians is zero in inertial axes.
    robot = robots.golden_robot("spart_resolved_motion_4dof")
    R0 = Rotation.from_euler("xyz", [0.4, -0.7, 1.1]).as_matrix()
    at = {"R0": R0, "r0": NONE, "qm": np.array(qm)}
    td = np.concatenate([R0 @ [0, 0, 0.01], R0 @ [-0.03, 0.02, 0]])
    G = out(make("GENERALIZED_JACOBIAN", robot, "link4", [0.5, 0, 0]), **at)
    for name in ("RESOLVED_RATE", "RESOLVED_RATE_MIN_ENERGY", "DESIRED_REACTION"):
        um = out(make(name, robot, "link4", [0.5, 0, 0]), **at, td=td)["um"]
        close(G["Jstar"] @ um, td, name, rel=1e-9)
        u0 = out(make("BASE_REACTION", robot), **at, um=um)["u0"]
        assert np.abs(u0[:2]).max() == 0.0  # never out of its plane
    assert np.abs(u0[2]) < 1e-12
    um = out(make("RESOLVED_RATE", robot, "link4", [0.5, 0, 0]), **at, td=td)["um"]
    close(um, np.linalg.pinv(G["Jstar"], rcond=1e-9) @ td, "least", rel=1e-8)


def test_a_planar_robot_stretched_out_keeps_still_about_its_own_line(make, close):
    robot = robots.golden_robot("spart_resolved_motion_4dof")
    um = np.array([0.1, 0.2, -0.3, 0.4])
    H = dynamics.multibody_inertia(np.eye(3), np.zeros(4), robot)
    assert np.linalg.matrix_rank(H.H0) < 6
    u0 = out(make("BASE_REACTION", robot), R0=np.eye(3), um=um)["u0"]
    close(H.H0 @ u0, -H.H0m @ um, "momentum", rel=1e-11)
    assert np.abs(u0[[0, 1, 5]]).max() == 0.0


# --- a fixed base ---------------------------------------------------------------------------


def test_on_a_fixed_base_the_jacobian_is_that_of_the_joints(make, close):
    robot, s, frame = chain()
    fixed, s = robot.with_base("fixed"), s.held()
    block = make("GENERALIZED_JACOBIAN", fixed, frame)
    assert [port.name for port in block.in_ports] == ["R0", "r0", "qm"]
    G = out(block, **of(s))
    known = robots.everything(robot, s, link=8)
    R = spatial.transpose(fixed.links[7].T[:3, :3])
    r = known["rL"][7] - known["RL"][7] @ R @ fixed.links[7].T[:3, 3]
    J = dynamics.jacobian(r, s.r0, known["rL"], known["P0"], known["pm"], 8, fixed)
    close(G["Jstar"], J.Jm, "Jm", rel=1e-11)
    close(G["Hstar"], known["Hm"], "Hm", rel=1e-11)
    close(G["drift"], np.zeros(6))
    for name in ("RESOLVED_RATE", "RESOLVED_RATE_MIN_ENERGY"):
        um = out(make(name, fixed, frame), **of(s), td=TWIST)["um"]
        close(J.Jm @ um, TWIST, name, rel=1e-9)
    close(um, dynamics.resolved_rate_min_energy(J.Jm, TWIST, known["Hm"]), "energy", rel=1e-9)


@pytest.mark.parametrize("name", ["BASE_REACTION", "DESIRED_REACTION", "BASE_CONTROL"])
def test_blocks_of_a_base_that_moves_refuse_one_that_does_not(name, make):
    robot, _, frame = chain(4)
    needed = {"DESIRED_REACTION": {"frame": frame}, "BASE_CONTROL": {"kp": 1, "kd": 2}}
    given = needed.get(name, {})
    with pytest.raises(ValueError, match=r"floating base; that of tree41 is fixed"):
        make(name, robot.with_base("fixed"), **given)


# --- the end-effector and everything at once ------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_the_end_effector_s_quaternion_is_its_rotation(seed, make, close):
    robot = robots.random_robot(50 + seed, 5)
    s = robots.random_state(robot, seed)
    tip = out(make("END_EFFECTOR", robot, "link5"), **of(s))
    close(spatial.quaternion_rotation(tip["q"]), tip["R"], "R", rel=1e-11)
    at_base = out(make("END_EFFECTOR", robot, "base"), **of(s))
    close(at_base["rp"], s.r0 - s.R0 @ robot.base_link.T[:3, :3].T @ robot.base_link.T[:3, 3])


@pytest.mark.parametrize("axis", [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0, -0.8], [-1, 1, 1]])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, 2.5, np.pi - 1e-7, np.pi, np.pi + 1e-7, 5.0])
def test_the_base_s_quaternion_holds_at_every_angle_with_a_scalar_part_above_zero(
    axis, angle, make, close
):
    robot = robots.random_robot(61, 1)
    R0 = Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis)).as_matrix()
    base = replace(robot.base_link, T=np.eye(4))
    block = make("END_EFFECTOR", replace(robot, base_link=base), "base")
    q = out(block, R0=R0)["q"]
    close(spatial.quaternion_rotation(q), R0, "R", rel=1e-11)
    assert q[3] >= 0


def test_the_end_effector_s_quaternion_keeps_its_sign_as_joints_turn(make):
    robot, s, frame = chain(3)
    block = make("END_EFFECTOR", robot, frame)
    path = [out(block, **of(replace(s, qm=s.qm * k / 20)))["q"] for k in range(-160, 160)]
    assert min(a @ b for a, b in pairwise(path)) > 0.9


def test_kinematics_dynamics_gives_spart_s_numbers(golden_case, make, assert_close_to_golden):
    robot, s, case = golden_case
    got = out(make("KINEMATICS_DYNAMICS", robot), **of(s, "R0 r0 qm u0 um"))
    assert len(got) == 24
    assert_close_to_golden(got, {name: case["outputs"][name] for name in got})


# --- forces on the base ---------------------------------------------------------------------


STATE = "wF0 wFm R0 r0 qm u0 um"


def moved(robot, s, **forces):
    """The plant's accelerations under these forces."""
    s = replace(s, **forces)
    return dynamics.multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)


def test_base_control_gives_the_base_its_acceleration_with_free_joints(make, close):
    robot, s, _ = chain(5)
    block = make("BASE_CONTROL", robot, kp=0, kd=0)
    got = out(block, **of(s, STATE), taum=s.taum, u0dotd=s.u0dot)
    assert set(got) == {"tau0"}
    close(moved(robot, s, **got).u0dot, s.u0dot, "u0dot", rel=1e-9)


def test_base_control_gives_base_and_joints_their_accelerations_where_both_are_prescribed(
    make, close
):
    robot, s, _ = chain(5)
    block = make("BASE_CONTROL", robot, kp=0, kd=0, joints="prescribed")
    got = out(block, **of(s, STATE), umdot=s.umdot, u0dotd=s.u0dot)
    rates = moved(robot, s, **got)
    close(rates.u0dot, s.u0dot, "u0dot", rel=1e-9)
    close(rates.umdot, s.umdot, "umdot", rel=1e-9)


def test_base_control_asks_how_kinematic_joints_move(make):
    robot = chain(4)[0].with_kinematic(["joint2"])
    with pytest.raises(ValueError, match="has kinematic ones: say prescribed"):
        make("BASE_CONTROL", robot, kp=1, kd=2)
    assert make("BASE_CONTROL", robot, kp=1, kd=2, joints="prescribed").nout == 2


def test_base_control_feeds_back_the_errors_of_pose_and_rates(make, close):
    robot, s, _ = chain(5)
    kp, kd, angle = np.array([3.0, 3, 3, 4, 5, 6]), 2.0, 0.4
    turn = Rotation.from_rotvec(angle * np.array([0, 0.6, 0.8])).as_matrix()
    u0d, r0d = TWIST, np.array([1.0, 2.0, 3.0])
    block = make("BASE_CONTROL", robot, kp=kp, kd=kd)
    got = out(block, **of(s, STATE), taum=s.taum, u0dotd=s.u0dot, u0d=u0d, R0d=s.R0 @ turn, r0d=r0d)
    error = np.concatenate([np.sin(angle) * np.array([0, 0.6, 0.8]), r0d - s.r0])
    want = s.u0dot + kd * (u0d - s.u0) + kp * error
    close(moved(robot, s, **got).u0dot, want, "u0dot", rel=1e-9)


# --- what is refused ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("RESOLVED_RATE", {"frame": "lnik4"}, "no link 'lnik4' on tree41: did you mean 'link4'"),
        ("END_EFFECTOR", {"frame": 9}, "ids of tree41 run from 0 to 4"),
        ("END_EFFECTOR", {"frame": [1]}, "frame must be the name of a link"),
        ("END_EFFECTOR", {"frame": "link4", "offset": [1, 2]}, "offset has shape"),
        ("END_EFFECTOR", {"frame": "link4", "offset": "far"}, "offset must be a number or a list"),
        ("END_EFFECTOR", {"frame": "link4", "offset": [0, 0, np.nan]}, "offset must be finite"),
        ("RESOLVED_RATE", {"frame": "link4", "components": "wz vv"}, "no component 'vv'"),
        ("RESOLVED_RATE", {"frame": "link4", "components": "vz vz"}, "a component twice"),
        ("RESOLVED_RATE", {"frame": "link4", "components": ""}, "components must be names as"),
        ("RESOLVED_RATE", {"frame": "link4", "components": 3}, "components must be names as"),
        ("RESOLVED_RATE", {"frame": "link4", "damping": -1}, "damping must not be negative"),
        ("RESOLVED_RATE", {"frame": "link4", "damping": np.nan}, "damping must be finite"),
        ("RESOLVED_RATE", {"frame": "link4", "damping": [1, 2]}, "damping must be a number"),
        ("RESOLVED_RATE", {"frame": "link4", "damping": "much"}, "damping must be a number"),
        ("DESIRED_REACTION", {"frame": "link4", "base_components": "w"}, "base_components has no"),
        (
            "BASE_CONTROL",
            {"kp": 1, "kd": 1, "joints": "fre"},
            "joints must be one of free, prescribed",
        ),
        ("BASE_CONTROL", {"kp": -2, "kd": 1}, "kp must not be negative"),
        (
            "BASE_CONTROL",
            {"kp": [1, 2], "kd": 1},
            "kp has 2 entries\n  give a number, or one for each of 6",
        ),
        ("BASE_CONTROL", {"kp": 1, "kd": True}, "kd must be a number or a list"),
        ("BASE_CONTROL", {"kp": 1, "kd": np.inf}, "kd must be finite"),
    ],
)
def test_wrong_parameters_say_what_is_wrong(name, given, message, make):
    robot, _, _ = chain(4)
    with pytest.raises((ValueError, InputError), match=message):
        make(name, robot, **given)


def test_a_wrong_parameter_in_a_file_is_reported_with_its_line(tmp_path):
    (tmp_path / "arm.urdf").write_bytes((robots.ROOT / "models" / "arm7.urdf").read_bytes())
    file = tmp_path / "wrong.yaml"
    file.write_text(
        "robots:\n  arm: {urdf: arm.urdf, base: fixed}\nblocks:\n"
        "  um: {type: RESOLVED_RATE, robot: arm, frame: lbr_iiwa_link_9}\n"
        "  J: {type: GENERALIZED_JACOBIAN, robot: arm, frame: lbr_iiwa_link_7, offset: [1]}\n",
        encoding="utf-8",
    )
    with pytest.raises(InputError) as caught:
        load(file)
    text = str(caught.value)
    assert "wrong.yaml:4:" in text
    assert "did you mean 'lbr_iiwa_link_" in text
    assert "wrong.yaml:5:" in text
    assert "offset has shape" in text


def test_a_file_says_that_the_joints_of_a_controlled_base_are_prescribed(tmp_path):
    (tmp_path / "sc.urdf").write_bytes((robots.ROOT / "models/spacecraft_3dof.urdf").read_bytes())
    file = tmp_path / "base.yaml"
    file.write_text(
        """
robots: {sc: {urdf: sc.urdf, base: floating}}
blocks:
  I: {type: CONSTANT, value: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
  z: {type: CONSTANT, value: [0, 0, 0]}
  law: {type: BASE_CONTROL, robot: sc, kp: 1, kd: 1, joints: prescribed}
  plant: {type: MULTIBODY, robot: sc, base_frame: urdf}
wires:
  - I -> law.R0d
  - z -> law.r0d
  - plant.R0 -> law.R0
  - plant.r0 -> law.r0
  - plant.qm -> law.qm
  - plant.u0 -> law.u0
  - plant.um -> law.um
  - law.tau0 -> plant.tau0
  - law.taum -> plant.taum
""",
        encoding="utf-8",
    )
    block = next(b for b in load(file).bd.blocklist if b.name == "law")
    assert block.joints == "prescribed"
    assert [port.name for port in block.out_ports] == ["tau0", "taum"]
