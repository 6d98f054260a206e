"""Metrics of sweeps are those of closed forms, on every run at once, and say what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from measured_runs import done_of, with_values

import spart_blocks as sb
from spart_blocks.base.errors import InputError, SpartWarning
from spart_blocks.measures.formulas import MEASURES
from spart_blocks.measures.metrics import Metrics
from spart_blocks.measures.work import Work
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.run import lanes

ROOT = Path(__file__).parents[2]
# x' = k (goal - x), x(0) = 0: x = goal (1 - exp(-k t)), y = cos(w t) as oscillator states.
LAG = """\
name: lag
params: {k: 2.0, goal: 1.5, level: 0.9}
blocks:
  goal: {type: CONSTANT, value: $goal}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: $k}
  x: {type: INTEGRATOR}
  wave: {type: WAVEFORM, wave: sine, freq: 1.0}
  pair: {type: MUX, nin: 2}
  above: {type: SUM, signs: "+-"}
  level: {type: CONSTANT, value: $level}
  done: {type: STOP}
  inner/u: {type: GAIN, K: 1.0}
wires:
  - goal -> error.0
  - x -> error.1, pair.0, above.0, inner/u
  - wave -> pair.1
  - error -> gain
  - gain -> x
  - level -> above.1
  - above -> done
run: {T: 4, rtol: 1.0e-9, atol: 1.0e-11}
""".replace("  inner/u: {type: GAIN, K: 1.0}\n", "").replace(", inner/u", "")
K = np.array([0.5, 2.0, 3.0])
T, GOAL = 4.0, 1.5
END = GOAL * (1 - np.exp(-K * T))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    file = tmp_path_factory.mktemp("lag") / "lag.yaml"
    file.write_text(LAG, encoding="utf-8")
    return sb.trace(sb.load(file))


@pytest.fixture
def columns(program):
    """columns({"miss": "final(x)"}, k=K): the columns, with nothing stopping the runs."""

    def of(given, *, level=10.0, program=program, **values):
        values = values or {"k": K}
        metrics = Metrics.of(given, program, list(values))
        count = len(next(iter(values.values())))
        p = with_values(metrics.program, level=np.full(count, level), **values)
        done = done_of(metrics.program, p, metrics.gauges, metrics.blocks)
        return metrics.columns(done, values)

    return of


AREA = GOAL * (T - (1 - np.exp(-K * T)) / K)
CLOSED = {
    "final(x)": END,
    "initial(x)": 0 * K,
    "initial(error)": GOAL + 0 * K,
    "abs(final(x) - goal)": GOAL * np.exp(-K * T),
    "final(goal) - final(x)": GOAL * np.exp(-K * T),
    "least(error)": GOAL * np.exp(-K * T),
    "most(x) + max(x) - min(x)": 2 * END,
    "time_of_most(wave, until=1)": 0.25 + 0 * K,
    "time_of_least(wave, since=1, until=2)": 1.75 + 0 * K,
    "peak(wave)": 1 + 0 * K,
    "peak(x, goal)": GOAL + 0 * K,
    "peak(x, 1.5)": GOAL + 0 * K,
    "peak(x, goal, since=1)": GOAL * np.exp(-K),
    "rms(wave)": np.sqrt(0.5) + 0 * K,
    "rms(error)": GOAL * np.sqrt((1 - np.exp(-2 * K * T)) / (2 * K) / T),
    "rms(x, goal)": GOAL * np.sqrt((1 - np.exp(-2 * K * T)) / (2 * K) / T),
    "integral(x)": AREA,
    "mean(x)": AREA / T,
    "integral(wave**2)": 2 + 0 * K,
    "integral(abs(wave))": 8 / np.pi + 0 * K,
    "integral(abs(error * gain))": K * GOAL**2 * (1 - np.exp(-2 * K * T)) / (2 * K),
    "integral((goal - x)**2, since=1)": GOAL**2
    * (np.exp(-2 * K) - np.exp(-2 * K * T)) / (2 * K),
    "integral(t * wave)": -4 / (2 * np.pi) + 0 * K,
    "most(k * x)": K * END,
    "rise_time(x, goal)": np.where(np.log(10) / K < T, np.log(9) / K, np.inf),
    "settling_time(x, goal)": np.where(np.log(50) / K < T, np.log(50) / K, np.inf),
    "settling_time(x, 1.5)": np.where(np.log(50) / K < T, np.log(50) / K, np.inf),
    "overshoot(x, goal)": 0 * K,
    "settling_time(goal, goal)": np.nan + 0 * K,
    "duration": T + 0 * K,
    "k**2 + k": K**2 + K,
    "goal": GOAL + 0 * K,
    "final(x) > 1.4": (END > 1.4) * 1.0,
    "1 if final(x) > 1.4 and k < 2.5 else 0": ((END > 1.4) & (K < 2.5)) * 1.0,
    "min(k, 1, final(x))": np.minimum(np.minimum(K, 1), END),
    "norm(final(pair))": END,
    "max(peak(pair))": np.maximum(END, 1),
    "most(norm(pair), until=0)": np.nan + 0 * K,
    "final(norm(pair))": END,
    "final(pair)[0]": END,
    "final(pair[0]) + final('pair[1]') + final('x')": 2 * END,
    "sqrt(integral(wave**2)) / duration": np.sqrt(2) / T + 0 * K,
    "final(x, until=2)": GOAL * (1 - np.exp(-K * 2)),
    "pi * sign(final(x)) + sin(pi / 2) * e": np.pi + np.e + 0 * K,
}  # fmt: skip


def test_metrics_are_those_of_closed_forms(columns):
    found = columns({f"m{k}": text for k, text in enumerate(CLOSED)})
    for name, (text, expected) in zip(found, CLOSED.items(), strict=True):
        np.testing.assert_allclose(found[name], expected, rtol=2e-6, atol=2e-6, err_msg=text)


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
def test_lanes_give_the_metrics_that_single_runs_give(program):
    formulas = [*CLOSED, "time_of(done)", "final(log(0.5 - x))", "most(pair[0:2])"]
    given = {f"m{k}": text for k, text in enumerate(formulas)}
    metrics = Metrics.of(given, program, ["k"])
    gains = np.array([0.5, 2.0, 3.0, -1e3])
    p = with_values(metrics.program, k=gains, level=np.full(4, 1.49))
    work = Work(metrics.program, np.arange(4), p, metrics.gauges, metrics.blocks)
    alone = metrics.columns(done_of(work.program, p, work.gauges, work.blocks), {"k": gains})
    [done] = lanes.run(work)
    for name, values in metrics.columns(done, {"k": gains}).items():
        text = given.get(name, name)
        np.testing.assert_allclose(values, alone[name], rtol=2e-6, atol=2e-6, err_msg=text)


# Turns about x and moves along it: 30 degrees and 0.2 m at the most, at 0.5 s.
MOVING = """\
blocks:
  angle: {type: WAVEFORM, wave: sine, freq: 0.5, amplitude: 0.5235987755982988}
  zero: {type: CONSTANT, value: 0.0}
  shift: {type: WAVEFORM, wave: sine, freq: 0.5, amplitude: 0.2}
  angles: {type: MUX, nin: 3}
  R: {type: ANGLES321_R}
  r: {type: MUX, nin: 3}
