"""A link over a pair of local sockets, whose other end a test holds."""

from __future__ import annotations

import ctypes
import socket

import numpy as np

from spart_blocks.realtime.link_structs import (
    COUNTS,
    LinkStruct,
    encode,
    frame_struct,
    library,
    pieces_of,
)
from spart_blocks.transports.endpoints import Carries
from spart_blocks.transports.frames import read_frame


class Pair:
    """A link that receives frames into u, and the socket from which a test sends them."""

    def __init__(self, description, kind=socket.SOCK_DGRAM, timeout=1.0, safe=None):
        self.frame = read_frame(description)
        self.struct = frame_struct(self.frame, pieces_of(self.frame))
        self.far, self.near = socket.socketpair(socket.AF_UNIX, kind)
        self.near.setblocking(False)
        stream = kind == socket.SOCK_STREAM
        self.safe = None if safe is None else np.array(safe, float)
        self.link = LinkStruct(
            transport=Carries.STREAM if stream else Carries.DATAGRAM,
            fd=self.near.fileno(),
            frame=ctypes.addressof(self.struct),
            safe=None if safe is None else self.safe.ctypes.data,
            timeout=timeout,
        )
        self.u = np.full(self.frame.numbers, -1.0)
        self.now = 100.0

    def put(self, *data):
        for packet in data:
            self.far.send(packet)

    def put_frame(self, sequence=0, **values):
        self.put(encode(self.frame, values, sequence))

    def receive(self, now=None):
        self.now = self.now if now is None else now
        pointer = ctypes.byref(self.link)
        return bool(library().sb_link_receive(pointer, self.now, self.u.ctypes.data))

    def send(self, *values, now=100.0):
        y = np.array(values, float)
        return library().sb_link_send(ctypes.byref(self.link), now, y.ctypes.data)

    def send_safe(self, now=100.0):
        return library().sb_link_send_safe(ctypes.byref(self.link), now)

    def stale(self, now):
        return bool(library().sb_link_stale(ctypes.byref(self.link), now))

    @property
    def counts(self):
        """Those that are not zero."""
        counted = {name: getattr(self.link.counts, name) for name in COUNTS}
        return {name: count for name, count in counted.items() if count}

    def close(self):
        self.far.close()
        self.near.close()
