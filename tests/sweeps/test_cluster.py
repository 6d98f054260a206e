"""Runs on the workers of a cluster of Dask, real processes on this machine."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from spart_blocks.base.errors import InputError, MissingExtraError, RunError
from spart_blocks.measures.work import joined
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.sweeps.run import lanes
from spart_blocks.sweeps.run.executors import spread
from spart_blocks.sweeps.run.one_by_one import each_run

DECAY = """
name: decay
blocks:
  gain: {type: GAIN, K: -1.0}
  x: {type: INTEGRATOR, x0: 1.0}
wires: [x -> gain, gain -> x]
run: {T: 1.0}
"""


@pytest.fixture
def work(diagram_file, work_of):
    return work_of(diagram_file(DECAY), {"gain.K": -np.linspace(1, 2, 20)})


def test_workers_of_a_cluster_give_the_bits_of_this_process(work, tmp_path):
    pytest.importorskip("distributed")
    from dask_processes import cluster
    from distributed import Client

    with cluster(tmp_path) as dask:
        by_address = joined(list(spread(work, each_run, executor=dask.address)))
        with Client(dask.address, set_as_default=False) as client:
            by_client = joined(list(spread(work, each_run, executor=client)))
            assert client.status == "running"
    here = joined(list(each_run(work)))
    for done in (by_address, by_client):
        order = np.argsort(done.runs)
        np.testing.assert_array_equal(done.runs[order], work.runs)
        np.testing.assert_array_equal(done.x[order], here.x)


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
def test_workers_without_a_compiler_borrow_libraries(work, tmp_path):
    pytest.importorskip("distributed")
    from dask_processes import cluster

    with cluster(tmp_path, workers=0) as dask:
        for _ in range(2):
            dask.start_worker(SPART_COMPILER="none")
        done = joined(list(spread(work, lanes.fastest, executor=dask.address)))
    order = np.argsort(done.runs)
    np.testing.assert_array_equal(done.runs[order], work.runs)
    np.testing.assert_array_equal(done.x[order], joined(list(lanes.run(work))).x)


def test_without_dask_the_extra_is_named(work, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"distributed[\s\S]*\[cluster\]"):
        list(spread(work, each_run, executor="tcp://127.0.0.1:1"))


def test_a_scheduler_that_does_not_answer_is_told(work, monkeypatch):
    pytest.importorskip("distributed")
    from spart_blocks.sweeps.run import cluster

    monkeypatch.setattr(cluster, "FIRST_WAIT", 0.5)
    with pytest.raises(RunError, match=r"no scheduler of Dask answers at tcp://127.0.0.1:1"):
        list(spread(work, each_run, executor="tcp://127.0.0.1:1"))


@pytest.mark.parametrize(
    "address",
    ["nonsense", "", "tcp://", "tcp://host", "tcp://host:a", "tcp://host:70000", "a://b:1"],
)
def test_what_is_no_address_is_told_before_anyone_connects(work, monkeypatch, address):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "Client", None)  # it speaks once more when it is collected
    with pytest.raises(InputError, match=r"no scheduler's address[\s\S]*tcp://that-machine:8786"):
        list(spread(work, each_run, executor=address))
