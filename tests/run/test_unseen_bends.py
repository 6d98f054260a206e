"""Bends that nothing can see before the next tick end no step, in any execution; all others do."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.export.fmu.variables import row_of
from spart_blocks.program.storage import from_text, to_text
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.run import begin, finish
from spart_blocks.run.engines.interpreter import Interpreter
from spart_blocks.run.measure.gauges import Gauge

HEAD = """
clocks: {{c: {{T: 0.1}}, slow: {{T: 0.25}}}}
{more}
blocks:
  one: {{type: CONSTANT, value: 1}}
  x: {{type: INTEGRATOR, x0: 0.03}}
  q: {{{q}}}
  hold: {{type: ZOH, clock: c}}
{blocks}
wires: [one -> x, x -> q, {wires}]
run: {{T: 0.7{run}}}
"""
QUANTIZER = "type: QUANTIZER, interval: 0.05"
JUMPS = np.arange(0.025, 0.73, 0.05)[1:] - 0.03
"""The times at which x = 0.03 + t passes from a level to the next."""


def text(wires="q -> hold", blocks="", q=QUANTIZER, run="", more=""):
    return HEAD.format(wires=wires, blocks=blocks, q=q, run=run, more=more)


def kinds(diagram):
    return {c.kind for c in sb.trace(diagram).crossings if c.block == "q"}


COUNTER = """
subsystems:
  inner:
    inputs: [u, on]
    outputs: [y]
    {condition}: {{by: on}}
    blocks:
      z: {{{z}}}
    wires: [in.u -> z, z -> out.y]
