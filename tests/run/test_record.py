"""What a record by lines keeps is what happened: both sides of all that jumps, and between them
straight lines that are true to a thousandth of a signal's range."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from straying import stray

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.base.rows import extreme_rows
from spart_blocks.diagram.build.companions import AUDIT
from spart_blocks.run import begin, finish, start
from spart_blocks.run import run as run_module
from spart_blocks.run.engines import compiled
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.run.record import thinning

DIAGRAMS = Path(__file__).parents[2] / "diagrams"

# tau = kp (goal - q) - kd v: at the step it jumps from 0 to kp, and from there it falls.
PD = """
blocks:
  goal: {type: STEP, T: 1.0003, on: 0.5}
  error: {type: SUM, signs: "+-"}
  kp: {type: GAIN, K: 48.4}
  kd: {type: GAIN, K: 6.0}
  tau: {type: SUM, signs: "+-"}
  v: {type: INTEGRATOR}
  q: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires: [goal -> error.0, q -> error.1, error -> kp, kp -> tau.0, v -> kd, kd -> tau.1,
        tau -> v, v -> q, tau -> scope]
run: {T: 20}
"""
PULSES = """
blocks:
  pulse: {type: WAVEFORM, wave: square, freq: 1.5, duty: 0.02, min: 0, max: 1}
  scope: {type: SCOPE}
wires: [pulse -> scope]
run: {T: 20}
"""
SAMPLED = """
clocks: {slow: {T: 0.1}}
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 0.3}
  hold: {type: ZOH, clock: slow}
  lag: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires: [wave -> hold, hold -> lag, hold -> scope]
run: {T: 120}
"""
ENGINES = [
    ("native", "RK45"),
    ("native", "CVODES"),
    ("native", "RK4"),
    ("interpreter", "RK45"),
    ("interpreter", "BDF"),
]


@pytest.mark.parametrize(("engine", "solver"), ENGINES)
def test_the_peak_at_a_step_is_in_the_record(load, engine, solver):
    results = sb.simulate(load(PD), engine=engine, solver=solver, max_step=0.1)
    tau = results["tau"]
    assert np.abs(tau).max() == pytest.approx(24.2, rel=1e-12)
    k = int(np.argmax(tau))
    assert results.t[k] == 1.0003
    assert tau[k - 1] == pytest.approx(0.0, abs=1e-12)
    assert results.t[k] - results.t[k - 1] < 1e-14


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_every_pulse_is_in_the_record(load, engine):
    results = sb.simulate(load(PULSES), engine=engine)
    rises = np.flatnonzero(np.diff(results["pulse"]) > 0.5)
    assert len(rises) == 30
    assert np.trapezoid(results["pulse"], results.t) == pytest.approx(0.02 * 20, rel=1e-9)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_every_tick_is_in_the_record_with_both_sides(load, engine):
    results = sb.simulate(load(SAMPLED), engine=engine, max_step=1.0)
    ticks = np.arange(1200) / 10
    at = np.searchsorted(results.t, ticks)
    np.testing.assert_array_equal(results.t[at], ticks)
    held = np.sin(2 * np.pi * 0.3 * ticks)
    np.testing.assert_allclose(results["hold"][at], held, atol=1e-12)
    np.testing.assert_allclose(results["hold"][at[1:] - 1], held[:-1], atol=1e-12)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_times_rise_strictly_and_split_runs_join(load, engine):
    whole = sb.simulate(load(SAMPLED), engine=engine, T=2.0)
    assert (np.diff(whole.t) > 0).all()
    assert (whole.t[0], whole.t[-1]) == (0.0, 2.0)
    first = sb.simulate(load(SAMPLED), engine=engine, T=0.95)
    rest = sb.simulate(load(SAMPLED), engine=engine, T=2.0, initial=first)
    assert rest.t[0] == 0.95
    assert rest["lag"][-1] == pytest.approx(whole["lag"][-1], abs=1e-9)


def test_a_sample_that_equals_a_stop_up_to_rounding_is_none(load):
    """Sample 360 of 500 up to 0.3333333333333333 s comes 2e-17 s before the second piece."""
    text = """
blocks:
  steps: {type: PIECEWISE, seq: [[0, 0], [0.2, 1], [0.24, 1]]}
  lag: {type: LTI_SISO, N: [300], D: [1, 300]}
