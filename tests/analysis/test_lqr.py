"""`sb.lqr` and `K: {lqr: ...}`: gains of linear quadratic regulators."""

from __future__ import annotations

import subprocess
import sys

import control
import numpy as np
import pytest
from same_results import assert_same_results

import spart_blocks as sb
from spart_blocks import spart
from spart_blocks.base.errors import DiagramError, InputError, SpartWarning
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.program.tracing.gains import designed_gains, wired

ROOT3 = np.sqrt(3.0)

# x'' = u: with Q = R = 1 the gain is [1, sqrt(3)] (Anderson and Moore, sec. 2.3: the roots
# of s^4 - s^2 + 1 in the left half-plane).
CART = """
name: cart
blocks:
  v: {type: INTEGRATOR}
  x: {type: INTEGRATOR, x0: 1.0}
  state: {type: MUX}
  ctrl:
    type: LQR
    K: {lqr: {plant: [x, v], inputs: [v], Q: 1, R: 1}}
wires: [v -> x, x -> state, v -> state, state -> ctrl.x, ctrl -> v]
run: {T: 5, rtol: 1e-10, atol: 1e-12}
"""

SHIP = """
name: ship
robots: {sc: {urdf: MODELS/spacecraft_3dof.urdf, base: floating}}
blocks:
  qd: {type: STEP, T: 0.5, on: [0.5, -0.3, 0.2]}
  ctrl:
    type: LQR
    robot: sc
    K: {lqr: {plant: plant, Q: {qm: 0.1}, R: {taum: 10}, at: {qm: [0.5, -0.3, 0.2]}}}
  plant: {type: MULTIBODY, robot: sc, initial: {qm: [0.1, 0, 0]}}
wires: [qd -> ctrl.qd, plant.qm -> ctrl.qm, plant.um -> ctrl.um, ctrl -> plant.taum]
run: {T: 2}
"""


def gain_in(diagram, block="ctrl"):
    [node] = [node for node in wired(diagram).nodes if node.name == block]
    return node.block.K


# --- closed forms and python-control ---------------------------------------------------------


def test_the_gain_of_a_double_integrator_is_one_and_the_root_of_three(diagram):
    gain = sb.lqr(diagram(CART), ["x", "v"], 1, 1, inputs="v")
    assert pytest.approx(np.array([[1.0, ROOT3]]), rel=1e-12) == gain.K
    assert pytest.approx(np.array([[ROOT3, 1.0], [1.0, ROOT3]]), rel=1e-12) == gain.S
    assert gain.poles == pytest.approx([-ROOT3 / 2 + 0.5j, -ROOT3 / 2 - 0.5j], rel=1e-9)
    assert (gain.states, gain.inputs, gain.T) == (("x", "v"), ("v.0",), None)
    assert gain.point["x"] == [1.0]


def test_a_sampled_gain_is_that_of_the_held_plant(diagram):
    gain = sb.lqr(diagram(CART), ["x", "v"], [1.0, 2.0], 0.1, inputs="v", T=0.2)
    assert pytest.approx(np.array([[1, 0.2], [0, 1]])) == gain.A
    assert pytest.approx(np.array([[0.02], [0.2]])) == gain.B
    K, S, _ = control.dlqr(gain.A, gain.B, np.diag([1.0, 2.0]), 0.1)
    assert pytest.approx(K, rel=1e-9) == gain.K
    assert pytest.approx(S, rel=1e-9) == gain.S
    assert (abs(gain.poles) < 1).all()


def test_a_weight_of_products_is_that_of_python_control(diagram):
    N = np.array([[0.2], [-0.1]])
    gain = sb.lqr(diagram(CART), ["x", "v"], 1, 2, inputs="v", N=N)
    K, S, _ = control.lqr(gain.A, gain.B, np.eye(2), 2, N)
    assert pytest.approx(K, rel=1e-9) == gain.K
    assert pytest.approx(S, rel=1e-9) == gain.S


