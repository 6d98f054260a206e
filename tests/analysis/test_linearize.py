"""Linear systems are those that the diagrams' equations give in closed form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

import spart_blocks as sb
from spart_blocks.base.errors import InputError, RunError, SpartWarning
from spart_blocks.diagram.network.flatten import flatten
from spart_blocks.run.engines.interpreter import Interpreter

ROOT = Path(__file__).parents[2]
M, C, K = 2.0, 0.6, 8.0  # of the oscillator
in_motion = pytest.mark.filterwarnings("ignore:the diagram is not at rest here")
"""Of tests that linearize at a point in motion on purpose."""


def test_mass_spring_damper_is_exact(oscillator):
    system = sb.linearize(oscillator, inputs="force", outputs=["x", "v", "accel"])
    assert (system.states, system.inputs, system.outputs) == (
        ("v", "x"), ("force",), ("x", "v", "accel")
    )  # fmt: skip
    np.testing.assert_array_equal(system.A, [[-C / M, -K / M], [1, 0]])
    np.testing.assert_array_equal(system.B, [[1 / M], [0]])
    np.testing.assert_array_equal(system.C, [[0, 1], [1, 0], [-C / M, -K / M]])
    np.testing.assert_array_equal(system.D, [[0], [0], [1 / M]])
    assert system.dt == 0
    assert not system.drift.any()


def test_a_point_in_motion_is_told(oscillator):
    text = r"not at rest here: v has the rate -?\d.*\n  sb.trim finds where it rests"
    with pytest.warns(SpartWarning, match=text) as told:
        sb.linearize(oscillator, inputs="force", outputs="accel", at={"x": [0.5], "v": [2]})
    assert len(told) == 1
    assert told[0].filename == __file__


@pytest.mark.parametrize(("v", "rests"), [(3e-6, True), (3e-3, False)])
def test_the_end_of_a_run_is_at_rest_within_its_tolerance(oscillator, v, rests, recwarn):
    system = sb.linearize(oscillator, inputs="force", outputs="x", at={"x": [0.0], "v": [v]})
    assert abs(system.drift).max() >= v
    assert any("not at rest" in str(one.message) for one in recwarn) is not rests


@in_motion
def test_the_point_is_told(oscillator, diagram):
    system = sb.linearize(oscillator, inputs="force", outputs="accel", at={"x": [0.5], "v": [2]})
    np.testing.assert_array_equal(system.x, [2.0, 0.5])
    np.testing.assert_array_equal(system.u, [0.0])
    rate = (-C * 2 - K * 0.5) / M
    np.testing.assert_allclose(system.y, [rate], rtol=1e-15)
    np.testing.assert_allclose(system.drift, [rate, 2.0], rtol=1e-15)


@in_motion
def test_a_linear_block_passes_through(bdsim_runtime):
    rng = np.random.default_rng(3)
    A, B, C = rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), rng.normal(size=(1, 3))
    bd = bdsim_runtime.blockdiagram(name="through")
    plant = bd.LTI_SS(A=A, B=B, C=C, x0=[0.1, 0.2, 0.3], name="plant")
    bd.connect(bd.CONSTANT(1.0, name="u"), plant[0])
    bd.connect(bd.CONSTANT(2.0, name="v"), plant[1])
    system = sb.linearize(bd, inputs=["u", "v"], outputs="plant")
    for name, want in {"A": A, "B": B, "C": C, "D": np.zeros((1, 2))}.items():
        np.testing.assert_allclose(getattr(system, name), want, rtol=1e-15, atol=0)
    assert system.states == ("plant[0]", "plant[1]", "plant[2]")


def differences(diagram, signal, h=1e-6):
    """A and C by central differences of the interpreter, at the diagram's start."""
    wiring = flatten(diagram.bd)
    engine = Interpreter(diagram, wiring)
    x, xd = engine.initial()
    x = x + 0.1
    node = next(n for n in wiring.nodes if n.name == signal.split(".")[0])
    port = [p.name for p in node.out_ports].index(signal.split(".")[1])

    def slope(function):
        return np.array(
            [(function(x + e) - function(x - e)) / (2 * h) for e in h * np.eye(len(x))]
        ).T

    A = slope(lambda x: engine.derivative(0.0, x, xd))
    return x, A, slope(lambda x: np.ravel(engine.outputs(0.0, x, xd)[node.index][port]))


