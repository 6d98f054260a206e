"""Worker processes: they answer, fail alone, and outlive no parent."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time

import pytest

from spart_blocks.base.errors import (
    DiagramError,
    Fault,
    MissingExtraError,
    Place,
    RobotError,
    RunError,
)
from spart_blocks.workers import executor
from spart_blocks.workers.executor import Processes
from spart_blocks.workers.frames import error_as_json, error_from_json, frame, read
from spart_blocks.workers.process import Worker, WorkerEndedError, command, environment

# --- messages ----------------------------------------------------------------------------------


class Dribbling(io.BytesIO):
    """A pipe that gives at most three bytes at once."""

    def read(self, size=-1):
        return super().read(min(size, 3))


def test_messages_come_as_they_were_sent():
    sent = [({"a": [1, 2.5, None]}, b"\x00\xff" * 9), ({}, b"")]
    pipe = Dribbling(b"".join(frame(*one) for one in sent))
    assert [read(pipe), read(pipe)] == sent
    with pytest.raises(EOFError):
        read(pipe)
    with pytest.raises(EOFError):
        read(io.BytesIO(frame({}, b"cut")[:-1]))


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        DiagramError([Fault("wrong", Place("a.yaml", 3, 4), "do so"), Fault("too")]),
        RobotError("a link"),
        RunError("it fell", block="plant", time=0.5, hint="hold it"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_crosses_processes_as_it_is(error):
    back = error_from_json(error_as_json(error))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert getattr(back, "faults", None) == getattr(error, "faults", None)


def test_an_unforeseen_error_brings_its_traceback():
    back = error_from_json(error_as_json(ZeroDivisionError("by zero")))
    assert "should not have happened: ZeroDivisionError: by zero" in str(back)
    assert "ZeroDivisionError" in back.__notes__[0]


def test_an_input_error_of_another_kind_crosses_as_the_nearest():
    error = MissingExtraError("zarr", "sweeps", "storing")
    back = error_from_json(error_as_json(error))
    assert back.faults == error.faults


# --- processes ---------------------------------------------------------------------------------


def serve(inbox, outbox):
    """Of this module as a worker: sends back what comes, or sleeps."""
    while True:
        header, body = inbox.receive()
        print("not an answer")
        outbox.send({**header, "pid": os.getpid()}, body)
        if header.get("sleep"):
            time.sleep(1000)
        if header.get("end"):
            return


@pytest.fixture
def worker(tmp_path):
    made = Worker(__name__, tmp_path / "log.txt")
    yield made
    made.kill()
    made.close()


def test_a_worker_answers_until_its_work_is_done(worker, tmp_path):
    worker.send({"n": 1}, b"body")
    header, body = worker.receive()
    assert (header["n"], body) == (1, b"body")
    assert header["pid"] != os.getpid()
    worker.send({"end": True})
    assert worker.receive()[0]["end"]
    with pytest.raises(EOFError):
        worker.receive()
    worker.close()
    assert "exit code 0" in str(worker.ended())
    assert "not an answer" in (tmp_path / "log.txt").read_text()


def test_a_worker_ignores_ctrl_c_and_ends_when_it_is_closed(worker):
    worker.send({"sleep": True})
    pid = worker.receive()[0]["pid"]
    os.kill(pid, signal.SIGINT)
    begun = time.monotonic()
    worker.close()
    assert time.monotonic() - begun < 60
    assert "exit code 1" in str(worker.ended())


def test_a_killed_worker_says_by_what(worker):
    worker.send({"sleep": True})
    os.kill(worker.receive()[0]["pid"], signal.SIGKILL)
    with pytest.raises(EOFError):
        worker.receive()
    worker.close()
    assert "without an answer (signal 9)" in str(worker.ended())


PARENT = (
    "import time; from pathlib import Path\n"
    "from spart_blocks.workers.process import Worker\n"
    "worker = Worker({0!r}, Path({1!r}))\n"
    "worker.send({{'sleep': True}}); print(worker.receive()[0]['pid'], flush=True)\n"
    "time.sleep(1000)"
)
PARENT_OF_STANDBY = (
    "import asyncio; from spart_blocks.workers.async_process import Standby\n"
    "async def work():\n"
    "    standby = Standby(lambda: None)\n"
    "    await standby.prepare({{'module': {0!r}}})\n"
    "    while standby.doing is None: await asyncio.sleep(0.01)\n"
    "    print(standby.doing, flush=True)\n"
    "    await asyncio.sleep(1000)\n"
    "asyncio.run(work())"
)


def prepare(order, say):
    """Of this module in a standby process: says who it is, and works for long."""
    say({"tell": "doing", "doing": str(os.getpid())})
    time.sleep(1000)


@pytest.mark.parametrize("code", [PARENT, PARENT_OF_STANDBY], ids=["worker", "standby"])
def test_a_worker_outlives_no_parent(tmp_path, code):
    """The parent is killed, and so cannot end it."""
    code = code.format(__name__, str(tmp_path / "log.txt"))
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment(), text=True
    )
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    end = time.monotonic() + 60
    while alive(pid):
        assert time.monotonic() < end
        time.sleep(0.05)


def alive(pid):
    """Whether a process runs; one that has ended may not have been waited for."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_module_that_is_not_there_is_told(tmp_path):
    worker = Worker("spart_blocks.no_such_worker", tmp_path / "log.txt")
    with pytest.raises(EOFError):
        worker.receive()
    worker.close()
    assert "no_such_worker" in str(worker.ended())


def test_the_current_folder_is_not_searched_for_modules():
    assert "-P" in command("any")


# --- calls -------------------------------------------------------------------------------------


def test_a_process_that_ends_fails_its_call_alone():
    with Processes(1) as processes:
        failing = processes.submit(os._exit, 3)
        after = processes.submit(os.getpid)
        with pytest.raises(WorkerEndedError, match=r"exit code 3"):
            failing.result()
        assert after.result() != os.getpid()


def test_exceptions_of_calls_come_back():
    with Processes(1) as processes, pytest.raises(ValueError, match="invalid literal"):
        processes.submit(int, "x").result()


def test_processes_that_cannot_start_are_told(monkeypatch):
    monkeypatch.setattr(executor, "SERVED", "spart_blocks.workers.no_such_module")
    with Processes(1) as processes:
        for _ in range(2):
            with pytest.raises(WorkerEndedError):
                processes.submit(int).result()
        with pytest.raises(RunError, match="no worker process can start"):
            processes.submit(int).result()


class Unpicklable(Exception):  # noqa: N818
    """An exception that its pickle does not give back."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def raising():
    raise Unpicklable("this", "that")


def test_an_exception_that_no_pickle_gives_back_is_told():
    with Processes(1) as processes:
        with pytest.raises(RunError, match="Unpicklable: this and that"):
            processes.submit(raising).result()
        with pytest.raises(RunError, match="cannot send its answer"):
            processes.submit(memoryview, b"").result()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
def test_a_call_without_memory_fails_alone():
    with Processes(1) as processes:
        processes.submit(_limited, 2**32).result()
        with pytest.raises(MemoryError):
            processes.submit(bytearray, 2**36).result()
        assert processes.submit(int, "3").result() == 3


def _limited(size):
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (size, size))
