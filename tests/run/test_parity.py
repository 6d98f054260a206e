"""What stands in a program for a block does as the block does, or the block is named."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bdsim.components import ContinuousBlock, SampledBlock

import spart_blocks as sb
from spart_blocks.base.errors import SpartError, SpartWarning
from spart_blocks.program import TraceError
from spart_blocks.program.tracing import rules
from spart_blocks.program.tracing.gains import wired
from spart_blocks.program.tracing.symbol import if_else
from spart_blocks.run.engines import parity
from spart_blocks.run.engines.alike import FEW, structure_of
from spart_blocks.run.engines.interpreter import Interpreter
from spart_blocks.run.engines.parity import random_states

DIAGRAMS = Path(__file__).parents[2] / "diagrams"


class Counting(ContinuousBlock):
    """Its derivative depends on how often it was asked for: no program can do as it does."""

    nin = 1
    nout = 1

    def __init__(self, **blockargs):
        super().__init__(nstates=1, x0=[0.0], **blockargs)
        self.calls = 0

    def output(self, t, inputs, x):
        return [x[0]]

    def deriv(self, t, inputs, x):
        self.calls += 1
        return [self.calls * (inputs[0] - x[0])]


def test_a_block_whose_derivative_is_not_that_of_the_program_is_named():
    bd = sb.new_diagram("count")
    bd.connect(bd.STEP(name="step"), Counting(bd=bd, name="counts"))
    with pytest.warns(SpartWarning, match=r"the derivatives of counts \(COUNTING\) differ"):
        assert sb.simulate(bd, T=0.1).info["engine"] == "interpreter"


class Remembering(Counting):
    """Its mode is how often it has switched."""

    def deriv(self, t, inputs, x):
        return [0.0 * inputs[0]]

    def watch(self, t, inputs, x):
        return [inputs[0] - x[0]]

    def switch(self, t, inputs, x):
        self.calls += 1
        return [self.calls]


def test_a_block_whose_modes_are_not_those_of_the_program_is_named():
    bd = sb.new_diagram("remember")
    bd.connect(bd.STEP(name="step"), Remembering(bd=bd, name="remembers"))
    with pytest.warns(SpartWarning, match="the modes of remembers differ"):
        assert sb.simulate(bd, T=0.1).info["engine"] == "interpreter"


class Pivoted(SampledBlock):
    """A pivot of a state that is above zero: elsewhere its numbers mean nothing."""

    nin = 1
    nout = 1

    def __init__(self, clock, **blockargs):
        super().__init__(clock=clock, ndstates=1, x0=[0.01], **blockargs)

    def output(self, t, inputs, x):
        return [np.sin(1.0 / np.maximum(x[0], 1e-17))]

    def next(self, t, inputs, x):
        return x + 0.0 * inputs[0]


class Told(Pivoted):
    """The same, which says what its states are."""

    def nearby(self, x, spread, rng):
        return x * rng.lognormal(sigma=spread, size=1)


class Misshapen(Pivoted):
    """One that gives a state of a wrong length."""

    def nearby(self, x, spread, rng):
        return np.ones(2)


def sampled(kind):
    bd = sb.new_diagram("pivot")
    bd.connect(bd.STEP(name="step"), kind(bd.clock(10, "Hz"), bd=bd, name="pivot"))
    return bd


def states_of(blocks, count=30):
    x, xd = blocks.initial()
    rng = np.random.default_rng(0)
    return [random_states(blocks, x, xd, rng) for _ in range(count)]


def blocks_of(bd):
    diagram = bd if isinstance(bd, sb.Diagram) else sb.Diagram("own", bd)
    return Interpreter(diagram, wired(diagram))


def test_a_block_says_at_which_states_it_is_compared():
    found = states_of(blocks_of(sampled(Told)))
    assert all((xd > 0).all() for _, xd in found)
    assert sb.simulate(sampled(Told), T=1, engine="native").info["engine"] == "native"
    assert any((xd < 0).any() for _, xd in states_of(blocks_of(sampled(Pivoted))))


def test_a_state_of_another_length_is_an_error_that_names_the_block():
    with pytest.raises(SpartError, match=r"pivot.*nearby gives \(2,\), its state is \(1,\)"):
        sb.simulate(sampled(Misshapen), T=1, engine="native")


ADMITTED = """
clocks: {c: {T: 0.1}}
blocks:
  u: {type: WAVEFORM, wave: sine, freq: 1}
  w: {type: CONSTANT, value: [0.1, 0.2, 0.3]}
  q: {type: CONSTANT, value: [0, 0, 0, 1]}
  u0: {type: CONSTANT, value: [0, 0, 0, 0, 0, 0]}
  ekf: {type: EKF_S, clock: c, f: "-x", h: x, states: [x], Q: 1, R: 1, P0: 0.01, current: false}
  ukf: {type: UKF_S, clock: c, f: ["w", "-a"], h: "a", states: [a, w], Q: 1, R: 1, P0: 0.01}
  kalman: {type: KALMAN, A: [[0, 1], [-1, 0]], C: [[1, 0]], Q: 1, R: 1, P0: 0.01}
  mekf: {type: MEKF_S, clock: c, gyro_noise: 1, bias_noise: 1, P0: 0.01}
  mahony: {type: MAHONY_FILTER_S, clock: c, references: [[0, 0, 1]]}
  noise: {type: NOISE, clock: c}
  gyro: {type: GYRO, clock: c, noise: 0.1}
  prbs: {type: PRBS_S, clock: c}
  counter: {type: COUNTER, clock: c, upper: 5}
  relay: {type: RELAY, on: 1, off: 0}
  mass: {type: FRICTION_MASS, mass: 1, coulomb: 1}
  limited: {type: SECOND_ORDER_INTEGRATOR, lower: -1, upper: 1}
  pulses: {type: PWPF, gain: 1, tau: 1, on: 1, off: 0.5}
  hits: {type: HIT_CROSSING}
  chart:
    type: STATE_MACHINE
    states: {a: {}, b: {}, c: {}}
    transitions: [{from: a, to: b, when: u > 2}, {from: b, to: c, when: u > 3}]
    initial: a
