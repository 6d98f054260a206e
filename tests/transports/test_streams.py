"""Frames in a stream of bytes: found by header, length and checksum, whatever is between."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from link_pair import Pair

from spart_blocks.realtime.link_structs import encode

FRAME = {"header": "0xA55A", "fields": {"x": "f64"}, "sequence": "u16", "checksum": "crc16"}
STREAM = socket.SOCK_STREAM


def frames(link, count, first=0):
    return [encode(link.frame, {"x": float(k)}, k) for k in range(first, first + count)]


@pytest.mark.parametrize("piece", [1, 2, 3, 13, 14, 15, 1000])
def test_frames_cut_anywhere_are_put_together(pair, piece):
    link = pair(FRAME, kind=STREAM)
    data = b"".join(frames(link, 20))
    for start in range(0, len(data), piece):
        link.put(data[start : start + piece])
        link.receive()
    assert link.u == [19.0]
    assert link.counts == {"received": 20}


def test_joining_in_the_middle_of_a_frame_finds_the_next(pair):
    link = pair(FRAME, kind=STREAM)
    first, second, third = frames(link, 3)
    link.put(first[5:] + second + third)
    assert link.receive()
    assert link.u == [2.0]
    assert link.counts == {"malformed": 1, "received": 2}


@settings(max_examples=300)
@given(st.lists(st.binary(max_size=30), min_size=1, max_size=6), st.integers(1, 20))
def test_after_any_bytes_the_frames_that_follow_are_taken(junk, piece):
    link = Pair({**FRAME, "checksum": "crc32"}, kind=STREAM)
    try:
        good = frames(link, 12)
        # Bytes that look like a header may hide the frame behind them, for a frame's length.
        data = b"".join(junk) + b"".join(good)
        for start in range(0, len(data), piece):
            link.put(data[start : start + piece])
            link.receive()
        assert link.u == [11.0]
        assert link.counts["received"] == 12
    finally:
        link.close()


def test_a_damaged_frame_is_counted_once_and_costs_no_other(pair):
    link = pair(FRAME, kind=STREAM)
    good = frames(link, 5)
    damaged = bytearray(good[2])
    damaged[6] ^= 4
    link.put(b"".join([*good[:2], bytes(damaged), *good[3:]]))
    link.receive()
    assert link.counts == {"received": 4, "malformed": 1, "lost": 1}


def test_one_call_reads_a_bounded_number_of_bytes(pair):
    link = pair(FRAME, kind=STREAM)
    link.far.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
    link.put(b"".join(frames(link, 300)))
    link.receive()
    assert link.counts["received"] == 256
    link.receive()
    assert link.counts["received"] == 300


def test_the_end_of_a_stream_is_noticed_and_not_read_again(pair):
    link = pair(FRAME, kind=STREAM)
    link.put(frames(link, 1)[0])
    link.far.close()
    assert link.receive()
    assert link.link.closed
    assert not link.receive()
    assert link.counts == {"received": 1}


def test_a_full_stream_never_carries_a_part_of_a_frame_before_another(pair):
    link = pair(FRAME, kind=STREAM)
    other = pair(FRAME, kind=STREAM)
    link.near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    results = [link.send(float(k)) for k in range(20_000)]
    assert -1 in results, "the stream never filled"
    sent = results.count(0)
    data = link.far.recv(2**20)
    link.send(0.0)  # its rest of a frame goes first
    data += link.far.recv(2**20)
    for start in range(0, len(data), 4096):
        other.put(data[start : start + 4096])
        while other.receive():
            continue
    assert other.counts.get("malformed", 0) == 0
    assert other.counts["received"] == sent + 1
    assert link.counts["errors"] == results.count(-1)