@in_motion
def test_an_arm_under_gravity_agrees_with_finite_differences(held_arm, close):
    x, A, C = differences(held_arm, "plant.qm")
    system = sb.linearize(held_arm, inputs="plant.taum", outputs="plant.qm", at={"plant": x})
    close(system.A, A, rel=1e-7)
    close(system.C, C, rel=1e-9)
    # Torques act through the inverse of the inertia matrix: B is symmetric and positive.
    np.testing.assert_array_equal(system.B[:7], 0)
    mass = system.B[7:]
    close(mass, mass.T, rel=1e-12)
    assert np.linalg.eigvalsh(mass).min() > 0


def test_every_joint_follows_its_goal_at_rest(pd_arm):
    # At rest without weight a PD loop holds qm = qd: a gain of one from each to each.
    system = sb.linearize(pd_arm, inputs="qd", outputs="plant.qm", t=1.0)
    assert not np.abs(system.drift).max() > 1e-14
    gain = -system.C @ np.linalg.solve(system.A, system.B)
    np.testing.assert_allclose(gain, np.eye(7), atol=1e-12)
    assert system.stable


@in_motion
def test_computed_torque_makes_every_joint_the_same_oscillator(close):
    # The error obeys e'' + 20 e' + 100 e = 0 in every state, so A is that and nothing else.
    diagram = ROOT / "diagrams" / "arm_computed_torque.yaml"
    system = sb.linearize(diagram, inputs="plant.taum", outputs="error", t=0.3)
    eye, zero = np.eye(7), np.zeros((7, 7))
    close(system.A, np.block([[zero, eye], [-100 * eye, -20 * eye]]), rel=1e-12)


# --- names --------------------------------------------------------------------------------


def test_slices_and_inputs_of_blocks(pd_arm):
    whole = sb.linearize(pd_arm, inputs="ctrl.tau", outputs="plant.qm")
    some = sb.linearize(pd_arm, inputs="plant.taum[2:4]", outputs=["plant.qm[5]", "plant.qm[0]"])
    assert some.inputs == ("plant.taum[2]", "plant.taum[3]")
    assert some.outputs == ("plant.qm[5]", "plant.qm[0]")
    np.testing.assert_array_equal(some.B, whole.B[:, 2:4])
    np.testing.assert_array_equal(some.C, whole.C[[5, 0]])


def test_an_input_without_a_wire_can_be_varied(pd_arm, close):
    # A force at the last link's centre of mass acts through its Jacobian.
    system = sb.linearize(pd_arm, inputs=["plant.wFm", "plant.taum"], outputs="plant.qm")
    robot = pd_arm.robots["arm"]
    qm = system.x[:7]
    K = sb.dynamics.kinematics(np.eye(3), np.zeros(3), qm, robot)
    D = sb.dynamics.diff_kinematics(np.eye(3), np.zeros(3), K.rL, K.e, K.g, robot)
    J = sb.dynamics.jacobian(K.rL[6], np.zeros(3), K.rL, D.P0, D.pm, 7, robot).Jm
    index = [system.inputs.index(f"plant.wFm[6,{k}]") for k in range(6)]
    by_torque = system.B[7:, -7:]
    close(system.B[7:, index], by_torque @ J.T, rel=1e-11)


def test_states_are_outputs_by_name(pd_arm):
    system = sb.linearize(pd_arm, inputs="qd[0]", outputs=["states.plant[8:10]", "plant.um[5]"])
    assert system.outputs == ("plant.um[1]", "plant.um[2]", "plant.um[5]")
    np.testing.assert_array_equal(system.C, np.eye(14)[[8, 9, 12]])


