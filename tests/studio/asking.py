"""Requests of a page without a server: a session, its pages, and what they are told."""

from __future__ import annotations

import asyncio
import json

from protocol_types import check_answer, check_told

from spart_blocks.studio.client import Client, Session
from spart_blocks.studio.files.session import opened_files
from spart_blocks.studio.requests import all_handlers, answer

ARM = """\
name: arm
description: two servos   # and a comment
params:
  k: 2   # 1/s
clocks: {tick: {T: 0.1}}
subsystems:
  servo:
    params: {gain: 3}
    inputs: [goal]
    outputs: [x]
    blocks:
      error: {type: SUM, signs: "+-"}
      law: {type: GAIN, K: $gain}
      x: {type: INTEGRATOR}
    wires:
      - in.goal -> error.0
      - error -> law
      - law -> x
      - x -> error.1, out.x
blocks:
  step: {type: STEP, T: 1}
  one: {type: servo, gain: $k}
  two: {type: servo}
  hold: {type: ZOH, clock: tick}
  scope: {type: SCOPE}
wires:
  - step -> one
  - one.x -> two.goal, scope
  - two.x -> scope, hold
run: {T: 2}
"""


class Asking:
    """A session with one page or more, each request of which is answered at once."""

    def __init__(self, root, pages=1):
        self.session = Session(root)
        self.pages = [Client(self.session, None) for _ in range(pages)]
        self.session.clients.update(self.pages)

    def ask(self, what, *, page=0, **given):
        """The answer to a request, {"ok"} or {"problem"}."""
        return asyncio.run(self._ask(self.pages[page], what, given))

    async def _ask(self, client, what, given):
        await answer(client, all_handlers(), json.dumps({"n": 1, "do": what, **given}))
        for close in self.session.closing:
            await close()
        told = [client.waiting.get_nowait() for _ in range(client.waiting.qsize())]
        *others, last = map(json.loads, told)
        for other in others:
            check_told(other)
            client.waiting.put_nowait(json.dumps(other))
        check_answer(what, {key: value for key, value in last.items() if key != "n"})
        return last

    def ok(self, what, **given):
        """What a request that must not be refused answers."""
        found = self.ask(what, **given)
        assert "ok" in found, found
        return found["ok"]

    def problem(self, what, **given):
        """Why a request is refused."""
        found = self.ask(what, **given)
        assert "problem" in found, found
        return found["problem"]["message"]

    def edit(self, path, *operations, at=""):
        """The file and the sheet after operations."""
        revision = self.ok("open", path=path)["revision"]
        return self.ok("edit", path=path, at=at, revision=revision, operations=list(operations))

    def told(self, page=0):
        """What a page has been told since the last time."""
        waiting = self.pages[page].waiting
        return [json.loads(waiting.get_nowait()) for _ in range(waiting.qsize())]

    def look(self):
        """Let the session look at its files, as it does about twice a second."""
        files = opened_files(self.session)

        async def looked():
            for file in files.files.values():
                await files.look(file)

        asyncio.run(looked())
