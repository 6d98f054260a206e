"""Clocks tick at offset + k T exactly; steps, ramps and pieces switch exactly on time."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import bdsim
import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.diagram.network.clocks import exact
from spart_blocks.program.tracing.switching import rounded_times
from spart_blocks.run.record.recorder import Samples

CLOCKS = {"T": 1.0, "rtol": 1e-9, "atol": 1e-12}


def changes(res, name):
    """The sample times at which a signal differs from its last sample."""
    signal = np.ravel(res[name])
    return [t for t, a, b in zip(res.t[1:], signal[1:], signal[:-1], strict=True) if a != b]


def sampled_time(bd, wire, period, offset=0.0, name="zoh"):
    """A hold of the simulation's time, which starts at -1."""
    if not any(b.name == "time" for b in bd.blocklist):
        bd.TIME(name="time")
    bd.ZOH(bd.clock(period, offset=offset), x0=-1, name=name)
    wire(bd, f"time -> {name}")


# --- clocks ----------------------------------------------------------------------------------


def test_ticks_are_at_offset_plus_k_periods_from_k_zero(diagram, wire, simulate):
    bd = diagram()
    sampled_time(bd, wire, 0.25, offset=0.1)
    res = simulate(bd, **CLOCKS, every=0.05, log=["zoh"])
    assert res["zoh"][0] == -1
    np.testing.assert_allclose(changes(res, "zoh"), [0.1, 0.35, 0.6, 0.85], atol=1e-15)
    held = np.where(res.t < 0.1 - 1e-12, -1, 0.1 + 0.25 * np.floor((res.t - 0.1) / 0.25 + 1e-9))
    np.testing.assert_allclose(np.ravel(res["zoh"]), held, atol=1e-12)


def test_a_clock_without_offset_ticks_at_the_start(diagram, wire, simulate):
    bd = diagram()
    sampled_time(bd, wire, 0.5)
    res = simulate(bd, **CLOCKS, every=0.25, log=["zoh"])
    np.testing.assert_array_equal(np.ravel(res["zoh"]), [0, 0, 0.5, 0.5, 1.0])


def test_first_tick_bdsim_starts_one_period_later(diagram, wire, simulate):
    bd = diagram()
    sampled_time(bd, wire, 0.25, offset=0.1)
    res = simulate(bd, **CLOCKS, every=0.05, log=["zoh"], first_tick="bdsim")
    np.testing.assert_allclose(changes(res, "zoh"), [0.35, 0.6, 0.85], atol=1e-15)


@pytest.mark.parametrize("offset", [0.0, 0.1])
def test_first_tick_bdsim_is_what_bdsim_does(offset, diagram, wire, simulate, bdsim_runtime):
    def accumulator():
        bd = diagram()
        clock = bd.clock(0.25, offset=offset, name="tick")
        bd.INTEGRATOR_S(clock, x0=0, name="sum")
        bd.CONSTANT(1.0, name="one")
        bd.INTEGRATOR(x0=0, name="x")
        wire(bd, "one -> sum", "sum -> x")
        return bd

    ours = simulate(accumulator(), T=1.05, rtol=1e-9, atol=1e-12, first_tick="bdsim")
    bd = accumulator()
    bd.compile(report=False, verbose=False)
    theirs = bdsim_runtime.run(bd, T=1.05, solver_args={"rtol": 1e-9, "atol": 1e-12})
    assert ours.final_state.continuous["x"] == pytest.approx(theirs.x[-1], rel=1e-8)
    ticks = [offset + 0.25 * k for k in (1, 2, 3, 4) if offset + 0.25 * k < 1.05]
    np.testing.assert_allclose(theirs.tick.t, ticks, atol=1e-12)
    np.testing.assert_allclose(ours.final_state.discrete["sum"], theirs.tick.X[-1], rtol=1e-12)
    assert list(ours.final_state.ticks.values()) == [1 + len(ticks)]


