"""Steps that do not get on are told with the block, the time and a remedy."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning

RUNS = [("native", s) for s in ("RK45", "CVODES", "Radau", "LSODA")]
RUNS += [("interpreter", s) for s in ("RK45", "LSODA")]


def loop(diagram, wire, function):
    bd = diagram()
    bd.FUNCTION(function, name="f")
    bd.INTEGRATOR(x0=0.5, name="x")
    wire(bd, "f -> x", "x -> f")
    return bd


@pytest.mark.parametrize(("engine", "solver"), RUNS)
def test_a_jump_that_nothing_watches_is_told(engine, solver, diagram, wire):
    bd = loop(diagram, wire, lambda x: np.where(x > 0, -1.0, 2.0))
    with pytest.raises(sb.RunError, match="the rate of its state jumps here") as caught:
        sb.simulate(bd, engine=engine, solver=solver, T=2.0)
    assert caught.value.block == "x"
    assert 0.4999 < caught.value.time < 0.6
    assert "SWITCH" in caught.value.hint
    assert caught.value.results.t[-1] >= 0.49


@pytest.mark.parametrize(("engine", "solver"), RUNS)
def test_a_state_that_goes_to_infinity_is_named(engine, solver, diagram, wire):
    # x' = 9 x^2 from 0.5 ends at t = 1 / 4.5.
    bd = loop(diagram, wire, lambda x: 9 * x**2)
    with pytest.raises(sb.RunError) as caught:
        sb.simulate(bd, engine=engine, solver=solver, T=2.0)
    assert caught.value.block == "x"
    assert caught.value.time == pytest.approx(1 / 4.5, abs=1e-4)


def test_a_stiff_loop_with_a_jump_far_away_is_left_in_peace(diagram, wire):
    bd = loop(diagram, wire, lambda x: np.where(x > 0.7, 1e3, -1e3 * x))
    with pytest.warns(SpartWarning, match="stiff"):
        got = sb.simulate(bd, solver="RK23", T=20.0)
    assert got.complete
