"""Clutches that lock, in lanes: a transition on the surface of a jump comes before it."""

import numpy as np
import pytest
from clutches import CLUTCH
from lane_runs import every_way

import spart_blocks as sb
from spart_blocks.measures.work import Work
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.run import lanes

pytestmark = pytest.mark.skipif(compiler_name() is None, reason="no C compiler")


def work(program, starts):
    p = np.array([program.with_parameters({"start": start}).p for start in starts])
    return Work(program, np.arange(len(p)), p, (Gauge("extremes", "we"),), ("lock",))


def check(done, starts):
    locks = starts / 5.6
    assert np.abs(done.events["lock"] - locks).max() < 1e-9
    end = starts - 4 * locks + (5 - locks) * 2 / 3
    assert np.abs(done.x[:, -2:] - end[:, None]).max() < 1e-8


@pytest.fixture
def program(request, tmp_path):
    path = tmp_path / "clutch.yaml"
    path.write_text(f"{CLUTCH}run: {{T: 5, solver: {request.param}}}\n")
    return sb.trace(path)


@pytest.mark.parametrize("program", ["RK45", "RK4", "euler"], indirect=True)
def test_clutches_lock_in_lanes_where_their_speeds_meet(program, monkeypatch):
    starts = np.linspace(5, 25, 16) + 0.01  # of fixed steps none ends where they meet
    monkeypatch.setattr(lanes, "each_run", None)  # none is handed back
    check(every_way(work(program, starts)), starts)


@pytest.mark.parametrize("program", ["RK45", "RK4"], indirect=True)
def test_a_clutch_locks_in_lanes_where_a_step_ends_as_the_speeds_meet(program):
    starts = np.array([21.0, 20.0])  # 3.75 s, within rounding of a step's end
    check(every_way(work(program, starts)), starts)
