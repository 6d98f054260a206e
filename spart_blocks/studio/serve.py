"""Runs the studio's server until Ctrl-C."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from spart_blocks.base.document import parse_document
from spart_blocks.base.errors import Fault, InputError, SpartError
from spart_blocks.diagram.build.loader import load_document
from spart_blocks.studio.client import Session
from spart_blocks.studio.files import all_types
from spart_blocks.studio.files.reading import LOADING
from spart_blocks.studio.gate import MOST_BYTES, AccessGate
from spart_blocks.studio.server import Say, application

_FAREWELL = 2
"""Time for open requests to finish when the studio ends [s]."""


@dataclass(frozen=True)
class Serving:
    """A server that is already listening. run: serve until `server.should_exit`."""

    server: uvicorn.Server
    listening: socket.socket

    async def run(self) -> None:
        await self.server.serve(sockets=[self.listening])


def serve(
    session: Session, gate: AccessGate, page: Path, say: Say, begun: Callable[[str], object]
) -> None:
    """Serve a session at the gate's address until Ctrl-C. page: index file of the built page.
    begun: called with the link that opens the studio. Raises InputError if the address is in
    use."""
    serving = serving_at(session, gate, page, say)
    threading.Thread(target=warm_up, daemon=True).start()

    async def run() -> None:
        begun(gate.link)  # in the loop: from now on Ctrl-C finds it whole
        await serving.run()

    with suppress(KeyboardInterrupt):
        asyncio.run(run())


def warm_up() -> None:
    """Import and cache what the page needs first, while the browser starts."""
    all_types()
    with LOADING, suppress(SpartError):
        load_document(parse_document("blocks: {one: {type: CONSTANT}}", "one.yaml"), "one.yaml")


def serving_at(session: Session, gate: AccessGate, page: Path, say: Say) -> Serving:
    """A server at the gate's address; sets the gate's port. Raises InputError if the address is in
    use."""
    listening = _listening(gate.host, gate.port)
    gate.port = int(listening.getsockname()[1])
    config = uvicorn.Config(
        application(session, gate, page, say),
        log_level="critical",
        ws="websockets-sansio",
        ws_max_size=MOST_BYTES,
        ws_per_message_deflate=False,  # on this machine, packing would take more time than sending
        timeout_graceful_shutdown=_FAREWELL,
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )
    return Serving(uvicorn.Server(config), listening)


def _listening(host: str, port: int) -> socket.socket:
    """A listening socket. port: 0 for any free one."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, socket.SOCK_STREAM)
        with suppress(OSError):
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen()
    except (OSError, OverflowError) as error:
        problem = f"cannot listen on {host}:{port}: {getattr(error, 'strerror', None) or error}"
        raise InputError(Fault(problem, hint="give another --port, or none")) from None
    return made