def test_an_arm_under_gravity_has_its_weight_s_stiffness_and_is_held(held_arm):
    gain = sb.lqr(held_arm, "plant", 1, 1)
    trimmed = sb.trim(held_arm, unknowns=["torque.value"])
    held = trimmed.parameters["torque.value"]
    assert gain.u == pytest.approx(held, abs=1e-9 * abs(held).max())
    names = ["plant.qm", "plant.um"]
    linear = sb.linearize(
        held_arm, inputs="plant.taum", outputs=names, open_at="plant.taum", at=trimmed
    )
    assert gain.states == linear.states
    size = abs(linear.A).max()
    assert pytest.approx(linear.A, abs=1e-9 * size) == gain.A
    assert pytest.approx(linear.B, abs=1e-9 * abs(linear.B).max()) == gain.B
    assert abs(gain.A[7:, :7]).max() > 1  # 1/s^2: what gravity does, and a bare arm has not


def test_a_free_base_is_seen_in_minimal_coordinates(diagram):
    ship = diagram(SHIP)
    at = {"qm": [0.4, -0.3, 0.2], "angles321": [0.5, 0.2, -0.3], "r0": [1.0, 2.0, 3.0]}
    gain = sb.lqr(ship, "plant", 1, 1, inputs=["tau0", "taum"], at=at)
    parts = {"attitude": 3, "r0": 3, "qm": 3, "u0": 6, "um": 3}
    assert gain.states == tuple(f"plant.{p}[{i}]" for p, n in parts.items() for i in range(n))
    want = np.zeros((18, 18))
    want[:9, 9:] = np.eye(9)[[0, 1, 2, 3, 4, 5, 6, 7, 8]]
    assert pytest.approx(want, abs=1e-12) == gain.A
    robot = ship.robots["sc"]
    R0 = spart.Angles321_DCM(np.array(at["angles321"])).T
    H = generalized_inertia(robot, R0, np.array(at["r0"]), np.array(at["qm"]))
    assert pytest.approx(np.linalg.inv(H), abs=1e-12) == gain.B[9:]
    K, _, _ = control.lqr(want, gain.B, np.eye(18), np.eye(9))
    assert pytest.approx(K, abs=1e-9 * abs(K).max()) == gain.K


def generalized_inertia(robot, R0, r0, qm):
    """[[H0, H0m], [H0m', Hm]] of SPART's functions."""
    K = spart.Kinematics(R0, r0, qm, robot)
    Bij, Bi0, P0, pm = spart.DiffKinematics(R0, r0, K.rL, K.e, K.g, robot)
    I0, Im = spart.I_I(R0, K.RL, robot)
    M0, Mm = spart.MCB(I0, Im, Bij, Bi0, robot)
    H0, H0m, Hm = spart.GIM(M0, Mm, Bij, Bi0, P0, pm, robot)
    return np.block([[H0, H0m], [H0m.T, Hm]])


DRIVEN = """
name: driven
robots: {arm: {urdf: MODELS/arm3.urdf, base: fixed, EXTRA}}
blocks:
  rest: {type: CONSTANT, value: [0, 0, 0]}
  weight: {type: GRAVITY, robot: arm}
  plant: {type: MULTIBODY, robot: arm, initial: {qm: [0.1, 0.2, 0.3], um: [0.1, 0, 0]}}
wires: [rest -> plant.taum, weight.wFm -> plant.wFm]
"""


def test_joints_with_friction_are_seen_as_they_slide(diagram):
    """Motors of gear 100 add 100^2 Jm to the inertia and 100^2 B to the damping; the Coulomb
    friction of the second is 5 N m one way and 6 the other."""
    bare = sb.lqr(diagram(DRIVEN.replace(", EXTRA", "")), "plant", 1, 1)
    driven = DRIVEN.replace("EXTRA", "drives: MODELS/arm3_drives.yaml, effects: all")
    gain = sb.lqr(diagram(driven), "plant", 1, 1)
    assert gain.states == bare.states
    added = np.linalg.inv(gain.B[3:]) - np.linalg.inv(bare.B[3:])
    assert added == pytest.approx(np.diag([0.3, 0.3, 0.1]), abs=1e-9)
    damping = -np.linalg.inv(gain.B[3:]) @ gain.A[3:, 3:]
    assert damping == pytest.approx(np.diag([2.0, 2.0, 1.0]), abs=1e-9)
    assert gain.u - bare.u == pytest.approx([0, -0.5, 0], abs=1e-9)


