"""STOP and EVENT act at the crossing itself, to 1e-10 s, on solvers of any tolerance."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb

TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def ball(bd, wire, height=1.0, bounce=0.5, g=10.0):
    """A ball dropped from a height, and an EVENT that throws it back at the ground."""

    def bounced(event, states):
        (speed,) = (x for block, x in states.items() if block.name == "v")
        speed[:] = -bounce * speed

    bd.CONSTANT(-g, name="g")
    bd.INTEGRATOR(x0=0.0, name="v")
    bd.INTEGRATOR(x0=height, name="y")
    bd.EVENT("-", bounced, name="ground")
    wire(bd, "g -> v", "v -> y", "y -> ground")
    return bd


def test_a_stop_ends_the_run_at_the_crossing(diagram, wire, simulate):
    # x = 1 - t^2/2 crosses zero going down at sqrt 2; STOP acts where its signal is > 0.
    bd = diagram()
    bd.RAMP(T=0.0, slope=1.0, name="ramp")
    bd.INTEGRATOR(x0=-1.0, name="x")
    bd.STOP(name="stop")
    wire(bd, "ramp -> x", "x -> stop")
    res = simulate(bd, T=5, **TIGHT)
    assert res.t[-1] == pytest.approx(np.sqrt(2), abs=1e-10)
    assert res.final_state.t == res.t[-1]
    assert abs(res.final_state.continuous["x"][0]) < 2e-10
    assert res.complete
    (event,) = res.events
    assert (event.block, event.what) == ("stop", "stopped the run")
    assert "stopped by block stop at t = 1.41421 s" in res.stopped


def test_a_stop_may_have_a_function_of_its_signal(diagram, wire, interpret):
    bd = diagram()
    bd.CONSTANT(1.0, name="one")
    bd.INTEGRATOR(x0=0.0, name="x")
    bd.STOP(func=lambda x: x > 0.3, name="stop")
    wire(bd, "one -> x", "x -> stop")
    res = interpret(bd, T=5)
    assert res.t[-1] == pytest.approx(0.3, abs=1e-10)


def test_a_stop_without_states_to_integrate_acts_at_the_tick_or_event(diagram, wire, interpret):
    bd = diagram()
    bd.STEP(T=0.7, name="step")
    bd.STOP(name="stop")
    wire(bd, "step -> stop")
    assert interpret(bd, T=5).t[-1] == pytest.approx(0.7, abs=1e-12)


def test_a_bouncing_ball_bounces_at_its_closed_form_times(diagram, wire, interpret):
    g, height, e = 10.0, 1.0, 0.5
    res = interpret(ball(diagram(), wire, height, e, g), T=1.25, every=0.01, **TIGHT)
    first = np.sqrt(2 * height / g)
    flights = 2 * first * e ** np.arange(1, 5)
    want = first + np.concatenate([[0], np.cumsum(flights)])
    want = want[want < 1.25]
    times = [event.t for event in res.events]
    assert len(times) == len(want) == 4
    np.testing.assert_allclose(times, want, rtol=0, atol=5e-10)
    y, v = res.final_state.continuous["y"][0], res.final_state.continuous["v"][0]
    flight, speed = 1.25 - want[-1], g * first * e**4
    assert v == pytest.approx(speed - g * flight, abs=1e-8)
    assert y == pytest.approx(speed * flight - g * flight**2 / 2, abs=1e-8)
    assert np.ravel(res["states.y"]).min() > -1e-8


def test_an_event_in_the_other_direction_does_not_fire(diagram, wire, interpret):
    bd = diagram()
    fired = []
    bd.CONSTANT(1.0, name="one")
    bd.INTEGRATOR(x0=-1.0, name="x")
    bd.EVENT("-", lambda event, states: fired.append("down"), name="down")
    bd.EVENT("+", lambda event, states: fired.append("up"), name="up")
    wire(bd, "one -> x", "x -> up, down")
    res = interpret(bd, T=3)
    assert fired == ["up"]
    assert [event.block for event in res.events] == ["up"]
    assert res.events[0].t == pytest.approx(1.0, abs=1e-10)


def test_two_crossings_within_one_step_come_in_order(diagram, wire, interpret):
    bd = diagram()
    fired = []
    bd.CONSTANT(1.0, name="one")
    bd.INTEGRATOR(x0=0.0, name="x")
    for name, level in (("late", 1.7), ("early", 1.6)):
        bd.CONSTANT(level, name=f"{name}_level")
        bd.SUM("+-", name=f"{name}_sum")
        bd.EVENT("+", lambda event, states: fired.append(event.name), name=name)
        wire(bd, f"x -> {name}_sum.0", f"{name}_level -> {name}_sum.1", f"{name}_sum -> {name}")
    wire(bd, "one -> x")
    res = interpret(bd, T=3)
    assert fired == ["early", "late"]
    np.testing.assert_allclose([event.t for event in res.events], [1.6, 1.7], atol=1e-10)


def test_an_event_starts_from_rest_and_is_not_lost_at_the_start(diagram, wire, interpret):
    # The signal begins at exactly zero and leaves it upward: that is a crossing.
    bd = diagram()
    fired = []
    bd.CONSTANT(1.0, name="one")
    bd.INTEGRATOR(x0=0.0, name="x")
    bd.EVENT("+", lambda event, states: fired.append(event.name), name="up")
    wire(bd, "one -> x", "x -> up")
    interpret(bd, T=1)
    assert fired == ["up"]


def test_a_failure_in_an_event_s_function_names_the_block(diagram, wire, interpret):
    bd = diagram()
    bd.CONSTANT(1.0, name="one")
    bd.INTEGRATOR(x0=-0.5, name="x")
    bd.EVENT("+", lambda event, states: 1 / 0, name="boom")
    wire(bd, "one -> x", "x -> boom")
    with pytest.raises(
        sb.RunError, match=r"block boom: .*ZeroDivisionError.* at t = 0.5"
    ) as caught:
        interpret(bd, T=2)
    assert caught.value.results.t[-1] <= 0.5 + 1e-9


def counter(bd, wire, name):
    """An EVENT, and a state that counts how often it fired."""

    def count(event, states):
        (state,) = (x for block, x in states.items() if block.name == f"{name}-count")
        state[:] = state + 1

    bd.CONSTANT(0.0, name=f"{name}-zero")
    bd.INTEGRATOR(x0=0.0, name=f"{name}-count")
    bd.EVENT("+", count, name=name)
    wire(bd, f"{name}-zero -> {name}-count")


def rising(bd, wire, zero):
    """s = t - zero."""
    bd.CONSTANT(1.0, name="one")
    bd.INTEGRATOR(x0=-zero, name="s")
    wire(bd, "one -> s")


@pytest.mark.parametrize("solver", ["RK45", "RK4", "CVODES", "Radau"])
def test_two_events_at_one_time_both_act(solver, diagram, wire):
    bd = diagram()
    rising(bd, wire, 0.5)
    counter(bd, wire, "a")
    counter(bd, wire, "b")
    wire(bd, "s -> a, b")
    res = sb.simulate(bd, engine="native", solver=solver, T=1)
    assert [event.block for event in res.events] == ["a", "b"]
    assert res.final_state.continuous["a-count"] == res.final_state.continuous["b-count"] == 1


def test_two_events_by_one_jump_both_act(diagram, wire, simulate):
    bd = diagram()
    bd.STEP(T=0.5, off=-1.0, on=1.0, name="step")
    counter(bd, wire, "a")
    counter(bd, wire, "b")
    wire(bd, "step -> a, b")
    assert [event.block for event in simulate(bd, T=1).events] == ["a", "b"]


@pytest.mark.parametrize("solver", ["RK45", "RK4"])
def test_a_stop_acts_where_a_clip_bends(solver, diagram, wire, simulate):
    # The bend is found first, being the first block; the stop comes with it.
    bd = diagram()
    rising(bd, wire, 0.5)
    bd.CLIP(min=-5.0, max=0.0, name="clip")
    bd.NULL(name="end")
    bd.STOP(name="stop")
    wire(bd, "s -> clip, stop", "clip -> end")
    assert simulate(bd, T=1, solver=solver).t[-1] == pytest.approx(0.5, abs=1e-10)


def test_an_event_acts_after_a_bend_where_nothing_is_integrated(diagram, wire, simulate):
    # Between two stops of a diagram without states, the bend at 0.3 comes first.
    bd = diagram()
    bd.TIME(name="time")
    bd.CONSTANT(0.6, name="late")
    bd.SUM("+-", name="s")
    bd.CLIP(min=-5.0, max=0.3, name="clip")
    bd.NULL(name="end")
    bd.EVENT("+", lambda event, states: None, name="event")
    wire(bd, "time -> clip, s.0", "late -> s.1", "clip -> end", "s -> event")
    res = simulate(bd, T=1, every=10)
    assert [event.t for event in res.events] == [pytest.approx(0.6, abs=1e-10)]


@pytest.mark.parametrize("early", [0.0, 1e-13, 1e-12, 5e-12])
def test_an_event_just_before_a_tick_fires_once(early, diagram, wire, simulate):
    bd = diagram()
    rising(bd, wire, 0.5 - early)
    counter(bd, wire, "event")
    bd.ZOH(bd.clock(0.1, unit="s"), x0=0.0, name="held")
    wire(bd, "s -> event, held")
    res = simulate(bd, T=1)
    assert len(res.events) == 1
    assert res.final_state.continuous["event-count"] == 1


def test_a_stop_at_the_end_keeps_the_last_sample(diagram, wire, simulate):
    bd = diagram()
    rising(bd, wire, 0.0)
    bd.STEP(T=1.0, name="step")
    bd.STOP(name="stop")
    wire(bd, "step -> stop")
    res = simulate(bd, T=1, every=0.3)
    assert res.stopped is not None
    np.testing.assert_array_equal(res.t, [0.0, 0.3, 0.6, 0.9, 1.0])


def test_what_a_reset_brings_about_is_seen_at_once(diagram, wire, simulate):
    # The event lifts the STOP's signal above zero, and a state beyond its limit.
    bd = diagram()

    def lift(event, states):
        for block, x in states.items():
            if block.name in ("high", "held"):
                x[:] = 5.0

    rising(bd, wire, 0.5)
    bd.CONSTANT(0.0, name="zero")
    bd.INTEGRATOR(x0=-1.0, name="high")
    bd.INTEGRATOR(x0=0.0, min=-1.0, max=1.0, name="held")
    bd.EVENT("+", lift, name="event")
    bd.STOP(name="stop")
    wire(bd, "zero -> high, held", "s -> event", "high -> stop")
    res = simulate(bd, T=2)
    assert [event.block for event in res.events] == ["event", "stop"]
    assert res.t[-1] == pytest.approx(0.5, abs=1e-10)
    assert res.final_state.continuous["held"] == 1.0


def test_a_state_that_starts_beyond_its_limit_is_put_on_it(diagram, wire, simulate):
    # Pushed outward all the time: without an event on the way, only the start can do it.
    bd = diagram()
    bd.CONSTANT(1.0, name="one")
    bd.INTEGRATOR(x0=0.4, min=-0.3, max=0.3, name="x")
    wire(bd, "one -> x")
    np.testing.assert_array_equal(simulate(bd, T=1, every=0.25).states["x"], np.full((5, 1), 0.3))


def test_crossings_without_end_are_refused(diagram, wire, simulate, monkeypatch):
    monkeypatch.setattr("spart_blocks.run.events.crossings.CHATTER", 50)
    monkeypatch.setattr("spart_blocks.run.events.crossings.CHATTERED", 1e-6)
    bd = diagram()
    bd.INTEGRATOR(x0=0.1, name="x")
    bd.FUNCTION(lambda x: -np.sign(x), name="relay")
    bd.EVENT("-", lambda event, states: None, name="down")
    bd.EVENT("+", lambda event, states: None, name="up")
    wire(bd, "x -> relay", "relay -> x", "x -> down, up")
    with pytest.raises(sb.RunError, match="crosses zero without end: 50 crossings") as caught:
        simulate(bd, T=1)
    assert caught.value.block in ("down", "up")
    assert caught.value.results.t[-1] == pytest.approx(0.1, abs=1e-5)


def test_samples_after_a_bend_are_kept_where_nothing_is_integrated(diagram, wire, simulate):
    bd = diagram()
    bd.TIME(name="time")
    bd.CLIP(0.26, 0.74, name="clip")
    wire(bd, "time -> clip")
    results = simulate(bd, T=1.0, every=0.125, log=["clip"])
    np.testing.assert_array_equal(results.t, np.arange(9) / 8)
    np.testing.assert_allclose(results["clip"], np.clip(results.t, 0.26, 0.74), atol=1e-9)
