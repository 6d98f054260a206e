"""Floods, forged frames, peers that vanish: what each transport does, and that none is stuck."""

from __future__ import annotations

import socket
import struct
import time
from contextlib import ExitStack, contextmanager, suppress
from threading import Event, Thread

import numpy as np
from link_transports import LONGEST, arrives, hears, until

from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime.link_structs import encode
from spart_blocks.realtime.links import open_links


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