wires: [steps -> lag]
run: {T: 0.3333333333333333, solver: CVODES, rtol: 1e-9, atol: 1e-11}
"""
    results = sb.simulate(load(text), engine="native", log="lag")
    assert (np.diff(results.t) > 0).all()
    late = np.maximum(results.t - 0.2, 0.0)
    assert np.abs(results["lag"].ravel() - (1 - np.exp(-300 * late))).max() < 1e-7


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_crossing_has_both_sides_in_the_record(load, engine):
    text = """
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 0.4}
  relay: {type: RELAY, on: 0.5, off: -0.5}
  x: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires: [wave -> relay, relay -> x, relay -> scope]
run: {T: 5}
"""
    results = sb.simulate(load(text), engine=engine)
    jumps = np.flatnonzero(np.abs(np.diff(results["relay"])) > 0.5)
    assert len(jumps) == 4
    assert np.diff(results.t)[jumps].max() < 1e-9
    on = np.arcsin(0.5) / (2 * np.pi * 0.4)
    assert results.t[jumps[0] + 1] == pytest.approx(on, abs=1e-9)


JUMPS = """
blocks:
  one: {type: CONSTANT, value: 1}
  two: {type: CONSTANT, value: 2}
  x: {type: INTEGRATOR, x0: -1}
  switch: {type: SWITCH, threshold: 0.3}
  compare: {type: COMPARE, constant: 0.2, operator: ">"}
  relay: {type: RELAY, on: 0.1, off: -0.5}
  sign: {type: SIGN}
  quantizer: {type: QUANTIZER, interval: 0.42}
  formula: {type: FCN, expression: "x if x > 0.45 else 3", arguments: [x]}
  chart:
    type: STATE_MACHINE
    states: {a: {}, b: {}}
    transitions: [{from: a, to: b, when: u > 0.37}]
    initial: a
  scope: {type: SCOPE, nin: 7}
wires:
  - one -> x, switch.b
  - two -> switch.a
  - x -> compare.a, relay, sign, quantizer, formula, chart, switch.control
  - switch -> scope.0
  - compare -> scope.1
  - relay -> scope.2
  - sign -> scope.3
  - quantizer -> scope.4
  - formula -> scope.5
  - chart -> scope.6
run: {T: 1.5}
"""
JUMP_TIMES = {"switch": [1.3], "compare": [1.2], "relay": [1.1], "sign": [1.0], "formula": [1.45],
              "chart.state": [1.37], "quantizer": [0.37, 0.79, 1.21]}  # fmt: skip


@pytest.mark.parametrize(("engine", "solver"), [one for one in ENGINES if one[1] != "CVODES"])
def test_the_row_before_a_jump_holds_the_value_before_it(load, engine, solver):
    results = sb.simulate(load(JUMPS), engine=engine, solver=solver)
    for name, times in JUMP_TIMES.items():
        jumps = np.flatnonzero(np.abs(np.diff(np.ravel(results[name]))) > 0.05)
        np.testing.assert_allclose(results.t[jumps + 1], times, atol=1e-10, err_msg=name)
        assert np.diff(results.t)[jumps].max() < 1e-10, name


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_the_row_before_a_reset_holds_the_state_before_it(engine):
    bd = sb.new_diagram("ball")
    g, v, y = bd.CONSTANT(-10.0), bd.INTEGRATOR(name="v"), bd.INTEGRATOR(x0=1.0, name="y")
    sign = bd.SIGN(name="sign")

    def bounce(event, states):
        states[v] = -0.5 * states[v]

    ground = bd.EVENT("-", bounce, name="ground")
    bd.connect(g, v)
    bd.connect(v, y, sign)
    bd.connect(y, ground)
    results = sb.simulate(bd, T=0.6, engine=engine)
    speed = np.ravel(results["v"])
    (at,) = np.flatnonzero(np.diff(speed) > 1)
    assert results.t[at + 1] - results.t[at] < 1e-10
    np.testing.assert_allclose(speed[at : at + 2], [-np.sqrt(20), np.sqrt(5)], rtol=1e-6)
    np.testing.assert_array_equal(np.ravel(results["sign"])[at : at + 2], [-1, 1])


QUANTIZED = """
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 0.2}
  q: {type: QUANTIZER, interval: 0.25}
  scope: {type: SCOPE}
