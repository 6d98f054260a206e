"""Hybrid dynamics: prescribed joints move as told, the others answer. Six-joint arms from
tests/golden/hybrid_joints.json, two independent formulations."""

import numpy as np
import pytest
import robots

from spart_blocks import dynamics
from spart_blocks.base.errors import InputError

NONE = np.zeros(6)


@pytest.fixture(params=["arm_6R", "arm_RRPRRR"])
def arm(request):
    return robots.hybrid_arm(request.param)


def reference_states(arm):
    robot, case = arm
    for state in case["random_states"]:
        tau = np.zeros(6)
        tau[[0, 2, 3, 5]] = state["tau_dynamic"]
        yield robot, {key: np.array(value) for key, value in state.items()} | {"taum": tau}


def test_the_plant_s_rates_are_those_of_both_references(arm, close):
    for robot, s in reference_states(arm):
        weights = dynamics.gravity_wrenches([0, 0, -9.81], robot)
        rates = dynamics.hybrid_rates(
            np.eye(3), NONE, s["q"], s["qd"], NONE, s["taum"], *weights, robot, s["qdd_kinematic"]
        )
        close(rates.umdot, s["qdd"])
        close(rates.tau_k, s["tau_kinematic"])


def test_spart_s_forward_dynamics_takes_prescribed_joints(arm, close):
    for robot, s in reference_states(arm):
        wFm = dynamics.gravity_wrenches([0, 0, -9.81], robot).wFm
        R0, r0 = np.eye(3), np.zeros(3)
        K = dynamics.kinematics(R0, r0, s["q"], robot)
        D = dynamics.diff_kinematics(R0, r0, K.rL, K.e, K.g, robot)
        V = dynamics.velocities(*D, NONE, s["qd"], robot)
        Im = dynamics.inertias(R0, K.RL, robot).Im
        umdot, tau_k = dynamics.fixed_forward_dynamics(
            s["taum"], wFm, V.tL, D.pm, Im, D.Bij, D.Bi0, s["qd"], robot, s["qdd_kinematic"]
        )
        close(umdot, s["qdd"])
        close(tau_k, s["tau_kinematic"])


@pytest.mark.parametrize("seed", range(4))
def test_inverse_dynamics_gives_back_what_drives_a_floating_hybrid_tree(seed):
    rng = np.random.default_rng(seed)
    robot = robots.random_robot(seed + 1, 8)
    names = robot.active_joints
    robot = robot.with_kinematic(rng.choice(names, size=max(1, len(names) // 3), replace=False))
    state = robots.random_state(robot, seed)
    umdot_k = rng.normal(size=len(robot.kinematic))
    where = (state.R0, state.u0, state.qm, state.um)
    loads = (state.wF0, state.wFm)
    rates = dynamics.hybrid_rates(*where, state.tau0, state.taum, *loads, robot, umdot_k)
    places = list(robot.kinematic)
    np.testing.assert_array_equal(rates.umdot[places], umdot_k)
    tau0, taum = dynamics.multibody_forces(*where, rates.u0dot, rates.umdot, *loads, robot)
    want = np.array(state.taum)
    want[places] += rates.tau_k
    np.testing.assert_allclose(taum, want, rtol=0, atol=1e-9 * np.abs(want).max())
    np.testing.assert_allclose(tau0, state.tau0, rtol=0, atol=1e-8)


def test_hybrid_dynamics_takes_no_more_operations_than_forward_dynamics():
    casadi = pytest.importorskip("casadi")
    from spart_blocks.program.tracing.symbol import column_of, symbols

    robot, _ = robots.hybrid_arm("arm_6R")

    def operations(robot):
        columns, values = zip(*(symbols(n, (6,)) for n in ("q", "qd", "tau")), strict=True)
        weights = dynamics.gravity_wrenches([0, 0, -9.81], robot)
        rates = dynamics.hybrid_rates(
            np.eye(3), NONE, values[0], values[1], NONE, values[2], *weights, robot
        )
        out = casadi.cse(column_of([rates.umdot, rates.tau_k]))
        return casadi.Function("f", list(columns), [out]).n_instructions()

    # Asked for: at most 1.3 times.
    assert operations(robot) < 1.05 * operations(robot.with_kinematic([]))


def test_accelerations_of_the_wrong_number_are_refused(arm):
    robot, _ = arm
    weights = dynamics.gravity_wrenches([0, 0, -9.81], robot)
    with pytest.raises(InputError, match="umdot_k"):
        dynamics.hybrid_rates(np.eye(3), NONE, NONE, NONE, NONE, NONE, *weights, robot, [1, 2, 3])
