"""Instants are those of the numbers that a file says: edges, `after`, ticks and the end meet."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from compositions.executing import WAYS, executed

import spart_blocks as sb
from spart_blocks.diagram.network.clocks import meant
from spart_blocks.program.c.compiler import compiler_name

ENGINES = ("interpreter", "native")


@pytest.fixture(params=WAYS)
def outcome(request, tmp_path):
    """A function that executes a diagram's text in one of all ways."""
    if compiler_name() is None and request.param not in ("interpreter", "traced", "split"):
        pytest.skip("no C compiler")

    def of(text):
        (tmp_path / "spart.toml").touch()
        path = tmp_path / "diagram.yaml"
        path.write_text(text)
        found = executed(request.param, path)
        assert not found.error
        return found

    return of


SOURCES = """
clocks: {{c: {{T: 0.1}}}}
blocks:
  pulse: {{type: PULSE, period: {period}, width: {width}, delay: {delay}}}
  square: {{type: WAVEFORM, wave: square, freq: {freq}, duty: 0.5}}
  table: {{type: REPEATING, times: [0, 0.1, 0.3], values: [1, 2, 3], interpolation: previous}}
  pulse_s: {{type: ZOH, clock: c}}
  square_s: {{type: ZOH, clock: c}}
  table_s: {{type: ZOH, clock: c}}
wires: [pulse -> pulse_s, square -> square_s, table -> table_s]
run: {{T: 12, every: 0.1, log: [pulse, square, table, pulse_s, square_s, table_s]}}
"""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("period", "width", "delay", "freq"), [(0.3, 0.5, 0.1, 5), (0.7, 0.3, 0.2, 1.25)]
)
def test_a_tick_at_an_edge_reads_what_holds_from_then_on(
    engine, period, width, delay, freq, tmp_path
):
    path = tmp_path / "edges.yaml"
    path.write_text(SOURCES.format(period=period, width=width, delay=delay, freq=freq))
    results = sb.simulate(path, engine=engine)
    P, W, D, F = map(meant, (period, width, delay, freq))
    want = {"pulse": [], "square": [], "table": []}
    for k in range(121):
        t = Fraction(k, 10)
        want["pulse"].append(float(t >= D and (t - D) % P < W * P))
        want["square"].append(1.0 if t * F % 1 < Fraction(1, 2) else -1.0)
        want["table"].append(1.0 if t % Fraction(3, 10) < Fraction(1, 10) else 2.0)
    for name, values in want.items():
        np.testing.assert_array_equal(results[name].ravel(), values)
        np.testing.assert_array_equal(results[f"{name}_s"].ravel(), values)


CHART = """
blocks:
  u: {{type: PULSE, period: {period}, width: 0.5, delay: {delay}}}
  m:
    type: STATE_MACHINE
    states: {{a: {{}}, b: {{}}}}
    initial: a
    transitions:
      - {{from: a, to: b, after: {a}, when: "u > 0.5"}}
      - {{from: b, to: a, after: {b}, when: "u < 0.5"}}
wires: [u -> m.u]
run: {{T: 3, log: [m.state]}}
"""


def transitions(period, delay, waits):
    """The times of the transitions, in exact fractions."""
    high = [1, 0]
    edges = [delay + k * period / 2 for k in range(60)]
    since, state, found = Fraction(0), 0, []
    while True:
        due = since + waits[state]
        times = [t for t in sorted({due, *edges}) if t >= due]
        fits = [t for t in times if int(t >= delay and (t - delay) % period < period / 2)
                == high[state]]  # fmt: skip
        if not fits or fits[0] > 3:
            return found
        since, state = fits[0], 1 - state
        found.append(float(since))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("period", "delay", "a", "b"),
    [(0.2, 0.0, 0.3, 0.2), (0.2, 0.0, 0.05, 0.2), (0.2, 0.1, 0.05, 0.2), (0.6, 0.1, 0.1, 0.25)],
)
def test_after_that_ends_at_an_edge_reads_the_input_from_the_edge_on(
    engine, period, delay, a, b, tmp_path
):
    path = tmp_path / "after.yaml"
    path.write_text(CHART.format(period=period, delay=delay, a=a, b=b))
    found = [e.t for e in sb.simulate(path, engine=engine).events if e.block == "m"]
    want = transitions(meant(period), meant(delay), (meant(a), meant(b)))
    np.testing.assert_allclose(found, want, rtol=0, atol=1e-9)