def test_wrong_names_are_told_together(pd_arm):
    with pytest.raises(InputError) as caught:
        sb.linearize(
            pd_arm, inputs=["ctrl.tua", "plant"], outputs=["plant.qn", "plant.qm[9]"], open_at="x"
        )
    text = str(caught.value)
    assert "input: no signal or block input 'ctrl.tua'\n  did you mean 'ctrl.tau'" in text
    assert "input: plant is a block with several signals\n  it has plant.R0" in text
    assert "output: no signal or block input 'plant.qn'\n  did you mean 'plant.qm'" in text
    assert "output: 'plant.qm[9]': index 9 is out of range, the size is 7" in text
    assert "open_at: no signal or block input 'x'" in text
    assert len(caught.value.faults) == 5


@pytest.mark.parametrize("inputs", [["qd", "qd"], ["qd", "qd[2]"]])
def test_an_element_is_named_once(pd_arm, inputs):
    with pytest.raises(InputError, match=r"input qd.* is given twice"):
        sb.linearize(pd_arm, inputs=inputs, outputs="plant.qm")


# --- loops --------------------------------------------------------------------------------


def test_a_cut_loop_has_the_gain_of_its_blocks(servo):
    kp, kd, m, w = 12.0, 3.0, 2.0, np.array([0.3, 1.0, 4.0])
    loop = (kp + kd * 1j * w) / (m * (1j * w) ** 2)
    opened = sb.linearize(servo, inputs="u", outputs="u", open_at="u")
    np.testing.assert_allclose(opened.frequency_response(w)[:, 0, 0], -loop, rtol=1e-12)
    np.testing.assert_array_equal(opened.poles(), [0, 0])
    closed = sb.linearize(servo, inputs="u", outputs=["u", "-> mass.0"])
    response = closed.frequency_response(w)[:, :, 0]
    np.testing.assert_allclose(response[:, 0], -loop / (1 + loop), rtol=1e-12)
    # What the mass feels is read after what is added.
    np.testing.assert_allclose(response[:, 1], 1 / (1 + loop), rtol=1e-12)


def test_an_input_of_a_block_is_read_after_what_is_added(servo):
    w = np.array([0.5, 2.0])
    loop = (12.0 + 3.0j * w) / (2.0 * (1j * w) ** 2)
    system = sb.linearize(servo, inputs="-> v.0", outputs="-> v.0")
    np.testing.assert_allclose(system.frequency_response(w)[:, 0, 0], 1 / (1 + loop), rtol=1e-12)


def test_only_the_named_joint_is_cut(pd_arm):
    one = sb.linearize(pd_arm, inputs="ctrl.tau[3]", outputs="plant.qm", open_at="ctrl.tau[3]")
    closed = sb.linearize(pd_arm, inputs="ctrl.tau[3]", outputs="plant.qm")
    torques = sb.linearize(pd_arm, inputs="ctrl.tau", outputs="ctrl.tau")
    # Without its loop, tau[3] no longer depends on the states.
    want = closed.A - np.outer(torques.B[:, 3], torques.C[3])
    np.testing.assert_allclose(one.A, want, atol=1e-11)
    np.testing.assert_array_equal(one.B, closed.B)


@in_motion
def test_a_cut_signal_keeps_its_value(servo):
    cut = sb.linearize(servo, inputs="goal", outputs="mass", at={"x": [2.0]}, open_at="error")
    np.testing.assert_allclose(cut.y, [-12.0 * 2.0 / 2.0], rtol=1e-15)
    np.testing.assert_array_equal(cut.B, 0)


# --- time ---------------------------------------------------------------------------------


@in_motion
def test_a_discrete_block_passes_through(bdsim_runtime):
    A, B, C = np.array([[0.5, 0.1], [0.0, 0.8]]), np.array([[1.0], [2.0]]), np.array([[1.0, -1.0]])
    bd = bdsim_runtime.blockdiagram(name="discrete")
    plant = bd.LTI_SS_S(bd.clock(0.02, name="clock"), A=A, B=B, C=C, x0=[0, 0], name="plant")
    bd.connect(bd.CONSTANT(1.0, name="u"), plant)
    system = sb.linearize(bd, inputs="u", outputs="plant")
    for name, want in {"A": A, "B": B, "C": C, "D": [[0.0]]}.items():
        np.testing.assert_allclose(getattr(system, name), want, rtol=1e-15)
    assert system.dt == 0.02
    first, second = system.damping()
    assert second.value == pytest.approx(0.5)
    assert first.frequency == pytest.approx(-np.log(0.8) / 0.02)
    assert (first.damping, first.time_constant) == pytest.approx((1.0, 1 / first.frequency))


