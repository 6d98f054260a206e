"""Motions are designed for what measurements of them tell of parameters."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb

MODELS = Path(__file__).parents[2] / "models"
DIAGRAMS = Path(__file__).parents[2] / "diagrams" / "optimal"
TRAVEL = """
name: travel
params: {theta: 2.0}
blocks:
  u: {type: CONSTANT, value: 0}
  x: {type: INTEGRATOR, x0: 0}
  y: {type: GAIN, K: $theta}
wires: [u -> x, x -> y]
run: {T: 2}
optimize:
  maximize: information
  controls: {u: [-1, 1]}
  information: {parameters: [theta], signals: {y: 0.1}, rate: 50}
  mesh: {refinements: 0, tolerance: 1e-3}
"""
LINE = """
name: line
params: {a: 1.0, b: 1.0}
blocks:
  u: {type: CONSTANT, value: 0.3}
  offset: {type: CONSTANT, value: $a}
  slope: {type: GAIN, K: $b}
  y: {type: SUM, signs: "++"}
  x: {type: INTEGRATOR}
wires: [u -> slope, offset -> y.0, slope -> y.1, u -> x]
run: {T: 2}
optimize:
  maximize: information
  controls: {u: [-1, 1]}
  information: {parameters: [a, b], signals: {y: 0.1}, rate: 50}
  mesh: {refinements: 0, tolerance: 0.5}
"""
LAG = """
name: lag
params: {a: 1.5, b: 0.8}
blocks:
  u: {type: CONSTANT, value: 0}
  plant: {type: HYBRID_SYSTEM, states: [x], arguments: [u], params: {a: $a, b: $b},
          f: [-a*x + b*u], x0: [0.5]}
wires: [u -> plant.u]
run: {T: 2}
optimize:
  maximize: information
  controls: {u: [-1, 1]}
  information: {parameters: [a, b], signals: {plant.x: 0.01}, rate: 200}
  mesh: {refinements: 0, tolerance: 0.1}
"""


@pytest.fixture
def travel(tmp_path):
    return _file(tmp_path, "travel", TRAVEL)


@pytest.fixture
def lag(tmp_path):
    return _file(tmp_path, "lag", LAG)


def _file(folder, name, text):
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_slope_is_told_best_by_going_as_far_as_one_can(travel):
    """With y = theta x and |x'| <= 1 the information is rate/sd**2 T**3/3."""
    found = sb.optimize(travel)
    information = 50 / 0.1**2 * 2**3 / 3
    assert found.ended
    assert found.expected.names == ("theta",)
    assert found.expected.errors[0] == pytest.approx(information**-0.5, rel=1e-4)
    assert found.objective == pytest.approx(np.log(information * 2.0**2), rel=1e-5)
    assert abs(found["u"]).min() > 0.95


def test_a_line_is_told_best_at_both_ends(tmp_path):
    """Of a + b u with |u| <= 1 half of the samples are at 1 and half at -1, and M = rate T/sd**2 I:
    V. Fedorov, "Theory of Optimal Experiments", 1972."""
    found = sb.optimize(_file(tmp_path, "line", LINE))
    each = 50 * 2 / 0.1**2
    assert found.objective == pytest.approx(2 * np.log(each), rel=1e-3)
    assert (found.expected.errors > (1 - 1e-6) * each**-0.5).all()
    np.testing.assert_allclose(found.expected.errors, each**-0.5, rtol=0.1)


def test_the_shortest_run_that_tells_enough_is_found(travel):
    """Information 100 of theta relative to its size takes the third root of 300 sd**2/(rate
    theta**2)."""
    changes = {"constraints": {"information": {"min": np.log(100)}}, "T": [0.01, 2]}
    travel.write_text(TRAVEL.replace("maximize: information", "minimize: duration"))
    found = sb.optimize(travel, **changes)
    assert pytest.approx((300 * 0.1**2 / (50 * 2.0**2)) ** (1 / 3), rel=1e-3) == found.T


def test_an_initial_state_is_told_by_how_it_decays(lag):
    """x0 exp(-a t) is told by rate/sd**2 (1 - exp(-2 a T))/(2 a), whatever the control does."""
    told = {"parameters": ["plant.x0"], "signals": {"plant.x": 0.01}, "rate": 200}
    found = sb.optimize(lag, information=told)
    information = 200 / 0.01**2 * (1 - np.exp(-2 * 1.5 * 2)) / (2 * 1.5)
    assert found.expected.errors[0] == pytest.approx(information**-0.5, rel=1e-4)


def test_expected_errors_are_those_of_a_fit_to_the_motion(lag, tmp_path):
    """The states depend on what is estimated: their sensitivities are followed."""
    found = sb.optimize(lag)
    again = found.rerun.results[0]
    t = np.arange(0.0, 2.0, 1 / 200)
    noise = 0.01 * np.random.default_rng(1).normal(size=len(t))
    x = np.interp(t, again.t, np.ravel(again["plant.x"])) + noise
    data = tmp_path / "run.csv"
    np.savetxt(data, np.column_stack([t, x]), delimiter=",", header="t,x", comments="")
    found.write(lag)
    signals = {"plant.x": {"column": "x", "sd": 0.01}}
    fitted = sb.fit(
        lag, {"a": [0.1, 9], "b": [0.1, 9]}, {"run": {"file": str(data), "signals": signals}}
    )
    errors = fitted.statistics.errors / fitted.statistics.scale
    np.testing.assert_allclose(found.expected.errors, errors, rtol=0.03)
    assert max(abs(np.array([fitted["a"] - 1.5, fitted["b"] - 0.8])) / errors) < 4


