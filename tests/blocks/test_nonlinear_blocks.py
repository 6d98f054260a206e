"""SATURATION, DEADZONE, QUANTIZER and the rate limiters against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from same_results import assert_same_results

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError
from spart_blocks.formulas.crossings import LEVEL_BITS, level_crossings

ENGINES = ("native", "interpreter")
SOLVERS = ("RK45", "DOP853", "Radau", "LSODA", "CVODES")


def output(block, *inputs):
    return block.output(0.0, list(inputs), None)[0]


# --- values -------------------------------------------------------------------------------


def test_limits_may_be_one_sided_and_differ_by_entry(make):
    u = np.array([-2.0, 0.0, 2.0])
    np.testing.assert_array_equal(output(make("SATURATION", upper=1.0), u), [-2, 0, 1])
    np.testing.assert_array_equal(output(make("SATURATION", lower=-1.0), u), [-1, 0, 2])
    block = make("SATURATION", lower=[-1.0, 0.5, -1.0], upper=1.0)
    np.testing.assert_array_equal(output(block, u), [-1, 0.5, 1])
    assert output(make("SATURATION", lower=-1.0, upper=1.0), 3.0) == 1.0


def test_a_dead_zone_gives_what_exceeds_it(make):
    block = make("DEADZONE", lower=-0.5, upper=1.0)
    got = [output(block, u) for u in (-2.0, -0.5, 0.0, 1.0, 3.0)]
    assert got == [-1.5, 0.0, 0.0, 0.0, 2.0]


def test_a_quantizer_rounds_halves_away_from_zero(make):
    # MATLAB's round, which Simulink's Quantizer takes: round(-2.5) is -3, round(0.5) is 1.
    u = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4999, -0.4999])
    np.testing.assert_array_equal(
        output(make("QUANTIZER", interval=1.0), u), [-3, -2, -1, 1, 2, 3, 2, 0]
    )
    assert output(make("QUANTIZER", interval=0.25, offset=0.1), 0.3) == pytest.approx(0.35)


@pytest.mark.parametrize("passed", range(1, 2**LEVEL_BITS))
def test_no_step_over_up_to_fifteen_levels_looks_like_none(passed):
    for level in range(-20, 20):
        before = np.array(level_crossings(level + 0.3)) <= 0
        after = np.array(level_crossings(level + passed + 0.3)) <= 0
        assert (before != after).any(), (level, passed)
        if passed == 1:  # a Gray code: one bit at a time
            assert (before != after).sum() == 1


def test_levels_change_signs_at_whole_numbers_alone():
    inside = np.linspace(0.001, 0.999, 50)
    for level in range(-17, 17):
        signs = {tuple(np.array(level_crossings(level + v)) <= 0) for v in inside}
        assert len(signs) == 1


# --- in a run ------------------------------------------------------------------------------

# The mean of a clipped sine, of what exceeds a zone, and of a ramp in steps.
BENT = """
name: bent
blocks:
  t: {type: TIME}
  wave: {type: WAVEFORM, wave: sine, freq: 0.5}
  two: {type: GAIN, K: [1, -1]}
  clip: {type: SATURATION, lower: -0.2, upper: [0.5, 0.25]}
  zone: {type: DEADZONE, lower: -0.6, upper: 0.3}
  steps: {type: QUANTIZER, interval: 0.125}
  of_clip: {type: INTEGRATOR, x0: [0, 0]}
  of_zone: {type: INTEGRATOR}
  of_steps: {type: INTEGRATOR}
wires:
  - wave -> two, zone
  - two -> clip
  - t -> steps
  - clip -> of_clip
  - zone -> of_zone
  - steps -> of_steps
run: {T: 2, rtol: 1.0e-9, atol: 1.0e-11, log: [of_clip, of_zone, of_steps]}
"""


def above(limit):
    """The integral of max(sin(pi t) - limit, 0) over its half wave of 1 s."""
    start = np.arcsin(limit) / np.pi
    return 2 * np.cos(np.pi * start) / np.pi - limit * (1 - 2 * start)


HALF = 2 / np.pi
WANTED = {
    "of_clip": [above(0.2) - above(0.5), above(0.2) - above(0.25)],
    "of_zone": above(0.3) - above(0.6),
    # Of 16 steps of 1/8 the first and the last are half as wide.
    "of_steps": 0.125 * (sum(range(1, 16)) * 0.125 + 16 * 0.0625),
}


@pytest.mark.parametrize("solver", SOLVERS)
def test_integrals_of_bent_signals_have_their_closed_forms(load, solver):
    got = sb.simulate(load(BENT), solver=solver, engine="native")
    for name, want in WANTED.items():
        assert got[name][-1] == pytest.approx(np.array(want), abs=1e-6), name


def test_bent_signals_are_the_interpreter_s(load):
    diagram = load(BENT)
    tight = {"rtol": 1e-11, "atol": 1e-13, "every": diagram.run.T / 500}
    native = sb.simulate(diagram, engine="native", **tight)
    other = sb.simulate(diagram, engine="interpreter", **tight)
    assert_same_results(native, other, rel=1e-7)
    for name in ("clip", "zone", "steps"):
        np.testing.assert_allclose(native[name], other[name], rtol=1e-10, atol=1e-14)


def test_limits_are_parameters_of_the_program(load):
    program = sb.trace(load(BENT)).with_parameters({"clip.upper": [0.4, 0.4], "zone.lower": -0.9})
    got = sb.simulate(program)
    assert got["of_clip"][-1] == pytest.approx(above(0.2) - above(0.4), abs=1e-6)
    assert got["of_zone"][-1] == pytest.approx(above(0.3) - above(0.9), abs=1e-6)


# A step of 1 at 3 per second up, and of -1 at 0.5 per second down, and a ramp within limits.
RATES = """
name: rates
clocks: {c: {rate: 10}}
blocks:
  step: {type: STEP, T: 0, on: [1, -1]}
  slow: {type: RATE_LIMITER, rising: 3, falling: -0.5, bandwidth: 10, x0: [0, 0]}
  ramp: {type: RAMP, T: 0, slope: 2}
  near: {type: RATE_LIMITER, rising: 3, bandwidth: 50}
  wave: {type: WAVEFORM, wave: square, freq: 0.4}
  sampled: {type: RATE_LIMITER_S, clock: c, rising: 2, falling: -1, x0: 0.5}
