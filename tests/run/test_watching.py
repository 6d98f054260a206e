"""A run that is watched, cut and repeated takes the steps of one that is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spart_blocks.run import DiagramFile, begin, finish
from spart_blocks.run.record.watching import end_at, rows_since
from spart_blocks.run.simulate import begin_engine

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
PLAIN = """
clocks: {c: {T: 0.1}}
blocks:
  s: {type: WAVEFORM, wave: sine, freq: 3.0}
  i: {type: INTEGRATOR, x0: 1.0}
  z: {type: ZOH, clock: c}
  sum: {type: SUM, signs: "+-"}
  scope: {type: SCOPE, nin: 2}
wires: [s -> sum.0, i -> sum.1, sum -> i, i -> z, i -> scope.0, z -> scope.1]
run: {T: 3}
"""


@pytest.fixture(params=["lines", "samples", "interpreter", "CVODES", "Radau", "RK4"])
def kind(request, tmp_path):
    """A file, and the options of its run, for each way to keep rows."""
    path = tmp_path / "plain.yaml"
    path.write_text(PLAIN)
    options = {"lines": {}, "samples": {"every": 0.03}, "interpreter": {"engine": "interpreter"}}
    return path, options.get(request.param, {"solver": request.param})


def same(a, b):
    for one, other in ((a.signals, b.signals), (a.states, b.states), ({"": a.t}, {"": b.t})):
        assert one.keys() == other.keys()
        for name, values in one.items():
            assert np.array_equal(values, other[name]), name


def test_a_watched_run_has_the_record_of_one_that_is_not(kind):
    path, options = kind
    seen = []

    def look(t, end):
        run.steps_a_report = 3
        found = rows_since(run, sum(len(one.t) for one in seen))
        seen.extend([found] if found is not None else [])

    run = begin(DiagramFile(path), progress=look, **options)
    run.steps_a_report = 1
    watched = finish(run)
    same(watched, finish(begin(DiagramFile(path), **options)))
    early = sum(len(one.t) for one in seen)
    if "every" not in options and options.get("solver") != "CVODES":
        assert early > 0
    late = rows_since(run, early)
    seen.extend([late] if late is not None else [])
    assert np.array_equal(np.concatenate([one.t for one in seen]), watched.t)
    columns = np.column_stack([watched["s"], *watched.signals.values()])[:, 1:]
    assert np.array_equal(np.concatenate([one.signals for one in seen]), columns)
    assert np.array_equal(np.concatenate([one.x for one in seen]), watched.states["i"])


@pytest.mark.parametrize("name", ["spacecraft_sampled.yaml", "signals/thrusters.yaml"])
def test_rows_of_shipped_diagrams_are_told_as_they_are_kept(name):
    seen = []

    def look(t, end):
        found = rows_since(run, sum(len(one.t) for one in seen))
        seen.extend([found] if found is not None else [])

    run = begin(DiagramFile(DIAGRAMS / name), progress=look, T=3.0)
    run.steps_a_report = 5
    watched = finish(run)
    same(watched, finish(begin(DiagramFile(DIAGRAMS / name), T=3.0)))
    assert len(seen) > 3
    told = np.concatenate([one.t for one in seen])
    assert np.array_equal(told, watched.t[: len(told)])


def test_a_run_that_is_cut_is_continued_where_it_was(kind):
    path, options = kind

    def cut(t, end):
        run.cut |= t >= 1.0

    run = begin(DiagramFile(path), progress=cut, **options)
    run.steps_a_report = 1
    part = finish(run)
    assert 1.0 <= part.final_state.t < 3.0
    assert not part.complete
    rest = finish(begin_engine(run.engine, part.final_state))
    whole = finish(begin(DiagramFile(path), **options))
    assert rest.t[0] == part.final_state.t
    assert rest.complete
    assert rest["i"][-1] == pytest.approx(whole["i"][-1], abs=2e-3)
    assert rest.final_state.ticks == whole.final_state.ticks


def test_the_state_at_a_time_is_that_of_the_whole_run(kind):
    path, options = kind
    whole = finish(begin(DiagramFile(path), **options))
    again = begin(DiagramFile(path), **options)
    end_at(again, 1.25)
    found = finish(again).final_state
    assert found.t == 1.25
    assert found.ticks == {"0.1+0.0": 13}
    assert found.continuous["i"][0] == pytest.approx(whole.at([1.25])["i"][0], abs=2e-3)
    rest = finish(begin_engine(again.engine, found))
    assert rest["i"][-1] == pytest.approx(whole["i"][-1], abs=2e-3)


def test_the_state_at_a_stop_is_the_one_that_the_run_had_there(kind):
    path, options = kind
    whole = finish(begin(DiagramFile(path), **options))
    again = begin(DiagramFile(path), **options)
    end_at(again, 0.3)
    at = np.flatnonzero(whole.t == 0.3)
    if options.get("solver") != "CVODES":  # its steps depend on where it must stop
        assert finish(again).final_state.continuous["i"] == whole.states["i"][at[-1]]