def test_delays_on_one_clock_swap_their_values(diagram, wire, simulate):
    # Each reads what the other shows at the tick; in sequence both would become equal.
    bd = diagram()
    clock = bd.clock(0.1)
    bd.UNIT_DELAY(clock, initial=1, name="a")
    bd.UNIT_DELAY(clock, initial=2, name="b")
    wire(bd, "a -> b", "b -> a")
    res = simulate(bd, T=0.5, every=0.1, log=["a", "b"])
    np.testing.assert_array_equal(np.ravel(res["a"]), [1, 2, 1, 2, 1, 2])
    np.testing.assert_array_equal(np.ravel(res["b"]), [2, 1, 2, 1, 2, 1])


def test_two_clocks_due_together_read_what_is_shown_at_their_instant(diagram, wire, simulate):
    # 0.1 and 0.3 meet at 0.3, where floats do not: 3 * 0.1 > 0.3.
    assert 3 * 0.1 != 0.3
    bd = diagram()
    bd.TIME(name="time")
    bd.ZOH(bd.clock(0.1), x0=-1, name="fast")
    bd.ZOH(bd.clock(0.3), x0=-1, name="slow")
    wire(bd, "time -> fast", "fast -> slow")
    res = simulate(bd, T=1.2, every=0.1, log=["fast", "slow"])
    slow = np.ravel(res["slow"])
    np.testing.assert_allclose(np.ravel(res["fast"]), np.arange(13) / 10, atol=1e-15)
    want = [0, 0, 0, 0.3, 0.3, 0.3, 0.6, 0.6, 0.6, 0.9, 0.9, 0.9, 1.2]
    np.testing.assert_allclose(slow, want, atol=1e-15)


def test_a_thousand_ticks_of_a_hundredth_are_ten_seconds(diagram, wire, simulate):
    bd = diagram()
    bd.CONSTANT(1.0, name="one")
    bd.INTEGRATOR_S(bd.clock(0.01), x0=0, name="count")
    bd.SUM("++", name="sum")
    bd.UNIT_DELAY(bd.clock(0.01), name="ticks")
    wire(bd, "one -> count", "one -> sum.0", "ticks -> sum.1", "sum -> ticks")
    res = simulate(bd, T=10, every=1, log=["sum"])
    np.testing.assert_array_equal(np.ravel(res["sum"]), 100 * np.arange(11) + 1)
    assert list(res.final_state.ticks.values()) == [1001]


def test_samples_kept_at_ticks_are_those_after_them(diagram, wire, simulate):
    bd = diagram()
    sampled_time(bd, wire, 0.1)
    res = simulate(bd, T=1, every=0.1, log=["zoh"])
    want = [float(Fraction(k, 10)) for k in range(11)]
    np.testing.assert_array_equal(res.t, want)
    np.testing.assert_array_equal(np.ravel(res["zoh"]), want)


def test_a_sampled_loop_of_a_double_integrator_follows_its_z_transform(diagram, wire, simulate):
    # x'' = u held over h = 0.1: the states at the ticks obey x+ = A x + B u exactly.
    kp, kd, h = 2.0, 2.0, 0.1
    bd = diagram()
    bd.INTEGRATOR(x0=1.0, name="x")
    bd.INTEGRATOR(x0=0.0, name="v")
    bd.GAIN(-kp, name="p")
    bd.GAIN(-kd, name="d")
    bd.SUM("++", name="u")
    bd.ZOH(bd.clock(h), x0=0.0, name="hold")
    wire(bd, "x -> p", "v -> d, x", "p -> u.0", "d -> u.1", "u -> hold", "hold -> v")
    res = simulate(bd, T=8, every=h, rtol=1e-10, atol=1e-13, log=["x", "v"])
    A, B = np.array([[1, h], [0, 1]]), np.array([h * h / 2, h])
    state = np.array([1.0, 0.0])
    for k, (x, v) in enumerate(zip(np.ravel(res["x"]), np.ravel(res["v"]), strict=True)):
        np.testing.assert_allclose([x, v], state, rtol=0, atol=1e-9, err_msg=f"tick {k}")
        state = A @ state + B * (-kp * state[0] - kd * state[1])
    assert np.abs(state).max() < 1e-2  # and it is stable