wires:
  - u -> ekf.y, ukf.y, kalman.y, kalman.u, counter.up, relay, mass, limited, pulses, hits, chart
  - w -> mekf.omega, mahony.omega, mahony.v1
  - q -> mekf.q
  - u -> mekf.valid
  - u0 -> gyro.u0
run: {T: 1}
"""


def matrix(entries, n):
    P = np.zeros((n, n))
    P[np.tril_indices(n)] = entries
    return P + np.tril(P, -1).T


def test_states_are_those_that_blocks_admit(tmp_path):
    """Covariances are positive definite, quaternions of length 1, modes, counts and random numbers
    those that there are; and each mode is met."""
    path = tmp_path / "admitted.yaml"
    path.write_text(ADMITTED, encoding="utf-8")
    blocks = blocks_of(sb.load(path))
    names = {**blocks.continuous, **blocks.sampled}
    seen = {name: set() for name in ("relay", "counter", "chart", "pulses", "mass", "limited")}
    for x, xd in states_of(blocks):
        of = {name: x[part] for name, part in blocks.continuous.items()}
        of |= {name: xd[part] for name, part in blocks.sampled.items()}
        covariances = {
            "ekf": (of["ekf"][1:2], 1), "ekf.held": (of["ekf.held"][1:2], 1),
            "ukf": (of["ukf"][2:5], 2), "kalman": (of["kalman"][2:5], 2),
            "mekf": (of["mekf"][7:], 6),
        }  # fmt: skip
        for name, (entries, n) in covariances.items():
            assert np.linalg.eigvalsh(matrix(entries, n)).min() > 0, name
        assert not np.array_equal(of["ekf"], of["ekf.held"])
        for name in ("mekf", "mahony"):
            assert abs(np.linalg.norm(of[name][:4]) - 1) < 1e-15
        for name in ("noise", "gyro"):
            numbers = of[name][:6]
            assert (numbers == np.floor(numbers)).all()
            assert (numbers > 0).all()
        assert set(of["prbs"]) <= {0.0, 1.0}
        assert of["prbs"].any()
        position, rate, by_x, by_v = of["limited"]
        assert abs(position) <= 1
        assert not by_x or (position == by_x and rate == by_v == 0)
        assert of["mass"][2] == np.sign(of["mass"][1])
        for name, entry in {"pulses": 1, "mass": 2, "limited": 2}.items():
            seen[name].add(of[name][entry])
        for name in ("relay", "counter", "chart"):
            seen[name].add(of[name][0])
    assert set(names) >= set(seen)
    assert seen["relay"] == {0.0, 0.5, 1.0}
    assert seen["chart"] == {1.0, 2.0, 3.0}
    assert seen["counter"] <= set(range(6))
    assert {0, 5} <= seen["counter"]
    assert seen["pulses"] == seen["mass"] == seen["limited"] == {-1.0, 0.0, 1.0}
    assert sb.simulate(path, T=0.3, engine="native").info["engine"] == "native"


@pytest.mark.parametrize(("diagram", "most"), [
    ("momentum_exchange", 1),
    ("spacecraft_pd", 1),
    ("spacecraft_sampled", 4),  # shapes of held outputs, at a tick, before it, moved by the clock
])  # fmt: skip
@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_blocks_are_evaluated_once_with_numbers_when_a_run_is_prepared(
    diagram, most, engine, monkeypatch
):
    """Besides the random points at which a program is compared with its blocks."""
    monkeypatch.setattr(parity, "CHECKED_POINTS", 1)
    whole = sb.load(DIAGRAMS / f"{diagram}.yaml")
    wiring = wired(whole)
    counts = Counter()
    for node in wiring.nodes:
        if hasattr(node.block, "output"):
            node.block.output = counting(node, counts)
    if engine == "native":
        parity.native_engine(whole, wiring)
    else:
        blocks = Interpreter(whole, wiring)
        blocks.check_shapes(0.0, *blocks.initial())
        assert isinstance(blocks.crossings, list)
    assert counts
    assert max(counts.values()) <= most


def counting(node, counts):
    """The method `output` of a node's block, which counts its calls with numbers."""
    own = node.block.output

    def output(t, inputs, x=None):
        values = [value for value in (*inputs, x) if value is not None]
        if not any(np.asarray(value).dtype.hasobject for value in values):
            counts[node.name] += 1
        return own(t, inputs, x)

    return output


