"""A loop that runs while it is flooded or stopped: it goes on, and its report says so."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import zlib
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from threading import Event, Thread

import pytest
from free_ports import free_port
from live_loop import until

from spart_blocks.realtime import Session, prepare
from spart_blocks.realtime.structs import Ended

PATIENCE = 120.0  # s, until something is given up that should happen at once
DIAGRAM = """
name: attacked
blocks:
  sense: {{type: UDP_IN, port: {here}, timeout: 60,
          frame: {{fields: {{q: f64}}, sequence: u32, checksum: crc32}}}}
  ctrl: {{type: GAIN, K: 2.0}}
  out: {{type: UDP_OUT, port: {there}, frame: {{fields: {{v: f64}}, sequence: u32}}}}
wires: [sense.q -> ctrl, ctrl -> out.v]
realtime: {{watchdog: 60, policy: catch-up}}
"""


@pytest.fixture
def diagram(tmp_path, actuator):
    """A file, and the port at which its controller hears."""
    here = free_port()
    path = tmp_path / "attacked.yaml"
    path.write_text(DIAGRAM.format(here=here, there=actuator.getsockname()[1]))
    return path, here


def sensor_frame(number, value):
    body = struct.pack("<Id", number, value)
    return body + struct.pack("<I", zlib.crc32(body))


def hostile(number):
    """Packets of each kind: empty, of one byte, damaged, longest, too long."""
    damaged = sensor_frame(number, 666.0)[:-1] + b"?"
    return (b"", b"x", damaged, b"\xff" * 1472, b"\xff" * 9000)[number % 5]


def test_under_a_flood_every_step_is_done_and_good_frames_are_heard(diagram, actuator):
    path, port = diagram
    place, numbers, over = ("127.0.0.1", port), count(1), Event()
    pause = 0.002  # s
    with Session(prepare(path, part=["ctrl"], rate=200)) as session:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:

            def flood():
                for number in count():
                    if over.is_set():
                        return
                    out.sendto(hostile(number), place)
                    if number % 100 == 0:
                        time.sleep(pause)

            thread = Thread(target=flood)
            thread.start()
            try:
                for value in range(10):
                    wanted, end = 2.0 * value, time.monotonic() + PATIENCE
                    while struct.unpack("<Id", actuator.recv(100))[1] != wanted:
                        assert time.monotonic() < end, f"{wanted} never came"
                        out.sendto(sensor_frame(tried := next(numbers), float(value)), place)
                        if tried % 200 == 0:  # what is good has no place on a busy machine
                            pause *= 2
            finally:
                over.set()
                thread.join()
        until(lambda: session.links.counts()["sense"]["malformed"] > 0)
    report = session.report()
    assert report.ended is Ended.ASKED
    assert report.skipped == report.stale == 0
    assert report.links["sense"]["errors"] == 0
    assert report.links["out"]["sent"] >= report.steps > 0


SHARED = """
name: shared
blocks:
  sense: {{type: SHM_IN, memory: {name}-in, timeout: 0.5,
          frame: {{fields: {{q: f64}}, sequence: u32}}}}
  ctrl: {{type: GAIN, K: 2.0}}
  out: {{type: SHM_OUT, memory: {name}-out, frame: {{fields: {{v: f64}}, sequence: u32}},
        safe: {{v: -1}}}}
wires: [sense.q -> ctrl, ctrl -> out.v]
realtime: {{watchdog: 60, policy: catch-up}}
"""


def in_file(file, number=None, value=None):
    """The value of the newest frame in shared memory, after one is written if it is given."""
    if number is not None:
        for place, data in ((0, 2 * number + 1), (4, (number, value)), (0, 2 * number + 2)):
            packed = struct.pack("=Id", *data) if place else struct.pack("=I", data)
            os.pwrite(file, packed, place)
    read = os.pread(file, 16, 0)
    return struct.unpack("=IId", read)[2] if len(read) == 16 else None


@pytest.mark.parametrize("size", [0, 3, 10])
def test_a_loop_whose_shared_memory_is_truncated_goes_on_with_safe_outputs(tmp_path, size):
    """It reads frames again once there are some, and its report counts what failed."""
    path, name = tmp_path / "shared.yaml", f"test-cut-{os.getpid()}"
    path.write_text(SHARED.format(name=name))
    paths = [f"/dev/shm/spart-{name}-{end}" for end in ("in", "out")]
    with ExitStack() as kept:
        files = []
        for place in paths:
            files.append(os.open(place, os.O_RDWR | os.O_CREAT, 0o600))
            kept.callback(os.close, files[-1])
            kept.callback(os.unlink, place)
        words = ["realtime", path, "--part", "ctrl", "--rate", "100"]
        process = subprocess.Popen(
            [sys.executable, "-m", "spart_blocks", *words, "--report", tmp_path / "a.json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        kept.callback(process.communicate)
        kept.callback(process.kill)
        numbers = count(1)

        def answers(value):
            in_file(files[0], next(numbers), value)
            return in_file(files[1]) == 2.0 * value

        until(lambda: answers(3.0))
        for _ in range(3):
            for file in files:
                os.ftruncate(file, size)
            until(lambda: in_file(files[1]) == -1.0)
            until(lambda: answers(4.0))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    report = json.loads((tmp_path / "a.json").read_text())
    assert report["links"]["sense"]["errors"] > 0
    assert report["stale"] > 0


def stands_still(process):
    return ") T" in Path(f"/proc/{process.pid}/stat").read_text()


@pytest.mark.parametrize("policy", ["skip", "catch-up", "stop"])
def test_a_loop_that_was_stopped_goes_on_as_its_policy_says(diagram, actuator, policy, tmp_path):
    """Without safe outputs there is no watchdog, which would not let it."""
    path, port = diagram
    words = ["realtime", path, "--part", "ctrl", "--rate", "50", "--policy", policy]
    process = subprocess.Popen(
        [sys.executable, "-m", "spart_blocks", *words, "--report", tmp_path / "a.json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        actuator.recv(100)  # it waits for a frame
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            out.sendto(sensor_frame(1, 3.0), ("127.0.0.1", port))
        while struct.unpack("<Id", actuator.recv(100))[1] != 6.0:
            continue
        process.send_signal(signal.SIGSTOP)
        until(lambda: stands_still(process))
        time.sleep(0.5)  # of its time, however fast the machine is
        process.send_signal(signal.SIGCONT)
        if policy != "stop":
            for _ in range(100):  # more than came while it was stopped, and may wait
                actuator.recv(100)
            process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    report = json.loads((tmp_path / "a.json").read_text())
    assert sum(report["missed"].values()) >= 1, err
    assert report["durations"]["response"]["max"] > 0.4  # what stood still is not hidden
    assert process.returncode == (1 if policy == "stop" else 0), err
    if policy == "stop":
        assert report["ended"] == "overrun"
    else:
        deadlines = 50 * report["seconds"]  # on the grid, of which it lost none
        assert abs(report["steps"] + report["skipped"] - deadlines) <= 3
        assert (report["skipped"] == 0) == (policy == "catch-up")