def test_a_prescribed_joint_is_moved_by_no_torque(diagram):
    with pytest.raises(InputError, match=r"plant.*\[1\] does not decay .* no input moves"):
        sb.lqr(diagram(DRIVEN.replace("EXTRA", "kinematic: [j2]")), "plant", 1, 1)


# --- weights and points ----------------------------------------------------------------------


def test_largest_values_by_name_are_bryson_s_rule(diagram):
    ship = diagram(SHIP)
    named = sb.lqr(ship, "plant", {"qm": 0.1, "um.Joint_2": 2.0}, {"taum": [10, 20, 5]})
    plain = sb.lqr(ship, "plant", [100, 100, 100, 0, 0.25, 0], np.diag([0.01, 0.0025, 0.04]))
    assert pytest.approx(plain.K, rel=1e-9, abs=1e-9) == named.K


def test_a_point_may_be_given_in_every_form(diagram):
    ship = diagram(SHIP)
    run = sb.simulate(ship, T=0.001)
    still = {"plant": np.r_[0, 0, 0, 1, 0, 0, 0, 0.5, -0.3, 0.2, np.zeros(9)]}
    entries = {"qm": {"Joint_1": 0.5, "Joint_2": -0.3, "Joint_3": 0.2}}
    joints = [0.5, -0.3, 0.2, 0, 0, 0]
    gains = [
        sb.lqr(ship, "plant", 1, 1, at=at).K
        for at in (entries, {"plant": entries}, still, still["plant"], joints, {"plant": joints})
    ]
    assert all(np.array_equal(K, gains[0]) for K in gains)
    trimmed = sb.trim(ship, unknowns="plant.um", steady=False, conditions={"plant.um": [0, 0, 0]})
    assert np.array_equal(sb.lqr(ship, "plant", 1, 1, at=trimmed).K, sb.lqr(ship, "plant", 1, 1).K)
    with pytest.warns(SpartWarning, match=r"counts as at rest, though plant.qm\[0\] keeps the"):
        sb.lqr(ship, "plant", 1, 1, at={"um": [3e-6, 0, 0]})
    with pytest.raises(InputError, match="cannot rest here"):
        sb.lqr(ship, "plant", 1, 1, at={"um": [1, 0, 0]})
    assert np.isfinite(sb.lqr(ship, "plant", 1, 1, at=run.final_state).K).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"plant": "plan"}, "plant: no block 'plan' with a continuous state\n.*'plant'"),
        ({"plant": "ctrl"}, "no block 'ctrl' with a continuous state"),
        ({"inputs": "plant.tau"}, r"inputs: there is no input 'plant.tau'.*\n.*'plant.taum'"),
        ({"inputs": ["taum", "plant.taum"]}, "plant.taum is given twice"),
        ({"Q": -1}, r"Q is not positive semidefinite: along .* it is -1"),
        ({"Q": [1, 2]}, r"Q has shape \(2,\), takes \(6, 6\)\n.*plant.qm\[0\], .*plant.um\[2\]"),
        ({"Q": {"qn": 1}}, "Q: there is no 'qn'\n.*qm"),
        ({"Q": {"qm": 0}}, "Q: the largest qm must be positive, not 0"),
        ({"Q": {"qm": [1, 2]}}, r"Q: qm takes a number, or 3, not \[1, 2\]"),
        ({"Q": "heavy"}, "Q must be numbers, not 'heavy'"),
        ({"Q": np.triu(np.ones((6, 6)))}, "Q is not symmetric"),
        ({"Q": float("nan")}, "Q holds a number that is not finite"),
        ({"Q": {"um": 1}}, r"a mode of plant.qm.* costs nothing\n  give them a weight in Q"),
        ({"R": 0}, r"R is not positive definite: along plant.taum\[\d\] it is 0"),
        ({"R": {}}, "R is not positive definite"),
        ({"N": 5 * np.ones((6, 3))}, "N is too large"),
        ({"N": [1.0]}, r"N has shape \(1,\), takes finite numbers \(6, 3\)"),
        ({"Q": 1e200}, "Q holds a number that is larger than 1e"),
        ({"T": 1e300}, "T is too long"),
        ({"T": 0}, "T is 0; it must be a positive number of seconds"),
        ({"at": [1, 2]}, r"takes 19 finite numbers, got \(2,\); \[qm, um\] has 6"),
        ({"at": {"qn": [0]}}, "initial has no entry 'qn'"),
        ({"at": {"um": [0, 0, 1]}}, r"whatever the inputs, plant.qm\[2\] keeps the rate 1"),
    ],
)
def test_what_is_wrong_is_told(diagram, given, message):
    arguments = {"plant": "plant", "Q": 1, "R": 1, **given}
    with pytest.raises(InputError, match=message):
        sb.lqr(diagram(SHIP), **arguments)


