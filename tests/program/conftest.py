"""Diagrams of few blocks, traced, beside the interpreter as their oracle."""

from __future__ import annotations

import numpy as np
import pytest
from bdsim.connect import Plug

import spart_blocks as sb
from spart_blocks.diagram import complete
from spart_blocks.diagram.network.clocks import clocks_of
from spart_blocks.program import trace
from spart_blocks.program.tracing.gains import wired
from spart_blocks.run.engines.interpreter import Interpreter
from spart_blocks.run.engines.native import Native


class Bench:
    """A diagram in which signals vary: its sources are states, which tests set at random."""

    def __init__(self, bd):
        self.bd = bd

    def signal(self, *shape):
        """A block whose output is a random scalar (), vector (n,) or matrix (n,m)."""
        size = int(np.prod(shape))
        state = self.bd.INTEGRATOR(x0=[0.0] * size)
        self.bd.connect(self.bd.CONSTANT(np.zeros(size)), state)
        if (len(shape) < 2 and size > 1) or shape == ():
            return state
        reshape = self.bd.FUNCTION(lambda value: np.reshape(value, shape))
        self.bd.connect(state, reshape)
        return reshape

    def block(self, kind, /, *args, wires=(), **options):
        """A block of this kind, its inputs wired to the given blocks or plugs."""
        block = getattr(self.bd, kind)(*args, **options)
        for number, source in enumerate(wires):
            self.bd.connect(source, Plug(block, number))
        return block

    def function(self, function, *shapes, **options):
        """A FUNCTION of signals of these shapes."""
        wires = [self.signal(*shape) for shape in shapes]
        return self.block("FUNCTION", function, nin=len(wires), wires=wires, **options)

    def clock(self):
        return self.bd.clock(0.1, name="clock")

    @property
    def diagram(self):
        complete(self.bd)
        return sb.Diagram(name="bench", bd=self.bd)


@pytest.fixture
def bench(bdsim_runtime):
    return Bench(bdsim_runtime.blockdiagram(name="bench"))


@pytest.fixture
def new_bench(bdsim_runtime):
    """new_bench(): one more."""
    return lambda: Bench(bdsim_runtime.blockdiagram(name="bench"))


def evaluated(program, t, x, xd):
    """All signals by name, the rates, and the states after each clock's tick."""
    y = np.array(program.outputs(t, x, xd, program.p)).ravel()
    signals = {slot.name: y[slot.part].reshape(slot.shape) for slot in program.signals}
    rates = np.array(program.rates(t, x, xd, program.p)).ravel()
    after = [np.array(f(t, x, xd, program.p)).ravel() for f in program.updates.values()]
    return signals, rates, after


def interpreted(diagram, wiring, t, x, xd):
    """The same, by the blocks themselves."""
    engine = Interpreter(diagram, wiring)
    values = engine.outputs(t, x, xd)
    signals = {
        node.output_name(k): value
        for node in wiring.nodes
        for k, value in enumerate(values[node.index])
    }
    clocks = clocks_of(list(wiring.of_kind("sampled")), diagram.run.first_tick)
    after = [engine.tick(t, x, xd, [clock]) for clock in clocks]
    return signals, engine.derivative(t, x, xd), after


def check_parity(diagram, times=(0.0, 0.37, 1.0, 2.9), rel=1e-12, scale=1.0, program=None):
    """Program and blocks give the same signals, rates, next states and watched values at
    random states."""
    wiring = wired(diagram)
    program = program or trace(diagram, wiring)
    native, blocks = Native(program), Interpreter(diagram, wiring)
    rng = np.random.default_rng(len(wiring.nodes))
    for t in [*times, *rng.uniform(0, 5, 6)]:
        x, xd = rng.normal(0, scale, program.x0.size), rng.normal(0, scale, program.xd0.size)
        got, want = evaluated(program, t, x, xd), interpreted(diagram, wiring, t, x, xd)
        assert set(got[0]) == set(want[0])
        pairs = [(name, got[0][name], value) for name, value in want[0].items()]
        pairs += [("rates", got[1], want[1])]
        if program.crossings:
            pairs.append(("watched", native.watch(t, x, xd), blocks.watch(t, x, xd)))
        pairs += [("next", a, b) for a, b in zip(got[2], want[2], strict=True)]
        for name, a, b in pairs:
            b = np.asarray(b, dtype=float)
            assert np.shape(a) == b.shape, f"{name}: {np.shape(a)}, the block gives {b.shape}"
            # The states of random numbers are large: each next state is compared with itself.
            size = np.abs(b) if name == "next" else np.abs(b).max(initial=0.0)
            assert (np.abs(a - b) <= rel * np.maximum(1.0, size)).all(), f"{name} at t = {t}"
    return program


@pytest.fixture(scope="session")
def assert_parity():
    """assert_parity(diagram, times=..., rel=1e-12): the program against the interpreter."""
    return check_parity


@pytest.fixture(scope="session")
def evaluate():
    """evaluate(program, t, x, xd): signals by name, rates, states after each clock."""
    return evaluated