ORDER = """
clocks: {c: {T: 0.1}}
subsystems:
  sample: {inputs: [u, on], outputs: [y], triggered: {by: on}, wires: [in.u -> out.y]}
  pass: {inputs: [u, on], outputs: [y], enabled: {by: on}, wires: [in.u -> out.y]}
blocks:
  t: {type: TIME}
  edge: {type: STEP, T: 0.2}
  m:
    type: STATE_MACHINE
    outputs: {y: 0}
    initial: a
    states: {a: {}, b: {entry: {y: 1}}}
    transitions: [{from: a, to: b, after: 0.3}]
  sample: {type: sample}
  pass: {type: pass}
  relay: {type: RELAY, on: 0.5, off: 0.4}
  last: {type: STEP, T: 0.4}
  held: {type: ZOH, clock: c}
  set_off: {type: RELAY, on: 0.5, off: 0.4}
  zm: {type: ZOH, clock: c}
  zs: {type: ZOH, clock: c}
  zp: {type: ZOH, clock: c}
  zr: {type: ZOH, clock: c}
  zo: {type: ZOH, clock: c}
wires:
  - t -> m.u, sample.u, pass.u
  - edge -> sample.on, pass.on, relay
  - last -> held
  - held -> set_off
  - m.y -> zm
  - sample.y -> zs
  - pass.y -> zp
  - relay -> zr
  - set_off -> zo
run: {T: 0.6, log: [zm, zs, zp, zr, zo]}
"""
AT_TICKS = {
    "zm": [0, 0, 0, 1, 1, 1, 1],  # `after` is known ahead
    "zs": [0, 0, 0.2, 0.2, 0.2, 0.2, 0.2],  # so is what an edge sets off
    "zp": [0, 0, 0.2, 0.3, 0.4, 0.5, 0.6],
    "zr": [0, 0, 1, 1, 1, 1, 1],
    "zo": [0, 0, 0, 0, 0, 1, 1],  # a tick sets it off: the next tick reads it
}


def test_what_is_known_ahead_comes_before_the_ticks_and_what_they_set_off_after(outcome):
    found = outcome(ORDER)
    for name, values in AT_TICKS.items():
        if len(found.t):
            rows = np.searchsorted(found.t, 0.1 * np.arange(len(values)) + 1e-9) - 1
            np.testing.assert_allclose(found.signals[name][rows, 0], values, atol=1e-12)
        for reading in ("last", "most"):
            read = found.readings.get(f"extremes({name}).{reading}", values[-1])
            assert read == pytest.approx(values[-1], abs=1e-12)


CHAIN = """
clocks: {c: {T: 0.42}}
blocks:
  m:
    type: STATE_MACHINE
    outputs: {y: 0}
    initial: low
    states: {low: {entry: {y: 1}}, high: {entry: {y: 2}}, rest: {entry: {y: 3}}}
    transitions:
      - {from: low, to: high, after: 0.07}
      - {from: high, to: rest, after: 0.07}
      - {from: rest, to: low, after: 0.28}
  held: {type: ZOH, clock: c}
  t: {type: TIME}
  x: {type: INTEGRATOR}
wires: ["t -> m.u, x", m.y -> held]
run: {T: 1.3, log: [held, m.y, x]}
"""


def test_a_chain_of_after_does_not_drift_from_the_ticks(outcome):
    found = outcome(CHAIN)
    if len(found.t):
        assert set(found.signals["held"][1:, 0]) == {1.0}
    assert found.readings.get("extremes(held).most", 1.0) == 1.0


ON_TIME = """
clocks: {c: {T: 0.033}}
blocks:
  u: {type: CONSTANT, value: 1}
  m:
    type: STATE_MACHINE
    outputs: {y: 0}
    initial: low
    states: {low: {entry: {y: 1}}, high: {entry: {y: 2}}, rest: {entry: {y: 3}}}
    transitions:
      - {from: low, to: high, when: u > 0.5}
      - {from: high, to: rest, after: 0.033}
      - {from: rest, to: low, after: 0.132, when: u > -0.1}
  held: {type: ZOH, clock: c}
wires: [u -> m, m.y -> held]
run: {T: 0.198, log: [held, m.y]}
"""


def test_a_transition_that_follows_at_once_is_at_the_same_instant(outcome):
    """In the sixth of 0.033 s, after 0.033, 0.132 and 0.033 s, the tick reads the last state."""
    found = outcome(ON_TIME)
    if len(found.t):
        assert (found.signals["held"][-1], found.signals["m.y"][-1]) == (3, 3)
    assert found.readings.get("extremes(held).last", 3) == 3


