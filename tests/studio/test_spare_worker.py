"""A worker process is ready before a run asks for one, has prepared the file, and is never left."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest
from fake_page import PATIENCE, another, in_page

from spart_blocks.run import DiagramFile, begin, finish
from spart_blocks.studio import spare as spares
from spart_blocks.studio.runs import registry
from spart_blocks.studio.runs.runner import TRACING
from spart_blocks.studio.spare import SpareWorker

LAG = """
name: lag
params: {k: 2.0}
variants:
  lag:
    default: slow
    choices:
      slow: {type: LTI_SISO, N: [1], D: [2, 1]}
      fast: {type: LTI_SISO, N: [1], D: [1, 1]}
blocks:
  step: {type: STEP, T: 0.5}
  gain: {type: GAIN, K: $k}
  scope: {type: SCOPE}
wires: [step -> gain, gain -> lag, lag -> scope]
run: {T: 3}
"""
PATH = "lag.yaml"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / PATH).write_text(LAG)
    monkeypatch.setattr(spares, "QUIET", 0.02)
    return tmp_path


def prepare(order, say):
    """An order of a standby process that takes as long as it says."""
    say({"tell": "doing", "doing": TRACING})
    time.sleep(order["seconds"])


def spare_of(page):
    return page.client.session.part(SpareWorker)


async def until(condition):
    """Wait for something that no message tells."""

    async def looked():
        while not condition():
            await asyncio.sleep(0.01)

    await asyncio.wait_for(looked(), PATIENCE)


async def opened(page):
    await page.ask("open", path=PATH)
    await page.ask("runs", path=PATH)


async def ready(page):
    """The process id of the spare worker, once it has done its orders; they are of this file."""
    spare = spare_of(page)

    def is_ready():
        order = spare.standby.order or {}
        return "file" in order and order == spare._wanted() and not spare.standby.busy

    await until(lambda: is_ready() and spare.standby.alive)
    return spare.standby._waiting._process.pid


async def run(page, number, **given):
    """A run that has ended: its process, and the last value of its signal."""
    await page.ask("run", path=PATH, speed=None, **given)
    entry = registry.runs_of(page.client.session).entries[number]
    found = await page.ended(number)
    assert found["problem"] is None, found
    header, numbers = await page.ask("signals", path=PATH, run=number, names=["lag"])
    return entry.process._process.pid, numbers.reshape(header["rows"], 2)[-1, 1]


def last(path, *overrides, **options):
    return finish(begin(DiagramFile(path, overrides, **options)))["lag"][-1]


def test_a_run_takes_the_ready_process_and_another_follows(folder):
    async def work(page):
        await opened(page)
        first = await ready(page)
        assert (await run(page, 1))[0] == first
        second = await ready(page)
        assert second != first
        assert await run(page, 2) == (second, last(folder / PATH))

    in_page(folder, work)


@pytest.mark.parametrize("waits", [True, False], ids=["prepared anew", "at once"])
def test_a_run_is_of_the_file_as_it_is_also_after_a_change(folder, waits):
    async def work(page):
        await opened(page)
        await run(page, 1)
        await ready(page)
        (folder / PATH).write_text(LAG.replace("2.0", "5.0"))
        if waits:
            await page.until(lambda: any(one["tell"] == "changed" for one in page.told))
            await ready(page)
        assert (await run(page, 2))[1] == last(folder / PATH, "params.k=5.0")

    in_page(folder, work)


def test_choices_and_options_of_the_page_hold_for_a_prepared_run(folder):
    async def work(page):
        await opened(page)
        await ready(page)
        await page.ask("choose", path=PATH, slot="lag", choice="fast")
        assert await run(page, 1, T=2.0) == (await ready_or_gone(page), fast(T=2.0))
        await ready(page)
        assert (await run(page, 2))[1] == fast()

    async def ready_or_gone(page):
        return registry.runs_of(page.client.session).entries[1].process._process.pid

    def fast(**options):
        file = DiagramFile(folder / PATH, variants=("lag=fast",))
        return finish(begin(file, **options))["lag"][-1]

    in_page(folder, work)


def test_a_ready_process_that_was_killed_is_replaced(folder):
    async def work(page):
        await opened(page)
        pid = await ready(page)
        os.kill(pid, signal.SIGKILL)
        await until(lambda: not spare_of(page).standby.alive)
        found, value = await run(page, 1)
        assert found != pid
        assert value == last(folder / PATH)

    in_page(folder, work)


def test_what_kills_its_process_is_not_prepared_again(folder):
    async def work(page):
        await opened(page)
        spare = spare_of(page)
        pid = await ready(page)
        known = spare.standby.order
        os.kill(pid, signal.SIGKILL)
        await until(lambda: not spare.standby.alive)
        spare.nudge()
        await until(lambda: spare.standby.alive and not spare.standby.busy)
        assert (spare._failed, "file" in spare.standby.order) == (known, False)

    in_page(folder, work)


def test_all_pages_share_one_process_which_ends_with_the_last_of_them(folder):
    async def work(page):
        await opened(page)
        first = await ready(page)
        session = page.client.session
        async with another(page) as other:
            await opened(other)
            assert await ready(other) == first
            await session.left_by(page.client)
            assert (await run(other, 1))[0] == first
            await ready(other)
            process = spare_of(page).standby._waiting._process
            await session.left_by(other.client)
            await until(lambda: process.returncode is not None)
            assert not spare_of(page).standby.alive

    in_page(folder, work)


def test_the_ready_process_ends_with_the_studio(folder):
    async def work(page):
        await opened(page)
        await ready(page)
        processes.append(spare_of(page).standby._waiting._process)

    processes = []
    in_page(folder, work)
    assert processes[0].returncode == -signal.SIGKILL


def test_nothing_is_prepared_with_blocks_of_the_user(folder):
    async def work(page):
        page.client.session.blocks = ("own.py",)
        await opened(page)
        standby = spare_of(page).standby
        await until(lambda: standby.alive and not standby.busy)
        assert "file" not in standby.order

    in_page(folder, work)


def test_a_run_is_as_ready_without_a_compiler(folder, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")

    async def work(page):
        await opened(page)
        pid = await ready(page)
        assert (await run(page, 1))[0] == pid

    in_page(folder, work)


@pytest.fixture
def slow(monkeypatch):
    """Orders that take long, in place of those of files."""
    order = {"module": __name__, "file": {}, "seconds": 1000}
    monkeypatch.setattr(registry, "order_of", lambda *_: order)


def test_a_run_waits_for_what_is_being_prepared_for_it_says_so_and_is_stopped(
    folder, slow, monkeypatch
):
    monkeypatch.setattr(registry, "QUIETLY", 0.0)

    async def work(page):
        await opened(page)
        standby = spare_of(page).standby
        await until(lambda: standby.doing == TRACING)
        pid = standby._waiting._process.pid
        await page.ask("run", path=PATH, speed=None)
        await page.until(lambda: page.run(1).get("doing") == TRACING)
        process = registry.runs_of(page.client.session).entries[1].process._process
        assert process.pid == pid
        await page.ask("stop", path=PATH)
        assert (await page.ended(1))["stopped"] == "stopped before it began"
        await until(lambda: process.returncode is not None)

    in_page(folder, work)


def test_what_is_prepared_for_another_file_makes_no_run_wait(folder, slow, monkeypatch):
    async def work(page):
        await opened(page)
        standby = spare_of(page).standby
        await until(lambda: standby.doing == TRACING)
        pid = standby._waiting._process.pid
        monkeypatch.setattr(registry, "order_of", lambda *_: None)
        assert (await run(page, 1))[0] != pid

    in_page(folder, work)


def test_what_takes_too_long_is_given_up(folder, slow, monkeypatch):
    monkeypatch.setattr(spares, "LONGEST", 0.1)

    async def work(page):
        await opened(page)
        spare = spare_of(page)
        await until(lambda: spare._failed is not None)
        await until(lambda: spare.standby.alive and not spare.standby.busy)
        assert "file" not in spare.standby.order

    in_page(folder, work)


def test_stages_of_a_run_are_told_only_when_they_last(folder):
    async def work(page):
        await opened(page)
        await run(page, 1)
        await ready(page)
        await run(page, 2)
        entry = registry.runs_of(page.client.session).entries[2]
        entry.quiet, entry.facts = True, {**entry.facts, "state": "preparing", "doing": TRACING}
        assert entry.told["doing"] is None
        entry.quiet = False
        assert entry.told["doing"] == TRACING

    in_page(folder, work)
