"""A server for a running loop: a socket over which clients set parameters and watch signals.

It does not delay the loop, which reads parameters from a buffer and writes rows into a ring
buffer. The server runs in a separate thread.

It uses `selectors` instead of asyncio. The process does not collect garbage while its loop runs,
and each connection of asyncio's streams leaves a reference cycle that only the collector frees.
The streams also cannot send a final message before queued data, and have no timeout that restarts
when bytes are sent.
"""

from __future__ import annotations

import selectors
import socket
import time
from threading import Thread
from typing import Any

from spart_blocks.base.errors import InputError
from spart_blocks.realtime.live_answers import (
    described,
    hello,
    set_values,
    status,
    watch,
    why,
)
from spart_blocks.realtime.live_connection import ClientConnection
from spart_blocks.realtime.live_places import LoopPlace, listen, same_token
from spart_blocks.realtime.live_protocol import BadMessageError, plain_faults, read
from spart_blocks.realtime.loop import Loop
from spart_blocks.realtime.structs import Phase

MOST_CLIENTS = 16
MOST_STRANGERS = 64
"""Largest number of connections that have not sent the token. Beyond this number the oldest is
closed.
"""
PATIENCE = 10.0
"""Time [s] within which a client must send its token, and must read some of its queued data."""
LINGER = 60.0
"""Time [s] for which the final message stays queued for a client that does not read."""
_PERIOD = 0.02  # s, between polls of the loop
_MOST_AT_ONCE = 8  # requests of one client before the others are served
_REST = 0.002  # s, so that clients with endless requests leave the processor to others
_GOODBYE = 2.0  # s, to send queued data after the loop has ended