def test_a_search_goes_on_from_an_earlier_optimum(lag, tmp_path):
    found = sb.optimize(lag)
    kept = found.save(tmp_path / "optimum.json")
    again = sb.optimize(lag, start=kept)
    assert again.search.solved.steps < found.search.solved.steps
    assert again.objective == pytest.approx(found.objective, rel=1e-3)


def test_what_is_expected_is_in_table_file_and_report(travel, tmp_path):
    found = sb.optimize(travel)
    assert "expected error" in str(found)
    content = json.loads(found.save(tmp_path / "optimum.json").read_text())
    (theta,) = content["information"]["parameters"]
    assert theta == {
        "name": "theta",
        "value": 2.0,
        "error": pytest.approx(found.expected.errors[0]),
    }
    assert "Expected errors" in found.report(tmp_path / "optimum.html").read_text()


def test_gains_are_of_the_states_of_the_diagram_alone(lag):
    assert sb.optimize(lag).gains().K.shape[2] == 1


WRONG = {
    "unknown signal": ("signals: {y: 0.1}", "signals: {z: 0.1}", r":13:\d+: .*no signal 'z'"),
    "unknown parameter": ("[theta]", "[eta]", r":13:\d+: .*there is nothing named 'eta'"),
    "control": ("[theta]", "[u]", "u.* are one number"),
    "no effect": ("signals: {y: 0.1}", "signals: {y: 0.1, x: 1}", r":13:\d+: .*x depends on none"),
    "no noise": ("signals: {y: 0.1}", "signals: {y: 0}", "above zero"),
    "wide noise": ("signals: {y: 0.1}", "signals: {y: [1, 2]}", "y has 1 elements, and 2 standard"),
    "product": ("[theta]", "[theta, x.gain]", r":13:\d+: .*not identifiable.*theta [+-]0.71"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_told_is_refused_with_its_place(travel, name):
    before, after, text = WRONG[name]
    assert before in TRAVEL
    travel.write_text(TRAVEL.replace(before, after), encoding="utf-8")
    with pytest.raises(sb.InputError, match=text):
        sb.optimize(travel)


def test_information_needs_its_section(cart):
    with pytest.raises(sb.InputError, match="say of what: information: "):
        sb.optimize(cart, minimize="information")


FITTED = """
name: fitted
robots:
  arm: {urdf: URDF}
blocks:
  motion: {type: DATA, file: motion.npz, signals: [q, qd, qdd]}
  weight: {type: GRAVITY, robot: arm}
  motors: {type: INVERSE_DYNAMICS, robot: arm}
wires:
  - motion.q -> motors.qm
  - motion.qd -> motors.um
  - motion.qdd -> motors.umdot
  - weight.wF0 -> motors.wF0
  - weight.wFm -> motors.wFm
run: {T: 2}
"""


def test_expected_errors_of_base_parameters_are_those_of_a_fit(tmp_path):
    """Of the four links of an arm of three joints the torques tell 15 sums."""
    shutil.copy(MODELS / "arm3.urdf", tmp_path)
    text = (DIAGRAMS / "arm_excitation.yaml").read_text().replace("../../models/", "")
    shutil.copy(DIAGRAMS / "arm_excitation_optimum.csv", tmp_path)
    told = {"parameters": ["arm.inertial"], "signals": {"motors.taum": 0.5}, "rate": 100}
    found = sb.optimize(
        _file(tmp_path, "arm", text), information=told, T=2, iterations=20,
        mesh={"intervals": 10}, end={"qd": 0},
    )  # fmt: skip
    assert len(found.expected.names) == 15
    run = found.rerun.results[0]
    t = np.arange(0.0, 2.0, 0.01)
    motion = {n: _at(run, n, t) for n in ("q", "qd", "qdd")}
    noise = 0.5 * np.random.default_rng(1).normal(size=(len(t), 3))
    np.savez(tmp_path / "motion.npz", t=t, tau=_at(run, "motors.taum", t) + noise, **motion)
    diagram = _file(tmp_path, "fitted", FITTED.replace("URDF", "arm3.urdf"))
    signals = {"motors.taum": {"column": "tau", "sd": 0.5}}
    data = {"run": {"file": str(tmp_path / "motion.npz"), "signals": signals}}
    fitted = sb.fit(diagram, {"arm.inertial": None}, data).statistics
    assert tuple(one.name for one in fitted.base) == found.expected.names
    errors = np.array([one.error for one in fitted.base]) / fitted.scale
    np.testing.assert_allclose(found.expected.errors, errors, rtol=0.1)


def _at(run, name, t):
    return np.column_stack([np.interp(t, run.t, column) for column in np.array(run[name]).T])
