"""Loops of `spart realtime` in the studio: found, watched, tuned, left."""

from __future__ import annotations

import os

import numpy as np
import pytest
from fake_page import another, in_page

pytestmark = pytest.mark.usefixtures("loop_folder")


def rows_told(page):
    return [(h, n) for h, n in page.rows if h["path"] == "loop:servo"]


def test_a_loop_is_found_watched_tuned_and_left(tmp_path, server, loop):
    async def work(page):
        assert await page.ask("loops") == [
            {"name": "servo", "pid": os.getpid(), "diagram": "servo"}
        ]
        run = await page.ask("attach", loop="servo")
        assert (run["run"], run["state"], run["t"]) == (0, "running", 1.5)
        assert [scope["signals"] for scope in run["scopes"]] == [["sum"], ["ctrl.tau"]]
        written = loop.signals.write(1000, 5)
        header, numbers = await page.until(lambda: next(iter(rows_told(page)), None))
        widths = [{"name": name, "width": 3} for name in ("sum", "ctrl.tau")]
        assert header["signals"] == widths
        table = numbers.reshape(header["rows"], 7)
        assert np.array_equal(table[:, 0], written[:, 0][np.isin(written[:, 0], table[:, 0])])
        await page.ask("watch", loop="servo", names=["qd[0]"])
        loop.signals.write(2000, 5)
        found = await page.until(
            lambda: [h for h, _ in rows_told(page) if h["signals"][0]["name"] == "qd[0]"]
        )
        assert found[0]["width"] == 1
        known = await page.ask("tunables", path="loop:servo", run=0)
        kp = next(one for one in known if one["name"] == "ctrl.kp")
        assert (kp["text"], kp["doc"]) == ("[40.0, 40.0, 10.0]", "")
        await page.ask("tune", path="loop:servo", name="ctrl.kp", text="[60, 60, 20]")
        assert loop.library.tuned
        await page.until(lambda: page.run(0).get("tuned"))
        assert page.run(0)["tuned"] == {"ctrl.kp": "[60, 60, 20]"}
        known = await page.ask("tunables", path="loop:servo", run=0)
        kp = next(one for one in known if one["name"] == "ctrl.kp")
        assert (kp["text"], kp["first"]) == ("[60.0, 60.0, 20.0]", "[40.0, 40.0, 10.0]")
        assert "between 0 and 500" in await page.refused(
            "tune", path="loop:servo", name="ctrl.kp", text="900"
        )
        assert "no signal" in await page.refused("watch", loop="servo", names=["other"])
        await page.ask("detach")
        assert "not attached" in await page.refused("watch", loop="servo", names=[])

    in_page(tmp_path, work)


def test_pages_watch_the_same_loop_and_leave_it_one_by_one(tmp_path, server, loop):
    async def work(page):
        async with another(page) as second:
            await page.ask("attach", loop="servo")
            await second.ask("attach", loop="servo")
            await page.ask("watch", loop="servo", names=["sum"])
            await second.ask("watch", loop="servo", names=["qd[0]"])
            loop.signals.write(1000, 5)
            for one in (page, second):
                header, _ = await one.until(lambda one=one: next(iter(rows_told(one)), None))
                assert [signal["name"] for signal in header["signals"]] == ["sum", "qd[0]"]
            await page.ask("detach", loop="servo")
            assert (await second.ask("tunables", path="loop:servo", run=0))[0]["name"]
        for first in range(2000, 90_000, 5):  # its page is closed: the next rows find nobody
            loop.signals.write(first, 5)
            if "problem" in await page.asked("tunables", path="loop:servo", run=0):
                return
        raise AssertionError("it is attached still")

    in_page(tmp_path, work)


def test_a_loop_that_ends_is_told(tmp_path, server, loop):
    async def work(page):
        await page.ask("attach", loop="servo")
        loop.end()
        (said,) = await page.until(lambda: [m for m in page.told if m["tell"] == "loop-ended"])
        assert said["loop"] == "servo"
        assert said["reason"]
        assert "not attached" in await page.refused(
            "tune", path="loop:servo", name="ctrl.kp", text="1"
        )

    in_page(tmp_path, work)


def test_no_loop_is_said_so(tmp_path):
    async def work(page):
        assert await page.ask("loops") == []
        assert "no loop is running" in await page.refused("attach", loop="servo")

    in_page(tmp_path, work)