def test_a_mode_that_no_input_moves_is_named(diagram):
    free = diagram(CART.replace("{lqr: {plant: [x, v], inputs: [v], Q: 1, R: 1}}", "[[0, 0]]"))
    with pytest.raises(InputError, match="a mode of v does not decay by itself and no input moves"):
        sb.lqr(free, ["x", "v"], 1, 1, inputs="x")


def test_a_base_that_acts_back_on_joints_alone_is_told(diagram):
    text = SHIP.replace("wires: [", "wires: [plant.u0 -> drag, drag -> plant.wF0, ").replace(
        "  plant:", "  drag: {type: GAIN, K: -20.0}\n  plant:"
    )
    with pytest.warns(SpartWarning, match="the base of plant acts back on its joints"):
        sb.lqr(diagram(text), "plant", 1, 1)


# --- in a diagram ----------------------------------------------------------------------------


def test_a_run_finds_the_gain_of_its_file_and_loading_does_not(diagram):
    loaded = diagram(SHIP)
    [block] = [b for b in loaded.bd.blocklist if b.name == "ctrl"]
    assert block.K is None
    program = sb.trace(loaded)
    want = sb.lqr(loaded, "plant", {"qm": 0.1}, {"taum": 10}, at={"qm": [0.5, -0.3, 0.2]})
    slots = {slot.name: slot for slot in program.parameters}
    assert slots["ctrl.K"].shape == (3, 6)
    assert np.array_equal(program.p[slots["ctrl.K"].part], want.K.ravel())
    assert np.array_equal(designed_gains(loaded)["ctrl"].K, want.K)


def test_loading_needs_no_casadi(tmp_path):
    file = tmp_path / "cart.yaml"
    file.write_text(CART, encoding="utf-8")
    code = f"import sys, spart_blocks as sb; sb.load({str(file)!r}); print('casadi' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize("text", [CART, SHIP], ids=["cart", "ship"])
def test_both_engines_run_with_the_same_gain(diagram, text):
    tight = {"rtol": 1e-12, "atol": 1e-14, "T": 0.2, "every": 4e-4}
    runs = [sb.simulate(diagram(text), engine=e, **tight) for e in ("native", "interpreter")]
    assert_same_results(*runs, rel=1e-9)


def test_a_number_is_controlled_by_a_number(diagram):
    cart = diagram(CART)
    results = sb.simulate(cart)
    # x'' + sqrt(3) x' + x = 0 from x = 1 at rest.
    decay = np.exp(-ROOT3 / 2 * results.t)
    want = decay * (np.cos(results.t / 2) + ROOT3 * np.sin(results.t / 2))
    assert np.abs(np.ravel(results.states["x"]) - want).max() < 1e-8
    assert gain_in(cart).shape == (2,)