wires: [wave -> q, q -> scope]
run: {T: 5}
"""


def level_times():
    """When sin(0.4 pi t) passes an odd multiple of 1/8 in its first turn."""
    angles = np.arcsin(np.arange(-7, 8, 2) / 8)
    return np.sort(np.concatenate([angles, np.pi - angles]) % (2 * np.pi)) / (0.4 * np.pi)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_jumps_are_located_also_where_there_are_no_states(load, engine):
    """Without a solver's steps, too: to 1e-10 s, and what is measured is exact."""
    begun = begin(load(QUANTIZED), engine=engine)
    square = Gauge("square", "q")
    begun.measure([square])
    results = finish(begun)
    jumps = np.flatnonzero(np.diff(results["q"].ravel()))
    np.testing.assert_allclose(results.t[jumps + 1], level_times(), rtol=0, atol=1e-10)
    assert np.diff(results.t)[jumps].max() < 1e-10
    assert begun.readings[square]["integral"][0] == pytest.approx(squared(), abs=1e-9)


def squared():
    """The integral of the square of the levels over the turn."""
    ends = np.array([0, *level_times(), 5])
    levels = 0.25 * np.round(np.sin(0.2 * np.pi * (ends[1:] + ends[:-1])) / 0.25)
    return levels**2 @ np.diff(ends)


@pytest.mark.parametrize(
    "name",
    [
        "arm_computed_torque",
        "momentum_exchange",
        "spacecraft_sampled",
        "signals/recorded_motion",
        "signals/thrusters",
    ],
)
def test_lines_are_true_to_a_thousandth_of_the_range(name):
    path = DIAGRAMS / f"{name}.yaml"
    # The same solver steps, looked at a hundred times as often.
    kept = sb.simulate(path)
    fine = sb.simulate(path, every=kept.info["T"] / 50_000)
    assert kept.info["record"] == "lines"
    for signal in (name for name in kept.signals if AUDIT not in name):
        assert stray(kept, fine, signal).max(initial=0.0) < 1.001e-3, signal


CUSPS = """
blocks:
  wave: {{type: WAVEFORM, wave: sine, freq: {freq}, phase: {phase}}}
  vector: {{type: GAIN, K: [1, 2, -0.5]}}
  x: {{type: INTEGRATOR, x0: -1}}
  norm: {{type: NORM}}
  scope: {{type: SCOPE}}
wires: [wave -> x, wave -> vector, vector -> norm, norm -> scope]
run: {{T: {T}}}
"""


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize(
    ("freq", "phase", "T"),
    [(0.212, 0.294, 6.852), (0.445, 0.142, 10.765), (0.2, 0.0, 13.0), (0.31, 0.1, 7.7)],
)
def test_lines_are_true_at_the_cusps_of_a_norm(load, engine, freq, phase, T):
    """The norm of a vector that passes through zero has no zero crossing there, but a cusp."""
    text = CUSPS.format(freq=freq, phase=phase, T=T)
    results = sb.simulate(load(text), engine=engine)
    fine = sb.simulate(load(text), every=T / 20_000, log=["norm"])
    true = fine["norm"].ravel()
    off = np.abs(np.interp(fine.t, results.t, results["norm"].ravel()) - true)
    assert off.max() < 1e-3 * np.ptp(true)
    assert len(results.t) < 600


def test_a_fine_wave_that_no_solver_step_sees_is_followed(load):
    text = """
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 7.3}
  one: {type: CONSTANT, value: 1.0}
  x: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires: [one -> x, wave -> scope]
run: {T: 10}
"""
    for engine in ("native", "interpreter"):
        results = sb.simulate(load(text), engine=engine)
        t = np.linspace(0.0, 10.0, 200_001)
        line = np.interp(t, results.t, results["wave"])
        assert np.abs(line - np.sin(2 * np.pi * 7.3 * t)).max() < 2e-3


def test_samples_say_what_they_pass_over(load):
    notes = sb.simulate(load(SAMPLED), every=0.25, T=10).info["notes"]
    assert "samples every 0.25 s pass over 80 ticks of the clock of 0.1 s" in notes
    notes = sb.simulate(load(PD), every=0.1).info["notes"]
    assert "pass over 1 switch;" in notes
    assert "notes" not in sb.simulate(load(PD)).info
    assert "notes" not in sb.simulate(load(SAMPLED), every=0.1, T=10).info


def test_noise_is_bounded_and_said(load):
    text = """
blocks:
  time: {type: TIME}
  noise: {type: FCN, expression: "sin(1e9*u*u)"}
  one: {type: CONSTANT, value: 1.0}
  x: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires: [time -> noise, one -> x, noise -> scope]
run: {T: 10}
"""
    results = sb.simulate(load(text))
    assert len(results.t) < 100_000