wires: [step -> slow, ramp -> near, wave -> sampled]
run: {T: 3, rtol: 1.0e-10, atol: 1.0e-12, log: [slow, near, sampled]}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rate_limiter_goes_straight_and_then_in_a_first_order_lag(load, engine):
    got = sb.simulate(load(RATES), engine=engine)
    t = got.t
    # Up: at 3 per second until 1 - y = 3/10; down: at 0.5 until y + 1 = 0.5/10.
    up, down = 0.7 / 3, 0.95 / 0.5
    rise = np.where(t < up, 3 * t, 1 - 0.3 * np.exp(-10 * (t - up)))
    fall = np.where(t < down, -0.5 * t, -1 + 0.05 * np.exp(-10 * (t - down)))
    np.testing.assert_allclose(got["slow"], np.stack([rise, fall], axis=1), atol=1e-8)
    assert np.diff(got["slow"][:, 0]).max() <= 3 * np.diff(t).max() + 1e-9


def test_a_rate_limiter_follows_a_ramp_with_the_error_that_it_says(load):
    got = sb.simulate(load(RATES))
    error = 2 * got.t - got["near"]
    np.testing.assert_allclose(error, 2 / 50 * (1 - np.exp(-50 * got.t)), atol=1e-8)


def test_the_sampled_rate_limiter_is_exact(load):
    got = sb.simulate(load(RATES), every=0.1)
    y, want = 0.5, []
    for k in range(31):
        u = 1.0 if (0.4 * k * 0.1 + 1e-9) % 1.0 < 0.5 else -1.0
        y += np.clip(u - y, -0.1, 0.2)
        want.append(y)
    np.testing.assert_allclose(got["sampled"][:30], want[:30], atol=1e-12)


def test_rate_limiters_are_the_interpreter_s(load):
    diagram = load(RATES)
    every = diagram.run.T / 500
    native = sb.simulate(diagram, engine="native", every=every)
    other = sb.simulate(diagram, engine="interpreter", every=every)
    assert_same_results(native, other, rel=1e-7)


# --- what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("SATURATION", "it has no limit"),
        ("SATURATION, lower: 1, upper: [2, 0]", "lower is 1.0, above upper"),
        ("SATURATION, lower: [1, 2], upper: [2, 3, 4]", "lower has 2 entries and upper has 3"),
        ("SATURATION, lower: .inf", "lower must be finite"),
        ("DEADZONE, lower: 1, upper: 0", "lower is 1.0, above upper, 0.0"),
        ("QUANTIZER, interval: 0", "interval must be above zero"),
        ("QUANTIZER, interval: -1", "interval must be above zero"),
        ("RATE_LIMITER, rising: 0", "rising must be above zero"),
        ("RATE_LIMITER, rising: 1, falling: 1", "falling must be below 0"),
        ("RATE_LIMITER, rising: 1, bandwidth: 0", "bandwidth must be above zero"),
        ("RATE_LIMITER, rising: [1, 2], x0: [0, 0, 0]", "falling has 2 entries and x0 has 3"),
    ],
)
def test_a_wrong_parameter_is_refused_where_it_is_written(load, block, told):
    with pytest.raises(DiagramError) as refused:
        load(f"blocks:\n  u: {{type: TIME}}\n  b: {{type: {block}}}\n")
    assert told in str(refused.value)
    assert "diagram.yaml:3:" in str(refused.value)


def test_a_signal_of_another_length_than_the_limits_is_refused(load):
    text = """
blocks:
  u: {type: CONSTANT, value: [1, 2, 3]}
  clip: {type: SATURATION, lower: [0, 0]}
wires: [u -> clip]
"""
    with pytest.raises(DiagramError, match=r"u is \(3,\), clip.u takes \(2,\)"):
        sb.simulate(load(text), T=0.1)
