"""The studio's ASGI application: page, WebSocket of each page, thumbnails and downloads."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from html import escape
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from spart_blocks.base.errors import SpartError
from spart_blocks.studio.client import Client, Handler, Session
from spart_blocks.studio.downloads import download
from spart_blocks.studio.files.session import opened_files
from spart_blocks.studio.gate import MOST_PAGES, AccessGate, RequestPace
from spart_blocks.studio.jobs.handlers import job_file
from spart_blocks.studio.project import thumbnail
from spart_blocks.studio.requests import all_handlers, answer

_AT_ONCE = 8
"""Requests of a page that are handled concurrently; further ones wait."""
_TOO_MANY = 1008
"""WebSocket close code for a policy violation."""

Say = Callable[[str], object]


class _Guarded:
    """Access control around the application: passes requests with an allowed host and the cookie,
    and exchanges the token of the link for the cookie. Responses get the gate's headers."""

    def __init__(self, app: ASGIApp, gate: AccessGate, say: Say) -> None:
        self.app, self.gate, self.say = app, gate, say
        self._link_told = -60.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, self._with_headers(send))
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        if not self.gate.knows_host(request.headers):
            await Response("this host is not served", 421)(scope, receive, send)
            return
        if scope["path"] == "/" and "token" in request.query_params:
            await self._enter(request)(scope, receive, send)
            return
        if not self.gate.admits(request.cookies):
            self._tell_link()
            await HTMLResponse(_LOCKED, 403)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _enter(self, request: Request) -> Response:
        if not self.gate.exchanges(request.query_params["token"]):
            if self.gate.admits(request.cookies):  # its own link a second time
                return RedirectResponse("/", 303)
            self._tell_link()
            return HTMLResponse(_LOCKED, 403)
        answer = RedirectResponse("/", 303)
        name, value = self.gate.cookie_name, self.gate.cookie
        answer.set_cookie(name, value, path="/", httponly=True, samesite="strict")
        return answer

    def _tell_link(self) -> None:
        """Print a link for another browser, at most every 10 s."""
        if time.monotonic() - self._link_told > 10:
            self._link_told = time.monotonic()
            self.say(f"to open the studio in another browser: {self.gate.link}")

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        headers = socket.headers
        right = self.gate.knows_host(headers) and self.gate.is_own_page(headers)
        if not (right and self.gate.admits(socket.cookies)):
            await socket.close(_TOO_MANY)
            return
        await self.app(scope, receive, send)

    def _with_headers(self, send: Send) -> Send:
        more = [(k.lower().encode(), v.encode()) for k, v in self.gate.headers().items()]

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                added = [(name, value) for name, value in more if name not in given]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        return sent


_LOCKED = (
    "<!doctype html><html lang=en><title>spart studio</title><h1>This studio is locked</h1>"
    "<p>Open it with the link that <code>spart studio</code> has printed in its terminal. "
    "A link works once; the terminal shows a new one now.</p></html>"
)


def application(session: Session, gate: AccessGate, page: Path, say: Say = print) -> ASGIApp:
    """The studio as an ASGI application. page: index file of the built page. say: prints the link
    for another browser."""
    handlers = all_handlers()

    async def first_page(request: Request) -> Response:
        if session.opened is not None:
            opened_files(session).read_ahead(session.opened)
        return FileResponse(page, headers={"Cache-Control": "no-store"})

    async def socket(connection: WebSocket) -> None:
        await _converse(connection, session, handlers)

    async def picture(request: Request) -> Response:
        return await _found(lambda: thumbnail(session, request.query_params.get("path", "")))

    async def file(request: Request) -> Response:
        given = request.query_params
        run = given.get("run", "")
        return await _found(
            lambda: download(session, given.get("path", ""), run, given.get("kind", "")), save=True
        )

    async def job(request: Request) -> Response:
        given = request.query_params
        view = given.get("view") == "1"
        return await _job_file(session, given.get("job", ""), given.get("file", ""), view)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        for close in session.closing:
            with suppress(Exception):
                await close()

    routes = [
        Route("/", first_page),
        WebSocketRoute("/socket", socket),
        Route("/thumbnail", picture),
        Route("/download", file),
        Route("/job", job),
        Mount("/page", _PageFiles(directory=page.parent)),
    ]
    return _Guarded(Starlette(routes=routes, lifespan=lifespan), gate, say)