def test_a_sampled_loop_is_the_map_of_its_period(sampled):
    a, b, k, T = 0.7, 2.0, 1.5, 0.1
    phi = np.exp(-a * T)
    gamma = b * (1 - phi) / a
    system = sb.linearize(sampled, inputs="r", outputs=["x", "hold"], at={"x": [0.0]})
    assert system.states == ("x", "hold")
    np.testing.assert_allclose(system.A, [[phi - gamma * k, 0], [-k, 0]], rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(system.B, [[gamma], [1.0]], rtol=1e-14)
    # The hold shows at its tick what it reads there.
    np.testing.assert_allclose(system.C, [[1, 0], [-k, 0]], rtol=1e-14)
    np.testing.assert_array_equal(system.D, [[0], [1]])
    assert system.dt == T
    # The run goes the way of the map, for the diagram is linear.
    results = sb.simulate(sampled, T=1, every=0.1, rtol=1e-10, atol=1e-12)
    want = (phi - gamma * k) ** np.arange(11)
    np.testing.assert_allclose(results["states.x"][:, 0], want, rtol=1e-8)


@in_motion
def test_a_mode_held_between_ticks_agrees_with_the_exponential(sampled):
    system = sb.linearize(sampled, inputs="rate.0", outputs="x", open_at="hold")
    held = expm(0.1 * np.array([[-0.7, 1.0], [0, 0]]))
    np.testing.assert_allclose(system.A[0], [held[0, 0], 0], atol=1e-15)
    np.testing.assert_allclose(system.B[0], held[0, 1], rtol=1e-14)


def test_several_clocks_are_refused(two_clocks):
    with pytest.raises(InputError) as caught:
        sb.linearize(two_clocks, inputs="one", outputs="b")
    assert "discrete states on 2 clocks" in str(caught.value)
    assert "T = 0.1 s, offset 0 s: a; T = 0.3 s, offset 0.1 s: b" in str(caught.value)


# --- the point ----------------------------------------------------------------------------


@in_motion
def test_the_point_is_where_a_run_ended(held_arm, tmp_path):
    results = sb.simulate(held_arm, T=0.2)
    system = sb.linearize(held_arm, inputs="torque", outputs="plant.qm", at=results)
    np.testing.assert_array_equal(system.x, results.states["plant"][-1])
    file = results.save(tmp_path / "run.npz")
    for same in (results.final_state, file, {"plant": results.states["plant"][-1]}):
        other = sb.linearize(held_arm, inputs="torque", outputs="plant.qm", at=same)
        np.testing.assert_array_equal(other.A, system.A)
    parts = {"plant": {"qm": system.x[:7], "um": system.x[7:]}}
    other = sb.linearize(held_arm, inputs="torque", outputs="plant.qm", at=parts)
    np.testing.assert_array_equal(other.A, system.A)


@in_motion
def test_time_is_that_of_the_run_unless_given(diagram):
    text = "blocks:\n  ramp: {type: RAMP, T: 0.5}\n  x: {type: INTEGRATOR}\nwires: [ramp -> x]"
    ramp = diagram(text)
    results = sb.simulate(ramp, T=2)
    assert sb.linearize(ramp, inputs=[], outputs="ramp", at=results).y == pytest.approx(1.5)
    assert sb.linearize(ramp, inputs=[], outputs="ramp", at=results, t=1).y == pytest.approx(0.5)
    assert sb.linearize(ramp, inputs=[], outputs="ramp").y == pytest.approx(0)


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ({"plnt": [0]}, "at: no block 'plnt' with a state\n  did you mean 'plant'"),
        ({"plant": [0, 1]}, r"at: plant has shape \(2,\), takes \(14,\)"),
        (3.0, "at must be a final state, results, a file, a trim or a mapping, not 3.0"),
    ],
)
def test_a_wrong_point_is_refused(held_arm, at, message):
    with pytest.raises(InputError, match=message):
        sb.linearize(held_arm, inputs="torque", outputs="plant.qm", at=at)