def alike(count=100, last=2.0):
    """A chain of lags that are alike but for their numbers, the last with a number of its own."""
    lines, wires, before = [], [], "start"
    for k in range(count):
        gain = last if k == count - 1 else 1.0 + 0.01 * (k % 7)
        lines += [f"  gain{k}: {{type: GAIN, K: {gain}}}", f"  lag{k}: {{type: INTEGRATOR}}"]
        wires += [f"  - {before} -> gain{k}", f"  - gain{k} -> lag{k}"]
        before = f"lag{k}"
    lines += ["  start: {type: STEP, on: 1.5}", "  clip: {type: CLIP, min: -1.0, max: 1.0}"]
    return "\n".join(["blocks:", *lines, "wires:", *wires, f"  - {before} -> clip", "run: {T: 1}"])


@pytest.fixture
def loaded(tmp_path):
    def load(text):
        path = tmp_path / "alike.yaml"
        path.write_text(text, encoding="utf-8")
        return sb.load(path)

    return load


def wrong(monkeypatch, key, **methods):
    """A rule of bdsim's block with other methods."""
    monkeypatch.setitem(rules.RULES, key, replace(rules.RULES[key], **methods))
    rules._bdsim_rule.cache_clear()


@pytest.fixture(autouse=True)
def right_rules():
    yield
    rules._bdsim_rule.cache_clear()