def test_a_sampled_loop_moves_as_its_poles_say(diagram):
    text = CART.replace("Q: 1, R: 1", "Q: 1, R: 1, T: 0.25").replace(
        "wires: [v -> x, x -> state, v -> state, state -> ctrl.x, ctrl -> v]",
        "wires: [v -> x, x -> state, v -> state, state -> ctrl.x, ctrl -> held, held -> v]",
    )
    text = text.replace("blocks:", "clocks: {computer: {T: 0.25}}\nblocks:").replace(
        "  state:", "  held: {type: ZOH, clock: computer}\n  state:"
    )
    sampled = diagram(text)
    gain = designed_gains(sampled)["ctrl"]
    results = sb.simulate(sampled, T=2.0, every=0.25)
    x = np.column_stack([np.ravel(results.states[name]) for name in ("x", "v")])
    ticks = np.searchsorted(results.t, 0.25 * np.arange(9))
    # The ZOH takes at each tick what it sees there, so that it holds -K x from then on.
    loop = gain.A - gain.B @ gain.K
    want = np.array([np.linalg.matrix_power(loop, k) @ [1, 0] for k in range(9)])
    assert np.abs(x[ticks] - want).max() < 1e-9


def test_the_program_of_a_controller_alone_has_the_gain(diagram):
    part = subdiagram_of(diagram(SHIP), ["ctrl"])
    slots = {slot.name: slot for slot in part.parameters}
    assert np.isfinite(part.program.p[slots["ctrl.K"].part]).all()
    assert [slot.name for slot in part.outputs] == ["ctrl.tau"]


def test_weights_can_be_set_from_outside(tmp_path):
    (tmp_path / "cart.yaml").write_text(CART, encoding="utf-8")
    heavy = sb.load(tmp_path / "cart.yaml", overrides=["blocks.ctrl.K.lqr.R=16"])
    # x'' = u with R = r: K = [r^-1/2, (2 r^-1/2 + 1/r)^1/2].
    assert gain_in(heavy) == pytest.approx([1 / 4, np.sqrt(1 / 2 + 1 / 16)], rel=1e-9)


def test_a_controller_in_a_subsystem_finds_the_plant_around_it(diagram):
    text = """
name: nested
robots: {sc: {urdf: MODELS/spacecraft_3dof.urdf, base: floating}}
subsystems:
  Control:
    inputs: [qm, um]
    outputs: [tau]
    blocks: {law: {type: LQR, robot: sc, K: {lqr: {plant: plant, Q: 1, R: 1}}}}
    wires: [in.qm -> law.qm, in.um -> law.um, law -> out.tau]
blocks:
  ctrl: {type: Control}
  plant: {type: MULTIBODY, robot: sc}
wires: [plant.qm -> ctrl.qm, plant.um -> ctrl.um, ctrl -> plant.taum]
"""
    nested = diagram(text)
    want = sb.lqr(nested, "plant", 1, 1)
    assert np.array_equal(gain_in(nested, "ctrl/law"), want.K)


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ("Q: {qm: 0.1}", "Q: {qn: 0.1}", "9:32", r"ctrl \(LQR\): Q: there is no 'qn'"),
        ("R: {taum: 10}", "R: -1", "9:46", "R is not positive definite"),
        ("{plant: plant", "{plant: plan", "9:22", "plant: no block 'plan'"),
        ("at: {qm: [0.5, -0.3, 0.2]}", "at: {um: [0, 0, 1]}", "9:62", "at: the plant cannot rest"),
    ],
)
def test_a_gain_that_cannot_be_found_is_told_with_its_place(diagram, old, new, where, message):
    assert old in SHIP
    wrong = diagram(SHIP.replace(old, new))
    for use in (sb.trace, sb.simulate, subdiagram_of):
        with pytest.raises(DiagramError, match=rf"diagram.yaml:{where}: .*{message}"):
            use(wrong)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Q: {qm: 0.1}", "QQ: 1, Q: 1", r"9:33.*K.lqr.QQ is no entry of a design\n.*Q"),
        ("Q: {qm: 0.1}, ", "", "K.lqr needs Q"),
        ("R: {taum: 10}", "R: 1, T: -1", "9:52.*K.lqr.T is -1; it must be a positive"),
        ("{lqr: {plant", "{lqg: {plant", "K takes numbers, or {lqr:"),
        ("plant: plant,", "plant: 3,", "K.lqr.plant takes names, not 3"),
    ],
)
def test_a_wrong_design_is_told_when_it_is_loaded(diagram, old, new, message):
    with pytest.raises(DiagramError, match=message):
        diagram(SHIP.replace(old, new))


