"""Frames through shared memory: the newest counts, and none is ever taken in part."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import threading
import time
from functools import partial

import numpy as np
import pytest
from link_transports import arrives, hears, load, shared_memory, until

from spart_blocks.base.errors import InputError
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime.link_structs import LinkStruct, frame_struct, library, pieces_of
from spart_blocks.realtime.links import open_links
from spart_blocks.transports.endpoints import Carries
from spart_blocks.transports.frames import read_frame

FRAME = read_frame({"fields": {"x": "100 f64"}, "sequence": "u32"})


@pytest.fixture
def file():
    """A descriptor of shared memory to which nothing was written."""
    fd = os.memfd_create("shared")
    yield fd
    os.close(fd)


def ends(fd, frame=FRAME):
    """A link to write to a descriptor and one to read from it."""
    layout = frame_struct(frame, pieces_of(frame))
    links = [
        LinkStruct(
            transport=Carries.MEMORY, fd=fd, frame=ctypes.addressof(layout), timeout=1.0,
        )
        for _ in range(2)
    ]  # fmt: skip
    return links, layout


def write_version(fd, version):
    os.pwrite(fd, struct.pack("=I", version), 0)


def send(link, y):
    return library().sb_link_send(ctypes.byref(link), 1.0, y.ctypes.data)


def receive(link, u):
    return bool(library().sb_link_receive(ctypes.byref(link), 1.0, u.ctypes.data))


def test_the_newest_frame_is_read_once(file):
    (sender, receiver), _kept = ends(file)
    os.ftruncate(file, 2000)
    u = np.full(100, -1.0)
    assert not receive(receiver, u), "nothing was ever written"
    assert receiver.counts.malformed == receiver.counts.errors == 0
    for value in (1.0, 2.0):
        send(sender, np.full(100, value))
    assert receive(receiver, u)
    assert (u == 2.0).all()
    assert not receive(receiver, u)
    assert receiver.counts.lost == 0, "only the newest is kept, so that nothing is lost"


def test_memory_that_holds_no_frame_is_counted_once(file):
    frame = read_frame({"header": "0xA5", "fields": {"x": "f64"}})
    (_, receiver), _kept = ends(file, frame)
    os.ftruncate(file, 2000)
    write_version(file, 2)
    u = np.full(1, -1.0)
    assert not receive(receiver, u)
    assert not receive(receiver, u)
    assert receiver.counts.malformed == 1
    assert u == [-1.0]


def test_a_writer_that_died_while_writing_holds_nobody_up(file):
    (sender, receiver), _kept = ends(file)
    send(sender, np.full(100, 1.0))
    write_version(file, 3)
    u = np.full(100, -1.0)
    assert not receive(receiver, u)
    send(sender, np.full(100, 2.0))
    assert receive(receiver, u)
    assert (u == 2.0).all()


def test_reader_and_writer_at_once_never_mix_two_frames(file):
    (sender, receiver), _kept = ends(file)
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


# --- what others do to the file ---------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 500, FRAME.size + 3])
def test_a_truncated_file_is_a_failed_read_and_the_next_frame_is_read_again(file, size):
    """Where it was mapped, SIGBUS ended the process."""
    (sender, receiver), _kept = ends(file)
    u = np.full(100, -1.0)
    send(sender, np.full(100, 1.0))
    assert receive(receiver, u)
    send(sender, np.full(100, 2.0))
    os.ftruncate(file, size)
    for count in (1, 2):
        assert not receive(receiver, u)
        assert receiver.counts.errors == count
    assert (u == 1.0).all()
    assert send(sender, np.full(100, 3.0)) == 0
    assert receive(receiver, u)
    assert (u == 3.0).all()


def test_what_grew_again_is_no_frame(file):
    """Zeros would be one, where a frame has neither header nor checksum."""
    (sender, receiver), _kept = ends(file)
    send(sender, np.full(100, 1.0))
    for size in (0, 2000):
        os.ftruncate(file, size)
    u = np.full(100, -1.0)
    assert not receive(receiver, u)
    assert (u == -1.0).all()


def test_where_the_file_system_is_full_frames_are_counted_as_not_sent():
    with open("/dev/full", "r+b", buffering=0) as full:
        (sender, _), _kept = ends(full.fileno())
        for count in (1, 2):
            assert send(sender, np.ones(100)) == -1
            assert (sender.counts.errors, sender.counts.sent) == (count, 0)


def test_a_frame_that_was_written_in_part_is_not_read(file):
    """The file system was full after the version."""
    (sender, receiver), _kept = ends(file)
    send(sender, np.full(100, 1.0))
    sender.fd = os.open("/dev/full", os.O_RDWR)
    send(sender, np.full(100, 2.0))
    os.close(sender.fd)
    write_version(file, sender.version)  # which is as far as it got
    u = np.full(100, -1.0)
    assert not receive(receiver, u)
    sender.fd = file
    send(sender, np.full(100, 3.0))
    assert receive(receiver, u)
    assert (u == 3.0).all()


def test_after_the_last_version_comes_one_that_says_a_frame_is_there(file):
    (sender, receiver), _kept = ends(file)
    sender.version, u = 2**32 - 2, np.zeros(100)
    for value in (1.0, 2.0):
        send(sender, np.full(100, value))
        assert receive(receiver, u)
        assert u[0] == value


@pytest.fixture
def parts(tmp_path):
    """The open links of a plant and its controller, and the path of the file between them."""
    with shared_memory(tmp_path) as places:
        diagram = load(tmp_path, "SHM", *places)
        path = diagram.bd["sensors"].link.endpoint.path
        parts = [subdiagram_of(diagram, [name]) for name in ("plant", "ctrl")]
        with open_links(diagram, parts[0]) as plant, open_links(diagram, parts[1]) as ctrl:
            yield plant.senders[0], ctrl.receivers[0], path


def test_a_file_that_was_removed_is_made_anew_by_either_side(parts):
    sender, receiver, path = parts
    u = np.zeros(2)
    arrives(sender, [1, 1], receiver, u)
    for value in (2, 3):
        path.unlink()
        hears(receiver, u, sender, [value, value])
        until(partial(at_the_path, sender, receiver, path, float(value)))


def at_the_path(sender, receiver, path, value):
    """Send and receive once; whether another program hears it in the file at the path."""
    sender.send(time.monotonic(), np.full(2, value))
    receiver.receive(time.monotonic(), np.zeros(2))
    return path.exists() and struct.pack("<d", value) in path.read_bytes()


def test_a_file_that_was_replaced_by_no_file_is_stale_until_it_is_one_again(parts):
    sender, receiver, path = parts
    u = np.zeros(2)
    receiver.struct.timeout = 0.01
    arrives(sender, [1, 1], receiver, u)

    def lost():
        sender.send(time.monotonic(), np.ones(2))
        receiver.receive(time.monotonic(), u)
        return sender.struct.closed and receiver.stale(time.monotonic())

    path.unlink()
    while True:
        try:
            path.mkdir()
            break
        except FileExistsError:  # they were faster
            path.unlink()
    until(lost)
    assert sender.counts()["errors"] > 0
    path.rmdir()
    hears(receiver, u, sender, [2, 2])


def test_a_full_file_system_is_told_when_the_link_is_opened(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with shared_memory(tmp_path) as places:
        diagram = load(tmp_path, "SHM", *places)
        monkeypatch.setattr(os, "posix_fallocate", full)
        with pytest.raises(InputError, match=r"cannot receive at .*: No space left"):
            open_links(diagram, subdiagram_of(diagram, ["ctrl"]))


@pytest.mark.parametrize("size", [0, 10, 5000])
def test_a_file_of_another_size_is_used_and_never_cut_short(tmp_path, size):
    """Another program may have mapped all of it."""
    with shared_memory(tmp_path) as places:
        diagram = load(tmp_path, "SHM", *places)
        path = diagram.bd["sensors"].link.endpoint.path
        path.write_bytes(bytes(size))
        with (
            open_links(diagram, subdiagram_of(diagram, ["plant"])) as plant,
            open_links(diagram, subdiagram_of(diagram, ["ctrl"])) as ctrl,
        ):
            arrives(plant.senders[0], [1, 1], ctrl.receivers[0], np.zeros(2))
            assert path.stat().st_size >= max(size, 1476)