@in_motion
def test_a_slope_without_end_is_named(bdsim_runtime):
    bd = bdsim_runtime.blockdiagram(name="root")
    state = bd.INTEGRATOR(x0=0.0, name="x")
    root = bd.FUNCTION(lambda u: np.sqrt(u), name="root")
    bd.connect(state, root)
    bd.connect(root, state)
    with pytest.raises(RunError, match="the derivatives of the rate of x are not finite"):
        sb.linearize(bd, inputs=[], outputs="x")
    beside = sb.linearize(bd, inputs=[], outputs="x", at={"x": [4.0]})
    np.testing.assert_allclose(beside.A, [[0.25]], rtol=1e-15)


@in_motion
def test_a_floating_base_has_the_mode_of_its_quaternions_length():
    system = sb.linearize(
        ROOT / "diagrams" / "spacecraft_pd.yaml",
        inputs="plant.tau0",
        outputs=["plant.R0", "plant.qm"],
    )
    along = np.zeros(len(system.states))
    along[:4] = system.x[:4]
    # |q| returns to 1 at 2/s, no output sees it, and no input moves it.
    np.testing.assert_allclose(system.A @ along, -2 * along, atol=1e-14)
    np.testing.assert_allclose(system.C @ along, 0, atol=1e-15)
    np.testing.assert_allclose(along @ system.B, 0, atol=1e-15)


@pytest.fixture
def audited_arm_text(pd_arm_text):
    return pd_arm_text.replace("type: MULTIBODY,", "type: MULTIBODY, audit: true,")


@pytest.mark.parametrize("clock", [False, True], ids=["continuous", "sampled"])
def test_the_audit_of_a_plant_is_no_part_of_the_linear_system(pd_arm_text, diagram, close, clock):
    text = pd_arm_text
    if clock:
        hold = "  h: {type: ZOH, clock: c, x0: [0, 0, 0, 0, 0, 0, 0]}\n"
        text = text.replace("blocks:\n", "clocks: {c: {T: 0.01}}\nblocks:\n" + hold)
        text = text.replace("ctrl -> plant.taum", "ctrl -> h\n  - h -> plant.taum")
    ports = {"inputs": "plant.taum", "outputs": ["plant.qm", "plant.taum"]}
    plain = sb.linearize(diagram(text), **ports)
    audited = text.replace("type: MULTIBODY,", "type: MULTIBODY, audit: true,")
    watched = sb.linearize(diagram(audited), **ports)
    assert watched.states == plain.states
    for name in ("A", "B", "C", "D", "x", "drift"):
        close(getattr(watched, name), getattr(plain, name), name)


def test_an_output_that_depends_on_an_audit_keeps_its_states(audited_arm_text, diagram):
    names = {}
    for output in ("plant.audit.energy", "plant.audit.work", "states.plant.audit"):
        names[output] = sb.linearize(
            diagram(audited_arm_text), inputs="plant.taum", outputs=output
        ).states
    assert not any("audit" in name for name in names["plant.audit.energy"])
    for output in ("plant.audit.work", "states.plant.audit"):
        assert [n for n in names[output] if "audit" in n] == [f"plant.audit[{k}]" for k in range(7)]


@in_motion
def test_what_is_added_to_a_plants_input_reaches_its_audit_too(audited_arm_text, diagram):
    turning = audited_arm_text.replace("initial: {", "initial: {um: [1, 0, 0, 0, 0, 0, 0], ")
    system = sb.linearize(diagram(turning), inputs="plant.taum", outputs="states.plant.audit")
    # The rate of work by the joints' torques is um.
    np.testing.assert_allclose(
        system.B[system.states.index("plant.audit[0]")], [1, 0, 0, 0, 0, 0, 0], atol=1e-12
    )
