"""A diagram in memory is traced once, and again where something of it has changed."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.diagram import new_diagram
from spart_blocks.program import from_diagram
from spart_blocks.run import begin
from spart_blocks.run.engines import parity
from spart_blocks.run.engines.native import Native

TEXT = """
clocks: {c: {T: 0.1}}
blocks:
  goal: {type: STEP, T: 0.1, on: 1.0}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: [2.0, 3.0]}
  hold: {type: ZOH, clock: c, x0: [0.0, 0.0]}
  x: {type: INTEGRATOR, x0: [0.0, 0.0]}
  scope: {type: SCOPE}
wires: [goal -> error.0, x -> error.1, error -> gain, gain -> hold, hold -> x, x -> scope]
run: {T: 1.0, every: 0.1}
"""


@pytest.fixture
def traces(monkeypatch):
    """A list that grows by one for each trace."""
    count = []
    trace = parity.trace
    monkeypatch.setattr(parity, "trace", lambda *a, **k: (count.append(1), trace(*a, **k))[1])
    return count


@pytest.fixture
def diagram(tmp_path):
    (tmp_path / "loop.yaml").write_text(TEXT)
    return sb.load(tmp_path / "loop.yaml")


def block(diagram, name):
    return next(block for block in diagram.bd.blocklist if block.name == name)


def same(a, b):
    np.testing.assert_array_equal(a.t, b.t)
    for name in ("x", "gain", "hold"):
        np.testing.assert_array_equal(a[name], b[name])


def test_a_second_run_derives_no_function_again(diagram, monkeypatch):
    made, slope = [], Native._slope_function
    monkeypatch.setattr(Native, "_slope_function", lambda self: (made.append(1), slope(self))[1])
    for _ in range(3):
        run = begin(diagram)
        run.engine.jacobian(0.0, run.x, run.xd)
    assert len(made) == 1


def test_a_second_run_traces_nothing_and_is_the_same(diagram, traces):
    first, second = sb.simulate(diagram), sb.simulate(diagram)
    third = sb.simulate(diagram, T=0.5, solver="RK4", max_step=0.01)
    assert len(traces) == 1
    same(first, second)
    assert third.t[-1] == 0.5
    assert sb.simulate(diagram).t[-1] == 1.0
    assert len(traces) == 1


CHANGES = {
    "a value": lambda d: setattr(block(d, "gain"), "K", np.array([5.0, 3.0])),
    "a number of an array": lambda d: block(d, "gain").K.__setitem__(0, 5.0),
    "an initial state": lambda d: setattr(block(d, "x"), "_x0", np.array([1.0, 2.0])),
    "a time": lambda d: setattr(block(d, "goal"), "T", 0.2),
    "a clock": lambda d: setattr(d.bd.clocklist[0], "T", 0.05),
    "a text": lambda d: setattr(block(d, "error"), "signs", "++"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_diagram_is_traced_again(diagram, tmp_path, traces, change):
    before = sb.simulate(diagram)
    change(diagram)
    after = sb.simulate(diagram)
    assert len(traces) == 2
    assert not np.array_equal(before["x"], after["x"])
    fresh = sb.load(tmp_path / "loop.yaml")
    change(fresh)
    same(after, sb.simulate(fresh))


def test_another_tick_rule_is_traced_again(diagram, traces):
    sb.simulate(diagram)
    sb.simulate(diagram, first_tick="bdsim")
    assert len(traces) == 2


def test_blocks_and_wires_that_come_later_are_seen(traces):
    bd = new_diagram("later")
    step = bd.STEP(T=0.1, on=1.0, name="step")
    x = bd.INTEGRATOR(name="x")
    bd.connect(step, x)
    first = sb.simulate(bd, T=1)
    assert sb.simulate(bd, T=1).keys() == first.keys()
    assert len(traces) == 1
    bd.connect(x, bd.SCOPE(name="scope"))
    assert "x" in sb.simulate(bd, T=1)
    assert len(traces) == 2


def test_a_function_of_the_users_is_asked_again(traces):
    factor = [1.0]
    bd = new_diagram("own")
    double = bd.FUNCTION(lambda u: factor[0] * u, nin=1, name="double")
    bd.connect(bd.STEP(T=0.1, on=1.0, name="step"), double)
    bd.connect(double, bd.SCOPE(name="scope"))
    assert sb.simulate(bd, T=1)["double"][-1] == 1.0
    factor[0] = 3.0  # nothing of the diagram has changed
    assert sb.simulate(bd, T=1)["double"][-1] == 3.0
    assert len(traces) == 2


def test_warnings_of_the_trace_are_given_each_time(diagram, monkeypatch, traces):
    trace = parity.trace

    def doubtful(*args, **options):
        warnings.warn("doubtful", SpartWarning, stacklevel=2)
        return trace(*args, **options)

    monkeypatch.setattr(parity, "trace", doubtful)
    for _ in range(2):
        with pytest.warns(SpartWarning, match="doubtful"):
            sb.simulate(diagram)
    assert len(traces) == 1


def test_the_interpreter_is_asked_each_time(diagram, traces):
    assert sb.simulate(diagram, engine="interpreter").info["engine"] == "interpreter"
    assert sb.simulate(diagram).info["engine"] == "native"
    assert sb.simulate(diagram, engine="interpreter").info["engine"] == "interpreter"


def test_a_copy_of_the_diagram_has_no_trace(diagram, traces):
    sb.simulate(diagram)
    other = copy.deepcopy(diagram)
    block(other, "gain").K[0] = 7.0
    changed = sb.simulate(other)
    assert len(traces) == 2
    assert not np.array_equal(changed["x"], sb.simulate(diagram)["x"])
    assert len(traces) == 2


def test_a_run_uses_the_program_of_an_earlier_trace(diagram, tmp_path, traces):
    sb.trace(diagram)
    assert not traces  # these are of runs
    options = {"T": 0.7, "every": 0.05}
    first = sb.simulate(diagram, **options)
    assert not traces
    same(first, sb.simulate(tmp_path / "loop.yaml", **options))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_diagram_that_changed_after_its_trace_is_traced_again(diagram, tmp_path, traces, change):
    sb.trace(diagram)
    change(diagram)
    found = sb.simulate(diagram)
    assert len(traces) == 1
    fresh = sb.load(tmp_path / "loop.yaml")
    change(fresh)
    same(found, sb.simulate(fresh))


def test_warnings_of_a_trace_are_given_by_each_run_that_uses_it(diagram, monkeypatch, traces):
    made = from_diagram.traced

    def doubtful(*args, **options):
        warnings.warn("doubtful", SpartWarning, stacklevel=2)
        return made(*args, **options)

    monkeypatch.setattr(from_diagram, "traced", doubtful)
    for use in (sb.trace, sb.simulate, sb.simulate):
        with pytest.warns(SpartWarning, match="doubtful") as caught:
            use(diagram)
        assert len([w for w in caught if "doubtful" in str(w.message)]) == 1
    assert not traces


def test_a_run_with_events_traces_for_itself(tmp_path, traces):
    """Blocks reset their states in runs, and a trace of one's own has resets as expressions."""
    (tmp_path / "saw.yaml").write_text("""
blocks:
  one: {type: CONSTANT, value: 1}
  saw: {type: HYBRID_SYSTEM, states: [s], x0: [0], arguments: [u], f: [u],
        jumps: [{when: s > 0.3, set: {s: 0}}]}
  scope: {type: SCOPE}
wires: [one -> saw.u, saw -> scope]
run: {T: 1}
""")
    diagram = sb.load(tmp_path / "saw.yaml")
    assert sb.trace(diagram).resets
    assert sb.simulate(diagram)["saw"][-1] == pytest.approx(0.1)
    assert len(traces) == 1
