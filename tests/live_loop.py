"""A loop that a test directs, for what listens beside loops; and a folder for it to be found.

The fixtures are of all tests.
"""

from __future__ import annotations

import ctypes
import socket
import tempfile
import time
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from spart_blocks.diagram import load
from spart_blocks.export import step_code
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime import live_places
from spart_blocks.realtime.exchange import LoopParameters, SignalRows
from spart_blocks.realtime.live import LiveServer
from spart_blocks.realtime.structs import Ended, LoopStruct, Phase

SERVO = """
name: servo
blocks:
  qd: {type: CONSTANT, value: [0.5, -0.3, 0.2]}
  qm: {type: CONSTANT, value: [0, 0, 0]}
  um: {type: CONSTANT, value: [0, 0, 0]}
  ctrl: {type: JOINT_PD, kp: [40, 40, 10], kd: [20, 20, 5]}
  sum: {type: INTEGRATOR, x0: [1, 2, 3]}
  scope: {type: SCOPE}
wires:
  - qd -> ctrl.qd
  - qm -> ctrl.qm
  - um -> ctrl.um
  - ctrl -> sum
  - sum -> scope
export:
  part: [ctrl, sum]
  outputs: [ctrl.tau]
  rate: 1000
  bounds: {ctrl.kp: [0, 500]}
realtime: {watchdog: 60} # however long the machine that tests sleeps
"""
WAIT = 120.0  # s, beyond which something hangs


@cache
def servo_code():
    """The code of the servo; qm is the part's second input."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "servo.yaml")
        file.write_text(SERVO, encoding="utf-8")
        diagram = load(file)
        return step_code(subdiagram_of(diagram), rate=diagram.export.rate)


class Library:
    """In the place of sb_loop: keeps what the loop was tuned to."""

    def __init__(self):
        self.tuned = []

    def sb_loop_tune(self, struct, address):
        interface = servo_code().interface
        size = sum(m.size for m in (*interface.parameters, *interface.inputs))
        self.tuned.append(list((ctypes.c_double * size).from_address(address)))


class Written(SignalRows):
    """Rows that the test writes, in the place of the ring."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.rows, self.missing = [], 0

    @property
    def dropped(self):
        return self.missing

    def drain(self):
        rows, self.rows = self.rows, []
        return np.concatenate([np.zeros((0, self.width)), *rows])

    def write(self, first, count):
        """Rows of the steps from `first` on; each number tells its step and its column."""
        steps = np.arange(first, first + count, dtype=float)
        rows = steps[:, None] + np.arange(self.width) / 1000
        rows[:, 0] = steps / 1000
        self.rows.append(rows)
        return rows


class DirectedLoop:
    """What a realtime.loop.Loop is to those who look on."""

    def __init__(self):
        self.code = servo_code()
        self.library, struct = Library(), LoopStruct()
        qm = next(m for m in self.code.interface.inputs if m.name == "qm")
        linked = range(qm.place, qm.place + qm.size)
        self.parameters = LoopParameters(self.library, struct, self.code, linked)
        self.signals = Written(self.library, struct, struct.watched, self.code)
        self.phase, self.ended, self.time, self.overruns = Phase.RUNNING, Ended.NOT, 1.5, 0
        self.fault = ""

    def end(self, why=Ended.DONE):
        self.ended, self.phase = why, Phase.ENDED


def until(condition):
    """Wait until it holds."""
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.002)


@contextmanager
def runtime_folder(monkeypatch):
    """A folder for sockets, in which no other loop is; its path is short, as theirs must be."""
    with tempfile.TemporaryDirectory(prefix="sl") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        own = SimpleNamespace(gettempdir=lambda: folder)
        monkeypatch.setattr(live_places, "tempfile", own)
        yield Path(folder, "spart")


@contextmanager
def connections_to(place, count):
    """So many connections, which say nothing."""
    with ExitStack() as kept:
        for _ in range(count):
            made = kept.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            made.settimeout(WAIT)
            end = time.monotonic() + WAIT
            while True:
                try:
                    made.connect(str(place.socket))
                    break
                except BlockingIOError:  # the queue of those who wait is full
                    assert time.monotonic() < end
                    time.sleep(0.001)
        yield


@pytest.fixture
def loop_folder(monkeypatch):
    """The folder for sockets of a test, in which no other loop is."""
    with runtime_folder(monkeypatch) as found:
        yield found


@pytest.fixture
def loop():
    return DirectedLoop()


@pytest.fixture
def server(loop, loop_folder):
    """The loop, at which others may look."""
    with LiveServer(loop, "servo", patience=WAIT) as started:
        yield started