wires:
  - zero -> angles.0, angles.1, r.1, r.2
  - angle -> angles.2
  - angles -> R
  - shift -> r.0
run: {T: 1, rtol: 1.0e-9}
"""


def test_attitudes_and_positions(tmp_path):
    file = tmp_path / "moving.yaml"
    file.write_text(MOVING, encoding="utf-8")
    program = sb.trace(sb.load(file))
    metrics = Metrics.of({"a": "largest_rotation(R)", "d": "largest_displacement(r)"}, program)
    done = done_of(metrics.program, program.p[None], metrics.gauges)
    found = metrics.columns(done)
    assert found["a"] == pytest.approx([np.pi / 6], rel=1e-6)
    assert found["d"] == pytest.approx([0.2], rel=1e-6)


def test_every_measurement_is_tried_and_described():
    page = (ROOT / "docs" / "sweep_metrics.md").read_text(encoding="utf-8")
    elsewhere = ("largest_rotation", "largest_displacement")
    for name in MEASURES:
        assert name in elsewhere or any(f"{name}(" in text for text in CLOSED), name
        assert f"`{name}(" in page, name


def test_a_vector_gives_a_column_for_each_element(columns):
    found = columns({"end": "final(pair)", "one": "final(pair[0:1])", "both": "k * end + 1"})
    assert list(found) == ["end[0]", "end[1]", "one", "both[0]", "both[1]"]
    np.testing.assert_allclose(found["both[0]"], K * END + 1, rtol=1e-6)


def test_metrics_use_others_in_any_order(columns):
    found = columns({"twice": "2 * once", "once": "final(x)", "more": lambda run: 3 * run["twice"]})
    np.testing.assert_allclose(found["more"], 6 * END, rtol=1e-6)


def test_a_metric_in_python_reads_the_values_of_one_run(columns):
    found = columns(
        {
            "cost": lambda run: run["final(x)"] if run["k"] > 1 else -1,
            "pair": lambda run: sorted(run["final(pair)"] + run["mean(abs(x))"]),
        }
    )
    np.testing.assert_allclose(found["cost"], [-1, *END[1:]], rtol=1e-6)
    np.testing.assert_allclose(found["pair[1]"], END + AREA / T, rtol=1e-6)


def test_events_and_stopped_runs(columns):
    # x reaches 0.9 at ln(1 / 0.4) / k.
    given = {"when": "time_of(done)", "end": "duration", "late": "most(x, since=1)"}
    found = columns(given, level=0.9)
    np.testing.assert_allclose(found["when"], np.log(2.5) / K, rtol=1e-6)
    np.testing.assert_allclose(found["end"], found["when"])
    assert np.isnan(found["late"]).tolist() == [False, True, True]
    assert np.isnan(columns(given, k=np.array([1e-3]))["when"]).all()


def test_a_failed_run_has_no_metrics(columns):
    # x grows as exp(1000 t): beyond what a float holds.
    given = {"end": "final(x)", "k2": "2 * k", "python": lambda run: run["final(x)"]}
    found = columns(given, k=np.array([1.0, -1e3]))
    for name in given:
        assert np.isnan(found[name]).tolist() == [False, True], name


def test_a_formula_that_is_undefined_at_some_time_has_no_value(columns):
    """x passes 0.5 in all runs; the run itself is well."""
    given = {
        "log": "most(log(0.5 - x))",
        "until": "final(log(0.5 - x), until=0.1)",
        "peak": "peak(x, 1 / (x - 0.5), since=1.5)",
        "vector": "rms(sqrt(pair))",
        "chosen": "integral(log(0.5 - x) if x < 0.4 else 0)",
        "python": lambda run: run["mean(log(0.5 - x))"],
        "end": "final(x)",
    }
    found = columns(given)
    for name in ("log", "vector[1]", "python"):
        assert np.isnan(found[name]).all(), name
    for name in ("until", "peak", "vector[0]", "chosen", "end"):
        assert np.isfinite(found[name]).all(), name
    early = 0.5 - GOAL * (1 - np.exp(-0.1 * K))
    np.testing.assert_allclose(found["until"], np.log(early), rtol=1e-6)


def test_metrics_of_a_file_bring_the_signals_that_are_computed_only_when_asked_for(tmp_path):
    text = (ROOT / "diagrams" / "spacecraft_pd.yaml").read_text(encoding="utf-8")
    text = text.replace("../models", (ROOT / "models").as_posix())
    file = tmp_path / "asks.yaml"
    given = {"a": "peak(plant.umdot)", "b": "1 + nothing.x", "c": "final("}
    file.write_text(f"{text}\nsweep: {{metrics: {json.dumps(given)}}}\n", encoding="utf-8")
    program = sb.trace(sb.load(file, root="/"))
    assert Metrics.of({"a": given["a"]}, program).names == ("a[0]", "a[1]", "a[2]")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"name plant\.umdot in run: log:"):
        Metrics.of({"a": given["a"]}, sb.trace(sb.load(file, root="/")))


def test_formulas_of_signals_become_signals_measured_once(program):
    given = {"a": "integral(abs(x))", "b": "2 * most(abs(x)) + peak(x)", "c": "integral(x**2)"}
    metrics = Metrics.of(given, program)
    assert [slot.name for slot in metrics.program.signals[len(program.signals) :]] == ["(abs(x))"]
    assert metrics.gauges == (
        Gauge("integral", "(abs(x))"),
        Gauge("extremes", "(abs(x))"),
        Gauge("extremes", "x"),
        Gauge("square", "x"),
    )
    assert Metrics.of({"a": "final(x)"}, program).program is program


def test_paths_that_vary_are_known_by_their_short_names(program):
    metrics = Metrics.of(
        {"a": "k + params.k + gain.K[0]"}, program, {"params.k": 1, "gain.K[0]": 1}
    )
    done = done_of(metrics.program, metrics.program.p[None], metrics.gauges)
    found = metrics.columns(done, {"params.k": np.array([2.0]), "gain.K[0]": np.array([5.0])})
    assert found["a"].tolist() == [9.0]


WRONG = {
    "final(": ("column 6", "it is no formula"),
    "fnal(x)": ("column 1: there is no function 'fnal'", "did you mean 'final'?"),
    "final(xx)": ("column 7: there is no signal 'xx'", "did you mean 'x'"),
    "final(pair[7])": ("column 7: 'pair[7]': index 7 is out of range, the size is 2", ""),
    "1 + x": ("column 5: x is a signal, which changes during a run", "final(x), most(x) or rms(x)"),
    "kk": ("column 1: there is no value 'kk'", "did you mean 'k'"),
    "final(3)": ("3 is no signal", "plant.qm[0]"),
    "final(x, x)": ("final takes a signal", "write final(plant.qm[0])"),
    "settling_time(x)": ("settling_time takes a signal and its reference", "goal[0])"),
    "final(x, since='a')": ("since= takes a time in seconds", "since=2.5"),
    "final(x, after=2)": ("there is no after=", "since=, until="),
    "time_of(x)": ("there is no block 'x' with events", "done"),
    "time_of(1)": ("time_of takes a block with events", ""),
    "final(x).real": ("a formula has no attributes", ""),
    "(lambda: 1)()": ("only a function's name is called", ""),
    "__import__('os')": ("there is no function '__import__'", ""),
    "[1][0]": ("a formula has no lists", ""),
    "final(pair) + final(three)": ("there is no signal 'three'", ""),
    "peak(pair, least(x))": ("there is no function 'least'", "x"),
    "m0": ("it is computed from itself", ""),
    "final($k)": ("it is no formula", "names stand in a formula without $: k"),
    "final(pair * R)": ("there is no signal 'R'", ""),
    "largest_rotation(pair)": ("takes an attitude (3, 3)", "pair has 2 elements"),
    "": ("a formula is a text", ""),
    3: ("a formula is a text", ""),
    "x" * 20000: ("the most is 10,000", ""),
    "-" * 500 + "k": ("more than 100 levels", "several metrics"),
    "final(pair)[5]": ("the value has 2 elements", ""),
    "final('sub/x')": ("there is no signal 'sub/x'", ""),
}


@pytest.mark.parametrize("text", WRONG, ids=str)
def test_what_is_wrong_is_told_with_its_column(program, text):
    with pytest.raises(InputError) as error:
        Metrics.of({"m0": text}, program, ["k"])
    message, hint = WRONG[text]
    assert str(error.value).startswith("metric m0: ")
    assert message in str(error.value)
    assert hint in str(error.value)


def test_all_that_is_wrong_is_told_at_once(program):
    given = {"run": "final(x)", "k": "1", "a[0]": "1", "b": "final(z)", "c": "d", "d": "c"}
    with pytest.raises(InputError) as error:
        Metrics.of(given, program, ["k"])
    assert len(error.value.faults) == 4
    with pytest.raises(InputError, match="metric c: it is computed from itself"):
        Metrics.of({"c": "d", "d": "c"}, program)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda run: 1 / 0, "metric bad: ZeroDivisionError"),
        (lambda run: run["final(z)"], "there is no signal 'z'"),
        (lambda run: run["duration"] if run["final(x)"] < 2 else run["final(z)"], "signal 'z'"),
        (lambda run: np.ones((2, 2)), "it gives an array (2, 2)"),
        (lambda run: "text", "metric bad: ValueError"),
        (lambda run: run["other"], "other is a metric in Python"),
    ],
)
def test_what_is_wrong_in_python_is_told(program, function, message):
    with pytest.raises(InputError) as error:
        Metrics.of({"bad": function, "other": lambda run: 1.0}, program)
    assert message in str(error.value)


def test_a_metric_in_python_may_have_no_value_in_some_runs(columns):
    with pytest.warns(SpartWarning, match="bad has no value in 1 of 3 runs; .* of some runs only"):
        found = columns({"bad": lambda run: run["final(x)"] if 1.9 < run["k"] < 2.1 else 0.0})
    assert np.isnan(found["bad"]).tolist() == [False, True, False]
    with pytest.warns(SpartWarning, match="the first: run 2: ZeroDivisionError"):
        columns({"bad": lambda run: 1 / (run["k"] - 3)})


def test_parts_with_different_numbers_of_elements_do_not_add(program):
    text = "metric a: its parts have different numbers of elements"
    wide = {"v": np.zeros(3)}
    with pytest.raises(InputError, match=text):
        Metrics.of({"a": "final(pair) + v"}, program, wide)
