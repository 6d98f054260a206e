"""Sweeps on a cluster whose workers and scheduler end and come back: nothing is lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sweep_runners
from dask_processes import cluster

import spart_blocks as sb
from spart_blocks.measures.work import Work, joined
from spart_blocks.sweeps.run.executors import spread
from spart_blocks.sweeps.run.one_by_one import each_run

pytest.importorskip("distributed")

FILE = Path(__file__).parents[2] / "diagrams" / "signals" / "limited_servo.yaml"
RUNS = 60


@pytest.fixture(scope="module")
def work():
    program = sb.trace(sb.load(FILE))
    return Work(program, np.arange(RUNS), np.tile(program.p, (RUNS, 1)))


@pytest.fixture(scope="module")
def here(work):
    return joined(list(each_run(work)))


def assert_whole(parts, here):
    done = joined(parts)
    order = np.argsort(done.runs)
    np.testing.assert_array_equal(done.runs[order], np.arange(RUNS))
    np.testing.assert_array_equal(done.x[order], here.x)
    assert not done.messages


def test_workers_killed_in_mid_chunk_lose_nothing(work, here, tmp_path):
    with cluster(tmp_path) as dask:
        parts = []
        for part in spread(work, sweep_runners.slowly, executor=dask.address):
            parts.append(part)
            if len(parts) in (3, 6):
                dask.started[1 if len(parts) == 3 else 2].kill()
                dask.start_worker()
    assert_whole(parts, here)


def test_a_worker_that_joins_late_takes_chunks(work, here, tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_TEST_MARK", str(tmp_path / "chunks"))
    more = work.part(np.repeat(np.arange(RUNS), 4))
    with cluster(tmp_path, workers=1) as dask:
        parts = []
        for part in spread(more, sweep_runners.noting_processes, executor=dask.address):
            parts.append(part)
            if len(parts) == 1:
                dask.start_worker()
    assert len(joined(parts).runs) == 4 * RUNS
    noted = (tmp_path / "chunks").read_text().splitlines()
    assert len({line.split()[0] for line in noted}) == 2


@pytest.mark.parametrize("at_once", [True, False])
def test_a_scheduler_that_comes_back_loses_nothing(at_once, work, here, tmp_path):
    with cluster(tmp_path) as dask:
        parts = []
        for part in spread(work, sweep_runners.slowly, executor=dask.address):
            parts.append(part)
            if len(parts) == 3:
                dask.end_scheduler(at_once=at_once)
                dask.start_scheduler()
                dask.start_worker()
    assert_whole(parts, here)


def test_a_scheduler_that_comes_back_is_found_by_the_caller_s_client(work, here, tmp_path):
    from distributed import Client

    with cluster(tmp_path) as dask, Client(dask.address, set_as_default=False) as client:
        parts = []
        for part in spread(work, sweep_runners.slowly, executor=client):
            parts.append(part)
            if len(parts) == 3:
                dask.end_scheduler(at_once=True)
                dask.start_scheduler()
                dask.start_worker()
    assert_whole(parts, here)


def test_a_run_that_ends_its_workers_is_recorded_as_failed(work, here, tmp_path):
    """Dask gives up a chunk after some workers, here one; a nanny replaces each."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as local,
        Client(local, set_as_default=False) as client,
    ):
        done = joined(list(spread(work, sweep_runners.ending_at_7, executor=client)))
    assert sorted(done.runs) == list(range(RUNS))
    assert list(done.messages) == [7]