def at_late_times(block, t, inputs, x):
    """Wrong at none of the first points."""
    return [block.K * inputs[0] + if_else(t > 0.85, 1e-3, 0.0)]


def for_one_number(block, t, inputs, x):
    """Wrong for one value of a parameter."""
    return [block.K * inputs[0] + if_else(abs(block.K - 2.5) < 1e-9, 1e-3, 0.0)]


def by_a_sign(block, t, inputs, x):
    return -block.gain * np.ravel(inputs[0])


@pytest.mark.parametrize(("key", "methods", "told"), [
    ("functions.Gain", {"output": at_late_times}, r"signal gain\d+ \(GAIN\).*t = 0.[89]"),
    ("functions.Gain", {"output": for_one_number}, r"signal gain99 \(GAIN\)"),
    ("continuous.Integrator", {"deriv": by_a_sign}, r"the derivatives of lag1 \(INTEGRATOR\)"),
])  # fmt: skip
def test_a_wrong_rule_is_found_among_many_blocks_that_are_alike(
    key, methods, told, loaded, monkeypatch
):
    diagram = loaded(alike(last=2.5))
    wrong(monkeypatch, key, **methods)
    with pytest.raises(TraceError, match=told):
        sb.simulate(diagram, engine="native")


def test_a_wrong_rule_of_the_only_block_of_its_kind_is_found_at_the_last_points(
    loaded, monkeypatch
):
    """The few blocks of a kind are compared at every point, whatever the others are."""
    diagram = loaded(alike())
    seen = []
    own = parity.Native.outputs

    def wrong_late(native, t, x, xd):
        y = own(native, t, x, xd)
        seen.append(t)
        if len(seen) == parity.CHECKED_POINTS:
            y[native.slot["clip"].start] += 1e-3
        return y

    monkeypatch.setattr(parity.Native, "outputs", wrong_late)
    with pytest.raises(TraceError, match=r"signal clip \(CLIP\)"):
        sb.simulate(diagram, engine="native")


def test_of_many_blocks_that_are_alike_a_few_are_compared_at_further_points(loaded, monkeypatch):
    """Every one of them at the first points, the only one of its kind at all of them."""
    diagram = loaded(alike())
    counts = Counter()
    own = Interpreter.output

    def counted(blocks, node, *arguments):
        counts[node.name] += 1
        return own(blocks, node, *arguments)

    monkeypatch.setattr(Interpreter, "output", counted)
    parity.native_engine(diagram, wired(diagram))
    gains = [count for name, count in counts.items() if name.startswith("gain")]
    further = parity.CHECKED_POINTS - parity.EVERYWHERE
    assert sum(gains) == len(gains) * parity.EVERYWHERE + further * FEW
    assert min(gains) > parity.EVERYWHERE
    assert counts["clip"] == parity.CHECKED_POINTS


@pytest.mark.parametrize("other", [
    "{type: GAIN, K: [1.0, 2.0]}", "{type: GAIN, K: 2}", "{type: GAIN, K: 2.0, premul: true}",
    "{type: GAIN, K: .inf}",
])  # fmt: skip
def test_blocks_of_another_structure_are_not_alike(other, loaded):
    two = ["{type: GAIN, K: 1.0}", "{type: GAIN, K: 3.0}"]
    text = "blocks:\n  u: {type: CONSTANT, value: 1.0}\n"
    text += "".join(f"  g{k}: {one}\n" for k, one in enumerate([*two, other]))
    blocks = blocks_of(loaded(text + "wires:\n  - u -> g0, g1, g2\n"))
    values = blocks.start_outputs
    keys = {n.name: structure_of(n, values) for n in blocks.nodes}
    assert keys["g0"] == keys["g1"] != keys["g2"]
