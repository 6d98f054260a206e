"""A sweep while it runs: batches, resuming, interrupts, and when to stop; with a job in Python."""

from __future__ import annotations

import signal
from types import SimpleNamespace

import numpy as np
import pytest

from spart_blocks.base.errors import InputError, RunError
from spart_blocks.base.interrupts import deferred
from spart_blocks.measures.work import Done
from spart_blocks.sweeps.results import SweepResults
from spart_blocks.sweeps.run import batches
from spart_blocks.sweeps.run.batches import ENOUGH, SweepRun
from spart_blocks.sweeps.storage import store
from spart_blocks.sweeps.storage.columns import FALSE, TRUE, columns_of, schema_of
from spart_blocks.sweeps.storage.store import Description, Folder, Store

SCHEMA = schema_of((), ("value",), ("default",), ("none", "stuck"))


class Job:
    """Runs whose value is that of their number; those of the second fault pass in 9 of 10 draws."""

    per_draw, groups, bytes_of_run = 2, 2, 8

    def __init__(self, total=1000, kept_first=None):
        self.total, self.kept_first = total, kept_first
        self.asked = []

    def works(self, runs):
        self.asked.append((int(runs[0]), int(runs[-1]) + 1))
        return [SimpleNamespace(runs=runs)], {}

    def evaluated(self, work, done):
        draw = done.runs // 2
        passed = np.where((done.runs % 2 == 1) & (draw % 10 == 0), FALSE, TRUE)
        numbers = SimpleNamespace(draw=draw, grid=0 * draw, variant=0 * draw, fault=done.runs % 2)
        metrics = {"value": done.runs / 7}
        return columns_of(SCHEMA, numbers, {}, done, passed, metrics), None


def run(work):
    """Gives runs in parts, the last ones first."""
    for runs in np.array_split(work.runs, 3)[::-1]:
        yield done_of(runs)


def done_of(runs):
    n = len(runs)
    zero = np.zeros(n)
    status = np.zeros(n, np.uint8)
    return Done(runs, status, zero + 1, zero.astype(int), zero[:, None], zero[:, None])


def described(total=1000):
    return Description("toy", {"seed": 1}, {}, total, SCHEMA)


def check_all(kept, total=1000):
    assert kept.runs().tolist() == list(range(total))
    assert kept.read("value").tobytes() == (np.arange(total) / 7).tobytes()


def test_every_run_is_done_once_in_batches_that_grow():
    job, kept = Job(10_000), Store(described(10_000))
    assert SweepRun(job, kept, run).execute() is None
    check_all(kept, 10_000)
    assert job.asked[:3] == [(0, 256), (256, 1280), (1280, 5376)]


def test_batches_are_bounded_by_memory():
    job = Job(1000)
    job.bytes_of_run = batches.MOST_BYTES // 100
    SweepRun(job, Store(described()), run).execute()
    assert job.asked == [(k, k + 100) for k in range(0, 1000, 100)]


def test_works_do_not_mix_runs_that_are_kept_with_others():
    job = Job(1000, kept_first=300)
    SweepRun(job, Store(described()), run).execute()
    assert job.asked == [(0, 256), (256, 300), (300, 1000)]


def test_progress_counts_runs():
    told = []
    SweepRun(
        Job(600), Store(described(600)), run, progress=lambda *pair: told.append(pair)
    ).execute()
    assert told[0] == (0, 600)
    assert told[-1] == (600, 600)
    assert [n for n, _ in told] == sorted(n for n, _ in told)


def test_an_interrupt_keeps_what_has_ended_and_resuming_does_the_rest(tmp_path):
    def interrupted(work):
        for number, done in enumerate(run(work)):
            if work.runs[0] >= 256 and number == 1:
                raise KeyboardInterrupt
            yield done

    first = Folder.made(tmp_path, described())
    assert SweepRun(Job(), first, interrupted).execute() == "interrupted"
    first.close()
    kept = SweepResults.load(tmp_path)
    assert 256 < len(kept) < 1000
    assert not kept.complete

    job = Job()
    second = Folder.resumed(tmp_path, described())
    assert SweepRun(job, second, run).execute() is None
    second.close()
    assert sum(end - start for start, end in job.asked) <= 1000 - 256
    check_all(Folder.opened(tmp_path))


def test_a_sweep_that_is_done_does_nothing():
    job, kept = Job(), Store(described())
    SweepRun(job, kept, run).execute()
    before = list(job.asked)
    SweepRun(job, kept, run).execute()
    assert job.asked == before


def test_it_stops_when_the_interval_of_each_group_is_narrow_enough():
    job, kept = Job(100_000), Store(described(100_000))
    assert SweepRun(job, kept, run, until=0.05).execute() == ENOUGH
    draws = len(kept.runs()) // 2
    # 9 of 10 pass with the fault; a fixed number of draws would need 553 (Wald).
    assert 553 < draws < 1800
    again = Store(described(100_000))
    SweepRun(Job(100_000), again, lambda work: iter([done_of(work.runs)]), until=0.05).execute()
    assert again.runs().tolist() == kept.runs().tolist()


def test_a_runner_that_loses_runs_is_found_out():
    lossy = SweepRun(
        Job(), Store(described()), lambda work: iter([done_of(work.runs[1:])]), until=0.1
    )
    with pytest.raises(InputError, match="runs are missing"):
        lossy.execute()


def test_a_full_disk_ends_the_sweep_and_keeps_what_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "LEAST_WAIT", -1.0)
    monkeypatch.setattr(store, "SHARE", 0.0)
    kept = Folder.made(tmp_path, described())
    written = store.write_whole

    def full(path, data):
        if path.name.startswith("000002"):
            raise InputError(f"cannot write {path}: No space left on device")
        written(path, data)

    monkeypatch.setattr(store, "write_whole", full)
    with pytest.raises(RunError, match="No space left on device"):
        SweepRun(Job(), kept, run).execute()
    kept.release()
    monkeypatch.undo()
    assert len(Folder.opened(tmp_path).runs()) == 85 + 85
    again = Folder.resumed(tmp_path, described())
    SweepRun(Job(), again, run).execute()
    again.close()
    check_all(Folder.opened(tmp_path))


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="no signals")
def test_an_interrupt_waits_until_a_part_is_written():
    reached = []

    def asked(times):
        with deferred():
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
            reached.append(times)

    with pytest.raises(KeyboardInterrupt):
        asked(1)
    assert reached == [1]
    with pytest.raises(KeyboardInterrupt):
        asked(2)
    assert reached == [1]
