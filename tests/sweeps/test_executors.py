"""Chunks of runs in processes and executors: nothing is lost, and no bit depends on them."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pytest
import sweep_runners
from lane_runs import RELAY

from spart_blocks.base.errors import InputError
from spart_blocks.measures.work import FAILED, STATUSES, joined
from spart_blocks.program.c import borrowed
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.run import executors, lanes
from spart_blocks.sweeps.run.executors import spread
from spart_blocks.sweeps.run.one_by_one import each_run
from spart_blocks.workers.executor import Processes

OSCILLATOR = """
name: oscillator
blocks:
  spring: {type: GAIN, K: -4.0}
  v: {type: INTEGRATOR, x0: 0.0}
  x: {type: INTEGRATOR, x0: 1.0}
wires: [spring -> v, v -> x, x -> spring]
run: {T: 3.0}
"""


@pytest.fixture
def work(diagram_file, work_of):
    return work_of(diagram_file(OSCILLATOR), {"spring.K": -np.linspace(1, 9, 40)})


def in_order(parts):
    done = joined(list(parts))
    order = np.argsort(done.runs)
    return done.runs[order], done.x[order], done


def assert_as_here(parts, work):
    runs, x, done = in_order(parts)
    np.testing.assert_array_equal(runs, work.runs)
    np.testing.assert_array_equal(x, joined(list(each_run(work))).x)
    return done


def test_processes_give_the_bits_of_this_process(work):
    assert_as_here(spread(work, each_run, workers=2), work)


def test_executors_of_the_caller_are_used_and_stay_open(work):
    with ThreadPoolExecutor(2) as threads:
        assert_as_here(spread(work, each_run, executor=threads), work)
        assert threads.submit(int).result() == 0


def test_the_shared_part_is_given_to_workers_that_ask_for_it(work):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        # One is introduced, and the other must ask.
        assert_as_here(spread(work, each_run, executor=pool, workers=1), work)
        assert_as_here(spread(work, each_run, executor=pool, workers=2), work)


def test_a_worker_that_ends_loses_no_run(work, tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_TEST_MARK", str(tmp_path / "ended"))
    assert_as_here(spread(work, sweep_runners.ending_once, workers=2), work)
    assert (tmp_path / "ended").exists()


def test_a_run_that_ends_its_workers_is_recorded_as_failed(work, monkeypatch):
    monkeypatch.setattr(executors, "PARTS", 8)
    _, _, done = in_order(spread(work, sweep_runners.ending_at_7, workers=2))
    np.testing.assert_array_equal(np.sort(done.runs), work.runs)
    assert list(done.messages) == [7]
    assert "its process ended without an answer (signal 9), 3 times" in done.messages[7]
    wrong = done.runs[done.status == STATUSES.index(FAILED)]
    assert wrong.tolist() == [7]


def test_an_interrupt_ends_the_processes_and_keeps_what_had_ended(work):
    timer = threading.Timer(2.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    parts, interrupted = [], False
    long = work.part(np.repeat(np.arange(40), 20))
    timer.start()
    try:
        for part in spread(long, sweep_runners.slowly, workers=2):
            parts.append(part)
    except KeyboardInterrupt:
        interrupted = True
    assert interrupted
    assert not [t for t in threading.enumerate() if "serve" in t.name]
    if parts:  # on a busy machine the workers may not have begun
        assert len(joined(parts).runs) < len(long.runs)


def test_closing_ends_the_processes(work):
    parts = spread(work, sweep_runners.slowly, workers=2)
    next(parts)
    begun = time.monotonic()
    parts.close()
    assert time.monotonic() - begun < 20
    assert not [t for t in threading.enumerate() if "serve" in t.name]


def test_chunks_grow_and_the_program_travels_once_a_worker(work, tmp_path, monkeypatch):
    mark = tmp_path / "chunks"
    monkeypatch.setenv("SPART_TEST_MARK", str(mark))
    monkeypatch.setattr(executors, "SECONDS", 0.4)
    introduced = []
    of = executors.Chunk.of

    def counted(shared, part, *, with_shared):
        introduced.append(with_shared)
        return of(shared, part, with_shared=with_shared)

    monkeypatch.setattr(executors.Chunk, "of", counted)
    with Processes(1) as process:
        assert_as_here(spread(work, sweep_runners.noting_processes, executor=process), work)
    chunks = [line.split() for line in mark.read_text().splitlines()]
    assert len({process for process, _ in chunks}) == 1
    assert max(int(size) for _, size in chunks) > 2
    assert sum(introduced) == 1


def test_errors_of_the_input_are_raised_here(work):
    options = work.program.run.model_copy(update={"max_step": 1e-12})
    with pytest.raises(InputError, match="max_step"):
        list(spread(replace(work, program=replace(work.program, run=options)), each_run, workers=2))
    with pytest.raises(InputError, match="workers"):
        list(spread(work, each_run, workers=0))
    with pytest.raises(InputError, match="cannot be done by 3"):
        list(spread(work, each_run, executor=3))


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
@pytest.mark.parametrize("runner", [each_run, lanes.fastest])
def test_a_worker_without_a_compiler_borrows_libraries(bare, diagram_file, work_of, runner):
    assert bare.submit(compiler_name).result() is None
    gauges = (Gauge("extremes", "x"),)
    work = work_of(diagram_file(RELAY), {"drive": np.linspace(0.8, 1.4, 20)}, gauges=gauges)
    here = joined(list(runner(work)))
    runs, x, done = in_order(spread(work, runner, executor=bare))
    np.testing.assert_array_equal(runs, work.runs)
    np.testing.assert_array_equal(x, here.x)
    np.testing.assert_array_equal(np.sort(done.t), np.sort(here.t))
    assert bare.submit(compiler_name).result() is None


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
def test_libraries_travel_once_to_a_worker_without_a_compiler(work, bare, monkeypatch):
    sent = []
    submit = executors.ExecutorWorkers.submit

    def noted(crew, chunk):
        sent.append(sorted(chunk.libraries))
        return submit(crew, chunk)

    monkeypatch.setattr(executors.ExecutorWorkers, "submit", noted)
    monkeypatch.setattr(executors, "SECONDS", 0.01)
    assert_as_here(spread(work, each_run, executor=bare), work)
    carrying = [keys for keys in sent if keys]
    assert 0 < len(carrying) < len(sent)
    before = len(sent)
    assert_as_here(spread(work, each_run, executor=bare), work)
    assert not any(sent[before:])


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
@pytest.mark.parametrize(
    ("change", "why"),
    [({"system": "another system"}, "and not another system"),
     ({"features": frozenset(["avx9000"])}, "no avx9000")],
)  # fmt: skip
def test_a_worker_that_cannot_use_our_libraries_is_refused(work, bare, monkeypatch, change, why):
    here = replace(borrowed.Machine.here(), **change)
    monkeypatch.setattr(borrowed.Machine, "here", lambda: here)
    with pytest.raises(InputError, match=rf"no C compiler for compiled runs[\s\S]*{why}"):
        list(spread(work, each_run, executor=bare))


def test_a_worker_with_a_compiler_is_refused_where_there_is_none(work, monkeypatch):
    with Processes(1) as processes:
        processes.submit(int).result()
        if processes.submit(compiler_name).result() is None:
            pytest.skip("no C compiler")
        monkeypatch.setenv("SPART_COMPILER", "none")
        with pytest.raises(InputError, match=r"compiled runs: yes, this process has .*no"):
            list(spread(work, each_run, executor=processes))


def test_chunks_go_through_the_lanes_where_they_can(work):
    with Processes(1) as process:
        runs, x, _ = in_order(spread(work, lanes.fastest, executor=process))
    np.testing.assert_array_equal(runs, work.runs)
    np.testing.assert_array_equal(x, joined(list(lanes.run(work, threads=2))).x)
