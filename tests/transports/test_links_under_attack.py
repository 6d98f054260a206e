"""Floods, forged frames, peers that vanish: what each transport does, and that none is stuck."""

from __future__ import annotations

import os
import socket
import struct
import time
from contextlib import ExitStack, contextmanager, suppress
from select import select
from threading import Event, Thread

import numpy as np
import pytest
from link_transports import LONGEST, arrives, hears, until

from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime.link_structs import decode, encode
from spart_blocks.realtime.links import open_links
from spart_blocks.transports.tcp import MOST_WAITING, Connections


@contextmanager
def doing(work):
    """Within, a thread does this again and again."""
    over = Event()

    def repeat():
        while not over.is_set():
            work()

    thread = Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def ends(call):
    """Whether a call ends, in a thread that a test need not wait for."""
    thread = Thread(target=call, daemon=True)
    thread.start()
    thread.join(LONGEST)
    return not thread.is_alive()


def part(diagram, name):
    return open_links(diagram, subdiagram_of(diagram, [name]))


# --- every transport -------------------------------------------------------------------------


def test_links_close_while_the_other_side_sends_without_a_pause(diagram):
    with part(diagram, "plant") as plant:
        sender, values = plant.senders[0], np.ones(2)
        with doing(lambda: (sender.send(time.monotonic(), values), time.sleep(1e-4))):
            ctrl = part(diagram, "ctrl")
            until(lambda: ctrl.receivers[0].receive(time.monotonic(), np.zeros(2)))
            assert ends(ctrl.close)


def test_a_sender_that_dies_and_returns_is_heard_again(diagram):
    with part(diagram, "ctrl") as ctrl:
        u, receiver = np.zeros(2), ctrl.receivers[0]
        for k in range(1, 4):  # each begins to count its frames anew
            with part(diagram, "plant") as plant:
                hears(receiver, u, plant.senders[0], [k, k])
                until(lambda: not receiver.receive(time.monotonic(), u))
            until(lambda: receiver.stale(time.monotonic()))
        assert receiver.counts()["malformed"] == 0


def test_a_receiver_that_dies_and_returns_hears_again(diagram):
    with part(diagram, "plant") as plant:
        for k in range(1, 4):
            with part(diagram, "ctrl") as ctrl:
                hears(ctrl.receivers[0], np.zeros(2), plant.senders[0], [k, k])
                assert ctrl.receivers[0].counts()["malformed"] == 0


# --- UDP -------------------------------------------------------------------------------------