@pytest.mark.parametrize(("period", "offset"), [(-0.1, 0.0), (0.0, 0.0), (0.1, -0.1)])
def test_a_clock_that_cannot_tick_is_refused(period, offset, diagram, wire, simulate):
    bd = diagram()
    sampled_time(bd, wire, period, offset)
    with pytest.raises(sb.DiagramError, match="the period must be positive, the offset not neg"):
        simulate(bd, T=1)


# --- known event times -----------------------------------------------------------------------

LOOSE = {"T": 3.0, "rtol": 1e-2, "atol": 1e-2, "every": 0.5}


@pytest.mark.parametrize("T", [1.0, 0.123456789, 2.7])
def test_a_step_switches_on_time_whatever_the_tolerance(T, diagram, wire, simulate):
    bd = diagram()
    bd.STEP(T=T, name="step")
    bd.INTEGRATOR(x0=0, name="x")
    wire(bd, "step -> x")
    res = simulate(bd, **LOOSE)
    np.testing.assert_allclose(np.ravel(res["x"]), np.maximum(0, res.t - T), rtol=0, atol=1e-12)


def test_a_ramp_starts_on_time_whatever_the_tolerance(diagram, wire, simulate):
    bd = diagram()
    bd.RAMP(T=1.1, off=0.5, slope=2.0, name="ramp")
    bd.INTEGRATOR(x0=0, name="x")
    wire(bd, "ramp -> x")
    res = simulate(bd, **LOOSE)
    want = 0.5 * res.t + np.maximum(0, res.t - 1.1) ** 2
    np.testing.assert_allclose(np.ravel(res["x"]), want, rtol=0, atol=1e-12)


def test_pieces_switch_on_time_whatever_the_tolerance(diagram, wire, interpret):
    pieces = [(0, 1.0), (0.7, -2.0), (1.3, 4.0), (2.9, 0.5)]
    bd = diagram()
    bd.PIECEWISE(seq=pieces, name="pieces")
    bd.INTEGRATOR(x0=0, name="x")
    wire(bd, "pieces -> x")
    res = interpret(bd, **LOOSE)
    want, last = np.zeros_like(res.t), 0.0
    for t, value in pieces:
        want += (value - last) * np.maximum(0, res.t - t)
        last = value
    np.testing.assert_allclose(np.ravel(res["x"]), want, rtol=0, atol=1e-12)


def test_signals_are_right_continuous_at_a_switch(diagram, wire, simulate):
    bd = diagram()
    bd.STEP(T=1.0, on=5.0, name="step")
    bd.INTEGRATOR(x0=0, name="x")
    wire(bd, "step -> x")
    res = simulate(bd, T=2, every=0.5, log=["step"])
    np.testing.assert_array_equal(np.ravel(res["step"]), [0, 0, 5, 5, 5])


def test_a_long_step_does_not_jump_over_a_pulse(diagram, wire, simulate):
    # A state at rest lets the solver take steps far longer than the pulse.
    bd = diagram()
    bd.STEP(T=50.0, name="up")
    bd.STEP(T=50.001, name="down")
    bd.SUM("+-", name="pulse")
    bd.INTEGRATOR(x0=0, name="x")
    wire(bd, "up -> pulse.0", "down -> pulse.1", "pulse -> x")
    res = simulate(bd, T=100)
    assert res.final_state.continuous["x"] == pytest.approx(0.001, abs=1e-14)


@pytest.mark.parametrize("solver", ["RK45", "DOP853", "RK23", "Radau", "BDF", "LSODA"])
def test_every_solver_follows_a_decay(solver, diagram, wire, simulate):
    bd = diagram()
    bd.INTEGRATOR(x0=1.0, name="x")
    bd.GAIN(-1.0, name="decay")
    wire(bd, "x -> decay", "decay -> x")
    res = simulate(bd, T=2, rtol=1e-8, atol=1e-10, solver=solver, every=0.5)
    np.testing.assert_allclose(np.ravel(res["x"]), np.exp(-res.t), rtol=2e-6)


