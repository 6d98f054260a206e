"""Balls at closed-form times: each bounce, and where the bounces accumulate (Zeno)."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
RUNS = [("native", s) for s in ("RK45", "RK4", "CVODES", "Radau")]
RUNS += [("interpreter", s) for s in ("RK45", "RK4", "Radau")]
FALL = np.sqrt(0.2)
"""From 1 m at g = 10 m/s^2."""


def ball(diagram, wire, keeps):
    """A ball on a floor, which keeps this part of its speed at a bounce."""

    def bounce(event, states):
        states["v"] = -keeps * states["v"]

    bd = diagram()
    bd.CONSTANT(-10.0, name="g")
    bd.INTEGRATOR(x0=0.0, name="v")
    bd.INTEGRATOR(x0=1.0, name="y")
    bd.EVENT("-", bounce, name="ground")
    wire(bd, "g -> v", "v -> y", "y -> ground")
    return bd


def closed_form(keeps, t):
    """Height of the ball at times t; it rests after the last bounce."""
    at, speed = FALL, 10 * FALL
    y = np.zeros_like(t)
    first = t < at
    y[first] = 1 - 5 * t[first] ** 2
    while speed > 1e-12:
        speed *= keeps
        flight = 2 * speed / 10
        on = (t >= at) & (t < at + flight)
        s = t[on] - at
        y[on] = speed * s - 5 * s**2
        at += flight
    return y


@pytest.mark.parametrize("keeps", [0.5, 0.8])
@pytest.mark.parametrize(("engine", "solver"), RUNS)
def test_a_ball_bounces_to_where_its_bounces_accumulate(engine, solver, keeps, diagram, wire):
    bd = ball(diagram, wire, keeps)
    with pytest.raises(sb.RunError, match=r"resets accumulate \(Zeno\)") as caught:
        sb.simulate(bd, engine=engine, solver=solver, T=20.0, every=0.01, **TIGHT)
    error, got = caught.value, caught.value.results
    end = FALL * (1 + keeps) / (1 - keeps)
    assert error.block == "ground"
    within = 1e-4 if solver == "CVODES" else 1e-7
    assert error.time == pytest.approx(end, abs=within)
    assert "sliding: filippov" in error.hint
    times = np.array([event.t for event in got.events])
    flights = 2 * FALL * keeps ** np.arange(1, 9)
    want = FALL + np.concatenate([[0], np.cumsum(flights)])
    assert times[: len(want)] == pytest.approx(want, abs=1e-6 if solver == "CVODES" else 1e-8)
    y = closed_form(keeps, got.t)
    assert np.ravel(got["y"]) == pytest.approx(y, abs=1e-6)
    assert np.ravel(got["y"]).min() > -1e-6
    assert not got.complete


@pytest.mark.parametrize(("engine", "solver"), RUNS)
def test_a_ball_that_stops_dead_does_not_fall_through(engine, solver, diagram, wire):
    with pytest.raises(sb.RunError, match="goes on through") as caught:
        sb.simulate(ball(diagram, wire, 0.0), engine=engine, solver=solver, T=2.0, **TIGHT)
    assert caught.value.block == "ground"
    assert caught.value.time == pytest.approx(FALL, abs=1e-7)


@pytest.mark.parametrize("solver", ["RK45", "RK4", "CVODES"])
def test_steps_longer_than_a_flight_overlook_no_bounce(solver, diagram, wire):
    # The flights after the third bounce are shorter than the steps of 0.2 s.
    got = sb.simulate(
        ball(diagram, wire, 0.5), engine="native", solver=solver, T=1.3, max_step=0.2, **TIGHT
    )
    assert len(got.events) == 5
    y = closed_form(0.5, np.array([1.3]))
    assert got.final_state.continuous["y"] == pytest.approx(y, abs=1e-6)


def test_an_event_that_only_slows_its_signal_lets_it_pass(diagram, wire, simulate):
    # At the water's surface the ball keeps half its speed, and sinks on.
    def splash(event, states):
        states["v"] *= 0.5

    bd = diagram()
    bd.CONSTANT(-10.0, name="g")
    bd.INTEGRATOR(x0=0.0, name="v")
    bd.INTEGRATOR(x0=1.0, name="y")
    bd.EVENT("-", splash, name="water")
    wire(bd, "g -> v", "v -> y", "y -> water")
    got = simulate(bd, T=2.0, **TIGHT)
    assert got.complete
    s = 2.0 - FALL
    assert got.final_state.continuous["y"] == pytest.approx([-5 * FALL * s - 5 * s**2], abs=1e-7)
    assert len(got.events) == 1


def test_two_balls_bounce_each_in_its_own_time(diagram, wire, simulate):
    bd = diagram()
    bd.CONSTANT(-10.0, name="g")
    for k, height in enumerate((1.0, 2.0)):

        def bounce(event, states, v=f"v{k}"):
            states[v] *= -1.0

        bd.INTEGRATOR(x0=0.0, name=f"v{k}")
        bd.INTEGRATOR(x0=height, name=f"y{k}")
        bd.EVENT("-", bounce, name=f"ground{k}")
        wire(bd, f"g -> v{k}", f"v{k} -> y{k}", f"y{k} -> ground{k}")
    got = simulate(bd, T=10.0, **TIGHT)
    assert got.complete
    for k, height in enumerate((1.0, 2.0)):
        times = [event.t for event in got.events if event.block == f"ground{k}"]
        fall = np.sqrt(height / 5)
        want = fall * np.arange(1, 2 * len(times), 2)
        assert 10.0 - want[-1] < 2 * fall
        assert times == pytest.approx(want, abs=1e-7)


REST = {"rtol": 1e-9, "atol": 1e-11, "max_step": 0.04, "every": 0.04, "sliding": "filippov"}


@pytest.mark.parametrize("keeps", [0.5, 0.0])
@pytest.mark.parametrize(("engine", "solver"), RUNS)
def test_a_ball_comes_to_rest_on_the_floor(engine, solver, keeps, diagram, wire):
    got = sb.simulate(ball(diagram, wire, keeps), engine=engine, solver=solver, T=2.0, **REST)
    assert got.complete
    rest = got.events[-1]
    assert (rest.block, rest.what) == ("ground", "rests at zero")
    assert rest.t == pytest.approx(FALL * (1 + keeps) / (1 - keeps), abs=1e-4)
    late = got.t > rest.t
    assert np.abs(got["y"][late]).max() < 1e-12
    assert np.abs(got["v"][late]).max() < 1e-9
    assert np.ravel(got["y"]).min() > -1e-6


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("jumps", [True, False])
def test_a_ball_at_rest_is_lifted_off_by_what_pulls_it(engine, jumps, diagram, wire):
    # Gravity turns at 1 s to +2 m/s^2, or rises by 10 m/s^3 and is zero at 1 s.
    def bounce(event, states):
        states["v"] = 0.0

    bd = diagram()
    if jumps:
        bd.STEP(T=1.0, off=-10.0, on=2.0, name="g")
    else:
        bd.RAMP(T=0.0, slope=10.0, off=-10.0, name="g")
    bd.INTEGRATOR(x0=0.0, name="v")
    bd.INTEGRATOR(x0=0.2, name="y")
    bd.EVENT("-", bounce, name="ground")
    wire(bd, "g -> v", "v -> y", "y -> ground")
    got = sb.simulate(bd, engine=engine, T=2.0, **REST)
    assert [event.what for event in got.events] == [
        "crossed zero",
        "rests at zero",
        "leaves zero",
    ]
    assert got.events[-1].t == pytest.approx(1.0, abs=1e-5)
    want = 1.0 if jumps else 10 / 6
    assert got.final_state.continuous["y"] == pytest.approx([want], abs=1e-4)
