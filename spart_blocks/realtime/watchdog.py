"""A separate process that sends the safe outputs when the loop cannot."""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import RunError
from spart_blocks.realtime.links import OpenLink
from spart_blocks.realtime.structs import MOST_WATCHED, HeartbeatStruct
from spart_blocks.transports.endpoints import Carries
from spart_blocks.transports.frames import CHECKSUMS, size_of

GUARD = Path(__file__).with_name("guard.py")
PATIENCE = 10.0  # s, for it to start


class Watchdog:
    """A context manager that starts the process and ends it. The loop must have ended before,
    otherwise the safe outputs are sent. heartbeat: written by the loop.

    If no link has safe values, there is nothing to send and no process is started.
    """

    def __init__(self, seconds: float, senders: Sequence[OpenLink]) -> None:
        """seconds: time without a heartbeat after which the safe outputs are sent."""
        self.seconds = seconds
        self._senders = [
            (number, link)
            for number, link in enumerate(senders[:MOST_WATCHED])
            if link.safe_frame(0) is not None
        ]
        self._told: dict[int, tuple[int, int] | None] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        size = ctypes.sizeof(HeartbeatStruct)
        import fcntl  # not on Windows, where no loop runs, and this module is imported

        self._page = os.memfd_create("spart heartbeat", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self._page, size)
        # A mapping of a file that another process has truncated raises SIGBUS.
        fcntl.fcntl(self._page, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        self._memory = mmap.mmap(self._page, size)
        self.heartbeat = HeartbeatStruct.from_buffer(self._memory)

    def __enter__(self) -> Watchdog:
        if self._senders:
            try:
                self._begin()
            except OSError as error:
                self._end()
                raise RunError(f"the watchdog did not start: {error}") from None
        return self

    def _begin(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(GUARD), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._channel.settimeout(PATIENCE)
        self._tell(self._channel, {"seconds": self.seconds}, self._page)
        for number, link in self._senders:
            self._tell_of(self._channel, number, link)

    def tend(self) -> bool:
        """Report connections that were opened or closed to the process. Returns whether it
        runs."""
        if self._channel is None:
            return not self._senders
        try:
            for number, link in self._senders:
                self._tell_of(self._channel, number, link)
        except OSError:
            self._channel.close()
            self._channel = None
        return self._process is not None and self._process.poll() is None

    def _tell_of(self, channel: socket.socket, number: int, link: OpenLink) -> None:
        """Report a link to the process if its connection has changed."""
        descriptor = _descriptor(link)
        try:
            state = None if descriptor is None else os.fstat(descriptor)
            # The number alone is not enough: it may have been reused for another connection.
            identity = None if state is None else (state.st_dev, state.st_ino)
            if number not in self._told or identity != self._told[number]:
                frame = link.safe_frame(0) or b""
                what = {"number": number, "frame": frame.hex(), **_layout(link)}
                self._tell(channel, what, descriptor)
                self._told[number] = identity
        finally:
            if descriptor is not None:
                os.close(descriptor)

    @staticmethod
    def _tell(channel: socket.socket, what: dict[str, Any], descriptor: int | None) -> None:
        descriptors = [] if descriptor is None else [descriptor]
        socket.send_fds(channel, [json.dumps(what).encode()], descriptors)
        if channel.recv(1) != b"+":
            raise OSError("it ended at once")

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(PATIENCE)
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
        os.close(self._page)


def _descriptor(link: OpenLink) -> int | None:
    """A duplicate of the link's descriptor, to be closed; None while it has no connection."""
    try:
        return None if link.struct.closed else os.dup(link.struct.fd)
    except OSError:
        return None


def _layout(link: OpenLink) -> dict[str, Any]:
    """The fields of a link's frame that change from one frame to the next, and its transport."""
    frame = link.live.link.frame
    size = size_of(frame.sequence) if frame.sequence else 0
    after = len(frame.header)
    return {
        "big_endian": frame.endian == "big",
        "sequence": [after, size] if size else None,
        "time": after + size if frame.time else None,
        "checksum": CHECKSUMS.get(frame.checksum, 0),
        "memory": link.struct.transport == Carries.MEMORY,
    }