SINES = """
clocks: {c: {T: 0.1}}
blocks:
  s: {type: WAVEFORM, wave: sine, freq: 0.5}
  hold: {type: ZOH, clock: c}
  lag: {type: INTEGRATOR}
  scope: {type: SCOPE, nin: 2}
wires: [s -> hold, hold -> lag, hold -> scope.0, lag -> scope.1]
run: {T: 400}
"""


@pytest.mark.parametrize(("engine", "T"), [("native", 4000.0), ("interpreter", 40.0)])
def test_a_full_record_is_thinned_evenly_to_the_extremes_of_each_stretch(
    load, engine, T, monkeypatch
):
    path = load(SINES)
    whole = sb.simulate(path, engine=engine, T=T)
    most = len(whole.t) * 5 // 4  # numbers, five in a row: a quarter
    monkeypatch.setattr(thinning, "MOST_NUMBERS", most)
    monkeypatch.setattr(thinning, "LEAST_STRETCHES", 20)
    found = sb.simulate(path, engine=engine, T=T)
    stretch = found.info["thinned"]
    assert np.log2(T / stretch) % 1 == 0
    assert most / 20 < 5 * len(found.t) <= most
    rows = np.searchsorted(whole.t, found.t)
    edges = np.arange(0, T, stretch)
    for name in ("hold", "lag"):  # true rows, among them the extremes of each stretch
        assert np.array_equal(whole[name][rows], found[name])
        for pick in (np.minimum, np.maximum):
            want = pick.reduceat(whole[name], np.searchsorted(whole.t, edges))
            got = pick.reduceat(found[name], np.searchsorted(found.t, edges))
            assert np.array_equal(got, want)
    assert found.t[[0, -1]].tolist() == whole.t[[0, -1]].tolist()
    assert found["lag"][-1] == whole["lag"][-1]
    with pytest.warns(SpartWarning, match=r"s was not kept: .*\n  run: {log: \[s\]} keeps it"):
        np.testing.assert_array_equal(found["s"], whole["s"][rows])  # from the states
    assert f"of each {stretch:.4g} s" in found.info["notes"]
    assert "thinned" in found.summary()
    assert "thinned" not in whole.info


def test_the_samples_of_a_run_that_take_much_memory_are_announced(load, monkeypatch, caplog):
    monkeypatch.setattr(start, "MUCH_MEMORY", 8 * 4 * 4000)
    sb.simulate(load(SINES), every=0.1)  # four numbers, 4,000 of each
    assert not caplog.records
    sb.simulate(load(SINES), every=0.05)
    (told,) = caplog.messages
    assert "take 0.0 GB of memory: 8,000 of 4 numbers, every 0.05 s\n  Ctrl-C ends" in told


def test_marked_times_stay_in_a_thinned_record(load, monkeypatch):
    monkeypatch.setattr(thinning, "MOST_NUMBERS", 4_000)
    run = begin(load(SINES))
    run.marks = np.linspace(1.01, 399.01, 30)
    results = finish(run)
    assert "thinned" in results.info
    assert np.isin(run.marks, results.t).all()


def test_metrics_of_a_thinned_run_are_those_of_all_its_steps(load, monkeypatch):
    gauges = [Gauge("extremes", "lag"), Gauge("square", "hold")]
    readings = []
    for most in (10**7, 1_000):
        monkeypatch.setattr(thinning, "MOST_NUMBERS", most)
        run = begin(load(SINES))
        run.measure(gauges)
        finish(run)
        readings.append([{k: v.tolist() for k, v in run.readings[g].items()} for g in gauges])
    assert readings[0] == readings[1]


def test_wide_rows_keep_the_fewest_rows_with_the_most_extremes():
    stretch = np.repeat([0, 1], 3)
    columns = [np.array(c, float) for c in ([0, 1, 2, 5, 5, 5], [0, 2, 1, 1, 0, 2])]
    assert extreme_rows(stretch, columns, 9).tolist() == [True, True, True, True, True, True]
    assert extreme_rows(stretch, columns, 1).tolist() == [True, False, False, True, False, False]


@pytest.mark.parametrize("window", [3, 7, 1000])
@pytest.mark.parametrize("name", ["SAMPLED", "SINES", "TWO"])
def test_a_run_does_not_depend_on_the_windows_of_its_ticks(load, window, name, monkeypatch):
    path = load({"SAMPLED": SAMPLED, "SINES": SINES, "TWO": TWO_CLOCKS}[name])
    whole = sb.simulate(path, engine="native", T=10)
    monkeypatch.setattr(run_module, "WINDOW", window)
    monkeypatch.setattr(compiled, "CALL", 0.0)  # one step in a call
    again = sb.simulate(path, engine="native", T=10)
    assert np.array_equal(whole.t, again.t)
    assert all(np.array_equal(whole[n], again[n]) for n in whole)
    assert whole.final_state.ticks == again.final_state.ticks


