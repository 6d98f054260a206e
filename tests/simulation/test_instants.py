"""Instants are those of the numbers that a file says: edges, `after`, ticks and the end meet."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.diagram.clocks import meant

ENGINES = ("interpreter", "native")

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