"""
STEPPED, CARRIED = "type: UNIT_DELAY", "type: INTEGRATOR"
READERS = {
    "a block at its ticks": ("shown", text()),
    "it, behind a gain": ("shown", text("q -> g, g -> hold", "  g: {type: GAIN, K: 2}")),
    "it, out of a vector": (
        "shown",
        text("q -> m.0, x -> m.1, m -> i, i -> hold",
             "  m: {type: MUX, nin: 2}\n  i: {type: INDEX, index: [0]}"),
    ),
    "blocks on two clocks": (
        "shown", text("q -> hold, q -> late", "  late: {type: ZOH, clock: slow}"),
    ),
    "an integrator": ("bend", text("q -> y, q -> hold", "  y: {type: INTEGRATOR}")),
    "it, behind a limit": (
        "bend",
        text("q -> s, s -> y, x -> hold",
             "  s: {type: SATURATION, upper: 9}\n  y: {type: INTEGRATOR}"),
    ),
    "an integrator of what is held": (
        "shown", text("q -> hold, hold -> y", "  y: {type: INTEGRATOR}"),
    ),
    "a relay": ("bend", text("q -> r, x -> hold", "  r: {type: RELAY, on: 2, off: 1}")),
    "a stop": ("bend", text("q -> g, g -> s, x -> hold",
                            "  g: {type: GAIN, K: -1}\n  s: {type: STOP}")),
    "an action at every sample": ("bend", text("q -> p, x -> hold", "  p: {type: PRINT}")),
    "a check": ("bend", text("q -> a, x -> hold", "  a: {type: CHECK_RANGE, upper: 9}")),
    "what a trigger steps": (
        "shown",
        text("q -> i.u, x -> i.on, x -> hold", "  i: {type: inner}",
             more=COUNTER.format(condition="triggered", z=STEPPED)),
    ),
    "a trigger": (
        "bend",
        text("x -> i.u, q -> i.on, x -> hold", "  i: {type: inner}",
             more=COUNTER.format(condition="triggered", z=STEPPED)),
    ),
    "what is enabled": (
        "bend",
        text("q -> i.u, x -> i.on, x -> hold", "  i: {type: inner}",
             more=COUNTER.format(condition="enabled", z=CARRIED)),
    ),
    "a loop that is solved": (
        "bend",
        text("x -> l.0, q -> l.1, l -> g, g -> a, a -> l.2, a -> hold",
             "  l: {type: SUM, signs: '+-+'}\n  g: {type: GAIN, K: 0.5}\n  a: {type: ABS}",
             run=", algebraic_loops: solve"),
    ),
    "nothing": ("shown", text("x -> hold")),
}  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
def test_a_bend_is_seen_by_what_reads_its_signal_between_ticks(reader, load):
    kind, diagram = READERS[reader]
    assert kinds(load(diagram)) == {kind}


def test_a_sampled_block_whose_output_follows_its_input_passes_it_on(load):
    blocks = "  f: {type: LTI_SISO_S, clock: c, N: [1, 0.5], D: [1, 0.2]}\n  y: {type: INTEGRATOR}"
    for first, kind in (("standard", "shown"), ("bdsim", "bend")):
        diagram = text("q -> f, f -> y, x -> hold", blocks, run=f", first_tick: {first}")
        assert kinds(load(diagram)) == {kind}


BLOCKS = {
    "QUANTIZER": QUANTIZER,
    "SATURATION": "type: SATURATION, upper: 0.4",
    "DEADZONE": "type: DEADZONE, lower: 0.2, upper: 0.4",
    "COMPARE": "type: COMPARE, operator: '>', constant: 0.4",
    "ROUND": "type: ROUND",
    "FCN": "type: FCN, expression: abs(u - 0.4)",
    "CLIP": "type: CLIP, max: 0.4",
}


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("block", BLOCKS)
def test_an_unseen_bend_ends_no_step(block, engine, load):
    plain = sb.simulate(load(text(q="type: GAIN, K: 1")), engine=engine)
    unseen = sb.simulate(load(text(q=BLOCKS[block])), engine=engine)
    recorded = sb.simulate(load(text(q=BLOCKS[block], run=", log: [q]")), engine=engine)
    assert unseen.info["steps"] == plain.info["steps"]
    assert recorded.info["steps"] > plain.info["steps"]
    np.testing.assert_allclose(unseen["x"], plain["x"], atol=1e-12)


@pytest.mark.parametrize("compiler", ["", "none"])
@pytest.mark.parametrize("solver", ["RK45", "RK4", "CVODES", "LSODA"])
def test_at_ticks_the_signal_is_that_of_the_state(solver, compiler, load, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", compiler)
    got = sb.simulate(load(text(run=", log: [hold]")), solver=solver)
    after = np.array([np.searchsorted(got.t, 0.1 * k + 1e-12, side="right") - 1 for k in range(7)])
    levels = 0.05 * np.floor((0.03 + 0.1 * np.arange(7)) / 0.05 + 0.5)
    np.testing.assert_allclose(got["hold"][after].ravel(), levels, atol=1e-12)


def jumps_of(results):
    return results.t[1:][np.diff(results["q"].ravel()) > 0.01]


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("solver", ["RK45", "RK4", "Radau"])
def test_a_recorded_bend_is_located(solver, engine, load):
    got = sb.simulate(load(text(run=", log: [q]")), solver=solver, engine=engine)
    np.testing.assert_allclose(jumps_of(got), JUMPS, atol=1e-10)


def test_so_is_one_of_a_scope_behind_a_gain(load):
    blocks = "  g: {type: GAIN, K: 2}\n  s: {type: SCOPE}"
    got = sb.simulate(load(text("q -> g, g -> s, q -> hold", blocks)))
    np.testing.assert_allclose(jumps_of(got), JUMPS, atol=1e-10)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_measured_bend_is_located(engine, load):
    run = begin(load(text()), engine=engine)
    whole = Gauge("integral", "q")
    run.measure([whole])
    finish(run)
    edges = np.array([0, *JUMPS, 0.7])
    levels = 0.05 * np.arange(1, len(edges))
    assert run.readings[whole]["integral"] == pytest.approx(levels @ np.diff(edges), abs=2e-7)


def test_the_step_over_many_levels_ends_at_the_first(load):
    """From tick to tick of 0.7 s it passes over 14 levels."""
    got = sb.simulate(load(text(run=", log: [q]").replace("T: 0.1", "T: 0.7")))
    np.testing.assert_allclose(jumps_of(got), JUMPS, atol=1e-10)


def test_a_program_and_the_blocks_have_the_same_crossings(load):
    diagram = load(READERS["what a trigger steps"][1])
    program = sb.trace(diagram)
    blocks = Interpreter(diagram, begin(diagram, engine="interpreter").engine.wiring)
    assert tuple(blocks.crossings) == program.crossings
    assert from_text(to_text(program)).crossings == program.crossings
    for names in ((), ("q.y",)):
        kept = program.seeing(names)
        assert tuple(blocks.seeing(names).crossings) == kept.crossings
        assert kept.watched.numel_out(0) == len(kept.crossings)


def test_an_fmu_has_indicators_of_the_bends_that_its_outputs_show(load):
    counts = {}
    for outputs in ((), ("q",)):
        part = subdiagram_of(load(text(run=", log: [hold]")), outputs=outputs)
        row = row_of(part)
        counts[outputs] = row.end - row.crossings
    assert counts == {(): 0, ("q",): 4}