class LiveServer:
    """Serves `spart live` and `spart scope` while its context is entered.

    place: where it listens, once its context is entered. The rows of the loop go to the clients
    that watch signals. Nothing else may drain the signals in the meantime.
    """

    place: LoopPlace

    def __init__(self, loop: Loop, name: str, *, patience: float = PATIENCE) -> None:
        """name: under which clients find the loop."""
        self.loop, self.name, self.patience = loop, name, patience
        self._clients: list[ClientConnection] = []
        self._selector = selectors.DefaultSelector()
        self._closing = False
        self._dropped = 0

    def __enter__(self) -> LiveServer:
        """Raises InputError if no folder is private to the user, in which it could listen."""
        self.place, self._token, self._listener = listen(self.name)
        self._wake, awaited = socket.socketpair()
        self._selector.register(self._listener, selectors.EVENT_READ, None)
        self._selector.register(awaited, selectors.EVENT_READ, None)
        self._awaited = awaited
        self._thread = Thread(target=self._serve, name="spart live", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing = True
        self._wake.close()
        self._thread.join()

    # --- the thread ---------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            while not self._closing and self.loop.phase is not Phase.ENDED:
                self._turn()
            self._part()
        finally:
            self.loop.signals.streaming = False
            self.place.remove()
            for connection in (*(c.socket for c in self._clients), self._listener, self._awaited):
                connection.close()
            self._selector.close()

    def _turn(self) -> None:
        """Serve the clients and read the rows of the loop, once."""
        ready = self._selector.select(_PERIOD)
        came = {key.fileobj for key, events in ready if events & selectors.EVENT_READ}
        if self._listener in came:
            self._accept()
        for client in list(self._clients):
            if client.socket in came and not client.more and not client.receive():
                self._forget(client)
            elif not client.leaving:
                self._answer(client)
        self._stream()
        self._flush()
        if ready:
            time.sleep(_REST)

    def _accept(self) -> None:
        """Accept some waiting connections and read from each at once, so that a client with the
        token is trusted even if many others connect.
        """
        for _ in range(_MOST_AT_ONCE):
            try:
                connection, _ = self._listener.accept()
            except OSError:  # no connection waits, or no file descriptor is left
                break
            client = ClientConnection(connection)
            self._clients.append(client)
            self._selector.register(connection, selectors.EVENT_READ, client)
            if client.receive():
                self._answer(client)
        strangers = [one for one in self._clients if not (one.trusted or one.leaving)]
        for client in strangers[: max(0, len(strangers) - MOST_STRANGERS)]:
            client.dismiss({"refused": "too many others connected before it sent its token"})

    def _forget(self, client: ClientConnection) -> None:
        self._selector.unregister(client.socket)
        client.socket.close()
        self._clients.remove(client)

    def _flush(self) -> None:
        """Send what can be sent without blocking. Remove clients that have disconnected; send a
        final message to those that do not read.
        """
        for client in list(self._clients):
            there = client.flush()
            if not there or (client.leaving and (client.idle > LINGER or not client.waits)):
                self._forget(client)
                continue
            if not client.leaving and (client.full or client.idle > self.patience):
                told = "it does not read what it is sent" if client.trusted else "it sent no token"
                client.dismiss({"refused": told})
            events = selectors.EVENT_WRITE if client.waits else 0
            events |= 0 if client.leaving else selectors.EVENT_READ
            self._selector.modify(client.socket, events or selectors.EVENT_READ, client)

    def _part(self) -> None:
        """Tell all clients that the loop has ended, after the last rows."""
        self.place.remove()
        self._stream()
        for client in self._clients:
            if not client.leaving:
                client.part({"ended": why(self.loop), "time": self.loop.time})
        until = time.monotonic() + min(_GOODBYE, self.patience)
        while self._clients and time.monotonic() < until:
            self._flush()
            time.sleep(_PERIOD / 4 if self._clients else 0.0)

    # --- requests -----------------------------------------------------------------------

    def _answer(self, client: ClientConnection) -> None:
        """Answer some requests of a client. Others are answered in later calls; until then nothing
        more is read from it.
        """
        client.more = False
        for _ in range(_MOST_AT_ONCE):
            try:
                line = client.line()
                if line is None or client.leaving:
                    return
                self._take(client, read(line))
            except BadMessageError as error:
                client.dismiss({"refused": str(error)})
                return
        client.more = True

    def _take(self, client: ClientConnection, message: dict[str, Any]) -> None:
        if client.trusted:
            client.tell(self._reply(client, message))
        elif not same_token(message.get("token"), self._token):
            client.dismiss({"refused": "the token is not that of this loop"})
        elif sum(one.trusted and not one.leaving for one in self._clients) >= MOST_CLIENTS:
            client.dismiss({"refused": f"{MOST_CLIENTS} clients are connected already"})
        else:
            client.trusted = True
            client.tell({"hello": hello(self.loop, self.name)})

    def _reply(self, client: ClientConnection, message: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"answer": self._done(client, message)}
        except InputError as error:
            return {"faults": plain_faults(error)}

    def _done(self, client: ClientConnection, message: dict[str, Any]) -> dict[str, Any]:
        asked = message.get("do")
        if asked == "describe":
            return described(self.loop)
        if asked == "status":
            return status(self.loop)
        if asked == "set":
            return {"values": set_values(self.loop, message.get("values"))}
        if asked == "watch":
            self._catch_up()
            found = watch(self.loop, message.get("signals"), message.get("rate"))
            client.watch, client.lost = found, 0
            return {
                "signals": found.names,
                "shapes": found.shapes,
                "labels": found.labels,
                "every": found.every,
            }
        raise InputError("the loop does not know this request: its version may differ")

    # --- signals ------------------------------------------------------------------------

    def _catch_up(self) -> None:
        """Before a client is added: start streaming, or send the rows so far to the
        other clients.
        """
        signals = self.loop.signals
        if signals.streaming:
            self._stream()
        else:
            signals.drain()  # rows left by an earlier stream
            self._dropped = signals.dropped
            signals.streaming = True

    def _stream(self) -> None:
        """Send the rows that the loop has written to the clients that watch."""
        signals = self.loop.signals
        watching = [client for client in self._clients if client.watch is not None]
        if not watching and not signals.streaming:
            return
        signals.streaming = bool(watching)
        rows, dropped = signals.drain(), signals.dropped
        missing, self._dropped = dropped - self._dropped, dropped
        rate = float(self.loop.code.schedule.rate)
        for client in watching:
            assert client.watch is not None
            client.lost += missing
            picked = client.watch.picked(rows, rate)
            if len(picked):
                client.tell_rows(picked, client.watch.every)
