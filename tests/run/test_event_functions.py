"""What the function of an EVENT does to the states acts, in each way of writing it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import spart_blocks as sb

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
# A ball from 1 m at g = 10 m/s^2 bounces at sqrt(0.2) s and then flies as long again.
FALL = np.sqrt(0.2)


def ball(diagram, wire, function):
    bd = diagram()
    bd.CONSTANT(-10.0, name="g")
    bd.INTEGRATOR(x0=0.0, name="v")
    bd.INTEGRATOR(x0=1.0, name="y")
    bd.EVENT("-", function, name="ground")
    wire(bd, "g -> v", "v -> y", "y -> ground")
    return bd


def the(states, name):
    return next(block for block in states if block.name == name)


def in_place(event, states):
    states[the(states, "v")][:] *= -0.5


def by_item(event, states):
    v = the(states, "v")
    states[v] = -0.5 * states[v]


def by_number(event, states):
    v = the(states, "v")
    states[v] = -0.5 * float(states[v][0])


def by_update(event, states):
    states.update({the(states, "v"): -0.5 * states["v"]})


def by_name(event, states):
    states["v"] *= -0.5


WRITTEN = [in_place, by_item, by_number, by_update, by_name]
RUNS = [("native", s) for s in ("RK45", "RK4", "CVODES", "Radau")]
RUNS += [("interpreter", s) for s in ("RK45", "RK4", "Radau")]


@pytest.mark.parametrize("function", WRITTEN, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("engine", "solver"), RUNS)
def test_a_state_that_is_assigned_acts_as_one_written_in_place(
    engine, solver, function, diagram, wire
):
    got = sb.simulate(
        ball(diagram, wire, function), engine=engine, solver=solver, T=0.8, max_step=0.01, **TIGHT
    )
    assert [event.t for event in got.events] == pytest.approx([FALL], abs=1e-8)
    flight, speed = 0.8 - FALL, 5 * FALL
    final = got.final_state.continuous
    assert final["v"] == pytest.approx([speed - 10 * flight], abs=1e-7)
    assert final["y"] == pytest.approx([speed * flight - 5 * flight**2], abs=1e-7)


@pytest.mark.parametrize("function", [in_place, by_item, by_update, by_name])
def test_a_program_has_what_is_assigned(function, diagram, wire):
    program = sb.trace(ball(diagram, wire, function))
    got = sb.simulate(program, T=0.8, **TIGHT)
    assert got.final_state.continuous["v"] == pytest.approx([5 * FALL - 10 * (0.8 - FALL)])


def test_a_function_may_take_the_block_alone(diagram, wire, simulate):
    seen = []
    simulate(ball(diagram, wire, lambda event: seen.append(event.name)), T=0.6)
    assert seen == ["ground"]


def a_long_one(event, states):
    states[the(states, "v")] = [1.0, 2.0]


def an_unknown_one(event, states):
    states["speed"] = 1.0


def a_text(event, states):
    states["v"] = "up"


def no_number(event, states):
    states["v"] = np.nan


def gone(event, states):
    del states["v"]


def wrong_type_inside(event, states):
    states["v"] = 1 + None


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (a_long_one, r"gives [1.0, 2.0] for the state of v, which has shape (1,)"),
        (an_unknown_one, "asks for the state of 'speed'"),
        (a_text, "gives 'up' for the state of v, not numbers"),
        (no_number, "gives [nan] for the state of v"),
        (gone, "deletes the state of v"),
        (wrong_type_inside, "TypeError"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_a_function_may_not_do_is_told(function, told, diagram, wire, simulate):
    with pytest.raises(sb.RunError, match=re.escape(told)) as caught:
        simulate(ball(diagram, wire, function), T=0.8)
    assert caught.value.block == "ground"
    assert caught.value.time == pytest.approx(FALL, abs=1e-6)
    assert caught.value.results.t[-1] <= FALL + 1e-6