@pytest.mark.parametrize("engine", ENGINES)
def test_a_row_at_the_end_of_an_after_shows_what_holds_from_then_on(engine, tmp_path):
    path = tmp_path / "chain.yaml"
    path.write_text(CHAIN)
    found = sb.simulate(path, engine=engine, every=0.07)
    want = [(1, 2, 3, 3, 3, 3)[k % 6] for k in range(19)]
    np.testing.assert_array_equal(found["m.y"].ravel()[:19], want)
    np.testing.assert_allclose(found.t[:19], 0.07 * np.arange(19), rtol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_look_that_is_an_edge_up_to_rounding_leaves_the_row_before_it(engine, tmp_path):
    path = tmp_path / "look.yaml"
    path.write_text("""
blocks:
  b: {type: WAVEFORM, freq: 15.15151515151515}
run: {T: 0.14142857142857143, log: [b]}
""")
    found = sb.simulate(path, engine=engine)
    assert found["b"][found.t < 0.099][-1] == 1
    assert found.t[found.t < 0.099][-1] == pytest.approx(0.099, abs=1e-14)


ENDS = """
clocks: {c: {T: 0.1}}
params: {scale: 1}
blocks:
  t: {type: TIME}
  k: {type: GAIN, K: $scale}
  mean: {type: MOVING_AVERAGE, clock: c, N: 2}
  i: {type: INTEGRATOR}
wires: [t -> k, k -> mean, mean -> i]
run: {T: 0.5, log: [mean]}
"""


def test_the_metrics_of_a_sweep_contain_the_tick_at_the_end(tmp_path):
    path = tmp_path / "ends.yaml"
    path.write_text(ENDS)
    found = sb.sweep(path, over={"scale": [1.0, 2.0]}, out=tmp_path / "out",
                     metrics={"last": "final(mean)", "most": "max(mean)"})  # fmt: skip
    np.testing.assert_allclose(found["last"], [0.45, 0.9], atol=1e-12)
    np.testing.assert_allclose(found["most"], [0.45, 0.9], atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("T", "delay"), [(0.7, 0.07), (2.1, 0.21), (1.1, 0.33), (3, 0.9)])
def test_rows_before_an_edge_hold_the_value_before_it(T, delay, engine, tmp_path):
    """Without states a run is looked at each tenth, which may be a few units before an edge."""
    path = tmp_path / "pulse.yaml"
    path.write_text(f"""
blocks: {{y: {{type: PULSE, delay: {delay}}}}}
run: {{T: {T}, log: [y]}}
""")
    results = sb.simulate(path, engine=engine)
    before = results.t < delay
    assert before.sum() >= 2
    assert np.all(results["y"][before] == 0)
    assert results["y"][~before][0] == 1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("solver", ["RK45", "BDF", "LSODA", "RK4"])
@pytest.mark.parametrize("period", [0.356, 0.18, 0.493])
def test_a_step_that_ends_a_hair_before_an_edge_leaves_the_row_before_it(
    period, solver, engine, tmp_path
):
    path = tmp_path / "quarter.yaml"
    path.write_text(f"""
blocks: {{p: {{type: PULSE, period: {period}, width: 0.25}}, x: {{type: INTEGRATOR}}}}
wires: [p -> x]
run: {{T: {3 * period}, max_step: {period / 4}, solver: {solver}, log: [p, x]}}
""")
    results = sb.simulate(path, engine=engine)
    for edge in period * (np.arange(3) + 0.25):
        rows = results["p"].ravel()[np.abs(results.t - edge) < 1e-9]
        assert (rows[0], rows[-1]) == (1, 0)


@pytest.mark.parametrize("compiler", ["", "none"])
@pytest.mark.parametrize("solver", ["RK45", "BDF", "LSODA", "CVODES", "RK4"])
def test_a_sample_that_an_edge_meets_up_to_rounding_is_kept_once(
    solver, compiler, tmp_path, monkeypatch
):
    if compiler:
        monkeypatch.setenv("SPART_COMPILER", compiler)
    path = tmp_path / "grid.yaml"
    for period, every in [(0.206, 0.206 / 7), (0.051, 0.0051), (0.413, 0.0413), (0.355, 0.1775)]:
        path.write_text(f"""
blocks: {{p: {{type: WAVEFORM, freq: {1 / period!r}}}, x: {{type: INTEGRATOR}}}}
wires: [p -> x]
run: {{T: {every * 37!r}, every: {every!r}, solver: {solver}, log: [p, x]}}
""")
        found = sb.simulate(path, engine="native")
        np.testing.assert_array_equal(np.round(found.t / every), np.arange(38))


BETWEEN = """
clocks: {{c: {{T: 0.1}}, beside: {{T: 0.01, offset: 0.005}}}}
subsystems:
  when: {{inputs: [on], outputs: [y], enabled: {{by: on, outputs: {{y: 0}}}},
    blocks: {{one: {{type: CONSTANT, value: 1}}}}, wires: [one -> out.y]}}
  keep: {{inputs: [u, on], outputs: [y], enabled: {{by: on}}, wires: [in.u -> out.y]}}
  count:
    inputs: [on]
    outputs: [y]
    triggered: {{by: on}}
    blocks:
      one: {{type: CONSTANT, value: 1}}
      n: {{type: INTEGRATOR_S}}
      y: {{type: SUM, signs: "++"}}
    wires: [one -> n, n -> y.0, one -> y.1, y -> out.y]
blocks:
  t: {{type: TIME}}
  step: {{type: STEP, T: 0.13}}
  half: {{type: CONSTANT, value: 0.32}}
  k: {{type: ZOH, clock: c}}
  {block}
  when: {{type: when}}
  count: {{type: count}}
  pulse: {{type: PULSE, period: 1, width: 0.23, delay: 0.1}}
  keep: {{type: keep}}
  gone: {{type: ZOH, clock: beside}}
  on: {{type: ZOH, clock: beside}}
  edges: {{type: ZOH, clock: beside}}
  kept: {{type: ZOH, clock: beside}}
wires:
  - t -> k
  - {wire}
  - go -> when, count, keep.u, gone
  - pulse -> keep.on
  - when -> on
  - count -> edges
  - keep -> kept
run: {{T: 0.5, log: [gone, on, edges, kept]}}
"""
VARYING = {
    "time": ('go: {type: FCN, expression: "u > 0.15 and t > 0.2275 and t < 0.2725"}', "k -> go"),
    "choice": ('go: {type: IF, conditions: ["u > 0.15 and t > 0.2275 and t < 0.2725"]}', "k -> go"),
    "delay": ("go: {type: TRANSPORT_DELAY, clock: c, delay: 0.1}", "step -> go"),
    "pulses": ("go: {type: PULSE_WIDTH, clock: c}", "half -> go"),
}


SEEN = ("gone", "on", "edges", "kept")


@pytest.mark.parametrize("what", VARYING)
def test_a_condition_of_ticks_and_of_time_acts_between_ticks(what, outcome):
    block, wire = VARYING[what]
    text = BETWEEN.format(block=block, wire=wire)
    found = outcome(text.replace("go ->", "go.if ->") if what == "choice" else text)
    if len(found.t):
        rows = np.searchsorted(found.t, 0.005 + 0.01 * np.arange(50) + 1e-9) - 1
        go, on, edges, kept = (found.signals[name][rows, 0] for name in SEEN)
        assert len(set(go[20:30])) > 1, "it changes between the ticks of c"
        np.testing.assert_array_equal(on, go > 0)
        np.testing.assert_allclose(kept[10:33], go[10:33], atol=1e-9)
        np.testing.assert_allclose(kept[34:], kept[33], atol=1e-9)
        np.testing.assert_array_equal(edges[1:], np.cumsum((go[1:] > 0) & (go[:-1] == 0)))


STARTING = """
clocks: {c: {T: 0.1}, late: {T: 0.1, offset: 0.05}, beside: {T: 0.1, offset: 0.075}}
subsystems:
  count:
    inputs: [on]
    outputs: [y]
    triggered: {by: on}
    blocks:
      one: {type: CONSTANT, value: 1}
      n: {type: INTEGRATOR_S}
      y: {type: SUM, signs: "++"}
    wires: [one -> n, n -> y.0, one -> y.1, y -> out.y]
  ramp:
    inputs: [on]
    outputs: [y]
    reset: {by: on}
    blocks: {one: {type: CONSTANT, value: 1}, y: {type: INTEGRATOR}}
    wires: [one -> y, y -> out.y]
blocks:
  one: {type: CONSTANT, value: 1}
"""
BEGUN = [
    ("ZOH", "c", None), ("ZOH", "late", 0.05), ("UNIT_DELAY", "c", 0.1),
    ("UNIT_DELAY", "late", 0.15),
]  # fmt: skip
"""What sets off a trigger and a reset: a block, its clock, and the time of the edge, if any."""


def starting(u):
    """A diagram with a trigger and a reset by each of BEGUN."""
    blocks, wires = "", []
    for n, (kind, clock, _) in enumerate(BEGUN):
        blocks += f"""\
  k{n}: {{type: {kind}, clock: {clock}}}
  go{n}: {{type: FCN, expression: "{u}"}}
  count{n}: {{type: count}}
  ramp{n}: {{type: ramp}}
  edges{n}: {{type: ZOH, clock: beside}}
  since{n}: {{type: ZOH, clock: beside}}
"""
        wires += [f"one -> k{n}", f"k{n} -> go{n}", f"go{n} -> count{n}, ramp{n}"]
        wires += [f"count{n} -> edges{n}", f"ramp{n} -> since{n}"]
    log = [f"{name}{n}" for n in range(len(BEGUN)) for name in ("edges", "since")]
    listed = ", ".join(f'"{wire}"' for wire in wires)
    return f"{STARTING}{blocks}wires: [{listed}]\nrun: {{T: 0.3, log: [{', '.join(log)}]}}\n"


@pytest.mark.parametrize("u", ["u", "u + 0*t"])
def test_the_side_on_which_a_run_starts_is_no_edge(u, outcome):
    found = outcome(starting(u))
    for n, (*_, edge) in enumerate(BEGUN):
        told = [(t, what) for t, block, what in found.events if block in (f"count{n}", f"ramp{n}")]
        assert told in ([], [(pytest.approx(edge or -1), what) for what in ("triggered", "reset")])
        if len(found.t):
            assert found.signals[f"edges{n}"][-1, 0] == (edge is not None)
            assert found.signals[f"since{n}"][-1, 0] == pytest.approx(0.275 - (edge or 0))
    assert len(found.events) in (0, 6)


MIXED = """
clocks: {c: {T: 0.1}, beside: {T: 0.1, offset: 0.05}}
subsystems:
  sub:
    inputs: [t, go]
    outputs: [z, w, x]
    enabled: {by: go}
    blocks:
      z: {type: ZOH, clock: c}
      one: {type: CONSTANT, value: 1}
      x: {type: INTEGRATOR}
    wires: [in.t -> z, z -> out.z, in.t -> out.w, one -> x, x -> out.x]
blocks:
  t: {type: TIME}
  k: {type: ZOH, clock: c}
  go: {type: FCN, expression: "k > 0.15 and t < 0.35", arguments: [k]}
  e: {type: sub}
  z: {type: ZOH, clock: c}
  w: {type: ZOH, clock: c}
  x: {type: ZOH, clock: c}
  other: {type: ZOH, clock: beside}
wires: [t -> k, k -> go.k, t -> e.t, go -> e.go, e.z -> z, e.w -> w, e.x -> x, t -> other]
run: {T: 0.5, log: [z, w, x]}
"""


def test_a_tick_enables_sampled_blocks_at_once_and_what_is_continuous_from_then_on(outcome):
    found = outcome(MIXED)
    if len(found.t):
        rows = np.searchsorted(found.t, 0.1 * np.arange(6) + 1e-9) - 1
        z, w, x = (found.signals[name][rows, 0] for name in "zwx")
        np.testing.assert_allclose(z, [0, 0, 0.2, 0.3, 0.3, 0.3], atol=1e-9)
        np.testing.assert_allclose(w, [0, 0, 0, 0.3, 0.35, 0.35], atol=1e-9)
        np.testing.assert_allclose(x, [0, 0, 0, 0.1, 0.15, 0.15], atol=1e-9)


TWO_CLOCKS = """
clocks: {fast: {T: 0.05}, slow: {T: 0.1}}
blocks:
  half: {type: CONSTANT, value: 0.5}
  quick: {type: LTI_SISO_S, clock: fast, N: [0.25, 0.25]}
  held: {type: SAMPLE_HOLD, clock: slow}
  seen: {type: ZOH, clock: fast}
wires: [half -> quick, "quick -> held.u, held.trigger", held -> seen]
run: {T: 0.3, log: [held, seen]}
"""


def test_a_block_that_shows_several_numbers_reads_them_as_they_were_before_the_tick(outcome):
    """SAMPLE_HOLD compares its trigger with the one of the tick before, and keeps the new one."""
    found = outcome(TWO_CLOCKS)
    if len(found.t):
        np.testing.assert_allclose(found.signals["held.y"][1:], 0.125)
        np.testing.assert_allclose(found.signals["seen"][1:], 0.125)