def test_two_gains_that_need_each_other_are_refused(diagram):
    text = SHIP.replace("  plant: {", "  base: {type: LQR, robot: sc, controls: [tau0, taum], "
                        "K: {lqr: {plant: plant, Q: 1, R: 1, inputs: [tau0, wF0, taum]}}}\n"
                        "  plant: {")  # fmt: skip
    text = text.replace("wires: [", "wires: [plant.R0 -> base.R0, plant.r0 -> base.r0, "
                        "plant.qm -> base.qm, plant.u0 -> base.u0, plant.um -> base.um, "
                        "base.tau0 -> plant.tau0, ")  # fmt: skip
    with pytest.raises(DiagramError, match="depends on base, whose gain is to be found as well"):
        wired(diagram(text))


def test_a_regulator_may_take_the_place_of_another_controller(diagram):
    text = SHIP.replace("  ctrl:\n    type: LQR\n    robot: sc\n    K: ", "  ").replace(
        "blocks:", "params: {K: GAIN}\nblocks:"
    )
    design = text[text.index("{lqr") : text.index("\n  plant:")]
    text = text.replace(f"  {design}\n", "").replace("GAIN", design)
    text = text.replace(
        "blocks:",
        "variants:\n  ctrl:\n    default: lqr\n    choices:\n"
        "      pd: {type: JOINT_PD, kp: 40, kd: 20}\n"
        "      lqr: {type: LQR, robot: sc, K: $K}\nblocks:",
    )
    assert np.array_equal(gain_in(diagram(text)), gain_in(diagram(SHIP)))


def test_the_point_of_several_blocks_is_one_vector_or_by_name():
    bd = sb.new_diagram("cart")
    v, x = bd.INTEGRATOR(name="v"), bd.INTEGRATOR(name="x")
    speed = bd.FUNCTION(lambda v: v + v**2, name="speed")
    for one, other in ((bd.CONSTANT(0.0), v), (v, speed), (speed, x), (x, bd.NULL())):
        bd.connect(one, other)
    gains = [
        sb.lqr(bd, ["x", "v"], 1, 1, inputs=["v"], at=at)
        for at in ([2.0, 0.0], {"x": 2.0, "v": 0.0}, np.array([2.0, 0.0]))
    ]
    for gain in gains:
        assert np.allclose(gain.K, [[1, np.sqrt(3)]])  # of x'' = u
    for at in ([2.0], 2.0, {"z": 1.0}, [2.0, "a"]):
        with pytest.raises(InputError, match="at: "):
            sb.lqr(bd, ["x", "v"], 1, 1, inputs=["v"], at=at)


def test_a_point_without_rest_is_answered_by_the_names_of_the_states(diagram):
    cart = diagram("""
blocks: {v: {type: INTEGRATOR}, x: {type: INTEGRATOR}, f: {type: CONSTANT, value: 0}}
wires: [f -> v, v -> x]
""")
    with pytest.raises(InputError, match=r"x keeps the rate 1\n .*at: \{x: 0, v: 0\}"):
        sb.lqr(cart, ["x", "v"], 1, 1, inputs=["v"], at={"v": 1.0})
