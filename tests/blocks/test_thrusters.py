"""Thrusters, their allocation and modulators: against SciPy and closed forms, on every engine."""

from __future__ import annotations

import json

import dynamic_blocks
import numpy as np
import pytest
from scipy.optimize import nnls

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.base.spatial import quaternion_rotation
from spart_blocks.dynamics.semidefinite import nonnegative_least_squares

# Twelve thrusters at the corners of a box, three pairs about each axis.
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-0.8, 0.8) for z in (-0.6, 0.6)])
POSITIONS = np.concatenate([CORNERS, CORNERS[[0, 3, 5, 6]]])
SKEW = np.array([[-x, -0.3 * y, 0.2 * z] for x, y, z in np.sign(CORNERS)])
DIRECTIONS = np.concatenate([SKEW, [[0, 1, 1], [0, -1, -1], [0, 1, -1], [0, -1, 1]]])
BOX = {"positions": POSITIONS, "directions": DIRECTIONS}
PAIR = {"positions": [[0, 1, 0], [0, -1, 0]], "directions": [[1, 0, 0], [1, 0, 0]]}
R0 = quaternion_rotation(np.array([0.1, -0.2, 0.3, np.sqrt(1 - 0.14)]))


def wrenches(positions, directions):
    along = np.array(directions, float)
    along /= np.linalg.norm(along, axis=1)[:, None]
    return np.concatenate([np.cross(positions, along), along], axis=1).T


# --- allocation ------------------------------------------------------------------------------


@pytest.mark.parametrize(("m", "n"), [(1, 1), (3, 4), (6, 8), (6, 12), (6, 24)])
def test_nonnegative_least_squares_is_scipy_s(m, n):
    rng = np.random.default_rng(m + n)
    for _ in range(50):
        B, w = rng.normal(size=(m, n)), rng.normal(size=m)
        f = nonnegative_least_squares(B, w, 40)
        assert f.min() >= 0
        assert np.linalg.norm(B @ f - w) == pytest.approx(nnls(B, w)[1], abs=1e-6)


def test_no_thrust_for_no_torque_and_none_that_points_away():
    B = np.array([[1.0, 2.0]])
    assert (nonnegative_least_squares(B, np.zeros(1), 5) == 0).all()
    assert (nonnegative_least_squares(B, np.array([-3.0]), 5) == 0).all()


def test_every_torque_and_force_is_given_by_nonnegative_thrusts():
    block = dynamic_blocks.made("THRUSTER_ALLOCATION", None, **BOX)
    B, rng = wrenches(**BOX), np.random.default_rng(0)
    for _ in range(20):
        tau0 = rng.normal(size=6)
        f, missing = block.output(0.0, [tau0, R0], None)
        want, rest = nnls(B, np.concatenate([tau0[:3], R0.T @ tau0[3:]]))
        assert f.min() >= 0
        np.testing.assert_allclose(f, want, atol=1e-6)
        assert np.linalg.norm(missing) == pytest.approx(rest, abs=1e-7)


def test_a_table_gives_what_its_components_ask_for():
    block = dynamic_blocks.made(
        "THRUSTER_ALLOCATION", None, **BOX, method="table", components="wx wy wz"
    )
    tau0 = np.array([0.3, -0.5, 0.2, 0, 0, 0])
    f, missing = block.output(0.0, [tau0, np.zeros((3, 3))], None)
    assert f.min() >= 0
    np.testing.assert_allclose(missing[:3], 0, atol=1e-12)
    given = {**PAIR, "components": "wz", "method": "table", "table": [[0, 2.0], [3.0, 0]]}
    own = dynamic_blocks.made("THRUSTER_ALLOCATION", None, **given)
    for torque, want in ((0.5, [0, 1.0]), (-0.5, [1.5, 0])):
        f, _ = own.output(0.0, [np.array([0, 0, torque, 0, 0, 0]), np.eye(3)], None)
        np.testing.assert_allclose(f, want)


def test_a_limit_keeps_the_direction_of_the_torque():
    block = dynamic_blocks.made("THRUSTER_ALLOCATION", None, **BOX, limit=0.05)
    tau0 = np.array([0.3, -0.5, 0.2, 0, 0.1, 0])
    f, missing = block.output(0.0, [tau0, np.eye(3)], None)
    assert f.max() == pytest.approx(0.05)
    np.testing.assert_allclose(np.cross((tau0 - missing)[:3], tau0[:3]), 0, atol=1e-8)


