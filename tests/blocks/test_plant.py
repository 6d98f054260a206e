"""MULTIBODY, STATE_INTEGRATOR and AUDIT: their states, their starts, and their rates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots

from spart_blocks import dynamics
from spart_blocks.base import spatial
from spart_blocks.base.errors import InputError


def start_of(s):
    """A State as a plant's `initial`, base frame com."""
    q = spatial.dcm_quat(s.R0.T)
    return {"r0": s.r0, "quaternion": q, "u0": s.u0, "qm": s.qm, "um": s.um}


@pytest.mark.parametrize("seed", range(4))
def test_the_derivative_of_a_floating_plant_is_forward_dynamics(seed, make, close):
    robot = robots.random_robot(60 + seed, 5)
    s = robots.random_state(robot, seed)
    plant = make("MULTIBODY", robot, initial=start_of(s))
    x = np.asarray(plant.getstate0())
    got = plant.deriv(0.0, [s.tau0, s.taum, s.wF0, s.wFm], x)
    out = robots.everything(robot, s)
    nq = robot.nq
    assert [port.name for port in plant.in_ports] == ["tau0", "taum", "wF0", "wFm"]
    close(got[:4], spatial.quaternion_rate(x[:4], s.u0[:3]), "quaternion", rel=1e-11)
    close(got[4:7], s.u0[3:], "r0")
    close(got[7 : 7 + nq], s.um, "qm")
    close(got[7 + nq : 13 + nq], out["u0dot_FD"], "u0", rel=1e-10)
    close(got[13 + nq :], out["umdot_FD"], "um", rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_the_derivative_of_a_fixed_plant_is_fixed_forward_dynamics(seed, make, close):
    robot = robots.random_robot(60 + seed, 5)
    s = robots.random_state(robot, seed).held()
    start = start_of(s)
    del start["u0"]
    plant = make("MULTIBODY", robot.with_base("fixed"), initial=start)
    assert [port.name for port in plant.in_ports] == ["taum", "wFm"]
    got = plant.deriv(0.0, [s.taum, s.wFm], np.asarray(plant.getstate0()))
    out = robots.everything(robot, s)
    want = dynamics.fixed_forward_dynamics(
        s.taum, s.wFm, out["tL"], out["pm"], out["Im"], out["Bij"], out["Bi0"], s.um, robot
    )
    close(got, np.concatenate([s.um, want]), "deriv", rel=1e-10)
    R0, r0, qm, u0, um, state = plant.output(0.0, [None, None], np.asarray(plant.getstate0()))
    close(R0, s.R0, "R0")
    close(r0, s.r0, "r0")
    close(u0, np.zeros(6), "u0")
    close(state, np.concatenate([qm, um]), "state")


def test_a_plant_outputs_its_state_and_names_every_entry_of_it(make, close):
    robot = robots.random_robot(61, 4, kinds="rp")
    s = robots.random_state(robot, 1)
    plant = make("MULTIBODY", robot, initial=start_of(s))
    x = np.asarray(plant.getstate0())
    R0, r0, qm, u0, um, state = plant.output(0.0, [None] * 4, x)
    for got, name in ((R0, "R0"), (r0, "r0"), (qm, "qm"), (u0, "u0"), (um, "um")):
        close(got, getattr(s, name), name)
    close(state, x, "state")
    names = plant.plant_state.names
    assert len(names) == len(x) == len(set(names))
    assert names[:8] == ("q0.x", "q0.y", "q0.z", "q0.w", "r0.x", "r0.y", "r0.z",
                         f"qm.{robot.active_joints[0]}")  # fmt: skip


def test_a_stretched_quaternion_is_output_at_unit_length(make, close):
    robot = robots.random_robot(61, 4)
    s = robots.random_state(robot, 1)
    plant = make("MULTIBODY", robot, initial=start_of(s))
    x = np.asarray(plant.getstate0()).copy()
    x[:4] *= 1.01
    R0, *_, state = plant.output(0.0, [None] * 4, x)
    close(R0, s.R0, "R0")
    close(state[:4], x[:4] / np.linalg.norm(x[:4]), "state")
    close(plant.project(x), state, "project")
    rate = plant.deriv(0.0, [s.tau0, s.taum, s.wF0, s.wFm], x)[:4]
    assert rate @ x[:4] < 0  # pulled back to unit length


def test_the_companion_gives_the_plant_s_accelerations(make, close):
    robot = robots.random_robot(62, 4)
    s = robots.random_state(robot, 1)
    plant = make("MULTIBODY", robot, initial=start_of(s))
    forces = [s.tau0, s.taum, s.wF0, s.wFm]
    rates = plant.make_companion(name="rates")
    assert tuple(port.name for port in rates.out_ports) == plant.companion_outputs
    u0dot, umdot, reaction = rates.output(0.0, [*forces, s.R0, s.r0, s.qm, s.u0, s.um], None)
    xdot = plant.deriv(0.0, forces, np.asarray(plant.getstate0()))
    nu = robot.nu
    close(np.concatenate([u0dot, umdot]), xdot[-6 - nu :], "rates", rel=1e-11)
    close(reaction, np.zeros(6))


# --- initial -------------------------------------------------------------------------------


def test_joints_start_by_name_and_the_rest_at_zero(make, close):
    robot = robots.random_robot(63, 5, kinds="r")
    first, third = robot.active_joints[0], robot.active_joints[2]
    plant = make("MULTIBODY", robot, initial={"qm": {third: 0.3}, "um": {first: -0.1}})
    _, _, qm, _, um, _ = plant.output(0.0, [None] * 4, np.asarray(plant.getstate0()))
    close(qm, [0, 0, 0.3, 0, 0])
    close(um, [-0.1, 0, 0, 0, 0])


def test_the_base_starts_from_angles_and_from_parts_of_its_rates(make, close):
    robot = robots.random_robot(63, 1)
    angles = np.array([0.1, -0.2, 0.3])
    given = {"angles321": angles, "omega0": [1, 2, 3], "v0": [4, 5, 6], "r0": [7, 8, 9]}
    plant = make("MULTIBODY", robot, initial=given)
    R0, r0, _, u0, _, _ = plant.output(0.0, [None] * 4, np.asarray(plant.getstate0()))
    close(R0, spatial.angles321_dcm(angles).T)
    close(u0, [1, 2, 3, 4, 5, 6])
    close(r0, [7, 8, 9])


@pytest.mark.parametrize("base", ["floating", "fixed"])
def test_a_start_in_the_urdf_frame_puts_that_frame_there(base, make, close):
    robot = robots.random_robot(64, 3).with_base(base)
    angles, r = np.array([0.4, 0.5, -0.6]), np.array([1.0, 2.0, 3.0])
    R = spatial.angles321_dcm(angles).T
    given = {"angles321": angles, "r0": r}
    if base == "floating":
        given |= {"omega0": [0.1, 0.2, 0.3], "v0": [0.4, 0.5, 0.6]}
    plant = make("MULTIBODY", robot, initial=given, base_frame="urdf")
    R0, r0, qm, u0, _, _ = plant.output(0.0, [None] * 4, np.asarray(plant.getstate0()))
    K = dynamics.kinematics(R0, r0, qm, robot)
    frame = dynamics.frame_of_link(0, R0, r0, K.RL, K.rL, robot)
    close(frame[:3, :3], R, "R")
    close(frame[:3, 3], r, "r")
    if base == "floating":
        # The same body turns with one rate; its two points move as a rigid body's do.
        omega = R @ [0.1, 0.2, 0.3]
        close(R0 @ u0[:3], omega, "omega")
        close(u0[3:], np.array([0.4, 0.5, 0.6]) + np.cross(omega, r0 - r), "v")


@pytest.mark.parametrize(
    ("initial", "message"),
    [
        ({"qmm": [0]}, "initial has no entry 'qmm'\n  did you mean 'qm'"),
        ({"qm": [0.0, 1.0]}, r"initial qm has shape \(2,\), it must be \(3,\)"),
        ({"qm": {"join1": 1.0}}, "initial qm: no active joint 'join1'\n  did you mean 'joint1'"),
        ({"quaternion": [1, 1, 0, 0]}, r"quaternion has length 1\.41421, it must be 1 \(scalar"),
        ({"quaternion": [0, 0, 0, 1], "angles321": [0, 0, 0]}, "both quaternion and angles321"),
        ({"u0": np.zeros(6), "v0": np.zeros(3)}, "initial gives both u0 and v0"),
        ([0.0, 1.0], "initial must be a mapping"),
        ({"r0": "here"}, "initial r0 must hold numbers"),
    ],
)
def test_a_wrong_start_says_what_is_wrong(initial, message, make):
    with pytest.raises(InputError, match=message):
        make("MULTIBODY", robots.random_robot(63, 3, kinds="r"), initial=initial)


def test_all_that_is_wrong_with_a_start_comes_at_once(make):
    given = {"a": 1, "b": 2, "u0": np.zeros(6), "omega0": np.zeros(3)}
    with pytest.raises(InputError) as caught:
        make("MULTIBODY", robots.random_robot(63, 3), initial=given)
    assert len(caught.value.faults) == 3


def test_a_fixed_base_has_no_rates_to_start_with(make):
    robot = robots.random_robot(63, 3).with_base("fixed")
    with pytest.raises(InputError, match="gives base rates, but the base is fixed"):
        make("MULTIBODY", robot, initial={"u0": np.ones(6)})
    make("MULTIBODY", robot, initial={"u0": np.zeros(6)})


def test_a_base_frame_is_com_or_urdf(make):
    with pytest.raises(InputError, match="base_frame must be one of com, urdf, not 'world'"):
        make("MULTIBODY", robots.random_robot(63, 3), base_frame="world")


def test_a_state_integrator_has_no_rates_of_its_own(make):
    with pytest.raises(InputError, match="initial has no entry 'um'"):
        make("STATE_INTEGRATOR", robots.random_robot(63, 3), initial={"um": [0, 0, 0]})


@pytest.mark.parametrize("base", ["floating", "fixed"])
def test_a_state_integrator_moves_with_the_rates_it_is_given(base, make, close):
    robot = robots.random_robot(65, 4).with_base(base)
    s = robots.random_state(robot, 2)
    start = {k: v for k, v in start_of(s).items() if k in ("r0", "quaternion", "qm")}
    block = make("STATE_INTEGRATOR", robot, initial=start)
    x = np.asarray(block.getstate0())
    R0, r0, qm = block.output(0.0, [None, None], x)
    close(R0, s.R0)
    close(r0, s.r0)
    close(qm, s.qm)
    xdot = block.deriv(0.0, [s.u0, s.um], x)
    if base == "floating":
        close(xdot[:4], spatial.quaternion_rate(x[:4], s.u0[:3]), "turn", rel=1e-11)
        close(xdot[4:7], s.u0[3:])
    close(xdot[-robot.nq :], s.um)


# --- AUDIT ---------------------------------------------------------------------------------


@pytest.mark.parametrize("base", ["floating", "fixed"])
@pytest.mark.parametrize("seed", range(3))
def test_audit_s_balances_are_constant_where_forces_and_motion_belong_together(
    base, seed, make, close
):
    robot = robots.random_robot(70 + seed, 5).with_base(base)
    s = robots.random_state(robot, seed)
    s = replace(s, u0=s.u0 / 2, um=s.um / 2)
    if base == "fixed":
        s = replace(s, u0=np.zeros(6))
    rates = dynamics.multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    s = replace(s, u0dot=rates.u0dot, umdot=rates.umdot)
    audit = make("AUDIT", robot)
    x = np.random.default_rng(seed).normal(size=7)

    def inputs(now):
        return [now.tau0, now.taum, now.wF0, now.wFm, now.R0, now.r0, now.qm, now.u0, now.um]

    xdot = audit.deriv(0.0, inputs(s), x)

    def balances(h):
        outputs = audit.output(0.0, inputs(robots.moved(s, h)), x + h * xdot)
        return np.concatenate([np.ravel(value) for value in outputs[4:]])

    slope = robots.rate(balances, 1e-3)
    scale = np.abs(xdot).max()
    assert np.abs(slope).max() < 1e-8 * scale
    p, h, energy, work, p_balance, h_balance, energy_balance = audit.output(0.0, inputs(s), x)
    want = robots.bookkeeping(robot, s, np.zeros(3))
    close(p, want["p"])
    close(h, want["h"])
    close(np.reshape(energy, 1), want["kinetic"])
    close(p_balance, p - x[1:4])
    close(h_balance, h - x[4:7])
    close([work, energy_balance], [x[0], energy - x[0]])


def test_audit_notices_a_wrong_sign(make):
    robot = robots.random_robot(70, 5)
    s = robots.random_state(robot, 0)
    audit = make("AUDIT", robot)
    tail = [s.wF0, s.wFm, s.R0, s.r0, s.qm, s.u0, s.um]
    right = audit.deriv(0.0, [s.tau0, s.taum, *tail], np.zeros(7))
    wrong = audit.deriv(0.0, [s.tau0, -s.taum, *tail], np.zeros(7))
    assert abs(right[0] - wrong[0]) > 1e-3
