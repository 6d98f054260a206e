"""What a sender sends: numbers, safe values, or nothing."""

from __future__ import annotations

import math
import socket

import pytest

from spart_blocks.realtime.link_structs import decode, encode

FRAME = {"fields": {"x": "2 f64", "on": "u8"}, "sequence": "u8"}


def test_frames_are_numbered_from_zero_on_and_over_the_end(pair):
    link = pair(FRAME)
    link.link.sequence = 254
    got = []
    for k in range(4):
        assert link.send(k, -k, 1) == 0
        got.append(decode(link.frame, link.far.recv(100))["sequence"])
    assert got == [254, 255, 0, 1]
    assert link.counts == {"sent": 4}


def test_what_one_side_sends_the_other_receives(pair):
    link, other = pair(FRAME), pair(FRAME)
    link.send(0.25, -3.0, 1.0)
    other.put(link.far.recv(100))
    assert other.receive()
    assert other.u.tolist() == [0.25, -3.0, 1.0]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_an_output_that_is_not_finite_sends_all_safe_values(pair, bad):
    link = pair(FRAME, safe=[7.0, 8.0, 0.0])
    assert link.send(1.0, bad, 1.0) == 0
    assert link.far.recv(100) == encode(link.frame, {"x": [7, 8], "on": 0}, 0)
    assert link.counts == {"sent": 1, "replaced": 1}


def test_without_safe_values_nothing_is_sent_in_place_of_outputs(pair):
    link = pair(FRAME)
    assert link.send(1.0, math.nan, 1.0) == -1
    assert link.send_safe() == 0
    assert link.counts == {"replaced": 1, "errors": 1}
    link.far.setblocking(False)
    with pytest.raises(BlockingIOError):
        link.far.recv(100)


def test_safe_frames_go_on_in_the_sequence(pair):
    link = pair(FRAME, safe=[0, 0, 0])
    link.send(1, 2, 3)
    link.send_safe()
    first, second = (decode(link.frame, link.far.recv(100)) for _ in range(2))
    assert (first["sequence"], second["sequence"]) == (0, 1)
    assert second["x"].tolist() == [0.0, 0.0]


def test_the_sender_s_time_is_sent_and_read(pair):
    timed = {"fields": {"x": "f64"}, "time": "f64"}
    link, other = pair(timed), pair(timed)
    link.send(1.0, now=123.456)
    other.put(link.far.recv(100))
    other.receive()
    assert other.link.sender_time == 123.456


def test_a_full_socket_is_counted_and_blocks_nothing(pair):
    link = pair(FRAME)
    results = [link.send(0, 0, 0) for _ in range(2000)]
    assert link.counts == {"sent": results.count(0), "errors": results.count(-1)}
    assert results[-1] == -1


def test_a_closed_stream_is_counted_and_raises_no_signal(pair):
    link = pair({**FRAME, "header": "0xA5"}, kind=socket.SOCK_STREAM)
    link.far.close()
    assert link.send(0, 0, 0) == -1
    assert link.link.closed
    assert link.send(0, 0, 0) == -1
    assert link.counts == {"errors": 2}
