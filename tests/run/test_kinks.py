"""A located kink or jump costs no accuracy, with any error control, and few steps."""

from __future__ import annotations

import numpy as np
import pytest
from kinked import BLOCKS, DIP, SOURCES, dip, integral, passed, text

import spart_blocks as sb
from spart_blocks.program.c.compiler import compiler_name

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


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_last_stage_beyond_a_kink_makes_a_step_shorter(engine, load):
    """An explicit method sees the end of its step twice, first in its last stage."""
    source, kinked = SOURCES["state"], BLOCKS["DEADZONE"]
    p = {"g.a": 2.876941470450222, "s.c": -1.4333205483234444, "s.d": 0.3841493080235175}
    p |= {"k.lower": -0.13970413253661085, "k.upper": 0.38039334786503665}
    wanted, allowed, _ = integral(source, kinked, p)
    got = sb.simulate(load(text(source, kinked, "RK45", p)), engine=engine)
    assert abs(got["x"][-1].item() - wanted) <= allowed


PAIRS = {
    "DOP853": ("LOOKUP", {"s.a": 1.0991378923682096, "s.w": 1.436442061842003,
                          "s.p": 3.336958653203382}),
    "LSODA": ("DEADZONE", {"s.a": 0.7760573113326015, "s.w": 0.9043822418687677,
                           "s.p": 4.4471673616747, "k.lower": -0.7564489648473307,
                           "k.upper": 0.13230125057884365}),
}  # fmt: skip
"""Steps that look accurate pass over two kinks of these: by luck, and as the rate is 0 there."""


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("solver", PAIRS)
def test_two_kinks_within_one_accurate_step_are_found(solver, engine, load):
    source, (block, p) = SOURCES["sine"], PAIRS[solver]
    wanted, allowed, kinks = integral(source, BLOCKS[block], p)
    got = sb.simulate(load(text(source, BLOCKS[block], solver, p)), engine=engine)
    assert abs(got["x"][-1].item() - wanted) <= 2 * (1 + kinks) * allowed


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_two_kinks_within_the_tolerance_are_found(engine, load):
    content, wanted = dip()
    got = sb.simulate(load(content), engine=engine)
    assert got["x"][-1] == pytest.approx(wanted, abs=2e-6)


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
def test_two_kinks_within_the_tolerance_are_found_in_lanes(load):
    content, wanted = dip()
    over = {"k.lower": [DIP["k.lower"]] * 3}
    found = sb.sweep(load(content), over, metrics={"x": "final(x)"})
    assert np.ravel(found["x"]) == pytest.approx(wanted, abs=2e-6)


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