def test_max_step_bounds_the_steps(diagram, wire, simulate):
    bd = diagram()
    bd.CONSTANT(1.0, name="one")
    bd.INTEGRATOR(x0=0, name="x")
    wire(bd, "one -> x")
    free = simulate(bd, T=1)
    bound = simulate(bd, T=1, max_step=0.01)
    assert free.info["steps"] < 20 <= 100 <= bound.info["steps"]


def test_bdsim_is_the_version_these_rules_were_read_from():
    assert bdsim.__version__ == "1.4.0"


@pytest.mark.parametrize(
    ("wave", "frequency", "phase", "want"),
    [
        # A square is high from phase to phase + duty, a triangle turns at phase + 1/4 and 3/4.
        ("square", 1.0, 0.9, {0.4, 0.9}),
        ("square", -1.0, 0.2, {0.3, 0.8}),
        ("triangle", 1.0, 0.9, {0.15, 0.65}),
        ("triangle", -2.0, 0.2, {0.025, 0.275, 0.525, 0.775}),
    ],
)
def test_a_wave_is_known_to_switch_in_its_first_period(wave, frequency, phase, want, diagram, wire):
    bd = diagram()
    bd.WAVEFORM(wave, freq=frequency, phase=phase, duty=0.5, name="wave")
    bd.INTEGRATOR(x0=0.0, name="x")
    wire(bd, "wave -> x")
    times = set(rounded_times(sb.trace(bd).switches(), Fraction(0), Fraction(1)).tolist())
    np.testing.assert_allclose(sorted(times), sorted(want), rtol=0, atol=1e-12)


def test_a_step_at_infinity_never_comes(diagram, wire, simulate):
    bd = diagram()
    bd.STEP(T=np.inf, name="step")
    bd.INTEGRATOR(x0=0.0, name="x")
    wire(bd, "step -> x")
    assert simulate(bd, T=1).final_state.continuous["x"] == 0.0


@pytest.mark.parametrize("count", [-(10**300), 3, 10**9])
def test_a_state_whose_ticks_do_not_fit_its_time_is_refused(diagram, wire, simulate, count):
    """A damaged file else makes a run catch up with all ticks since."""
    bd = diagram()
    sampled_time(bd, wire, 0.25)
    state = simulate(bd, T=2.1).final_state
    (name,) = state.ticks
    with pytest.raises(sb.InputError, match=r"the state at t = 2.1 s counts .* ticks of the clock"):
        simulate(bd, T=3.0, initial=replace(state, ticks={name: count}))
    assert simulate(bd, T=3.0, initial=replace(state, ticks={name: 9})).complete


@pytest.mark.parametrize("solver", ["RK45", "LSODA"])
def test_an_interval_that_is_a_rounded_part_of_the_run_has_no_sample_beside_the_end(
    solver, diagram, wire, simulate
):
    T, n = 0.03, 300
    assert float(n * exact(T / n)) != T  # rounding parts them
    bd = diagram()
    bd.CONSTANT(1.0, name="one")
    bd.INTEGRATOR(x0=0.0, name="x")
    wire(bd, "one -> x")
    whole = simulate(bd, T=T, every=T / n, solver=solver, log=["x"])
    assert len(whole.t) == n + 1
    assert whole.t[-1] == T
    np.testing.assert_allclose(np.diff(whole.t), T / n, rtol=1e-12)
    # Nor beside the start of a run that goes on there.
    more = simulate(bd, T=2 * T, every=T / n, solver=solver, initial=whole.final_state)
    assert more.t[0] == T
    np.testing.assert_allclose(np.diff(more.t), T / n, rtol=1e-12)


def test_a_time_beside_the_end_that_rounding_does_not_explain_is_kept():
    end = Fraction(3, 100)
    close = Samples(Fraction(0), (end - Fraction(1, 10**15)) / 3, end)
    assert len(close.ahead()) == len(close.within(Fraction(0), end)) + 1 == 4
    rounded = Samples(Fraction(0), (end - Fraction(1, 10**18)) / 3, end)
    assert len(rounded.ahead()) == len(rounded.within(Fraction(0), end)) + 1 == 3
    assert len(rounded.before(end)) == 3  # 0 too; the end itself is kept as such
