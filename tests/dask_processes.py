"""A scheduler and workers of Dask as processes of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager

from free_ports import free_port


class Cluster:
    """address: of the scheduler, which may end and start again there."""

    def __init__(self, folder):
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.folder, self.started, self.scheduler = folder, [], None

    def start_scheduler(self):
        self.scheduler = self._start(
            "scheduler", "--port", str(self.port), "--host", "127.0.0.1", "--no-dashboard"
        )

    def start_worker(self, **environment):
        """A process that ends when it is killed, and is not replaced."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
        return self._start("worker", self.address, *options, **environment)

    def end_scheduler(self, *, at_once):
        (self.scheduler.kill if at_once else self.scheduler.terminate)()
        self.scheduler.wait()

    def _start(self, what, *options, **environment):
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{what}", *options],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.started.append(process)
        return process


@contextmanager
def cluster(folder, workers=2):
    """A scheduler and some workers, which are gone afterwards."""
    made = Cluster(folder)
    try:
        made.start_scheduler()
        for _ in range(workers):
            made.start_worker()
        yield made
    finally:
        for process in reversed(made.started):
            process.kill()
            process.wait()
