"""Joints with Coulomb friction stick and slide, against closed forms, on both engines."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks import dynamics
from spart_blocks.robot import BaseLink, Robot
from spart_blocks.robot.link import Link

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
INERTIA = 0.2 + 2.0 * 0.5**2  # of one link about its joint


def arm(n, coulomb, viscous=0.0):
    """n links of 1 m and 2 kg in a plane, without weight."""
    link = Link([0, 1.0, 0, 0])
    link.m, link.r, link.I = 2.0, [-0.5, 0, 0], np.diag([0.1, 0.2, 0.2])
    link.Tc, link.B = coulomb, viscous
    return Robot.from_links([Link(link) for _ in range(n)])


def slider(friction):
    """A mass of 2 kg on a rail, with friction [N] of that size."""
    link = Link([0, 0, 0, 0, 1])
    link.m, link.Tc = 2.0, friction
    return Robot.from_links([link])


@pytest.fixture
def pushed(diagram, wire):
    """pushed(robot, torque, um=...): a plant under constant torques."""

    def make(robot, torque, um=None, **more):
        bd = diagram()
        bd.MULTIBODY(robot, initial={} if um is None else {"um": um}, name="plant", **more)
        bd.CONSTANT(np.asarray(torque, float), name="push")
        wire(bd, "push -> plant.taum")
        return bd

    return make


@pytest.mark.parametrize("torque", [1.999999, -0.999999, 0.0])
def test_a_joint_pushed_below_break_away_stays(pushed, simulate, torque):
    results = simulate(pushed(arm(1, [2.0, -1.0]), [torque]), T=10, every=0.1)
    assert np.abs(results["plant.qm"]).max() < 1e-9
    assert not results["plant.modes"].any()
    assert results.events == ()


@pytest.mark.parametrize(("torque", "net"), [(2.5, 0.5), (-1.5, -0.5)])
def test_a_joint_pushed_above_break_away_slides_with_the_right_acceleration(
    pushed, simulate, torque, net
):
    results = simulate(pushed(arm(1, [2.0, -1.0]), [torque]), T=1, every=0.05, **TIGHT)
    want = net / INERTIA * results.t
    np.testing.assert_allclose(results["plant.um"][:, 0], want, rtol=0, atol=1e-9)
    assert results["plant.modes"][-1] == np.sign(net)


@pytest.mark.parametrize("solver", ["RK45", "DOP853", "RK4", "BDF"])
def test_a_sliding_joint_comes_to_rest_where_its_energy_is_spent(pushed, simulate, solver):
    options = {"max_step": 0.01} if solver == "RK4" else {}
    bd = pushed(arm(1, 2.0), [0.0], um=[1.0])
    results = simulate(bd, T=0.6, every=0.1, solver=solver, **options)
    stop = INERTIA / 2.0
    np.testing.assert_allclose(results["plant.qm"][-1], [0.5 * stop], atol=1e-6)
    assert results["plant.um"][-1] == 0.0
    assert [event.t for event in results.events] == pytest.approx([stop], abs=1e-6)


def test_an_oscillation_loses_the_same_amplitude_each_half_period_and_sticks(
    diagram, wire, simulate
):
    # x'' + k/m x = -sign(x') F/m: each half period T/2 = pi sqrt(m/k) takes 2 F/k off the
    # amplitude, until the spring cannot break the mass away.
    k, F, m, start = 200.0, 3.0, 2.0, 0.1
    bd = diagram()
    bd.MULTIBODY(slider(F), initial={"qm": [start]}, name="plant")
    bd.GAIN(-k, name="spring")
    wire(bd, "plant.qm -> spring", "spring -> plant.taum")
    results = simulate(bd, T=2, every=0.1, **TIGHT)
    halves = int(np.ceil((start - F / k) / (2 * F / k)))
    last = (start - 2 * F / k * halves) * (-1) ** halves
    np.testing.assert_allclose(results["plant.qm"][-1], [last], rtol=0, atol=1e-8)
    stops = np.pi * np.sqrt(m / k) * np.arange(1, halves + 1)
    times = np.array(sorted({round(event.t, 7) for event in results.events if event.t > 0}))
    np.testing.assert_allclose(times, stops, rtol=0, atol=1e-6)
    assert results["plant.modes"][-1] == 0


@pytest.mark.parametrize("solver", ["RK45", "CVODES"])
def test_an_oscillation_loses_its_amplitude_however_far_apart_its_samples_are(
    diagram, wire, solver
):
    k, F, start = 200.0, 0.2, 0.1  # a half period is 0.31 s
    bd = diagram()
    bd.MULTIBODY(slider(F), initial={"qm": [start]}, name="plant")
    bd.GAIN(-k, name="spring")
    wire(bd, "plant.qm -> spring", "spring -> plant.taum")
    results = sb.simulate(bd, T=4, every=2, solver=solver, **TIGHT)
    halves = int(4 / (np.pi * np.sqrt(2.0 / k)))
    centre = F / k * (-1) ** halves
    swing = start - F / k - 2 * F / k * halves
    last = centre + swing * np.cos(np.sqrt(k / 2.0) * 4)
    np.testing.assert_allclose(results["plant.qm"][-1], [last], rtol=0, atol=1e-6)


def acceleration_of(robot, torque, modes):
    fixed = [np.eye(3), np.zeros(6), np.zeros(robot.nq), np.zeros(robot.nu), np.zeros(6)]
    weightless = np.zeros(6), np.zeros((robot.n_links_joints, 6))
    return dynamics.hybrid_rates(*fixed, torque, *weightless, robot, modes=modes)


def fits(robot, torque, modes):
    """Whether every stuck joint is held, and every sliding one moves its way."""
    rates, limit = acceleration_of(robot, torque, modes), 2.0
    held = np.abs(rates.load) <= limit + 1e-9
    return all(held[k] if m == 0 else m * rates.umdot[k] >= -1e-9 for k, m in enumerate(modes))


@pytest.mark.parametrize("seed", range(6))
def test_joints_at_rest_break_away_together_as_the_complementarity_problem_says(pushed, seed):
    torque = np.random.default_rng(seed).normal(scale=4.0, size=3)
    robot = arm(3, 2.0)
    results = sb.simulate(pushed(robot, torque), T=1e-3, every=1e-3, engine="interpreter")
    modes = results["plant.modes"][0]
    choices = [np.array(c, float) for c in itertools.product((-1, 0, 1), repeat=3)]
    fitting = [choice for choice in choices if fits(robot, torque, choice)]
    assert any(np.array_equal(modes, choice) for choice in fitting)
    # The matrix of the problem is positive definite: all that fit give one motion.
    motions = [acceleration_of(robot, torque, choice).umdot for choice in fitting]
    assert np.ptp(motions, axis=0).max() < 1e-9


def test_both_engines_and_a_divided_run_stick_and_slide_alike(diagram, wire):
    bd = diagram()
    bd.MULTIBODY(arm(3, [1.0, -1.5], 0.2), initial={"um": [0.3, 0, -0.2]}, name="plant")
    bd.WAVEFORM(wave="sine", freq=0.5, amplitude=np.array([6.0, 3.0, 2.5]), name="push")
    wire(bd, "push -> plant.taum")
    options = {"T": 2.0, "every": 0.1, **TIGHT}
    native, blocks = (sb.simulate(bd, engine=e, **options) for e in ("native", "interpreter"))
    assert len(native.events) == len(blocks.events) > 3
    np.testing.assert_allclose(native["plant.qm"], blocks["plant.qm"], rtol=0, atol=1e-7)
    first = sb.simulate(bd, **{**options, "T": 0.9})
    rest = sb.simulate(bd, initial=first.final_state, **options)
    np.testing.assert_allclose(rest["plant.qm"][-1], native["plant.qm"][-1], rtol=0, atol=1e-7)


def test_friction_and_motors_leave_the_momentum_of_a_free_base_and_the_energy_balance(
    diagram, wire, simulate
):
    robot = arm(3, [1.0, -1.5], 0.2).with_effects(["motors", "friction"])
    drive = replace(robot.joints[0].drive, gear=3.0, motor_inertia=0.02)
    joints = (replace(robot.joints[0], drive=drive), *robot.joints[1:])
    base = BaseLink("base", np.eye(4), 40.0, 5.0 * np.eye(3))
    robot = replace(robot, joints=joints, base_link=base).with_base("floating")
    bd = diagram()
    bd.MULTIBODY(robot, initial={"um": [0.3, 0, -0.2]}, audit=True, name="plant")
    bd.WAVEFORM(wave="sine", freq=0.5, amplitude=np.array([9.0, 3.0, 2.5]), name="push")
    wire(bd, "push -> plant.taum")
    results = simulate(bd, T=1.5, every=0.05, **TIGHT)
    assert len(results.events) > 3
    assert np.ptp(results["plant.audit.energy"]) > 0.1
    for balance in ("p_balance", "h_balance", "energy_balance"):
        assert np.ptp(results[f"plant.audit.{balance}"], axis=0).max() < 1e-7


@pytest.mark.filterwarnings("ignore:the diagram is not at rest here")
def test_a_linearised_plant_with_friction_has_no_modes_among_its_states(pushed):
    bd = pushed(arm(2, [1.0, -1.5], 0.4), [2.0, 0.0], um=[0.1, 0.0])
    system = sb.linearize(bd, inputs="plant.taum", outputs="plant.qm")
    assert [name for name in system.states if "mode" in name] == []
    # The second joint is stuck, so the first carries both links, and brakes by its friction.
    whole = dynamics.multibody_inertia(np.eye(3), np.zeros(2), arm(2, 0.0)).Hm[0, 0]
    np.testing.assert_allclose(system.A[2], [0, 0, -0.4 / whole, 0], atol=1e-12)
    np.testing.assert_allclose(system.A[3], np.zeros(4), atol=1e-12)


@pytest.mark.parametrize(("before", "blow"), [(0.0, 1.5), (1.0, -2.0), (0.5, 3.0)])
def test_a_joint_slides_on_as_an_event_lets_it_move(pushed, wire, simulate, before, blow):
    # Friction of 2 N m takes 2/INERTIA of the rate each second, whichever way it slides.
    bd = pushed(arm(1, 2.0), [0.0], um=[before])
    plant = bd.blocklist[0]

    def strike(block, states):
        states[plant][1] = blow

    bd.RAMP(T=0.1, slope=1.0, name="ramp")
    bd.EVENT(func=strike, direction="+", name="strike")
    wire(bd, "ramp -> strike")
    results = simulate(bd, T=0.2, every=0.05, **TIGHT)
    want = blow - np.sign(blow) * 2.0 / INERTIA * 0.1
    np.testing.assert_allclose(results["plant.um"][-1], [want], rtol=0, atol=1e-8)
    assert results["plant.modes"][-1] == np.sign(blow)


def test_a_run_that_begins_with_a_stuck_joint_in_motion_lets_it_slide(pushed, simulate):
    start = {"plant": np.array([0.0, 1.0, 0.0])}
    results = simulate(pushed(arm(1, 2.0), [0.0]), initial=start, T=0.1, every=0.05, **TIGHT)
    np.testing.assert_allclose(results["plant.um"][-1], [1.0 - 0.2 / INERTIA], rtol=0, atol=1e-8)