# --- pulses ----------------------------------------------------------------------------------

ENGINES = ("native", "interpreter")


def runs(folder, blocks, wires, T, engine="native", clock=0.5, **options):
    run = {"T": T, "rtol": 1e-10, "atol": 1e-12}
    text = {"clocks": {"c": {"T": clock}}, "blocks": blocks, "wires": wires, "run": run}
    (folder / "it.yaml").write_text(json.dumps(text))
    return sb.simulate(folder / "it.yaml", engine=engine, **options)


@pytest.mark.parametrize("engine", ENGINES)
def test_pulses_have_the_width_asked_for(tmp_path, engine):
    blocks = {
        "u": {"type": "CONSTANT", "value": [0.3, -1.0, 2.0, 0.05]},
        "pulses": {"type": "PULSE_WIDTH", "clock": "c", "full": 1.5, "min_on": 0.05, "width": 4},
        "sum": {"type": "INTEGRATOR", "x0": [0, 0, 0, 0]},
    }
    results = runs(tmp_path, blocks, ["u -> pulses", "pulses -> sum"], 5.0, engine)
    np.testing.assert_allclose(results["sum"][-1], [1.0, 0.0, 5.0, 0.0], atol=1e-9)


def test_what_is_carried_over_keeps_the_mean(tmp_path):
    blocks = {
        "u": {"type": "CONSTANT", "value": 0.07},
        "pulses": {"type": "PULSE_WIDTH", "clock": "c", "min_on": 0.1, "carry": True},
        "sum": {"type": "INTEGRATOR"},
    }
    results = runs(tmp_path, blocks, ["u -> pulses", "pulses -> sum"], 60.0)
    # A pulse of 0.105 s at each third tick.
    assert results["sum"][-1] == pytest.approx(0.07 * 60, abs=1e-5)


@pytest.mark.parametrize("u", [0.2, 0.45, -0.7, 0.9])
def test_a_pwpf_has_its_static_curve(tmp_path, u):
    gain, tau, on, off, U = 4.5, 0.3, 0.8, 0.3, 1.0
    blocks = {
        "u": {"type": "CONSTANT", "value": u},
        "m": {"type": "PWPF", "gain": gain, "tau": tau, "on": on, "off": off},
    }
    found = runs(tmp_path, blocks, ["u -> m"], 12.0, log=["m"])
    times = [event.t for event in found.events]
    v = abs(u)
    pulse = tau * np.log((on + gain * (U - v)) / (off + gain * (U - v)))
    gap = tau * np.log((gain * v - off) / (gain * v - on))
    assert times[0] == pytest.approx(-tau * np.log(1 - on / (gain * v)), abs=1e-8)
    np.testing.assert_allclose(np.diff(times)[:4], [pulse, gap, pulse, gap], atol=1e-8)
    assert found["m"][np.searchsorted(found.t, times[0] + 1e-6)] == np.sign(u)


@pytest.mark.parametrize(("u", "y"), [(0.17, 0.0), (1.08, 1.0), (-1.08, -1.0)])
def test_a_pwpf_has_a_dead_zone_and_saturates(tmp_path, u, y):
    blocks = {
        "u": {"type": "CONSTANT", "value": u},
        "m": {"type": "PWPF", "gain": 4.5, "tau": 0.3, "on": 0.8, "off": 0.3},
    }
    assert runs(tmp_path, blocks, ["u -> m"], 9.0, log=["m"])["m"][-1] == y


# --- valves ----------------------------------------------------------------------------------

VALVES = {"type": "THRUSTERS", **PAIR, "thrust": [2.0, 3.0]}


def commanded(folder, steps, T=2.0, engine="native", **given):
    """Impulse and events of the first of two thrusters that steps (t, command) drive."""
    blocks = {
        "u": {"type": "PIECEWISE", "seq": steps},
        "both": {"type": "FCN", "expression": ["u", "0"]},
        "R0": {"type": "CONSTANT", "value": np.eye(3).tolist()},
        "valves": {**VALVES, **given},
    }
    wires = ["u -> both", "both -> valves.on", "R0 -> valves.R0"]
    results = runs(folder, blocks, wires, T, engine, log=["valves.thrusts", "valves.impulse"])
    times = [event.t for event in results.events if event.block == "valves"]
    return results, times


