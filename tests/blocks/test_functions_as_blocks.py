"""Every single-function block gives its function's numbers, on SPART's own cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import robots
from block_table import BLOCKS

from spart_blocks import dynamics
from spart_blocks.base import spatial
from spart_blocks.base.errors import InputError

TESTS = Path(__file__).parents[1]
GOLDEN = {name: row.golden for name, row in BLOCKS.items() if row.golden}


def make(runtime, name, *args, **given):
    return runtime._blocklibrary[name]["class"](*args, **given)


def test_no_block_is_forgotten(bdsim_runtime):
    ours = {n for n, v in bdsim_runtime._blocklibrary.items() if v["package"] == "spart_blocks"}
    assert ours == set(BLOCKS)
    for name, row in BLOCKS.items():
        assert bool(row.golden) != (TESTS / row.tested).is_file(), name


@pytest.mark.parametrize("name", GOLDEN)
def test_a_block_gives_spart_s_numbers(
    name, golden_case, bdsim_runtime, assert_close_to_golden, close
):
    robot, _, case = golden_case
    known = {**case["inputs"], **case["outputs"]}
    takes, gives = (text.split() for text in GOLDEN[name])
    link = {"link": case["inputs"]["i"]} if name.startswith("JACOB") else {}
    block = make(bdsim_runtime, name, robot, **link)
    shapes = [port.shape for port in block.in_ports]
    inputs = [
        np.array(known[key], float).reshape(shape) for key, shape in zip(takes, shapes, strict=True)
    ]
    kept = [value.copy() for value in inputs]
    outputs = block.output(0.0, inputs, None)
    for value, port in zip(outputs, block.out_ports, strict=True):
        assert np.shape(value) == port.shape, port.name
    got = dict(zip(gives, outputs, strict=False))
    assert_close_to_golden(got, {key: known[key] for key in gives})
    for value, before in zip(inputs, kept, strict=True):
        np.testing.assert_array_equal(value, before, "a block changed its input")


def test_fd_fixed_is_the_plant_with_its_base_held(golden_case, bdsim_runtime, close):
    robot, s, _ = golden_case
    s = s.held()
    out = robots.everything(robot, s)
    block = make(bdsim_runtime, "FD_FIXED", robot)
    known = {**out, **s.arrays()}
    (umdot,) = block.output(0.0, [known[port.name] for port in block.in_ports], None)
    rates = dynamics.multibody_rates(
        s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot.with_base("fixed")
    )
    close(umdot, rates.umdot, "umdot", rel=1e-10)
    back = robots.everything(robot, replace(s, umdot=umdot))
    close(back["taum_ID"], s.taum, "ID gives the torques back", rel=1e-9)


def test_gravity_is_the_weight_of_every_link(bdsim_runtime, close):
    robot = robots.random_robot(12, 5)
    block = make(bdsim_runtime, "GRAVITY", robot, gravity=[0, 1, -2])
    wF0, wFm = block.output(0.0, [], None)
    close(wF0, [0, 0, 0, 0, robot.base_link.mass, -2 * robot.base_link.mass])
    for link, w in zip(robot.links, wFm, strict=True):
        close(w, [0, 0, 0, 0, link.mass, -2 * link.mass])
    on_earth = make(bdsim_runtime, "GRAVITY", robot)
    close(on_earth.output(0.0, [], None)[0][5], -9.81 * robot.base_link.mass)


def test_jacobian_blocks_take_a_link_by_name_or_id(bdsim_runtime):
    robot = robots.random_robot(12, 5)
    for name in ("JACOB", "JACOBDOT"):
        assert make(bdsim_runtime, name, robot, link="link3").link == 3
        assert make(bdsim_runtime, name, robot, link=3).link == 3
        assert make(bdsim_runtime, name, robot, link="base").link == 0
        with pytest.raises(ValueError, match="no link 'lnik3' on tree12: did you mean 'link3'"):
            make(bdsim_runtime, name, robot, link="lnik3")
        for wrong in (-1, 6, 2.5, True):
            with pytest.raises(ValueError, match="ids of tree12 run from 0 to 5"):
                make(bdsim_runtime, name, robot, link=wrong)


# --- attitude: R maps body to inertial, the transpose of SPART's matrices ------------------


@pytest.mark.parametrize("j", range(18))
def test_attitude_blocks_are_spart_s_functions_transposed(j, golden, bdsim_runtime, close):
    a = {key: np.array(value[j]) for key, value in golden("spart_attitude").items()}
    R = a["Angles321_DCM"].T
    cases = [
        ("ANGLES321_R", [a["angles"]], R),
        ("ANGLES123_R", [a["angles"]], a["Angles123_DCM"].T),
        ("R_ANGLES321", [R], a["DCM_Angles321"]),
        ("R_QUAT", [R], a["DCM_quat_of_321"]),
        ("QUAT_R", [a["DCM_quat_of_321"]], a["quat_DCM"].T),
        ("QUAT_ANGLES321", [a["DCM_quat_of_321"]], a["quat_Angles321"]),
        ("AXIS_ANGLE_R", [a["euler_axis"], float(a["euler_angle"])], a["Euler_DCM"].T),
        ("SKEW_MATRIX", [a["angles"]], np.cross(a["angles"], np.eye(3)).T),
    ]
    for name, inputs, want in cases:
        (got,) = make(bdsim_runtime, name).output(0.0, inputs, None)
        close(np.reshape(got, np.shape(want)), want, name)


def test_attitude_blocks_turn_vectors_as_bodies_turn(bdsim_runtime, close):
    # A quarter turn about z takes the body's x axis to the inertial y axis.
    (R,) = make(bdsim_runtime, "ANGLES321_R").output(0.0, [np.array([0, 0, np.pi / 2])], None)
    close(R @ [1, 0, 0], [0, 1, 0])
    close(spatial.quaternion_rotation(np.array([0, 0, 1, 1]) / np.sqrt(2)), R)


# --- controllers ---------------------------------------------------------------------------


def test_joint_pd_is_its_formula(bdsim_runtime, close):
    kp, kd = np.array([3.0, 4.0]), np.array([0.5, 0.25])
    qd, ud, qm, um = np.random.default_rng(0).normal(size=(4, 2))
    (tau,) = make(bdsim_runtime, "JOINT_PD", kp=kp, kd=kd).output(0.0, [qd, ud, qm, um], None)
    close(tau, kp * (qd - qm) + kd * (ud - um))
    (tau,) = make(bdsim_runtime, "JOINT_PD", kp=3.0, kd=0.5).output(0.0, [qd, ud, qm, um], None)
    close(tau, 3 * (qd - qm) + 0.5 * (ud - um))


@pytest.mark.parametrize("base", ["floating", "fixed"])
def test_computed_torque_gives_the_joints_the_corrected_acceleration(base, bdsim_runtime, close):
    robot = robots.random_robot(14, 5, kinds="rrp").with_base(base)
    s = robots.random_state(robot, 2)
    if base == "fixed":
        s = s.held()
    kp, kd = np.full(robot.nu, 9.0), np.linspace(5, 6, robot.nu)
    qd, ud, ad = np.random.default_rng(1).normal(size=(3, robot.nu))
    block = make(bdsim_runtime, "COMPUTED_TORQUE", robot, kp=kp, kd=kd)
    (tau,) = block.output(0.0, [qd, ud, ad, s.wF0, s.wFm, s.R0, s.r0, s.qm, s.u0, s.um], None)
    # The plant under these torques, and nothing on its base, accelerates so.
    moved = dynamics.multibody_rates(s.R0, s.u0, s.qm, s.um, np.zeros(6), tau, s.wF0, s.wFm, robot)
    close(moved.umdot, ad + kd * (ud - s.um) + kp * (qd - s.qm), "umdot", rel=1e-9)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("JOINT_PD", {"kp": [1, 2], "kd": [1, 2, 3]}, "kp has 2 entries and kd has 3"),
        ("JOINT_PD", {"kp": "high", "kd": 1}, "kp must be a number or a list of numbers"),
        ("JOINT_PD", {"kp": 1, "kd": np.nan}, "kd must be finite"),
        ("JOINT_PD", {"kp": [[1]], "kd": 1}, "kp must be a number or a list"),
        ("COMPUTED_TORQUE", {"kp": [1, 2], "kd": 1}, "kp has 2 entries, the robot has 3 active"),
    ],
)
def test_wrong_gains_say_what_is_wrong(name, given, message, bdsim_runtime):
    if name == "COMPUTED_TORQUE":
        given = {"robot": robots.golden_robot("spart_sc_3dof"), **given}
    with pytest.raises((ValueError, InputError), match=message):
        make(bdsim_runtime, name, **given)


def test_axis_and_angle_blocks_undo_each_other(golden, bdsim_runtime, close):
    for dcm in golden("spart_attitude")["Angles321_DCM"]:
        R = np.array(dcm).T
        turn = make(bdsim_runtime, "R_AXIS_ANGLE").output(0.0, [R], None)
        close(make(bdsim_runtime, "AXIS_ANGLE_R").output(0.0, turn, None)[0], R)


def test_quaternion_blocks_multiply(bdsim_runtime, close):
    p, q = np.random.default_rng(4).normal(size=(2, 4))
    (want,) = make(bdsim_runtime, "QUAT_PRODUCT").output(0.0, [p, q], None)
    # Hamilton's product of scalar-last quaternions, written out.
    vector = p[3] * q[:3] + q[3] * p[:3] + np.cross(p[:3], q[:3])
    close(want, [*vector, p[3] * q[3] - p[:3] @ q[:3]])
    for name, one, other in (("QUAT_LEFT_MATRIX", p, q), ("QUAT_RIGHT_MATRIX", q, p)):
        (matrix,) = make(bdsim_runtime, name).output(0.0, [one], None)
        close(matrix @ other, want, name)


def test_the_complement_s_blocks_give_the_matrices_of_gim_and_cim(bdsim_runtime, close):
    robot = robots.random_robot(12, 5)
    out = robots.everything(robot, robots.random_state(robot, 2))
    for name, want in zip(("GIM_NOC", "CIM_NOC"), robots.whole(out), strict=True):
        block = make(bdsim_runtime, name, robot)
        (got,) = block.output(0.0, [out[port.name] for port in block.in_ports], None)
        close(got, want, name)
