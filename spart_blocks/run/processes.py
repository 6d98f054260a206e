"""Runs of diagram files in worker processes, several at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from spart_blocks.base.errors import SpartError
from spart_blocks.results import Results
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.measure.gauges import Gauge, Readings
from spart_blocks.workers.frames import error_from_json
from spart_blocks.workers.process import Worker

Progress = Callable[[float, float], None]

SERVED = "spart_blocks.run.worker"


@dataclass(frozen=True)
class Job:
    """A diagram file to run, run options that replace those of the file (T, log, ...), and what to
    measure.
    """

    file: DiagramFile
    options: Mapping[str, Any] = field(default_factory=dict)
    gauges: tuple[Gauge, ...] = ()


@dataclass(frozen=True)
class JobOutcome:
    """The outcome of a job: results and readings of its gauges, or an error; and the texts of
    warnings.
    """

    results: Results | None = None
    error: SpartError | None = None
    warnings: tuple[str, ...] = ()
    readings: Mapping[Gauge, Readings] = field(default_factory=dict)


def run_all(
    jobs: Mapping[str, Job], limit: int | None = None, progress: Progress | None = None
) -> dict[str, JobOutcome]:
    """The outcome of each job by its name.

    limit: number of jobs that run at once, by default the number of processors.
    progress: called with the mean (t, T) of all jobs, from another thread.
    An interrupt (Ctrl-C) ends every process; only the jobs that had ended by then are returned.
    """
    at_once = min(limit or os.cpu_count() or 1, len(jobs)) or 1
    runs = _Runs(progress, len(jobs))
    with (
        tempfile.TemporaryDirectory(prefix="spart-") as folder,
        ThreadPoolExecutor(at_once) as pool,
    ):
        futures = {
            name: pool.submit(runs.run, job, Path(folder, f"{number}.npz"))
            for number, (name, job) in enumerate(jobs.items())
        }
        try:
            wait(futures.values())
        except KeyboardInterrupt:
            runs.end()
        finally:
            pool.shutdown(cancel_futures=True)
    ended = {name: future.result() for name, future in futures.items() if not future.cancelled()}
    return {name: outcome for name, outcome in ended.items() if outcome is not None}


class _Runs:
    """The running processes, and the progress of each job."""

    def __init__(self, progress: Progress | None, jobs: int) -> None:
        self.progress, self.jobs = progress, jobs
        self.lock = Lock()
        self.running: set[Worker] = set()
        self.reached: dict[Path, tuple[float, float]] = {}
        self.over = False

    def run(self, job: Job, results: Path) -> JobOutcome | None:
        """Execute a job; None if all processes were ended before it finished."""
        with self.lock:
            if self.over:
                return None
            worker = Worker(SERVED, results.with_suffix(".txt"))
            self.running.add(worker)
        try:
            last = self._listen(worker, job, results)
        finally:
            worker.close()
            with self.lock:
                self.running.discard(worker)
                over = self.over
        return None if over else _outcome(last, results, worker)

    def _listen(self, worker: Worker, job: Job, results: Path) -> dict[str, Any]:
        """Send the job, receive its progress, and return its last answer."""
        asked = {
            "file": plain_file(job.file),
            "options": dict(job.options),
            "results": str(results),
            "gauges": [asdict(gauge) for gauge in job.gauges],
        }
        answer: dict[str, Any] = {}
        with suppress(OSError):
            worker.send(asked)
        with suppress(EOFError):
            while True:
                answer, _ = worker.receive()
                if "t" in answer:
                    self._report(results, answer["t"], answer["end"])
        return answer

    def _report(self, job: Path, t: float, end: float) -> None:
        if self.progress is None:
            return
        with self.lock:
            self.reached[job] = (t, end)
            far = sum(t for t, _ in self.reached.values()) / self.jobs
            self.progress(far, max(end for _, end in self.reached.values()))

    def end(self) -> None:
        """Kill every process, and start no more."""
        with self.lock:
            self.over = True
            for worker in self.running:
                worker.kill()


def _outcome(answer: Mapping[str, Any], results: Path, worker: Worker) -> JobOutcome:
    told = tuple(answer.get("warnings", ()))
    if "error" in answer:
        return JobOutcome(error=error_from_json(answer["error"]), warnings=told)
    if "done" in answer:
        readings = {
            Gauge(**gauge): {name: np.array(values) for name, values in read.items()}
            for gauge, read in answer["readings"]
        }
        return JobOutcome(results=Results.load(results), warnings=told, readings=readings)
    return JobOutcome(error=worker.ended())


def plain_file(file: DiagramFile) -> dict[str, Any]:
    """A diagram file as data for JSON."""
    paths = {"path": str(file.path), "root": file.root and str(file.root)}
    return {**asdict(file), **paths}
