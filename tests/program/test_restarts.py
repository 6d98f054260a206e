"""The states after an EVENT, corrected by `restart` of each block: traced as by the blocks."""

from __future__ import annotations

import numpy as np
import pytest
from bdsim.components import SampledBlock

import spart_blocks as sb
from spart_blocks.base.errors import SpartError
from spart_blocks.diagram import as_diagram
from spart_blocks.program import TraceError
from spart_blocks.program.tracing.gains import wired
from spart_blocks.run.engines.interpreter import Interpreter
from spart_blocks.run.engines.native import Native
from spart_blocks.run.engines.parity import native_engine

CHART = {
    "initial": "low",
    "states": {"low": {}, "high": {}},
    "transitions": [{"from": "low", "to": "high", "when": "u > 2"}],
}
MASS = {"mass": 1.0, "coulomb": 2.0, "lower": -1.0, "upper": 0.5}
CLUTCH = {"inertia1": 1.0, "inertia2": 2.0, "coulomb": 3.0}


def machine(bd, time):
    block = bd.STATE_MACHINE(**CHART, name="b")
    bd.connect(time, block)
    return block


def sampled_machine(bd, time):
    block = bd.STATE_MACHINE_S(bd.clock(10, "Hz", name="c"), **CHART, name="b")
    bd.connect(time, block)
    return block


def mass(bd, time):
    block = bd.FRICTION_MASS(**MASS, name="b")
    bd.connect(time, block)
    return block


def clutch(bd, time):
    block = bd.CLUTCH(**CLUTCH, name="b")
    bd.connect(time, block[0])
    bd.connect(time, block[2])
    return block


class Rounds(SampledBlock):
    """A sampled block whose state is two whole numbers, also after an EVENT."""

    nin = nout = 1

    def __init__(self, clock, **more):
        super().__init__(clock=clock, x0=[0.0, 0.0], **more)

    def output(self, t, inputs, x):
        return [x[0]]

    def next(self, t, inputs, x):
        return x.copy()

    def restart(self, x):
        return np.floor(x + 0.5)


def user_block(bd, time):
    block = Rounds(bd.clock(10, "Hz", name="c"), bd=bd, name="b")
    bd.connect(time, block)
    return block


@pytest.mark.parametrize("make", [machine, sampled_machine, mass, clutch, user_block])
def test_states_that_an_event_sets_are_corrected_as_by_the_blocks(make):
    bd = sb.new_diagram("restarted")
    time = bd.TIME(name="time")
    block = make(bd, time)
    kick = [0.0]

    def jump(event, states):
        states[block][:] = np.roll(states[block], 1) * kick[0] + 0.3

    bd.connect(time, bd.EVENT("^", jump, name="jump"))
    diagram = as_diagram(bd)
    wiring = wired(diagram)
    blocks, rng, met = Interpreter(diagram, wiring), np.random.default_rng(0), 0
    for _ in range(10):
        kick[0] = rng.choice([-1.5, -1.0, 1.0, 2.0])
        native = Native(sb.trace(diagram))
        assert list(native.program.resets) == ["jump"]
        k = next(k for k, c in enumerate(native.crossings) if c.kind == "event")
        x, xd = blocks.initial()
        x, xd = x + rng.normal(size=len(x)), xd + rng.normal(size=len(xd))
        try:
            want = blocks.reset(k, 1.0, x.copy(), xd.copy())
        except SpartError:
            continue
        got = native.reset(k, 1.0, x.copy(), xd.copy())
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        met += 1
    assert met > 5


def test_limits_that_are_tuned_hold_after_an_event_too():
    bd = sb.new_diagram("tuned")
    time = bd.TIME(name="time")
    block = mass(bd, time)

    def jump(event, states):
        states[block][0] = 7.0

    bd.connect(time, bd.EVENT("^", jump, name="jump"))
    program = sb.trace(bd).with_parameters({"b.upper": 3.0})
    native = Native(program)
    k = next(k for k, c in enumerate(native.crossings) if c.kind == "event")
    assert native.reset(k, 1.0, program.x0, program.xd0)[0][0] == 3.0


def test_a_restart_that_is_traced_wrongly_is_found():
    class Odd(Rounds):
        def restart(self, x):
            return np.floor(x) + 0.5 * isinstance(x, np.ndarray) * (type(x[0]) is np.float64)

    bd = sb.new_diagram("odd")
    time = bd.TIME(name="time")
    bd.connect(time, Odd(bd.clock(10, "Hz", name="c"), bd=bd, name="b"))
    bd.connect(time, bd.EVENT("^", lambda event, states: None, name="jump"))
    diagram = as_diagram(bd)
    with pytest.raises(TraceError, match=r"the restarts of b \(ODD\) differ between the program"):
        native_engine(diagram, wired(diagram))
