"""Frames through shared memory: the newest counts, and none is ever taken in part."""

from __future__ import annotations

import ctypes
import threading

import numpy as np

from spart_blocks.links.endpoints import Carries
from spart_blocks.links.frames import read_frame
from spart_blocks.realtime.link_structs import (
    LinkStruct,
    MemoryStruct,
    frame_struct,
    library,
    pieces_of,
)

FRAME = read_frame({"fields": {"x": "100 f64"}, "sequence": "u32"})


def ends(frame=FRAME):
    """Memory, and a link to write to it and one to read from it."""
    memory = MemoryStruct()
    struct = frame_struct(frame, pieces_of(frame))
    links = [
        LinkStruct(
            transport=Carries.MEMORY,
            fd=-1,
            memory=ctypes.addressof(memory),
            frame=ctypes.addressof(struct),
            timeout=1.0,
        )
        for _ in range(2)
    ]
    return links, (memory, struct)


def send(link, y):
    return library().sb_link_send(ctypes.byref(link), 1.0, y.ctypes.data)


def receive(link, u):
    return bool(library().sb_link_receive(ctypes.byref(link), 1.0, u.ctypes.data))


def test_the_newest_frame_is_read_once():
    (sender, receiver), _kept = ends()
    u = np.full(100, -1.0)
    assert not receive(receiver, u), "nothing was ever written"
    for value in (1.0, 2.0):
        send(sender, np.full(100, value))
    assert receive(receiver, u)
    assert (u == 2.0).all()
    assert not receive(receiver, u)
    assert receiver.counts.lost == 0, "only the newest is kept, so that nothing is lost"


def test_memory_that_holds_no_frame_is_counted_once():
    frame = read_frame({"header": "0xA5", "fields": {"x": "f64"}})
    (_, receiver), (memory, _struct) = ends(frame)
    memory.version = 2
    u = np.full(1, -1.0)
    assert not receive(receiver, u)
    assert not receive(receiver, u)
    assert receiver.counts.malformed == 1
    assert u == [-1.0]


def test_a_writer_that_died_while_writing_holds_nobody_up():
    (sender, receiver), (memory, _struct) = ends()
    send(sender, np.full(100, 1.0))
    memory.version = 3
    u = np.full(100, -1.0)
    assert not receive(receiver, u)
    send(sender, np.full(100, 2.0))
    assert receive(receiver, u)
    assert (u == 2.0).all()


def test_reader_and_writer_at_once_never_mix_two_frames():
    (sender, receiver), _kept = ends()
    done = threading.Event()

    def write():
        value = 0.0
        while not done.is_set():
            value += 1.0
            send(sender, np.full(100, value))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        u, seen, last = np.zeros(100), 0, 0.0
        while seen < 2000:
            if receive(receiver, u):
                assert (u == u[0]).all()
                assert u[0] > last
                seen, last = seen + 1, u[0]
    finally:
        done.set()
        writer.join()
