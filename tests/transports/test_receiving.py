"""What a receiver takes, and what it counts: order, losses, restarts, floods, hostile bytes."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from link_pair import Pair

from spart_blocks.realtime.link_structs import decode, encode, frame_struct
from spart_blocks.transports.frames import MOST_BYTES

TIMEOUT = 1.0
MOST = 256  # SB_LINK_MOST
PLAIN = {"fields": {"x": "2 f64"}}
COUNTED = {"fields": {"x": "f64"}, "sequence": "u8"}
# What comes one after another: (s after the step before, sequence) -> what is taken and counted.
ORDERS = {
    "in order": ([(0, 5), (0, 6), (0, 7)], [5, 6, 7], {}),
    "a gap of two": ([(0, 5), (0, 8)], [5, 8], {"lost": 2}),
    "the same again": ([(0, 5), (0, 5), (0, 6)], [5, 6], {"old": 1}),
    "two in the wrong order": ([(0, 5), (0, 7), (0, 6), (0, 8)], [5, 7, 8], {"lost": 1, "old": 1}),
    "over the end of the range": ([(0, 254), (0, 255), (0, 0), (0, 1)], [254, 255, 0, 1], {}),
    "a gap over the end": ([(0, 254), (0, 2)], [254, 2], {"lost": 3}),
    "127 ahead is ahead": ([(0, 0), (0, 127)], [0, 127], {"lost": 126}),
    "128 ahead is behind": ([(0, 0), (0, 128)], [0], {"old": 1}),
    "restart while frames come": ([(0, 90), (0, 0), (0, 1), (0, 2)], [90], {"old": 3}),
    "restart after a silence": ([(0, 90), (2, 0), (0, 1), (0, 2)], [90, 1, 2],
                                {"old": 1, "restarts": 1}),
    "one late frame after a silence": ([(0, 90), (2, 50), (0, 91)], [90, 91], {"old": 1}),
    "late frames that do not follow": ([(0, 90), (2, 50), (0, 48), (0, 60), (0, 91)], [90, 91],
                                       {"old": 3}),
    "a silence without restart": ([(0, 90), (2, 95)], [90, 95], {"lost": 4}),
    "restart at the same number": ([(0, 0), (2, 0), (0, 1)], [0, 1], {"old": 1}),
}  # fmt: skip


@pytest.mark.parametrize("name", ORDERS)
def test_sequence_numbers_tell_what_is_news_what_is_lost_and_what_is_old(pair, name):
    steps, taken, counts = ORDERS[name]
    link = pair(COUNTED, timeout=TIMEOUT)
    got, now = [], 100.0
    for wait, sequence in steps:
        now += wait
        link.put_frame(sequence, x=float(sequence))
        if link.receive(now):
            got.append(link.u[0])
    assert got == taken
    assert link.counts == {"received": len(taken), **counts}


class Model:
    """What a receiver with numbers of one byte takes, said once more, in plain words."""

    def __init__(self):
        self.last = self.at = self.expected = None
        self.counts = dict.fromkeys(("received", "lost", "old", "restarts"), 0)

    def takes(self, now, sequence):
        if self.last is None:
            return self.accept(now, sequence)
        ahead = (sequence - self.last) % 256
        if 1 <= ahead <= 127:
            self.counts["lost"] += ahead - 1
            return self.accept(now, sequence)
        if sequence == self.expected and now - self.at > TIMEOUT:
            self.counts["restarts"] += 1
            return self.accept(now, sequence)
        self.expected = (sequence + 1) % 256
        self.counts["old"] += 1
        return False

    def accept(self, now, sequence):
        self.last, self.at, self.expected = sequence, now, None
        self.counts["received"] += 1
        return True


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, 0.001, 0.6, 1.5]),
            st.one_of(st.integers(-4, 4), st.integers(0, 255)),
            st.booleans(),
        ),
        max_size=40,
    )
)
def test_any_series_of_numbers_and_silences_is_judged_as_the_model_judges(steps):
    link, model = Pair(COUNTED, timeout=TIMEOUT), Model()
    try:
        now, sequence = 100.0, 0
        for wait, step, relative in steps:
            now += wait
            sequence = (sequence + step) % 256 if relative else step % 256
            link.put_frame(sequence, x=float(sequence))
            assert link.receive(now) == model.takes(now, sequence)
            assert model.last is None or link.u[0] == model.last
        assert link.counts == {name: n for name, n in model.counts.items() if n}
    finally:
        link.close()


def test_the_newest_of_several_frames_counts(pair):
    link = pair(COUNTED)
    for sequence in (1, 2, 4, 3):
        link.put_frame(sequence, x=10.0 * sequence)
    assert link.receive()
    assert link.u == [40.0]
    assert link.counts == {"received": 3, "lost": 1, "old": 1}
    assert not link.receive()


@settings(max_examples=300)
@given(st.lists(st.binary(max_size=40), max_size=12))
def test_hostile_packets_are_counted_and_never_change_the_inputs(packets):
    link = Pair({"header": "0x55", "fields": {"x": "2 f32"}, "sequence": "u8", "checksum": "crc16"})
    try:
        link.put_frame(0, x=[1.0, 2.0])
        link.receive()
        link.put(*packets)
        link.receive()
        bad = [packet for packet in packets if decode(link.frame, packet) is None]
        assert link.counts.get("malformed", 0) == len(bad)
        if len(bad) == len(packets):
            np.testing.assert_array_equal(link.u, [1.0, 2.0])
    finally:
        link.close()


@given(st.binary(min_size=16, max_size=16))
def test_bytes_of_the_right_length_are_taken_where_their_numbers_are_finite(data):
    link = Pair(PLAIN)
    try:
        link.put(data)
        want = np.frombuffer(data, "<f8")
        assert link.receive() == bool(np.isfinite(want).all())
        np.testing.assert_array_equal(link.u, want if np.isfinite(want).all() else [-1, -1])
    finally:
        link.close()


@pytest.mark.parametrize("size", [0, 1, 15, 17, 1471, 1472, 1473, 9000, 60000])
def test_packets_of_a_wrong_length_are_dropped(pair, size):
    link = pair(PLAIN)
    link.put(bytes(size))
    assert not link.receive()
    np.testing.assert_array_equal(link.u, [-1.0, -1.0])
    assert link.counts == {"malformed": 1}


def test_a_frame_of_the_largest_size_is_not_taken_for_a_longer_one(pair):
    link = pair({"fields": {"x": f"{MOST_BYTES} u8"}})
    link.put(bytes(MOST_BYTES), bytes(MOST_BYTES + 1))
    assert link.receive()
    assert link.counts == {"received": 1, "malformed": 1}


def test_one_call_reads_at_most_its_limit(udp_pair):
    link = udp_pair(COUNTED)
    for k in range(MOST + 50):
        link.put_frame(k % 256, x=float(k))
    assert link.receive()
    first = sum(link.counts.values())
    assert first == MOST
    link.receive()
    assert link.counts["received"] == MOST + 50


def test_values_are_stale_before_the_first_frame_and_after_the_timeout(pair):
    link = pair(PLAIN, timeout=0.5)
    assert link.stale(100.0)
    link.put_frame(x=[1.0, 2.0])
    link.receive(100.0)
    assert not link.stale(100.5)
    assert link.stale(100.51)
    link.put(b"no frame")
    link.receive(100.6)
    assert link.stale(100.6), "a malformed packet is no sign of life"


def test_old_frames_are_no_sign_of_life(pair):
    link = pair(COUNTED, timeout=0.5)
    link.put_frame(9, x=1.0)
    link.receive(100.0)
    link.put_frame(9, x=1.0)
    link.receive(100.6)
    assert link.stale(100.6)


def test_places_and_gaps_between_them_are_kept(pair):
    link = pair({"fields": {"a": "3 f32", "b": "u8"}})
    # a[1:3] goes to places 4 and 5, b to place 0; a[0] is checked only.
    pieces = [("f32", 1, 0, -1, 0), ("f32", 2, 4, 4, 1), ("u8", 1, 12, 0, 3)]
    struct = frame_struct(link.frame, pieces)
    link.link.frame = ctypes.addressof(struct)
    link.u = np.full(6, -1.0)
    link.put(encode(link.frame, {"a": [1, 2, 3], "b": 9}))
    assert link.receive()
    np.testing.assert_array_equal(link.u, [9, -1, -1, -1, 2, 3])
    bad = bytearray(encode(link.frame, {"a": [1, 2, 3], "b": 9}))
    bad[0:4] = np.float32("nan").tobytes()
    link.put(bytes(bad))
    assert not link.receive(), "a number that nobody reads is checked as well"
