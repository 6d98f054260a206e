"""A loop's socket under floods of connections, slow and oversize messages, stopped processes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading

import pytest
from live_loop import WAIT, connections_to, until

from spart_blocks.base.errors import RunError
from spart_blocks.realtime.live import MOST_STRANGERS
from spart_blocks.realtime.live_client import LiveClient
from spart_blocks.realtime.live_places import running

pytestmark = pytest.mark.usefixtures("loop_folder")


def test_connections_without_a_token_keep_nobody_out(server, loop):
    with connections_to(server.place, 200):
        assert len(server._clients) <= MOST_STRANGERS + 8 + 1  # of which some are leaving
        for k in range(5):
            with LiveClient(server.place, patience=WAIT) as client:
                assert client.set({"ctrl.kd": k}) == {"ctrl.kd": [float(k)] * 3}
    until(lambda: not server._clients)


def test_a_client_who_is_there_does_not_notice_a_flood_of_connections(server, loop):
    with LiveClient(server.place, patience=WAIT) as client:
        client.watch(["ctrl.tau"])
        over = threading.Event()

        def flood():
            while not over.is_set():
                with connections_to(server.place, 20):
                    pass

        thread = threading.Thread(target=flood)
        thread.start()
        try:
            for k in range(20):
                loop.signals.write(10 * k, 10)
                until(lambda: len(client.rows(0.1)))
                assert client.status()["phase"] == "running"
        finally:
            over.set()
            thread.join()
        assert client.lost == 0


def test_a_message_that_comes_byte_by_byte_is_answered_when_it_is_whole(server):
    with LiveClient(server.place, patience=WAIT) as other, talker(server.place) as slow:
        for byte in b'{"do": "status"}':
            slow.sendall(bytes([byte]))
            assert other.status()["phase"] == "running"
        slow.sendall(b"\n")
        assert json.loads(slow.makefile("rb").readline())["answer"]["phase"] == "running"


def test_messages_beyond_all_size_are_refused_and_hold_nobody_up(server):
    with LiveClient(server.place, patience=WAIT) as other:
        for data in (b"x" * 2**21, b'{"do": "set", "values": {"ctrl.kp": [' + b"1," * 2**20):
            with talker(server.place) as large, contextlib.suppress(ConnectionError):
                large.sendall(data)
                assert "longer than" in json.loads(large.makefile("rb").readline())["refused"]
            assert other.status()["phase"] == "running"
        until(lambda: len(server._clients) == 1)


@contextlib.contextmanager
def talker(place):
    """A connection that has shown the token."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as made:
        made.settimeout(WAIT)
        made.connect(str(place.socket))
        made.sendall(json.dumps({"token": place.token}).encode() + b"\n")
        while made.recv(1) != b"\n":
            continue
        yield made


LOOP = """
    import sys
    sys.path.insert(0, sys.argv[1])
    from live_loop import DirectedLoop
    from spart_blocks.realtime.live import LiveServer
    with LiveServer(DirectedLoop(), "servo"):
        print("ready", flush=True)
        sys.stdin.read()
"""


def test_a_loop_that_stands_still_is_waited_for_and_answers_when_it_goes_on(loop_folder):
    command = [sys.executable, "-c", textwrap.dedent(LOOP), os.path.dirname(__file__) + "/.."]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            [place] = running()
            with LiveClient(place, patience=WAIT) as client:
                process.send_signal(signal.SIGSTOP)
                assert running() == [place]
                client.patience = 0.1
                client._socket.settimeout(0.1)
                for ask in (client.status, lambda: client.set({"ctrl.kp": [1.0] * 500_000})):
                    with pytest.raises(RunError, match="servo does not answer"):
                        ask()
                with pytest.raises(RunError, match="does not answer"):
                    LiveClient(place, patience=0.1)
                process.send_signal(signal.SIGCONT)
                with LiveClient(place, patience=WAIT) as again:
                    assert again.status()["phase"] == "running"
        finally:
            process.kill()
    until(lambda: running() == [])  # after it was killed
