"""The process of the watchdog: it sends the safe outputs when the process of a real-time loop
shows no activity.

It is a separate Python process that uses only the standard library, so that nothing that ends the
loop's process ends this one. It receives frames over a socket, with the descriptors on which to
send them. The socket is closed when the loop's process dies.
"""

from __future__ import annotations

import binascii
import json
import mmap
import os
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from select import select
from typing import Any

FRAMES = 5
"""Number of times that the safe frames are sent, since a packet may be lost."""
BETWEEN = 0.02  # s
MOST = 65536
AT, PHASE, TRIPPED, SEQUENCES = 0, 1, 2, 3
"""Indices in the heartbeat, in long longs: sb_heartbeat of sb_loop.h."""
ENDED = 2


class Guarded:
    """A link: the bytes of its safe frame, the fields that change from frame to frame, and its
    descriptor.
    """

    def __init__(self, told: dict[str, Any], descriptor: int) -> None:
        self.number = int(told["number"])
        self.frame = bytearray.fromhex(told["frame"])
        self.order = ">" if told["big_endian"] else "<"
        self.sequence = told["sequence"]  # [offset, size], or None
        self.time = told["time"]  # offset, or None
        self.checksum = int(told["checksum"])  # bytes: 0, 2 or 4
        self.memory = bool(told["memory"])
        self.descriptor = descriptor

    def bytes_of(self, sequence: int, now: float) -> bytes:
        """The frame with this sequence number and time `now` [s]."""
        if self.sequence:
            offset, size = self.sequence
            kind = {1: "B", 2: "H", 4: "I"}[size]
            struct.pack_into(self.order + kind, self.frame, offset, sequence % 256**size)
        if self.time is not None:
            struct.pack_into(self.order + "d", self.frame, self.time, now)
        if self.checksum:
            whole = len(self.frame) - self.checksum
            body = bytes(self.frame[:whole])
            if self.checksum == 2:  # CRC-16/CCITT-FALSE
                struct.pack_into(
                    f"{self.order}H", self.frame, whole, binascii.crc_hqx(body, 0xFFFF)
                )
            else:  # CRC-32 (IEEE 802.3)
                struct.pack_into(f"{self.order}I", self.frame, whole, binascii.crc32(body))
        return bytes(self.frame)

    def send(self, sequence: int) -> None:
        """Send the frame. Errors are ignored."""
        frame = self.bytes_of(sequence, time.monotonic())
        with suppress(OSError, ValueError):
            if self.memory:
                self._write_memory(frame)
            else:
                os.write(self.descriptor, frame)

    def _write_memory(self, frame: bytes) -> None:
        """As defined by sb_memory: the version is odd while the frame is being written."""
        (version,) = struct.unpack("=I", os.pread(self.descriptor, 4, 0).ljust(4, b"\0"))
        odd = (version | 1) % 2**32
        os.pwrite(self.descriptor, struct.pack("=I", odd), 0)
        os.pwrite(self.descriptor, frame, 4)
        os.pwrite(self.descriptor, struct.pack("=I", (odd + 1) % 2**32 or 2), 0)


class Guard:
    """Monitors a heartbeat in memory that is shared with the loop."""

    def __init__(self, channel: socket.socket) -> None:
        self.channel = channel
        self.links: dict[int, Guarded] = {}
        told, (page,) = self._next()
        self.limit = int(float(told["seconds"]) * 1e9)  # ns
        self.memory = mmap.mmap(page, 0)
        self.heartbeat = memoryview(self.memory).cast("q")

    def _next(self) -> tuple[dict[str, Any], list[int]]:
        """The next message of the loop's process and its descriptors; both are empty if the
        process has died."""
        data, descriptors, _, _ = socket.recv_fds(self.channel, MOST, 1)
        return (json.loads(data) if data else {}), descriptors

    def watch(self) -> None:
        """Wait until the loop has ended. If it has not ended properly, send the safe frames."""
        patience = min(max(self.limit / 4e9, 0.001), 0.05)
        while True:
            ready, _, _ = select([self.channel], [], [], patience)
            if ready:
                told, descriptors = self._next()
                if not told:
                    break
                self._add(told, descriptors)
            elif self.heartbeat[PHASE] == ENDED:
                continue  # the socket is closed soon
            elif time.monotonic_ns() - self.heartbeat[AT] > self.limit and self.heartbeat[AT]:
                break
        if self.heartbeat[PHASE] != ENDED:
            self._send_safe_frames()

    def _add(self, told: dict[str, Any], descriptors: list[int]) -> None:
        """Add a link, or replace the descriptor of one, and acknowledge it."""
        number = int(told["number"])
        old = self.links.pop(number, None)
        if old is not None:
            os.close(old.descriptor)
        if descriptors:
            self.links[number] = Guarded(told, descriptors[0])
        self.channel.send(b"+")

    def _send_safe_frames(self) -> None:
        self.heartbeat[TRIPPED] = 1  # first, so that a loop that only slept sends nothing later
        for k in range(FRAMES):
            for number, link in self.links.items():
                link.send(self.heartbeat[SEQUENCES + number] + k)
            time.sleep(BETWEEN)


def main() -> None:
    """Run the guard. Command-line argument: the descriptor of the socket."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)  # a signal that ends the loop must not end this
    with suppress(OSError):  # above the loop's own priority, if permitted
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(90))
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        guard = Guard(channel)
        channel.send(b"+")
        guard.watch()


if __name__ == "__main__":
    main()
