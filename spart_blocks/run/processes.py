"""Runs of diagram files in separate processes, several at once.

Each is a fresh Python that runs `worker.py`: nothing is forked, and the caller's main
module is not imported again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import numpy as np

from spart_blocks.base.errors import (
    DiagramError,
    Fault,
    InputError,
    Place,
    RobotError,
    RunError,
    SpartError,
)
from spart_blocks.results import Results
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.measure.gauges import Gauge, Readings

Progress = Callable[[float, float], None]

WORKER = "spart_blocks.run.worker"
_INPUT_ERRORS = {kind.__name__: kind for kind in (InputError, RobotError, DiagramError)}


@dataclass(frozen=True)
class Job:
    """A file to run, run options in place of the file's (T, log, ...), and what to measure."""

    file: DiagramFile
    options: Mapping[str, Any] = field(default_factory=dict)
    gauges: tuple[Gauge, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """Outcome of a job: results and readings of its gauges, or an error. warnings: their texts."""

    results: Results | None = None
    error: SpartError | None = None
    warnings: tuple[str, ...] = ()
    readings: Mapping[Gauge, Readings] = field(default_factory=dict)


def run_all(
    jobs: Mapping[str, Job], limit: int | None = None, progress: Progress | None = None
) -> dict[str, Outcome]:
    """The outcome of each job by its name.

    limit: number of jobs that run at once, by default the number of processors.
    progress: called with the mean (t, T) of all jobs, from another thread.
    An interrupt (Ctrl-C) ends every process; only the jobs that had ended by then are returned.
    """
    at_once = min(limit or os.cpu_count() or 1, len(jobs)) or 1
    crew = _Crew(progress, len(jobs))
    with (
        tempfile.TemporaryDirectory(prefix="spart-") as folder,
        ThreadPoolExecutor(at_once) as pool,
    ):
        futures = {
            name: pool.submit(crew.run, job, Path(folder, f"{number}.npz"))
            for number, (name, job) in enumerate(jobs.items())
        }
        try:
            wait(futures.values())
        except KeyboardInterrupt:
            crew.end()
        finally:
            pool.shutdown(cancel_futures=True)
    ended = {name: future.result() for name, future in futures.items() if not future.cancelled()}
    return {name: outcome for name, outcome in ended.items() if outcome is not None}


class _Crew:
    """The running processes, and the progress of each job."""

    def __init__(self, progress: Progress | None, jobs: int) -> None:
        self.progress, self.jobs = progress, jobs
        self.lock = Lock()
        self.running: set[subprocess.Popen[bytes]] = set()
        self.reached: dict[Path, tuple[float, float]] = {}
        self.over = False

    def run(self, job: Job, results: Path) -> Outcome | None:
        """Run a job to its end; None if all processes were ended before."""
        said = results.with_suffix(".txt")
        with said.open("wb") as log, self.lock:
            if self.over:
                return None
            process = start(WORKER, log)
            self.running.add(process)
        try:
            last = self._listen(process, job, results)
        finally:
            close(process)
            with self.lock:
                self.running.discard(process)
                over = self.over
        return None if over else _outcome(last, results, process.returncode, said)

    def _listen(self, process: subprocess.Popen[bytes], job: Job, results: Path) -> dict[str, Any]:
        """Send the job, receive its progress, and return its last answer."""
        assert process.stdin is not None
        assert process.stdout is not None
        asked = {
            "file": plain_file(job.file),
            "options": dict(job.options),
            "results": str(results),
            "gauges": [asdict(gauge) for gauge in job.gauges],
        }
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(asked).encode() + b"\n")
            process.stdin.flush()
        answer: dict[str, Any] = {}
        for line in process.stdout:
            answer = json.loads(line)
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
        """End every process, and start no others."""
        with self.lock:
            self.over = True
            for process in self.running:
                process.terminate()


def start(
    module: str, log: BinaryIO, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """Start a Python that runs a module, with the module search path of this process, without its
    current folder (-P), which may hold foreign files.

    log: a file for its stderr. environment: variables for those that are not set.
    """
    places = [str(Path(place or ".").absolute()) for place in sys.path]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env={**(environment or {}), **os.environ, "PYTHONPATH": os.pathsep.join(places)},
    )


def close(process: subprocess.Popen[bytes]) -> None:
    """Close a process: it ends by itself when its stdin is closed."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
    process.wait()


def _outcome(answer: Mapping[str, Any], results: Path, code: int, said: Path) -> Outcome:
    told = tuple(answer.get("warnings", ()))
    if "error" in answer:
        return Outcome(error=error_from(answer["error"]), warnings=told)
    if "done" in answer:
        readings = {
            Gauge(**gauge): {name: np.array(values) for name, values in read.items()}
            for gauge, read in answer["readings"]
        }
        return Outcome(results=Results.load(results), warnings=told, readings=readings)
    how, hint = how_it_ended(code, said)
    return Outcome(error=RunError(f"its process ended without an answer ({how})", hint=hint))


def how_it_ended(code: int, log: Path) -> tuple[str, str | None]:
    """The exit code of a process or the signal that ended it, and the last lines of its stderr."""
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return how, "\n  ".join(lines[-8:]) or None


def plain_file(file: DiagramFile) -> dict[str, Any]:
    """A diagram file as data for JSON."""
    paths = {"path": str(file.path), "root": file.root and str(file.root)}
    return {**asdict(file), **paths}


def error_from(plain: Mapping[str, Any]) -> SpartError:
    """The error that `worker.described` turned into JSON."""
    kind = _INPUT_ERRORS.get(plain["kind"])
    if kind is not None:
        return kind(
            Fault(one["message"], one["place"] and Place(*one["place"]), one["hint"])
            for one in plain["faults"]
        )
    fields = {key: plain.get(key) for key in ("block", "time", "hint")}
    error = RunError(plain["message"], **fields)
    if "trace" in plain:
        error.add_note(plain["trace"])  # shown by --debug
    return error
