"""The safe outputs are sent whatever ends the loop's process."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import spart_blocks as sb
from spart_blocks.realtime.guard import Guarded
from spart_blocks.realtime.link_structs import decode
from spart_blocks.realtime.watchdog import Watchdog

PATIENCE = 120.0  # s, until something is given up that should happen at once
RATE = 50  # Hz: a socket keeps what is sent for seconds in which nobody reads
DIAGRAM = """
name: held
blocks:
  up: {{type: CONSTANT, value: 7.0}}
  ctrl: {{type: GAIN, K: 1.0}}
  out: {{{link}, safe: {{tau: -1.5}}}}
  plant: {{type: INTEGRATOR}}
wires:
  - up -> ctrl
  - ctrl -> out.tau
  - out.tau -> plant
realtime: {{watchdog: {watchdog}}}
"""
PLAIN = "sequence: u32"
FULL = "header: [1, 2, 3], sequence: u16, time: f64, checksum: crc16, endian: big"


@pytest.fixture
def diagram(tmp_path, actuator):
    """diagram(): a file that sends to the actuator, or over another link. watchdog [s]: by
    default longer than any machine stands still."""

    def written(more=PLAIN, link=None, watchdog=PATIENCE):
        path = tmp_path / "held.yaml"
        port = actuator.getsockname()[1]
        udp = f"type: UDP_OUT, port: {port}, frame: {{fields: {{tau: f64}}, {more}}}"
        path.write_text(DIAGRAM.format(link=link or udp, watchdog=watchdog), encoding="utf-8")
        return path

    return written


@contextmanager
def running(path, actuator):
    """The command as a process, once it sends its outputs."""
    command = [sys.executable, "-m", "spart_blocks", "realtime", path.name, "--part", "ctrl"]
    process = subprocess.Popen(
        [*command, "--rate", str(RATE)],
        cwd=path.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        assert plain(actuator.recv(100)) == (0, 7.0)
        yield process
    finally:
        process.kill()
        process.communicate()


def plain(frame):
    """Its sequence number and its value."""
    return struct.unpack("<Id", frame)


def waiting(actuator):
    """The frames that have come, without a wait for more: what a process has sent on this
    machine is there once it is gone."""
    actuator.setblocking(False)
    frames = []
    with suppress(BlockingIOError):
        while True:
            frames.append(actuator.recv(100))
    actuator.settimeout(PATIENCE)
    return frames


def frames_to_the_end(actuator, is_safe):
    """All frames until the watchdog has sent its last."""
    frames, safe = [], 0
    while safe < 5:
        frames.append(actuator.recv(100))
        safe += is_safe(frames[-1])
    return frames


def plain_to_the_end(actuator):
    """Their sequence numbers and values."""
    found = frames_to_the_end(actuator, lambda frame: plain(frame)[1] == -1.5)
    return [plain(frame) for frame in found]


def safe_at_the_end(values, count):
    """Whether values are outputs, perhaps none, and then so many safe ones."""
    return values == [7.0] * (len(values) - count) + [-1.5] * count


def test_safe_outputs_are_sent_after_kill_9(diagram, actuator):
    with running(diagram(), actuator) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
        sent = plain_to_the_end(actuator)
    assert safe_at_the_end([value for _, value in sent], 5)
    # No number is left out or comes again, so that a receiver drops none of them as old.
    assert [number for number, _ in sent] == list(range(1, len(sent) + 1))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_safe_outputs_are_sent_when_it_is_interrupted(diagram, actuator, number):
    with running(diagram(), actuator) as process:
        process.send_signal(number)
        said, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, said
    sent = [plain(frame)[1] for frame in waiting(actuator)]
    assert safe_at_the_end(sent, 3)
    assert b"it was interrupted" in said
    assert b"deadlines missed" in said


def test_safe_outputs_are_sent_when_the_process_stands_still(diagram, actuator):
    with running(diagram(watchdog=1.0), actuator) as process:
        process.send_signal(signal.SIGSTOP)
        sent = plain_to_the_end(actuator)
        assert safe_at_the_end([value for _, value in sent], 5)
        process.send_signal(signal.SIGCONT)
        said, _ = process.communicate(timeout=PATIENCE)
    # What the watchdog has done stays done: the loop does not take over again.
    assert process.returncode == 1
    assert b"watchdog" in said
    assert {plain(frame)[1] for frame in waiting(actuator)} == {-1.5}


def test_the_watchdog_ends_with_the_loop(diagram, actuator):
    with running(diagram(), actuator) as process:
        children = _children(process.pid)
        assert len(children) == 1
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert not os.path.exists(f"/proc/{children[0]}")


def _children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return file.read().split()


DYING = """
    import os, sys
    from spart_blocks.realtime import Session, prepare
    with Session(prepare(sys.argv[1], part=["ctrl"], rate=100)) as session:
        sent = 0
        for loop in session.moments():
            if sent > 20:  # and the watchdog has been told on what
                os.kill(os.getpid(), 9)
            sent = session.links.counts()["out"]["sent"]
