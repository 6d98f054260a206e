"""The open links of a subdiagram: their sockets, and the structs that the loop uses."""

from __future__ import annotations

import ctypes
import errno
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any, Literal

import numpy as np

from spart_blocks.base.errors import Fault, InputError, MissingExtraError, Place, brief
from spart_blocks.diagram import Diagram
from spart_blocks.export.exported_links import LiveLink, live_links
from spart_blocks.program.subdiagram import Subdiagram
from spart_blocks.realtime.link_structs import (
    COUNTS,
    LinkStruct,
    frame_struct,
    library,
)
from spart_blocks.ros.graph import MOST_DOMAIN, NodeOptions, node_of
from spart_blocks.transports.endpoints import Carries

MOST_DISCARDED = 4096


class SharedResources:
    """Resources that the links of a subdiagram share, by name."""

    def __init__(self, kept: ExitStack) -> None:
        self._kept = kept
        self._opened: dict[str, Any] = {}

    def __call__(self, name: str, opening: Callable[[], AbstractContextManager[Any]]) -> Any:
        if name not in self._opened:
            self._opened[name] = self._kept.enter_context(opening())
        return self._opened[name]

    def get(self, name: str) -> Any:
        """A resource, or None if no link has opened it."""
        return self._opened.get(name)


class OpenLink:
    """A link with its socket: for the loop its struct in C, for the transport a `LoopEnd`. name: of
    its block. way: receive or send."""

    def __init__(
        self, live: LiveLink, shared: SharedResources, node: NodeOptions, kept: ExitStack
    ) -> None:
        """shared: resources shared by the links of a subdiagram. node: of the diagram. kept: closes
        what is opened.

        Raises OSError.
        """
        self.live, self.name, self.way = live, live.name, live.way
        self.own = (live.link.way == "in") == (live.way == "receive")
        self.node = node
        self.shared, self.frame, self.timeout = shared, live.link.frame, live.link.timeout
        self._frame = frame_struct(live.link.frame, live.fields())
        self._safe = None if live.link.safe is None else np.array(live.link.safe)
        self.struct = LinkStruct(
            fd=-1,
            frame=ctypes.addressof(self._frame),
            safe=None if self._safe is None else self._safe.ctypes.data,
            timeout=live.link.timeout,
        )
        with ExitStack() as opened:
            live.link.endpoint.open(self, opened)
            kept.push(opened.pop_all())

    # --- for its transport ----------------------------------------------------------------

    def is_frame(self, data: bytes) -> bool:
        return bool(library().sb_frame_valid(ctypes.byref(self._frame), data, len(data)))

    @property
    def closed(self) -> bool:
        return bool(self.struct.closed)

    def attach(self, carries: Carries, fd: int) -> None:
        self.struct.transport, self.struct.fd, self.struct.closed = carries, fd, fd < 0

    def stamp_by(self, clock: Literal["system", "run"]) -> None:
        self.struct.run_clock = clock == "run"
        self.struct.epoch = time.time() - time.monotonic() if clock == "system" else 0.0

    def withdraw(self) -> None:
        library().sb_link_withdraw(ctypes.byref(self.struct))

    def reopen(self, fd: int) -> None:
        library().sb_link_reopen(ctypes.byref(self.struct), fd)

    def stale(self, now: float) -> bool:
        """Whether no valid frame has arrived within the timeout, or none at all."""
        return bool(library().sb_link_stale(ctypes.byref(self.struct), now))

    # --- for the loop ---------------------------------------------------------------------

    @property
    def address(self) -> int:
        """Address of the struct sb_link, valid as long as this object lives."""
        return ctypes.addressof(self.struct)

    @property
    def places(self) -> tuple[int, ...]:
        """Indices of its elements in the flat array of the subdiagram's inputs or outputs."""
        runs = self.live.runs
        return tuple(run.place + k for run in runs for k in range(run.count))

    def counts(self) -> dict[str, int]:
        """The values of its counters."""
        return {name: int(getattr(self.struct.counts, name)) for name in COUNTS}

    def safe_frame(self, sequence: int, time: float = 0.0) -> bytes | None:
        """A frame with its safe values; None if none are declared."""
        if self._safe is None:
            return None
        out = ctypes.create_string_buffer(self.live.link.frame.size)
        library().sb_frame_encode(
            ctypes.byref(self._frame), None, self._safe.ctypes.data, sequence % 2**32, time, out
        )
        return out.raw

    def receive(self, now: float, u: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
        """Read the newest frame into u, the flat array of all inputs of the subdiagram. Returns
        whether there was one. now [s]: time of the monotonic clock.
        """
        self._check(u, "inputs")
        return bool(library().sb_link_receive(ctypes.byref(self.struct), now, u.ctypes.data))

    def send(self, now: float, y: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
        """Send a frame with values of y, the flat array of all outputs of the subdiagram. Returns
        whether it was sent.
        """
        self._check(y, "outputs")
        return not library().sb_link_send(ctypes.byref(self.struct), now, y.ctypes.data)

    def _check(self, array: np.ndarray[Any, np.dtype[np.float64]], what: str) -> None:
        """Check the array, since the C code does not check its bounds."""
        fits = array.dtype == np.float64 and array.ndim == 1 and array.flags.c_contiguous
        if not fits or len(array) <= max(self.places):
            most = max(self.places) + 1
            raise ValueError(
                f"{self.name} needs the {what} of its subdiagram, a float array of shape ({most},) "
                "or longer"
            )

    def discard(self) -> None:
        """Discard the queued packets. Packets that overflowed the socket before the loop starts
        must not count as lost."""
        if self.struct.transport != Carries.DATAGRAM:
            return
        with suppress(BlockingIOError):
            for _ in range(MOST_DISCARDED):
                os.read(self.struct.fd, 1)


class Links:
    """The open links of a subdiagram. As a context manager it closes them.

    receivers, senders: in the order of their blocks. shared: what they share.
    """

    def __init__(self, links: Sequence[OpenLink], shared: SharedResources, kept: ExitStack) -> None:
        self.receivers = tuple(link for link in links if link.way == "receive")
        self.senders = tuple(link for link in links if link.way == "send")
        self.shared = shared
        self._kept = kept

    def __enter__(self) -> Links:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def discard(self) -> None:
        """Discard the packets received so far. The loop must not have started."""
        for link in self.receivers:
            link.discard()

    def close(self) -> None:
        """Close the sockets. The loop that uses them must have ended."""
        self._kept.close()

    def counts(self) -> dict[str, dict[str, int | str]]:
        """The counters of each link, by the name of its block."""
        return {
            link.name: {"way": link.way, "at": str(link.live.link.endpoint), **link.counts()}
            for link in (*self.receivers, *self.senders)
        }


def open_links(diagram: Diagram, part: Subdiagram) -> Links:
    """Open the links of a subdiagram.

    Raises InputError with the location of the block if an address is in use or not available,
    MissingExtraError if a library is not installed, NoCompilerError without a C compiler.
    """
    with ExitStack() as kept:
        shared, opened, faults = SharedResources(kept), [], []
        node = node_options(diagram)
        for live in live_links(diagram, part):
            try:
                opened.append(OpenLink(live, shared, node, kept))
            except MissingExtraError:
                raise
            except OSError as error:
                faults.append(_refused(live, error, diagram.places))
            except InputError as error:
                faults += [_at(live, fault.message, diagram.places) for fault in error.faults]
        if faults:
            raise InputError(faults)
        return Links(opened, shared, kept.pop_all())


def node_options(diagram: Diagram) -> NodeOptions:
    """The node of a diagram: `realtime: {ros: ...}`, its name and the environment."""
    given = diagram.realtime.ros
    return NodeOptions(
        given.node or node_of(diagram.name),
        given.namespace,
        given.domain if given.domain is not None else _domain_of_environment(),
        given.connect,
        given.listen,
        given.clock,
        given.carrier,
        given.attachments == "labelled",
    )


def _domain_of_environment() -> int:
    text = os.environ.get("ROS_DOMAIN_ID") or "0"
    if not text.isdecimal() or int(text) > MOST_DOMAIN:
        raise InputError(f"ROS_DOMAIN_ID is 0 to {MOST_DOMAIN}, not {brief(text)}")
    return int(text)


def _at(live: LiveLink, text: str, places: Mapping[str, Place], hint: str | None = None) -> Fault:
    """A fault at the parameter of a block that gives the address of its link."""
    block = f"blocks.{live.name}"
    where = places.get(f"{block}.{live.link.endpoint.parameter}", places.get(block))
    return Fault(text, where, hint)


def _refused(live: LiveLink, error: OSError, places: Mapping[str, Place]) -> Fault:
    """The reason why a link cannot be opened."""
    does = "receive at" if live.way == "receive" else "send to"
    text = f"{live.name} cannot {does} {live.link.endpoint}"
    if error.errno == errno.EADDRINUSE:
        hint = "end the program that uses it, or give another address"
        return _at(live, f"{text}: the address is in use", places, hint)
    if error.errno == errno.EADDRNOTAVAIL:
        hint = "give an address of this machine, or 0.0.0.0 for all of them"
        return _at(live, f"{text}: it is not an address of this machine", places, hint)
    if error.errno == errno.ECONNREFUSED:
        return _at(live, f"{text}: connection refused", places, "start the broker first")
    return _at(live, f"{text}: {error.strerror or error}", places)
