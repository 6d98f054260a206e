"""Crossings are located on any function, however ill, and alike on both engines."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.tableaus import FIXED_STEP
from spart_blocks.formulas.crossings import LOCATED_WITHIN
from spart_blocks.program.tracing.switching import Crossing
from spart_blocks.run.events.crossings import locate


def located(values, direction, sign, t0, t1):
    crossing = Crossing("b", "event", direction)
    found, k = locate(
        lambda t: np.array([values(t)]),
        lambda before, after: [0] if crossing.crossed(before[0], after[0]) else [],
        np.array([-sign]),
        np.array([sign]),
        t0,
        t1,
    )
    assert k == 0
    return found


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("direction", [0.0, None])
def test_any_function_gives_a_time_within_the_step(sign, direction):
    rng = np.random.default_rng(0)
    for _ in range(300):
        knots = rng.choice([-1.0, 0.0, 1.0, np.nan, np.inf, 1e-320], size=17)
        one_way = sign if direction is None else 0.0
        got = located(lambda t, k=knots: k[int(16 * t)], one_way, sign, 0.0, 1.0)
        assert 0 < got <= 1


def test_a_dense_output_that_misses_the_end_gives_the_end():
    # All of it lies before zero: only the state at the end has crossed.
    assert located(lambda t: -1.0, 1.0, 1.0, 2.0, 3.0) == 3.0


def test_a_step_of_a_rounding_s_length_ends():
    end = np.nextafter(1e9, 2e9)
    assert located(lambda t: -1.0, 1.0, 1.0, 1e9, end) == end


def test_of_a_signal_that_crosses_thrice_in_a_step_one_crossing_is_found(load):
    text = """
blocks:
  t: {type: TIME}
  s: {type: FCN, expression: "cos(3*pi*t/0.04) + 0.0*u"}
  one: {type: CONSTANT, value: 1}
  c: {type: COMPARE, operator: ">", constant: 0}
  y: {type: INTEGRATOR}
wires: [t -> s, s -> c, c -> y]
run: {T: 0.04, solver: RK45, log: [c]}
"""
    text = text.replace("  one: {type: CONSTANT, value: 1}\n", "")
    for engine in ("native", "interpreter"):
        got = sb.simulate(load(text), engine=engine)
        assert got.complete
        assert 0.04 / 6 <= got["y"][-1] <= 0.04 * 5 / 6


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("solver", ["RK45", "RK4", "Radau"])
def test_values_that_are_no_numbers_are_on_neither_side(engine, solver, load):
    # sqrt(t - 0.5) is no number before 0.5 s; the sum stays one.
    text = """
blocks:
  t: {type: TIME}
  c: {type: FCN, expression: "1 if sqrt(u - 0.5) > 0.3 else 2"}
  y: {type: INTEGRATOR}
wires: [t -> c, c -> y]
run: {T: 1, rtol: 1.0e-10, atol: 1.0e-12}
"""
    got = sb.simulate(load(text), engine=engine, solver=solver)
    jump = 0.5 + 0.3**2
    assert got["y"][-1] == pytest.approx(2 * jump + (1 - jump), abs=1e-7)


def test_times_are_known_within_their_width():
    got = located(lambda t: t - 0.3, 1.0, 1.0, 0.0, 1.0)
    assert 0.3 <= got <= 0.3 + LOCATED_WITHIN


LEVEL = """
blocks:
  rise: {type: RAMP, T: 0, slope: 1}
  down: {type: CONSTANT, value: -1}
  fall: {type: INTEGRATOR, x0: 0.5}
  sum: {type: SUM, signs: "++"}
  clip: {type: CLIP, min: -0.7, max: 0.7}
  x: {type: INTEGRATOR}
wires: [down -> fall, rise -> sum.0, fall -> sum.1, sum -> clip, clip -> x]
run: {T: 2, max_step: 0.01, log: [x]}
"""


@pytest.mark.parametrize("solver", FIXED_STEP)
def test_a_bend_that_only_a_former_state_would_cross_ends_no_step(solver, load, monkeypatch):
    """The sum stays at 0.5, where what falls rises by as much with time."""
    taken = []
    for compiler in ("", "none"):
        monkeypatch.setenv("SPART_COMPILER", compiler)
        got = sb.simulate(load(LEVEL), solver=solver)
        taken.append((got.info["steps"], got.info["evaluations"]))
    assert taken[0] == taken[1]


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_a_mode_changes_at_a_known_event_whose_time_is_rounded(tmp_path, engine):
    """At t = 1.1 / 0.21, as rounded, the square wave is not above zero yet; just after it is, and
    the next stop is a tick at 5.3 s."""
    (tmp_path / "square.yaml").write_text("""
clocks: {c: {T: 0.1}}
blocks:
  square: {type: WAVEFORM, wave: square, freq: 0.21, phase: 0.1}
  hold: {type: ZOH, clock: c}
  relay: {type: RELAY, on: 0, off: 0}
  i: {type: INTEGRATOR}
wires: [square -> relay, square -> hold, relay -> i]
run: {T: 8}
""")
    events = sb.simulate(tmp_path / "square.yaml", engine=engine).events
    want = (0.1 + np.arange(4) / 2) / 0.21
    np.testing.assert_allclose([float(event.t) for event in events], want, atol=1e-9)