"""


def die(path):
    """Run the diagram in a process of its own, which kills itself."""
    command = [sys.executable, "-c", textwrap.dedent(DYING), str(path)]
    run = subprocess.run(command, capture_output=True, timeout=2 * PATIENCE, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr


def test_the_watchdog_numbers_stamps_and_signs_its_frames_as_the_loop_does(diagram, actuator):
    path = diagram(FULL)
    began = time.monotonic()
    die(path)
    blocks = {block.name: block for block in sb.load(path).bd.blocklist}
    frame = blocks["out"].link.frame
    ended = frames_to_the_end(actuator, lambda data: decode(frame, data)["tau"] == -1.5)
    frames = [decode(frame, data) for data in ended]
    assert len(frames) > 20
    assert safe_at_the_end([float(frame["tau"]) for frame in frames], 5)
    assert [frame["sequence"] for frame in frames] == list(range(len(frames)))
    times = [frame["time"] for frame in frames]
    assert began < times[0] < times[-1] < time.monotonic()


def test_it_sends_over_tcp_to_whoever_is_connected(diagram):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        port = server.getsockname()[1]
        frame = "frame: {header: '0xA5', fields: {tau: f64}, sequence: u32}"
        die(diagram(link=f"type: TCP_OUT, port: {port}, {frame}"))
        with server.accept()[0] as connection:
            connection.settimeout(PATIENCE)
            stream = b"".join(iter(lambda: connection.recv(4096), b""))
    sent = [value for _, _, value in struct.iter_unpack("<cId", stream)]
    assert safe_at_the_end(sent, 5)
    assert len(sent) > 5


def test_it_writes_shared_memory(diagram):
    name = f"test-watchdog-{os.getpid()}"
    path = Path("/dev/shm", f"spart-{name}")
    try:
        die(diagram(link=f"type: SHM_OUT, memory: {name}, frame: {{fields: {{tau: f64}}}}"))
        deadline = time.monotonic() + PATIENCE
        version = value = 0
        while value != -1.5 and time.monotonic() < deadline:
            version, value = struct.unpack("<Id", path.read_bytes()[:12])
        assert value == -1.5
        assert version % 2 == 0  # whole
    finally:
        path.unlink()


@pytest.mark.parametrize("size", [0, 2, 8, 2000])
def test_it_writes_shared_memory_that_others_have_cut_short(size):
    frame = struct.pack("<Id", 0, -1.5)
    layout = {"sequence": [0, 4], "time": None, "checksum": 0, "big_endian": False}
    fd = os.memfd_create("shared")
    try:
        os.ftruncate(fd, size)
        link = Guarded({"number": 0, "frame": frame.hex(), "memory": True, **layout}, fd)
        for sequence in (7, 8):
            link.send(sequence)
            version, *written = struct.unpack("<IId", os.pread(fd, 16, 0))
            assert written == [sequence, -1.5]
            assert version == 2 * (sequence - 6)
    finally:
        os.close(fd)


def test_nobody_can_cut_the_heartbeat_short():
    """The loop writes it through a mapping, which would raise SIGBUS."""
    with Watchdog(PATIENCE, ()) as watchdog, pytest.raises(PermissionError):
        os.truncate(f"/proc/self/fd/{watchdog._page}", 0)


def test_without_safe_values_there_is_no_process(diagram, actuator):
    path = diagram()
    path.write_text(path.read_text().replace(", safe: {tau: -1.5}", ""))
    with running(path, actuator) as process:
        assert _children(process.pid) == []


def test_a_watchdog_that_dies_is_reported(diagram, actuator):
    with running(diagram(), actuator) as process:
        (child,) = _children(process.pid)
        os.kill(int(child), signal.SIGKILL)
        while ") Z" not in Path(f"/proc/{child}/stat").read_text():
            pass
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE)
    assert b"the watchdog's process ended before the loop did" in said