class _PageFiles(StaticFiles):
    """The static files of the page, compressed with Brotli if the browser supports it."""

    def file_response(
        self, full_path: Any, stat_result: Any, scope: Scope, status_code: int = 200
    ) -> Response:
        small = f"{full_path}.br"
        takes = Headers(scope=scope).get("Accept-Encoding", "")
        if "br" not in re.split(r"[,;\s]+", takes) or not os.path.isfile(small):
            return super().file_response(full_path, stat_result, scope, status_code)
        found = super().file_response(small, os.stat(small), scope, status_code)
        found.headers["Content-Encoding"] = "br"
        found.headers["Vary"] = "Accept-Encoding"
        return found


async def _found(
    make: Callable[[], Awaitable[tuple[str, str, bytes]]], *, save: bool = False
) -> Response:
    """A response with a file, or with status 404 and the error. make: returns (name, media type,
    bytes). save: whether it is a download."""
    try:
        name, kind, data = await make()
    except SpartError as error:
        return Response(escape(str(error)), 404, media_type="text/plain")
    headers = {"Cache-Control": "no-store"}
    if save:
        headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return Response(data, media_type=kind, headers=headers)


_VIEWED = {
    ".html": "text/html; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".csv": "text/plain; charset=utf-8",
    ".json": "text/plain; charset=utf-8",
    ".yaml": "text/plain; charset=utf-8",
    ".md": "text/plain; charset=utf-8",
    ".c": "text/plain; charset=utf-8",
    ".h": "text/plain; charset=utf-8",
}
"""Media types of the files that a browser shows."""
_APART = "; ".join(
    (
        "sandbox allow-scripts allow-downloads allow-popups",
        "default-src 'none'",
        "img-src data: blob: 'self'",
        "style-src 'unsafe-inline'",
        "script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:",
        "worker-src blob:",
        "connect-src data: blob:",
        "font-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
    )
)
"""The policy for a file that a job has written: it is shown as a page of another site, without
access to the studio and to the network."""


async def _job_file(session: Session, number: str, name: str, view: bool) -> Response:
    """A file of a job, or an archive of all. view: whether the browser shows it."""
    try:
        path = await job_file(session, number, name)
    except SpartError as error:
        return Response(escape(str(error)), 404, media_type="text/plain")
    headers = {"Cache-Control": "no-store"}
    kind = _VIEWED.get(path.suffix) if view else None
    if kind is not None:
        headers["Content-Security-Policy"] = _APART
        return FileResponse(path, media_type=kind, headers=headers)
    shown = f"job-{path.name}" if not name else path.name
    return FileResponse(
        path, media_type="application/octet-stream", filename=shown, headers=headers
    )


async def _converse(socket: WebSocket, session: Session, handlers: dict[str, Handler]) -> None:
    """Receive and handle the requests of a page until it disconnects."""
    if len(session.clients) >= MOST_PAGES:
        await socket.close(_TOO_MANY, "too many pages are open")
        return
    await socket.accept()
    client = Client(session, socket)
    session.clients.add(client)
    pace, room = RequestPace(at=time.monotonic()), asyncio.Semaphore(_AT_ONCE)
    tasks: set[asyncio.Task[Any]] = {asyncio.create_task(client.deliver())}

    async def answered(text: str) -> None:
        try:
            await answer(client, handlers, text)
        finally:
            room.release()

    try:
        while True:
            text = await socket.receive_text()
            if not pace.takes(time.monotonic()):
                await socket.close(_TOO_MANY, "too many requests")
                return
            await room.acquire()  # tasks begin in the order of their requests
            task = asyncio.create_task(answered(text))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
    except (WebSocketDisconnect, RuntimeError, KeyError):  # KeyError: a binary message
        pass
    finally:
        for task in tasks:
            task.cancel()
        await session.left_by(client)
