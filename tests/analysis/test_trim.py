"""Equilibria are those of statics and of closed forms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError, RunError

MODELS = Path(__file__).parents[2] / "models"


@pytest.fixture
def new_pendulum(bdsim_runtime):
    """new_pendulum(K): theta'' = K - 4 sin(theta) - 0.5 theta'."""

    def made(K):
        bd = bdsim_runtime.blockdiagram(name="pendulum")
        one, gain = bd.CONSTANT(1.0, name="one"), bd.GAIN(K, name="gain")
        theta, omega = bd.INTEGRATOR(x0=0.1, name="theta"), bd.INTEGRATOR(name="omega")
        rate = bd.FUNCTION(lambda u, q, w: u - 4 * np.sin(q) - 0.5 * w, nin=3, name="rate")
        for source, end in ((one, gain), (gain, rate[0]), (theta, rate[1]), (omega, rate[2])):
            bd.connect(source, end)
        bd.connect(rate, omega)
        bd.connect(omega, theta)
        return bd

    return made


@pytest.fixture
def pendulum(new_pendulum):
    return new_pendulum(1.0)


def test_an_arm_is_held_by_the_torques_of_its_weight(held_arm, close):
    found = sb.trim(held_arm, unknowns="torque.value")
    model = pin.buildModelFromUrdf(str(MODELS / "arm7.urdf"))
    model.gravity.linear = np.array([0, 0, -9.81])
    qm = found.states["plant"][:7]
    want = pin.computeGeneralizedGravity(model, model.createData(), qm)
    close(found.values["torque.value"], want, rel=1e-12)
    close(found.parameters["torque.value"], want, rel=1e-12)
    assert found.residual < 1e-9


def test_a_pose_is_found_for_given_torques(held_arm):
    held = sb.trim(held_arm, unknowns="torque.value")
    # The same torques hold the arm at the pose it had, from which it is now moved.
    moved = {"plant": held.states["plant"] + np.r_[0.0, 0.05, 0.0, -0.04, np.zeros(10)]}
    found = sb.trim(
        held_arm,
        unknowns=["plant.qm[1]", "plant.qm.lbr_iiwa_joint_4", "torque.value"],
        conditions={"torque": held.values["torque.value"]},
        at=moved,
    )
    np.testing.assert_allclose(found.states["plant"], held.states["plant"], atol=1e-9)


def test_a_pendulum_hangs_where_its_torque_says(pendulum):
    found = sb.trim(pendulum, unknowns=["theta", "omega"])
    assert found.values["theta"] == pytest.approx(np.arcsin(1 / 4), rel=1e-14)
    assert found.values["omega"] == pytest.approx(0, abs=1e-14)
    assert found.parameters == {}
    results = sb.simulate(pendulum, initial=found.states, T=5)
    assert np.ptp(results["states.theta"]) < 1e-12


def test_a_parameter_is_found_for_a_wanted_signal(pendulum):
    found = sb.trim(pendulum, unknowns=["theta", "gain.K"], conditions={"theta": 0.5})
    assert found.values["gain.K"] == pytest.approx(4 * np.sin(0.5), rel=1e-13)
    system = sb.linearize(pendulum, inputs="gain", outputs="theta", at=found)
    np.testing.assert_allclose(system.A, [[0, 1], [-4 * np.cos(0.5), -0.5]], rtol=1e-13)
    np.testing.assert_allclose(system.u, 4 * np.sin(0.5), rtol=1e-13)
    assert np.abs(system.drift).max() < 1e-13


def test_named_states_alone_may_be_steady(oscillator, diagram):
    # A cart at constant speed: what drives it equals its friction.
    cart = diagram(
        "blocks:\n  force: {type: CONSTANT, value: 0.0}\n  total: {type: SUM, signs: '+-'}\n"
        "  v: {type: INTEGRATOR, x0: 3.0}\n  x: {type: INTEGRATOR}\n"
        "  friction: {type: GAIN, K: 0.4}\n"
        "wires: [force -> total.0, friction -> total.1, total -> v, 'v -> x, friction']"
    )
    found = sb.trim(cart, unknowns="force.value", steady="v")
    assert found.values["force.value"] == pytest.approx(1.2, rel=1e-14)
    with pytest.raises(RunError, match="the rate of x is 3 "):
        sb.trim(cart, unknowns="force.value", steady=["x"])


def test_a_discrete_state_rests_where_ticks_leave_it(bdsim_runtime):
    bd = bdsim_runtime.blockdiagram(name="discrete")
    clock, one = bd.clock(0.1, name="clock"), np.eye(1)
    filtered = bd.LTI_SS_S(clock, A=np.array([[0.8]]), B=one, C=one, x0=[0.0], name="filter")
    bd.connect(bd.CONSTANT(3.0, name="u"), filtered)
    found = sb.trim(bd, unknowns="filter")
    assert found.states["filter"] == pytest.approx(3.0 / 0.2, rel=1e-13)


def test_states_on_several_clocks_are_trimmed(two_clocks):
    found = sb.trim(two_clocks, unknowns=["a", "b"])
    assert (found.states["a"], found.states["b"]) == (pytest.approx(1.0), pytest.approx(1.0))


def test_what_has_no_equilibrium_names_its_worst_rate(new_pendulum):
    # The weight's torque reaches 4 at most, and 5 pulls.
    with pytest.raises(RunError, match=r"no equilibrium was found: the rate of omega is 1 "):
        sb.trim(new_pendulum(5.0), unknowns="theta")


def test_an_equation_that_no_unknown_changes_is_told(pendulum):
    with pytest.raises(RunError) as caught:
        sb.trim(pendulum, unknowns="theta", at={"omega": [2.0]}, steady="theta")
    assert "the rate of theta is 2 " in str(caught.value)
    assert "none of the unknowns (theta) changes it" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"unknowns": "gain.k"}, "no state or parameter 'gain.k'\n  did you mean 'gain.K'"),
        ({"unknowns": []}, "trim needs unknowns"),
        ({"unknowns": ["theta", "theta"]}, "unknown theta is given twice"),
        ({"unknowns": "theta", "steady": "omgea"}, "no state 'omgea'\n  did you mean 'omega'"),
        ({"unknowns": "theta", "steady": False}, "trim has no equations"),
        ({"unknowns": "theta", "conditions": {"tetha": 1}}, "condition: no signal .* 'tetha'"),
        (
            {"unknowns": "theta", "conditions": {"theta": [1, 2]}},
            "condition: theta has 1 entries, not 2",
        ),
    ],
)
def test_wrong_arguments_are_refused(pendulum, arguments, message):
    with pytest.raises(InputError, match=message):
        sb.trim(pendulum, **arguments)


def test_the_rates_of_an_audit_are_not_what_keeps_a_diagram_from_rest(held_arm_text, diagram):
    text = held_arm_text.replace("type: MULTIBODY,", "type: MULTIBODY, audit: true,")
    with pytest.raises(RunError, match="no equilibrium was found: the rate of plant") as caught:
        sb.trim(diagram(text), unknowns="plant.qm[0]")  # which turns about the vertical
    assert "audit" not in str(caught.value)
    # Asked for, they count: the ground and the weight leave no force where the arm rests.
    found = sb.trim(diagram(text), unknowns="torque.value", steady="plant.audit")
    assert found.residual < 1e-9
