"""A located kink or jump costs no accuracy, with any error control, and few steps."""

from __future__ import annotations

import numpy as np
import pytest
from kinked import BLOCKS, SOURCES, integral, passed, text

import spart_blocks as sb
from spart_blocks.program.compiler import compiler_name

LOCATING = ("RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA")
DEADZONE = """
blocks:
  s: {type: RAMP, T: 0, off: -2}
  k: {type: DEADZONE, lower: -0.2589, upper: 0.2589}
  x: {type: INTEGRATOR}
wires: [s -> k, k -> x]
run: {T: 2}
"""


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("solver", LOCATING)
def test_the_state_at_a_kink_is_that_of_its_own_side(solver, engine, load):
    got = sb.simulate(load(DEADZONE), solver=solver, engine=engine)
    assert got["x"][-1] == pytest.approx(-(1.7411**2) / 2, abs=1e-7)


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("name", SOURCES)
def test_a_kinked_block_keeps_the_tolerance(name, block, load):
    source, kinked = SOURCES[name], BLOCKS[block]
    rng = np.random.default_rng(3)
    p = source.draw(rng) | kinked.draw(rng)
    wanted, allowed, _ = integral(source, kinked, p)
    got = sb.simulate(load(text(source, kinked, "RK45", p)), engine="interpreter")
    assert abs(got["x"][-1].item() - wanted) <= 2 * allowed


@pytest.mark.parametrize("block", ["DEADZONE", "jump"])
@pytest.mark.parametrize("solver", ["CVODES", "Adams"])
def test_a_kink_costs_a_multistep_method_no_more_than_a_restart(solver, block, load):
    source, kinked, rng = SOURCES["state"], BLOCKS[block], np.random.default_rng(5)
    for _ in range(5):
        p = source.draw(rng) | kinked.draw(rng)
        wanted, allowed, _ = integral(source, kinked, p)
        stops = passed(source, kinked, p)
        got, known = (
            sb.simulate(load(text(source, kinked, solver, p, at)))["x"][-1].item() - wanted
            for at in ((), stops)
        )
        assert abs(got) <= 2 * max(abs(known), allowed), p


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("block", ["ABS", "jump"])
@pytest.mark.parametrize("solver", LOCATING)
def test_a_kink_takes_at_most_one_step_more_than_one_at_a_known_time(solver, block, engine, load):
    source, kinked, rng = SOURCES["sine"], BLOCKS[block], np.random.default_rng(5)
    p = source.draw(rng) | kinked.draw(rng)
    taken, known = (
        sb.simulate(load(text(source, kinked, solver, p, stops)), engine=engine).info["steps"]
        for stops in ((), passed(source, kinked, p))
    )
    each = 5 if solver == "LSODA" else 1  # it starts anew twice
    assert taken <= known + each * integral(source, kinked, p)[2]


@pytest.mark.parametrize("kinks", [4, 64])
def test_crossings_cost_cvodes_as_much_in_a_long_segment_as_in_a_short_one(kinks, load):
    """The first of them is at the start, where no call of its own can locate it."""
    sine = f"s: {{type: WAVEFORM, wave: sine, freq: {kinks / 2}, unit: Hz}}"
    got = sb.simulate(
        load(f"""
blocks:
  {sine}
  k: {{type: ABS}}
  x: {{type: INTEGRATOR}}
wires: [s -> k, k -> x]
run: {{T: 1, solver: CVODES}}
""")
    )
    assert got["x"][-1] == pytest.approx(2 / np.pi, abs=2e-6 * (1 + kinks))
    assert got.info["steps"] < 250 * kinks


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
def test_kinks_keep_the_tolerance_in_lanes(load):
    source, kinked, rng = SOURCES["state"], BLOCKS["DEADZONE"], np.random.default_rng(1)
    cases = [source.draw(rng) | kinked.draw(rng) for _ in range(20)]
    over = {name: [case[name] for case in cases] for name in cases[0]}
    program = sb.trace(load(text(source, kinked, "RK45")))
    found = sb.sweep(program, over, zip=[list(over)], metrics={"x": "final(x)"}, workers=1)
    for case, got in zip(cases, np.ravel(found["x"]), strict=True):
        wanted, allowed, _ = integral(source, kinked, case)
        assert abs(got - wanted) <= 2 * allowed