class Forger:
    """Anybody on this machine, who knows the frame and the port."""

    def __init__(self, diagram, name="sensors"):
        self.link = diagram.bd[name].link
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", self.link.endpoint.port))

    def frame(self, sequence, value):
        return encode(self.link.frame, {"q": [value] * 2}, sequence)

    def put(self, data):
        with suppress(OSError):  # what the receiver's socket has no room for
            self.socket.send(data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def test_hostile_packets_between_good_ones_change_nothing_and_are_counted(udp):
    with part(udp, "ctrl") as ctrl, Forger(udp) as forger:
        receiver, u = ctrl.receivers[0], np.zeros(2)
        for k in range(100):
            good = forger.frame(k, float(k))
            damaged = bytearray(good)
            damaged[10] ^= 1
            bad = forger.frame(k + 1, 9e9)[:-2] + b"??"  # the checksum of nobody
            for data in (b"", b"\xff" * 2000, good[:-1], good + b"x", bytes(damaged), bad):
                forger.put(data)
            forger.put(good)
            assert receiver.receive(1.0 + k / 1000, u)
            assert u.tolist() == [k, k]
        counts = receiver.counts()
        assert (counts["received"], counts["malformed"]) == (100, 600)
        assert counts["lost"] == counts["old"] == counts["errors"] == 0


def test_a_late_or_repeated_frame_never_brings_an_old_value_back(udp):
    with part(udp, "ctrl") as ctrl, Forger(udp) as forger:
        receiver, u = ctrl.receivers[0], np.zeros(2)
        frames = [forger.frame(k, float(k)) for k in range(50)]
        for k, frame in enumerate(frames):
            forger.put(frame)
            forger.put(frames[k // 2])  # from long ago
            forger.put(frame)
            assert receiver.receive(1.0 + k / 1000, u)
            assert u.tolist() == [k, k]
        # The first frame comes three times, and then each one once more, after one from before.
        assert receiver.counts()["old"] == 2 * 50
        assert receiver.counts()["received"] == 50


def test_a_forged_frame_far_ahead_silences_the_sender_for_a_timeout_and_no_longer(udp):
    with part(udp, "ctrl") as ctrl, Forger(udp) as forger:
        receiver, u, timeout = ctrl.receivers[0], np.zeros(2), udp.bd["sensors"].link.timeout
        forger.put(forger.frame(10, 1.0))
        assert receiver.receive(5.0, u)
        forger.put(forger.frame(10 + 2**30, 666.0))  # whoever can send to the port is believed
        assert receiver.receive(5.001, u)
        now, sequence = 5.002, 11
        while now < 5.001 + timeout:
            forger.put(forger.frame(sequence, 2.0))
            assert not receiver.receive(now, u)
            now, sequence = now + 0.001, sequence + 1
        assert receiver.stale(now + 0.001)  # which brings the safe outputs
        taken = []
        for _ in range(3):
            now, sequence = now + 0.001, sequence + 1
            forger.put(forger.frame(sequence, 2.0))
            taken.append(receiver.receive(now, u))
        assert any(taken)
        assert u.tolist() == [2.0, 2.0]
        assert receiver.counts()["restarts"] == 1


def test_a_flood_is_read_in_bounded_pieces_and_what_follows_it_is_heard(udp):
    with part(udp, "ctrl") as ctrl, Forger(udp) as forger:
        receiver, u = ctrl.receivers[0], np.zeros(2)
        for kind in (b"", b"x", bytes(1472), forger.frame(0, 1.0)[:-1] + b"?"):
            for _ in range(3000):
                forger.put(kind)
            before = receiver.counts()["malformed"]
            receiver.receive(1.0, u)
            assert receiver.counts()["malformed"] - before <= 256
            until(lambda: not _more(receiver, u))
        forger.put(forger.frame(1, 5.0))
        assert receiver.receive(2.0, u)
        assert u.tolist() == [5.0, 5.0]


def _more(receiver, u):
    """Whether a call counts anything more."""
    before = receiver.counts()
    receiver.receive(1.0, u)
    return receiver.counts() != before


# --- TCP -------------------------------------------------------------------------------------


def test_a_peer_that_breaks_every_connection_off_does_not_end_the_link(tcp):
    """A reset can come between any two calls of a link that connects."""
    place = ("127.0.0.1", tcp.bd["sensors"].link.endpoint.port)
    values = np.ones(2)
    with part(tcp, "plant") as plant:
        sender = plant.senders[0]
        with socket.create_server(place) as server:
            server.settimeout(0.01)
            until = time.monotonic() + LONGEST
            broken = 0
            while broken < 20:
                assert time.monotonic() < until
                sender.send(time.monotonic(), values)  # which notices, once the reset is there
                with suppress(TimeoutError):
                    connection = server.accept()[0]
                    linger = struct.pack("ii", 1, 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    connection.close()
                    broken += 1
        with part(tcp, "ctrl") as ctrl:
            arrives(sender, [3, 4], ctrl.receivers[0], np.zeros(2))


def attack_with_connections(tcp, count):
    """So many idle connections to a link that listens; a sender that is there stays heard,
    and another that comes when they have gone is heard too."""
    place = ("127.0.0.1", tcp.bd["sensors"].link.endpoint.port)
    with part(tcp, "ctrl") as ctrl:
        u, receiver = np.zeros(2), ctrl.receivers[0]
        receiver.struct.timeout = LONGEST  # also where this machine is slow
        with ExitStack() as kept:
            sender = kept.enter_context(part(tcp, "plant")).senders[0]
            arrives(sender, [1, 1], receiver, u)
            for _ in range(count):
                each = kept.enter_context(socket.socket())
                each.setblocking(False)
                with suppress(BlockingIOError):  # the queue of those who wait is short
                    each.connect(place)
            hears(receiver, u, sender, [2, 2])
        receiver.struct.timeout = 0.01
        with part(tcp, "plant") as plant:
            hears(receiver, u, plant.senders[0], [3, 3])
        assert receiver.counts()["malformed"] == 0


def test_idle_connections_keep_no_sender_out(tcp):
    attack_with_connections(tcp, 50)


class End:
    """A loop's end of a TCP link, for which a test says whether its sender is silent."""

    way, own, timeout = "receive", True, 1.0

    def __init__(self, link):
        self.frame, self.silent, self.closed = link.frame, True, True
        self.fd = -1
        self.withdrawn = 0

    def is_frame(self, data):
        return decode(self.frame, data) is not None

    def attach(self, carries, fd):
        pass

    def withdraw(self):
        self.withdrawn, self.closed = self.withdrawn + 1, True

    def reopen(self, fd):
        self.fd, self.closed = fd, False

    def stale(self, now):
        return self.silent

    def read(self):
        """The values of the first frame that the loop would read."""
        select([self.fd], [], [], LONGEST)
        return decode(self.frame, os.read(self.fd, self.frame.size))["q"].tolist()


@pytest.fixture
def server(tcp):
    """A listening link whose turns a test takes, and what connects to it."""
    end = End(tcp.bd["sensors"].link)
    with ExitStack() as kept:
        listener = kept.enter_context(socket.create_server(("127.0.0.1", 0)))
        listener.setblocking(False)
        connections = Connections(end, tcp.bd["sensors"].link.endpoint, listener)

        def connect(data=b""):
            made = kept.enter_context(socket.create_connection(listener.getsockname()))
            if data:
                made.sendall(data)
            return made

        yield end, connections, connect
        for each in connections.waiting:
            each.connection.close()
        if connections.current is not None:
            connections.current.close()


def served(server, now=0.0):
    """Take turns at one time until a connection has its turn: what was sent may be on its way."""
    end, connections, _ = server
    until(lambda: (connections.turn(now), not end.closed)[1])


def tcp_frame(end, sequence, value):
    return encode(end.frame, {"q": [value] * 2}, sequence)


def hostile_streams(end):
    """What others send: nothing, half a frame, damaged ones, noise, headers alone, a flood."""
    good = tcp_frame(end, 1, 666.0)
    damaged = good[:-1] + bytes([good[-1] ^ 1])
    return (b"", good[: len(good) // 2], damaged, bytes(range(256)) * 8, b"\xa5\x5a" * 5000)


def test_connections_without_a_valid_frame_never_replace_a_sender_however_long_it_is_silent(server):
    end, connections, connect = server
    sender = connect(tcp_frame(end, 0, 1.0))
    served(server)
    assert end.read() == [1.0, 1.0]
    for data in hostile_streams(end):
        connect(data)
    connect().close()
    for now in range(1, 50):
        connections.turn(float(now))
        connect(hostile_streams(end)[now % 5])
    assert end.withdrawn == 0
    sender.sendall(tcp_frame(end, 1, 2.0))
    assert end.read() == [2.0, 2.0]


def test_connections_without_a_valid_frame_do_not_keep_a_sender_out(server):
    end, connections, connect = server
    for number in range(200):
        connect(hostile_streams(end)[number % 5])
        connections.turn(0.0)
    assert end.fd == -1
    connect(tcp_frame(end, 0, 1.0))
    served(server)
    assert end.read() == [1.0, 1.0]
    assert len(connections.waiting) <= MOST_WAITING


def test_another_sender_takes_over_with_its_newest_frame(server):
    """What it sent while it waited is old by then."""
    end, connections, connect = server
    connect(tcp_frame(end, 0, 1.0))
    served(server)
    end.silent = False
    second = connect()
    for number in range(3000):
        second.sendall(tcp_frame(end, number, float(number)))
        if number % 100 == 0:
            connections.turn(0.1)
            assert end.withdrawn == 0
    (waits,) = connections.waiting
    newest = tcp_frame(end, 2999, 2999.0)
    until(lambda: waits.connection.recv(2**20, socket.MSG_PEEK).endswith(newest))
    end.silent = True
    connections.turn(2.0)
    assert end.withdrawn == 1
    served(server, 2.0)
    assert end.read() == [2999.0, 2999.0]


def test_a_stream_that_begins_within_a_frame_is_heard(server):
    end, _, connect = server
    stream = b"".join(tcp_frame(end, number, float(number)) for number in range(5))
    connect(stream[7:])
    served(server)
    assert end.read() in [[k, k] for k in range(1, 5)]


def test_a_sender_that_waits_and_has_become_silent_does_not_take_over(server):
    end, connections, connect = server
    connect(tcp_frame(end, 0, 1.0))
    served(server)
    end.silent = False
    connect(tcp_frame(end, 0, 2.0))
    until(lambda: (connections.turn(1.0), [each.heard for each in connections.waiting])[1] == [1.0])
    end.silent = True
    connections.turn(1.0 + 2 * end.timeout)
    assert end.withdrawn == 0
