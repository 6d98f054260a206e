"""A studio that is served, and pages that speak with it."""

from __future__ import annotations

import asyncio
import http.client
import importlib
import itertools
import json
import threading
from contextlib import closing, contextmanager

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from websockets.sync.client import connect

from spart_blocks.base.web_build import STUDIO, built, found_node, is_fresh
from spart_blocks.studio import spare
from spart_blocks.studio.client import Session
from spart_blocks.studio.gate import AccessGate
from spart_blocks.studio.serve import serving_at


class Studio:
    """A served studio. said: what it prints."""

    def __init__(self, session, gate, said):
        self.session, self.gate, self.said, self.loop = session, gate, said, None
        self.cookie = f"{gate.cookie_name}={gate.cookie}"

    def cut(self):
        """End the connections of all pages, as a browser does with that of a tab that sleeps."""
        for client in list(self.session.clients):
            asyncio.run_coroutine_threadsafe(client.socket.close(), self.loop).result(20)

    def get(self, path, *, cookie=True, host=None, method="GET", **headers):
        """The answer to a request, as (status, headers, body)."""
        connection = http.client.HTTPConnection("127.0.0.1", self.gate.port, timeout=20)
        with closing(connection):
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            connection.putheader("Host", host or f"127.0.0.1:{self.gate.port}")
            if cookie:
                connection.putheader("Cookie", self.cookie if cookie is True else cookie)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    @contextmanager
    def page(self, *, cookie=True, origin=None, **given):
        """A page's WebSocket."""
        origin = self.gate.origin if origin is None else origin
        headers = {"Cookie": self.cookie if cookie is True else cookie} if cookie else {}
        url = f"ws://127.0.0.1:{self.gate.port}/socket"
        given = {"open_timeout": 20, "max_size": 2**28, **given}
        with connect(url, origin=origin, additional_headers=headers, **given) as socket:
            yield Page(socket)


class Page:
    """Requests with their answers, and what is told in between."""

    def __init__(self, socket):
        self.socket, self.told, self.numbers = socket, [], itertools.count(1)

    def ask(self, what, **given):
        """The answer to a request, {"ok"} or {"problem"}."""
        n = next(self.numbers)
        self.socket.send(json.dumps({"n": n, "do": what, **given}))
        while True:
            message = self.socket.recv(timeout=60)
            if isinstance(message, bytes):
                self.told.append(message)
                continue
            found = json.loads(message)
            if found.get("n") == n:
                return found
            self.told.append(found)

    def ok(self, what, **given):
        """What a request that must not be refused answers."""
        found = self.ask(what, **given)
        assert "ok" in found, found
        return found["ok"]


@contextmanager
def served(root, page, opened=None, quiet=1e6):
    """A studio of a folder, in a thread of its own. quiet: for how long nothing must have happened
    before a process is made ready for a run [s]; most tests run nothing, and need none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spare, "QUIET", quiet)
        yield from _served(root, page, opened)


def _served(root, page, opened):
    if not page.exists():
        page.mkdir()
        (page / "index.html").write_text("<!doctype html><title>a page</title>")
    said = []
    session, gate = Session(root, opened), AccessGate()
    serving = serving_at(session, gate, page / "index.html", said.append)
    studio = Studio(session, gate, said)

    async def run():
        studio.loop = asyncio.get_running_loop()
        await serving.run()

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    try:
        yield studio
    finally:
        serving.server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


@contextmanager
def in_browser(browser, root, opened=None, **more):
    """The studio of a folder, open in a browser. more: as `served` takes it."""
    if not (is_fresh(STUDIO) or found_node()):
        pytest.skip("needs Node.js")
    importlib.import_module("bdsim")  # whole before the server's threads use it and tests look
    page = built(STUDIO).parent
    with served(root, page, opened, **more) as studio:
        browser.visit(studio.gate.link)
        yield studio
        browser.driver.get("about:blank")  # its socket closes, so that the server ends at once
