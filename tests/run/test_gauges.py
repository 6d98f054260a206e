"""Metrics are measured over the whole run, within its steps, whatever is kept."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spart_blocks.run import begin, finish
from spart_blocks.run.measure.gauges import Extremes, Gauge, Panels, straight
from spart_blocks.run.measure.step_meter import StepAnswer

# x' = 2 (goal - x) from the step at 1 s on; the wave is a source that no state depends on.
LAG = """
blocks:
  goal: {type: STEP, T: 1.0}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: 2.0}
  x: {type: INTEGRATOR}
  wave: {type: WAVEFORM, wave: sine, freq: 3.0}
  scope: {type: SCOPE}
wires: [goal -> error.0, x -> error.1, error -> gain, gain -> x, x -> scope, wave -> scope.1]
run: {T: 5, rtol: 1.0e-9, atol: 1.0e-11}
""".replace("{type: SCOPE}", "{type: SCOPE, nin: 2}").replace("x -> scope,", "x -> scope.0,")
EFFORT, PEAK = Gauge("square", "gain"), Gauge("extremes", "gain")
ANSWER, ERROR = Gauge("step", "x", "goal"), Gauge("extremes", "x", "goal")
LATE, WAVE = Gauge("extremes", "x", since=2.0), Gauge("extremes", "wave")
POWER, BACK = Gauge("square", "wave"), Gauge("falling_back", "wave")
AREA, LATE_AREA = Gauge("integral", "x"), Gauge("integral", "x", "goal", since=2.0)
GAUGES = [AREA, LATE_AREA, EFFORT, PEAK, ANSWER, ERROR, LATE, WAVE, POWER, BACK]
RUNS = [
    ("native", {}),
    ("native", {"every": 1.0}),
    ("native", {"solver": "CVODES"}),
    ("native", {"solver": "RK4", "max_step": 0.005}),
    ("native", {"solver": "DOP853", "every": 2.5}),
    ("interpreter", {}),
    ("interpreter", {"every": 1.0}),
]


@pytest.mark.parametrize(("engine", "options"), RUNS)
def test_metrics_are_those_of_the_closed_form(load, engine, options):
    run = begin(load(LAG), engine=engine, **options)
    run.measure(GAUGES)
    finish(run)
    found = {gauge: {k: float(v[0]) for k, v in r.items()} for gauge, r in run.readings.items()}
    close = {"rel": 1e-6, "abs": 1e-7}
    assert found[PEAK]["most"] == pytest.approx(2.0, **close)
    assert found[PEAK]["when_most"] == pytest.approx(1.0, abs=1e-9)
    assert found[EFFORT]["integral"] == pytest.approx(1 - math.exp(-16), **close)
    assert found[ERROR]["least"] == pytest.approx(-1.0, **close)
    assert found[ANSWER]["rise_time"] == pytest.approx(math.log(9) / 2, **close)
    assert found[ANSWER]["settling_time"] == pytest.approx(math.log(50) / 2, **close)
    assert found[ANSWER]["overshoot_percent"] == pytest.approx(0.0, abs=1e-4)
    assert found[LATE]["least"] == pytest.approx(1 - math.exp(-2), **close)
    assert found[WAVE]["most"] == pytest.approx(1.0, **close)
    assert found[WAVE]["when_least"] == pytest.approx(0.25, abs=2.0)
    assert found[POWER]["integral"] == pytest.approx(2.5, **close)
    assert found[BACK]["back"] == pytest.approx(2.0, **close)
    # x = 1 - exp(-2 (t - 1)) from 1 s on.
    assert found[AREA]["integral"] == pytest.approx(4 - (1 - math.exp(-8)) / 2, **close)
    assert found[AREA]["span"] == pytest.approx(5.0)
    late = -(math.exp(-2) - math.exp(-8)) / 2
    assert found[LATE_AREA]["integral"] == pytest.approx(late, **close)
    assert found[LATE_AREA]["span"] == pytest.approx(3.0)


def test_a_vector_has_a_value_for_each_element_and_slices_are_taken(load):
    text = """
blocks:
  u: {type: CONSTANT, value: [1.0, -2.0, 3.0]}
  x: {type: INTEGRATOR, x0: [0.0, 0.0, 0.0]}
  scope: {type: SCOPE, vector: 3}
wires: [u -> x, x -> scope]
run: {T: 2}
"""
    run = begin(load(text))
    whole, part = Gauge("extremes", "x"), Gauge("extremes", "x[1:3]")
    run.measure([whole, part, Gauge("extremes", "nothing"), Gauge("extremes", "x[7]")])
    finish(run)
    np.testing.assert_allclose(run.readings[whole]["last"], [2.0, -4.0, 6.0], atol=1e-9)
    np.testing.assert_allclose(run.readings[part]["least"], [-4.0, 0.0], atol=1e-9)
    assert set(run.readings) == {whole, part}  # who asked for the others tells


def test_many_panels_go_through_a_little_room(load):
    run = begin(load(LAG), solver="RK4", max_step=1e-4)
    run.measure([EFFORT])
    finish(run)
    assert float(run.readings[EFFORT]["integral"][0]) == pytest.approx(1 - math.exp(-16), rel=1e-9)


@pytest.mark.parametrize(
    ("reference", "none"),
    [
        ([(0, 0), (1, 0), (1, 1), (3, 1)], False),
        ([(0, 0), (1, 0), (2, 1), (3, 1)], True),  # it glides there
        ([(0, 0), (1, 0), (1, 1), (3, 1.5)], True),  # it still moves
        ([(0, 0), (1, 0.5), (1, 1), (3, 1)], True),  # it jumps from what is no constant
    ],
)
def test_a_step_jumps_from_one_constant_to_the_last(reference, none):
    t, r = np.array(reference, float).T
    meter = StepAnswer(1)
    for k in range(len(t) - 1):
        if t[k + 1] > t[k]:  # fed piece by piece, as a run does
            y = np.array([[0.8 * t[k], r[k]], [0.8 * t[k + 1], r[k + 1]]])
            meter.take(straight(t[k : k + 2], y))
    assert np.isnan(meter.read()["rise_time"][0]) == none


@pytest.mark.parametrize(
    "nodes",
    [
        [20.0, 20.0, 20.0, 20.0, 19.9],  # leaves the limit within the panel
        [-3.0, 11.0, 20.0, 20.0, 20.0],
        [20.0, 20.0, 20.0, 19.0, 17.67],
        [19.895943620107534, 19.913917053805882, 19.94798178590628, 19.982037993583347, 20.0],
    ],
)
def test_what_saturates_goes_nowhere_beyond(nodes):
    for sign in (1.0, -1.0):
        meter = Extremes(1)
        meter.take(Panels(np.zeros(1), np.ones(1), sign * np.array(nodes)[None, :, None]))
        found = meter.read()
        assert max(abs(found["most"][0]), abs(found["least"][0])) == 20.0


@pytest.mark.parametrize("value", [0.5, 0.1, math.pi, -1 / 3])
@pytest.mark.parametrize("since", [1.0, 1 / 3, 0.7])
def test_a_constant_is_at_its_extremes_from_the_first_instant_on(value, since):
    panels = Panels(np.array([0.0, 1.2]), np.array([1.2, 2.9]), np.full((2, 5, 1), value))
    meter = Extremes(1)
    meter.take(panels.within(since, 5.0))
    found = meter.read()
    assert (found["least"][0], found["most"][0]) == (value, value)
    assert (found["when_least"][0], found["when_most"][0]) == (since, since)