@pytest.mark.parametrize("engine", ENGINES)
def test_a_valve_opens_and_closes_after_its_delays(tmp_path, engine):
    steps = [[0, 0], [0.5, 1], [1.0, 0]]
    given = {"on_delay": 0.1, "off_delay": 0.03}
    results, times = commanded(tmp_path, steps, engine=engine, **given)
    np.testing.assert_allclose(times, [0.5, 0.6, 1.0, 1.03], atol=1e-8)
    assert results["valves.impulse"][-1] == pytest.approx(2 * 0.43, abs=1e-7)


@pytest.mark.parametrize(
    ("steps", "given", "seconds"),
    [
        ([[0, 0], [0.5, 1], [0.55, 0]], {"on_delay": 0.1}, 0.0),  # too short to open
        ([[0, 0], [0.5, 1], [0.55, 0]], {"min_on": 0.2}, 0.2),  # the shortest pulse
        ([[0, 0], [0.5, 1], [0.55, 0], [0.6, 1], [1, 0]], {"min_on": 0.2}, 0.5),
        ([[0, 0], [0.5, 1], [0.9, 0], [0.92, 1]], {"off_delay": 0.05}, 1.5),  # not closed
        ([[0, 0], [0.5, 1], [1, 0]], {"rise": 0.05}, 0.5),  # what is missing comes after
        ([[0, 1]], {}, 2.0),
    ],
)
def test_a_command_gives_its_impulse(tmp_path, steps, given, seconds):
    results, _ = commanded(tmp_path, steps, **given)
    assert results["valves.impulse"][-1] == pytest.approx(2 * seconds, abs=1e-6)


def test_thrusters_give_torque_in_base_axes_and_force_inertial():
    block = dynamic_blocks.made("THRUSTERS", None, **BOX, thrust=2.0)
    n = len(POSITIONS)
    state = np.zeros(4 * n + 1)
    state[[1, 4]] = 1.0
    tau0, thrust, _ = block.output(0.0, [np.zeros(n), R0], state)
    w = wrenches(**BOX) @ thrust
    assert thrust.sum() == 4.0
    np.testing.assert_allclose(tau0, np.concatenate([w[:3], R0 @ w[3:]]), atol=1e-14)


@pytest.mark.parametrize("delay", [0.0, 0.02])
def test_a_relay_and_thrusters_have_their_limit_cycle(tmp_path, delay):
    """x'' = a or -a, against s = x + k x', which a relay with the gap h on either side switches
    and the valves follow after a delay d: from one switch at x = 0 to the next it takes 2 v / a,
    with v = (h + a d^2 / 2) / (k - d) + a d, and x reaches v^2 / 2 a."""
    h, k, a = 0.01, 0.8, 0.5
    blocks = {
        "s": {"type": "FCN", "expression": "x + 0.8*v", "arguments": ["x", "v"]},
        "relay": {"type": "RELAY", "on": h, "off": -h, "initial": "auto"},
        "on": {"type": "FCN", "expression": ["1 - u", "u"]},
        "R0": {"type": "CONSTANT", "value": np.eye(3).tolist()},
        "valves": {**VALVES, "thrust": a, "on_delay": delay, "off_delay": delay,
                   "positions": [[0, -1, 0], [0, 1, 0]]},
        "v": {"type": "INTEGRATOR", "x0": 0.02},
        "x": {"type": "INTEGRATOR", "x0": 0.0},
    }  # fmt: skip
    wires = ["s -> relay", "relay -> on", "on -> valves.on", "R0 -> valves.R0",
             "valves.tau0[2] -> v", "v -> x, s.v", "x -> s.x"]  # fmt: skip
    results = runs(tmp_path, blocks, wires, 12.0, log=["x"])
    v = (h + a * delay**2 / 2) / (k - delay) + a * delay
    late = [event.t for event in results.events if event.block == "relay" and event.t > 9]
    np.testing.assert_allclose(np.diff(late), 2 * v / a, rtol=1e-5)
    within = results["x"][results.t > 9]
    assert np.abs(within).max() == pytest.approx(v**2 / (2 * a), rel=1e-3)


