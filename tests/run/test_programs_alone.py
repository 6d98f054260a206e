"""A program simulates without its diagram: here, elsewhere, and with other parameters."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.diagram import as_diagram

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
SHIPPED = sorted(path.stem for path in DIAGRAMS.glob("*.yaml"))

SWITCHING = """
clocks: {c: {T: 0.25}}
blocks:
  up: {type: STEP, T: 0.75, on: 2.0}
  saw: {type: WAVEFORM, wave: square, freq: 1.0}
  sum: {type: SUM, signs: "++"}
  hold: {type: ZOH, clock: c}
  x: {type: INTEGRATOR, x0: 0.5}
wires: [up -> sum.0, saw -> sum.1, sum -> hold, hold -> x]
run: {T: 3}
"""


def same(a, b):
    assert np.array_equal(a.t, b.t)
    for name in a:
        assert np.array_equal(a[name], b[name]), name
    for name in a.states:
        assert np.array_equal(a.states[name], b.states[name]), name


@pytest.mark.parametrize("name", SHIPPED)
def test_a_program_runs_as_its_diagram_does(name):
    diagram = sb.load(DIAGRAMS / f"{name}.yaml")
    options = {"T": 1.0, "every": 0.1}
    same(sb.simulate(sb.trace(diagram), **options), sb.simulate(diagram, **options))


def test_a_program_simulates_in_another_process_bit_for_bit_the_same(tmp_path):
    program = sb.trace(sb.load(DIAGRAMS / "spacecraft_sampled.yaml"))
    (tmp_path / "program.pickle").write_bytes(pickle.dumps(program))
    code = """
import pickle, sys
import spart_blocks as sb
program = pickle.load(open(sys.argv[1] + "/program.pickle", "rb"))
sb.simulate(program, T=0.5).save(sys.argv[1] + "/run.npz")
assert "bdsim" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code, tmp_path], check=True)
    there, here = sb.Results.load(tmp_path / "run.npz"), sb.simulate(program, T=0.5)
    same(there, here)
    assert there.scopes == here.scopes


def test_times_and_initial_states_are_parameters(load):
    diagram = load(SWITCHING)
    moved = {"up.T": 1.5, "saw.freq": 0.5, "saw.duty": 0.25, "x.x0": -1.0, "hold.x0": 3.0}
    anew = load(
        SWITCHING.replace("T: 0.75", "T: 1.5")
        .replace("freq: 1.0", "freq: 0.5, duty: 0.25")
        .replace("x0: 0.5", "x0: -1.0")
        .replace("clock: c}", "clock: c, x0: 3.0}")
    )
    program = sb.trace(diagram).with_parameters(moved)
    assert [(s.block, s.first, s.period) for s in program.switches()] == [
        ("up", 1.5, 0.0),
        ("saw", 0.0, 2.0),
        ("saw", 0.5, 2.0),
    ]
    same(sb.simulate(program), sb.simulate(anew))


def bouncing(bdsim_runtime, seen):
    """A ball from 1 m, which keeps half its speed at each bounce (bdsim's EVENT)."""

    def bounce(block, states):
        seen.append(block)
        v = states[next(b for b in states if b.name == "v")]
        v[:] = -0.5 * v

    bd = bdsim_runtime.blockdiagram(name="ball")
    g = bd.CONSTANT(-10.0, name="g")
    v = bd.INTEGRATOR(x0=0.0, name="v")
    x = bd.INTEGRATOR(x0=1.0, name="x")
    event = bd.EVENT("v", bounce, name="ground")
    bd.connect(g, v)
    bd.connect(v, x)
    bd.connect(x, event)
    return bd


def test_a_reset_map_is_part_of_the_program(runtime):
    seen = []
    diagram = as_diagram(bouncing(runtime, seen))
    program = sb.trace(diagram)
    assert list(program.resets) == ["ground"]
    del seen[:]
    results = sb.simulate(pickle.loads(pickle.dumps(program)), T=1.0, rtol=1e-10, atol=1e-12)
    assert not seen  # its function was traced, and is not called
    fall = np.sqrt(2 * 1.0 / 10)  # then up and down at half the speed
    assert [event.t for event in results.events] == pytest.approx([fall, 2 * fall], abs=1e-9)
    same(results, sb.simulate(diagram, T=1.0, rtol=1e-10, atol=1e-12))
    assert len(seen) == 2


def test_a_function_that_cannot_be_traced_needs_its_diagram(runtime):
    def stubborn(block, states):
        for state in states.values():
            state[:] = -abs(float(state[0]))

    bd = bouncing(runtime, [])
    block = next(b for b in bd.blocklist if b.name == "ground")
    block.func = stubborn
    diagram = as_diagram(bd)
    program = sb.trace(diagram)
    assert not program.resets
    with pytest.raises(sb.InputError, match="the function of ground"):
        sb.simulate(program, T=1.0)
    assert sb.simulate(diagram, T=1.0).events


def test_a_program_has_no_blocks_to_interpret(load):
    with pytest.raises(sb.InputError, match="no blocks to interpret"):
        sb.simulate(sb.trace(load(SWITCHING)), engine="interpreter")


def test_a_sweep_over_parameters_writes_its_c_once(load, monkeypatch):
    from spart_blocks.program.c import compiler
    from spart_blocks.run.engines import compiled

    if compiler.compiler_name() is None:
        return
    program = sb.trace(load(SWITCHING))
    sources = []
    write = compiled.c_source
    monkeypatch.setattr(compiled, "c_source", lambda f: (sources.append(1), write(f))[1])
    ends = [
        sb.simulate(program.with_parameters({"x.x0": value}))["states.x"][-1, 0]
        for value in (0.0, 1.0, 2.0)
    ]
    assert len(sources) == 1
    assert np.diff(ends) == pytest.approx([1.0, 1.0], abs=1e-9)
    sb.simulate(program, log=["sum"])  # another signal is kept
    assert len(sources) == 2


def test_declared_times_end_with_the_run_that_was_traced(runtime):
    from bdsim.components import SourceBlock

    class Pulses(SourceBlock):
        nin, nout = 0, 1

        def start(self, simstate):
            for t in np.arange(0.5, simstate.T, 1.0):
                simstate.declare_event(self, t)

        def output(self, t, inputs, x):
            return [np.where(np.floor(t - 0.5) == np.floor(t), 0.0, 1.0)]

    bd = runtime.blockdiagram(name="pulses")
    x = bd.INTEGRATOR(x0=0.0, name="x")
    bd.connect(Pulses(bd=bd, name="pulses"), x)
    program = sb.trace(bd)  # T is 10 s
    assert len(program.switches()) == 10
    assert sb.simulate(program, T=5).complete
    with pytest.raises(sb.InputError, match="switch up to 10 s"):
        sb.simulate(program, T=30)