def test_calls_of_the_driver_stay_short_so_that_an_interrupt_is_heard():
    calls = compiled.Calls()
    for _ in range(20):  # a microsecond for each step
        calls.lasted(1e-6 * calls.steps, True)
    assert calls.steps == compiled.MOST_STEPS
    for _ in range(20):  # now ten milliseconds
        calls.lasted(1e-2 * calls.steps, True)
    assert 1e-2 * calls.steps <= 2 * compiled.CALL
    for _ in range(20):  # longer than any call should last
        calls.lasted(10.0 * calls.steps, True)
    assert calls.steps == 1


TWO_CLOCKS = """
clocks: {a: {T: 0.3}, b: {T: 0.7, offset: 0.05}}
blocks:
  s: {type: WAVEFORM, wave: square, freq: 0.4}
  one: {type: ZOH, clock: a}
  two: {type: ZOH, clock: b}
  lag: {type: INTEGRATOR}
  scope: {type: SCOPE, nin: 3}
wires: [s -> one, s -> lag, lag -> two, one -> scope.0, two -> scope.1, lag -> scope.2]
run: {T: 10}
"""


@pytest.mark.parametrize("kind", [".npz", ".csv"])
@pytest.mark.parametrize(("interpolation", "offset"), [("linear", 0.0), ("previous", 10.0)])
def test_a_record_is_replayed_with_its_jumps(load, tmp_path, kind, interpolation, offset):
    """An offset rounds both sides of a tick to one time."""
    recorded = sb.simulate(load(SAMPLED), T=3.0)
    file = recorded.save(tmp_path / f"run{kind}")
    text = f"""
blocks:
  data: {{type: DATA, file: {file}, signals: [hold], interpolation: {interpolation},
          offset: {offset}}}
  lag: {{type: INTEGRATOR}}
  scope: {{type: SCOPE}}
wires: [data -> lag, data -> scope]
run: {{T: {3 + offset}, max_step: 0.02, rtol: 1.0e-9, atol: 1.0e-10}}
"""
    for engine in ("native", "interpreter"):
        again = sb.simulate(load(text), engine=engine)
        area = recorded["lag"][-1] + offset * recorded["hold"][0]
        assert again["lag"][-1] == pytest.approx(area, abs=1e-6)
        times = np.arange(60) * 0.05 + 0.02
        want = recorded.at(times)["hold"]
        np.testing.assert_allclose(again.at(times + offset)["data"], want, atol=2e-3)


@pytest.mark.parametrize("method", ["clamped", "linear"])
def test_a_recorded_motion_is_a_trajectory(load, tmp_path, method):
    recorded = sb.simulate(load(SAMPLED), T=3.0)
    file = recorded.save(tmp_path / "run.csv")
    text = f"""
blocks:
  motion: {{type: TRAJECTORY_FILE, path: {file}, columns: [states.lag], method: {method}}}
  scope: {{type: SCOPE}}
wires: [motion.q -> scope]
run: {{T: 3, log: [motion.u]}}
"""
    again = sb.simulate(load(text))
    want = recorded.at(again.t)["states.lag"]
    # Few rows are kept of straight lines; a spline through them is smooth.
    np.testing.assert_allclose(again["motion.q"], want, atol=2e-2 if method == "clamped" else 2e-3)
    assert np.abs(again["motion.u"]).max() < 2.0


AT_THE_END = """
blocks:
  s: {type: STEP, T: 1, on: 5}
  g: {type: GAIN, K: 2}
  x: {type: INTEGRATOR}
wires: [s -> g, g -> x]
run: {T: 1}
"""


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("solver", ["RK45", "RK4", "CVODES"])
def test_a_switch_at_the_end_has_both_sides_also_for_signals_that_were_not_kept(
    load, engine, solver
):
    # Nothing that is kept moves, but what is computed from it later jumps.
    if (engine, solver) == ("interpreter", "CVODES"):
        pytest.skip("CVODES runs programs")
    results = sb.simulate(load(AT_THE_END), engine=engine, solver=solver)
    assert results.t[-2:] == pytest.approx([1.0, 1.0], abs=1e-12)
    assert results["g"][-2:].tolist() == [0.0, 10.0]
    assert results.at([0.5])["g"].tolist() == [0.0]