# --- every engine, and what is wrong ------------------------------------------------------------

CASES = [
    ("THRUSTER_ALLOCATION", {**PAIR, "components": "wz", "limit": 0.4}, [6, (3, 3)]),
    ("THRUSTER_ALLOCATION", {**PAIR, "method": "table", "components": "wz"}, [6, (3, 3)]),
    ("THRUSTERS", {**PAIR, "thrust": 2.0, "on_delay": 0.06, "off_delay": 0.1, "rise": 0.1},
     [2, (3, 3)]),
    ("PWPF", {"gain": 4.5, "tau": 0.3, "on": 0.8, "off": 0.3, "width": 2}, [2]),
    ("PULSE_WIDTH", {"min_on": 0.01, "carry": True, "width": 2, "full": 2.0}, [2]),
]  # fmt: skip


def family(folder):
    """All of them in one diagram; the matrix R0 is constant."""
    plain = [(kind, given, [w for w in widths if w != (3, 3)]) for kind, given, widths in CASES]
    text = json.loads(dynamic_blocks.diagram_of(plain))
    text["blocks"]["R0"] = {"type": "CONSTANT", "value": R0.tolist()}
    for k, (_, _, widths) in enumerate(CASES):
        if (3, 3) in widths:
            text["wires"].append(f"R0 -> b{k}.R0")
    text["run"] |= {"T": 1, "rtol": 1e-7, "atol": 1e-9}
    (folder / "cases.yaml").write_text(json.dumps(text))
    return folder / "cases.yaml"


def test_both_engines_give_the_same(tmp_path):
    diagram = sb.load(family(tmp_path))
    native, blocks = (sb.simulate(diagram, engine=engine) for engine in ENGINES)
    for name in ("b0.thrusts", "b1.thrusts", "b2.tau0[2]", "b3", "b4"):
        if name in native.signals:
            assert np.ptp(native[name], axis=0).max() > 0.1, name
    dynamic_blocks.assert_same_results(native, blocks, rel=1e-5)


def test_exported_c_and_an_fmu_give_the_program_s_numbers(tmp_path):
    part = dynamic_blocks.subdiagram_of(family(tmp_path), [])
    dynamic_blocks.check_exports(part, tmp_path)


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("THRUSTERS", {"positions": [[0, 1]]}, "rows of three numbers"),
        ("THRUSTERS", {"directions": [[0, 0, 0], [1, 0, 0]]}, "row 0 is zero"),
        ("THRUSTERS", {"directions": [[1, 0, 0]]}, "2 rows and directions has 1"),
        ("THRUSTERS", {"thrust": [1, 2, 3]}, "one for each of 2"),
        ("THRUSTERS", {"min_on": -1.0}, "min_on must not be negative"),
        ("THRUSTERS", {"rise": -1.0}, "rise must not be negative"),
        ("THRUSTER_ALLOCATION", {"method": "nls"}, "did you mean 'nnls'"),
        ("THRUSTER_ALLOCATION", {"method": "table"}, "cannot give \\+wx alone"),
        ("THRUSTER_ALLOCATION", {"table": [[1.0]]}, "give method: table"),
        ("THRUSTER_ALLOCATION", {"method": "table", "components": "wz", "table": [[1.0]]},
         "table has shape"),
        ("THRUSTER_ALLOCATION", {"components": "wa"}, "no component 'wa'"),
        ("THRUSTER_ALLOCATION", {"limit": 0.0}, "limit must be above zero"),
        ("PWPF", {"gain": 1, "tau": 1, "on": 0.5, "off": 0.5}, "off must be below on"),
        ("PWPF", {"gain": 1, "tau": 0, "on": 0.5, "off": 0.1}, "tau must be above zero"),
    ],
)  # fmt: skip
def test_wrong_parameters_are_told(kind, given, told):
    given = {**PAIR, "thrust": 1.0, **given} if kind == "THRUSTERS" else given
    given = {**PAIR, **given} if kind == "THRUSTER_ALLOCATION" else given
    with pytest.raises((ValueError, InputError)) as caught:
        dynamic_blocks.made(kind, None, **given)
    assert told.replace("\\", "") in str(caught.value)
